//! The window in a browser page. A file beside the page has the settings; the log goes to the console.

use std::cell::Cell;

use macroquad::file::load_string;
use macroquad::miniquad::conf::LinuxBackend;
use serde::Deserialize;
use testudo_lockstep::service::code::JoinCodeError;
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, Pace};

use crate::app::online::agreement::Agreement;
use crate::app::online::name::Name;
use crate::app::online::network::{GUEST_UNITS_MAX, HostAddress, JoinRequest};
use crate::app::playback::Course;
use crate::app::{
    MatchError, NetworkMatch, Pilot, ReplayFile, SeatOptions, SkirmishSpec, TURNS_MAX, Terms, maps, share,
    trace,
};
use crate::bots::Level;
use crate::game::{Setup, Teams};
use crate::pair::CubesSpec;
use crate::view::command::order_log::{OrderLog, Sink};
use crate::view::hud::stage::Stage;
use crate::view::platform::conf::conf;
use crate::view::screens::{self, desk, network, viewing};

/// The file beside the page.
const MATCH_FILE: &str = "match.json";

/// The settings of the match and of the network. Turns have a constant length, so that the final checksum follows from the match alone.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Match {
    /// Number of cubes, instead of a battle.
    cubes: Option<u32>,
    units: u32,
    seed: u64,
    /// A built-in map; any other name means an open field.
    map: String,
    /// Level of the bots: easy, normal, hard.
    bot: String,
    /// Length of the match; none: unlimited.
    turns: Option<u32>,
    /// Two bots play.
    bots: bool,
    speed_percent: u32,
    latency_ms: u64,
    jitter_ms: u64,
    /// Percent.
    loss: u32,
    duplicate: u32,
    reorder: u32,
    /// A match with others instead: the code of a place, or of a relay.
    code: Option<String>,
    /// The code is a relay's, and a room is opened there for so many players.
    opens: bool,
    players: u8,
    /// The person's name.
    name: String,
    /// Where this page is, for links.
    page: Option<String>,
    /// A match to look at: what stands behind the "#" of a link.
    battle: Option<String>,
    /// What the engines say on the console: see [`trace::begin`].
    log: String,
}

impl Default for Match {
    fn default() -> Self {
        Self {
            cubes: None,
            units: 200,
            seed: 1,
            map: "ford".into(),
            bot: "normal".into(),
            turns: None,
            bots: false,
            speed_percent: 100,
            latency_ms: 60,
            jitter_ms: 15,
            loss: 2,
            duplicate: 0,
            reorder: 0,
            code: None,
            opens: false,
            players: 2,
            name: String::new(),
            page: None,
            battle: None,
            log: String::new(),
        }
    }
}

/// Draws on the page's canvas from now on.
pub(crate) fn open_page() {
    macroquad::Window::from_config(conf(LinuxBackend::default()), async {
        let text = load_string(MATCH_FILE).await.unwrap_or_default();
        let chosen: Match = serde_json::from_str(&text).unwrap_or_default();
        let mut log = OrderLog::new(Sink::Page);
        if !chosen.log.is_empty()
            && let Err(error) = trace::begin(&chosen.log)
        {
            log.note("error", error.to_string());
        }
        let error = if let Some(code) = &chosen.code {
            online(&chosen, code, log).await.err()
        } else if let Some(battle) = &chosen.battle {
            watch(&chosen, battle, log).await.err().map(|error| error.to_string())
        } else if let Some(cubes) = chosen.cubes {
            screens::cubes::run(CubesSpec::to_play(cubes, chosen.seed), Stage::new(log), &Cell::new(None))
                .await
                .err()
                .map(|e| e.to_string())
        } else {
            let told = Cell::new(None);
            desk::run(
                spec(&chosen),
                chosen.page.clone(),
                chosen.speed_percent,
                Stage::new(log),
                |_, _| {},
                &told,
            )
            .await
            .err()
            .map(|e| e.to_string())
        };
        if let Some(error) = error {
            OrderLog::new(Sink::Page).note("stopped", error);
        }
    });
}

/// A match from a link.
async fn watch(chosen: &Match, battle: &str, log: OrderLog) -> Result<(), MatchError> {
    let (replay, terms) = share::read(battle)?;
    if u32::from(terms.setup.players).saturating_mul(terms.setup.units) > GUEST_UNITS_MAX {
        return Err(MatchError::Replay {
            path: "the link".into(),
            what: "this battle is too large for a page".into(),
        });
    }
    let course = Course::new(replay, terms)?.by_page(chosen.page.clone());
    viewing::run(course, None, Stage::new(log), &Cell::new(None)).await.map(|_| ())
}

/// This tab's client of a match with others, until the person leaves.
async fn online(chosen: &Match, code: &str, log: OrderLog) -> Result<(), String> {
    let told = |error: MatchError| error.to_string();
    let code = code.parse().map_err(|error: JoinCodeError| error.to_string())?;
    let options = SeatOptions {
        pilot: if chosen.bots { Pilot::Bot(Level::Normal) } else { Pilot::Person },
        replay: ReplayFile::Memory,
        fault: None,
        name: Name::cleaned(&chosen.name),
        page: chosen.page.clone(),
        teams: Teams::default(),
    };
    let game = if chosen.opens {
        let agreement = Agreement::new(&terms(chosen, chosen.players), Pace::Adaptive, true);
        NetworkMatch::open(code, agreement, options)
    } else {
        NetworkMatch::join(
            JoinRequest { host: HostAddress::Sealed(code), watches: false, units_max: GUEST_UNITS_MAX },
            options,
        )
    };
    let left = network::run(game.map_err(told)?, Stage::new(log), |_, _| {}).await;
    let network::Left { game, mut stage, replay, error, .. } = left;
    error.map_or(Ok(()), |error| Err(told(error)))?;
    game.end().map_err(told)?;
    if let Some(course) = replay {
        viewing::run(course, None, stage, &Cell::new(None)).await.map_err(told)?;
    } else {
        stage.log.note("left", true);
    }
    Ok(())
}

fn spec(chosen: &Match) -> SkirmishSpec {
    let bot = Pilot::Bot(match chosen.bot.as_str() {
        "easy" => Level::Easy,
        "hard" => Level::Hard,
        _ => Level::Normal,
    });
    SkirmishSpec {
        terms: terms(chosen, 2),
        link: LinkConfig::new()
            .latency(Duration::from_millis(chosen.latency_ms.min(10_000)))
            .jitter(Duration::from_millis(chosen.jitter_ms.min(10_000)))
            .loss_ppm(chosen.loss.min(100) * 10_000)
            .duplicate_ppm(chosen.duplicate.min(100) * 10_000)
            .reorder_ppm(chosen.reorder.min(100) * 10_000)
            .reorder_hold(Duration::from_millis(100)),
        pace: if chosen.turns.is_some() { Pace::Fixed } else { Pace::Adaptive },
        pilots: vec![if chosen.bots { bot } else { Pilot::Person }, bot],
        replay: ReplayFile::Memory,
    }
}

fn terms(chosen: &Match, players: u8) -> Terms {
    Terms {
        setup: Setup { players, units: chosen.units, seed: chosen.seed, map: maps::named(&chosen.map) },
        turns: chosen.turns.unwrap_or(TURNS_MAX),
    }
}
