//! Where units can go from one tile to the next.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::flow::tile::{FAR, SIDE, STRAIGHT, Tile};
use crate::ground::{Cell, Ground, SizeClass, TILE};

/// Length of a diagonal step over cost 1, in 1/256 of a cell.
const DIAGONAL: u32 = 362;

/// A length that is not known, or does not exist.
pub(crate) const NONE: u32 = u32::MAX;

/// A wide passage has a portal for so many cells.
const SPAN: i32 = 8;

/// Lengths in a tile above this may be cut off at 16 bits: the longest step is shorter than the difference.
const NEARLY_FAR: u16 = 59_000;

/// A step from a tile to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portal {
    /// The cell in this tile, and the one in the other tile.
    pub(crate) cell: Cell,
    pub(crate) beyond: Cell,
    /// The other tile.
    pub(crate) tile: u32,
    /// Length of the step, in 1/256 of a cell.
    pub(crate) across: u32,
}

/// The portals of a tile (Botea, Mueller and Schaeffer, "Near Optimal Hierarchical Path-Finding", 2004, where tiles are clusters): for each border, each
/// passage has one portal for every eight cells of its width. All open steps between two tiles belong to a passage, therefore units can get
/// from a tile to another exactly if portals and paths inside of tiles lead there.
pub(crate) fn portals(ground: &Ground, size: SizeClass, tile: u32) -> Vec<Portal> {
    let finder = Finder { ground, size };
    let [columns, rows] = ground.grid.tiles();
    let at = [tile as i32 % columns, tile as i32 / columns];
    let mut portals = Vec::new();
    for (step, (dx, dy)) in crate::ground::STEPS.into_iter().enumerate() {
        let other = [at[0] + dx, at[1] + dy];
        if !(0..columns).contains(&other[0]) || !(0..rows).contains(&other[1]) {
            continue;
        }
        // Both tiles see their border from the same side, and so find the same portals.
        let is_first = step < 4;
        let (first, step) = if is_first { (at, step) } else { (other, step - 4) };
        let mut found = Vec::new();
        match step {
            0 => finder.border(first, [0, 1], &mut found),
            2 => finder.border(first, [1, 0], &mut found),
            _ => finder.corner(first, step, &mut found),
        }
        let tile = (other[1] * columns + other[0]) as u32;
        portals.extend(found.into_iter().map(|(cell, beyond, across)| {
            let (cell, beyond) = if is_first { (cell, beyond) } else { (beyond, cell) };
            Portal { cell, beyond, tile, across }
        }));
    }
    portals
}

/// Finds the steps between two tiles: cell, cell beyond, length.
struct Finder<'a> {
    ground: &'a Ground,
    size: SizeClass,
}

impl Finder<'_> {
    fn is_open(&self, cell: Cell, step: usize) -> bool {
        self.ground.steps(cell, self.size) & 1 << step != 0
    }

    fn to(&self, cell: Cell, step: usize) -> Cell {
        cell.wrapping_add_signed(self.ground.grid.offsets()[step])
    }

    fn length(&self, cell: Cell, step: usize) -> u32 {
        let straight = if step.is_multiple_of(2) { u32::from(STRAIGHT) } else { DIAGONAL };
        straight * u32::from(self.ground.cost_of(self.to(cell, step)).max(1))
    }

    fn push(&self, cell: Cell, step: usize, found: &mut Vec<(Cell, Cell, u32)>) {
        found.push((cell, self.to(cell, step), self.length(cell, step)));
    }

    /// The border of a tile with the next one on the x axis (`along` is the y axis) or on the y axis.
    fn border(&self, tile: [i32; 2], along: [i32; 2], found: &mut Vec<(Cell, Cell, u32)>) {
        let last = tile.map(|at| at * TILE + TILE - 1);
        let low = tile.map(|at| at * TILE);
        let (start, side) = if along[1] == 1 { ([last[0], low[1]], 0) } else { ([low[0], last[1]], 1) };
        // The steps over the border, along it, and diagonally over it, forward and backward.
        let (over, on, ahead, back) = [(0, 2, 1, 7), (2, 0, 1, 3)][side];
        let cell = |i: i32| self.ground.grid.cell([start[0] + i * along[0], start[1] + i * along[1]]);
        let over_at = |i: i32| (0..TILE).contains(&i) && self.is_open(cell(i), over);
        let both = |i: i32| self.is_open(cell(i), on) && self.is_open(self.to(cell(i), over), on);
        let mut first = 0;
        for i in 0..TILE {
            if !over_at(i) {
                first = i + 1;
            } else if !over_at(i + 1) || !both(i) {
                let wide = i + 1 - first;
                let count = (wide + SPAN - 1) / SPAN;
                (0..count)
                    .for_each(|n| self.push(cell(first + (2 * n + 1) * wide / (2 * count)), over, found));
                first = i + 1;
            }
            // Diagonal steps that go where straight ones do not.
            if i + 1 < TILE {
                let (here, next) = (cell(i), cell(i + 1));
                let (beyond, beyond_next) = (self.to(here, over), self.to(next, over));
                let is_around =
                    over_at(i) && self.is_open(beyond, on) || self.is_open(here, on) && over_at(i + 1);
                if self.is_open(here, ahead) && !is_around {
                    self.push(here, ahead, found);
                }
                let back_on = on + 4;
                let is_around = over_at(i + 1) && self.is_open(beyond_next, back_on)
                    || self.is_open(next, back_on) && over_at(i);
                if self.is_open(next, back) && !is_around {
                    self.push(next, back, found);
                }
            }
        }
    }

    /// The corner of a tile with one that only touches it there.
    fn corner(&self, tile: [i32; 2], step: usize, found: &mut Vec<(Cell, Cell, u32)>) {
        let low = tile.map(|at| at * TILE);
        let column = if step == 1 { low[0] + TILE - 1 } else { low[0] };
        let cell = self.ground.grid.cell([column, low[1] + TILE - 1]);
        let side = if step == 1 { 0 } else { 4 };
        let is_around = self.is_open(cell, side) && self.is_open(self.to(cell, side), 2)
            || self.is_open(cell, 2) && self.is_open(self.to(cell, 2), side);
        if self.is_open(cell, step) && !is_around {
            self.push(cell, step, found);
        }
    }
}

/// Lengths of the paths inside of a tile from one of its cells to others, in 1/256 of a cell; [`NONE`] where no path leads.
pub(crate) fn lengths(
    ground: &Ground,
    size: SizeClass,
    (scratch, from): (&mut Tile, Cell),
    to: &mut dyn Iterator<Item = Cell>,
) -> Vec<u32> {
    let grid = &ground.grid;
    let place = |cell: Cell| grid.split(cell).map(|at| (at % TILE) as usize);
    let [x, y] = grid.split(from).map(|at| at / TILE * TILE);
    (0..SIDE + 2).for_each(|row| scratch.row_mut(row).fill(FAR));
    let [column, row] = place(from);
    scratch.row_mut(row + 1)[column + 1] = 0;
    scratch.put_ground(ground, size, (grid.cell([x, y]) - grid.stride().unsigned_abs() - 1) as usize);
    scratch.solve_alone();
    let is_cut =
        (1..=SIDE).any(|row| scratch.row(row).iter().any(|&length| (NEARLY_FAR..FAR).contains(&length)));
    let long = if is_cut { long_lengths(ground, size, from) } else { Vec::new() };
    to.map(|cell| {
        let [column, row] = place(cell);
        let length = scratch.row(row + 1)[column];
        match long.get(row * SIDE + column) {
            Some(&long) => long,
            None if length == FAR => NONE,
            None => length.into(),
        }
    })
    .collect()
}

/// The same for all cells of a tile with a path that is too long for 16 bits (Dijkstra).
fn long_lengths(ground: &Ground, size: SizeClass, from: Cell) -> Vec<u32> {
    let grid = &ground.grid;
    let tile = grid.tile(grid.split(from));
    let place = |cell: Cell| {
        let [x, y] = grid.split(cell).map(|at| (at % TILE) as usize);
        y * SIDE + x
    };
    let mut lengths = vec![NONE; SIDE * SIDE];
    lengths[place(from)] = 0;
    let mut queue = BinaryHeap::from([Reverse((0, from))]);
    while let Some(Reverse((length, cell))) = queue.pop() {
        if length > lengths[place(cell)] {
            continue;
        }
        let finder = Finder { ground, size };
        for step in (0..8).filter(|&step| finder.is_open(cell, step)) {
            let next = finder.to(cell, step);
            let there = length + finder.length(cell, step);
            if grid.tile(grid.split(next)) == tile && there < lengths[place(next)] {
                lengths[place(next)] = there;
                queue.push(Reverse((there, next)));
            }
        }
    }
    lengths
}
