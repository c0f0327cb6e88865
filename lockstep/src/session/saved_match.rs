//! A match saved at an agreed turn: what a session needs, besides the simulation's state, to resume.

use core::fmt;

use siphasher::sip::SipHasher24;
use smallvec::SmallVec;
use twox_hash::XxHash3_64;

use crate::pace::pacing::TurnPlan;
use crate::packet::{PROTOCOL_VERSION, PayloadFormat, Segment, TurnsPacket};
use crate::session::asked::{Asked, read_pause, write_pause};
use crate::value::action::ACTION_BITS_MAX;
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::entry::{EndReason, Entry};
use crate::value::field::Field;
use crate::value::ids::{PLAYERS_MAX, PlayerId, Turn};

/// The number of a match in its saves: SipHash-2-4. Nobody learns the session id from it.
pub(crate) fn origin_of(session_id: u64) -> u64 {
    SipHasher24::new_with_keys(session_id, 3).hash(b"saved")
}

/// Bytes of the hash at the end.
const HASH_BYTES: usize = 8;

/// A match in its state before a turn; all peers hold the same bytes. The application stores it together with the state for which
/// [`crate::Simulation::save_point`] was called, and passes it to [`crate::SessionConfig::resume`].
///
/// It contains the actions that were in flight when the state was saved, so none is lost. Actions given later belong to the original match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SavedMatch {
    pub(crate) settings_hash: u64,
    pub(crate) turn: u32,
    pub(crate) checksum: u64,
    /// See [`SavedMatch::origin`].
    pub(crate) origin: u64,
    pub(crate) format: PayloadFormat,
    pub(crate) paused: bool,
    /// Whose pause it is.
    pub(crate) paused_by: Option<PlayerId>,
    pub(crate) speed: u8,
    pub(crate) plan: TurnPlan,
    pub(crate) players: SmallVec<[SavedStream; 4]>,
}

/// One player's part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct SavedStream {
    /// The stream ended before the saved turn.
    pub(crate) ended: Option<EndReason>,
    /// What the player had asked for before the saved turn.
    pub(crate) asked: Asked,
    /// The entries of the saved turn, and the later ones that had already closed.
    pub(crate) entries: Vec<Entry>,
}

impl SavedStream {
    /// Whether nothing follows what is here.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.is_some() || self.entries.last().is_some_and(|entry| entry.end().is_some())
    }
}

/// Why bytes are not a saved match that this version can read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SavedMatchError {
    /// Written by another protocol version.
    Version {
        /// The version that wrote it.
        found: u16,
    },
    /// Damaged, cut off, or not a saved match at all.
    Damaged(DecodeError),
}

impl fmt::Display for SavedMatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { found } => {
                write!(
                    f,
                    "the match was saved by protocol version {found}, this program has version {PROTOCOL_VERSION}"
                )
            }
            Self::Damaged(error) => write!(f, "the saved match is damaged: {error}"),
        }
    }
}

impl std::error::Error for SavedMatchError {}

impl From<DecodeError> for SavedMatchError {
    fn from(error: DecodeError) -> Self {
        Self::Damaged(error)
    }
}

impl SavedMatch {
    /// The turn that runs first when the match is resumed.
    #[must_use]
    pub fn turn(&self) -> Turn {
        Turn(self.turn)
    }

    /// Checksum of the state that was saved with it; compare it with the simulation's before you resume. (0 before the first turn of a
    /// match, if a program without a [`crate::Driver`] has saved it.)
    #[must_use]
    pub fn checksum(&self) -> u64 {
        self.checksum
    }

    /// Number of the match that was saved, which follows from its session id: equal in all saves of one match.
    #[must_use]
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// Whether both are saves of one match before the same turn, and not equal. All players had the same bytes then, so one of the two was changed. A
    /// guest of a match that is resumed compares its own save with the one that it is given.
    #[must_use]
    pub fn contradicts(&self, other: &Self) -> bool {
        (self.origin, self.turn) == (other.origin, other.turn) && self != other
    }

    /// Why the player's stream had ended before the saved turn; none if the player goes on.
    #[must_use]
    pub fn ended(&self, player: PlayerId) -> Option<EndReason> {
        self.players.get(player.index())?.ended
    }

    /// The bytes to store. `WIRE.md` specifies them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = BitWriter::new();
        PROTOCOL_VERSION.write(&mut writer);
        self.settings_hash.write(&mut writer);
        self.turn.write(&mut writer);
        self.checksum.write(&mut writer);
        self.origin.write(&mut writer);
        let (is_fixed, bits) = match self.format {
            PayloadFormat::Fixed(bits) => (true, bits),
            PayloadFormat::Variable(bits) => (false, bits),
        };
        writer.write_bool(is_fixed);
        writer.write_bits(u64::from(bits), 16);
        write_pause(&mut writer, self.paused, self.paused_by);
        self.speed.write(&mut writer);
        self.plan.write(&mut writer);
        writer.write_bits(self.players.len() as u64, 5);
        let mut turns = TurnsPacket { base: self.turn, ..TurnsPacket::default() };
        for (number, player) in (0..PLAYERS_MAX).zip(&self.players) {
            player.ended.write(&mut writer);
            player.asked.write(&mut writer);
            if !player.entries.is_empty() {
                let start = turns.entries.len() as u32;
                turns.entries.extend_from_slice(&player.entries);
                let entries = start..turns.entries.len() as u32;
                turns.segments.push(Segment { player: PlayerId(number), first: self.turn, entries });
            }
        }
        turns.write_segments(self.format, &mut writer);
        let mut bytes = writer.bytes().to_vec();
        let hash = XxHash3_64::oneshot(&bytes);
        bytes.extend_from_slice(&hash.to_le_bytes());
        bytes
    }

    /// Reads what [`SavedMatch::to_bytes`] wrote. Total: any bytes give a saved match or an error, in bounded memory.
    ///
    /// # Errors
    /// Another version, or bytes that [`SavedMatch::to_bytes`] did not write.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SavedMatchError> {
        let short = DecodeError::OutOfBits { wanted: 8 * HASH_BYTES as u32, left: 0 };
        let (body, hash) = bytes.split_last_chunk::<HASH_BYTES>().ok_or(short)?;
        if XxHash3_64::oneshot(body).to_le_bytes() != *hash {
            return Err(DecodeError::WrongTag.into());
        }
        let mut reader = BitReader::new(body);
        let found = u16::read(&mut reader)?;
        if found != PROTOCOL_VERSION {
            return Err(SavedMatchError::Version { found });
        }
        Ok(Self::read(reader)?)
    }

    fn read(mut reader: BitReader<'_>) -> Result<Self, DecodeError> {
        let (settings_hash, turn) = Field::read(&mut reader)?;
        let (checksum, origin) = Field::read(&mut reader)?;
        let is_fixed = reader.read_bool()?;
        let bits = reader.read_max(16, u64::from(ACTION_BITS_MAX))? as u32;
        let format = if is_fixed { PayloadFormat::Fixed(bits) } else { PayloadFormat::Variable(bits) };
        let (paused, paused_by) = read_pause(&mut reader)?;
        let speed = reader.read_max(8, u64::from(crate::SPEED_PERCENT_MAX))? as u8;
        let plan = TurnPlan::read(&mut reader)?;
        if speed < crate::SPEED_PERCENT_MIN || plan.frames_per_turn == 0 || plan.frames_per_second == 0 {
            return Err(DecodeError::NotCanonical);
        }
        let count = reader.read_max(5, u64::from(PLAYERS_MAX))?;
        let mut players = SmallVec::new();
        for _ in 0..count {
            let (ended, asked) = Field::read(&mut reader)?;
            players.push(SavedStream { ended, asked, entries: Vec::new() });
        }
        let mut turns = TurnsPacket { base: turn, ..TurnsPacket::default() };
        turns.read_segments(&mut reader, format, PLAYERS_MAX)?;
        reader.finish()?;
        let mut before = None;
        for segment in &turns.segments {
            let in_order = before < Some(segment.player);
            before = Some(segment.player);
            let player: &mut SavedStream =
                players.get_mut(segment.player.index()).ok_or(DecodeError::NotCanonical)?;
            if segment.first != turn || player.ended.is_some() || !in_order {
                return Err(DecodeError::NotCanonical);
            }
            player.entries = turns.entries_of(segment).to_vec();
        }
        Ok(Self { settings_hash, turn, checksum, origin, format, paused, paused_by, speed, plan, players })
    }
}
