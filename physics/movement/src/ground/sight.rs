//! Straight lines over the ground.

use testudo_physics::math::isqrt_u64;
use testudo_physics::{Fx, Vec2};

use crate::ground::{Cell, Ground, STEPS, SizeClass};
use crate::steer::raw::{dot, minus};

/// A direction has this length, as a power of two: places on a line of 2^31 raw units are right to 2^7, and products with them fit.
const DIRECTION_BITS: u32 = 24;

/// A line may touch an obstacle by this part of a cell: a unit that goes there slides past it.
const TOUCH: i64 = 8;

/// A straight line, raw units from the lower left corner.
struct Line {
    from: [i64; 2],
    direction: [i64; 2],
    length: i64,
}

impl Ground {
    /// Whether every step of the straight line between two positions is open to a size, from cell to cell. Positions outside of the area count as
    /// the nearest ones inside.
    #[must_use]
    pub fn sees(&self, from: Vec2, to: Vec2, size: SizeClass) -> bool {
        self.is_line_open(from, to, size, |_| true)
    }

    /// The last place on the straight line from a position towards another one that a unit sees, to half a cell. Positions outside of the area count as the
    /// nearest ones inside.
    #[must_use]
    pub fn towards(&self, from: Vec2, to: Vec2, size: SizeClass) -> Vec2 {
        let [from, to] = [from, to].map(|at| self.held_inside(at));
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

    /// As [`Ground::sees`], and a unit that goes straight keeps clear of the obstacles beside the line. It may have no room at its end.
    pub(crate) fn leads_near(&self, from: Vec2, to: Vec2, size: SizeClass) -> bool {
        self.is_line_free(from, to, size, |_| true)
    }

    /// As [`Ground::leads_near`], and it has room at its end.
    pub(crate) fn leads(&self, from: Vec2, to: Vec2, size: SizeClass) -> bool {
        let there = self.grid.cell_at(to);
        self.leads_near(from, to, size)
            && (self.is_clear_cell(there, size) || self.has_room_on(&self.line(from, to), there, size))
    }

    /// As [`Ground::leads_near`], and no cell between the two ends is slow.
    pub(crate) fn leads_level(&self, from: Vec2, to: Vec2, size: SizeClass) -> bool {
        self.is_line_free(from, to, size, |cell| self.cost_of(cell) == 1)
    }

    /// A line is computed only where it passes an obstacle.
    #[inline(always)]
    fn is_line_free(&self, from: Vec2, to: Vec2, size: SizeClass, suits: impl Fn(Cell) -> bool) -> bool {
        let mut line = None;
        let mut has_room = |cell: Cell| {
            self.is_clear_cell(cell, size)
                || self.has_room_on(line.get_or_insert_with(|| self.line(from, to)), cell, size)
        };
        let here = self.grid.cell_at(from);
        (here == self.grid.cell_at(to) || has_room(here))
            && self.is_line_open(from, to, size, |cell| suits(cell) && has_room(cell))
    }

    /// Walks the cells of a line; asks for each between the first and the last. Where the line passes through a corner, the diagonal step must
    /// be open.
    #[inline(always)]
    fn is_line_open(
        &self,
        from: Vec2,
        to: Vec2,
        size: SizeClass,
        mut suits: impl FnMut(Cell) -> bool,
    ) -> bool {
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

    fn line(&self, from: Vec2, to: Vec2) -> Line {
        let [from, to] = [from, to].map(|at| self.inside(at));
        let way = minus(to, from);
        let length = isqrt_u64(way.map(|part| (part * part) as u64).iter().sum()) as i64;
        Line { from, direction: way.map(|part| (part << DIRECTION_BITS) / length.max(1)), length }
    }

    /// Whether a unit on a line has room where it passes a cell: it comes so near to the cell's anchor that there is room, or it passes the anchor on the side
    /// away from the obstacles. (A cell is open if a unit has room at its anchor, even if it has none elsewhere in it.) Rooms of four cells and more are not
    /// known: there it is taken for granted.
    fn has_room_on(&self, line: &Line, cell: Cell, size: SizeClass) -> bool {
        let ahead = minus(self.inside(self.anchor(cell)), line.from);
        // From the anchor to the nearest place of the line.
        let along = (dot(ahead, line.direction) >> DIRECTION_BITS).clamp(0, line.length);
        let off = minus(line.direction.map(|part| (part * along) >> DIRECTION_BITS), ahead);
        let slack = self.grid.side() / TOUCH;
        let room = self.rooms[cell as usize];
        let most = (i64::from(room) << (self.grid.shift - 6)) - self.radius(size).to_bits() + slack;
        if room == u8::MAX || dot(off, off) <= most.max(0) * most.max(0) {
            return true;
        }
        let free = self.away(cell, size);
        let length = isqrt_u64((dot(free, free) << 16) as u64) as i64;
        let passes = free != [0; 2] && dot(off, free) >= -((slack * length) >> 8);
        passes || along == 0 && dot(line.direction, free) > 0
    }

    /// Away from the obstacles around a cell; its length means nothing.
    fn away(&self, cell: Cell, size: SizeClass) -> [i64; 2] {
        let free = self.anchors[cell as usize].map(i64::from);
        if free != [0; 2] {
            return free;
        }
        let steps = self.steps(cell, size);
        let closed = (0..8).filter(|step| steps >> step & 1 == 0).map(|step| STEPS[step]);
        closed.fold([0; 2], |[x, y], (dx, dy)| [x - i64::from(dx), y - i64::from(dy)])
    }

    /// A position from the lower left corner, raw units; held inside the area.
    pub(crate) fn inside(&self, at: Vec2) -> [i64; 2] {
        let grid = &self.grid;
        let part = |at: Fx, min: i64, count: i32| {
            at.to_bits().saturating_sub(min).clamp(0, (i64::from(count) << grid.shift) - 1)
        };
        [part(at.x, grid.min[0], grid.columns), part(at.y, grid.min[1], grid.rows)]
    }
}
