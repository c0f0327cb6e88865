//! What does not change during a session: who this peer is, and by which settings it plays.

use crate::packet::PayloadFormat;
use crate::session::config::{SessionConfig, Topology};
use crate::value::ids::{Identity, PlayerId};

/// The settings, and this peer's place in the match.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(super) config: SessionConfig,
    /// How actions are laid out in packets.
    pub(super) format: PayloadFormat,
    /// What the handshake compares.
    pub(super) config_hash: u64,
    pub(super) identity: Identity,
}

impl Setup {
    /// The local player, if this peer plays.
    pub(super) fn player(&self) -> Option<PlayerId> {
        match self.identity {
            Identity::Player(player) => Some(player),
            Identity::Spectator | Identity::Relay => None,
        }
    }

    pub(super) fn is_relay(&self) -> bool {
        self.identity == Identity::Relay
    }

    pub(super) fn is_mesh(&self) -> bool {
        self.config.topology == Topology::Mesh
    }

    /// Who starts the match and (in a star) forwards.
    pub(super) fn coordinator(&self) -> Identity {
        match self.config.topology {
            Topology::Host => Identity::Player(PlayerId(0)),
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

    /// Whether nobody comes to this place: the player of a resumed match was gone before, and is not needed as the host.
    pub(super) fn is_absent(&self, identity: Identity) -> bool {
        identity != self.coordinator()
            && matches!(identity, Identity::Player(player) if self.config.is_gone(player))
    }

    /// Whether this peer may drop somebody for whom the game stands too long: the host, the relay, or any peer of a mesh.
    pub(super) fn may_drop(&self) -> bool {
        self.config.drop_after.is_some() && self.accepts()
    }
}
