//! Agreement in a mesh: before a player is dropped, every survivor stops accepting the player's own packets and passes on the entries that
//! it has. Then the lowest survivor ends the stream.

use crate::session::event::Failure;
use crate::session::link::Link;
use crate::session::{AnySession, SessionPhase, players_in};
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::{Duration, Instant};

/// If something came from a player within this time, nobody else needs to pass on its entries.
const SPEAKS_FOR_ITSELF: Duration = Duration::from_millis(300);

/// The players that this peer has given up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreement {
    /// Players from whose own links nothing more is accepted, bit n for player n.
    pub(super) frozen: u16,
    /// Of the frozen ones, those whom this peer gave up as the lowest player of all. Nobody else can end their streams because of its word, so it
    /// may take it back.
    revocable: u16,
    /// Since when the lowest survivor waits only for peers whose streams have ended.
    waits_for_ended: Option<Instant>,
}

impl AnySession {
    /// Mesh: accepts nothing more from these players' own links. When every survivor has done so and all entries that any of them has are
    /// here, the lowest of them ends the streams.
    pub(super) fn freeze(&mut self, missing: u16) {
        let own = self.setup.player();
        let given_up = missing | self.voted_out() | self.unreachable();
        self.take_back(!given_up);
        let live = self.live();
        if own.is_some_and(|own| u32::from(own.0) == live.trailing_zeros()) {
            self.mesh.revocable |= given_up & !self.mesh.frozen;
        }
        self.mesh.frozen |= given_up;
        // A player whom others may have given up, too, stays given up.
        let missing = self.mesh.frozen & live;
        let survivors = live & !self.mesh.frozen;
        let (all, left) = (live.count_ones(), survivors.count_ones());
        let has_lowest = live.trailing_zeros() == survivors.trailing_zeros();
        if left * 2 < all || (left * 2 == all && !has_lowest) {
            self.fail_alone();
            return;
        }
        if !self.leads() {
            return;
        }
        let disagree = self.disagreeing(survivors, missing);
        if disagree != 0 {
            self.mesh.waits_for_ended = None;
            let is_late = self.waited() >= self.agreeing_is_late() + self.setup.config.linger.times(2);
            // One of them may lie. The others follow by now.
            if is_late && (survivors & !disagree).count_ones() * 2 > all {
                self.mesh.frozen |= disagree;
            }
        } else if !self.waits_for_ended() {
            self.mesh.waits_for_ended = None;
            self.end_streams(missing);
        }
    }

    /// Players who cannot agree to anything, because they are silent or there is no link to them; bit n for player n.
    fn unreachable(&self) -> u16 {
        let drop_after = self.setup.config.drop_after.unwrap_or_default();
        let own = self.setup.player().map_or(0, |own| 1 << own.0);
        self.live() & !own & !self.heard_within(drop_after)
    }

    /// The survivors, except this peer, that have not given up all of the missing players, or have entries of them that are not here.
    fn disagreeing(&self, survivors: u16, missing: u16) -> u16 {
        let agrees = |player: PlayerId| {
            self.link_of(player).is_some_and(|link| {
                let has_no_more = |p: PlayerId| link.acked[p.index()] <= self.streams[p.index()].next();
                link.is_connected()
                    && link.frozen & missing == missing
                    && players_in(missing).all(has_no_more)
            })
        };
        let own = self.setup.player();
        let disagree = players_in(survivors).filter(|&player| own != Some(player) && !agrees(player));
        disagree.fold(0, |mask, player| mask | (1 << player.0))
    }

    fn link_of(&self, player: PlayerId) -> Option<&Link> {
        self.links.values().find(|link| link.identity == Some(Identity::Player(player)))
    }

    /// This peer is in the smaller part of a divided mesh, or the mesh cannot agree.
    fn fail_alone(&mut self) {
        let lost = self.links.values().find(|link| !link.finished).map(|link| link.peer);
        self.fail(Failure::ConnectionLost(lost.unwrap_or_default()));
    }

    /// Mesh: whom the lowest survivor may declare given up when this peer has waited for so long for the missing. The silent at once: everybody
    /// finds them missing. Who is missing but can be heard may be late by one packet, and the lowest survivor may lie: only after half of the drop
    /// time. Anybody when the peers do not agree for other reasons: a link may be broken that only one of them needs.
    pub(super) fn believed(&self, missing: u16, waited: Duration) -> u16 {
        let drop_after = self.setup.config.drop_after.unwrap_or_default();
        let silent = !self.talking();
        if waited >= self.agreeing_is_late() {
            u16::MAX
        } else if waited.times(2) >= drop_after {
            missing | silent
        } else {
            silent
        }
    }

    /// Time from which on peers of a mesh who still wait give up whom the others name.
    fn agreeing_is_late(&self) -> Duration {
        let drop_after = self.setup.config.drop_after.unwrap_or_default();
        drop_after + Duration::from_micros(self.ending_deadline().as_micros() / 2)
    }

    /// Mesh: whether the peers have tried to agree on whom to drop for so long that they never will; then the match is over here.
    pub(super) fn gives_up_agreeing(&mut self, waited: Duration) -> bool {
        let drop_after = self.setup.config.drop_after.unwrap_or_default();
        let too_long = self.setup.is_mesh() && waited >= drop_after + self.ending_deadline();
        if too_long {
            self.fail_alone();
        }
        too_long
    }

    /// The lowest player had not heard of these for too long, perhaps because it was cut off itself. The others hear them and would not
    /// agree, so it listens to them again.
    pub(super) fn take_back(&mut self, heard: u16) {
        let back = heard & self.mesh.revocable & !self.voted_out();
        self.mesh.frozen &= !back;
        self.mesh.revocable &= !back;
    }

    /// Whether this peer is the lowest survivor, which ends the streams of the missing.
    fn leads(&self) -> bool {
        let survivors = self.live() & !self.mesh.frozen;
        self.setup.player().is_some_and(|own| u32::from(own.0) == survivors.trailing_zeros())
    }

    /// Whether the player has ended its own stream. Nobody asks it to agree any more, but it may have run turns of the missing players that
    /// no survivor has.
    fn has_ended(&self, identity: Option<Identity>) -> bool {
        matches!(identity, Some(Identity::Player(player))
            if (self.live() | self.mesh.frozen) & (1 << player.0) == 0)
    }

    /// Whether a peer whose stream has ended may still pass something on. It goes only when the others have all that it has run
    /// ([`Session::leave`](crate::AnySession::leave)), so waiting until it is gone is enough; who stays to watch is waited for twice the linger time.
    fn waits_for_ended(&mut self) -> bool {
        let since = *self.mesh.waits_for_ended.get_or_insert(self.now);
        let linger = self.setup.config.linger;
        let can_be_heard =
            |link: &Link| link.is_connected() && !link.finished && self.now.since(link.last_heard) < linger;
        let mut ended = self.links.values().filter(|link| self.has_ended(link.identity));
        ended.any(can_be_heard) && self.now.since(since) < linger.times(2)
    }

    /// Mesh: gives up the players whom a majority of the active players votes out.
    pub(super) fn count_votes(&mut self) {
        let counts = self.setup.is_mesh() && self.phase == SessionPhase::Running;
        if counts && self.voted_out() != 0 {
            self.freeze(self.mesh.frozen & self.live());
        }
    }

    /// Players whom a majority of the active players votes out, bit n for player n; never the local player.
    fn voted_out(&self) -> u16 {
        let live = self.live();
        let votes = |player: &PlayerId| {
            let says = |votes: u16| u32::from(votes & (1 << player.0) != 0);
            let others = self.links.values().filter(|link| self.plays(link)).map(|link| says(link.votes));
            (others.sum::<u32>() + says(self.ballots.own)) * 2 > live.count_ones()
        };
        let out = players_in(live).filter(votes).fold(0, |mask, player| mask | (1 << player.0));
        out & !self.setup.player().map_or(0, |own| 1 << own.0)
    }

    /// Mesh: whether other peers may pass on a player's entries. While the player itself can be heard, only it may speak for itself.
    pub(super) fn takes_from_others(&self, player: PlayerId) -> bool {
        let heard = |link: &Link| {
            link.is_connected() && !link.finished && self.now.since(link.last_heard) < SPEAKS_FOR_ITSELF
        };
        self.mesh.frozen & (1 << player.0) != 0 || !self.link_of(player).is_some_and(heard)
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

    /// Mesh: whether this peer may pass on entries of the players who were given up. Who was given up may not. Who has ended its own stream may
    /// only pass them to the lowest survivor: nobody else is asked what it has, so what it gave to another one after the agreement would
    /// reach only some of them.
    pub(super) fn may_pass_on(&self, identity: Option<Identity>) -> bool {
        let survivors = self.live() & !self.mesh.frozen;
        let survives = matches!(identity, Some(Identity::Player(player)) if survivors & (1 << player.0) != 0);
        survives || (self.leads() && self.has_ended(identity))
    }

    /// Mesh: the players, except this peer, that the lowest surviving player has given up.
    pub(super) fn given_up_by_leader(&self) -> u16 {
        let own = self.setup.player().map_or(0, |own| 1 << own.0);
        let leader = (self.live() & !self.mesh.frozen).trailing_zeros() as u8;
        self.link_of(PlayerId(leader))
            .filter(|link| link.is_connected())
            .map_or(0, |link| link.frozen & self.live() & !own)
    }

    /// Players from whom something has come in the last half of the drop time, and the local one; bit n for player n.
    pub(super) fn talking(&self) -> u16 {
        let drop_after = self.setup.config.drop_after.unwrap_or_default();
        self.heard_within(Duration::from_micros(drop_after.as_micros() / 2))
    }
}
