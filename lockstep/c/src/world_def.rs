//! Settings of a world.

use testudo_physics::{EdgePolicy, POSITION_MAX, SPEED_MAX, Simd, WorldDef};

use crate::failure::{Failure, Outcome, TestudoStatus, status};
use crate::pointer::{plain, write};
use crate::value::{TESTUDO_ONE, TestudoBox, TestudoFx, TestudoVec2, fx};

/// The centre of a body stops at the edge of the world, and the velocity across it becomes zero.
pub const TESTUDO_EDGE_STOP: u32 = 0;
/// The velocity across the edge is reversed and multiplied by the body's restitution.
pub const TESTUDO_EDGE_BOUNCE: u32 = 1;

/// What every machine of the target has.
pub const TESTUDO_SIMD_PLAIN: u32 = 0;
/// Registers of at most 128 bits.
pub const TESTUDO_SIMD_BITS128: u32 = 1;
/// Registers of at most 256 bits.
pub const TESTUDO_SIMD_BITS256: u32 = 2;
/// The widest registers of the machine.
pub const TESTUDO_SIMD_WIDEST: u32 = 3;

/// Settings of a world. `testudo_world_def_default` fills in what suits a strategy game seen from above, with bodies about one unit
/// large.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoWorldDef {
    /// Acceleration of every dynamic body, units/s^2, each axis within +-1,024. Default 0.
    pub gravity: TestudoVec2,
    /// Bounds for the centres of bodies that can move, within +-16,384 units, which is the default.
    pub bounds: TestudoBox,
    /// Part of a shallow overlap that is separated per frame without gravity, 0..=1. Default 0.2.
    pub push_factor: TestudoFx,
    /// Bodies within this distance are solved before they touch, 0..=16 units. Default 0.2.
    pub margin: TestudoFx,
    /// Closing speed up to which restitution is ignored, units/s, 0..=1,024. Default 1.
    pub restitution_threshold: TestudoFx,
    /// Greatest speed per axis of any body, units/s, above 0 and at most 1,024, which is the default.
    pub max_speed: TestudoFx,
    /// A body that is not faster on either axis counts as still, units/s, 0..=1,024. Default 1/16.
    pub sleep_speed: TestudoFx,
    /// Seed of the world's random numbers. Default 0.
    pub seed: u64,
    /// What happens at the bounds: a `TESTUDO_EDGE_...`. Default `TESTUDO_EDGE_STOP`.
    pub edge: u32,
    /// Solver passes per step, 1..=64. Default 7.
    pub iterations: u32,
    /// Passes after positions were advanced, 0..=16. Default 1.
    pub relax_iterations: u32,
    /// How long bodies must be still before they fall asleep, milliseconds, 0..=60,000; 0 = never. Default 500.
    pub sleep_ms: u32,
    /// A quadrant of the tree with more bodies splits, 1..=64. Default 8.
    pub quadtree_leaf_capacity: u32,
    /// Levels of the tree below its root, 0..=15. Default 15.
    pub quadtree_depth_max: u32,
    /// The widest instructions: a `TESTUDO_SIMD_...`. They do not affect the bits. Default `TESTUDO_SIMD_WIDEST`.
    pub simd: u32,
}
plain!(TestudoWorldDef);

impl TestudoWorldDef {
    /// The definition, its ranges not checked yet.
    pub(crate) fn def(&self) -> Outcome<WorldDef> {
        let edge = match self.edge {
            TESTUDO_EDGE_STOP => EdgePolicy::Stop,
            TESTUDO_EDGE_BOUNCE => EdgePolicy::Bounce,
            other => return Err(Failure::enumerator("edge", other, TESTUDO_EDGE_BOUNCE)),
        };
        let simd = match self.simd {
            TESTUDO_SIMD_PLAIN => Simd::Plain,
            TESTUDO_SIMD_BITS128 => Simd::Bits128,
            TESTUDO_SIMD_BITS256 => Simd::Bits256,
            TESTUDO_SIMD_WIDEST => Simd::Widest,
            other => return Err(Failure::enumerator("simd", other, TESTUDO_SIMD_WIDEST)),
        };
        Ok(WorldDef::new()
            .gravity(self.gravity.into())
            .bounds(self.bounds.into())
            .edge(edge)
            .iterations(self.iterations)
            .relax_iterations(self.relax_iterations)
            .push_factor(fx(self.push_factor))
            .margin(fx(self.margin))
            .restitution_threshold(fx(self.restitution_threshold))
            .max_speed(fx(self.max_speed))
            .sleep_speed(fx(self.sleep_speed))
            .sleep_ms(self.sleep_ms)
            .quadtree_leaf_capacity(self.quadtree_leaf_capacity)
            .quadtree_depth_max(self.quadtree_depth_max)
            .seed(self.seed)
            .simd(simd))
    }
}

/// Fills in the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_def_default(out: *mut TestudoWorldDef) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { write(out, DEFAULT, "out") })
}

const EDGE: TestudoFx = POSITION_MAX.to_bits();

/// What `WorldDef::new` has.
const DEFAULT: TestudoWorldDef = TestudoWorldDef {
    gravity: TestudoVec2 { x: 0, y: 0 },
    bounds: TestudoBox { min: TestudoVec2 { x: -EDGE, y: -EDGE }, max: TestudoVec2 { x: EDGE, y: EDGE } },
    push_factor: TESTUDO_ONE / 5,
    margin: TESTUDO_ONE / 5,
    restitution_threshold: TESTUDO_ONE,
    max_speed: SPEED_MAX.to_bits(),
    sleep_speed: TESTUDO_ONE / 16,
    seed: 0,
    edge: TESTUDO_EDGE_STOP,
    iterations: 7,
    relax_iterations: 1,
    sleep_ms: 500,
    quadtree_leaf_capacity: 8,
    quadtree_depth_max: 15,
    simd: TESTUDO_SIMD_WIDEST,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_physics() {
        assert_eq!(DEFAULT.def().expect("enumerators in range"), WorldDef::new());
    }
}
