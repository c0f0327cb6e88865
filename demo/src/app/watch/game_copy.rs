//! One peer's copy of the match, watched: how long its steps take, what its checksums are, and a fault on request.

#[cfg(test)]
mod tests;

use core::ops::Range;
use std::collections::VecDeque;
use std::path::Path;

use testudo_lockstep::replay::{Ending, Recorded};
use testudo_lockstep::state::inquiry::{Inquiry, MOMENTS_MAX, Moments};
use testudo_lockstep::state::{State, StateError, Visit};
use testudo_lockstep::testing::{Heavy, HeavyError};
use testudo_lockstep::{PlayerId, Simulation, Turn};

use crate::app::error::MatchError;
use crate::app::terms::{FRAMES_PER_TURN_MAX, TURNS_MAX};
use crate::app::watch::recording::{Kept, Recording};
use crate::app::watch::turn_record::{FrameRecord, TurnRecord};
use testudo_battle::bots;
use testudo_battle::{BodyField, FaultError, Game, Order};
use testudo_render::clock::Clock;

/// A bit to flip in one peer's copy: after the last frame of a turn, before that frame's checksum is taken. In a paused turn there is no frame;
/// then it waits for the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) turn: u32,
    /// Whose copy.
    pub(crate) player: u8,
    /// Slot index of the body.
    pub(crate) slot: u32,
    pub(crate) field: BodyField,
    /// 0 = least significant, at most 31.
    pub(crate) bit: u32,
}

/// One peer's copy of the match: a [`Game`] with instruments.
pub(crate) struct GameCopy {
    watched: Watched,
    /// Frames simulated by this copy.
    pub(crate) steps: u32,
    /// Nanoseconds of every step.
    pub(crate) step_nanos: Vec<u32>,
    /// Contacts after each frame, added up.
    pub(crate) contacts: u64,
    /// Contacts that began, over all frames.
    pub(crate) contacts_began: u64,
}

struct Watched {
    recorded: Recorded<Heavy<Game>>,
    /// The copy as it was before the fault and went on without it. The bot looks at this one: it stands for a player, and
    /// what players order must not depend on which copies are broken.
    whole: Option<Box<Game>>,
    fault: Option<Fault>,
    refused: Option<FaultError>,
    /// Number of the turn that runs, or runs next.
    turn: u32,
    /// Frames of this turn that have not run yet.
    frames_left: u32,
    /// The frames of the turn so far.
    frames: Vec<FrameRecord>,
    keeps_records: bool,
    records: VecDeque<TurnRecord>,
    recording: Option<Recording>,
    /// The replay, once it is complete.
    kept: Option<Kept>,
    /// Why there is no whole replay.
    unkept: Option<MatchError>,
    /// The last frames' states, for a peer in another process to ask about.
    moments: Option<Moments>,
    frame: u32,
    /// The actions before as many frames as moments are kept of.
    past_actions: VecDeque<PastAction>,
    /// The state at the last save point, and its turn.
    save_point: Option<(u32, Vec<u8>)>,
}

/// Something that was done to the battle before a frame.
#[derive(Clone, Debug)]
pub(crate) struct PastAction {
    pub(crate) frame: u32,
    pub(crate) turn: u32,
    pub(crate) player: PlayerId,
    /// None: something other than an order.
    pub(crate) order: Option<Order>,
}

impl GameCopy {
    /// `keeps_records`: the caller takes the records of turns and compares them.
    pub(crate) fn new(game: Game, fault: Option<Fault>, keeps_records: bool) -> Self {
        let watched = Watched {
            recorded: Recorded::unrecorded(Heavy::off(game.stand_in(bots::order))),
            whole: None,
            fault,
            refused: None,
            turn: 0,
            frames_left: 0,
            frames: Vec::new(),
            keeps_records,
            records: VecDeque::new(),
            recording: None,
            kept: None,
            unkept: None,
            moments: None,
            frame: 0,
            past_actions: VecDeque::new(),
            save_point: None,
        };
        Self { watched, steps: 0, step_nanos: Vec::new(), contacts: 0, contacts_began: 0 }
    }

    /// Saves and restores every frame from now on, before the first turn and before a replay begins.
    pub(crate) fn check_frames(&mut self) {
        self.watched.recorded = Recorded::unrecorded(Heavy::new(self.game().clone()));
    }

    /// How many frames came to the same from the saved state; none if that is not checked.
    pub(crate) fn frames_checked(&self) -> Option<u32> {
        let heavy = self.watched.recorded.game();
        (heavy.frames() > 0).then_some(heavy.frames())
    }

    /// The first frame that came to something else from the saved state.
    pub(crate) fn heavy_error(&self) -> Option<&HeavyError> {
        self.watched.recorded.game().error()
    }

    /// Writes a replay from now on, before the first turn.
    pub(crate) fn record(&mut self, recording: Recording) {
        self.record_from(recording, None);
    }

    /// Writes a replay from now on, before the first turn, or before this turn of a match that is resumed.
    pub(crate) fn record_from(&mut self, mut recording: Recording, resumed_at: Option<Turn>) {
        let watched = &mut self.watched;
        let recorded = recording.recorded(watched.recorded.game().clone());
        watched.recorded = match resumed_at {
            None => recorded,
            Some(turn) => {
                recording.begin_anew();
                recorded.starting_at(turn)
            }
        };
        // Nothing is stored before the first turn has ended: this peer may come late, or not at all.
        watched.recording = Some(recording);
    }

    /// Keeps the states of the last frames from now on.
    pub(crate) fn keep_moments(&mut self) {
        self.watched.moments = Some(Moments::default());
    }

    /// The states of the last frames, as they are now, to look into.
    pub(crate) fn inquiry(&self) -> Option<Inquiry<Game>> {
        let watched = &self.watched;
        Some(Inquiry::new(watched.moments.clone()?, watched.game().clone()))
    }

    /// The actions before the frames of the moments.
    pub(crate) fn past_actions(&self) -> Vec<PastAction> {
        self.actions_in(0..u32::MAX)
    }

    /// The actions before a frame; none if they may be forgotten.
    pub(crate) fn actions_before(&self, frame: u32) -> Option<Vec<PastAction>> {
        let are_kept = self.watched.frame < frame + MOMENTS_MAX as u32;
        are_kept.then(|| self.actions_in(frame..frame + 1))
    }

    /// The actions before these frames, if still remembered.
    pub(crate) fn actions_in(&self, frames: Range<u32>) -> Vec<PastAction> {
        let watched = &self.watched;
        let later = watched.past_actions.partition_point(|action| action.frame < frames.start);
        watched.past_actions.range(later..).take_while(|action| action.frame < frames.end).cloned().collect()
    }

    /// The state that was kept for a save before this turn.
    pub(crate) fn state_before(&self, turn: u32) -> Option<&[u8]> {
        self.watched.save_point.as_ref().filter(|(at, _)| *at == turn).map(|(_, state)| state.as_slice())
    }

    /// Goes on from a saved state. A replay begins anew with it.
    ///
    /// Returns false if the bytes are not a state of this match.
    pub(crate) fn resume(&mut self, bytes: &[u8]) -> bool {
        self.watched.take_state(bytes)
    }

    /// The file of the replay, if it is one.
    pub(crate) fn replay_file(&self) -> Option<&Path> {
        match (&self.watched.recording, &self.watched.kept) {
            (Some(recording), _) => recording.path(),
            (None, Some(Kept::File(path))) => Some(path),
            _ => None,
        }
    }

    /// Whether there is a replay.
    pub(crate) fn has_replay(&self) -> bool {
        self.watched.recording.is_some() || self.watched.kept.is_some()
    }

    /// The replay up to now, which is ended by that; none if there is none, or the disk has refused it.
    pub(crate) fn take_replay(&mut self) -> Option<Kept> {
        self.finish_recording();
        self.watched.kept.take()
    }

    /// The replay up to now, which goes on.
    pub(crate) fn replay_so_far(&self) -> Option<Kept> {
        self.watched.recording.as_ref().map(Recording::so_far)
    }

    /// Why the replay ends here, if the disk has refused it since the last call.
    pub(crate) fn take_trouble(&mut self) -> Option<String> {
        self.watched.recording.as_mut()?.take_trouble()
    }

    /// Ends the replay, if one is written.
    pub(crate) fn finish_recording(&mut self) {
        self.watched.recorded.finish(Ending::Over);
        self.cut_recording();
    }

    /// Ends the replay as a crash does, so that it does not count as complete.
    pub(crate) fn cut_recording(&mut self) {
        // No turn has ended here.
        if let Some(recording) = self.watched.recording.take_if(|recording| !recording.has_begun()) {
            return recording.discard();
        }
        self.watched.store();
        match self.watched.recording.take().map(Recording::finish) {
            Some(Ok(kept)) => self.watched.kept = Some(kept),
            Some(Err(error)) => self.watched.unkept = Some(error),
            None => {}
        }
    }

    /// Why the replay that has ended is not whole.
    pub(crate) fn unkept(&self) -> Option<&MatchError> {
        self.watched.unkept.as_ref()
    }

    /// The peers have disagreed since this turn.
    pub(crate) fn note_divergence(&mut self, turn: u32) {
        self.watched.recorded.diverged(Turn(turn));
        self.watched.store();
    }

    /// This peer's copy.
    pub(crate) fn game(&self) -> &Game {
        self.watched.game()
    }

    /// The state that this peer's player sees.
    pub(crate) fn seen(&self) -> &Game {
        self.watched.whole.as_deref().unwrap_or(self.watched.game())
    }

    /// Why the fault could not be brought about.
    pub(crate) fn refused(&self) -> Option<FaultError> {
        self.watched.refused
    }

    /// Flips a bit of this copy at the end of the turn that runs. Whatever was refused before is forgotten.
    pub(crate) fn corrupt(&mut self, player: u8, slot: u32, field: BodyField, bit: u32) {
        let watched = &mut self.watched;
        watched.refused = None;
        watched.fault = Some(Fault { turn: watched.turn, player, slot, field, bit });
    }

    /// Turns that wait for the comparison.
    pub(crate) fn has_record(&self) -> bool {
        !self.watched.records.is_empty()
    }

    /// Takes the record of the oldest turn.
    pub(crate) fn take_record(&mut self) -> Option<TurnRecord> {
        self.watched.records.pop_front()
    }
}

impl Simulation for GameCopy {
    type Action = Order;

    fn turn_started(&mut self, turn: Turn, frames: u32) {
        let watched = &mut self.watched;
        (watched.turn, watched.frames_left) = (turn.0, frames);
        if let Some(fault) = watched.fault.as_mut().filter(|fault| frames == 0 && fault.turn == turn.0) {
            fault.turn += 1;
        }
        watched.recorded.turn_started(turn, frames);
    }

    fn apply(&mut self, player: PlayerId, order: &Order) {
        let watched = &mut self.watched;
        watched.note_action(player, Some(order));
        watched.recorded.apply(player, order);
        if let Some(whole) = &mut watched.whole {
            whole.apply(player, order);
        }
    }

    fn step(&mut self, frames_per_second: u32) {
        let watched = &mut self.watched;
        let clock = Clock::start();
        watched.recorded.step(frames_per_second);
        self.step_nanos.push(clock.elapsed_nanos());
        self.steps += 1;
        watched.frame += 1;
        watched.frames_left = watched.frames_left.saturating_sub(1);
        self.contacts += u64::from(watched.game().world().contact_count());
        self.contacts_began += watched.game().world().contacts_began().len() as u64;
        if let Some(whole) = &mut watched.whole {
            whole.step(frames_per_second);
        }
        let turn = watched.turn;
        if watched.frames_left == 0
            && let Some(fault) = watched.fault.take_if(|fault| fault.turn == turn)
        {
            watched.suffer(&fault);
        }
        watched.remember();
    }

    fn checksum(&mut self) -> u64 {
        self.watched.recorded.checksum()
    }

    fn turn_ended(&mut self, turn: Turn, checksum: u64) {
        let watched = &mut self.watched;
        watched.turn = turn.0 + 1;
        watched.recorded.turn_ended(turn, checksum);
        watched.store();
        if watched.keeps_records {
            let frames = core::mem::take(&mut watched.frames);
            watched.records.push_back(TurnRecord { frames, checksum });
        }
    }

    fn result(&self) -> Option<u32> {
        self.watched.game().result()
    }

    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        let watched = &mut self.watched;
        watched.note_action(player, None);
        watched.recorded.player_gone(player, turn);
        if let Some(whole) = &mut watched.whole {
            whole.player_gone(player, turn);
        }
    }

    /// The army goes on: a bot gives its orders now.
    fn player_taken_over(&mut self, player: PlayerId, turn: Turn) {
        self.watched.recorded.player_taken_over(player, turn);
    }

    fn player_returned(&mut self, player: PlayerId, turn: Turn) {
        let watched = &mut self.watched;
        watched.note_action(player, None);
        watched.recorded.player_returned(player, turn);
        if let Some(whole) = &mut watched.whole {
            whole.player_returned(player, turn);
        }
    }

    fn save_point(&mut self, turn: Turn) {
        let mut state = Vec::new();
        self.watched.recorded.save_state(&mut state);
        self.watched.save_point = Some((turn.0, state));
    }

    /// The game's state, then the frame, which only names moments.
    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        let is_saved = self.watched.recorded.save_state(out);
        out.extend_from_slice(&self.watched.frame.to_le_bytes());
        is_saved
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        let Some((bytes, frame)) = bytes.split_last_chunk::<4>() else { return false };
        let frame = u32::from_le_bytes(*frame);
        if frame > TURNS_MAX.saturating_mul(FRAMES_PER_TURN_MAX) || !self.watched.take_state(bytes) {
            return false;
        }
        self.watched.frame = frame;
        true
    }

    /// The order of the bot is recorded, not that one plays: a replay is played without a bot.
    fn play_for(&mut self, player: PlayerId, turn: Turn) {
        let watched = &mut self.watched;
        if let Some(order) = bots::order(watched.game(), player, turn) {
            watched.note_action(player, Some(&order));
            watched.recorded.apply(player, &order);
        }
        if let Some(whole) = &mut watched.whole
            && let Some(order) = bots::order(whole, player, turn)
        {
            whole.apply(player, &order);
        }
    }
}

impl State for GameCopy {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        self.watched.recorded.visit(v)
    }
}

impl Watched {
    fn game(&self) -> &Game {
        self.recorded.game().game()
    }

    /// The state after the last frame, counted from 0.
    fn remember(&mut self) {
        let game = self.recorded.game_mut().game_mut();
        if let Some(moments) = &mut self.moments {
            moments.push_saved(self.frame - 1, |state| {
                game.save_state(state);
            });
        }
        if self.keeps_records {
            self.frames.push(FrameRecord::of(game));
        }
    }

    /// Puts another state in the place of this one. A replay begins with it.
    fn take_state(&mut self, bytes: &[u8]) -> bool {
        // The bytes are not trusted, and a refused state may be loaded in part.
        let before = self.recorded.game().clone();
        if !self.recorded.load_state(bytes) {
            *self.recorded.game_mut() = before;
            return false;
        }
        self.whole = None;
        self.frames.clear();
        self.past_actions.clear();
        if self.moments.is_some() {
            self.moments = Some(Moments::default());
        }
        if let Some(recording) = &mut self.recording {
            recording.begin_anew();
        }
        true
    }

    fn note_action(&mut self, player: PlayerId, order: Option<&Order>) {
        let (frame, turn) = (self.frame, self.turn);
        while self.past_actions.pop_front_if(|action| action.frame + MOMENTS_MAX as u32 <= frame).is_some() {}
        self.past_actions.push_back(PastAction { frame, turn, player, order: order.cloned() });
    }

    /// What has been recorded is stored turn by turn, so that a crash of the program costs at most one turn.
    fn store(&mut self) {
        if let Some(recording) = &mut self.recording {
            recording.store(&self.recorded.take_bytes());
        }
    }

    fn suffer(&mut self, fault: &Fault) {
        let whole = self.game().clone();
        match self.recorded.game_mut().game_mut().corrupt(fault.slot, fault.field, fault.bit) {
            Ok(()) => self.whole = Some(Box::new(whole)),
            Err(error) => self.refused = Some(error),
        }
    }
}
