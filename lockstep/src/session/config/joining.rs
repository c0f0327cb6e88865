//! Who may come into a running match, and what that may cost.

use core::fmt;

use crate::session::config::SessionConfig;
use crate::value::time::Duration;

/// The secret of a player's place, which no log shows; 0 if there is none.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SeatSecret(pub(crate) u128);

impl fmt::Debug for SeatSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeatSecret(..)")
    }
}

impl SessionConfig {
    /// Random bytes with which this player proves later that it is the same: who was dropped, or whose program has crashed, comes back
    /// with the same bytes to the same place of the running match ([`Session::join`](crate::Session::join) again). The middle of the star
    /// keeps them, and nobody else gets them; like all else they are only as secret as the transport. Default: none, and nobody comes back.
    #[must_use]
    pub fn seat_secret(self, secret: [u8; 16]) -> Self {
        Self { seat: SeatSecret(u128::from_le_bytes(secret)), ..self }
    }

    /// Largest state of a running match that this peer gives, takes or passes on, in bytes, at most 256 MiB. 0: none at all, so that
    /// nobody joins a running match. Default 16 MiB. A local choice: it bounds the memory.
    #[must_use]
    pub fn state_bytes_max(self, state_bytes_max: u32) -> Self {
        Self { state_bytes_max, ..self }
    }

    /// Bytes per second that a state in transfer takes at most, of this peer's way out, for all receivers together, 1,000 to
    /// 1,000,000,000. It takes less when the way is narrow, and orders always go first. Default 500,000. A local choice.
    #[must_use]
    pub fn state_rate(self, bytes_per_second: u32) -> Self {
        Self { state_rate: bytes_per_second, ..self }
    }

    /// Time within which somebody who joins a running match has to be there, 1 ms to 24 h. Default 60 s.
    #[must_use]
    pub fn join_timeout(self, join_timeout: Duration) -> Self {
        Self { join_timeout, ..self }
    }

    /// Strangers who know the session id may take the place of a player who has been away for so long (and has not surrendered). Only the
    /// setting of the middle of a star matters. Default: nobody may.
    #[must_use]
    pub fn late_joins(self, after: Duration) -> Self {
        Self { late_joins: Some(after), ..self }
    }

    /// Spectators may come into the running match. Only the setting of the middle of a star matters. Default false.
    #[must_use]
    pub fn late_watchers(self, late_watchers: bool) -> Self {
        Self { late_watchers, ..self }
    }
}
