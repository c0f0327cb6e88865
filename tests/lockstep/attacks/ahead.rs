//! A member that sends its own entries ahead. Behind a relay, 511 of them ended the match of everybody else.

use crate::play::{Play as _, assert_unharmed};
use std::cell::Cell;

use super::{FORMAT, bare, entries_of, hearers, slow};
use crate::tally::Tally;
use crate::toy::{Order, Toy, bot, game_match};
use testudo_lockstep::packet::{PayloadFormat, TurnsPacket};
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Duration, Entry, Event, Instant, Payload, PeerId,
    SessionConfig, SessionPhase, Simulation, Topology, VirtualMatch,
};

const LIAR: usize = 2;
const PLAYERS: u8 = 4;
const TURNS: u32 = 60;

thread_local! {
    /// How many actions were decoded.
    static DECODED: Cell<u32> = const { Cell::new(0) };
}

/// Eight keys, for input mode.
#[derive(Clone)]
struct Keys(u8);

impl Action for Keys {
    const MAX_BITS: u32 = 8;

    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(self.0.into(), 8);
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        DECODED.set(DECODED.get() + 1);
        Ok(Self(input.read_bits(8)? as u8))
    }
}

/// What this test asks of a game.
trait Game: Simulation + Clone + Default + 'static {
    const FORMAT: PayloadFormat;
    fn config() -> SessionConfig;
    fn order(turn: u32, player: u8) -> Option<Self::Action>;
    fn idle() -> Payload;
    fn gone(&self) -> Vec<u8>;
}

impl Game for Toy {
    const FORMAT: PayloadFormat = FORMAT;

    fn config() -> SessionConfig {
        SessionConfig::new(PLAYERS).simulated().turns(TURNS)
    }

    fn order(turn: u32, player: u8) -> Option<Order> {
        bot(1, turn, player)
    }

    fn idle() -> Payload {
        Payload::none()
    }

    fn gone(&self) -> Vec<u8> {
        self.gone.iter().map(|gone| gone.0).collect()
    }
}

impl Game for Tally<Keys> {
    const FORMAT: PayloadFormat = PayloadFormat::Fixed(Keys::MAX_BITS);

    fn config() -> SessionConfig {
        SessionConfig::input(PLAYERS, 20).simulated().turns(4 * TURNS)
    }

    fn order(turn: u32, player: u8) -> Option<Keys> {
        turn.is_multiple_of(3).then_some(Keys((turn as u8).wrapping_mul(player + 1)))
    }

    fn idle() -> Payload {
        Payload::new(&[0], Keys::MAX_BITS)
    }

    fn gone(&self) -> Vec<u8> {
        self.gone.clone()
    }
}

#[derive(Clone, Copy, Debug)]
struct Case {
    topology: Topology,
    /// The liar goes on with the match, or sends nothing more.
    goes_on: bool,
    begins_ms: u64,
    /// The number of the first entry that is not sent, counted from the next turn.
    distance: u32,
}

/// All but the liar give orders, so that its real entries are as empty as those that it sends ahead.
fn play<S: Game>(game: &mut VirtualMatch<S>, until_ms: u64) {
    game.run(Instant::from_millis(until_ms), |_, turn, _, session| {
        let player = session.player().filter(|player| player.index() != LIAR);
        if let Some(order) = player.and_then(|player| S::order(turn.0, player.0)) {
            let _ = session.submit(&order);
        }
    });
}

/// Entries up to a distance from the next turn, in packets that follow each other at once.
fn send_ahead<S: Game>(game: &mut VirtualMatch<S>, to: usize, distance: u32) {
    let next = game.session(to).next_turn().0.max(game.session(0).next_turn().0);
    let (mut first, liar) = (next.saturating_sub(3).max(2), PeerId(LIAR as u32));
    while first < next + distance {
        let count = (next + distance - first).min(400);
        let entries = vec![Entry { payload: S::idle(), ..Entry::default() }; count as usize];
        let rest = TurnsPacket { base: first + count, ..bare(next, PLAYERS) };
        let packet = entries_of(LIAR as u8, first, entries, rest);
        let now = game.now();
        let session = game.session_mut(to);
        let key = session.packet_key(liar).unwrap_or(0);
        let mut bytes = Vec::new();
        packet.encode(key, S::FORMAT, &mut BitWriter::new(), &mut bytes);
        session.handle_packet(now, liar, &bytes);
        first += count;
    }
}

/// Returns whether the liar was named.
fn check<S: Game>(case: Case) -> bool {
    let config = S::config().topology(case.topology).drop_after(Duration::from_secs(2));
    let mut game = game_match(&config, &S::default(), 0, 1, slow());
    play(&mut game, case.begins_ms);
    for victim in hearers(&config, LIAR as u8) {
        send_ahead(&mut game, victim, case.distance);
    }
    if !case.goes_on {
        game.put_to_sleep(LIAR, Instant::from_millis(9_000_000));
    }
    play(&mut game, 200_000);
    let checksum = game.toy_mut(0).checksum();
    let mut named = false;
    for (node, driver) in game.drivers_mut().iter_mut().enumerate().filter(|(node, _)| *node != LIAR) {
        assert_eq!(driver.session().phase(), SessionPhase::Finished, "{case:?}: {node}");
        if node < usize::from(PLAYERS) {
            assert!(
                driver.simulation().gone().iter().all(|gone| usize::from(*gone) == LIAR),
                "{case:?}: {node}"
            );
            assert_eq!(driver.simulation_mut().checksum(), checksum, "{case:?}: {node}");
            assert_eq!(Some(driver.session().compared_turns()), driver.session().config().turns);
        }
        while let Some(event) = driver.session_mut().poll_event() {
            assert!(!matches!(event, Event::Desync(_)), "{case:?}: {node} {event:?}");
            if let Event::TooFarAhead { player } = event {
                assert_eq!(player.index(), LIAR, "{case:?}: {node}");
                named = true;
            }
        }
    }
    named
}

const DISTANCES: [u32; 16] = [2, 3, 4, 5, 6, 7, 9, 509, 510, 511, 512, 513, 4_095, 4_096, 4_097, 30_000];

fn every_distance(topology: Topology) {
    let mut unnamed = Vec::new();
    for goes_on in [false, true] {
        for (distance, begins_ms) in DISTANCES.into_iter().zip([1_200, 4_000, 7_123].into_iter().cycle()) {
            let case = Case { topology, goes_on, begins_ms, distance };
            let named = [check::<Toy>(case), check::<Tally<Keys>>(case)];
            // The limit is 5 after the next entry of the slowest, which is at most 3 after the next turn.
            if distance > 6 && named != [true; 2] {
                unnamed.push(case);
            }
        }
    }
    assert!(unnamed.is_empty(), "nobody names the liar: {unnamed:?}");
}

#[test]
fn entries_far_ahead_end_nobody_elses_match_behind_a_relay() {
    every_distance(Topology::Relay);
}

#[test]
fn entries_far_ahead_end_nobody_elses_match_with_a_host() {
    every_distance(Topology::Host);
}

#[test]
fn entries_far_ahead_end_nobody_elses_match_in_a_mesh() {
    every_distance(Topology::Mesh);
}

/// In a packet an entry that repeats the one before is a bit, so a thousand of them had the work of a thousand packets.
#[test]
fn entries_that_repeat_each_other_are_read_once() {
    let mut game = game_match(
        &Tally::<Keys>::config().topology(Topology::Host),
        &Tally::<Keys>::default(),
        0,
        1,
        slow(),
    );
    play(&mut game, 4_000);
    DECODED.set(0);
    send_ahead(&mut game, 0, 2_000);
    // Six packets for 2,003 entries.
    assert!((1..=6).contains(&DECODED.get()), "{}", DECODED.get());
}

/// An entry that is here already is not read again, so it says nothing of one that repeats it.
#[test]
fn an_entry_that_repeats_a_known_one_is_read() {
    let config = SessionConfig::new(PLAYERS).simulated().turns(TURNS);
    let mut game = game_match(&config, &Toy::default(), 0, 1, slow());
    play(&mut game, 4_000);
    // No order of the toy.
    let payload = Payload::new(&[0xff; 8], 64);
    let next = game.session(0).next_turn().0;
    for first in next.saturating_sub(2)..next + 6 {
        let entries = vec![Entry { payload: payload.clone(), ..Entry::default() }; 4];
        let rest = TurnsPacket { base: first + 4, ..bare(next - 2, PLAYERS) };
        super::deliver(&mut game, 0, LIAR as u32, &entries_of(LIAR as u8, first, entries, rest));
    }
    assert!(game.session(0).stats().entries_invalid >= 4);
    assert_unharmed(&mut game, "repeated");
}
