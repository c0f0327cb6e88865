//! Replays: files that play a match again and that detect damage.
//!
//! A replay holds what the simulation was told, turn by turn, the checksum of every turn, and from time to time the whole state. It is
//! written during the match, one record after the other. Every record carries a hash that covers all records before it, so no record can be
//! changed, left out or inserted unnoticed, and everything written before a crash can be read. `REPLAY.md` specifies every byte.
//!
//! [`Recorded`] wraps a game and produces the bytes ([`Recorder`] does so step by step). [`Replay`] reads them, [`Replay::verify`] plays
//! and compares everything, [`ReplayPlayer`] goes to any turn, and [`ReplayViewer`] to any frame in bounded steps. None of them uses files or clocks.
//! [`Replay::brief`] leaves out what follows from the orders, so that a whole match fits into a link.

mod brief;
mod player;
mod reader;
mod recorded;
mod verification;
mod viewer;

use twox_hash::XxHash3_64;

use crate::session::config::{ENGINE_VERSION, SessionConfig};
use crate::value::action::Action;
use crate::value::bits::BitWriter;
use crate::value::ids::{PLAYERS_MAX, PlayerId};

pub use brief::BRIEF_TURNS_MAX;
pub use player::{Divergence, ReplayPlayer, SeekError};
pub use reader::{Damage, Replay, ReplayError, TurnEvent, TurnEvents};
pub use recorded::Recorded;
pub use verification::Verification;
pub use viewer::{ReplayViewer, Timetable};

/// Version of the format.
pub const REPLAY_VERSION: u16 = 2;

/// First bytes of every replay.
pub(crate) const MAGIC: [u8; 8] = *b"TESTREPL";

/// Largest record, bytes; only keyframes come near it.
pub const RECORD_BYTES_MAX: usize = 1 << 28;

/// Length, kind and hash of a record.
pub(crate) const RECORD_OVERHEAD: usize = 4 + 1 + 8;

/// Greatest number of events in a turn.
pub(crate) const EVENTS_MAX: u32 = 1 << 16;

/// Order of the code for small counts.
pub(crate) const COUNT_ORDER: u32 = 2;

/// What a match started from. It prevents playing a replay with the wrong game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayHeader {
    /// Version of everything that decides the bits of the simulation; another version is refused.
    pub sim_version: u32,
    /// [`crate::SessionConfig::content_hash`] of the match.
    pub content_hash: u64,
    /// Number of players of the match, 1..=16; a recorder takes 0 for 1, and more for 16. A file in which more of them play than this says is damaged from
    /// there on: games index by player.
    pub players: u8,
    /// The game's other start settings, encoded by the game. At most 65,535 bytes; no secrets.
    pub settings: Vec<u8>,
}

impl ReplayHeader {
    /// The header of a match with these settings, so that players and content hash are the match's own. The game's settings are empty.
    #[must_use]
    pub fn of(config: &SessionConfig, sim_version: u32) -> Self {
        let (content_hash, players) = (config.content.content_hash, config.players);
        Self { sim_version, content_hash, players, settings: Vec::new() }
    }
}

/// What the simulation is told about a player at the start of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Notice {
    /// [`crate::Simulation::player_gone`].
    Gone,
    /// [`crate::Simulation::player_surrendered`].
    Surrendered,
    /// [`crate::Simulation::player_taken_over`].
    TakenOver,
    /// [`crate::Simulation::play_for`].
    PlayedFor,
    /// [`crate::Simulation::player_returned`].
    Returned,
}

impl Notice {
    pub(crate) const ALL: [Self; 5] =
        [Self::Gone, Self::Surrendered, Self::TakenOver, Self::PlayedFor, Self::Returned];
}

/// How a recording ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Ending {
    /// With the match, or with the recording player's part in it.
    Over,
    /// The file had reached its largest size; the match went on.
    Full,
}

/// Kinds of records.
pub(crate) mod kind {
    pub(crate) const HEADER: u8 = 1;
    pub(crate) const TURN: u8 = 2;
    pub(crate) const KEYFRAME: u8 = 3;
    pub(crate) const DIVERGED: u8 = 4;
    pub(crate) const END: u8 = 5;
    pub(crate) const EVIDENCE: u8 = 6;
    pub(crate) const START: u8 = 7;
}

/// The payload of the first record.
pub(crate) fn write_header(header: &ReplayHeader) -> Vec<u8> {
    let settings = &header.settings[..header.settings.len().min(usize::from(u16::MAX))];
    let mut payload = Vec::new();
    payload.extend_from_slice(&REPLAY_VERSION.to_le_bytes());
    payload.extend_from_slice(&header.sim_version.to_le_bytes());
    payload.extend_from_slice(&ENGINE_VERSION.to_le_bytes());
    payload.extend_from_slice(&header.content_hash.to_le_bytes());
    payload.push(header.players.clamp(1, PLAYERS_MAX));
    payload.extend_from_slice(&(settings.len() as u16).to_le_bytes());
    payload.extend_from_slice(settings);
    payload
}

/// Produces the bytes of a replay, record by record.
///
/// Tell it everything that the simulation is told, then call [`Recorder::end_turn`] with the turn's checksum. Store the bytes
/// ([`Recorder::take_bytes`]) whenever convenient.
#[derive(Clone, Debug)]
pub struct Recorder {
    out: Vec<u8>,
    chain: u64,
    events: BitWriter,
    event_count: u32,
    action: BitWriter,
    frames: u32,
    frames_per_second: u32,
    turns: u32,
    total: u64,
}

impl Recorder {
    /// The first bytes are available at once. Settings beyond 65,535 bytes are cut off.
    #[must_use]
    pub fn new(header: &ReplayHeader) -> Self {
        let mut recorder = Self {
            out: MAGIC.to_vec(),
            chain: 0,
            events: BitWriter::new(),
            event_count: 0,
            action: BitWriter::new(),
            frames: 0,
            frames_per_second: 0,
            turns: 0,
            total: MAGIC.len() as u64,
        };
        recorder.record(kind::HEADER, &[&write_header(header)]);
        recorder
    }

    /// A player's action, before the simulation applies it. No effect for a player that no match can have.
    ///
    /// # Panics
    /// If `encode` writes a value that does not fit its bits. An action that a session has accepted has none.
    pub fn action<A: Action>(&mut self, player: PlayerId, action: &A) {
        if self.event_count == EVENTS_MAX || player.0 >= PLAYERS_MAX {
            return;
        }
        self.event_count += 1;
        self.action.clear();
        action.encode(&mut self.action);
        let bits = self.action.bit_count();
        self.events.write_bits(0, 3);
        self.events.write_bits(player.0.into(), 4);
        self.events.write_bits(bits.into(), 13);
        self.events.write_slice(self.action.bytes(), bits);
    }

    /// A notice about a player, before the simulation gets it. No effect for a player that no match can have.
    pub fn notice(&mut self, player: PlayerId, notice: Notice) {
        if self.event_count == EVENTS_MAX || player.0 >= PLAYERS_MAX {
            return;
        }
        self.event_count += 1;
        self.events.write_bits(1 + notice as u64, 3);
        self.events.write_bits(player.0.into(), 4);
    }

    /// A frame runs. All frames of a turn must have the same rate.
    pub fn frame(&mut self, frames_per_second: u32) {
        self.frames += 1;
        self.frames_per_second = frames_per_second;
    }

    /// The turn is over.
    pub fn end_turn(&mut self, checksum: u64) {
        let mut payload = core::mem::take(&mut self.action);
        payload.clear();
        payload.write_golomb(self.frames, COUNT_ORDER);
        if self.frames > 0 {
            payload.write_bits(self.frames_per_second.into(), 16);
        }
        payload.write_golomb(self.event_count, 0);
        payload.write_slice(self.events.bytes(), self.events.bit_count());
        payload.write_bits(checksum, 64);
        self.record(kind::TURN, &[payload.bytes()]);
        self.action = payload;
        self.events.clear();
        (self.event_count, self.frames, self.turns) = (0, 0, self.turns + 1);
    }

    /// The recording begins in the middle of a match: the number of its first turn, and the whole state before it, as [`crate::state::save`]
    /// writes it. Call it once, before anything else: after a turn it has no effect, and a second start makes the file unreadable.
    pub fn start(&mut self, turn: u32, state: &[u8]) {
        if self.turns == 0 && state.len() + 4 <= RECORD_BYTES_MAX {
            self.record(kind::START, &[&turn.to_le_bytes(), state]);
        }
    }

    /// The whole state between two turns, as [`crate::state::save`] writes it: a point to jump to.
    pub fn keyframe(&mut self, state: &[u8]) {
        if state.len() + 4 <= RECORD_BYTES_MAX {
            self.record(kind::KEYFRAME, &[&self.turns.to_le_bytes(), state]);
        }
    }

    /// The peers disagree from this turn on. The recording goes on.
    pub fn desync(&mut self, turn: u32) {
        self.record(kind::DIVERGED, &[&turn.to_le_bytes()]);
    }

    /// The recording peer's state before an earlier turn, the first one in which the peers disagreed. See [`crate::state::Recent`].
    pub fn evidence(&mut self, turn: u32, state: &[u8]) {
        if turn <= self.turns && state.len() + 4 <= RECORD_BYTES_MAX {
            self.record(kind::EVIDENCE, &[&turn.to_le_bytes(), state]);
        }
    }

    /// Ends the recording.
    pub fn end(&mut self, ending: Ending) {
        self.record(kind::END, &[&self.turns.to_le_bytes(), &[ending as u8]]);
    }

    /// Nothing of the next turn has been recorded yet.
    pub(crate) fn is_between_turns(&self) -> bool {
        self.event_count == 0 && self.frames == 0
    }

    /// Number of turns recorded so far.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Bytes produced since the last [`Recorder::take_bytes`].
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Takes the bytes produced since the last call. Append them to the file.
    #[must_use = "bytes that are taken and not stored are missing in the file"]
    pub fn take_bytes(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.out)
    }

    /// Number of bytes produced since the start.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    fn record(&mut self, kind: u8, parts: &[&[u8]]) {
        let start = self.out.len();
        let length = parts.iter().map(|part| part.len()).sum::<usize>() as u32;
        self.out.extend_from_slice(&length.to_le_bytes());
        self.out.push(kind);
        for part in parts {
            self.out.extend_from_slice(part);
        }
        self.chain = XxHash3_64::oneshot_with_seed(self.chain, &self.out[start..]);
        self.out.extend_from_slice(&self.chain.to_le_bytes());
        self.total += (self.out.len() - start) as u64;
    }
}
