//! A replayed match, which can go from any frame to any other in bounded steps.

use std::rc::Rc;

use testudo_lockstep::replay::{Divergence, Replay, ReplayPlayer};

use crate::app::Terms;
use crate::app::error::MatchError;
use crate::app::playback::budget::Budget;
use crate::app::playback::checking::Checking;
use crate::app::playback::keyframes::{Keyframes, TRAIL_MAX, Trail};
use crate::app::playback::story::{self, Story};
use crate::app::playback::timetable::Timetable;
use crate::game::{Game, Order};

/// A saved state this many turns ahead is worth loading.
const NEAR_TURNS: u32 = 8;

/// A replay, the match at one of its frames, and the comparison in the background.
///
/// It shows the states that follow from the orders. The file's keyframes are used to jump far ahead of the comparison. If the comparison
/// finds that a keyframe differs, everything derived from it is simulated again from an earlier state.
pub(crate) struct Course {
    replay: Rc<Replay>,
    terms: Terms,
    player: ReplayPlayer<Game>,
    timetable: Timetable,
    story: Story,
    keyframes: Keyframes,
    trail: Trail,
    checking: Checking,
    /// The frame to go to.
    target: u64,
    /// The frame at which the seek started.
    origin: u64,
    /// Turn of the file's keyframe from which the state and the trail come, if it has not been compared yet.
    rests_on: Option<u32>,
    /// Whether the game has accepted all keyframes of the file so far.
    uses_file: bool,
}

impl Course {
    /// A replay before its first frame.
    ///
    /// # Errors
    /// Settings out of range.
    pub(crate) fn new(replay: Replay, terms: Terms) -> Result<Self, MatchError> {
        let (replay, game) = (Rc::new(replay), Game::new(terms.setup)?);
        let mut player = ReplayPlayer::new(Rc::clone(&replay), game.clone());
        let mut start = Vec::new();
        player.save(&mut start);
        Ok(Self {
            timetable: Timetable::new(&replay),
            story: Story::of(&replay),
            keyframes: Keyframes::new(start),
            trail: Trail::default(),
            checking: Checking::new(Rc::clone(&replay), game),
            player,
            replay,
            terms,
            target: 0,
            origin: 0,
            rests_on: None,
            uses_file: true,
        })
    }

    pub(crate) fn replay(&self) -> &Replay {
        &self.replay
    }

    /// The setup of the match.
    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    pub(crate) fn timetable(&self) -> &Timetable {
        &self.timetable
    }

    pub(crate) fn story(&self) -> &Story {
        &self.story
    }

    /// The orders of a turn, with their players.
    pub(crate) fn orders(&self, turn: u32) -> impl Iterator<Item = (u8, Order)> + '_ {
        story::orders(&self.replay, turn)
    }

    /// The match at the present frame.
    pub(crate) fn game(&self) -> &Game {
        self.player.simulation()
    }

    /// Checksum of the match at the present frame.
    pub(crate) fn checksum(&self) -> u64 {
        self.game().checksum()
    }

    /// Frames that have run.
    pub(crate) fn frame(&self) -> u64 {
        self.timetable.start_of(self.player.turn()) + u64::from(self.player.frame())
    }

    /// The turn that runs, or runs next.
    pub(crate) fn turn(&self) -> u32 {
        self.player.turn()
    }

    /// The frame to go to.
    pub(crate) fn target(&self) -> u64 {
        self.target
    }

    /// Whether it has not yet reached the target frame.
    pub(crate) fn is_seeking(&self) -> bool {
        // A frame between two turns counts as after the following turns without frames.
        self.frame() != self.target || self.player.turn() != self.timetable.turn_at(self.target)
    }

    /// Simulated frames and all frames of the seek.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.frame().saturating_sub(self.origin), self.target.saturating_sub(self.origin))
    }

    /// The first of the compared turns that differs from the recording.
    pub(crate) fn divergence(&self) -> Option<Divergence> {
        self.checking.divergence()
    }

    /// The comparison in the background.
    pub(crate) fn checking(&self) -> &Checking {
        &self.checking
    }

    /// Sets the target frame, at most the last one. Loads a saved state if that is nearer, but simulates nothing yet.
    pub(crate) fn seek(&mut self, frame: u64) {
        self.target = frame.min(self.timetable.frames());
        if self.is_seeking() {
            self.jump();
        }
    }

    /// Simulates towards the target frame.
    pub(crate) fn work(&mut self, budget: &mut Budget) {
        while self.is_seeking() && budget.take() {
            if self.player.frame() == 0 {
                self.remember();
            }
            self.player.step_frame();
        }
    }

    /// Continues the comparison.
    pub(crate) fn check(&mut self, budget: &mut Budget) {
        self.checking.work(&mut self.keyframes, budget);
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
        let last = match self.checking.divergence() {
            None => Some(turn),
            Some(Divergence::Keyframe { turn: first }) => first.checked_sub(1).map(|last| last.min(turn)),
            Some(found) => Some(turn.min(found.turn())),
        };
        last.filter(|_| self.uses_file).and_then(|last| self.replay.keyframe_before(last))
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
