//! The loop around a session and a simulation: accumulated time becomes frames, frames become turns.

use core::num::NonZeroU32;

use crate::drive::begun::{BegunTurn, BegunTurns, TurnDigest};
use crate::drive::simulation::Simulation;
use crate::drive::work::{FRAMES_PER_CALL_MAX, Work};
use crate::pace::playout::Playout;
use crate::session::{Session, TurnStatus};
use crate::value::entry::EndReason;
use crate::value::ids::{Frame, Turn};
use crate::value::time::{Duration, FrameRate, Instant};

/// Default number of frames that one call simulates at most while it catches up with a running match.
const CATCH_UP_FRAMES_MAX: u32 = 16;

/// One frame in the unit of accumulated time. Each microsecond adds the pace in frames per 1,000 seconds, so that 60 frames are exactly one
/// second.
const FRAME: u64 = 1_000_000_000;

/// The whole way between two states, in the unit of drawing.
const FRAME_DRAWN: u32 = 1 << 16;

/// What one call of [`Driver::advance`] did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Advance {
    /// Number of frames that passed, also in a paused turn.
    pub frames: u32,
    /// Number of turns that began.
    pub turns: u32,
    /// The simulation waits because the next turn is not ready.
    pub stalled: bool,
}

/// Runs a simulation at the pace of a session.
pub struct Driver<S: Simulation> {
    simulation: S,
    session: Session<S::Action>,
    /// Frames left in the turn that has begun.
    frames_left: u32,
    /// The turn that has begun.
    turn: Turn,
    frames: u32,
    /// Time not simulated yet, in fractions of a frame.
    accumulated: u64,
    /// Time for which the simulation has waited, in fractions of a frame, beyond the stalled frames that were counted.
    stalled: Option<u64>,
    last: Option<Instant>,
    playout: Option<Playout>,
    /// Number of frames that passed, also in paused turns.
    passed: u32,
    /// Number of frames that the playout buffer knows of.
    noted: u32,
    catch_up_frames: u32,
    /// The last frame that passed was not simulated: what is drawn stands still until the next one.
    stands: bool,
    has_told_desync: bool,
    begun: BegunTurns,
    work: Work,
}

impl<S: Simulation> Driver<S> {
    /// Combines a simulation, in its state before frame 0, with its session.
    pub fn new(simulation: S, session: Session<S::Action>) -> Self {
        Self {
            simulation,
            session,
            frames_left: 0,
            turn: Turn(0),
            frames: 0,
            accumulated: 0,
            stalled: None,
            last: None,
            playout: None,
            passed: 0,
            noted: 0,
            catch_up_frames: CATCH_UP_FRAMES_MAX,
            stands: false,
            has_told_desync: false,
            begun: BegunTurns::new(),
            work: Work::default(),
        }
    }

    /// Plays a one-way stream: frames run when the buffer says that they are due. For watchers.
    #[must_use]
    pub fn with_playout(self, playout: Playout) -> Self {
        Self { playout: Some(playout), ..self }
    }

    /// Greatest number of frames that one call of [`Driver::advance`] simulates while it catches up with a running match.
    /// Default 16: with 60 calls per second this is 48 times the speed of a match with 20 frames per second.
    #[must_use]
    pub fn catch_up_frames(self, frames: NonZeroU32) -> Self {
        Self { catch_up_frames: frames.get(), ..self }
    }

    /// The playout buffer, if there is one.
    pub fn playout(&self) -> Option<&Playout> {
        self.playout.as_ref()
    }

    /// Advances time to `now`: simulates the frames that are due, at most four; while it catches up with a running match, [`Driver::catch_up_frames`].
    pub fn advance(&mut self, now: Instant) -> Advance {
        self.advance_with(now, |_, _, _| {})
    }

    /// Like [`Driver::advance`]. `at_turn` is called at the start of each turn, before the turn's actions are applied, with the state after
    /// the turn before. Actions that it submits go into the entry that closes now; this is the place for bots.
    pub fn advance_with(
        &mut self,
        now: Instant,
        mut at_turn: impl FnMut(Turn, &S, &mut Session<S::Action>),
    ) -> Advance {
        self.session.handle_timeout(now);
        let mut advance = Advance::default();
        self.tell_desync();
        self.take_state();
        if self.session.wants_save() {
            let mut state = Vec::new();
            let saved = self.simulation.save_state(&mut state);
            self.session.give_save(saved.then_some(state.as_slice()));
        }
        if self.session.phase() == crate::SessionPhase::Lobby || self.session.is_joining() {
            return advance;
        }
        let behind = self.session.is_catching_up();
        let frames_max = if behind { self.catch_up_frames } else { FRAMES_PER_CALL_MAX };
        self.pass_time(now);
        if behind {
            self.work.spoil_round();
            self.accumulated = u64::from(frames_max) * FRAME;
        }
        while self.accumulated >= FRAME && advance.frames < frames_max {
            if self.frames_left == 0 {
                if let TurnStatus::Ready(turn) = self.session.turn_status() {
                    at_turn(turn, &self.simulation, &mut self.session);
                    if self.session.may_save_start(turn) {
                        self.session.note_start(self.simulation.checksum());
                    }
                }
                match self.session.begin_turn(now) {
                    TurnStatus::Ready(turn) => self.start_turn(turn),
                    TurnStatus::Waiting => {
                        self.stall();
                        advance.stalled = true;
                        break;
                    }
                    TurnStatus::Over => {
                        self.accumulated = FRAME;
                        break;
                    }
                }
                advance.turns += 1;
            }
            self.run_frame(now);
            advance.frames += 1;
        }
        if behind {
            // The buffer starts with the frames after these.
            self.noted = self.passed;
        }
        advance
    }

    /// Takes how long this round of the program's loop kept the machine at work: `simulated` is the time in [`Driver::advance`], `drawn` that of everything
    /// else, above all drawing. Waiting for the screen, for the network, or in sleep is no work. Call it once per round, at its end.
    ///
    /// From this follows whether the machine keeps up. A frame must last as long as simulating it and a quarter of drawing a picture take: one call simulates
    /// up to four frames, so a machine that draws slowly shows fewer pictures, and nobody need wait for it. If that is longer than a frame lasts, the others
    /// are told: with [`Pace::Adaptive`](crate::Pace::Adaptive) everybody's frames take longer, and with every pace
    /// [`PlayerReport::blame`](crate::PlayerReport::blame) names the player. With [`Pace::Article`](crate::Pace::Article) the frames become as long, but never
    /// shorter than they were set.
    ///
    /// The mean of the last second or two counts, and in it a frame as two at most. So a single hiccup, however long, slows nobody, and a slow machine makes
    /// frames last at most twice as long for good. Rounds without frames are left out, and rounds that run frames of a pause, catch up with the match, or load
    /// its state. A watcher's machine delays nobody, and the others are not told of it.
    pub fn note_work(&mut self, simulated: Duration, drawn: Duration) {
        let [simulated, drawn] = [simulated, drawn].map(|span| self.session.at_full_speed(span));
        let needed = self.work.end_round(simulated, drawn, self.session.config());
        if let Some(needed) = needed.filter(|_| self.session.player().is_some()) {
            self.session.note_frame_of_full_speed(needed);
        }
    }

    /// When [`Driver::advance`] has something to do, unless a packet arrives before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let session = self.session.poll_timeout();
        let runs = self.session.turn_status() != TurnStatus::Over && !self.session.is_joining();
        let Some(last) = self.last.filter(|_| runs) else { return session };
        let has_frames = self.frames_left > 0 || matches!(self.session.turn_status(), TurnStatus::Ready(_));
        if self.session.is_catching_up() && has_frames {
            return Some(last);
        }
        let missing = match self.stalled {
            Some(stalled) => FRAME.saturating_sub(stalled),
            None => FRAME.saturating_sub(self.accumulated),
        };
        let rate = self.rate();
        let mut frame = last + Duration::from_micros(missing.div_ceil(rate));
        if let (Some(playout), None) = (&self.playout, self.stalled) {
            frame = playout.due_at(self.passed).map_or(frame, |due| due.max(last + Duration::from_micros(1)));
        }
        Some(session.map_or(frame, |session| session.min(frame)))
    }

    /// How much of the time between the last frame and the next one has passed at the last call of [`Driver::advance`], 0..=65,536: for drawing between two
    /// states. The physics' interpolation uses the same unit. In a pause, and after the last turn, it is 65,536.
    #[must_use]
    pub fn alpha(&self) -> u32 {
        self.last.map_or(0, |last| self.alpha_at(last))
    }

    /// [`Driver::alpha`] at a time after the last call of [`Driver::advance`]. It stands still while the simulation waits for a turn. With
    /// a playout buffer, the buffer decides when the next frame is due.
    #[must_use]
    pub fn alpha_at(&self, now: Instant) -> u32 {
        if self.stands { FRAME_DRAWN } else { self.passed_part(now) }
    }

    /// [`Driver::alpha_at`], which also goes on in a pause.
    pub(crate) fn passed_part(&self, now: Instant) -> u32 {
        let rate = self.rate();
        if let Some(due) = self.playout.as_ref().and_then(|playout| playout.due_at(self.passed)) {
            let missing = due.since(now).as_micros().saturating_mul(rate);
            return alpha_of(FRAME.saturating_sub(missing));
        }
        let passed = self.last.map_or(0, |last| now.since(last).as_micros().saturating_mul(rate));
        alpha_of(self.accumulated.saturating_add(passed))
    }

    /// The simulation.
    pub fn simulation(&self) -> &S {
        &self.simulation
    }

    /// The simulation, mutable. Any difference from other peers after a change is a divergence.
    pub fn simulation_mut(&mut self) -> &mut S {
        // Before the program ends a recording.
        self.tell_desync();
        &mut self.simulation
    }

    /// The session.
    pub fn session(&self) -> &Session<S::Action> {
        &self.session
    }

    /// The session, mutable: to submit actions, to pass packets in, to take events.
    pub fn session_mut(&mut self) -> &mut Session<S::Action> {
        &mut self.session
    }

    /// The next frame to simulate, which is the number of frames simulated so far.
    pub fn frame(&self) -> Frame {
        Frame(self.frames)
    }

    /// The turns that have begun last.
    pub(crate) fn begun(&self) -> &BegunTurns {
        &self.begun
    }

    /// Number of frames that have passed, those of paused turns included.
    pub(crate) fn position(&self) -> u32 {
        self.passed
    }

    /// The last frame that passed was one of a pause.
    pub(crate) fn stands(&self) -> bool {
        self.stands
    }

    /// Frames left in the turn that has begun: 0 between two turns.
    #[must_use]
    pub fn frames_left(&self) -> u32 {
        self.frames_left
    }

    /// Tells the simulation once for each state that it has loaded that the peers' states differ.
    fn tell_desync(&mut self) {
        if let Some(turn) = self.session.desync().filter(|_| !self.has_told_desync) {
            self.has_told_desync = true;
            self.simulation.desync_found(turn);
        }
    }

    /// Loads the state of the running match into the simulation of a peer that joins.
    fn take_state(&mut self) {
        let Some(joined) = self.session.take_state() else { return };
        let loaded = self.simulation.load_state(&joined.bytes);
        let checksum = loaded.then(|| self.simulation.checksum());
        self.session.state_taken(checksum);
        // What was told was of the state before, and a recording of this one begins.
        self.has_told_desync = false;
        (self.frames, self.frames_left) = (joined.frame, 0);
        (self.accumulated, self.stalled, self.stands) = (0, None, false);
        self.begun.forget();
        self.work.spoil_round();
    }

    /// Frames in 1,000 seconds. With a playout buffer turns are here long before they are due, so a watcher that has many is not late.
    fn rate(&self) -> u64 {
        let pace = match self.playout {
            Some(_) => self.session.plan().pace_millihertz,
            None => self.session.local_pace_millihertz(),
        };
        u64::from(pace)
    }

    fn pass_time(&mut self, now: Instant) {
        let rate = self.rate();
        // The first frame is due at once.
        let Some(last) = self.last else {
            self.last = Some(now);
            self.accumulated = FRAME;
            self.follow_playout(now);
            return;
        };
        let passed = now.since(last).as_micros().saturating_mul(rate);
        self.last = Some(last.max(now));
        self.accumulated = self.accumulated.saturating_add(passed);
        // So many turns behind, the others wait for us, so we need not make up for more.
        let turns = u64::from(self.session.config().turns_ahead + 1);
        // The fraction of a frame that is left over stays; otherwise 60 frames would take longer than a second.
        let most = turns * u64::from(self.session.plan().frames_per_turn) * FRAME + FRAME - 1;
        self.accumulated = self.accumulated.min(most);
        self.follow_playout(now);
        if let Some(stalled) = &mut self.stalled {
            *stalled = stalled.saturating_add(passed);
            let frames = *stalled / FRAME;
            *stalled -= frames * FRAME;
            self.session.note_stalled_frames(frames);
        }
    }

    /// With a playout buffer, the buffer says how many frames are due.
    fn follow_playout(&mut self, now: Instant) {
        let Some(playout) = self.playout.as_mut().filter(|_| !self.session.is_catching_up()) else { return };
        let here =
            self.passed + self.frames_left + self.session.turns_ready() * self.session.plan().frames_per_turn;
        while self.noted < here {
            playout.note_arrival(self.noted, now);
            self.noted += 1;
        }
        let behind = playout.frames_due(now).saturating_sub(self.passed);
        self.accumulated = u64::from(behind) * FRAME;
    }

    fn start_turn(&mut self, turn: Turn) {
        self.stalled = None;
        self.turn = turn;
        let plan = self.session.plan();
        self.frames_left = plan.frames_per_turn;
        self.simulation.turn_started(turn, if self.session.is_paused() { 0 } else { plan.frames_per_turn });
        if let Some(playout) = &mut self.playout {
            // A plan's pace is never zero.
            if let Ok(rate) = FrameRate::from_millihertz(plan.pace_millihertz) {
                playout.set_rate(self.passed, rate);
            }
        }
        if self.session.turn_gives_state() {
            let mut state = Vec::new();
            let saved = self.simulation.save_state(&mut state);
            self.session.give_state(saved.then_some(state.as_slice()));
        }
        if self.session.turn_saves() {
            self.simulation.save_point(turn);
        }
        let told = self.tell(turn);
        self.begun.push(BegunTurn {
            turn: turn.0,
            position: self.passed,
            frames: plan.frames_per_turn,
            frames_per_second: if self.session.is_paused() { 0 } else { plan.frames_per_second },
            told,
        });
    }

    /// Tells the simulation everything that happens at the start of the turn. Returns its hash.
    fn tell(&mut self, turn: Turn) -> u64 {
        let mut told = TurnDigest::default();
        for (player, reason) in self.session.turn_gone() {
            told.gone(player, reason);
            match reason {
                _ if self.session.config().is_played_on(reason) => {
                    self.simulation.player_taken_over(player, turn);
                }
                EndReason::Surrendered => self.simulation.player_surrendered(player, turn),
                _ => self.simulation.player_gone(player, turn),
            }
        }
        for player in self.session.turn_returned() {
            told.returned(player);
            self.simulation.player_returned(player, turn);
        }
        for player in self.session.turn_order() {
            if !self.session.is_taken_over(player) {
                if let Some(actions) = self.session.entry_actions(player, turn.0) {
                    told.actions(player, actions);
                    let codec = self.session.codec();
                    codec.actions(actions).for_each(|action| self.simulation.apply(player, &action));
                }
            } else if !self.session.is_paused() {
                told.played_for(player);
                self.simulation.play_for(player, turn);
            }
        }
        told.finish()
    }

    fn run_frame(&mut self, now: Instant) {
        self.stands = self.session.is_paused();
        if self.stands {
            self.work.spoil_round();
        } else {
            self.simulation.step(self.session.plan().frames_per_second);
            // The number came with the state that was loaded.
            self.frames = self.frames.wrapping_add(1);
            self.work.frame();
        }
        self.passed += 1;
        self.accumulated -= FRAME;
        self.frames_left -= 1;
        if self.frames_left == 0 {
            if let Some(value) = self.simulation.result() {
                self.session.report_result(value);
            }
            let checksum = self.simulation.checksum();
            self.simulation.turn_ended(self.turn, checksum);
            self.session.end_turn(now, checksum);
        }
    }

    /// The frame counter stops; the turn begins as soon as it is ready, without a backlog of frames.
    fn stall(&mut self) {
        self.accumulated = FRAME;
        if self.stalled.is_none() {
            self.stalled = Some(0);
            self.session.note_stalled_frames(1);
        }
    }
}

/// A fraction of a frame in 65,536ths.
fn alpha_of(accumulated: u64) -> u32 {
    ((accumulated.min(FRAME) << 16) / FRAME) as u32
}
