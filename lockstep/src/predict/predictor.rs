//! The predicted game that is shown, and the one that takes its place when something else turns out to be true.

use std::collections::VecDeque;

use crate::drive::begun::{BegunTurn, BegunTurns};
use crate::drive::driver::Driver;
use crate::drive::simulation::Simulation;
use crate::predict::game::Predict;
use crate::predict::lead::{FRAME, Lead};
use crate::predict::predicted_course::PredictedCourse;
use crate::session::SessionPhase;
use crate::value::time::Instant;

/// Default limit of frames ahead: three turns of a third of a second at 20 frames per second.
const DEPTH_MAX: u32 = 20;

/// So many corrections in a row that were done at once let the prediction reach one frame further again.
const QUICK_MIN: u32 = 8;

/// What one call of [`Predictor::follow`] did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Followed {
    /// Number of frames that were simulated.
    pub frames: u32,
    /// Number of frames by which the prediction is ahead now.
    pub depth: u32,
    /// The shown state was exchanged for one that holds what is known by now.
    pub corrected: bool,
    /// A correction is under way and will be shown later, because the frames of this call were not enough.
    pub is_behind: bool,
    /// What is shown has gone on by more than twice the time that has passed, because an own order does not wait for the lead: by up to the frames that
    /// it was short of. A renderer that has noted where things were drawn in the last picture lets them glide on.
    pub leapt: bool,
}

/// The shown state is exchanged for another one of the same frame.
#[derive(Debug)]
#[non_exhaustive]
pub struct Correction<'a, S> {
    /// What was shown up to now.
    pub before: &'a S,
    /// What is shown from now on.
    pub after: &'a S,
    /// How much of the time to the next frame has passed where both are to be compared, 0..=65,536: at the next picture, or at the frame's end if that has
    /// passed by then. If pictures are drawn between two frames, whole frames would not do: a unit that turns round jumped by up to a frame's way.
    pub alpha: u32,
    /// The same in `after`. It differs where a pause begins or ends: whichever stands still is drawn at 65,536.
    pub alpha_after: u32,
}

/// What was said of turns when they were shown for the first time, until they run.
#[derive(Clone, Debug, Default)]
struct FirstShown {
    turns: VecDeque<BegunTurn>,
    /// The first turn that was not shown yet.
    next: u32,
}

impl FirstShown {
    fn note<S: Predict>(&mut self, course: &PredictedCourse<S>) {
        self.turns.extend(course.planned_from(self.next));
        self.next = self.turns.back().map_or(self.next, |turn| self.next.max(turn.turn + 1));
    }

    fn compare(&mut self, begun: &BegunTurns, stats: &mut PredictionStats) {
        let Some(first) = self.turns.front().map(|turn| turn.turn) else { return };
        let Some(begun) = begun.since(first) else {
            self.turns.clear();
            return;
        };
        for turn in begun {
            if let Some(shown) = self.turns.pop_front_if(|shown| shown.turn == turn.turn) {
                let count =
                    if shown.told == turn.told { &mut stats.turns_right } else { &mut stats.turns_wrong };
                *count += 1;
            }
        }
    }
}

/// What a predictor has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PredictionStats {
    /// Turns that have run just as they were first shown, ...
    pub turns_right: u64,
    /// ... and those in which something else was ordered, by anybody.
    pub turns_wrong: u64,
    /// Number of corrections.
    pub corrections: u64,
    /// Frames that were simulated, those of corrections included.
    pub frames: u64,
    /// How often the confirmed state was copied.
    pub copies: u64,
}

/// Shows the match as it will probably be when the local player's orders of this moment run: a copy of the game, a few frames ahead of the
/// confirmed one.
///
/// In lockstep an order runs two turns after it was given. The predicted game has run those two turns already, with the orders that are known: the local
/// player's, those of the others that have arrived, and nothing or a guess ([`Predict::guess`]) for the rest. So the units begin to move in the next frame.
/// When a turn runs as predicted, nothing is simulated again. When not, a second copy is made from the confirmed state and simulated up to the same frame; then
/// it is shown instead. Each call may simulate a given number of frames; a correction that needs more goes on in the next calls. If corrections take longer
/// than a turn, the prediction reaches less far, and orders are seen that much later.
///
/// How far it reaches depends on the length of turns, on the time that corrections take, and on [`Predictor::set_depth_max`]. When that changes, nothing jumps:
/// the shown game runs twice as fast as the match, or half as fast, until it is where it should be. So a new predictor takes as many frames to get ahead as it
/// will be ahead. Only an own order does not wait for that: the shown game leaps to its turn ([`Followed::leapt`]).
///
/// The confirmed game cannot depend on any of this: a predictor only borrows the driver and the confirmed state, and lends its own state as `&S`. It does no IO
/// and reads no clock.
///
/// ```
/// # use testudo_lockstep::*;
/// # #[derive(Clone, Debug, Default)] struct Game { x: i64 }
/// # struct Push; impl Action for Push { const MAX_BITS: u32 = 1;
/// #   fn encode(&self, out: &mut BitWriter) { out.write_bool(true) }
/// #   fn decode(i: &mut BitReader<'_>) -> Result<Self, DecodeError> { if i.read_bool()? { Ok(Push) } else { Err(DecodeError::NotCanonical) } } }
/// # impl Simulation for Game { type Action = Push;
/// #   fn apply(&mut self, _: PlayerId, _: &Push) { self.x += 10 }
/// #   fn step(&mut self, _: u32) {} fn checksum(&mut self) -> u64 { self.x as u64 } }
/// use testudo_lockstep::predict::{Predict, Predictor};
///
/// impl Predict for Game {}
///
/// let config = SessionConfig::new(1).turns(50);
/// let mut driver = Driver::new(Game::default(), Session::single(config, Instant::ZERO).unwrap());
/// let mut predictor = Predictor::new(driver.simulation());
/// for picture in 0..28 {
///     if picture == 18 {
///         driver.session_mut().submit(&Push).unwrap();
///     }
///     let now = Instant::from_millis(picture * 50);
///     driver.advance(now);
///     predictor.follow(&driver, driver.simulation(), now, 8);
///     // The order is confirmed two turns later.
///     assert_eq!(predictor.simulation().x, if picture < 18 { 0 } else { 10 });
///     assert_eq!(driver.simulation().x, 0);
/// }
/// assert_eq!(predictor.stats().corrections, 1);
/// ```
pub struct Predictor<S> {
    shown: PredictedCourse<S>,
    /// Takes the place of `shown` when it has come as far.
    spare: PredictedCourse<S>,
    /// The position of the match when the correction began that is under way in `spare`.
    correcting: Option<u32>,
    depth_max: u32,
    lead: Lead,
    /// The last call had no frame left for it.
    has_waited: bool,
    /// What this machine has time for.
    reach: u32,
    /// Corrections in a row that were done at once.
    quick: u32,
    /// Another state must be copied first.
    is_lost: bool,
    states_loaded: u32,
    first_shown: FirstShown,
    stats: PredictionStats,
}

impl<S: Predict> Predictor<S> {
    /// A predictor that shows the confirmed state until it is told to follow. It keeps two copies.
    #[must_use]
    pub fn new(confirmed: &S) -> Self {
        let course = || {
            let mut state = confirmed.clone();
            state.begin_prediction();
            PredictedCourse::new(state)
        };
        Self {
            shown: course(),
            spare: course(),
            correcting: None,
            depth_max: DEPTH_MAX,
            lead: Lead::default(),
            has_waited: false,
            reach: u32::MAX,
            quick: 0,
            is_lost: true,
            states_loaded: 0,
            first_shown: FirstShown::default(),
            stats: PredictionStats::default(),
        }
    }

    /// Greatest number of frames ahead. Default 20. Orders are seen at once if it is not below the frames of three turns (of one
    /// more than [`crate::SessionConfig::turns_ahead`]), less one.
    #[must_use]
    pub fn depth_max(self, frames: u32) -> Self {
        Self { depth_max: frames, ..self }
    }

    /// [`Predictor::depth_max`] at any time. With 0, the shown game falls back to the confirmed one: when [`Predictor::ahead`] is 0, a predictor can be
    /// dropped, and nothing jumps.
    pub fn set_depth_max(&mut self, frames: u32) {
        self.depth_max = frames;
    }

    /// The predicted game.
    #[must_use]
    pub fn simulation(&self) -> &S {
        &self.shown.state
    }

    /// How much of the time to its next frame has passed in the predicted game, 0..=65,536: as [`Driver::alpha`] says it of the confirmed one, for
    /// drawing between two states. It stands still while the prediction waits for time to be simulated in.
    #[must_use]
    pub fn alpha(&self) -> u32 {
        self.alpha_in(&self.shown)
    }

    /// The same in any course that has come as far as the one that is shown.
    fn alpha_in(&self, course: &PredictedCourse<S>) -> u32 {
        if course.stands { FRAME } else { self.lead.alpha(self.shown.position) }
    }

    /// Time by which pictures are ahead of the confirmed game, in 65,536ths of a frame.
    #[must_use]
    pub fn ahead(&self) -> u64 {
        self.lead.ahead()
    }

    /// What happened so far.
    #[must_use]
    pub fn stats(&self) -> PredictionStats {
        self.stats
    }

    /// Starts again from the confirmed state in the next call. To be called when the game was changed by other means than the driver's.
    pub fn forget(&mut self) {
        self.is_lost = true;
    }

    /// Follows the match: call it after each [`Driver::advance`], also if no frame has passed. `confirmed` is the game in the driver: its simulation,
    /// or what that wraps. `now` is the time of the next picture. At most `frames` frames are simulated, and at most one copy is made.
    ///
    /// Two frames per call are enough where a picture is drawn for each frame of the simulation; a correction then takes as many calls as the
    /// prediction is deep. With 0 the prediction stands still until the match has caught up with it.
    pub fn follow<D>(&mut self, driver: &Driver<D>, confirmed: &S, now: Instant, frames: u32) -> Followed
    where
        D: Simulation<Action = S::Action>,
    {
        self.follow_with(driver, confirmed, now, frames, |_| {})
    }

    /// Like [`Predictor::follow`]. `corrected` is called if the shown state is exchanged, so that what was drawn at the wrong position can glide to the right
    /// one ([`crate::predict::Glide`]).
    pub fn follow_with<D>(
        &mut self,
        driver: &Driver<D>,
        confirmed: &S,
        now: Instant,
        frames: u32,
        mut corrected: impl FnMut(&Correction<'_, S>),
    ) -> Followed
    where
        D: Simulation<Action = S::Action>,
    {
        let session = driver.session();
        let (here, mut left) = (driver.position(), frames);
        let copies = self.stats.copies;
        let mut followed = Followed::default();
        self.take_stock(driver, confirmed);
        self.lead.pass(here, driver.passed_part(now), self.depth(driver));
        followed.leapt = self.hurry(driver);
        if self.shown.is_wrong && self.correcting.is_none() && self.stats.copies == copies {
            self.copy(driver, confirmed);
        }
        if let Some(since) = self.correcting {
            let missing = |courses: &Self| courses.shown.position.saturating_sub(courses.spare.position);
            if missing(self) > left {
                // What is seen goes on moving meanwhile. A single frame goes to both in turns.
                let due = self.lead.position().saturating_sub(self.shown.position);
                let share = if left == 1 { u32::from(!self.has_waited) } else { left / 2 };
                left -= self.shown.run(due.min(share), session);
            }
            let wanted = missing(self);
            let allowed = wanted.min(left);
            self.has_waited = allowed == 0;
            let done = self.spare.run(allowed, session);
            left -= done;
            // After the last turn there are no more frames.
            if done == wanted || done < allowed {
                corrected(&Correction {
                    before: &self.shown.state,
                    after: &self.spare.state,
                    alpha: self.alpha(),
                    alpha_after: self.alpha_in(&self.spare),
                });
                self.exchange(here - since, driver);
                followed.corrected = true;
                followed.leapt |= self.hurry(driver);
            }
        }
        let due = self.lead.position().saturating_sub(self.shown.position);
        left -= self.shown.run(due.min(left), session);
        self.lead.hold(self.shown.position);
        self.first_shown.note(&self.shown);
        followed.frames = frames - left;
        followed.depth = self.shown.position.saturating_sub(here);
        followed.is_behind = self.correcting.is_some();
        self.stats.frames += u64::from(followed.frames);
        followed
    }

    /// Compares both courses with what is known, and starts again where that is of no use.
    fn take_stock<D>(&mut self, driver: &Driver<D>, confirmed: &S)
    where
        D: Simulation<Action = S::Action>,
    {
        let (begun, here) = (driver.begun(), driver.position());
        let loaded = core::mem::replace(&mut self.states_loaded, begun.states_loaded);
        // Positions never go back within a match.
        let is_another_match = self.shown.is_of_later(driver.session()) || here < self.lead.here();
        if is_another_match {
            self.first_shown = FirstShown::default();
        }
        let is_lost = core::mem::take(&mut self.is_lost) || loaded != begun.states_loaded || is_another_match;
        self.first_shown.compare(begun, &mut self.stats);
        if is_lost || !self.shown.confirm(begun) || self.shown.position < here {
            self.shown.start(driver, confirmed);
            self.correcting = None;
            self.stats.copies += 1;
            return;
        }
        self.shown.check(driver.session());
        if self.correcting.is_some() {
            if !self.spare.confirm(begun) || self.spare.position < here {
                self.copy(driver, confirmed);
                return;
            }
            self.spare.check(driver.session());
        }
    }

    /// Begins a correction.
    fn copy<D>(&mut self, driver: &Driver<D>, confirmed: &S)
    where
        D: Simulation<Action = S::Action>,
    {
        self.spare.start(driver, confirmed);
        self.correcting.get_or_insert(driver.position());
        self.stats.copies += 1;
    }

    /// Shows the corrected course; the correction took so many frames of the match.
    fn exchange<D>(&mut self, took: u32, driver: &Driver<D>)
    where
        D: Simulation<Action = S::Action>,
    {
        core::mem::swap(&mut self.shown, &mut self.spare);
        self.correcting = None;
        self.stats.corrections += 1;
        self.quick = if took == 0 { self.quick + 1 } else { 0 };
        let turn = driver.session().plan().frames_per_turn;
        let whole = whole_depth(driver);
        if took > turn {
            self.reach = self.reach.min(whole).saturating_sub(1).max(1);
        } else if self.quick >= QUICK_MIN {
            (self.quick, self.reach) = (0, self.reach.saturating_add(1));
        }
    }

    /// The lead grows at once if an own order does not run in the shown game yet. Returns whether it did.
    fn hurry<D>(&mut self, driver: &Driver<D>) -> bool
    where
        D: Simulation<Action = S::Action>,
    {
        let session = driver.session();
        if session.phase() == SessionPhase::Lobby || session.is_joining() || session.is_catching_up() {
            self.lead.lose();
            return false;
        }
        let until = driver.position().saturating_add(self.depth(driver));
        let begins = self.shown.own_order_begins(session, until);
        // Its first frame is to be seen.
        begins.is_some_and(|position| self.lead.leap((position + 1).min(until)))
    }

    /// How far ahead the prediction should be.
    fn depth<D>(&self, driver: &Driver<D>) -> u32
    where
        D: Simulation<Action = S::Action>,
    {
        whole_depth(driver).min(self.reach).min(self.depth_max)
    }
}

/// The least number of frames ahead at which a prediction has always begun the turn in which an order runs that is given now.
fn whole_depth<D: Simulation>(driver: &Driver<D>) -> u32 {
    let session = driver.session();
    let turns = session.config().turns_ahead.saturating_add(1);
    turns.saturating_mul(session.plan().frames_per_turn).saturating_sub(1)
}
