//! Votes: the players can drop somebody who spoils the match, also where no player is in the middle.

use crate::session::event::Event;
use crate::session::{AnySession, SessionPhase, players_in};
use crate::value::ids::{PLAYERS_MAX, PlayerId, PlayerSet, Turn};

/// A vote in a star needs at least this many voters: with fewer, one player could drop another.
const VOTERS_MIN: u32 = 2;

/// Whom the players vote out; bit n for player n.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ballots {
    /// The local player's votes.
    pub(super) own: u16,
    /// The same, as far as its entries say so.
    stated: u16,
    /// The middle of a star: the votes of each player in the newest entry that is here.
    cast: [u16; PLAYERS_MAX as usize],
    /// The votes of each player up to the turn that has begun.
    told: [u16; PLAYERS_MAX as usize],
}

impl Ballots {
    /// The local player's votes, if its entries have not stated them yet.
    pub(super) fn take_news(&mut self) -> Option<PlayerSet> {
        let is_new = core::mem::replace(&mut self.stated, self.own) != self.own;
        is_new.then(|| PlayerSet::from_bits(self.own))
    }

    /// The middle of a star: an entry with these votes is here.
    pub(super) fn cast(&mut self, voter: PlayerId, votes: PlayerSet) {
        self.cast[voter.index()] = votes.bits();
    }

    /// A player is back, and votes for nobody's drop.
    pub(super) fn forget(&mut self, voter: PlayerId) {
        (self.cast[voter.index()], self.told[voter.index()]) = (0, 0);
    }
}

impl AnySession {
    /// Votes a player out, or takes the vote back. When more than half of the other players who are in the match vote so, and in a star
    /// at least two, the player is dropped, as after a silence, and cannot come back while they vote so. The vote travels with the next entry, and
    /// every peer is told of it by [`Event::Vote`]. In a star the middle
    /// counts, and a host who plays cannot be voted out: leave the match instead. Returns whether the vote counts.
    pub fn vote_out(&mut self, player: PlayerId, out: bool) -> bool {
        let is_host = !self.setup.is_mesh() && self.setup.coordinator() == crate::Identity::Player(player);
        let can = self.setup.player().is_some_and(|own| own != player) && !is_host;
        if !can || player.0 >= self.setup.config.players || self.player_ended() {
            return false;
        }
        let bit = 1 << player.0;
        self.ballots.own = if out { self.ballots.own | bit } else { self.ballots.own & !bit };
        true
    }

    /// Whether enough of the players in the match vote this one out, as far as the middle of a star knows.
    pub(super) fn is_voted_out(&self, player: PlayerId) -> bool {
        let voters = self.live() & !(1 << player.0);
        let says = |voter: &PlayerId| self.ballots.cast[voter.index()] & (1 << player.0) != 0;
        let votes = players_in(voters).filter(says).count() as u32;
        votes >= VOTERS_MIN && votes * 2 > voters.count_ones()
    }

    /// The middle of a star drops whom the players vote out.
    pub(super) fn obey_votes(&mut self) {
        if !self.setup.forwards() || self.phase != SessionPhase::Running {
            return;
        }
        let own = self.setup.player().map_or(0, |own| 1 << own.0);
        for player in players_in(self.live() & !own) {
            if self.is_voted_out(player) {
                tracing::info!(player = player.0, "voted out");
                self.end_streams(1 << player.0);
            }
        }
    }

    /// A player's entry for the turn that begins has these votes.
    pub(super) fn note_votes(&mut self, turn: Turn, voter: PlayerId, votes: PlayerSet) {
        let before = core::mem::replace(&mut self.ballots.told[voter.index()], votes.bits());
        for player in players_in((before ^ votes.bits()) & players_below(self.setup.config.players)) {
            self.emit(Event::Vote { turn, voter, player, out: votes.contains(player) });
        }
    }
}

/// The first so many players, bit n for player n.
fn players_below(players: u8) -> u16 {
    (0..players.min(PLAYERS_MAX)).fold(0, |set, player| set | (1 << player))
}
