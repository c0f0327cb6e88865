//! A predicted course of the match: a copy of the game, the turns that it was told and that nobody has confirmed yet.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::drive::begun::{BegunTurn, BegunTurns, TurnDigest};
use crate::drive::driver::Driver;
use crate::drive::simulation::Simulation;
use crate::predict::game::Predict;
use crate::session::AnySession;
use crate::value::action::Action as _;
use crate::value::bits::BitWriter;
use crate::value::codec;
use crate::value::entry::Payload;
use crate::value::ids::{PlayerId, Turn};

/// Actions by player.
type ByPlayer = SmallVec<[Payload; 4]>;

/// A turn as it was predicted.
#[derive(Clone, Debug)]
struct PlannedTurn {
    begun: BegunTurn,
    actions: ByPlayer,
}

/// A predicted course.
pub(super) struct PredictedCourse<S> {
    pub(super) state: S,
    /// Number of frames that have passed, counted as [`Driver::position`].
    pub(super) position: u32,
    /// The next turn to begin here.
    next_turn: u32,
    frames_left: u32,
    /// 0: paused.
    frames_per_second: u32,
    /// The last frame that passed was one of a pause.
    pub(super) stands: bool,
    /// The turns that have begun here and not in the confirmed simulation.
    planned: VecDeque<PlannedTurn>,
    /// The next turn to be confirmed.
    unconfirmed: u32,
    /// Input mode: the last known inputs.
    held: ByPlayer,
    /// Something else is known by now than what was predicted.
    pub(super) is_wrong: bool,
}

impl<S: Predict> PredictedCourse<S> {
    pub(super) fn new(state: S) -> Self {
        Self {
            state,
            position: 0,
            next_turn: 0,
            frames_left: 0,
            frames_per_second: 0,
            stands: false,
            planned: VecDeque::new(),
            unconfirmed: 0,
            held: ByPlayer::new(),
            is_wrong: false,
        }
    }

    /// Starts again from the confirmed state.
    pub(super) fn start<D>(&mut self, driver: &Driver<D>, confirmed: &S)
    where
        D: Simulation<Action = S::Action>,
    {
        self.state.clone_from(confirmed);
        self.state.begin_prediction();
        let session = driver.session();
        (self.position, self.frames_left) = (driver.position(), driver.frames_left());
        (self.next_turn, self.unconfirmed) = (session.next_turn().0, session.next_turn().0);
        self.frames_per_second = if session.is_paused() { 0 } else { session.plan().frames_per_second };
        self.stands = driver.stands();
        self.planned.clear();
        self.is_wrong = false;
        self.held.clear();
        if session.config().input_mode {
            let last = self.next_turn.wrapping_sub(1);
            let input = |player| session.entry_actions(PlayerId(player), last).cloned();
            let none = || codec::zeros(session.codec().bits_max());
            self.held.extend((0..session.config().players).map(|player| input(player).unwrap_or_else(none)));
        }
    }

    /// Whether this follows another match, or another part of it.
    pub(super) fn is_of_later(&self, session: &AnySession) -> bool {
        session.next_turn().0 < self.unconfirmed
    }

    /// Compares with the turns that have begun since. Returns false if they are not known any more.
    pub(super) fn confirm(&mut self, begun: &BegunTurns) -> bool {
        let Some(turns) = begun.since(self.unconfirmed) else { return false };
        for turn in turns {
            self.unconfirmed = turn.turn + 1;
            self.is_wrong |= self.planned.pop_front().is_none_or(|planned| planned.begun != *turn);
        }
        true
    }

    /// Compares with what is known of the turns that have not begun. New actions of the local player in a turn that is under way here take
    /// effect at once; that comes a little late for the turn, and so the course has to be drawn again.
    pub(super) fn check(&mut self, session: &AnySession) {
        for PlannedTurn { begun, actions } in &mut self.planned {
            for (player, planned) in (0..).map(PlayerId).zip(actions.iter_mut()) {
                if session.is_taken_over(player) {
                    continue;
                }
                let Some(known) = session.expected_actions(player, begun.turn) else { continue };
                if known == *planned {
                    continue;
                }
                self.is_wrong = true;
                if session.player() == Some(player) && is_continued(planned, &known) {
                    let before = session.codec().count(planned) as usize;
                    let fresh = session.codec().actions(&known).skip(before);
                    fresh.for_each(|action| self.state.apply(player, &action));
                    *planned = known;
                }
            }
        }
    }

    /// The turns that have begun here, and in the confirmed simulation not, from this one on.
    pub(super) fn planned_from(&self, turn: u32) -> impl Iterator<Item = &BegunTurn> {
        self.planned.iter().map(|planned| &planned.begun).filter(move |begun| begun.turn >= turn)
    }

    /// Where the last turn begins in which the local player orders something that has not begun here, and that begins at this position or before.
    pub(super) fn own_order_begins(&self, session: &AnySession, until: u32) -> Option<u32> {
        let player = session.player().filter(|player| !session.is_taken_over(*player))?;
        let length = session.plan().frames_per_turn.max(1);
        let first = self.position.saturating_add(self.frames_left);
        let begins = (first..=until).step_by(length as usize);
        let held = self.held.get(player.index());
        let is_news = |turn| {
            let given = session.expected_actions(player, turn);
            given.is_some_and(|given| !given.is_none() && Some(&given) != held)
        };
        begins.zip(self.next_turn..).filter(|(_, turn)| is_news(*turn)).last().map(|(begins, _)| begins)
    }

    /// Simulates up to so many frames, as long as the match has turns. Returns how many it was.
    pub(super) fn run(&mut self, frames: u32, session: &AnySession) -> u32 {
        for done in 0..frames {
            if self.frames_left == 0 && !self.begin_turn(session) {
                return done;
            }
            self.stands = self.frames_per_second == 0;
            if !self.stands {
                self.state.step(self.frames_per_second);
            }
            self.position += 1;
            self.frames_left -= 1;
        }
        frames
    }

    /// Begins the next turn with what is known of it and with guesses. Returns false after the last one.
    fn begin_turn(&mut self, session: &AnySession) -> bool {
        let turn = self.next_turn;
        if session.last_turn().is_some_and(|last| last.0 < turn) {
            return false;
        }
        let mut told = TurnDigest::default();
        let mut actions: ByPlayer = (0..session.config().players).map(|_| Payload::none()).collect();
        for player in session.order_in(turn) {
            if session.is_taken_over(player) {
                if !session.is_paused() {
                    told.played_for(player);
                    self.state.play_for(player, Turn(turn));
                }
                continue;
            }
            let known = session.expected_actions(player, turn);
            let given = known.unwrap_or_else(|| self.guess(player, turn));
            told.actions(player, &given);
            session.codec().actions(&given).for_each(|action| self.state.apply(player, &action));
            if let Some(held) = self.held.get_mut(player.index()).filter(|_| !given.is_none()) {
                *held = given.clone();
            }
            actions[player.index()] = given;
        }
        let plan = session.plan();
        let begun = BegunTurn {
            turn,
            position: self.position,
            frames: plan.frames_per_turn,
            frames_per_second: if session.is_paused() { 0 } else { plan.frames_per_second },
            told: told.finish(),
        };
        (self.next_turn, self.frames_left) = (turn + 1, begun.frames);
        self.frames_per_second = begun.frames_per_second;
        self.planned.push_back(PlannedTurn { begun, actions });
        true
    }

    /// A player's actions in a turn that nobody knows yet.
    fn guess(&self, player: PlayerId, turn: u32) -> Payload {
        let guessed = self.state.guess(player, Turn(turn)).map(|action| {
            let mut writer = BitWriter::new();
            action.encode(&mut writer);
            writer
        });
        // One that cannot be written is none: a session would refuse it, too.
        match guessed.filter(|writer| writer.misfit().is_none()) {
            Some(writer) => Payload::new(writer.bytes(), writer.bit_count()),
            None => self.held.get(player.index()).cloned().unwrap_or_default(),
        }
    }
}

/// Whether the second list of actions is the first one and more.
fn is_continued(first: &Payload, second: &Payload) -> bool {
    second.bit_count() > first.bit_count() && Payload::new(second.bytes(), first.bit_count()) == *first
}
