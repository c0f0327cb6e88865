//! Votes against a player who spoils the match.

use testudo_lockstep::{PlayerId, SessionPhase};

use crate::app::online::seat::Seat;

const ENDED: &str = "your orders have ended, and so have your votes";

impl Seat {
    /// Votes a player out, or takes the vote back.
    ///
    /// # Errors
    /// Why the vote does not count.
    pub(crate) fn vote_out(&mut self, player: PlayerId, out: bool) -> Result<(), &'static str> {
        if !self.driver.session_mut().vote_out(player, out) {
            return Err(self.why_no_vote(player).unwrap_or(ENDED));
        }
        let bit = 1 << player.0;
        let votes = &mut self.evidence.votes;
        *votes = if out { *votes | bit } else { *votes & !bit };
        Ok(())
    }

    /// Why a vote against this player would not count.
    pub(crate) fn why_no_vote(&self, player: PlayerId) -> Option<&'static str> {
        if self.is_watching() {
            Some("whoever watches has no vote")
        } else if self.session().is_joining() {
            Some("you are still coming back: vote when you play again")
        } else if self.session().phase() == SessionPhase::Lobby {
            Some("there are no votes before the start: the host can remove a player")
        } else if self.is_over() {
            Some("the match is over")
        } else if self.terms.setup.players <= 2 {
            Some("in a match of two there are no votes: leave the match instead")
        } else if player == self.player() {
            Some("nobody votes themselves out: leave the match instead")
        } else if !self.is_relayed && player == self.host_player() {
            Some("a host who plays cannot be voted out, as all packets pass there: leave the match instead")
        } else {
            None
        }
    }

    /// Whether this player votes that one out.
    pub(crate) fn votes_out(&self, player: PlayerId) -> bool {
        self.evidence.votes & (1 << player.0) != 0
    }
}
