//! Tests for a game's own test suite: is it deterministic, and does its state walk show all of it?
//!
//! ```
//! use testudo_lockstep::state::{State, StateError, Visit};
//! use testudo_lockstep::testing::{Trial, assert_deterministic};
//! use testudo_lockstep::{NoAction, PlayerId, Simulation};
//!
//! #[derive(Default)]
//! struct Game { gold: u32 }
//!
//! impl Simulation for Game {
//!     type Action = NoAction;
//!     fn apply(&mut self, _: PlayerId, _: &NoAction) {}
//!     fn step(&mut self, _: u32) { self.gold += 3; }
//!     fn checksum(&self) -> u64 { self.gold.into() }
//! }
//!
//! impl State for Game {
//!     fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
//!         v.object("game", 0);
//!         v.number("gold", &mut self.gold)
//!     }
//! }
//!
//! // In a test:
//! assert_deterministic(Trial::default(), Game::default, |_turn, _game, _orders| {});
//! ```

use core::fmt;

use crate::drive::simulation::Simulation;
use crate::state::{self, Difference, State, StateError};
use crate::value::ids::{PlayerId, Turn};

/// How long a trial takes and how closely it looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trial {
    /// Turns that are played.
    pub turns: u32,
    /// Frames of a turn, at least 1.
    pub frames_per_turn: u32,
    /// Frames of a second.
    pub frames_per_second: u32,
    /// The state is saved and restored before every turn of which the number is a multiple of this, at least 1.
    pub restore_every: u32,
}

impl Default for Trial {
    /// 200 turns of 4 frames, 20 frames per second, restored before every fifth.
    fn default() -> Self {
        Self { turns: 200, frames_per_turn: 4, frames_per_second: 20, restore_every: 5 }
    }
}

/// What went another way than the first run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Run {
    /// A second game that was given the same actions from its start.
    Again,
    /// A game that was restored from the first one's saved state. If [`Run::Again`] agrees, the walk leaves something out.
    Restored,
}

/// Two runs of one game that must be equal and are not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The turn.
    pub turn: Turn,
    /// Frames of the turn that had run, 0 = before its actions.
    pub frame: u32,
    /// Which run differs from the first one.
    pub run: Run,
    /// What is wrong.
    pub what: What,
}

/// What is wrong in a [`Divergence`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// A number that the walk shows.
    Number(Difference),
    /// No number that the walk shows, but [`Simulation::checksum`]: it looks at something else.
    Checksum {
        /// Of the first run.
        first: u64,
        /// Of the other one.
        other: u64,
    },
    /// The game refuses a state that it has saved itself.
    Refused(StateError),
}

/// Plays a game three times at once: as it is, a second time from its start, and restored from its saved state every few turns. All three
/// have to agree after every frame, in every number. This is the sync test and the serialisation test of other engines in one.
///
/// `new` makes the game at its start. `orders` fills in the actions of a turn, in the order in which they are carried out; it sees the first
/// run's game.
///
/// # Errors
/// The first [`Divergence`].
pub fn check_determinism<S: Simulation + State>(
    trial: Trial,
    mut new: impl FnMut() -> S,
    mut orders: impl FnMut(Turn, &S, &mut Vec<(PlayerId, S::Action)>),
) -> Result<(), Box<Divergence>> {
    let (mut first, mut again, mut restored) = (new(), new(), new());
    let (mut actions, mut bytes) = (Vec::new(), Vec::new());
    for turn in (0..trial.turns).map(Turn) {
        let found = |run, frame, what| Err(Box::new(Divergence { turn, frame, run, what }));
        if turn.0.is_multiple_of(trial.restore_every.max(1)) {
            restored = new();
            state::save(&mut first, &mut bytes);
            if let Err(error) = state::load(&mut restored, &bytes) {
                return found(Run::Restored, 0, What::Refused(error));
            }
        }
        actions.clear();
        orders(turn, &first, &mut actions);
        for frame in 0..=trial.frames_per_turn.max(1) {
            if frame > 0 {
                for game in [&mut first, &mut again, &mut restored] {
                    game.step(trial.frames_per_second);
                }
            }
            for (run, other) in [(Run::Again, &mut again), (Run::Restored, &mut restored)] {
                if let Some(what) = compare(&mut first, other) {
                    return found(run, frame, what);
                }
            }
            if frame == 0 {
                for (player, action) in &actions {
                    for game in [&mut first, &mut again, &mut restored] {
                        game.apply(*player, action);
                    }
                }
            }
        }
    }
    Ok(())
}

/// As [`check_determinism`], for a test.
///
/// # Panics
/// The runs diverge; the message says where.
#[track_caller]
pub fn assert_deterministic<S: Simulation + State>(
    trial: Trial,
    new: impl FnMut() -> S,
    orders: impl FnMut(Turn, &S, &mut Vec<(PlayerId, S::Action)>),
) {
    if let Err(divergence) = check_determinism(trial, new, orders) {
        panic!("{divergence}");
    }
}

fn compare<S: Simulation + State>(first: &mut S, other: &mut S) -> Option<What> {
    if let Some(difference) = state::first_difference(first, other) {
        return Some(What::Number(difference));
    }
    let checksums = (first.checksum(), other.checksum());
    (checksums.0 != checksums.1).then_some(What::Checksum { first: checksums.0, other: checksums.1 })
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = match self.run {
            Run::Again => "a second run with the same actions",
            Run::Restored => "a run that was restored from the saved state",
        };
        write!(f, "{run} differs in turn {}, frame {}: {}", self.turn.0, self.frame, self.what)?;
        match (self.run, &self.what) {
            (Run::Restored, What::Number(_) | What::Checksum { .. }) => {
                write!(f, " (does the state's walk show every field?)")
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(difference) => write!(f, "{difference}"),
            Self::Checksum { first, other } => {
                write!(
                    f,
                    "the checksums are {first:016x} and {other:016x}, though all numbers of the walk agree"
                )
            }
            Self::Refused(error) => write!(f, "the game refuses the state that it has saved: {error}"),
        }
    }
}

impl core::error::Error for Divergence {}

#[cfg(test)]
mod tests {
    use core::cell::Cell;
    use std::rc::Rc;

    use super::*;
    use crate::state::{Leaf, Part, Visit};
    use crate::value::action::NoAction;

    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        None,
        FieldLeftOut,
        LooksOutside,
        RefusesItsOwn,
    }

    struct Game {
        fault: Fault,
        /// What a game must not look at: all runs share it.
        outside: Rc<Cell<u32>>,
        gold: u32,
        rate: u32,
    }

    impl Game {
        fn new(fault: Fault, outside: &Rc<Cell<u32>>) -> Self {
            Self { fault, outside: outside.clone(), gold: 0, rate: 1 }
        }
    }

    impl Simulation for Game {
        type Action = NoAction;

        fn apply(&mut self, _: PlayerId, _: &NoAction) {}

        fn step(&mut self, _: u32) {
            self.gold += self.rate;
            self.rate += u32::from(self.gold == 30);
            if self.fault == Fault::LooksOutside {
                self.outside.set(self.outside.get() + 1);
                self.gold += u32::from(self.outside.get() == 50);
            }
        }

        fn checksum(&self) -> u64 {
            u64::from(self.gold) << 32 | u64::from(self.rate)
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

    fn check(fault: Fault) -> Result<(), Box<Divergence>> {
        let trial = Trial { turns: 30, ..Trial::default() };
        let outside = Rc::default();
        check_determinism(trial, || Game::new(fault, &outside), |_, _, _| {})
    }

    #[test]
    fn a_sound_game_passes() {
        assert_eq!(check(Fault::None), Ok(()));
    }

    #[test]
    fn a_field_that_the_walk_leaves_out_is_found_where_it_matters_first() {
        let found = check(Fault::FieldLeftOut).unwrap_err();
        // 30 is reached in turn 7; the next restored run starts at turn 10.
        assert_eq!((found.turn, found.frame, found.run), (Turn(10), 0, Run::Restored));
        assert!(matches!(found.what, What::Checksum { .. }), "{found}");
        assert!(found.to_string().ends_with("(does the state's walk show every field?)"), "{found}");
    }

    #[test]
    fn a_game_that_looks_outside_differs_from_its_second_run() {
        let found = check(Fault::LooksOutside).unwrap_err();
        // Three runs a frame: the fiftieth step is the second run's 17th.
        assert_eq!((found.turn, found.frame, found.run), (Turn(4), 1, Run::Again));
        assert!(found.to_string().contains("gold of game 0"), "{found}");
    }

    #[test]
    fn a_state_that_the_game_refuses_is_named() {
        let found = check(Fault::RefusesItsOwn).unwrap_err();
        assert_eq!((found.turn, &found.what), (Turn(0), &What::Refused(StateError::Part { what: "no" })));
        assert_eq!(
            found.to_string(),
            "a run that was restored from the saved state differs in turn 0, frame 0: the game refuses the state that it has saved: no"
        );
    }
}
