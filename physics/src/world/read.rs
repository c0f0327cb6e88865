//! What a game reads between steps: bodies, contacts, events. Nothing here changes the state.

use alloc::vec::Vec;

use crate::body::id::BodyId;
use crate::body::record::{flag, fx, vec2};
use crate::body::slot::Slot;
use crate::body::view::BodyRef;
use crate::contact::cached::RestingContact;
use crate::math::aabb::Aabb;
use crate::math::boxes::RawBox;
use crate::math::vec2::Vec2;
use crate::world::hits::ContactHit;
use crate::world::{ContactEvent, TouchingContact, World};
use crate::world_def::WorldDef;

impl World {
    /// The body of a handle, or `None` if it does not exist any more.
    #[must_use]
    #[inline]
    pub fn body(&self, id: BodyId) -> Option<BodyRef<'_>> {
        self.slot(id).ok().map(|_| self.body_ref(id.slot()))
    }

    /// All bodies, oldest first.
    #[must_use]
    pub fn bodies(&self) -> impl DoubleEndedIterator<Item = BodyRef<'_>> {
        self.order.iter().map(|index| self.body_ref(index))
    }

    /// Centre of every body, oldest first. Replaces the content of `out`; allocates only if it has to grow.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new())?;
    /// let disc = BodyDef::dynamic(Shape::circle(Fx::ONE));
    /// let (a, b) = (world.create_body(&disc)?, world.create_body(&disc.position(Vec2::from_ints(5, 0)))?);
    /// let mut positions = Vec::new();
    /// world.positions(&mut positions);
    /// assert_eq!(positions, [(a, Vec2::ZERO), (b, Vec2::from_ints(5, 0))]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn positions(&self, out: &mut Vec<(BodyId, Vec2)>) {
        out.clear();
        out.extend(self.bodies().map(|body| (body.id(), body.position())));
    }

    /// The present settings, including changes by [`World::set_gravity`] and similar calls. A new empty world with this definition behaves
    /// like this one. The register width is the largest one that gives [`World::instruction_set`] on this machine.
    ///
    /// ```
    /// use testudo_physics::{Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new().iterations(9))?;
    /// world.set_gravity(Vec2::from_ints(0, -10))?;
    /// assert_eq!(world.def(), WorldDef::new().iterations(9).gravity(Vec2::from_ints(0, -10)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn def(&self) -> WorldDef {
        self.settings.def(self.seed, self.stepper.path.limit())
    }

    /// Acceleration of every dynamic body, units/s^2.
    #[must_use]
    pub fn gravity(&self) -> Vec2 {
        vec2(self.settings.gravity)
    }

    /// Where the centres of bodies that can move are held, units.
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        let RawBox { min, max } = self.settings.bounds;
        Aabb { min: vec2(min), max: vec2(max) }
    }

    /// Number of bodies.
    #[must_use]
    pub fn body_count(&self) -> u32 {
        self.order.len()
    }

    /// The body in a slot, or `None` if the slot is vacant. [`BodyId::index`] is the slot of a handle.
    #[must_use]
    pub fn body_in_slot(&self, index: u32) -> Option<BodyId> {
        self.order.generation(Slot(index)).map(|generation| BodyId { index, generation })
    }

    /// Number of touching contacts after the last step, including those between bodies at rest, and those of bodies that were removed since.
    #[must_use]
    pub fn contact_count(&self) -> u32 {
        (self.contacts.contacts.len() + self.contacts.resting.len()) as u32
    }

    /// The touching contacts: first those of moving bodies, then those between bodies at rest; each pair once.
    pub fn contacts(&self) -> impl Iterator<Item = TouchingContact> + '_ {
        self.contacts.iter().filter_map(|contact| self.touching(contact))
    }

    /// Those of [`Self::contacts`] that a body takes part in, in the same order; none if the body does not exist any more. It makes one comparison
    /// for each contact of the world, so for many bodies, sort those of [`Self::contacts`] once.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new())?;
    /// let disc = BodyDef::dynamic(Shape::circle(Fx::ONE));
    /// let row: Vec<_> = (0..9).map(|x| world.create_body(&disc.position(Vec2::from_ints(2 * x, 0)))).collect::<Result<_, _>>()?;
    /// world.step(60)?;
    /// let neighbours: Vec<_> = world.contacts_of(row[4]).map(|contact| (contact.a, contact.b)).collect();
    /// assert_eq!(neighbours.len(), 2);
    /// assert!(neighbours.contains(&(row[3], row[4])) && neighbours.contains(&(row[4], row[5])));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contacts_of(&self, id: BodyId) -> impl Iterator<Item = TouchingContact> + '_ {
        self.slot(id)
            .into_iter()
            .flat_map(|slot| self.contacts.of(slot))
            .filter_map(|contact| self.touching(contact))
    }

    /// A contact of the cache with handles, unless one of its bodies is gone or new.
    fn touching(&self, contact: RestingContact) -> Option<TouchingContact> {
        let RestingContact { owner, other, impulse, .. } = contact;
        let here = |slot: Slot| self.bodies[slot].flags & (flag::ALIVE | flag::FRESH) == flag::ALIVE;
        (here(owner) && here(other)).then(|| TouchingContact {
            a: self.body_ref(owner.min(other)).id,
            b: self.body_ref(owner.max(other)).id,
            impulse: fx(impulse),
        })
    }

    /// The bodies whose position the last step changed: first those that are awake, then those that fell asleep in it, each in ascending order of their slots.
    /// Read it before other calls: a body that was removed, moved, put to sleep, woken, disabled or made another kind since may be missing, and with it the
    /// bodies that slept in its island. A restored world lists none before its next step.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new())?;
    /// let disc = BodyDef::dynamic(Shape::circle(Fx::ONE));
    /// world.create_body(&disc)?;
    /// let runner = world.create_body(&disc.position(Vec2::from_ints(9, 0)).velocity(Vec2::from_ints(1, 0)))?;
    /// world.step(60)?;
    /// assert!(world.moved_bodies().eq([runner]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn moved_bodies(&self) -> impl Iterator<Item = BodyId> + '_ {
        let awake = self.activity.active.iter().filter(|&&slot| self.bodies[slot].has(flag::AWAKE));
        let asleep = self.activity.dozed.iter().filter(|&&slot| !self.bodies[slot].has(flag::AWAKE));
        let moved = |slot: Slot| {
            let body = &self.bodies[slot];
            !body.has(flag::FRESH) && body.has(flag::ALIVE) && self.previous[slot.at()] != body.position
        };
        awake.chain(asleep).copied().filter(move |&slot| moved(slot)).map(|slot| self.body_id(slot))
    }

    /// Name of the instruction set that this world uses, for logs and bug reports: `sse2`, `sse4.2`, `avx2`, `avx512`, `neon`,
    /// `simd128` or `plain`. It does not affect the bits; see [`WorldDef::simd`].
    #[must_use]
    pub fn instruction_set(&self) -> &'static str {
        self.stepper.path.name()
    }

    /// Number of steps so far.
    #[must_use]
    pub fn frame(&self) -> u64 {
        self.clock.frame
    }

    /// Contacts that began in the last step.
    #[must_use]
    pub fn contacts_began(&self) -> &[ContactEvent] {
        &self.events.contacts_began
    }

    /// Point, normal and approach speed of each of [`Self::contacts_began`], in the same order; empty unless [`Self::list_contact_hits`] is
    /// on.
    #[must_use]
    pub fn contact_hits(&self) -> &[ContactHit] {
        &self.events.hits
    }

    /// Whether [`Self::contact_hits`] is filled from the next step on. Off by default, and without cost then. Not part
    /// of the state: [`World::load`] and [`World::restore`] keep it, and a clone has it; a world of [`World::from_bytes`] lists nothing.
    pub fn list_contact_hits(&mut self, list: bool) {
        self.events.lists_hits = list;
    }

    /// Contacts that ended in the last step.
    #[must_use]
    pub fn contacts_ended(&self) -> &[ContactEvent] {
        &self.events.contacts_ended
    }

    /// Contacts of moving bodies that began earlier and persisted in the last step; empty unless [`World::list_stayed_contacts`] is on.
    /// Contacts between sleeping bodies are not listed; [`World::contacts`] has them.
    #[must_use]
    pub fn contacts_stayed(&self) -> &[ContactEvent] {
        &self.events.contacts_stayed
    }

    /// Whether [`World::contacts_stayed`] is filled from the next step on. Off by default, because a crowd has many. Not part of the state, as
    /// [`World::list_contact_hits`].
    pub fn list_stayed_contacts(&mut self, list: bool) {
        self.contacts.lists_stayed = list;
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::num::Fx;
    use crate::world_def::{EdgePolicy, Simd};

    #[test]
    fn a_world_gives_back_every_setting() {
        let def = WorldDef {
            gravity: Vec2::from_ints(1, -2),
            bounds: Aabb { min: Vec2::from_ints(-3, -4), max: Vec2::from_ints(5, 6) },
            edge: EdgePolicy::Bounce,
            iterations: 8,
            relax_iterations: 2,
            push_factor: Fx::ONE / 2,
            margin: Fx::ONE / 4,
            restitution_threshold: Fx::ONE / 8,
            max_speed: Fx::from_num(100),
            sleep_speed: Fx::ONE / 16,
            sleep_ms: 700,
            leaf_capacity: 9,
            depth_max: 5,
            seed: 11,
            simd: Simd::Plain,
        };
        let world = World::new(def).unwrap();
        assert_eq!(WorldDef { simd: def.simd, ..world.def() }, def);
        // What every machine of this target has.
        assert_eq!(World::new(world.def()).unwrap().instruction_set(), world.instruction_set());
        let mut bytes = Vec::new();
        world.snapshot(&mut bytes);
        let restored = World::from_bytes(&bytes).unwrap();
        assert_eq!(restored.def(), WorldDef { simd: Simd::Widest, ..def });
        assert_eq!(World::new(WorldDef::new()).unwrap().def(), WorldDef::new());
    }
}
