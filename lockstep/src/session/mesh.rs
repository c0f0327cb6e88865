//! Agreement in a mesh: before a player is dropped, every survivor stops accepting the player's own packets and passes on the entries that
//! it has. Then the lowest survivor ends the stream.

use crate::packet::TurnsPacket;
use crate::session::common::Common;
use crate::session::config::SessionConfig;
use crate::session::link::Link;
use crate::session::players_in;
use crate::session::stream::Stream;
use crate::value::entry::EndReason;
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::{Duration, Instant};

/// If something came from a player within this time, nobody else needs to pass on its entries.
const SPEAKS_FOR_ITSELF: Duration = Duration::from_millis(300);

/// The agreement to drop players, as far as this peer is with it: whom it has given up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DropAgreement {
    /// Players from whose own links nothing more is accepted, bit n for player n.
    pub(super) frozen: u16,
    /// Of the frozen ones, those whom this peer gave up as the lowest player of all. Nobody else can end their streams because of its word, so it
    /// may take it back.
    revocable: u16,
    /// Since when the lowest survivor waits only for peers whose streams have ended.
    waits_for_ended: Option<Instant>,
}

/// What the agreement has come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// The peers do not agree yet, or another one acts.
    Wait,
    /// This peer ends the streams of these players, bit n for player n.
    Drop(u16),
    /// This peer is in the smaller part of a divided mesh, or the mesh cannot agree.
    Alone,
}

impl DropAgreement {
    /// Mesh: accepts nothing more from these players' own links. When every survivor has done so and all entries that any of them has are
    /// here, the lowest of them ends the streams.
    ///
    /// `votes` are the local player's; the others have waited for this long.
    pub(super) fn freeze(&mut self, common: &Common, votes: u16, missing: u16, waited: Duration) -> Next {
        let own = common.setup.player();
        let given_up = missing | self.voted_out(common, votes) | self.unreachable(common);
        self.take_back(common, votes, !given_up);
        let live = common.streams.live();
        if own.is_some_and(|own| u32::from(own.0) == live.trailing_zeros()) {
            self.revocable |= given_up & !self.frozen;
        }
        self.frozen |= given_up;
        // A player whom others may have given up, too, stays given up.
        let missing = self.frozen & live;
        let survivors = live & !self.frozen;
        let (all, left) = (live.count_ones(), survivors.count_ones());
        let has_lowest = live.trailing_zeros() == survivors.trailing_zeros();
        if left * 2 < all || (left * 2 == all && !has_lowest) {
            return Next::Alone;
        }
        if !self.leads(common) {
            return Next::Wait;
        }
        let disagree = self.disagreeing(common, survivors, missing);
        if disagree != 0 {
            self.waits_for_ended = None;
            let is_late =
                waited >= agreeing_is_late(common.config()) + common.setup.config.waits.linger.times(2);
            // One of them may lie. The others follow by now.
            if is_late && (survivors & !disagree).count_ones() * 2 > all {
                self.frozen |= disagree;
            }
        } else if !self.waits_for_ended(common) {
            self.waits_for_ended = None;
            return Next::Drop(missing);
        }
        Next::Wait
    }

    /// Players who cannot agree to anything, because they are silent or there is no link to them; bit n for player n.
    fn unreachable(&self, common: &Common) -> u16 {
        let drop_after = common.setup.config.waits.drop_after.unwrap_or_default();
        let own = common.own();
        common.streams.live() & !own & !common.heard_within(drop_after)
    }

    /// Players who are given up and may have run this turn with entries of another dropped player that no survivor has, bit n for player n. What they say of
    /// the turn differs, and they are honest all the same. None of them gets further: the next turns need the survivors' entries.
    pub(super) fn ran_another(&self, common: &Common, turn: u32) -> u16 {
        let ahead = common.config().turns_ahead;
        let was_dropped = |player: &PlayerId| {
            let end = common.streams[player.index()].end_in(turn);
            matches!(end, Some((last, EndReason::Dropped)) if turn < last.saturating_add(ahead))
        };
        let dropped =
            players_in(self.frozen).filter(was_dropped).fold(0_u16, |mask, player| mask | 1 << player.0);
        match dropped.count_ones() {
            0 => 0,
            // The one player who was dropped says nothing of turns without it.
            1 => self.frozen & !dropped,
            _ => self.frozen,
        }
    }

    /// The survivors, except this peer, that have not given up all of the missing players, or have entries of them that are not here.
    fn disagreeing(&self, common: &Common, survivors: u16, missing: u16) -> u16 {
        let agrees = |player: PlayerId| {
            common.links.of(player).is_some_and(|link| {
                let has_no_more =
                    |p: PlayerId| link.progress.acked[p.index()] <= common.streams[p.index()].next();
                link.is_connected()
                    && link.mesh.frozen & missing == missing
                    && players_in(missing).all(has_no_more)
            })
        };
        let own = common.setup.player();
        let disagree = players_in(survivors).filter(|&player| own != Some(player) && !agrees(player));
        disagree.fold(0, |mask, player| mask | (1 << player.0))
    }

    /// Mesh: whom the lowest survivor may declare given up when this peer has waited for so long for the missing. The silent at once: everybody
    /// finds them missing. A player that is missing but can be heard may be late by one packet, and the lowest survivor may lie: only after half of the drop
    /// time. Anybody when the peers do not agree for other reasons: a link may be broken that only one of them needs.
    pub(super) fn believed(&self, common: &Common, missing: u16, waited: Duration) -> u16 {
        let drop_after = common.setup.config.waits.drop_after.unwrap_or_default();
        let silent = !common.talking();
        if waited >= agreeing_is_late(common.config()) {
            u16::MAX
        } else if waited.times(2) >= drop_after {
            missing | silent
        } else {
            silent
        }
    }

    /// The lowest player had not heard of these for too long, perhaps because it was cut off itself. The others hear them and would not
    /// agree, so it listens to them again. Whoever has been dropped stays given up.
    pub(super) fn take_back(&mut self, common: &Common, votes: u16, heard: u16) {
        let back = heard & common.streams.live() & self.revocable & !self.voted_out(common, votes);
        self.frozen &= !back;
        self.revocable &= !back;
    }

    /// Whether this peer is the lowest survivor, which ends the streams of the missing.
    fn leads(&self, common: &Common) -> bool {
        let survivors = common.streams.live() & !self.frozen;
        common.setup.player().is_some_and(|own| u32::from(own.0) == survivors.trailing_zeros())
    }

    /// Whether the player has ended its own stream. Nobody asks it to agree any more, but it may have run turns of the missing players that
    /// no survivor has.
    fn has_ended(&self, common: &Common, identity: Option<Identity>) -> bool {
        matches!(identity, Some(Identity::Player(player))
            if (common.streams.live() | self.frozen) & (1 << player.0) == 0)
    }

    /// Whether a peer whose stream has ended may still pass something on. It goes only when the others have all that it has run
    /// ([`Session::leave`](crate::AnySession::leave)), so waiting until it is gone is enough; a peer that stays to watch is waited for twice the linger time.
    fn waits_for_ended(&mut self, common: &Common) -> bool {
        let since = *self.waits_for_ended.get_or_insert(common.now);
        let linger = common.setup.config.waits.linger;
        let can_be_heard = |link: &Link| {
            link.is_connected() && !link.progress.finished && common.now.since(link.last_heard) < linger
        };
        let mut ended = common.links.values().filter(|link| self.has_ended(common, link.identity));
        ended.any(can_be_heard) && common.now.since(since) < linger.times(2)
    }

    /// Players whom a majority of the active players votes out or has given up, bit n for player n; never the local player. Whoever has given somebody up
    /// cannot take it back, also if a vote was the reason: without the others' agreement it would go on without that player's own packets.
    pub(super) fn voted_out(&self, common: &Common, votes: u16) -> u16 {
        let live = common.streams.live();
        // A player who has left or resigned has no vote.
        let votes = if common.own() & live == 0 { 0 } else { votes | self.frozen };
        let votes = |player: &PlayerId| {
            let says = |votes: u16| u32::from(votes & (1 << player.0) != 0);
            let others = common.links.values().filter(|link| common.plays(link));
            let others = others.map(|link| says(link.mesh.votes | link.mesh.frozen));
            (others.sum::<u32>() + says(votes)) * 2 > live.count_ones()
        };
        let out = players_in(live).filter(votes).fold(0, |mask, player| mask | (1 << player.0));
        out & !common.own()
    }

    /// Mesh: whether other peers may pass on a player's entries. While the player itself can be heard, only it may speak for itself.
    pub(super) fn takes_from_others(&self, common: &Common, player: PlayerId) -> bool {
        let heard = |link: &Link| {
            link.is_connected()
                && !link.progress.finished
                && common.now.since(link.last_heard) < SPEAKS_FOR_ITSELF
        };
        self.frozen & (1 << player.0) != 0 || !common.links.of(player).is_some_and(heard)
    }

    /// Mesh: whom to give up first if these players are missing. A player who can be heard may itself be waiting for a silent one (the
    /// article's gate waits for confirmations, which only the player itself can give), and goes on when that one is gone.
    pub(super) fn given_up_first(&self, common: &Common, missing: u16) -> u16 {
        let talking = common.talking();
        let blamed = common.links.values().filter_map(|link| match link.identity {
            Some(Identity::Player(player)) if talking & missing & (1 << player.0) != 0 => {
                Some(link.mesh.frozen)
            }
            _ => None,
        });
        let blamed = blamed.fold(missing, |mask, frozen| mask | frozen);
        match blamed & common.streams.live() & !(talking & !self.frozen) {
            0 => missing,
            silent => silent,
        }
    }

    /// Mesh: whether this peer may pass on entries of the players who were given up. A peer that was given up may not. A peer that has ended its own stream may
    /// only pass them to the lowest survivor: nobody else is asked what it has, so what it gave to another one after the agreement would
    /// reach only some of them.
    pub(super) fn may_pass_on(&self, common: &Common, identity: Option<Identity>) -> bool {
        let survivors = common.streams.live() & !self.frozen;
        let survives = matches!(identity, Some(Identity::Player(player)) if survivors & (1 << player.0) != 0);
        survives || (self.leads(common) && self.has_ended(common, identity))
    }

    /// Mesh: the players, except this peer, that the lowest surviving player has given up.
    pub(super) fn given_up_by_leader(&self, common: &Common) -> u16 {
        let own = common.own();
        let leader = (common.streams.live() & !self.frozen).trailing_zeros() as u8;
        common
            .links
            .of(PlayerId(leader))
            .filter(|link| link.is_connected())
            .map_or(0, |link| link.mesh.frozen & common.streams.live() & !own)
    }
}

/// Whether a player, the sender of a packet, has run turns without another one whose entries of these turns are here.
pub(super) fn plays_another(common: &Common, sender: PlayerId, turns: &TurnsPacket) -> bool {
    let own = &common.streams[sender.index()];
    // An entry closes when the turn `turns_ahead` before begins, but the one after the last turn closes when that has ended.
    let begun = turns.base.min(own.next()).checked_sub(common.config().turns_ahead.saturating_add(2));
    let is_gone = |(ack, stream): (&u32, &Stream)| begun >= Some(*ack) && *ack < stream.next();
    own.end().is_none() && turns.acks.iter().zip(&common.streams).any(is_gone)
}

/// After this time, peers of a mesh that still wait give up the player that the others name.
fn agreeing_is_late(config: &SessionConfig) -> Duration {
    let drop_after = config.waits.drop_after.unwrap_or_default();
    drop_after + Duration::from_micros(config.ending_deadline().as_micros() / 2)
}

/// Whether the peers have tried to agree on whom to drop for so long that they never will; then the match is over here.
pub(super) fn agrees_never(config: &SessionConfig, waited: Duration) -> bool {
    waited >= config.waits.drop_after.unwrap_or_default() + config.ending_deadline()
}
