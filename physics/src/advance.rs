//! The step: phases in order, each a few lines over what the world keeps.

use alloc::vec::Vec;

use crate::body::{Body, Extra, flag};
use crate::body_id::BodyId;
use crate::contact_phase::ContactPhase;
use crate::contacts::RestingContact;
use crate::motion::{self, PerFrame};
use crate::narrow_phase::scale_down;
use crate::num::FPS_MAX;
use crate::quadtree::RawBox;
use crate::resting::RestingTrees;
use crate::simd::prefetch;
use crate::sweep::sweep;
use crate::world::{ContactEvent, StepError, World};
use crate::world_def::{EdgePolicy, Settings};

impl World {
    /// Advances the world by one frame of `1 / frames_per_second` seconds. The rate may change from step to step.
    ///
    /// # Errors
    /// [`StepError::FramesPerSecond`] outside of 1..=1,000; the world is unchanged.
    pub fn step(&mut self, frames_per_second: u32) -> Result<(), StepError> {
        if !(1..=FPS_MAX).contains(&frames_per_second) {
            return Err(StepError::FramesPerSecond { given: frames_per_second });
        }
        let per_frame = PerFrame::new(frames_per_second);
        self.change_rate(frames_per_second);
        self.gather_movers();
        self.accelerate(per_frame);
        self.wake_sleepers(per_frame);
        self.find_contacts(frames_per_second);
        self.stepper.solve(&self.settings);
        self.keep_contacts();
        if self.move_bodies(per_frame) {
            self.put_to_sleep();
        }
        self.frame = self.frame.wrapping_add(1);
        Ok(())
    }

    /// The remainders count in 1/fps; a new rate rescales them, sleeping bodies included.
    #[inline(never)]
    fn change_rate(&mut self, fps: u32) {
        let old = core::mem::replace(&mut self.fps, fps);
        if old == fps || old == 0 {
            return;
        }
        for body in &mut self.bodies {
            for rest in body.position_rest.iter_mut().chain(&mut body.acceleration_rest) {
                *rest = motion::rescale_rest(*rest, old, fps);
            }
            body.friction_rest = motion::rescale_rest(body.friction_rest, old, fps);
        }
    }

    /// Bodies that woke up or are new leave the resting trees and join the movers.
    #[inline(never)]
    fn gather_movers(&mut self) {
        let (split, margin) = (self.settings.split, self.settings.box_margin());
        let known = self.active.len();
        for slot in self.waking.drain(..) {
            // A woken body is no mover any more when it was removed or disabled again; a new one in its slot counts once.
            if self.bodies[slot as usize].has(flag::AWAKE) && self.resting.contains(slot) {
                self.resting.remove(slot);
                self.active.push(slot);
            }
        }
        self.resting.flush(&self.bodies, split, margin);
        sort_in(&mut self.active, known, &mut self.scratch);
    }

    /// Gravity, forces and damping.
    #[inline(never)]
    fn accelerate(&mut self, per_frame: PerFrame) {
        let gravity = self.settings.gravity;
        let max_speed = self.settings.max_speed;
        let pulled = if gravity == [0, 0] { 0 } else { flag::DYNAMIC };
        for &slot in &self.active {
            let body = &mut self.bodies[slot as usize];
            if body.has(pulled | flag::FORCED | flag::DAMPED) {
                accelerate_one(body, &mut self.extras[slot as usize], gravity, max_speed, per_frame);
            }
        }
    }

    /// Gathers the movers. Sleepers that a moving body is about to touch wake up first, so that they give way at once.
    fn wake_sleepers(&mut self, per_frame: PerFrame) {
        self.gather();
        let mut near = core::mem::take(&mut self.scratch);
        self.stepper.sleepers_near_movers(&self.bodies, &mut near);
        for &slot in &near {
            let (body, extra) = (&mut self.bodies[slot as usize], &mut self.extras[slot as usize]);
            if !body.has(flag::AWAKE) {
                body.set(flag::AWAKE, true);
                // Not moving yet: it wakes its own neighbours only when it does.
                body.still_frames = 1;
                accelerate_one(body, extra, self.settings.gravity, self.settings.max_speed, per_frame);
                self.resting.remove(slot);
                self.active.push(slot);
                self.recheck_resting = true;
                self.contacts.roles_changed = true;
            }
        }
        if !near.is_empty() {
            self.active.sort_unstable();
            self.gather();
        }
        self.scratch = near;
    }

    /// Sorts the movers along the curve and finds the bodies at rest near them.
    fn gather(&mut self) {
        self.stepper.gather(&self.active, &self.bodies, &self.contacts, &self.settings);
        self.stepper.find_resting_pairs(&mut self.resting);
    }

    /// Broad phase, narrow phase, and the contacts of the last frame for the warm start.
    #[inline(never)]
    fn find_contacts(&mut self, fps: u32) {
        let bodies = &self.bodies;
        let removed = &self.removed;
        let gone = |slot: u32| removed.binary_search_by_key(&slot, |r| r.slot).is_ok();
        let stays = |slot: u32| {
            let body = &bodies[slot as usize];
            !body.has(flag::AWAKE | flag::DISABLED | flag::FRESH) && !gone(slot)
        };
        let recheck = core::mem::take(&mut self.recheck_resting);
        self.contacts.begin_step(
            bodies.len(),
            recheck.then_some(|c: &RestingContact| !(stays(c.owner) && stays(c.other))),
        );
        self.sensors.begin_step();
        self.stepper.append_resting(bodies, &self.contacts);
        self.stepper.find_contacts(&mut ContactPhase {
            bodies,
            extras: &self.extras,
            settings: &self.settings,
            fps,
            contacts: &self.contacts,
            sensors: &mut self.sensors,
        });
    }

    /// Caches the solved contacts and makes the events.
    #[inline(never)]
    fn keep_contacts(&mut self) {
        let (batches, shells) = self.stepper.solved();
        self.contacts.end_step(batches, shells);
        let bodies = &self.bodies;
        let removed = &self.removed;
        let new_body = |slot: u32| bodies[slot as usize].has(flag::FRESH);
        let gone = |slot: u32| removed.binary_search_by_key(&slot, |r| r.slot).is_ok();
        let unseen = |slot: u32| !bodies[slot as usize].has(flag::AWAKE | flag::DISABLED) && !gone(slot);
        self.sensors.end_step(|(a, b)| unseen(a) && unseen(b), |(a, b)| new_body(a) || new_body(b));
        self.name_events();
        for slot in self.fresh.drain(..) {
            self.bodies[slot as usize].set(flag::FRESH, false);
        }
        self.removed.clear();
    }

    /// Turns pairs of slots into events with handles and user values.
    #[inline(never)]
    fn name_events(&mut self) {
        let (order, extras, removed) = (&self.order, &self.extras, &self.removed);
        let now = |slot: u32| {
            let generation = order.generation(slot).unwrap_or(0);
            (BodyId { index: slot, generation }, extras[slot as usize].user)
        };
        let before = |slot: u32| match removed.binary_search_by_key(&slot, |r| r.slot) {
            Ok(at) => (BodyId { index: slot, generation: removed[at].generation }, removed[at].user),
            Err(_) => now(slot),
        };
        let event = |((a, user_a), (b, user_b))| ContactEvent { a, b, user_a, user_b };
        let refill =
            |events: &mut Vec<ContactEvent>, pairs: &[(u32, u32)], past: bool| {
                events.clear();
                events.extend(pairs.iter().map(|&(a, b)| {
                    if past { event((before(a), before(b))) } else { event((now(a), now(b))) }
                }));
            };
        refill(&mut self.events.contacts_began, &self.contacts.began, false);
        refill(&mut self.events.contacts_stayed, &self.contacts.stayed, false);
        refill(&mut self.events.contacts_ended, &self.contacts.ended, true);
        refill(&mut self.events.sensors_began, &self.sensors.began, false);
        refill(&mut self.events.sensors_ended, &self.sensors.ended, true);
    }

    /// Writes the solved velocities back and moves the bodies. Returns whether one of them is to fall asleep.
    #[inline(never)]
    fn move_bodies(&mut self, per_frame: PerFrame) -> bool {
        self.stepper.spread_stillness();
        let settings = self.settings;
        let Self { stepper, bodies, extras, previous, resting, .. } = self;
        let margin = settings.box_margin();
        let mut tired = false;
        stepper.for_each_mover(|mover| {
            prefetch(bodies, mover.soon);
            let at = mover.slot as usize;
            previous[at] = bodies[at].position;
            let step = displacement(&mut bodies[at], mover.moving, per_frame, settings.max_speed);
            let step = if outruns_itself(&bodies[at], step) {
                clip_to_walls(mover.slot, step, bodies, resting)
            } else {
                step
            };
            let body = &mut bodies[at];
            body.velocity = mover.kept.map(|v| v.clamp(-settings.max_speed, settings.max_speed));
            advance(body, step, &settings);
            if body.ground_friction != 0 && body.has(flag::DYNAMIC) {
                motion::apply_ground_friction(body, per_frame);
            }
            if body.has(flag::LIMITED) {
                motion::limit_speed(&mut body.velocity, extras[at].max_speed);
            }
            // A kinematic body is never still while it moves: what it pushes, however slowly, must not fall asleep before it.
            let still =
                body.has(flag::DYNAMIC) && body.velocity.iter().all(|v| v.abs() <= settings.sleep_speed);
            body.still_frames =
                if still { mover.calm.saturating_add(1).min(settings.sleep_frames.max(1)) } else { 0 };
            tired |= falls_asleep(body, settings.sleep_frames);
            body.bounds().grown(margin)
        });
        tired
    }

    /// Bodies that were still for long enough fall asleep.
    #[inline(never)]
    fn put_to_sleep(&mut self) {
        let limit = self.settings.sleep_frames;
        let (split, margin) = (self.settings.split, self.settings.box_margin());
        let Self { active, bodies, stepper, resting, .. } = self;
        active.retain(|&slot| {
            let body = &mut bodies[slot as usize];
            if !falls_asleep(body, limit) {
                return true;
            }
            body.set(flag::AWAKE, false);
            body.velocity = [0, 0];
            stepper.vacate(slot);
            resting.insert(slot, bodies, split, margin);
            false
        });
        self.contacts.retire(&self.bodies);
    }
}

/// Sorts a list whose first `sorted` elements are sorted already.
fn sort_in(list: &mut [u32], sorted: usize, scratch: &mut Vec<u32>) {
    list[sorted..].sort_unstable();
    scratch.clear();
    scratch.extend_from_slice(&list[sorted..]);
    // From the end: whoever is greatest takes the last place that is left.
    let mut left = sorted;
    for place in (0..list.len()).rev() {
        let Some(&newcomer) = scratch.last() else { return };
        if left > 0 && list[left - 1] > newcomer {
            left -= 1;
            list[place] = list[left];
        } else {
            list[place] = newcomer;
            scratch.pop();
        }
    }
}

/// Greatest acceleration per axis, raw units/s^2; larger sums are cut off.
const ACCELERATION_MAX: i32 = (1 << 30) - 1;

/// Gravity, forces and damping of one body.
fn accelerate_one(
    body: &mut Body,
    extra: &mut Extra,
    gravity: [i32; 2],
    max_speed: i32,
    per_frame: PerFrame,
) {
    let falls = body.has(flag::DYNAMIC) && gravity != [0, 0];
    if body.has(flag::FORCED) || falls {
        let g = if falls { gravity } else { [0, 0] };
        let sum = [0, 1].map(|axis| {
            g[axis].saturating_add(extra.acceleration[axis]).clamp(-ACCELERATION_MAX, ACCELERATION_MAX)
        });
        extra.acceleration = [0; 2];
        body.set(flag::FORCED, false);
        body.set(flag::EXTRA, *extra != Extra::USUAL);
        motion::accelerate(body, sum, per_frame, max_speed);
    }
    if body.has(flag::DAMPED) {
        motion::damp(body, extra.damping, per_frame);
    }
}

/// How far a velocity moves a body in this frame; the rest is carried in the body.
fn displacement(body: &mut Body, velocity: [i32; 2], per_frame: PerFrame, max_speed: i32) -> [i32; 2] {
    let mut step = [0; 2];
    for axis in 0..2 {
        let velocity = velocity[axis].clamp(-max_speed, max_speed);
        (step[axis], body.position_rest[axis]) = per_frame.take(velocity, body.position_rest[axis]);
    }
    step
}

/// Whether a mover was still for long enough; one that nothing but its own velocity moves sleeps at once without any.
fn falls_asleep(body: &Body, limit: u16) -> bool {
    (limit > 0 && body.has(flag::DYNAMIC) && body.still_frames >= limit)
        || (body.has(flag::KINEMATIC) && body.velocity == [0, 0])
}

/// Whether a body moves further than its own half size in one frame, so that it may pass through another unseen.
fn outruns_itself(body: &Body, step: [i32; 2]) -> bool {
    let [w, h] = body.extents();
    step[0].abs().max(step[1].abs()) > w.min(h) && body.has(flag::DYNAMIC) && !body.has(flag::SENSOR)
}

/// Continuous check for a body that [`outruns_itself`]: it stops at the first body at rest that contacts cannot move. Its
/// velocity stays; the contact takes it in the next step.
#[inline(never)]
fn clip_to_walls(slot: u32, step: [i32; 2], bodies: &[Body], resting: &RestingTrees) -> [i32; 2] {
    let body = &bodies[slot as usize];
    let shell = body.shell(slot);
    let start = shell.bounds();
    let end = RawBox {
        min: [start.min[0] + step[0], start.min[1] + step[1]],
        max: [start.max[0] + step[0], start.max[1] + step[1]],
    };
    let mut part = None;
    resting.visit(&start.union(&end), &mut |other| {
        let wall = &bodies[other as usize];
        if !wall.has(flag::DYNAMIC | flag::SENSOR) && body.interacts_with(wall) {
            let hit = sweep(&shell, step, &wall.shell(other));
            part = match (part, hit) {
                (Some(a), Some(b)) => Some(i32::min(a, b)),
                (a, b) => a.or(b),
            };
        }
    });
    match part {
        None => step,
        Some(part) => step.map(|s| scale_down(s, part)),
    }
}

/// Moves the centre, held inside the world's bounds.
fn advance(body: &mut Body, step: [i32; 2], settings: &Settings) {
    for axis in 0..2 {
        let (low, high) = (settings.bounds.min[axis], settings.bounds.max[axis]);
        let wanted = body.position[axis].saturating_add(step[axis]);
        if low < wanted && wanted < high {
            body.position[axis] = wanted;
            continue;
        }
        let held = wanted.clamp(low.min(body.position[axis]), high.max(body.position[axis]));
        body.position[axis] = held;
        let outward = (held >= high && body.velocity[axis] > 0) || (held <= low && body.velocity[axis] < 0);
        if outward {
            body.position_rest[axis] = 0;
            body.velocity[axis] = match settings.edge {
                EdgePolicy::Stop => 0,
                EdgePolicy::Bounce => {
                    ((-i64::from(body.velocity[axis]) * i64::from(body.restitution)) >> 16) as i32
                }
            };
        }
    }
}
