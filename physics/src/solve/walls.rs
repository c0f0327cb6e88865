//! Contacts with immovable bodies, where something that yields to nobody else presses on them.

use alloc::vec::Vec;

use crate::body::record::Extra;
use crate::solve::deep;
use crate::solve::run::Run;
use crate::solve::solver::Velocity;

/// Batch and lane of the contacts with immovable bodies, if bodies of different rank touch, or of very different mass without gravity.
#[derive(Clone, Debug, Default)]
pub(crate) struct WallContacts {
    pub(crate) places: Vec<(u32, u32)>,
}

impl WallContacts {
    /// Notes the contacts with immovable bodies if bodies of different rank touch, or if a heavy body leans on a light one (`pressed`): a body that
    /// is squeezed between a rank and a wall, both of which do not yield, enters the rank, and likewise the heavy body. `ranks` are the ranks by
    /// slot, if any body may have one.
    pub(crate) fn find(&mut self, run: &Run<'_>, ranks: Option<&[Extra]>, pressed: bool) {
        self.places.clear();
        if ranks.is_some() || pressed {
            self.list(run, ranks, pressed);
        }
    }

    #[cold]
    fn list(&mut self, run: &Run<'_>, ranks: Option<&[Extra]>, pressed: bool) {
        let (mut needed, shells) = (pressed, run.bodies.shells);
        run.contacts.list(&mut self.places, |batch, lane| {
            let [a, b] = [batch.a[lane], batch.b[lane]].map(|body| &shells[body as usize]);
            let wall = a.mass == 0 || b.mass == 0;
            if let (Some(extras), false) = (ranks, wall) {
                let [rank_a, rank_b] = [a, b].map(|shell| extras[shell.slot as usize].dominance);
                needed |= rank_a != rank_b;
            }
            wall
        });
        if !needed {
            self.places.clear();
        }
    }

    /// Solves them once more for the velocities that advance positions (`moving`); `speed` is how fast a deep overlap is to separate. Twice, for
    /// corners.
    pub(crate) fn hold_off(&self, run: &Run<'_>, moving: &mut [Velocity], speed: impl Fn(i32) -> i32) {
        let batches = &run.contacts.batches;
        for _ in 0..2 {
            for &(batch, lane) in &self.places {
                let gap = batches.origin((batch, lane)).gap;
                let (batch, lane) = (&batches.as_slice()[batch as usize], lane as usize);
                let limit = if gap < -deep::OVERLAP_SHALLOW { speed(gap) } else { batch.biased[lane] };
                let missing = batch.approach(lane, moving).saturating_add(limit);
                if missing > 0 {
                    batch.apply(lane, missing, moving);
                }
            }
        }
    }
}
