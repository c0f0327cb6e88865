//! A member that sends its own entries ahead. Behind a relay, 511 of them ended the match of everybody else.

use crate::play::{Play as _, assert_unharmed, match_at};
use std::cell::Cell;

use super::{bare, entries_of, hearers, slow};
use crate::tally::Tally;
use crate::toy::{Order, bot, game_match};
use testudo_lockstep::packet::{PayloadFormat, TurnsPacket};
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Duration, Entry, Event, Instant, Payload, PeerId,
    SessionConfig, SessionPhase, Topology, VirtualMatch,
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

/// Actions in one of the two modes.
trait Mode: Action + Clone + 'static {
    fn config() -> SessionConfig;
    fn order(turn: u32, player: u8) -> Option<Self>;
}

impl Mode for Order {
    fn config() -> SessionConfig {
        SessionConfig::new(PLAYERS).simulated().turns(TURNS)
    }

    fn order(turn: u32, player: u8) -> Option<Self> {
        bot(1, turn, player)
    }
}

impl Mode for Keys {
    fn config() -> SessionConfig {
        SessionConfig::input(PLAYERS, 20).simulated().turns(4 * TURNS)
    }

    fn order(turn: u32, player: u8) -> Option<Self> {
        turn.is_multiple_of(3).then_some(Self((turn as u8).wrapping_mul(player + 1)))
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
fn play<A: Mode>(game: &mut VirtualMatch<Tally<A>>, until_ms: u64) {
    game.run(Instant::from_millis(until_ms), |_, turn, _, session| {
        let player = session.player().filter(|player| player.index() != LIAR);
        if let Some(order) = player.and_then(|player| A::order(turn.0, player.0)) {
            let _ = session.submit(&order);
        }
    });
}

/// Entries up to a distance from the next turn, in packets that follow each other at once.
fn send_ahead<A: Mode>(game: &mut VirtualMatch<Tally<A>>, to: usize, distance: u32) {
    let next = game.session(to).next_turn().0.max(game.session(0).next_turn().0);
    let format = A::config().payload_format(A::MAX_BITS);
    let payload = match format {
        PayloadFormat::Fixed(bits) => Payload::new(&[0], bits),
        PayloadFormat::Variable(_) => Payload::none(),
    };
    let (mut first, liar) = (next.saturating_sub(3).max(2), PeerId(LIAR as u32));
    while first < next + distance {
        let count = (next + distance - first).min(400);
        let entries = vec![Entry { payload: payload.clone(), ..Entry::default() }; count as usize];
        let rest = TurnsPacket { base: first + count, ..bare(next, PLAYERS) };
        let packet = entries_of(LIAR as u8, first, entries, rest);
        let now = game.now();
        let session = game.session_mut(to);
        let key = session.packet_key(liar).unwrap_or(0);
        let mut bytes = Vec::new();
        packet.encode(key, format, &mut BitWriter::new(), &mut bytes);
        session.handle_packet(now, liar, &bytes);
        first += count;
    }
}

/// Returns whether the liar was named.
fn check<A: Mode>(case: Case) -> bool {
    let config = A::config().topology(case.topology).drop_after(Duration::from_secs(2));
    let mut game = game_match(&config, &Tally::<A>::default(), 0, 1, slow());
    play(&mut game, case.begins_ms);
    for victim in hearers(&config, LIAR as u8) {
        send_ahead(&mut game, victim, case.distance);
    }
    if !case.goes_on {
        game.put_to_sleep(LIAR, Instant::from_millis(9_000_000));
    }
    play(&mut game, 200_000);
    let history = game.toy(0).history;
    let mut named = false;
    for (node, driver) in game.drivers_mut().iter_mut().enumerate().filter(|(node, _)| *node != LIAR) {
        assert_eq!(driver.session().phase(), SessionPhase::Finished, "{case:?}: {node}");
        if node < usize::from(PLAYERS) {
            let copy = driver.simulation();
            assert!(copy.gone.iter().all(|gone| usize::from(*gone) == LIAR), "{case:?}: {node}");
            assert_eq!(copy.history, history, "{case:?}: {node}");
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
            let named = [check::<Order>(case), check::<Keys>(case)];
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
    let mut game = game_match(&Keys::config(), &Tally::<Keys>::default(), 0, 1, slow());
    play(&mut game, 4_000);
    DECODED.set(0);
    send_ahead(&mut game, 0, 2_000);
    // Six packets for 2,003 entries.
    assert!((1..=6).contains(&DECODED.get()), "{}", DECODED.get());
}

/// An entry that is here already is not read again, so it says nothing of one that repeats it.
#[test]
fn an_entry_that_repeats_a_known_one_is_read() {
    let mut game = match_at(&Order::config(), slow(), 4_000);
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
