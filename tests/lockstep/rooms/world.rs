//! A relay and its clients in virtual time: real sessions, a toy game, and a network that delays and loses.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::greeting::{Answer, Greeting, Opened, Welcome};
use testudo_lockstep::service::host::Reply;
use testudo_lockstep::service::places::{Pass, Secret};
use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::service::relay::rooms::Rooms;
use testudo_lockstep::service::removal::Removal;
use testudo_lockstep::{
    Driver, Duration, Identity, Instant, PeerId, PlayerId, PlayerKey, Session, SessionConfig, Topology,
};
use testudo_tests::scenes::Generator;

use crate::tally::Tally;
use crate::toy::Order;

/// Usual time between two steps.
pub(super) const TICK: Duration = Duration::from_millis(5);

/// What a client calls the relay.
const RELAY: PeerId = PeerId(0);

pub(super) const RELAY_SECRET: Secret = [0xee; 16];

/// A client's program.
pub(super) struct Client {
    pub(super) driver: Driver<Tally<Order>>,
    pub(super) connection: PeerId,
    /// Its process still runs.
    pub(super) is_alive: bool,
    /// The relay has closed its connection.
    pub(super) is_closed: bool,
}

enum Flight {
    ToRelay(PeerId, Vec<u8>),
    ToClient(PeerId, Vec<u8>),
}

/// Everybody, the network and the time.
pub(super) struct World {
    pub(super) rooms: Rooms,
    pub(super) clients: Vec<Client>,
    pub(super) now: Instant,
    /// Time between two steps.
    pub(super) tick: Duration,
    pub(super) dice: Generator,
    /// Parts of 1,000 that are lost.
    pub(super) loss: i32,
    /// Least and greatest time on the way, milliseconds.
    pub(super) delay: (i32, i32),
    /// What the relay sent in the last step, in order.
    pub(super) last_sent: Vec<(PeerId, Vec<u8>)>,
    flights: BTreeMap<(Instant, u64), Flight>,
    sent: u64,
    connections: u32,
    owners: BTreeMap<PeerId, usize>,
    /// The last packet that some client sent, for forgers.
    pub(super) captured: Vec<(PeerId, Vec<u8>)>,
}

/// A match of some content that only its players know, with constant turns.
pub(super) fn agreement(players: u8, turns: u32) -> Agreement {
    let config = SessionConfig::new(players)
        .turns(turns)
        .content_hash(5)
        .actions_per_turn_max(8)
        .bots_take_over(true)
        .drop_after(Duration::from_secs(8))
        .late_joins(Duration::ZERO)
        .late_watchers(true)
        .signed();
    Agreement::new::<Order>(&config, b"a map").unwrap()
}

/// The usual limits, but for some.
pub(super) fn limits(set: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    set(&mut limits);
    limits
}

pub(super) fn open(agreement: Agreement) -> Vec<u8> {
    Greeting::Open { pass: Pass::from(&RELAY_SECRET), agreement: Box::new(agreement) }.to_bytes()
}

pub(super) fn come(secret: Secret) -> Vec<u8> {
    come_with(Pass::from(&secret))
}

pub(super) fn come_with(pass: Pass) -> Vec<u8> {
    Greeting::Come { pass }.to_bytes()
}

impl World {
    pub(super) fn new(limits: Limits, seed: u64) -> Self {
        Self {
            rooms: Rooms::new(RELAY_SECRET, limits).unwrap(),
            clients: Vec::new(),
            now: Instant::from_millis(1),
            tick: TICK,
            dice: Generator::new(seed),
            loss: 20,
            delay: (5, 40),
            last_sent: Vec::new(),
            flights: BTreeMap::new(),
            sent: 0,
            connections: 0,
            owners: BTreeMap::new(),
            captured: Vec::new(),
        }
    }

    /// A new connection from this address greets. Returns its number and the reply.
    pub(super) fn greet_from(&mut self, address: u8, greeting: &[u8]) -> (PeerId, Reply) {
        self.connections += 1;
        let connection = PeerId(1_000 + self.connections);
        let address = IpAddr::V4(Ipv4Addr::new(10, 0, 0, address));
        let dice = &mut self.dice;
        let mut draw = || core::array::from_fn(|_| dice.between(0, 255) as u8);
        let reply = self.rooms.greet(connection, address, greeting, self.now, &mut draw);
        if let Some(former) = reply.former {
            self.hang_up(former);
        }
        (connection, reply)
    }

    /// What is answered to a new connection from this address that greets.
    pub(super) fn answer(&mut self, address: u8, greeting: &[u8]) -> Answer {
        self.greet_from(address, greeting).1.answer
    }

    /// Somebody opens a room and plays in it. Returns the client's number and what it was told.
    pub(super) fn open(&mut self, address: u8, agreement: Agreement) -> (usize, Opened) {
        let (connection, reply) = self.greet_from(address, &open(agreement));
        let Answer::Opened(opened) = reply.answer else { panic!("{reply:?}") };
        let client = self.start(connection, &opened.welcome, opened.secrets.players[0]);
        (client, opened)
    }

    /// Somebody comes with this secret. Returns the client's number.
    pub(super) fn come(&mut self, secret: Secret) -> usize {
        let (connection, reply) = self.greet_from(1, &come(secret));
        let Answer::Come(welcome) = reply.answer else { panic!("{reply:?}") };
        self.start(connection, &welcome, secret)
    }

    fn start(&mut self, connection: PeerId, welcome: &Welcome, secret: Secret) -> usize {
        assert!(welcome.is_relayed);
        // New bytes for every process.
        let entropy = core::array::from_fn(|_| self.dice.between(0, 255) as u8);
        let config = welcome
            .agreement
            .config()
            .topology(Topology::Relay)
            .session_id(welcome.session_id)
            .entropy(entropy);
        let key: [u8; 32] = core::array::from_fn(|index| secret[index % 16]);
        let session = match welcome.place {
            Identity::Player(player) => {
                let config = config.place_secret(secret).player_key(PlayerKey::from_secret(key));
                Session::join(config, player, RELAY, self.now)
            }
            place => Session::new(config, place, self.now).map(|mut session| {
                session.connect(RELAY);
                session
            }),
        };
        let driver =
            Driver::new(Tally::default(), session.unwrap()).catch_up_frames(NonZeroU32::new(200).unwrap());
        self.owners.insert(connection, self.clients.len());
        self.clients.push(Client { driver, connection, is_alive: true, is_closed: false });
        self.clients.len() - 1
    }

    /// A program is killed: it says nothing more, and the relay finds out when its connection times out.
    pub(super) fn kill(&mut self, client: usize) {
        self.clients[client].is_alive = false;
    }

    /// A connection ends as seen from the relay.
    pub(super) fn lose(&mut self, client: usize) {
        self.rooms.closed(self.clients[client].connection, self.now);
    }

    /// A client goes on by another connection.
    pub(super) fn rename(&mut self, former: PeerId, connection: PeerId) {
        if let Some(client) = self.owners.remove(&former) {
            self.clients[client].connection = connection;
            self.owners.insert(connection, client);
        }
    }

    fn hang_up(&mut self, connection: PeerId) {
        if let Some(&client) = self.owners.get(&connection) {
            self.clients[client].is_closed = true;
        }
    }

    /// A packet arrives at the relay by this connection.
    pub(super) fn inject(&mut self, connection: PeerId, packet: &[u8]) {
        self.rooms.packet(connection, packet, self.now);
    }

    fn send(&mut self, flight: Flight) {
        if self.dice.between(0, 999) < self.loss {
            return;
        }
        let delay = Duration::from_millis(self.dice.between(self.delay.0, self.delay.1) as u64);
        self.sent += 1;
        self.flights.insert((self.now + delay, self.sent), flight);
    }

    /// The time between two steps passes, five milliseconds if nobody has said otherwise.
    pub(super) fn step(&mut self) {
        self.now += self.tick;
        let now = self.now;
        while let Some(entry) = self.flights.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Flight::ToRelay(connection, packet) => self.rooms.packet(connection, &packet, now),
                Flight::ToClient(connection, packet) => {
                    let Some(client) = self.owners.get(&connection) else { continue };
                    let client = &mut self.clients[*client];
                    if client.is_alive && !client.is_closed {
                        client.driver.session_mut().handle_packet(now, RELAY, &packet);
                    }
                }
            }
        }
        let mut out = Vec::new();
        self.rooms.step(now, |connection, packet| out.push((connection, packet.to_vec())));
        for (connection, packet) in &out {
            self.send(Flight::ToClient(*connection, packet.clone()));
        }
        self.last_sent = out;
        while let Some(connection) = self.rooms.poll_close() {
            self.hang_up(connection);
        }
        for index in 0..self.clients.len() {
            self.advance(index);
        }
    }

    fn advance(&mut self, index: usize) {
        let (now, client) = (self.now, &mut self.clients[index]);
        if !client.is_alive {
            return;
        }
        let (dice, player) = (&mut self.dice, client.driver.session().player());
        client.driver.advance_with(now, |_, _, session| {
            if player.is_some() && dice.between(0, 2) == 0 {
                let order = Order::Shout(dice.next_u32());
                // Refused at the end of the match, and while the player is away.
                let _ = session.submit(&order);
            }
        });
        let (connection, mut packet) = (client.connection, Vec::new());
        let mut out = Vec::new();
        while client.driver.session_mut().poll_transmit(now, &mut packet).is_some() {
            out.push(packet.clone());
        }
        if self.clients[index].is_closed {
            return;
        }
        self.captured = out
            .iter()
            .map(|packet| (connection, packet.clone()))
            .chain(self.captured.drain(..))
            .take(50)
            .collect();
        for packet in out {
            self.send(Flight::ToRelay(connection, packet));
        }
    }

    /// Time passes until this holds; false if it does not within this many seconds.
    pub(super) fn until(&mut self, seconds: u64, holds: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + Duration::from_secs(seconds);
        while !holds(self) {
            if self.now >= end {
                return false;
            }
            self.step();
        }
        true
    }

    pub(super) fn session(&self, client: usize) -> &Session<Order> {
        self.clients[client].driver.session()
    }

    /// A client asks the relay to remove a player, who gets this secret.
    pub(super) fn remove(&mut self, client: usize, player: u8, secret: Secret) {
        let removal = Removal { player: PlayerId(player), secret };
        removal.ask(self.clients[client].driver.session_mut()).unwrap();
    }

    /// The state of a client's copy.
    pub(super) fn copy(&self, client: usize) -> &Tally<Order> {
        self.clients[client].driver.simulation()
    }
}
