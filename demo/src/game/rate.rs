//! Amounts per second in integers, frame by frame.

use testudo_lockstep::state::{StateError, Visit};

/// Gives out `per_second / frames_per_second` each frame and carries the remainder, so that exactly `per_second` come
/// out of every second: 10 per second at 60 frames per second is not 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Rate {
    /// What is left over, in 1 / `frames_per_second`; below `frames_per_second`.
    rest: u16,
    /// The rate that the rest counts in, 1..=1000; 0 before the first frame.
    frames_per_second: u16,
}

impl Rate {
    /// The amount of this frame. `frames_per_second` is 1..=1000; when it changes, the remainder is rescaled and rounded
    /// down.
    pub(crate) fn take(&mut self, per_second: u32, frames_per_second: u32) -> u32 {
        let fps = frames_per_second.clamp(1, 1_000);
        let old = u32::from(self.frames_per_second);
        let mut rest = u32::from(self.rest);
        if old != fps && old != 0 {
            rest = rest * fps / old;
        }
        let sum = u64::from(per_second) + u64::from(rest);
        self.rest = (sum % u64::from(fps)) as u16;
        self.frames_per_second = fps as u16;
        (sum / u64::from(fps)) as u32
    }

    /// Shows the rest and the rate that it counts in.
    pub(crate) fn visit<V: Visit>(&mut self, v: &mut V, names: [&'static str; 2]) -> Result<(), StateError> {
        let Self { rest, frames_per_second } = self;
        v.number_in(names[0], rest, 0..=999)?;
        v.number_in(names[1], frames_per_second, 0..=1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_gives_the_whole_amount() {
        for fps in [1, 7, 20, 60, 999, 1_000] {
            let mut rate = Rate::default();
            for second in 0..3 {
                let sum: u32 = (0..fps).map(|_| rate.take(10, fps)).sum();
                assert_eq!(sum, 10, "second {second} at {fps} frames");
            }
        }
    }

    #[test]
    fn a_change_of_rate_keeps_the_remainder() {
        let mut rate = Rate::default();
        assert_eq!(rate.take(10, 20), 0);
        // Half a point is left; at 60 frames per second two more frames of 1/6 complete 5/6, the third completes the point.
        let taken: Vec<u32> = (0..3).map(|_| rate.take(10, 60)).collect();
        assert_eq!(taken, [0, 0, 1]);
    }
}
