//! A simulation that records what it is told.

use crate::drive::simulation::Simulation;
use crate::replay::{Ending, Notice, Recorder, ReplayHeader};
use crate::state::{self, State, StateError, Visit};
use crate::value::ids::{PlayerId, Turn};

/// A game that records its own replay while a [`crate::Driver`] runs it.
///
/// Store what [`Recorded::take_bytes`] returns whenever convenient, for example once per second. The pieces in order are the file. Call
/// [`Recorded::finish`] before the last piece.
///
/// A replay begins with the first turn, or with the state of a match that is resumed ([`Recorded::starting_at`]). A peer that joins a running match records nothing ([`Recorded::is_recording`]); the file of a peer
/// that was there from the beginning covers the whole match.
///
/// ```
/// # use testudo_lockstep::state::{self, State, StateError, Visit};
/// use testudo_lockstep::replay::{Ending, Recorded, Replay, ReplayHeader};
/// use testudo_lockstep::{Driver, Duration, Instant, NoAction, PlayerId, Session, SessionConfig, Simulation};
/// # #[derive(Default)] struct Game { gold: u32 }
/// # impl Simulation for Game { type Action = NoAction; fn apply(&mut self, _: PlayerId, _: &NoAction) {}
/// #   fn step(&mut self, _: u32) { self.gold += 3 } fn checksum(&mut self) -> u64 { state::digest(self) } }
/// # impl State for Game { fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> { v.number("gold", &mut self.gold) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let header = ReplayHeader { sim_version: 1, content_hash: 0, players: 1, settings: Vec::new() };
/// let session = Session::single(SessionConfig::new(1).turns(5), Instant::ZERO)?;
/// let mut driver = Driver::new(Recorded::new(Game::default(), &header), session);
/// let mut now = Instant::ZERO;
/// while !driver.session().is_over() {
///     driver.advance(now);
///     now += Duration::from_millis(10);
/// }
/// driver.simulation_mut().finish(Ending::Over);
/// let file = driver.simulation_mut().take_bytes();
///
/// let replay = Replay::read(file, 1)?;
/// let verification = replay.verify(Game::default());
/// assert!(verification.is_sound(), "{verification}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Recorded<S> {
    game: S,
    recorder: Recorder,
    keyframe_every: u32,
    scratch: Vec<u8>,
    is_recording: bool,
}

impl<S: Simulation + State> Recorded<S> {
    /// Default number of turns between two keyframes: a minute with turns of 200 ms.
    pub const KEYFRAME_EVERY: u32 = 300;

    /// Records a game from its state before the first turn.
    #[must_use]
    pub fn new(game: S, header: &ReplayHeader) -> Self {
        let recorder = Recorder::new(header);
        Self { game, recorder, keyframe_every: Self::KEYFRAME_EVERY, scratch: Vec::new(), is_recording: true }
    }

    /// Records a game that goes on from the middle of a match, for example a saved one, before this turn of it. The state is kept as the start
    /// of the replay. Call it before anything is recorded.
    #[must_use]
    pub fn starting_at(mut self, turn: Turn) -> Self {
        state::save(&mut self.game, &mut self.scratch);
        self.recorder.start(turn.0, &self.scratch);
        self
    }

    /// Keeps the whole state every `turns` turns, so that players of the replay can jump. 0: never.
    #[must_use]
    pub fn keyframe_every(self, turns: u32) -> Self {
        Self { keyframe_every: turns, ..self }
    }

    /// The game.
    #[must_use]
    pub fn game(&self) -> &S {
        &self.game
    }

    /// The game, mutable. Changes made here are not recorded, and the replay will differ.
    pub fn game_mut(&mut self) -> &mut S {
        &mut self.game
    }

    /// The recorder.
    #[must_use]
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The recorder, mutable: to mark a desync ([`Recorder::desync`]) or to keep evidence of it.
    pub fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// Whether this game still records. False after the state of a running match was loaded into it.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// The bytes recorded since the last call. Append them to the file.
    #[must_use = "bytes that are taken and not stored are missing in the file"]
    pub fn take_bytes(&mut self) -> Vec<u8> {
        self.recorder.take_bytes()
    }

    /// Ends the recording; the last bytes are ready for [`Recorded::take_bytes`].
    pub fn finish(&mut self, ending: Ending) {
        if self.is_recording {
            self.recorder.end(ending);
        }
    }

    fn note(&mut self, player: PlayerId, notice: Notice) {
        if self.is_recording {
            self.recorder.notice(player, notice);
        }
    }

    /// Returns the game and the recorder.
    #[must_use]
    pub fn into_parts(self) -> (S, Recorder) {
        (self.game, self.recorder)
    }
}

impl<S: Simulation + State> Simulation for Recorded<S> {
    type Action = S::Action;

    fn apply(&mut self, player: PlayerId, action: &S::Action) {
        if self.is_recording {
            self.recorder.action(player, action);
        }
        self.game.apply(player, action);
    }

    fn step(&mut self, frames_per_second: u32) {
        if self.is_recording {
            self.recorder.frame(frames_per_second);
        }
        self.game.step(frames_per_second);
    }

    fn checksum(&mut self) -> u64 {
        self.game.checksum()
    }

    fn turn_ended(&mut self, turn: Turn, checksum: u64) {
        self.game.turn_ended(turn, checksum);
        if !self.is_recording {
            return;
        }
        self.recorder.end_turn(checksum);
        if self.keyframe_every > 0 && self.recorder.turns().is_multiple_of(self.keyframe_every) {
            state::save(&mut self.game, &mut self.scratch);
            self.recorder.keyframe(&self.scratch);
        }
    }

    fn save_point(&mut self, turn: Turn) {
        self.game.save_point(turn);
    }

    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        self.note(player, Notice::Gone);
        self.game.player_gone(player, turn);
    }

    fn player_surrendered(&mut self, player: PlayerId, turn: Turn) {
        self.note(player, Notice::Surrendered);
        self.game.player_surrendered(player, turn);
    }

    fn player_taken_over(&mut self, player: PlayerId, turn: Turn) {
        self.note(player, Notice::TakenOver);
        self.game.player_taken_over(player, turn);
    }

    fn play_for(&mut self, player: PlayerId, turn: Turn) {
        self.note(player, Notice::PlayedFor);
        self.game.play_for(player, turn);
    }

    fn player_returned(&mut self, player: PlayerId, turn: Turn) {
        self.note(player, Notice::Returned);
        self.game.player_returned(player, turn);
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        self.game.save_state(out)
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        self.is_recording = false;
        self.game.load_state(bytes)
    }

    fn result(&self) -> Option<u32> {
        self.game.result()
    }
}

impl<S: State> State for Recorded<S> {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        self.game.visit(v)
    }
}
