//! Joining a running match: what a session does with the state that it gets, and with the state that it is asked for.

use crate::pace::alignment::Alignment;
use crate::pace::meter::Meter;
use crate::packet::{CHUNK_BYTES, Manifest, Transfer};
use crate::session::checksum::fold_checksum;
use crate::session::comparison::Comparison;
use crate::session::event::Event;
use crate::session::failure::Failure;
use crate::session::signing::Signing;
use crate::session::stream::Stream;
use crate::session::transfer::blob::{Blob, Taken};
use crate::session::transfer::header::{Header, HeaderPlayer};
use crate::session::transfer::joiner::Due;
use crate::session::transfer::middle::Load;
use crate::session::transfer::resuming::Resuming;
use crate::session::{AnySession, SessionPhase, players_in};
use crate::signed::statement::Since;
use crate::value::ids::{Identity, PeerId, PlayerId, Turn};

/// The state of a running match; the other players have confirmed its checksum. The simulation must load it
/// ([`Session::take_state`](crate::AnySession::take_state)).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct JoinedState {
    /// The turn that runs first.
    pub turn: Turn,
    /// Number of frames simulated so far.
    pub frame: u32,
    /// What [`crate::Simulation::save_state`] wrote.
    pub bytes: Vec<u8>,
}

/// Calls of the application.
impl AnySession {
    /// Whether this peer joins a running match and has no state yet, so turns wait for it.
    #[must_use]
    pub fn is_joining(&self) -> bool {
        self.transfers.joiner.lacks_state()
    }

    /// Whether this peer has joined a running match and is behind it, so its turns may pass as fast as possible.
    #[must_use]
    pub fn is_catching_up(&self) -> bool {
        self.transfers.joiner.is_catching_up()
    }

    /// Returns the state that the simulation must load, once it has arrived and the other players' checksums agree with it.
    /// [`crate::Driver`] does this; an application without the driver answers with [`Session::state_taken`](crate::AnySession::state_taken).
    pub fn take_state(&mut self) -> Option<JoinedState> {
        if let Some((turn, bytes)) = self.saved_state() {
            return Some(JoinedState { turn, frame: 0, bytes });
        }
        if !self.transfers.joiner.confirm(&self.common)? {
            self.refuse_wrong_state();
            return None;
        }
        let (turn, frame, bytes) = self.transfers.joiner.load()?;
        Some(JoinedState { turn: Turn(turn), frame, bytes })
    }

    /// The simulation has loaded the state and has this checksum, computed from what was loaded; none if it could not load it. A checksum
    /// that was stored in the state would be compared with itself, and a wrong state believed.
    pub fn state_taken(&mut self, checksum: Option<u64>) {
        if let Some(is_right) = self.save_taken(checksum) {
            if !is_right {
                self.refuse_wrong_state();
            }
            return;
        }
        match self.transfers.joiner.loaded(checksum) {
            None => {}
            Some(true) => self.common.emit(Event::Joined { turn: Turn(self.common.gate.turn) }),
            Some(false) => self.refuse_wrong_state(),
        }
    }

    /// Whether the state before the turn that has begun is wanted, for a peer that joins. [`crate::Driver`] checks this and calls
    /// [`crate::Simulation::save_state`]; an application without the driver must do so before it applies the turn's actions, and pass the
    /// bytes to [`Session::give_state`](crate::AnySession::give_state).
    #[must_use]
    pub fn turn_gives_state(&self) -> bool {
        self.common.gate.in_turn && self.transfers.giver.has_header()
    }

    /// Passes in the simulation's state before the turn that has begun. None: the simulation cannot be saved, and another source is asked.
    pub fn give_state(&mut self, state: Option<&[u8]>) {
        self.transfers.give(&mut self.common, state);
    }

    /// Bytes of the states that this peer holds for others, as far as they were announced to it: a relay that asks for one while somebody
    /// joins. At most twice [`crate::SessionConfig::state_bytes_max()`].
    #[must_use]
    pub fn state_bytes(&self) -> u64 {
        let blob = self.transfers.blob.as_ref();
        self.delayed.state_bytes() + blob.map_or(0, |blob| u64::from(blob.manifest().total))
    }

    /// A process with many sessions: how many bytes of states this one may hold from now on. A state that is larger is not taken before that
    /// changes, and joining peers wait until then. What is held already stays.
    pub fn allow_state_bytes(&mut self, bytes: u64) {
        self.transfers.middle.allowed = Some(bytes);
    }
}

/// The state that this peer gives.
impl AnySession {
    /// Before anything of the turn takes effect: takes the session's part if the state is wanted.
    pub(super) fn begin_state(&mut self, turn: Turn) {
        let before = turn.0.checked_sub(1);
        let is_compared = before.is_some_and(|before| self.compared.checksums.covers(before));
        let is_due = self.transfers.giver.is_due(&self.common, turn.0, is_compared);
        let header = is_due.then(|| self.header(turn.0, self.signing.as_deref()));
        self.transfers.giver.set_header(header);
    }

    /// The match before a turn, apart from the simulation's state. Equal on all peers.
    pub(super) fn header(&self, turn: u32, signing: Option<&Signing>) -> Header {
        let (plan, speed) = self.pace.planner.to_save();
        let player = |(player, stream): (PlayerId, &Stream)| HeaderPlayer {
            ended: stream.ended_before(turn),
            votes: self.pace.planner.votes(player),
            asked: self.controlled.asked[player.index()],
        };
        Header {
            settings_hash: self.common.config().settings_hash(self.common.setup.action_bits),
            turn,
            frame: self.common.gate.frames,
            checksum: self.saving.checksum,
            paused: self.controlled.paused,
            paused_by: self.controlled.paused_by,
            speed,
            plan,
            calm: self.pace.planner.calm(),
            result: self.results.own(),
            players: self.common.streams.by_player().map(player).collect(),
            saved: self.saving.last(),
            signing: signing.map(|signing| Box::new(signing.to_header(self.common.streams.len()))),
        }
    }

    /// A source that lies: of the next state that it gives, this bit is wrong, counted from the start or from the end.
    #[cfg(test)]
    pub(crate) fn lie_about_state(&mut self, from_end: bool, bit: usize) {
        self.transfers.giver.lie_about_state(from_end, bit);
    }

    /// A source that lies: the session's part of the next state that it gives is changed.
    #[cfg(test)]
    pub(crate) fn lie_about_header(&mut self, lie: fn(&mut Header)) {
        self.transfers.giver.header_lie = Some(lie);
    }

    /// Whether the source has told that lie.
    #[cfg(test)]
    pub(crate) fn has_lied_about_header(&self) -> bool {
        self.transfers.giver.header_lie.is_none()
    }

    /// The wrong bit, the number of bits of the header, and of all.
    #[cfg(test)]
    pub(crate) fn lied(&self) -> Option<(usize, usize, usize)> {
        self.transfers.giver.lied()
    }
}

/// Packets.
impl AnySession {
    /// Returns whether the packet was expected.
    pub(super) fn take_transfer(&mut self, index: usize, transfer: Transfer) -> bool {
        let link = &self.common.links[index];
        let peer = link.peer;
        let from_middle =
            !self.common.setup.accepts() && link.identity == Some(self.common.setup.coordinator());
        let joins =
            from_middle && (self.common.phase == SessionPhase::Lobby || self.transfers.joiner.is_active());
        let is_source = self.transfers.middle.has_asked(peer);
        match transfer {
            Transfer::Wait if joins => {
                self.join_waits(peer);
                self.transfers.joiner.note_running();
                self.forget_wishes();
            }
            Transfer::Manifest(manifest) if joins => self.join_promised(peer, manifest),
            Transfer::Manifest(manifest) if is_source => {
                self.transfers.source_promised(&mut self.common, &self.delayed, manifest);
            }
            Transfer::Chunk(chunk) if joins || is_source => {
                match self.transfers.take_chunk(self.common.now, &chunk) {
                    Some(Taken::Hopeless) if is_source => self.transfers.source_failed(&mut self.common),
                    Some(taken) if !is_source => self.join_got(taken),
                    _ => {}
                }
            }
            Transfer::Chunk(chunk) => return self.transfers.middle.thank_again(peer, chunk.turn),
            Transfer::Want(want) => {
                self.transfers.note_want(&mut self.common, &self.delayed, index, &want);
            }
            Transfer::Refuse { turn } if is_source => {
                let has_it = self.transfers.blob.as_ref().is_some_and(|blob| blob.turn() == turn);
                if has_it || self.transfers.middle.has_asked_for(turn) {
                    self.transfers.source_failed(&mut self.common);
                }
            }
            Transfer::Refuse { turn } => self.arrival_refuses(index, turn),
            Transfer::Here => self.arrival_is_here(index),
            Transfer::Ask { not_before } if from_middle => {
                self.transfers.asked_for_state(&mut self.common, index, not_before);
            }
            _ => return false,
        }
        true
    }

    /// The middle asks this peer to wait: the match runs.
    fn join_waits(&mut self, peer: PeerId) {
        self.transfers.joiner.begin(peer, self.common.now);
        self.common.streams.set_author(None);
    }

    /// What was asked for while this peer could not know that the match runs would take effect in the first entry after the return, and in input mode delay
    /// all that follows.
    fn forget_wishes(&mut self) {
        (self.local.pause, self.local.speed, self.local.save) = (None, None, false);
        let actions = self.local.outbox.cancel();
        self.tell_cancelled(actions);
    }

    /// The middle announces a state.
    fn join_promised(&mut self, peer: PeerId, manifest: Manifest) {
        // A copy that came late, of the manifest of the save that is here.
        if !matches!(self.transfers.resuming, Resuming::None) && manifest.turn == self.common.gate.turn {
            return;
        }
        self.join_waits(peer);
        let is_known = self.transfers.blob.as_ref().is_some_and(|blob| *blob.manifest() == manifest);
        if is_known || !self.transfers.joiner.can_use(manifest.turn) {
            return;
        }
        // Copies of former manifests come late, and nothing in them says so. A state that was given up sends nothing more, and the manifest of the next one is
        // repeated.
        if self.transfers.blob.is_some() && self.transfers.joiner.gets_on(self.common.now) {
            return;
        }
        let (bytes, max) = (manifest.total, self.common.config().arrivals.state_bytes_max);
        if bytes > max {
            self.fail(Failure::StateTooLarge { bytes, max });
            return;
        }
        self.transfers.joiner.expect(manifest.source, self.common.now);
        self.transfers.resuming = Resuming::None;
        tracing::debug!(turn = manifest.turn, bytes, "a state is promised");
        self.transfers.blob = Some(Blob::promised(manifest));
        self.common.emit(Event::StateProgress { received: 0, total: bytes });
    }

    /// A chunk has arrived.
    fn join_got(&mut self, taken: Taken) {
        if taken == Taken::Hopeless {
            let turn = self.transfers.blob.as_ref().map_or(0, Blob::turn);
            self.refuse_state_of(turn);
            return;
        }
        let is_getting = self.transfers.joiner.is_getting();
        let Some(blob) = self.transfers.blob.as_ref().filter(|_| is_getting) else { return };
        if taken == Taken::New {
            self.transfers.joiner.note_new_chunk(self.common.now);
        }
        self.transfers.joiner.renew(blob.received(), self.common.now);
        if self.transfers.joiner.note_chunks(blob.received(), blob.chunks()) {
            let total = blob.manifest().total;
            let received = (blob.received() * CHUNK_BYTES).min(total);
            self.common.emit(Event::StateProgress { received, total });
        }
        let whole = self.transfers.blob.take_if(|blob| blob.is_whole());
        let Some(blob) = whole else { return };
        let (turn, is_save) = (blob.turn(), Self::is_save(&blob));
        let bytes = blob.into_bytes();
        if is_save {
            self.transfers.joiner.note_turn(turn);
            if !bytes.is_some_and(|bytes| self.take_save(turn, &bytes)) {
                self.refuse_state_of(turn);
            }
            return;
        }
        match bytes.and_then(|bytes| self.read_state(turn, bytes)) {
            Some((header, state)) => self.go_on_from(header, state),
            None => self.refuse_state_of(turn),
        }
    }

    fn read_state(&self, turn: u32, mut bytes: Vec<u8>) -> Option<(Header, Vec<u8>)> {
        let config = self.common.config();
        let (header, start) = Header::read(&bytes, config.players).ok()?;
        let is_sound = header.turn == turn && header.is_sound(config, self.common.setup.action_bits);
        bytes.drain(..start);
        is_sound.then_some((header, bytes))
    }
}

/// The state that this peer gets.
impl AnySession {
    /// Sets the session to the position of the state. Later entries arrive as usual.
    fn go_on_from(&mut self, header: Header, state: Vec<u8>) {
        let turn = header.turn;
        // A sound header is signed as the settings say.
        if let (Some(signing), Some(signed)) = (&mut self.signing, &header.signing) {
            let Some(roster) = signing.roster_to_join(&self.common, signed) else {
                self.refuse_state_of(turn);
                return;
            };
            if let Err(failure) = signing.join_roster(&mut self.common, signed, roster) {
                self.fail(failure);
                return;
            }
        }
        self.forget_wishes();
        self.common.gate.go_on(turn, header.frame);
        let asked = header.players.iter().map(|player| player.asked);
        self.controlled.go_on(header.paused, header.paused_by, asked);
        self.saving.go_on(header.checksum, header.saved);
        self.pace.planner.resume(header.plan, header.speed);
        self.pace.planner.restore(header.calm, header.players.iter().map(|player| player.votes));
        self.results.go_on(turn, header.result);
        self.compared = Comparison { silent: self.compared.silent, ..Comparison::new(self.common.config()) };
        if let Some(last) = self.common.gate.last_turn {
            self.compared.checksums.set_last_turn(last);
        }
        self.compared.checksums.resume_at(turn);
        if let Some(signing) = &mut self.signing {
            signing.since = Some(Since { turn: Turn(turn), checksum: fold_checksum(header.checksum) });
        }
        let stream =
            |ended: Option<_>| ended.map_or(Stream::new(turn), |(last, reason)| Stream::ended(last, reason));
        self.common.streams.replace(header.players.iter().map(|player| stream(player.ended)));
        for link in self.common.links.values_mut() {
            for (ack, stream) in link.progress.acked.iter_mut().zip(&self.common.streams) {
                *ack = stream.next();
            }
        }
        tracing::debug!(turn, bytes = state.len(), "the state is here");
        self.common.phase = SessionPhase::Running;
        let mark = header.clone().mark(self.common.config(), &mut self.buffers.recoded);
        let value = fold_checksum(header.checksum) ^ mark;
        self.transfers.joiner.check(header, value, state, self.common.now);
    }

    /// The state was not damaged on its way, but players contradict it, or nobody confirms it.
    fn refuse_wrong_state(&mut self) {
        let Some((turn, source, doubters)) = self.transfers.joiner.state() else { return };
        let mut suspects = vec![Identity::Player(source), self.common.setup.coordinator()];
        suspects.extend(players_in(doubters).map(Identity::Player));
        suspects.retain(|suspect| *suspect != self.common.setup.identity);
        suspects.sort_unstable();
        suspects.dedup();
        tracing::error!(turn, ?suspects, "the state is wrong");
        self.common.emit(Event::WrongState { turn: Turn(turn), suspects });
        self.refuse_state_of(turn);
    }

    /// The state in transfer is not valid: asks for another source.
    fn refuse_state_of(&mut self, turn: u32) {
        tracing::warn!(turn, "the state is not good");
        self.transfers.blob = None;
        self.common.phase = SessionPhase::Lobby;
        self.transfers.joiner.refuse(turn);
        self.common.emit(Event::StateRefused { turn: Turn(turn) });
    }

    /// A stream goes on. If it is the local player's, and over the connection with the middle that this peer has, the player is back.
    /// Otherwise it is the return of somebody else, or of a former connection, which has ended since.
    ///
    /// An honest middle brings nobody back to a turn that may have run: the return lies behind all turns of which the player had entries.
    pub(super) fn note_return(&mut self, index: usize, player: PlayerId, turn: u32, connection: u16) {
        let is_own = self.common.setup.identity == Identity::Player(player)
            && self.common.links[index].handshake.connection == connection;
        if is_own && !self.is_joining() {
            if self.signing.as_ref().is_some_and(|signing| !signing.is_unsigned(turn)) {
                self.fail(Failure::SignedAlready);
                return;
            }
            self.end_joining();
        }
    }

    fn end_joining(&mut self) {
        self.transfers.joiner.end();
        self.common.streams.set_author(self.common.setup.player());
    }
}

/// Time.
impl AnySession {
    /// Limits every wait for a state.
    pub(super) fn transfer_timeout(&mut self) {
        self.join_timeout();
        if !self.common.setup.forwards() {
            self.transfers.forget_idle_senders(&mut self.common);
            return;
        }
        if self.common.phase == SessionPhase::Lobby {
            self.serve_lobby();
            return;
        }
        let common = &mut self.common;
        self.transfers.middle.places.note_empty(&common.streams, common.now);
        self.transfers.check_source(common, self.pace.planner.turn());
        let load = Load { planner: &self.pace.planner, lateness: &self.lateness };
        self.transfers.serve_arrivals(common, &mut self.delayed, load);
    }

    /// Ends joining that takes too long.
    fn join_timeout(&mut self) {
        let is_behind = self.common.turns_ready() > self.common.config().turns_ahead.max(1)
            || self.common.lacks_turns(self.pace.planner.turn());
        match self.transfers.joiner.due(&self.common, is_behind, self.pace.planner.turn()) {
            Due::Nothing => {}
            Due::Contradicted => self.refuse_wrong_state(),
            Due::Unconfirmed { turn } => self.refuse_state_of(turn),
            Due::Late => self.fail(Failure::JoinTimeout),
            Due::CaughtUp => {
                // Measurements while turns passed faster are not valid.
                (self.pace.alignment, self.pace.meter) = (Alignment::new(), Meter::new());
                self.common.emit(Event::CaughtUp { turn: Turn(self.common.gate.turn) });
                self.transfers.joiner.note_caught_up(self.common.setup.player().is_some());
                if !self.transfers.joiner.is_active() {
                    self.end_joining();
                }
            }
        }
    }
}
