//! Snapshots: the whole state as bytes, and worlds from bytes.
//!
//! Layout: magic, [`SNAPSHOT_VERSION`], [`SIM_VERSION`], the parts of [`crate::state::walk`] in order, and the XXH3 of all that. The hash
//! guards against damage, not against malice; [`World::from_bytes`] also validates everything.

use alloc::vec::Vec;

use crate::body::ordered::Ordered;
use crate::body::record::{Body, Extra, flag, fx, vec2};
use crate::body::slot::{Slot, SlotPair};
use crate::body::terrain::{CORNERS_MAX, Piece};
use crate::contact::cached::{Owner, RestingContact};
use crate::contact::ignored::IgnoredPairs;
use crate::math::aabb::Aabb;
use crate::math::rng::Pcg32;
use crate::simd::Path;
use crate::state::bodies::read_body;
use crate::state::bytes::{Reader, Sink, numbers};
use crate::state::hash::hash_bytes;
use crate::state::validate::check_points;
use crate::state::version::{SIM_VERSION, SNAPSHOT_VERSION, SnapshotError};
use crate::state::walk::{PAIRS, StatePart, TERRAIN, walk};
use crate::step::scene::Scene;
use crate::world::{Removed, World};
use crate::world_def::{EdgePolicy, Simd, WorldDef};

/// First bytes of every snapshot.
const MAGIC: [u8; 4] = *b"TSPW";

impl World {
    /// Writes the whole state into `out`, which is cleared first. In the restored world handles stay valid, and new bodies get the same
    /// handles.
    pub fn snapshot(&self, out: &mut Vec<u8>) {
        out.clear();
        self.append_snapshot(out);
    }

    /// Like [`World::snapshot`], but appends to `out`; for games that save more than a world.
    pub fn append_snapshot(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put(&MAGIC);
        out.put_u32(SNAPSHOT_VERSION);
        out.put_u32(SIM_VERSION);
        for part in StatePart::ALL {
            walk(self, part, out);
        }
        let hash = hash_bytes(&out[start..]);
        out.put_u64(hash);
    }

    /// Goes back to a state that this program itself has saved. Fast: buffers are reused, and only the checksum is verified. For all other
    /// bytes use [`World::load`].
    ///
    /// Events are empty afterwards, and drawing does not interpolate across the restore.
    ///
    /// # Errors
    /// Not a snapshot, another version, or damaged. The world stays unchanged.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let mut reader = open(bytes)?;
        let mut world = World::with_settings(self.settings, self.seed, self.stepper.path);
        world.read(&mut reader)?;
        self.go_on_as(world);
        Ok(())
    }

    /// Like [`World::restore`], from bytes of any origin. What is no part of the state stays as it is, too: the instruction set, and whether
    /// [hits](World::list_contact_hits) and [contacts that stay](World::list_stayed_contacts) are listed.
    ///
    /// ```
    /// # use testudo_physics::{World, WorldDef};
    /// let mut world = World::new(WorldDef::default())?;
    /// let mut bytes = Vec::new();
    /// world.snapshot(&mut bytes);
    /// world.load(&bytes)?;
    /// assert!(world.load(&bytes[1..]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`World::from_bytes`]. The world stays unchanged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let world = World::checked(bytes, self.stepper.path)?;
        self.go_on_as(world);
        Ok(())
    }

    /// A world from bytes of any origin. It lists neither hits nor contacts that stay: a game whose rules read them turns that on again, or keeps its
    /// world and calls [`World::load`].
    ///
    /// # Errors
    /// Not a snapshot, another version, damaged, or a state that no sequence of calls can reach; the error names the first broken limit or
    /// invariant. Never panics, and allocates no more than a small multiple of the input's length.
    pub fn from_bytes(bytes: &[u8]) -> Result<World, SnapshotError> {
        let mut world = World::checked(bytes, Path::detect(Simd::Widest))?;
        world.derive();
        Ok(world)
    }

    /// The state of bytes of any origin, without what follows from it.
    fn checked(bytes: &[u8], path: Path) -> Result<World, SnapshotError> {
        let mut reader = open(bytes)?;
        let settings = WorldDef::new().settings().map_err(|_| invalid("default settings"))?;
        let mut world = World::with_settings(settings, 0, path);
        world.read(&mut reader)?;
        world.validate().map_err(|error| invalid(error.what))?;
        Ok(world)
    }

    /// Takes the state of a world that was read. The buffers of the step hold nothing permanent; the trees are filled again.
    fn go_on_as(&mut self, mut world: World) {
        world.contacts.lists_stayed = self.contacts.lists_stayed;
        world.events.lists_hits = self.events.lists_hits;
        core::mem::swap(&mut world.stepper, &mut self.stepper);
        world.derive();
        *self = world;
    }
}

fn invalid(what: &'static str) -> SnapshotError {
    SnapshotError::Invalid { what }
}

/// Checks header and checksum, and returns a reader of the content.
fn open(bytes: &[u8]) -> Result<Reader<'_>, SnapshotError> {
    let mut reader = Reader { bytes };
    if reader.take(4) != Ok(&MAGIC) {
        return Err(SnapshotError::NotASnapshot);
    }
    let (layout, sim) = (reader.u32()?, reader.u32()?);
    if (layout, sim) != (SNAPSHOT_VERSION, SIM_VERSION) {
        return Err(SnapshotError::Version { layout, sim });
    }
    let inside = bytes.len().checked_sub(8).ok_or(SnapshotError::Damaged)?;
    let (guarded, mut hash) = (&bytes[..inside], Reader { bytes: &bytes[inside..] });
    if hash.u64()? != hash_bytes(guarded) || inside < 12 {
        return Err(SnapshotError::Damaged);
    }
    Ok(Reader { bytes: &guarded[12..] })
}

impl World {
    /// Reads the parts; derived data stays empty.
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), SnapshotError> {
        self.read_world(reader)?;
        self.read_order(reader)?;
        self.read_bodies(reader)?;
        self.read_contacts(reader)?;
        self.read_sensors(reader)?;
        self.read_pairs(reader)?;
        self.read_terrain(reader)?;
        if reader.bytes.is_empty() { Ok(()) } else { Err(SnapshotError::Damaged) }
    }

    fn read_world(&mut self, reader: &mut Reader<'_>) -> Result<(), SnapshotError> {
        let gravity = vec2(reader.pair()?);
        let bounds = Aabb { min: vec2(reader.pair()?), max: vec2(reader.pair()?) };
        let edge = match reader.u32()? {
            0 => EdgePolicy::Stop,
            1 => EdgePolicy::Bounce,
            _ => return Err(invalid("edge policy")),
        };
        let mut number = || Ok(fx(reader.i32()?));
        let (push_factor, margin, restitution_threshold) = (number()?, number()?, number()?);
        let (max_speed, sleep_speed) = (number()?, number()?);
        let def = WorldDef {
            gravity,
            bounds,
            edge,
            push_factor,
            margin,
            restitution_threshold,
            max_speed,
            sleep_speed,
            iterations: reader.u32()?,
            relax_iterations: reader.u32()?,
            sleep_ms: reader.u32()?,
            leaf_capacity: reader.u32()?,
            depth_max: reader.u32()?,
            seed: reader.u64()?,
            // Each machine chooses its own.
            simd: Simd::Widest,
        };
        self.settings = def.settings().map_err(|_| invalid("a setting is out of range"))?;
        self.seed = def.seed;
        self.clock.frame = reader.u64()?;
        self.clock.fps = reader.u32()?;
        self.clock.remainder =
            reader.u32()?.try_into().map_err(|_| invalid("a remainder not below the rate"))?;
        self.rng = Pcg32::from_state(reader.u64()?, reader.u64()?);
        Ok(())
    }

    fn read_order(&mut self, reader: &mut Reader<'_>) -> Result<(), SnapshotError> {
        // A living slot takes at least 12 bytes as a body, a vacant one 8 here.
        let slots = reader.count(8)?;
        let vacant = reader.count(8)?;
        let mut generations = alloc::vec![0; slots];
        let mut free = Vec::with_capacity(vacant);
        let mut living = alloc::vec![true; slots];
        for _ in 0..vacant {
            let slot = Slot(reader.u32()?);
            let place = generations.get_mut(slot.at()).ok_or(invalid("a vacant slot out of range"))?;
            *place = reader.u32()?;
            living[slot.at()] = false;
            free.push(slot);
        }
        let order = match reader.u32()? {
            0 if vacant == 0 => Slot::all(slots).collect(),
            0 => Slot::all(slots).filter(|slot| living[slot.at()]).collect(),
            1 => {
                let order = (vacant..slots).map(|_| reader.u32().map(Slot)).collect::<Result<Vec<_>, _>>()?;
                if order.is_sorted() {
                    return Err(invalid("insertion order listed without need"));
                }
                order
            }
            _ => return Err(invalid("insertion order")),
        };
        self.order = Ordered::from_parts(generations, free, order)
            .ok_or(invalid("slots and insertion order disagree"))?;
        Ok(())
    }

    fn read_bodies(&mut self, reader: &mut Reader<'_>) -> Result<(), SnapshotError> {
        let slots = self.order.slot_count();
        self.bodies.resize(slots, Body::default());
        self.extras.resize(slots, Extra::USUAL);
        for (slot, (body, extra)) in Slot::all(slots).zip(self.bodies.iter_mut().zip(&mut self.extras)) {
            if self.order.generation(slot).is_some() {
                let generation = read_body(reader, body, extra)?;
                if generation != 0 {
                    self.order.set_generation(slot, generation);
                }
            }
        }
        Ok(())
    }

    fn read_contacts(&mut self, reader: &mut Reader<'_>) -> Result<(), SnapshotError> {
        let (owners, contacts, resting) = (reader.count(8)?, reader.count(8)?, reader.count(16)?);
        let slides = reader.count(4)?;
        let cache = &mut self.contacts;
        let (slots, counts) = (reader.take(owners * 4)?, reader.take(owners * 4)?);
        cache.owners.extend(
            numbers(slots).zip(numbers(counts)).map(|(slot, count)| Owner { slot: Slot(slot), count }),
        );
        cache.contacts.others.extend(numbers(reader.take(contacts * 4)?).map(Slot));
        cache.contacts.impulses.extend(numbers(reader.take(contacts * 4)?).map(|impulse| impulse as i32));
        cache.contacts.slides.extend(numbers(reader.take(slides * 4)?).map(|slide| slide as i32));
        for _ in 0..resting {
            let (owner, other) = (Slot(reader.u32()?), Slot(reader.u32()?));
            let (impulse, slide) = (reader.i32()?, reader.i32()?);
            cache.resting.push(RestingContact { owner, other, impulse, slide });
        }
        Ok(())
    }

    fn read_sensors(&mut self, reader: &mut Reader<'_>) -> Result<(), SnapshotError> {
        for _ in 0..reader.count(8)? {
            self.sensors.overlaps.push(SlotPair(Slot(reader.u32()?), Slot(reader.u32()?)));
        }
        for _ in 0..reader.count(16)? {
            let (slot, generation) = (Slot(reader.u32()?), reader.u32()?);
            self.removed.push(Removed { slot, generation, user: reader.u64()? });
        }
        Ok(())
    }

    fn read_pairs(&mut self, reader: &mut Reader<'_>) -> Result<(), SnapshotError> {
        if reader.next_is(PAIRS) {
            let count = reader.count(8)?;
            let (first, second) = (reader.take(count * 4)?, reader.take(count * 4)?);
            self.ignored = IgnoredPairs::from_pairs(
                numbers(first).zip(numbers(second)).map(|(a, b)| SlotPair(Slot(a), Slot(b))).collect(),
            );
            if count == 0 {
                return Err(invalid("an empty list of ignored pairs"));
            }
        }
        Ok(())
    }

    fn read_terrain(&mut self, reader: &mut Reader<'_>) -> Result<(), SnapshotError> {
        if !reader.next_is(TERRAIN) {
            return Ok(());
        }
        let count = reader.count(40)?;
        let mut before = None;
        for _ in 0..count {
            let (slot, corners) = (Slot(reader.u32()?), reader.u32()? as usize);
            let (radius, one_sided, links) =
                (reader.i32()?, reader.u32()?, [Slot(reader.u32()?), Slot(reader.u32()?)]);
            let body = self.bodies.get_mut(slot.at()).ok_or(invalid("terrain in no slot"))?;
            if before >= Some(slot) || !(2..=CORNERS_MAX).contains(&corners) || one_sided > 1 {
                return Err(invalid("a piece of terrain"));
            }
            before = Some(slot);
            if !body.is_terrain() {
                return Err(invalid("a body that is not its terrain"));
            }
            let mut points = [[0; 2]; CORNERS_MAX];
            for point in &mut points[..corners] {
                *point = reader.pair()?;
            }
            check_points(&points[..corners], radius)?;
            let mut piece = Piece::new(&points[..corners], radius, one_sided == 1);
            (piece.slot, piece.links) = (slot, links);
            piece.mark(body);
            self.terrain.insert(piece);
        }
        if count == 0 { Err(invalid("an empty list of terrain")) } else { Ok(()) }
    }

    /// Rebuilds the data that is derived from the state.
    fn derive(&mut self) {
        self.contacts.rebuild(self.bodies.len());
        self.previous.extend(self.bodies.iter().map(|body| body.position));
        self.activity.lulled = true;
        for (slot, body) in Slot::all(self.bodies.len()).zip(&self.bodies) {
            self.ever.note(body, &self.extras[slot]);
            if body.has(flag::FRESH) {
                self.activity.fresh.push(slot);
            }
        }
        self.sensors.touch_all();
        let scene = Scene { bodies: &self.bodies, ignored: &self.ignored, terrain: &self.terrain };
        let lasts = |c: &RestingContact| scene.keeps_resting_contact(c.owner, c.other, &self.settings);
        self.activity.sleeping.rebuild(&self.bodies, self.contacts.iter().filter(lasts));
        let margin = self.settings.box_margin();
        let sort = self.stepper.path.sorter(self.settings.split, &self.bodies);
        let (mut active, mut resting) = (Vec::with_capacity(self.bodies.len()), Vec::new());
        for (slot, body) in Slot::all(self.bodies.len()).zip(&self.bodies) {
            if body.flags & (flag::ALIVE | flag::DISABLED) == flag::ALIVE {
                if body.has(flag::AWAKE) { &mut active } else { &mut resting }.push(slot);
            }
        }
        self.stepper.lanes.fill(&active, &self.bodies, margin, &sort);
        self.resting.fill(resting, &self.bodies, margin, sort);
        self.activity.active = active;
        self.activity.waking.reserve(self.bodies.len());
    }
}
