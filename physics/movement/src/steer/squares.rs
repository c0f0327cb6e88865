//! Who is near whom: units sorted into squares, anew in every frame.

use alloc::vec::Vec;
use core::ops::{Range, RangeInclusive};

use crate::steer::near::Sight;
use crate::steer::party::Party;

/// Columns and rows of squares. Further away the same squares come again: a unit in a square that is not near is sorted out by its distance.
const SIDE: u32 = 128;

/// So many units are compared with a place at once.
const BATCH: usize = 64;

/// Units in squares, so that those near a place are found without looking at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Squares {
    /// Squares are 2^shift raw units wide.
    shift: u32,
    /// By square: where its units begin; one more at the end.
    starts: Vec<u32>,
    /// By square that is not empty: who is there.
    parties: Vec<Party>,
    /// By unit: its position, and its square.
    noted: Vec<([i32; 2], u16)>,
    /// By square: its units in ascending order.
    units: Vec<u32>,
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

    /// Sorts the units that were noted into squares of at least `side` (raw units), at least 1. They are given once more, in the same order, with the time for
    /// which they have not come nearer to their places (ms).
    pub(crate) fn sort<'a>(&mut self, units: impl DoubleEndedIterator<Item = (&'a Sight, u16)>, side: i32) {
        self.shift = 32 - (side.max(1) - 1).leading_zeros();
        self.starts.clear();
        self.starts.resize((SIDE * SIDE + 1) as usize, 0);
        self.parties.resize((SIDE * SIDE) as usize, Party::NONE);
        for (position, square) in &mut self.noted {
            let [x, y] = position.map(|part| (part >> self.shift) as u32 % SIDE);
            *square = (y * SIDE + x) as u16;
            let count = &mut self.starts[usize::from(*square)];
            if *count == 0 {
                self.parties[usize::from(*square)] = Party::NONE;
            }
            *count += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.units.resize(end as usize, 0);
        self.positions.resize(end as usize, [0; 2]);
        // From the last one: each square's end moves down to its first unit, and the numbers ascend.
        for ((sight, stalled_ms), &(position, square)) in units.rev().zip(self.noted.iter().rev()) {
            let square = usize::from(square);
            self.starts[square] -= 1;
            self.parties[square].add(sight, stalled_ms);
            self.units[self.starts[square] as usize] = sight.unit;
            self.positions[self.starts[square] as usize] = position;
        }
    }

    /// Calls `each` for the units at a distance of `between` (raw units, on the axis on which it is longer) from a position, in the squares whose parties
    /// matter to `seen`: what came of those before.
    #[inline(always)]
    pub(crate) fn around<S>(
        &self,
        position: [i32; 2],
        between: RangeInclusive<i32>,
        seen: &mut S,
        matters: impl Fn(&S, Party) -> bool,
        each: impl Fn(&mut S, u32),
    ) {
        let [least, most] = [*between.start(), *between.end()].map(i32::unsigned_abs);
        let first = position.map(|part| part.saturating_sub_unsigned(most) >> self.shift);
        let last = position.map(|part| part.saturating_add_unsigned(most) >> self.shift);
        // Not the same square twice.
        let last = [0, 1].map(|axis| last[axis].min(first[axis] + SIDE as i32 - 1));
        // Up to 2^30, further than anybody looks, one comparison tells for both directions, although it wraps.
        let most = most.min(1 << 30);
        let is_near = |there: [i32; 2]| {
            let way = [0, 1].map(|axis| there[axis].wrapping_sub(position[axis]) as u32);
            let is_within = |reach: u32| {
                (way[0].wrapping_add(reach) <= 2 * reach) & (way[1].wrapping_add(reach) <= 2 * reach)
            };
            is_within(most) & (least == 0 || !is_within(least - 1))
        };
        for y in first[1]..=last[1] {
            let row = (y as u32 % SIDE) * SIDE;
            // Squares that follow each other are looked at together.
            let (mut start, mut end) = (0, 0);
            for x in first[0]..=last[0] {
                let square = (row + x as u32 % SIDE) as usize;
                let [from, to] = [square, square + 1].map(|at| self.starts[at]);
                if from == to || !matters(seen, self.parties[square]) {
                    continue;
                }
                if from != end {
                    self.each_near(start..end, is_near, |other| each(seen, other));
                    start = from;
                }
                end = to;
            }
            self.each_near(start..end, is_near, |other| each(seen, other));
        }
    }

    /// Calls `each` for those of some units that are near.
    #[inline(always)]
    fn each_near(&self, range: Range<u32>, is_near: impl Fn([i32; 2]) -> bool, mut each: impl FnMut(u32)) {
        let range = range.start as usize..range.end as usize;
        let batches = self.positions[range.clone()].chunks(BATCH).zip(self.units[range].chunks(BATCH));
        for (positions, units) in batches {
            // All are compared without a branch: which of them are near follows no order.
            let (mut near, mut count) = ([0_u8; BATCH], 0);
            for (at, there) in positions.iter().enumerate() {
                near[count % BATCH] = at as u8;
                count += usize::from(is_near(*there));
            }
            for &at in &near[..count] {
                each(units[usize::from(at)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{Party, Sight, Squares};
    use crate::steer::Yielding;
    use crate::steer::raw::ONE;

    /// A jittered grid of units of two groups in drawn directions; some stand, some keep to their right.
    fn crowd(seed: u32, columns: i32, spread: i64) -> Vec<Sight> {
        let mut state = u64::from(seed);
        let mut draw = |below: i64| {
            // Knuth's numbers.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i64 % below
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

    fn sorted(units: &[Sight]) -> Squares {
        let mut squares = Squares::default();
        units.iter().for_each(|unit| squares.note(unit.position));
        squares.sort(units.iter().map(|sight| (sight, 0)), (2 * ONE) as i32);
        squares
    }

    /// Whoever looks only at those close to it in plain squares decides as one that looks at everybody.
    #[test]
    fn those_in_plain_squares_do_not_matter() {
        let [plain, met, near] = [const { Cell::new(0) }; 3];
        let count = |which: &Cell<u32>, is_one: bool| which.set(which.get() + u32::from(is_one));
        for (seed, spread) in [(1, ONE), (2, ONE * 5 / 4), (3, ONE * 5 / 4), (4, 3 * ONE), (5, 20 * ONE)] {
            let units = crowd(seed, 24, spread);
            let squares = sorted(&units);
            for me in units.iter().filter(|unit| unit.is_going) {
                let mut all = Yielding::new(me, false);
                units.iter().filter(|other| other.unit != me.unit).for_each(|other| all.mind(other));
                let mut some = Yielding::new(me, false);
                let (close, reach) = (some.close(me.radius), some.reach(me.radius));
                let mind = |some: &mut Yielding<'_>, other: u32| some.mind(&units[other as usize]);
                squares.around(me.position, 0..=close, &mut some, |_, _| true, mind);
                let limit = some.plain();
                let matters = |some: &Yielding<'_>, party: Party| {
                    let is_plain = party.is_plain(limit, some.keeps_right());
                    count(&plain, is_plain);
                    count(&met, is_plain && !party.is_plain(limit, false));
                    !is_plain
                };
                squares.around(me.position, close + 1..=reach, &mut some, matters, |some, other| {
                    count(&near, true);
                    mind(some, other);
                });
                assert_eq!(some.decide(), all.decide(), "unit {} of seed {seed}", me.unit);
            }
        }
        let found = [plain.get(), met.get(), near.get()];
        assert!(
            found[0] > 1_000 && found[1] > 1_000 && found[2] > 10_000,
            "plain, only because it has met others, units looked at: {found:?}"
        );
    }

    /// A unit of 1,000 units per second looks further than there are squares.
    #[test]
    fn nobody_is_met_twice_however_far_one_looks() {
        let units = crowd(5, 24, 20 * ONE);
        let squares = sorted(&units);
        for me in units.iter().step_by(7) {
            for reach in [3, 60, 127, 128, 129, 255, 256, 500, 4_000].map(|reach| reach * ONE as i32) {
                let mut met = Vec::new();
                let half = reach / 2;
                for between in [0..=half, half + 1..=reach] {
                    squares.around(me.position, between, &mut met, |_, _| true, Vec::push);
                }
                met.sort_unstable();
                let is_near = |other: &&Sight| {
                    (0..2).all(|axis| me.position[axis].abs_diff(other.position[axis]) <= reach as u32)
                };
                let near: Vec<u32> = units.iter().filter(is_near).map(|unit| unit.unit).collect();
                assert_eq!(met, near, "{reach} around {:?}", me.position);
            }
        }
    }

    /// More units in one square than are compared at once.
    #[test]
    fn nobody_is_missed_in_a_heap() {
        let units = crowd(6, 24, ONE / 16);
        let squares = sorted(&units);
        let mut met = Vec::new();
        squares.around([0; 2], 0..=1 << 30, &mut met, |_, _| true, Vec::push);
        met.sort_unstable();
        assert_eq!(met, (0..24 * 24).collect::<Vec<u32>>());
    }
}
