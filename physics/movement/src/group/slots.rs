//! Places for the units of a group around their goal.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

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
    /// Rows across the facing, this many units in each (at least 1), the goal in the middle.
    Rows {
        /// Units in a row.
        files: u32,
    },
}

/// Places for `count` units of a size with `spacing` units between their middles, in the order of their distance from the goal: fewer if there is no room
/// within reach of the goal. On open ground they lie on a hexagonal lattice, or in the rows of the formation; between obstacles also
/// elsewhere.
#[must_use]
pub fn places(
    ground: &Ground,
    size: SizeClass,
    goal: Vec2,
    (formation, facing): (Formation, Angle),
    spacing: Fx,
    count: u32,
) -> Vec<Vec2> {
    let goal = ground.held_inside(goal);
    let Some(start) = ground.nearest_open_cell(goal, size) else { return Vec::new() };
    let goal = if start == ground.grid.cell_at(goal) { goal } else { ground.anchor(start) };
    let spacing = spacing.max(ground.radius(size)).max(Fx::from_bits(64)).min(EXTENT_MAX);
    let lattice = Lattice { goal, spacing, facing };
    let mut flood = Flood::new(ground, size, start);
    let mut found: Vec<(Fx, Vec2)> = Vec::new();
    let mut places: Vec<Vec2> = Vec::new();
    if let Formation::Rows { files } = formation {
        let wanted = lattice.rows(files.max(1), count);
        let stands = |at: &Vec2| ground.sees(goal, *at, size) && lattice.has_room(ground, size, *at);
        places.extend(wanted.into_iter().filter(stands));
        places.truncate(count as usize);
    }
    // A quarter more than needed: the flood's distances are up to a twelfth too long.
    let enough = (count as usize - places.len()) * 5 / 4 + 8;
    let mut cells = Vec::new();
    while places.len() < count as usize && found.len() < enough {
        let Some((length, cell)) = flood.next() else { break };
        cells.push(cell);
        lattice.each_in(ground, cell, |at| {
            let is_apart = places.iter().all(|place| place.distance(at) * 8 >= spacing * 7);
            if is_apart && lattice.has_room(ground, size, at) {
                let straight = at.distance(goal);
                let path = Fx::from_bits((i64::from(length) << ground.grid.shift) / i64::from(STRAIGHT));
                let is_straight = path <= straight * 9 / 8 + ground.cell() * 2;
                found.push((if is_straight { straight } else { path }, at));
            }
        });
    }
    // Of equally near ones first those on the side of `facing`, which turns and mirrors with the scene.
    let side = Vec2::from_angle(facing);
    let tie = |at: Vec2| (-(at - goal).dot(side), at.y, at.x);
    found.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| tie(a.1).cmp(&tie(b.1))));
    places.extend(found.into_iter().map(|(_, at)| at));
    places.truncate(count as usize);
    // Between obstacles, where no point of the lattice has room.
    for cell in cells {
        if places.len() >= count as usize {
            break;
        }
        let at = ground.anchor(cell);
        if places.iter().all(|place| place.distance(at) >= spacing) {
            places.push(at);
        }
    }
    places
}

/// The points where units may stand.
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

    /// Calls `each` for the points of the hexagonal lattice in a cell.
    fn each_in(&self, ground: &Ground, cell: Cell, mut each: impl FnMut(Vec2)) {
        let middle = ground.grid.middle(ground.grid.split(cell));
        let half = ground.cell() / 2;
        let (low, high) = (middle - self.goal, middle - self.goal);
        let first = |edge: Fx, pitch: Fx| (edge.to_bits() + pitch.to_bits() - 1).div_euclid(pitch.to_bits());
        let row = self.row();
        for y in first(low.y - half, row)..first(high.y + half, row) {
            let shift = if y & 1 == 0 { Fx::ZERO } else { self.spacing / 2 };
            for x in first(low.x - half - shift, self.spacing)..first(high.x + half - shift, self.spacing) {
                each(self.goal + Vec2::new(self.spacing * x + shift, row * y));
            }
        }
    }

    /// The places of rows: the first row leads, each row's middle first.
    fn rows(&self, files: u32, count: u32) -> Vec<Vec2> {
        let (ahead, ranks) = (Vec2::from_angle(self.facing), i64::from(count.div_ceil(files)));
        let left = ahead.perpendicular();
        let mut places = Vec::new();
        for rank in 0..ranks {
            let in_row = files.min(count - rank as u32 * files);
            // Twice the distance from the middle, in spacings.
            let depth = self.spacing * (ranks - 1 - 2 * rank) / 2;
            for file in 0..i64::from(in_row) {
                let aside = self.spacing * (i64::from(in_row) - 1 - 2 * file) / 2;
                places.push(
                    self.goal + Vec2::new(ahead.x * depth + left.x * aside, ahead.y * depth + left.y * aside),
                );
            }
        }
        places
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
