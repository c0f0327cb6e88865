//! The cells from which a goal is in sight.

use alloc::vec::Vec;

use testudo_physics::math::isqrt_u64;

use crate::ground::{Cell, CellRect, Ground, SizeClass};

/// Columns and rows that a goal is seen from. Paths from further away are as good as straight, because the distances grow from all these cells.
pub(crate) const SIGHT_MAX: i32 = 88;

/// One row of cells in view: its distance from the goal, and the slopes of both edges of the view as fractions.
type Row = (i32, [i32; 2], [i32; 2]);

/// The four directions in which rows lie: along a row, and from row to row.
const QUARTERS: [([i32; 2], [i32; 2]); 4] =
    [([0, 1], [1, 0]), ([0, 1], [-1, 0]), ([1, 0], [0, 1]), ([1, 0], [0, -1])];

/// By column and row from the goal: the distance in 1/256 of a cell, rounded down.
static DISTANCES: [[u16; SIGHT_MAX as usize + 1]; SIGHT_MAX as usize + 1] = {
    let mut distances = [[0; SIGHT_MAX as usize + 1]; SIGHT_MAX as usize + 1];
    let mut at = 0;
    while at < distances.len() * distances.len() {
        let (x, y) = (at % distances.len(), at / distances.len());
        distances[y][x] = isqrt_u64(((x * x + y * y) as u64) << 16) as u16;
        at += 1;
    }
    distances
};

/// The distance in a straight line from a cell in sight to its goal.
pub(crate) fn straight(ground: &Ground, goal: Cell, cell: Cell) -> u32 {
    let (from, to) = (ground.grid.split(goal), ground.grid.split(cell));
    let [x, y] = [0, 1].map(|axis| from[axis].abs_diff(to[axis]) as usize);
    DISTANCES[y][x].into()
}

/// Calls `see` with every cell with a free line to the goal, the goal itself left out, and its distance; returns the box around all cells that were
/// looked at. Only cells of cost 1 with all eight steps open let the line through.
///
/// Symmetric shadow casting after Albert Ford (2017, public domain), with exact fractions: a cell is seen if the line from middle to middle is
/// free.
pub(crate) fn look(ground: &Ground, goal: Cell, size: SizeClass, mut see: impl FnMut(Cell, u32)) -> CellRect {
    let (steps, costs) = (ground.all_steps(size), ground.all_costs());
    let centre = ground.grid.split(goal);
    let whole = ground.grid.whole();
    let mut looked = CellRect { min: centre, max: centre };
    let mut rows: Vec<Row> = Vec::new();
    for (along, ahead) in QUARTERS {
        rows.push((1, [-1, 1], [1, 1]));
        while let Some((depth, mut start, end)) = rows.pop() {
            if depth > SIGHT_MAX {
                continue;
            }
            // The first column whose middle half is at the slope or after it, and the last one before the other slope.
            let first = (2 * depth * start[0] + start[1]).div_euclid(2 * start[1]);
            let last = -(-2 * depth * end[0] + end[1]).div_euclid(2 * end[1]);
            let mut was_free = None;
            for column in [first, last] {
                let at = [0, 1].map(|axis| centre[axis] + column * along[axis] + depth * ahead[axis]);
                let inside = [0, 1].map(|axis| at[axis].clamp(whole.min[axis], whole.max[axis]));
                looked = CellRect::with(Some(looked), inside);
            }
            for column in first..=last {
                let away = [0, 1].map(|axis| column * along[axis] + depth * ahead[axis]);
                let at = [0, 1].map(|axis| centre[axis] + away[axis]);
                let is_inside = whole.contains(at);
                let cell = if is_inside { ground.grid.cell(at) } else { goal };
                let is_free = is_inside && steps[cell as usize] == 0xff && costs[cell as usize] == 1;
                let is_in_view = column * start[1] >= depth * start[0] && column * end[1] <= depth * end[0];
                if is_free && is_in_view {
                    let [x, y] = away.map(|part| part.unsigned_abs() as usize);
                    see(cell, DISTANCES[y][x].into());
                }
                let edge = [2 * column - 1, 2 * depth];
                match (was_free, is_free) {
                    (Some(false), true) => start = edge,
                    (Some(true), false) => rows.push((depth + 1, start, edge)),
                    _ => {}
                }
                was_free = Some(is_free);
            }
            if was_free == Some(true) {
                rows.push((depth + 1, start, end));
            }
        }
    }
    looked
}
