//! Games with one fault each, and the trial's messages about them.

use core::cell::Cell;
use std::rc::Rc;

use testudo_lockstep::state::{self, Leaf, Part, State, StateError, Visit};
use testudo_lockstep::testing::{
    Run, Trial, TrialError, TrialFault, assert_determinism_of_peers, check_determinism,
    check_determinism_of_peers,
};
use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError, PlayerId, Simulation, Turn};

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    FieldLeftOut,
    LooksOutside,
    RefusesItsOwn,
    FieldNotHashed,
    OrderTooLong,
    OrderDoesNotFit,
    OrderCutOff,
    OrderEmpty,
    OrderChanged,
    OrderLosesABit,
    ChecksumStored,
    ChecksumOfTheLastFrame,
    LooksAtTheLocalPlayer,
    CountsTurns,
    CountsSaves,
}

/// Its fault is a part of it, so that one type serves all tests.
struct Order(Fault, i16);

impl Action for Order {
    const MAX_BITS: u32 = 16;

    fn encode(&self, out: &mut BitWriter) {
        match self.0 {
            Fault::OrderEmpty => {}
            Fault::OrderLosesABit => out.write_signed((self.1 & !1).into(), 16),
            Fault::OrderDoesNotFit => out.write_bits(65_536, 16),
            Fault::OrderTooLong => out.write_signed(self.1.into(), 17),
            _ => out.write_signed(self.1.into(), 16),
        }
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let value = input.read_signed(16)? as i16;
        // By value, since the bits do not tell which game it is.
        match value {
            CUT_OFF => Err(DecodeError::NotCanonical),
            CHANGED => Ok(Self(Fault::None, 0)),
            _ => Ok(Self(Fault::None, value)),
        }
    }
}

/// The decoder refuses it.
const CUT_OFF: i16 = -9;

/// The decoder makes another order of it.
const CHANGED: i16 = -8;

struct Game {
    fault: Fault,
    /// Something outside of the state that a game must not read: all runs share it.
    outside: Rc<Cell<u32>>,
    gold: u32,
    rate: u32,
    stored: u64,
    local: PlayerId,
}

impl Game {
    fn new(fault: Fault, outside: &Rc<Cell<u32>>) -> Self {
        Self { fault, outside: outside.clone(), gold: 0, rate: 1, stored: 1, local: PlayerId(0) }
    }

    fn hash(&self) -> u64 {
        let rate = if self.fault == Fault::FieldNotHashed { 0 } else { self.rate };
        u64::from(self.gold) << 32 | u64::from(rate)
    }
}

impl Simulation for Game {
    type Action = Order;

    fn apply(&mut self, _: PlayerId, order: &Order) {
        self.gold = self.gold.wrapping_add_signed(order.1.into());
    }

    fn step(&mut self, _: u32) {
        self.gold += self.rate;
        self.rate += u32::from(self.gold == 30);
        if self.fault == Fault::LooksOutside {
            self.outside.set(self.outside.get() + 1);
            self.gold += u32::from(self.outside.get() == 50);
        }
        if self.fault == Fault::LooksAtTheLocalPlayer && self.local == PlayerId(1) {
            self.gold += u32::from(self.gold == 20);
        }
        self.stored = self.hash();
    }

    fn checksum(&mut self) -> u64 {
        match self.fault {
            Fault::ChecksumStored | Fault::ChecksumOfTheLastFrame => self.stored,
            _ => self.hash(),
        }
    }

    fn turn_started(&mut self, _: Turn, _: u32) {
        self.gold += u32::from(self.fault == Fault::CountsTurns);
    }

    fn save_point(&mut self, _: Turn) {
        self.gold += u32::from(self.fault == Fault::CountsSaves);
    }

    fn player_gone(&mut self, _: PlayerId, _: Turn) {
        self.gold /= 2;
    }
}

impl State for Game {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.object("game", 0);
        v.number("gold", &mut self.gold)?;
        if self.fault == Fault::RefusesItsOwn {
            v.part(&mut Stubborn)?;
        }
        if self.fault != Fault::FieldLeftOut {
            v.number("rate", &mut self.rate)?;
        }
        if self.fault == Fault::ChecksumStored {
            v.number("checksum", &mut self.stored)?;
        }
        if self.fault == Fault::ChecksumOfTheLastFrame && V::WRITES {
            self.stored = self.hash();
        }
        Ok(())
    }
}

struct Stubborn;

impl Part for Stubborn {
    fn digest(&self) -> u64 {
        0
    }

    fn save(&self, _: &mut Vec<u8>) {}

    fn load(&mut self, _: &[u8]) -> Result<(), StateError> {
        Err(StateError::Part { what: "no" })
    }

    fn leaves(&self, _: &mut dyn FnMut(Leaf)) {}

    fn flip_bit(&mut self, _: &Leaf, bit: u32) -> Result<(), StateError> {
        Err(StateError::NoSuchBit { bit })
    }
}

fn check(fault: Fault) -> Result<(), Box<TrialError>> {
    let outside = Rc::default();
    let value = match fault {
        Fault::OrderCutOff => CUT_OFF,
        Fault::OrderChanged => CHANGED,
        _ => -3,
    };
    let orders = |turn: Turn, _: &Game, orders: &mut Vec<_>| {
        if turn.0 == 20 {
            orders.push((PlayerId(1), Order(fault, value)));
        }
    };
    let new = |local| Game { local, ..Game::new(fault, &outside) };
    check_determinism_of_peers(Trial::new().turns(30), new, orders)
}

/// Without orders, and all runs know the same local player.
fn check_alone(trial: Trial, fault: Fault) -> Result<(), Box<TrialError>> {
    let outside = Rc::default();
    check_determinism(trial, || Game::new(fault, &outside), |_, _, _| {})
}

#[test]
fn a_sound_game_passes() {
    assert_eq!(check(Fault::None), Ok(()));
}

fn assert_sound(fault: Fault) {
    let outside = Rc::default();
    let new = |local| Game { local, ..Game::new(fault, &outside) };
    assert_determinism_of_peers(Trial::new().turns(30), new, |_, _, _| {});
}

#[test]
fn a_game_that_only_knows_its_local_player_passes() {
    assert_sound(Fault::None);
}

#[test]
#[should_panic(expected = "differs in gold of game 0")]
fn a_rule_that_asks_for_the_local_player_fails_the_test() {
    assert_sound(Fault::LooksAtTheLocalPlayer);
}

#[test]
fn a_field_that_the_walk_leaves_out_is_found_where_it_matters_first() {
    let found = check(Fault::FieldLeftOut).unwrap_err();
    // 30 is reached in turn 7; the next restored run starts at turn 10.
    assert_eq!((found.turn, found.frame), (Turn(10), 0));
    assert!(matches!(found.fault, TrialFault::Checksum { run: Run::Restored, .. }), "{found}");
    assert!(found.to_string().contains("(does `visit` show every field? or does a rule"), "{found}");
}

#[test]
fn a_game_that_looks_outside_differs_from_its_second_run() {
    let found = check(Fault::LooksOutside).unwrap_err();
    // Four runs a frame: the fiftieth step is the second run's 13th.
    assert_eq!((found.turn, found.frame), (Turn(3), 1));
    assert_eq!(
        found.to_string(),
        "turn 3, frame 1: a second run with the same actions differs in gold of game 0: 13 and 14"
    );
}

#[test]
fn a_checksum_that_is_returned_as_it_was_loaded_is_named() {
    let message = "turn 0, frame 0: `checksum` returns checksum of game 0 as it stood in the state that was loaded; it must be computed anew";
    assert_eq!(check(Fault::ChecksumStored).unwrap_err().to_string(), message);
    let without_flips = Trial::new().turns(30).flips(0);
    assert_eq!(check_alone(without_flips, Fault::ChecksumStored).unwrap_err().to_string(), message);
}

/// A game that computed its checksum in `step`: nobody could come back in a pause, as all states seemed to be wrong.
#[test]
fn a_checksum_that_does_not_follow_changes_without_a_frame_is_found() {
    let found = check(Fault::ChecksumOfTheLastFrame).unwrap_err();
    assert!(matches!(found.fault, TrialFault::OldChecksum { .. }), "{found}");
    assert!(found.to_string().contains("`checksum` returns"), "{found}");
}

/// A peer that joined was given such a state, and others were accused.
#[test]
fn a_call_that_must_not_change_the_state_and_does_is_named() {
    for (fault, by) in [(Fault::CountsTurns, "turn_started"), (Fault::CountsSaves, "save_point")] {
        let found = check(fault).unwrap_err();
        assert_eq!((found.turn, &found.fault), (Turn(0), &TrialFault::Changed { by }));
        assert!(found.to_string().contains(by), "{found}");
    }
}

/// An order of -3 ran as -4 everywhere, and nobody noticed.
#[test]
fn an_order_whose_value_changes_on_its_way_is_found() {
    assert_eq!(
        check(Fault::OrderLosesABit).unwrap_err().to_string(),
        "turn 20, frame 1: a run whose actions were not encoded and decoded differs in gold of game 0: 128 and 129 (does `decode` return \
         the very action that `encode` wrote?)"
    );
}

#[test]
fn a_rule_that_depends_on_the_local_player_is_found() {
    let found = check(Fault::LooksAtTheLocalPlayer).unwrap_err();
    assert_eq!(
        found.to_string(),
        "turn 4, frame 4: a second run with the same actions differs in gold of game 0: 20 and 21"
    );
    let unseen = check_alone(Trial::new().turns(30), Fault::LooksAtTheLocalPlayer);
    assert_eq!(unseen, Ok(()), "where no run knows another local player");
}

#[test]
fn a_state_that_the_game_refuses_is_named() {
    let found = check(Fault::RefusesItsOwn).unwrap_err();
    assert_eq!(found.turn, Turn(0));
    assert_eq!(found.to_string(), "turn 0, frame 0: the game refuses the state that it saved: no");
}

#[test]
fn a_field_that_the_checksum_leaves_out_is_named() {
    let found = check(Fault::FieldNotHashed).unwrap_err();
    assert_eq!(found.to_string(), "turn 0, frame 0: `checksum` does not cover rate of game 0");
    let unseen = check_alone(Trial::new().turns(30).flips(0), Fault::FieldNotHashed);
    assert_eq!(unseen, Ok(()), "without flips");
}

#[test]
fn every_number_is_flipped_in_the_end() {
    struct Many(Vec<u8>, usize);
    impl Simulation for Many {
        type Action = Order;
        fn apply(&mut self, _: PlayerId, _: &Order) {}
        fn step(&mut self, _: u32) {}
        fn checksum(&mut self) -> u64 {
            let hashed = self.0.iter().enumerate().filter(|(place, _)| *place != self.1);
            hashed.fold(0, |sum, (_, value)| sum.wrapping_mul(3) + u64::from(*value))
        }
    }
    impl State for Many {
        fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
            (0..).zip(&mut self.0).try_for_each(|(place, value)| {
                v.object("cell", place);
                v.number("value", value)
            })
        }
    }
    for unhashed in [0, 1, 7, 250, 498, 499] {
        let found =
            check_determinism(Trial::new().turns(1).flips(1), || Many(vec![0; 500], unhashed), |_, _, _| {});
        let fault = found.unwrap_err().fault;
        assert!(
            matches!(fault, TrialFault::NotHashed(leaf) if leaf.index == unhashed as u32),
            "{unhashed}: {fault:?}"
        );
    }
    // Two of them: number 0 and number 250.
    for (unhashed, is_found) in [(0, true), (249, false), (250, true), (251, false)] {
        let trial = Trial::new().turns(1).flips(1).flips_at_end(2);
        // The one that is flipped at the restore is number 0.
        let found = check_determinism(trial, || Many(vec![0; 500], unhashed), |_, _, _| {});
        assert_eq!(found.is_err(), is_found, "{unhashed}");
    }
    // As many as are asked for, also if that is more than half of them.
    let is_found = |unhashed| {
        let trial = Trial::new().turns(1).flips(1).flips_at_end(30);
        check_determinism(trial, || Many(vec![0; 50], unhashed), |_, _, _| {}).is_err()
    };
    assert_eq!((0..50).filter(|&unhashed| is_found(unhashed)).count(), 30);
    let nothing = Trial::new().turns(1).flips(1).flips_at_end(0);
    assert_eq!(check_determinism(nothing, || Many(vec![0; 500], 499), |_, _, _| {}), Ok(()));
}

#[test]
fn orders_that_do_not_survive_their_encoding_are_named() {
    for (fault, text) in [
        (Fault::OrderEmpty, "`encode` writes nothing, but at least one bit is needed"),
        (Fault::OrderTooLong, "`encode` writes 17 bits, MAX_BITS is 16"),
        (Fault::OrderDoesNotFit, "`encode` writes a value that does not fit: 65536 does not fit 16 bits"),
        (Fault::OrderCutOff, "`decode` refuses what `encode` wrote: not the canonical encoding"),
        (Fault::OrderChanged, "`encode` writes other bits for the order that `decode` returned"),
    ] {
        let found = check(fault).unwrap_err();
        assert_eq!(found.to_string(), format!("turn 20, frame 0: an order of player 1: {text}"));
    }
}

#[test]
fn settings_of_a_trial_that_are_zero_are_refused() {
    type Setting = (&'static str, fn(u32) -> Trial);
    let play = |trial| check_alone(trial, Fault::None);
    let settings: [Setting; 4] = [
        ("frames_per_turn", |value| Trial::new().turns(2).frames_per_turn(value)),
        ("frames_per_second", |value| Trial::new().turns(2).frames_per_second(value)),
        ("restore_every", |value| Trial::new().turns(2).restore_every(value)),
        ("turns", |value| Trial::new().turns(value)),
    ];
    for (setting, trial) in settings {
        let refused = play(trial(0)).unwrap_err();
        assert_eq!(refused.fault, TrialFault::Setting { setting, min: 1 });
        assert_eq!(refused.to_string(), format!("turn 0, frame 0: the trial's {setting} must be at least 1"));
        assert_eq!(play(trial(1)), Ok(()), "{setting}");
    }
    assert_eq!(play(settings[1].1(u32::MAX)), Ok(()));
    assert_eq!(play(settings[2].1(u32::MAX)), Ok(()));
}

/// Lengths first, as in most games: a flipped length makes an object whose numbers are out of range. The flip was refused and the object stayed, so that no
/// later flip was accepted, and games passed whose checksum left something out.
#[test]
fn a_list_whose_new_objects_are_refused_hides_nothing_behind_it() {
    #[derive(Clone, PartialEq, Debug, Default)]
    struct Shots {
        lives: Vec<u32>,
        gold: u32,
        rate: u32,
    }
    impl Simulation for Shots {
        type Action = Order;
        fn apply(&mut self, _: PlayerId, _: &Order) {}
        fn step(&mut self, _: u32) {
            self.gold += 1;
        }
        fn checksum(&mut self) -> u64 {
            let lives =
                self.lives.iter().fold(self.lives.len() as u64, |sum, life| sum * 64 + u64::from(*life));
            lives << 32 | u64::from(self.gold)
        }
    }
    impl State for Shots {
        fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
            v.object("game", 0);
            let mut count = self.lives.len() as u32;
            v.number_in("shots", &mut count, 0..=1_000)?;
            self.lives.resize(count as usize, 0);
            self.lives.iter_mut().try_for_each(|life| v.number_in("life", life, 1..=50))?;
            v.number("gold", &mut self.gold)?;
            v.number("rate", &mut self.rate)
        }
    }
    let found = check_determinism(Trial::new().turns(3), Shots::default, |_, _, _| {}).unwrap_err();
    assert!(matches!(found.fault, TrialFault::NotHashed(leaf) if leaf.name == "rate"), "{found}");

    let mut shots = Shots { gold: 9, ..Shots::default() };
    let mut leaves = Vec::new();
    state::leaves(&mut shots, &mut |leaf| leaves.push(leaf));
    for bit in 0..leaves[0].bits {
        let refused = state::flip_bit(&mut shots, &leaves[0], bit);
        assert!(matches!(refused, Err(StateError::OutOfRange { .. })), "bit {bit}: {refused:?}");
        assert_eq!(shots, Shots { gold: 9, ..Shots::default() }, "bit {bit}");
    }
}
