//! Agreement in a mesh: before a player is dropped, every survivor stops accepting the player's own packets and passes on the entries that
//! it has. Then the lowest survivor ends the stream.

use crate::session::event::Failure;
use crate::session::link::Link;
use crate::session::{Session, SessionPhase, players_in};
use crate::value::action::Action;
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::Duration;

/// If something came from a player within this time, nobody else needs to pass on its entries.
const SPEAKS_FOR_ITSELF: Duration = Duration::from_millis(300);

/// The players that this peer has given up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreement {
    /// Players from whose own links nothing more is accepted, bit n for player n.
    pub(super) frozen: u16,
    /// Players whom the local player votes out.
    pub(super) votes: u16,
}

impl<A: Action> Session<A> {
    /// Mesh: accepts nothing more from these players' own links. When every survivor has done so and all entries that any of them has are
    /// here, the lowest of them ends the streams.
    pub(super) fn freeze(&mut self, missing: u16) {
        // A peer that is also silent, or that has no link to this one, cannot agree to anything.
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
        // A player who was given up stays given up.
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

    /// Mesh: votes a player out, or takes the vote back. When more than half of the active players vote so, the player is dropped, as after
    /// a silence. Returns whether the vote counts: in a star the middle decides ([`Session::kick`]).
    pub fn vote_out(&mut self, player: PlayerId, out: bool) -> bool {
        let can = self.setup.is_mesh() && self.setup.player() != Some(player);
        if !can || player.0 >= self.setup.config.players {
            return false;
        }
        let bit = 1 << player.0;
        self.mesh.votes = if out { self.mesh.votes | bit } else { self.mesh.votes & !bit };
        true
    }

    /// Mesh: gives up the players whom a majority of the active players votes out.
    pub(super) fn count_votes(&mut self) {
        if !self.setup.is_mesh() || self.phase != SessionPhase::Running {
            return;
        }
        let (live, own) = (self.live(), self.mesh.votes);
        let votes = |player: &PlayerId| {
            let says = |votes: u16| u32::from(votes & (1 << player.0) != 0);
            let others = self.links.values().filter(|link| self.plays(link)).map(|link| says(link.votes));
            (others.sum::<u32>() + says(own)) * 2 > live.count_ones()
        };
        let out = players_in(live).filter(votes).fold(0, |mask, player| mask | (1 << player.0));
        let out = out & !self.setup.player().map_or(0, |own| 1 << own.0);
        if out != 0 {
            self.freeze(out);
        }
    }

    /// Mesh: whether other peers may pass on a player's entries. While the player itself can be heard, only it may speak for itself.
    pub(super) fn takes_from_others(&self, player: PlayerId) -> bool {
        let link = self.links.values().find(|link| link.identity == Some(Identity::Player(player)));
        let heard = |link: &Link| {
            link.is_connected() && !link.finished && self.now.since(link.last_heard) < SPEAKS_FOR_ITSELF
        };
        self.mesh.frozen & (1 << player.0) != 0 || !link.is_some_and(heard)
    }

    /// Mesh: whom to give up first if these players are missing. A player who can be heard may itself be waiting for a silent one (the
    /// article's gate waits for confirmations, which only the player itself can give), and goes on when that one is gone.
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

    /// Mesh: whether this peer takes part in agreeing on whom to drop. Who was given up does not, and who has left does not: nobody asks it what
    /// else it has, so what it passes on after the others have agreed would reach only some of them.
    pub(super) fn survives(&self, identity: Option<Identity>) -> bool {
        let survivors = self.live() & !self.mesh.frozen;
        matches!(identity, Some(Identity::Player(player)) if survivors & (1 << player.0) != 0)
    }

    /// Mesh: the players, except this peer, that the lowest surviving player has given up.
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
