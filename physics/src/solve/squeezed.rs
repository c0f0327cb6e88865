//! Bodies that walls leave less room than they need: they fall asleep where they are.
//!
//! The passes that separate overlaps find no way out for such a body, and hold it a little before one of the walls. The relaxing passes then give it
//! the speed with which it may come to that wall. Nothing moves, but it would never come to rest.

use alloc::vec::Vec;

use crate::body::record::Shell;
use crate::solve::bodies::Bodies;
use crate::solve::coloring::Batches;
use crate::solve::push::PUSH_MAX;
use crate::solve::run::Run;
use crate::solve::solver::Velocity;
use crate::world_def::Settings;

/// A body that moves with less than this part of the speed that it keeps hovers: 1/16. One that begins to move does so with half of it or more.
const HOVERS_SHIFT: u32 = 4;

/// The greatest speed that relaxing passes leave to a squeezed body without gravity, raw units per second: a quarter of the greatest with which
/// overlaps are separated, which is the part by which the last pass goes too far. With gravity it is what that adds in a frame.
const LEVEL_MAX: u32 = (PUSH_MAX / 4) as u32;

/// The squeezed bodies of a step. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Squeezed {
    /// Working indices, some more than once.
    bodies: Vec<u32>,
}

impl Squeezed {
    /// Takes the speed of squeezed bodies; `moving` are the velocities that advance positions. With gravity, also of what lies on them. Without it, only
    /// of those between walls, because contacts between bodies keep their momentum.
    pub(crate) fn still(&mut self, run: &mut Run<'_>, moving: &[Velocity], settings: &Settings) {
        let (Bodies { velocities, gained, shells, .. }, batches) = (&mut run.bodies, &run.contacts.batches);
        let level = settings.gravity == [0; 2];
        let hovers = |body: u32, velocities: &[Velocity]| {
            let body = body as usize;
            let (way, kept) = (most(moving[body].get()), most(velocities[body].get()));
            let most_kept = || if level { LEVEL_MAX } else { gained.get(body).map_or(0, |&gain| most(gain)) };
            let restless = kept > settings.sleep_speed.unsigned_abs();
            restless && way <= kept >> HOVERS_SHIFT && shells[body].mass != 0 && kept <= most_kept()
        };
        // In most steps no body hovers, and there are fewer bodies than contacts.
        if !level && !(0..velocities.len() as u32).any(|body| hovers(body, velocities)) {
            return;
        }
        self.bodies.clear();
        batches.for_each_from(if level { batches.between_movers() } else { 0 }, |batch, lane, _| {
            if batch.impulse[lane] != 0 {
                let pair = [batch.a[lane], batch.b[lane]];
                self.bodies.extend(pair.into_iter().filter(|&body| hovers(body, velocities)));
            }
        });
        if level && !self.bodies.is_empty() {
            self.keep_those_between_walls(batches, shells);
        }
        self.bodies.iter().for_each(|&body| velocities[body as usize] = moving[body as usize]);
    }

    /// Leaves out the bodies that only one wall pushes, or that another body pushes.
    #[cold]
    fn keep_those_between_walls(&mut self, batches: &Batches, shells: &[Shell]) {
        let bodies = &mut self.bodies;
        bodies.sort_unstable();
        // Each body once for each of its walls but one.
        let mut last = None;
        bodies.retain(|&body| last.replace(body) == Some(body));
        batches.for_each(|batch, lane, _| {
            let pair = [batch.a[lane], batch.b[lane]];
            if batch.impulse[lane] != 0 && pair.iter().all(|&body| shells[body as usize].mass != 0) {
                bodies.retain(|body| !pair.contains(body));
            }
        });
    }
}

/// The greater component of a vector.
fn most(v: [i32; 2]) -> u32 {
    v[0].unsigned_abs().max(v[1].unsigned_abs())
}
