//! Heavy mode: every frame of a running match is simulated a second time, by a game that was restored from the saved state.

use core::fmt;

use crate::drive::simulation::Simulation;
use crate::state::{self, State, StateError, Visit};
use crate::testing::error::{Run, TrialFault};
use crate::value::ids::{PlayerId, Turn};

/// A game that checks itself while a [`crate::Driver`] runs it: before the orders of each frame its state is saved and restored into a fresh game, which
/// is then told the same. After the frame both must be equal. Where [`crate::testing::Trial`] plays made-up orders in a test, this plays a real match, and
/// finds what a restored game forgets: players who join late or come back would have a desync. A match takes some five times as long.
///
/// It needs [`Simulation::save_state`] and [`Simulation::load_state`].
///
/// ```
/// # use testudo_lockstep::state::{self, State, StateError, Visit};
/// # use testudo_lockstep::{NoAction, PlayerId, Simulation};
/// use testudo_lockstep::testing::Heavy;
/// # #[derive(Clone, Default)] struct Game { gold: u32, rate: u32 }
/// # impl Simulation for Game { type Action = NoAction; fn apply(&mut self, _: PlayerId, _: &NoAction) {}
/// #   fn step(&mut self, _: u32) { self.rate += 1; self.gold += self.rate; } fn checksum(&mut self) -> u64 { state::digest(self) }
/// #   fn save_state(&mut self, out: &mut Vec<u8>) -> bool { state::save(self, out); true }
/// #   fn load_state(&mut self, bytes: &[u8]) -> bool { state::load(self, bytes).is_ok() } }
///
/// impl State for Game {
///     fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
///         v.object("game", 0);
///         v.number("gold", &mut self.gold) // `rate` is forgotten
///     }
/// }
///
/// let mut game = Heavy::new(Game::default());
/// (0..3).for_each(|_| game.step(20));
/// let error = game.error().unwrap();
/// assert_eq!(error.frame, 1);
/// assert!(error.to_string().starts_with("turn 0, frame 1: a run that was restored from the saved state differs in gold of game 0: 3 and 2"));
/// ```
#[derive(Clone, Debug)]
pub struct Heavy<S> {
    game: S,
    /// As the game was at the start; none: nothing is checked, or not any more.
    fresh: Option<Box<S>>,
    /// Restored since the last frame.
    twin: Option<Box<S>>,
    turn: Turn,
    /// Frames that have been compared.
    frames: u32,
    error: Option<Box<HeavyError>>,
    bytes: [Vec<u8>; 2],
}

/// The restored game was not equal to the one that had run.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct HeavyError {
    /// The turn.
    pub turn: Turn,
    /// The frame, counted from the first one that was simulated, from 0.
    pub frame: u32,
    /// What differs.
    pub fault: TrialFault,
}

impl fmt::Display for HeavyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "turn {}, frame {}: {}", self.turn, self.frame, self.fault)
    }
}

impl core::error::Error for HeavyError {}

impl<S: Simulation + State + Clone> Heavy<S> {
    /// Checks a game from its state before the first turn on.
    #[must_use]
    pub fn new(game: S) -> Self {
        let fresh = Some(Box::new(game.clone()));
        Self { fresh, ..Self::off(game) }
    }

    /// The game alone, for programs in which an option decides.
    #[must_use]
    pub fn off(game: S) -> Self {
        let (fresh, twin, error) = (None, None, None);
        Self { game, fresh, twin, turn: Turn(0), frames: 0, error, bytes: Default::default() }
    }

    /// The game.
    #[must_use]
    pub fn game(&self) -> &S {
        &self.game
    }

    /// The game, mutable. It is saved again before the next frame.
    #[must_use]
    pub fn game_mut(&mut self) -> &mut S {
        self.twin = None;
        &mut self.game
    }

    /// Number of frames in which the restored game was equal.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// The first difference. Nothing is checked after it.
    #[must_use]
    pub fn error(&self) -> Option<&HeavyError> {
        self.error.as_deref()
    }

    /// Tells both games the same.
    fn tell(&mut self, told: impl Fn(&mut S)) {
        self.restore();
        told(&mut self.game);
        if let Some(twin) = &mut self.twin {
            told(twin);
        }
    }

    /// Makes the twin, if there is none since the last frame.
    fn restore(&mut self) {
        let (Some(fresh), None) = (&self.fresh, &self.twin) else { return };
        let mut twin = fresh.clone();
        let bytes = &mut self.bytes[0];
        bytes.clear();
        let what = if !self.game.save_state(bytes) {
            "`save_state` saves nothing"
        } else if !twin.load_state(bytes) {
            "`load_state` does not take what `save_state` wrote"
        } else {
            self.twin = Some(twin);
            return;
        };
        self.fail(TrialFault::Refused(StateError::Part { what }));
    }

    /// After a frame.
    fn compare(&mut self, twin: &mut S) {
        let [here, there] = &mut self.bytes;
        here.clear();
        there.clear();
        self.game.save_state(here);
        twin.save_state(there);
        let sums = (self.game.checksum(), twin.checksum());
        if here == there && sums.0 == sums.1 {
            self.frames += 1;
            return;
        }
        let run = Run::Restored;
        let fault = match state::first_difference(&mut self.game, twin) {
            Some(difference) => TrialFault::Number { run, difference },
            None => TrialFault::Checksum { run, first: sums.0, other: sums.1 },
        };
        self.fail(fault);
    }

    fn fail(&mut self, fault: TrialFault) {
        (self.fresh, self.twin) = (None, None);
        self.error = Some(Box::new(HeavyError { turn: self.turn, frame: self.frames, fault }));
    }
}

impl<S: Simulation + State + Clone> Simulation for Heavy<S> {
    type Action = S::Action;

    fn apply(&mut self, player: PlayerId, action: &S::Action) {
        self.tell(|game| game.apply(player, action));
    }

    fn step(&mut self, frames_per_second: u32) {
        self.tell(|game| game.step(frames_per_second));
        if let Some(mut twin) = self.twin.take() {
            self.compare(&mut twin);
        }
    }

    fn checksum(&mut self) -> u64 {
        self.game.checksum()
    }

    fn turn_started(&mut self, turn: Turn, frames: u32) {
        self.turn = turn;
        self.tell(|game| game.turn_started(turn, frames));
    }

    fn turn_ended(&mut self, turn: Turn, checksum: u64) {
        self.game.turn_ended(turn, checksum);
    }

    fn desync_found(&mut self, turn: Turn) {
        self.game.desync_found(turn);
    }

    fn save_point(&mut self, turn: Turn) {
        self.game.save_point(turn);
    }

    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        self.tell(|game| game.player_gone(player, turn));
    }

    fn player_surrendered(&mut self, player: PlayerId, turn: Turn) {
        self.tell(|game| game.player_surrendered(player, turn));
    }

    fn player_taken_over(&mut self, player: PlayerId, turn: Turn) {
        self.tell(|game| game.player_taken_over(player, turn));
    }

    fn play_for(&mut self, player: PlayerId, turn: Turn) {
        self.tell(|game| game.play_for(player, turn));
    }

    fn player_returned(&mut self, player: PlayerId, turn: Turn) {
        self.tell(|game| game.player_returned(player, turn));
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        self.game.save_state(out)
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        self.twin = None;
        self.game.load_state(bytes)
    }

    fn result(&self) -> Option<u32> {
        self.game.result()
    }
}

impl<S: State> State for Heavy<S> {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        if V::WRITES {
            self.twin = None;
        }
        self.game.visit(v)
    }
}
