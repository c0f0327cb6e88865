//! The walk over the state, part by part: it defines what a snapshot contains and what a checksum covers. All numbers are little-endian.

use crate::body::slot::SlotPair;
use crate::math::boxes::RawBox;
use crate::state::bodies;
use crate::state::bytes::Sink;
use crate::state::hash::Hasher;
use crate::tree::quadtree::SplitRule;
use crate::world::World;
use crate::world::clock::Clock;
use crate::world_def::{EdgePolicy, Settings};

/// A part of the state with a checksum of its own.
///
/// ```
/// use testudo_physics::{BodyDef, Fx, StatePart, Shape, World, WorldDef};
/// let mut world = World::new(WorldDef::new()).unwrap();
/// world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE))).unwrap();
/// let mut other = world.clone();
/// other.rng().next_u32();
/// let differs = |part: &StatePart| world.part_checksum(*part) != other.part_checksum(*part);
/// assert!(StatePart::ALL.iter().filter(|part| differs(part)).eq([&StatePart::World]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatePart {
    /// Settings, frame counter, rate and random generator.
    World,
    /// Which slots live, their generations and the insertion order.
    Order,
    /// The bodies.
    Bodies,
    /// Cached contacts, of movers and of bodies at rest.
    Contacts,
    /// Overlaps with sensors, and bodies removed since the last step.
    Sensors,
    /// Pairs of bodies that do not collide.
    Pairs,
    /// Outlines of terrain.
    Terrain,
}

impl StatePart {
    /// All parts, in the order of the walk.
    pub const ALL: [Self; 7] =
        [Self::World, Self::Order, Self::Bodies, Self::Contacts, Self::Sensors, Self::Pairs, Self::Terrain];
}

/// Walks over one part.
pub(crate) fn walk(world: &World, part: StatePart, sink: &mut impl Sink) {
    match part {
        StatePart::World => walk_world(world, sink),
        StatePart::Order => walk_order(world, sink),
        StatePart::Bodies => bodies::walk(world, sink),
        StatePart::Contacts => walk_contacts(world, sink),
        StatePart::Sensors => walk_sensors(world, sink),
        StatePart::Pairs => walk_pairs(world, sink),
        StatePart::Terrain => walk_terrain(world, sink),
    }
}

fn walk_world(world: &World, sink: &mut impl Sink) {
    let Settings {
        gravity,
        bounds: RawBox { min, max },
        edge,
        iterations,
        relax_iterations,
        push_factor,
        margin,
        restitution_threshold,
        max_speed,
        sleep_speed,
        sleep_ms,
        split: SplitRule { leaf_capacity, depth_max },
    } = world.settings;
    let Clock { frame, fps, remainder } = world.clock;
    for pair in [gravity, min, max] {
        sink.put_pair(pair);
    }
    sink.put_u32(match edge {
        EdgePolicy::Stop => 0,
        EdgePolicy::Bounce => 1,
    });
    for v in [push_factor, margin, restitution_threshold, max_speed, sleep_speed] {
        sink.put_u32(v as u32);
    }
    for v in [iterations, relax_iterations, u32::from(sleep_ms), leaf_capacity, depth_max] {
        sink.put_u32(v);
    }
    sink.put_u64(world.seed);
    sink.put_u64(frame);
    sink.put_u32(fps);
    sink.put_u32(remainder.into());
    let (state, stream) = world.rng.state();
    sink.put_u64(state);
    sink.put_u64(stream);
}

/// Whether the insertion order is the order of the slots, which then need not be listed.
const IN_SLOT_ORDER: u32 = 0;
const LISTED: u32 = 1;

fn walk_order(world: &World, sink: &mut impl Sink) {
    let order = &world.order;
    sink.put_u32(order.slot_count() as u32);
    sink.put_u32(order.vacant().len() as u32);
    for &slot in order.vacant() {
        sink.put_u32(slot.0);
        sink.put_u32(order.slot_generation(slot));
    }
    if order.is_in_slot_order() {
        sink.put_u32(IN_SLOT_ORDER);
    } else {
        sink.put_u32(LISTED);
        for slot in order.iter() {
            sink.put_u32(slot.0);
        }
    }
}

fn walk_contacts(world: &World, sink: &mut impl Sink) {
    let cache = &world.contacts;
    sink.put_u32(cache.owners.len() as u32);
    sink.put_u32(cache.contacts.len() as u32);
    sink.put_u32(cache.resting.len() as u32);
    sink.put_u32(cache.contacts.slides.len() as u32);
    sink.put_all(cache.owners.iter().map(|owner| owner.slot.0));
    sink.put_all(cache.owners.iter().map(|owner| owner.count));
    sink.put_all(cache.contacts.others.iter().map(|other| other.0));
    sink.put_all(cache.contacts.impulses.iter().map(|&impulse| impulse as u32));
    sink.put_all(cache.contacts.slides.iter().map(|&slide| slide as u32));
    for contact in &cache.resting {
        sink.put_pair([contact.owner.0 as i32, contact.other.0 as i32]);
        sink.put_pair([contact.impulse, contact.slide]);
    }
}

fn walk_sensors(world: &World, sink: &mut impl Sink) {
    sink.put_u32(world.sensors.overlaps.len() as u32);
    for &SlotPair(a, b) in &world.sensors.overlaps {
        sink.put_pair([a.0 as i32, b.0 as i32]);
    }
    sink.put_u32(world.removed.len() as u32);
    for removed in &world.removed {
        sink.put_pair([removed.slot.0 as i32, removed.generation as i32]);
        sink.put_u64(removed.user);
    }
}

/// First numbers of the parts that a snapshot has only when there is something in them, in this order.
pub(crate) const PAIRS: u32 = 1;
pub(crate) const TERRAIN: u32 = 2;

fn walk_pairs(world: &World, sink: &mut impl Sink) {
    let pairs = world.ignored.as_slice();
    if !pairs.is_empty() {
        sink.put_u32(PAIRS);
        sink.put_u32(pairs.len() as u32);
        sink.put_all(pairs.iter().map(|pair| pair.0.0));
        sink.put_all(pairs.iter().map(|pair| pair.1.0));
    }
}

fn walk_terrain(world: &World, sink: &mut impl Sink) {
    if world.terrain.is_empty() {
        return;
    }
    sink.put_u32(TERRAIN);
    sink.put_u32(world.terrain.len());
    for piece in world.terrain.iter() {
        sink.put_u32(piece.slot.0);
        sink.put_u32(piece.corners().len() as u32);
        sink.put_u32(piece.radius as u32);
        sink.put_u32(piece.one_sided.into());
        sink.put_u32(piece.links[0].0);
        sink.put_u32(piece.links[1].0);
        piece.corners().iter().for_each(|&corner| sink.put_pair(corner));
    }
}

/// The same fields as [`walk_contacts`].
fn hash_contacts(world: &World, hasher: &mut Hasher) {
    let cache = &world.contacts;
    let slides = &cache.contacts.slides;
    for len in [cache.owners.len(), cache.contacts.len(), cache.resting.len(), slides.len()] {
        hasher.put_u32(len as u32);
    }
    hasher.put_numbers(bytemuck::cast_slice(&cache.owners));
    hasher.put_numbers(bytemuck::cast_slice(&cache.contacts.others));
    hasher.put_numbers(bytemuck::cast_slice(&cache.contacts.impulses));
    hasher.put_numbers(bytemuck::cast_slice(slides));
    for contact in &cache.resting {
        hasher.put_pair([contact.owner.0 as i32, contact.other.0 as i32]);
        hasher.put_pair([contact.impulse, contact.slide]);
    }
}

impl World {
    /// 64-bit hash (XXH3) of the whole state: settings, bodies, order, contacts, overlaps, random generator, frame.
    ///
    /// Two worlds with the same checksum evolve alike under the same calls. Costs about as much as copying the state once.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        let mut hasher = Hasher::new();
        for part in StatePart::ALL {
            hash_part(self, part, &mut hasher);
        }
        hasher.finish()
    }

    /// The checksum of one part of the state.
    #[must_use]
    pub fn part_checksum(&self, part: StatePart) -> u64 {
        let mut hasher = Hasher::new();
        hash_part(self, part, &mut hasher);
        hasher.finish()
    }
}

fn hash_part(world: &World, part: StatePart, hasher: &mut Hasher) {
    match part {
        StatePart::Bodies => bodies::hash(world, hasher),
        StatePart::Contacts => hash_contacts(world, hasher),
        _ => walk(world, part, hasher),
    }
}
