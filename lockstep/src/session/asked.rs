//! What players have asked for, and whose pause it is, as the state of a match and a save hold it.

use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::entry::{SPEED_PERCENT_MAX, SPEED_PERCENT_MIN};
use crate::value::field::Field;
use crate::value::ids::{PLAYERS_MAX, PlayerId};
use crate::value::time::Duration;

/// What a player has asked for so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) pauses: u16,
    pub(crate) speeds: u16,
    /// How long the player's pauses have lasted, in nanoseconds: in a second of the shortest turns, what is cut off is less than a millisecond.
    pub(crate) paused_ns: u64,
    /// If the majority decides: what the player wants now.
    pub(crate) wants_pause: Option<bool>,
    pub(crate) wants_speed: Option<u8>,
}

impl Asked {
    /// Whether the player's pauses have lasted so many whole milliseconds. The handshake compares no less of this setting.
    pub(crate) fn has_paused(self, max: Duration) -> bool {
        self.paused_ns >= max.as_millis().saturating_mul(1_000_000)
    }
}

impl Field for Asked {
    fn write(&self, writer: &mut BitWriter) {
        self.pauses.write(writer);
        self.speeds.write(writer);
        self.paused_ns.write(writer);
        writer.write_bits(self.wants_pause.map_or(2, u64::from), 2);
        self.wants_speed.unwrap_or(0).write(writer);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let (pauses, speeds, paused_ns) = (u16::read(reader)?, u16::read(reader)?, u64::read(reader)?);
        let wants_pause = reader.read_max(2, 2)?;
        let wants_speed = reader.read_max(8, u64::from(SPEED_PERCENT_MAX))? as u8;
        if (1..SPEED_PERCENT_MIN).contains(&wants_speed) {
            return Err(DecodeError::OutOfRange { value: wants_speed.into(), max: SPEED_PERCENT_MAX.into() });
        }
        Ok(Self {
            pauses,
            speeds,
            paused_ns,
            wants_pause: (wants_pause < 2).then_some(wants_pause == 1),
            wants_speed: (wants_speed > 0).then_some(wants_speed),
        })
    }
}

/// The number after those of all players.
const NOBODY: u64 = PLAYERS_MAX as u64;

/// Writes whether the match is paused, and whose pause it is.
pub(crate) fn write_pause(writer: &mut BitWriter, paused: bool, paused_by: Option<PlayerId>) {
    writer.write_bool(paused);
    writer.write_bits(paused_by.map_or(NOBODY, |player| u64::from(player.0)), 5);
}

pub(crate) fn read_pause(reader: &mut BitReader<'_>) -> Result<(bool, Option<PlayerId>), DecodeError> {
    let (paused, paused_by) = (reader.read_bool()?, reader.read_max(5, NOBODY)?);
    Ok((paused, (paused_by != NOBODY).then_some(PlayerId(paused_by as u8))))
}
