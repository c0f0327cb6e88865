//! One peer's copy of a match, with comparison, recording and measurement.

pub(crate) mod comparison;
pub(crate) mod diagnosis;
pub(crate) mod game_copy;
pub(crate) mod outcome;
pub(crate) mod pilot;
pub(crate) mod recording;
pub(crate) mod seer;
pub(crate) mod spread;
pub(crate) mod telemetry;
pub(crate) mod turn_record;

/// Time that a picture may give to prediction. Tests must not depend on how busy the machine is.
pub(crate) const FORESIGHT_PER_PICTURE: Option<testudo_lockstep::Duration> =
    if cfg!(test) { None } else { Some(testudo_lockstep::Duration::from_millis(8)) };
