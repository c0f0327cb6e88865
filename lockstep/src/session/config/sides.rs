//! Settings for the players: their host, their teams, and bots that play on for them.

use crate::session::config::SessionConfig;
use crate::value::entry::EndReason;
use crate::value::ids::{PLAYERS_MAX, PlayerId};

/// The players of a match.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Sides {
    pub(crate) host_player: u8,
    pub(crate) teams: [u8; PLAYERS_MAX as usize],
    pub(crate) bots_take_over: bool,
}

impl Default for Sides {
    fn default() -> Self {
        Self { host_player: 0, teams: core::array::from_fn(|player| player as u8), bots_take_over: false }
    }
}

impl SessionConfig {
    /// The player in the middle of a star of players, below the number of players. Default 0. A player who resumes a saved match hosts it with the number that
    /// it had.
    pub fn host_player(mut self, host_player: PlayerId) -> Self {
        self.sides.host_player = host_player.0;
        self
    }

    /// Teams of the players in order, 0..=15. By default, and for players beyond the list, each player is a team of its own, with the
    /// player's number. The session only reports that a team is out; the game decides what teams may do.
    pub fn teams(mut self, teams: &[u8]) -> Self {
        for (slot, &team) in self.sides.teams.iter_mut().zip(teams) {
            *slot = team;
        }
        self
    }

    /// The player's team.
    #[must_use]
    pub fn team_of(&self, player: PlayerId) -> u8 {
        self.sides.teams.get(player.index()).copied().unwrap_or(player.0)
    }

    /// The game plays on for a player who left or was dropped ([`crate::Simulation::play_for`]). Default false. Whatever this setting is, a
    /// player who surrenders is out, and a bot follows a player who hands over.
    pub fn bots_take_over(mut self, bots_take_over: bool) -> Self {
        self.sides.bots_take_over = bots_take_over;
        self
    }

    /// Whether the game plays on for a player whose stream ended for this reason.
    #[must_use]
    pub fn is_played_on(&self, reason: EndReason) -> bool {
        match reason {
            EndReason::Left | EndReason::Dropped => self.sides.bots_take_over,
            EndReason::Surrendered => false,
            EndReason::HandedOver => true,
        }
    }
}
