//! A lockstep session without IO: bytes, time and randomness come in as arguments.

mod arrivals;
mod asked;
mod backoff;
mod bound;
mod carried;
mod channel;
pub(crate) mod checksum;
mod clock;
pub(crate) mod commands;
mod common;
mod comparison;
pub(crate) mod config;
mod confirm;
pub(crate) mod controls;
mod delayed;
mod drop;
mod ending;
pub(crate) mod event;
mod events;
pub(crate) mod evidence;
mod expected;
pub(crate) mod failure;
mod gate;
pub(crate) mod joining;
mod judgement;
mod lateness;
pub(crate) mod link;
mod links;
mod lobby;
mod local;
pub(crate) mod match_result;
mod members;
mod mesh;
pub(crate) mod outbox;
mod outflow;
mod receive;
mod results;
mod resuming;
mod roster;
pub(crate) mod saved_match;
mod saving;
mod setup;
mod signing;
mod statements;
pub(crate) mod stats;
pub(crate) mod stream;
mod streams;
pub(crate) mod talk;
mod telling;
mod transfer;
mod transmit;
mod turns;
mod typed;
pub(crate) mod votes;
mod waiting;

use crate::signed::roster::Roster;
use crate::signed::signed_before::SignedBefore;
use crate::signed::statement::Statement;

use crate::pace::alignment::Alignment;
use crate::pace::meter::Meter;
use crate::pace::pacing::{Planner, TurnPlan};
use crate::packet::{Bye, PayloadFormat, TurnsPacket};
use crate::session::config::{ConfigError, SessionConfig};
use crate::session::event::Event;
use crate::session::failure::Failure;
use crate::session::link::Link;
use crate::session::stats::Stats;
use crate::value::bits::BitWriter;
use crate::value::codec::{Codec, zeros};
use crate::value::ids::{Identity, PeerId, PlayerId, PlayerSet, Turn};
use crate::value::time::Instant;

use common::Common;
use comparison::Comparison;
use controls::Controlled;
use delayed::Delayed;
use ending::Ending;
pub use gate::TurnStatus;
use lateness::Lateness;
use lobby::Lobby;
use local::Local;
use members::Membership;
use mesh::DropAgreement;
use results::Results;
use saving::Saving;
use setup::Setup;
use signing::Signing;
use transfer::Transfers;
#[cfg(test)]
pub(crate) use transfer::header::Header;
pub use typed::Session;
use votes::Ballots;
use waiting::Waiting;
pub use waiting::{Blame, PlayerReport};

/// The phase of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SessionPhase {
    /// Waiting until all peers have joined and are ready; a peer that joins a running match, until it has its state.
    Lobby,
    /// Turns run.
    Running,
    /// All turns have run; some peers still lack entries or checksums.
    Ending,
    /// All peers have everything.
    Finished,
    /// The local player has left in good order, and all remaining peers know.
    Left,
    /// Ended early. The session of a guest that comes back is not over by that: see [`AnySession::is_over`].
    Failed(Failure),
}

/// All of a session that does not depend on the type of the game's actions: what [`crate::Session`] is made of. Its methods are called on a
/// [`crate::Session`]; functions that move packets take this type, so they work for every game.
#[derive(Debug)]
pub struct AnySession {
    common: Common,
    lobby: Lobby,
    local: Local,
    controlled: Controlled,
    waiting: Waiting,
    lateness: Lateness,
    pace: Measures,
    compared: Comparison,
    results: Results,
    saving: Saving,
    mesh: DropAgreement,
    ballots: Ballots,
    ending: Ending,
    /// None in a match without keys.
    signing: Option<Box<Signing>>,
    transfers: Transfers,
    delayed: Delayed,
    members: Membership,
    /// The failure of a guest's session, as long as its guest may ask for the place again.
    withheld: Option<Failure>,
    buffers: Buffers,
}

/// What sets the length of turns and the local pace.
#[derive(Clone, Debug)]
struct Measures {
    planner: Planner,
    meter: Meter,
    alignment: Alignment,
}

impl Measures {
    fn new(config: &SessionConfig) -> Self {
        Self {
            planner: Planner::new(config.tempo.pace, config.first_plan(), config.turns_ahead),
            meter: Meter::new(),
            alignment: Alignment::new(),
        }
    }
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
    match config.own.entropy.0 {
        Some(bytes) => (half(&bytes[..8]), half(&bytes[8..])),
        None => {
            let place = match identity {
                Identity::Player(player) => u64::from(player.0),
                Identity::Watcher => 16,
                Identity::Relay => 17,
            };
            (config.session_id, now.as_micros() << 5 | place)
        }
    }
}

/// Whether a session with this identity can be made of the settings.
fn check(
    config: &SessionConfig,
    identity: Identity,
    codec: &Codec,
    action_bits: u32,
    format: PayloadFormat,
) -> Result<(), ConfigError> {
    config.check(action_bits)?;
    if config.input_mode && codec.refuses(&zeros(action_bits), 1, &mut BitWriter::new()) {
        return Err(ConfigError::ZerosAreNoInput);
    }
    if !config.own.is_simulated && config.session_id == 0 {
        return Err(ConfigError::NoSessionId);
    }
    if !config.own.is_simulated && config.own.entropy.0.is_none() {
        return Err(ConfigError::NoEntropy);
    }
    if let Identity::Player(player) = identity
        && player.0 >= config.players
    {
        let (value, max) = (u64::from(player.0), u64::from(config.players) - 1);
        return Err(ConfigError::OutOfRange { setting: "player", value, min: 0, max });
    }
    if config.signed && cfg!(not(feature = "signed")) {
        return Err(ConfigError::NoSignatures);
    }
    if config.signed && config.own.key.is_none() && matches!(identity, Identity::Player(_)) {
        return Err(ConfigError::NoKey);
    }
    if let Some(saved) = &config.own.resume {
        saving::check(saved, config, codec, action_bits, format)?;
    }
    Ok(())
}

/// The players in a bit set, in order.
fn players_in(set: u16) -> impl Iterator<Item = PlayerId> {
    PlayerSet::from_bits(set).iter()
}

impl AnySession {
    fn new(
        config: SessionConfig,
        identity: Identity,
        codec: Codec,
        action_bits: u32,
        now: Instant,
    ) -> Result<Self, ConfigError> {
        let format = config.payload_format(action_bits);
        check(&config, identity, &codec, action_bits, format)?;
        let secret = secret_of(&config, identity, now);
        let signing = config
            .signed
            .then(|| Box::new(Signing::new(config.players, signing::salt(secret), config.own.signed_before)));
        let mut session = Self {
            lobby: Lobby::new(now),
            local: Local::new(&config, action_bits),
            controlled: Controlled::default(),
            waiting: Waiting::default(),
            lateness: Lateness::default(),
            pace: Measures::new(&config),
            compared: Comparison::new(&config),
            results: Results::default(),
            saving: Saving::default(),
            mesh: DropAgreement::default(),
            ballots: Ballots::default(),
            ending: Ending::default(),
            signing,
            transfers: Transfers::default(),
            delayed: Delayed::default(),
            members: Membership::default(),
            withheld: None,
            buffers: Buffers::default(),
            common: Common::new(
                Setup {
                    format,
                    codec,
                    action_bits,
                    config_hash: config.hash(action_bits),
                    identity,
                    secret,
                    config,
                },
                now,
            ),
        };
        session.take_up();
        Ok(session)
    }

    // ---- commands

    /// Opens a link: asks the peer to be let in, until it answers or the connect timeout is over. No effect if the link exists. In a mesh every member
    /// connects to all others, so a member that was started again in the lobby is met again.
    pub fn connect(&mut self, peer: PeerId) {
        if self.common.links.index_of(peer).is_none() {
            let nonce = self.common.setup.nonce(peer);
            let handshake = self.common.setup.handshake(nonce);
            let link = Link::new(peer, handshake, self.common.config().first_entry(), self.common.now);
            self.common.links.insert(peer, link);
        }
    }

    /// Handles a packet. Any bytes are allowed: a bad packet changes nothing but a counter of [`Session::stats`](crate::AnySession::stats).
    pub fn handle_packet(&mut self, now: Instant, from: PeerId, bytes: &[u8]) {
        self.pass_to(now);
        match self.take_packet(from, bytes) {
            Ok(true) => {
                self.common.stats.packets_received += 1;
                self.common.stats.bytes_received += bytes.len() as u64;
            }
            Ok(false) => self.common.stats.packets_unexpected += 1,
            Err(error) => {
                self.common.stats.packets_malformed += 1;
                tracing::debug!(peer = from.0, bytes = bytes.len(), %error, "malformed packet");
            }
        }
    }

    /// Handles the passing of time: start, timeouts, end of the match. Cheap; call it in every round.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.pass_to(now);
        if !self.common.is_over() {
            self.report_lost();
        }
        match self.common.phase {
            SessionPhase::Lobby => {
                self.lobby_timeout();
                self.transfer_timeout();
            }
            SessionPhase::Running => {
                if self.common.setup.is_relay() {
                    self.common.note_alone(self.pace.planner.turn());
                }
                self.delayed.pass(&self.common);
                self.transfer_timeout();
                self.silence_timeout();
                self.note_lateness();
                self.count_votes();
                self.obey_votes();
                self.waiting.notice(&mut self.common);
                self.drop_silent();
                self.check_left();
                self.check_finished();
            }
            SessionPhase::Ending => {
                self.delayed.pass(&self.common);
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
        self.common.stats.packets_sent += 1;
        self.common.stats.bytes_sent += out.len() as u64;
        Some(peer)
    }

    /// Takes the oldest event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.common.events.pop()
    }

    // ---- getters

    /// The phase of the session.
    #[must_use]
    pub fn phase(&self) -> SessionPhase {
        self.common.phase
    }

    /// Whether the time of the start is fixed, a moment before the first turn: from then on nobody takes the place of a player who goes.
    #[must_use]
    pub fn start_is_fixed(&self) -> bool {
        self.common.phase != SessionPhase::Lobby || self.lobby.start_at.is_some()
    }

    /// Whether the session has finished or failed. A guest's session that has failed is not over while its guest asks for the place again, and then the
    /// session of the new arrival takes its place. (`service::guest::Guest::is_calling` says that it does.)
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.common.is_over() && self.withheld.is_none()
    }

    /// The same, but for a guest's session also when its guest may ask for the place again: this session does nothing any more.
    #[cfg(feature = "codes")]
    pub(crate) fn has_ended(&self) -> bool {
        self.common.is_over()
    }

    /// The settings.
    pub fn config(&self) -> &SessionConfig {
        &self.common.setup.config
    }

    /// The identity of this peer.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.common.setup.identity
    }

    /// The local player, if this peer plays.
    #[must_use]
    pub fn player(&self) -> Option<PlayerId> {
        self.common.setup.player()
    }

    /// The next turn to begin.
    #[must_use]
    pub fn next_turn(&self) -> Turn {
        Turn(self.common.gate.turn)
    }

    /// The last turn of the match, if it is known.
    pub fn last_turn(&self) -> Option<Turn> {
        self.common.gate.last_turn.map(Turn)
    }

    /// The shape of the current turn.
    #[must_use]
    pub fn plan(&self) -> TurnPlan {
        self.pace.planner.plan()
    }

    /// Frames that pass on this machine in 1,000 seconds now: those of the plan, or up to 1/32 less while this peer runs ahead of the
    /// others ([`SessionConfig::without_alignment`]), or up to eight times as many while this peer watches, or has resigned, and is seconds behind.
    #[must_use]
    pub fn local_pace_millihertz(&self) -> u32 {
        let pace = self.pace.planner.plan().pace_millihertz;
        let slower = u64::from(pace) * u64::from(self.pace.alignment.slowing_ppm()) / 1_000_000;
        (pace - slower as u32).saturating_mul(self.common.haste(self.pace.planner.turn()))
    }

    /// Whether something has yet to come from the others, or to go to them. A watcher that has every entry up to the last turn plays to the end also when
    /// its link is gone for good.
    #[must_use]
    pub fn needs_others(&self) -> bool {
        self.is_joining() || !self.common.needs_nobody()
    }

    /// Number of turns, counted from the start, whose checksums have been compared, over all players who still send some. A difference is
    /// an event. While a joining peer has a state that is not loaded yet ([`Session::is_joining`](crate::AnySession::is_joining)), these are the turns of that
    /// state, and the simulation still stands before.
    #[must_use]
    pub fn compared_turns(&self) -> u32 {
        self.compared.checksums.settled()
    }

    /// The first turn in which peers' states differed, if an event has told of it.
    pub(crate) fn desync(&self) -> Option<Turn> {
        self.compared.desync
    }

    /// Whether the simulation is paused in the current turn, at a player's request.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.controlled.paused
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.common.stats
    }

    /// Counts frames in which the simulation waited; the driver calls this.
    pub fn note_stalled_frames(&mut self, frames: u64) {
        self.common.stats.stalled_frames = self.common.stats.stalled_frames.saturating_add(frames);
    }

    /// The roster on which all players have agreed. None before the match, or if the match is not signed.
    #[must_use]
    pub fn roster(&self) -> Option<&Roster> {
        self.signing.as_ref()?.roster.as_ref()
    }

    /// What the players have signed about the match so far, for keepers of evidence: the last dozen of each player's statements, player by player,
    /// oldest first, their signatures checked. None in a match that is not signed.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        let authors = self.signing.iter().flat_map(|signing| &signing.authors);
        authors.flat_map(|author| &author.held)
    }

    /// What the local player has signed, for its next session in this match ([`SessionConfig::signed_before()`]): after the loss of its place, or of the
    /// program. It changes when a roster is known and with each statement; up to when most players confirm the state of a running match, it is what the
    /// session was given. None for peers that sign nothing.
    #[must_use]
    pub fn signed_before(&self) -> Option<SignedBefore> {
        let signing = self.signing.as_ref().filter(|_| self.common.setup.player().is_some())?;
        // Whoever gave the state may have changed its roster.
        if self.transfers.joiner.is_unverified() {
            return self.common.config().own.signed_before;
        }
        signing.signed_before()
    }

    /// Whether packets from unknown peers are of use: somebody may still join.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.common.setup.accepts() && !self.common.is_over()
    }

    /// Whether there is a link to the peer.
    #[must_use]
    pub fn knows(&self, peer: PeerId) -> bool {
        self.common.links.index_of(peer).is_some()
    }

    /// The tag key of packets on the link to this peer, for tests that make their own packets.
    #[cfg(feature = "wire")]
    #[doc(hidden)]
    #[must_use]
    pub fn packet_key(&self, peer: PeerId) -> Option<u64> {
        self.common.links.get(&peer).map(|link| link.handshake.key)
    }

    /// Number of links.
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.common.links.len()
    }

    /// Players who have joined, as far as this peer knows ([`AnySession::is_here`]).
    #[must_use]
    pub fn present_players(&self) -> Vec<PlayerId> {
        (0..self.common.setup.config.players).map(PlayerId).filter(|player| self.is_here(*player)).collect()
    }

    // ---- helpers that the parts use

    fn fail(&mut self, failure: Failure) {
        if self.common.is_over() {
            return;
        }
        tracing::warn!(turn = self.common.gate.turn, %failure, "session failed");
        self.common.phase = SessionPhase::Failed(failure);
        self.common.links.owe_bye(Bye::Left);
        self.report_cancelled();
        self.withheld = Some(failure);
        if !self.common.setup.config.own.is_of_guest {
            self.tell_failure();
        }
    }

    /// A failure is the end.
    pub(crate) fn tell_failure(&mut self) {
        self.withheld.take().into_iter().for_each(|failure| self.common.emit(Event::Failed(failure)));
    }
}
