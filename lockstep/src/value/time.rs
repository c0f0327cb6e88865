//! Points and spans of time in microseconds. This crate never reads a clock: the caller passes `now`.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// Greatest number of whole frames per second.
const PER_SECOND_MAX: u32 = 4_000_000;

/// Why a number is no [`FrameRate`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FrameRateError {
    /// It is too low or too high.
    OutOfRange {
        /// The given value.
        value: u32,
        /// Smallest allowed value.
        min: u32,
        /// Largest allowed value.
        max: u32,
    },
}

impl fmt::Display for FrameRateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::OutOfRange { value, min, max } = self;
        write!(f, "frames per second must be {min} to {max}, not {value}")
    }
}

impl core::error::Error for FrameRateError {}

/// Frames per second of real time, to a thousandth: 20 frames per second are 20,000 millihertz.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "u32", into = "u32")
)]
pub struct FrameRate(u32);

/// Microseconds since an origin that the caller chooses. Only differences are meaningful.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Instant(u64);

/// A span of time in microseconds. Sums saturate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Duration(u64);

impl Instant {
    /// The origin.
    pub const ZERO: Self = Self(0);

    /// The instant `micros` microseconds after the origin.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The instant `millis` milliseconds after the origin.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Microseconds since the origin.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since the origin, rounded down.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }

    /// Time since `earlier`; zero if `earlier` lies in the future, so a clock that jumps back does no harm.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// A span of microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// A span of milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// A span of seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// Whole microseconds.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Whole milliseconds, rounded down.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }

    /// The span `factor` times over, saturating.
    #[must_use]
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl FrameRate {
    /// Whole frames per second, 1..=4,000,000.
    ///
    /// # Errors
    /// [`FrameRateError::OutOfRange`].
    pub const fn per_second(frames: u32) -> Result<Self, FrameRateError> {
        if frames == 0 || frames > PER_SECOND_MAX {
            return Err(FrameRateError::OutOfRange { value: frames, min: 1, max: PER_SECOND_MAX });
        }
        Ok(Self(frames * 1_000))
    }

    /// Frames per 1,000 seconds, at least 1.
    ///
    /// # Errors
    /// [`FrameRateError::OutOfRange`].
    pub const fn from_millihertz(frames: u32) -> Result<Self, FrameRateError> {
        if frames == 0 {
            return Err(FrameRateError::OutOfRange { value: frames, min: 1, max: u32::MAX });
        }
        Ok(Self(frames))
    }

    /// Frames per 1,000 seconds.
    #[must_use]
    pub const fn as_millihertz(self) -> u32 {
        self.0
    }

    /// Microseconds that this many frames take, rounded up.
    #[must_use]
    pub const fn micros_of(self, frames: u32) -> u64 {
        (frames as u64 * 1_000_000_000).div_ceil(self.0 as u64)
    }
}

/// In millihertz, as [`FrameRate::from_millihertz`].
impl TryFrom<u32> for FrameRate {
    type Error = FrameRateError;

    fn try_from(millihertz: u32) -> Result<Self, FrameRateError> {
        Self::from_millihertz(millihertz)
    }
}

/// In millihertz.
impl From<FrameRate> for u32 {
    fn from(rate: FrameRate) -> Self {
        rate.as_millihertz()
    }
}

/// The instant so long after the origin: `Instant::from(start.elapsed())`. Parts of a microsecond are cut off; a span beyond 584,000 years
/// saturates.
impl From<core::time::Duration> for Instant {
    fn from(since_origin: core::time::Duration) -> Self {
        Self(Duration::from(since_origin).0)
    }
}

/// Parts of a microsecond are cut off; a span beyond 584,000 years saturates.
impl From<core::time::Duration> for Duration {
    fn from(span: core::time::Duration) -> Self {
        Self(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
    }
}

/// For sockets and timers, which take the standard library's type.
impl From<Duration> for core::time::Duration {
    fn from(span: Duration) -> Self {
        Self::from_micros(span.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Duration {
    type Output = Self;
    /// Saturates at zero.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_never_go_negative() {
        let early = Instant::from_millis(3);
        let late = early + Duration::from_micros(5);
        assert_eq!(late.since(early).as_micros(), 5);
        assert_eq!(early.since(late), Duration::ZERO);
        assert_eq!(Instant::from_micros(u64::MAX) + Duration::from_secs(1), Instant::from_micros(u64::MAX));
    }

    #[test]
    fn rates_out_of_range_are_refused() {
        let refused = |value, max| Err(FrameRateError::OutOfRange { value, min: 1, max });
        for frames in [0, PER_SECOND_MAX + 1, u32::MAX] {
            assert_eq!(FrameRate::per_second(frames), refused(frames, PER_SECOND_MAX));
        }
        for frames in [1, PER_SECOND_MAX] {
            assert_eq!(FrameRate::per_second(frames).map(u32::from), Ok(frames * 1_000));
        }
        assert_eq!(FrameRate::from_millihertz(0), refused(0, u32::MAX));
        assert_eq!(FrameRate::try_from(0), refused(0, u32::MAX));
        for millihertz in [1, u32::MAX] {
            assert_eq!(FrameRate::from_millihertz(millihertz).map(u32::from), Ok(millihertz));
            assert_eq!(FrameRate::try_from(millihertz).map(u32::from), Ok(millihertz));
        }
    }

    #[test]
    fn spans_of_the_standard_library_are_cut_to_whole_microseconds_and_saturate() {
        type Span = core::time::Duration;
        assert_eq!(Duration::from(Span::from_nanos(1_999)), Duration::from_micros(1));
        assert_eq!(Instant::from(Span::from_millis(7)), Instant::from_millis(7));
        assert_eq!(Instant::from(Span::MAX), Instant::from_micros(u64::MAX));
        assert_eq!(Span::from(Duration::from_millis(3)), Span::from_millis(3));
    }
}
