//! How many frames fit into the time that a picture has for them.

use crate::value::time::Duration;

/// Most frames of one picture.
const FRAMES_MAX: u64 = 64;

/// Part of the average that a new measurement replaces: an eighth.
const NEWS_SHIFT: u32 = 3;

/// Turns the time that a picture has for prediction into a number of frames for [`crate::predict::Predictor::follow`]: by the average of what they
/// took before. The application measures, because the library reads no clock.
///
/// ```
/// use testudo_lockstep::Duration;
/// use testudo_lockstep::predict::PictureBudget;
/// let mut budget = PictureBudget::new(Duration::from_millis(8));
/// assert_eq!(budget.frames(), 2, "nothing is known yet");
/// for _ in 0..40 {
///     budget.note(3, Duration::from_millis(6));
/// }
/// assert_eq!(budget.frames(), 4, "8 ms, two for each frame");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PictureBudget {
    per_picture: Duration,
    /// Average time of a frame, nanoseconds; 0 before the first one.
    frame_nanos: u64,
}

impl PictureBudget {
    /// A budget of so much time per picture.
    #[must_use]
    pub fn new(per_picture: Duration) -> Self {
        Self { per_picture, frame_nanos: 0 }
    }

    /// So many frames may be simulated for the next picture: at least 1, at most 64, and 2 before anything was measured.
    #[must_use]
    pub fn frames(&self) -> u32 {
        if self.frame_nanos == 0 {
            return 2;
        }
        let nanos = self.per_picture.as_micros().saturating_mul(1_000);
        (nanos / self.frame_nanos).clamp(1, FRAMES_MAX) as u32
    }

    /// Average time that a frame took, copies included.
    #[must_use]
    pub fn frame_time(&self) -> Duration {
        Duration::from_micros(self.frame_nanos / 1_000)
    }

    /// A call of [`crate::predict::Predictor::follow`] has simulated so many frames and taken so much time. Calls without frames say nothing.
    pub fn note(&mut self, frames: u32, took: Duration) {
        let Some(nanos) = took.as_micros().saturating_mul(1_000).checked_div(frames.into()) else { return };
        let nanos = nanos.max(1);
        self.frame_nanos = match self.frame_nanos {
            0 => nanos,
            average => average - (average >> NEWS_SHIFT) + (nanos >> NEWS_SHIFT),
        }
        .max(1);
    }
}
