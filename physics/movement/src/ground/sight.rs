//! Straight lines over the ground.

use testudo_physics::{Fx, Vec2};

use crate::ground::{Cell, Ground, SizeClass};

impl Ground {
    /// Whether every step of the straight line between two positions is open to a size, from cell to cell. Positions outside of the area count as
    /// the nearest ones inside.
    #[must_use]
    pub fn sees(&self, from: Vec2, to: Vec2, size: SizeClass) -> bool {
        self.is_line_open(from, to, size, |_| true)
    }

    /// The last place on the straight line from a position towards another one that a unit sees, to half a cell.
    #[must_use]
    pub fn towards(&self, from: Vec2, to: Vec2, size: SizeClass) -> Vec2 {
        let way = to - from;
        let steps = (way.x.abs().max(way.y.abs()).to_bits() >> self.grid.shift << 1) + 1;
        let part = |step: i64| from + Vec2::new(way.x * step / steps, way.y * step / steps);
        let sees = |step: i64| self.sees(from, part(step), size);
        if sees(steps) {
            return to;
        }
        // It sees the first of these, and not the second one.
        let (mut seen, mut hidden) = (0, steps);
        while hidden - seen > 1 {
            let middle = (seen + hidden) / 2;
            if sees(middle) { seen = middle } else { hidden = middle }
        }
        part(seen)
    }

    /// As [`Ground::sees`], and no cell between the two ends is so narrow that units must keep to its anchor.
    pub(crate) fn sees_plainly(&self, from: Vec2, to: Vec2, size: SizeClass) -> bool {
        self.is_line_open(from, to, size, |cell| self.is_plain(cell))
    }

    /// As [`Ground::sees`], and no cell between the two ends is slow.
    pub(crate) fn sees_level(&self, from: Vec2, to: Vec2, size: SizeClass) -> bool {
        self.is_line_open(from, to, size, |cell| self.cost_of(cell) == 1)
    }

    /// Walks the cells of a line; asks for each between the first and the last. Where the line passes through a corner, the diagonal step must
    /// be open.
    #[inline(always)]
    fn is_line_open(&self, from: Vec2, to: Vec2, size: SizeClass, suits: impl Fn(Cell) -> bool) -> bool {
        let [from, to] = [from, to].map(|at| self.inside(at));
        let way = [0, 1].map(|axis| to[axis] - from[axis]);
        let (along, up) = (if way[0] >= 0 { 0 } else { 4 }, if way[1] >= 0 { 2 } else { 6 });
        let aside = [[1, 3], [7, 5]][usize::from(way[1] < 0)][usize::from(way[0] < 0)];
        // From the start to the next border on each axis. A position on a border belongs to the cell after it.
        let next = [0, 1].map(|axis| {
            let past = from[axis] & (self.grid.side() - 1);
            if way[axis] >= 0 { self.grid.side() - past } else { past + 1 }
        });
        let way = way.map(i64::abs);
        let cell = |at: [i64; 2]| self.grid.cell(at.map(|part| (part >> self.grid.shift) as i32));
        let (mut here, last) = (cell(from), cell(to));
        let (offsets, steps) = (self.grid.offsets(), self.all_steps(size));
        let most = (way[0] >> self.grid.shift) + (way[1] >> self.grid.shift) + 4;
        // Below 0 the border of the next column is reached first, above 0 that of the next row, at 0 both. The products fit, because a ground is at most 2^31
        // raw units wide.
        let mut first = next[0] * way[1] - next[1] * way[0];
        let [column, row] = [way[1], way[0]].map(|part| part << self.grid.shift);
        let moves = [(along, column), (aside, column - row), (up, -row)]
            .map(|(step, change)| (1 << step, offsets[step], change));
        for _ in 0..most {
            if here == last {
                return true;
            }
            // Which one follows no order, so there is no branch.
            let (step, offset, change) = moves[usize::from(first >= 0) + usize::from(first > 0)];
            first += change;
            if steps[here as usize] & step == 0 {
                return false;
            }
            here = here.wrapping_add_signed(offset);
            if here != last && !suits(here) {
                return false;
            }
        }
        false
    }

    /// A position from the lower left corner, raw units; held inside the area.
    fn inside(&self, at: Vec2) -> [i64; 2] {
        let grid = &self.grid;
        let part = |at: Fx, min: i64, count: i32| {
            at.to_bits().saturating_sub(min).clamp(0, (i64::from(count) << grid.shift) - 1)
        };
        [part(at.x, grid.min[0], grid.columns), part(at.y, grid.min[1], grid.rows)]
    }
}
