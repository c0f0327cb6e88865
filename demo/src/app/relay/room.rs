//! One match at a relay: the middle of its star, and who sits where.

use std::net::IpAddr;

use testudo_lockstep::AnyAction;
use testudo_lockstep::{
    Action, ConfigError, Duration, Identity, Instant, PLAYERS_MAX, PeerId, PlayerId, Session, Topology,
};

use crate::app::online::agreement::Agreement;
use crate::app::online::greeting::{Opened, Pass, Secret, Welcome};
use crate::app::online::name::Name;
use crate::app::online::places::{NoPlace, Places, Seated};
use crate::app::online::removal::Removal;
use crate::app::online::roll::Roll;
use crate::app::online::team_wish::TeamWish;
use crate::app::relay::counters::Counters;
use crate::app::relay::limits::Limits;
use crate::game::Order;

/// All that a relay has to know of the orders that it forwards.
const ACTION_BITS: u32 = Order::MAX_BITS;

/// Time in which everybody is told that the match is over.
const LINGER: Duration = Duration::from_secs(2);

/// Which packets leave first. Players wait for what they get; those who watch do not, and nobody waits for the roll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Haste {
    Now,
    Later,
}

impl Haste {
    /// Of what goes over a link of the session.
    fn of(link: PeerId) -> Self {
        if link.0 < u32::from(PLAYERS_MAX) { Self::Now } else { Self::Later }
    }
}

/// The secrets of a room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Secrets {
    /// Of the players, in order.
    pub(crate) players: Vec<Secret>,
    /// Of everybody who watches.
    pub(crate) watch: Secret,
    /// Of one more who watches.
    pub(crate) referee: Secret,
}

impl Secrets {
    pub(super) fn all(&self) -> impl Iterator<Item = &Secret> {
        self.players.iter().chain([&self.watch, &self.referee])
    }

    /// What whoever opened the room is told.
    pub(super) fn told(self, welcome: Welcome) -> Opened {
        let Self { players, watch: watchers, referee } = self;
        Opened { welcome, players, watchers, referee }
    }
}

/// A player who was removed.
pub(super) struct Removed {
    /// To be closed.
    pub(super) connection: Option<PeerId>,
    /// The secret that opened the place, and the one that opens it now.
    pub(super) renewed: Option<(Secret, Secret)>,
}

/// One match.
#[derive(Debug)]
pub(crate) struct Room {
    session: Session<AnyAction>,
    places: Places,
    roll: Roll,
    secrets: Secrets,
    agreement: Agreement,
    session_id: u64,
    /// The address from which it was opened.
    pub(super) opener: IpAddr,
    opened: Instant,
    /// Players who have come at least once, bit n for player n.
    seen: u16,
    /// Since when nobody is connected.
    empty_since: Option<Instant>,
    /// Since when the match is over.
    over_since: Option<Instant>,
    /// When the last turn became complete, until it has been forwarded.
    complete_since: Option<Instant>,
    /// When the last whole turn was forwarded; before the first one, when that is wanted.
    forwarded_at: Option<Instant>,
    /// Longest time that a whole turn waited here, since it was last asked for.
    worst: Duration,
    /// Players who are to go once they have been told.
    removed: Vec<Removal>,
    /// What the session's counters were when they were last looked at.
    noted: Noted,
}

#[derive(Clone, Copy, Debug, Default)]
struct Noted {
    turns: u64,
    refused: u64,
    drops: u64,
    /// Bytes of states that the session holds.
    states: u64,
}

impl Room {
    /// A new room. `entropy` is random.
    ///
    /// # Errors
    /// The agreement is not one that a session can have.
    pub(super) fn new(
        agreement: Agreement,
        session_id: u64,
        secrets: Secrets,
        entropy: [u8; 16],
        opener: IpAddr,
        limits: &Limits,
        now: Instant,
    ) -> Result<Self, ConfigError> {
        let config = agreement
            .config(session_id, Topology::Relay)
            .entropy(entropy)
            .lobby_timeout(limits.lobby)
            .watchers_max(limits.watchers_max + 1)
            .watch_delay(limits.watch_delay)
            .state_bytes_max(limits.state_bytes_max);
        let mut session = Session::relay(config.bound_peers_only(), ACTION_BITS, now)?;
        let players: Vec<Option<Secret>> = secrets.players.iter().copied().map(Some).collect();
        let places = Places::new(&players, secrets.watch, limits.watchers_max as usize, secrets.referee);
        places.bind(&mut session);
        Ok(Self {
            session,
            places,
            roll: Roll::new(agreement.players),
            secrets,
            agreement,
            session_id,
            opener,
            opened: now,
            seen: 0,
            empty_since: Some(now),
            over_since: None,
            complete_since: None,
            forwarded_at: None,
            worst: Duration::ZERO,
            removed: Vec::new(),
            noted: Noted::default(),
        })
    }

    /// Seats whoever has a secret of this room.
    ///
    /// # Errors
    /// Nobody else may watch, the secret is of another room, another program plays there, or too many have come to the same place just now.
    pub(super) fn come(
        &mut self,
        connection: PeerId,
        pass: Pass,
        name: Name,
        counters: &mut Counters,
        now: Instant,
    ) -> Result<(Seated, Welcome), NoPlace> {
        if self.has_begun() {
            self.places.settle();
        }
        let seated = self.places.come(connection, pass, name, now)?;
        self.roll.hurry(now);
        self.empty_since = None;
        match seated.place {
            Identity::Player(player) => {
                let bit = 1 << player.0;
                let (seen, back) = if self.seen & bit == 0 { (1, 0) } else { (0, 1) };
                counters.players_seen += seen;
                counters.players_back += back;
                self.seen |= bit;
            }
            _ => counters.watchers_seen += 1,
        }
        let Self { session_id, agreement, .. } = *self;
        Ok((seated, Welcome { place: seated.place, is_relayed: true, session_id, agreement }))
    }

    /// A connection is closed.
    pub(super) fn gone(&mut self, connection: PeerId, now: Instant) {
        self.places.gone(connection);
        if self.places.connections().next().is_none() {
            self.empty_since = Some(now);
        }
    }

    /// The connection of this place floods, and is closed. Nobody waits for its player until the time for drops is over.
    pub(super) fn drop_flooding(&mut self, place: Identity) {
        if let Identity::Player(player) = place {
            self.session.kick(player);
        }
    }

    /// Takes a packet that came by the connection of this place. Returns false if it claims to come from another place.
    pub(super) fn hear(&mut self, link: PeerId, place: Identity, packet: &[u8], now: Instant) -> bool {
        if let Some(wish) = TeamWish::read(self.session_id, packet) {
            self.note_wish(place, wish, now);
            return true;
        }
        if let Some(removal) = Removal::read(self.session_id, packet) {
            self.note_removal(place, removal);
            return true;
        }
        let forged = self.session.stats().hellos_forged;
        self.session.handle_packet(now, link, packet);
        if self.session.stats().hellos_forged != forged {
            return false;
        }
        let turns = self.session.stats().turns_forwarded;
        if turns != core::mem::replace(&mut self.noted.turns, turns) {
            self.complete_since.get_or_insert(now);
        }
        true
    }

    /// A player's team, until the match begins.
    fn note_wish(&mut self, place: Identity, wish: TeamWish, now: Instant) {
        let is_granted = matches!(place, Identity::Player(asker) if wish.is_granted_to(asker));
        if is_granted && !self.has_begun() {
            self.roll.set_team(wish.player, wish.team);
            self.roll.hurry(now);
        }
    }

    /// Who has opened the room removes a player, and says so several times.
    fn note_removal(&mut self, place: Identity, removal: Removal) {
        let opener = PlayerId(0);
        let is_new = removal.player.0 < self.agreement.players
            && removal.player != opener
            && !self.places.is_shut(removal.player)
            && self.secrets.players[removal.player.index()] != removal.secret
            && self.removed.iter().all(|former| former.player != removal.player);
        if place == Identity::Player(opener) && is_new {
            self.session.kick(removal.player);
            self.removed.push(removal);
        }
    }

    /// Players who have been told that they are removed. Before the start their places open with another secret.
    pub(super) fn take_removed(&mut self) -> Vec<Removed> {
        let has_begun = self.has_begun();
        let Self { removed, places, secrets, .. } = self;
        let shut = |Removal { player, secret }: Removal| {
            let connection = places.shut(player);
            let renewed = (!has_begun).then(|| {
                places.renew(player, &secret);
                (core::mem::replace(&mut secrets.players[player.index()], secret), secret)
            });
            Removed { connection, renewed }
        };
        removed.drain(..).map(shut).collect()
    }

    /// Bytes of states that the room held when they were last counted.
    pub(super) fn states(&self) -> u64 {
        self.noted.states
    }

    /// Brings the total of all rooms up to date.
    pub(super) fn count_states(&mut self, total: &mut u64) {
        let states = self.session.state_bytes();
        *total = *total - core::mem::replace(&mut self.noted.states, states) + states;
    }

    /// The room may hold so many bytes more.
    pub(super) fn allow_states(&mut self, more: u64) {
        self.session.allow_state_bytes(self.noted.states + more);
    }

    /// Does what is due, and hands every packet that is to be sent to `send`, with its connection.
    pub(super) fn run(
        &mut self,
        now: Instant,
        packet: &mut Vec<u8>,
        counters: &mut Counters,
        send: &mut impl FnMut(PeerId, &[u8], Haste),
    ) {
        self.session.handle_timeout(now);
        let mut has_sent = false;
        while let Some(link) = self.session.poll_transmit(now, packet) {
            // The session does not know who is connected just now; nothing is kept for who is not.
            if let Some(connection) = self.places.connection(link) {
                counters.packets_out += 1;
                counters.bytes_out += packet.len() as u64;
                send(connection, packet, Haste::of(link));
                has_sent = true;
            }
        }
        if has_sent && let Some(since) = self.complete_since.take() {
            let time = now.since(since);
            self.worst = self.worst.max(time);
            self.forwarded_at = Some(now);
            counters.forwarding.note(time);
        }
        self.call_roll(now, counters, send);
        while self.session.poll_event().is_some() {}
        let stats = self.session.stats();
        let refused = stats.packets_malformed + stats.packets_unexpected;
        counters.packets_refused += refused - core::mem::replace(&mut self.noted.refused, refused);
        counters.players_lost += stats.drops - core::mem::replace(&mut self.noted.drops, stats.drops);
        if self.session.is_over() {
            self.over_since.get_or_insert(now);
        }
    }

    /// Tells everybody the players' names, and who is here. Nobody is woken for it.
    fn call_roll(
        &mut self,
        now: Instant,
        counters: &mut Counters,
        send: &mut impl FnMut(PeerId, &[u8], Haste),
    ) {
        let has_begun = self.has_begun();
        if !self.roll.is_due(now, has_begun) {
            return;
        }
        for player in (0..self.agreement.players).map(PlayerId) {
            let is_here = self.places.connection(PeerId(player.0.into())).is_some();
            let is_ready = self.session.is_ready(player);
            self.roll.note(player, is_here, is_ready, self.places.name(player));
        }
        let bytes = self.roll.to_bytes(self.session_id);
        for connection in self.places.connections() {
            counters.packets_out += 1;
            counters.bytes_out += bytes.len() as u64;
            send(connection, &bytes, Haste::Later);
        }
    }

    /// When, after a multiple of a frame, the room's turns are forwarded; none if that is not known yet.
    pub(super) fn phase(&self) -> Option<Duration> {
        self.forwarded_at.map(|at| Duration::from_micros(at.as_micros() % self.frame().as_micros().max(1)))
    }

    /// Length of a frame.
    pub(super) fn frame(&self) -> Duration {
        self.session.config().frame_length()
    }

    /// Whether all players are here, and nobody has said yet when the turns are to be forwarded.
    pub(super) fn awaits_phase(&self) -> bool {
        let is_here = |player: u8| self.places.connection(PeerId(player.into())).is_some();
        self.forwarded_at.is_none() && !self.has_begun() && (0..self.agreement.players).all(is_here)
    }

    /// The match is to begin so that its turns are forwarded `phase` after a multiple of `frame`.
    pub(super) fn set_phase(&mut self, frame: Duration, phase: Duration) {
        self.session.set_start_phase(frame, phase);
        self.forwarded_at = Some(Instant::ZERO + phase);
    }

    /// Longest time that a whole turn waited here since the last call.
    pub(super) fn take_worst(&mut self) -> Duration {
        core::mem::take(&mut self.worst)
    }

    /// When there is something to do, unless a packet arrives before.
    pub(super) fn due(&self, limits: &Limits) -> Instant {
        let ends = [
            self.over_since.map(|since| since + LINGER),
            self.empty_since.map(|since| since + limits.idle),
            Some(self.opened + limits.age_max),
            self.session.poll_timeout(),
        ];
        ends.into_iter().flatten().min().unwrap_or(self.opened + limits.age_max)
    }

    /// Whether nobody has any use for the room any more.
    pub(super) fn is_done(&self, limits: &Limits, now: Instant) -> bool {
        let is_past =
            |since: Option<Instant>, time: Duration| since.is_some_and(|since| now.since(since) >= time);
        is_past(self.over_since, LINGER)
            || (self.over_since.is_some() && self.empty_since.is_some())
            || is_past(self.empty_since, limits.idle)
            || is_past(Some(self.opened), limits.age_max)
    }

    /// Whether the match is over; those who were there are being told.
    pub(super) fn is_over(&self) -> bool {
        self.over_since.is_some()
    }

    /// Whether the first turn has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.session.phase() != testudo_lockstep::SessionPhase::Lobby
    }

    /// Ends the match for all, and tells them.
    pub(super) fn end(&mut self) {
        self.session.leave();
    }

    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub(super) fn connections(&self) -> impl Iterator<Item = PeerId> {
        self.places.connections()
    }
}
