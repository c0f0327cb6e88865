//! Teams, as far as this seat has a say: before the start everybody's wishes, at the start the first player's word.

use testudo_lockstep::{Identity, Instant, PlayerId, SessionPhase};

use crate::app::online::seat::Seat;
use crate::app::online::team_wish::TeamWish;
use crate::game::{Command, Order, Selection, TEAMS_MAX, Teams};

impl Seat {
    /// A player's team, 0 for none: before the start as the lobby has it, then as it is in the battle.
    pub(crate) fn team_of(&self, player: PlayerId) -> u8 {
        if self.is_before_first_turn() {
            self.wished_or_told(player)
        } else {
            self.client().game().teams().of(player.0)
        }
    }

    /// Whether this seat may put a player into a team: before the start everybody chooses their own, and the first player all.
    pub(crate) fn may_set_team(&self, player: PlayerId) -> bool {
        let wish = TeamWish { player, team: 0 };
        let is_granted = matches!(self.place, Identity::Player(own) if wish.is_granted_to(own));
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
        if self.middle.is_none() {
            self.roll.set_team(player, team);
            self.roll.hurry(self.clock.now());
        } else {
            self.wishes.add(TeamWish { player, team });
        }
        true
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
            teams.set(player.0, self.wished_or_told(player));
        }
        teams
    }

    fn wished_or_told(&self, player: PlayerId) -> u8 {
        self.wishes.of(player).map_or_else(|| self.roll.team(player), |wish| wish.team)
    }

    /// The order with which the first player's program settles the teams, in the first turn.
    pub(super) fn first_order(&self) -> Option<Order> {
        let is_first = self.place == Identity::Player(PlayerId(0)) && self.session().next_turn().0 == 0;
        let teams = is_first.then(|| self.lineup()).filter(Teams::are_any)?;
        Some(Order::new(Selection::All, Command::Teams(teams)))
    }

    /// Tells the middle of the star what it has not told back yet.
    pub(super) fn send_wishes(&mut self, now: Instant) {
        let Some(middle) = self.middle.filter(|_| self.session().phase() == SessionPhase::Lobby) else {
            return;
        };
        let Self { wishes, roll, wire, session_id, .. } = self;
        for wish in wishes.take_due(now, |wish| roll.team(wish.player) == wish.team) {
            wire.send_aside(middle, &wish.to_bytes(*session_id));
        }
    }
}
