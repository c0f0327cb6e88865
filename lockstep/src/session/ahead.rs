//! How far ahead of the others a player's entries may be, and who is too far behind them.

use crate::session::AnySession;
use crate::session::event::Event;
use crate::session::guests::GUEST_WINDOW;
use crate::session::link::Link;
use crate::value::ids::{Identity, PlayerId};

impl AnySession {
    /// The first entry of a player that is not taken now.
    ///
    /// A player begins turn T when it has the entries of all others for T, and then closes its entry for T + `turns_ahead`. So this entry
    /// is less than `turns_ahead` after the next entry of any other player. One more follows at once if the player's stream ends, or
    /// after the last turn. That holds at every pace, in a resumed match, and for a player who is back. A player who does not know yet
    /// that another one is back begins no turn after that return ([`crate::session::horizon`]), and the other one's next entry is later.
    ///
    /// The middle of a star has everything that a player can know of the others. Any other peer is only sure of its own entries. Who
    /// watches, and the middle if nobody else plays, have no such measure, and keep a window.
    pub(super) fn first_refused(&self, player: PlayerId) -> u32 {
        let others = (0_u8..).map(PlayerId).zip(&self.streams).filter(|(other, stream)| {
            let knows = self.setup.forwards() || self.author() == Some(*other);
            *other != player && knows && stream.end().is_none()
        });
        let slowest = others.map(|(_, stream)| stream.next()).min();
        let honest = slowest.map(|slowest| slowest.saturating_add(self.setup.config.turns_ahead + 1));
        if !self.setup.is_relay() {
            let window = self.gate.turn.saturating_add(self.setup.config.window);
            return honest.map_or(window, |honest| honest.min(window));
        }
        honest.unwrap_or_else(|| self.streams[player.index()].oldest().saturating_add(GUEST_WINDOW))
    }

    /// A player has sent entries over its own link that nobody honest can have made yet. They were refused, which harms only their author.
    pub(super) fn note_too_far(&mut self, index: usize, player: PlayerId, number: u32) {
        let is_author = self.links[index].identity == Some(Identity::Player(player));
        let knows = self.setup.forwards() || self.author().is_some_and(|own| self.live() & (1 << own.0) != 0);
        if is_author && knows && !core::mem::replace(&mut self.links[index].told_too_far, true) {
            tracing::warn!(player = player.0, number, "entries that are too far ahead");
            self.emit(Event::TooFarAhead { player });
        }
    }

    /// Whether the remote is too far behind to be served any longer. The others wait for a player, so only who withholds confirmations gets
    /// there, or somebody who watches over a line that is too slow. Nobody is judged by entries that are younger than the drop time.
    pub(super) fn is_straggler(&self, link: &Link) -> bool {
        if !link.is_connected() {
            return false;
        }
        let config = &self.setup.config;
        let patience = config.drop_after.unwrap_or(config.silence_timeout);
        let has_time = self.is_delayed(link) || link.guest.is_some();
        (0_u8..).map(PlayerId).zip(&self.streams).any(|(player, stream)| {
            let ack = link.acked[player.index()];
            let (mark, since) = link.marks[player.index()];
            let behind = stream.next().saturating_sub(ack);
            let is_old = ack < mark && self.now.since(since) >= patience;
            behind > GUEST_WINDOW
                || (behind > config.window && is_old && !has_time && self.serves(link, player))
        })
    }

    /// Notes which entries every remote has confirmed by now.
    pub(super) fn note_marks(&mut self) {
        for link in self.links.values_mut() {
            let marks = link.marks.iter_mut().zip(link.acked).zip(&self.streams);
            for (((mark, since), ack), stream) in marks {
                if ack >= *mark {
                    (*mark, *since) = (stream.next(), self.now);
                }
            }
        }
    }

    /// Whether this peer must give a player's stream to the remote.
    fn serves(&self, link: &Link, player: PlayerId) -> bool {
        let is_own = self.setup.identity == Identity::Player(player);
        is_own || (self.setup.forwards() && link.identity != Some(Identity::Player(player)))
    }
}
