//! Who is near whom: units sorted into squares, anew in every frame.

use alloc::vec::Vec;

use crate::steer::near::Sight;

/// Columns and rows of squares. Further away the same squares come again: a unit in a square that is not near is sorted out by its distance.
const SIDE: u32 = 128;

/// So many units in each square of a row, in the mean, are few.
const FEW: u32 = 2;

/// Who is in a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    /// Whether all of them are on their way.
    all_go: bool,
    /// Where they would like to go: a bit for each eighth of the circle.
    headings: u8,
    /// The longest time for which one of them keeps to its right, ms.
    right_ms: u16,
}

impl Party {
    /// Nobody knows.
    const MIXED: Self = Self { all_go: false, headings: u8::MAX, right_ms: u16::MAX };

    /// Nobody.
    const NONE: Self = Self { all_go: true, headings: 0, right_ms: 0 };

    fn add(&mut self, unit: &Sight) {
        self.all_go &= unit.is_going;
        self.headings |= heading(unit.wish);
        self.right_ms = self.right_ms.max(unit.right_ms);
    }

    /// Whether those that are not beside a unit do not matter to it: all of them go, nobody towards it, and nobody makes it keep to its right, because a
    /// neighbour does that for at most `right_ms`. `along`: where those go that do not come towards it, see [`along`].
    #[inline(always)]
    pub(crate) fn is_plain(self, along: u8, right_ms: u16) -> bool {
        self.all_go && self.headings & !along == 0 && self.right_ms <= right_ms
    }
}

/// The eighths of the circle in which there are only vectors whose dot product with this one is at least zero.
pub(crate) fn along(wish: [i32; 2]) -> u8 {
    let mine = heading(wish);
    mine | mine.rotate_left(1) | mine.rotate_right(1)
}

/// The bit of the eighth of the circle in which a vector lies, no bit for zero. The dot product of two may be below zero only if they do not lie in
/// the same eighth or in neighbouring ones.
fn heading([x, y]: [i32; 2]) -> u8 {
    const BITS: [u8; 8] = [1 << 0, 1 << 1, 1 << 3, 1 << 2, 1 << 7, 1 << 6, 1 << 4, 1 << 5];
    let which = u8::from(x.unsigned_abs() < y.unsigned_abs()) | u8::from(x < 0) << 1 | u8::from(y < 0) << 2;
    if [x, y] == [0; 2] { 0 } else { BITS[usize::from(which)] }
}

/// Units in squares, so that those near a place are found without looking at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Squares {
    /// Squares are 2^shift raw units wide.
    shift: u32,
    /// By square: where its units begin; one more at the end.
    starts: Vec<u32>,
    /// By square: who is there.
    parties: Vec<Party>,
    /// By unit: its position, and its square.
    noted: Vec<([i32; 2], u16)>,
    /// In ascending order in each square.
    residents: Vec<Sight>,
    /// Their positions, close together: most of the units in the squares around a place are too far away.
    positions: Vec<[i32; 2]>,
}

impl Squares {
    /// Forgets all units.
    pub(crate) fn clear(&mut self) {
        self.noted.clear();
    }

    /// Notes where the next unit is.
    #[inline(always)]
    pub(crate) fn note(&mut self, position: [i32; 2]) {
        self.noted.push((position, 0));
    }

    /// Sorts the units that were noted into squares of at least `side` (raw units), at least 1. They are given once more, in the same order.
    pub(crate) fn sort<'a>(&mut self, units: impl DoubleEndedIterator<Item = &'a Sight>, side: i32) {
        self.shift = 32 - (side.max(1) - 1).leading_zeros();
        self.starts.clear();
        self.starts.resize((SIDE * SIDE + 1) as usize, 0);
        self.parties.clear();
        self.parties.resize((SIDE * SIDE) as usize, Party::NONE);
        for (position, square) in &mut self.noted {
            let [x, y] = position.map(|part| (part >> self.shift) as u32 % SIDE);
            *square = (y * SIDE + x) as u16;
            self.starts[usize::from(*square)] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.residents.resize(end as usize, Sight::default());
        self.positions.resize(end as usize, [0; 2]);
        // From the last one: each square's end moves down to its first unit, and the numbers ascend.
        for (unit, &(position, square)) in units.rev().zip(self.noted.iter().rev()) {
            let square = usize::from(square);
            self.starts[square] -= 1;
            self.parties[square].add(unit);
            self.residents[self.starts[square] as usize] = *unit;
            self.positions[self.starts[square] as usize] = position;
        }
    }

    /// Calls `each` for the squares in which there are units that may be at most `reach` (raw units) from a position on both axes, the position's own square
    /// first; notes in which there may be units that are at most `close`.
    #[inline(always)]
    pub(crate) fn around(
        &self,
        position: [i32; 2],
        (reach, close): (i32, i32),
        mut each: impl FnMut(Square<'_>),
    ) {
        let low = |reach: i32| position.map(|part| part.saturating_sub(reach) >> self.shift);
        let high = |reach: i32| position.map(|part| part.saturating_add(reach) >> self.shift);
        let (first, close_first, close_last) = (low(reach), low(close), high(close));
        // Not the same square twice.
        let last = [0, 1].map(|axis| high(reach)[axis].min(first[axis] + SIDE as i32 - 1));
        let own = [0, 1].map(|axis| (position[axis] >> self.shift).min(last[axis]));
        let [first_column, last_column] = [first[0], last[0]].map(|column| column as u32 % SIDE);
        // The numbers from the first to the last one, but the own one before all others.
        let from_own = |axis: usize, at: i32| {
            if at == first[axis] { own[axis] } else { at - i32::from(at <= own[axis]) }
        };
        for y in first[1]..=last[1] {
            let y = from_own(1, y);
            let row = (y as u32 % SIDE) * SIDE;
            // Few units in a row are looked at one by one. (The squares of a row that comes again from its beginning do not follow each other.)
            let [start, end] =
                [first_column, last_column + 1].map(|column| self.starts[(row + column) as usize]);
            if first_column <= last_column && end - start <= FEW * (last_column + 1 - first_column) {
                if start < end {
                    each(self.units(Party::MIXED, true, start, end));
                }
                continue;
            }
            let is_close_row = close_first[1] <= y && y <= close_last[1];
            for x in first[0]..=last[0] {
                let x = from_own(0, x);
                let square = (row + x as u32 % SIDE) as usize;
                let (start, end) = (self.starts[square], self.starts[square + 1]);
                if start < end {
                    let is_close = is_close_row && close_first[0] <= x && x <= close_last[0];
                    each(self.units(self.parties[square], is_close, start, end));
                }
            }
        }
    }

    #[inline(always)]
    fn units(&self, party: Party, is_close: bool, start: u32, end: u32) -> Square<'_> {
        let range = start as usize..end as usize;
        Square {
            party,
            is_close,
            positions: &self.positions[range.clone()],
            residents: &self.residents[range],
        }
    }
}

/// One square, or a row of them, in which there is somebody.
pub(crate) struct Square<'a> {
    /// Who is there.
    pub(crate) party: Party,
    /// Whether some of them may be close.
    pub(crate) is_close: bool,
    positions: &'a [[i32; 2]],
    residents: &'a [Sight],
}

impl<'a> Square<'a> {
    /// The units of a square that are at most `reach` (raw units) from a position on both axes.
    #[inline(always)]
    pub(crate) fn within(self, position: [i32; 2], reach: i32) -> impl Iterator<Item = &'a Sight> {
        self.positions.iter().zip(self.residents).filter_map(move |(there, resident)| {
            let away = [0, 1].map(|axis| there[axis].abs_diff(position[axis]));
            (away[0].max(away[1]) <= reach.unsigned_abs()).then_some(resident)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Party, Sight, Squares};
    use crate::steer::Yielding;
    use crate::steer::raw::ONE;

    /// A jittered grid of units of two groups in drawn directions; some stand, some keep to their right.
    fn crowd(seed: u32, columns: i32, spread: i64) -> Vec<Sight> {
        let mut state = seed;
        let mut draw = |below: i64| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            i64::from(state >> 16) % below
        };
        let unit = |number: i32, draw: &mut dyn FnMut(i64) -> i64| {
            let mut part = |at: i32| (i64::from(at) * spread + draw(ONE / 4) - 8 * ONE) as i32;
            let position = [part(number % columns), part(number / columns)];
            let mut speed = || (draw(6 * ONE) - 3 * ONE) as i32;
            let (wish, velocity) = ([speed(), speed()], [speed(), speed()]);
            let (left, group, is_going) = (draw(50 * ONE), draw(2) as u32, draw(5) > 0);
            let right_ms = if draw(3) == 0 { draw(1_500) as u16 } else { 0 };
            let radius = (ONE / 2) as i32;
            Sight { position, velocity, wish, left, group, radius, unit: number as u32, right_ms, is_going }
        };
        (0..columns * columns).map(|number| unit(number, &mut draw)).collect()
    }

    /// Whoever looks only at those close to it in plain squares decides as one that looks at everybody.
    #[test]
    fn those_in_plain_squares_do_not_matter() {
        let (mut plain, mut near) = (0, 0);
        for (seed, spread) in [(1, ONE), (2, ONE * 5 / 4), (3, 3 * ONE), (4, 20 * ONE)] {
            let units = crowd(seed, 24, spread);
            let mut squares = Squares::default();
            units.iter().for_each(|unit| squares.note(unit.position));
            squares.sort(units.iter(), (2 * ONE) as i32);
            for me in units.iter().filter(|unit| unit.is_going) {
                let mut all = Yielding::new(me, false);
                units.iter().filter(|other| other.unit != me.unit).for_each(|other| all.mind(other));
                let mut some = Yielding::new(me, false);
                let (reach, close) = (some.reach(me.radius), some.close(me.radius));
                squares.around(me.position, (reach, close), |square| {
                    let is_plain = some.is_plain(square.party);
                    plain += u32::from(is_plain);
                    if is_plain && !square.is_close {
                        return;
                    }
                    for other in square.within(me.position, if is_plain { close } else { reach }) {
                        near += 1;
                        if other.unit != me.unit {
                            some.mind(other);
                        }
                    }
                });
                assert_eq!(some.decide(), all.decide(), "unit {} of seed {seed}", me.unit);
            }
        }
        assert!(plain > 1_000 && near > 10_000, "{plain} plain squares, {near} units looked at");
    }

    /// A unit of 1,000 units per second looks further than there are squares.
    #[test]
    fn nobody_is_met_twice_however_far_one_looks() {
        let units = crowd(5, 24, 20 * ONE);
        let mut squares = Squares::default();
        units.iter().for_each(|unit| squares.note(unit.position));
        squares.sort(units.iter(), (2 * ONE) as i32);
        for me in units.iter().step_by(7) {
            for reach in [3, 60, 127, 128, 129, 255, 256, 500, 4_000].map(|reach| reach * ONE as i32) {
                let mut met = Vec::new();
                squares.around(me.position, (reach, reach), |square| {
                    met.extend(square.within(me.position, reach).map(|other| other.unit));
                });
                met.sort_unstable();
                let near: Vec<u32> =
                    units.iter().filter(|unit| me.is_within(unit, reach)).map(|unit| unit.unit).collect();
                assert_eq!(met, near, "{reach} around {:?}", me.position);
            }
        }
    }

    #[test]
    fn nobody_is_plain() {
        let mut party = Party::NONE;
        assert!(party.is_plain(0, 0));
        party.add(&Sight::default());
        assert!(!party.is_plain(u8::MAX, u16::MAX), "one that stands");
    }
}
