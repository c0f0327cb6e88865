//! Confirmations: which peer has which entries, and which entries can be forgotten.

use crate::session::AnySession;
use crate::session::link::Link;
use crate::value::ids::{Identity, PlayerId};

impl AnySession {
    /// Every player has our entries below this number.
    pub(super) fn confirmed(&self) -> u32 {
        self.confirming_links().map(|link| link.confirmed).min().unwrap_or(u32::MAX)
    }

    pub(super) fn confirming_links(&self) -> impl Iterator<Item = &Link> {
        self.links.values().filter(|link| link.is_connected() && !link.finished && self.counts(link))
    }

    /// Whether the other end must get our entries: it plays, or it passes them on.
    pub(super) fn counts(&self, link: &Link) -> bool {
        let forwards = !self.setup.is_mesh() && link.identity == Some(self.setup.coordinator());
        forwards || self.plays(link)
    }

    /// Whether the player at the other end still gives actions. A player who has left confirms nothing more, even if its bye packet was
    /// lost.
    pub(super) fn plays(&self, link: &Link) -> bool {
        match link.identity {
            Some(Identity::Player(player)) => self.streams[player.index()].end().is_none(),
            _ => false,
        }
    }

    /// How many of a player's entries that are here are still missing at a peer that this one serves.
    pub(super) fn unconfirmed(&self, player: PlayerId) -> u32 {
        let here = self.streams[player.index()].next();
        if !self.setup.forwards() {
            return 0;
        }
        let served = self.links.values().filter(|link| {
            link.is_connected() && self.plays(link) && link.identity != Some(Identity::Player(player))
        });
        let least = served.map(|link| link.acked[player.index()]).min().unwrap_or(here);
        here.saturating_sub(least)
    }

    /// Forgets entries that have run and that every link has confirmed. A peer whose confirmations fall too far behind is lost.
    pub(super) fn forget_old(&mut self) {
        self.note_marks();
        for index in 0..self.links.len() {
            if self.is_straggler(&self.links[index]) {
                self.lose_straggler(index);
            }
        }
        self.forget_confirmed();
    }

    fn forget_confirmed(&mut self) {
        let run = if self.setup.is_relay() { u32::MAX } else { self.gate.turn.saturating_sub(1) };
        for (index, stream) in self.streams.iter_mut().enumerate() {
            let confirmed =
                self.links.values().filter(|link| link.is_connected()).map(|link| link.acked[index]);
            let needed = confirmed.min().unwrap_or(u32::MAX).min(run);
            stream.forget_below(needed.min(stream.next()));
        }
    }
}
