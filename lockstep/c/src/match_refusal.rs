//! The errors of matches as failures.

use testudo_lockstep::replay::ReplayError;
use testudo_lockstep::{ConfigError, ControlError, MessageError, SavedMatchError, SubmitError, VoteError};

use crate::failure::{
    Failure, TESTUDO_DAMAGED, TESTUDO_FULL, TESTUDO_IO, TESTUDO_OUT_OF_RANGE, TESTUDO_REFUSED,
    TESTUDO_VERSION, TestudoStatus,
};
use crate::refusal::failures;

failures! {
    ConfigError: of_config;
    ControlError: |error| match error {
        ControlError::OutOfRange { .. } => TESTUDO_OUT_OF_RANGE,
        ControlError::UsedUp { .. } | ControlError::TimeUsedUp { .. } => TESTUDO_FULL,
        _ => TESTUDO_REFUSED,
    };
    MessageError: |error| match error {
        MessageError::TooLong { .. } => TESTUDO_OUT_OF_RANGE,
        MessageError::TooOften | MessageError::Full => TESTUDO_FULL,
        _ => TESTUDO_REFUSED,
    };
    VoteError: |_| TESTUDO_REFUSED;
    SavedMatchError: |error| match error {
        SavedMatchError::Version { .. } => TESTUDO_VERSION,
        SavedMatchError::Damaged(_) => TESTUDO_DAMAGED,
        _ => TESTUDO_DAMAGED,
    };
    ReplayError: |error| match error {
        ReplayError::Version { .. } | ReplayError::SimVersion { .. } | ReplayError::EngineVersion { .. } => {
            TESTUDO_VERSION
        }
        _ => TESTUDO_DAMAGED,
    };
    std::io::Error: |_| TESTUDO_IO;
}

fn of_config(error: &ConfigError) -> TestudoStatus {
    match error {
        ConfigError::NoEntropy | ConfigError::NoSessionId | ConfigError::OtherMatch => TESTUDO_REFUSED,
        ConfigError::UnsoundSave => TESTUDO_DAMAGED,
        _ => TESTUDO_OUT_OF_RANGE,
    }
}

/// The library speaks of types of actions, which C has not.
impl From<SubmitError> for Failure {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::QueueFull { .. } => Self::new(TESTUDO_FULL, error.to_string()),
            SubmitError::WrongSize { bits, max } => {
                let words = format!("an action of {bits} bits, but action_bits of the game is {max}");
                Self::new(TESTUDO_OUT_OF_RANGE, words)
            }
            SubmitError::NotCanonical | SubmitError::Refused(_) => {
                Self::new(TESTUDO_OUT_OF_RANGE, "by the length of actions, these bits are not one action")
            }
            _ => Self::new(TESTUDO_REFUSED, error.to_string()),
        }
    }
}

#[cfg(feature = "sealed")]
mod sealed {
    use testudo_lockstep::service::agreement::AgreementError;
    use testudo_lockstep::service::code::JoinCodeError;
    use testudo_lockstep::service::guest::GuestError;

    use super::{
        Failure, TESTUDO_DAMAGED, TESTUDO_IO, TESTUDO_OUT_OF_RANGE, TESTUDO_REFUSED, TestudoStatus, failures,
        of_config,
    };

    failures! {
        AgreementError: |error| match error {
            AgreementError::Config(error) => of_config(error),
            _ => TESTUDO_OUT_OF_RANGE,
        };
        JoinCodeError: |_| TESTUDO_OUT_OF_RANGE;
        GuestError: |error| match error {
            GuestError::Socket(_) | GuestError::Lost { .. } => TESTUDO_IO,
            GuestError::NotUnderstood => TESTUDO_DAMAGED,
            _ => TESTUDO_REFUSED,
        };
    }
}
