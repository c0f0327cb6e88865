//! Who is near whom: units sorted into squares, anew in every frame.

use alloc::vec::Vec;

/// Columns and rows of squares. Further away the same squares come again: a unit in a square that is not near is sorted out by its distance.
const SIDE: u32 = 128;

/// A unit in its square.
#[derive(Clone, Copy, Debug, Default)]
struct Resident {
    position: [i32; 2],
    unit: u32,
}

/// Units in squares, so that those near a place are found without looking at all. Only what is needed to find them is sorted: that is a sixth
/// of what others see of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Squares {
    /// Squares are 2^shift raw units wide.
    shift: u32,
    /// By square: where its units begin; one more at the end.
    starts: Vec<u32>,
    /// In ascending order in each square.
    residents: Vec<Resident>,
}

impl Squares {
    /// Sorts units, given by their positions, into squares of at least `side` (raw units), at least 1.
    pub(crate) fn fill(&mut self, positions: &[[i32; 2]], side: i32) {
        self.shift = 32 - (side.max(1) - 1).leading_zeros();
        self.starts.clear();
        self.starts.resize((SIDE * SIDE + 1) as usize, 0);
        for &position in positions {
            let square = self.square(position);
            self.starts[square] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.residents.resize(positions.len(), Resident::default());
        // From the last one: each square's end moves down to its first unit, and the numbers ascend.
        for (unit, &position) in (0..positions.len() as u32).zip(positions).rev() {
            let square = self.square(position);
            self.starts[square] -= 1;
            self.residents[self.starts[square] as usize] = Resident { position, unit };
        }
    }

    fn square(&self, [x, y]: [i32; 2]) -> usize {
        let [x, y] = [x, y].map(|part| (part >> self.shift) as u32 % SIDE);
        (y * SIDE + x) as usize
    }

    /// Finds all units that are at most `reach` (raw units) from a position on both axes, in the order of the squares around the position.
    pub(crate) fn near(&self, position: [i32; 2], reach: i32, found: &mut Vec<u32>) {
        found.clear();
        let low = position.map(|part| part.saturating_sub(reach) >> self.shift);
        let high = position.map(|part| part.saturating_add(reach) >> self.shift);
        // Not the same square twice.
        let last = [0, 1].map(|axis| high[axis].min(low[axis] + SIDE as i32 - 1));
        for y in low[1]..=last[1] {
            let row = (y as u32 % SIDE) * SIDE;
            // Squares of a row lie one after the other, but for those where the squares come again.
            let (from, to) = (low[0] as u32 % SIDE, last[0] as u32 % SIDE);
            if from <= to {
                self.find_in((row + from, row + to), position, reach, found);
            } else {
                self.find_in((row + from, row + SIDE - 1), position, reach, found);
                self.find_in((row, row + to), position, reach, found);
            }
        }
    }

    /// Adds those of squares that follow each other.
    fn find_in(&self, (first, last): (u32, u32), position: [i32; 2], reach: i32, found: &mut Vec<u32>) {
        let range = self.starts[first as usize] as usize..self.starts[last as usize + 1] as usize;
        let mut count = found.len();
        // Who is near is chance: each one is written down, and the next one over it if it is not near. That takes no branch.
        found.resize(count + range.len(), 0);
        for resident in &self.residents[range] {
            let away = [0, 1].map(|axis| resident.position[axis].abs_diff(position[axis]));
            found[count] = resident.unit;
            count += usize::from((away[0] <= reach.unsigned_abs()) & (away[1] <= reach.unsigned_abs()));
        }
        found.truncate(count);
    }
}
