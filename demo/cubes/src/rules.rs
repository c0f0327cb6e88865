//! The start of a scene, and the constants of its rules. All are whole numbers, so that every solver has exactly the same ones.

use core::fmt;

use testudo_physics::{BodyError, Fx, Pcg32, SIM_VERSION, Vec2, WorldError, hash_bytes};

/// Frames per second of the scene, always.
pub const FRAMES_PER_SECOND: u32 = 60;

/// Greatest number of small cubes in a scene.
pub const CUBES_MAX: u32 = 10_000;

/// Version of these rules: with another version the same keys lead to other states.
const RULES_VERSION: u32 = 1;

/// Acceleration of the player's cube by an arrow key, units/s^2.
pub(crate) const PUSH: i32 = 50;
/// Its deceleration by the ground, units/s^2.
pub(crate) const PLAYER_FRICTION: i32 = 12;
/// Its greatest speed, units/s.
pub(crate) const PLAYER_SPEED_MAX: i32 = 14;
/// Its mass; a small cube has 1/4 to 1.
pub(crate) const PLAYER_MASS: i32 = 6;
/// Deceleration of small cubes by the ground, units/s^2.
pub(crate) const CUBE_FRICTION: i32 = 7;
/// Greatest speed of small cubes, units/s.
pub(crate) const CUBE_SPEED_MAX: i32 = 30;

/// Frames until the player's cube is fully lifted.
pub const LIFT_FRAMES: u32 = 12;
/// From this height on it is above the others and touches none of them.
pub(crate) const CLEAR_FRAMES: u32 = 6;

/// Reach of the blow, units, and its acceleration in the middle, units/s^2; it decreases to 0 at the reach.
pub const BLOW_REACH: i32 = 8;
pub(crate) const BLOW: i32 = 110;
/// Reach of the pull, units.
pub const GATHER_REACH: i32 = 7;
/// Acceleration towards the player's cube, units/s^2.
pub(crate) const GATHER: i32 = 32;
/// Acceleration around it, counter-clockwise, units/s^2.
pub(crate) const ROLL: i32 = 14;
/// Part of the velocity difference to the player's cube that gathered cubes adopt, 1/s.
pub(crate) const FOLLOW: i32 = 3;

/// Half of the side of the player's cube, sixteenths of a unit.
const PLAYER_HALF: i64 = 12;
/// Half sides of small cubes, sixteenths of a unit.
const CUBE_HALF: (u32, u32) = (4, 8);
/// Distance between the cubes' initial places, and the greatest offset of a cube from its place, sixteenths of a unit.
const SPACING: i64 = 20;
const ASIDE: u32 = 1;
/// Free ground between the outermost places and the edge, and around the player's cube, sixteenths of a unit.
const APRON: i64 = 80;
const CLEARING: i64 = 40;

/// The start of a scene; it must be equal at both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// Small cubes, 1..=[`CUBES_MAX`].
    pub cubes: u32,
    /// Decides their sizes and exact positions.
    pub seed: u64,
}

/// Why a scene with these settings is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SetupError {
    /// The number of cubes is outside `1..=CUBES_MAX`.
    Cubes {
        /// What was asked for.
        given: u32,
    },
    /// The physics refused the world.
    World(WorldError),
    /// The physics refused a body.
    Body(BodyError),
}

/// A cube before the first frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Start {
    pub(crate) centre: Vec2,
    pub(crate) half: Vec2,
    pub(crate) mass: Fx,
}

impl Setup {
    pub(crate) fn check(&self) -> Result<(), SetupError> {
        match self.cubes {
            1..=CUBES_MAX => Ok(()),
            given => Err(SetupError::Cubes { given }),
        }
    }

    /// Hash of what must be equal at both ends, besides the session's own settings.
    pub fn content_hash(&self) -> u64 {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&SIM_VERSION.to_le_bytes());
        bytes[4..8].copy_from_slice(&RULES_VERSION.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.cubes.to_le_bytes());
        bytes[12..].copy_from_slice(&self.seed.to_le_bytes());
        hash_bytes(&bytes)
    }

    /// Places in a row: the smallest square with room for all cubes and the clearing in its middle.
    fn row(&self) -> i64 {
        (1..).find(|&row| self.places(row).nth(self.cubes as usize - 1).is_some()).unwrap_or(1)
    }

    /// Centres of places in a square of `row * row`, row by row, without those in the clearing.
    fn places(&self, row: i64) -> impl Iterator<Item = (i64, i64)> {
        let at = move |place: i64| (2 * place + 1 - row) * SPACING / 2;
        let all = (0..row * row).map(move |place| (at(place % row), at(place / row)));
        all.filter(|(x, y)| x.abs().max(y.abs()) >= CLEARING)
    }

    /// Half of the side of the field, units.
    pub fn field_half(&self) -> Fx {
        sixteenths(self.row() * SPACING / 2 + APRON)
    }

    /// The player's cube, then the small ones in order.
    pub(crate) fn starts(&self) -> Vec<Start> {
        let mut rng = Pcg32::new(self.seed, 0);
        let side = sixteenths(PLAYER_HALF);
        let player =
            Start { centre: Vec2::ZERO, half: Vec2::new(side, side), mass: Fx::from_num(PLAYER_MASS) };
        let mut starts = vec![player];
        for (x, y) in self.places(self.row()).take(self.cubes as usize) {
            let mut half = || i64::from(CUBE_HALF.0 + rng.below(CUBE_HALF.1 - CUBE_HALF.0 + 1));
            let half = [half(), half()];
            let mut aside = || i64::from(rng.below(2 * ASIDE + 1)) - i64::from(ASIDE);
            let centre = Vec2::new(sixteenths(x + aside()), sixteenths(y + aside()));
            // Proportional to its area: 4 hx hy / 256, in 16 fraction bits.
            let mass = Fx::from_bits((4 * half[0] * half[1]) << 8);
            starts.push(Start { centre, half: Vec2::new(sixteenths(half[0]), sixteenths(half[1])), mass });
        }
        starts
    }
}

const fn sixteenths(count: i64) -> Fx {
    Fx::from_bits(count << 12)
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cubes { given } => write!(f, "cubes must be 1 to {CUBES_MAX}, not {given}"),
            Self::World(error) => write!(f, "{error}"),
            Self::Body(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for SetupError {}

impl From<WorldError> for SetupError {
    fn from(error: WorldError) -> Self {
        Self::World(error)
    }
}

impl From<BodyError> for SetupError {
    fn from(error: BodyError) -> Self {
        Self::Body(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubes_start_apart_inside_the_field() {
        for cubes in [1, 2, 900, 2_000] {
            let setup = Setup { cubes, seed: 5 };
            let (starts, edge) = (setup.starts(), setup.field_half());
            assert_eq!(starts.len(), cubes as usize + 1);
            for (index, a) in starts.iter().enumerate() {
                assert!(a.centre.x.abs() + a.half.x < edge && a.centre.y.abs() + a.half.y < edge, "{a:?}");
                for b in &starts[..index] {
                    let (offset, reach) = (a.centre - b.centre, a.half + b.half);
                    assert!(offset.x.abs() > reach.x || offset.y.abs() > reach.y, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn numbers_of_cubes_have_limits() {
        for given in [0, CUBES_MAX + 1] {
            assert_eq!(Setup { cubes: given, seed: 0 }.check(), Err(SetupError::Cubes { given }));
        }
        assert_eq!(Setup { cubes: CUBES_MAX, seed: 0 }.check(), Ok(()));
    }

    #[test]
    fn masses_are_areas() {
        let setup = Setup { cubes: 50, seed: 3 };
        for start in &setup.starts()[1..] {
            let area = start.half.x * start.half.y * 4;
            assert_eq!(start.mass, area);
            assert!((Fx::lit("0.25")..=Fx::ONE).contains(&area));
        }
    }
}
