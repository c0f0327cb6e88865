//! A simulation that records what it is told.

use crate::drive::simulation::Simulation;
use crate::replay::{Ending, Notice, Recorder, ReplayHeader};
use crate::state::{self, Recent, State, StateError, Visit};
use crate::value::ids::{PlayerId, Turn};

/// A game that records its own replay while a [`crate::Driver`] runs it.
///
/// Store what [`Recorded::take_bytes`] returns whenever convenient, for example once per second. The pieces in order are the file. Call
/// [`Recorded::finish`] before the last piece.
///
/// A replay begins with the first turn, or with the state of a match that is resumed ([`Recorded::starting_at`]). When a peer gets the state of
/// a running match, a new file begins with that state ([`Recorded::file_index`]).
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
    header: ReplayHeader,
    recorder: Recorder,
    phase: Phase,
    file_index: u32,
    /// Number of the file's first turn in the match.
    first: u32,
    keyframe_every: u32,
    bytes_max: u64,
    /// The states after the last turns, until the peers have disagreed.
    recent: Option<Recent>,
    /// The peers have disagreed within a turn; its end has a keyframe.
    owes_keyframe: bool,
    /// The file says that the peers have disagreed.
    is_marked: bool,
    scratch: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Records,
    /// A state has been loaded; a new file begins with the next turn.
    Loaded,
    Over,
}

impl<S: Simulation + State> Recorded<S> {
    /// Default number of turns between two keyframes: a minute with turns of 200 ms.
    pub const KEYFRAME_EVERY: u32 = 300;

    /// Records a game from its state before the first turn.
    #[must_use]
    pub fn new(game: S, header: &ReplayHeader) -> Self {
        Self {
            game,
            header: header.clone(),
            recorder: Recorder::new(header),
            phase: Phase::Records,
            file_index: 0,
            first: 0,
            keyframe_every: Self::KEYFRAME_EVERY,
            bytes_max: u64::MAX,
            recent: None,
            owes_keyframe: false,
            is_marked: false,
            scratch: Vec::new(),
        }
    }

    /// Records nothing: for a program that lets its user choose.
    #[must_use]
    pub fn unrecorded(game: S) -> Self {
        let header = ReplayHeader { sim_version: 0, content_hash: 0, players: 1, settings: Vec::new() };
        let mut recorded = Self::new(game, &header);
        recorded.phase = Phase::Over;
        let _ = recorded.recorder.take_bytes();
        recorded
    }

    /// Records a game that goes on from the middle of a match, for example a saved one, before this turn of it. The state is kept as the start
    /// of the replay. Call it before anything is recorded.
    #[must_use]
    pub fn starting_at(mut self, turn: Turn) -> Self {
        self.start(turn);
        self
    }

    /// Keeps the whole state every `turns` turns, so that players of the replay can jump. 0: never.
    #[must_use]
    pub fn keyframe_every(self, turns: u32) -> Self {
        Self { keyframe_every: turns, ..self }
    }

    /// Ends the recording with [`Ending::Full`] after the turn in which it has reached this many bytes. The match goes on. Default: no limit.
    #[must_use]
    pub fn bytes_max(self, bytes: u64) -> Self {
        Self { bytes_max: bytes, ..self }
    }

    /// Keeps the states after the last turns, at most so many turns and bytes, for the case that the peers disagree ([`Recorded::diverged`]). They compare a
    /// turn's checksum some turns later; 64 turns are ample. Default: none.
    #[must_use]
    pub fn keep_recent(self, turns: usize, bytes: usize) -> Self {
        Self { recent: Some(Recent::new(turns, bytes)), ..self }
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

    /// Whether this game records. Not after [`Recorded::finish`] or [`Recorded::bytes_max`], nor between the load of a state and the next turn.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.phase == Phase::Records
    }

    /// Which file the next bytes belong to: 0, and one more each time that a state was loaded while it recorded. Throw away what has been
    /// stored of the file before, or keep it: it ends without an end record, and what it has is sound.
    #[must_use]
    pub fn file_index(&self) -> u32 {
        self.file_index
    }

    /// The peers disagree from this turn of the match on ([`crate::Event::Desync`]). A [`crate::Driver`] says so by itself. The recording goes on. It gets the
    /// state after that turn as evidence, if it is still kept ([`Recorded::keep_recent`]), and a keyframe of the present state, or of that after the turn that
    /// runs. A file has one such mark: more calls have no effect.
    pub fn diverged(&mut self, turn: Turn) {
        if self.phase != Phase::Records || self.is_marked {
            return;
        }
        self.is_marked = true;
        let turn = turn.0.saturating_sub(self.first);
        self.recorder.desync(turn);
        if let Some(recent) = self.recent.take()
            && let Some(evidence) = recent.get(turn + 1)
        {
            self.recorder.evidence(turn + 1, evidence);
        }
        self.owes_keyframe = true;
        if self.recorder.is_between_turns() {
            self.keep_keyframe();
        }
    }

    /// The bytes recorded since the last call. Append them to the file.
    #[must_use = "bytes that are taken and not stored are missing in the file"]
    pub fn take_bytes(&mut self) -> Vec<u8> {
        self.recorder.take_bytes()
    }

    /// Ends the recording; the last bytes are ready for [`Recorded::take_bytes`].
    pub fn finish(&mut self, ending: Ending) {
        if self.phase == Phase::Records {
            self.recorder.end(ending);
        }
        self.phase = Phase::Over;
    }

    /// The file begins with the present state, before this turn of the match.
    fn start(&mut self, turn: Turn) {
        if self.phase == Phase::Over {
            return;
        }
        state::save(&mut self.game, &mut self.scratch);
        self.recorder.start(turn.0, &self.scratch);
        self.first = turn.0;
    }

    fn keep_keyframe(&mut self) {
        state::save(&mut self.game, &mut self.scratch);
        self.recorder.keyframe(&self.scratch);
        self.owes_keyframe = false;
    }

    fn note(&mut self, player: PlayerId, notice: Notice) {
        if self.phase == Phase::Records {
            self.recorder.notice(player, notice);
        }
    }
}

impl<S: Simulation + State> Simulation for Recorded<S> {
    type Action = S::Action;

    fn apply(&mut self, player: PlayerId, action: &S::Action) {
        if self.phase == Phase::Records {
            self.recorder.action(player, action);
        }
        self.game.apply(player, action);
    }

    fn step(&mut self, frames_per_second: u32) {
        if self.phase == Phase::Records {
            self.recorder.frame(frames_per_second);
        }
        self.game.step(frames_per_second);
    }

    fn checksum(&mut self) -> u64 {
        self.game.checksum()
    }

    fn turn_started(&mut self, turn: Turn, frames: u32) {
        if self.phase == Phase::Loaded {
            self.phase = Phase::Records;
            self.start(turn);
        }
        self.game.turn_started(turn, frames);
    }

    fn turn_ended(&mut self, turn: Turn, checksum: u64) {
        self.game.turn_ended(turn, checksum);
        if self.phase != Phase::Records {
            return;
        }
        self.recorder.end_turn(checksum);
        let turns = self.recorder.turns();
        if let Some(recent) = &mut self.recent {
            recent.push(turns, &mut self.game);
        }
        if self.owes_keyframe || (self.keyframe_every > 0 && turns.is_multiple_of(self.keyframe_every)) {
            self.keep_keyframe();
        }
        if self.recorder.total_bytes() > self.bytes_max {
            self.finish(Ending::Full);
        }
    }

    fn desync_found(&mut self, turn: Turn) {
        self.diverged(turn);
        self.game.desync_found(turn);
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
        let is_loaded = self.game.load_state(bytes);
        if is_loaded && self.phase != Phase::Over {
            self.phase = Phase::Loaded;
            self.recorder = Recorder::new(&self.header);
            self.file_index += 1;
            (self.owes_keyframe, self.is_marked) = (false, false);
            if let Some(recent) = &mut self.recent {
                recent.clear();
            }
        }
        is_loaded
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
