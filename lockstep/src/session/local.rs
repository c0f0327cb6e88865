//! The local player: submits actions, asks for changes, and closes entries.

use crate::pace::pacing::Pace;
use crate::session::config::SessionConfig;
use crate::session::outbox::{Outbox, SubmitError};
use crate::session::{AnySession, SessionPhase};
use crate::value::entry::{EndReason, Entry, Extra, Extras, Payload};
use crate::value::ids::Turn;
use crate::value::time::Instant;

/// What waits for the local player's next entry.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(super) outbox: Outbox,
    pub(super) pause: Option<bool>,
    pub(super) speed: Option<u8>,
    pub(super) save: bool,
    /// The next entry is the last one, for this reason.
    pub(super) ending: Option<EndReason>,
    /// After the last entry the session ends: since when the player wants that.
    pub(super) leaving: Option<Instant>,
}

impl Local {
    pub(super) fn new(config: &SessionConfig, action_bits: u32) -> Self {
        let outbox = Outbox::new(config, action_bits);
        Self { outbox, pause: None, speed: None, save: false, ending: None, leaving: None }
    }
}

impl AnySession {
    /// Whether the local player may submit an action now, for the match and the phase; its queue may be full all the same.
    ///
    /// # Errors
    /// Why not: see [`SubmitError`].
    pub fn may_submit(&self) -> Result<(), SubmitError> {
        let playing =
            self.setup.player().filter(|_| matches!(self.phase, SessionPhase::Lobby | SessionPhase::Running));
        let Some(stream) = playing.map(|player| &self.streams[player.index()]) else {
            return Err(SubmitError::NotPlaying);
        };
        if stream.end().is_some() || self.local.ending.is_some() || self.author().is_none() {
            return Err(SubmitError::NotPlaying);
        }
        if let Some(last) = self.gate.last_turn
            && stream.next().saturating_add(self.local.outbox.entries_before()) > last
        {
            return Err(SubmitError::TooLate { last_turn: Turn(last) });
        }
        Ok(())
    }

    /// Number of the local player's actions that wait for their turn.
    #[must_use]
    pub fn queued_actions(&self) -> u32 {
        self.local.outbox.len()
    }

    /// Asks for a save with the next entry: every peer saves the state before the same turn. A request during a save joins that save. No
    /// effect on a peer that does not play.
    pub fn save(&mut self) {
        self.local.save =
            matches!(self.phase, SessionPhase::Lobby | SessionPhase::Running) && !self.player_ended();
    }

    /// The local player gives no more actions from the next entry on. This peer goes on as a spectator, and forwards packets if it is the
    /// host. Waiting actions are cancelled; returns their number.
    pub fn resign(&mut self) -> u32 {
        self.end_own_stream(EndReason::Left)
    }

    /// Like [`Session::resign`](crate::AnySession::resign), but the player has lost: no bot plays on, whatever the settings say
    /// ([`crate::Simulation::player_surrendered`]).
    pub fn surrender(&mut self) -> u32 {
        self.end_own_stream(EndReason::Surrendered)
    }

    /// Like [`Session::resign`](crate::AnySession::resign), but the game plays on for the player ([`crate::Simulation::player_taken_over`]).
    pub fn hand_over(&mut self) -> u32 {
        self.end_own_stream(EndReason::HandedOver)
    }

    fn end_own_stream(&mut self, reason: EndReason) -> u32 {
        let cancelled = self.local.outbox.cancel();
        if self.transfers.joining.is_some() {
            // The first entry after the return is the last one, too.
            self.local.ending = Some(reason);
        } else if self.phase == SessionPhase::Running && !self.player_ended() {
            self.local.ending = Some(reason);
            self.close_entry(false);
        }
        cancelled
    }

    /// Leaves in good order: like [`Session::resign`](crate::AnySession::resign), and the session is over as soon as the others have the last entry. If the host
    /// leaves, the match ends for all. Returns the number of cancelled actions.
    pub fn leave(&mut self) -> u32 {
        let cancelled = self.resign();
        self.local.leaving.get_or_insert(self.now);
        if self.phase != SessionPhase::Running || self.author().is_none() {
            self.depart();
        }
        cancelled
    }

    /// Whether the local player's stream has ended (or there is none).
    pub(super) fn player_ended(&self) -> bool {
        self.setup.player().is_none_or(|player| self.streams[player.index()].end().is_some())
    }

    /// Closes the local player's next entry. It carries the checksum of the turn that ended last.
    pub(super) fn close_entry(&mut self, is_last: bool) {
        let Some(player) = self.author() else { return };
        let stream = &mut self.streams[player.index()];
        if stream.end().is_some() {
            return;
        }
        // The entry after the last turn runs nowhere; it only carries the last checksum.
        let payload = match (is_last || self.local.ending.is_some(), self.setup.config.input_mode) {
            (true, false) => Payload::none(),
            _ => self.local.outbox.close(),
        };
        // The number of an entry tells to which turn its checksum and result belong. Who is about to return and ends its stream at once has
        // a number that is further ahead.
        let number = stream.next();
        let is_in_step = number.checked_sub(self.setup.config.turns_ahead + 1) == self.gate.ended_turn();
        let checksum = self.gate.ended_checksum.take().filter(|_| is_in_step);
        let mut extras: Extras = checksum.map(Extra::Checksum).into_iter().collect();
        let slack = self.pace.alignment.take_report(self.now);
        // With fixed turns the averages only show whose machine delays the game.
        if (self.setup.config.pace != Pace::Fixed
            || self.pace.meter.is_too_slow(self.setup.config.frames_per_second))
            && let Some((network_ms, runtime_ms)) = self.pace.meter.take_report()
        {
            extras.push(Extra::Pace { network_ms, runtime_ms });
        }
        if let Some(reason) = self.local.ending {
            extras.push(Extra::End(reason));
        }
        if let Some(paused) = self.local.pause.take() {
            extras.push(Extra::Pause(paused));
        }
        if let Some(percent) = self.local.speed.take() {
            extras.push(Extra::Speed(percent));
        }
        if core::mem::take(&mut self.local.save) {
            extras.push(Extra::Save);
        }
        if is_in_step && let Some(value) = self.results.take_request() {
            extras.push(Extra::Result(value));
        }
        extras.extend(slack.map(Extra::Slack));
        if let Some(votes) = self.ballots.take_news() {
            extras.push(Extra::Votes(votes));
            self.ballots.cast(player, votes);
        }
        self.pace.meter.entry_closed(number, self.now);
        stream.push(Entry { payload, extras });
        if let Some(reason) = self.local.ending {
            self.sign_end(player, number, reason);
        }
        for link in self.links.values_mut() {
            link.mark_urgent();
        }
    }
}
