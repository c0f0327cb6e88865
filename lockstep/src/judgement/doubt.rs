//! Why a judgement is not to be trusted.

use core::fmt;

/// Why a judgement is not to be trusted.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Doubt {
    /// The text is no judgement, for this reason.
    Malformed(String),
    /// The signature is not that of the key.
    Signature,
    /// It is signed with another key than the expected one.
    OtherKey,
    /// The replay is another one, or cannot be played, for this reason.
    Replay(String),
    /// Simulated again, the match comes to something else.
    Simulation(String),
    /// What the players are said to have signed is not signed by them.
    Testimony(String),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "this is not a judgement: {what}"),
            Self::Signature => {
                write!(f, "the signature is not that of the key: the judgement was changed or made up")
            }
            Self::OtherKey => write!(f, "it is signed with another key than the expected one"),
            Self::Replay(what) | Self::Simulation(what) | Self::Testimony(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Doubt {}
