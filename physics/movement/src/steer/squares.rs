//! Who is near whom: units sorted into squares, anew in every frame.

use alloc::vec::Vec;

use crate::steer::near::Sight;

/// Columns and rows of squares. Further away the same squares come again: a unit in a square that is not near is sorted out by its distance.
const SIDE: u32 = 128;

/// Units in squares, so that those near a place are found without looking at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Squares {
    /// Squares are 2^shift raw units wide.
    shift: u32,
    /// By square: where its units begin; one more at the end.
    starts: Vec<u32>,
    /// In ascending order in each square.
    residents: Vec<Sight>,
    /// Their positions, close together: most of the units in the squares around a place are too far away.
    positions: Vec<[i32; 2]>,
}

impl Squares {
    /// Sorts units into squares of at least `side` (raw units), at least 1.
    pub(crate) fn fill<'a>(&mut self, units: impl DoubleEndedIterator<Item = &'a Sight> + Clone, side: i32) {
        self.shift = 32 - (side.max(1) - 1).leading_zeros();
        self.starts.clear();
        self.starts.resize((SIDE * SIDE + 1) as usize, 0);
        for unit in units.clone() {
            let square = self.square(unit.position);
            self.starts[square] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.residents.resize(end as usize, Sight::default());
        self.positions.resize(end as usize, [0; 2]);
        // From the last one: each square's end moves down to its first unit, and the numbers ascend.
        for unit in units.rev() {
            let square = self.square(unit.position);
            self.starts[square] -= 1;
            self.residents[self.starts[square] as usize] = *unit;
            self.positions[self.starts[square] as usize] = unit.position;
        }
    }

    fn square(&self, [x, y]: [i32; 2]) -> usize {
        let [x, y] = [x, y].map(|part| (part >> self.shift) as u32 % SIDE);
        (y * SIDE + x) as usize
    }

    /// Calls `each` for all units that are at most `reach` (raw units) from a position on both axes. The order is that of the squares around the
    /// position.
    #[inline(always)]
    pub(crate) fn near(&self, position: [i32; 2], reach: i32, mut each: impl FnMut(&Sight)) {
        let low = position.map(|part| part.saturating_sub(reach) >> self.shift);
        let high = position.map(|part| part.saturating_add(reach) >> self.shift);
        // Not the same square twice.
        let last = [0, 1].map(|axis| high[axis].min(low[axis] + SIDE as i32 - 1));
        for y in low[1]..=last[1] {
            let row = (y as u32 % SIDE) * SIDE;
            // Squares of a row lie one after the other, but for those where the squares come again.
            let (from, to) = (low[0] as u32 % SIDE, last[0] as u32 % SIDE);
            if from <= to {
                self.each_of((row + from, row + to), position, reach, &mut each);
            } else {
                self.each_of((row + from, row + SIDE - 1), position, reach, &mut each);
                self.each_of((row, row + to), position, reach, &mut each);
            }
        }
    }

    /// Calls `each` for the units of squares that follow each other.
    #[inline(always)]
    fn each_of(
        &self,
        (first, last): (u32, u32),
        position: [i32; 2],
        reach: i32,
        each: &mut impl FnMut(&Sight),
    ) {
        let range = self.starts[first as usize] as usize..self.starts[last as usize + 1] as usize;
        for (there, resident) in self.positions[range.clone()].iter().zip(&self.residents[range]) {
            let away = [0, 1].map(|axis| there[axis].abs_diff(position[axis]));
            if away[0].max(away[1]) <= reach.unsigned_abs() {
                each(resident);
            }
        }
    }
}
