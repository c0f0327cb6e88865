//! A peer whose actions have no type, because its rules are not Rust: it plays with peers that have one.

use testudo_lockstep::transport::memory::MemoryHub;
use testudo_lockstep::{
    Action, ActionFormat, AnyAction, BitReader, BitWriter, DecodeError, Driver, Duration, Event, Identity,
    Instant, PeerId, PlayerId, Session, SessionConfig, SessionPhase, Simulation, SubmitError, Topology,
};

use crate::play::introduce;
use crate::toy::{Order, Toy};

/// The toy, which gets its orders as bits.
#[derive(Default)]
struct Foreign(Toy);

impl Simulation for Foreign {
    type Action = AnyAction;

    fn apply(&mut self, player: PlayerId, action: &AnyAction) {
        let mut bits = BitReader::with_bit_count(action.bytes(), action.bit_count());
        self.0.apply(player, &Order::decode(&mut bits).expect("one order"));
        assert_eq!(bits.bits_left(), 0, "and nothing else");
    }

    fn step(&mut self, frames_per_second: u32) {
        self.0.step(frames_per_second);
    }

    fn checksum(&mut self) -> u64 {
        Toy::checksum(&self.0)
    }
}

/// An order has 17 or 33 bits, as its first one says.
fn format() -> ActionFormat {
    ActionFormat::variable(Order::MAX_BITS, |bytes, _| if bytes[0] & 1 == 0 { 17 } else { 33 })
}

/// What player 0 or 1 gives in a turn: none to three orders of both lengths.
fn orders(turn: u32, player: u32) -> Vec<Order> {
    let order = |at: u32| match (turn + at + player) % 3 {
        0 => Order::Shout(turn << 8 | at),
        _ => Order::Push((turn * 3 + at) as i16 - 40),
    };
    (0..(turn + player) % 4).map(order).collect()
}

fn as_bits(order: Order) -> AnyAction {
    let mut bits = BitWriter::new();
    order.encode(&mut bits);
    AnyAction::new(bits.bytes(), bits.bit_count()).expect("17 or 33 bits")
}

/// One round of a peer in the hub; node n is player n.
fn round<S: Simulation>(
    hub: &mut MemoryHub,
    driver: &mut Driver<S>,
    now: Instant,
    mut give: impl FnMut(Order, &mut Session<S::Action>),
) {
    let node = driver.session().player().map_or(2, |player| u32::from(player.0));
    while let Some((from, packet)) = hub.receive(node) {
        driver.session_mut().handle_packet(now, PeerId(from), &packet);
    }
    driver.advance_with(now, |turn, _, session| {
        let given = orders(turn.0, node).into_iter().filter(|_| turn.0 < 50);
        given.for_each(|order| give(order, session));
    });
    let mut packet = Vec::new();
    while let Some(to) = driver.session_mut().poll_transmit(now, &mut packet) {
        hub.send(node, to.0, &packet);
    }
    while let Some(event) = driver.session_mut().poll_event() {
        assert!(!matches!(event, Event::Desync(_) | Event::Failed(_) | Event::Refused { .. }), "{event:?}");
    }
}

/// Plays, once with the foreign peer in the middle and once as the guest, and returns both histories.
fn play(config: &SessionConfig, foreign_player: u8) -> (Toy, Toy) {
    let (mut hub, mut now) = (MemoryHub::new(2), Instant::ZERO);
    let config = config.clone().simulated();
    let identity = |player| Identity::Player(PlayerId(player));
    let foreign = Session::of_format(config.clone(), identity(foreign_player), format(), now).unwrap();
    let mut foreign = Driver::new(Foreign::default(), foreign);
    let typed = Session::new(config, identity(1 - foreign_player), now).unwrap();
    let mut typed = Driver::new(Toy::default(), typed);
    match foreign_player {
        0 => typed.session_mut().connect(PeerId(0)),
        _ => foreign.session_mut().connect(PeerId(0)),
    }
    while !(foreign.session().is_over() && typed.session().is_over()) {
        round(&mut hub, &mut foreign, now, |order, session| session.submit(&as_bits(order)).unwrap());
        round(&mut hub, &mut typed, now, |order, session| session.submit(&order).unwrap());
        now += Duration::from_millis(10);
        assert!(now < Instant::from_millis(120_000), "the match does not end");
    }
    for (phase, stats) in [
        (foreign.session().phase(), foreign.session().stats()),
        (typed.session().phase(), typed.session().stats()),
    ] {
        assert_eq!((phase, stats.entries_invalid), (SessionPhase::Finished, 0));
    }
    (foreign.simulation().0.clone(), typed.simulation().clone())
}

#[test]
fn a_peer_without_a_type_of_actions_plays_with_one_that_has_one() {
    let config = SessionConfig::new(2).turns(60).frames_per_turn(1).actions_per_turn_max(3);
    for foreign_player in [0, 1] {
        let (foreign, typed) = play(&config, foreign_player);
        assert_eq!((foreign.history, &foreign.log), (typed.history, &typed.log));
        let given: usize = (0..50).map(|turn| orders(turn, 0).len() + orders(turn, 1).len()).sum();
        assert_eq!(typed.log.len(), given, "several orders in one entry stay several");
    }
}

/// Both ask for the same longest action, or they do not play.
#[test]
fn another_longest_action_is_another_game() {
    let (now, config) = (Instant::ZERO, SessionConfig::new(2).simulated());
    let host =
        Session::of_format(config.clone(), Identity::Player(PlayerId(0)), ActionFormat::fixed(32), now);
    let mut host = host.unwrap();
    let mut guest = Session::<Order>::join(config.clone(), PlayerId(1), PeerId(0), now).unwrap();
    introduce(&mut host, &mut guest, PeerId(1), now);
    assert!(matches!(guest.phase(), SessionPhase::Failed(_)), "{:?}", guest.phase());
    let relay = config.topology(Topology::Relay);
    assert!(Session::of_format(relay.clone(), Identity::Relay, ActionFormat::fixed(0), now).is_err());
    assert!(Session::of_format(relay, Identity::Relay, ActionFormat::fixed(4_097), now).is_err());
}

/// Actions that take what follows them for a part of themselves were accepted, and two in one turn ran as one.
#[test]
fn an_action_that_does_not_end_itself_is_refused_where_another_may_follow() {
    let identity = Identity::Player(PlayerId(0));
    let action = AnyAction::new(&[7], 8).unwrap();
    for (most, expected) in [(1, Ok(())), (2, Err(SubmitError::NotCanonical))] {
        let config = SessionConfig::new(2).simulated().actions_per_turn_max(most).turn_bytes_max(512);
        let greedy = ActionFormat::variable(24, |_, left| left);
        let mut session = Session::of_format(config.clone(), identity, greedy, Instant::ZERO).unwrap();
        assert_eq!(session.submit(&action), expected, "{most} actions");
        let mut session = Session::<AnyAction>::new(config.clone(), identity, Instant::ZERO).unwrap();
        assert_eq!(session.submit(&action), expected, "{most} actions, without a format");
        let mut session = Session::<Alone>::new(config, identity, Instant::ZERO).unwrap();
        assert_eq!(session.submit(&Alone(7)), expected, "{most} actions that refuse what follows them");
    }
}

/// An action that refuses an entry in which something follows it.
struct Alone(u8);

impl Action for Alone {
    const MAX_BITS: u32 = 8;

    fn encode(&self, writer: &mut BitWriter) {
        writer.write_bits(self.0.into(), 8);
    }

    fn decode(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let value = reader.read_bits(8)? as u8;
        if reader.bits_left() > 0 { Err(DecodeError::NotCanonical) } else { Ok(Self(value)) }
    }
}
