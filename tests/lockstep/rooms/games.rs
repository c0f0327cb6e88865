//! One relay, and two games that have nothing in common.

use std::net::{IpAddr, Ipv4Addr};

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::greeting::{Answer, Greeting, Secrets, Welcome};
use testudo_lockstep::service::places::Pass;
use testudo_lockstep::service::places::Secret;
use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::service::relay::rooms::Rooms;
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Driver, Duration, Instant, PeerId, PlayerId, Session,
    SessionConfig, SessionPhase, Topology,
};

use super::world::RELAY_SECRET;
use crate::tally::Tally;
use crate::toy::Order;

/// An action of 300 bits, which says everything about the keys of an instrument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Chord(u64);

impl Action for Chord {
    const MAX_BITS: u32 = 300;

    fn encode(&self, out: &mut BitWriter) {
        (0..4).for_each(|_| out.write_bits(self.0, 64));
        out.write_bits(self.0 & 0xfff, 44);
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let first = input.read_bits(64)?;
        for _ in 0..3 {
            if input.read_bits(64)? != first {
                return Err(DecodeError::NotCanonical);
            }
        }
        if input.read_bits(44)? == first & 0xfff { Ok(Self(first)) } else { Err(DecodeError::NotCanonical) }
    }
}

/// The two players of a room.
struct Room<A: Action> {
    players: Vec<(PeerId, Driver<Tally<A>>)>,
    give: fn(u32, PlayerId) -> A,
}

impl<A: Action> Room<A> {
    fn open(rooms: &mut Rooms, at: u32, config: &SessionConfig, give: fn(u32, PlayerId) -> A) -> Self {
        let agreement = Agreement::new::<A>(config, b"a game").unwrap();
        let mut greet = |connection: u32, greeting: Greeting| {
            let (address, now) = (IpAddr::V4(Ipv4Addr::LOCALHOST), Instant::ZERO);
            let mut next = connection as u8;
            let mut draw = || {
                next += 1;
                [next; 16]
            };
            rooms.greet(PeerId(connection), address, &greeting.to_bytes(), now, &mut draw).answer
        };
        let agreement = Box::new(agreement);
        let Answer::Opened(opened) = greet(at, Greeting::Open { pass: Pass::from(&RELAY_SECRET), agreement })
        else {
            panic!("no room")
        };
        let Secrets { players, .. } = opened.secrets;
        let Answer::Come(second) = greet(at + 1, Greeting::Come { pass: Pass::from(&players[1]) }) else {
            panic!("no place")
        };
        assert_eq!(second.agreement.game(), b"a game");
        let driver = |welcome: &Welcome, secret: Secret| {
            let config = welcome.agreement.config().topology(Topology::Relay).place_secret(secret);
            let config = config.session_id(welcome.session_id).simulated();
            let mut session = Session::new(config, welcome.place, Instant::ZERO).unwrap();
            session.connect(PeerId(0));
            Driver::new(Tally::default(), session)
        };
        let first = (PeerId(at), driver(&opened.welcome, players[0]));
        Self { players: vec![first, (PeerId(at + 1), driver(&second, players[1]))], give }
    }

    fn step(&mut self, rooms: &mut Rooms, now: Instant) {
        let mut packet = Vec::new();
        for (connection, driver) in &mut self.players {
            driver.advance_with(now, |turn, _, session| {
                if let Some(player) = session.player() {
                    let _ = session.submit(&(self.give)(turn.0, player));
                }
            });
            while driver.session_mut().poll_transmit(now, &mut packet).is_some() {
                rooms.packet(*connection, &packet, now);
            }
        }
    }

    fn hear(&mut self, connection: PeerId, packet: &[u8], now: Instant) {
        for (own, driver) in &mut self.players {
            if *own == connection {
                driver.session_mut().handle_packet(now, PeerId(0), packet);
            }
        }
    }

    /// Both have finished with the same sum; returns the number of actions that ran.
    fn end(&mut self) -> u64 {
        let ends =
            self.players.iter().map(|(_, driver)| (driver.session().phase(), driver.simulation().history));
        let ends: Vec<(SessionPhase, u64)> = ends.collect();
        assert_eq!(ends[0], ends[1]);
        assert_eq!(ends[0].0, SessionPhase::Finished);
        self.players[0].1.simulation().actions
    }
}

#[test]
fn one_relay_serves_two_games_of_different_versions_at_once() {
    let mut rooms = Rooms::new(RELAY_SECRET, Limits::default()).unwrap();
    let slow = SessionConfig::new(2).turns(30).content_hash(1).engine_version(3);
    let fast = SessionConfig::input(2, 60).turns(300).content_hash(2).engine_version(99);
    let mut first = Room::<Order>::open(&mut rooms, 10, &slow, |turn, player| {
        Order::Shout(turn * 2 + u32::from(player.0))
    });
    let mut second = Room::<Chord>::open(&mut rooms, 20, &fast, |turn, _| Chord(u64::from(turn) << 30));
    let mut now = Instant::ZERO;
    while !rooms.is_empty() {
        now += Duration::from_millis(5);
        assert!(now < Instant::from_millis(60_000), "{} rooms", rooms.len());
        first.step(&mut rooms, now);
        second.step(&mut rooms, now);
        rooms.step(now, |connection, packet| {
            first.hear(connection, packet, now);
            second.hear(connection, packet, now);
        });
    }
    // Nothing runs in the first two turns; keys are held in all.
    assert_eq!(first.end(), 2 * 28);
    assert!(second.end() > 500);
    // The last words of sessions that are over.
    let refused = rooms.counters().packets_refused;
    assert!(refused <= 8, "{refused}");
}
