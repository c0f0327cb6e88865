//! What the events of a session said.

use crate::session::AnySession;
use crate::session::event::Event;
use crate::session::stats::Stats;
use crate::signed::roster::Fingerprint;
use crate::value::entry::EndReason;
use crate::value::ids::PlayerId;

/// What the events of a session said.
#[derive(Clone, Debug, Default)]
pub(super) struct EventSummary {
    pub(super) desync: bool,
    /// Players who were dropped, and the first turn without each.
    pub(super) dropped: Vec<(u8, u32)>,
    /// Players who left or resigned, and the first turn without each.
    pub(super) left: Vec<(u8, u32)>,
    /// Players who are back, and the first turn with them.
    pub(super) back: Vec<(u8, u32)>,
    /// It joined the running match.
    pub(super) joined: bool,
    /// Pauses that began.
    pub(super) pauses: u64,
    /// The turns in which pauses began and ended, and for whom.
    pub(super) paused: Vec<(u32, u8, bool)>,
    /// Changes of speed: the turn, the player, percent.
    pub(super) speeds: Vec<(u32, u8, u8)>,
    /// Somebody is said to have lied or cheated, or to have given a false state. (A good state is refused without blame while the match stands still for
    /// long and nobody can confirm it.)
    pub(super) accused: Vec<String>,
    /// What other peers sent that no honest one sends.
    pub(super) invalid: u64,
    /// Of the keys that all players agreed on.
    pub(super) keys: Option<Fingerprint>,
    /// What the players show of themselves.
    pub(super) profiles: Vec<Vec<u8>>,
    /// Players whose profiles may have been on their way to it at the end, bit n for player n.
    pub(super) profiles_late: u16,
}

impl EventSummary {
    pub(super) fn note(&mut self, event: &Event) {
        match event {
            Event::Desync(_) => self.desync = true,
            Event::PlayerGone { player, reason, turn } => match reason {
                EndReason::Left | EndReason::Surrendered | EndReason::HandedOver => {
                    self.left.push((player.0, turn.0));
                }
                EndReason::Dropped => self.dropped.push((player.0, turn.0)),
            },
            Event::Paused { turn, player, paused } => {
                self.pauses += u64::from(*paused);
                self.paused.push((turn.0, player.0, *paused));
            }
            Event::Speed { turn, player, percent } => self.speeds.push((turn.0, player.0, *percent)),
            Event::Joined { .. } => self.joined = true,
            Event::PlayerReturned { player, turn } => self.back.push((player.0, turn.0)),
            Event::Contradiction(_)
            | Event::ShownAnother { .. }
            | Event::Outlier(_)
            | Event::TooFarAhead { .. }
            | Event::Forged { .. }
            | Event::WrongState { .. } => self.accused.push(format!("{event:?}")),
            _ => {}
        }
    }

    /// What only the session knows at its end.
    pub(super) fn close(&mut self, session: &AnySession) {
        let Stats {
            entries_invalid, statements_invalid, ends_invalid, hellos_forged, messages_refused, ..
        } = session.stats();
        self.invalid = entries_invalid + statements_invalid + ends_invalid + hellos_forged + messages_refused;
        self.keys = session.roster().map(|roster| roster.fingerprint());
        let players = (0..session.config().players).map(PlayerId);
        self.profiles = players.map(|player| session.profile(player).to_vec()).collect();
    }
}
