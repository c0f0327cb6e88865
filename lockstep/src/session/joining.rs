//! The side of a peer that joins a running match: gets the state, checks it, catches up.

use crate::pace::alignment::Alignment;
use crate::pace::pacing::Meter;
use crate::packet::{Manifest, Transfer};
use crate::session::blob::{Blob, Taken};
use crate::session::checksum::{Checksums, fold_checksum};
use crate::session::event::{Event, Failure};
use crate::session::header::Header;
use crate::session::stream::Stream;
use crate::session::{Session, SessionPhase};
use crate::value::action::Action;
use crate::value::ids::{Identity, PeerId, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

/// Number of parts of a state after which progress is reported.
const PROGRESS_PARTS: u32 = 20;

/// The state of a running match; the other players have confirmed its checksum. The simulation must load it ([`Session::take_state`]).
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

/// The progress of joining.
#[derive(Clone, Debug)]
pub(super) struct Joining {
    /// The middle of the star.
    pub(super) peer: PeerId,
    since: Instant,
    stage: Stage,
    /// A state that was not valid, until another one is announced.
    refused: Option<u32>,
    /// The part that was reported to the application.
    told: u32,
    source: PlayerId,
}

#[derive(Clone, Debug)]
enum Stage {
    /// Waits for a state, or for more of it.
    Getting,
    /// Its bytes are here; waits until the others' checksums confirm them.
    Checking(Box<Header>, Vec<u8>),
    /// The others' checksums confirm it; the simulation must load it.
    Loading(Box<Header>),
    CatchingUp,
    /// Has run every turn that it has; a player waits for the turn of its return.
    Ready,
}

impl<A: Action> Session<A> {
    /// Whether this peer joins a running match and has no state yet, so turns wait for it.
    #[must_use]
    pub fn is_joining(&self) -> bool {
        let waits = |joining: &Joining| !matches!(joining.stage, Stage::CatchingUp | Stage::Ready);
        self.transfers.joining.as_ref().is_some_and(waits)
    }

    /// Whether this peer has joined a running match and is behind it, so its turns may pass as fast as possible.
    #[must_use]
    pub fn is_catching_up(&self) -> bool {
        self.transfers.joining.as_ref().is_some_and(|joining| matches!(joining.stage, Stage::CatchingUp))
    }

    /// Returns the state that the simulation must load, once it has arrived and the other players' checksums agree with it.
    /// [`crate::Driver`] does this; an application without the driver answers with [`Session::state_taken`].
    pub fn take_state(&mut self) -> Option<JoinedState> {
        if !self.state_is_confirmed()? {
            self.refuse_state();
            return None;
        }
        let joining = self.transfers.joining.as_mut()?;
        let Stage::Checking(header, bytes) = core::mem::replace(&mut joining.stage, Stage::Getting) else {
            return None;
        };
        let state = JoinedState { turn: Turn(header.turn), frame: header.frame, bytes };
        joining.stage = Stage::Loading(header);
        Some(state)
    }

    /// The simulation has loaded the state and has this checksum; none if it could not load it.
    pub fn state_taken(&mut self, checksum: Option<u64>) {
        let Some(joining) = &mut self.transfers.joining else { return };
        let Stage::Loading(header) = &joining.stage else { return };
        if checksum != Some(header.checksum) {
            self.refuse_state();
            return;
        }
        joining.stage = Stage::CatchingUp;
        self.emit(Event::Joined { turn: Turn(self.gate.turn) });
    }

    // ---- packets

    /// The middle asks this peer to wait: the match runs.
    pub(super) fn join_waits(&mut self, peer: PeerId) {
        let since = self.now;
        let start =
            || Joining { peer, since, stage: Stage::Getting, refused: None, told: 0, source: PlayerId(0) };
        self.transfers.joining.get_or_insert_with(start);
    }

    /// The middle announces a state.
    pub(super) fn join_promised(&mut self, peer: PeerId, manifest: Manifest) {
        self.join_waits(peer);
        let Some(joining) = self.transfers.joining.as_mut() else { return };
        let is_known = self.transfers.blob.as_ref().is_some_and(|blob| *blob.manifest() == manifest);
        let is_refused = joining.refused == Some(manifest.turn);
        if !matches!(joining.stage, Stage::Getting) || is_known || is_refused {
            return;
        }
        let (bytes, max) = (manifest.total, self.setup.config.state_bytes_max);
        if bytes > max {
            self.fail(Failure::StateTooLarge { bytes, max });
            return;
        }
        (joining.refused, joining.told, joining.source) = (None, 0, manifest.source);
        tracing::debug!(turn = manifest.turn, bytes, "a state is promised");
        self.transfers.blob = Some(Blob::promised(manifest));
        self.emit(Event::StateProgress { received: 0, total: bytes });
    }

    /// A chunk has arrived.
    pub(super) fn join_got(&mut self, taken: Taken) {
        let Some(joining) = self.transfers.joining.as_mut() else { return };
        if taken == Taken::Hopeless {
            self.refuse_state();
            return;
        }
        let Some(blob) = self.transfers.blob.as_ref().filter(|_| matches!(joining.stage, Stage::Getting))
        else {
            return;
        };
        let part = (u64::from(blob.received()) * u64::from(PROGRESS_PARTS) / u64::from(blob.chunks())) as u32;
        if part != joining.told {
            joining.told = part;
            let total = blob.manifest().total;
            let received = (blob.received() * crate::packet::CHUNK_BYTES).min(total);
            self.emit(Event::StateProgress { received, total });
        }
        let whole = self.transfers.blob.take_if(|blob| blob.is_whole());
        let Some(blob) = whole else { return };
        let turn = blob.turn();
        match blob.into_bytes().and_then(|bytes| self.read_state(turn, bytes)) {
            Some((header, state)) => self.go_on_from(header, state),
            None => self.refuse_state_of(turn),
        }
    }

    fn read_state(&self, turn: u32, mut bytes: Vec<u8>) -> Option<(Header, Vec<u8>)> {
        let (header, start) = Header::read(&bytes, self.setup.config.players).ok()?;
        let is_sound = header.turn == turn && header.is_sound(&self.setup.config, A::MAX_BITS);
        bytes.drain(..start);
        is_sound.then_some((header, bytes))
    }

    /// The message that a joining peer sends.
    pub(super) fn join_control(&self, joining: &Joining) -> Option<Transfer> {
        match joining.stage {
            Stage::Getting => match (joining.refused, &self.transfers.blob) {
                (Some(turn), _) => Some(Transfer::Refuse { turn }),
                (None, Some(blob)) => Some(Transfer::Want(self.want_of(blob))),
                (None, None) => None,
            },
            Stage::Ready if self.phase == SessionPhase::Running && self.setup.player().is_some() => {
                Some(Transfer::Here)
            }
            _ => None,
        }
    }

    // ---- the state

    /// Sets the session to the position of the state. Later entries arrive as usual.
    fn go_on_from(&mut self, header: Header, state: Vec<u8>) {
        let turn = header.turn;
        if !self.join_roster(header.signing.as_deref()) {
            self.fail(Failure::OtherRoster);
            return;
        }
        let config = &self.setup.config;
        self.gate.turn = turn;
        self.gate.horizon = Some(turn);
        self.gate.paused = header.paused;
        self.saving.checksum = header.checksum;
        self.pace.planner.resume(header.plan, header.speed);
        self.pace.planner.restore(header.calm, header.players.iter().map(|player| player.votes));
        self.results.go_on(turn, header.result);
        let mut checksums = Checksums::new(config.players, config.checksum_interval, config.window);
        if let Some(last) = self.gate.last_turn {
            checksums.set_last_turn(last);
        }
        checksums.resume_at(turn);
        self.compared.checksums = checksums;
        let stream =
            |ended: Option<_>| ended.map_or(Stream::new(turn), |(last, reason)| Stream::ended(last, reason));
        self.streams = header.players.iter().map(|player| stream(player.ended)).collect();
        for link in self.links.values_mut() {
            for (ack, stream) in link.acked.iter_mut().zip(&self.streams) {
                *ack = stream.next();
            }
        }
        tracing::debug!(turn, bytes = state.len(), "the state is here");
        self.phase = SessionPhase::Running;
        if let Some(joining) = &mut self.transfers.joining {
            joining.stage = Stage::Checking(Box::new(header), state);
        }
    }

    /// Whether the others' checksums confirm the state. None: some have not arrived yet, or there is no state.
    fn state_is_confirmed(&self) -> Option<bool> {
        let joining = self.transfers.joining.as_ref()?;
        let Stage::Checking(header, _) = &joining.stage else { return None };
        let number = header.turn.saturating_add(self.setup.config.turns_ahead);
        let own = fold_checksum(header.checksum);
        let (mut same, mut other) = (0, 0);
        for (player, stream) in (0_u8..).map(PlayerId).zip(&self.streams) {
            if !stream.has(number) {
                return None;
            }
            // The source's own checksum proves nothing.
            let value = stream.get(number).and_then(crate::value::entry::Entry::checksum);
            match value.filter(|_| player != joining.source) {
                Some(value) if value == own => same += 1,
                Some(_) => other += 1,
                None => {}
            }
        }
        Some(other <= same)
    }

    /// The state here, or in transfer, is not valid: asks for another source.
    fn refuse_state(&mut self) {
        let turn = match self.transfers.joining.as_ref().map(|joining| &joining.stage) {
            Some(Stage::Checking(header, _) | Stage::Loading(header)) => header.turn,
            _ => self.transfers.blob.as_ref().map_or(0, Blob::turn),
        };
        self.refuse_state_of(turn);
    }

    fn refuse_state_of(&mut self, turn: u32) {
        tracing::warn!(turn, "the state is not good");
        self.transfers.blob = None;
        self.phase = SessionPhase::Lobby;
        if let Some(joining) = &mut self.transfers.joining {
            (joining.stage, joining.refused) = (Stage::Getting, Some(turn));
        }
        self.emit(Event::StateRefused { turn: Turn(turn) });
    }

    // ---- time

    /// Ends joining that takes too long.
    pub(super) fn join_timeout(&mut self) {
        let Some(joining) = &mut self.transfers.joining else { return };
        if matches!(joining.stage, Stage::Ready) {
            return;
        }
        if self.now.since(joining.since) >= self.setup.config.join_timeout {
            self.fail(Failure::JoinTimeout);
            return;
        }
        let is_behind = self.turns_ready() > self.setup.config.turns_ahead.max(1);
        if self.phase != SessionPhase::Running || !self.is_catching_up() || is_behind {
            return;
        }
        // Measurements while turns passed faster are not valid.
        (self.pace.alignment, self.pace.meter) = (Alignment::new(), Meter::new());
        self.emit(Event::CaughtUp { turn: Turn(self.gate.turn) });
        let plays = self.setup.player().is_some();
        let Some(joining) = &mut self.transfers.joining else { return };
        joining.stage = Stage::Ready;
        if !plays {
            self.transfers.joining = None;
        }
    }

    /// When joining is given up.
    pub(super) fn join_deadline(&self) -> Option<Instant> {
        let joining =
            self.transfers.joining.as_ref().filter(|joining| !matches!(joining.stage, Stage::Ready))?;
        Some(joining.since + self.setup.config.join_timeout)
    }

    /// The machine was suspended; this does not count against the other peers.
    pub(super) fn shift_joining(&mut self, jump: Duration, now: Instant) {
        if let Some(joining) = &mut self.transfers.joining {
            joining.since = (joining.since + jump).min(now);
        }
    }

    /// The local player, if this peer makes the entries of its stream. A peer that joins does not, until its player is back: the stream is
    /// then like any other player's.
    pub(super) fn author(&self) -> Option<PlayerId> {
        self.setup.player().filter(|_| self.transfers.joining.is_none())
    }

    /// A stream goes on. If it is the local player's, and over the connection with the middle that this peer has, the player is back.
    /// Otherwise it is the return of somebody else, or of a former connection, which has ended since.
    pub(super) fn note_return(&mut self, index: usize, player: PlayerId, connection: u16) {
        let is_own =
            self.setup.identity == Identity::Player(player) && self.links[index].connection == connection;
        if is_own && !self.is_joining() {
            self.transfers.joining = None;
        }
    }
}
