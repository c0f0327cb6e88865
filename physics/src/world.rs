//! The world: bodies, their contacts, and the step.

pub(crate) mod activity;
pub(crate) mod clock;
mod copy;
pub(crate) mod ever;
pub(crate) mod hits;
mod linger;
mod pairs;
mod read;
mod sensors;
mod setters;
mod sleep;
mod step;
mod terrain;

use alloc::vec::Vec;

use crate::body::def::{BodyDef, BodyError};
use crate::body::id::BodyId;
use crate::body::ordered::Ordered;
use crate::body::record::{Body, Extra, flag};
use crate::body::slot::Slot;
use crate::body::terrain::Terrain;
use crate::body::view::BodyRef;
use crate::contact::cache::ContactCache;
use crate::contact::ignored::IgnoredPairs;
use crate::contact::sensors::SensorOverlaps;
use crate::math::axes::each_axis;
use crate::math::copy::clone_in_place;
use crate::math::num::{FPS_MAX, Fx};
use crate::math::rng::Pcg32;
use crate::simd::Path;
use crate::step::stepper::Stepper;
use crate::tree::resting::RestingTrees;
use crate::world::activity::Activity;
use crate::world::clock::Clock;
use crate::world::ever::Ever;
use crate::world::hits::ContactHit;
use crate::world_def::{Settings, WorldDef, WorldError};

/// A body that was removed after the last step; its contacts end in the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Removed {
    pub(crate) slot: Slot,
    pub(crate) generation: u32,
    pub(crate) user: u64,
}

/// A 2D world of circles and axis-aligned rectangles in fixed-point arithmetic.
///
/// The same calls in the same order give the same bits on every machine.
///
/// # Order of calls
///
/// A game repeats three things in every frame:
///
/// 1. **Change.** [`create_body`](Self::create_body), [`remove_body`](Self::remove_body), the `set_` and `apply_` methods, in an
///    order that all machines share. Queries see a change at once. Contacts and velocities follow in the next step.
/// 2. **Step.** [`step`](Self::step) advances the world by one frame.
/// 3. **Read.** Events ([`contacts_began`](Self::contacts_began) and the others) stay valid until the next step. Reading changes
///    nothing: [`body`](Self::body), [`bodies`](Self::bodies), queries, [`checksum`](Self::checksum),
///    [`snapshot`](Self::snapshot), drawing.
///
/// A call that returns an error has changed nothing.
///
/// ```
/// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
/// let mut world = World::new(WorldDef::new())?;
/// let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).velocity(Vec2::from_ints(3, 0));
/// let id = world.create_body(&ball)?;
/// for _ in 0..40 {
///     world.step(20)?; // two seconds
/// }
/// assert_eq!(world.body(id).unwrap().position(), Vec2::from_ints(6, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct World {
    pub(crate) settings: Settings,
    pub(crate) seed: u64,
    pub(crate) clock: Clock,
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
    /// Pairs that do not collide.
    pub(crate) ignored: IgnoredPairs,
    /// Outlines of the bodies that are terrain.
    pub(crate) terrain: Terrain,
    // Everything below is derived from the state, or scratch.
    pub(crate) ever: Ever,
    /// Position before the last step, by slot; for drawing only.
    pub(crate) previous: Vec<[i32; 2]>,
    pub(crate) activity: Activity,
    pub(crate) resting: RestingTrees,
    pub(crate) stepper: Stepper,
    pub(crate) events: Events,
    pub(crate) scratch: Vec<Slot>,
}

/// A contact or overlap of two bodies that began or ended in the last step. `a` has the lower slot.
///
/// ```
/// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
/// let mut world = World::new(WorldDef::new())?;
/// let disc = BodyDef::dynamic(Shape::circle(Fx::ONE));
/// world.create_body(&disc.velocity(Vec2::from_ints(4, 0)).user(7))?;
/// world.create_body(&disc.position(Vec2::from_ints(3, 0)).user(8))?;
/// let mut hits = Vec::new();
/// for _ in 0..20 {
///     world.step(20)?;
///     hits.extend(world.contacts_began().iter().map(|hit| (hit.user_a, hit.user_b)));
/// }
/// assert_eq!(hits, [(7, 8)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContactEvent {
    /// The body with the lower slot index.
    pub a: BodyId,
    /// The other body.
    pub b: BodyId,
    /// User value of `a`. In an event that something ended: the value before its removal or the change of its kind, whichever came first.
    pub user_a: u64,
    /// User value of `b`, likewise.
    pub user_b: u64,
}

/// Two bodies that touch now. `a` has the lower slot.
///
/// ```
/// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
/// let mut world = World::new(WorldDef::new().gravity(Vec2::from_ints(0, -10)))?;
/// let ground = world.create_body(&BodyDef::static_body(Shape::rect(Fx::from_num(9), Fx::ONE)))?;
/// let stone = BodyDef::dynamic(Shape::circle(Fx::ONE)).position(Vec2::from_ints(0, 2));
/// let stone = world.create_body(&stone)?;
/// world.step(60)?;
/// let touching: Vec<_> = world.contacts().map(|contact| (contact.a, contact.b)).collect();
/// assert_eq!(touching, [(ground, stone)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TouchingContact {
    /// The body with the lower slot index.
    pub a: BodyId,
    /// The other body.
    pub b: BodyId,
    /// The change of the closing speed by the contact, units per second; not negative. The next step starts with it. Under gravity it is that of the
    /// step's last part, and it leaves out what restitution reflected. To know how hard bodies meet, use [`World::contact_hits`].
    pub impulse: Fx,
}

/// Events of the last step, in ascending order of the two slots.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(crate) contacts_began: Vec<ContactEvent>,
    /// One for each of `contacts_began` if `lists_hits`.
    pub(crate) hits: Vec<ContactHit>,
    pub(crate) lists_hits: bool,
    pub(crate) contacts_stayed: Vec<ContactEvent>,
    pub(crate) contacts_ended: Vec<ContactEvent>,
    pub(crate) sensors_began: Vec<ContactEvent>,
    pub(crate) sensors_ended: Vec<ContactEvent>,
}

clone_in_place!(
    Events: contacts_began, hits, lists_hits, contacts_stayed, contacts_ended, sensors_began, sensors_ended
);

/// Why a step was refused; the world is unchanged.
///
/// ```
/// use testudo_physics::{StepError, World, WorldDef};
/// let mut world = World::new(WorldDef::new()).unwrap();
/// assert_eq!(world.step(0), Err(StepError::FramesPerSecond { given: 0 }));
/// assert_eq!(world.frame(), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepError {
    /// Frames per second must lie in 1..=1,000.
    FramesPerSecond {
        /// The given value.
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
    /// [`WorldError::OutOfRange`] names the first setting outside of its range, with the limits.
    pub fn new(def: WorldDef) -> Result<Self, WorldError> {
        let settings = def.settings()?;
        Ok(Self::with_settings(settings, def.seed, Path::detect(def.simd)))
    }

    pub(crate) fn with_settings(settings: Settings, seed: u64, path: Path) -> Self {
        Self {
            settings,
            seed,
            clock: Clock::default(),
            rng: Pcg32::new(seed, 0),
            order: Ordered::default(),
            bodies: Vec::new(),
            extras: Vec::new(),
            contacts: ContactCache::default(),
            sensors: SensorOverlaps::default(),
            removed: Vec::new(),
            ignored: IgnoredPairs::default(),
            terrain: Terrain::default(),
            ever: Ever::default(),
            previous: Vec::new(),
            activity: Activity::default(),
            resting: RestingTrees::default(),
            stepper: Stepper::new(path),
            events: Events::default(),
            scratch: Vec::new(),
        }
    }

    /// Adds a body. It takes part from the next step on; queries find it at once. A body that can move and is created outside of the
    /// world's bounds is placed at the nearest point inside. Static bodies may stand anywhere.
    ///
    /// # Errors
    /// [`BodyError`] names the limit that the definition breaks; the world is unchanged.
    pub fn create_body(&mut self, def: &BodyDef) -> Result<BodyId, BodyError> {
        def.validate()?;
        let (slot, generation) = self.order.insert();
        if slot.at() == self.bodies.len() {
            self.bodies.push(Body::default());
            self.extras.push(Extra::USUAL);
            self.previous.push([0; 2]);
        }
        self.bodies[slot] = Body::new(def, self.settings.max_speed);
        self.hold_inside(slot);
        self.extras[slot] = Extra::new(def);
        self.note_extra(slot);
        self.previous[slot.at()] = self.bodies[slot].position;
        self.activity.fresh.push(slot);
        if def.enabled {
            self.enter(slot);
        }
        Ok(BodyId::new(slot, generation))
    }

    /// Removes a body; its contacts and overlaps end in the next step. The islands of sleeping bodies that it touches wake up.
    ///
    /// # Errors
    /// [`BodyError::Stale`] if the body does not exist any more.
    pub fn remove_body(&mut self, id: BodyId) -> Result<(), BodyError> {
        let slot = self.slot(id)?;
        if !self.bodies[slot].has(flag::DISABLED) {
            self.leave(slot);
        }
        self.note_removed(id);
        self.ignored.forget(slot);
        self.terrain.remove(slot);
        self.bodies[slot] = Body::default();
        self.extras[slot] = Extra::USUAL;
        self.order.remove(slot, id.generation);
        Ok(())
    }

    /// The world's random generator. It is part of the state, so it gives the same numbers on every machine.
    pub fn rng(&mut self) -> &mut Pcg32 {
        &mut self.rng
    }

    #[inline]
    pub(crate) fn body_ref(&self, slot: Slot) -> BodyRef<'_> {
        BodyRef {
            id: BodyId::new(slot, self.order.generation(slot).unwrap_or(0)),
            body: &self.bodies[slot],
            extra: &self.extras[slot],
            previous: self.previous[slot.at()],
            piece: self.terrain.get(slot),
        }
    }

    /// Notes what a changed body has: in its flags, and for the world.
    pub(crate) fn note_extra(&mut self, slot: Slot) {
        self.bodies[slot].follow(&self.extras[slot]);
        self.ever.note(&self.bodies[slot], &self.extras[slot]);
    }

    /// The slot of a handle.
    #[inline]
    pub(crate) fn slot(&self, id: BodyId) -> Result<Slot, BodyError> {
        if self.order.contains(id.slot(), id.generation) { Ok(id.slot()) } else { Err(BodyError::Stale(id)) }
    }

    /// Moves a body that can move to the nearest point within the bounds.
    pub(crate) fn hold_inside(&mut self, slot: Slot) {
        let (body, bounds) = (&mut self.bodies[slot], &self.settings.bounds);
        if body.has(flag::DYNAMIC | flag::KINEMATIC) {
            body.position = each_axis(|x| body.position[x].clamp(bounds.min[x], bounds.max[x]));
        }
    }

    /// Notes that the contacts that the body had after the last step end in the next one.
    pub(crate) fn note_removed(&mut self, id: BodyId) {
        let slot = id.slot();
        if let Err(at) = self.removed.binary_search_by_key(&slot, |r| r.slot)
            && !self.bodies[slot].has(flag::FRESH)
        {
            let user = self.extras[slot].user();
            self.removed.insert(at, Removed { slot, generation: id.generation, user });
        }
    }

    /// Lets a body take part: it waits in the resting trees, and moving bodies join the active ones in the next step. A solid body that does
    /// not move wakes those beside it; one that moves wakes what it touches, in the next step.
    pub(crate) fn enter(&mut self, slot: Slot) {
        let sort = self.stepper.path.sorter(self.settings.split, &self.bodies);
        self.resting.insert(slot, &self.bodies, self.settings.box_margin(), sort);
        self.touch(slot);
        self.wake(slot);
        if !self.bodies[slot].has(flag::AWAKE | flag::SENSOR) {
            self.wake_neighbours(slot);
        }
    }

    /// Stops a body from taking part.
    pub(crate) fn leave(&mut self, slot: Slot) {
        self.wake(slot);
        self.wake_neighbours(slot);
        self.resting.remove(slot);
        if self.bodies[slot].has(flag::AWAKE) {
            self.forget_mover(slot);
        }
        self.contacts.stir(slot);
    }

    /// Removes a moving body from the tree, and in the next step from the list of moving bodies.
    fn forget_mover(&mut self, slot: Slot) {
        self.bodies[slot].set(flag::AWAKE, false);
        self.activity.left.push(slot);
        self.stepper.lanes.vacate(slot);
    }

    /// Tells the trees that the game moved a body.
    pub(crate) fn moved_by_hand(&mut self, slot: Slot) {
        let (body, margin) = (&self.bodies[slot], self.settings.box_margin());
        self.resting.moved(slot, &body.grown_bounds(margin));
        self.stepper.lanes.moved(slot, &body.bounds().grown(margin));
        self.touch(slot);
    }
}
