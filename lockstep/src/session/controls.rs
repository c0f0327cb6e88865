//! Pauses and changes of speed: who may ask for them, how often, and for how long. All of this is a function of the entries, and so the
//! same on every peer.

use core::fmt;

use crate::session::asked::Asked;
use crate::session::common::Common;
use crate::session::config::{Controls, SessionConfig};
use crate::session::{SessionPhase, players_in};
use crate::value::entry::{Entry, Extra};
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
    /// The match ends before it could take effect.
    TooLate {
        /// The last turn of the match.
        last_turn: Turn,
    },
    /// There is no such speed.
    OutOfRange {
        /// The slowest, percent of real time.
        min: u8,
        /// The fastest.
        max: u8,
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
            Self::TooLate { last_turn } => {
                write!(f, "the match ends with turn {last_turn}, before that could take effect")
            }
            Self::OutOfRange { min, max } => write!(f, "a match runs at {min} to {max} percent of real time"),
            Self::TimeUsedUp { max } => {
                write!(f, "each player may pause a match for {} s in all", max.as_millis() / 1_000)
            }
        }
    }
}

impl std::error::Error for ControlError {}

/// The state of the match that players control, apart from the speed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Controlled {
    pub(super) paused: bool,
    /// Whose pause it is.
    pub(super) paused_by: Option<PlayerId>,
    pub(super) asked: [Asked; PLAYERS_MAX as usize],
}

impl Controlled {
    /// A turn of so many nanoseconds begins. Returns whose pause ends, because it has lasted long enough, or because nobody is left who could end it.
    pub(super) fn pass(&mut self, config: &SessionConfig, turn_ns: u64, is_led: bool) -> Option<PlayerId> {
        let player = self.paused_by.filter(|_| self.paused)?;
        let asked = &mut self.asked[player.index()];
        asked.paused_ns = asked.paused_ns.saturating_add(turn_ns);
        let is_limited = config.control.controls != Controls::Majority;
        if is_led && !(is_limited && asked.has_paused(config.control.pause_max)) {
            return None;
        }
        (self.paused, self.paused_by) = (false, None);
        Some(player)
    }

    /// A player is back: somebody else may have the place, and wants nothing yet.
    pub(super) fn forget_wishes(&mut self, player: PlayerId) {
        let asked = &mut self.asked[player.index()];
        (asked.wants_pause, asked.wants_speed) = (None, None);
    }

    /// Whether a player's entry changes the match. `live` are the players who are in it, bit n for player n.
    fn accepts(&mut self, config: &SessionConfig, live: u16, player: PlayerId, extra: Extra) -> bool {
        let accepted = match config.control.controls {
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
            Extra::Pause(true) => (&mut asked.pauses, config.control.pauses_max),
            Extra::Speed(_) => (&mut asked.speeds, config.control.speed_changes_max),
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

    /// Whether a player's pause or change of speed takes effect in this turn.
    pub(super) fn take(&mut self, common: &Common, turn: u32, player: PlayerId, extra: Extra) -> bool {
        self.accepts(common.config(), common.streams.live_in(turn), player, extra)
    }

    /// Whether the local player may ask for a pause now, or for its end.
    pub(super) fn may_pause(&self, common: &Common, paused: bool) -> Result<(), ControlError> {
        let (config, asked) = (common.config(), self.check(common)?);
        if !paused || config.control.controls == Controls::Majority {
            return Ok(());
        }
        let pauses = u32::from(asked.pauses) + on_its_way(common, |extra| *extra == Extra::Pause(true));
        if pauses >= config.control.pauses_max {
            return Err(ControlError::UsedUp { max: config.control.pauses_max });
        }
        if asked.has_paused(config.control.pause_max) {
            return Err(ControlError::TimeUsedUp { max: config.control.pause_max });
        }
        Ok(())
    }

    /// Whether the local player may ask for another speed now.
    pub(super) fn may_set_speed(&self, common: &Common) -> Result<(), ControlError> {
        let (config, asked) = (common.config(), self.check(common)?);
        let speeds = u32::from(asked.speeds) + on_its_way(common, |extra| matches!(extra, Extra::Speed(_)));
        if config.control.controls != Controls::Majority && speeds >= config.control.speed_changes_max {
            return Err(ControlError::UsedUp { max: config.control.speed_changes_max });
        }
        Ok(())
    }

    /// What the local player has asked for so far, if it may ask at all.
    fn check(&self, common: &Common) -> Result<Asked, ControlError> {
        let is_on = matches!(common.phase, SessionPhase::Lobby | SessionPhase::Running);
        let player = common.streams.author().filter(|_| is_on && !common.player_ended());
        let player = player.ok_or(ControlError::NotPlaying)?;
        if !common.config().may_control(player) {
            return Err(ControlError::HostOnly);
        }
        if let Some((0, last_turn)) = common.room_before_end() {
            return Err(ControlError::TooLate { last_turn });
        }
        Ok(self.asked[player.index()])
    }

    /// Continues in a running match.
    pub(super) fn go_on(
        &mut self,
        paused: bool,
        paused_by: Option<PlayerId>,
        players: impl Iterator<Item = Asked>,
    ) {
        (self.paused, self.paused_by) = (paused, paused_by);
        for (asked, player) in self.asked.iter_mut().zip(players) {
            *asked = player;
        }
    }
}

/// Whether one of these players, bit n for player n, may pause the match, end a pause and set the speed.
pub(super) fn is_led(config: &SessionConfig, live: u16) -> bool {
    players_in(live).any(|player| config.may_control(player))
}

/// The local player's newest request for a pause, or for its end, in the entries that have not run yet.
pub(super) fn pause_on_its_way(common: &Common) -> Option<bool> {
    let extras = entries_on_their_way(common).flat_map(|entry| &entry.extras);
    extras.filter_map(|extra| if let Extra::Pause(paused) = extra { Some(*paused) } else { None }).last()
}

/// How many of the local player's entries that have not run yet ask for this.
fn on_its_way(common: &Common, asks: impl Fn(&Extra) -> bool) -> u32 {
    entries_on_their_way(common).filter(|entry| entry.extras.iter().any(&asks)).count() as u32
}

/// The local player's entries that have not run yet, oldest first.
fn entries_on_their_way(common: &Common) -> impl Iterator<Item = &Entry> {
    let own = common.streams.author().map(|player| &common.streams[player.index()]);
    own.into_iter()
        .flat_map(|stream| (common.gate.turn..stream.next()).filter_map(|number| stream.get(number)))
}
