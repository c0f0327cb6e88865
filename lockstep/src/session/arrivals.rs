//! The middle of a star lets peers join a running match: it finds a state for them, keeps the entries that follow, and brings players back.

use crate::packet::{Hello, Refusal};
use crate::session::link::Link;
use crate::session::transfer::arrival::{Arrival, ArrivalStage};
use crate::session::{AnySession, SessionPhase};
use crate::value::codec;
use crate::value::entry::{EndReason, Entry, Payload};
use crate::value::ids::{Identity, PeerId, PlayerId};

impl AnySession {
    // ---- the handshake

    /// Why a peer may not join the running match; none if it may.
    pub(super) fn refusal_of_arrival(&self, peer: PeerId, hello: &Hello) -> Option<Refusal> {
        let config = &self.common.setup.config;
        let is_open = self.common.phase == SessionPhase::Running && self.local.leaving.is_none();
        if !is_open || !self.common.setup.forwards() || config.arrivals.state_bytes_max == 0 {
            return Some(Refusal::Running);
        }
        match hello.identity {
            Identity::Player(player) => {
                let (Some(place), Some(stream)) =
                    (self.transfers.middle.places.get(player), self.common.streams.get(player.index()))
                else {
                    return Some(Refusal::Taken);
                };
                let reason = stream.end().map(|(_, reason)| reason);
                if hello.identity == self.common.setup.identity || reason == Some(EndReason::Surrendered) {
                    return Some(Refusal::Taken);
                }
                if !self.common.anybody_may_return() {
                    return Some(Refusal::Running);
                }
                if self.ballots.is_voted_out(self.common.streams.live(), player) {
                    return Some(Refusal::VotedOut);
                }
                if let Some(refusal) = self.lateness.costs.must_wait(&self.common, player) {
                    return Some(refusal);
                }
                let is_owner = place.is_owned_by(hello.place) || self.is_away_in_save(peer, hello.identity);
                let away =
                    place.empty_since.filter(|_| reason.is_some()).map(|since| self.common.now.since(since));
                let is_free =
                    config.arrivals.late_joins.is_some_and(|after| away.is_some_and(|away| away >= after));
                let in_use = self.common.links.values().any(|link| {
                    link.peer != peer && link.is_connected() && link.identity == Some(hello.identity)
                });
                match (is_owner, is_free && !in_use) {
                    (true, _) | (_, true) => None,
                    (false, false) => Some(if away.is_some() { Refusal::Taken } else { Refusal::Running }),
                }
            }
            Identity::Watcher if config.watchers.late_watchers => {
                let others = self.common.links.watchers_beside(peer);
                (others >= config.watchers.watchers_max).then_some(Refusal::Taken)
            }
            _ => Some(Refusal::Running),
        }
    }

    /// The save of a resumed match has this player as away, and the transport has proved that it is this player's link: nobody here knows a secret of the
    /// place. (In a signed match the roster has no key of this player.)
    pub(super) fn is_away_in_save(&self, peer: PeerId, identity: Identity) -> bool {
        self.common.setup.is_absent(identity)
            && !self.common.setup.config.signed
            && self.common.links.bound.get(&peer) == Some(&identity)
    }

    /// A player shows the secret of its place before the others have noticed that it was gone: ends its former connection.
    pub(super) fn end_former_self(&mut self, identity: Identity) {
        if let Identity::Player(player) = identity
            && self.common.phase == SessionPhase::Running
            && self.common.streams[player.index()].end().is_none()
        {
            self.end_streams(1 << player.0);
        }
    }

    /// A peer is let in: it gets a state first, and the entries that follow are kept for it.
    pub(super) fn arrival_comes(&mut self, index: usize) {
        if self.common.phase == SessionPhase::Running && self.common.links[index].arrival.is_none() {
            tracing::debug!(peer = self.common.links[index].peer.0, "a joining peer waits for a state");
            self.common.links[index].arrival = Some(Box::new(Arrival::new(self.common.now)));
            self.common.links.wait_for_state(index, &self.common.streams);
        }
    }

    /// A peer has come to the lobby of a resumed match without the save.
    pub(super) fn arrival_in_lobby(&mut self, index: usize) {
        let mut arrival = Arrival::new(self.common.now);
        arrival.stage = ArrivalStage::InLobby;
        self.common.links[index].arrival = Some(Box::new(arrival));
    }

    // ---- messages of joining peers

    /// A joining peer reports that the state is not valid.
    pub(super) fn arrival_refuses(&mut self, index: usize, turn: u32) {
        if self.common.phase == SessionPhase::Lobby {
            self.common.send_away(index);
            return;
        }
        let front = self.common.front();
        let arrival = &mut self.common.links[index].arrival;
        if arrival.as_mut().is_some_and(|arrival| arrival.refuse(turn, front)) {
            self.common.links.wait_for_state(index, &self.common.streams);
        }
    }

    /// A joining peer has run every turn that it has, and lacks none that is here, as it says: a player is brought back.
    pub(super) fn arrival_is_here(&mut self, index: usize) {
        self.saver_is_here(index);
        let link = &self.common.links[index];
        if let (Some(arrival), Some(Identity::Player(player))) = (&link.arrival, link.identity)
            && arrival.stage == ArrivalStage::CatchingUp
            && self.common.phase == SessionPhase::Running
        {
            self.bring_back(index, player);
        }
    }

    // ---- the return

    /// Continues a player's stream in a turn that nobody has begun. Peers that have not confirmed that they know of it get no later turn.
    fn bring_back(&mut self, index: usize, player: PlayerId) {
        let stream = &self.common.streams[player.index()];
        let Some((last, _)) = stream.end() else { return };
        if self.ballots.is_voted_out(self.common.streams.live(), player) {
            self.common.end_arrival(index);
            return;
        }
        // Watchers hear of it in their own time: the end, then the return. They keep nobody out, and neither does who lacks nothing more, as it says.
        let knows = |link: &Link| {
            let watches = link.identity == Some(Identity::Watcher) || link.progress.finished;
            link.lacks_state() || watches || link.progress.acked[player.index()] > last
        };
        let ignorant = |link: &Link| link.is_connected() && !knows(link);
        if self.common.links.values().any(ignorant) {
            self.lose_the_silent_about(player);
            return;
        }
        if !self.common.anybody_may_return() {
            return;
        }
        let (ahead, first) = (
            self.common.setup.config.turns_ahead,
            self.transfers.middle.horizon.extend(&self.common, self.pace.planner.turn()),
        );
        if self.common.gate.last_turn.is_some_and(|end| first.saturating_add(2 * ahead + 2) > end) {
            return;
        }
        tracing::info!(player = player.0, turn = first, "comes back");
        self.ballots.forget_cast(player);
        self.go_on_stream(player, first, self.common.links[index].handshake.connection);
        self.common.streams[player.index()].source = None;
        let link = &mut self.common.links[index];
        link.arrival = None;
        link.progress.author_from = first.saturating_add(1);
        self.common.links.mark_urgent();
    }

    /// Whoever is heard, and has not acknowledged the end of a player for the drop time, would keep that player out for ever.
    fn lose_the_silent_about(&mut self, player: PlayerId) {
        for index in 0..self.common.links.len() {
            if self.common.withholds_end(&self.common.links[index], player) {
                self.lose_straggler(index);
            }
        }
    }

    /// Continues a stream that had ended, here and on every link that knew its end.
    pub(super) fn go_on_stream(&mut self, player: PlayerId, first: u32, connection: u16) {
        let payload = if self.common.setup.config.input_mode {
            codec::zeros(self.common.setup.action_bits)
        } else {
            Payload::none()
        };
        let filler = Entry { payload, ..Entry::default() };
        let made = self.common.setup.config.turns_ahead.max(1);
        let stream = &mut self.common.streams[player.index()];
        let Some((last, _)) = stream.end() else { return };
        stream.go_on(first, made, connection, &filler);
        for link in self.common.links.values_mut() {
            let ack = &mut link.progress.acked[player.index()];
            if *ack > last {
                *ack = (*ack).max(first);
            }
        }
    }
}
