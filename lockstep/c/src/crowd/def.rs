//! Settings of a crowd.

use testudo_movement::{CrowdDef, GroundDef};

use crate::failure::{Failure, Outcome, TESTUDO_OUT_OF_RANGE, TestudoStatus, status};
use crate::pointer::{TestudoBool, plain, read, write};
use crate::query::{self, TestudoQueryFilter};
use crate::value::{TESTUDO_ONE, TestudoBox, TestudoFx, fx};

/// Settings of a crowd. `testudo_crowd_def_default` fills in all but the area.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoCrowdDef {
    /// Where units walk, within +-16,384 units; at most 2,048 cells along a side.
    pub area: TestudoBox,
    /// Width of a cell, units: a power of two, 1/8..=16. Default 1. Once or twice the radius of the smallest units is right: larger cells miss paths between
    /// obstacles that stand close, smaller ones cost time and memory.
    pub cell: TestudoFx,
    /// Radii of the units, units, ascending, 1/1,024..=16 cells; the first `size_count` count. A unit uses the smallest one that is not below its own radius.
    /// Default 1/2.
    pub sizes: [TestudoFx; 4],
    /// How many of `sizes` count, 1..=4. Default 1.
    pub size_count: u32,
    /// Greatest number of fields at a time, 1..=1,024: goals that several units share. A field takes four bytes per cell. Default 64.
    pub fields_max: u32,
    /// How many cells all searches look at in a frame, at least 1. Default 16,384.
    pub cells_per_frame: u32,
    /// On ground of more cells than this, fields cover only corridors to their goals. Default 262,144.
    pub whole_up_to: u32,
    /// Which bodies are obstacles. Default: static ones that are no sensors.
    pub obstacles: TestudoQueryFilter,
    /// Whether ground of a cost slows the units on it, to one part in so many of their speed. Default 0: it makes paths longer and nothing else.
    pub slow_ground: TestudoBool,
}
plain!(TestudoCrowdDef);

impl TestudoCrowdDef {
    /// The definition, its ranges not checked yet.
    pub(crate) fn def(&self) -> Outcome<CrowdDef> {
        let sizes = self.sizes.map(fx);
        let Some(sizes) = sizes.get(..self.size_count as usize) else {
            let words = format!("size_count must be 1..=4, not {}", self.size_count);
            return Err(Failure::new(TESTUDO_OUT_OF_RANGE, words));
        };
        let ground = GroundDef::new(self.area.into())
            .cell(fx(self.cell))
            .sizes(sizes)
            .obstacles(self.obstacles.into());
        Ok(CrowdDef::new(ground)
            .fields_max(self.fields_max)
            .cells_per_frame(self.cells_per_frame)
            .whole_up_to(self.whole_up_to)
            .slow_ground(self.slow_ground != 0))
    }

    /// What `CrowdDef::new` has for an area.
    const fn new(area: TestudoBox) -> Self {
        Self {
            area,
            cell: TESTUDO_ONE,
            sizes: [TESTUDO_ONE / 2, 0, 0, 0],
            size_count: 1,
            fields_max: 64,
            cells_per_frame: 16_384,
            whole_up_to: 1 << 18,
            obstacles: TestudoQueryFilter { kinematics: 0, dynamics: 0, ..query::DEFAULT },
            slow_ground: 0,
        }
    }
}

/// Fills in the defaults for an area.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_def_default(
    area: *const TestudoBox,
    out: *mut TestudoCrowdDef,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { write(out, TestudoCrowdDef::new(read(area, "area")?), "out") })
}

#[cfg(test)]
mod tests {
    use testudo_physics::{Aabb, Vec2};

    use super::*;

    #[test]
    fn defaults_are_those_of_the_movement() {
        let area = Aabb { min: Vec2::from_ints(-8, -8), max: Vec2::from_ints(8, 8) };
        let def = TestudoCrowdDef::new(area.into()).def().expect("a number of sizes in range");
        assert_eq!(def, CrowdDef::new(GroundDef::new(area)));
    }
}
