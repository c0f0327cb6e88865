//! Tests for a game's own test suite. They check that the game is deterministic, that its walk shows all of its state, that its checksum
//! covers all of it, and that its orders survive their encoding. [`Heavy`] checks a running match. `soak` (with the feature `simnet`) plays random matches
//! that check themselves.
//!
//! ```
//! use testudo_lockstep::state::{self, State, StateError, Visit};
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
//!     fn checksum(&mut self) -> u64 { state::digest(self) }
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

mod error;
mod flips;
mod heavy;
mod orders;
#[cfg(feature = "simnet")]
pub mod soak;

pub use error::{OrderFault, Run, TrialError, TrialFault};
pub use heavy::{Heavy, HeavyError};

use crate::drive::simulation::Simulation;
use crate::state::{self, State};
use crate::value::ids::{PlayerId, Turn};

/// How long a trial takes, and how thorough it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct Trial {
    turns: u32,
    frames_per_turn: u32,
    frames_per_second: u32,
    restore_every: u32,
    flips: u32,
    flips_at_end: u32,
}

impl Default for Trial {
    /// 200 turns of 4 frames, 20 frames per second, restored before every fifth turn, 50 numbers flipped each time and 4,096 in the end.
    fn default() -> Self {
        Self {
            turns: 200,
            frames_per_turn: 4,
            frames_per_second: 20,
            restore_every: 5,
            flips: 50,
            flips_at_end: 4_096,
        }
    }
}

impl Trial {
    /// Like [`Trial::default`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of turns to play, at least 1. Default 200.
    pub fn turns(self, turns: u32) -> Self {
        Self { turns, ..self }
    }

    /// Frames per turn, at least 1. Default 4.
    pub fn frames_per_turn(self, frames: u32) -> Self {
        Self { frames_per_turn: frames, ..self }
    }

    /// Frames per second, at least 1. Default 20.
    pub fn frames_per_second(self, frames: u32) -> Self {
        Self { frames_per_second: frames, ..self }
    }

    /// The state is saved and restored before every turn whose number is a multiple of this, at least 1. Default 5.
    pub fn restore_every(self, turns: u32) -> Self {
        Self { restore_every: turns, ..self }
    }

    /// Number of numbers that are flipped in a copy at each restore, the next ones each time, to see whether the checksum changes. Default
    /// 50; 0 turns this off, and [`Trial::flips_at_end`] with it. A game that computes its checksum within `step` must compute it anew at the
    /// end of a walk that writes ([`crate::state::Visit::WRITES`]).
    pub fn flips(self, flips: u32) -> Self {
        Self { flips, ..self }
    }

    /// After the last turn as many numbers are flipped, evenly spread, or all if there are fewer. The state is loaded once for each: choose fewer if that
    /// takes long. 0 turns it off. Default 4,096.
    pub fn flips_at_end(self, flips: u32) -> Self {
        Self { flips_at_end: flips, ..self }
    }

    /// Refuses a setting that is zero and must not be.
    fn check(&self) -> Result<(), Box<TrialError>> {
        let settings = [
            ("turns", self.turns),
            ("frames_per_turn", self.frames_per_turn),
            ("frames_per_second", self.frames_per_second),
            ("restore_every", self.restore_every),
        ];
        let Some((setting, _)) = settings.into_iter().find(|(_, value)| *value == 0) else { return Ok(()) };
        Err(Box::new(TrialError { turn: Turn(0), frame: 0, fault: TrialFault::Setting { setting, min: 1 } }))
    }
}

/// Plays a game four times at once with the same actions, which must agree after every frame, in every number and in the checksum:
///
/// - once from its start,
/// - a second time from its start: finds clocks, random numbers of the system, orders of hash tables, what a match before has left,
/// - restored from its own saved state every few turns: finds what the walk leaves out,
/// - with the actions as they were given, while the other runs get them encoded and decoded, as they would be on their way to the other
///   players: finds actions that lose something on their way.
///
/// Between turns single bits are flipped in a copy, and the checksum must change. A changed state must have another checksum when it has been loaded: one
/// that was stored in it proves nothing. Another copy is told of a turn and of a save point, which must not change it. There player 0 goes and comes back
/// in paused turns, which have no frames: the checksum must be that of the state all the same, or nobody could join while the match is paused.
///
/// `new` creates the game at its start. `orders` fills in the actions of a turn, in the order in which they are applied; it sees the first
/// run's game. A game that knows the number of its local player is checked by [`check_determinism_of_peers`].
///
/// It cannot find what differs only between machines: floats, sizes of pointers, other versions of the program. Nor what the trial's actions
/// do not reach.
///
/// # Errors
/// The first [`TrialError`].
pub fn check_determinism<S: Simulation + State>(
    trial: Trial,
    mut new: impl FnMut() -> S,
    orders: impl FnMut(Turn, &S, &mut Vec<(PlayerId, S::Action)>),
) -> Result<(), Box<TrialError>> {
    check_determinism_of_peers(trial, |_| new(), orders)
}

/// Like [`check_determinism`], for a game that knows which player sits in front of it. `new` gets the number of this player: 0 in the first
/// run, another one in each of the others. So a rule that depends on it is found.
///
/// # Errors
/// The first [`TrialError`].
pub fn check_determinism_of_peers<S: Simulation + State>(
    trial: Trial,
    mut new: impl FnMut(PlayerId) -> S,
    mut orders: impl FnMut(Turn, &S, &mut Vec<(PlayerId, S::Action)>),
) -> Result<(), Box<TrialError>> {
    trial.check()?;
    let mut first = new(PlayerId(0));
    let mut others = Run::ALL.map(|run| (run, new(run.local_player())));
    let (mut actions, mut bytes) = (Vec::new(), Vec::new());
    let mut flipped = 0;
    for turn in (0..trial.turns).map(Turn) {
        let fail = |frame, fault| Err(Box::new(TrialError { turn, frame, fault }));
        if turn.0.is_multiple_of(trial.restore_every) {
            let (run, restored) = &mut others[Run::Restored as usize];
            *restored = new(run.local_player());
            let chosen = (flipped, trial.flips);
            if let Some(fault) = restore(&mut first, restored, &mut new(PlayerId(0)), &mut bytes, chosen) {
                return fail(0, fault);
            }
            if let Some(fault) = on_the_side(&mut new(PlayerId(0)), &mut new(PlayerId(0)), turn, &bytes) {
                return fail(0, fault);
            }
            flipped += u64::from(trial.flips);
        }
        actions.clear();
        orders(turn, &first, &mut actions);
        for frame in 0..=trial.frames_per_turn {
            if frame > 0 {
                first.step(trial.frames_per_second);
                others.iter_mut().for_each(|(_, game)| game.step(trial.frames_per_second));
            }
            for (run, other) in &mut others {
                if let Some(fault) = compare(*run, &mut first, other) {
                    return fail(frame, fault);
                }
            }
            if frame == 0 {
                for (player, action) in &actions {
                    let player = *player;
                    let arrived = match orders::send(action) {
                        Ok(arrived) => arrived,
                        Err(fault) => return fail(0, TrialFault::Order { player, fault }),
                    };
                    first.apply(player, &arrived);
                    for (run, game) in &mut others {
                        game.apply(player, if *run == Run::Given { action } else { &arrived });
                    }
                }
            }
        }
    }
    if trial.flips > 0 && trial.flips_at_end > 0 {
        state::save(&mut first, &mut bytes);
        if let Some(leaf) = flips::any_unhashed(&mut new(PlayerId(0)), &bytes, trial.flips_at_end) {
            let fault = TrialFault::NotHashed(leaf);
            return Err(Box::new(TrialError { turn: Turn(trial.turns), frame: 0, fault }));
        }
    }
    Ok(())
}

/// Like [`check_determinism`], for use in a test.
///
/// # Panics
/// If the trial fails; the message says where.
#[track_caller]
pub fn assert_deterministic<S: Simulation + State>(
    trial: Trial,
    new: impl FnMut() -> S,
    orders: impl FnMut(Turn, &S, &mut Vec<(PlayerId, S::Action)>),
) {
    if let Err(error) = check_determinism(trial, new, orders) {
        panic!("{error}");
    }
}

/// Like [`check_determinism_of_peers`], for use in a test.
///
/// # Panics
/// If the trial fails; the message says where.
#[track_caller]
pub fn assert_determinism_of_peers<S: Simulation + State>(
    trial: Trial,
    new: impl FnMut(PlayerId) -> S,
    orders: impl FnMut(Turn, &S, &mut Vec<(PlayerId, S::Action)>),
) {
    if let Err(error) = check_determinism_of_peers(trial, new, orders) {
        panic!("{error}");
    }
}

/// Restores a run from the first one's saved state, and checks in a copy that the checksum follows from what was loaded. `chosen`: the first
/// number to flip, and how many.
fn restore<S: Simulation + State>(
    first: &mut S,
    restored: &mut S,
    copy: &mut S,
    bytes: &mut Vec<u8>,
    chosen: (u64, u32),
) -> Option<TrialFault> {
    state::save(first, bytes);
    if let Err(error) = state::load(restored, bytes) {
        return Some(TrialFault::Refused(error));
    }
    if let Some(leaf) = flips::stored_checksum(copy, bytes) {
        return Some(TrialFault::StoredChecksum(leaf));
    }
    flips::next_unhashed(copy, bytes, chosen.0, chosen.1).map(TrialFault::NotHashed)
}

/// What happens beside the frames, in a copy. Calls that only tell of something must not change the state. Then player 0 goes and comes back while the
/// match is paused, in two turns without frames: the checksum of each must be that of the state.
fn on_the_side<S: Simulation + State>(
    paused: &mut S,
    copy: &mut S,
    turn: Turn,
    bytes: &[u8],
) -> Option<TrialFault> {
    if let Err(error) = state::load(paused, bytes) {
        return Some(TrialFault::Refused(error));
    }
    let checksum = paused.checksum();
    type Call<S> = (&'static str, fn(&mut S, Turn, u64));
    let calls: [Call<S>; 3] = [
        ("turn_started", |game, turn, _| game.turn_started(turn, 0)),
        ("save_point", |game, turn, _| game.save_point(turn)),
        ("turn_ended", |game, turn, checksum| game.turn_ended(turn, checksum)),
    ];
    for (name, call) in calls {
        call(paused, turn, checksum);
        let mut after = Vec::new();
        state::save(paused, &mut after);
        if after != bytes || paused.checksum() != checksum {
            return Some(TrialFault::Changed { by: name });
        }
    }
    let mut after = Vec::new();
    for comes_back in [false, true] {
        match comes_back {
            false => paused.player_gone(PlayerId(0), turn),
            true => paused.player_returned(PlayerId(0), turn),
        }
        let told = paused.checksum();
        state::save(paused, &mut after);
        if let Err(error) = state::load(copy, &after) {
            return Some(TrialFault::Refused(error));
        }
        let computed = copy.checksum();
        if told != computed {
            return Some(TrialFault::OldChecksum { told, computed });
        }
    }
    None
}

fn compare<S: Simulation + State>(run: Run, first: &mut S, other: &mut S) -> Option<TrialFault> {
    if let Some(difference) = state::first_difference(first, other) {
        return Some(TrialFault::Number { run, difference });
    }
    let (first, other) = (first.checksum(), other.checksum());
    (first != other).then_some(TrialFault::Checksum { run, first, other })
}
