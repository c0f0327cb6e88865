//! The links of a session.

use core::hash::BuildHasherDefault;
use core::ops::{Deref, DerefMut};

use indexmap::IndexMap;
use siphasher::sip::SipHasher13;

use crate::packet::Bye;
use crate::session::link::{Link, LinkPhase};
use crate::session::streams::Streams;
use crate::session::transfer::arrival::ArrivalStage;
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// Values by peer, in the order in which they came. The hasher has no random key; nothing here depends on one.
pub(super) type ByPeer<T> = IndexMap<PeerId, T, BuildHasherDefault<SipHasher13>>;

/// Links by peer, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    by_peer: ByPeer<Link>,
    /// Whose links they are, as far as the transport knows.
    pub(super) bound: ByPeer<Identity>,
}

impl Links {
    pub(super) fn index_of(&self, peer: PeerId) -> Option<usize> {
        self.by_peer.get_index_of(&peer)
    }

    /// The first link with this identity.
    pub(super) fn with(&self, identity: Identity) -> Option<&Link> {
        self.by_peer.values().find(|link| link.identity == Some(identity))
    }

    /// The first link of this player.
    pub(super) fn of(&self, player: PlayerId) -> Option<&Link> {
        self.with(Identity::Player(player))
    }

    /// Links over which packets of the match pass.
    pub(super) fn connected(&self) -> impl Iterator<Item = &Link> {
        self.by_peer.values().filter(|link| link.is_connected())
    }

    /// Players that were heard within this time, and players that have everything; bit n for player n.
    pub(super) fn heard_within(&self, span: Duration, now: Instant) -> u16 {
        let heard =
            self.connected().filter(|link| link.progress.finished || now.since(link.last_heard) < span);
        heard.fold(0, |mask, link| match link.identity {
            Some(Identity::Player(player)) => mask | (1 << player.0),
            _ => mask,
        })
    }

    /// Something new must go to everybody at once.
    pub(super) fn mark_urgent(&mut self) {
        self.by_peer.values_mut().for_each(|link| link.outflow.mark_urgent());
    }

    /// Sends everybody a bye.
    pub(super) fn owe_bye(&mut self, bye: Bye) {
        self.by_peer.values_mut().for_each(|link| link.outflow.owe_bye(bye));
    }

    /// The player has been dropped; tells the player. A link that waits for a state is not closed: it belongs to the player's next program.
    pub(super) fn close_link_of(&mut self, player: PlayerId) {
        let identity = Some(Identity::Player(player));
        let is_of = |link: &&mut Link| link.identity == identity && !link.lacks_state();
        for link in self.by_peer.values_mut().filter(is_of) {
            link.phase = LinkPhase::Closed;
            link.outflow.owe_bye(Bye::Dropped);
        }
    }

    /// A joining peer waits for a state (again).
    pub(super) fn wait_for_state(&mut self, index: usize, streams: &Streams) {
        let link = &mut self.by_peer[index];
        if let Some(arrival) = &mut link.arrival {
            arrival.stage = ArrivalStage::Waiting;
        }
        link.sender = None;
        for (ack, stream) in link.progress.acked.iter_mut().zip(streams) {
            *ack = stream.oldest();
        }
    }

    /// Number of connected watchers without this peer: one who comes again takes its own place.
    pub(super) fn watchers_beside(&self, peer: PeerId) -> u32 {
        let watches = |link: &&Link| {
            link.peer != peer && link.is_connected() && link.identity == Some(Identity::Watcher)
        };
        self.by_peer.values().filter(watches).count() as u32
    }

    /// Watchers come from ever new addresses. Of one who has gone nothing is kept once it was told so.
    pub(super) fn forget_closed_watchers(&mut self) {
        self.by_peer.retain(|_, link| {
            link.phase != LinkPhase::Closed
                || link.identity != Some(Identity::Watcher)
                || link.outflow.owes_bye()
        });
    }
}

impl Deref for Links {
    type Target = ByPeer<Link>;

    fn deref(&self) -> &ByPeer<Link> {
        &self.by_peer
    }
}

impl DerefMut for Links {
    fn deref_mut(&mut self) -> &mut ByPeer<Link> {
        &mut self.by_peer
    }
}
