//! Pauses and changes of speed: who may ask for them, how often, and for how long. All of this is a function of the entries, and so the
//! same on every peer.

use core::fmt;

use crate::session::config::{Controls, SessionConfig};
use crate::session::event::Event;
use crate::session::{AnySession, SessionPhase};
use crate::value::entry::{Extra, SPEED_PERCENT_MAX, SPEED_PERCENT_MIN};
use crate::value::ids::{PLAYERS_MAX, PlayerId, Turn};
use crate::value::time::Duration;

/// A pause or a change of speed that was not accepted; it takes effect nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ControlError {
    /// This peer has no player in the match.
    NotPlaying,
    /// In this match only the host player may ask ([`Controls::HostPlayer`]).
    HostOnly,
    /// The player has asked as often as the settings allow.
    UsedUp {
        /// The limit.
        max: u32,
    },
    /// The player's pauses have lasted as long as the settings allow.
    TimeUsedUp {
        /// The limit.
        max: Duration,
    },
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPlaying => write!(f, "this peer has no player in the match"),
            Self::HostOnly => write!(f, "in this match only the host may do that"),
            Self::UsedUp { max } => write!(f, "each player may do that {max} times in a match"),
            Self::TimeUsedUp { max } => {
                write!(f, "each player may pause a match for {} s in all", max.as_millis() / 1_000)
            }
        }
    }
}

impl std::error::Error for ControlError {}

/// What a player has asked for so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) pauses: u16,
    pub(crate) speeds: u16,
    /// How long the player's pauses have lasted.
    pub(crate) paused_ms: u32,
    /// If the majority decides: what the player wants now.
    pub(crate) wants_pause: Option<bool>,
    pub(crate) wants_speed: Option<u8>,
}

/// The state of the match that players control, apart from the speed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Controlled {
    pub(super) paused: bool,
    /// Whose pause it is. None in a resumed match until somebody asks for a pause.
    pub(super) paused_by: Option<PlayerId>,
    pub(super) asked: [Asked; PLAYERS_MAX as usize],
}

impl Controlled {
    /// A turn of this length begins. Returns whose pause ends, because it has lasted long enough.
    fn pass(&mut self, config: &SessionConfig, turn: Duration) -> Option<PlayerId> {
        let player = self.paused_by.filter(|_| self.paused)?;
        let asked = &mut self.asked[player.index()];
        asked.paused_ms = asked.paused_ms.saturating_add(u32::try_from(turn.as_millis()).unwrap_or(u32::MAX));
        if config.controls == Controls::Majority || u64::from(asked.paused_ms) < config.pause_max.as_millis()
        {
            return None;
        }
        (self.paused, self.paused_by) = (false, None);
        Some(player)
    }

    /// Whether a player's entry changes the match. `live` are the players who are in it, bit n for player n.
    fn take(&mut self, config: &SessionConfig, live: u16, player: PlayerId, extra: Extra) -> bool {
        let accepted = match config.controls {
            Controls::Everybody | Controls::HostPlayer => {
                config.may_control(player) && self.is_within(config, player, extra)
            }
            Controls::Majority => self.is_wanted(live, player, extra),
        };
        if let (true, Extra::Pause(paused)) = (accepted, extra) {
            (self.paused, self.paused_by) = (paused, paused.then_some(player));
        }
        accepted
    }

    /// Counts against the player's budget. Going on after a pause costs nothing.
    fn is_within(&mut self, config: &SessionConfig, player: PlayerId, extra: Extra) -> bool {
        let asked = &mut self.asked[player.index()];
        let (count, max) = match extra {
            Extra::Pause(true) => (&mut asked.pauses, config.pauses_max),
            Extra::Speed(_) => (&mut asked.speeds, config.speed_changes_max),
            _ => return true,
        };
        let is_within = u32::from(*count) < max;
        *count = count.saturating_add(u16::from(is_within));
        is_within
    }

    /// Whether more than half of the players want this now.
    fn is_wanted(&mut self, live: u16, player: PlayerId, extra: Extra) -> bool {
        let asked = &mut self.asked[player.index()];
        match extra {
            Extra::Pause(paused) => asked.wants_pause = Some(paused),
            Extra::Speed(percent) => asked.wants_speed = Some(percent),
            _ => {}
        }
        let wants = |asked: &Asked| match extra {
            Extra::Pause(paused) => asked.wants_pause == Some(paused),
            Extra::Speed(percent) => asked.wants_speed == Some(percent),
            _ => false,
        };
        let in_match = self.asked.iter().zip(0..PLAYERS_MAX).filter(|(_, player)| live & (1 << player) != 0);
        let is_wanted = in_match.filter(|(asked, _)| wants(asked)).count() as u32 * 2 > live.count_ones();
        if is_wanted {
            for asked in &mut self.asked {
                match extra {
                    Extra::Pause(_) => asked.wants_pause = None,
                    _ => asked.wants_speed = None,
                }
            }
        }
        is_wanted
    }
}

impl AnySession {
    /// Asks for a pause, or for its end, with the next entry. The simulation of every peer pauses from the same turn on
    /// ([`Event::Paused`]). Turns go on, and actions are accepted and applied. If [`Controls::Majority`] decides, this is the player's vote.
    ///
    /// # Errors
    /// The match goes on as before: the player may not ask, or has used up [`SessionConfig::pauses_max()`] or
    /// [`SessionConfig::pause_max()`].
    pub fn pause(&mut self, paused: bool) -> Result<(), ControlError> {
        let asked = self.check_control()?;
        if paused && self.setup.config.controls != Controls::Majority {
            let pauses = u32::from(asked.pauses) + self.on_its_way(|extra| *extra == Extra::Pause(true));
            let (max, time_max) = (self.setup.config.pauses_max, self.setup.config.pause_max);
            if pauses >= max {
                return Err(ControlError::UsedUp { max });
            }
            if u64::from(asked.paused_ms) >= time_max.as_millis() {
                return Err(ControlError::TimeUsedUp { max: time_max });
            }
        }
        self.local.pause = Some(paused);
        Ok(())
    }

    /// Asks for another speed with the next entry, percent of real time, clamped to 10..=250. Frames of every peer pass faster or slower
    /// from the same turn on ([`Event::Speed`]). The simulation's step stays the same, and so does the course of the game. If
    /// [`Controls::Majority`] decides, this is the player's vote.
    ///
    /// # Errors
    /// The speed stays: the player may not ask, or has used up [`SessionConfig::speed_changes_max()`].
    pub fn set_speed(&mut self, percent: u8) -> Result<(), ControlError> {
        let asked = self.check_control()?;
        if self.setup.config.controls != Controls::Majority {
            let speeds = u32::from(asked.speeds) + self.on_its_way(|extra| matches!(extra, Extra::Speed(_)));
            let max = self.setup.config.speed_changes_max;
            if speeds >= max {
                return Err(ControlError::UsedUp { max });
            }
        }
        self.local.speed = Some(percent.clamp(SPEED_PERCENT_MIN, SPEED_PERCENT_MAX));
        Ok(())
    }

    /// What the local player has asked for so far, if it may ask at all.
    fn check_control(&self) -> Result<Asked, ControlError> {
        let config = &self.setup.config;
        let is_on = matches!(self.phase, SessionPhase::Lobby | SessionPhase::Running);
        let player = self.author().filter(|_| is_on && !self.player_ended() && self.local.ending.is_none());
        let player = player.ok_or(ControlError::NotPlaying)?;
        if !config.may_control(player) {
            return Err(ControlError::HostOnly);
        }
        Ok(self.controlled.asked[player.index()])
    }

    /// How many of the local player's entries that have not run yet ask for this.
    fn on_its_way(&self, asks: impl Fn(&Extra) -> bool) -> u32 {
        let Some(stream) = self.author().map(|player| &self.streams[player.index()]) else { return 0 };
        let entries = (self.gate.turn..stream.next()).filter_map(|number| stream.get(number));
        entries.filter(|entry| entry.extras.iter().any(&asks)).count() as u32
    }

    /// A turn begins: a pause that has lasted long enough is over. Returns whose pause it was.
    pub(super) fn pass_pause(&mut self) -> Option<PlayerId> {
        self.controlled.pass(&self.setup.config, self.pace.planner.turn())
    }

    /// Whether a player's pause or change of speed takes effect in this turn.
    pub(super) fn take_control(&mut self, turn: u32, player: PlayerId, extra: Extra) -> bool {
        let is_in = |stream: &crate::session::stream::Stream| stream.end_in(turn).is_none();
        let live = (0_u8..).zip(&self.streams).filter(|(_, stream)| is_in(stream));
        let live = live.fold(0, |live, (player, _)| live | (1 << player));
        self.controlled.take(&self.setup.config, live, player, extra)
    }

    /// Tells the application of a pause that is over because it has lasted long enough.
    pub(super) fn end_long_pause(&mut self, turn: Turn) {
        if let Some(player) = self.pass_pause() {
            self.emit(Event::Paused { turn, player, paused: false });
        }
    }
}
