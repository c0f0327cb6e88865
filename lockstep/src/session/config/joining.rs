//! Settings for joining a running match, and its costs.

use core::fmt;

use crate::session::config::SessionConfig;
use crate::value::time::Duration;

/// The secret of a player's place; logs do not show it. 0 if there is none.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SeatSecret(pub(crate) u128);

impl fmt::Debug for SeatSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeatSecret(..)")
    }
}

impl SessionConfig {
    /// Random bytes by which this player proves later that it is the same. A player who was dropped, or whose program crashed, comes back
    /// with the same bytes to the same place of the running match (by [`Session::join`](crate::Session::join)). The middle of the star
    /// keeps them, and no other peer gets them; they are only as secret as the transport. Default: none, so the player cannot come back.
    #[must_use]
    pub fn seat_secret(self, secret: [u8; 16]) -> Self {
        Self { seat: SeatSecret(u128::from_le_bytes(secret)), ..self }
    }

    /// Greatest size of a running match's state that this peer sends, receives or forwards, in bytes, at most 256 MiB. 0: no state at all,
    /// so nobody joins a running match. Default 16 MiB. A local choice: it bounds the memory.
    #[must_use]
    pub fn state_bytes_max(self, state_bytes_max: u32) -> Self {
        Self { state_bytes_max, ..self }
    }

    /// Greatest number of bytes per second that states in transfer use of this peer's uplink, for all receivers together, 1,000 to
    /// 1,000,000,000. On a narrow network it is less, and orders always go first. Default 500,000. A local choice.
    #[must_use]
    pub fn state_rate(self, bytes_per_second: u32) -> Self {
        Self { state_rate: bytes_per_second, ..self }
    }

    /// This peer gives its state to who joins only if no other can: it declines the first time, and the middle of the star asks again when
    /// nobody else has given one. For peers with a poor uplink, such as browser tabs. A local choice of a peer that is not the middle.
    #[must_use]
    pub fn gives_state_last(self) -> Self {
        Self { gives_state_last: true, ..self }
    }

    /// Time that a peer has for joining a running match, 1 ms to 24 h. Default 60 s.
    #[must_use]
    pub fn join_timeout(self, join_timeout: Duration) -> Self {
        Self { join_timeout, ..self }
    }

    /// Strangers who know the session id may take the place of a player who has been away for this long (and has not surrendered). Only the
    /// setting of the middle of a star matters. Default: not allowed.
    #[must_use]
    pub fn late_joins(self, after: Duration) -> Self {
        Self { late_joins: Some(after), ..self }
    }

    /// Spectators may join the running match. Only the setting of the middle of a star matters. Default false.
    #[must_use]
    pub fn late_watchers(self, late_watchers: bool) -> Self {
        Self { late_watchers, ..self }
    }

    /// How much later than the players watchers get everything, 0 to 600 s: entries, and the state of a running match. So nobody plays by
    /// what a watcher sees. Only the setting of the middle of a star matters; a watcher who comes late needs a
    /// [`SessionConfig::join_timeout()`] that is longer than this. The middle keeps at most 3,584 turns for watchers, so with short turns
    /// the delay may be shorter. Default 0.
    #[must_use]
    pub fn watch_delay(self, watch_delay: Duration) -> Self {
        Self { watch_delay, ..self }
    }
}
