//! The step: its phases in order, each a few lines over what the world keeps.

use alloc::vec::Vec;

use crate::body::id::BodyId;
use crate::body::record::{Body, Extra, flag};
use crate::contact::cache::RestingContact;
use crate::math::num::FPS_MAX;
use crate::motion::movers::{Movement, Walls};
use crate::motion::rates::{self, PerFrame};
use crate::solve::soft;
use crate::step::contact_phase::{ContactPhase, Scene};
use crate::step::crew::Crew;
use crate::step::stepper::Stepper;
use crate::step::workers::{SameThread, Workers};
use crate::world::hits::ContactHit;
use crate::world::{ContactEvent, StepError, World};

/// Least number of moving bodies with which a step asks for help: fewer take no longer than others need to come.
const SHARED_MIN: usize = 3_000;

impl World {
    /// Advances the world by one frame of `1 / frames_per_second` seconds. The rate may change from step to step.
    ///
    /// # Errors
    /// [`StepError::FramesPerSecond`] if the value is outside of 1..=1,000; the world stays unchanged.
    pub fn step(&mut self, frames_per_second: u32) -> Result<(), StepError> {
        self.step_on(frames_per_second, &SameThread)
    }

    /// [`Self::step`] with the help of other threads. Any number of threads gives the same bits.
    ///
    /// # Errors
    /// Like [`Self::step`].
    pub fn step_on(&mut self, frames_per_second: u32, workers: &dyn Workers) -> Result<(), StepError> {
        if !(1..=FPS_MAX).contains(&frames_per_second) {
            return Err(StepError::FramesPerSecond { given: frames_per_second });
        }
        if workers.threads() > 1 && self.active.len() + self.waking.len() >= SHARED_MIN {
            Crew::gather(workers, |crew| self.advance(frames_per_second, crew));
        } else {
            self.advance(frames_per_second, &mut Crew::alone());
        }
        Ok(())
    }

    fn advance(&mut self, frames_per_second: u32, crew: &mut Crew<'_>) {
        let per_frame = PerFrame::new(frames_per_second);
        self.change_rate(frames_per_second);
        self.gather_movers();
        self.accelerate(per_frame);
        self.wake_sleepers(per_frame, crew);
        self.find_contacts(frames_per_second, crew);
        let ranks = self.had_ranks.then_some(self.extras.as_slice());
        self.stepper.solve(&self.settings, frames_per_second, ranks);
        let rests = self.keep_contacts_and_move(per_frame, crew);
        self.wake_guests();
        if rests {
            self.put_to_sleep();
        }
        self.frame = self.frame.wrapping_add(1);
    }

    /// Remainders count in 1/fps. A new rate rescales them, those of sleeping bodies included.
    #[inline(never)]
    fn change_rate(&mut self, fps: u32) {
        let old = core::mem::replace(&mut self.fps, fps);
        if old == fps || old == 0 {
            return;
        }
        for body in &mut self.bodies {
            for remainder in body.position_remainder.iter_mut().chain(&mut body.acceleration_remainder) {
                *remainder = rates::rescale_remainder(*remainder, old, fps);
            }
            body.friction_remainder = rates::rescale_remainder(body.friction_remainder, old, fps);
        }
        self.clock_remainder = rates::rescale_remainder(self.clock_remainder, old, fps);
        if self.settings.gravity != [0, 0] {
            // A load gives its contacts an impulse in each sub-step, the less the shorter it is.
            let [from, to] = [old, fps].map(|fps| fps * soft::parts(fps));
            self.contacts.scale_impulses(from, to);
        }
    }

    /// Length of this frame in milliseconds. The remainder counts later, so the sum is exact.
    fn pass_time(&mut self, per_frame: PerFrame) -> u16 {
        let (milliseconds, remainder) = per_frame.take(1_000, self.clock_remainder);
        self.clock_remainder = remainder;
        milliseconds as u16
    }

    /// Woken and new bodies leave the resting trees and join the moving ones. A new body that does not move wakes those beside it.
    #[inline(never)]
    fn gather_movers(&mut self) {
        if core::mem::take(&mut self.lulled) {
            self.contacts.retire(&self.bodies);
        }
        sort_out(&mut self.active, &mut self.left);
        self.join_movers();
        let sort = self.stepper.path.sorter(self.settings.split, &self.bodies);
        self.resting.flush(&self.bodies, self.settings.box_margin(), sort);
        for at in 0..self.fresh.len() {
            let slot = self.fresh[at];
            let body = &self.bodies[slot as usize];
            if body.has(flag::ALIVE) && !body.has(flag::AWAKE | flag::DISABLED | flag::SENSOR) {
                self.wake_neighbours(slot);
            }
        }
        self.join_movers();
    }

    /// Woken bodies leave the resting trees and join the moving ones.
    pub(crate) fn join_movers(&mut self) {
        if self.waking.is_empty() {
            return;
        }
        let known = self.active.len();
        for slot in self.waking.drain(..) {
            // A woken body does not move any more if it was removed or disabled since; a new body in its slot counts once.
            if self.bodies[slot as usize].has(flag::AWAKE) && self.resting.contains(slot) {
                self.resting.remove(slot);
                self.active.push(slot);
            }
        }
        sort_in(&mut self.active, known, &mut self.scratch);
    }

    /// Applies gravity, forces and damping.
    #[inline(never)]
    fn accelerate(&mut self, per_frame: PerFrame) {
        let gravity = self.settings.gravity;
        let max_speed = self.settings.max_speed;
        self.stepper.gains.clear();
        let pulled = if gravity == [0, 0] { 0 } else { flag::DYNAMIC };
        if pulled == 0 && !self.had_forces {
            return;
        }
        for &slot in &self.active {
            let body = &mut self.bodies[slot as usize];
            if body.has(pulled | flag::FORCED | flag::DAMPED) {
                let gain =
                    accelerate_one(body, &mut self.extras[slot as usize], gravity, max_speed, per_frame);
                self.stepper.note_gain(slot, gain);
            }
        }
    }

    /// Broad phase, narrow phase, and the contacts of the last frame for the warm start.
    #[inline(never)]
    fn find_contacts(&mut self, fps: u32, crew: &mut Crew<'_>) {
        let bodies = &self.bodies;
        let removed = &self.removed;
        let gone = |slot: u32| removed.binary_search_by_key(&slot, |r| r.slot).is_ok();
        let stays = |slot: u32| {
            let body = &bodies[slot as usize];
            !body.has(flag::AWAKE | flag::DISABLED | flag::FRESH) && !gone(slot)
        };
        // An owner that is not dynamic any more has changed its kind.
        let rests = |c: &RestingContact| {
            stays(c.owner) && stays(c.other) && bodies[c.owner as usize].has(flag::DYNAMIC)
        };
        self.contacts.begin_step(bodies.len(), |c: &RestingContact| !rests(c));
        self.sensors.begin_step();
        self.stepper.append_resting(bodies, &self.contacts);
        let mut phase = ContactPhase {
            scene: Scene { bodies, ignored: &self.ignored, terrain: &self.terrain },
            extras: &self.extras,
            settings: &self.settings,
            asks: !self.ignored.as_slice().is_empty(),
            ranked: self.had_ranks,
            fps,
            contacts: &self.contacts,
            sensors: &mut self.sensors,
        };
        self.stepper.find_contacts(&mut phase, crew);
    }

    /// Counts the contacts that are kept, caches them while the bodies move with their solved velocities, and creates the events. Returns
    /// whether any body will fall asleep.
    #[inline(never)]
    fn keep_contacts_and_move(&mut self, per_frame: PerFrame, crew: &mut Crew<'_>) -> bool {
        let bodies = &self.bodies;
        let mut batches = core::mem::take(&mut self.stepper.batches);
        let scene = Scene { bodies, ignored: &self.ignored, terrain: &self.terrain };
        let touch = |a, b| self.stepper.touch(a, b, scene);
        let Stepper { shells, path, .. } = &self.stepper;
        path.count_contacts(&mut self.contacts, &mut batches, shells, &touch);
        self.events.hits.clear();
        if self.events.lists_hits {
            // Places and speeds of impacts are those before the bodies move.
            self.contacts.end_step(&batches, shells, &self.stepper.frictions);
            let id = |slot| BodyId { index: slot, generation: self.order.generation(slot).unwrap_or(0) };
            let hit =
                |&(a, b): &(u32, u32)| ContactHit::between([id(a), id(b)], bodies, &self.terrain, self.fps);
            self.events.hits.extend(self.contacts.began.iter().map(hit));
        }
        self.stepper.batches = batches;
        let rests = self.move_bodies(per_frame, crew);
        self.stepper.cross_sensors(&mut self.sensors, &self.terrain);
        let (bodies, removed) = (&self.bodies, &self.removed);
        let new_body = |slot: u32| bodies[slot as usize].has(flag::FRESH);
        let gone = |slot: u32| removed.binary_search_by_key(&slot, |r| r.slot).is_ok();
        let unseen = |slot: u32| !bodies[slot as usize].has(flag::AWAKE | flag::DISABLED) && !gone(slot);
        self.sensors.end_step(|(a, b)| unseen(a) && unseen(b), |(a, b)| new_body(a) || new_body(b));
        self.name_events();
        for slot in self.fresh.drain(..) {
            self.bodies[slot as usize].set(flag::FRESH, false);
        }
        self.removed.clear();
        rests
    }

    /// Turns pairs of slots into events with handles and user values.
    #[inline(never)]
    fn name_events(&mut self) {
        let (order, extras, removed) = (&self.order, &self.extras, &self.removed);
        let now = |slot: u32| {
            let generation = order.generation(slot).unwrap_or(0);
            (BodyId { index: slot, generation }, extras[slot as usize].user())
        };
        let before = |slot: u32| {
            // Since a removal, nobody is in the slot, or somebody new.
            let [alive, fresh] = [flag::ALIVE, flag::FRESH].map(|bit| self.bodies[slot as usize].has(bit));
            if alive && !fresh {
                return now(slot);
            }
            match removed.binary_search_by_key(&slot, |r| r.slot) {
                Ok(at) => (BodyId { index: slot, generation: removed[at].generation }, removed[at].user),
                Err(_) => now(slot),
            }
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

    /// Writes the solved velocities back and moves the bodies. Returns whether any of them will fall asleep.
    #[inline(never)]
    fn move_bodies(&mut self, per_frame: PerFrame, crew: &mut Crew<'_>) -> bool {
        let frame_ms = self.pass_time(per_frame);
        self.stepper.spread_stillness();
        let mut movement = Movement {
            bodies: &mut self.bodies,
            previous: &mut self.previous,
            extras: &self.extras,
            walls: Walls { resting: &self.resting, ignored: &self.ignored, terrain: &self.terrain },
            settings: self.settings,
            per_frame,
            frame_ms,
            tired: false,
            stopped: false,
        };
        let unkept = (!self.events.lists_hits).then_some(&mut self.contacts);
        self.stepper.move_bodies(&mut movement, unkept, crew);
        movement.tired || movement.stopped
    }
}

/// Takes the elements of `gone` out of a sorted list; `gone` is empty afterwards.
fn sort_out(list: &mut Vec<u32>, gone: &mut Vec<u32>) {
    gone.sort_unstable();
    let (mut kept, mut seen) = (0, 0);
    for element in gone.drain(..) {
        let at = seen + list[seen..].partition_point(|&other| other < element);
        list.copy_within(seen..at, kept);
        kept += at - seen;
        seen = at + usize::from(list.get(at) == Some(&element));
    }
    list.copy_within(seen.., kept);
    list.truncate(kept + list.len() - seen);
}

/// Sorts a list whose first `sorted` elements are already sorted.
fn sort_in(list: &mut [u32], sorted: usize, scratch: &mut Vec<u32>) {
    list[sorted..].sort_unstable();
    scratch.clear();
    scratch.extend_from_slice(&list[sorted..]);
    // From the end: the greatest element takes the last free position.
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

/// Greatest acceleration per axis, raw units/s^2; larger sums are clamped.
const ACCELERATION_MAX: i32 = (1 << 30) - 1;

/// Applies gravity, forces and damping to one body. Returns what gravity and forces added to its velocity.
pub(crate) fn accelerate_one(
    body: &mut Body,
    extra: &mut Extra,
    gravity: [i32; 2],
    max_speed: i32,
    per_frame: PerFrame,
) -> [i32; 2] {
    let before = body.velocity;
    let falls = body.has(flag::DYNAMIC) && gravity != [0, 0];
    if body.has(flag::FORCED) || falls {
        let g = if falls { gravity } else { [0, 0] };
        let sum = [0, 1].map(|axis| {
            g[axis].saturating_add(extra.acceleration[axis]).clamp(-ACCELERATION_MAX, ACCELERATION_MAX)
        });
        extra.acceleration = [0; 2];
        body.set(flag::FORCED, false);
        body.set(flag::EXTRA, *extra != Extra::USUAL);
        rates::accelerate(body, sum, per_frame, max_speed);
    }
    let gain = [0, 1].map(|axis| body.velocity[axis] - before[axis]);
    if body.has(flag::DAMPED) {
        rates::damp(body, extra.damping, per_frame);
    }
    gain
}

#[cfg(all(test, feature = "rayon"))]
mod tests {
    use crate::{BodyDef, Fx, SameThread, Shape, Vec2, Workers, World, WorldDef};

    #[test]
    fn a_pool_of_rayon_gives_the_same_bits() {
        let checksum = |workers: &dyn Workers| {
            let mut world = World::new(WorldDef::new()).unwrap();
            for i in 0..4_000 {
                let (x, y) = (i % 80, i / 80);
                let def = BodyDef::dynamic(Shape::circle(Fx::lit("0.55"))).position(Vec2::from_ints(x, y));
                world.create_body(&def.velocity(Vec2::from_ints(40 - x, 25 - y))).unwrap();
            }
            for _ in 0..5 {
                world.step_on(20, workers).unwrap();
            }
            world.checksum()
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(checksum(&pool), checksum(&SameThread));
    }
}
