//! Heaps of very different masses under gravity: passes until the velocities settle.
//!
//! A pass over a contact removes only about light / heavy of a heavy body's speed, so a fixed number of passes leaves some of it, in another
//! place in every frame, and the heap shakes. What a pass changes tells how much is left.

use alloc::vec::Vec;

use crate::math::boxes::LANES;
use crate::math::lanes::UNIT;
use crate::solve::bodies::hold;
use crate::solve::contact_place::ContactPlace;
use crate::solve::run::Run;
use crate::solve::solver::Velocity;
use crate::solve::step_contacts::StepContacts;

/// Greatest number of further passes in a sub-step, of each kind.
const PASSES_MAX: usize = 32;

/// Number of batches to solve in these passes: what 4,096 contacts need. Larger worlds get fewer passes, but two.
const BATCHES_MAX: usize = PASSES_MAX * 4_096 / LANES;

/// A pass that changes no velocity by more than this is the last one, raw units per second: 1/1,024 unit per second, a 64th of the usual
/// sleep speed.
const SETTLED: u32 = 1 << 6;

/// Where bodies hit each other, a part of the greatest change of the passes before is enough: 1/64.
const CALMER_SHIFT: u32 = 6;

/// The scratch of settling.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settling {
    /// The contacts in which only one body yields.
    supports: Vec<ContactPlace>,
    /// The velocities before a pass.
    before: Vec<Velocity>,
}

impl Settling {
    /// Forgets the contacts of the last step.
    pub(crate) fn begin(&mut self) {
        self.supports.clear();
    }

    /// Notes the contacts in which only one body yields.
    #[cold]
    pub(crate) fn find_supports(&mut self, contacts: &StepContacts) {
        contacts
            .list(&mut self.supports, |batch, lane| batch.share_a[lane] == 0 || batch.share_a[lane] == UNIT);
    }

    /// Solves the contacts with immovable bodies once more, as rigid ones, so that a heavy body that hits a light one enters it rather than
    /// the wall behind it.
    pub(crate) fn hold_at_walls(&self, run: &mut Run<'_>) {
        if self.supports.is_empty() {
            return;
        }
        run.solve_rigid(&self.supports);
        hold(run.bodies.locked, run.bodies.velocities);
    }

    /// Repeats a pass until it changes little, if masses are very different.
    pub(crate) fn settle(&mut self, run: &mut Run<'_>, pass: impl Fn(&Self, &mut Run<'_>)) {
        if !run.contacts.stiff.uneven {
            return;
        }
        let mut enough = SETTLED;
        let passes = BATCHES_MAX / run.contacts.batches.as_slice().len().max(1);
        for _ in 0..passes.clamp(2, PASSES_MAX) {
            self.before.clear();
            self.before.extend_from_slice(run.bodies.velocities);
            pass(self, run);
            let change = greatest_change(&self.before, run.bodies.velocities);
            if change <= enough {
                break;
            }
            enough = enough.max(change >> CALMER_SHIFT);
        }
    }
}

/// The greatest change of a velocity, per axis.
fn greatest_change(before: &[Velocity], after: &[Velocity]) -> u32 {
    let change = |(before, after): (&Velocity, &Velocity)| {
        let (before, after) = (before.get(), after.get());
        (before[0].abs_diff(after[0])).max(before[1].abs_diff(after[1]))
    };
    before.iter().zip(after).map(change).max().unwrap_or(0)
}
