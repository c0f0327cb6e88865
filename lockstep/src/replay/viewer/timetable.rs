//! The start of each turn of a replay.

use core::ops::Range;

use crate::replay::Replay;
use crate::value::time::Duration;

/// When each turn of a replay starts, in frames and in time from the start of the recording. Turns have different lengths, and none while the
/// match was paused.
#[derive(Clone, Debug)]
pub struct Timetable {
    /// The start of each turn, and the end of the last one. Ascending; turns without frames start with the next one.
    starts: Vec<Start>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Start {
    frame: u64,
    micros: u64,
    /// Frames per second of the turn; at least 1.
    frames_per_second: u32,
}

impl Timetable {
    /// The starts of a replay's turns.
    #[must_use]
    pub fn new(replay: &Replay) -> Self {
        let mut next = Start { frames_per_second: 1, ..Start::default() };
        let mut starts = Vec::new();
        for (turn, _) in (0..replay.turns()).filter_map(|turn| replay.turn(turn)) {
            if turn.frames > 0 {
                next.frames_per_second = turn.frames_per_second.max(1);
            }
            starts.push(next);
            next.frame += u64::from(turn.frames);
            next.micros += u64::from(turn.frames) * 1_000_000 / u64::from(next.frames_per_second);
        }
        starts.push(next);
        Self { starts }
    }

    /// Number of turns.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// Number of frames.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.end().frame
    }

    /// The duration of all frames.
    #[must_use]
    pub fn length(&self) -> Duration {
        Duration::from_micros(self.end().micros)
    }

    /// The frame with which a turn starts; the last one for turns beyond the end.
    #[must_use]
    pub fn start_of(&self, turn: u32) -> u64 {
        self.starts.get(turn as usize).unwrap_or(&self.end()).frame
    }

    /// The turn that contains a frame: the last one that starts at or before it. The number of turns for the end.
    #[must_use]
    pub fn turn_at(&self, frame: u64) -> u32 {
        self.starts.partition_point(|start| start.frame <= frame).saturating_sub(1) as u32
    }

    /// Turns that start between one frame and a later one.
    #[must_use]
    pub fn begun(&self, frames: Range<u64>) -> Range<u32> {
        let before = |frame| self.starts.partition_point(|start| start.frame < frame) as u32;
        before(frames.start)..before(frames.end).min(self.turns())
    }

    /// Time of a frame, rounded up: [`Timetable::frame_at`] leads back to it.
    #[must_use]
    pub fn time_of(&self, frame: u64) -> Duration {
        let start = &self.starts[self.turn_at(frame) as usize];
        let frames = frame.min(self.frames()) - start.frame;
        Duration::from_micros(
            start.micros + (frames * 1_000_000).div_ceil(u64::from(start.frames_per_second)),
        )
    }

    /// The frame at a time.
    #[must_use]
    pub fn frame_at(&self, time: Duration) -> u64 {
        let micros = time.as_micros();
        let index = self.starts.partition_point(|start| start.micros <= micros).saturating_sub(1);
        let start = &self.starts[index];
        let frames = (micros - start.micros).saturating_mul(start.frames_per_second.into()) / 1_000_000;
        start.frame.saturating_add(frames).min(self.frames())
    }

    /// The time from this frame to the next one.
    #[must_use]
    pub fn frame_length(&self, frame: u64) -> Duration {
        let rate = self.starts[self.turn_at(frame) as usize].frames_per_second;
        Duration::from_micros(1_000_000 / u64::from(rate))
    }

    fn end(&self) -> Start {
        self.starts.last().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{Recorder, ReplayHeader};

    /// 20 turns of four frames; turns 10 to 12 are paused.
    fn table_at(frames_per_second: u32) -> Timetable {
        let header = ReplayHeader { sim_version: 1, content_hash: 0, players: 1, settings: Vec::new() };
        let mut recorder = Recorder::new(&header);
        for turn in 0..20 {
            let frames = if (10..13).contains(&turn) { 0 } else { 4 };
            (0..frames).for_each(|_| recorder.frame(frames_per_second));
            recorder.end_turn(0);
        }
        Timetable::new(&Replay::read(recorder.take_bytes(), 1).unwrap())
    }

    fn table() -> Timetable {
        table_at(20)
    }

    /// Times and frames were both rounded down: a viewer that kept its place as a time fell back by a frame each time.
    #[test]
    fn frames_whose_length_is_no_whole_number_lead_to_times_and_back() {
        for rate in [7, 30, 60, 144, 999] {
            let table = table_at(rate);
            for frame in 0..=table.frames() {
                assert_eq!(table.frame_at(table.time_of(frame)), frame, "{rate}");
            }
        }
    }

    #[test]
    fn turns_frames_and_times_lead_to_each_other() {
        let table = table();
        assert_eq!((table.turns(), table.frames()), (20, 17 * 4));
        assert_eq!(table.length(), Duration::from_millis(17 * 200));
        assert_eq!(
            [0, 9, 10, 11, 12, 13, 20, 99].map(|t| table.start_of(t)),
            [0, 36, 40, 40, 40, 40, 68, 68]
        );
        assert_eq!(
            [0, 3, 4, 39, 40, 43, 44, 67, 68, 99].map(|f| table.turn_at(f)),
            [0, 0, 1, 9, 13, 13, 14, 19, 20, 20]
        );
        for frame in 0..=table.frames() {
            assert_eq!(table.frame_at(table.time_of(frame)), frame);
        }
        assert_eq!(table.frame_at(Duration::from_millis(149)), 2);
        assert_eq!(table.frame_at(Duration::from_secs(9)), 68);
        assert_eq!(table.frame_length(67), Duration::from_millis(50));
    }

    #[test]
    fn every_turn_begins_once_on_the_way() {
        let table = table();
        for pace in [1, 3, 4, 9, 68] {
            let mut begun = Vec::new();
            let mut frame = 0;
            while frame < table.frames() {
                let next = (frame + pace).min(table.frames());
                begun.extend(table.begun(frame..next));
                frame = next;
            }
            assert_eq!(begun, (0..20).collect::<Vec<_>>(), "{pace} frames at a time");
        }
    }
}
