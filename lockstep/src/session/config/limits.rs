//! Settings that bound what a match needs.

use crate::session::config::SessionConfig;

/// Most turns from one exchanged checksum to the next.
pub(crate) const CHECKSUM_INTERVAL_MAX: u32 = 600;

/// Sizes and intervals.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Limits {
    pub(crate) actions_per_turn_max: u32,
    pub(crate) turn_bytes_max: u32,
    pub(crate) checksum_interval: u32,
    pub(crate) queue_max: u32,
    pub(crate) window: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            actions_per_turn_max: 1,
            turn_bytes_max: 256,
            checksum_interval: 1,
            queue_max: 64,
            window: 512,
        }
    }
}

impl SessionConfig {
    /// Greatest number of actions of one player in one turn, 1..=255. Default 1. Further actions are queued for later turns.
    pub fn actions_per_turn_max(mut self, actions_per_turn_max: u32) -> Self {
        self.limits.actions_per_turn_max = actions_per_turn_max;
        self
    }

    /// Greatest number of bytes of actions of one player in one turn, 1..=512. Default 256.
    pub fn turn_bytes_max(mut self, turn_bytes_max: u32) -> Self {
        self.limits.turn_bytes_max = turn_bytes_max;
        self
    }

    /// Number of turns from one exchanged checksum to the next, 1..=600. Default 1 (30 in input mode). The last turn always has one. A
    /// peer that joins waits for two of them, and for its state: a [`SessionConfig::join_timeout()`] must be three times as long.
    pub fn checksum_interval(mut self, checksum_interval: u32) -> Self {
        self.limits.checksum_interval = checksum_interval;
        self
    }

    /// Greatest number of actions that wait for their turn, 1..=4096. Default 64.
    pub fn queue_max(mut self, queue_max: u32) -> Self {
        self.limits.queue_max = queue_max;
        self
    }

    /// Number of entries of one stream that a peer may lack, 16..=1024. A peer that lacks more, and has lacked one of them for the drop time, is
    /// lost; with more than 4,096 it is lost at once. Default 512.
    pub fn window(mut self, window: u32) -> Self {
        self.limits.window = window;
        self
    }
}
