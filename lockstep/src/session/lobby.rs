//! Before the first turn: who has joined, and the common start.

use std::collections::VecDeque;

use crate::packet::{Echo, Hello, Lobby as LobbyPacket, Refusal, Welcome, link_key, session_mark};
use crate::session::event::{Event, Failure};
use crate::session::link::{Link, LinkPhase};
use crate::session::setup::Setup;
use crate::session::{AnySession, SessionPhase};
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// Added to the longest round trip for the common start, so that two lobby packets may be lost.
const START_MARGIN: Duration = Duration::from_millis(100);

/// Longest round trip that the common start waits for, because a peer may claim any.
const ROUND_TRIP_MAX: Duration = Duration::from_secs(5);

/// After this silence a newcomer with the same identity may take a place in the lobby.
const LOBBY_SILENCE: Duration = Duration::from_secs(3);

/// Greatest number of answers to hellos that wait to be sent.
const REPLIES_MAX: usize = 16;

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
    /// Answers to hellos that wait to be sent.
    pub(super) answers: VecDeque<Answer>,
}

/// When, within a period, what the players send in a frame is to arrive here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartPhase {
    period: Duration,
    phase: Duration,
}

impl StartPhase {
    /// Time that something waits which would happen at `at`, less than the period.
    fn wait(self, at: Instant) -> Duration {
        let period = self.period.as_micros().max(1);
        let late = at.as_micros() % period;
        Duration::from_micros((self.phase.as_micros() % period + period - late) % period)
    }
}

/// An answer to a hello from a peer without a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(super) to: PeerId,
    /// The key of the packet's tag.
    pub(super) key: u64,
    pub(super) what: Reply,
}

/// The content of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply {
    Refuse(Refusal),
    Challenge(u64),
}

impl Lobby {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, is_ready: true, start_at: None, start_phase: None, answers: VecDeque::new() }
    }
}

impl AnySession {
    /// Before the start: whether the local player wants to begin. True at first. The match begins when all players are here and ready; from
    /// then on this has no effect.
    pub fn set_ready(&mut self, is_ready: bool) {
        self.lobby.is_ready = is_ready;
    }

    /// Before the start: whether this player wants to begin, as far as this peer knows. In a star a guest knows only of itself and the host.
    #[must_use]
    pub fn is_ready(&self, player: PlayerId) -> bool {
        let identity = Identity::Player(player);
        let link = self.links.values().find(|link| link.is_connected() && link.identity == Some(identity));
        if identity == self.setup.identity {
            self.lobby.is_ready
        } else {
            link.is_some_and(|link| link.lobby.ready)
        }
    }

    /// Before the start, on the coordinator: the match begins up to `period` later than it could, when what the players send in their first
    /// frame is expected here `phase` after a multiple of `period` of this session's time. With the length of a frame as `period`, the middle
    /// of many matches spreads their packets with it; they stay where they are while the players' clocks keep pace with this peer's.
    pub fn set_start_phase(&mut self, period: Duration, phase: Duration) {
        self.lobby.start_phase = Some(StartPhase { period, phase });
    }

    /// The first time from `at` on that has the wanted phase.
    fn in_phase(&self, at: Instant) -> Instant {
        let Some(phase) = self.lobby.start_phase else { return at };
        // The last player's packet makes a turn complete.
        let players = self.links.values().filter(|link| link.is_player());
        let longest = players.filter_map(|link| link.lobby.round_trip_min).max().unwrap_or_default();
        let way = Duration::from_micros(longest.min(ROUND_TRIP_MAX).as_micros() / 2);
        at + phase.wait(at + way)
    }

    pub(super) fn lobby_timeout(&mut self) {
        self.gather_roster();
        if self.setup.coordinates() && self.lobby.start_at.is_none() && self.everybody_is_ready() {
            let round_trips = self.links.values().filter_map(|link| link.lobby.round_trip_min);
            let wait = match round_trips.max() {
                Some(longest) => longest.min(ROUND_TRIP_MAX) + START_MARGIN,
                None => Duration::ZERO,
            };
            self.lobby.start_at = Some(self.in_phase(self.now + wait));
        }
        if self.lobby.start_at.is_some_and(|at| self.now >= at) {
            self.start();
        } else if self.lobby_deadline().is_some_and(|at| self.now >= at) {
            self.fail(self.nobody_came());
        } else {
            self.lobby_silence();
        }
    }

    /// The failure that names the peers who did not join.
    fn nobody_came(&self) -> Failure {
        if self.links.values().any(|link| link.phase == LinkPhase::Dialing) {
            return Failure::ConnectTimeout;
        }
        let present = self.present_players();
        let missing =
            |player: &PlayerId| !present.contains(player) && !self.setup.is_absent(Identity::Player(*player));
        let players = (0..self.setup.config.players).map(PlayerId).filter(missing).collect();
        let watching = self.links.values().filter(|link| link.identity == Some(Identity::Spectator)).count();
        let spectators = self.setup.config.spectators_min.saturating_sub(watching as u32);
        Failure::PlayersMissing { players, spectators }
    }

    /// When this peer gives up before the start.
    pub(super) fn lobby_deadline(&self) -> Option<Instant> {
        let waits = self.setup.config.lobby_timeout.unwrap_or(self.setup.config.connect_timeout);
        let dials = self.links.values().any(|link| link.phase == LinkPhase::Dialing);
        let dial_deadline = dials.then(|| self.lobby.since + self.setup.config.connect_timeout);
        let lobby_deadline = self.setup.accepts().then(|| self.lobby.since + waits);
        [dial_deadline, lobby_deadline].into_iter().flatten().min()
    }

    /// The coordinator forgets silent peers, which frees their places. The others give up when the coordinator is silent.
    fn lobby_silence(&mut self) {
        let timeout = self.setup.config.silence_timeout;
        let silent = |link: &Link, now: Instant| link.is_connected() && now.since(link.last_heard) >= timeout;
        if self.setup.accepts() {
            let now = self.now;
            self.links.retain(|_, link| !silent(link, now));
        } else if let Some(link) = self.links.values().find(|link| silent(link, self.now)) {
            self.fail(Failure::ConnectionLost(link.peer));
        }
    }

    /// Turn 0 may begin.
    pub(super) fn start(&mut self) {
        if !self.settle_roster() {
            return;
        }
        self.phase = SessionPhase::Running;
        for link in self.links.values_mut() {
            link.last_heard = self.now;
        }
        self.emit(Event::Started);
    }

    fn everybody_is_ready(&self) -> bool {
        let watching = |link: &&Link| link.is_connected() && link.identity == Some(Identity::Spectator);
        self.lobby.is_ready
            && self.links_are_complete()
            && self.has_roster()
            && self.links.values().filter(watching).count() as u64
                >= u64::from(self.setup.config.spectators_min)
            && self.links.values().all(|link| {
                let measured =
                    link.lobby.ready && link.lobby.round_trip_min.is_some() && self.agrees_on_roster(link);
                let present = measured && self.now.since(link.last_heard) < LOBBY_SILENCE;
                !(link.is_player() || self.setup.config.spectators_min > 0)
                    || (link.is_connected() && present)
            })
    }

    /// Whether every link that this peer needs before the start exists.
    pub(super) fn links_are_complete(&self) -> bool {
        let linked = |identity: Identity| {
            self.links.values().any(|link| link.is_connected() && link.identity == Some(identity))
        };
        let all_players = || {
            let mut players = (0..self.setup.config.players).map(|player| Identity::Player(PlayerId(player)));
            players.all(|identity| {
                identity == self.setup.identity || self.setup.is_absent(identity) || linked(identity)
            })
        };
        if self.setup.coordinates() || self.setup.is_mesh() {
            all_players()
        } else {
            linked(self.setup.coordinator())
        }
    }

    /// Queues an answer to a hello.
    pub(super) fn reply(&mut self, to: PeerId, key: u64, what: Reply) {
        let waits = self.lobby.answers.iter().any(|answer| answer.to == to);
        if self.lobby.answers.len() < REPLIES_MAX && !waits {
            self.lobby.answers.push_back(Answer { to, key, what });
        }
    }

    /// Whether the hello belongs to this match.
    pub(super) fn handle_hello(&mut self, peer: PeerId, hello: Hello) -> bool {
        if !self.may_claim(peer, hello.identity) {
            return false;
        }
        if hello.session_mark != session_mark(self.setup.config.session_id, hello.nonce) {
            self.reply(peer, hello.nonce, Reply::Refuse(Refusal::Session));
            return false;
        }
        if !self.setup.is_proven(peer, hello.nonce, hello.cookie, self.now) {
            let cookie = self.setup.cookie(peer, hello.nonce, Setup::period(self.now));
            self.reply(peer, hello.nonce, Reply::Challenge(cookie));
            return true;
        }
        if let Some(refusal) = self.judge(peer, hello) {
            if self.lobby.answers.len() < REPLIES_MAX {
                self.emit(Event::Rejected { peer, refusal });
            }
            self.reply(peer, hello.nonce, Reply::Refuse(refusal));
            return true;
        }
        let is_known = self.links.get(&peer).is_some_and(|link| link.nonce == hello.nonce);
        if !is_known {
            self.end_former_self(hello.identity);
            if let (Identity::Player(player), SessionPhase::Running) = (hello.identity, self.phase) {
                self.charge_arrival(player);
            }
            self.note_seat(hello.identity, hello.seat);
        }
        if let Identity::Player(_) = hello.identity {
            self.links.retain(|_, link| link.peer == peer || link.identity != Some(hello.identity));
        }
        // A peer that has restarted at the same address.
        self.links.retain(|_, link| link.peer != peer || link.nonce == hello.nonce);
        if self.link_index(peer).is_none() {
            let first = self.setup.config.first_entry();
            let mut link = Link::new(peer, LinkPhase::Dialing, None, first, self.now);
            let key = link_key(self.setup.config.session_id, hello.nonce);
            (link.nonce, link.key) = (hello.nonce, key);
            link.connection = self.connection_of(hello.identity);
            self.links.insert(peer, link);
        }
        self.connected(peer, hello.identity);
        if let Some(index) = self.link_index(peer) {
            self.links[index].owes_welcome = true;
            if !is_known {
                self.guest_comes(index);
            }
        }
        true
    }

    /// Why the peer may not join; none if it may.
    fn judge(&self, peer: PeerId, hello: Hello) -> Option<Refusal> {
        let config = &self.setup.config;
        if hello.content_hash != config.content() {
            return Some(Refusal::Content { expected: config.content() });
        }
        if u32::from(hello.frames_per_second) != config.frames_per_second {
            return Some(Refusal::FrameRate { expected: config.frames_per_second as u16 });
        }
        if hello.config_hash != self.setup.config_hash {
            return Some(Refusal::Config { expected: self.setup.config_hash });
        }
        let known = |link: &&Link| link.peer == peer;
        let same = |link: &Link| link.identity == Some(hello.identity) && link.nonce == hello.nonce;
        if self.links.values().find(known).is_some_and(same) {
            return None;
        }
        if self.phase != SessionPhase::Lobby {
            return self.judge_guest(peer, &hello);
        }
        let fresh = |link: &Link| self.now.since(link.last_heard) < LOBBY_SILENCE;
        // Who shows the place's secret has crashed and is back.
        let is_owner = |player: PlayerId| {
            let seat = self.transfers.seats.get(player.index());
            hello.seat != 0 && seat.is_some_and(|seat| seat.secret == hello.seat)
        };
        let place_taken = match hello.identity {
            Identity::Player(player) => {
                player.0 >= self.setup.config.players
                    || hello.identity == self.setup.identity
                    || self.setup.is_absent(hello.identity)
                    || (!is_owner(player)
                        && self.links.values().any(|link| {
                            link.peer != peer && link.identity == Some(hello.identity) && fresh(link)
                        }))
            }
            // The middle of a star serves the spectators.
            Identity::Spectator if self.setup.is_mesh() => true,
            Identity::Spectator => {
                let spectators =
                    self.links.values().filter(|link| link.identity == Some(Identity::Spectator));
                spectators.count() as u64 >= u64::from(self.setup.config.spectators_max)
            }
            Identity::Relay => true,
        };
        let other_identity = self
            .links
            .values()
            .find(known)
            .is_some_and(|link| link.identity.is_some_and(|i| i != hello.identity));
        (place_taken || other_identity).then_some(Refusal::Taken)
    }

    pub(super) fn handle_welcome(&mut self, index: usize, welcome: Welcome) {
        let plausible = self.links[index].phase == LinkPhase::Dialing
            && welcome.identity != self.setup.identity
            && self.setup.may_forward(welcome.identity)
            && !self.links.values().any(|link| link.identity == Some(welcome.identity));
        if plausible {
            self.links[index].connection = welcome.connection;
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

    pub(super) fn handle_lobby(&mut self, index: usize, lobby: &LobbyPacket) {
        self.take_keys(index, lobby.keys.as_deref());
        let now = self.now;
        let from_coordinator = self.links[index].identity == Some(self.setup.coordinator());
        let link = &mut self.links[index];
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
        let one_way = self.links[index].lobby.round_trip_min.unwrap_or_default().as_micros() / 2;
        if let Some(start_in) =
            lobby.start_in_us.filter(|_| from_coordinator && self.phase == SessionPhase::Lobby)
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
            ready: self.lobby.is_ready && self.links_are_complete(),
            sent_us: self.now.as_micros() as u32,
            echo: link
                .lobby
                .heard
                .map(|(sent_us, heard)| Echo { sent_us, held_us: micros(self.now.since(heard)) }),
            start_in_us: self
                .lobby
                .start_at
                .filter(|_| self.setup.coordinates())
                .map(|start_at| micros(start_at.since(self.now))),
            keys: self.lobby_keys(link),
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
    }
}
