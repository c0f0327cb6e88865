//! The geometry of the grid: positions, cells, and steps between cells.

use testudo_physics::{Fx, Vec2};

/// The eight steps to neighbours, counter-clockwise from the x axis. Step `n` and step `n + 4` are opposite; odd ones are diagonal.
pub(crate) const STEPS: [(i32, i32); 8] =
    [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];

/// Columns and rows of a tile, a power of two: fields are searched tile by tile. The cells of the last tiles that are not inside the area are closed.
pub(crate) const TILE: i32 = 32;

/// One cell, row by row from the lower left one. The grid has a frame of closed cells, so every cell inside has eight neighbours.
pub(crate) type Cell = u32;

/// A rectangle of cells inside the frame, both ends included. Columns and rows count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellRect {
    pub(crate) min: [i32; 2],
    pub(crate) max: [i32; 2],
}

impl CellRect {
    /// The smallest rectangle with this one and a cell.
    pub(crate) fn with(rect: Option<Self>, at: [i32; 2]) -> Self {
        let Some(Self { min, max }) = rect else { return Self { min: at, max: at } };
        Self { min: [min[0].min(at[0]), min[1].min(at[1])], max: [max[0].max(at[0]), max[1].max(at[1])] }
    }

    /// This rectangle and `by` more cells on each side.
    pub(crate) fn grown(&self, by: i32) -> Self {
        Self { min: self.min.map(|c| c - by), max: self.max.map(|c| c + by) }
    }

    /// Its columns and rows.
    pub(crate) fn size(&self) -> [i32; 2] {
        [0, 1].map(|axis| (self.max[axis] - self.min[axis] + 1).max(0))
    }

    /// Every cell, row by row.
    pub(crate) fn cells(self) -> impl Iterator<Item = [i32; 2]> {
        (self.min[1]..=self.max[1]).flat_map(move |y| (self.min[0]..=self.max[0]).map(move |x| [x, y]))
    }

    pub(crate) fn contains(&self, at: [i32; 2]) -> bool {
        (0..2).all(|axis| (self.min[axis]..=self.max[axis]).contains(&at[axis]))
    }
}

/// Square cells over an area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Lower left corner, raw units.
    pub(crate) min: [i64; 2],
    /// Cells are `2^shift` raw units wide.
    pub(crate) shift: u32,
    pub(crate) columns: i32,
    pub(crate) rows: i32,
    /// Cells from one row to the next.
    stride: i32,
}

impl Grid {
    pub(crate) fn new(min: [i64; 2], shift: u32, [columns, rows]: [i32; 2]) -> Self {
        let mut grid = Self { min, shift, columns, rows, stride: 0 };
        grid.stride = grid.tiles()[0] * TILE + 2;
        grid
    }

    /// Number of cells, the frame and the rest of the last tiles included.
    pub(crate) fn len(&self) -> u32 {
        self.stride.unsigned_abs() * (self.tiles()[1] * TILE + 2).unsigned_abs()
    }

    /// Cells from one row to the next.
    #[inline]
    pub(crate) fn stride(&self) -> i32 {
        self.stride
    }

    /// Columns and rows of tiles.
    pub(crate) fn tiles(&self) -> [i32; 2] {
        [self.columns, self.rows].map(|count| (count + TILE - 1) / TILE)
    }

    /// The tile of a column and a row inside the frame.
    pub(crate) fn tile(&self, [x, y]: [i32; 2]) -> u32 {
        (y / TILE * self.tiles()[0] + x / TILE).unsigned_abs()
    }

    /// What the eight steps add to a cell.
    pub(crate) fn offsets(&self) -> [i32; 8] {
        STEPS.map(|(x, y)| y * self.stride() + x)
    }

    /// Side of a cell, raw units.
    pub(crate) fn side(&self) -> i64 {
        1 << self.shift
    }

    /// All cells inside the frame.
    pub(crate) fn whole(&self) -> CellRect {
        CellRect { min: [0, 0], max: [self.columns - 1, self.rows - 1] }
    }

    /// The cell in a column and a row inside the frame.
    #[inline]
    pub(crate) fn cell(&self, [x, y]: [i32; 2]) -> Cell {
        ((y + 1) * self.stride() + x + 1).unsigned_abs()
    }

    /// Column and row of a cell; -1 and one too many for cells of the frame.
    pub(crate) fn split(&self, cell: Cell) -> [i32; 2] {
        let stride = self.stride().unsigned_abs();
        [(cell % stride) as i32 - 1, (cell / stride) as i32 - 1]
    }

    /// Column and row of a position; for one outside of the area, those of the nearest cell.
    #[inline]
    pub(crate) fn place(&self, position: Vec2) -> [i32; 2] {
        let [x, y] = [position.x, position.y].map(Fx::to_bits);
        // Positions are at most 2^31 raw units from each other.
        let part = |at: i64, min: i64, count: i32| {
            (at.saturating_sub(min) >> self.shift).clamp(0, i64::from(count) - 1) as i32
        };
        [part(x, self.min[0], self.columns), part(y, self.min[1], self.rows)]
    }

    /// The cell of a position; for one outside of the area, the nearest cell.
    pub(crate) fn cell_at(&self, position: Vec2) -> Cell {
        self.cell(self.place(position))
    }

    /// The middle of a cell.
    pub(crate) fn middle(&self, [x, y]: [i32; 2]) -> Vec2 {
        let part = |at: i32, min: i64| min + (i64::from(at) << self.shift) + (1 << (self.shift - 1));
        Vec2::new(Fx::from_bits(part(x, self.min[0])), Fx::from_bits(part(y, self.min[1])))
    }

    /// The cells of a rectangle that exist.
    pub(crate) fn clip(&self, rect: CellRect) -> CellRect {
        CellRect {
            min: rect.min.map(|c| c.max(0)),
            max: [rect.max[0].min(self.columns - 1), rect.max[1].min(self.rows - 1)],
        }
    }
}
