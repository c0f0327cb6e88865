//! Transfer of a running match's state: from a player to the middle of the star, and from there to the joining peers.
//!
//! The middle asks a source: itself if it plays, else a player with spare time. The source takes its state before a turn and sends it in
//! chunks. A relay forwards each block as soon as it has it. The joining peer checks the state against the other players' checksums of that
//! turn.
//!
//! So there are three roles: [`middle::Middle`], [`giver::Giver`] and [`joiner::Joiner`]. They share the state that is on its way.

pub(super) mod arrival;
pub(super) mod blob;
pub(super) mod giver;
pub(super) mod header;
pub(super) mod horizon;
pub(super) mod joiner;
pub(super) mod middle;
pub(super) mod player_places;
pub(super) mod resuming;
pub(super) mod sender;
pub(super) mod source;

use smallvec::SmallVec;

use crate::packet::{self, Chunk, Manifest, Transfer, WANT_WORDS_MAX, Want, Whole};
use crate::session::SessionPhase;
use crate::session::common::Common;
use crate::session::delayed::Delayed;
use crate::session::link::Link;
use crate::value::bits::BitWriter;
use crate::value::ids::{Identity, PeerId};
use crate::value::time::{Duration, Instant};

use blob::{Blob, Taken};
use giver::Giver;
use joiner::Joiner;
use middle::Middle;
use resuming::Resuming;
use sender::{RateLimit, Sender};
use source::StateSource;

/// Time between two messages of a peer that receives a state.
const CONTROL_EVERY: Duration = Duration::from_millis(50);

/// A state is kept this long for a silent remote.
const SENDER_PATIENCE: Duration = Duration::from_secs(10);

/// States in transfer, from the view of one peer.
#[derive(Clone, Debug, Default)]
pub(super) struct Transfers {
    /// The state that this peer sends, receives or forwards.
    pub(super) blob: Option<Blob>,
    limit: RateLimit,
    control_at: Instant,
    /// Time stamp of the last chunk received, and its time of arrival.
    echo: (u16, Instant),
    pub(super) giver: Giver,
    pub(super) middle: Middle,
    pub(super) joiner: Joiner,
    /// A save that came before the start.
    pub(super) resuming: Resuming,
}

impl Transfers {
    // ---- a peer that gives its state

    /// The simulation's state before the turn that has begun, if it can be saved.
    pub(super) fn give(&mut self, common: &mut Common, state: Option<&[u8]>) {
        let Some(given) = self.giver.give(common, state) else { return };
        if common.setup.forwards() {
            match given.blob {
                Some(_) => self.blob = given.blob,
                None => self.source_failed(common),
            }
            return;
        }
        self.giver.declines = given.blob.is_none().then_some(given.wanted);
        let (rate, now, coordinator) = (common.state_rate(), common.now, common.setup.coordinator());
        let middle = common.links.values_mut().find(|link| link.identity == Some(coordinator));
        if let Some(link) = middle.filter(|_| given.blob.is_some()) {
            link.sender = Some(Box::new(Sender::new(rate, now)));
            self.blob = given.blob;
        }
    }

    /// The middle of the star asks for this peer's state.
    pub(super) fn asked_for_state(&mut self, common: &mut Common, index: usize, not_before: u32) {
        let has_newer = self.blob.as_ref().is_some_and(|blob| blob.turn() >= not_before);
        if let Some(sender) = common.links[index].sender.as_mut().filter(|_| has_newer) {
            // It may have given this one up meanwhile.
            sender.remind();
        } else if !self.joiner.lacks_state() {
            self.giver.asked(common, not_before);
        }
    }

    // ---- packets in

    /// A remote reports what it has of the state that it gets from here.
    pub(super) fn note_want(&self, common: &mut Common, delayed: &Delayed, index: usize, want: &Want) {
        let (rate, now) = (common.state_rate(), common.now);
        let Some(blob) = self.blob_for(common, delayed, &common.links[index]) else { return };
        let Some(sender) = &mut common.links[index].sender else { return };
        if blob.turn() != want.turn {
            sender.remind();
        } else if want.next <= blob.chunks() {
            sender.heard(want, rate, now);
        }
    }

    /// A chunk has arrived from the source or from the middle. None: no state is expected.
    pub(super) fn take_chunk(&mut self, now: Instant, chunk: &Chunk) -> Option<Taken> {
        self.echo = (chunk.sent_ms, now);
        let taken = self.blob.as_mut().filter(|blob| !blob.is_whole())?.take(chunk);
        if taken == Taken::New {
            self.middle.note_progress(now);
        }
        Some(taken)
    }

    // ---- packets out

    /// The message of this peer as a receiver of a state.
    fn control(&self, common: &Common) -> Option<(PeerId, Transfer)> {
        if matches!(self.resuming, Resuming::Done) && common.phase == SessionPhase::Lobby {
            return Some((common.links.with(common.setup.coordinator())?.peer, Transfer::Here));
        }
        if let Some(peer) = self.joiner.peer() {
            return Some((peer, self.joiner_control(common)?));
        }
        if let Some(turn) = self.giver.declines {
            return Some((common.links.with(common.setup.coordinator())?.peer, Transfer::Refuse { turn }));
        }
        if let Some(thanks) = self.middle.thanks_due() {
            let all = self.want(common.now, thanks.turn, (thanks.chunks, thanks.chunks), SmallVec::new());
            return Some((thanks.peer, Transfer::Want(all)));
        }
        let source = self.middle.source()?;
        let peer = source.peer?;
        match &self.blob {
            None => Some((peer, Transfer::Ask { not_before: source.not_before })),
            Some(blob) => Some((peer, Transfer::Want(self.want_of(common.now, blob)))),
        }
    }

    /// The message that a joining peer sends.
    fn joiner_control(&self, common: &Common) -> Option<Transfer> {
        if self.joiner.is_getting() {
            return match (self.joiner.refused(), &self.blob) {
                (Some(turn), _) => Some(Transfer::Refuse { turn }),
                (None, Some(blob)) => Some(Transfer::Want(self.want_of(common.now, blob))),
                (None, None) => None,
            };
        }
        let is_here = self.joiner.is_ready() && common.phase == SessionPhase::Running;
        (is_here && common.setup.player().is_some()).then_some(Transfer::Here)
    }

    fn want_of(&self, now: Instant, blob: &Blob) -> Want {
        self.want(now, blob.turn(), (blob.next(), blob.received()), blob.have())
    }

    fn want(
        &self,
        now: Instant,
        turn: u32,
        (next, received): (u32, u32),
        have: SmallVec<[u64; WANT_WORDS_MAX]>,
    ) -> Want {
        let (echo_ms, at) = self.echo;
        let held_ms = u16::try_from(now.since(at).as_millis()).unwrap_or(u16::MAX);
        Want { turn, next, received, echo_ms, held_ms, have }
    }

    /// When a packet of a state is due. Orders always go first.
    pub(super) fn due_at(&self, common: &Common, delayed: &Delayed) -> Option<Instant> {
        if !matches!(common.phase, SessionPhase::Lobby | SessionPhase::Running | SessionPhase::Ending) {
            return None;
        }
        let control = self.control(common).map(|_| self.control_at);
        let chunk = self.next_chunk(common, delayed).map(|(_, _, at)| at);
        [control, chunk].into_iter().flatten().min()
    }

    /// The link whose chunk is due first, the chunk (none: the manifest), and the time.
    fn next_chunk(&self, common: &Common, delayed: &Delayed) -> Option<(usize, Option<u32>, Instant)> {
        let due = |(index, link): (usize, &Link)| {
            let sender = link.sender.as_ref().filter(|_| link.is_connected())?;
            let blob = self.blob_for(common, delayed, link)?;
            let chunk = sender.due(blob).map(|(chunk, at)| (Some(chunk), at.max(self.limit.free_at())));
            let promise = sender.promise_at().map(|at| (None, at));
            let (chunk, at) = [promise, chunk].into_iter().flatten().min_by_key(|(_, at)| *at)?;
            // Several wait for the common rate at the same time: they share it. A match that runs lacks its players, and no watcher.
            let watches = common.phase != SessionPhase::Lobby && link.identity == Some(Identity::Watcher);
            Some(((at.max(common.now), watches, at, sender.served()), (index, chunk, at)))
        };
        let due = common.links.values().enumerate().filter_map(due).min_by_key(|(order, _)| *order);
        due.map(|(_, due)| due)
    }

    /// Writes the next packet of a state into `out`, if one is due.
    pub(super) fn packet(
        &mut self,
        common: &mut Common,
        delayed: &Delayed,
        writer: &mut BitWriter,
        out: &mut Vec<u8>,
    ) -> Option<PeerId> {
        if self.due_at(common, delayed).is_none_or(|at| at > common.now) {
            return None;
        }
        let control = if self.control_at <= common.now { self.control(common) } else { None };
        let (peer, transfer) = match control {
            Some(control) => {
                self.control_at = common.now + CONTROL_EVERY;
                self.giver.declines = None;
                self.middle.note_thanked();
                control
            }
            None => self.next_of_state(common, delayed)?,
        };
        let key = common.links.get(&peer)?.handshake.key;
        transfer.encode(writer);
        packet::seal(writer, key, out);
        Some(peer)
    }

    /// The chunk or the manifest that is due.
    fn next_of_state(&mut self, common: &mut Common, delayed: &Delayed) -> Option<(PeerId, Transfer)> {
        let (index, chunk, _) = self.next_chunk(common, delayed).filter(|due| due.2 <= common.now)?;
        let blob = self.blob_for(common, delayed, &common.links[index])?;
        let rate = common.state_rate();
        let link = &mut common.links[index];
        let sender = link.sender.as_mut()?;
        let transfer = match chunk {
            None => {
                sender.note_promised(common.now);
                Transfer::Manifest(blob.manifest().clone())
            }
            Some(index) => {
                let (turn, bytes) = (blob.turn(), blob.chunk(index)?.to_vec());
                sender.note_sent(index, bytes.len() as u32, common.now);
                self.limit.spend(bytes.len() as u32, rate, common.now);
                let sent_ms = (common.now.as_micros() / 1_000) as u16;
                Transfer::Chunk(Chunk { turn, index, sent_ms, bytes })
            }
        };
        Some((link.peer, transfer))
    }

    /// The state that may go over this link.
    fn blob_for<'a>(&'a self, common: &Common, delayed: &'a Delayed, link: &Link) -> Option<&'a Blob> {
        if common.is_delayed(link) { delayed.visible_state() } else { self.blob.as_ref() }
    }

    // ---- time

    /// A player who was asked: the middle has the state, or does not want it any more.
    pub(super) fn forget_idle_senders(&mut self, common: &mut Common) {
        let now = common.now;
        for link in common.links.values_mut() {
            let stale = |sender: &Sender| now.since(sender.progress) >= SENDER_PATIENCE;
            if link.sender.as_deref().is_some_and(stale) {
                link.sender = None;
                self.blob = None;
            }
        }
    }

    // ---- the middle

    /// The source announces its state.
    pub(super) fn source_promised(&mut self, common: &mut Common, delayed: &Delayed, manifest: Manifest) {
        // An older one than it was asked for is a late copy of what it has given before. One of a turn for which nobody has made an entry yet comes again if it
        // is no lie. A source that gives nothing else is given up in time.
        let is_reached = manifest.turn <= common.front() || common.streams.live() == 0;
        let is_asked_for = |source: &StateSource| manifest.turn >= source.not_before && is_reached;
        let Some(source) = self.middle.source().filter(is_asked_for) else { return };
        if manifest.total > common.config().arrivals.state_bytes_max {
            self.source_failed(common);
        } else if self.middle.may_hold(delayed.state_bytes() + u64::from(manifest.total))
            && self.blob.is_none()
        {
            self.middle.note_promise(common.now);
            // The middle determines the source's name, not the source.
            self.blob = Some(Blob::promised(Manifest { source: source.player, ..manifest }));
        }
    }

    /// The source sends nothing: the waiting peers get a state from another one.
    pub(super) fn source_failed(&mut self, common: &mut Common) {
        self.middle.give_source_up();
        self.blob = None;
        self.giver.forget();
        common.take_back_states(false);
    }
}
