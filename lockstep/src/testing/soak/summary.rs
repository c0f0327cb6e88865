//! What the events of a session said.

use crate::session::AnySession;
use crate::session::event::Event;
use crate::session::stats::Stats;
use crate::signed::roster::Fingerprint;
use crate::value::entry::EndReason;

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
    /// Somebody is said to have lied or cheated, or a state to be false.
    pub(super) accused: Vec<String>,
    /// What other peers sent that no honest one sends.
    pub(super) invalid: u64,
    /// Of the keys that all players agreed on.
    pub(super) keys: Option<Fingerprint>,
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
            Event::Paused { paused: true, .. } => self.pauses += 1,
            Event::Joined { .. } => self.joined = true,
            Event::PlayerReturned { player, turn } => self.back.push((player.0, turn.0)),
            Event::Contradiction(_)
            | Event::ShownAnother { .. }
            | Event::Outlier(_)
            | Event::TooFarAhead { .. }
            | Event::Forged { .. }
            | Event::WrongState { .. }
            | Event::StateRefused { .. } => self.accused.push(format!("{event:?}")),
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
    }
}
