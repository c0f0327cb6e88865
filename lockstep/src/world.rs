//! A physics world as a part of a game's state: with the feature `physics`, one call of `v.part(&mut self.world)` in the walk is enough. Handles of
//! bodies, fixed-point numbers and angles are numbers of a state, too; vectors, rates and random numbers are states of a few numbers.
//!
//! This and `crowd.rs`, for crowds on a world, are the only files in which lockstep knows the engines.

use testudo_physics::{Angle, BodyField, BodyId, FlipError, Fx, Pcg32, Rate, StatePath, Vec2, World};

use crate::state::{Leaf, Number, Part, State, StateError, Visit};

/// Version of the engine that decides the bits of the simulation.
#[cfg(not(feature = "movement"))]
pub(crate) const ENGINE_VERSION: u32 = testudo_physics::SIM_VERSION;
/// Version of the engines that decide the bits of the simulation, physics and movement.
#[cfg(feature = "movement")]
pub(crate) const ENGINE_VERSION: u32 =
    testudo_physics::SIM_VERSION * 1_000 + testudo_movement::MOVEMENT_VERSION;

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
        World::load(self, bytes).map_err(|error| StateError::of_part("world", &error))
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
///             // A loaded state may be a stranger's, with units that have no body.
///             let _ = self.world.remove_body(dead.body);
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

/// In steps of 2^-32 turn.
impl Number for Angle {
    const BITS: u32 = u32::BITS;

    fn value(self) -> i128 {
        Self::to_bits(self).into()
    }

    fn to_bits(self) -> u64 {
        Self::to_bits(self).into()
    }

    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
}

/// The numbers `x` and `y` of the object that was named last. A unit with two vectors names an object for each, so that a report says which it is.
///
/// ```
/// use testudo_lockstep::state::{self, State, StateError, Visit};
/// use testudo_physics::{Angle, Pcg32, Rate, Vec2};
///
/// #[derive(Clone)]
/// struct Unit { aim: Vec2, facing: Angle, burning: Rate }
/// #[derive(Clone)]
/// struct Game { luck: Pcg32, units: [Unit; 2] }
///
/// impl State for Game {
///     fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
///         v.object("luck", 0);
///         self.luck.visit(v)?;
///         for (index, unit) in (0..).zip(&mut self.units) {
///             v.object("unit", index);
///             v.number("facing", &mut unit.facing)?;
///             v.object("aim of unit", index);
///             unit.aim.visit(v)?;
///             v.object("burning of unit", index);
///             unit.burning.visit(v)?;
///         }
///         Ok(())
///     }
/// }
///
/// let unit = Unit { aim: Vec2::from_ints(3, 4), facing: Angle::QUARTER, burning: Rate::new(10) };
/// let mut game = Game { luck: Pcg32::new(1, 2), units: [unit.clone(), unit] };
/// let mut other = game.clone();
/// let _ = other.units[1].burning.take(20);
/// let difference = state::first_difference(&mut game, &mut other).unwrap();
/// assert_eq!(difference.to_string(), "frames_per_second of burning of unit 1: 0 and 20");
/// ```
impl State for Vec2 {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.number("x", &mut self.x)?;
        v.number("y", &mut self.y)
    }
}

/// The numbers `per_second`, `frames_per_second` and `remainder` of the object that was named last. A remainder that [`Rate::from_parts`] refuses is out of
/// range, and the rate is unchanged then.
impl State for Rate {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        let (mut per_second, (mut remainder, mut frames)) = (self.per_second(), self.remainder());
        v.number("per_second", &mut per_second)?;
        v.number("frames_per_second", &mut frames)?;
        let max = i64::from(frames.saturating_sub(1));
        v.number_in("remainder", &mut remainder, 0..=max)?;
        if V::WRITES {
            let refused = StateError::OutOfRange { name: "remainder", min: 0, max };
            *self = Self::from_parts(per_second, (remainder, frames)).ok_or(refused)?;
        }
        Ok(())
    }
}

/// The numbers `state` and `stream` of the object that was named last. Any two numbers are valid.
impl State for Pcg32 {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        let (mut state, mut stream) = self.state();
        v.number("state", &mut state)?;
        v.number("stream", &mut stream)?;
        if V::WRITES {
            *self = Self::from_state(state, stream);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{digest, first_difference, flip_bit, leaves, load, save};

    #[derive(Clone, PartialEq, Debug)]
    struct Small {
        aim: Vec2,
        facing: Angle,
        burning: Rate,
        luck: Pcg32,
    }

    impl State for Small {
        fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
            v.object("small", 0);
            v.number("facing", &mut self.facing)?;
            self.aim.visit(v)?;
            self.burning.visit(v)?;
            self.luck.visit(v)
        }
    }

    fn small() -> Small {
        let mut small = Small {
            aim: Vec2::new(Fx::MIN, Fx::MAX),
            facing: Angle::from_bits(u32::MAX),
            burning: Rate::new(i64::MIN + 5),
            luck: Pcg32::new(7, u64::MAX),
        };
        let _ = small.burning.take(u32::MAX);
        small
    }

    fn empty() -> Small {
        Small { aim: Vec2::ZERO, facing: Angle::ZERO, burning: Rate::new(0), luck: Pcg32::new(0, 0) }
    }

    #[test]
    fn small_values_come_back() {
        for mut before in [small(), empty()] {
            let (mut bytes, mut after) = (Vec::new(), small());
            save(&mut before, &mut bytes);
            assert_eq!(bytes.len(), 4 + 16 + 16 + 16);
            assert_eq!(load(&mut after, &bytes), Ok(()));
            assert_eq!(after, before);
            assert_eq!(digest(&mut after), digest(&mut before));
            assert_eq!(after.luck.next_u64(), before.luck.next_u64());
        }
    }

    #[test]
    fn every_bit_of_a_small_value_counts_unless_it_is_refused() {
        let (mut all, mut refused) = (Vec::new(), 0);
        leaves(&mut small(), &mut |leaf| all.push(leaf));
        assert_eq!(all.iter().map(|leaf| leaf.bits).sum::<u32>(), 8 * 52);
        for leaf in all {
            for bit in 0..leaf.bits {
                let mut other = small();
                match flip_bit(&mut other, &leaf, bit) {
                    Ok(()) => {
                        assert_ne!(digest(&mut other), digest(&mut small()), "bit {bit} of {leaf:?}");
                        assert_eq!(first_difference(&mut small(), &mut other).unwrap().here, Some(leaf));
                    }
                    Err(error) => {
                        assert!(matches!(error, StateError::OutOfRange { name: "remainder", .. }), "{error}");
                        assert_eq!(other, small(), "bit {bit} of {leaf:?}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused < 64, "{refused}");
    }

    #[test]
    fn a_rate_that_its_constructor_refuses_is_not_loaded() {
        for (frames, remainder, max) in [(20_u32, 20_u32, 19), (0, 1, 0), (1, u32::MAX, 0)] {
            let mut bytes = 5_i64.to_le_bytes().to_vec();
            bytes.extend(frames.to_le_bytes());
            bytes.extend(remainder.to_le_bytes());
            let mut rate = Rate::new(9);
            let refused = Err(StateError::OutOfRange { name: "remainder", min: 0, max });
            assert_eq!((load(&mut rate, &bytes), rate), (refused, Rate::new(9)));
        }
    }
}
