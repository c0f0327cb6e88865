//! The local player: submits actions, asks for changes, and closes entries.

use crate::pace::pacing::Pace;
use crate::session::AnySession;
use crate::session::config::SessionConfig;
use crate::session::outbox::Outbox;
use crate::value::entry::{EndReason, Entry, Extra, Extras, Payload};
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
    /// Closes the local player's next entry. It carries the checksum of the turn that ended last.
    pub(super) fn close_entry(&mut self, is_last: bool) {
        let Some(player) = self.common.streams.author() else { return };
        let stream = &mut self.common.streams[player.index()];
        if stream.end().is_some() {
            return;
        }
        // The entry after the last turn runs nowhere; it only carries the last checksum.
        let payload = match (is_last || self.local.ending.is_some(), self.common.setup.config.input_mode) {
            (true, false) => Payload::none(),
            _ => self.local.outbox.close(),
        };
        // The number of an entry tells to which turn its checksum and result belong. A player who is about to return and ends its stream at once has
        // a number that is further ahead.
        let number = stream.next();
        let is_in_step =
            number.checked_sub(self.common.setup.config.turns_ahead + 1) == self.common.gate.ended_turn();
        let checksum = self.common.gate.ended_checksum.take().filter(|_| is_in_step);
        let mut extras: Extras = checksum.map(Extra::Checksum).into_iter().collect();
        let slack = self.pace.alignment.take_report(self.common.now);
        // With fixed turns the averages only show whose machine delays the game.
        if (self.common.setup.config.tempo.pace != Pace::Fixed
            || self.pace.meter.is_too_slow(self.common.setup.config.frames_per_second))
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
        self.pace.meter.entry_closed(number, self.common.now);
        stream.push(Entry { payload, extras });
        if let (Some(reason), Some(signing)) = (self.local.ending, &mut self.signing) {
            signing.sign_end(&self.common, player, number, reason);
        }
        self.common.links.mark_urgent();
    }
}
