//! Votes against a player who spoils the match.

use testudo_lockstep::{PlayerId, VoteError};

use crate::app::online::seat::Seat;

impl Seat {
    /// Votes a player out, or takes the vote back.
    ///
    /// # Errors
    /// Why the vote does not count.
    pub(crate) fn vote_out(&mut self, player: PlayerId, out: bool) -> Result<(), &'static str> {
        self.driver.session_mut().vote_out(player, out).map_err(|error| self.told(error))
    }

    /// Whether a vote against this player would count.
    pub(crate) fn may_vote_out(&self, player: PlayerId) -> bool {
        self.session().may_vote_out(player).is_ok()
    }

    /// Whether this player votes that one out.
    pub(crate) fn votes_out(&self, player: PlayerId) -> bool {
        self.session().votes_out().contains(player)
    }

    fn told(&self, error: VoteError) -> &'static str {
        match error {
            VoteError::NotPlaying if self.is_watching() => "whoever watches has no vote",
            VoteError::NotPlaying => "your orders have ended, and so have your votes",
            VoteError::NotBegun if self.session().is_joining() => {
                "you are still coming back: vote when you play again"
            }
            VoteError::NotBegun => "there are no votes before the start: the host can remove a player",
            VoteError::Over => "the match is over",
            VoteError::OnlyTwo => "in a match of two there are no votes: leave the match instead",
            VoteError::Oneself => "nobody votes themselves out: leave the match instead",
            VoteError::Host => {
                "a host who plays cannot be voted out, as all packets pass there: leave the match instead"
            }
            _ => "this vote does not count",
        }
    }
}
