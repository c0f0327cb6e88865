//! The source of a state: the middle of a star asks a player for it, and replaces one that leaves, sends nothing or is too slow.

use crate::packet::Manifest;
use crate::session::AnySession;
use crate::session::blob::Blob;
use crate::session::guests::{Guest, GuestStage};
use crate::session::link::Link;
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// A source that is silent for this long is replaced.
const SOURCE_SILENCE: Duration = Duration::from_secs(3);

/// A source that sends nothing new for this long is replaced.
const SOURCE_PATIENCE: Duration = Duration::from_secs(10);

/// The source that the middle has asked for a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) player: PlayerId,
    /// None if it is the middle itself.
    pub(super) peer: Option<PeerId>,
    /// When it last sent something new.
    pub(super) progress: Instant,
    /// When it announced its state.
    promised: Option<Instant>,
    pub(super) not_before: u32,
    /// The newest entry of all players when it was asked.
    front: u32,
}

impl Source {
    pub(super) fn new(
        player: PlayerId,
        peer: Option<PeerId>,
        not_before: u32,
        front: u32,
        now: Instant,
    ) -> Self {
        Self { player, peer, progress: now, promised: None, not_before, front }
    }
}

impl AnySession {
    /// The source announces its state.
    pub(super) fn source_promised(&mut self, manifest: Manifest) {
        let Some(source) = &mut self.transfers.source else { return };
        let fits = manifest.total <= self.setup.config.state_bytes_max && manifest.turn >= source.not_before;
        let kept = self.delayed.state().map_or(0, |blob| u64::from(blob.manifest().total));
        let is_allowed = self.transfers.allowed.is_none_or(|most| kept + u64::from(manifest.total) <= most);
        if !fits {
            self.source_failed();
        } else if is_allowed && self.transfers.blob.is_none() {
            source.progress = self.now;
            source.promised = Some(self.now);
            // The middle determines the source's name, not the source.
            let manifest = Manifest { source: source.player, ..manifest };
            self.transfers.blob = Some(Blob::promised(manifest));
        }
    }

    /// Replaces a source that leaves or sends nothing.
    pub(super) fn check_source(&mut self) {
        let Some(source) = self.transfers.source else { return };
        let Some(peer) = source.peer else { return };
        if self.transfers.blob.as_ref().is_some_and(Blob::is_whole) {
            self.thank_source();
            return;
        }
        let link = self.links.get(&peer);
        let is_gone = link.is_none_or(|link| {
            !self.may_be_source(link) || self.now.since(link.last_heard) >= SOURCE_SILENCE
        });
        // It takes its state before a turn whose predecessor has a checksum. As long as the match waits for somebody, no turn begins.
        let turns = (2 * self.setup.config.checksum_interval).saturating_add(self.notice());
        let had_turns = self.transfers.blob.is_some() || self.front().saturating_sub(source.front) >= turns;
        if self.is_too_slow(&source) {
            self.transfers.slow |= 1 << source.player.0;
            self.source_failed();
        } else if is_gone || (had_turns && self.now.since(source.progress) >= SOURCE_PATIENCE) {
            self.source_failed();
        }
    }

    /// Whether a source would take more than three quarters of the time in which a guest must have joined, and there is another one. It may begin
    /// slowly, for a quarter of that time.
    fn is_too_slow(&self, source: &Source) -> bool {
        let (Some(promised), Some(blob)) = (source.promised, &self.transfers.blob) else { return false };
        let passed = u128::from(self.now.since(promised).as_micros());
        let limit = u128::from(self.setup.config.join_timeout.as_micros());
        let (received, chunks) = (u128::from(blob.received()), u128::from(blob.chunks()));
        let is_other = |link: &Link| match link.identity {
            Some(Identity::Player(player)) => {
                player != source.player && self.transfers.failed & (1 << player.0) == 0
            }
            _ => false,
        };
        passed * 4 >= limit
            && received * limit * 3 < chunks * passed * 4
            && self.links.values().any(|link| self.may_be_source(link) && is_other(link))
    }

    /// The source sends nothing: the waiting peers get a state from another one.
    pub(super) fn source_failed(&mut self) {
        if let Some(source) = self.transfers.source.take() {
            tracing::info!(player = source.player.0, "gives no state");
            self.transfers.failed |= 1 << source.player.0;
        }
        self.transfers.blob = None;
        self.transfers.wanted = None;
        for index in 0..self.links.len() {
            let fed = |guest: &Guest| guest.stage == GuestStage::Fed;
            if self.links[index].guest.as_deref().is_some_and(fed) {
                self.guest_waits(index);
            }
        }
    }
}
