//! What a program's rounds cost its machine, and how long a frame must last there.

use crate::pace::pacing::{Pace, RUNTIME_VOTE_FRAMES};
use crate::session::config::SessionConfig;
use crate::value::time::Duration;

/// Greatest number of frames that one call of [`Driver::advance`](crate::Driver::advance) simulates.
pub(super) const FRAMES_PER_CALL_MAX: u32 = 4;

/// One round, or one frame, in the unit in which they are counted: halves of halves have room.
const ONE: u64 = 1 << 16;

/// The work of the last rounds that ran frames: of at most the last two seconds, the later ones count more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    /// Frames simulated in the round that runs.
    round: u32,
    /// The round that runs did something that no other round does, or ran frames of a pause.
    is_unusual: bool,
    /// In units of [`ONE`].
    rounds: u64,
    frames: u64,
    simulated_us: u64,
    drawn_us: u64,
}

impl Work {
    /// A frame was simulated.
    pub(super) fn frame(&mut self) {
        self.round = self.round.saturating_add(1);
    }

    /// This round says nothing about the others.
    pub(super) fn spoil_round(&mut self) {
        self.is_unusual = true;
    }

    /// The round is over. Returns how long a frame must last on this machine, if that is known. All spans are those of a match at 100 % of its speed.
    pub(super) fn end_round(
        &mut self,
        simulated: Duration,
        drawn: Duration,
        config: &SessionConfig,
    ) -> Option<Duration> {
        let frames = u64::from(core::mem::take(&mut self.round));
        if core::mem::take(&mut self.is_unusual) || frames == 0 {
            return None;
        }
        let second = u64::from(config.frames_per_second) * ONE;
        if self.frames >= second {
            let sums = [&mut self.rounds, &mut self.frames, &mut self.simulated_us, &mut self.drawn_us];
            sums.into_iter().for_each(|sum| *sum /= 2);
        }
        // A player's machine can cost the others two frames for each one, for good; a single hiccup, however long, next to nothing.
        // In whole milliseconds, as it travels: rounded up it would count as more than two.
        let most = config.frame_length().times(RUNTIME_VOTE_FRAMES.into());
        let most = Duration::from_millis(most.as_millis());
        let picture = u64::from(FRAMES_PER_CALL_MAX);
        self.rounds += ONE;
        self.frames += frames * ONE;
        self.simulated_us = self.simulated_us.saturating_add(simulated.min(most.times(frames)).as_micros());
        self.drawn_us += drawn.min(most.times(picture)).as_micros();
        // A few rounds at the start of a match are no mean.
        if self.frames < second / 2 {
            return None;
        }
        // A program that calls this rarely has many frames in a round.
        let simulated = self.simulated_us.saturating_mul(ONE) / self.frames;
        let needed = simulated + self.drawn_us * ONE / self.rounds / picture;
        // With the article's pace a fast machine would ask for more frames than were set.
        let least = if config.tempo.pace == Pace::Article { config.frame_length() } else { Duration::ZERO };
        Some(Duration::from_micros(needed).clamp(least, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: u32 = 4;

    /// What so many rounds of equal work lead to.
    fn after(work: &mut Work, rounds: u32, frames: u32, (simulated, drawn): (u64, u64)) -> Option<u64> {
        let config = SessionConfig::new(2).frames_per_turn(TURN);
        let mut last = None;
        for _ in 0..rounds {
            (0..frames).for_each(|_| work.frame());
            let (simulated, drawn) = (Duration::from_millis(simulated), Duration::from_millis(drawn));
            last = work.end_round(simulated, drawn, &config);
        }
        last.map(Duration::as_millis)
    }

    #[test]
    fn a_frame_needs_its_own_time_and_a_quarter_of_a_picture() {
        assert_eq!(after(&mut Work::default(), 9, 1, (80, 12)), None, "half a second says nothing");
        assert_eq!(after(&mut Work::default(), 40, 1, (80, 12)), Some(83));
        assert_eq!(after(&mut Work::default(), 40, 2, (60, 40)), Some(40), "two frames in each round");
        assert_eq!(after(&mut Work::default(), 40, 0, (60, 40)), None, "pictures alone");
        assert_eq!(after(&mut Work::default(), 40, 1, (5_000, 0)), Some(100), "two frames at most");
        assert_eq!(after(&mut Work::default(), 40, 1, (u64::MAX / 1_000, u64::MAX / 1_000)), Some(100));
    }

    #[test]
    fn a_hiccup_says_little_and_is_soon_forgotten() {
        let mut work = Work::default();
        assert_eq!(after(&mut work, 100, 1, (10, 4)), Some(11));
        // A frame lasts 50 ms.
        assert!(after(&mut work, 1, 1, (10_000, 10_000)) < Some(40));
        assert!(after(&mut work, 1, 2, (10_000, 10_000)) > Some(25));
        assert_eq!(after(&mut work, 100, 1, (10, 4)), Some(11));
    }

    #[test]
    fn unusual_rounds_are_left_out() {
        let mut work = Work::default();
        after(&mut work, 40, 1, (10, 4));
        for _ in 0..40 {
            work.spoil_round();
            assert_eq!(after(&mut work, 1, 16, (3_000, 0)), None);
        }
        assert_eq!(after(&mut work, 1, 1, (10, 4)), Some(11));
    }
}
