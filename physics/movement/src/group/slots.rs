//! Places for the units of a group around their goal.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

use testudo_physics::{Angle, EXTENT_MAX, Fx, Vec2};

use crate::flow::STRAIGHT;
use crate::ground::{Cell, Ground, SizeClass};

/// The shape of a group that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Formation {
    /// As close to the goal as there is room.
    #[default]
    Disc,
    /// Rows across the facing, this many units in each, the goal in the middle.
    Rows {
        /// Units in a row, at least 1.
        files: u32,
    },
}

impl Formation {
    pub(crate) fn validate(self) -> Result<(), PlacesError> {
        if let Self::Rows { files: 0 } = self { Err(PlacesError::Files) } else { Ok(()) }
    }
}

/// Why there are no places for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlacesError {
    /// A row has no units: [`Formation::Rows`] has at least one in each.
    Files,
    /// The distance between places is out of its range.
    Spacing {
        /// The value, units.
        value: Fx,
        /// The least distance: the radius of the units' size. The greatest is 4,096 units.
        min: Fx,
    },
}

impl fmt::Display for PlacesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files => write!(f, "a row of a formation must have at least one unit"),
            Self::Spacing { value, min } => {
                write!(f, "places must be {min} to {EXTENT_MAX} units apart, not {value}")
            }
        }
    }
}

impl core::error::Error for PlacesError {}

/// Places for `count` units of a size with `spacing` units between their middles, fewer if there is no room within reach of the goal. On open ground they lie
/// on a hexagonal lattice, or in the rows of the formation; between obstacles also elsewhere. Those of rows come first, row by row from the front, each from
/// left to right; then the others, in the order of their distance from the goal.
///
/// # Errors
/// [`PlacesError`]: a row without units, or a spacing that is below the radius of the size or above 4,096.
pub fn places(
    ground: &Ground,
    size: SizeClass,
    goal: Vec2,
    (formation, facing): (Formation, Angle),
    spacing: Fx,
    count: u32,
) -> Result<Vec<Vec2>, PlacesError> {
    formation.validate()?;
    let min = ground.radius(size);
    if !(min..=EXTENT_MAX).contains(&spacing) {
        return Err(PlacesError::Spacing { value: spacing, min });
    }
    let goal = ground.held_inside(goal);
    let Some(start) = ground.nearest_open_cell(goal, size) else { return Ok(Vec::new()) };
    let goal = if start == ground.grid.cell_at(goal) { goal } else { ground.anchor(start) };
    let lattice = Lattice { goal, spacing, facing };
    let mut flood = Flood::new(ground, size, start);
    let mut found: Vec<(Fx, Vec2)> = Vec::new();
    let mut places: Vec<Vec2> = Vec::new();
    if let Formation::Rows { files } = formation {
        let stands = |at: &Vec2| ground.sees(goal, *at, size) && lattice.has_room(ground, size, *at);
        places.extend(lattice.rows(files, count, ground.across()).filter(stands));
        places.truncate(count as usize);
    }
    // A quarter more than needed: the flood's distances are up to a twelfth too long.
    let enough = (count as usize - places.len()).saturating_mul(5) / 4 + 8;
    let mut taken = Taken::new(spacing, count);
    places.iter().for_each(|place| taken.add(*place));
    let mut cells = Vec::new();
    while places.len() < count as usize && found.len() < enough {
        let Some((length, cell)) = flood.next() else { break };
        cells.push(cell);
        lattice.each_in(ground, cell, |at| {
            if taken.is_apart(at, spacing * 7 / 8) && lattice.has_room(ground, size, at) {
                found.push((lattice.length_to(ground, at, length), at));
            }
        });
    }
    lattice.sort(&mut found);
    let rows = places.len();
    places.extend(found.into_iter().map(|(_, at)| at));
    places.truncate(count as usize);
    if places.len() < count as usize {
        places[rows..].iter().for_each(|place| taken.add(*place));
    }
    // Between obstacles, where no point of the lattice has room.
    for cell in cells {
        if places.len() >= count as usize {
            break;
        }
        let at = ground.anchor(cell);
        if taken.is_apart(at, spacing) {
            taken.add(at);
            places.push(at);
        }
    }
    Ok(places)
}

/// Which of `count` in a line, a spacing apart, are within reach of its middle.
fn within(count: i64, spacing: Fx, reach: Fx) -> core::ops::Range<i64> {
    let most = (reach / spacing).to_num::<i64>() + 1;
    ((count - 1) / 2 - most).max(0)..(count / 2 + most + 1).min(count)
}

/// A cell has so many points of the lattice in a row, and so many rows, at most.
const LINE_MAX: i64 = 256;

/// Of the points in a line those nearest to that of the goal, 0.
fn nearest(line: core::ops::Range<i64>) -> core::ops::Range<i64> {
    if line.end - line.start <= LINE_MAX {
        return line;
    }
    let start = (-LINE_MAX / 2).clamp(line.start, line.end - LINE_MAX);
    start..start + LINE_MAX
}

/// Hashes of squares at most, whatever number of places a game asks for.
const HASHES_MAX: u32 = 1 << 16;

/// Places that are taken, by squares of a side of one spacing, in lists that start at a hash of the square.
struct Taken {
    spacing: Fx,
    /// By hash: the last place there and one more, 0 for none.
    last: Vec<u32>,
    /// Each place, and which one of its list came before it.
    places: Vec<(Vec2, u32)>,
}

impl Taken {
    fn new(spacing: Fx, count: u32) -> Self {
        Self {
            spacing,
            last: vec![0; count.min(HASHES_MAX).next_power_of_two() as usize],
            places: Vec::new(),
        }
    }

    fn square(&self, at: Vec2) -> [i64; 2] {
        [at.x, at.y].map(|part| part.to_bits().div_euclid(self.spacing.to_bits()))
    }

    fn hash(&self, [x, y]: [i64; 2]) -> usize {
        let mixed = (x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663)) as u64;
        (mixed & (self.last.len() as u64 - 1)) as usize
    }

    fn add(&mut self, at: Vec2) {
        let hash = self.hash(self.square(at));
        self.places.push((at, self.last[hash]));
        self.last[hash] = self.places.len() as u32;
    }

    /// Whether all places are at least this far away, which is at most the spacing.
    fn is_apart(&self, at: Vec2, distance: Fx) -> bool {
        let [x, y] = self.square(at);
        let around = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| [x, y]));
        around.into_iter().all(|square| {
            let mut next = self.last[self.hash(square)];
            while let Some(&(place, before)) =
                (next as usize).checked_sub(1).and_then(|at| self.places.get(at))
            {
                if place.distance(at) < distance {
                    return false;
                }
                next = before;
            }
            true
        })
    }
}

/// The points where units may stand.
#[derive(Clone, Copy)]
struct Lattice {
    goal: Vec2,
    spacing: Fx,
    facing: Angle,
}

impl Lattice {
    /// Height of a row of the hexagonal lattice: sqrt(3)/2 of the spacing, rounded up.
    fn row(&self) -> Fx {
        self.spacing * 887 / 1_024
    }

    /// Calls `each` for the points of the hexagonal lattice in a cell. In one that is far larger than the units, for those nearest to the goal.
    fn each_in(&self, ground: &Ground, cell: Cell, mut each: impl FnMut(Vec2)) {
        let middle = ground.grid.middle(ground.grid.split(cell));
        let half = ground.cell() / 2;
        let (low, high) = (middle - self.goal, middle - self.goal);
        let first = |edge: Fx, pitch: Fx| (edge.to_bits() + pitch.to_bits() - 1).div_euclid(pitch.to_bits());
        let row = self.row();
        for y in nearest(first(low.y - half, row)..first(high.y + half, row)) {
            let shift = if y & 1 == 0 { Fx::ZERO } else { self.spacing / 2 };
            let (from, to) = (low.x - half - shift, high.x + half - shift);
            for x in nearest(first(from, self.spacing)..first(to, self.spacing)) {
                each(self.goal + Vec2::new(self.spacing * x + shift, row * y));
            }
        }
    }

    /// Length of the path to a point in a cell that the flood has reached over `length`, units: the straight line, unless the path is much longer.
    fn length_to(&self, ground: &Ground, at: Vec2, length: u32) -> Fx {
        let straight = at.distance(self.goal);
        let path = Fx::from_bits((i64::from(length) << ground.grid.shift) / i64::from(STRAIGHT));
        let is_straight = path <= straight * 9 / 8 + ground.cell() * 2;
        if is_straight { straight } else { path }
    }

    /// Sorts points by the lengths of the paths to them; of equally near ones first those on the side of `facing`, which turns and mirrors with the scene.
    fn sort(&self, found: &mut [(Fx, Vec2)]) {
        let side = Vec2::from_angle(self.facing);
        let tie = |at: Vec2| (-(at - self.goal).dot(side), at.y, at.x);
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| tie(a.1).cmp(&tie(b.1))));
    }

    /// The places of rows, the first row first, each from left to right. Those further from the goal than `reach` are left out.
    fn rows(self, files: u32, count: u32, reach: Fx) -> impl Iterator<Item = Vec2> {
        let (ahead, ranks) = (Vec2::from_angle(self.facing), i64::from(count.div_ceil(files)));
        let left = ahead.perpendicular();
        within(ranks, self.spacing, reach).flat_map(move |rank| {
            let in_row = i64::from(files).min(i64::from(count) - rank * i64::from(files));
            let depth = self.offset(ranks, rank);
            within(in_row, self.spacing, reach).map(move |file| {
                let aside = self.offset(in_row, file);
                self.goal + Vec2::new(ahead.x * depth + left.x * aside, ahead.y * depth + left.y * aside)
            })
        })
    }

    /// How far one of several in a line is from its middle.
    fn offset(self, count: i64, at: i64) -> Fx {
        // Twice the distance, in spacings.
        self.spacing * (count - 1 - 2 * at) / 2
    }

    /// Whether a unit has room at a point: in a cell with open ground all around it, or near the anchor of another open one.
    fn has_room(&self, ground: &Ground, size: SizeClass, at: Vec2) -> bool {
        let cell = ground.grid.cell_at(at);
        match ground.steps(cell, size) {
            0 => false,
            0xff => true,
            _ => at.distance(ground.anchor(cell)) * 4 <= ground.cell(),
        }
    }
}

/// Cells by the length of their paths from a start, nearest first (Dijkstra).
struct Flood<'a> {
    ground: &'a Ground,
    size: SizeClass,
    queue: BinaryHeap<Reverse<(u32, Cell)>>,
    is_done: Vec<bool>,
}

impl<'a> Flood<'a> {
    fn new(ground: &'a Ground, size: SizeClass, start: Cell) -> Self {
        let is_done = vec![false; ground.grid.len() as usize];
        Self { ground, size, queue: BinaryHeap::from([Reverse((0, start))]), is_done }
    }

    fn next(&mut self) -> Option<(u32, Cell)> {
        loop {
            let Reverse((length, cell)) = self.queue.pop()?;
            if core::mem::replace(&mut self.is_done[cell as usize], true) {
                continue;
            }
            let steps = self.ground.steps(cell, self.size);
            for (step, offset) in self.ground.grid.offsets().into_iter().enumerate() {
                let to = cell.wrapping_add_signed(offset);
                if steps & 1 << step != 0 && !self.is_done[to as usize] {
                    let way = if step % 2 == 0 { STRAIGHT } else { STRAIGHT * 181 / 128 };
                    self.queue.push(Reverse((length + way, to)));
                }
            }
            return Some((length, cell));
        }
    }
}

#[cfg(test)]
mod tests {
    use testudo_physics::{Aabb, Pcg32};

    use super::*;
    use crate::ground::GroundDef;

    #[test]
    fn whoever_asks_for_too_many_places_gets_those_that_there_are() {
        let area = Aabb::from_corners(Vec2::from_ints(-8, -8), Vec2::from_ints(8, 8));
        let ground = Ground::new(&GroundDef::new(area)).unwrap();
        let disc = (Formation::Disc, Angle::default());
        let count = |most: u32| places(&ground, SizeClass(0), Vec2::ZERO, disc, Fx::ONE, most).unwrap().len();
        let all = count(u32::MAX);
        assert!((200..300).contains(&all), "{all}");
        let counts = [0, 1, all as u32 - 1, all as u32, all as u32 + 1, HASHES_MAX + 1].map(count);
        assert_eq!(counts, [0, 1, all - 1, all, all, all]);
    }

    /// All the rows were listed before the ground was looked at: 64 GB.
    #[test]
    fn whoever_asks_for_too_many_rows_gets_those_that_there_are() {
        let area = Aabb::from_corners(Vec2::from_ints(-8, -8), Vec2::from_ints(8, 8));
        let ground = Ground::new(&GroundDef::new(area)).unwrap();
        for files in [1, 3, 1_000, u32::MAX] {
            let rows = (Formation::Rows { files }, Angle::from_turns(Fx::lit("0.1")));
            let count =
                |most: u32| places(&ground, SizeClass(0), Vec2::ZERO, rows, Fx::ONE, most).unwrap().len();
            let all = count(u32::MAX);
            assert!((200..300).contains(&all), "{all}");
            assert_eq!([0, 1, 100].map(count), [0, 1, 100]);
        }
    }

    /// All 61 million points of a cell were listed for two units: 1.5 GB.
    #[test]
    fn a_cell_far_larger_than_the_units_has_not_more_places_than_memory() {
        let area = Aabb::from_corners(Vec2::from_ints(-64, -64), Vec2::from_ints(64, 64));
        let (tiny, cell) = (Fx::ONE / 1_024, Fx::from_num(16));
        let ground = Ground::new(&GroundDef::new(area).cell(cell).sizes(&[tiny])).unwrap();
        for goal in [[5, 5], [-1, 15], [-40, 1]].map(|[x, y]| Vec2::from_ints(x, y)) {
            let lattice = Lattice { goal, spacing: tiny, facing: Angle::default() };
            for cell in 0..ground.grid.len() {
                let mut count = 0;
                lattice.each_in(&ground, cell as Cell, |_| count += 1);
                assert!(count <= LINE_MAX * LINE_MAX, "{count}");
            }
            let disc = (Formation::Disc, Angle::default());
            let found = places(&ground, SizeClass(0), goal, disc, tiny, 7).unwrap();
            assert_eq!(found.len(), 7);
            assert!(found.iter().all(|place| place.distance(goal) < tiny * 2), "{found:?}");
        }
    }

    #[test]
    fn taken_places_are_those_that_brute_force_finds() {
        let mut rng = Pcg32::new(7, 7);
        for spacing in [Fx::ONE / 16, Fx::ONE * 9 / 8, Fx::from_num(40)] {
            let (mut taken, mut places) = (Taken::new(spacing, 300), Vec::new());
            for _ in 0..300 {
                let mut part = || Fx::from_bits(i64::from(rng.below(20 << 16))) * spacing - spacing * 10;
                let at = Vec2::new(part(), part());
                for distance in [spacing, spacing * 7 / 8] {
                    let is_apart = places.iter().all(|place: &Vec2| place.distance(at) >= distance);
                    assert_eq!(taken.is_apart(at, distance), is_apart, "{at:?} {distance}");
                }
                taken.add(at);
                places.push(at);
            }
        }
    }
}
