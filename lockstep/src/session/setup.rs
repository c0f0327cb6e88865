//! What does not change during a session: who this peer is, and its settings.

use crate::value::codec::Codec;
use siphasher::sip::SipHasher24;

use crate::packet::{Hello, PROTOCOL_VERSION, PayloadFormat, link_key, session_mark};
use crate::session::config::{SessionConfig, Topology};
use crate::session::link::Handshake;
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// A cookie is valid for at least this long, and for at most twice as long.
const COOKIE_LIFE: Duration = Duration::from_secs(10);

/// The settings, and this peer's place in the match.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(super) config: SessionConfig,
    /// Layout of actions in packets.
    pub(super) format: PayloadFormat,
    /// Checks and counts the game's actions.
    pub(super) codec: Codec,
    /// [`crate::Action::MAX_BITS`] of the game.
    pub(super) action_bits: u32,
    /// The hash that the handshake compares.
    pub(super) config_hash: u64,
    pub(super) identity: Identity,
    /// The source of this session's nonces and cookies.
    pub(super) secret: (u64, u64),
}

impl Setup {
    /// The local player, if this peer plays.
    pub(super) fn player(&self) -> Option<PlayerId> {
        match self.identity {
            Identity::Player(player) => Some(player),
            Identity::Watcher | Identity::Relay => None,
        }
    }

    /// The nonce of a link that this peer dials.
    pub(super) fn nonce(&self, peer: PeerId) -> u64 {
        SipHasher24::new_with_keys(self.secret.0, self.secret.1)
            .hash(&[&peer.0.to_le_bytes()[..], &[1]].concat())
    }

    /// The handshake of the link that a hello with this number makes.
    pub(super) fn handshake(&self, nonce: u64) -> Handshake {
        Handshake { nonce, key: link_key(self.config.session_id, nonce), ..Handshake::default() }
    }

    /// The number that a peer must repeat to show that it receives packets at its address; nothing is stored for it until then.
    pub(super) fn cookie(&self, peer: PeerId, nonce: u64, period: u64) -> u64 {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&peer.0.to_le_bytes());
        bytes[4..12].copy_from_slice(&nonce.to_le_bytes());
        bytes[12..].copy_from_slice(&period.to_le_bytes());
        SipHasher24::new_with_keys(self.secret.0, self.secret.1).hash(&bytes)
    }

    /// The period of time that a cookie belongs to.
    pub(super) fn period(now: Instant) -> u64 {
        now.as_micros() / COOKIE_LIFE.as_micros()
    }

    /// Whether the cookie is valid for this period or the last one.
    pub(super) fn is_proven(&self, peer: PeerId, nonce: u64, cookie: u64, now: Instant) -> bool {
        let period = Self::period(now);
        [period, period.saturating_sub(1)].iter().any(|&period| self.cookie(peer, nonce, period) == cookie)
    }

    /// The hello that this peer sends to be let in.
    pub(super) fn hello(&self, nonce: u64, cookie: u64) -> Hello {
        Hello {
            version: PROTOCOL_VERSION,
            nonce,
            session_mark: session_mark(self.config.session_id, nonce),
            config_hash: self.config_hash,
            content_hash: self.config.content(),
            frames_per_second: self.config.frames_per_second as u16,
            identity: self.identity,
            cookie,
            // Only sent to a peer that has sent a challenge.
            place: if cookie == 0 { 0 } else { self.config.own.place.0 },
        }
    }

    pub(super) fn is_relay(&self) -> bool {
        self.identity == Identity::Relay
    }

    pub(super) fn is_mesh(&self) -> bool {
        self.config.topology == Topology::Mesh
    }

    /// The identity that starts the match and (in a star) forwards.
    pub(super) fn coordinator(&self) -> Identity {
        match self.config.topology {
            Topology::Host => Identity::Player(PlayerId(self.config.sides.host_player)),
            Topology::Mesh => Identity::Player(self.config.first_live_player()),
            Topology::Relay => Identity::Relay,
        }
    }

    /// Whether this peer starts the match and (in a star) forwards.
    pub(super) fn coordinates(&self) -> bool {
        self.identity == self.coordinator()
    }

    /// Whether this peer is the middle of a star.
    pub(super) fn forwards(&self) -> bool {
        self.coordinates() && !self.is_mesh()
    }

    /// Whether this peer lets others in.
    pub(super) fn accepts(&self) -> bool {
        self.coordinates() || self.is_mesh()
    }

    /// Whether entries of all players may come from a peer with this identity.
    pub(super) fn may_forward(&self, identity: Identity) -> bool {
        match (self.config.topology, identity) {
            (Topology::Mesh, Identity::Player(player)) => player.0 < self.config.players,
            (Topology::Mesh, _) => false,
            _ => identity == self.coordinator(),
        }
    }

    /// Whether this place stays empty: the player of a resumed match was gone before, and is not needed as the host.
    pub(super) fn is_absent(&self, identity: Identity) -> bool {
        identity != self.coordinator()
            && matches!(identity, Identity::Player(player) if self.config.is_gone(player))
    }

    /// Whether this peer may drop a player for whom the game waits too long: the host, the relay, or any peer of a mesh.
    pub(super) fn may_drop(&self) -> bool {
        self.config.waits.drop_after.is_some() && self.accepts()
    }
}
