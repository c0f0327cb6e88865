//! The world: bodies, their contacts, and the step.

use alloc::vec::Vec;

use crate::body::{Body, BodyRef, Extra, flag};
use crate::body_def::{BodyDef, BodyError};
use crate::body_id::BodyId;
use crate::contact_phase::ContactPhase;
use crate::contacts::ContactCache;
use crate::motion::{self, PerFrame};
use crate::num::FPS_MAX;
use crate::ordered::Ordered;
use crate::quadtree::RawBox;
use crate::resting::RestingTrees;
use crate::rng::Pcg32;
use crate::sensors::SensorOverlaps;
use crate::simd::Path;
use crate::step::Stepper;
use crate::world_def::{EdgePolicy, Settings, WorldDef, WorldError};

/// A body that was removed after the last step; its contacts end in the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Removed {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
    pub(crate) user: u64,
}

/// A 2D world of circles and axis-aligned rectangles in fixed-point arithmetic.
///
/// The same calls in the same order give the same bits on every machine. See the crate documentation for an example.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) settings: Settings,
    pub(crate) seed: u64,
    /// Steps so far.
    pub(crate) frame: u64,
    /// Frames per second of the last step; the remainders in the bodies count in it. 0 before the first step.
    pub(crate) fps: u32,
    pub(crate) rng: Pcg32,
    pub(crate) order: Ordered,
    /// By slot.
    pub(crate) bodies: Vec<Body>,
    /// By slot.
    pub(crate) extras: Vec<Extra>,
    pub(crate) contacts: ContactCache,
    pub(crate) sensors: SensorOverlaps,
    /// Sorted by slot; the first removal of a slot since the last step.
    pub(crate) removed: Vec<Removed>,
    // Everything below is derived from the state or scratch.
    /// Position before the last step by slot, for drawing only.
    pub(crate) previous: Vec<[i32; 2]>,
    /// Movers, ascending slots.
    pub(crate) active: Vec<u32>,
    /// Bodies that woke up or were created since the last step; may hold stale and repeated slots.
    pub(crate) waking: Vec<u32>,
    /// Whether contacts among bodies at rest have to be looked at again.
    pub(crate) recheck_resting: bool,
    /// Bodies created since the last step.
    pub(crate) fresh: Vec<u32>,
    pub(crate) resting: RestingTrees,
    pub(crate) stepper: Stepper,
    pub(crate) events: Events,
    scratch: Vec<u32>,
}

/// A contact or overlap of two bodies that began or ended in the last step. `a` has the lower slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactEvent {
    /// The body with the lower slot index.
    pub a: BodyId,
    /// The other body.
    pub b: BodyId,
    /// User value of `a` (at its removal, when it was removed).
    pub user_a: u64,
    /// User value of `b`.
    pub user_b: u64,
}

/// Events of the last step, in ascending order of the two slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    pub(crate) contacts_began: Vec<ContactEvent>,
    pub(crate) contacts_ended: Vec<ContactEvent>,
    pub(crate) sensors_began: Vec<ContactEvent>,
    pub(crate) sensors_ended: Vec<ContactEvent>,
}

/// Why a step was refused; the world is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepError {
    /// Frames per second must lie in 1..=1,000.
    FramesPerSecond {
        /// What was asked for.
        given: u32,
    },
}

impl core::fmt::Display for StepError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::FramesPerSecond { given } => {
                write!(f, "frames per second must be 1..={FPS_MAX}, not {given}")
            }
        }
    }
}

impl core::error::Error for StepError {}

impl World {
    /// An empty world.
    ///
    /// # Errors
    /// [`WorldError::OutOfRange`] names the first setting outside of its documented range.
    pub fn new(def: WorldDef) -> Result<Self, WorldError> {
        let settings = def.validate()?;
        Ok(Self::with_settings(settings, def.seed, Path::detect(def.simd)))
    }

    pub(crate) fn with_settings(settings: Settings, seed: u64, path: Path) -> Self {
        Self {
            settings,
            seed,
            frame: 0,
            fps: 0,
            rng: Pcg32::new(seed, 0),
            order: Ordered::default(),
            bodies: Vec::new(),
            extras: Vec::new(),
            contacts: ContactCache::default(),
            sensors: SensorOverlaps::default(),
            removed: Vec::new(),
            previous: Vec::new(),
            active: Vec::new(),
            waking: Vec::new(),
            recheck_resting: false,
            fresh: Vec::new(),
            resting: RestingTrees::default(),
            stepper: Stepper::new(path),
            events: Events::default(),
            scratch: Vec::new(),
        }
    }

    /// Adds a body. It takes part from the next step on; queries find it at once.
    ///
    /// # Errors
    /// [`BodyError`] names the limit that the definition breaks; the world is unchanged.
    pub fn create_body(&mut self, def: &BodyDef) -> Result<BodyId, BodyError> {
        def.validate()?;
        let (index, generation) = self.order.insert();
        let slot = index as usize;
        if slot == self.bodies.len() {
            self.bodies.push(Body::default());
            self.extras.push(Extra::default());
            self.previous.push([0; 2]);
        }
        self.bodies[slot] = Body::new(def, self.settings.max_speed);
        self.extras[slot] = Extra::new(def);
        self.previous[slot] = self.bodies[slot].position;
        self.fresh.push(index);
        if def.enabled {
            self.enter(index);
        }
        Ok(BodyId { index, generation })
    }

    /// Removes a body; its contacts and overlaps end in the next step. Sleeping bodies that it touches wake up.
    ///
    /// # Errors
    /// [`BodyError::Stale`] when the body is gone already.
    pub fn remove_body(&mut self, id: BodyId) -> Result<(), BodyError> {
        let slot = self.slot(id)?;
        self.leave(id.index);
        if let Err(at) = self.removed.binary_search_by_key(&id.index, |r| r.slot)
            && !self.bodies[slot].has(flag::FRESH)
        {
            let user = self.extras[slot].user;
            self.removed.insert(at, Removed { slot: id.index, generation: id.generation, user });
        }
        self.bodies[slot] = Body::default();
        self.extras[slot] = Extra::default();
        self.order.remove(id.index, id.generation);
        Ok(())
    }

    /// The body behind a handle, or `None` when it is gone.
    #[must_use]
    pub fn body(&self, id: BodyId) -> Option<BodyRef<'_>> {
        let slot = self.slot(id).ok()?;
        Some(BodyRef { id, body: &self.bodies[slot], extra: &self.extras[slot] })
    }

    /// All bodies, oldest first.
    pub fn bodies(&self) -> impl DoubleEndedIterator<Item = BodyRef<'_>> {
        self.order.iter().map(|index| self.body_ref(index))
    }

    /// Number of bodies.
    #[must_use]
    pub fn body_count(&self) -> u32 {
        self.order.len()
    }

    /// The body that lives in a slot, or `None` when the slot is vacant. Handles name slots by [`BodyId::index`].
    #[must_use]
    pub fn body_in_slot(&self, index: u32) -> Option<BodyId> {
        self.order.generation(index).map(|generation| BodyId { index, generation })
    }

    /// Number of contacts that touch now, those between bodies at rest included.
    #[must_use]
    pub fn contact_count(&self) -> u32 {
        (self.contacts.contacts.len() + self.contacts.resting.len()) as u32
    }

    /// Steps so far.
    #[must_use]
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Contacts that began in the last step.
    #[must_use]
    pub fn contacts_began(&self) -> &[ContactEvent] {
        &self.events.contacts_began
    }

    /// Contacts that ended in the last step.
    #[must_use]
    pub fn contacts_ended(&self) -> &[ContactEvent] {
        &self.events.contacts_ended
    }

    /// Overlaps with sensors that began in the last step.
    #[must_use]
    pub fn sensors_began(&self) -> &[ContactEvent] {
        &self.events.sensors_began
    }

    /// Overlaps with sensors that ended in the last step.
    #[must_use]
    pub fn sensors_ended(&self) -> &[ContactEvent] {
        &self.events.sensors_ended
    }

    /// The world's random generator: state like the bodies, so it gives the same numbers on every machine.
    pub fn rng(&mut self) -> &mut Pcg32 {
        &mut self.rng
    }

    pub(crate) fn body_ref(&self, index: u32) -> BodyRef<'_> {
        let generation = self.order.generation(index).unwrap_or(0);
        BodyRef {
            id: BodyId { index, generation },
            body: &self.bodies[index as usize],
            extra: &self.extras[index as usize],
        }
    }

    /// The slot behind a handle.
    pub(crate) fn slot(&self, id: BodyId) -> Result<usize, BodyError> {
        if self.order.contains(id.index, id.generation) {
            Ok(id.index as usize)
        } else {
            Err(BodyError::Stale(id))
        }
    }

    /// A body starts to take part: it waits in the resting trees, and movers join the active ones in the next step.
    pub(crate) fn enter(&mut self, slot: u32) {
        self.resting.insert(slot, &self.bodies, self.settings.split, self.settings.box_margin());
        self.wake(slot);
    }

    /// A body stops taking part.
    pub(crate) fn leave(&mut self, slot: u32) {
        self.wake_neighbours(slot);
        self.resting.remove(slot);
        if self.bodies[slot as usize].has(flag::AWAKE) {
            self.forget_mover(slot);
        }
        self.recheck_resting = true;
    }

    /// Makes a movable body a mover from the next step on. Kinematic bodies move only with a velocity.
    pub(crate) fn wake(&mut self, slot: u32) {
        let body = &mut self.bodies[slot as usize];
        let moves = body.has(flag::DYNAMIC) || (body.has(flag::KINEMATIC) && body.velocity != [0, 0]);
        if !moves || body.has(flag::DISABLED) {
            return;
        }
        body.still_frames = 0;
        if !body.has(flag::AWAKE) {
            body.set(flag::AWAKE, true);
            self.waking.push(slot);
            self.recheck_resting = true;
        }
    }

    /// Wakes the sleeping bodies whose boxes touch a body's.
    pub(crate) fn wake_neighbours(&mut self, slot: u32) {
        let area = self.bodies[slot as usize].bounds().grown(self.settings.margin);
        let mut near = core::mem::take(&mut self.scratch);
        near.clear();
        self.resting.visit(&area, &mut |other| near.push(other));
        for &other in &near {
            if self.bodies[other as usize].bounds().overlaps(&area) {
                self.wake(other);
            }
        }
        self.scratch = near;
    }

    /// Takes a mover out of the tree of movers and the list.
    fn forget_mover(&mut self, slot: u32) {
        self.bodies[slot as usize].set(flag::AWAKE, false);
        if let Ok(at) = self.active.binary_search(&slot) {
            self.active.remove(at);
            self.stepper.vacate(slot);
        }
    }

    /// Tells the trees that a body was moved by hand.
    pub(crate) fn moved_by_hand(&mut self, slot: u32) {
        let bounds = self.bodies[slot as usize].bounds().grown(self.settings.box_margin());
        self.resting.moved(slot, &bounds);
        self.stepper.moved(slot, &bounds);
    }
}

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
        self.find_contacts(frames_per_second);
        self.stepper.solve(&self.settings);
        self.keep_contacts();
        self.move_bodies(per_frame);
        self.put_to_sleep();
        self.frame += 1;
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
        if self.active.len() > known {
            self.active.sort_unstable();
        }
    }

    /// Gravity, forces and damping.
    #[inline(never)]
    fn accelerate(&mut self, per_frame: PerFrame) {
        let gravity = self.settings.gravity;
        for &slot in &self.active {
            let (body, extra) = (&mut self.bodies[slot as usize], &mut self.extras[slot as usize]);
            if body.has(flag::FORCED) || (gravity != [0, 0] && body.has(flag::DYNAMIC)) {
                let g = if body.has(flag::DYNAMIC) { gravity } else { [0, 0] };
                let sum = [
                    g[0].saturating_add(extra.acceleration[0]).clamp(-ACCELERATION_MAX, ACCELERATION_MAX),
                    g[1].saturating_add(extra.acceleration[1]).clamp(-ACCELERATION_MAX, ACCELERATION_MAX),
                ];
                extra.acceleration = [0; 2];
                body.set(flag::FORCED, false);
                motion::accelerate(body, sum, per_frame, self.settings.max_speed);
            }
            if body.has(flag::DAMPED) {
                motion::damp(body, extra.damping, per_frame);
            }
        }
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
            recheck.then_some(|c: &crate::contacts::RestingContact| !(stays(c.owner) && stays(c.other))),
        );
        self.sensors.begin_step();
        self.stepper.gather(&self.active, bodies, &self.contacts, &self.settings);
        self.stepper.gather_resting(&mut self.resting, bodies, &self.contacts);
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
        refill(&mut self.events.contacts_ended, &self.contacts.ended, true);
        refill(&mut self.events.sensors_began, &self.sensors.began, false);
        refill(&mut self.events.sensors_ended, &self.sensors.ended, true);
    }

    /// Writes the solved velocities back and moves the bodies.
    #[inline(never)]
    fn move_bodies(&mut self, per_frame: PerFrame) {
        self.scratch.clear();
        self.stepper.spread_stillness(&self.bodies, &mut self.scratch);
        let Self { stepper, bodies, extras, previous, settings, resting, .. } = self;
        let margin = settings.box_margin();
        stepper.for_each_mover(|slot, moving, kept, calm| {
            let at = slot as usize;
            previous[at] = bodies[at].position;
            let step = displacement(&mut bodies[at], moving, per_frame, settings.max_speed);
            let step = clip_to_walls(slot, step, bodies, resting);
            let body = &mut bodies[at];
            body.velocity = kept.map(|v| v.clamp(-settings.max_speed, settings.max_speed));
            advance(body, step, settings);
            if body.ground_friction != 0 && body.has(flag::DYNAMIC) {
                motion::apply_ground_friction(body, per_frame);
            }
            if extras[at].max_speed != i32::MAX {
                motion::limit_speed(&mut body.velocity, extras[at].max_speed);
            }
            let still = body.velocity.iter().all(|v| v.abs() <= settings.sleep_speed);
            body.still_frames =
                if still { calm.saturating_add(1).min(settings.sleep_frames.max(1)) } else { 0 };
            body.bounds().grown(margin)
        });
    }

    /// Bodies that were still for long enough fall asleep; sleepers that were pushed wake up.
    #[inline(never)]
    fn put_to_sleep(&mut self) {
        let limit = self.settings.sleep_frames;
        let sleeps = |body: &Body| {
            (limit > 0 && body.has(flag::DYNAMIC) && body.still_frames >= limit)
                || (body.has(flag::KINEMATIC) && body.velocity == [0, 0])
        };
        let (split, margin) = (self.settings.split, self.settings.box_margin());
        let mut fell = 0;
        let Self { active, bodies, stepper, resting, .. } = self;
        active.retain(|&slot| {
            let body = &mut bodies[slot as usize];
            if !sleeps(body) {
                return true;
            }
            body.set(flag::AWAKE, false);
            body.velocity = [0, 0];
            fell += 1;
            stepper.vacate(slot);
            resting.insert(slot, bodies, split, margin);
            false
        });
        if fell > 0 {
            self.contacts.retire(&self.bodies);
        }
        let mut pushed = core::mem::take(&mut self.scratch);
        for slot in pushed.drain(..) {
            self.wake(slot);
        }
        self.scratch = pushed;
    }
}

/// Greatest acceleration per axis, raw units/s^2; larger sums are cut off.
const ACCELERATION_MAX: i32 = (1 << 30) - 1;

/// How far a velocity moves a body in this frame; the rest is carried in the body.
fn displacement(body: &mut Body, velocity: [i32; 2], per_frame: PerFrame, max_speed: i32) -> [i32; 2] {
    let mut step = [0; 2];
    for axis in 0..2 {
        let velocity = velocity[axis].clamp(-max_speed, max_speed);
        (step[axis], body.position_rest[axis]) = per_frame.take(velocity, body.position_rest[axis]);
    }
    step
}

/// Continuous check: a body that moves further than its own half size in one frame stops at the first body at rest that
/// contacts cannot move. Its velocity stays; the contact takes it in the next step.
fn clip_to_walls(slot: u32, step: [i32; 2], bodies: &[Body], resting: &RestingTrees) -> [i32; 2] {
    let body = &bodies[slot as usize];
    let [w, h] = body.extents();
    if step[0].abs().max(step[1].abs()) <= w.min(h) || !body.has(flag::DYNAMIC) || body.has(flag::SENSOR) {
        return step;
    }
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
            let hit = crate::sweep::sweep(&shell, step, &wall.shell(other));
            part = match (part, hit) {
                (Some(a), Some(b)) => Some(i32::min(a, b)),
                (a, b) => a.or(b),
            };
        }
    });
    match part {
        None => step,
        Some(part) => step.map(|s| crate::narrow_phase::scale_down(s, part)),
    }
}

/// Moves the centre, held inside the world's bounds.
fn advance(body: &mut Body, step: [i32; 2], settings: &Settings) {
    for axis in 0..2 {
        let (low, high) = (settings.bounds.min[axis], settings.bounds.max[axis]);
        let wanted = body.position[axis].saturating_add(step[axis]);
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
