//! One square of a field, solved by itself: each cell offers its distance to its neighbours until no offer is an improvement.

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u16x8};

use crate::ground::{Ground, SizeClass};

/// Columns and rows of a tile.
pub(crate) const SIDE: usize = crate::ground::TILE as usize;

/// A tile and a frame of one cell around it, in rows with room on both sides: cells of a tile begin at a multiple of eight.
const FIRST: usize = 8;
const STRIDE: usize = SIDE + 2 * FIRST;
pub(crate) type Rows = [[u16; STRIDE]; SIDE + 2];

/// Length of a straight step over cost 1, of a diagonal one, and of one between the two: its square roots of 2 and 5/4, rounded up.
pub(crate) const STRAIGHT: u16 = 256;
const DIAGONAL: u16 = 363;
const BETWEEN: u16 = 287;

/// The greatest difference between two neighbours that a wave between them has: 256 over the square root of 2.
const SLOPE_MAX: u16 = 181;

/// A distance that is not known, and the end of those that are stored: mixtures with unknown ones lie above it.
pub(crate) const FAR: u16 = u16::MAX;

/// What of a step's length the eikonal equation leaves out if the wave comes at a slope: `256 - root(256^2 - slope^2)` or somewhat less, as two tangents to
/// it over the square of the slope.
#[inline(always)]
const fn saved(slope: u16) -> u16 {
    let square = slope * slope;
    let (low, high) = (high(square, LOW), high(square, HIGH).saturating_sub(HIGH_BELOW));
    if low > high { low } else { high }
}

const LOW: u16 = 128;
const HIGH: u16 = 161;
const HIGH_BELOW: u16 = 7;

/// The upper half of a product.
#[inline(always)]
const fn high(a: u16, b: u16) -> u16 {
    ((a as u32 * b as u32) >> 16) as u16
}

// A field never underestimates: it gives the exact distance over open ground or more. And where a neighbour's distance falls, the offer does not rise;
// therefore the order of offers does not matter.
const _: () = {
    let mut slope = 0;
    while slope <= SLOPE_MAX {
        let left = (STRAIGHT - saved(slope)) as u32;
        assert!(left * left + slope as u32 * slope as u32 >= (STRAIGHT as u32).pow(2));
        assert!(slope == 0 || saved(slope) - saved(slope - 1) <= 1);
        slope += 1;
    }
};

/// What stands between the cells of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All steps are open, all costs 1.
    Plain,
    /// Some steps are closed.
    Walls,
    /// Some costs are not 1.
    Slow,
}

/// Which tiles around a tile may improve by it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leaks {
    before: [bool; 3],
    after: [bool; 3],
    beside: [bool; 2],
}

impl Leaks {
    /// The column and row of each of them, from the tile: -1..=1.
    pub(crate) fn each(self, mut act: impl FnMut(i32, i32)) {
        for (leaks, side, row) in [(self.before, self.beside[0], -1), (self.after, self.beside[1], 1)] {
            (-1..).zip(leaks).filter(|(_, leaks)| *leaks).for_each(|(column, _)| act(column, row));
            if side {
                act(row, 0);
            }
        }
    }
}

/// The three steps from a row to the next one: straight, to the column before and to the column after.
type Steps = [u16; 3];

/// The steps to the row before and to the row after, by bits, and those of the tile whose rows are columns.
const UPRIGHT: [Steps; 2] = [[1 << 6, 1 << 5, 1 << 7], [1 << 2, 1 << 3, 1 << 1]];
const TURNED: [Steps; 2] = [[1 << 4, 1 << 5, 1 << 3], [1 << 0, 1 << 7, 1 << 1]];

/// The distances of one tile, and what the ground says, with rows along x and with rows along y.
pub(crate) struct Tile {
    /// The instructions of this machine. Integers give the same bits with all of them.
    pub(crate) level: Level,
    kind: Kind,
    upright: Side,
    turned: Side,
}

/// A tile seen from one side.
struct Side {
    rows: Rows,
    open: [[u16; SIDE]; SIDE],
    costs: [[u16; SIDE]; SIDE],
}

impl Side {
    const EMPTY: Self =
        Self { rows: [[FAR; STRIDE]; SIDE + 2], open: [[0xff; SIDE]; SIDE], costs: [[1; SIDE]; SIDE] };

    /// Offers each row to the next one, from both ends. Says whether something improved.
    #[inline(always)]
    fn pass(&mut self, kind: Kind, [before, after]: [Steps; 2]) -> bool {
        let mut changed = [0; SIDE];
        for row in 0..SIDE {
            self.offer(kind, (row, row + 1), before, &mut changed);
            self.offer(kind, (SIDE + 1 - row, SIDE - row), after, &mut changed);
        }
        changed.iter().fold(0, |all, one| all | one) != 0
    }

    /// Offers a row to a neighbouring one.
    #[inline(always)]
    fn offer(&mut self, kind: Kind, (from, to): (usize, usize), steps: Steps, changed: &mut [u16; SIDE]) {
        let (open, costs) = (&self.open[to - 1], &self.costs[to - 1]);
        let (low, high) = self.rows.split_at_mut(from.max(to));
        let (from, to) = if from < to { (&low[from], &mut high[0]) } else { (&high[0], &mut low[to]) };
        match kind {
            Kind::Plain => {
                for x in 0..SIDE {
                    let aside = from[FIRST - 1 + x].min(from[FIRST + 1 + x]);
                    accept(&mut to[FIRST + x], offer(from[FIRST + x], aside), &mut changed[x]);
                }
            }
            Kind::Walls => {
                for x in 0..SIDE {
                    let (ahead, aside) = seen(from, x, open[x], steps);
                    accept(&mut to[FIRST + x], offer(ahead, aside), &mut changed[x]);
                }
            }
            Kind::Slow => {
                for x in 0..SIDE {
                    let (ahead, aside) = seen(from, x, open[x], steps);
                    let (quick, slow) = (offer(ahead, aside), slow_offer(ahead, aside, costs[x]));
                    let offer = if costs[x] == 1 { quick } else { slow };
                    accept(&mut to[FIRST + x], offer, &mut changed[x]);
                }
            }
        }
    }

    /// Whether the first or the last row may improve cells outside by distances below `end`: before its first column, beside it, after its last
    /// column. What stands outside is not known here, therefore "may".
    #[inline(always)]
    fn leaks(&self, is_last: bool, steps: Steps, end: u16) -> [bool; 3] {
        let (edge, outside) = if is_last { (SIDE, SIDE + 1) } else { (1, 0) };
        let (row, outside, open) = (&self.rows[edge], &self.rows[outside], &self.open[edge - 1]);
        // A step from outside is open if the step back is.
        let known = |x: usize, step: u16| row[FIRST + x] | if open[x] & step == 0 { FAR } else { 0 };
        let improves =
            |ahead: u16, aside: u16, there: u16| ahead.min(aside) < end && offer(ahead, aside) < there;
        // The distance straight ahead may also be one of outside; then this tile matters by what is aside.
        let helps = |ahead: u16, aside: u16, there: u16| aside < ahead && improves(ahead, aside, there);
        let (first, last) = (known(0, steps[1]), known(SIDE - 1, steps[2]));
        let mut leaks = [false; 3];
        for (leak, beside, aside, corner) in
            [(0, FIRST, first, FIRST - 1), (2, FIRST + SIDE - 1, last, FIRST + SIDE)]
        {
            let there = outside[corner];
            leaks[leak] = improves(row[corner], aside, there) || helps(outside[beside], aside, there);
        }
        for x in 0..SIDE {
            let there = outside[FIRST + x];
            let before = if x == 0 { row[FIRST - 1] } else { known(x - 1, steps[2]) };
            let after = if x + 1 == SIDE { row[FIRST + SIDE] } else { known(x + 1, steps[1]) };
            leaks[1] |= improves(known(x, steps[0]), before.min(after), there)
                | helps(outside[FIRST + x - 1], before, there)
                | helps(outside[FIRST + x + 1], after, there);
        }
        leaks
    }
}

/// What a cell sees of the row before it: the distance straight ahead, and the smaller one of those aside; only over open steps.
#[inline(always)]
fn seen(from: &[u16; STRIDE], x: usize, open: u16, steps: Steps) -> (u16, u16) {
    let closed = |step: u16| if open & step == 0 { FAR } else { 0 };
    let ahead = from[FIRST + x] | closed(steps[0]);
    let aside = (from[FIRST - 1 + x] | closed(steps[1])).min(from[FIRST + 1 + x] | closed(steps[2]));
    (ahead, aside)
}

/// The distance by the eikonal equation, from the neighbours straight ahead and diagonally, for cost 1.
#[inline(always)]
pub(crate) fn offer(ahead: u16, aside: u16) -> u16 {
    let slope = ahead.saturating_sub(aside).min(SLOPE_MAX);
    ahead.saturating_add(STRAIGHT - saved(slope)).min(aside.saturating_add(DIAGONAL))
}

/// The distance over costly ground: straight, diagonally, or between both.
#[inline(always)]
pub(crate) fn slow_offer(ahead: u16, aside: u16, cost: u16) -> u16 {
    let between = ((u32::from(ahead) + u32::from(aside) + 1) >> 1) as u16;
    let straight = ahead.saturating_add(STRAIGHT.wrapping_mul(cost));
    let diagonal = aside.saturating_add(DIAGONAL.wrapping_mul(cost));
    straight.min(diagonal).min(between.saturating_add(BETWEEN.wrapping_mul(cost)))
}

#[inline(always)]
fn accept(to: &mut u16, offer: u16, changed: &mut u16) {
    let new = offer.min(*to);
    *changed |= *to ^ new;
    *to = new;
}

/// Turns a square of cells: rows become columns.
#[inline(always)]
fn turn<S: Simd, const N: usize>(simd: S, from: &[[u16; N]], to: &mut [[u16; N]], first: usize) {
    for y in (0..SIDE).step_by(8) {
        for x in (0..SIDE).step_by(8) {
            // Plain loops: closures are not compiled for the instructions of `simd`.
            let mut rows = [u16x8::splat(simd, 0); 8];
            for row in 0..8 {
                if let Some(cells) = from[y + row][first + x..].first_chunk::<8>() {
                    rows[row] = u16x8::simd_from(simd, *cells);
                }
            }
            // Three times the upper half between the lower half, like cards.
            for _ in 0..3 {
                let before = rows;
                for row in 0..4 {
                    rows[2 * row] = before[row].zip_low(before[row + 4]);
                    rows[2 * row + 1] = before[row].zip_high(before[row + 4]);
                }
            }
            for row in 0..8 {
                let cells: [u16; 8] = rows[row].into();
                to[x + row][first + y..first + y + 8].copy_from_slice(&cells);
            }
        }
    }
}

impl Tile {
    pub(crate) fn new() -> Self {
        let level = Level::try_detect().unwrap_or(Level::baseline());
        Self { level, kind: Kind::Plain, upright: Side::EMPTY, turned: Side::EMPTY }
    }

    /// A row of distances with one cell of the frame on each side; row 0 and the last one belong to the frame.
    #[inline(always)]
    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [u16] {
        &mut self.upright.rows[row][FIRST - 1..=FIRST + SIDE]
    }

    /// The distances of a row of the tile, 1..=[`SIDE`].
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> &[u16] {
        &self.upright.rows[row][FIRST..FIRST + SIDE]
    }

    /// Takes what stands between the cells of a tile; `corner` is the first cell of the frame around it.
    #[inline(always)]
    pub(crate) fn put_ground(&mut self, ground: &Ground, size: SizeClass, corner: usize) {
        let stride = ground.grid.stride() as usize;
        let (steps, costs) = (ground.all_steps(size), ground.all_costs());
        // Plain loops, as in `turn`.
        let (mut open, mut other) = (0xff, 0);
        for y in 1..SIDE + 1 {
            let first = corner + y * stride + 1;
            for (step, cost) in steps[first..first + SIDE].iter().zip(&costs[first..first + SIDE]) {
                (open, other) = (open & step, other | cost ^ 1);
            }
        }
        if (open, other) == (0xff, 0) {
            return self.set_plain();
        }
        for y in 0..SIDE {
            let first = corner + (y + 1) * stride + 1;
            let costs = if other == 0 { None } else { Some(&costs[first..first + SIDE]) };
            self.set_row(y, &steps[first..first + SIDE], costs);
        }
    }

    /// Solves a tile that was filled by hand.
    pub(crate) fn solve_alone(&mut self) {
        dispatch!(self.level, simd => self.solve(simd));
    }

    /// All steps are open, all costs 1.
    #[inline(always)]
    fn set_plain(&mut self) {
        if core::mem::replace(&mut self.kind, Kind::Plain) != Kind::Plain {
            self.upright.open = [[0xff; SIDE]; SIDE];
            self.turned.open = [[0xff; SIDE]; SIDE];
        }
    }

    /// Takes the open steps of the cells in a row of the tile, 0..[`SIDE`], and the costs if they matter.
    #[inline(always)]
    fn set_row(&mut self, row: usize, open: &[u8], costs: Option<&[u8]>) {
        self.upright.open[row].iter_mut().zip(open).for_each(|(to, &from)| *to = from.into());
        if let Some(costs) = costs {
            self.upright.costs[row].iter_mut().zip(costs).for_each(|(to, &from)| *to = from.into());
        }
        self.kind = if costs.is_some() { Kind::Slow } else { Kind::Walls };
    }

    /// Lets all cells make their offers until nothing improves. The result does not depend on the order.
    #[inline(always)]
    pub(crate) fn solve<S: Simd>(&mut self, simd: S) {
        if self.kind != Kind::Plain {
            turn(simd, &self.upright.open, &mut self.turned.open, 0);
        }
        if self.kind == Kind::Slow {
            turn(simd, &self.upright.costs, &mut self.turned.costs, 0);
        }
        for row in 0..SIDE + 2 {
            for (to, at) in [(0, FIRST - 1), (SIDE + 1, FIRST + SIDE)] {
                self.turned.rows[to][FIRST - 1 + row] = self.upright.rows[row][at];
            }
            for (at, to) in [(0, FIRST - 1), (SIDE + 1, FIRST + SIDE)] {
                self.turned.rows[row][to] = self.upright.rows[at][FIRST - 1 + row];
            }
        }
        turn(simd, &self.upright.rows[1..], &mut self.turned.rows[1..], FIRST);
        let (mut quiet, mut is_upright) = (0, true);
        while quiet < 2 {
            let (side, other) = if is_upright {
                (&mut self.upright, &mut self.turned)
            } else {
                (&mut self.turned, &mut self.upright)
            };
            if side.pass(self.kind, if is_upright { UPRIGHT } else { TURNED }) {
                turn(simd, &side.rows[1..], &mut other.rows[1..], FIRST);
                quiet = 0;
            } else {
                quiet += 1;
            }
            is_upright = !is_upright;
        }
    }

    /// Which of the eight tiles around it may improve by distances below `end`: those before it, those after it, by column, and those beside it.
    #[inline(always)]
    pub(crate) fn leaks(&self, end: u16) -> Leaks {
        let [before, after] =
            [self.upright.leaks(false, UPRIGHT[0], end), self.upright.leaks(true, UPRIGHT[1], end)];
        let beside =
            [self.turned.leaks(false, TURNED[0], end)[1], self.turned.leaks(true, TURNED[1], end)[1]];
        Leaks { before, after, beside }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use testudo_physics::Pcg32;

    /// The instruction sets of this machine, the one that all machines of its kind have first.
    fn levels() -> Vec<Level> {
        let widest = Level::try_detect().unwrap_or(Level::baseline());
        #[cfg_attr(not(any(target_arch = "x86", target_arch = "x86_64")), expect(unused_mut))]
        let mut levels = vec![Level::baseline(), widest];
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        levels.extend(
            widest.as_sse4_2().map(Level::Sse4_2).into_iter().chain(widest.as_avx2().map(Level::Avx2)),
        );
        levels
    }

    /// A tile with some walls and costs, and distances in some cells.
    fn drawn(seed: u64) -> Tile {
        let (mut rng, mut tile) = (Pcg32::new(seed, 5), Tile::new());
        for row in 0..SIDE {
            let open = [0; SIDE].map(|_| if rng.below(4) == 0 { 0 } else { 0xff });
            let costs = [0; SIDE].map(|_| 1 + rng.below(3) as u8);
            match seed % 3 {
                0 => {}
                1 => tile.set_row(row, &open, None),
                _ => tile.set_row(row, &open, Some(&costs)),
            }
        }
        for row in 0..SIDE + 2 {
            tile.row_mut(row).fill_with(|| if rng.below(99) == 0 { rng.below(3_000) as u16 } else { FAR });
        }
        tile
    }

    #[test]
    fn all_instruction_sets_find_the_same_distances() {
        for seed in 0..30 {
            let solved: Vec<Vec<Vec<u16>>> = levels()
                .into_iter()
                .map(|level| {
                    let mut tile = Tile { level, ..drawn(seed) };
                    tile.solve_alone();
                    (1..=SIDE).map(|row| tile.row(row).to_vec()).collect()
                })
                .collect();
            let found = solved[0].iter().flatten().filter(|&&distance| distance != FAR).count();
            assert!(found > 300, "seed {seed}: {found} distances are not interesting");
            assert!(solved.iter().all(|one| *one == solved[0]), "seed {seed}");
        }
    }
}
