//! A physics world as a part of a game's state: with the feature `physics`, one call of `v.part(&mut self.world)` in the walk is enough. Handles of
//! bodies and fixed-point numbers are numbers of a state, too.
//!
//! This is the only file in which the two packages know each other.

use testudo_physics::{BodyField, BodyId, FlipError, Fx, SnapshotError, StatePath, World};

use crate::state::{Leaf, Number, Part, StateError};

/// Version of the engine that decides the bits of the simulation.
pub(crate) const ENGINE_VERSION: u32 = testudo_physics::SIM_VERSION;

/// [`World::checksum`] is its hash, a snapshot its saved form (loading validates untrusted bytes), and desync reports name every number of
/// every body.
///
/// ```
/// use testudo_lockstep::state::{self, State, StateError, Visit};
/// use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
///
/// struct Game { world: World, gold: u32 }
///
/// impl State for Game {
///     fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
///         v.object("game", 0);
///         v.number("gold", &mut self.gold)?;
///         v.part(&mut self.world)
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut game = Game { world: World::new(WorldDef::default())?, gold: 5 };
/// let ball = game.world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE)))?;
/// let mut other = Game { world: game.world.clone(), gold: 5 };
/// other.world.set_position(ball, Vec2::from_ints(1, 0))?;
/// let difference = state::first_difference(&mut game, &mut other).unwrap();
/// assert_eq!(difference.to_string(), "position.x of body 0: 0 and 65536");
/// # Ok(()) }
/// ```
impl Part for World {
    fn digest(&self) -> u64 {
        self.checksum()
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.append_snapshot(out);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        *self = World::from_bytes(bytes).map_err(|error| StateError::Part {
            what: match error {
                SnapshotError::NotASnapshot => "these bytes are not a snapshot of a world",
                SnapshotError::Version { .. } => "the world was saved by another version",
                SnapshotError::Damaged => "the snapshot of the world is damaged",
                SnapshotError::Invalid { what } => what,
                _ => "the snapshot of the world cannot be read",
            },
        })?;
        Ok(())
    }

    fn leaves(&self, each: &mut dyn FnMut(Leaf)) {
        self.visit_numbers(&mut |path, value| {
            let (kind, index, name, bits) = match path {
                StatePath::World { name } => ("world", 0, name, 0),
                StatePath::Body { body, field } => ("body", body.index(), field.name(), field.bits()),
                StatePath::Entry { list, index, .. } => (list, index, "entry", 0),
                // Its value still says that the worlds differ, though not where.
                _ => ("world", 0, "another number", 0),
            };
            each(Leaf { kind, index, name, bits, value });
        });
    }

    fn flip_bit(&mut self, leaf: &Leaf, bit: u32) -> Result<(), StateError> {
        let field = BodyField::ALL.into_iter().find(|field| field.name() == leaf.name);
        let Some(field) = field.filter(|_| leaf.kind == "body") else {
            return Err(StateError::NoSuchBit { bit });
        };
        let id = self.body_in_slot(leaf.index).ok_or(StateError::NoSuchBit { bit })?;
        World::flip_bit(self, id, field, bit).map_err(|error| match error {
            FlipError::OutOfRange { what } => StateError::Part { what },
            _ => StateError::NoSuchBit { bit },
        })
    }
}

/// The handle of a body whose owner can die, or is created during the match. A loaded handle may be of no body: the world then answers with an
/// error, as for any stale handle.
///
/// ```
/// use testudo_lockstep::state::{self, State, StateError, Visit};
/// use testudo_physics::{BodyDef, BodyId, Fx, Shape, World, WorldDef};
///
/// struct Unit { body: BodyId, health: u16 }
/// struct Game { world: World, units: Vec<Unit> }
///
/// impl Game {
///     fn bury(&mut self) {
///         for dead in self.units.extract_if(.., |unit| unit.health == 0) {
///             self.world.remove_body(dead.body).expect("nothing else removes bodies");
///         }
///     }
/// }
///
/// impl State for Game {
///     fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
///         let mut count = self.units.len() as u32;
///         v.object("game", 0);
///         v.number_in("units", &mut count, 0..=10_000)?;
///         // Only a walk that restores changes the length; the values that are filled in are overwritten at once.
///         self.units.resize_with(count as usize, || Unit { body: BodyId::from_bits(0), health: 0 });
///         for (index, Unit { body, health }) in (0..).zip(&mut self.units) {
///             v.object("unit", index);
///             v.number("body", body)?;
///             v.number("health", health)?;
///         }
///         v.part(&mut self.world)
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut game = Game { world: World::new(WorldDef::default())?, units: Vec::new() };
/// # for health in [3, 0, 7] {
/// #     let body = game.world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE)))?;
/// #     game.units.push(Unit { body, health });
/// # }
/// game.bury();
/// let (mut bytes, mut other) = (Vec::new(), Game { world: World::new(WorldDef::default())?, units: Vec::new() });
/// state::save(&mut game, &mut bytes);
/// state::load(&mut other, &bytes)?;
/// assert_eq!(state::digest(&mut other), state::digest(&mut game));
/// assert!(other.units.len() == 2 && other.units.iter().all(|unit| other.world.body(unit.body).is_some()));
/// # Ok(()) }
/// ```
impl Number for BodyId {
    const BITS: u32 = u64::BITS;

    fn value(self) -> i128 {
        self.to_bits().into()
    }

    fn to_bits(self) -> u64 {
        Self::to_bits(self)
    }

    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
}

/// The raw number with 16 fraction bits.
impl Number for Fx {
    const BITS: u32 = u64::BITS;

    fn value(self) -> i128 {
        Self::to_bits(self).into()
    }

    fn to_bits(self) -> u64 {
        Self::to_bits(self) as u64
    }

    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits as i64)
    }
}
