//! A replayed match that can go from any frame to any other in bounded steps.

mod checking;
mod kept;
mod timetable;

use std::sync::Arc;

use crate::drive::simulation::Simulation;
use crate::replay::Replay;
use crate::replay::player::{Divergence, ReplayPlayer};
use crate::state::{self, Difference, State};
use checking::Checking;
use kept::{Keyframes, TRAIL_MAX, Trail};
pub use timetable::Timetable;

/// A saved state this many turns ahead is worth loading.
const NEAR_TURNS: u32 = 8;

/// A replay, the match at one of its frames, and a comparison with the recording in the background: what a screen with a timeline needs.
///
/// It shows the states that follow from the orders. The file's keyframes are used to jump far ahead of the comparison. If the comparison finds
/// that a keyframe differs, everything that came from it is simulated again from an earlier state. It keeps states of its own for jumps, at most
/// 256 MB.
///
/// Before each picture call [`ReplayViewer::run`] and [`ReplayViewer::check`] with as many frames as there is time for.
///
/// ```
/// # use testudo_lockstep::replay::{Ending, Recorded, Replay, ReplayHeader};
/// # use testudo_lockstep::state::{self, State, StateError, Visit};
/// # use testudo_lockstep::{NoAction, PlayerId, Simulation, Turn};
/// use testudo_lockstep::replay::ReplayViewer;
/// # #[derive(Clone, Default)] struct Game { gold: u32 }
/// # impl Simulation for Game { type Action = NoAction; fn apply(&mut self, _: PlayerId, _: &NoAction) {}
/// #   fn step(&mut self, _: u32) { self.gold += 3 } fn checksum(&mut self) -> u64 { state::digest(self) } }
/// # impl State for Game { fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> { v.number("gold", &mut self.gold) } }
/// # let header = ReplayHeader { sim_version: 1, content_hash: 0, players: 1, settings: Vec::new() };
/// # let mut recorded = Recorded::new(Game::default(), &header);
/// # for turn in 0..50 {
/// #     (0..4).for_each(|_| recorded.step(20));
/// #     let checksum = recorded.checksum();
/// #     recorded.turn_ended(Turn(turn), checksum);
/// # }
/// # recorded.finish(Ending::Over);
/// # let replay = Replay::read(recorded.take_bytes(), 1).unwrap();
/// // 50 turns of 4 frames; each frame gives 3 gold.
/// let mut viewer = ReplayViewer::new(replay, Game::default());
/// viewer.seek(100);
/// while viewer.is_seeking() {
///     viewer.run(16);
/// }
/// assert_eq!(viewer.simulation().gold, 300);
/// viewer.check(u32::MAX);
/// assert!(viewer.is_checked() && viewer.divergence().is_none());
/// ```
pub struct ReplayViewer<S> {
    replay: Arc<Replay>,
    player: ReplayPlayer<S>,
    timetable: Timetable,
    keyframes: Keyframes,
    trail: Trail,
    checking: Checking<S>,
    /// The frame to go to.
    target: u64,
    /// The frame at which the seek started.
    origin: u64,
    /// Turn of the file's keyframe from which the state and the trail come, if it has not been compared yet.
    rests_on: Option<u32>,
    /// Whether the game has accepted all keyframes of the file so far.
    uses_file: bool,
}

impl<S: Simulation + State + Clone> ReplayViewer<S> {
    /// A replay before its first frame. `game` is the game in its state before the first turn, created from the replay's header.
    #[must_use]
    pub fn new(replay: impl Into<Arc<Replay>>, game: S) -> Self {
        let replay = replay.into();
        let mut player = ReplayPlayer::new(Arc::clone(&replay), game.clone());
        let mut start = Vec::new();
        player.save(&mut start);
        Self {
            timetable: Timetable::new(&replay),
            keyframes: Keyframes::new(start),
            trail: Trail::new(),
            checking: Checking::new(Arc::clone(&replay), game),
            player,
            replay,
            target: 0,
            origin: 0,
            rests_on: None,
            uses_file: true,
        }
    }

    /// The replay.
    #[must_use]
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// When each turn starts.
    #[must_use]
    pub fn timetable(&self) -> &Timetable {
        &self.timetable
    }

    /// The game at the present frame.
    #[must_use]
    pub fn simulation(&self) -> &S {
        self.player.simulation()
    }

    /// Number of frames from the start of the recording to the present state.
    #[must_use]
    pub fn frame(&self) -> u64 {
        self.timetable.start_of(self.player.turn()) + u64::from(self.player.frame())
    }

    /// The turn that runs, or runs next, counted from the start of the recording.
    #[must_use]
    pub fn turn(&self) -> u32 {
        self.player.turn()
    }

    /// The frame to go to.
    #[must_use]
    pub fn target(&self) -> u64 {
        self.target
    }

    /// Whether it has not yet reached the target frame.
    #[must_use]
    pub fn is_seeking(&self) -> bool {
        // A frame between two turns counts as after the following turns without frames.
        self.frame() != self.target || self.player.turn() != self.timetable.turn_at(self.target)
    }

    /// Frames of the present seek: simulated, and all.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.frame().saturating_sub(self.origin), self.target.saturating_sub(self.origin))
    }

    /// Sets the target frame, at most the last one. Loads a saved state if that is nearer, but simulates nothing yet.
    pub fn seek(&mut self, frame: u64) {
        self.target = frame.min(self.timetable.frames());
        if self.is_seeking() {
            self.jump();
        }
    }

    /// Simulates towards the target frame, by so many frames at most.
    pub fn run(&mut self, frames_max: u32) {
        for _ in 0..frames_max {
            if !self.is_seeking() {
                return;
            }
            if self.player.frame() == 0 {
                self.remember();
            }
            self.player.step_frame();
        }
    }

    /// Continues the comparison with the recording, by so many frames at most.
    pub fn check(&mut self, frames_max: u32) {
        self.checking.work(&mut self.keyframes, frames_max);
        let Some(turn) = self.rests_on else { return };
        if self.checking.has_proven(turn) {
            self.rests_on = None;
        } else if !self.checking.trusts(turn) {
            // Back to a state that follows from the orders.
            self.trail.clear();
            self.rests_on = None;
            self.load_best(self.timetable.turn_at(self.target));
        }
    }

    /// Number of turns that have been compared.
    #[must_use]
    pub fn turns_checked(&self) -> u32 {
        self.checking.turns()
    }

    /// The game where the comparison is.
    #[must_use]
    pub fn compared(&self) -> &S {
        self.checking.simulation()
    }

    /// Whether all turns and the last keyframe have been compared.
    #[must_use]
    pub fn is_checked(&self) -> bool {
        self.checking.is_over()
    }

    /// The first of the compared turns that differs from the recording.
    #[must_use]
    pub fn divergence(&self) -> Option<Divergence> {
        self.checking.divergence()
    }

    /// The turn after which the match was decided, and [`Simulation::result`], within the compared turns.
    #[must_use]
    pub fn decided(&self) -> Option<(u32, u32)> {
        self.checking.decided()
    }

    /// At the end of the first turn that differs from the recording, if the file has that state: the turn, and the first number that
    /// differs, with the recorded value first. None at other frames. A pause that follows has the same frame, and changes nothing of it: the states
    /// right after that turn are compared.
    #[must_use]
    pub fn difference(&self) -> Option<(u32, Difference)> {
        let Divergence::Checksum { turn, .. } = self.divergence()? else { return None };
        let after = turn + 1;
        if self.is_seeking() || self.frame() != self.timetable.start_of(after) {
            return None;
        }
        let evidence = self.replay.evidence().filter(|(at, _)| *at == after);
        let recorded = evidence.map(|(_, state)| state).or_else(|| self.replay.keyframe(after))?;
        let (mut there, mut here) = (self.simulation().clone(), self.simulation().clone());
        state::load(&mut there, recorded).ok()?;
        state::load(&mut here, self.checking.differing()?).ok()?;
        state::first_difference(&mut there, &mut here).map(|difference| (turn, difference))
    }

    /// Stores the state before the turn if it is useful.
    fn remember(&mut self) {
        let turn = self.player.turn();
        let keeps = self.rests_on.is_none() && self.keyframes.wants(turn);
        let trails = turn + TRAIL_MAX as u32 >= self.timetable.turn_at(self.target);
        if !keeps && !trails {
            return;
        }
        let mut state = Vec::new();
        self.player.save(&mut state);
        if keeps {
            self.keyframes.keep(turn, state.clone());
        }
        if trails {
            self.trail.keep(turn, state);
        }
    }

    /// Loads the saved state with the shortest distance to the target, if that is shorter than from here.
    fn jump(&mut self) {
        let turn = self.timetable.turn_at(self.target);
        let is_behind = self.target < self.frame();
        if is_behind || self.best_turn(turn) > self.player.turn().saturating_add(NEAR_TURNS) {
            self.load_best(turn);
        }
        self.origin = self.frame();
    }

    /// The turn of the last saved state at or before a turn.
    fn best_turn(&self, turn: u32) -> u32 {
        let own = [self.keyframes.before(turn), self.trail.before(turn), self.file_keyframe(turn)];
        own.into_iter().flatten().map(|(at, _)| at).max().unwrap_or(0)
    }

    fn file_keyframe(&self, turn: u32) -> Option<(u32, &[u8])> {
        let last = self.checking.divergence().map_or(turn, |found| turn.min(found.sound_until()));
        self.replay.keyframe_before(last).filter(|_| self.uses_file)
    }

    /// Loads the last saved state at or before a turn. Of equal ones, the file's come last.
    fn load_best(&mut self, turn: u32) {
        let saved = [
            (Source::File, self.file_keyframe(turn)),
            (Source::Own, self.keyframes.before(turn)),
            (Source::Trail, self.trail.before(turn)),
        ];
        let saved = saved.into_iter().filter_map(|(source, saved)| Some((source, saved?)));
        let Some((source, (at, state))) = saved.max_by_key(|(_, (at, _))| *at) else { return };
        let state = state.to_vec();
        let is_refused = self.player.restore(at, &state).is_err();
        if is_refused && source == Source::File {
            self.uses_file = false;
            return self.load_best(turn);
        }
        debug_assert!(!is_refused, "a state of its own");
        if source != Source::Trail {
            self.trail.clear();
            let is_unproven = source == Source::File && !self.checking.has_proven(at);
            self.rests_on = is_unproven.then_some(at);
        }
        self.origin = self.frame();
    }
}

/// The source of a saved state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    File,
    Own,
    Trail,
}
