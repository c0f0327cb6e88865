//! Whose link it is, where the transport knows that: a hello with another identity is not answered.

use crate::session::common::Common;
use crate::session::event::Event;
use crate::value::ids::{Identity, PeerId};

impl Common {
    /// Whether a hello claims an identity that its link may have. If not, it is counted and reported.
    pub(super) fn may_claim(&mut self, peer: PeerId, claimed: Identity) -> bool {
        let bound = self.links.bound.get(&peer).copied();
        if bound.map_or(!self.setup.config.own.bound_peers_only, |bound| bound == claimed) {
            return true;
        }
        self.stats.hellos_forged += 1;
        tracing::warn!(peer = peer.0, ?claimed, ?bound, "a hello in another's name");
        self.emit(Event::Forged { peer, claimed, bound });
        false
    }
}
