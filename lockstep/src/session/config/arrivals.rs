//! Settings for peers that join a running match, and what they cost.

use crate::session::config::SessionConfig;
use crate::value::time::Duration;

/// How peers join a running match.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Arrivals {
    pub(crate) state_bytes_max: u32,
    pub(crate) state_rate: u32,
    pub(crate) gives_state_last: bool,
    pub(crate) join_timeout: Option<Duration>,
    pub(crate) late_joins: Option<Duration>,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            state_bytes_max: 16 << 20,
            state_rate: 500_000,
            gives_state_last: false,
            join_timeout: None,
            late_joins: None,
        }
    }
}

impl SessionConfig {
    /// Greatest size of a running match's state that this peer sends, receives or forwards, in bytes, at most 256 MiB. 0: no state at all,
    /// so nobody joins a running match. Default 16 MiB. A local choice: it bounds the memory.
    pub fn state_bytes_max(mut self, state_bytes_max: u32) -> Self {
        self.arrivals.state_bytes_max = state_bytes_max;
        self
    }

    /// Greatest number of bytes per second that states in transfer use of this peer's uplink, for all receivers together, 1,000 to 1,000,000,000. On a slow
    /// network it is less, and orders always go first. A player gives the middle of its star 500,000 at most: hosts and relays close connections with too
    /// many packets. Default 500,000. A local choice.
    pub fn state_rate(mut self, bytes_per_second: u32) -> Self {
        self.arrivals.state_rate = bytes_per_second;
        self
    }

    /// This peer gives its state to joining peers only if no other can: it declines the first time, and the middle of the star asks again when
    /// nobody else has given one. For peers with a poor uplink, such as browser tabs. A local choice of a peer that is not the middle.
    pub fn gives_state_last(mut self) -> Self {
        self.arrivals.gives_state_last = true;
        self
    }

    /// Time that a peer has for joining a running match: at least three [intervals of checksums](SessionConfig::checksum_interval) and the turns
    /// ahead (1 ms in a mesh, which nobody joins), at most 24 h. In the lobby of a resumed match, it is the longest time without a new part
    /// of the save. Default 60 s, or more where checksums are rare. While a match is slow, the same number of its present turns if that is longer. A local
    /// choice.
    pub fn join_timeout(mut self, join_timeout: Duration) -> Self {
        self.arrivals.join_timeout = Some(join_timeout);
        self
    }

    /// Strangers who know the session id may take the place of a player who has been away for this long (and has not surrendered). Only the
    /// setting of the middle of a star matters. Default: not allowed.
    pub fn late_joins(mut self, after: Duration) -> Self {
        self.arrivals.late_joins = Some(after);
        self
    }
}
