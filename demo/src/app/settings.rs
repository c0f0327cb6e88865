//! What the file beside the page says: which battle, over which network.

use serde::Deserialize;
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, Pace};

use crate::app::online::codes::Codes;
use crate::app::online::name::Name;
use crate::app::online::network::{GUEST_UNITS_MAX, NetworkMatch};
use crate::app::online::seat::SeatOptions;
use crate::app::playback::Course;
use crate::app::{MatchError, Pilot, ReplayFile, SkirmishSpec, TURNS_MAX, Terms, maps, share};
use testudo_battle::Setup;
use testudo_battle::bots::Level;

/// The settings of the match and of the network. Turns have a constant length, so that the final checksum follows from the match alone.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// Number of cubes, instead of a battle.
    pub(crate) cubes: Option<u32>,
    units: u32,
    pub(crate) seed: u64,
    /// A built-in map; any other name means an open field.
    map: String,
    /// Level of the bots: easy, normal, hard.
    bot: String,
    /// Length of the match; none: unlimited.
    turns: Option<u32>,
    /// Two bots play.
    bots: bool,
    pub(crate) speed_percent: u32,
    latency_ms: u64,
    jitter_ms: u64,
    /// Percent.
    loss: u32,
    duplicate: u32,
    reorder: u32,
    /// A match with others instead: the code of a place, or of a relay.
    pub(crate) code: Option<String>,
    /// The code is a relay's, and a room is opened there for so many players.
    players: Option<u8>,
    /// The code leads back to this room, which was opened here.
    room: Option<Codes>,
    /// The person's name.
    name: String,
    /// Where this page is, for links.
    pub(crate) page: Option<String>,
    /// A match to look at: what stands behind the "#" of a link.
    pub(crate) battle: Option<String>,
    /// What the engines say on the console: see [`crate::app::trace::begin`].
    pub(crate) log: String,
}

impl Default for Settings {
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
            players: None,
            room: None,
            name: String::new(),
            page: None,
            battle: None,
            log: String::new(),
        }
    }
}

impl Settings {
    /// Reads the file.
    ///
    /// # Errors
    /// A sentence about the part of it that cannot be meant.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text)
            .map_err(|error| format!("the settings of this page cannot be read: {error}"))
    }

    /// The battle in this page.
    pub(crate) fn skirmish(&self) -> SkirmishSpec {
        let bot = Pilot::Bot(match self.bot.as_str() {
            "easy" => Level::Easy,
            "hard" => Level::Hard,
            _ => Level::Normal,
        });
        SkirmishSpec {
            terms: self.terms(2),
            link: LinkConfig::new()
                .latency(Duration::from_millis(self.latency_ms.min(10_000)))
                .jitter(Duration::from_millis(self.jitter_ms.min(10_000)))
                .loss_ppm(self.loss.min(100) * 10_000)
                .duplicate_ppm(self.duplicate.min(100) * 10_000)
                .reorder_ppm(self.reorder.min(100) * 10_000)
                .reorder_hold(Duration::from_millis(100)),
            pace: if self.turns.is_some() { Pace::Fixed } else { Pace::Adaptive },
            pilots: vec![if self.bots { bot } else { Pilot::Person }, bot],
            replay: ReplayFile::Memory,
        }
    }

    /// The beginning of a match with others, to which this code leads.
    ///
    /// # Errors
    /// A sentence about why there is none.
    pub(crate) fn online(&self, code: &str) -> Result<NetworkMatch, String> {
        let options = SeatOptions {
            pilot: if self.bots { Pilot::Bot(Level::Normal) } else { Pilot::Person },
            replay: ReplayFile::Memory,
            name: Name::cleaned(&self.name),
            page: self.page.clone(),
            ..SeatOptions::default()
        };
        let terms = self.players.map(|players| self.terms(players));
        let game = NetworkMatch::by_code(code, terms.as_ref(), options)?;
        Ok(game.with_codes(self.room.clone()))
    }

    /// A match from a link.
    ///
    /// # Errors
    /// The link is damaged, or the battle is too large for a page.
    pub(crate) fn course(&self, battle: &str) -> Result<Course, MatchError> {
        let (replay, terms) = share::read(battle)?;
        if u32::from(terms.setup.players).saturating_mul(terms.setup.units) > GUEST_UNITS_MAX {
            let what = "this battle is too large for a page".into();
            return Err(MatchError::Replay { path: "the link".into(), what });
        }
        Ok(Course::new(replay, terms)?.by_page(self.page.clone()))
    }

    fn terms(&self, players: u8) -> Terms {
        Terms {
            setup: Setup { players, units: self.units, seed: self.seed, map: maps::named(&self.map) },
            turns: self.turns.unwrap_or(TURNS_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A room for 300 players, and a misspelt name, gave the usual battle instead, and nothing said so.
    #[test]
    fn settings_that_cannot_be_meant_are_refused() {
        assert_eq!(Settings::read(r#"{ "units": 60, "players": 16 }"#).map(|read| read.units), Ok(60));
        for (text, part) in [(r#"{ "players": 300 }"#, "300"), (r#"{ "unit": 60 }"#, "unit"), ("", "EOF")] {
            let why = Settings::read(text).map(|read| read.units).unwrap_err();
            assert!(why.contains("cannot be read") && why.contains(part), "{why}");
        }
    }
}
