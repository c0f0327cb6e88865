//! What a view needs to see of the battle. Reading it changes nothing.

use testudo_physics::{BodyId, BodyKind};

use crate::game::field::KEEP_HALF;
use crate::game::point::Point;
use crate::game::unit::Kind;
use crate::game::{Game, NO_UNIT};

/// A living unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnitLook {
    /// Number in its army.
    pub(crate) index: u32,
    pub(crate) army: u8,
    pub(crate) is_archer: bool,
    pub(crate) body: BodyId,
    pub(crate) hit_points: i32,
    /// Bit `n`: member of control group `n`.
    pub(crate) groups: u16,
    /// Body of the enemy that it fights, if that is within its range.
    pub(crate) strikes: Option<BodyId>,
}

/// Something that stands or lies around.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scenery {
    /// Centre and half extents, raw.
    Rock { centre: Point, half: Point },
    /// An army's keep.
    Keep { army: u8, centre: Point, half: Point },
}

impl Game {
    /// All living units by army and number.
    pub(crate) fn unit_looks(&self) -> impl Iterator<Item = UnitLook> + '_ {
        self.units.iter().enumerate().filter_map(|(number, unit)| {
            let target = unit.target.filter(|target| self.in_range(number as u32, *target));
            Some(UnitLook {
                index: number as u32 % self.setup.units,
                army: unit.army,
                is_archer: unit.kind == Kind::Archer,
                body: unit.body?,
                hit_points: unit.hit_points,
                groups: unit.groups,
                strikes: target.and_then(|target| self.units.get(target as usize)?.body),
            })
        })
    }

    /// Slot indices of the bodies of living units.
    pub(crate) fn unit_slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.units.iter().filter_map(|unit| Some(unit.body?.index()))
    }

    /// Half of the side of the square field, raw.
    pub(crate) fn field_half(&self) -> i32 {
        self.field.half
    }

    /// Rocks and keeps.
    pub(crate) fn scenery(&self) -> impl Iterator<Item = Scenery> + '_ {
        let rocks =
            self.field.rocks.iter().map(|rock| Scenery::Rock { centre: rock.centre, half: rock.half });
        let half = Point { x: KEEP_HALF, y: KEEP_HALF };
        let keeps = self.field.bases.iter().enumerate();
        rocks.chain(keeps.map(move |(army, base)| Scenery::Keep {
            army: army as u8,
            centre: base.keep,
            half,
        }))
    }

    /// Bodies of the boulders.
    pub(crate) fn boulders(&self) -> impl Iterator<Item = BodyId> + '_ {
        let bodies =
            self.world.bodies().filter(|body| body.user() == NO_UNIT && body.kind() == BodyKind::Dynamic);
        bodies.map(|body| body.id())
    }
}
