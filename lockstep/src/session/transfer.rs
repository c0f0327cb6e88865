//! Transfer of a running match's state: from a player to the middle of the star, and from there to the joining peers.
//!
//! The middle asks a source: itself if it plays, else a player with spare time. The source takes its state before a turn and sends it in
//! chunks. A relay forwards each block as soon as it has it. The joining peer checks the state against the other players' checksums of that
//! turn.

use smallvec::SmallVec;

use crate::packet::{self, Transfer, WANT_WORDS_MAX, Want};
use crate::session::blob::{Blob, Taken};
use crate::session::header::{Header, HeaderPlayer};
use crate::session::horizon::Horizon;
use crate::session::joining::Joining;
use crate::session::sender::{Bucket, Sender};
use crate::session::signing::Signing;
use crate::session::source::Source;
use crate::session::{AnySession, SessionPhase};
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

/// Time between two messages of a peer that receives a state.
const CONTROL_EVERY: Duration = Duration::from_millis(50);

/// Time between two states that one peer takes of itself.
const STATE_EVERY: Duration = Duration::from_secs(1);

/// A state is kept this long for a silent remote.
const SENDER_PATIENCE: Duration = Duration::from_secs(10);

/// The middle asks everybody again so long after nobody has given a state.
pub(super) const ASK_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// A peer that gives its state last: within the first time the same question has come twice; within the second one it is asked again.
const SAME_QUESTION: Duration = Duration::from_secs(1);
const ASKED_AGAIN: Duration = Duration::from_secs(30);

/// Everything that a session knows about states in transfer.
#[derive(Clone, Debug, Default)]
pub(super) struct Transfers {
    /// The state that this peer sends, receives or forwards.
    pub(super) blob: Option<Blob>,
    /// The middle: the source that it has asked.
    pub(super) source: Option<Source>,
    /// The middle: the last word to a source that has sent all that is needed.
    thanks: Option<Thanks>,
    /// The middle: sources that sent nothing, bit n for player n.
    pub(super) failed: u16,
    /// The middle: sources that were too slow once, bit n for player n. They are asked last.
    pub(super) slow: u16,
    /// The middle: how often everybody has been asked for a state that guests wait for.
    pub(super) round: Round,
    /// The local simulation gives its state last: when it declined.
    declined_at: Option<Instant>,
    /// This peer's state is wanted: before this turn or a later one.
    pub(super) wanted: Option<u32>,
    /// The session before the turn that has begun; it belongs to the simulation's state.
    header: Option<Header>,
    taken_at: Option<Instant>,
    /// No state is given to a question for one before this turn or a later one; the middle must be told.
    declines: Option<u32>,
    bucket: Bucket,
    control_at: Instant,
    /// Time stamp of the last chunk received, and its time of arrival.
    echo: (u16, Instant),
    /// A joining peer: its progress.
    pub(super) joining: Option<Joining>,
    /// The middle: how far the others may go.
    pub(super) horizon: Horizon,
    /// The middle: the secret of each place, and since when its player is away.
    pub(super) seats: [Seat; PLAYERS_MAX as usize],
    /// Bytes of states that this peer may hold; none: no limit besides the settings'.
    pub(super) allowed: Option<u64>,
    #[cfg(test)]
    lie: Option<Lie>,
}

/// A test's lie about a state.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
struct Lie {
    from_end: bool,
    bit: usize,
    /// Bits of the header, and of all, once it was told.
    header: usize,
    all: usize,
}

#[cfg(test)]
impl Lie {
    fn tell(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.all == 0 {
            self.all = bytes.len() * 8;
            self.header = 16 + 8 * usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
            self.bit = if self.from_end { self.all - 1 - self.bit } else { self.bit % self.all };
            bytes[self.bit / 8] ^= 1 << (self.bit % 8);
        }
        bytes
    }
}

/// The middle asks everybody for a state twice, because some give theirs last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Round {
    #[default]
    First,
    /// Nobody has given one; the second round begins at this time.
    Pause(Instant),
    Second,
}

/// A player's place.
#[derive(Clone, Copy, Default)]
pub(super) struct Seat {
    pub(super) secret: u128,
    /// Number of the connections that have taken the place since the start, modulo 2^16.
    connection: u16,
    pub(super) empty_since: Option<Instant>,
}

impl core::fmt::Debug for Seat {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Seat").field("empty_since", &self.empty_since).finish_non_exhaustive()
    }
}

/// What ends the sending of a state: nothing of it is wanted any more. It may be lost, so it is said again whenever the source still sends.
#[derive(Clone, Copy, Debug)]
struct Thanks {
    peer: PeerId,
    turn: u32,
    chunks: u32,
    is_due: bool,
}

impl AnySession {
    // ---- memory

    /// Bytes of the states that this peer holds for others, as far as they were announced to it: a relay that asks for one while somebody joins. At most
    /// twice [`crate::SessionConfig::state_bytes_max()`].
    #[must_use]
    pub fn state_bytes(&self) -> u64 {
        let held = [self.transfers.blob.as_ref(), self.delayed.state()];
        held.into_iter().flatten().map(|blob| u64::from(blob.manifest().total)).sum()
    }

    /// A process with many sessions: how many bytes of states this one may hold from now on. A state that is larger is not taken before that
    /// changes; whoever joins waits so long. What is held already stays.
    pub fn allow_state_bytes(&mut self, bytes: u64) {
        self.transfers.allowed = Some(bytes);
    }

    // ---- taking a state

    /// This peer's state is wanted, before this turn or a later one.
    pub(super) fn want_own_state(&mut self, not_before: u32) {
        self.transfers.wanted = self.transfers.wanted.max(Some(not_before));
    }

    /// Before anything of the turn takes effect: takes the session's part if the state is wanted.
    pub(super) fn begin_state(&mut self, turn: Turn) {
        self.transfers.header = None;
        let Some(not_before) = self.transfers.wanted else { return };
        let is_soon = self.transfers.taken_at.is_some_and(|at| self.now.since(at) < STATE_EVERY);
        // The others' checksums of the turn before must exist for the comparison.
        let is_compared = turn.0.checked_sub(1).is_some_and(|before| self.compared.checksums.covers(before));
        if turn.0 < not_before || turn.0 <= self.setup.config.first_turn() || is_soon || !is_compared {
            return;
        }
        self.transfers.header = Some(self.header(turn.0, self.signing.as_deref()));
    }

    /// The match before a turn, apart from the simulation's state. Equal on all peers.
    pub(super) fn header(&self, turn: u32, signing: Option<&Signing>) -> Header {
        let (plan, speed) = self.pace.planner.to_save();
        let player = |(player, stream): (u8, &crate::session::stream::Stream)| HeaderPlayer {
            ended: stream.ended_before(turn),
            votes: self.pace.planner.votes(PlayerId(player)),
            asked: self.controlled.asked[usize::from(player)],
        };
        Header {
            settings_hash: self.setup.config.settings_hash(self.setup.action_bits),
            turn,
            frame: self.gate.frames,
            checksum: self.saving.checksum,
            paused: self.controlled.paused,
            paused_by: self.controlled.paused_by,
            speed,
            plan,
            calm: self.pace.planner.calm(),
            result: self.results.own(),
            players: (0..).zip(&self.streams).map(player).collect(),
            signing: signing.map(|signing| Box::new(signing.to_header(self.streams.len()))),
        }
    }

    /// Whether the state before the turn that has begun is wanted, for a peer that joins. [`crate::Driver`] checks this and calls
    /// [`crate::Simulation::save_state`]; an application without the driver must do so before it applies the turn's actions, and pass the
    /// bytes to [`Session::give_state`](crate::AnySession::give_state).
    #[must_use]
    pub fn turn_gives_state(&self) -> bool {
        self.gate.in_turn && self.transfers.header.is_some()
    }

    /// Passes in the simulation's state before the turn that has begun. None: the simulation cannot be saved, and another source is asked.
    pub fn give_state(&mut self, state: Option<&[u8]>) {
        let Some(header) = self.transfers.header.take() else { return };
        let turn = header.turn;
        let wanted = self.transfers.wanted.take().unwrap_or_default();
        self.transfers.taken_at = Some(self.now);
        let own = self.setup.player().unwrap_or_default();
        let bytes = state.map(|state| header.with_state(state));
        #[cfg(test)]
        let bytes =
            bytes.map(|bytes| self.transfers.lie.as_mut().map_or(bytes.clone(), |lie| lie.tell(bytes)));
        let fits = |bytes: &Vec<u8>| bytes.len() as u64 <= u64::from(self.setup.config.state_bytes_max);
        let blob = bytes.filter(fits).and_then(|bytes| Blob::whole(turn, own, &bytes));
        if self.setup.forwards() {
            match blob {
                Some(_) => self.transfers.blob = blob,
                None => self.source_failed(),
            }
            return;
        }
        self.transfers.declines = blob.is_none().then_some(wanted);
        let (rate, now, coordinator) = (self.setup.config.state_rate, self.now, self.setup.coordinator());
        let middle = self.links.values_mut().find(|link| link.identity == Some(coordinator));
        if let Some(link) = middle.filter(|_| blob.is_some()) {
            link.sender = Some(Box::new(Sender::new(rate, now)));
            self.transfers.blob = blob;
        }
    }

    /// A source that lies: of the next state that it gives, this bit is wrong, counted from the start or from the end.
    #[cfg(test)]
    pub(crate) fn lie_about_state(&mut self, from_end: bool, bit: usize) {
        self.transfers.lie = Some(Lie { from_end, bit, header: 0, all: 0 });
    }

    /// The wrong bit, the number of bits of the header, and of all.
    #[cfg(test)]
    pub(crate) fn lied(&self) -> Option<(usize, usize, usize)> {
        self.transfers.lie.map(|lie| (lie.bit, lie.header, lie.all)).filter(|lie| lie.2 > 0)
    }

    // ---- packets in

    /// Returns whether the packet was expected.
    pub(super) fn take_transfer(&mut self, index: usize, transfer: Transfer) -> bool {
        let peer = self.links[index].peer;
        let from_middle =
            !self.setup.accepts() && self.links[index].identity == Some(self.setup.coordinator());
        let joins = from_middle && (self.phase == SessionPhase::Lobby || self.transfers.joining.is_some());
        let is_source = self.transfers.source.is_some_and(|source| source.peer == Some(peer));
        match transfer {
            Transfer::Wait if joins => self.join_waits(peer),
            Transfer::Manifest(manifest) if joins => self.join_promised(peer, manifest),
            Transfer::Manifest(manifest) if is_source => self.source_promised(manifest),
            Transfer::Chunk(chunk) if joins || is_source => {
                self.transfers.echo = (chunk.sent_ms, self.now);
                let Some(blob) = self.transfers.blob.as_mut().filter(|blob| !blob.is_whole()) else {
                    return true;
                };
                let taken = blob.take(&chunk);
                if let Some(source) = self.transfers.source.as_mut().filter(|_| taken == Taken::New) {
                    source.progress = self.now;
                }
                match (taken, is_source) {
                    (Taken::Hopeless, true) => self.source_failed(),
                    (_, true) => {}
                    (taken, false) => self.join_got(taken),
                }
            }
            Transfer::Chunk(chunk) if self.has_thanked(peer, chunk.turn) => {
                self.transfers.thanks.iter_mut().for_each(|thanks| thanks.is_due = true);
            }
            Transfer::Want(want) => self.note_want(index, &want),
            Transfer::Refuse { turn } if is_source => {
                let asked = self.transfers.source.is_some_and(|source| source.not_before == turn);
                if asked || self.transfers.blob.as_ref().is_some_and(|blob| blob.turn() == turn) {
                    self.source_failed();
                }
            }
            Transfer::Refuse { turn } => self.guest_refuses(index, turn),
            Transfer::Here => self.guest_is_here(index),
            Transfer::Ask { not_before } if from_middle => self.asked_for_state(index, not_before),
            _ => return false,
        }
        true
    }

    /// The middle: nothing more of the state in transfer is wanted of its source.
    pub(super) fn thank_source(&mut self) {
        let peer = self.transfers.source.take().and_then(|source| source.peer);
        if let (Some(peer), Some(blob)) = (peer, &self.transfers.blob) {
            self.transfers.thanks =
                Some(Thanks { peer, turn: blob.turn(), chunks: blob.chunks(), is_due: true });
        }
    }

    /// Whether this peer may not know yet that its state is not wanted any more.
    fn has_thanked(&self, peer: PeerId, turn: u32) -> bool {
        self.transfers.thanks.is_some_and(|thanks| (thanks.peer, thanks.turn) == (peer, turn))
    }

    /// The middle of the star asks for this peer's state.
    fn asked_for_state(&mut self, index: usize, not_before: u32) {
        let gives = self.phase == SessionPhase::Running && !self.is_joining();
        let has_newer = self.transfers.blob.as_ref().is_some_and(|blob| blob.turn() >= not_before);
        if gives && !(has_newer && self.links[index].sender.is_some()) {
            if self.setup.config.state_bytes_max == 0 || self.leaves_it_to_others() {
                self.transfers.declines = Some(not_before);
            } else {
                self.transfers.wanted = Some(not_before);
            }
        }
    }

    /// Whether others are to be asked for a state first.
    fn leaves_it_to_others(&mut self) -> bool {
        if !self.setup.config.gives_state_last {
            return false;
        }
        let since = self.transfers.declined_at.map(|at| self.now.since(at));
        match since {
            Some(since) if since < SAME_QUESTION => true,
            Some(since) if since < ASKED_AGAIN => false,
            _ => {
                self.transfers.declined_at = Some(self.now);
                true
            }
        }
    }

    fn note_want(&mut self, index: usize, want: &Want) {
        let (rate, now) = (self.setup.config.state_rate, self.now);
        let blob = self.blob_for(&self.links[index]);
        let Some(blob) = blob.filter(|blob| blob.turn() == want.turn) else { return };
        if want.next > blob.chunks() {
            return;
        }
        if let Some(sender) = &mut self.links[index].sender {
            sender.heard(want, rate, now);
        }
    }

    // ---- packets out

    /// The message of this peer as a receiver of a state.
    fn control(&self) -> Option<(PeerId, Transfer)> {
        if let Some(joining) = &self.transfers.joining {
            return Some((joining.peer, self.join_control(joining)?));
        }
        if let Some(turn) = self.transfers.declines {
            let mut links = self.links.values();
            let middle = links.find(|link| link.identity == Some(self.setup.coordinator()))?;
            return Some((middle.peer, Transfer::Refuse { turn }));
        }
        if let Some(thanks) = self.transfers.thanks.filter(|thanks| thanks.is_due) {
            let all = self.want(thanks.turn, thanks.chunks, thanks.chunks, SmallVec::new());
            return Some((thanks.peer, Transfer::Want(all)));
        }
        let source = self.transfers.source?;
        let peer = source.peer?;
        match &self.transfers.blob {
            None => Some((peer, Transfer::Ask { not_before: source.not_before })),
            Some(blob) => Some((peer, Transfer::Want(self.want_of(blob)))),
        }
    }

    pub(super) fn want_of(&self, blob: &Blob) -> Want {
        self.want(blob.turn(), blob.next(), blob.received(), blob.have())
    }

    fn want(&self, turn: u32, next: u32, received: u32, have: SmallVec<[u64; WANT_WORDS_MAX]>) -> Want {
        let (echo_ms, at) = self.transfers.echo;
        let held_ms = u16::try_from(self.now.since(at).as_millis()).unwrap_or(u16::MAX);
        Want { turn, next, received, echo_ms, held_ms, have }
    }

    /// When a packet of a state is due. Orders always go first.
    pub(super) fn transfer_due_at(&self) -> Option<Instant> {
        if !matches!(self.phase, SessionPhase::Lobby | SessionPhase::Running | SessionPhase::Ending) {
            return None;
        }
        let control = self.control().map(|_| self.transfers.control_at);
        let chunk = self.next_chunk().map(|(_, _, at)| at);
        [control, chunk].into_iter().flatten().min()
    }

    /// The link whose chunk is due first, the chunk (none: the manifest), and the time.
    fn next_chunk(&self) -> Option<(usize, Option<u32>, Instant)> {
        let due = |(index, link): (usize, &crate::session::link::Link)| {
            let sender = link.sender.as_ref().filter(|_| link.is_connected())?;
            match sender.due(self.blob_for(link)?) {
                None if sender.is_known => None,
                None => Some((index, None, sender.promise_at())),
                Some((chunk, at)) => Some((index, Some(chunk), at.max(self.transfers.bucket.free_at()))),
            }
        };
        self.links.values().enumerate().filter_map(due).min_by_key(|due| due.2)
    }

    /// Writes the next packet of a state, if one is due.
    pub(super) fn transfer_packet(&mut self, out: &mut Vec<u8>) -> Option<PeerId> {
        if self.transfer_due_at().is_none_or(|at| at > self.now) {
            return None;
        }
        let control = if self.transfers.control_at <= self.now { self.control() } else { None };
        if let Some((peer, transfer)) = control {
            self.transfers.control_at = self.now + CONTROL_EVERY;
            self.transfers.declines = None;
            self.transfers.thanks.iter_mut().for_each(|thanks| thanks.is_due = false);
            let key = self.links.get(&peer)?.key;
            transfer.encode(&mut self.buffers.writer);
            packet::seal(&self.buffers.writer, key, out);
            return Some(peer);
        }
        let (index, chunk, _) = self.next_chunk().filter(|due| due.2 <= self.now)?;
        let is_delayed = self.is_delayed(&self.links[index]);
        let blob = if is_delayed { self.delayed.state() } else { self.transfers.blob.as_ref() }?;
        let link = &mut self.links[index];
        let sender = link.sender.as_mut()?;
        let transfer = match chunk {
            None => {
                sender.note_promised(self.now);
                Transfer::Manifest(blob.manifest().clone())
            }
            Some(index) => {
                let bytes = blob.chunk(index)?.to_vec();
                sender.note_sent(index, bytes.len() as u32, self.now);
                self.transfers.bucket.spend(bytes.len() as u32, self.setup.config.state_rate, self.now);
                let sent_ms = (self.now.as_micros() / 1_000) as u16;
                Transfer::Chunk(packet::Chunk { turn: blob.turn(), index, sent_ms, bytes })
            }
        };
        transfer.encode(&mut self.buffers.writer);
        packet::seal(&self.buffers.writer, link.key, out);
        Some(link.peer)
    }

    // ---- time

    /// Limits every wait for a state.
    pub(super) fn transfer_timeout(&mut self) {
        self.join_timeout();
        if self.setup.forwards() {
            self.note_empty_seats();
            self.check_source();
            self.serve_guests();
            return;
        }
        // A player who was asked: the middle has the state, or does not want it any more.
        for link in self.links.values_mut() {
            let stale = |sender: &Sender| self.now.since(sender.progress) >= SENDER_PATIENCE;
            if link.sender.as_deref().is_some_and(stale) {
                link.sender = None;
                self.transfers.blob = None;
            }
        }
    }

    fn note_empty_seats(&mut self) {
        for (seat, stream) in self.transfers.seats.iter_mut().zip(&self.streams) {
            let since = seat.empty_since.unwrap_or(self.now);
            seat.empty_since = stream.end().map(|_| since);
        }
    }

    /// Notes the secret that gives a player its place back.
    pub(super) fn note_seat(&mut self, identity: Identity, secret: u128) {
        if let Identity::Player(player) = identity
            && let Some(seat) = self.transfers.seats.get_mut(player.index())
        {
            seat.secret = secret;
            seat.connection = seat.connection.wrapping_add(u16::from(self.phase == SessionPhase::Running));
        }
    }

    /// Number of the newest connection at a player's place.
    pub(super) fn connection_of(&self, identity: Identity) -> u16 {
        match identity {
            Identity::Player(player) => {
                self.transfers.seats.get(player.index()).map_or(0, |seat| seat.connection)
            }
            Identity::Spectator | Identity::Relay => 0,
        }
    }
}
