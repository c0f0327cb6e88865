//! The result of an inquiry.

use core::fmt;

use crate::state::Leaf;

/// The result of an inquiry.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The first differing frame that both peers have kept; none if all are equal.
    pub frame: Option<u32>,
    /// Whether both peers have kept an earlier frame that is equal. Only then is this the first frame that differs in the match.
    pub is_first: bool,
    /// The first number that differs, with its value here.
    pub here: Option<Leaf>,
    /// The raw value there; none if another number is in its place.
    pub there: Option<i128>,
    /// Questions asked.
    pub round_trips: u32,
}

/// Why an inquiry message is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InquiryError {
    /// It is not a message, or not an answer to the question.
    Unexpected,
    /// The frame is not kept here any more.
    Forgotten,
    /// The answers contradict each other.
    Misled,
    /// The peer has asked more often than it may; it may ask again later.
    TooOften,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(frame) = self.frame else {
            return write!(f, "all frames that both peers have kept are equal");
        };
        write!(f, "frame {frame}{}: ", if self.is_first { "" } else { " or before" })?;
        match (self.here, self.there) {
            (Some(here), Some(there)) => {
                write!(
                    f,
                    "{} of {} {} is {} here and {there} there",
                    here.name, here.kind, here.index, here.value
                )
            }
            (Some(here), None) => {
                write!(
                    f,
                    "{} of {} {} is {} here and missing there",
                    here.name, here.kind, here.index, here.value
                )
            }
            (None, _) => write!(f, "the other state has numbers that this one lacks"),
        }
    }
}

impl fmt::Display for InquiryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unexpected => "the other peer's message does not answer the question",
            Self::Forgotten => "the frame is not kept any more",
            Self::Misled => "the other peer's answers contradict each other",
            Self::TooOften => "the other peer asks too often",
        })
    }
}

impl core::error::Error for InquiryError {}
