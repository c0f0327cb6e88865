//! Settings for pauses and changes of speed. They are agreed on, because they decide what happens on every peer.

use crate::session::config::SessionConfig;
use crate::value::ids::PlayerId;
use crate::value::time::Duration;

/// Who pauses a match and sets its speed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Controls {
    /// Every player, each within its budget. The default.
    Everybody,
    /// More than half of the players who are in the match, who must ask for the same. There is no budget.
    Majority,
    /// The player [`SessionConfig::host_player()`], within its budget; behind a relay that is the first player unless it is set. Nobody else ends its
    /// pauses or changes its speed; when the player has gone, a pause ends, and the speed is the usual one.
    HostPlayer,
}

/// The budget of each player.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Control {
    pub(crate) controls: Controls,
    pub(crate) pauses_max: u32,
    pub(crate) pause_max: Duration,
    pub(crate) speed_changes_max: u32,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            controls: Controls::Everybody,
            pauses_max: 16,
            pause_max: Duration::from_secs(600),
            speed_changes_max: 100,
        }
    }
}

impl SessionConfig {
    /// Who pauses the match and sets its speed. Default [`Controls::Everybody`].
    pub fn controls(mut self, controls: Controls) -> Self {
        self.control.controls = controls;
        self
    }

    /// Number of pauses that each player may ask for, 0..=65,535. Whoever may pause the match may end any pause. Default 16.
    pub fn pauses_max(mut self, pauses_max: u32) -> Self {
        self.control.pauses_max = pauses_max;
        self
    }

    /// How long the pauses of each player may last in all, 0 to 24 h in whole milliseconds (what is beyond these does not count), counted in turns; then the
    /// match goes on. Default 10 minutes.
    pub fn pause_max(mut self, pause_max: Duration) -> Self {
        self.control.pause_max = pause_max;
        self
    }

    /// Number of changes of speed that each player may ask for, 0..=65,535. Default 100.
    pub fn speed_changes_max(mut self, speed_changes_max: u32) -> Self {
        self.control.speed_changes_max = speed_changes_max;
        self
    }

    /// Whether the player may ask for a pause or another speed at all.
    #[must_use]
    pub fn may_control(&self, player: PlayerId) -> bool {
        self.control.controls != Controls::HostPlayer || player.0 == self.sides.host_player
    }
}
