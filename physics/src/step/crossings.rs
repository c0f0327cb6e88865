//! Crossings: moving bodies that the solved velocities would carry through each other.
//!
//! Where many fast bodies strike each other within a frame, the passes of the solver may end while some pairs still close at several units per
//! second. And which bodies meet is decided before anything is solved ([`crate::step::passages`], [`crate::step::strikes`]): one that the solver turns
//! round may cross a body that it has no contact with. So the pairs of such bodies are looked at once more, with the velocities that advance
//! positions. A pair that would cross comes together until it touches, and no further. Both bodies keep the velocities that the solver gave
//! them, and collide in the next frame.

use alloc::vec::Vec;

use crate::body::record::{Extra, Shell, flag};
use crate::body::slot::Slot;
use crate::body::working_index::{WorkingIndex, WorkingPair};
use crate::collide::narrow_phase::{UNIT, UNIT_BITS};
use crate::collide::passage::crossing;
use crate::contact::share::share_with_locks;
use crate::math::axes::{both, each_axis};
use crate::solve::batches::Batches;
use crate::solve::bodies::hold;
use crate::solve::solver::{Contact, NO_LIMIT, Velocity, apply_impulse};
use crate::step::scene::Scene;
use crate::step::working::Working;

/// Greatest number of times that the pairs are looked at in a frame.
const ROUNDS: u8 = 16;

/// What the search reads.
#[derive(Clone, Copy)]
pub(crate) struct Crossing<'a> {
    pub(crate) scene: Scene<'a>,
    /// By slot.
    pub(crate) extras: &'a [Extra],
    pub(crate) working: &'a Working,
    pub(crate) batches: &'a Batches,
    pub(crate) fps: u32,
    /// The greatest growth of a box, raw units.
    pub(crate) box_margin: i32,
}

/// The pairs of a step that may cross. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crossings {
    /// The pairs with a fast body, in the order of the broad phase. Walls are left out: they stop bodies when these move.
    pub(crate) pairs: Vec<WorkingPair>,
    /// By working index: the last round in which the pairs of this body are looked at.
    turned: Vec<u8>,
}

impl Crossings {
    /// Changes `moving`, the velocities that advance positions, so that no pair comes closer than to where it touches by more than contacts
    /// allow bodies to overlap.
    pub(crate) fn stop(&mut self, field: &Crossing<'_>, moving: &mut [Velocity]) {
        let Self { pairs, turned } = self;
        turned.clear();
        let movers = field.working.shells[..field.batches.dummy().at()].iter().zip(&*moving);
        turned.extend(movers.map(|(shell, now)| u8::from(field.is_turned(shell, now.get()))));
        turned.resize(moving.len(), 0);
        for round in 1..=ROUNDS {
            let mut any = false;
            for &pair in &*pairs {
                let is_due = pair.iter().any(|&body| turned[body.at()] >= round);
                if is_due && field.stop(pair, moving) {
                    pair.iter().for_each(|&body| turned[body.at()] = round + 1);
                    any = true;
                }
            }
            if !any {
                break;
            }
            field.hold_at_walls(moving, |body| turned[body.at()] > round);
        }
    }
}

impl Crossing<'_> {
    /// Whether contacts have changed the velocity of a moving body by so much that it leaves the box in which its pairs were searched for.
    fn is_turned(&self, shell: &Shell, now: [i32; 2]) -> bool {
        let Some(body) = self.scene.bodies.get(shell.slot.at()) else { return false };
        let limit = shell.growth(self.box_margin).saturating_mul(self.fps as i32);
        (0..2).any(|x| now[x].saturating_sub(body.velocity[x]).abs() > limit)
    }

    /// Stops a pair where it touches, if it would cross. Returns whether it does.
    fn stop(&self, pair: WorkingPair, moving: &mut [Velocity]) -> bool {
        let [a, b] = both(pair, |body| &self.working.shells[body]);
        // Sleeping bodies keep their place in this frame.
        let sleeps = pair[1] > self.batches.dummy();
        let [from, to] = both(pair, |body| moving[body].get());
        let to = if sleeps { [0; 2] } else { to };
        let speed = each_axis(|x| to[x].wrapping_sub(from[x]));
        let Some(met) = crossing(a, b, both(speed, |s| s / self.fps as i32)) else { return false };
        let along: i64 = (0..2).map(|x| i64::from(speed[x]) * i64::from(met.normal[x])).sum();
        let fps = i64::from(self.fps);
        let too_fast = -(along >> UNIT_BITS) - i64::from(met.gap.max(0)) * fps;
        let allowed: i32 = both([a, b], |shell| shell.growth(self.box_margin)).iter().sum();
        if too_fast <= i64::from(allowed) * fps || !self.collide(a.slot, b.slot) {
            return false;
        }
        let ranks = both([a, b], |shell| self.extras[shell.slot].dominance);
        let share = share_with_locks(self.scene.bodies, a, b, met.normal, ranks);
        let Some(share_a) = (if sleeps { Some(UNIT) } else { share }) else { return false };
        let contact = Contact { a: pair[0], b: pair[1], share_a, ..Contact::none(self.batches.dummy()) };
        apply_impulse(&contact, met.normal, too_fast.min(i32::MAX.into()) as i32, moving);
        true
    }

    /// Whether two bodies can touch, and none of them is a sensor.
    fn collide(&self, a: Slot, b: Slot) -> bool {
        let is_solid = |slot: Slot| !self.scene.bodies[slot].has(flag::SENSOR);
        is_solid(a) && is_solid(b) && self.scene.interact(a, b)
    }

    /// Walls have the last word for the bodies whose velocity has `changed`.
    fn hold_at_walls(&self, moving: &mut [Velocity], changed: impl Fn(WorkingIndex) -> bool) {
        let Self { batches, working, .. } = self;
        batches.for_each_from(batches.at_rest(), |batch, lane, origin| {
            let pair = [batch.a[lane], batch.b[lane]];
            let is_wall = pair.iter().any(|&body| working.shells[body].mass == 0);
            if is_wall && batch.biased[lane] != NO_LIMIT && pair.into_iter().any(&changed) {
                let reach = origin.gap.max(0).saturating_mul(self.fps as i32);
                let missing = batch.approach(lane, moving).saturating_sub(reach);
                if missing > 0 {
                    batch.apply(lane, missing, moving);
                }
            }
        });
        hold(&working.locked, moving);
    }
}
