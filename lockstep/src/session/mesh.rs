//! Agreement in a mesh: before anybody is dropped, every survivor takes nothing more from the player's own link and passes on what it
//! has. The lowest survivor then ends the stream.

use crate::session::event::Failure;
use crate::session::{Session, players_in};
use crate::value::action::Action;
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::Duration;

/// Whom this peer has given up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreement {
    /// Players of whom nothing more is taken from their own links, bit n for player n.
    pub(super) frozen: u16,
}

impl<A: Action> Session<A> {
    /// Mesh: takes nothing more from these players' own links. When every survivor has done so and everything that any of them
    /// has is here, the lowest of them ends the streams.
    pub(super) fn freeze(&mut self, missing: u16) {
        // Whoever is silent as well, or has no link to here, cannot agree to anything.
        let drop_after = self.setup.config.drop_after.unwrap_or_default();
        let reachable = |player: PlayerId| {
            let mut links =
                self.links.values().filter(|link| link.identity == Some(Identity::Player(player)));
            links.any(|link| {
                link.is_connected() && (link.finished || self.now.since(link.last_heard) < drop_after)
            })
        };
        let own = self.setup.player();
        let silent = players_in(self.live()).filter(|&player| own != Some(player) && !reachable(player));
        self.mesh.frozen |= silent.fold(missing, |mask, player| mask | (1 << player.0));
        let live = self.live();
        // Once given up, always given up.
        let missing = self.mesh.frozen & live;
        let survivors = live & !self.mesh.frozen;
        let (all, left) = (live.count_ones(), survivors.count_ones());
        let has_lowest = live.trailing_zeros() == survivors.trailing_zeros();
        if left * 2 < all || (left * 2 == all && !has_lowest) {
            let lost = self.links.values().find(|link| !link.finished).map(|link| link.peer);
            self.fail(Failure::ConnectionLost(lost.unwrap_or_default()));
            return;
        }
        if self.setup.player().is_none_or(|own| u32::from(own.0) != survivors.trailing_zeros()) {
            return;
        }
        let agrees = |player: PlayerId| {
            let link = self.links.values().find(|link| link.identity == Some(Identity::Player(player)));
            link.is_some_and(|link| {
                let has_no_more = |p: PlayerId| link.acked[p.index()] <= self.streams[p.index()].next();
                link.is_connected()
                    && link.frozen & missing == missing
                    && players_in(missing).all(has_no_more)
            })
        };
        let own = self.setup.player();
        if players_in(survivors).filter(|&player| own != Some(player)).all(agrees) {
            self.end_streams(missing);
        }
    }

    /// Mesh: whom to give up first when these are missing. Who talks and stands may itself have given up one who is silent (the article's
    /// gate waits for confirmations, which only the player itself can give), and goes on when that one is gone.
    pub(super) fn given_up_first(&self, missing: u16) -> u16 {
        let talking = self.talking();
        let blamed = self.links.values().filter_map(|link| match link.identity {
            Some(Identity::Player(player)) if talking & missing & (1 << player.0) != 0 => Some(link.frozen),
            _ => None,
        });
        let blamed = blamed.fold(missing, |mask, frozen| mask | frozen);
        match blamed & self.live() & !(talking & !self.mesh.frozen) {
            0 => missing,
            silent => silent,
        }
    }

    /// Mesh: whom the lowest player that is not given up here has given up, but for this peer.
    pub(super) fn given_up_by_leader(&self) -> u16 {
        let own = self.setup.player().map_or(0, |own| 1 << own.0);
        let leader = (self.live() & !self.mesh.frozen).trailing_zeros() as u8;
        let link = self.links.values().find(|link| link.identity == Some(Identity::Player(PlayerId(leader))));
        link.filter(|link| link.is_connected()).map_or(0, |link| link.frozen & self.live() & !own)
    }

    /// Players from whom something has come in the last half of the drop time, and the local one; bit n for player n.
    pub(super) fn talking(&self) -> u16 {
        let drop_after = self.setup.config.drop_after.unwrap_or_default();
        self.heard_within(Duration::from_micros(drop_after.as_micros() / 2))
    }
}
