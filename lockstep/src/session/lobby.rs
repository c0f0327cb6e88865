//! Before the first turn: who has joined, and the common start.

use std::collections::VecDeque;

use crate::packet::{Echo, Hello, Lobby as LobbyPacket, Refusal, Welcome, session_mark};
use crate::session::event::Event;
use crate::session::failure::Failure;
use crate::session::link::{Handshake, Link, LinkPhase};
use crate::session::setup::Setup;
use crate::session::{AnySession, SessionPhase};
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// Added to the longest round trip for the common start, so that two lobby packets may be lost.
const START_MARGIN: Duration = Duration::from_millis(100);

/// Longest round trip that the common start waits for, because a peer may claim any.
const ROUND_TRIP_MAX: Duration = Duration::from_secs(5);

/// Seconds after which a player who is away in the save asks again whether the match has begun. A guest that asks more often uses up the arrivals of its place.
const ASK_AFTER_START_S: u16 = 11;

/// A start that is so much later than the time at which this peer gives up is not waited for: in a mesh a liar may name any.
const START_WAIT_MAX: Duration = Duration::from_secs(10);

/// After this silence another peer with the same identity may take a place in the lobby.
const LOBBY_SILENCE: Duration = Duration::from_secs(3);

/// Mesh: a member that was heard within this time has not been started again; a hello of its former link came late.
const RESTART_SILENCE: Duration = Duration::from_secs(1);

/// Greatest number of replies to hellos that wait to be sent.
const REPLIES_MAX: usize = 16;

/// Longest silence before the start, whatever is allowed in a match: nothing is lost yet, and everybody can come again.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// What a session needs before its first turn.
#[derive(Clone, Debug)]
pub(crate) struct Lobby {
    /// When the session was created.
    pub(super) since: Instant,
    /// The local player wants to begin.
    pub(super) is_ready: bool,
    /// When turn 0 begins, if that is known.
    pub(super) start_at: Option<Instant>,
    /// See [`Session::set_start_phase`](crate::AnySession::set_start_phase).
    pub(super) start_phase: Option<StartPhase>,
    /// Replies to hellos that wait to be sent.
    pub(super) replies: VecDeque<QueuedReply>,
}

/// When, within a period, what the players send in a frame is to arrive here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartPhase {
    pub(super) period: Duration,
    pub(super) phase: Duration,
}

impl StartPhase {
    /// Time that something waits which would happen at `at`, less than the period.
    fn wait(self, at: Instant) -> Duration {
        let period = self.period.as_micros().max(1);
        let (due, late) = (self.phase.as_micros() % period, at.as_micros() % period);
        Duration::from_micros(if due >= late { due - late } else { period - (late - due) })
    }
}

/// A reply to a hello from a peer without a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedReply {
    pub(super) to: PeerId,
    /// The key of the packet's tag.
    pub(super) key: u64,
    pub(super) what: Reply,
}

/// The content of a reply.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply {
    Refuse(Refusal),
    Challenge(u64),
}

impl Lobby {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, is_ready: true, start_at: None, start_phase: None, replies: VecDeque::new() }
    }
}

impl AnySession {
    /// The first time from `at` on that has the wanted phase.
    fn in_phase(&self, at: Instant) -> Instant {
        let Some(phase) = self.lobby.start_phase else { return at };
        // The last player's packet makes a turn complete.
        let players = self.common.links.values().filter(|link| link.is_player());
        let longest = players.filter_map(|link| link.lobby.round_trip_min).max().unwrap_or_default();
        let way = Duration::from_micros(longest.min(ROUND_TRIP_MAX).as_micros() / 2);
        at + phase.wait(at + way)
    }

    pub(super) fn lobby_timeout(&mut self) {
        if let Some(signing) = self.signing.as_mut().filter(|_| self.lobby.start_at.is_none()) {
            signing.gather_roster(&self.common);
        }
        if self.common.setup.coordinates() && self.lobby.start_at.is_none() && self.everybody_is_ready() {
            let round_trips = self.common.links.values().filter_map(|link| link.lobby.round_trip_min);
            let wait = match round_trips.max() {
                Some(longest) => longest.min(ROUND_TRIP_MAX) + START_MARGIN,
                None => Duration::ZERO,
            };
            self.lobby.start_at = Some(self.in_phase(self.common.now + wait));
        }
        if self.lobby.start_at.is_some_and(|at| self.common.now >= at) {
            self.start();
        } else if self.lobby_deadline().is_some_and(|at| self.common.now >= at) {
            self.fail(self.nobody_came());
        } else {
            self.lobby_silence();
        }
    }

    /// The failure that names the peers who did not join.
    fn nobody_came(&self) -> Failure {
        if self.asks_for_an_answer() {
            return Failure::ConnectTimeout;
        }
        let present = self.present_players();
        let missing = |player: &PlayerId| {
            !present.contains(player) && !self.common.setup.is_absent(Identity::Player(*player))
        };
        let players = (0..self.common.setup.config.players).map(PlayerId).filter(missing).collect();
        let watching =
            self.common.links.values().filter(|link| link.identity == Some(Identity::Watcher)).count();
        let watchers = self.common.setup.config.watchers.watchers_min.saturating_sub(watching as u32);
        Failure::PlayersMissing { players, watchers }
    }

    /// Whether somebody has yet to answer: a peer that was asked, or, of a session that lets nobody in, the one that nobody has named yet.
    fn asks_for_an_answer(&self) -> bool {
        let links = &self.common.links;
        let is_unreachable = links.is_empty() && !self.common.setup.accepts();
        is_unreachable || links.values().any(|link| link.phase == LinkPhase::Dialing)
    }

    /// When this peer gives up before the start. A start that is fixed comes first: others know of it.
    pub(super) fn lobby_deadline(&self) -> Option<Instant> {
        let waits = self
            .common
            .setup
            .config
            .waits
            .lobby_timeout
            .unwrap_or(self.common.setup.config.waits.connect_timeout);
        let dial_deadline = self
            .asks_for_an_answer()
            .then(|| self.lobby.since + self.common.setup.config.waits.connect_timeout);
        let lobby_deadline = self.common.setup.accepts().then(|| self.lobby.since + waits);
        let deadline = [dial_deadline, lobby_deadline].into_iter().flatten().min()?;
        let start_at = self.lobby.start_at.filter(|at| at.since(deadline) <= START_WAIT_MAX);
        Some(start_at.map_or(deadline, |at| at.max(deadline)))
    }

    /// The coordinator forgets silent peers, which frees their places. The others give up when the coordinator is silent.
    fn lobby_silence(&mut self) {
        let timeout = self.lobby_patience();
        let silent = |link: &Link, now: Instant| link.is_connected() && now.since(link.last_heard) >= timeout;
        if self.common.setup.accepts() {
            let now = self.common.now;
            self.common.links.retain(|_, link| !silent(link, now));
        } else if let Some(link) = self.common.links.values().find(|link| silent(link, self.common.now)) {
            self.fail(Failure::ConnectionLost(link.peer));
        }
    }

    /// After this silence a peer counts as lost. While this one joins a running match, as in the match.
    pub(super) fn lobby_patience(&self) -> Duration {
        let silence = self.common.setup.config.waits.silence_timeout;
        if self.transfers.joiner.is_active() { silence } else { silence.min(SILENCE_MAX) }
    }

    /// Turn 0 may begin.
    pub(super) fn start(&mut self) {
        let settled = self.signing.as_ref().map(|signing| signing.settle_roster(&mut self.common));
        if let Some(Err(failure)) = settled {
            self.fail(failure);
            return;
        }
        self.common.phase = SessionPhase::Running;
        self.end_serving_lobby();
        for link in self.common.links.values_mut() {
            link.last_heard = self.common.now;
        }
        self.common.emit(Event::Started);
        if self.common.setup.forwards() {
            self.drop_absent();
        }
        if self.common.setup.is_relay() {
            let since = self.lobby.start_at.unwrap_or(self.common.now);
            self.common.note_alone_since(self.pace.planner.turn(), since);
        }
    }

    /// Players who went when the start was fixed, or came anew and have no save yet: nobody waits for them.
    fn drop_absent(&mut self) {
        let links = self.common.links.values().filter(|link| !link.lacks_state());
        let here = links.fold(self.common.own(), |here, link| match link.identity {
            Some(Identity::Player(player)) => here | 1 << player.0,
            _ => here,
        });
        let gone = self.common.streams.live() & !here;
        if gone != 0 {
            self.end_streams(gone);
        }
    }

    /// Forgets the player of a place, who has to come again. Returns whether one was there.
    pub(super) fn free_place(&mut self, player: PlayerId) -> bool {
        let count = self.common.links.len();
        self.common.links.retain(|_, link| link.identity != Some(Identity::Player(player)));
        self.forget_profile(player);
        self.common.links.len() < count
    }

    fn everybody_is_ready(&self) -> bool {
        let watching = |link: &&Link| link.is_connected() && link.identity == Some(Identity::Watcher);
        self.lobby.is_ready
            && self.common.links_are_complete()
            && self.signing.as_ref().is_none_or(|signing| signing.roster.is_some())
            && self.common.links.values().filter(watching).count() as u64
                >= u64::from(self.common.setup.config.watchers.watchers_min)
            && self.common.links.values().all(|link| {
                let measured = link.lobby.ready
                    && link.arrival.is_none()
                    && link.lobby.round_trip_min.is_some()
                    && self.signing.as_ref().is_none_or(|signing| signing.agrees_with(link));
                let present = measured && self.common.now.since(link.last_heard) < LOBBY_SILENCE;
                !(link.is_player() || self.common.setup.config.watchers.watchers_min > 0)
                    || (link.is_connected() && present)
            })
    }

    /// Queues a reply to a hello.
    pub(super) fn reply(&mut self, to: PeerId, key: u64, what: Reply) {
        let waits = self.lobby.replies.iter().any(|reply| reply.to == to);
        if self.lobby.replies.len() < REPLIES_MAX && !waits {
            self.lobby.replies.push_back(QueuedReply { to, key, what });
        }
    }

    /// Whether the hello belongs to this match.
    pub(super) fn handle_hello(&mut self, peer: PeerId, hello: Hello) -> bool {
        if !self.common.may_claim(peer, hello.identity) {
            return false;
        }
        if hello.session_mark != session_mark(self.common.setup.config.session_id, hello.nonce) {
            self.reply(peer, hello.nonce, Reply::Refuse(Refusal::Session));
            return false;
        }
        if self.keeps_own_link(peer, &hello) {
            return true;
        }
        if !self.common.setup.is_proven(peer, hello.nonce, hello.cookie, self.common.now) {
            let cookie = self.common.setup.cookie(peer, hello.nonce, Setup::period(self.common.now));
            self.reply(peer, hello.nonce, Reply::Challenge(cookie));
            return true;
        }
        if let Some(refusal) = self.refusal_of(peer, hello) {
            if self.lobby.replies.len() < REPLIES_MAX {
                self.common.emit(Event::Refused { peer, refusal });
            }
            self.reply(peer, hello.nonce, Reply::Refuse(refusal));
            return true;
        }
        let is_known = self.common.links.get(&peer).is_some_and(|link| link.handshake.nonce == hello.nonce);
        if !is_known {
            self.end_former_self(hello.identity);
            if let (Identity::Player(player), SessionPhase::Running) = (hello.identity, self.common.phase) {
                self.lateness.costs.charge_arrival(&self.common, player);
            }
            let is_running = self.common.phase == SessionPhase::Running;
            self.transfers.middle.places.note(hello.identity, hello.place, is_running);
        }
        if let Identity::Player(_) = hello.identity {
            self.common.links.retain(|_, link| link.peer == peer || link.identity != Some(hello.identity));
        }
        self.common.links.forget_closed_watchers();
        // A peer that has restarted at the same address.
        self.common.links.retain(|_, link| link.peer != peer || link.handshake.nonce == hello.nonce);
        if self.common.links.index_of(peer).is_none() {
            let connection = self.transfers.middle.places.connection_of(hello.identity);
            let handshake = Handshake { connection, ..self.common.setup.handshake(hello.nonce) };
            let link = Link::new(peer, handshake, self.common.config().first_entry(), self.common.now);
            self.common.links.insert(peer, link);
        }
        self.connected(peer, hello.identity);
        if let Some(index) = self.common.links.index_of(peer) {
            self.common.links[index].outflow.owes_welcome = true;
            if !is_known {
                self.arrival_comes(index);
                self.saver_comes(index, &hello);
            }
        }
        true
    }

    /// Mesh: two members may dial each other at the same time, and then the hello of the greater one makes the link. The smaller one is let in over
    /// that link only when it has been silent: its program was started again.
    fn keeps_own_link(&self, peer: PeerId, hello: &Hello) -> bool {
        let (Some(own), Identity::Player(other)) = (self.common.setup.player(), hello.identity) else {
            return false;
        };
        let keeps = |link: &Link| {
            let is_fresh = self.common.now.since(link.last_heard) < RESTART_SILENCE;
            let is_known = link.handshake.nonce == hello.nonce;
            link.phase == LinkPhase::Dialing || (link.is_connected() && is_fresh && !is_known)
        };
        self.common.setup.is_mesh() && own > other && self.common.links.get(&peer).is_some_and(keeps)
    }

    /// Why the peer may not join; none if it may.
    fn refusal_of(&self, peer: PeerId, hello: Hello) -> Option<Refusal> {
        let config = &self.common.setup.config;
        if hello.content_hash != config.content() {
            return Some(Refusal::Content { expected: config.content() });
        }
        if u32::from(hello.frames_per_second) != config.frames_per_second {
            return Some(Refusal::FrameRate { expected: config.frames_per_second as u16 });
        }
        if hello.config_hash != self.common.setup.config_hash && !self.gives_save_to(&hello) {
            return Some(Refusal::Config { expected: self.common.setup.config_hash });
        }
        let known = |link: &&Link| link.peer == peer;
        let same = |link: &Link| link.identity == Some(hello.identity) && link.handshake.nonce == hello.nonce;
        if self.common.links.values().find(known).is_some_and(same) {
            return None;
        }
        if self.common.phase != SessionPhase::Lobby {
            return self.refusal_of_arrival(peer, &hello);
        }
        if self.is_away_in_save(peer, hello.identity) {
            return Some(Refusal::ComeBackIn { seconds: ASK_AFTER_START_S });
        }
        let fresh = |link: &Link| self.common.now.since(link.last_heard) < LOBBY_SILENCE;
        // A peer that shows the place's secret has crashed and is back.
        let is_owner = |player: PlayerId| {
            self.transfers.middle.places.get(player).is_some_and(|place| place.is_owned_by(hello.place))
        };
        let place_taken = match hello.identity {
            Identity::Player(player) => {
                player.0 >= self.common.setup.config.players
                    || hello.identity == self.common.setup.identity
                    || self.common.setup.is_absent(hello.identity)
                    || (!is_owner(player)
                        && self.common.links.values().any(|link| {
                            link.peer != peer && link.identity == Some(hello.identity) && fresh(link)
                        }))
            }
            // The middle of a star serves the watchers.
            Identity::Watcher if self.common.setup.is_mesh() => true,
            Identity::Watcher => {
                self.common.links.watchers_beside(peer) >= self.common.setup.config.watchers.watchers_max
            }
            Identity::Relay => true,
        };
        let other_identity = self
            .common
            .links
            .values()
            .find(known)
            .is_some_and(|link| link.identity.is_some_and(|i| i != hello.identity));
        (place_taken || other_identity).then_some(Refusal::Taken)
    }

    pub(super) fn handle_welcome(&mut self, index: usize, welcome: Welcome) {
        let plausible = self.common.links[index].phase == LinkPhase::Dialing
            && welcome.identity != self.common.setup.identity
            && self.common.setup.may_forward(welcome.identity)
            && !self.common.links.values().any(|link| link.identity == Some(welcome.identity));
        if plausible {
            self.common.links[index].handshake.connection = welcome.connection;
            self.connected(self.common.links[index].peer, welcome.identity);
        } else if self.common.links[index].identity != Some(welcome.identity) {
            self.common.stats.packets_unexpected += 1;
        }
    }

    fn connected(&mut self, peer: PeerId, identity: Identity) {
        let Some(index) = self.common.links.index_of(peer) else { return };
        let link = &mut self.common.links[index];
        link.last_heard = self.common.now;
        if link.phase == LinkPhase::Dialing {
            link.phase = LinkPhase::Connected;
            link.identity = Some(identity);
            self.common.emit(Event::Connected { peer, identity });
            self.show_profiles(index);
        }
    }

    pub(super) fn handle_lobby(&mut self, index: usize, lobby: &LobbyPacket) {
        if let (Some(signing), Some(keys)) = (&mut self.signing, &lobby.keys)
            && let Err(failure) = signing.take_keys(&mut self.common, index, keys)
        {
            self.fail(failure);
        }
        self.take_members(index, lobby.members);
        let now = self.common.now;
        let from_coordinator = self.common.links[index].identity == Some(self.common.setup.coordinator());
        let link = &mut self.common.links[index];
        link.lobby.ready = lobby.ready;
        link.lobby.heard = Some((lobby.sent_us, now));
        if let Some(echo) = lobby.echo {
            let round_trip = (now.as_micros() as u32).wrapping_sub(echo.sent_us).wrapping_sub(echo.held_us);
            // A value above a minute is not a measurement.
            if round_trip < 60_000_000 {
                let round_trip = Duration::from_micros(u64::from(round_trip));
                let best = link.lobby.round_trip_min.map_or(round_trip, |best| best.min(round_trip));
                link.lobby.round_trip_min = Some(best);
            }
        }
        let one_way = self.common.links[index].lobby.round_trip_min.unwrap_or_default().as_micros() / 2;
        if let Some(start_in) =
            lobby.start_in_us.filter(|_| from_coordinator && self.common.phase == SessionPhase::Lobby)
        {
            let wait = u64::from(start_in).saturating_sub(one_way);
            let at = now + Duration::from_micros(wait);
            self.lobby.start_at = Some(self.lobby.start_at.map_or(at, |before| before.min(at)));
        }
    }

    /// The lobby packet for a link, as of now.
    pub(super) fn lobby_packet(&self, link: &Link) -> LobbyPacket {
        let micros = |span: Duration| u32::try_from(span.as_micros()).unwrap_or(u32::MAX);
        LobbyPacket {
            // Whether it has the roster, its mark says.
            ready: self.lobby.is_ready
                && self.common.links_are_complete()
                && !self.transfers.joiner.is_active(),
            members: self.members_now(),
            sent_us: self.common.now.as_micros() as u32,
            echo: link
                .lobby
                .heard
                .map(|(sent_us, heard)| Echo { sent_us, held_us: micros(self.common.now.since(heard)) }),
            start_in_us: self
                .lobby
                .start_at
                .filter(|_| self.common.setup.coordinates() && !link.lacks_state())
                .map(|start_at| micros(start_at.since(self.common.now))),
            keys: self.signing.as_ref().map(|signing| signing.lobby_keys(&self.common, link)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_waits_for_its_phase_and_less_than_a_period() {
        let ms = Duration::from_millis;
        let wait = |period, phase, at| {
            StartPhase { period: ms(period), phase: ms(phase) }.wait(Instant::from_millis(at))
        };
        assert_eq!(
            [wait(50, 0, 100), wait(50, 7, 100), wait(50, 7, 107), wait(50, 7, 108)],
            [ms(0), ms(7), ms(0), ms(49)]
        );
        assert_eq!(
            [wait(50, 57, 100), wait(0, 0, 100)],
            [ms(7), ms(0)],
            "a phase beyond the period, and no period"
        );
        let longest = StartPhase { period: Duration::from_micros(u64::MAX), phase: Duration::from_micros(7) };
        assert_eq!(
            longest.wait(Instant::from_micros(u64::MAX - 1)).as_micros(),
            8,
            "it was a sum above all numbers"
        );
    }
}
