//! The window in a browser page. What is played stands in a file beside the page; what happens goes to its console.

use std::cell::Cell;

use macroquad::file::load_string;
use macroquad::miniquad::conf::LinuxBackend;
use serde::Deserialize;
use testudo_lockstep::simnet::LinkSettings;
use testudo_lockstep::{Duration, Pace};

use crate::app::{Pilot, SkirmishSpec, TURNS_MAX, Terms};
use crate::game::Setup;
use crate::view::order_log::{OrderLog, Sink};

/// The file beside the page.
const MATCH_FILE: &str = "match.json";

/// What is played. The network is the ordinary one; turns have a constant length, so that the final checksum follows from
/// these numbers alone.
#[derive(Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Match {
    units: u32,
    seed: u64,
    /// No end if there is none.
    turns: Option<u32>,
    /// Two bots play.
    bots: bool,
    speed_percent: u32,
}

impl Default for Match {
    fn default() -> Self {
        Self { units: 200, seed: 1, turns: None, bots: false, speed_percent: 100 }
    }
}

/// Draws on the page's canvas from now on.
pub(crate) fn open_page() {
    macroquad::Window::from_config(super::conf(LinuxBackend::default()), async {
        let text = load_string(MATCH_FILE).await.unwrap_or_default();
        let chosen: Match = serde_json::from_str(&text).unwrap_or_default();
        let log = OrderLog::new(Sink::Page);
        let told = Cell::new(None);
        if let Err(error) = super::run(spec(chosen), chosen.speed_percent, log, &told).await {
            macroquad::miniquad::error!("{}", error);
        }
    });
}

fn spec(chosen: Match) -> SkirmishSpec {
    SkirmishSpec {
        terms: Terms {
            setup: Setup { players: 2, units: chosen.units, seed: chosen.seed },
            turns: chosen.turns.unwrap_or(TURNS_MAX),
        },
        link: LinkSettings {
            latency: Duration::from_millis(60),
            jitter: Duration::from_millis(15),
            loss_ppm: 20_000,
            ..LinkSettings::default()
        },
        pace: if chosen.turns.is_some() { Pace::Fixed } else { Pace::Adaptive },
        pilots: vec![if chosen.bots { Pilot::Bot } else { Pilot::Person }, Pilot::Bot],
        replays: None,
    }
}
