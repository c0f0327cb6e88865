//! Restitution: bodies that meet separate with a part of their closing speed.
//!
//! It comes before the other impulses of a frame, as reflections of one pair at a time at the pair's *present* speed. A reflection removes
//! `(1 - e^2) m u^2 / 2` of energy (m: reduced mass, u: closing speed), so no sequence of them adds energy. The usual method, targets from
//! an older speed, does add some. The speed that gravity added in this frame is not reflected; otherwise a ball on the ground would gain
//! the fall of one frame at each bounce.

use alloc::vec::Vec;

use crate::body::working_index::{WorkingIndex, WorkingPair};
use crate::math::lanes::UNIT_BITS;
use crate::solve::batches::Batches;
use crate::solve::contact_place::ContactPlace;
use crate::solve::solver::Velocity;

/// Greatest number of sweeps over the bounces of a frame; pairs that still close then meet without restitution.
const SWEEPS_MAX: u8 = 8;

/// A contact with restitution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounce {
    pub(crate) place: ContactPlace,
    pub(crate) bodies: WorkingPair,
    /// Raw coefficient, at most one.
    pub(crate) restitution: i32,
    /// Closing speed up to which there is no restitution, raw units per second.
    pub(crate) threshold: i32,
}

/// The bounces of a step. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounces {
    pub(crate) list: Vec<Bounce>,
    /// The last sweep that changed a body, by working index, counted from 1.
    changed: Vec<u8>,
}

impl Bounces {
    /// Reflects the pairs that meet within this frame. `gained` is what gravity adds to each working body in this frame, or empty; the
    /// velocities contain the part of the first sub-step. `rates` are frames per second and sub-steps per frame; `held` restores what must
    /// not change, and says whether there is any.
    pub(crate) fn solve(
        &mut self,
        batches: &mut Batches,
        velocities: &mut [Velocity],
        gained: &[[i32; 2]],
        rates: [u32; 2],
        mut held: impl FnMut(&mut [Velocity]) -> bool,
    ) {
        let Self { list, changed } = self;
        changed.clear();
        if !list.is_empty() {
            changed.resize(velocities.len(), 0);
        }
        for sweep in 1..=SWEEPS_MAX {
            let mut any = false;
            for bounce in &*list {
                let [a, b] = bounce.bodies.map(WorkingIndex::at);
                // A pair that has not changed since it was looked at does what it did: nothing.
                if changed[a].max(changed[b]) + 1 < sweep {
                    continue;
                }
                if bounce.reflect(batches, velocities, gained, rates) {
                    (changed[a], changed[b], any) = (sweep, sweep, true);
                }
            }
            if !any {
                break;
            }
            if held(velocities) {
                changed.fill(sweep);
            }
        }
    }
}

impl Bounce {
    /// Reflects the pair if it meets within this frame.
    fn reflect(
        &self,
        batches: &mut Batches,
        velocities: &mut [Velocity],
        gained: &[[i32; 2]],
        rates: [u32; 2],
    ) -> bool {
        let gap = batches.origin(self.place).gap;
        let (batch, lane) = self.place.of_mut(batches.as_mut_slice());
        let approach = batch.approach(lane, velocities);
        if approach <= self.threshold {
            return false;
        }
        let contact = batch.get(lane);
        let [a, b] = [contact.a, contact.b].map(|body| gained.get(body.at()).copied().unwrap_or_default());
        let given: i64 =
            (0..2).map(|x| i64::from(a[x].wrapping_sub(b[x])) * i64::from(contact.normal[x])).sum();
        let given = (given >> UNIT_BITS).max(0);
        let [fps, parts] = rates.map(i64::from);
        // The velocities contain the first part of gravity's gain; the distance contains all of it.
        let own = i64::from(approach) - given / parts;
        let reach = i64::from(approach) + given - given / parts;
        if own <= i64::from(self.threshold) || reach <= i64::from(gap.max(0)) * fps {
            return false;
        }
        let leave = ((own * i64::from(self.restitution)) >> 16) as i32 - 1;
        batch.impulse[lane] = 0;
        batch.apply(lane, approach.saturating_add(leave), velocities);
        batches.note_meeting(self.place);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::slot::Slot;
    use crate::math::lanes::UNIT;
    use crate::math::rng::Pcg32;
    use crate::solve::batches::{Cached, Origin};
    use crate::solve::contact_place::WindowPlace;
    use crate::solve::solver::{Contact, EVEN_SHARE};

    /// Movable bodies; the dummy follows them.
    const BODIES: u32 = 12;

    fn vector(rng: &mut Pcg32, below: i32) -> [i32; 2] {
        [0; 2].map(|_: i32| rng.next_u32() as i32 % below)
    }

    /// One contact per batch, between any two bodies, with their bounces.
    fn contacts(rng: &mut Pcg32, count: u32) -> (Batches, Bounces) {
        let (mut batches, mut bounces) = (Batches::default(), Bounces::default());
        batches.begin(WorkingIndex(BODIES));
        let mut to = batches.add(count);
        for batch in 0..count {
            let a = rng.below(BODIES);
            let b = (a + 1 + rng.below(BODIES - 1)) % BODIES;
            let [a, b] = [a, b].map(WorkingIndex);
            let normal = [[UNIT, 0], [0, -UNIT], [UNIT / 5 * 3, UNIT / 5 * 4]][rng.below(3) as usize];
            let contact = Contact { a, b, normal, biased: 0, impulse: 7, share_a: EVEN_SHARE };
            let origin =
                Origin { owner: a, other: Slot(b.0), cached: Cached::NONE, gap: rng.below(1 << 12) as i32 };
            let first = WindowPlace::first_of(batch);
            to.fill(first, &contact, origin);
            let restitution = [1 << 15, 1 << 16][rng.below(2) as usize];
            bounces.list.push(Bounce { place: to.place(first), bodies: [a, b], restitution, threshold: 0 });
        }
        (batches, bounces)
    }

    #[test]
    fn pairs_that_have_not_changed_are_left_out_without_a_difference() {
        let rng = &mut Pcg32::new(11, 3);
        let mut later = 0;
        for round in 0..if cfg!(miri) { 10 } else { 2_000 } {
            let count = 1 + rng.below(30);
            let (mut batches, mut bounces) = contacts(rng, count);
            let mut velocities: Vec<Velocity> =
                (0..BODIES).map(|_| Velocity::new(vector(rng, 9 << 16))).collect();
            velocities.push(Velocity::default());
            let (mut expected, mut expected_batches) = (velocities.clone(), batches.clone());
            // A locked axis in every other round.
            let hold = |velocities: &mut [Velocity]| {
                if round % 2 == 1 {
                    velocities[3] = Velocity::new([0, velocities[3].get()[1]]);
                }
                round % 2 == 1
            };
            for sweep in 0..SWEEPS_MAX {
                let mut any = false;
                for bounce in &bounces.list {
                    any |= bounce.reflect(&mut expected_batches, &mut expected, &[], [60, 1]);
                }
                if !any {
                    break;
                }
                later += u32::from(sweep > 0);
                hold(&mut expected);
            }
            bounces.solve(&mut batches, &mut velocities, &[], [60, 1], hold);
            assert_eq!(velocities, expected, "round {round}");
            for &Bounce { place, .. } in &bounces.list {
                assert_eq!(batches.origin(place).gap, expected_batches.origin(place).gap, "round {round}");
            }
        }
        assert!(later > 10, "{later} later sweeps: the test is not interesting");
    }
}
