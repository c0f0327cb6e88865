//! One peer's copy of a match, with comparison, recording and measurement.

pub(crate) mod comparison;
pub(crate) mod diagnosis;
pub(crate) mod foresight;
pub(crate) mod game_copy;
pub(crate) mod outcome;
pub(crate) mod pilot;
pub(crate) mod recording;
pub(crate) mod spread;
pub(crate) mod telemetry;
pub(crate) mod turn_record;
