//! Where units can walk: the ground of the crowd, in the game's numbers.

use testudo_movement::{Crowd, CrowdDef, CrowdError, Ground, GroundDef, SizeClass};
use testudo_physics::{Aabb, World};

use crate::field::Field;
use crate::kind::UNIT_RADIUS;
use crate::march::raw;
use crate::point::{Point, UNIT};

/// Most cells along the longer side. Larger fields have larger cells.
const COLUMNS_MAX: i32 = 1_024;

/// Side of the largest cells, raw.
const CELL_MAX: i32 = 16 * UNIT;

/// All flow fields together cover about so many cells (four bytes each), but there are at least 64 of them, and at most 256.
const FIELD_CELLS: i32 = 1 << 24;
const FIELDS_MIN: u32 = 64;
const FIELDS_MAX: u32 = 256;

/// Units are this many times slower in a wood.
const WOOD: u8 = 2;

/// What a crowd on a field is made from.
pub(super) fn crowd_def(field: &Field) -> CrowdDef {
    let longest = field.half.x.max(field.half.y) / UNIT * 2;
    let mut cell = UNIT;
    while longest / (cell / UNIT) > COLUMNS_MAX && cell < CELL_MAX {
        cell *= 2;
    }
    // Whole cells around the middle of the field: so they are the same for two armies that face each other. A unit outside counts as in the nearest.
    let corner = [field.half.x, field.half.y].map(|half| (half / cell).max(1) * cell);
    let corner = Point { x: corner[0], y: corner[1] };
    let area = Aabb { min: Point { x: -corner.x, y: -corner.y }.to_vec2(), max: corner.to_vec2() };
    let cells = corner.x / cell * 2 * (corner.y / cell * 2);
    let fields = (FIELD_CELLS / cells).unsigned_abs().clamp(FIELDS_MIN, FIELDS_MAX);
    let ground = GroundDef::new(area).cell(raw(cell)).sizes(&[raw(UNIT_RADIUS)]);
    CrowdDef::new(ground).slow_ground(true).fields_max(fields)
}

/// Slows the units in a field's woods.
pub(super) fn plant(crowd: &mut Crowd, world: &World, field: &Field) -> Result<(), CrowdError> {
    for wood in &field.woods {
        let [low, high] = [-1, 1].map(|side| wood.centre.offset(side * wood.half.x, side * wood.half.y));
        crowd.set_cost(world, Aabb { min: low.to_vec2(), max: high.to_vec2() }, WOOD)?;
    }
    Ok(())
}

/// The walkable ground, as units see it. All units are of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terrain<'a>(pub(super) &'a Ground);

impl Terrain<'_> {
    fn size(self) -> Option<SizeClass> {
        self.0.size_of(raw(UNIT_RADIUS))
    }

    /// The position itself if a unit can stand there; else the nearest position where it can, at most 32 cells away.
    pub(super) fn nearest_open(self, place: Point) -> Option<Point> {
        let open = self.size().and_then(|size| self.0.nearest_open(place.to_vec2(), size));
        open.map(Point::from_vec2)
    }

    /// Whether a unit can stand at a position.
    pub(super) fn is_open(self, place: Point) -> bool {
        self.size().is_some_and(|size| self.0.is_open(place.to_vec2(), size))
    }

    /// As [`Terrain::nearest_open`]; the position itself if there is none nearby.
    pub(super) fn nearest_free(self, place: Point) -> Point {
        self.nearest_open(place).unwrap_or(place)
    }

    /// The last position on the straight line from a free position towards `to` that a unit can walk to; `to` itself if possible.
    pub(super) fn towards(self, from: Point, to: Point) -> Point {
        let last = self.size().map(|size| self.0.towards(from.to_vec2(), to.to_vec2(), size));
        last.map_or(from, Point::from_vec2)
    }

    /// Whether a unit can walk from one position straight to another.
    pub(super) fn sees(self, from: Point, to: Point) -> bool {
        self.size().is_some_and(|size| self.0.sees(from.to_vec2(), to.to_vec2(), size))
    }
}
