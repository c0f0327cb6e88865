//! What a crowd knows, for pictures that show a programmer what units are about.

use testudo_movement::MovementDraw;
use testudo_physics::{Aabb, BodyId, Fx, Vec2};

use super::{TestudoCrowd, Walkers};
use crate::failure::count;
use crate::handle::with;
use crate::pointer::{TestudoBool, fill};
use crate::value::{TestudoBody, TestudoBox, TestudoFx, TestudoVec2, id};

/// A cell of the ground that is closed, or has a cost other than 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoGroundCell {
    /// The cell, units.
    pub cell: TestudoBox,
    /// 0 for a closed cell.
    pub cost: u32,
}

/// Where a unit in the middle of a cell would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoFlowArrow {
    /// The middle of the cell.
    pub from: TestudoVec2,
    /// Where it would go straight.
    pub to: TestudoVec2,
    /// Length of its whole path, units.
    pub left: TestudoFx,
}

/// Where a unit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoUnitWay {
    /// The unit.
    pub unit: TestudoBody,
    /// Where it stands or wants to stand, units.
    pub post: TestudoVec2,
    /// Where it goes straight now, units; `post` if it does not go around anything.
    pub aim: TestudoVec2,
    /// Whether `aim` is another place than its post.
    pub has_aim: TestudoBool,
}

/// What a crowd has drawn.
#[derive(Default)]
struct Drawn {
    cells: Vec<TestudoGroundCell>,
    arrows: Vec<TestudoFlowArrow>,
    ways: Vec<TestudoUnitWay>,
}

impl MovementDraw for Drawn {
    fn cell(&mut self, cell: Aabb, cost: u8) {
        self.cells.push(TestudoGroundCell { cell: cell.into(), cost: cost.into() });
    }

    fn arrow(&mut self, from: Vec2, to: Vec2, left: Fx) {
        self.arrows.push(TestudoFlowArrow { from: from.into(), to: to.into(), left: left.to_bits() });
    }

    fn unit(&mut self, body: BodyId, post: Vec2, aim: Option<Vec2>) {
        self.ways.push(TestudoUnitWay {
            unit: body.to_bits(),
            post: post.into(),
            aim: aim.unwrap_or(post).into(),
            has_aim: aim.is_some().into(),
        });
    }
}

/// The cells that are closed to units of this radius (units), and those that cost more or less than 1. It looks at the whole ground: for pictures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_draw_ground(
    crowd: *const TestudoCrowd,
    radius: TestudoFx,
    out: *mut TestudoGroundCell,
    capacity: u32,
) -> i32 {
    let draw = |walkers: &mut Walkers| {
        let mut drawn = Drawn::default();
        walkers.crowd.draw_ground(walkers.size_of(radius)?, &mut drawn);
        // SAFETY: the contract of pointers.
        unsafe { fill(out, capacity, drawn.cells.into_iter()) }
    };
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(crowd, draw) })
}

/// Where the field leads that a unit follows, from every cell that it knows; none if it follows none: a unit that stands, pursues, or goes alone. It looks at
/// the whole ground: for pictures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_draw_flow(
    crowd: *const TestudoCrowd,
    unit: TestudoBody,
    out: *mut TestudoFlowArrow,
    capacity: u32,
) -> i32 {
    let draw = |walkers: &mut Walkers| {
        let mut drawn = Drawn::default();
        if let Some(flow) = walkers.crowd.flow_of(id(unit)) {
            walkers.crowd.draw_flow(flow, &mut drawn);
        }
        // SAFETY: the contract of pointers.
        unsafe { fill(out, capacity, drawn.arrows.into_iter()) }
    };
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(crowd, draw) })
}

/// All units with where they go, in ascending order of their bodies' slots.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_draw_units(
    crowd: *const TestudoCrowd,
    out: *mut TestudoUnitWay,
    capacity: u32,
) -> i32 {
    let draw = |walkers: &mut Walkers| {
        let mut drawn = Drawn::default();
        walkers.crowd.draw_units(&mut drawn);
        // SAFETY: the contract of pointers.
        unsafe { fill(out, capacity, drawn.ways.into_iter()) }
    };
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(crowd, draw) })
}
