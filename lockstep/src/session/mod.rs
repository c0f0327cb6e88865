//! A lockstep session without IO: bytes, time and randomness come in as arguments.
//!
//! Order of calls in each round of the application's loop: all arrived packets through [`Session::handle_packet`];
//! [`Session::handle_timeout`]; turns ([`crate::Driver`] does this part); [`Session::poll_transmit`] until it gives
//! nothing; [`Session::poll_event`] until it gives nothing; sleep until [`Session::poll_timeout`] or the next packet.

pub(crate) mod checksum;
pub(crate) mod config;
pub(crate) mod event;
pub(crate) mod link;
mod lobby;
mod membership;
pub(crate) mod outbox;
mod receive;
mod result;
mod save;
pub(crate) mod saved;
pub(crate) mod stream;
mod transmit;
mod turns;

use core::marker::PhantomData;
use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::pace::alignment::Alignment;
use crate::pace::pacing::{Meter, Planner, TurnPlan};
use crate::packet::{Bye, PayloadFormat, Refusal, TurnsPacket};
use crate::session::checksum::Checksums;
use crate::session::config::{ConfigError, SessionConfig, Topology};
use crate::session::event::{Event, Failure, Stats};
use crate::session::link::{Link, LinkPhase};
use crate::session::outbox::{Outbox, SubmitError};
use crate::session::stream::Stream;
use crate::value::action::Action;
use crate::value::bits::BitWriter;
use crate::value::entry::EndReason;
use crate::value::ids::{Identity, PeerId, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

use membership::Delays;
pub use membership::{Blame, PlayerReport};
use result::Results;
use save::Saving;
pub use turns::TurnStatus;

/// Most events that wait to be taken; the oldest are lost beyond it.
const EVENTS_MAX: usize = 256;

/// Time after a deadline at which the caller must have been suspended: many times the longest frame.
const CLOCK_JUMP: Duration = Duration::from_secs(2);

/// Most refusals that wait to be sent.
const REFUSALS_MAX: usize = 16;

/// Where a session stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionPhase {
    /// Waiting until everybody is here.
    Lobby,
    /// Turns run.
    Running,
    /// All turns have run; peers still miss entries or checksums.
    Ending,
    /// All peers have everything.
    Finished,
    /// The local player has left in good order, and everybody who goes on knows.
    Left,
    /// Ended before its time.
    Failed(Failure),
}

/// One peer's part of a lockstep match.
#[derive(Debug)]
pub struct Session<A> {
    config: SessionConfig,
    format: PayloadFormat,
    config_hash: u64,
    identity: Identity,
    phase: SessionPhase,
    /// The latest time that was passed in.
    now: Instant,
    since: Instant,
    start_at: Option<Instant>,
    streams: SmallVec<[Stream; 4]>,
    links: Vec<Link>,
    refusals: VecDeque<(PeerId, Refusal)>,
    outbox: Outbox,
    checksums: Checksums,
    /// Number of the next turn to begin.
    turn: u32,
    /// The turn before `turn` has begun and not ended.
    in_turn: bool,
    last_turn: Option<u32>,
    /// Folded checksum of the turn that ended last.
    ended_checksum: Option<u32>,
    waiting_since: Option<Instant>,
    waiting_reported: bool,
    /// For how long and for whom this peer has waited.
    delays: Delays,
    planner: Planner,
    meter: Meter,
    alignment: Alignment,
    paused: bool,
    saving: Saving,
    results: Results,
    /// Goes with the next entry.
    pause_request: Option<bool>,
    /// Goes with the next entry.
    speed_request: Option<u8>,
    /// The next entry is the local player's last one, for this reason.
    resigning: Option<EndReason>,
    /// After the last entry the session ends.
    leaving: bool,
    /// Mesh: players of whom nothing more is taken from their own links.
    frozen: u16,
    desync_reported: bool,
    events: VecDeque<Event>,
    stats: Stats,
    scratch: TurnsPacket,
    writer: BitWriter,
    recoded: BitWriter,
    action: PhantomData<fn() -> A>,
}

impl<A: Action> Session<A> {
    /// A session of one peer. Most callers use [`Session::host`], [`Session::join`] or [`Session::single`].
    ///
    /// # Errors
    /// A setting out of range, or a player number that the match does not have.
    pub fn new(config: SessionConfig, identity: Identity, now: Instant) -> Result<Self, ConfigError> {
        config.check(A::MAX_BITS)?;
        if let Identity::Player(player) = identity
            && player.0 >= config.players
        {
            let (value, max) = (u64::from(player.0), u64::from(config.players) - 1);
            return Err(ConfigError::OutOfRange { setting: "player", value, min: 0, max });
        }
        let format = if config.input_mode {
            PayloadFormat::Fixed(A::MAX_BITS)
        } else {
            PayloadFormat::Variable(config.turn_bytes_max * 8)
        };
        if let Some(saved) = &config.resume {
            save::check::<A>(saved, &config, format)?;
        }
        let last_turn = config.turns.map(|turns| turns - 1);
        let mut checksums = Checksums::new(config.players, config.checksum_interval, config.window);
        if let Some(last) = last_turn {
            checksums.set_last_turn(last);
        }
        let mut session = Self {
            format,
            config_hash: config.hash(A::MAX_BITS),
            identity,
            phase: SessionPhase::Lobby,
            now,
            since: now,
            start_at: None,
            streams: (0..config.players).map(|_| Stream::new(config.first_entry())).collect(),
            links: Vec::new(),
            refusals: VecDeque::new(),
            outbox: Outbox::new(&config, A::MAX_BITS),
            checksums,
            turn: 0,
            in_turn: false,
            last_turn,
            ended_checksum: None,
            waiting_since: None,
            waiting_reported: false,
            delays: Delays::default(),
            planner: Planner::new(config.pace, config.first_plan(), config.turns_ahead),
            meter: Meter::new(),
            alignment: Alignment::new(),
            paused: false,
            pause_request: None,
            saving: Saving::default(),
            results: Results::default(),
            speed_request: None,
            resigning: None,
            leaving: false,
            frozen: 0,
            desync_reported: false,
            events: VecDeque::new(),
            stats: Stats::default(),
            scratch: TurnsPacket::default(),
            writer: BitWriter::new(),
            recoded: BitWriter::new(),
            action: PhantomData,
            config,
        };
        session.take_up();
        Ok(session)
    }

    /// The host of a star: player 0, waits for the others.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn host(config: SessionConfig, now: Instant) -> Result<Self, ConfigError> {
        Self::new(config, Identity::Player(PlayerId(0)), now)
    }

    /// A player who joins the host (or relay) behind the link `host`.
    ///
    /// # Errors
    /// A setting out of range, or a player number that the match does not have.
    pub fn join(
        config: SessionConfig,
        player: PlayerId,
        host: PeerId,
        now: Instant,
    ) -> Result<Self, ConfigError> {
        let mut session = Self::new(config, Identity::Player(player), now)?;
        session.connect(host);
        Ok(session)
    }

    /// One player and no network: the same path.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn single(config: SessionConfig, now: Instant) -> Result<Self, ConfigError> {
        Self::new(SessionConfig { players: 1, ..config }, Identity::Player(PlayerId(0)), now)
    }

    // ---- commands

    /// Opens a link: asks the peer to be let in, until it answers or the connect timeout is over. No effect if the link exists.
    pub fn connect(&mut self, peer: PeerId) {
        if self.link_index(peer).is_none() {
            self.links.push(Link::new(peer, LinkPhase::Dialing, None, self.config.first_entry(), self.now));
        }
    }

    /// Gives an action of the local player. It is encoded now and goes with the next entry that closes and has room.
    ///
    /// # Errors
    /// The action was not accepted and runs nowhere: the queue is full, the action does not encode as its type promises, the
    /// match ends before it could run, or this peer does not play.
    pub fn submit(&mut self, action: &A) -> Result<(), SubmitError> {
        let playing =
            self.player().filter(|_| matches!(self.phase, SessionPhase::Lobby | SessionPhase::Running));
        let Some(stream) = playing.map(|player| &self.streams[player.index()]) else {
            return Err(SubmitError::NotPlaying);
        };
        if stream.end().is_some() || self.resigning.is_some() {
            return Err(SubmitError::NotPlaying);
        }
        if let Some(last) = self.last_turn
            && stream.next().saturating_add(self.outbox.entries_before()) > last
        {
            return Err(SubmitError::TooLate { last_turn: Turn(last) });
        }
        self.outbox.submit(action)
    }

    /// Takes the next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    // ---- getters

    /// Where the session stands.
    pub fn phase(&self) -> SessionPhase {
        self.phase
    }

    /// Whether the session has finished or failed.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_))
    }

    /// The settings.
    pub fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// Who this peer is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The local player, if this peer plays.
    pub fn player(&self) -> Option<PlayerId> {
        match self.identity {
            Identity::Player(player) => Some(player),
            Identity::Spectator | Identity::Relay => None,
        }
    }

    /// The next turn to begin.
    pub fn next_turn(&self) -> Turn {
        Turn(self.turn)
    }

    /// The last turn of the match, if it is known.
    pub fn last_turn(&self) -> Option<Turn> {
        self.last_turn.map(Turn)
    }

    /// The shape of the current turn.
    pub fn plan(&self) -> TurnPlan {
        self.planner.plan()
    }

    /// Frames that pass on this machine in 1,000 seconds now: those of the plan, or up to 1/32 less while this peer runs ahead of the
    /// others ([`SessionConfig::without_alignment`]).
    pub fn local_pace_millihertz(&self) -> u32 {
        let pace = self.planner.plan().pace_millihertz;
        let slower = u64::from(pace) * u64::from(self.alignment.slowing_ppm()) / 1_000_000;
        pace - slower as u32
    }

    /// Turns from the start on whose checksums have been compared, of all players who still give some. A difference is an event.
    pub fn compared_turns(&self) -> u32 {
        self.checksums.settled()
    }

    /// Whether the simulation stands still in the current turn, by a player's request.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Actions of the local player that wait for their turn.
    pub fn queued_actions(&self) -> u32 {
        self.outbox.len()
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Counts frames in which the simulation stood; the driver calls this.
    pub fn note_stalled_frames(&mut self, frames: u64) {
        self.stats.stalled_frames += frames;
    }

    /// Whether packets from unknown peers can make sense: somebody may still join.
    pub fn is_open(&self) -> bool {
        self.accepts() && !self.is_over()
    }

    /// Whether the peer has a link.
    pub fn knows(&self, peer: PeerId) -> bool {
        self.link_index(peer).is_some()
    }

    /// Number of links.
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    // ---- inner helpers used by the parts

    fn link_index(&self, peer: PeerId) -> Option<usize> {
        self.links.iter().position(|link| link.peer == peer)
    }

    fn is_relay(&self) -> bool {
        self.identity == Identity::Relay
    }

    /// Whether this peer starts the match and (in a star) forwards.
    fn coordinates(&self) -> bool {
        self.identity == self.coordinator()
    }

    fn coordinator(&self) -> Identity {
        match self.config.topology {
            Topology::Host => Identity::Player(PlayerId(0)),
            Topology::Mesh => Identity::Player(self.config.first_live_player()),
            Topology::Relay => Identity::Relay,
        }
    }

    /// Whether this peer lets others in.
    fn accepts(&self) -> bool {
        self.coordinates() || self.config.topology == Topology::Mesh
    }

    /// Whether entries of all players may come from a peer with this identity.
    fn may_forward(&self, identity: Identity) -> bool {
        match (self.config.topology, identity) {
            (Topology::Mesh, Identity::Player(player)) => player.0 < self.config.players,
            (Topology::Mesh, _) => false,
            _ => identity == self.coordinator(),
        }
    }

    fn emit(&mut self, event: Event) {
        if self.events.len() >= EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    fn fail(&mut self, failure: Failure) {
        if self.is_over() {
            return;
        }
        tracing::warn!(turn = self.turn, %failure, "session failed");
        self.phase = SessionPhase::Failed(failure);
        for link in &mut self.links {
            link.owe_bye(Bye::Left);
        }
        self.report_cancelled();
        self.emit(Event::Failed(failure));
    }

    /// Takes the time in. A jump of the clock (the machine was suspended) is not held against the others: it shifts their
    /// deadlines.
    fn pass_to(&mut self, now: Instant) {
        let jump = now.since(self.now);
        // A caller that sleeps until the next deadline is awake in time.
        let overslept = || self.poll_timeout().is_some_and(|due| now.since(due) > CLOCK_JUMP);
        if jump > CLOCK_JUMP && overslept() {
            for link in &mut self.links {
                link.last_heard = (link.last_heard + jump).min(now);
            }
            self.waiting_since = self.waiting_since.map(|since| (since + jump).min(now));
            self.since = (self.since + jump).min(now);
        }
        self.now = self.now.max(now);
    }

    /// Time between two packets to a peer when nothing is fresh.
    fn tick(&self) -> Duration {
        match self.phase {
            SessionPhase::Lobby => Duration::from_millis(50),
            // Rounded up: a frame that closes an entry sends it, and the tick has nothing to do.
            _ => self.config.frame_length() + Duration::from_micros(1),
        }
    }
}
