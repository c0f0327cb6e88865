//! What a view needs to see of the battle. Reading changes nothing.

use testudo_movement::MovementDraw;
use testudo_physics::{BodyId, BodyKind, Fx, Vec2};

use crate::building::BuildingKind;
use crate::field::{Field, SPACING};
use crate::kind::{Kind, Stats};
use crate::point::{Point, mean};
use crate::rock::Rock;
use crate::unit::{Deed, Foe, Stance, Task};
use crate::{Game, NO_UNIT, RESERVE_PER_UNIT};

/// A living unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitLook {
    /// Number in the match.
    pub number: u32,
    /// Number in its army.
    pub index: u32,
    /// Number of its army, from 0.
    pub army: u8,
    /// Whether it shoots; otherwise it is a guard.
    pub is_archer: bool,
    /// Its body in the world.
    pub body: BodyId,
    /// Hit points left, at least 1.
    pub hit_points: i32,
    /// Of its kind; each unit has up to a tenth more or less hit points at the start.
    pub stats: &'static Stats,
    /// Bit `n`: member of control group `n`.
    pub groups: u16,
    /// What it does about enemies in sight.
    pub stance: Stance,
    target: Option<Foe>,
}

/// A part of what a unit is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leg {
    /// Where it goes.
    pub place: Point,
    /// It attacks there, or on the way.
    pub attacks: bool,
}

/// An obstacle or a building.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the fields are what their names say")]
pub enum Scenery {
    /// Centre and half extents, raw.
    Rock { centre: Point, half: Point },
    /// As above; slows units.
    Wood { centre: Point, half: Point },
    /// As above; impassable.
    Water { centre: Point, half: Point },
    /// A standing building.
    Building(BuildingLook),
}

/// A standing building.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuildingLook {
    /// Number in the match, for orders to attack it.
    pub number: u32,
    /// Number of its army, from 0.
    pub army: u8,
    /// Whether its army falls with the last one of these; otherwise it is a barracks.
    pub is_keep: bool,
    /// Its centre, raw.
    pub centre: Point,
    /// Half extents, raw.
    pub half: Point,
    /// Hit points left, at least 1.
    pub hit_points: i32,
    /// At the start.
    pub hit_points_max: i32,
}

/// Where a flow field leads from each cell.
#[derive(Default)]
struct Arrows(Vec<(Point, Point)>);

impl MovementDraw for Arrows {
    fn arrow(&mut self, from: Vec2, to: Vec2, _: Fx) {
        self.0.push((Point::from_vec2(from), Point::from_vec2(to)));
    }
}

impl Game {
    /// All living units by army and number.
    pub fn unit_looks(&self) -> impl Iterator<Item = UnitLook> + '_ {
        (0..).zip(&self.units).filter_map(|(number, unit)| {
            Some(UnitLook {
                number,
                index: number % self.setup.units,
                army: unit.army,
                is_archer: unit.kind == Kind::Archer,
                body: unit.body?,
                hit_points: unit.hit_points,
                stats: unit.kind.stats(),
                groups: unit.groups,
                stance: unit.stance,
                target: unit.target,
            })
        })
    }

    /// Where a unit goes now, and where it goes afterwards.
    pub fn plan(&self, number: u32) -> impl Iterator<Item = Leg> + '_ {
        let unit = self.units.get(number as usize);
        let now = unit.and_then(|unit| {
            let attacks = !matches!(unit.task, Task::Hold | Task::March(_) | Task::Return(_));
            Some(Leg { place: unit.task.destination()?.place, attacks })
        });
        let later = unit.into_iter().flat_map(|unit| &unit.errands);
        let later =
            later.map(|errand| Leg { place: errand.destination.goal, attacks: errand.deed != Deed::March });
        now.into_iter().chain(later)
    }

    /// The body of the enemy that a unit fights, if that is within its range.
    pub fn struck_by(&self, look: &UnitLook) -> Option<BodyId> {
        let target = look.target.filter(|target| self.strikes(look.number, *target))?;
        self.foe_body(target)
    }

    /// Slot indices of the bodies of living units.
    pub fn unit_slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.units.iter().filter_map(|unit| Some(unit.body?.index()))
    }

    /// Half extents of the field, raw.
    pub fn field_half(&self) -> Point {
        self.field.half
    }

    /// Water and woods, then rocks, then buildings.
    pub fn scenery(&self) -> impl Iterator<Item = Scenery> + '_ {
        let Field { waters, woods, rocks, .. } = &self.field;
        let waters =
            waters.iter().map(|Rock { centre, half }| Scenery::Water { centre: *centre, half: *half });
        let woods = woods.iter().map(|Rock { centre, half }| Scenery::Wood { centre: *centre, half: *half });
        let rocks = rocks.iter().map(|Rock { centre, half }| Scenery::Rock { centre: *centre, half: *half });
        waters.chain(woods).chain(rocks).chain(self.building_looks().map(Scenery::Building))
    }

    /// Standing buildings in ascending order.
    pub fn building_looks(&self) -> impl Iterator<Item = BuildingLook> + '_ {
        let standing = (0..).zip(&self.buildings).filter(|(_, building)| building.stands());
        standing.map(|(number, building)| BuildingLook {
            number,
            army: building.army,
            is_keep: building.kind == BuildingKind::Keep,
            centre: building.ground.centre,
            half: building.ground.half,
            hit_points: building.hit_points,
            hit_points_max: building.kind.hit_points(self.setup.units),
        })
    }

    /// Bodies of the boulders.
    pub fn boulders(&self) -> impl Iterator<Item = BodyId> + '_ {
        let bodies =
            self.world.bodies().filter(|body| body.user() == NO_UNIT && body.kind() == BodyKind::Dynamic);
        bodies.map(|body| body.id())
    }

    /// Whether a unit can strike an enemy from its present position.
    fn strikes(&self, number: u32, foe: Foe) -> bool {
        let range = self.units[number as usize].kind.stats().range;
        self.place_of(number).is_some_and(|place| self.is_within(place, foe, range))
    }

    pub(super) fn foe_body(&self, foe: Foe) -> Option<BodyId> {
        match foe {
            Foe::Unit(number) => self.units.get(number as usize)?.body,
            Foe::Building(number) => self.buildings.get(number as usize)?.body,
        }
    }

    /// The starting position of an army.
    pub fn base(&self, army: u8) -> Option<Point> {
        self.field.bases.get(usize::from(army)).map(|base| base.centre)
    }

    /// Where an army's recruits gather.
    pub fn rally(&self, army: u8) -> Option<Point> {
        self.armies.get(usize::from(army)).filter(|army| !army.is_defeated).map(|army| army.rally)
    }

    /// Half the side of a full army's formation, raw.
    pub fn formation_half(&self) -> i32 {
        self.field.files as i32 * SPACING / 2
    }

    /// Enemies that an army has defeated, and units that it has lost.
    pub fn score(&self, army: u8) -> (u32, u32) {
        self.armies.get(usize::from(army)).map_or((0, 0), |army| (army.kills, army.losses))
    }

    /// Whether an army has lost all of its units and all recruits. Its buildings fall then; units that leave the field with a fallen keep are
    /// not among the lost.
    pub fn is_spent(&self, army: u8) -> bool {
        self.score(army).1 == self.setup.units.saturating_mul(1 + RESERVE_PER_UNIT)
    }

    /// What is left of an army's keep, in percent; 0 once it has fallen.
    pub fn keep_percent(&self, army: u8) -> i64 {
        let keep = self.building_looks().find(|look| look.is_keep && look.army == army);
        keep.map_or(0, |look| i64::from(look.hit_points.max(0)) * 100 / i64::from(look.hit_points_max))
    }

    /// Recruits that an army can still train.
    pub fn reserve(&self, army: u8) -> u32 {
        self.armies.get(usize::from(army)).map_or(0, |army| army.reserve)
    }

    /// Number of an army's living units, and the mean of their positions; none if no unit lives.
    pub fn middle(&self, army: u8) -> Option<(u32, Point)> {
        self.mean_place(self.numbers_of(army))
    }

    /// Positions of an army's living units, in ascending order of their numbers.
    pub(crate) fn places_of(&self, army: u8) -> impl Iterator<Item = Point> + '_ {
        self.numbers_of(army).filter_map(|unit| self.place_of(unit))
    }

    /// The flow fields, as arrows from every second cell: from where, to where.
    pub fn flows(&self) -> impl Iterator<Item = impl Iterator<Item = (Point, Point)>> + '_ {
        self.crowd.live_flows().map(|flow| {
            let mut arrows = Arrows::default();
            self.crowd.draw_flow(flow, &mut arrows);
            arrows.0.into_iter().step_by(2)
        })
    }

    /// Numbers of an army's units, alive or not; none for an army that does not exist.
    pub(super) fn numbers_of(&self, army: u8) -> core::ops::Range<u32> {
        if army >= self.setup.players {
            return 0..0;
        }
        let first = u32::from(army) * self.setup.units;
        first..first + self.setup.units
    }

    /// How many of these units live, and the mean of their positions.
    pub(super) fn mean_place(&self, units: impl Iterator<Item = u32>) -> Option<(u32, Point)> {
        mean(units.filter_map(|unit| self.place_of(unit)))
    }
}
