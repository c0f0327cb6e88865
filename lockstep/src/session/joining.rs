//! The side of a peer that joins a running match: gets the state, checks it, catches up.

use crate::pace::alignment::Alignment;
use crate::pace::pacing::Meter;
use crate::packet::{Manifest, Transfer};
use crate::session::blob::{Blob, Taken};
use crate::session::checksum::{Checksums, Desync, fold_checksum};
use crate::session::event::{Event, Failure};
use crate::session::header::Header;
use crate::session::signing::{Signing, View};
use crate::session::stream::Stream;
use crate::session::{AnySession, SessionPhase};
use crate::signed::statement::Since;
use crate::value::ids::{Identity, PeerId, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

/// Number of parts of a state after which progress is reported.
const PROGRESS_PARTS: u32 = 20;

/// The entries that follow a state must arrive within one part in this many of the time for joining.
const CHECKING: u64 = 4;

/// Number of due turns, about a second each, within which most players' statements must confirm a state.
const ALONE_MAX: u8 = 4;

/// The state of a running match; the other players have confirmed its checksum. The simulation must load it ([`Session::take_state`](crate::AnySession::take_state)).
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
    /// The turn before which the state was taken.
    turn: u32,
    trust: Trust,
    /// When its bytes were here.
    got: Instant,
    /// Number of due turns in a row without most players' statements.
    alone: u8,
}

/// What the others say of the state that was loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trust {
    /// Nothing yet.
    Open,
    Confirmed,
    Contradicted,
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

impl AnySession {
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
    /// [`crate::Driver`] does this; an application without the driver answers with [`Session::state_taken`](crate::AnySession::state_taken).
    pub fn take_state(&mut self) -> Option<JoinedState> {
        if !self.state_is_confirmed()? {
            self.refuse_wrong_state();
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

    /// The simulation has loaded the state and has this checksum, computed from what was loaded; none if it could not load it. A checksum
    /// that was stored in the state would be compared with itself, and a wrong state believed.
    pub fn state_taken(&mut self, checksum: Option<u64>) {
        let Some(joining) = &mut self.transfers.joining else { return };
        let Stage::Loading(header) = &joining.stage else { return };
        if checksum != Some(header.checksum) {
            self.refuse_wrong_state();
            return;
        }
        joining.stage = Stage::CatchingUp;
        self.emit(Event::Joined { turn: Turn(self.gate.turn) });
    }

    // ---- packets

    /// The middle asks this peer to wait: the match runs.
    pub(super) fn join_waits(&mut self, peer: PeerId) {
        let since = self.now;
        let start = || Joining {
            peer,
            since,
            stage: Stage::Getting,
            refused: None,
            told: 0,
            source: PlayerId(0),
            turn: 0,
            trust: Trust::Open,
            got: since,
            alone: 0,
        };
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
        let is_sound = header.turn == turn && header.is_sound(&self.setup.config, self.setup.action_bits);
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
            let is_player = self.setup.player().is_some();
            self.fail(if is_player { Failure::OtherKey } else { Failure::OtherRoster });
            return;
        }
        let config = &self.setup.config;
        self.gate.turn = turn;
        self.gate.horizon = Some(turn);
        (self.gate.in_turn, self.gate.frames) = (false, header.frame);
        (self.controlled.paused, self.controlled.paused_by) = (header.paused, header.paused_by);
        for (asked, player) in self.controlled.asked.iter_mut().zip(&header.players) {
            *asked = player.asked;
        }
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
        self.compared.desync_reported = false;
        if let Some(signing) = &mut self.signing {
            signing.since = Some(Since { turn: Turn(turn), checksum: fold_checksum(header.checksum) });
        }
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
            (joining.turn, joining.got, joining.alone) = (turn, self.now, 0);
            joining.trust = Trust::Open;
        }
    }

    /// Whether most of the players who say something of the turn before the state say what it says. (Nobody says anything: nobody plays any
    /// more.) None: some have not arrived yet, or there is no state.
    fn state_is_confirmed(&self) -> Option<bool> {
        let joining = self.transfers.joining.as_ref()?;
        let Stage::Checking(header, _) = &joining.stage else { return None };
        let number = header.turn.saturating_add(self.setup.config.turns_ahead);
        let own = fold_checksum(header.checksum);
        let (mut same, mut other) = (0, 0);
        for stream in &self.streams {
            if !stream.has(number) {
                return None;
            }
            match stream.get(number).and_then(crate::value::entry::Entry::checksum) {
                Some(value) if value == own => same += 1,
                Some(_) => other += 1,
                None => {}
            }
        }
        Some(same > other || same + other == 0)
    }

    /// Whether this peer runs turns from a state that most players have not confirmed yet, in a signed match by their signatures. Until then it names nobody, and does
    /// not play.
    pub(super) fn is_unverified(&self) -> bool {
        self.transfers.joining.as_ref().is_some_and(|joining| joining.trust != Trust::Confirmed)
    }

    /// Compares the state that was loaded, as it has gone on, with what the players have signed of a turn.
    pub(super) fn verify_state(&mut self, signing: &Signing, view: &View) {
        let Some(joining) = self.transfers.joining.as_mut().filter(|joining| joining.trust == Trust::Open)
        else {
            return;
        };
        let own = (view.live, view.all, view.checksum, view.agreed);
        let said = |player: PlayerId| signing.authors[player.index()].at(view.turn);
        let (mut same, mut other) = (0, 0);
        for statement in crate::session::players_in(view.live).filter_map(said) {
            let told = (statement.live, statement.all, statement.checksum, statement.agreed);
            if told == own { same += 1 } else { other += 1 }
        }
        let most = view.live.count_ones() / 2;
        // Before any turn has run from it, the state is only what it says of itself.
        let has_run = view.turn > joining.turn;
        if has_run && (same > most || view.live == 0) {
            joining.trust = Trust::Confirmed;
        } else if other > 0 && other >= view.live.count_ones() - most {
            joining.trust = Trust::Contradicted;
        }
    }

    /// Statements are due in the same turns everywhere. Most players have signed one about a turn in which none was due here: the state has
    /// brought another rhythm with it.
    pub(super) fn verify_rhythm(&mut self, signing: &Signing, turn: u32) {
        let streams = (0_u8..).map(PlayerId).zip(&self.streams);
        let live = streams.filter(|(_, stream)| stream.end_in(turn).is_none());
        let (mut count, mut told) = (0, 0);
        for (player, _) in live {
            count += 1;
            told += usize::from(signing.authors[player.index()].at(turn).is_some());
        }
        let has_run = (self.transfers.joining.as_ref())
            .is_some_and(|joining| (joining.turn..self.gate.turn).contains(&turn));
        if let Some(joining) = self.transfers.joining.as_mut().filter(|joining| joining.trust == Trust::Open)
            && has_run
            && told * 2 > count
        {
            joining.trust = Trust::Contradicted;
        }
    }

    /// A peer that keeps up with the others gets their statements. If most of them are missing for several seconds, they are signed with other
    /// keys than those that came with the state, or withheld.
    pub(super) fn lose_patience(&mut self, signing: &Signing) {
        let is_behind = self.turns_ready() > self.setup.config.turns_ahead.max(1);
        let Some(joining) = self.transfers.joining.as_mut().filter(|joining| joining.trust == Trust::Open)
        else {
            return;
        };
        joining.alone = if is_behind { 0 } else { joining.alone + 1 };
        if joining.alone > ALONE_MAX {
            tracing::warn!(views = signing.views.len(), "nobody confirms the state");
            joining.trust = Trust::Contradicted;
        }
    }

    /// All checksums of a turn are here and equal. Without signatures this confirms the state from which the turn has run.
    pub(super) fn state_is_confirmed_by(&mut self, turn: Turn) {
        if self.signing.is_none()
            && let Some(joining) = self.transfers.joining.as_mut()
            && joining.trust == Trust::Open
            && matches!(joining.stage, Stage::CatchingUp)
            && turn.0 >= joining.turn
        {
            joining.trust = Trust::Confirmed;
        }
    }

    /// Whether a difference shows that the state from which this peer catches up is wrong.
    pub(super) fn state_is_contradicted_by(&mut self, desync: &Desync) -> bool {
        if !self.is_catching_up() {
            return false;
        }
        let same = desync.values.iter().filter(|(_, value)| Some(*value) == desync.own).count();
        let is_wrong = same * 2 < desync.values.len() || (same == 0 && !desync.values.is_empty());
        if let Some(joining) = self.transfers.joining.as_mut().filter(|_| is_wrong) {
            joining.trust = Trust::Contradicted;
        } else {
            self.state_is_confirmed_by(desync.turn);
        }
        is_wrong
    }

    /// The state was not damaged on its way, but most players contradict it.
    fn refuse_wrong_state(&mut self) {
        let Some(joining) = &self.transfers.joining else { return };
        let mut suspects = vec![Identity::Player(joining.source), self.setup.coordinator()];
        suspects.dedup();
        let turn = Turn(joining.turn);
        tracing::error!(turn = turn.0, ?suspects, "the state is wrong");
        self.emit(Event::WrongState { turn, suspects });
        self.refuse_state_of(turn.0);
    }

    /// The state in transfer is not valid: asks for another source.
    fn refuse_state(&mut self) {
        let turn = self.transfers.blob.as_ref().map_or(0, Blob::turn);
        self.refuse_state_of(turn);
    }

    fn refuse_state_of(&mut self, turn: u32) {
        tracing::warn!(turn, "the state is not good");
        self.transfers.blob = None;
        self.phase = SessionPhase::Lobby;
        if let Some(joining) = &mut self.transfers.joining {
            (joining.stage, joining.refused, joining.trust) = (Stage::Getting, Some(turn), Trust::Open);
        }
        self.emit(Event::StateRefused { turn: Turn(turn) });
    }

    // ---- time

    /// Ends joining that takes too long.
    pub(super) fn join_timeout(&mut self) {
        let Some(joining) = &self.transfers.joining else { return };
        if matches!(joining.stage, Stage::Ready) {
            return;
        }
        if joining.trust == Trust::Contradicted {
            self.refuse_wrong_state();
            return;
        }
        // It may say wrongly who is away since when; then the entries that follow do not fit, and nobody can confirm it.
        let (turn, got) = (joining.turn, joining.got);
        if matches!(joining.stage, Stage::Checking(..)) && self.now.since(got) >= self.checking_patience() {
            self.refuse_state_of(turn);
            return;
        }
        if self.now.since(joining.since) >= self.setup.config.join_timeout {
            self.fail(Failure::JoinTimeout);
            return;
        }
        let is_behind = self.turns_ready() > self.setup.config.turns_ahead.max(1);
        if self.phase != SessionPhase::Running || !self.is_catching_up() || is_behind || self.is_unverified()
        {
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
        let end = joining.since + self.setup.config.join_timeout;
        let checks = matches!(joining.stage, Stage::Checking(..));
        Some(if checks { end.min(joining.got + self.checking_patience()) } else { end })
    }

    /// How long the entries that follow a state may take.
    fn checking_patience(&self) -> Duration {
        Duration::from_micros(self.setup.config.join_timeout.as_micros() / CHECKING)
    }

    /// The machine was suspended; this does not count against the other peers.
    pub(super) fn shift_joining(&mut self, jump: Duration, now: Instant) {
        if let Some(joining) = &mut self.transfers.joining {
            joining.since = (joining.since + jump).min(now);
            joining.got = (joining.got + jump).min(now);
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
