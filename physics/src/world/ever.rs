//! Properties that no body ever had cost a step nothing.

use crate::body::record::{Body, Extra, flag};

/// The properties that some body had at any time: only these can a body have now. Derived from the bodies; it only saves work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ever {
    /// An unusual extra field.
    pub(crate) extras: bool,
    /// A rank: only then contacts ask for it.
    pub(crate) ranks: bool,
    /// The property of a sensor.
    pub(crate) sensors: bool,
    /// A force or damping.
    pub(crate) forces: bool,
}

impl Ever {
    /// Notes what a body has. Only a body with [`flag::EXTRA`] has unusual extra fields.
    #[inline]
    pub(crate) fn note(&mut self, body: &Body, extra: &Extra) {
        if body.has(flag::EXTRA) {
            self.extras = true;
            self.ranks |= extra.dominance != 0;
        }
        self.sensors |= body.has(flag::SENSOR);
        self.forces |= body.has(flag::FORCED | flag::DAMPED);
    }
}
