//! Reads a replay: total, bounded, and trusting nothing but the hashes.

use core::fmt;
use core::ops::Range;

use twox_hash::XxHash3_64;

use crate::replay::{
    COUNT_ORDER, EVENTS_MAX, Ending, MAGIC, Notice, RECORD_BYTES_MAX, RECORD_OVERHEAD, REPLAY_VERSION,
    ReplayHeader, kind,
};
use crate::session::config::ENGINE_VERSION;
use crate::value::action::{ACTION_BITS_MAX, Action};
use crate::value::bits::{BitReader, DecodeError};
use crate::value::ids::{PLAYERS_MAX, PlayerId};

/// Greatest number of frames in a turn.
pub(crate) const FRAMES_MAX: u32 = 1 << 16;

/// Greatest number of frames per second, as in a session.
const RATE_MAX: u64 = 1_000;

/// A replay that was read up to its end, or up to the first damage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replay {
    header: ReplayHeader,
    bytes: Vec<u8>,
    /// Number of the first turn, and the state before it, of a match that was resumed.
    start: Option<(u32, Range<usize>)>,
    turns: Vec<Range<usize>>,
    /// Number of the next turn, and the state.
    keyframes: Vec<(u32, Range<usize>)>,
    diverged: Option<u32>,
    /// Number of the turn that came next, and the state.
    evidence: Option<(u32, Range<usize>)>,
    ending: Option<Ending>,
    damage: Option<Damage>,
    /// Length of the brief form from which it was read.
    pub(crate) brief_bytes: Option<usize>,
}

/// Where a replay stops being readable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Damage {
    /// First byte of the record that cannot be read.
    pub at: usize,
    /// The reason.
    pub what: &'static str,
}

/// Why a file cannot be played at all.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// It does not begin like a replay.
    NotAReplay,
    /// Its first record is damaged or cut off.
    Header,
    /// A brief form that is damaged or cut off.
    Brief,
    /// Written in another version of the format.
    Version {
        /// The version that wrote it.
        found: u16,
    },
    /// Recorded with another simulation: the same actions would lead to other states.
    SimVersion {
        /// The version that recorded it.
        found: u32,
        /// The version of this program.
        own: u32,
    },
    /// Recorded with another version of the engines, or (0) without them.
    EngineVersion {
        /// The version that recorded it.
        found: u32,
        /// The version of this program.
        own: u32,
    },
}

/// What the simulation was told in one turn; see [`TurnEvents::next_event`].
#[derive(Clone, Debug)]
pub struct TurnEvents<'a> {
    reader: BitReader<'a>,
    left: u32,
    /// Number of frames that ran; 0 while the game was paused.
    pub frames: u32,
    /// Their rate.
    pub frames_per_second: u32,
}

/// One event of a turn. Exhaustive on purpose: a replay plays right only if the game is told of every event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TurnEvent<A> {
    /// [`crate::Simulation::apply`].
    Action(PlayerId, A),
    /// A notice about a player.
    Notice(PlayerId, Notice),
}

impl Replay {
    /// Reads a replay that was recorded with simulation version `sim_version`.
    ///
    /// # Errors
    /// [`ReplayError`] if nothing can be played. Damage after the first record is not an error; see [`Replay::damage`].
    pub fn read(bytes: Vec<u8>, sim_version: u32) -> Result<Self, ReplayError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(ReplayError::NotAReplay);
        }
        let mut at = MAGIC.len();
        let mut chain = 0;
        let first = next_record(&bytes, &mut at, &mut chain).map_err(|_| ReplayError::Header)?;
        let header = match first {
            Some((kind::HEADER, payload)) => read_header(&bytes[payload], sim_version)?,
            _ => return Err(ReplayError::Header),
        };
        let mut replay = Self {
            header,
            bytes: Vec::new(),
            start: None,
            turns: Vec::new(),
            keyframes: Vec::new(),
            diverged: None,
            evidence: None,
            ending: None,
            damage: None,
            brief_bytes: None,
        };
        loop {
            let start = at;
            let damage = |what| Some(Damage { at: start, what });
            match next_record(&bytes, &mut at, &mut chain) {
                Ok(None) => break,
                Ok(Some(_)) if replay.ending.is_some() => {
                    replay.damage = damage("there are bytes behind the end");
                    break;
                }
                Ok(Some((kind, payload))) => {
                    if let Err(what) = replay.take(kind, payload, &bytes) {
                        replay.damage = damage(what);
                        break;
                    }
                }
                Err(what) => {
                    replay.damage = damage(what);
                    break;
                }
            }
        }
        replay.bytes = bytes;
        Ok(replay)
    }

    fn take(&mut self, kind: u8, payload: Range<usize>, bytes: &[u8]) -> Result<(), &'static str> {
        let body = &bytes[payload.clone()];
        let number = || body.first_chunk().map(|four| u32::from_le_bytes(*four));
        let turns = self.turns.len() as u32;
        match kind {
            kind::TURN => {
                check_turn(body, self.header.players)?;
                self.turns.push(payload);
            }
            kind::START => {
                let first = number().ok_or("this record is not a start")?;
                if self.start.is_some() || turns > 0 || !self.keyframes.is_empty() {
                    return Err("the start is not at the start");
                }
                self.start = Some((first, payload.start + 4..payload.end));
            }
            kind::KEYFRAME => {
                if number() != Some(turns) {
                    return Err("the keyframe is at the wrong turn");
                }
                self.keyframes.push((turns, payload.start + 4..payload.end));
            }
            kind::DIVERGED => {
                let turn =
                    number().filter(|_| body.len() == 4).ok_or("this record does not mark a desync")?;
                self.diverged = self.diverged.or(Some(turn));
            }
            kind::EVIDENCE => {
                let turn = number()
                    .filter(|turn| *turn <= turns)
                    .ok_or("the evidence is of a turn that has not run")?;
                self.evidence.get_or_insert((turn, payload.start + 4..payload.end));
            }
            kind::END => {
                let ending = match body.get(4) {
                    Some(0) => Ending::Over,
                    Some(1) => Ending::Full,
                    _ => return Err("the end record is not valid"),
                };
                if number() != Some(turns) || body.len() != 5 {
                    return Err("the end is at the wrong turn");
                }
                self.ending = Some(ending);
            }
            _ => return Err("the record has an unknown kind"),
        }
        Ok(())
    }

    /// What the match started from.
    #[must_use]
    pub fn header(&self) -> &ReplayHeader {
        &self.header
    }

    /// Where a recording begins that does not begin with the match: the number of its first turn in the match, and the state before it. What
    /// led to this state is not in the file.
    #[must_use]
    pub fn start(&self) -> Option<(u32, &[u8])> {
        let (turn, range) = self.start.as_ref()?;
        Some((*turn, &self.bytes[range.clone()]))
    }

    /// Number of turns that can be played.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.turns.len() as u32
    }

    /// How the recording ended. None: it was cut off, by a crash of the program or by damage to the file.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Where the file is damaged; everything before that is sound.
    #[must_use]
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Whether the replay has its end and no damage.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.ending.is_some() && self.damage.is_none()
    }

    /// The first turn in which the peers disagreed, if the recording noticed it.
    #[must_use]
    pub fn desync(&self) -> Option<u32> {
        self.diverged
    }

    /// The recording peer's state before a turn, kept because the peers disagreed: number of the turn, and the state.
    #[must_use]
    pub fn evidence(&self) -> Option<(u32, &[u8])> {
        let (turn, range) = self.evidence.as_ref()?;
        Some((*turn, &self.bytes[range.clone()]))
    }

    /// Length of the file, or of the brief form, in bytes.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.brief_bytes.unwrap_or(self.bytes.len())
    }

    /// The same without its keyframes: for a game that cannot save and load its state, so that they are neither used nor compared.
    #[must_use]
    pub fn without_keyframes(mut self) -> Self {
        self.keyframes.clear();
        self
    }

    /// The state before a turn, if there is a keyframe of it.
    #[must_use]
    pub fn keyframe(&self, turn: u32) -> Option<&[u8]> {
        let at = self.keyframes.binary_search_by_key(&turn, |(turn, _)| *turn).ok()?;
        Some(&self.bytes[self.keyframes[at].1.clone()])
    }

    /// The last keyframe at or before a turn, and its turn.
    #[must_use]
    pub fn keyframe_before(&self, turn: u32) -> Option<(u32, &[u8])> {
        let after = self.keyframes.partition_point(|(at, _)| *at <= turn);
        let (at, range) = self.keyframes.get(after.checked_sub(1)?)?;
        Some((*at, &self.bytes[range.clone()]))
    }

    /// The events of a turn, and its checksum. None beyond the last turn. Of a brief replay only the last turn has a checksum.
    #[must_use]
    pub fn turn(&self, turn: u32) -> Option<(TurnEvents<'_>, Option<u64>)> {
        let payload = &self.bytes[self.turns.get(turn as usize)?.clone()];
        let events = TurnEvents::new(payload).ok()?;
        let checksum = payload_checksum(&events).ok()?;
        let is_recorded = !self.is_brief() || turn + 1 == self.turns();
        Some((events, is_recorded.then_some(checksum)))
    }
}

/// The next record's kind and payload; none at the end of the bytes.
fn next_record(
    bytes: &[u8],
    at: &mut usize,
    chain: &mut u64,
) -> Result<Option<(u8, Range<usize>)>, &'static str> {
    let rest = &bytes[*at..];
    if rest.is_empty() {
        return Ok(None);
    }
    let length =
        rest.first_chunk().map(|four| u32::from_le_bytes(*four) as usize).ok_or("the file is cut off")?;
    if length > RECORD_BYTES_MAX {
        return Err("the record is longer than the limit");
    }
    if rest.len() < RECORD_OVERHEAD + length {
        return Err("the file is cut off");
    }
    let hash = XxHash3_64::oneshot_with_seed(*chain, &rest[..5 + length]);
    if rest[5 + length..][..8] != hash.to_le_bytes() {
        return Err("the record was changed after it was written");
    }
    let payload = *at + 5..*at + 5 + length;
    let kind = rest[4];
    *at += RECORD_OVERHEAD + length;
    *chain = hash;
    Ok(Some((kind, payload)))
}

pub(crate) fn read_header(payload: &[u8], sim_version: u32) -> Result<ReplayHeader, ReplayError> {
    let mut rest = payload;
    let mut take = |count: usize| {
        let (taken, left) = rest.split_at_checked(count).ok_or(ReplayError::Header)?;
        rest = left;
        let mut eight = [0; 8];
        eight[..count].copy_from_slice(taken);
        Ok(u64::from_le_bytes(eight))
    };
    let found = take(2)? as u16;
    if found != REPLAY_VERSION {
        return Err(ReplayError::Version { found });
    }
    let recorded = take(4)? as u32;
    if recorded != sim_version {
        return Err(ReplayError::SimVersion { found: recorded, own: sim_version });
    }
    let engine = take(4)? as u32;
    if engine != ENGINE_VERSION {
        return Err(ReplayError::EngineVersion { found: engine, own: ENGINE_VERSION });
    }
    let content_hash = take(8)?;
    let players = take(1)? as u8;
    let length = take(2)? as usize;
    if rest.len() != length || !(1..=PLAYERS_MAX).contains(&players) {
        return Err(ReplayError::Header);
    }
    Ok(ReplayHeader { sim_version, content_hash, players, settings: rest.to_vec() })
}

impl<'a> TurnEvents<'a> {
    fn new(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = BitReader::new(payload);
        let frames = reader.read_golomb(COUNT_ORDER, FRAMES_MAX)?;
        let frames_per_second = if frames > 0 { read_rate(&mut reader)? } else { 0 };
        let left = reader.read_golomb(0, EVENTS_MAX)?;
        Ok(Self { reader, left, frames, frames_per_second })
    }

    /// The next event; none after the last.
    ///
    /// # Errors
    /// The action cannot be decoded: it belongs to another game.
    pub fn next_event<A: Action>(&mut self) -> Result<Option<TurnEvent<A>>, DecodeError> {
        match self.next_raw()? {
            None => Ok(None),
            Some((player, Some(notice), _)) => Ok(Some(TurnEvent::Notice(player, notice))),
            Some((player, None, mut action)) => {
                let decoded = A::decode(&mut action)?;
                if action.bits_left() > 0 {
                    return Err(DecodeError::NotCanonical);
                }
                Ok(Some(TurnEvent::Action(player, decoded)))
            }
        }
    }

    fn next_raw(&mut self) -> Result<Option<(PlayerId, Option<Notice>, BitReader<'a>)>, DecodeError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let kind = self.reader.read_max(3, Notice::ALL.len() as u64)? as usize;
        let player = PlayerId(self.reader.read_bits(4)? as u8);
        if let Some(notice) = kind.checked_sub(1) {
            return Ok(Some((player, Some(Notice::ALL[notice]), self.reader.clone())));
        }
        let bits = self.reader.read_max(13, ACTION_BITS_MAX.into())? as u32;
        let action = self.reader.take(bits)?;
        Ok(Some((player, None, action)))
    }
}

/// Frames per second, as a session can have them: a game may divide by them.
pub(crate) fn read_rate(input: &mut BitReader<'_>) -> Result<u32, DecodeError> {
    match input.read_max(16, RATE_MAX)? {
        0 => Err(DecodeError::NotCanonical),
        rate => Ok(rate as u32),
    }
}

/// The turn's checksum follows its events.
fn payload_checksum(events: &TurnEvents<'_>) -> Result<u64, DecodeError> {
    let mut rest = events.clone();
    while rest.next_raw()?.is_some() {}
    rest.reader.read_bits(64)
}

fn check_turn(payload: &[u8], players: u8) -> Result<(), &'static str> {
    let is_no_turn = |_| "this record is not a turn";
    let mut events = TurnEvents::new(payload).map_err(is_no_turn)?;
    while let Some((player, ..)) = events.next_raw().map_err(is_no_turn)? {
        if player.0 >= players {
            return Err(
                "the match had more players than its header counts (ReplayHeader::players of the program that recorded it)",
            );
        }
    }
    events.reader.read_bits(64).and_then(|_| events.reader.finish()).map_err(is_no_turn)
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAReplay => write!(f, "this is not a replay"),
            Self::Header => write!(f, "the replay's header is damaged, so nothing can be played"),
            Self::Brief => write!(f, "the replay is damaged or cut off, so nothing can be played"),
            Self::Version { found } => write!(
                f,
                "the replay has format version {found}, this program reads version {REPLAY_VERSION}"
            ),
            Self::SimVersion { found, own } => write!(
                f,
                "the replay was recorded with version {found} of the simulation, this is version {own}: the same orders would lead to \
                 another match"
            ),
            Self::EngineVersion { found, own } => write!(
                f,
                "the replay was recorded with version {found} of the engines, this is version {own}: the same orders would lead \
                 to another match"
            ),
        }
    }
}

impl core::error::Error for ReplayError {}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.what)
    }
}
