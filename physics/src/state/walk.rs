//! The one walk over the state: hash and snapshot see the same bytes in the same order.
//!
//! All numbers are little-endian. Bodies follow each other in slot order; what has its usual value takes no space, and
//! the flags tell what is there, so equal states have equal bytes and different ones differ.

use alloc::vec::Vec;

use crate::body::filter::Filter;
use crate::body::record::{Body, Extra, flag};
use crate::state::hash::Hasher;
use crate::world::World;
use crate::world_def::EdgePolicy;

/// Takes the bytes of the walk.
pub(crate) trait Sink {
    fn put(&mut self, bytes: &[u8]);

    fn put_u16(&mut self, v: u16) {
        self.put(&v.to_le_bytes());
    }

    fn put_u32(&mut self, v: u32) {
        self.put(&v.to_le_bytes());
    }

    fn put_u64(&mut self, v: u64) {
        self.put(&v.to_le_bytes());
    }

    /// Many numbers at once.
    fn put_all(&mut self, numbers: impl ExactSizeIterator<Item = u32>) {
        let mut block = [[0u8; 4]; 256];
        let mut numbers = numbers;
        while numbers.len() > 0 {
            let count = numbers.len().min(block.len());
            for (bytes, number) in block[..count].iter_mut().zip(&mut numbers) {
                *bytes = number.to_le_bytes();
            }
            self.put(block[..count].as_flattened());
        }
    }

    fn put_pair(&mut self, v: [i32; 2]) {
        self.put(&pair_bytes(v));
    }
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

impl Hasher {
    /// Many numbers at once, little-endian; where memory is little-endian they are hashed as they stand there.
    fn put_numbers(&mut self, numbers: &[u32]) {
        if cfg!(target_endian = "little") {
            self.put(bytemuck::cast_slice(numbers));
        } else {
            self.put_all(numbers.iter().copied());
        }
    }
}

impl Sink for Hasher {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.write(bytes);
    }
}

/// A part of the state with a checksum of its own.
///
/// ```
/// use testudo_physics::{BodyDef, Fx, Part, Shape, World, WorldDef};
/// let mut world = World::new(WorldDef::new()).unwrap();
/// world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE))).unwrap();
/// let mut other = world.clone();
/// other.rng().next_u32();
/// let differs = |part: &Part| world.part_checksum(*part) != other.part_checksum(*part);
/// assert!(Part::ALL.iter().filter(|part| differs(part)).eq([&Part::World]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
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
}

impl Part {
    /// All parts, in the order of the walk.
    pub const ALL: [Self; 5] = [Self::World, Self::Order, Self::Bodies, Self::Contacts, Self::Sensors];
}

/// Walks over one part.
pub(crate) fn walk(world: &World, part: Part, sink: &mut impl Sink) {
    match part {
        Part::World => walk_world(world, sink),
        Part::Order => walk_order(world, sink),
        Part::Bodies => walk_bodies(world, sink),
        Part::Contacts => walk_contacts(world, sink),
        Part::Sensors => walk_sensors(world, sink),
    }
}

fn walk_world(world: &World, sink: &mut impl Sink) {
    let s = &world.settings;
    sink.put_pair(s.gravity);
    sink.put_pair(s.bounds.min);
    sink.put_pair(s.bounds.max);
    sink.put_u32(match s.edge {
        EdgePolicy::Stop => 0,
        EdgePolicy::Bounce => 1,
    });
    for v in [s.push_factor, s.margin, s.restitution_threshold, s.max_speed, s.sleep_speed] {
        sink.put_u32(v as u32);
    }
    for v in
        [s.iterations, s.relax_iterations, u32::from(s.sleep_ms), s.split.leaf_capacity, s.split.depth_max]
    {
        sink.put_u32(v);
    }
    sink.put_u64(world.seed);
    sink.put_u64(world.frame);
    sink.put_u32(world.fps);
    sink.put_u32(world.clock_rest.into());
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
        sink.put_u32(slot);
        sink.put_u32(order.slot_generation(slot));
    }
    if order.is_in_slot_order() {
        sink.put_u32(IN_SLOT_ORDER);
    } else {
        sink.put_u32(LISTED);
        for slot in order.iter() {
            sink.put_u32(slot);
        }
    }
}

/// Which optional fields of a body follow; in the flags' word above the flags themselves.
pub(crate) mod present {
    pub(crate) const VELOCITY: u32 = 1 << 16;
    pub(crate) const POSITION_REST: u32 = 1 << 17;
    pub(crate) const ACCELERATION_REST: u32 = 1 << 18;
    pub(crate) const FRICTION_REST: u32 = 1 << 19;
    pub(crate) const STILL: u32 = 1 << 20;
    pub(crate) const MASS: u32 = 1 << 21;
    pub(crate) const RESTITUTION: u32 = 1 << 22;
    pub(crate) const GROUND_FRICTION: u32 = 1 << 23;
    pub(crate) const FILTER: u32 = 1 << 24;
    pub(crate) const USER: u32 = 1 << 25;
    pub(crate) const ACCELERATION: u32 = 1 << 26;
    pub(crate) const FRICTION: u32 = 1 << 27;
    pub(crate) const DAMPING: u32 = 1 << 28;
    pub(crate) const MAX_SPEED: u32 = 1 << 29;
    pub(crate) const GENERATION: u32 = 1 << 30;
    pub(crate) const ALL: u32 = (1 << 31) - (1 << 16);
    /// What most bodies have at its usual value all the time; it stands behind the other fields.
    pub(crate) const SELDOM: u32 = MASS
        | RESTITUTION
        | GROUND_FRICTION
        | FILTER
        | USER
        | ACCELERATION
        | FRICTION
        | DAMPING
        | MAX_SPEED
        | GENERATION;
}

/// The mass that takes no space: 1 for dynamic bodies, 0 for the others.
pub(crate) fn usual_mass(flags: u32) -> u32 {
    if flags & flag::DYNAMIC != 0 { 1 << 16 } else { 0 }
}

fn walk_bodies(world: &World, sink: &mut impl Sink) {
    let mut page = Page::<4_096>::new();
    for (slot, (body, extra)) in world.bodies.iter().zip(&world.extras).enumerate() {
        if body.has(flag::ALIVE) {
            put_body(body, extra, world.order.slot_generation(slot as u32), &mut page);
            if page.len + BODY_MAX > page.bytes.len() {
                sink.put(&page.bytes[..page.len]);
                page.len = 0;
            }
        }
    }
    sink.put(&page.bytes[..page.len]);
}

/// Bytes of a body of which nothing is usual, and some to spare.
const BODY_MAX: usize = 128;

/// Bytes that are gathered before they go on.
struct Page<const SIZE: usize> {
    bytes: [u8; SIZE],
    // not state: how full the page is
    len: usize,
}

impl<const SIZE: usize> Page<SIZE> {
    fn new() -> Self {
        Self { bytes: [0; SIZE], len: 0 }
    }
}

impl<const SIZE: usize> Page<SIZE> {
    /// Puts the bytes at a place, or leaves them to be overwritten: no branch, as what a body has differs from body to body.
    /// Returns the place after them.
    #[inline(always)]
    fn put_if<const N: usize>(&mut self, at: usize, there: bool, bytes: [u8; N]) -> usize {
        self.bytes[at..at + N].copy_from_slice(&bytes);
        at + if there { N } else { 0 }
    }
}

impl<const SIZE: usize> Sink for Page<SIZE> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}

#[inline]
fn put_body<const SIZE: usize>(body: &Body, extra: &Extra, generation: u32, page: &mut Page<SIZE>) {
    let bit = |bit: u32, there: bool| if there { bit } else { 0 };
    let mut fields = bit(present::VELOCITY, body.velocity != [0; 2])
        | bit(present::POSITION_REST, body.position_rest != [0; 2])
        | bit(present::ACCELERATION_REST, body.acceleration_rest != [0; 2])
        | bit(present::FRICTION_REST, body.friction_rest != 0)
        | bit(present::STILL, body.still_ms != 0)
        | bit(present::MASS, body.mass != usual_mass(body.flags))
        | bit(present::RESTITUTION, body.restitution != 0)
        | bit(present::GROUND_FRICTION, body.ground_friction != 0)
        | bit(present::FILTER, body.filter != Filter::default())
        | bit(present::GENERATION, generation != 0);
    if body.has(flag::EXTRA) {
        fields |= bit(present::USER, extra.user != 0)
            | bit(present::ACCELERATION, extra.acceleration != [0; 2])
            | bit(present::FRICTION, extra.friction != 0)
            | bit(present::DAMPING, extra.damping != 0)
            | bit(present::MAX_SPEED, extra.max_speed != i32::MAX);
    }
    let has = |bit: u32| fields & bit != 0;
    let at = page.put_if(page.len, true, (body.flags | fields).to_le_bytes());
    let at = page.put_if(at, true, pair_bytes(body.position));
    let at = page.put_if(at, body.has(flag::CIRCLE), body.radius.to_le_bytes());
    let at = page.put_if(at, !body.has(flag::CIRCLE), pair_bytes(body.half));
    let at = page.put_if(at, has(present::VELOCITY), pair_bytes(body.velocity));
    let at = page.put_if(at, has(present::POSITION_REST), rest_bytes(body.position_rest));
    let at = page.put_if(at, has(present::ACCELERATION_REST), rest_bytes(body.acceleration_rest));
    let at = page.put_if(at, has(present::FRICTION_REST), body.friction_rest.to_le_bytes());
    let at = page.put_if(at, has(present::STILL), body.still_ms.to_le_bytes());
    page.len = at;
    if has(present::SELDOM) {
        put_seldom(body, extra, generation, fields, page);
    }
}

#[cold]
fn put_seldom(body: &Body, extra: &Extra, generation: u32, fields: u32, sink: &mut impl Sink) {
    let has = |bit: u32| fields & bit != 0;
    for (bit, value) in [
        (present::MASS, body.mass),
        (present::RESTITUTION, body.restitution as u32),
        (present::GROUND_FRICTION, body.ground_friction as u32),
        (present::FRICTION, extra.friction as u32),
        (present::DAMPING, extra.damping as u32),
        (present::MAX_SPEED, extra.max_speed as u32),
        (present::GENERATION, generation),
    ] {
        if has(bit) {
            sink.put_u32(value);
        }
    }
    if has(present::FILTER) {
        sink.put_u32(body.filter.layers);
        sink.put_u32(body.filter.mask);
    }
    if has(present::USER) {
        sink.put_u64(extra.user);
    }
    if has(present::ACCELERATION) {
        sink.put_pair(extra.acceleration);
    }
}

fn pair_bytes([x, y]: [i32; 2]) -> [u8; 8] {
    (u64::from(x as u32) | u64::from(y as u32) << 32).to_le_bytes()
}

fn rest_bytes([x, y]: [u16; 2]) -> [u8; 4] {
    (u32::from(x) | u32::from(y) << 16).to_le_bytes()
}

fn walk_contacts(world: &World, sink: &mut impl Sink) {
    let cache = &world.contacts;
    sink.put_u32(cache.owners.len() as u32);
    sink.put_u32(cache.contacts.len() as u32);
    sink.put_u32(cache.resting.len() as u32);
    sink.put_all(cache.owners.iter().map(|owner| owner.slot));
    sink.put_all(cache.owners.iter().map(|owner| owner.count));
    sink.put_all(cache.contacts.others.iter().copied());
    sink.put_all(cache.contacts.impulses.iter().map(|&impulse| impulse as u32));
    for contact in &cache.resting {
        sink.put_pair([contact.owner as i32, contact.other as i32]);
        sink.put_u32(contact.impulse as u32);
    }
}

fn walk_sensors(world: &World, sink: &mut impl Sink) {
    sink.put_u32(world.sensors.overlaps.len() as u32);
    for &(a, b) in &world.sensors.overlaps {
        sink.put_pair([a as i32, b as i32]);
    }
    sink.put_u32(world.removed.len() as u32);
    for removed in &world.removed {
        sink.put_pair([removed.slot as i32, removed.generation as i32]);
        sink.put_u64(removed.user);
    }
}

/// The same fields as [`walk_bodies`], in fixed places and with vacant slots as zeros: several times as fast to hash.
fn hash_bodies(world: &World, hasher: &mut Hasher) {
    let generations = world.order.generations();
    hasher.put_u32(generations.len() as u32);
    hasher.put_numbers(generations);
    if cfg!(target_endian = "little") {
        hasher.put(bytemuck::cast_slice(&world.bodies));
    } else {
        world.bodies.iter().for_each(|body| hasher.put(&body_bytes(body)));
    }
    if world.had_extras {
        for (slot, (body, extra)) in world.bodies.iter().zip(&world.extras).enumerate() {
            if body.has(flag::EXTRA) {
                hasher.put(&extra_bytes(slot as u32, extra));
            }
        }
    }
}

/// The bytes of a body in the memory of a little-endian machine: its fields in the order of the struct.
fn body_bytes(body: &Body) -> [u8; size_of::<Body>()] {
    let mut record = Page::<BODY_MAX>::new();
    for pair in [body.position, body.velocity, body.half] {
        record.put_pair(pair);
    }
    for number in [body.radius as u32, body.mass, body.restitution as u32, body.flags] {
        record.put_u32(number);
    }
    for rest in body.position_rest.iter().chain(&body.acceleration_rest) {
        record.put_u16(*rest);
    }
    record.put_u16(body.friction_rest);
    record.put_u16(body.still_ms);
    for number in [body.ground_friction as u32, body.filter.layers, body.filter.mask] {
        record.put_u32(number);
    }
    let mut bytes = [0; size_of::<Body>()];
    bytes.copy_from_slice(&record.bytes[..size_of::<Body>()]);
    bytes
}

/// The same fields as [`walk_contacts`].
fn hash_contacts(world: &World, hasher: &mut Hasher) {
    let cache = &world.contacts;
    for len in [cache.owners.len(), cache.contacts.len(), cache.resting.len()] {
        hasher.put_u32(len as u32);
    }
    hasher.put_numbers(bytemuck::cast_slice(&cache.owners));
    hasher.put_numbers(&cache.contacts.others);
    hasher.put_numbers(bytemuck::cast_slice(&cache.contacts.impulses));
    for contact in &cache.resting {
        hasher.put_pair([contact.owner as i32, contact.other as i32]);
        hasher.put_u32(contact.impulse as u32);
    }
}

fn extra_bytes(slot: u32, extra: &Extra) -> [u8; 32] {
    let words = [
        slot,
        extra.user as u32,
        (extra.user >> 32) as u32,
        extra.acceleration[0] as u32,
        extra.acceleration[1] as u32,
        extra.friction as u32,
        extra.damping as u32,
        extra.max_speed as u32,
    ];
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

impl World {
    /// 64-bit hash (XXH3) of the whole state: settings, bodies, order, contacts, overlaps, random generator, frame.
    ///
    /// Two worlds with the same checksum go on alike for the same calls. Costs about as much as copying the state once.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        let mut hasher = Hasher::new();
        for part in Part::ALL {
            hash_part(self, part, &mut hasher);
        }
        hasher.finish()
    }

    /// The checksum of one part of the state.
    #[must_use]
    pub fn part_checksum(&self, part: Part) -> u64 {
        let mut hasher = Hasher::new();
        hash_part(self, part, &mut hasher);
        hasher.finish()
    }
}

fn hash_part(world: &World, part: Part, hasher: &mut Hasher) {
    match part {
        Part::Bodies => hash_bodies(world, hasher),
        Part::Contacts => hash_contacts(world, hasher),
        _ => walk(world, part, hasher),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::def::BodyDef;
    use crate::body::shape::Shape;
    use crate::math::num::Fx;
    use crate::math::vec2::Vec2;

    #[test]
    fn bodies_hash_as_their_little_endian_fields() {
        let def = BodyDef::dynamic(Shape::rect(Fx::lit("0.7"), Fx::lit("1.3"))).mass(Fx::from_num(3));
        let def = def.position(Vec2::from_ints(-5, 9)).velocity(Vec2::from_ints(1, -2));
        let mut body = Body::new(&def, i32::MAX);
        (body.position_rest, body.acceleration_rest) = ([1, 2], [3, 4]);
        (body.friction_rest, body.still_ms, body.ground_friction) = (5, 6, 7);
        body.filter = Filter { layers: 8, mask: 9 };
        if cfg!(target_endian = "little") {
            assert_eq!(body_bytes(&body), bytemuck::cast::<Body, [u8; size_of::<Body>()]>(body));
        }
        let words =
            body_bytes(&body).as_chunks().0.iter().map(|&w| u32::from_le_bytes(w)).collect::<Vec<_>>();
        assert_eq!(words[10..], [2 << 16 | 1, 4 << 16 | 3, 6 << 16 | 5, 7, 8, 9]);
    }
}
