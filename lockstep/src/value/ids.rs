//! Numbers of turns, frames, players and peers.

use core::fmt;

/// Greatest number of players in a session.
pub const PLAYERS_MAX: u8 = 16;

/// Number of a lockstep turn, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Turn(pub u32);

/// Number of a simulated frame, counted from 0 over the whole match.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Frame(pub u32);

/// A player's number in the session, 0..[`PLAYERS_MAX`]. The same on every peer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PlayerId(pub u8);

/// The other end of a link, as the caller's transport numbers it. The number is local: two peers may use different numbers for the same
/// machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PeerId(pub u32);

impl PlayerId {
    /// Index into arrays with one element per player.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Several players. Iterates in ascending order.
///
/// ```
/// use testudo_lockstep::{PlayerId, PlayerSet};
/// let missing: PlayerSet = [PlayerId(3), PlayerId(1)].into_iter().collect();
/// assert!(missing.contains(PlayerId(3)));
/// assert_eq!(missing.iter().collect::<Vec<_>>(), [PlayerId(1), PlayerId(3)]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PlayerSet(u16);

impl PlayerSet {
    /// Whether the player is one of them.
    #[must_use]
    pub fn contains(self, player: PlayerId) -> bool {
        player.0 < PLAYERS_MAX && self.0 & (1 << player.0) != 0
    }

    /// Whether it is nobody.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Bit n for player n.
    pub(crate) fn bits(self) -> u16 {
        self.0
    }

    /// The players of a bit set, bit n for player n.
    pub(crate) fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The players, in ascending order.
    pub fn iter(mut self) -> impl Iterator<Item = PlayerId> {
        // From bit to bit: in a package of one unit, a loop over all numbers with a condition takes seconds to compile.
        core::iter::from_fn(move || {
            let first = self.0.trailing_zeros();
            self.0 &= self.0.checked_sub(1)?;
            Some(PlayerId(first as u8))
        })
    }
}

/// Numbers of [`PLAYERS_MAX`] and more are left out.
impl FromIterator<PlayerId> for PlayerSet {
    fn from_iter<I: IntoIterator<Item = PlayerId>>(players: I) -> Self {
        let bit = |player: PlayerId| if player.0 < PLAYERS_MAX { 1 << player.0 } else { 0 };
        Self(players.into_iter().fold(0, |set, player| set | bit(player)))
    }
}

impl fmt::Debug for PlayerSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Who is at the other end of a link. Exhaustive on purpose: it is a number on the wire, and another role is another
/// [`PROTOCOL_VERSION`](crate::PROTOCOL_VERSION).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Identity {
    /// A player.
    Player(PlayerId),
    /// Watches and gives no actions.
    Watcher,
    /// Forwards packets and does not simulate.
    Relay,
}
