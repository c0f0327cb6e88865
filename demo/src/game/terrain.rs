//! Where units can walk: the ground in square cells, each free or blocked by rocks and buildings.

use crate::game::field::Field;
use crate::game::kind::UNIT_RADIUS;
use crate::game::point::Point;
use crate::game::rock::Rock;

/// Side of the smallest cells: 2 units, 2^17 raw.
const CELL_SHIFT_MIN: u32 = 17;

/// Most cells along the longer side. Larger fields have larger cells. So the numbers of cells fit 16 bits, with one to spare.
const COLUMNS_MAX: i32 = 255;

/// Greatest number of rings around a cell that are searched for a free one.
const RINGS_MAX: i32 = 24;

/// One cell of the ground, row by row. Always below 2^16 - 1.
pub(crate) type Cell = u16;

/// The ground of one match while a certain set of buildings stands.
// not state: a pure function of the field and of the standing buildings
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Terrain {
    /// Half of the field's sides, raw.
    half: Point,
    /// Half of the sides of all cells together, raw: not less. The middle of the field is the middle of the cells, so they are the same
    /// for two armies that face each other.
    span: Point,
    /// Cells are 2^shift raw wide.
    shift: u32,
    columns: i32,
    rows: i32,
    blocked: Vec<bool>,
    /// Units are slow here.
    wooded: Vec<bool>,
    has_woods: bool,
}

impl Terrain {
    /// The ground of a field with all obstacles and these buildings. A cell is blocked if a unit cannot stand in its middle.
    pub(crate) fn new(field: &Field, buildings: impl Iterator<Item = Rock>) -> Self {
        let side = 2 * i64::from(field.half.x.max(field.half.y));
        let mut shift = CELL_SHIFT_MIN;
        let cells = |side: i64, shift: u32| ((side + (1 << shift) - 1) >> shift) as i32;
        while cells(side, shift) > COLUMNS_MAX {
            shift += 1;
        }
        let [columns, rows] =
            [field.half.x, field.half.y].map(|half| cells(2 * i64::from(half), shift).max(1));
        // At most 256 cells of 2^22.
        let span = Point { x: columns << (shift - 1), y: rows << (shift - 1) };
        let free = vec![false; (columns * rows) as usize];
        let mut terrain = Self {
            half: field.half,
            span,
            shift,
            columns,
            rows,
            blocked: free.clone(),
            wooded: free,
            has_woods: false,
        };
        // In large cells, a wall may lie between two middles.
        let margin = UNIT_RADIUS + ((1 << (shift - 1)) - (1 << (CELL_SHIFT_MIN - 1)));
        for rock in field.rocks.iter().chain(&field.waters).copied().chain(buildings) {
            terrain.each_middle(&rock, margin, |terrain, cell| terrain.blocked[cell] = true);
        }
        for wood in &field.woods {
            terrain.each_middle(wood, 0, |terrain, cell| terrain.wooded[cell] = true);
            terrain.has_woods = true;
        }
        terrain
    }

    /// The cells whose middles are less than `margin` (raw) from a rectangle on both axes.
    fn each_middle(&mut self, rock: &Rock, margin: i32, act: impl Fn(&mut Self, usize)) {
        let reach = Point { x: rock.half.x + margin, y: rock.half.y + margin };
        let low = self.coordinates(rock.centre.offset(-reach.x, -reach.y));
        let high = self.coordinates(rock.centre.offset(reach.x, reach.y));
        for y in low.1..=high.1 {
            for x in low.0..=high.0 {
                let middle = self.middle_of(x, y);
                let away = Point { x: middle.x - rock.centre.x, y: middle.y - rock.centre.y };
                if away.x.abs() < reach.x && away.y.abs() < reach.y {
                    act(self, (y * self.columns + x) as usize);
                }
            }
        }
    }

    /// Number of cells.
    pub(crate) fn cells(&self) -> u32 {
        (self.columns * self.rows).unsigned_abs()
    }

    /// The cell of a position; for a position outside of the field, the nearest cell.
    pub(crate) fn cell(&self, place: Point) -> Cell {
        let (x, y) = self.coordinates(place);
        (y * self.columns + x) as Cell
    }

    /// The middle of a cell.
    pub(crate) fn middle(&self, cell: Cell) -> Point {
        let (x, y) = self.split(cell);
        self.middle_of(x, y)
    }

    pub(crate) fn is_blocked(&self, cell: Cell) -> bool {
        self.blocked[usize::from(cell)]
    }

    pub(crate) fn has_woods(&self) -> bool {
        self.has_woods
    }

    pub(crate) fn is_wooded(&self, cell: Cell) -> bool {
        self.wooded[usize::from(cell)]
    }

    /// The position itself if a unit can stand there; else the middle of the nearest free cell (of equally near ones the one with the
    /// lowest number); the position itself if no cell nearby is free.
    pub(crate) fn nearest_free(&self, place: Point) -> Point {
        let (x, y) = self.coordinates(place);
        if !self.blocked[(y * self.columns + x) as usize] {
            return place;
        }
        let mut best: Option<(u64, Cell)> = None;
        for ring in 1..=RINGS_MAX {
            for cell in self.ring(x, y, ring).filter(|cell| !self.is_blocked(*cell)) {
                let candidate = (place.distance_squared(self.middle(cell)), cell);
                best = Some(best.map_or(candidate, |best| best.min(candidate)));
            }
            if let Some((_, cell)) = best {
                return self.middle(cell);
            }
        }
        place
    }

    /// Cells `ring` steps away from a cell, diagonal ones included, in ascending order of rows and columns.
    fn ring(&self, x: i32, y: i32, ring: i32) -> impl Iterator<Item = Cell> {
        let (columns, rows) = (self.columns, self.rows);
        (y - ring..=y + ring).filter(move |row| (0..rows).contains(row)).flat_map(move |row| {
            let step = if (row - y).abs() == ring { 1 } else { 2 * ring };
            (x - ring..=x + ring)
                .step_by(step as usize)
                .filter(move |column| (0..columns).contains(column))
                .map(move |column| (row * columns + column) as Cell)
        })
    }

    /// The free neighbours of a free cell, and whether the step is diagonal. Diagonal steps do not cut corners.
    pub(crate) fn neighbours(&self, cell: Cell) -> impl Iterator<Item = (Cell, bool)> + '_ {
        const STEPS: [(i32, i32); 8] = [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1)];
        let (x, y) = self.split(cell);
        STEPS.iter().filter_map(move |&(dx, dy)| {
            let is_diagonal = dx != 0 && dy != 0;
            let corner_is_free = !is_diagonal || (self.is_free(x + dx, y) && self.is_free(x, y + dy));
            (corner_is_free && self.is_free(x + dx, y + dy))
                .then(|| (((y + dy) * self.columns + x + dx) as Cell, is_diagonal))
        })
    }

    /// Ranks the steps from a cell to its neighbours for equally long paths to `goal`: first the one that leads least aside, of two such
    /// ones the one on the right. So two armies that face each other choose alike, and none has a shorter path because of cells' numbers.
    pub(crate) fn detour(&self, cell: Cell, step: Cell, goal: Cell) -> (u32, i32) {
        let [(x, y), (step_x, step_y), (goal_x, goal_y)] = [cell, step, goal].map(|cell| self.split(cell));
        // At most 255 cells in each direction.
        let aside = (goal_x - x) * (step_y - y) - (goal_y - y) * (step_x - x);
        (aside.unsigned_abs(), -aside)
    }

    /// Whether the straight line between the middles of two cells crosses free cells only. Where it passes through a corner, both cells
    /// beside the corner count.
    pub(crate) fn sees(&self, from: Cell, to: Cell) -> bool {
        self.is_straight(from, to, |_| true)
    }

    /// Like [`Self::sees`], and either all cells of the line are wooded or none, so that the straight path is the quickest.
    pub(crate) fn sees_evenly(&self, from: Cell, to: Cell) -> bool {
        let is_wooded = self.is_wooded(from);
        self.is_straight(from, to, |cell| self.wooded[cell] == is_wooded)
    }

    /// The last position on the straight line from a free position towards `to` that a unit can walk to; `to` itself if possible.
    pub(crate) fn towards(&self, from: Point, to: Point) -> Point {
        let here = self.cell(from);
        if self.sees(here, self.cell(to)) {
            return to;
        }
        // Steps of half a cell, from the far end.
        let steps = ((to.x - from.x).abs().max((to.y - from.y).abs()) >> (self.shift - 1)) + 1;
        let at = |step: i32| {
            let part = |from: i32, to: i32| {
                from + (i64::from(to - from) * i64::from(step) / i64::from(steps)) as i32
            };
            Point { x: part(from.x, to.x), y: part(from.y, to.y) }
        };
        (0..steps).rev().map(at).find(|place| self.sees(here, self.cell(*place))).unwrap_or(from)
    }

    fn is_straight(&self, from: Cell, to: Cell, suits: impl Fn(usize) -> bool) -> bool {
        let ((x, y), (to_x, to_y)) = (self.split(from), self.split(to));
        let (dx, dy) = ((to_x - x).abs(), (to_y - y).abs());
        // All cells of the line lie between the two, so they exist.
        let step_x = (to_x - x).signum() as isize;
        let step_y = (to_y - y).signum() as isize * self.columns as isize;
        let (mut at, to) = (from as isize, to as isize);
        let is_free = |at: isize| !self.blocked[at as usize];
        // Twice the cross product of the line and the path so far; positive: the next border is a vertical one.
        let mut side = dx - dy;
        while at != to {
            if side == 0 {
                if !is_free(at + step_x) || !is_free(at + step_y) {
                    return false;
                }
                at += step_x + step_y;
                side += 2 * (dx - dy);
            } else if side > 0 {
                at += step_x;
                side -= 2 * dy;
            } else {
                at += step_y;
                side += 2 * dx;
            }
            if !is_free(at) || !suits(at as usize) {
                return false;
            }
        }
        true
    }

    fn is_free(&self, x: i32, y: i32) -> bool {
        (0..self.columns).contains(&x)
            && (0..self.rows).contains(&y)
            && !self.blocked[(y * self.columns + x) as usize]
    }

    fn coordinates(&self, place: Point) -> (i32, i32) {
        let part = |part: i32, span: i32, cells: i32| {
            let cell = (i64::from(part) + i64::from(span)) >> self.shift;
            cell.clamp(0, i64::from(cells) - 1) as i32
        };
        (part(place.x, self.span.x, self.columns), part(place.y, self.span.y, self.rows))
    }

    fn split(&self, cell: Cell) -> (i32, i32) {
        (i32::from(cell) % self.columns, i32::from(cell) / self.columns)
    }

    fn middle_of(&self, x: i32, y: i32) -> Point {
        let part = |cell: i32, span: i32, half: i32| {
            let middle = (i64::from(cell) << self.shift) + (1 << (self.shift - 1)) - i64::from(span);
            // The outer cells may reach beyond the field.
            middle.clamp(-i64::from(half), half.into()) as i32
        };
        Point { x: part(x, self.span.x, self.half.x), y: part(y, self.span.y, self.half.y) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::game::point::UNIT;
    use crate::game::setup::{ARMIES_MAX, Setup, UNITS_MAX};

    /// A square of `half` units with these rocks, in whole units: centre and half extents.
    pub(crate) fn ground(half: i32, rocks: &[(i32, i32, i32, i32)]) -> Terrain {
        let mut field = Field::new(&Setup { players: 1, units: 1, seed: 1, map: None });
        field.half = Point::from_units(half, half);
        field.rocks = rocks
            .iter()
            .map(|&(x, y, dx, dy)| Rock { centre: Point::from_units(x, y), half: Point::from_units(dx, dy) })
            .collect();
        Terrain::new(&field, core::iter::empty())
    }

    #[test]
    fn cells_are_where_their_middles_are_and_fit_their_numbers() {
        for units in [1, 200, 5_000, UNITS_MAX] {
            for players in [1, 2, ARMIES_MAX] {
                let field = Field::new(&Setup { players, units, seed: 3, map: None });
                let terrain = Terrain::new(&field, core::iter::empty());
                assert!(terrain.cells() < u32::from(Cell::MAX), "{players} x {units}");
                for cell in 0..terrain.cells() as Cell {
                    assert_eq!(terrain.cell(terrain.middle(cell)), cell, "{players} x {units}");
                }
            }
        }
    }

    #[test]
    fn rocks_block_and_the_next_free_place_is_beside_them() {
        let terrain = ground(20, &[(0, 0, 3, 3)]);
        let inside = Point::from_units(2, 0);
        assert!(terrain.is_blocked(terrain.cell(inside)));
        let beside = terrain.nearest_free(inside);
        assert!(!terrain.is_blocked(terrain.cell(beside)));
        assert!(beside.distance_squared(inside) <= crate::game::point::squared(4 * UNIT), "{beside:?}");
        let free = Point { x: 9 * UNIT + 77, y: -5 };
        assert_eq!(terrain.nearest_free(free), free);
    }

    #[test]
    fn a_line_of_sight_is_the_same_in_both_directions_and_rocks_cut_it() {
        let terrain = ground(20, &[(0, 0, 3, 3), (8, 9, 1, 4)]);
        let (mut seen, mut hidden) = (0, 0);
        let free: Vec<Cell> =
            (0..terrain.cells() as Cell).filter(|cell| !terrain.is_blocked(*cell)).collect();
        for &a in free.iter().step_by(3) {
            for &b in &free {
                assert_eq!(terrain.sees(a, b), terrain.sees(b, a), "{a} {b}");
                if terrain.sees(a, b) { seen += 1 } else { hidden += 1 }
            }
        }
        assert!(seen > 1_000 && hidden > 1_000, "{seen} {hidden}");
        let [left, right] = [-9, 9].map(|x| terrain.cell(Point::from_units(x, 0)));
        assert!(!terrain.sees(left, right));
    }
}
