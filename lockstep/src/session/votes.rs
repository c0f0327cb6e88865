//! Votes: the players can drop somebody who spoils the match, also where no player is in the middle.

use core::fmt;

use crate::session::common::Common;
use crate::session::event::Event;
use crate::session::{SessionPhase, players_in};
use crate::value::ids::{Identity, PLAYERS_MAX, PlayerId, PlayerSet, Turn};

/// A vote needs at least this many voters: with fewer, one player could drop another.
const VOTERS_MIN: u32 = 2;

/// A vote that does not count; it goes nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum VoteError {
    /// This peer has no player in the match, or its player's actions have ended.
    NotPlaying,
    /// The match has not begun, or this peer is still joining. Before the start the host can remove a player ([`AnySession::kick`](crate::AnySession::kick)).
    NotBegun,
    /// The match is over.
    Over,
    /// In a match of two nobody votes.
    OnlyTwo,
    /// Nobody votes against oneself.
    Oneself,
    /// All packets pass through this host.
    Host,
    /// In this mesh nobody is dropped ([`SessionConfig::without_drops`](crate::SessionConfig::without_drops)): no member may end another's stream.
    NobodyIsDropped,
    /// There is no such player.
    Nobody,
}

impl fmt::Display for VoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotPlaying => "this peer has no player in the match",
            Self::NotBegun => "nobody votes before the match has begun",
            Self::Over => "the match is over",
            Self::OnlyTwo => "in a match of two nobody votes",
            Self::Oneself => "nobody votes against oneself",
            Self::Host => "the host cannot be voted out, because all packets pass there",
            Self::NobodyIsDropped => "in this mesh nobody is dropped",
            Self::Nobody => "there is no such player",
        })
    }
}

impl std::error::Error for VoteError {}

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

    /// The middle of a star: a player is brought back, and none of its entries since vote yet.
    pub(super) fn forget_cast(&mut self, voter: PlayerId) {
        self.cast[voter.index()] = 0;
    }

    /// The turn of a player's return begins. (An entry after it that votes may be here already.)
    pub(super) fn forget_told(&mut self, voter: PlayerId) {
        self.told[voter.index()] = 0;
    }

    /// Whether enough of the players in the match vote this one out, as far as the middle of a star knows.
    pub(super) fn is_voted_out(&self, live: u16, player: PlayerId) -> bool {
        let voters = live & !(1 << player.0);
        let says = |voter: &PlayerId| self.cast[voter.index()] & (1 << player.0) != 0;
        let votes = players_in(voters).filter(says).count() as u32;
        votes >= VOTERS_MIN && votes * 2 > voters.count_ones()
    }

    /// A player's entry for the turn that begins has these votes.
    pub(super) fn note(&mut self, common: &mut Common, turn: Turn, voter: PlayerId, votes: PlayerSet) {
        let before = core::mem::replace(&mut self.told[voter.index()], votes.bits());
        for player in players_in((before ^ votes.bits()) & players_below(common.setup.config.players)) {
            common.emit(Event::Vote { turn, voter, player, out: votes.contains(player) });
        }
    }

    /// The local player votes, or takes its vote back.
    pub(super) fn vote(&mut self, player: PlayerId, out: bool) {
        let bit = 1 << player.0;
        self.own = if out { self.own | bit } else { self.own & !bit };
    }
}

/// Whether a vote of the local player against this one counts.
pub(super) fn may_vote(common: &Common, player: PlayerId) -> Result<(), VoteError> {
    let setup = &common.setup;
    let is_host = !setup.is_mesh() && setup.coordinator() == Identity::Player(player);
    let why_not = match setup.player() {
        None => VoteError::NotPlaying,
        _ if common.phase == SessionPhase::Lobby => VoteError::NotBegun,
        _ if common.phase != SessionPhase::Running => VoteError::Over,
        _ if common.player_ended() => VoteError::NotPlaying,
        _ if u32::from(setup.config.players) <= VOTERS_MIN => VoteError::OnlyTwo,
        _ if player.0 >= setup.config.players => VoteError::Nobody,
        Some(own) if own == player => VoteError::Oneself,
        Some(_) if setup.is_mesh() && !setup.may_drop() => VoteError::NobodyIsDropped,
        Some(_) if is_host => VoteError::Host,
        Some(_) => return Ok(()),
    };
    Err(why_not)
}

/// The first so many players, bit n for player n.
fn players_below(players: u8) -> u16 {
    (0..players.min(PLAYERS_MAX)).fold(0, |set, player| set | (1 << player))
}
