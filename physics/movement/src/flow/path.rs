//! One path from one place to another, without a field.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

use testudo_physics::math::isqrt_u64;
use testudo_physics::{Aabb, Fx, Vec2};

use crate::flow::way::to_units;
use crate::ground::{Cell, Ground, STEPS, SizeClass};

/// Corners of a path are at most so many cells from each other, on the axis on which it is more: so no cell costs a long look.
const LINE_MAX: i32 = 64;

/// The estimate of the way that is left is raised by one part in this many (weighted A*, Pohl, 1970), so that far fewer cells are looked at.
const HASTE: u32 = 32;

/// A place where a path turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner {
    /// The place.
    pub at: Vec2,
    /// Length of the path from here to its end, units. A step over ground of a cost counts so many times.
    pub left: Fx,
}

/// Why no path was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathError {
    /// No path leads there.
    Closed,
    /// The search took more cells than it may. A flow field finds such a path more cheaply.
    TooFar,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "no path leads there",
            Self::TooFar => "the path takes more cells than the search may look at",
        })
    }
}

impl core::error::Error for PathError {}

/// What a search knows of a cell.
#[derive(Clone, Copy, Debug)]
struct Visit {
    /// Length of the shortest path to it so far, in 1/256 of a cell.
    length: u32,
    /// The corner before it on this path.
    from: Cell,
    /// Whether its path is final.
    is_done: bool,
}

/// By cell: the number of the search that was here last, doubled, and one more if its path is final; then length and corner. (The system gives zeroed memory
/// for such numbers without writing it.)
type Visits = Vec<[u32; 3]>;

/// A search: from where to where, and who walks.
#[derive(Clone, Copy)]
struct Trip<'a> {
    ground: &'a Ground,
    start: Cell,
    /// Where it ends; if any cell near a box is as good, there is none before it was found.
    goal: Option<Cell>,
    /// The exact places, if their own cells are open.
    places: [Vec2; 2],
    /// What is ahead is at least the way to this box, less this distance (units).
    ahead: (Aabb, Fx),
    size: SizeClass,
    /// Columns and rows of its longest line.
    line_max: i32,
}

impl Trip<'_> {
    /// Where a path passes through a cell.
    fn place(&self, cell: Cell) -> Vec2 {
        self.place_at(cell, self.ground.grid.split(cell))
    }

    /// As [`Trip::place`]; the column and the row of the cell are known.
    fn place_at(&self, cell: Cell, at: [i32; 2]) -> Vec2 {
        match cell {
            cell if cell == self.start => self.places[0],
            cell if Some(cell) == self.goal => self.places[1],
            cell => self.ground.anchor_at(cell, at),
        }
    }

    /// A distance in 1/256 of a cell, rounded down.
    fn length(&self, from: Vec2, to: Vec2) -> u32 {
        // A ground is at most 2^31 raw units wide; a unit outside of it is no further away.
        let way = [to.x.saturating_sub(from.x), to.y.saturating_sub(from.y)];
        let square: u64 = way.map(|part| part.to_bits().unsigned_abs().min(1 << 31).pow(2)).iter().sum();
        ((isqrt_u64(square) << 8) >> self.ground.grid.shift) as u32
    }

    /// The least length from a place to the end, in 1/256 of a cell.
    fn ahead(&self, from: Vec2) -> u32 {
        let (area, within) = self.ahead;
        let to = Vec2::new(from.x.clamp(area.min.x, area.max.x), from.y.clamp(area.min.y, area.max.y));
        self.length(from, to).saturating_sub(((within.to_bits() << 8) >> self.ground.grid.shift) as u32)
    }

    /// Whether the straight line between two cells is open, and nothing between them is slow.
    fn is_line_open(&self, from: Cell, to: Cell) -> bool {
        self.ground.leads_level(self.place(from), self.place(to), self.size)
    }

    fn is_level(&self, cell: Cell) -> bool {
        self.ground.cost_of(cell) == 1
    }

    /// Length of the step to a neighbour. Those out of a slow cell take as many times as long, as in fields.
    fn step(&self, from: Cell, to: Cell) -> u32 {
        self.length(self.place(from), self.place(to)) * u32::from(self.ground.cost_of(from))
    }
}

/// Searches for single paths, and their memory (12 bytes per cell of the ground, once a path was looked for).
///
/// A* over the cells, with straight lines of any direction from corner to corner (Nash, Koenig and Tovey, "Lazy Theta*: Any-Angle Path Planning and Path
/// Length Analysis in 3D", 2010): a cell is offered the path of its neighbour without the last corner, and whether it sees the corner before is asked when
/// its turn comes. A path is a pure function of the ground, its ends and the size. A field ([`Flows`](super::Flows)) costs less as soon as several units go to
/// the same place.
///
/// ```
/// use testudo_movement::{Ground, GroundDef, PathSearch};
/// use testudo_physics::{Aabb, BodyDef, Fx, Shape, Vec2, World, WorldDef};
///
/// let mut world = World::new(WorldDef::new())?;
/// world.create_body(&BodyDef::static_body(Shape::rect(Fx::ONE, Fx::from_num(8))))?;
/// let area = Aabb::from_corners(Vec2::from_ints(-20, -20), Vec2::from_ints(20, 20));
/// let mut ground = Ground::new(&GroundDef::new(area))?;
/// ground.survey(&world);
/// let size = ground.size_of(Fx::ONE / 2).expect("the default size");
/// let mut paths = PathSearch::default();
/// let path = paths.find(&ground, [Vec2::from_ints(-10, 0), Vec2::from_ints(10, 0)], size, 4_096)?;
/// assert_eq!(path.len(), 4, "past two corners of the wall");
/// assert_eq!(path[0].left.round(), Fx::from_num(27), "{}", path[0].left);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PathSearch {
    visits: Visits,
    /// The number of the last search.
    search: u32,
    /// The least possible length of a path over a cell, what of it is ahead, and the cell.
    queue: BinaryHeap<Reverse<(u32, u32, Cell)>>,
    corners: Vec<Corner>,
    taken: u32,
    /// The least that may be ahead of a cell that the last search looked at, and this cell.
    nearest: (u32, Cell),
}

impl PathSearch {
    /// A path for units of a size that is hardly longer than the shortest one, as its corners: first the place where it starts, last the goal. A place in a
    /// closed cell counts as the nearest cell that is open, at most 32 cells away. The search looks at no more than `cells_max` cells.
    ///
    /// # Errors
    /// [`PathError`]: there is no path, or it takes more cells.
    pub fn find(
        &mut self,
        ground: &Ground,
        [from, to]: [Vec2; 2],
        size: SizeClass,
        cells_max: u32,
    ) -> Result<&[Corner], PathError> {
        self.find_lines(ground, [from, to], size, (cells_max, LINE_MAX))
    }

    /// As [`PathSearch::find`], with lines of at most so many cells; 0: from cell to neighbour.
    pub(crate) fn find_lines(
        &mut self,
        ground: &Ground,
        [from, to]: [Vec2; 2],
        size: SizeClass,
        (cells_max, line_max): (u32, i32),
    ) -> Result<&[Corner], PathError> {
        self.taken = 0;
        self.corners.clear();
        let open = |at: Vec2| ground.nearest_open_cell(at, size).ok_or(PathError::Closed);
        let [start, goal] = [open(from)?, open(to)?];
        let places = [place_in(ground, from, start), place_in(ground, to, goal)];
        let ahead = (Aabb { min: places[1], max: places[1] }, Fx::ZERO);
        let trip = Trip { ground, start, goal: Some(goal), places, ahead, size, line_max };
        self.search(trip, cells_max, |cell, _| cell == goal)?;
        self.note_corners(trip);
        Ok(&self.corners)
    }

    /// A path to the first place that is an end, of those that may be within a distance (units) of a box. [`PathSearch::corners`] are its corners.
    ///
    /// # Errors
    /// [`PathError`]: there is no path, or it takes more cells. The corners are those of a path to the nearest place to the box that the search saw. There are
    /// none if no cell near the start is open.
    pub(crate) fn find_near(
        &mut self,
        ground: &Ground,
        (from, ahead): (Vec2, (Aabb, Fx)),
        size: SizeClass,
        cells_max: u32,
        mut is_end: impl FnMut(Vec2) -> bool,
    ) -> Result<(), PathError> {
        self.taken = 0;
        self.corners.clear();
        let start = ground.nearest_open_cell(from, size).ok_or(PathError::Closed)?;
        let places = [place_in(ground, from, start); 2];
        let trip = Trip { ground, start, goal: None, places, ahead, size, line_max: LINE_MAX };
        let found = self.search(trip, cells_max, |_, place| is_end(place));
        let goal = found.unwrap_or(self.nearest.1);
        let places = [places[0], trip.place(goal)];
        self.note_corners(Trip { goal: Some(goal), places, ..trip });
        found.map(|_| ())
    }

    /// The corners of the last path.
    pub(crate) fn corners(&self) -> &[Corner] {
        &self.corners
    }

    /// How many cells the last search looked at.
    #[must_use]
    pub fn cells(&self) -> u32 {
        self.taken
    }

    /// The cell where a path ends.
    fn search(
        &mut self,
        trip: Trip<'_>,
        cells_max: u32,
        mut is_end: impl FnMut(Cell, Vec2) -> bool,
    ) -> Result<Cell, PathError> {
        let cells = trip.ground.grid.len() as usize;
        if self.visits.len() != cells || self.search == u32::MAX / 2 {
            self.visits = alloc::vec![[0; 3]; cells];
            self.search = 0;
        }
        self.search += 1;
        self.queue.clear();
        self.nearest = (u32::MAX, trip.start);
        self.offer(trip, (trip.start, trip.places[0], trip.start), 0);
        while let Some(Reverse((_, ahead, cell))) = self.queue.pop() {
            if self.visit(cell).is_none_or(|visit| visit.is_done) {
                continue;
            }
            if self.taken >= cells_max {
                return Err(PathError::TooFar);
            }
            self.taken += 1;
            let Some(visit) = self.settle(trip, cell) else { continue };
            if is_end(cell, trip.place(cell)) {
                return Ok(cell);
            }
            if ahead < self.nearest.0 {
                self.nearest = (ahead, cell);
            }
            self.expand(trip, cell, visit);
        }
        Err(PathError::Closed)
    }

    /// What this search knows of a cell.
    fn visit(&self, cell: Cell) -> Option<Visit> {
        let [mark, length, from] = self.visits[cell as usize];
        (mark >> 1 == self.search).then_some(Visit { length, from, is_done: mark & 1 == 1 })
    }

    fn set_visit(&mut self, cell: Cell, Visit { length, from, is_done }: Visit) {
        self.visits[cell as usize] = [self.search << 1 | u32::from(is_done), length, from];
    }

    /// Offers a path to a cell, over a corner. It is taken if no path is known that is as short.
    fn offer(&mut self, trip: Trip<'_>, (cell, place, from): (Cell, Vec2, Cell), length: u32) {
        if self.visit(cell).is_some_and(|visit| visit.length <= length) {
            return;
        }
        self.set_visit(cell, Visit { length, from, is_done: false });
        let ahead = trip.ahead(place);
        let ahead = ahead + ahead / HASTE;
        self.queue.push(Reverse((length.saturating_add(ahead), ahead, cell)));
    }

    /// Makes the path to a cell final. If the cell does not see the corner from which it was reached, its path comes from a neighbour.
    fn settle(&mut self, trip: Trip<'_>, cell: Cell) -> Option<Visit> {
        let mut visit = self.visit(cell)?;
        if visit.from != cell && !trip.is_line_open(visit.from, cell) {
            let offsets = trip.ground.grid.offsets();
            let paths = (0..8_usize).filter_map(|step| {
                let before = cell.wrapping_add_signed(-offsets[step]);
                let leads_here = trip.ground.steps(before, trip.size) >> step & 1 == 1;
                let known = self.visit(before).filter(|known| leads_here && known.is_done)?;
                Some((known.length.saturating_add(trip.step(before, cell)), before))
            });
            if let Some(best) = paths.min() {
                (visit.length, visit.from) = best;
            }
        }
        visit.is_done = true;
        self.set_visit(cell, visit);
        Some(visit)
    }

    /// Offers paths to the neighbours of a cell.
    fn expand(&mut self, trip: Trip<'_>, cell: Cell, Visit { length, from, .. }: Visit) {
        let ground = trip.ground;
        let to_corner = self.visit(from).map_or(length, |corner| corner.length);
        let [at, corner_at] = [cell, from].map(|cell| ground.grid.split(cell));
        let [here, corner] = [trip.place_at(cell, at), trip.place_at(from, corner_at)];
        let goes_on = trip.is_level(from) && trip.is_level(cell);
        let (steps, offsets) = (ground.steps(cell, trip.size), ground.grid.offsets());
        let cost = u32::from(ground.cost_of(cell));
        for (step, (x, y)) in STEPS.into_iter().enumerate() {
            let (next, next_at) = (cell.wrapping_add_signed(offsets[step]), [at[0] + x, at[1] + y]);
            if steps >> step & 1 == 0 || self.visit(next).is_some_and(|visit| visit.is_done) {
                continue;
            }
            let is_near = (0..2).all(|axis| (next_at[axis] - corner_at[axis]).abs() <= trip.line_max);
            let place = trip.place_at(next, next_at);
            if goes_on && is_near && trip.is_level(next) {
                let length = to_corner.saturating_add(trip.length(corner, place));
                self.offer(trip, (next, place, from), length);
            } else {
                let step = trip.length(here, place).saturating_mul(cost);
                self.offer(trip, (next, place, cell), length.saturating_add(step));
            }
        }
    }

    /// Notes the corners of the path that was found, at least its two ends.
    fn note_corners(&mut self, trip: Trip<'_>) {
        let [from, to] = trip.places;
        let goal = trip.goal.unwrap_or(trip.start);
        let whole = self.visit(goal).map_or(0, |visit| visit.length);
        self.corners.push(Corner { at: to, left: Fx::ZERO });
        let mut cell = goal;
        while cell != trip.start
            && let Some(Visit { from, .. }) = self.visit(cell)
        {
            let left = self.visit(from).map_or(0, |visit| whole - visit.length);
            self.corners.push(Corner { at: trip.place(from), left: to_units(trip.ground, left) });
            cell = from;
        }
        if trip.start == goal {
            self.corners.push(Corner { at: from, left: from.distance(to) });
        }
        self.corners.reverse();
    }
}

/// Where a path begins or ends in an open cell: at the place itself, if that is in it.
fn place_in(ground: &Ground, at: Vec2, cell: Cell) -> Vec2 {
    if ground.grid.cell_at(at) == cell { at } else { ground.anchor(cell) }
}
