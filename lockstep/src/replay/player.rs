//! Plays a replay: forwards frame by frame, or to any turn through keyframes. It always compares the checksums.

use core::fmt;
use std::sync::Arc;

use crate::drive::simulation::Simulation;
use crate::replay::{Notice, Replay, TurnEvent};
use crate::state::{self, State, StateError};
use crate::value::bits::DecodeError;
use crate::value::ids::Turn;

/// Plays a [`Replay`].
pub struct ReplayPlayer<S> {
    replay: Arc<Replay>,
    game: S,
    /// Number of the first turn in the match.
    first: u32,
    /// The state before the first turn.
    start: Vec<u8>,
    /// The turn that is running, or runs next.
    turn: u32,
    /// Number of its frames that have run.
    frame: u32,
    /// Its actions have been applied.
    has_begun: bool,
    divergence: Option<Divergence>,
    scratch: Vec<u8>,
}

/// A difference between the simulation and the recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Divergence {
    /// The state after a turn.
    Checksum {
        /// The turn.
        turn: u32,
        /// The recorded checksum.
        recorded: u64,
        /// The simulation's checksum.
        found: u64,
    },
    /// The state before a turn differs from the keyframe.
    Keyframe {
        /// The turn.
        turn: u32,
    },
    /// An action that this game cannot decode.
    Action {
        /// The turn.
        turn: u32,
        /// The reason.
        error: DecodeError,
    },
}

/// Why a turn cannot be reached.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SeekError {
    /// The replay has fewer turns.
    Beyond {
        /// Number of turns that it has.
        turns: u32,
    },
    /// The game refuses the state that [`ReplayPlayer::restore`] was given. The player is at the first turn now.
    Keyframe {
        /// The turn of the state.
        turn: u32,
        /// The reason.
        error: StateError,
    },
    /// The game refuses its own state before the first turn: it cannot save or load. The player stays where it was, if the game did.
    Start {
        /// The reason.
        error: StateError,
    },
}

impl<S: Simulation + State> ReplayPlayer<S> {
    /// `game` is the game in its state before the first turn, created from the replay's header. Several players can share a replay. A replay
    /// that begins in the middle of a match brings its first state along ([`Replay::start`]).
    pub fn new(replay: impl Into<Arc<Replay>>, mut game: S) -> Self {
        let replay = replay.into();
        let (mut start, mut divergence) = (Vec::new(), None);
        state::save(&mut game, &mut start);
        if let Some((_, state)) = replay.start() {
            match state::load(&mut game, state) {
                Ok(()) => start = state.to_vec(),
                Err(_) => {
                    // The game cannot refuse its own state.
                    let _ = state::load(&mut game, &start);
                    divergence = Some(Divergence::Keyframe { turn: 0 });
                }
            }
        }
        Self {
            first: replay.start().map_or(0, |(turn, _)| turn),
            replay,
            game,
            start,
            turn: 0,
            frame: 0,
            has_begun: false,
            divergence,
            scratch: Vec::new(),
        }
    }

    /// The replay.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// The game in its present state.
    pub fn simulation(&self) -> &S {
        &self.game
    }

    /// The game's checksum in its present state.
    pub fn checksum(&mut self) -> u64 {
        self.game.checksum()
    }

    /// The turn that is running, or runs next.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// Number of frames of that turn that have run.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// Whether all turns have run.
    pub fn is_over(&self) -> bool {
        self.turn == self.replay.turns()
    }

    /// The first difference from the recording that was seen so far.
    pub fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }

    /// Runs one frame; in a paused turn, the whole turn. False if all turns have run.
    pub fn step_frame(&mut self) -> bool {
        let Some((events, recorded)) = self.replay.turn(self.turn) else { return false };
        let (frames, rate) = (events.frames, events.frames_per_second);
        if !self.has_begun {
            self.begin_turn();
        }
        if self.frame < frames {
            self.game.step(rate);
            self.frame += 1;
        }
        if self.frame == frames {
            let found = self.game.checksum();
            self.game.turn_ended(Turn(self.first.wrapping_add(self.turn)), found);
            if let Some(recorded) = recorded.filter(|recorded| *recorded != found) {
                self.note(Divergence::Checksum { turn: self.turn, recorded, found });
            }
            (self.turn, self.frame, self.has_begun) = (self.turn + 1, 0, false);
        }
        true
    }

    /// Runs to the end of the turn. False if all turns have run.
    pub fn step_turn(&mut self) -> bool {
        let turn = self.turn;
        while self.turn == turn {
            if !self.step_frame() {
                return false;
            }
        }
        true
    }

    /// Goes to the start of a turn, forwards or backwards: from the last sound keyframe before it, or from the present position if that is
    /// nearer.
    ///
    /// A keyframe is sound if the game accepts it, and if it has the checksum that was recorded for the turn before it. Another one is noted as
    /// a divergence and passed over: the player goes on from an earlier keyframe, or from the first turn. None is used beyond the first
    /// divergence that is known, nor beyond [`Replay::desync`], where the recording is not what the orders lead to, or may not be.
    ///
    /// The turns that a jump leaves out are not compared. If the recording went wrong in one of them, and so did its later checksums and
    /// keyframes, the state is the recorded one. Play from the first turn ([`Replay::verify`]) where that matters; [`crate::replay::ReplayViewer`]
    /// does so in the background.
    ///
    /// # Errors
    /// [`SeekError::Beyond`], and [`SeekError::Start`] of a game that cannot load what it has saved.
    pub fn seek(&mut self, turn: u32) -> Result<(), SeekError> {
        let turns = self.replay.turns();
        if turn > turns {
            return Err(SeekError::Beyond { turns });
        }
        let is_ahead = self.turn > turn || (self.turn == turn && self.has_begun);
        let from = self.keyframe_to_use(turn).unwrap_or(0);
        if is_ahead || from > self.turn {
            self.load_before(turn)?;
        }
        while self.turn < turn && self.step_turn() {}
        Ok(())
    }

    /// The turn of the last keyframe at or before a turn that is not known to be wrong. The state before the first turn is known without.
    fn keyframe_to_use(&self, turn: u32) -> Option<u32> {
        let sound = self.divergence.map_or(u32::MAX, |found| found.sound_until());
        let agreed = self.replay.desync().unwrap_or(u32::MAX);
        let last = self.replay.keyframe_before(turn.min(sound).min(agreed));
        last.map(|(at, _)| at).filter(|at| *at > 0)
    }

    /// Loads the last sound keyframe at or before a turn, or the start.
    fn load_before(&mut self, turn: u32) -> Result<(), SeekError> {
        let mut last = turn;
        while let Some(at) = self.keyframe_to_use(last) {
            if self.load_keyframe(at) {
                (self.turn, self.frame, self.has_begun) = (at, 0, false);
                return Ok(());
            }
            self.note(Divergence::Keyframe { turn: at });
            last = at - 1;
        }
        self.go_to_start()
    }

    /// Whether the game accepts the keyframe of a turn that is not the first one, and has the checksum recorded for the turn before. A brief
    /// replay, which has no such checksum, has no keyframes.
    fn load_keyframe(&mut self, turn: u32) -> bool {
        let Some(state) = self.replay.keyframe(turn) else { return false };
        let recorded = self.replay.turn(turn - 1).and_then(|(_, checksum)| checksum);
        state::load(&mut self.game, state).is_ok() && recorded == Some(self.game.checksum())
    }

    fn go_to_start(&mut self) -> Result<(), SeekError> {
        state::load(&mut self.game, &self.start).map_err(|error| SeekError::Start { error })?;
        (self.turn, self.frame, self.has_begun) = (0, 0, false);
        Ok(())
    }

    /// Writes the present state into `out`, which is cleared first.
    pub fn save(&mut self, out: &mut Vec<u8>) {
        state::save(&mut self.game, out);
    }

    /// Goes to the start of a turn with the state that [`ReplayPlayer::save`] wrote there. The caller must make sure that it is the state
    /// that the replay leads to.
    ///
    /// # Errors
    /// [`SeekError`].
    pub fn restore(&mut self, turn: u32, state: &[u8]) -> Result<(), SeekError> {
        let turns = self.replay.turns();
        if turn > turns {
            return Err(SeekError::Beyond { turns });
        }
        if let Err(error) = state::load(&mut self.game, state) {
            self.go_to_start()?;
            return Err(SeekError::Keyframe { turn, error });
        }
        (self.turn, self.frame, self.has_begun) = (turn, 0, false);
        Ok(())
    }

    /// Compares the state with the keyframe of this turn, if there is one; a difference is noted as a divergence.
    pub fn check_keyframe(&mut self) {
        let Some(recorded) = self.replay.keyframe(self.turn).filter(|_| !self.has_begun) else { return };
        state::save(&mut self.game, &mut self.scratch);
        if self.scratch != recorded {
            self.note(Divergence::Keyframe { turn: self.turn });
        }
    }

    fn begin_turn(&mut self) {
        self.has_begun = true;
        let Some((mut events, _)) = self.replay.turn(self.turn) else { return };
        let turn = Turn(self.first.wrapping_add(self.turn));
        self.game.turn_started(turn, events.frames);
        loop {
            match events.next_event::<S::Action>() {
                Ok(None) => return,
                Ok(Some(TurnEvent::Action(player, action))) => self.game.apply(player, &action),
                Ok(Some(TurnEvent::Notice(player, notice))) => match notice {
                    Notice::Gone => self.game.player_gone(player, turn),
                    Notice::Surrendered => self.game.player_surrendered(player, turn),
                    Notice::TakenOver => self.game.player_taken_over(player, turn),
                    Notice::PlayedFor => self.game.play_for(player, turn),
                    Notice::Returned => self.game.player_returned(player, turn),
                },
                Err(error) => {
                    self.note(Divergence::Action { turn: self.turn, error });
                    return;
                }
            }
        }
    }

    fn note(&mut self, found: Divergence) {
        if self.divergence.is_none_or(|known| known.turn() > found.turn()) {
            self.divergence = Some(found);
        }
    }
}

impl Divergence {
    /// The first turn that differs.
    #[must_use]
    pub fn turn(&self) -> u32 {
        match *self {
            Self::Checksum { turn, .. } | Self::Keyframe { turn } | Self::Action { turn, .. } => turn,
        }
    }

    /// Keyframes of later turns than this one differ from what the orders lead to, or come after a state that does.
    pub(crate) fn sound_until(&self) -> u32 {
        match *self {
            Self::Keyframe { turn } => turn.saturating_sub(1),
            // The state after that turn already differs.
            Self::Checksum { turn, .. } | Self::Action { turn, .. } => turn,
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checksum { turn, recorded, found } => {
                write!(f, "turn {turn}: recorded {recorded:016x}, found {found:016x}")
            }
            Self::Keyframe { turn } => {
                write!(f, "turn {turn}: the state before it differs from the keyframe")
            }
            Self::Action { turn, error } => {
                write!(f, "turn {turn}: the game cannot decode an action: {error}")
            }
        }
    }
}

impl fmt::Display for SeekError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beyond { turns } => write!(f, "the replay has {turns} turns"),
            Self::Keyframe { turn, error } => write!(f, "the state before turn {turn}: {error}"),
            Self::Start { error } => write!(f, "the state before the first turn: {error}"),
        }
    }
}

impl core::error::Error for SeekError {}
