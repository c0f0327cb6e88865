//! One match at a relay: the middle of its star, and who has which place.

use std::net::IpAddr;

use crate::service::agreement::Agreement;
use crate::service::flow::Flow;
use crate::service::greeting::{Refused, Secrets, Welcome};
#[cfg(feature = "sealed")]
use crate::service::pass::Claim;
use crate::service::places::{NoPlace, Pass, Placed, Places, Secret};
use crate::service::relay::counters::Counters;
use crate::service::relay::limits::Limits;
use crate::service::removal::Removal;
use crate::session::config::ConfigError;
use crate::session::{Session, SessionPhase};
use crate::value::action::AnyAction;
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// The player who has opened the room, and may remove others.
const OPENER: PlayerId = PlayerId(0);

/// Time in which everybody is told that the match is over.
const LINGER: Duration = Duration::from_secs(2);

/// Which packets leave first. Players wait for what they get; watchers do not.
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

/// A player who was removed.
pub(super) struct Removed {
    /// To be closed.
    pub(super) connection: Option<PeerId>,
    /// Whether the player has ever come.
    pub(super) has_come: bool,
    /// The secret that opened the place, and the one that opens it now.
    pub(super) renewed: Option<(Secret, Secret)>,
}

/// One match.
#[derive(Debug)]
pub(super) struct Room {
    session: Session<AnyAction>,
    places: Places,
    secrets: Secrets,
    agreement: Agreement,
    session_id: u64,
    /// The household from which it was opened.
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
    /// The relay has ended it, because it ends itself.
    is_cut_off: bool,
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
    /// Bytes of players' entries that it holds.
    entries: u64,
}

impl Room {
    /// A new room. `session_id` and `entropy` are random.
    ///
    /// # Errors
    /// The agreement is not one that a session can have.
    pub(super) fn new(
        agreement: Agreement,
        secrets: Secrets,
        (session_id, entropy): (u64, [u8; 16]),
        opener: IpAddr,
        limits: &Limits,
        now: Instant,
    ) -> Result<Self, ConfigError> {
        let config = limits.of_room(agreement.config()).session_id(session_id).entropy(entropy);
        let mut session = Session::relay(config.bound_peers_only(), agreement.action_bits(), now)?;
        let players = (0..).map(PlayerId).zip(&secrets.players);
        let places = players.fold(Places::new(), |places, (player, secret)| places.player(player, *secret));
        let places = places.watchers(secrets.watchers, limits.watchers_max).referee(secrets.referee);
        places.bind(&mut session);
        Ok(Self {
            session,
            places,
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
            is_cut_off: false,
            noted: Noted::default(),
        })
    }

    /// What whoever shows this secret asks for.
    #[cfg(feature = "sealed")]
    pub(super) fn claim(&self, secret: &Secret) -> Claim {
        self.places.claim(secret)
    }

    /// Gives whoever has a secret of this room the place that it opens.
    ///
    /// # Errors
    /// Nobody else may watch, the secret is of another room, another program plays there, or too many have come to the same place just now.
    pub(super) fn come(
        &mut self,
        connection: PeerId,
        pass: Pass,
        counters: &mut Counters,
        now: Instant,
    ) -> Result<(Placed, Welcome), NoPlace> {
        if self.session.start_is_fixed() {
            self.places.settle();
        }
        let placed = self.places.come(connection, pass, now)?;
        self.empty_since = None;
        match placed.identity {
            Identity::Player(player) => {
                let bit = 1 << player.0;
                let (seen, back) = if self.seen & bit == 0 { (1, 0) } else { (0, 1) };
                counters.players_seen += seen;
                counters.players_back += back;
                self.seen |= bit;
            }
            _ => counters.watchers_seen += 1,
        }
        let (session_id, agreement) = (self.session_id, self.agreement.clone());
        Ok((placed, Welcome { place: placed.identity, is_relayed: true, session_id, agreement }))
    }

    /// What may come by a new connection.
    pub(super) fn flow(&self) -> Flow {
        Flow::new(self.session.config().frames_per_second)
    }

    /// A connection is closed.
    pub(super) fn gone(&mut self, connection: PeerId, now: Instant) {
        self.places.gone(connection);
        self.note_empty(now);
    }

    fn note_empty(&mut self, now: Instant) {
        if self.places.connections().next().is_none() {
            self.empty_since.get_or_insert(now);
        }
    }

    /// The connection of this link floods, and is closed. Nobody waits for its player until the time for drops is over.
    pub(super) fn drop_flooding(&mut self, link: PeerId) {
        if let Some(Identity::Player(player)) = self.session.bound(link) {
            self.session.kick(player);
        }
    }

    /// Takes a packet that came by the connection of this link. Returns false if it claims to come from another place.
    pub(super) fn hear(&mut self, link: PeerId, packet: &[u8], now: Instant) -> bool {
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

    /// What members say to the relay itself: whoever has opened the room removes a player.
    fn take_messages(&mut self) {
        while let Some(message) = self.session.poll_message() {
            let Some(removal) = Removal::read(&message.bytes) else { continue };
            let is_new = removal.player.0 < self.agreement.players()
                && removal.player != OPENER
                && !self.places.is_shut(removal.player)
                && self.secrets.players[removal.player.index()] != removal.secret;
            if message.from != Identity::Player(OPENER) || !is_new {
                continue;
            }
            // Whoever asks twice knows the new secret of the second time.
            if let Some(former) = self.removed.iter_mut().find(|former| former.player == removal.player) {
                *former = removal;
            } else {
                self.session.kick(removal.player);
                self.removed.push(removal);
            }
        }
    }

    /// Players who have been told that they are removed. Until the start is fixed their places open with another secret.
    pub(super) fn take_removed(&mut self, now: Instant) -> Vec<Removed> {
        let is_fixed = self.session.start_is_fixed();
        let Self { removed, places, secrets, seen, .. } = self;
        let shut = |Removal { player, secret }: Removal| {
            let connection = places.shut(player);
            let has_come = *seen & (1 << player.0) != 0;
            let renewed = (!is_fixed).then(|| {
                places.renew(player, &secret);
                // The next one is somebody else.
                *seen &= !(1 << player.0);
                (core::mem::replace(&mut secrets.players[player.index()], secret), secret)
            });
            Removed { connection, has_come, renewed }
        };
        let shut = removed.drain(..).map(shut).collect();
        self.note_empty(now);
        shut
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

    /// Bytes of players' entries that the room held when they were last counted.
    pub(super) fn entries(&self) -> u64 {
        self.noted.entries
    }

    /// Brings the total of all rooms up to date. A match that is over needs no entries any more, and other rooms do not pay for them.
    pub(super) fn count_entries(&mut self, total: &mut u64) {
        if self.session.is_over() {
            self.session.forget_entries();
        }
        let entries = self.session.entry_bytes();
        *total = *total - core::mem::replace(&mut self.noted.entries, entries) + entries;
    }

    /// Whoever lacks most of the entries is lost. Returns whether there was somebody.
    pub(super) fn lose_furthest_behind(&mut self) -> bool {
        self.session.lose_furthest_behind()
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
        self.take_messages();
        let mut has_sent = false;
        while let Some(link) = self.session.poll_transmit(now, packet) {
            // The session does not know who is connected just now. Nothing is kept for a peer that is not.
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
        while self.session.poll_event().is_some() {}
        let stats = self.session.stats();
        let refused = stats.packets_malformed + stats.packets_unexpected + stats.messages_refused;
        counters.packets_refused += refused - core::mem::replace(&mut self.noted.refused, refused);
        counters.players_lost += stats.drops - core::mem::replace(&mut self.noted.drops, stats.drops);
        if self.session.is_over() {
            self.over_since.get_or_insert(now);
        }
    }

    /// Ends a match that is too old, so that everybody is told.
    pub(super) fn end_if_old(&mut self, limits: &Limits, now: Instant) {
        if !self.is_over() && now.since(self.opened) >= limits.age_max {
            self.end();
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
        self.forwarded_at.is_none() && !self.has_begun() && (0..self.agreement.players()).all(is_here)
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
            self.empty_since.map(|since| since + limits.idle),
            Some(self.over_since.map_or(self.opened + limits.age_max, |since| since + LINGER)),
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
    }

    /// Whether the match is over; those who were there are being told.
    pub(super) fn is_over(&self) -> bool {
        self.over_since.is_some()
    }

    /// Whether the first turn has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.session.phase() != SessionPhase::Lobby
    }

    /// Ends the match for all, and tells them.
    pub(super) fn end(&mut self) {
        self.is_cut_off |= !self.is_over();
        self.session.leave();
    }

    /// What is answered to whoever comes after the end, and may not have heard of it.
    pub(super) fn why_over(&self) -> Refused {
        if self.is_cut_off { Refused::GoingAway } else { Refused::Over }
    }

    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub(super) fn connections(&self) -> impl Iterator<Item = PeerId> {
        self.places.connections()
    }
}
