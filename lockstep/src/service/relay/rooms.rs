//! All rooms of a relay: who may open one, which secret leads to which room, and which room is next.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use sha2::{Digest, Sha256};

use crate::service::agreement::Agreement;
use crate::service::flow::{Flow, Verdict};
use crate::service::greeting::{Answer, Greeting, Opened, Refused, Secrets};
use crate::service::host::Reply;
use crate::service::household::household;
#[cfg(feature = "sealed")]
use crate::service::pass::Claim;
use crate::service::places::{Pass, Secret};
use crate::service::relay::counters::Counters;
use crate::service::relay::limits::Limits;
use crate::service::relay::lot::Lot;
use crate::service::relay::phase::freest;
use crate::service::relay::room::{Haste, Removed, Room};
use crate::session::config::ConfigError;
use crate::value::ids::PeerId;
use crate::value::time::Instant;

/// Secrets of matches that are over and of players who were removed, so that a guest that comes too late is told.
const PAST_SECRETS_MAX: usize = 4_096;

/// SHA-256 of a secret. How long a search takes may tell something about what is found; about a hash this is of no use.
type Shadow = [u8; 32];

fn shadow(secret: &Secret) -> Shadow {
    Sha256::digest(secret).into()
}

fn note_past(past: &mut VecDeque<(Shadow, Refused)>, secret: Shadow, why: Refused) {
    if past.len() == PAST_SECRETS_MAX {
        past.pop_front();
    }
    past.push_back((secret, why));
}

/// Greatest number of bytes of one player's actions in one turn.
fn bytes_of_turn(agreement: &Agreement) -> u32 {
    let config = agreement.config();
    if config.input_mode { agreement.action_bits().div_ceil(8) } else { config.limits.turn_bytes_max }
}

/// The number of a room. Never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct RoomId(u64);

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug)]
struct Guest {
    room: RoomId,
    link: PeerId,
    flow: Flow,
}

/// All rooms of a relay. Connections have numbers that the transport chooses. `SealedRelay` puts them on a sealed port.
///
/// A relay knows nothing of the games: of each match it reads the settings in its [`Agreement`], and forwards bytes.
#[derive(Debug)]
pub struct Rooms {
    limits: Limits,
    /// Whoever knows it may open a room.
    secret: u128,
    rooms: BTreeMap<RoomId, Room>,
    next_id: u64,
    /// What opens places, and in which room.
    secrets: BTreeMap<Shadow, RoomId>,
    /// What opens nothing any more, and why.
    past: VecDeque<(Shadow, Refused)>,
    guests: BTreeMap<PeerId, Guest>,
    /// When each room has something to do.
    due: BTreeSet<(Instant, RoomId)>,
    due_of: BTreeMap<RoomId, Instant>,
    /// No new rooms just now, because the certificate is about to be renewed.
    is_renewing: bool,
    /// Since when no new rooms are opened.
    stopping: Option<Instant>,
    /// The matches that still ran then have had their time.
    is_drained: bool,
    closing: VecDeque<PeerId>,
    counters: Counters,
    /// Bytes of states that all rooms hold.
    states: u64,
    /// Bytes of players' entries that all rooms hold.
    entries: u64,
    packet: Vec<u8>,
    /// What watchers get after all players.
    later: Lot,
}

impl Rooms {
    /// No rooms yet. Whoever knows `secret` may open one.
    ///
    /// # Errors
    /// A limit is out of range.
    pub fn new(secret: Secret, limits: Limits) -> Result<Self, ConfigError> {
        limits.check()?;
        Ok(Self {
            limits,
            secret: u128::from_le_bytes(secret),
            rooms: BTreeMap::new(),
            next_id: 0,
            secrets: BTreeMap::new(),
            past: VecDeque::new(),
            guests: BTreeMap::new(),
            due: BTreeSet::new(),
            due_of: BTreeMap::new(),
            is_renewing: false,
            stopping: None,
            is_drained: false,
            closing: VecDeque::new(),
            counters: Counters::default(),
            states: 0,
            entries: 0,
            packet: Vec::new(),
            later: Lot::default(),
        })
    }

    /// Answers the greeting of a new connection. `draw` gives random bytes.
    pub fn greet(
        &mut self,
        connection: PeerId,
        address: IpAddr,
        bytes: &[u8],
        now: Instant,
        draw: &mut impl FnMut() -> [u8; 16],
    ) -> Reply {
        let reply = match Greeting::read(bytes) {
            Ok(Greeting::Come { pass }) => self.come(connection, pass, now),
            Ok(Greeting::Open { pass, agreement }) if u128::from_le_bytes(pass.secret) == self.secret => {
                self.open(connection, address, (*agreement, pass), now, draw)
            }
            Ok(Greeting::Open { .. }) => Reply::only(Refused::WrongSecret),
            Err(why) => Reply::only(why),
        };
        self.counters.greetings_refused += u64::from(!reply.is_welcome());
        reply
    }

    /// What a greeting asks for.
    #[cfg(feature = "sealed")]
    pub(crate) fn claim(&self, greeting: &[u8]) -> Claim {
        match Greeting::read(greeting) {
            Ok(Greeting::Come { pass }) => {
                let room = self.secrets.get(&shadow(&pass.secret)).and_then(|id| self.rooms.get(id));
                room.map_or(Claim::Other, |room| room.claim(&pass.secret))
            }
            Ok(Greeting::Open { pass, .. }) if u128::from_le_bytes(pass.secret) == self.secret => {
                Claim::Player
            }
            _ => Claim::Other,
        }
    }

    fn open(
        &mut self,
        connection: PeerId,
        address: IpAddr,
        (agreement, pass): (Agreement, Pass),
        now: Instant,
        draw: &mut impl FnMut() -> [u8; 16],
    ) -> Reply {
        if self.opens_none() {
            return Reply::only(Refused::GoingAway);
        }
        let address = household(address);
        let from_here = self.rooms.values().filter(|room| room.opener == address).count();
        if self.rooms.len() >= self.limits.rooms_max || from_here >= self.limits.rooms_per_address_max {
            return Reply::only(Refused::TooManyRooms);
        }
        let (bytes, max) = (bytes_of_turn(&agreement), self.limits.turn_bytes_max);
        if bytes > max {
            return Reply::only(Refused::TurnTooLarge { bytes, max });
        }
        let secrets = Secrets::draw(agreement.players(), &mut *draw);
        let session_id = draw().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        let room = Room::new(agreement, secrets.clone(), (session_id, draw()), address, &self.limits, now);
        let Ok(room) = room else { return Reply::only(Refused::Malformed) };
        let id = RoomId(self.next_id);
        self.next_id += 1;
        for secret in secrets.all() {
            self.secrets.insert(shadow(secret), id);
        }
        self.rooms.insert(id, room);
        self.counters.rooms += 1;
        self.touch(id, now);
        let reply = self.come(connection, Pass { secret: secrets.players[0], ..pass }, now);
        match reply.answer {
            Answer::Come(welcome) => {
                Reply { answer: Answer::Opened(Opened { welcome, secrets }), former: reply.former }
            }
            _ => reply,
        }
    }

    fn come(&mut self, connection: PeerId, pass: Pass, now: Instant) -> Reply {
        let Some(&id) = self.secrets.get(&shadow(&pass.secret)) else {
            let shown = shadow(&pass.secret);
            let past = self.past.iter().rev().find(|(secret, _)| *secret == shown);
            return Reply::only(past.map_or(Refused::WrongSecret, |(_, why)| *why));
        };
        let Some(room) = self.rooms.get_mut(&id) else { return Reply::only(Refused::Over) };
        if room.is_over() {
            return Reply::only(room.why_over());
        }
        match room.come(connection, pass, &mut self.counters, now) {
            Ok((placed, welcome)) => {
                if let Some(former) = placed.former {
                    self.guests.remove(&former);
                }
                let guest = Guest { room: id, link: placed.link, flow: room.flow() };
                self.guests.insert(connection, guest);
                self.touch(id, now);
                Reply { answer: Answer::Come(welcome), former: placed.former }
            }
            Err(why) => Reply::only(why.into()),
        }
    }

    /// Takes a packet. It reaches the room of its connection, and no other.
    pub fn packet(&mut self, connection: PeerId, packet: &[u8], now: Instant) {
        self.counters.packets_in += 1;
        self.counters.bytes_in += packet.len() as u64;
        let Some(guest) = self.guests.get_mut(&connection) else {
            self.counters.packets_refused += 1;
            return;
        };
        let (verdict, Guest { room: id, link, .. }) = (guest.flow.take(now), *guest);
        if verdict != Verdict::Take {
            self.counters.packets_refused += 1;
            if verdict == Verdict::Close {
                self.rooms.get_mut(&id).into_iter().for_each(|room| room.drop_flooding(link));
                self.closed(connection, now);
                self.closing.push_back(connection);
            }
            return;
        }
        let Some(room) = self.rooms.get(&id) else { return };
        let allowed = self.free_states(room.opener);
        let Some(room) = self.rooms.get_mut(&id) else { return };
        room.allow_states(allowed);
        let is_genuine = room.hear(link, packet, now);
        room.count_states(&mut self.states);
        room.count_entries(&mut self.entries);
        let opener = room.opener;
        self.bound_entries(opener, now);
        if is_genuine {
            self.wake(id, now);
        } else {
            self.counters.packets_refused += 1;
            self.closed(connection, now);
            self.closing.push_back(connection);
        }
    }

    /// Bytes of states that rooms of this household may hold in addition. A household has a quarter of all, or one state: one that promises states and
    /// does not send them leaves the rest to others.
    fn free_states(&self, opener: IpAddr) -> u64 {
        let all = self.limits.states_bytes_max;
        let from_here = self.rooms.values().filter(|room| room.opener == opener).map(Room::states);
        let most = (all / 4).max(u64::from(self.limits.state_bytes_max));
        let here = most.saturating_sub(from_here.sum());
        all.saturating_sub(self.states).min(here)
    }

    /// Entries are kept for whoever has not confirmed them. If they take more than the rooms of this household may hold, or more than all may, whoever is
    /// furthest behind in the fullest room is lost: of this household, or of the one that holds most.
    fn bound_entries(&mut self, opener: IpAddr, now: Instant) {
        let all = self.limits.entries_bytes_max;
        // A household's rooms hold no more than all do.
        while self.entries > all / 2 {
            let from_here = self.rooms.values().filter(|room| room.opener == opener).map(Room::entries);
            let is_here = from_here.sum::<u64>() > all / 2;
            if !is_here && self.entries <= all {
                return;
            }
            let from = if is_here { Some(opener) } else { self.fullest_household() };
            let counts = |room: &Room| !room.is_over() && Some(room.opener) == from;
            let rooms = self.rooms.iter_mut().filter(|(_, room)| counts(room));
            let Some((&id, room)) = rooms.max_by_key(|(_, room)| room.entries()) else { return };
            let has_lost = room.lose_furthest_behind();
            room.count_entries(&mut self.entries);
            if !has_lost {
                return;
            }
            self.touch(id, now);
        }
    }

    /// The household whose rooms hold most entries.
    fn fullest_household(&self) -> Option<IpAddr> {
        let mut held = BTreeMap::<IpAddr, u64>::new();
        for room in self.rooms.values().filter(|room| !room.is_over()) {
            *held.entry(room.opener).or_default() += room.entries();
        }
        held.into_iter().max_by_key(|(_, bytes)| *bytes).map(|(opener, _)| opener)
    }

    /// A connection is gone.
    pub fn closed(&mut self, connection: PeerId, now: Instant) {
        if let Some(guest) = self.guests.remove(&connection)
            && let Some(room) = self.rooms.get_mut(&guest.room)
        {
            room.gone(connection, now);
            self.touch(guest.room, now);
        }
    }

    /// Does what is due in all rooms, those first that have waited longest, and hands every packet that is to be sent to `send`: to the players
    /// of all rooms, and then to watchers.
    pub fn step(&mut self, now: Instant, mut send: impl FnMut(PeerId, &[u8])) {
        self.run_due(now, &mut send);
        self.later.take(send);
    }

    fn run_due(&mut self, now: Instant, send: &mut impl FnMut(PeerId, &[u8])) {
        self.drain(now);
        while let Some(&(at, id)) = self.due.first().filter(|(at, _)| *at <= now) {
            self.spread(id);
            let Some(room) = self.rooms.get_mut(&id) else {
                self.due.remove(&(at, id));
                continue;
            };
            let later = &mut self.later;
            let mut sort = |connection: PeerId, packet: &[u8], haste| match haste {
                Haste::Now => send(connection, packet),
                Haste::Later => later.add(connection, packet),
            };
            room.end_if_old(&self.limits, now);
            room.run(now, &mut self.packet, &mut self.counters, &mut sort);
            room.count_states(&mut self.states);
            room.count_entries(&mut self.entries);
            for Removed { connection, has_come, renewed } in room.take_removed(now) {
                if let Some(connection) = connection {
                    self.guests.remove(&connection);
                    self.closing.push_back(connection);
                }
                if let Some((old, new)) = renewed {
                    // The secret may be one of another room, which whoever removes a player has heard of: it stays there.
                    if self.secrets.get(&shadow(&old)) == Some(&id) {
                        self.secrets.remove(&shadow(&old));
                        // Whoever has opened a room may renew a place again and again, and what others are to be told would get lost.
                        if has_come {
                            note_past(&mut self.past, shadow(&old), Refused::Removed);
                        }
                    }
                    self.secrets.entry(shadow(&new)).or_insert(id);
                }
            }
            if room.is_done(&self.limits, now) {
                self.remove(id);
                continue;
            }
            // Time goes on whatever a session asks for.
            let next = room.due(&self.limits).max(Instant::from_micros(now.as_micros() + 100));
            self.touch(id, next);
        }
    }

    /// When [`Rooms::step`] has something to do, unless something arrives before.
    #[must_use]
    pub fn next_due(&self) -> Option<Instant> {
        let due = self.due.first().map(|(at, _)| *at);
        [due, self.drained_at()].into_iter().flatten().min()
    }

    /// The next connection that is to be closed.
    pub fn poll_close(&mut self) -> Option<PeerId> {
        self.closing.pop_front()
    }

    /// Opens no more rooms. Matches that run may go on for [`Limits::drain`]; those that have not begun end now.
    pub fn stop(&mut self, now: Instant) {
        if self.stopping.is_none() {
            self.stopping = Some(now);
            self.end_rooms(now, |room| !room.has_begun());
        }
    }

    /// Whether new rooms are refused, because guests that come back to them would find another certificate.
    pub fn set_renewing(&mut self, is_renewing: bool) {
        self.is_renewing = is_renewing;
    }

    /// Matches that still run after their time end.
    fn drain(&mut self, now: Instant) {
        if self.drained_at().is_some_and(|at| now >= at) {
            self.is_drained = true;
            self.end_rooms(now, |_| true);
        }
    }

    /// When the matches that still run have had their time.
    fn drained_at(&self) -> Option<Instant> {
        self.stopping.filter(|_| !self.is_drained).map(|since| since + self.limits.drain)
    }

    fn end_rooms(&mut self, now: Instant, which: impl Fn(&Room) -> bool) {
        let ids: Vec<RoomId> = self.rooms.iter().filter(|(_, room)| which(room)).map(|(id, _)| *id).collect();
        for id in ids {
            self.rooms.get_mut(&id).into_iter().for_each(Room::end);
            self.touch(id, now);
        }
    }

    fn remove(&mut self, id: RoomId) {
        let Some(room) = self.rooms.remove(&id) else { return };
        self.states -= room.states();
        self.entries -= room.entries();
        if let Some(at) = self.due_of.remove(&id) {
            self.due.remove(&(at, id));
        }
        for connection in room.connections() {
            self.guests.remove(&connection);
            self.closing.push_back(connection);
        }
        for secret in room.secrets().all() {
            let secret = shadow(secret);
            if self.secrets.get(&secret) == Some(&id) {
                self.secrets.remove(&secret);
            }
            note_past(&mut self.past, secret, room.why_over());
        }
    }

    /// A match that is about to begin gets a part of the frame in which few others are forwarded.
    fn spread(&mut self, id: RoomId) {
        let Some(room) = self.rooms.get(&id).filter(|room| room.awaits_phase()) else { return };
        let frame = room.frame();
        let phase = freest(frame, self.rooms.values().filter_map(Room::phase));
        self.rooms.get_mut(&id).into_iter().for_each(|room| room.set_phase(frame, phase));
    }

    /// The window of the times that are shown is over after a while.
    pub fn close_window(&mut self, now: Instant) {
        if self.counters.forwarding.is_over(now) {
            let worst =
                self.rooms.values_mut().filter(|room| room.has_begun()).map(Room::take_worst).collect();
            self.counters.forwarding.close(now, worst);
        }
    }

    /// The room has something to do at this time, unless it has waited for longer.
    fn wake(&mut self, id: RoomId, now: Instant) {
        if self.due_of.get(&id).is_none_or(|due| *due > now) {
            self.touch(id, now);
        }
    }

    /// The room has something to do at this time.
    fn touch(&mut self, id: RoomId, at: Instant) {
        if let Some(before) = self.due_of.insert(id, at) {
            self.due.remove(&(before, id));
        }
        self.due.insert((at, id));
    }

    /// Bytes of states that all rooms hold.
    #[must_use]
    pub fn states(&self) -> u64 {
        self.states
    }

    /// Bytes of players' entries that all rooms hold.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Number of rooms now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rooms.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rooms.is_empty()
    }

    /// Whether no other one can be opened now: there is no room for it, or the relay stops or renews its certificate.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.rooms.len() >= self.limits.rooms_max || self.opens_none()
    }

    fn opens_none(&self) -> bool {
        self.stopping.is_some() || self.is_renewing
    }

    /// Number of connections with a place.
    #[must_use]
    pub fn guests(&self) -> usize {
        self.guests.len()
    }

    /// What has happened since the start.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The counters, mutable: to take times.
    pub fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }
}
