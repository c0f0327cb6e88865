//! Settings that only this peer knows.

use core::fmt;

use crate::session::config::SessionConfig;
use crate::session::saved_match::SavedMatch;
use crate::signed::key::PlayerKey;
use crate::signed::signed_before::SignedBefore;
use crate::value::ids::PlayerId;

/// What one peer brings: secrets, and the saved match that it resumes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Own {
    pub(crate) key: Option<PlayerKey>,
    pub(crate) signed_before: Option<SignedBefore>,
    pub(crate) resume: Option<Box<SavedMatch>>,
    pub(crate) entropy: Entropy,
    pub(crate) place: PlaceSecret,
    pub(crate) bound_peers_only: bool,
    pub(crate) is_simulated: bool,
    /// A guest decides whether a failure is the end, or it asks for the place again.
    pub(crate) is_of_guest: bool,
}

/// Random bytes of one peer; logs do not show them.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Entropy(pub(crate) Option<[u8; 16]>);

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entropy(..)")
    }
}

/// The secret of a player's place; logs do not show it. 0 if there is none.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PlaceSecret(pub(crate) u128);

impl fmt::Debug for PlaceSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlaceSecret(..)")
    }
}

impl SessionConfig {
    /// Random bytes of this peer, new ones for each session, from the operating system, kept secret. The numbers that strangers would have
    /// to guess to act as a member are derived from them. A local choice. There is no default: a session that can be reached over a network
    /// is not made without them ([`ConfigError::NoEntropy`](crate::ConfigError::NoEntropy)).
    pub fn entropy(mut self, entropy: [u8; 16]) -> Self {
        self.own.entropy = Entropy(Some(entropy));
        self
    }

    /// No real network: the session id may be 0, and without [`SessionConfig::entropy`] the numbers that strangers would have to guess are
    /// derived from the session id and the time. For tests, and for peers of a simulated network ([`crate::simnet`]). A local choice.
    #[cfg(any(test, feature = "simnet"))]
    pub fn simulated(self) -> Self {
        self.without_network()
    }

    /// No other peer is reached over a real network.
    pub(crate) fn without_network(mut self) -> Self {
        self.own.is_simulated = true;
        self
    }

    /// The local player's key in a signed match ([`SessionConfig::signed()`]). A local choice.
    #[cfg(feature = "signed")]
    pub fn player_key(mut self, key: PlayerKey) -> Self {
        self.own.key = Some(key);
        self.signed()
    }

    /// What the local player has signed already, for a player who comes back to a running match: the value of
    /// [`AnySession::signed_before`](crate::AnySession::signed_before) in its former session. It signs no turn twice, and does not come back to one that it has
    /// signed ([`Failure::SignedAlready`](crate::Failure::SignedAlready)). A guest brings it from one session to the next by itself. A program that was killed
    /// knows it only if it has kept it in a file of this match: states of a match with other keys are refused ([`Failure::NoState`](crate::Failure::NoState) in
    /// the end). A local choice. Default: nothing.
    pub fn signed_before(mut self, signed: SignedBefore) -> Self {
        self.own.signed_before = Some(signed);
        self
    }

    /// Only peers that are bound to an identity may come ([`Session::bind`](crate::AnySession::bind)): for a transport that knows who is at the other end of
    /// each link. A local choice. Default false.
    pub fn bound_peers_only(mut self) -> Self {
        self.own.bound_peers_only = true;
        self
    }

    /// Resumes a saved match: the first turn is the saved one. All peers, relays too, must have the same saved match (the handshake
    /// compares it), the settings of the saved match, and the simulation in the state that was saved with it. A player whose stream had
    /// ended is away at the start. Once the match runs it comes back, on a link that is bound to it (as that of a guest with a join code) or by
    /// [`SessionConfig::late_joins()`]; in a signed match only by `late_joins`.
    pub fn resume(mut self, saved: SavedMatch) -> Self {
        self.own.resume = Some(Box::new(saved));
        self
    }

    /// The turn that runs first: 0, or the saved one.
    pub(crate) fn first_turn(&self) -> u32 {
        self.own.resume.as_ref().map_or(0, |saved| saved.turn)
    }

    /// The lowest player whose stream had not ended before the first turn.
    pub(crate) fn first_live_player(&self) -> PlayerId {
        let mut players = (0..self.players).map(PlayerId);
        players.find(|&player| !self.is_gone(player)).unwrap_or_default()
    }

    /// Whether the player's stream had ended before the first turn.
    pub(crate) fn is_gone(&self, player: PlayerId) -> bool {
        self.own.resume.as_ref().is_some_and(|saved| saved.ended(player).is_some())
    }

    /// Random bytes by which this player proves later that it is the same. A player who was dropped, or whose program crashed, comes back
    /// with the same bytes to the same place of the running match (by [`Session::join`](crate::Session::join)). The middle of the star
    /// keeps them, and no other peer gets them; they are only as secret as the transport. A guest with a join code has them in its settings already:
    /// they are the secret of its code (`service::guest::Arrival::config`). Default: none, so the player can only take an empty place, as a stranger
    /// does ([`SessionConfig::late_joins()`]).
    pub fn place_secret(mut self, secret: [u8; 16]) -> Self {
        self.own.place = PlaceSecret(u128::from_le_bytes(secret));
        self
    }
}
