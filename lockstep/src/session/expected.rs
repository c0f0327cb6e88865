//! What is known of turns that have not begun: for a prediction of them.

use crate::session::AnySession;
use crate::value::codec::Codec;
use crate::value::entry::Payload;
use crate::value::ids::PlayerId;

impl AnySession {
    /// How actions are encoded.
    pub(crate) fn codec(&self) -> &Codec {
        &self.common.setup.codec
    }

    /// A player's actions in a turn whose entry is here. None if the entry is the player's last one, too.
    pub(crate) fn entry_actions(&self, player: PlayerId, turn: u32) -> Option<&Payload> {
        let entry = self.common.streams.get(player.index())?.get(turn)?;
        entry.end().is_none().then_some(&entry.payload)
    }

    /// A player's actions in a turn that has not begun, if they are known: the entry is here, the player gives none any more, or it is the
    /// local player, whose submitted actions wait for this turn. (A stream that is ended by others before the turn may still change that.)
    pub(crate) fn expected_actions(&self, player: PlayerId, turn: u32) -> Option<Payload> {
        if let Some(actions) = self.entry_actions(player, turn) {
            return Some(actions.clone());
        }
        let stream = self.common.streams.get(player.index())?;
        if stream.end_in(turn).is_some() {
            return Some(Payload::none());
        }
        // Nobody has entries in the first turns.
        if turn < self.common.config().first_entry() {
            return Some(Payload::none());
        }
        let later = turn.checked_sub(stream.next())?;
        (self.common.streams.author() == Some(player)).then(|| self.local.outbox.preview(later))
    }
}
