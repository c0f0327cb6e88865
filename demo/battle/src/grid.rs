//! Finds nearby units: a uniform grid of the living units, filled again in every frame.

use crate::point::{Point, squared};

/// Side of a cell: 4 units, 2^18 raw.
const CELL_SHIFT: u32 = 18;

/// Side of a block of cells: 16 units, 2^20 raw. Queries up to this radius ask the blocks first.
const BLOCK_SHIFT: u32 = 20;

/// A block is 2^shift cells wide.
const BLOCK_CELLS_SHIFT: u32 = BLOCK_SHIFT - CELL_SHIFT;

/// One unit in the grid.
#[derive(Clone, Copy, Debug)]
struct Resident {
    place: Point,
    unit: u32,
    army: u8,
}

/// The layout of cells or of blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    /// Half extents of the field, raw.
    half: Point,
    /// Cells are 2^shift raw wide.
    shift: u32,
    columns: i32,
    rows: i32,
}

impl Extent {
    fn new(half: Point, shift: u32) -> Self {
        let [columns, rows] = [half.x, half.y].map(|half| ((2 * i64::from(half)) >> shift) as i32 + 1);
        Self { half, shift, columns, rows }
    }

    fn cells(&self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// Column and row of the cell at a position.
    #[inline(always)]
    fn coordinates(&self, place: Point) -> (i32, i32) {
        let part = |part: i32, half: i32, cells: i32| {
            // At most 2^31 - 1: a field is at most 2^31 wide, without its last raw unit.
            let cell = part.max(-half).min(half).saturating_add(half) >> self.shift;
            cell.min(cells - 1)
        };
        (part(place.x, self.half.x, self.columns), part(place.y, self.half.y, self.rows))
    }

    #[inline(always)]
    fn cell(&self, place: Point) -> usize {
        let (column, row) = self.coordinates(place);
        (row * self.columns + column) as usize
    }
}

/// Units by cell, in ascending order within each.
// not state: a pure function of the units' positions, filled again in every frame
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    extent: Extent,
    /// Where each cell begins in `residents`; one element more than cells.
    starts: Vec<u32>,
    /// Bit `n`: army `n` is in the cell.
    armies: Vec<u16>,
    residents: Vec<Resident>,
    arrivals: Vec<Resident>,
    /// By arrival.
    cells: Vec<u32>,
    blocks: Extent,
    /// By block of cells, bit `n`: army `n` is in it.
    in_block: Vec<u16>,
    /// By block, bit `n`: army `n` is in it or in one of its eight neighbours.
    near_block: Vec<u16>,
}

impl Grid {
    /// An empty grid for places within +-`half`.
    pub(crate) fn new(half: Point) -> Self {
        let extent = Extent::new(half, CELL_SHIFT);
        let blocks = Extent::new(half, BLOCK_SHIFT);
        Self {
            extent,
            starts: vec![0; extent.cells() + 1],
            armies: vec![0; extent.cells()],
            blocks,
            in_block: vec![0; blocks.cells()],
            near_block: vec![0; blocks.cells()],
            ..Self::default()
        }
    }

    /// Empties the grid for a new frame.
    pub(crate) fn clear(&mut self) {
        self.arrivals.clear();
        self.cells.clear();
    }

    /// Adds a unit; units come in ascending order.
    pub(crate) fn add(&mut self, unit: u32, army: u8, place: Point) {
        self.arrivals.push(Resident { place, unit, army });
        self.cells.push(self.extent.cell(place) as u32);
    }

    /// Sorts the units into cells (a stable counting sort).
    pub(crate) fn settle(&mut self) {
        self.starts.fill(0);
        self.armies.fill(0);
        self.residents.clear();
        for (&cell, resident) in self.cells.iter().zip(&self.arrivals) {
            self.starts[cell as usize] += 1;
            self.armies[cell as usize] |= 1 << resident.army;
        }
        self.settle_blocks();
        let Some(&first) = self.arrivals.first() else { return };
        // Ends of the cells; filling from the back turns them into starts.
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.residents.resize(self.arrivals.len(), first);
        for (&cell, resident) in self.cells.iter().zip(&self.arrivals).rev() {
            let start = &mut self.starts[cell as usize];
            *start -= 1;
            self.residents[*start as usize] = *resident;
        }
    }

    /// Which armies are in each block and around it, from the cells.
    fn settle_blocks(&mut self) {
        self.in_block.fill(0);
        self.near_block.fill(0);
        let columns = self.extent.columns as usize;
        let [block_columns, block_rows] = [self.blocks.columns, self.blocks.rows].map(|count| count as usize);
        for (row, cells) in self.armies.chunks_exact(columns).enumerate() {
            let first = (row >> BLOCK_CELLS_SHIFT) * block_columns;
            for (column, armies) in cells.iter().enumerate() {
                self.in_block[first + (column >> BLOCK_CELLS_SHIFT)] |= armies;
            }
        }
        for (row, blocks) in self.in_block.chunks_exact(block_columns).enumerate() {
            for (column, &armies) in blocks.iter().enumerate().filter(|(_, armies)| **armies != 0) {
                for y in row.saturating_sub(1)..=(row + 1).min(block_rows - 1) {
                    for x in column.saturating_sub(1)..=(column + 1).min(block_columns - 1) {
                        self.near_block[y * block_columns + x] |= armies;
                    }
                }
            }
        }
    }

    /// Whether a unit of an enemy is within `radius` (raw, at most 2^30). Bit `n` of `foes`: army `n` is an enemy. Where all are far away, that
    /// costs little.
    pub(crate) fn is_enemy_within(&self, from: Point, foes: u16, radius: i32) -> bool {
        let low = self.blocks.coordinates(from.offset(-radius, -radius));
        let high = self.blocks.coordinates(from.offset(radius, radius));
        let is_near = (low.1..=high.1).any(|y| {
            let row = (y * self.blocks.columns) as usize;
            self.in_block[row + low.0 as usize..=row + high.0 as usize]
                .iter()
                .any(|armies| armies & foes != 0)
        });
        is_near && self.nearest_enemy(from, foes, radius).is_some()
    }

    /// The nearest unit of an enemy within `radius` (raw, at most 2^30); of equally near ones the one with the lowest number. Bit `n` of `foes`:
    /// army `n` is an enemy.
    pub(crate) fn nearest_enemy(&self, from: Point, foes: u16, radius: i32) -> Option<u32> {
        if radius <= 1 << BLOCK_SHIFT && self.near_block[self.blocks.cell(from)] & foes == 0 {
            return None;
        }
        let Extent { columns, rows, .. } = self.extent;
        let (column, row) = self.extent.coordinates(from);
        let mut best: Option<(u64, u32)> = None;
        let mut reach = squared(radius);
        for ring in 0..=(radius >> CELL_SHIFT) + 1 {
            // Units beyond this ring are further away than its inner cells are wide.
            if let Some((distance, _)) = best
                && distance < squared((ring - 1).max(0) << CELL_SHIFT)
            {
                break;
            }
            for y in (row - ring).max(0)..=(row + ring).min(rows - 1) {
                let whole_row = (y - row).abs() == ring;
                let step = if whole_row { 1 } else { 2 * ring };
                let mut x = column - ring;
                while x <= column + ring {
                    if (0..columns).contains(&x) {
                        let cell = (y * columns + x) as usize;
                        if self.armies[cell] & foes != 0 {
                            self.scan(cell, foes, from, &mut reach, &mut best);
                        }
                    }
                    x += step.max(1);
                }
            }
        }
        best.map(|(_, unit)| unit)
    }

    fn scan(&self, cell: usize, foes: u16, from: Point, reach: &mut u64, best: &mut Option<(u64, u32)>) {
        let residents = self.starts[cell] as usize..self.starts[cell + 1] as usize;
        for resident in self.residents[residents].iter().filter(|resident| foes >> resident.army & 1 == 1) {
            let candidate = (from.distance_squared(resident.place), resident.unit);
            if candidate.0 <= *reach && best.is_none_or(|best| candidate < best) {
                *best = Some(candidate);
                *reach = candidate.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use crate::point::UNIT;

    /// The same search over all units, without a grid.
    fn nearest_by_hand(units: &[(u8, Point)], from: Point, army: u8, radius: i32) -> Option<u32> {
        let near = |(unit, &(other, place)): (usize, &(u8, Point))| {
            let distance = from.distance_squared(place);
            (other != army && distance <= squared(radius)).then_some((distance, unit as u32))
        };
        units.iter().enumerate().filter_map(near).min().map(|(_, unit)| unit)
    }

    #[test]
    fn the_nearest_enemy_is_the_one_that_a_search_of_all_finds() {
        let mut dice = Dice::new(9);
        let (mut found, mut nobody) = (0, 0);
        for round in 0..60 {
            let half = Point { x: dice.between(3, 70) * UNIT, y: dice.between(3, 70) * UNIT };
            let count = dice.between(0, 150) as u32;
            let mut place = || Point { x: dice.between(-half.x, half.x), y: dice.between(-half.y, half.y) };
            let units: Vec<(u8, Point)> = (0..count).map(|n| ((n % 3) as u8, place())).collect();
            let mut grid = Grid::new(half);
            for (unit, &(army, place)) in (0..).zip(&units) {
                grid.add(unit, army, place);
            }
            grid.settle();
            for radius in [UNIT / 2, 5 * UNIT, 11 * UNIT, 300 * UNIT] {
                for &(army, from) in &units {
                    let expected = nearest_by_hand(&units, from, army, radius);
                    assert_eq!(grid.nearest_enemy(from, !(1 << army), radius), expected, "round {round}");
                    assert_eq!(
                        grid.is_enemy_within(from, !(1 << army), radius),
                        expected.is_some(),
                        "round {round}"
                    );
                    if expected.is_some() { found += 1 } else { nobody += 1 }
                }
            }
        }
        assert!(found > 1_000 && nobody > 1_000, "{found} found, {nobody} not: not interesting");
    }

    #[test]
    fn equally_near_enemies_are_taken_by_number() {
        let mut grid = Grid::new(Point::from_units(20, 20));
        for (unit, x) in [(4, 5), (7, -5), (9, 5)] {
            grid.add(unit, 1, Point::from_units(x, 0));
        }
        grid.settle();
        assert_eq!(grid.nearest_enemy(Point::ZERO, !1, 9 * UNIT), Some(4));
        grid.clear();
        grid.settle();
        assert_eq!(grid.nearest_enemy(Point::ZERO, !1, 9 * UNIT), None);
    }
}
