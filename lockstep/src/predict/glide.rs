//! For renderers: what was drawn at the wrong position glides to the right one, and how wrong it was is counted.

use crate::value::time::Duration;

/// Offsets of drawn things: a correction moves nothing on the screen at once. It leaves an offset, which shrinks to nothing within a set time,
/// fast at first and gently in the end.
///
/// Things are numbered from 0 without great gaps, for example by their units or bodies' slots. Lengths are integers in any unit, below 2^47.
///
/// ```
/// use testudo_lockstep::Duration;
/// use testudo_lockstep::predict::Glide;
/// let mut glide = Glide::new(Duration::from_millis(200), 10_000);
/// // Unit 3 was predicted at 1,000, and stands at 1,400 in truth.
/// glide.correct(3, [1_000, 0], [1_400, 0]);
/// assert_eq!(glide.offset(3), [-400, 0], "it is still drawn at 1,000");
/// glide.pass(Duration::from_millis(100));
/// assert_eq!(glide.offset(3), [-100, 0]);
/// glide.pass(Duration::from_millis(100));
/// assert_eq!(glide.offset(3), [0, 0]);
/// ```
#[derive(Clone, Debug)]
pub struct Glide {
    time: u64,
    jump: u64,
    offsets: Vec<Offset>,
    /// Numbers of the things whose offset is not zero, in any order.
    gliding: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Offset {
    from: [i64; 2],
    /// Microseconds left.
    left: u64,
}

impl Glide {
    /// Offsets last for `time`; 150 ms are hardly noticed. What is off by more than `jump` is shown at its position at once: it was moved there, or it is
    /// another thing by now.
    #[must_use]
    pub fn new(time: Duration, jump: u64) -> Self {
        // Numbers of 32 bits keep the square within range.
        Self {
            time: time.as_micros().clamp(1, u32::MAX.into()),
            jump,
            offsets: Vec::new(),
            gliding: Vec::new(),
        }
    }

    /// Time passes.
    pub fn pass(&mut self, time: Duration) {
        let Self { offsets, gliding, .. } = self;
        gliding.retain(|&thing| {
            let offset = &mut offsets[thing as usize];
            offset.left = offset.left.saturating_sub(time.as_micros());
            offset.left > 0
        });
    }

    /// A thing that was at `before` is at `after`, in the same frame. Returns the distance.
    pub fn correct(&mut self, thing: u32, before: [i64; 2], after: [i64; 2]) -> u64 {
        let error = [0, 1].map(|axis| before[axis].saturating_sub(after[axis]));
        let distance = length(error);
        if distance == 0 {
            return 0;
        }
        let now = self.offset(thing);
        let from = [0, 1].map(|axis| now[axis].saturating_add(error[axis]));
        if self.offsets.len() <= thing as usize {
            self.offsets.resize(thing as usize + 1, Offset::default());
        }
        let offset = &mut self.offsets[thing as usize];
        if offset.left == 0 {
            self.gliding.push(thing);
        }
        // One that jumps stays on the list until time passes.
        *offset = if length(from) > self.jump {
            Offset { from: [0; 2], left: 1 }
        } else {
            Offset { from, left: self.time }
        };
        distance
    }

    /// Whether everything is drawn where it is.
    #[must_use]
    pub fn is_still(&self) -> bool {
        self.gliding.is_empty()
    }

    /// What is to be added to the position of a thing.
    #[must_use]
    pub fn offset(&self, thing: u32) -> [i64; 2] {
        let Some(offset) = self.offsets.get(thing as usize).filter(|offset| offset.left > 0) else {
            return [0; 2];
        };
        // The square of the part of the time that is left.
        let (left, time) = (i128::from(offset.left), i128::from(self.time));
        offset.from.map(|from| (i128::from(from) * left * left / (time * time)) as i64)
    }
}

/// Length of a vector, rounded down.
fn length(vector: [i64; 2]) -> u64 {
    let [x, y] = vector.map(|side| u128::from(side.unsigned_abs()));
    (x * x + y * y).isqrt() as u64
}

/// Number of classes of distances: four for each power of two.
const CLASSES: usize = 256;

/// How wrong predictions were: distances, as [`Glide::correct`] returns them, and the number of things that were at their positions.
#[derive(Clone, Debug)]
pub struct Corrections {
    right: u64,
    sum: u128,
    greatest: u64,
    classes: [u64; CLASSES],
}

impl Default for Corrections {
    fn default() -> Self {
        Self { right: 0, sum: 0, greatest: 0, classes: [0; CLASSES] }
    }
}

impl Corrections {
    /// Counts a thing that was off by so much; 0: it was right.
    pub fn note(&mut self, distance: u64) {
        if distance == 0 {
            self.right += 1;
            return;
        }
        self.sum += u128::from(distance);
        self.greatest = self.greatest.max(distance);
        self.classes[class(distance)] += 1;
    }

    /// Number of things that were at the wrong position.
    #[must_use]
    pub fn wrong(&self) -> u64 {
        self.classes.iter().sum()
    }

    /// Number of things that were at their positions.
    #[must_use]
    pub fn right(&self) -> u64 {
        self.right
    }

    /// Mean distance of those at the wrong position, rounded down; 0 if there are none.
    #[must_use]
    pub fn mean(&self) -> u64 {
        self.sum.checked_div(self.wrong().into()).unwrap_or(0) as u64
    }

    /// The distance that this part of those at the wrong position do not exceed, in percent (0..=100); at most a quarter too high.
    #[must_use]
    pub fn percentile(&self, percent: u8) -> u64 {
        let wanted = (self.wrong() * u64::from(percent.min(100))).div_ceil(100);
        let mut seen = 0;
        for (number, &count) in self.classes.iter().enumerate() {
            seen += count;
            if count > 0 && seen >= wanted {
                return bound(number).min(self.greatest);
            }
        }
        0
    }

    /// The greatest distance.
    #[must_use]
    pub fn greatest(&self) -> u64 {
        self.greatest
    }
}

/// The class of a distance above 0: its power of two, and the two bits after the first.
fn class(distance: u64) -> usize {
    let power = distance.ilog2();
    let quarter = if power < 2 { (distance << (2 - power)) & 3 } else { (distance >> (power - 2)) & 3 };
    (power * 4) as usize + quarter as usize
}

/// The greatest distance of a class.
fn bound(class: usize) -> u64 {
    let (power, quarter) = (class as u32 / 4, class as u128 % 4);
    let next = (1u128 << power) * (4 + quarter + 1);
    next.div_ceil(4).saturating_sub(1).clamp(1, u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_numbers_glide() {
        for (time, jump) in [(u64::MAX, u64::MAX), (1, u64::MAX), (u64::MAX, 10)] {
            let mut glide = Glide::new(Duration::from_micros(time), jump);
            for (before, after) in [(i64::MAX, i64::MIN), (i64::MIN, i64::MAX), (i64::MAX, -1)] {
                glide.correct(0, [before; 2], [after; 2]);
                glide.pass(Duration::from_micros(1));
                let _ = glide.offset(0);
            }
        }
    }

    #[test]
    fn a_second_correction_goes_on_from_where_the_thing_is_drawn() {
        let mut glide = Glide::new(Duration::from_millis(100), 1_000);
        assert_eq!(glide.correct(0, [300, 400], [0, 0]), 500);
        glide.pass(Duration::from_millis(50));
        assert_eq!(glide.offset(0), [75, 100]);
        glide.correct(0, [0, 0], [10, 0]);
        assert_eq!(glide.offset(0), [65, 100]);
        glide.pass(Duration::from_millis(99));
        glide.pass(Duration::from_millis(1));
        assert_eq!((glide.offset(0), glide.gliding.len()), ([0, 0], 0));
        glide.correct(7, [0, 0], [5_000, 0]);
        assert_eq!(glide.offset(7), [0, 0], "too far: it jumps");
        glide.pass(Duration::from_millis(1));
        assert!(glide.is_still());
    }

    #[test]
    fn distances_are_counted_with_bounds_that_hold() {
        for distance in (1..5_000).chain([1 << 40, u64::MAX / 3, u64::MAX]) {
            let bound = bound(class(distance));
            assert!(bound >= distance && bound - distance <= distance / 4, "{distance}: {bound}");
        }
        let mut corrections = Corrections::default();
        assert_eq!((corrections.mean(), corrections.percentile(99)), (0, 0));
        (0..=1_000).for_each(|distance| corrections.note(distance));
        assert_eq!((corrections.right(), corrections.wrong(), corrections.mean()), (1, 1_000, 500));
        let [half, most] = [50, 99].map(|percent| corrections.percentile(percent));
        assert!((500..625).contains(&half) && (990..=1_000).contains(&most), "{half}, {most}");
        assert_eq!(corrections.percentile(100), corrections.greatest());
    }
}
