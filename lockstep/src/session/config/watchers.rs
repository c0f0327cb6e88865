//! Settings for watchers.

use crate::session::config::SessionConfig;
use crate::value::time::Duration;

/// How many may watch, and what they see.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Watchers {
    pub(crate) watchers_max: u32,
    pub(crate) watchers_min: u32,
    pub(crate) late_watchers: bool,
    pub(crate) watch_delay: Duration,
}

impl Default for Watchers {
    fn default() -> Self {
        Self { watchers_max: 16, watchers_min: 0, late_watchers: false, watch_delay: Duration::ZERO }
    }
}

impl SessionConfig {
    /// Greatest number of watchers that a host or relay accepts, 0..=256. Default 16.
    pub fn watchers_max(mut self, watchers_max: u32) -> Self {
        self.watchers.watchers_max = watchers_max;
        self
    }

    /// Number of watchers that the host or relay waits for before the start, at most [`SessionConfig::watchers_max()`], and 0 in a
    /// mesh, which nobody watches. Default 0.
    pub fn watchers_min(mut self, watchers_min: u32) -> Self {
        self.watchers.watchers_min = watchers_min;
        self
    }

    /// Watchers may join the running match. Only the setting of the middle of a star matters. Default false.
    pub fn late_watchers(mut self, late_watchers: bool) -> Self {
        self.watchers.late_watchers = late_watchers;
        self
    }

    /// How much later than the players watchers get everything, 0 to 24 h: entries, and the state of a running match. So no player can use what a watcher sees.
    /// Only the setting of the middle of a star matters; a watcher who comes late needs a [`SessionConfig::join_timeout()`] that is longer than this. The
    /// middle keeps at most 3,584 turns for watchers, so with short turns the delay may be shorter. Default 0.
    pub fn watch_delay(mut self, watch_delay: Duration) -> Self {
        self.watchers.watch_delay = watch_delay;
        self
    }
}
