//! How a unit gets on towards its post.

use testudo_physics::Fx;

/// A unit that has not come nearer for this long has lost its patience, ms.
pub(super) const PATIENCE_MS: u32 = 1_500;

/// How near a unit came to its post, and how long it has been held up since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Shortest path to its post so far, units.
    pub(crate) best: Fx,
    /// How long it has not come nearer, ms.
    pub(crate) stalled_ms: u32,
    /// How often it was pushed back on this order, and whether `best` counts from where it was pushed to.
    pub(crate) setbacks: u8,
    pub(crate) is_back: bool,
    /// Whether the ground has changed since `best` was measured.
    pub(crate) is_old: bool,
}

impl Progress {
    /// On a way that begins.
    pub(crate) const NONE: Self =
        Self { best: Fx::MAX, stalled_ms: 0, setbacks: 0, is_back: false, is_old: false };

    /// How often it has lost its patience since it came nearer.
    pub(crate) fn spans(&self) -> u32 {
        self.stalled_ms / PATIENCE_MS
    }

    /// Whether it has been on its path since the ground changed last.
    pub(crate) fn had_path(&self) -> bool {
        self.best < Fx::MAX && !self.is_old
    }

    /// It came nearer: from now on it counts from a path of this length, units.
    pub(crate) fn counts_from(&mut self, to_go: Fx) {
        (self.best, self.stalled_ms) = (to_go, 0);
    }

    /// It has not come nearer for so long more, ms. If it waits behind others, it had waited for `least_stalled` (ms) before, whatever its own time.
    pub(crate) fn waits(&mut self, elapsed: u32, least_stalled: Option<u16>) {
        self.stalled_ms = least_stalled.map_or(self.stalled_ms, u32::from).saturating_add(elapsed);
    }
}
