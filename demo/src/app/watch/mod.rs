//! One peer's copy of a match, with comparison, recording and measurement.

pub(crate) mod client;
pub(crate) mod comparison;
pub(crate) mod diagnosis;
pub(crate) mod foresight;
pub(crate) mod outcome;
pub(crate) mod pilot;
pub(crate) mod record;
pub(crate) mod recording;
pub(crate) mod spread;
pub(crate) mod telemetry;
