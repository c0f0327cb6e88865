//! Whose link it is, where the transport knows that: a hello with another identity is not answered.

use crate::session::AnySession;
use crate::session::event::Event;
use crate::value::ids::{Identity, PeerId};

impl AnySession {
    /// From now on this link is that of this identity, which the transport has proved: for example by a secret that opens one place, on a
    /// sealed connection. A hello with another identity on this link is refused ([`Event::Forged`], [`crate::Stats::hellos_forged`]). The
    /// transport should close such a connection.
    ///
    /// Without a binding a peer is who it claims to be. With [`crate::SessionConfig::bound_peers_only()`] it is refused. Memory is kept for
    /// each bound link until [`Session::unbind`](crate::AnySession::unbind).
    pub fn bind(&mut self, peer: PeerId, identity: Identity) {
        self.bound.insert(peer, identity);
    }

    /// Forgets whose link it is. A link that was already made goes on.
    pub fn unbind(&mut self, peer: PeerId) {
        self.bound.swap_remove(&peer);
    }

    /// The identity that a link is bound to.
    #[must_use]
    pub fn bound(&self, peer: PeerId) -> Option<Identity> {
        self.bound.get(&peer).copied()
    }

    /// Whether a hello claims an identity that its link may have. If not, it is counted and reported.
    pub(super) fn may_claim(&mut self, peer: PeerId, claimed: Identity) -> bool {
        let bound = self.bound(peer);
        if bound.map_or(!self.setup.config.bound_peers_only, |bound| bound == claimed) {
            return true;
        }
        self.stats.hellos_forged += 1;
        tracing::warn!(peer = peer.0, ?claimed, ?bound, "a hello in another's name");
        self.emit(Event::Forged { peer, claimed, bound });
        false
    }
}
