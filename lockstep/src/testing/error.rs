//! What a trial can find, with messages.

use core::fmt;

use crate::state::{Difference, Leaf, StateError};
use crate::value::bits::{DecodeError, Misfit};
use crate::value::ids::{PlayerId, Turn};

/// The run that differs from the first one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Run {
    /// A second game that got the same actions from its start.
    Again,
    /// A game that was restored from the first one's saved state. If [`Run::Again`] agrees, the walk leaves something out.
    Restored,
    /// A second game that got the actions as they were given, not as they arrive after encoding and decoding.
    Given,
}

/// Why a game failed its trial.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TrialError {
    /// The turn.
    pub turn: Turn,
    /// Number of frames of the turn that had run; 0 = before its actions.
    pub frame: u32,
    /// The fault.
    pub fault: TrialFault,
}

/// The fault in a [`TrialError`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TrialFault {
    /// A setting of the trial is below its least value; nothing was played.
    Setting {
        /// Name of the method that sets it.
        setting: &'static str,
        /// Its least value.
        min: u32,
    },
    /// A number that the walk shows differs between two runs.
    Number {
        /// Which run.
        run: Run,
        /// The number.
        difference: Difference,
    },
    /// All numbers of the walk are equal, but [`crate::Simulation::checksum`] is not: it covers something that the walk leaves out.
    Checksum {
        /// Which run.
        run: Run,
        /// Checksum of the first run.
        first: u64,
        /// Checksum of the other run.
        other: u64,
    },
    /// The game refuses a state that it saved itself.
    Refused(StateError),
    /// The walk shows this number, but [`crate::Simulation::checksum`] does not change with it: a desync in it would go unnoticed.
    NotHashed(Leaf),
    /// [`crate::Simulation::checksum`] returns this number as it came with a loaded state, whatever the rest of the state is. So a wrong state
    /// of a peer that lies would be believed.
    StoredChecksum(Leaf),
    /// In a turn without frames, because the match was paused, a player went or came back, and [`crate::Simulation::checksum`] did not follow.
    OldChecksum {
        /// What it returned.
        told: u64,
        /// What it returns when that state has been saved and loaded.
        computed: u64,
    },
    /// This call changes the state or the checksum. It only tells the game of something: a state that is given to a joining peer after it would not have the
    /// checksum that was exchanged before.
    Changed {
        /// A method of [`crate::Simulation`].
        by: &'static str,
    },
    /// A session would refuse this order, or apply another one.
    Order {
        /// The player who gave it.
        player: PlayerId,
        /// The fault.
        fault: OrderFault,
    },
}

/// A fault in the encoding of an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OrderFault {
    /// It is encoded in no bits at all.
    Empty,
    /// It takes more bits than [`crate::Action::MAX_BITS`].
    TooLong {
        /// Number of bits written.
        bits: u32,
        /// Greatest number of bits.
        max: u32,
    },
    /// `encode` writes a value that does not fit its bits.
    DoesNotFit(Misfit),
    /// `decode` refuses what `encode` wrote.
    Refused(DecodeError),
    /// `decode` leaves bits unread.
    Unread {
        /// Number of bits.
        bits: u32,
    },
    /// The decoded order is encoded in other bits.
    NotCanonical,
}

impl fmt::Display for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "turn {}, frame {}: {}", self.turn, self.frame, self.fault)
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Again => "a second run with the same actions",
            Self::Restored => "a run that was restored from the saved state",
            Self::Given => "a run whose actions were not encoded and decoded",
        })
    }
}

impl Run {
    /// In the order in which they are compared: what differs in the second run says nothing about saving or encoding.
    pub(super) const ALL: [Self; 3] = [Self::Again, Self::Restored, Self::Given];

    /// The player in front of this run's game; player 0 sits in front of the first.
    pub(super) fn local_player(self) -> PlayerId {
        PlayerId(self as u8 + 1)
    }

    /// A hint for the search if this run differs.
    fn advice(self) -> &'static str {
        match self {
            Self::Again => "",
            Self::Restored => {
                " (does `visit` show every field? or does a rule depend on addresses or the like?)"
            }
            Self::Given => " (does `decode` return the very action that `encode` wrote?)",
        }
    }
}

/// A hint if a restored run differs in a number of a world or a crowd: a crowd that is loaded surveys its ground anew.
fn survey(difference: &Difference) -> &'static str {
    let moves = |leaf: &Leaf| matches!(leaf.kind, "body" | "mover" | "crowd" | "field");
    if cfg!(feature = "movement") && [difference.here, difference.there].iter().flatten().any(moves) {
        " (did an obstacle come or go without `Crowd::survey_area` after it?)"
    } else {
        ""
    }
}

impl fmt::Display for TrialFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { setting, min } => write!(f, "the trial's {setting} must be at least {min}"),
            Self::Number { run, difference } => {
                write!(f, "{run} differs in {difference}{}", run.advice())?;
                f.write_str(if *run == Run::Restored { survey(difference) } else { "" })
            }
            Self::Checksum { run, first, other } => write!(
                f,
                "{run} has checksum {other:016x} instead of {first:016x}, although all numbers that `visit` shows agree{}",
                run.advice()
            ),
            Self::Refused(error) => write!(f, "the game refuses the state that it saved: {error}"),
            Self::NotHashed(leaf) => {
                write!(f, "`checksum` does not cover {} of {} {}", leaf.name, leaf.kind, leaf.index)
            }
            Self::StoredChecksum(leaf) => write!(
                f,
                "`checksum` returns {} of {} {} as it stood in the state that was loaded; it must be computed anew",
                leaf.name, leaf.kind, leaf.index
            ),
            Self::OldChecksum { told, computed } => write!(
                f,
                "a player goes or comes back in a pause, and `checksum` returns {told:016x} instead of {computed:016x}: it must follow changes \
                 without a frame, too"
            ),
            Self::Changed { by } => write!(f, "`{by}` changes the state or the checksum; it must not"),
            Self::Order { player, fault } => write!(f, "an order of player {player}: {fault}"),
        }
    }
}

impl fmt::Display for OrderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "`encode` writes nothing, but at least one bit is needed"),
            Self::TooLong { bits, max } => write!(f, "`encode` writes {bits} bits, MAX_BITS is {max}"),
            Self::DoesNotFit(misfit) => write!(f, "`encode` writes a value that does not fit: {misfit}"),
            Self::Refused(error) => write!(f, "`decode` refuses what `encode` wrote: {error}"),
            Self::Unread { bits } => {
                write!(f, "`decode` does not read {bits} of the bits that `encode` wrote")
            }
            Self::NotCanonical => {
                write!(f, "`encode` writes other bits for the order that `decode` returned")
            }
        }
    }
}

impl core::error::Error for TrialError {}
