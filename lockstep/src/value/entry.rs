//! One entry of a player's stream: the encoded actions of one turn, and the extras that travel with them.

use smallvec::SmallVec;

use crate::value::ids::PlayerSet;

/// The bits of a turn's actions. In input mode one action; in command mode any number of actions, one after the other.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Payload {
    pub(crate) bytes: SmallVec<[u8; 16]>,
    pub(crate) bit_count: u32,
}

impl Payload {
    /// The first `bit_count` bits of `bytes`; the rest of the last byte is cleared.
    ///
    /// # Panics
    /// If `bytes` holds fewer bits.
    #[must_use]
    pub fn new(bytes: &[u8], bit_count: u32) -> Self {
        let mut bytes = SmallVec::from_slice(&bytes[..bit_count.div_ceil(8) as usize]);
        if let (Some(last), used @ 1..=7) = (bytes.last_mut(), bit_count & 7) {
            *last &= (1 << used) - 1;
        }
        Self { bytes, bit_count }
    }

    /// The explicit "no action".
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether it holds no action.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.bit_count == 0
    }

    /// The bytes; unused high bits of the last one are zero.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of bits.
    #[must_use]
    pub fn bit_count(&self) -> u32 {
        self.bit_count
    }
}

/// Why a player's stream ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EndReason {
    /// The player left in good order.
    Left,
    /// The others went on without the player.
    Dropped,
    /// The player gave up: out of the match, but may go on watching.
    Surrendered,
    /// The player handed over to a bot and may go on watching.
    HandedOver,
}

/// Slowest speed of a match, percent of real time.
pub const SPEED_PERCENT_MIN: u8 = 10;

/// Fastest speed of a match, percent of real time.
pub const SPEED_PERCENT_MAX: u8 = 250;

/// The speed of a match that nobody has changed, percent of real time.
pub(crate) const SPEED_PERCENT_USUAL: u8 = 100;

/// What travels with an entry besides actions. Each kind occurs at most once, in ascending order of kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Extra {
    /// Kind 0: the player's checksum of the turn that was complete when the entry closed, folded to 32 bits
    /// (see [`crate::fold_checksum`]), and in a star without signatures marked with the session's part of the state.
    Checksum(u32),
    /// Kind 1: the player's rolling averages in milliseconds.
    Pace {
        /// From sending an entry to its last confirmation.
        network_ms: u16,
        /// The slowest frame of a turn.
        runtime_ms: u16,
    },
    /// Kind 2: this is the player's last entry; it holds no action.
    End(EndReason),
    /// Kind 3: from this turn on the simulation is paused (true) or runs again (false).
    Pause(bool),
    /// Kind 4: from this turn on frames pass at this speed, percent of real time, 10..=250. The simulation's step stays the same.
    Speed(u8),
    /// Kind 5: the match is saved in the state before this turn.
    Save,
    /// Kind 6: the result of the match. The player's simulation found it at the end of the turn that was complete when the entry closed.
    Result(u32),
    /// Kind 7: how long the others' entries wait at this player's machine before they are needed, on average, in tenths of a millisecond.
    /// Negative: how long this player waits for them.
    Slack(i16),
    /// Kind 8: the player has come back, over the connection with this number. Its stream, which had ended, continues with this entry,
    /// which the middle of the star has made; there are no entries in between.
    Return(u16),
    /// Kind 9: from now on the player votes these players out, and nobody else ([`Session::vote_out`](crate::AnySession::vote_out)).
    Votes(PlayerSet),
}

impl Extra {
    /// Number of the kind on the wire.
    pub(crate) fn kind(self) -> u8 {
        match self {
            Self::Checksum(_) => 0,
            Self::Pace { .. } => 1,
            Self::End(_) => 2,
            Self::Pause(_) => 3,
            Self::Speed(_) => 4,
            Self::Save => 5,
            Self::Result(_) => 6,
            Self::Slack(_) => 7,
            Self::Return(_) => 8,
            Self::Votes(_) => 9,
        }
    }

    /// Whether it is saved with its entry: it is if it changes the course of the match. Measurements and checksums belong to the original
    /// match, and the save itself is done.
    pub(crate) fn is_kept(self) -> bool {
        match self {
            Self::End(_) | Self::Pause(_) | Self::Speed(_) | Self::Return(_) => true,
            Self::Checksum(_) | Self::Pace { .. } | Self::Save | Self::Result(_) | Self::Slack(_) => false,
            Self::Votes(_) => false,
        }
    }
}

/// Inline storage for the extras of most entries.
pub type Extras = SmallVec<[Extra; 4]>;

/// One entry of a player's stream.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// The player's actions.
    pub payload: Payload,
    /// The extras, ascending by kind.
    pub extras: Extras,
}

impl Entry {
    /// The reason if this entry ends the stream.
    #[must_use]
    pub fn end(&self) -> Option<EndReason> {
        self.extras.iter().find_map(|extra| match *extra {
            Extra::End(reason) => Some(reason),
            _ => None,
        })
    }

    /// If the player comes back with this entry: the number of the connection over which it does.
    #[must_use]
    pub fn returns(&self) -> Option<u16> {
        self.extras.iter().find_map(|extra| match *extra {
            Extra::Return(connection) => Some(connection),
            _ => None,
        })
    }

    /// Whom the player votes out from now on, if the entry says so.
    #[must_use]
    pub fn votes(&self) -> Option<PlayerSet> {
        self.extras.iter().find_map(|extra| match *extra {
            Extra::Votes(players) => Some(players),
            _ => None,
        })
    }

    /// The match's result, if the entry carries one.
    #[must_use]
    pub fn result(&self) -> Option<u32> {
        self.extras.iter().find_map(|extra| match *extra {
            Extra::Result(value) => Some(value),
            _ => None,
        })
    }

    /// The checksum, if the entry carries one.
    #[must_use]
    pub fn checksum(&self) -> Option<u32> {
        self.extras.iter().find_map(|extra| match *extra {
            Extra::Checksum(value) => Some(value),
            _ => None,
        })
    }
}
