//! The brief form of a replay: small enough for a link, because it has no states and only the last checksum.

use twox_hash::XxHash3_64;

use crate::replay::reader::{FRAMES_MAX, read_header, read_rate};
use crate::replay::{
    COUNT_ORDER, EVENTS_MAX, Ending, Notice, Recorder, Replay, ReplayError, TurnEvent, write_header,
};
use crate::value::action::Action;
use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::ids::PlayerId;

/// Greatest number of turns in the brief form: a day of turns of 80 ms. It bounds the memory that reading takes.
pub const BRIEF_TURNS_MAX: u32 = 1 << 20;

/// Order of the code for the number of turns.
const TURNS_ORDER: u32 = 8;

/// Number of frames of a turn, and their rate; both 0 in a paused turn.
type Speed = (u32, u32);

impl Replay {
    /// Whether it was read from the brief form, so that only the last turn has a checksum.
    #[must_use]
    pub fn is_brief(&self) -> bool {
        self.brief_bytes.is_some()
    }

    /// The same match without states and checksums but the last one. `A` is the game's own type of actions.
    ///
    /// None where that would be another match: the recording does not end with the match, begins in the middle, or its peers disagreed. None for an
    /// action that is not `A`'s, and beyond [`BRIEF_TURNS_MAX`].
    #[must_use]
    pub fn brief<A: Action>(&self) -> Option<Vec<u8>> {
        let ends = self.ending() == Some(Ending::Over) && self.damage().is_none();
        let is_whole = ends && self.start().is_none() && self.desync().is_none();
        if !is_whole || !(1..=BRIEF_TURNS_MAX).contains(&self.turns()) {
            return None;
        }
        let header = write_header(self.header());
        let mut bytes = u16::try_from(header.len()).ok()?.to_le_bytes().to_vec();
        bytes.extend_from_slice(&header);
        let mut out = BitWriter::new();
        out.write_golomb(self.turns() - 1, TURNS_ORDER);
        let (mut before, mut last) = ((0, 0), 0);
        for turn in 0..self.turns() {
            let (mut events, checksum) = self.turn(turn)?;
            let speed = (events.frames, events.frames_per_second);
            let mut listed = Vec::new();
            while let Some(event) = events.next_event::<A>().ok()? {
                listed.push(event);
            }
            write_turn(&mut out, (before, speed), &listed, self.header().players)?;
            (before, last) = (speed, checksum.unwrap_or(0));
        }
        out.write_bits(last, 64);
        bytes.extend_from_slice(out.bytes());
        let hash = XxHash3_64::oneshot(&bytes);
        bytes.extend_from_slice(&hash.to_le_bytes());
        Some(bytes)
    }

    /// Reads what [`Replay::brief`] wrote. The replay plays like any other.
    ///
    /// # Errors
    /// [`ReplayError`]. Nothing of a damaged brief form can be played.
    pub fn read_brief<A: Action>(bytes: &[u8], sim_version: u32) -> Result<Self, ReplayError> {
        let (length, rest) = bytes.split_first_chunk().ok_or(ReplayError::Brief)?;
        let (header, rest) =
            rest.split_at_checked(u16::from_le_bytes(*length).into()).ok_or(ReplayError::Brief)?;
        // Another version may keep its hash elsewhere, so it is named first.
        let header = read_header(header, sim_version)?;
        let (body, hash) = rest.split_last_chunk().ok_or(ReplayError::Brief)?;
        let hashed = &bytes[..bytes.len() - hash.len()];
        if XxHash3_64::oneshot(hashed).to_le_bytes() != *hash {
            return Err(ReplayError::Brief);
        }
        let mut recorder = Recorder::new(&header);
        read_turns::<A>(BitReader::new(body), header.players, &mut recorder)
            .map_err(|_| ReplayError::Brief)?;
        recorder.end(Ending::Over);
        let mut replay = Self::read(recorder.take_bytes(), sim_version)?;
        replay.brief_bytes = Some(bytes.len());
        Ok(replay)
    }
}

fn write_turn<A: Action>(
    out: &mut BitWriter,
    (before, speed): (Speed, Speed),
    events: &[TurnEvent<A>],
    players: u8,
) -> Option<()> {
    let is_quiet = speed == before && events.is_empty();
    out.write_bits(is_quiet.into(), 1);
    if is_quiet {
        return Some(());
    }
    out.write_bits((speed == before).into(), 1);
    if speed != before {
        out.write_golomb(speed.0, COUNT_ORDER);
        if speed.0 > 0 {
            out.write_bits(speed.1.into(), 16);
        }
    }
    out.write_golomb(events.len() as u32, 0);
    for event in events {
        let (player, notice) = match event {
            TurnEvent::Action(player, _) => (player, None),
            TurnEvent::Notice(player, notice) => (player, Some(*notice)),
        };
        if player.0 >= players {
            return None;
        }
        out.write_bits(player.0.into(), player_bits(players));
        out.write_bits(notice.is_some().into(), 1);
        match (event, notice) {
            (_, Some(notice)) => out.write_bits(notice as u64, 3),
            (TurnEvent::Action(_, action), None) => action.encode(out),
            (TurnEvent::Notice(..), None) => {}
        }
    }
    out.misfit().is_none().then_some(())
}

/// Records the turns again. Only what [`write_turn`] would write is accepted.
fn read_turns<A: Action>(
    mut input: BitReader<'_>,
    players: u8,
    recorder: &mut Recorder,
) -> Result<(), DecodeError> {
    let turns = 1 + input.read_golomb(TURNS_ORDER, BRIEF_TURNS_MAX - 1)?;
    let mut speed: Speed = (0, 0);
    for turn in 1..=turns {
        if !input.read_bool()? {
            let before = speed;
            if !input.read_bool()? {
                let frames = input.read_golomb(COUNT_ORDER, FRAMES_MAX)?;
                speed = (frames, if frames > 0 { read_rate(&mut input)? } else { 0 });
                if speed == before {
                    return Err(DecodeError::NotCanonical);
                }
            }
            let events = input.read_golomb(0, EVENTS_MAX)?;
            if speed == before && events == 0 {
                return Err(DecodeError::NotCanonical);
            }
            for _ in 0..events {
                read_event::<A>(&mut input, players, recorder)?;
            }
        }
        (recorder.frames, recorder.frames_per_second) = speed;
        let checksum = if turn == turns { input.read_bits(64)? } else { 0 };
        recorder.end_turn(checksum);
    }
    input.finish()
}

fn read_event<A: Action>(
    input: &mut BitReader<'_>,
    players: u8,
    recorder: &mut Recorder,
) -> Result<(), DecodeError> {
    let player = PlayerId(input.read_max(player_bits(players), u64::from(players) - 1)? as u8);
    if input.read_bool()? {
        let notice = input.read_max(3, Notice::ALL.len() as u64 - 1)? as usize;
        recorder.notice(player, Notice::ALL[notice]);
        return Ok(());
    }
    let mut given = input.clone();
    let action = A::decode(input)?;
    let (mut again, mut read) = (BitWriter::new(), BitWriter::new());
    action.encode(&mut again);
    given.copy_to(&mut read, given.bits_left() - input.bits_left())?;
    if again.misfit().is_some() || (again.bit_count(), again.bytes()) != (read.bit_count(), read.bytes()) {
        return Err(DecodeError::NotCanonical);
    }
    recorder.action(player, &action);
    Ok(())
}

/// Bits of a player's number.
fn player_bits(players: u8) -> u32 {
    u8::BITS - players.saturating_sub(1).leading_zeros()
}
