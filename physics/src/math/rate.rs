//! Amounts per second, applied frame by frame without loss.
//!
//! "10 damage per second" at 20 frames per second is `10 / 20 = 0` in integers, so nobody would ever be hurt. A [`Rate`] carries the
//! remainder of each frame, so that after every whole second exactly the amount of a second was given.

/// An amount per second with its carried remainder. It is state: hash and snapshot it with the object that owns it.
///
/// After `n` frames from a new rate at a constant number of frames per second, the sum is exactly `floor(per_second * n /
/// frames_per_second)`. Amounts are whole numbers of any unit. For fractions use a smaller unit, such as the bits of an [`Fx`](crate::Fx)
/// (1/65,536).
///
/// When the frames per second change from `old` to `new`, a remainder of `r / old` becomes `floor(r * new / old) / new`. This loses less
/// than `1 / new` of one unit and never gains anything.
///
/// ```
/// use testudo_physics::Rate;
/// let mut burning = Rate::new(10); // damage per second
/// let damage: Vec<i64> = (0..20).map(|_| burning.take(20)).collect();
/// assert_eq!(damage[..4], [0, 1, 0, 1]); // half a point per frame
/// assert_eq!(damage.iter().sum::<i64>(), 10);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rate {
    per_second: i64,
    /// In 1/frames_per_second of a unit; below `frames_per_second`, or both are 0 before the first frame.
    remainder: u32,
    frames_per_second: u32,
}

impl Rate {
    /// A rate of `per_second` units without a remainder. Negative rates are allowed.
    ///
    /// ```
    /// use testudo_physics::Rate;
    /// assert_eq!(Rate::new(60).take(20), 3);
    /// ```
    #[must_use]
    pub const fn new(per_second: i64) -> Self {
        Self { per_second, remainder: 0, frames_per_second: 0 }
    }

    /// The whole units of one frame, rounded down; the remainder is carried to the next frame.
    ///
    /// `frames_per_second` is the length of this frame, as in [`World::step`](crate::World::step). With 0 this returns 0 and changes
    /// nothing. Negative rates round down too: -1 per second at 2 frames per second gives -1, 0, -1, 0, ...
    ///
    /// ```
    /// use testudo_physics::Rate;
    /// let mut healing = Rate::new(7);
    /// assert_eq!([healing.take(3), healing.take(3), healing.take(3)], [2, 2, 3]);
    /// ```
    #[must_use = "the amount of this frame is handed out only once"]
    pub const fn take(&mut self, frames_per_second: u32) -> i64 {
        if frames_per_second == 0 {
            return 0;
        }
        let carried = rescale(self.remainder, self.frames_per_second, frames_per_second);
        // 128 bits: the greatest amount plus the greatest remainder exceeds 64 bits. The quotient always fits.
        let total = self.per_second as i128 + carried as i128;
        self.remainder = total.rem_euclid(frames_per_second as i128) as u32;
        self.frames_per_second = frames_per_second;
        total.div_euclid(frames_per_second as i128) as i64
    }

    /// Units per second.
    ///
    /// ```
    /// # use testudo_physics::Rate;
    /// assert_eq!(Rate::new(-3).per_second(), -3);
    /// ```
    #[must_use]
    pub const fn per_second(&self) -> i64 {
        self.per_second
    }

    /// Changes the units per second from the next frame on; the remainder stays.
    ///
    /// ```
    /// # use testudo_physics::Rate;
    /// let mut rate = Rate::new(1);
    /// assert_eq!(rate.take(2), 0); // half a unit is carried
    /// rate.set_per_second(3);
    /// assert_eq!(rate.take(2), 2); // 1/2 + 3/2
    /// ```
    pub const fn set_per_second(&mut self, per_second: i64) {
        self.per_second = per_second;
    }

    /// The remainder: `(r, f)` for `r / f` of a unit, where `f` is the frames per second of the last frame. `(0, 0)` before the first
    /// frame.
    ///
    /// ```
    /// # use testudo_physics::Rate;
    /// let mut rate = Rate::new(10);
    /// assert_eq!(rate.remainder(), (0, 0));
    /// assert_eq!(rate.take(20), 0);
    /// assert_eq!(rate.remainder(), (10, 20));
    /// ```
    #[must_use]
    pub const fn remainder(&self) -> (u32, u32) {
        (self.remainder, self.frames_per_second)
    }

    /// The rate with this [`per_second`](Self::per_second) and [`remainder`](Self::remainder), for snapshots. `None` if the remainder is
    /// not valid: it must be `(r, f)` with `r < f`, or `(0, 0)`.
    ///
    /// ```
    /// # use testudo_physics::Rate;
    /// let mut rate = Rate::new(10);
    /// let _ = rate.take(20);
    /// assert_eq!(Rate::from_parts(rate.per_second(), rate.remainder()), Some(rate));
    /// assert_eq!(Rate::from_parts(10, (20, 20)), None);
    /// ```
    #[must_use]
    pub const fn from_parts(per_second: i64, (remainder, frames_per_second): (u32, u32)) -> Option<Self> {
        if remainder < frames_per_second || (remainder == 0 && frames_per_second == 0) {
            Some(Self { per_second, remainder, frames_per_second })
        } else {
            None
        }
    }
}

/// Converts a remainder in 1/old to 1/new, rounded down; 0 if there was no frame before.
pub(crate) const fn rescale(remainder: u32, old: u32, new: u32) -> u32 {
    if old == new || old == 0 {
        return remainder;
    }
    // Below `new`, as remainder < old.
    (remainder as u64 * new as u64 / old as u64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_gives_the_amount_of_a_second() {
        for per_second in [0, 1, 7, 10, 19, 20, 21, 1000, -1, -7, -10, -1001] {
            for fps in [1, 2, 3, 7, 20, 59, 60, 144, 999, 1000] {
                let mut rate = Rate::new(per_second);
                for second in 1..=3 {
                    let given: i64 = (0..fps).map(|_| rate.take(fps)).sum();
                    assert_eq!(given, per_second, "{per_second} at {fps}, second {second}");
                    assert_eq!(rate.remainder(), (0, fps));
                }
            }
        }
    }

    #[test]
    fn a_remainder_is_rescaled_rounded_down_and_stays_below_one_unit() {
        let mut rate = Rate::new(10);
        assert_eq!((rate.take(30), rate.take(30)), (0, 0));
        assert_eq!(rate.remainder(), (20, 30));
        rate.set_per_second(0);
        assert_eq!(rate.take(20), 0);
        assert_eq!(rate.remainder(), (13, 20), "20/30 = 13.3/20");
        assert_eq!(rescale(999, 1000, 1), 0);
        assert_eq!(
            rescale(u32::MAX - 1, u32::MAX, u32::MAX - 1),
            u32::MAX - 2,
            "(n - 1)^2 / n = n - 2 + 1/n"
        );
    }

    #[test]
    fn the_ends_of_the_range_do_not_overflow() {
        for per_second in [i64::MIN, i64::MAX] {
            let mut rate = Rate::from_parts(per_second, (u32::MAX - 1, u32::MAX)).unwrap();
            let exact = i128::from(per_second) + i128::from(u32::MAX - 1);
            assert_eq!(i128::from(rate.take(u32::MAX)), exact.div_euclid(u32::MAX.into()));
            assert_eq!(Rate::new(per_second).take(1), per_second);
        }
    }

    #[test]
    fn no_frame_changes_nothing() {
        let mut rate = Rate::new(10);
        let _ = rate.take(20);
        let before = rate;
        assert_eq!(rate.take(0), 0);
        assert_eq!(rate, before);
    }
}
