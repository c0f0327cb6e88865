//! The errors of physics and movement as failures.

use testudo_movement::{CrowdError, FlowError, GroundError, MoveError, StateError};
use testudo_physics::{
    BodyError, FlipError, InvalidState, QueryError, SnapshotError, StepError, TerrainError, WorldError,
};

use crate::failure::{
    Failure, TESTUDO_DAMAGED, TESTUDO_FULL, TESTUDO_OUT_OF_RANGE, TESTUDO_REFUSED, TESTUDO_STALE,
    TESTUDO_VERSION, TestudoStatus,
};

/// `failures!(Error: |error| status)`: the words of an error are its own.
macro_rules! failures {
    ($($error:ty: $status:expr;)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let status: fn(&$error) -> TestudoStatus = $status;
                Self::new(status(&error), error.to_string())
            }
        }
    )*};
}

pub(crate) use failures;

failures! {
    BodyError: of_body;
    TerrainError: |error| match error {
        TerrainError::Body(error) => of_body(error),
        TerrainError::NotConvex { .. } => TESTUDO_REFUSED,
        _ => TESTUDO_OUT_OF_RANGE,
    };
    WorldError: |_| TESTUDO_OUT_OF_RANGE;
    QueryError: |_| TESTUDO_OUT_OF_RANGE;
    StepError: |_| TESTUDO_OUT_OF_RANGE;
    SnapshotError: |error| match error {
        SnapshotError::Version { .. } => TESTUDO_VERSION,
        _ => TESTUDO_DAMAGED,
    };
    InvalidState: |_| TESTUDO_DAMAGED;
    CrowdError: |_| TESTUDO_OUT_OF_RANGE;
    GroundError: |_| TESTUDO_OUT_OF_RANGE;
    MoveError: of_move;
    StateError: |error| match error {
        StateError::Version { .. } => TESTUDO_VERSION,
        _ => TESTUDO_DAMAGED,
    };
    FlipError: |error| match error {
        FlipError::Stale(_) => TESTUDO_STALE,
        _ => TESTUDO_OUT_OF_RANGE,
    };
}

fn of_body(error: &BodyError) -> TestudoStatus {
    match error {
        BodyError::Stale(_) => TESTUDO_STALE,
        BodyError::TooManyPairs { .. } => TESTUDO_FULL,
        BodyError::OutOfRange { .. } => TESTUDO_OUT_OF_RANGE,
        _ => TESTUDO_REFUSED,
    }
}

fn of_move(error: &MoveError) -> TestudoStatus {
    match error {
        MoveError::BodyGone(_) | MoveError::PreyGone(_) | MoveError::Stranger(_) => TESTUDO_STALE,
        MoveError::NotDynamic(_)
        | MoveError::PursuesItself(_)
        | MoveError::NotSurveyed
        | MoveError::Flow(FlowError::NoGround { .. }) => TESTUDO_REFUSED,
        MoveError::Flow(FlowError::TooMany { .. }) => TESTUDO_FULL,
        _ => TESTUDO_OUT_OF_RANGE,
    }
}
