//! When, within a frame, the rooms of a relay are forwarded.
//!
//! The members of a room send in the same moment of each frame, and what they sent leaves together. Rooms whose moments coincide wait for each
//! other. A relay does not decide when players send, but it decides when a match begins. From then on a room keeps its moment for as long as
//! its players' clocks and this one go equally fast: clocks that differ by 20 millionths move it by a millisecond in 50 s. So a
//! new match looks where the others are now.

use crate::value::time::Duration;

/// Parts of a frame.
const PARTS: usize = 50;

/// Equally free parts are taken in an order in which each is far from those before: this is near their golden section, and has no divisor in
/// common with them.
const STEP: usize = 31;

/// The middle of the part of a frame in which the fewest of these are.
#[must_use]
pub fn freest(frame: Duration, phases: impl Iterator<Item = Duration>) -> Duration {
    let length = (frame.as_micros() / PARTS as u64).max(1);
    let mut taken = [0_u32; PARTS];
    phases.for_each(|phase| taken[(phase.as_micros() / length) as usize % PARTS] += 1);
    let order = (0..PARTS).map(|place| place * STEP % PARTS);
    let place = order.min_by_key(|place| taken[*place]).unwrap_or(0);
    Duration::from_micros(length * place as u64 + length / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Duration = Duration::from_millis(50);

    #[test]
    fn a_frame_is_filled_evenly_and_gaps_are_filled_first() {
        let mut phases: Vec<Duration> = Vec::new();
        for room in 1..=200_usize {
            phases.push(freest(FRAME, phases.iter().copied()));
            let mut within = [0; 50];
            phases.iter().for_each(|phase| within[phase.as_millis() as usize] += 1);
            let (least, most) = (within.iter().min(), within.iter().max());
            assert_eq!((least, most), (Some(&(room / 50)), Some(&room.div_ceil(50))), "{room} rooms");
        }
        // Those of one part of the frame end.
        let gone = Duration::from_micros(17_500);
        phases.retain(|phase| *phase != gone);
        for _ in 0..4 {
            phases.push(freest(FRAME, phases.iter().copied()));
            assert_eq!(phases.last(), Some(&gone));
        }
    }

    #[test]
    fn a_few_rooms_are_far_from_each_other() {
        let mut phases: Vec<Duration> = Vec::new();
        for _ in 0..8 {
            phases.push(freest(FRAME, phases.iter().copied()));
        }
        phases.sort_unstable();
        let gaps = phases.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.min() >= Some(Duration::from_millis(4)), "{phases:?}");
    }
}
