//! Heaps of very different masses under gravity: passes until the velocities settle.
//!
//! A pass over a contact removes only about light / heavy of a heavy body's speed, so a fixed number of passes leaves some of it, in another
//! place in every frame, and the heap shakes. What a pass changes tells how much is left.

use crate::math::boxes::LANES;
use crate::math::lanes::UNIT;
use crate::solve::solver::{Pass, Velocity};
use crate::step::solving::{hold, list_contacts};
use crate::step::stepper::Stepper;

/// Greatest number of further passes in a sub-step, of each kind.
const PASSES_MAX: usize = 32;

/// Number of batches to solve in these passes: what 4,096 contacts need. Larger worlds get fewer passes, but two.
const BATCHES_MAX: usize = PASSES_MAX * 4_096 / LANES;

/// A pass that changes no velocity by more than this is the last one, raw units per second: 1/1,024 unit per second, a 64th of the usual
/// sleep speed.
const SETTLED: u32 = 1 << 6;

/// Where bodies hit each other, a part of the greatest change of the passes before is enough: 1/64.
const CALMER_SHIFT: u32 = 6;

/// Who moves at less than this part of what gravity adds to its speed in a frame stands: 1/16. Who begins to fall moves at half of it or more.
const STANDS_SHIFT: u32 = 4;

impl Stepper {
    /// Notes the contacts in which only one body yields.
    #[cold]
    pub(crate) fn find_supports(&mut self) {
        list_contacts(&self.batches, &mut self.supports, |batch, lane| {
            batch.share_a[lane] == 0 || batch.share_a[lane] == UNIT
        });
    }

    /// A soft pass. In a heap of very different masses walls have the last word in each: springs that squeeze a body from two sides would
    /// otherwise agree on a speed that the walls take back after the last pass, too late for what lies on the body.
    pub(crate) fn soft_pass(&mut self, repeated: bool) {
        let movers = self.batches.between_movers();
        let (between, at_rest) = self.batches.as_mut_slice().split_at_mut(movers);
        let (soft_between, soft_at_rest) = self.soft.softness.split_at(movers);
        self.path.solve_soft(between, soft_between, &mut self.velocities);
        self.path.solve_soft(at_rest, soft_at_rest, &mut self.velocities);
        self.after_pass(Pass::Biased, repeated);
        if self.stiff.uneven {
            self.hold_at_walls();
        }
    }

    /// Solves the contacts with immovable bodies once more, as rigid ones, so that a heavy body that hits a light one enters it rather than
    /// the wall behind it.
    pub(crate) fn hold_at_walls(&mut self) {
        if self.supports.is_empty() {
            return;
        }
        let batches = self.batches.as_mut_slice();
        for &(batch, lane) in &self.supports {
            batches[batch as usize].solve_stiff(lane as usize, true, false, &mut self.velocities);
        }
        hold(&self.locked, &mut self.velocities);
    }

    /// Repeats a pass until it changes little, if masses are very different.
    pub(crate) fn settle(&mut self, pass: impl Fn(&mut Self)) {
        if !self.stiff.uneven {
            return;
        }
        let mut enough = SETTLED;
        let passes = BATCHES_MAX / self.batches.as_slice().len().max(1);
        for _ in 0..passes.clamp(2, PASSES_MAX) {
            self.before.clear();
            self.before.extend_from_slice(&self.velocities);
            pass(self);
            let change = self.change();
            if change <= enough {
                break;
            }
            enough = enough.max(change >> CALMER_SHIFT);
        }
    }

    /// Takes the speed of bodies that contacts hold where they are. Springs that squeeze a body between walls and the passes that relax them
    /// may leave a speed at the end of each frame that moves nobody; it is less than what gravity adds in a frame.
    #[cold]
    pub(crate) fn still_the_carried(&mut self) {
        let Self { batches, velocities, moving, gained, .. } = self;
        batches.for_each(|batch, lane, _| {
            if batch.impulse[lane] == 0 {
                return;
            }
            for body in [batch.a[lane], batch.b[lane]].map(|body| body as usize) {
                let Some(gain) = gained.get(body) else { continue };
                let most = |v: [i32; 2]| v[0].unsigned_abs().max(v[1].unsigned_abs());
                let (gain, way, kept) = (most(*gain), most(moving[body].get()), most(velocities[body].get()));
                if way <= gain >> STANDS_SHIFT && kept <= gain {
                    velocities[body] = moving[body];
                }
            }
        });
    }

    /// The greatest change of a velocity since [`Self::settle`] noted it, per axis.
    fn change(&self) -> u32 {
        let change = |(before, after): (&Velocity, &Velocity)| {
            let (before, after) = (before.get(), after.get());
            (before[0].abs_diff(after[0])).max(before[1].abs_diff(after[1]))
        };
        self.before.iter().zip(&self.velocities).map(change).max().unwrap_or(0)
    }
}
