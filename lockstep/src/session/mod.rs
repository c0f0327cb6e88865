//! A lockstep session without IO: bytes, time and randomness come in as arguments.

mod ahead;
mod backoff;
mod blob;
mod bound;
mod carried;
pub(crate) mod checksum;
mod clock;
pub(crate) mod config;
mod confirm;
pub(crate) mod controls;
mod delayed;
mod drop;
mod ending;
pub(crate) mod event;
mod events;
mod expected;
mod guests;
mod header;
mod horizon;
pub(crate) mod joining;
mod judging;
mod lateness;
pub(crate) mod link;
mod lobby;
mod local;
mod mesh;
pub(crate) mod outbox;
mod receive;
mod result;
mod roster;
mod save;
pub(crate) mod saved;
mod sender;
mod setup;
pub(crate) mod signing;
mod source;
pub(crate) mod stream;
mod transfer;
mod transmit;
mod turns;
mod typed;
mod votes;
mod waiting;

use core::hash::BuildHasherDefault;

use indexmap::IndexMap;
use siphasher::sip::SipHasher13;
use smallvec::SmallVec;

use crate::pace::alignment::Alignment;
use crate::pace::pacing::{Meter, Planner, TurnPlan};
use crate::packet::{Bye, PayloadFormat, TurnsPacket, link_key};
use crate::session::checksum::Checksums;
use crate::session::config::{ConfigError, SessionConfig};
use crate::session::event::{Event, Failure, Stats};
use crate::session::link::{Link, LinkPhase};
use crate::session::stream::Stream;
use crate::value::bits::BitWriter;
use crate::value::codec::Codec;
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId, PlayerId, Turn};
use crate::value::time::Instant;

use controls::Controlled;
use delayed::Delayed;
use ending::Ending;
use events::EventQueue;
use lateness::Lateness;
use lobby::Lobby;
use local::Local;
use mesh::Agreement;
use result::Results;
use save::Saving;
use setup::Setup;
use signing::Signing;
use transfer::Transfers;
pub use turns::TurnStatus;
use turns::{Comparison, Gate};
pub use typed::Session;
use votes::Ballots;
use waiting::Waiting;
pub use waiting::{Blame, PlayerReport};

/// The phase of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SessionPhase {
    /// Waiting until all peers have joined.
    Lobby,
    /// Turns run.
    Running,
    /// All turns have run; some peers still lack entries or checksums.
    Ending,
    /// All peers have everything.
    Finished,
    /// The local player has left in good order, and all remaining peers know.
    Left,
    /// Ended early.
    Failed(Failure),
}

/// Links by peer, in the order in which they were made. The hasher has no random key; nothing here depends on one.
type Links = ByPeer<Link>;

/// Values by peer, as [`Links`].
type ByPeer<T> = IndexMap<PeerId, T, BuildHasherDefault<SipHasher13>>;

/// All of a session that does not depend on the type of the game's actions: what [`crate::Session`] is made of. Its methods are called on a
/// [`crate::Session`]; functions that move packets take this type, so they work for every game.
#[derive(Debug)]
pub struct AnySession {
    setup: Setup,
    phase: SessionPhase,
    /// The latest time that was passed in.
    now: Instant,
    lobby: Lobby,
    links: Links,
    /// Whose links they are, as far as the transport knows.
    bound: ByPeer<Identity>,
    streams: SmallVec<[Stream; 4]>,
    local: Local,
    gate: Gate,
    controlled: Controlled,
    waiting: Waiting,
    lateness: Lateness,
    pace: Measures,
    compared: Comparison,
    results: Results,
    saving: Saving,
    mesh: Agreement,
    ballots: Ballots,
    ending: Ending,
    /// None in a match without keys.
    signing: Option<Box<Signing>>,
    transfers: Transfers,
    delayed: Delayed,
    events: EventQueue,
    stats: Stats,
    buffers: Buffers,
}

/// What sets the length of turns and the local pace.
#[derive(Clone, Debug)]
struct Measures {
    planner: Planner,
    meter: Meter,
    alignment: Alignment,
}

/// Memory that is reused for each packet.
#[derive(Clone, Debug, Default)]
struct Buffers {
    turns: TurnsPacket,
    writer: BitWriter,
    recoded: BitWriter,
}

/// The secret of a session: the given entropy, or a value that at least differs from peer to peer.
fn secret_of(config: &SessionConfig, identity: Identity, now: Instant) -> (u64, u64) {
    let half = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    match config.entropy.0 {
        Some(bytes) => (half(&bytes[..8]), half(&bytes[8..])),
        None => {
            let place = match identity {
                Identity::Player(player) => u64::from(player.0),
                Identity::Spectator => 16,
                Identity::Relay => 17,
            };
            (config.session_id, now.as_micros() << 5 | place)
        }
    }
}

/// The players in a bit set, in order.
fn players_in(set: u16) -> impl Iterator<Item = PlayerId> {
    (0..PLAYERS_MAX).map(PlayerId).filter(move |player| set & (1 << player.0) != 0)
}

impl AnySession {
    fn new(
        config: SessionConfig,
        identity: Identity,
        codec: Codec,
        action_bits: u32,
        now: Instant,
    ) -> Result<Self, ConfigError> {
        config.check(action_bits)?;
        if let Identity::Player(player) = identity
            && player.0 >= config.players
        {
            let (value, max) = (u64::from(player.0), u64::from(config.players) - 1);
            return Err(ConfigError::OutOfRange { setting: "player", value, min: 0, max });
        }
        if config.signed && config.key.is_none() && matches!(identity, Identity::Player(_)) {
            return Err(ConfigError::NoKey);
        }
        let format = if config.input_mode {
            PayloadFormat::Fixed(action_bits)
        } else {
            PayloadFormat::Variable(config.turn_bytes_max * 8)
        };
        if let Some(saved) = &config.resume {
            save::check(saved, &config, codec, action_bits, format)?;
        }
        let secret = secret_of(&config, identity, now);
        let last_turn = config.turns.map(|turns| turns - 1);
        let mut checksums = Checksums::new(config.players, config.checksum_interval, config.window);
        if let Some(last) = last_turn {
            checksums.set_last_turn(last);
        }
        let mut session = Self {
            phase: SessionPhase::Lobby,
            now,
            lobby: Lobby::new(now),
            links: Links::default(),
            bound: ByPeer::default(),
            streams: (0..config.players).map(|_| Stream::new(config.first_entry())).collect(),
            local: Local::new(&config, action_bits),
            gate: Gate { last_turn, ..Gate::default() },
            controlled: Controlled::default(),
            waiting: Waiting::default(),
            lateness: Lateness::default(),
            pace: Measures {
                planner: Planner::new(config.pace, config.first_plan(), config.turns_ahead),
                meter: Meter::new(),
                alignment: Alignment::new(),
            },
            compared: Comparison { checksums, desync_reported: false, silent: 0 },
            results: Results::default(),
            saving: Saving::default(),
            mesh: Agreement::default(),
            ballots: Ballots::default(),
            ending: Ending::default(),
            signing: config.signed.then(|| Box::new(Signing::new(config.players, signing::salt(secret)))),
            transfers: Transfers::default(),
            delayed: Delayed::default(),
            events: EventQueue::default(),
            stats: Stats::default(),
            buffers: Buffers::default(),
            setup: Setup {
                format,
                codec,
                action_bits,
                config_hash: config.hash(action_bits),
                identity,
                secret,
                config,
            },
        };
        session.take_up();
        Ok(session)
    }

    // ---- commands

    /// Opens a link: asks the peer to be let in, until it answers or the connect timeout is over. No effect if the link exists.
    pub fn connect(&mut self, peer: PeerId) {
        if self.link_index(peer).is_none() {
            let nonce = self.setup.nonce(peer);
            let mut link =
                Link::new(peer, LinkPhase::Dialing, None, self.setup.config.first_entry(), self.now);
            (link.nonce, link.key) = (nonce, link_key(self.setup.config.session_id, nonce));
            self.links.insert(peer, link);
        }
    }

    /// Handles a packet. Any bytes are allowed: a bad packet changes nothing but a counter of [`Session::stats`](crate::AnySession::stats).
    pub fn handle_packet(&mut self, now: Instant, from: PeerId, bytes: &[u8]) {
        self.pass_to(now);
        match self.take_packet(from, bytes) {
            Ok(true) => {
                self.stats.packets_received += 1;
                self.stats.bytes_received += bytes.len() as u64;
            }
            Ok(false) => self.stats.packets_unexpected += 1,
            Err(error) => {
                self.stats.packets_malformed += 1;
                tracing::debug!(peer = from.0, bytes = bytes.len(), %error, "malformed packet");
            }
        }
    }

    /// Handles the passing of time: start, timeouts, end of the match. Cheap; call it in every round.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.pass_to(now);
        match self.phase {
            SessionPhase::Lobby => {
                self.lobby_timeout();
                self.transfer_timeout();
            }
            SessionPhase::Running => {
                self.pass_delay();
                self.transfer_timeout();
                self.silence_timeout();
                self.note_lateness();
                self.count_votes();
                self.obey_votes();
                self.waiting_notice();
                self.drop_silent();
                self.check_left();
                self.check_finished();
            }
            SessionPhase::Ending => {
                self.pass_delay();
                self.transfer_timeout();
                self.drop_silent();
                self.silence_timeout();
                self.check_finished();
            }
            SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_) => {}
        }
    }

    /// Writes the next packet that is due into `out` and returns its receiver. Call this until it returns `None`.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<PeerId> {
        self.pass_to(now);
        let peer = self.next_packet(out)?;
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += out.len() as u64;
        Some(peer)
    }

    /// Takes the oldest event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    // ---- getters

    /// The phase of the session.
    #[must_use]
    pub fn phase(&self) -> SessionPhase {
        self.phase
    }

    /// Whether the session has finished or failed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.phase, SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_))
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &SessionConfig {
        &self.setup.config
    }

    /// The identity of this peer.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.setup.identity
    }

    /// The local player, if this peer plays.
    #[must_use]
    pub fn player(&self) -> Option<PlayerId> {
        match self.setup.identity {
            Identity::Player(player) => Some(player),
            Identity::Spectator | Identity::Relay => None,
        }
    }

    /// The next turn to begin.
    #[must_use]
    pub fn next_turn(&self) -> Turn {
        Turn(self.gate.turn)
    }

    /// The last turn of the match, if it is known.
    pub fn last_turn(&self) -> Option<Turn> {
        self.gate.last_turn.map(Turn)
    }

    /// The shape of the current turn.
    #[must_use]
    pub fn plan(&self) -> TurnPlan {
        self.pace.planner.plan()
    }

    /// Frames that pass on this machine in 1,000 seconds now: those of the plan, or up to 1/32 less while this peer runs ahead of the
    /// others ([`SessionConfig::without_alignment`]).
    #[must_use]
    pub fn local_pace_millihertz(&self) -> u32 {
        let pace = self.pace.planner.plan().pace_millihertz;
        let slower = u64::from(pace) * u64::from(self.pace.alignment.slowing_ppm()) / 1_000_000;
        pace - slower as u32
    }

    /// Number of turns, counted from the start, whose checksums have been compared, over all players who still send some. A difference is
    /// an event. While a joining peer has a state that is not loaded yet ([`Session::is_joining`](crate::AnySession::is_joining)), these are the turns of that state, and
    /// the simulation still stands before.
    #[must_use]
    pub fn compared_turns(&self) -> u32 {
        self.compared.checksums.settled()
    }

    /// Whether the simulation is paused in the current turn, at a player's request.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.controlled.paused
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Counts frames in which the simulation waited; the driver calls this.
    pub fn note_stalled_frames(&mut self, frames: u64) {
        self.stats.stalled_frames += frames;
    }

    /// Whether packets from unknown peers are of use: somebody may still join.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.setup.accepts() && !self.is_over()
    }

    /// Whether there is a link to the peer.
    #[must_use]
    pub fn knows(&self, peer: PeerId) -> bool {
        self.link_index(peer).is_some()
    }

    /// The tag key of packets on the link to this peer, for tools and tests that make their own packets.
    #[must_use]
    pub fn packet_key(&self, peer: PeerId) -> Option<u64> {
        self.links.get(&peer).map(|link| link.key)
    }

    /// Number of links.
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// Players who have joined, as far as this peer knows: itself, and those at the other end of a link. In a star a guest knows only of
    /// the host.
    #[must_use]
    pub fn present_players(&self) -> Vec<PlayerId> {
        let linked = self.links.values().filter(|link| link.is_connected()).filter_map(|link| link.identity);
        let mut all: Vec<Identity> = linked.chain([self.setup.identity]).collect();
        all.sort_unstable();
        let player = |identity| if let Identity::Player(player) = identity { Some(player) } else { None };
        all.into_iter().filter_map(player).collect()
    }

    // ---- helpers that the parts use

    fn link_index(&self, peer: PeerId) -> Option<usize> {
        self.links.get_index_of(&peer)
    }

    fn emit(&mut self, event: Event) {
        self.stats.events_lost += self.events.push(event);
    }

    fn fail(&mut self, failure: Failure) {
        if self.is_over() {
            return;
        }
        tracing::warn!(turn = self.gate.turn, %failure, "session failed");
        self.phase = SessionPhase::Failed(failure);
        for link in self.links.values_mut() {
            link.owe_bye(Bye::Left);
        }
        self.report_cancelled();
        self.emit(Event::Failed(failure));
    }
}
