//! All rooms of a relay: who may open one, which secret leads to which room, and which room is next.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use sha2::{Digest, Sha256};
use testudo_lockstep::transport::places::Bucket;
use testudo_lockstep::{Identity, Instant, PROTOCOL_VERSION, PeerId};

use crate::app::online::agreement::Agreement;
use crate::app::online::greeting::{Answer, Greeting, GreetingError, Pass, Secret};
use crate::app::online::name::Name;
use crate::app::online::places::NoPlace;
use crate::app::relay::counters::Counters;
use crate::app::relay::limits::{EXCESS_MAX, Limits, take_packet};
use crate::app::relay::lot::Lot;
use crate::app::relay::phase::freest;
use crate::app::relay::room::{Haste, Removed, Room, Secrets};

/// Secrets of matches that are over, so that who comes too late is told so.
const PAST_SECRETS_MAX: usize = 4_096;

/// SHA-256 of a secret. How long a search takes may tell something about what is found; about a hash this is of no use.
type Shadow = [u8; 32];

fn shadow(secret: &Secret) -> Shadow {
    Sha256::digest(secret).into()
}

/// The number of a room. Never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RoomId(pub(crate) u64);

/// The answer to a greeting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reply {
    pub(crate) answer: Answer,
    /// The connection that led to the same place before; it is to be closed.
    pub(crate) former: Option<PeerId>,
}

impl Reply {
    fn only(answer: Answer) -> Self {
        Self { answer, former: None }
    }

    /// Whether packets may flow now.
    pub(crate) fn is_welcome(&self) -> bool {
        matches!(self.answer, Answer::Come(_) | Answer::Opened(_))
    }
}

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug)]
struct Guest {
    room: RoomId,
    link: PeerId,
    place: Identity,
    bucket: Bucket,
    /// Packets that were too many.
    excess: u32,
}

/// All rooms.
#[derive(Debug)]
pub(crate) struct Rooms {
    limits: Limits,
    /// Whoever knows it may open a room.
    secret: u128,
    rooms: BTreeMap<RoomId, Room>,
    next_id: u64,
    /// What opens places, and in which room.
    secrets: BTreeMap<Shadow, RoomId>,
    past: VecDeque<Shadow>,
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
    packet: Vec<u8>,
    /// What those who watch get after all players.
    later: Lot,
}

impl Rooms {
    /// No rooms yet. Whoever knows `secret` may open one.
    pub(crate) fn new(secret: Secret, limits: Limits) -> Self {
        Self {
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
            packet: Vec::new(),
            later: Lot::default(),
        }
    }

    /// Answers the greeting of a new connection. `draw` gives random bytes.
    pub(crate) fn greet(
        &mut self,
        connection: PeerId,
        address: IpAddr,
        bytes: &[u8],
        now: Instant,
        draw: &mut impl FnMut() -> [u8; 16],
    ) -> Reply {
        let reply = match Greeting::read(bytes) {
            Ok(Greeting::Come { pass, name }) => self.come(connection, pass, name, now),
            Ok(Greeting::Open { pass, agreement, name })
                if u128::from_le_bytes(pass.secret) == self.secret =>
            {
                self.open(connection, address, agreement, (pass, name), now, draw)
            }
            Ok(Greeting::Open { .. }) => Reply::only(Answer::WrongSecret),
            Err(GreetingError::Version(_)) => Reply::only(Answer::Version(PROTOCOL_VERSION)),
            Err(GreetingError::Malformed) => Reply::only(Answer::Malformed),
        };
        self.counters.greetings_refused += u64::from(!reply.is_welcome());
        reply
    }

    fn open(
        &mut self,
        connection: PeerId,
        address: IpAddr,
        agreement: Agreement,
        (pass, name): (Pass, Name),
        now: Instant,
        draw: &mut impl FnMut() -> [u8; 16],
    ) -> Reply {
        if self.stopping.is_some() || self.is_renewing {
            return Reply::only(Answer::GoingAway);
        }
        let from_here = self.rooms.values().filter(|room| room.opener == address).count();
        if self.rooms.len() >= self.limits.rooms_max || from_here >= self.limits.rooms_per_address_max {
            return Reply::only(Answer::TooManyRooms);
        }
        let secrets = Secrets {
            players: (0..agreement.players).map(|_| draw()).collect(),
            watch: draw(),
            referee: draw(),
        };
        let session_id = draw().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        let room = Room::new(agreement, session_id, secrets.clone(), draw(), address, &self.limits, now);
        let Ok(room) = room else { return Reply::only(Answer::Malformed) };
        let id = RoomId(self.next_id);
        self.next_id += 1;
        for secret in secrets.all() {
            self.secrets.insert(shadow(secret), id);
        }
        self.rooms.insert(id, room);
        self.counters.rooms += 1;
        self.touch(id, now);
        let pass = Pass { secret: secrets.players[0], ..pass };
        let reply = self.come(connection, pass, name, now);
        match reply.answer {
            Answer::Come(welcome) => Reply { answer: Answer::Opened(secrets.told(welcome)), ..reply },
            _ => reply,
        }
    }

    fn come(&mut self, connection: PeerId, pass: Pass, name: Name, now: Instant) -> Reply {
        let Some(&id) = self.secrets.get(&shadow(&pass.secret)) else {
            let is_past = self.past.contains(&shadow(&pass.secret));
            return Reply::only(if is_past { Answer::Over } else { Answer::WrongSecret });
        };
        let room = self.rooms.get_mut(&id).filter(|room| !room.is_over());
        let Some(room) = room else { return Reply::only(Answer::Over) };
        match room.come(connection, pass, name, &mut self.counters, now) {
            Ok((seated, welcome)) => {
                if let Some(former) = seated.former {
                    self.guests.remove(&former);
                }
                let guest = Guest {
                    room: id,
                    link: seated.link,
                    place: seated.place,
                    bucket: Bucket::default(),
                    excess: 0,
                };
                self.guests.insert(connection, guest);
                self.touch(id, now);
                Reply { answer: Answer::Come(welcome), former: seated.former }
            }
            Err(NoPlace::Full) => Reply::only(Answer::Full),
            Err(NoPlace::Shut) => Reply::only(Answer::Removed),
            Err(NoPlace::Later { .. }) => Reply::only(Answer::Later),
            Err(NoPlace::OtherProgram) => Reply::only(Answer::OtherProgram),
            Err(_) => Reply::only(Answer::WrongSecret),
        }
    }

    /// Takes a packet. It reaches the room of its connection, and no other.
    pub(crate) fn packet(&mut self, connection: PeerId, packet: &[u8], now: Instant) {
        self.counters.packets_in += 1;
        self.counters.bytes_in += packet.len() as u64;
        let Some(guest) = self.guests.get_mut(&connection) else {
            self.counters.packets_refused += 1;
            return;
        };
        if !take_packet(&mut guest.bucket, now) {
            self.counters.packets_refused += 1;
            guest.excess += 1;
            if guest.excess == EXCESS_MAX {
                let Guest { room: id, place, .. } = *guest;
                self.rooms.get_mut(&id).into_iter().for_each(|room| room.drop_flooding(place));
                self.closed(connection, now);
                self.closing.push_back(connection);
            }
            return;
        }
        let Guest { room: id, link, place, .. } = *guest;
        let Some(room) = self.rooms.get_mut(&id) else { return };
        room.allow_states(self.limits.states_bytes_max.saturating_sub(self.states));
        let is_genuine = room.hear(link, place, packet, now);
        room.count_states(&mut self.states);
        if is_genuine {
            self.wake(id, now);
        } else {
            self.counters.packets_refused += 1;
            self.closed(connection, now);
            self.closing.push_back(connection);
        }
    }

    /// A connection is gone.
    pub(crate) fn closed(&mut self, connection: PeerId, now: Instant) {
        if let Some(guest) = self.guests.remove(&connection)
            && let Some(room) = self.rooms.get_mut(&guest.room)
        {
            room.gone(connection, now);
            self.touch(guest.room, now);
        }
    }

    /// Does what is due in all rooms, those first that have waited longest, and hands every packet that is to be sent to `send`: to the players
    /// of all rooms, and then to those who watch.
    pub(crate) fn step(&mut self, now: Instant, mut send: impl FnMut(PeerId, &[u8])) {
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
            room.run(now, &mut self.packet, &mut self.counters, &mut sort);
            room.count_states(&mut self.states);
            for Removed { connection, renewed } in room.take_removed() {
                if let Some(connection) = connection {
                    self.guests.remove(&connection);
                    self.closing.push_back(connection);
                }
                if let Some((old, new)) = renewed {
                    self.secrets.remove(&shadow(&old));
                    // Nobody opens another room's place with it.
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
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let due = self.due.first().map(|(at, _)| *at);
        [due, self.drained_at()].into_iter().flatten().min()
    }

    /// The next connection that is to be closed.
    pub(crate) fn poll_close(&mut self) -> Option<PeerId> {
        self.closing.pop_front()
    }

    /// Opens no more rooms. Matches that run may go on for [`Limits::drain`]; those that have not begun end now.
    pub(crate) fn stop(&mut self, now: Instant) {
        if self.stopping.is_none() {
            self.stopping = Some(now);
            self.end_rooms(now, |room| !room.has_begun());
        }
    }

    /// Whether new rooms are refused because who comes back to them would find another certificate.
    pub(crate) fn set_renewing(&mut self, is_renewing: bool) {
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
            if self.past.len() == PAST_SECRETS_MAX {
                self.past.pop_front();
            }
            self.past.push_back(secret);
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
    pub(crate) fn close_window(&mut self, now: Instant) {
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
    pub(crate) fn states(&self) -> u64 {
        self.states
    }

    /// Number of rooms now.
    pub(crate) fn len(&self) -> usize {
        self.rooms.len()
    }

    /// Whether there is no room for another one.
    pub(crate) fn is_full(&self) -> bool {
        self.rooms.len() >= self.limits.rooms_max
    }

    /// Number of connections with a place.
    pub(crate) fn guests(&self) -> usize {
        self.guests.len()
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }
}
