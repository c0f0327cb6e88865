//! Teams, as far as this seat has a say: before the start everybody's wishes, at the start the first player's word.

use testudo_lockstep::{Identity, PlayerId, SessionPhase};

use crate::app::online::name::Name;
use crate::app::online::profile::Profile;
use crate::app::online::seat::Seat;
use testudo_battle::{Command, Order, Selection, TEAMS_MAX, Teams};

/// What this player shows, as far as the session does not know it.
#[derive(Default)]
pub(crate) struct Shown {
    /// A host's newest plan. What the session has may be older: through a relay the echo of an earlier one comes back.
    pub(super) plan: Teams,
    /// The name of whoever comes back to a room that it opened, until the room has told what it shows of that player.
    pub(super) comes_back_as: Option<Name>,
}

impl Seat {
    /// A player's team, 0 for none: before the start as the lobby has it, then as it is in the battle.
    pub(crate) fn team_of(&self, player: PlayerId) -> u8 {
        if self.is_before_first_turn() {
            self.shown_team(player)
        } else {
            self.copy().game().teams().of(player.0)
        }
    }

    /// Whether this seat may put a player into a team: before the start everybody chooses their own, and the first player all.
    pub(crate) fn may_set_team(&self, player: PlayerId) -> bool {
        let is_granted =
            self.place == Identity::Player(player) || self.place == Identity::Player(PlayerId(0));
        is_granted && self.is_before_first_turn() && player.0 < self.terms.setup.players
    }

    /// In the lobby of a new match.
    pub(super) fn is_before_first_turn(&self) -> bool {
        self.session().phase() == SessionPhase::Lobby && self.session().next_turn().0 == 0
    }

    /// Puts a player into a team, 0 for none. Returns whether that is possible.
    pub(crate) fn set_team(&mut self, player: PlayerId, team: u8) -> bool {
        if team > TEAMS_MAX || !self.may_set_team(player) {
            return false;
        }
        let session = self.driver.session_mut();
        let is_host = self.place == Identity::Player(PlayerId(0));
        let has_chosen = Profile::of(session, player).team.is_some();
        if is_host && !has_chosen {
            // Nobody may be there yet, and the first profile of whoever comes would replace the choice.
            self.shown.plan.set(player.0, team);
            let profile = Profile { plan: self.shown.plan, ..Profile::of(session, PlayerId(0)) };
            return session.set_profile(PlayerId(0), &profile.to_bytes()).is_ok();
        }
        let profile = Profile { team: Some(team), ..Profile::of(session, player) };
        session.set_profile(player, &profile.to_bytes()).is_ok()
    }

    /// Whether the teams as they stand would leave nobody to fight; then they do not count.
    pub(crate) fn are_all_friends(&self) -> bool {
        let players = self.terms.setup.players;
        players > 1 && self.lineup().sides(players) < 2
    }

    /// As the lobby has them.
    fn lineup(&self) -> Teams {
        let mut teams = Teams::default();
        for player in (0..self.terms.setup.players).map(PlayerId) {
            teams.set(player.0, self.shown_team(player));
        }
        teams
    }

    /// As the player has chosen, or as the host has planned.
    fn shown_team(&self, player: PlayerId) -> u8 {
        let of = |player| Profile::of(self.session(), player);
        of(player).team.unwrap_or_else(|| of(PlayerId(0)).plan.of(player.0))
    }

    /// The order with which the first player's program settles the teams, in the first turn.
    pub(super) fn first_order(&self) -> Option<Order> {
        let is_first = self.place == Identity::Player(PlayerId(0)) && self.session().next_turn().0 == 0;
        let teams = is_first.then(|| self.lineup()).filter(Teams::are_any)?;
        Some(Order::new(Selection::All, Command::Teams(teams)))
    }
}
