//! Before the first turn and after the last: who is here, the common start, time-outs, the end.

use crate::packet::{Bye, Echo, Hello, Lobby, PROTOCOL_VERSION, Refusal, Welcome};
use crate::session::config::Topology;
use crate::session::event::{Event, Failure};
use crate::session::link::{Link, LinkPhase};
use crate::session::{REFUSALS_MAX, Session, SessionPhase};
use crate::value::action::Action;
use crate::value::ids::{Identity, PeerId, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

/// Added to the longest round trip for the common start: two lobby packets may be lost on the way.
const START_MARGIN: Duration = Duration::from_millis(100);

/// Longest round trip for which the common start waits: what a peer says of it is its word alone.
const ROUND_TRIP_MAX: Duration = Duration::from_secs(5);

/// Silence after which a place in the lobby may be taken by a newcomer with the same identity.
const LOBBY_SILENCE: Duration = Duration::from_secs(3);

impl<A: Action> Session<A> {
    /// Lets time pass: start, time-outs, end of the match. Cheap; call it in every round.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.pass_to(now);
        match self.phase {
            SessionPhase::Lobby => self.lobby_timeout(),
            SessionPhase::Running => {
                self.silence_timeout();
                self.waiting_notice();
                self.drop_silent();
                self.check_left();
                self.check_finished();
            }
            SessionPhase::Ending => {
                self.check_finished();
                self.drop_silent();
                self.silence_timeout();
            }
            SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_) => {}
        }
    }

    /// When [`Session::handle_timeout`] or [`Session::poll_transmit`] has something to do, if no packet arrives before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let mut at = self.links.iter().filter_map(|link| self.link_due_at(link)).min();
        if !self.refusals.is_empty() {
            at = Some(self.now);
        }
        // What is overdue has been handled, as far as it can be now; the next packet or tick tries again.
        let mut consider = |candidate: Instant| {
            if candidate > self.now {
                at = Some(at.map_or(candidate, |at| at.min(candidate)));
            }
        };
        match self.phase {
            SessionPhase::Lobby => {
                if let Some(at) = self.start_at.or(self.lobby_deadline()) {
                    consider(at);
                }
                for link in self.links.iter().filter(|link| link.is_connected()) {
                    consider(link.last_heard + self.config.silence_timeout);
                }
            }
            SessionPhase::Running | SessionPhase::Ending => {
                let is_complete = self.is_complete();
                for link in self.links.iter().filter(|link| link.is_connected() && !link.finished) {
                    let silence = if is_complete { self.patience(link) } else { self.config.silence_timeout };
                    consider(link.last_heard + silence);
                }
                if let Some(since) = self.waiting_since {
                    if !self.waiting_reported {
                        consider(since + self.config.waiting_notice);
                    }
                    if let Some(drop_after) = self.config.drop_after {
                        consider(since + drop_after);
                    }
                }
            }
            SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_) => {}
        }
        at.map(|at| at.max(self.now))
    }

    fn lobby_timeout(&mut self) {
        if self.coordinates() && self.start_at.is_none() && self.everybody_is_ready() {
            let round_trips = self.links.iter().filter_map(|link| link.lobby.round_trip_min);
            let wait = match round_trips.max() {
                Some(longest) => longest.min(ROUND_TRIP_MAX) + START_MARGIN,
                None => Duration::ZERO,
            };
            self.start_at = Some(self.now + wait);
        }
        if self.start_at.is_some_and(|at| self.now >= at) {
            self.start();
        } else if self.lobby_deadline().is_some_and(|at| self.now >= at) {
            self.fail(Failure::ConnectTimeout);
        } else {
            self.lobby_silence();
        }
    }

    /// When this peer gives up before the start.
    fn lobby_deadline(&self) -> Option<Instant> {
        let waits = self.config.lobby_timeout.unwrap_or(self.config.connect_timeout);
        let dials = self.links.iter().any(|link| link.phase == LinkPhase::Dialing);
        let dial_deadline = dials.then(|| self.since + self.config.connect_timeout);
        let lobby_deadline = self.accepts().then(|| self.since + waits);
        [dial_deadline, lobby_deadline].into_iter().flatten().min()
    }

    /// The coordinator forgets silent peers, whose places are free again; the others give up when the coordinator is silent.
    fn lobby_silence(&mut self) {
        let timeout = self.config.silence_timeout;
        let silent = |link: &Link, now: Instant| link.is_connected() && now.since(link.last_heard) >= timeout;
        if self.accepts() {
            let now = self.now;
            self.links.retain(|link| !silent(link, now));
        } else if let Some(link) = self.links.iter().find(|link| silent(link, self.now)) {
            self.fail(Failure::ConnectionLost(link.peer));
        }
    }

    /// Turn 0 may begin.
    pub(super) fn start(&mut self) {
        self.phase = SessionPhase::Running;
        for link in &mut self.links {
            link.last_heard = self.now;
        }
        self.emit(Event::Started);
    }

    fn everybody_is_ready(&self) -> bool {
        let watching = |link: &&Link| link.is_connected() && link.identity == Some(Identity::Spectator);
        self.links_are_complete()
            && self.links.iter().filter(watching).count() as u64 >= u64::from(self.config.spectators_min)
            && self.links.iter().all(|link| {
                let measured = link.lobby.ready && link.lobby.round_trip_min.is_some();
                let present = measured && self.now.since(link.last_heard) < LOBBY_SILENCE;
                !(link.is_player() || self.config.spectators_min > 0) || (link.is_connected() && present)
            })
    }

    /// Whether every link that this peer needs before the start is there.
    pub(super) fn links_are_complete(&self) -> bool {
        let linked = |identity: Identity| {
            self.links.iter().any(|link| link.is_connected() && link.identity == Some(identity))
        };
        let all_players = || {
            let mut players = (0..self.config.players).map(|player| Identity::Player(PlayerId(player)));
            players.all(|identity| identity == self.identity || self.is_absent(identity) || linked(identity))
        };
        if self.coordinates() || self.config.topology == Topology::Mesh {
            all_players()
        } else {
            linked(self.coordinator())
        }
    }

    /// Whether nobody comes to this place: the player of a resumed match was gone before, and is not needed as the host.
    fn is_absent(&self, identity: Identity) -> bool {
        identity != self.coordinator()
            && matches!(identity, Identity::Player(player) if self.config.is_gone(player))
    }

    pub(super) fn handle_hello(&mut self, peer: PeerId, hello: Hello) {
        let refusal = self.judge(peer, hello);
        if let Some(refusal) = refusal {
            if self.refusals.len() < REFUSALS_MAX && !self.refusals.iter().any(|waiting| waiting.0 == peer) {
                self.refusals.push_back((peer, refusal));
                self.emit(Event::Rejected { peer, refusal });
            }
            return;
        }
        if let Identity::Player(_) = hello.identity {
            self.links.retain(|link| link.peer == peer || link.identity != Some(hello.identity));
        }
        if self.link_index(peer).is_none() {
            let first = self.config.first_entry();
            self.links.push(Link::new(peer, LinkPhase::Dialing, None, first, self.now));
        }
        self.connected(peer, hello.identity);
        if let Some(index) = self.link_index(peer) {
            self.links[index].owes_welcome = true;
        }
    }

    /// Why the peer may not come in; nothing if it may.
    fn judge(&self, peer: PeerId, hello: Hello) -> Option<Refusal> {
        if hello.version != PROTOCOL_VERSION {
            return Some(Refusal::Version { expected: PROTOCOL_VERSION });
        }
        if hello.config_hash != self.config_hash {
            return Some(Refusal::Config { expected: self.config_hash });
        }
        let known = |link: &&Link| link.peer == peer;
        if self.links.iter().find(known).is_some_and(|link| link.identity == Some(hello.identity)) {
            return None;
        }
        if self.phase != SessionPhase::Lobby {
            return Some(Refusal::Running);
        }
        let fresh = |link: &Link| self.now.since(link.last_heard) < LOBBY_SILENCE;
        let place_taken = match hello.identity {
            Identity::Player(player) => {
                player.0 >= self.config.players
                    || hello.identity == self.identity
                    || self.is_absent(hello.identity)
                    || self.links.iter().any(|link| link.identity == Some(hello.identity) && fresh(link))
            }
            // Who watches is served by the middle of a star.
            Identity::Spectator if self.config.topology == Topology::Mesh => true,
            Identity::Spectator => {
                let spectators = self.links.iter().filter(|link| link.identity == Some(Identity::Spectator));
                spectators.count() as u64 >= u64::from(self.config.spectators_max)
            }
            Identity::Relay => true,
        };
        let other_identity = self
            .links
            .iter()
            .find(known)
            .is_some_and(|link| link.identity.is_some_and(|i| i != hello.identity));
        (place_taken || other_identity).then_some(Refusal::Taken)
    }

    pub(super) fn handle_welcome(&mut self, index: usize, welcome: Welcome) {
        let plausible = self.links[index].phase == LinkPhase::Dialing
            && welcome.identity != self.identity
            && self.may_forward(welcome.identity)
            && !self.links.iter().any(|link| link.identity == Some(welcome.identity));
        if plausible {
            self.connected(self.links[index].peer, welcome.identity);
        } else if self.links[index].identity != Some(welcome.identity) {
            self.stats.packets_unexpected += 1;
        }
    }

    fn connected(&mut self, peer: PeerId, identity: Identity) {
        let Some(index) = self.link_index(peer) else { return };
        let link = &mut self.links[index];
        link.last_heard = self.now;
        if link.phase == LinkPhase::Dialing {
            link.phase = LinkPhase::Connected;
            link.identity = Some(identity);
            self.emit(Event::Connected { peer, identity });
        }
    }

    pub(super) fn handle_lobby(&mut self, index: usize, lobby: Lobby) {
        let now = self.now;
        let from_coordinator = self.links[index].identity == Some(self.coordinator());
        let link = &mut self.links[index];
        link.lobby.ready = lobby.ready;
        link.lobby.heard = Some((lobby.sent_us, now));
        if let Some(echo) = lobby.echo {
            let round_trip = (now.as_micros() as u32).wrapping_sub(echo.sent_us).wrapping_sub(echo.held_us);
            // Above a minute it is not a measurement.
            if round_trip < 60_000_000 {
                let round_trip = Duration::from_micros(u64::from(round_trip));
                let best = link.lobby.round_trip_min.map_or(round_trip, |best| best.min(round_trip));
                link.lobby.round_trip_min = Some(best);
            }
        }
        let one_way = self.links[index].lobby.round_trip_min.unwrap_or_default().as_micros() / 2;
        if let Some(start_in) =
            lobby.start_in_us.filter(|_| from_coordinator && self.phase == SessionPhase::Lobby)
        {
            let wait = u64::from(start_in).saturating_sub(one_way);
            let at = now + Duration::from_micros(wait);
            self.start_at = Some(self.start_at.map_or(at, |before| before.min(at)));
        }
    }

    /// The lobby packet for a link, as of now.
    pub(super) fn lobby_packet(&self, link: &Link) -> Lobby {
        let micros = |span: Duration| u32::try_from(span.as_micros()).unwrap_or(u32::MAX);
        Lobby {
            ready: self.links_are_complete(),
            sent_us: self.now.as_micros() as u32,
            echo: link
                .lobby
                .heard
                .map(|(sent_us, heard)| Echo { sent_us, held_us: micros(self.now.since(heard)) }),
            start_in_us: self
                .start_at
                .filter(|_| self.coordinates())
                .map(|start_at| micros(start_at.since(self.now))),
        }
    }

    pub(super) fn handle_bye(&mut self, index: usize, bye: Bye) {
        let from_coordinator = self.links[index].identity == Some(self.coordinator());
        let link = &mut self.links[index];
        let (peer, is_spectator) = (link.peer, link.identity == Some(Identity::Spectator));
        match bye {
            Bye::Finished => {
                link.finished = true;
                // What is missing here can come from nobody else.
                if from_coordinator && !self.accepts() && !self.has_everything() {
                    self.fail(Failure::ConnectionLost(peer));
                }
                self.check_finished();
            }
            Bye::Left | Bye::Dropped if link.finished => {}
            Bye::Left if is_spectator => {
                link.phase = LinkPhase::Closed;
                self.emit(Event::SpectatorGone(peer));
            }
            // The place is free again.
            Bye::Left if self.phase == SessionPhase::Lobby && self.accepts() && !from_coordinator => {
                self.links.remove(index);
            }
            Bye::Left if self.phase == SessionPhase::Lobby => self.fail(Failure::PeerLeft(peer)),
            Bye::Left => self.player_left(index),
            Bye::Dropped => self.dropped_by(index),
        }
    }

    fn silence_timeout(&mut self) {
        let timeout = self.config.silence_timeout;
        let may_drop = self.may_drop();
        let silent = |link: &Link, now: Instant| {
            link.is_connected() && !link.finished && now.since(link.last_heard) >= timeout
        };
        for index in 0..self.links.len() {
            let link = &mut self.links[index];
            if silent(link, self.now) {
                let peer = link.peer;
                match link.identity {
                    Some(Identity::Spectator) => {
                        link.phase = LinkPhase::Closed;
                        self.emit(Event::SpectatorGone(peer));
                    }
                    Some(Identity::Player(player)) if may_drop => {
                        if self.streams[player.index()].end().is_some() {
                            link.phase = LinkPhase::Closed;
                        } else if self.config.topology != Topology::Mesh {
                            self.end_streams(1 << player.0);
                        }
                    }
                    _ => {
                        link.phase = LinkPhase::Closed;
                        self.fail(Failure::ConnectionLost(peer));
                    }
                }
            }
        }
    }

    fn waiting_notice(&mut self) {
        let long = self.waiting_since.is_some_and(|at| self.now.since(at) >= self.config.waiting_notice);
        if !long || self.waiting_reported {
            return;
        }
        self.waiting_reported = true;
        let players = self.missing_players();
        let drop_in = self.config.drop_after.map(|drop_after| drop_after - self.config.waiting_notice);
        tracing::info!(turn = self.turn, ?players, ?drop_in, "waiting");
        self.emit(Event::WaitingFor { turn: Turn(self.turn), players, drop_in });
    }

    /// Players for whom the next turn waits: their entry is missing, or (strict gate) they have not confirmed ours.
    pub fn missing_players(&self) -> Vec<PlayerId> {
        crate::session::membership::players_in(self.waits_for()).collect()
    }

    /// Players who are here as far as this peer knows: itself, and those at the other end of a link. In a star a guest knows of the
    /// host only.
    pub fn present_players(&self) -> Vec<PlayerId> {
        let linked = self.links.iter().filter(|link| link.is_connected()).filter_map(|link| link.identity);
        let mut all: Vec<Identity> = linked.chain([self.identity]).collect();
        all.sort_unstable();
        let player = |identity| if let Identity::Player(player) = identity { Some(player) } else { None };
        all.into_iter().filter_map(player).collect()
    }

    /// Whether this peer has every entry of the match and has compared every checksum.
    pub(super) fn is_complete(&self) -> bool {
        (self.phase == SessionPhase::Ending || self.is_relay()) && self.has_everything()
    }

    /// Whether every entry of the match that others make is here.
    fn has_everything(&self) -> bool {
        let own = self.player().filter(|_| self.phase == SessionPhase::Running).map(PlayerId::index);
        let Some(next) = self.final_next() else { return false };
        let mut others = self.streams.iter().enumerate().filter(|(player, _)| own != Some(*player));
        others.all(|(_, stream)| stream.end().is_some() || stream.next() >= next)
    }

    /// Whether the middle of the star lacks actions that have run here: as long as it does, it may have gone on without them.
    fn may_be_dropped_by(&self, link: &Link) -> bool {
        let Some(player) = self.player().filter(|_| !self.accepts()) else { return false };
        let stream = &self.streams[player.index()];
        let needed = stream.end().map_or(self.turn, |(last, _)| self.turn.min(last + 1));
        link.acked[player.index()] < needed
    }

    /// How long the end waits for a silent remote. One that has all turns lacks a last confirmation at most, and may have gone; one that
    /// lacks turns may be cut off and come back.
    fn patience(&self, link: &Link) -> Duration {
        let Some(last) = self.last_turn else { return self.config.silence_timeout };
        let lacks = |(player, stream): (u8, &crate::session::stream::Stream)| {
            let serves = self.accepts() || self.player() == Some(PlayerId(player));
            let needed = stream.end().map_or(last, |(end, _)| end.min(last)).saturating_add(1);
            serves
                && link.identity != Some(Identity::Player(PlayerId(player)))
                && link.acked[usize::from(player)] < needed
        };
        if (0_u8..).zip(&self.streams).any(lacks) {
            self.config.silence_timeout.max(self.config.linger)
        } else {
            self.config.linger
        }
    }

    pub(super) fn check_finished(&mut self) {
        let relay_done = self.is_relay()
            && self.phase == SessionPhase::Running
            && self.links.iter().all(|link| !link.is_player() || link.finished || !link.is_connected());
        if relay_done && !self.links.iter().any(|link| link.finished) {
            let last = self.links.first().map_or_else(Default::default, |link| link.peer);
            self.fail(Failure::ConnectionLost(last));
            return;
        }
        if !relay_done && !self.is_complete() {
            return;
        }
        let next = self.final_next().unwrap_or(0);
        let now = self.now;
        let confirmed = |link: &Link| {
            let silent = now.since(link.last_heard) >= self.patience(link);
            !link.is_connected()
                || link.finished
                || (silent && !self.may_be_dropped_by(link))
                || self.streams.iter().enumerate().all(|(index, stream)| {
                    link.acked[index] >= stream.end().map_or(next, |(last, _)| (last + 1).min(next))
                })
        };
        // What a relay lacks when all players are done never comes. Otherwise it stays until those who watch have it too.
        if (relay_done && !self.is_complete()) || self.links.iter().all(confirmed) {
            self.phase = SessionPhase::Finished;
            for link in self.links.iter_mut().filter(|link| link.phase != LinkPhase::Closed) {
                link.owe_bye(Bye::Finished);
            }
            self.report_cancelled();
            self.emit(Event::Finished);
        }
    }
}
