//! The packet of the running match: acknowledgements, and every entry that the receiver has not confirmed.

use core::ops::Range;

use smallvec::SmallVec;

use crate::packet::statement::Signed;
use crate::packet::{Kind, PACKET_BYTES_MAX, PayloadFormat, TAG_BYTES, begin};
use crate::value::bits::{BitReader, BitWriter, DecodeError, golomb_bits, golomb_signed_bits};
use crate::value::entry::{EndReason, Entry, Extra, Payload, SPEED_PERCENT_MAX, SPEED_PERCENT_MIN};
use crate::value::field::Field;
use crate::value::ids::{PLAYERS_MAX, PlayerId, PlayerSet};

/// Greatest number of entries in one packet, over all segments: bounds what decoding allocates.
pub(crate) const ENTRIES_MAX: u32 = 1_024;

/// Bits of a packet without its tag.
pub const BODY_BITS_MAX: u32 = 8 * (PACKET_BYTES_MAX - TAG_BYTES) as u32;

/// Exp-Golomb orders of the fields.
const BASE_ORDER: u32 = 16;
const COUNT_ORDER: u32 = 2;
const HORIZON_ORDER: u32 = 2;
const LENGTH_ORDER: u32 = 5;

/// Consecutive entries of one player's stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// The player of the stream.
    pub player: PlayerId,
    /// Number of the first entry.
    pub first: u32,
    /// The entries, as a range of [`TurnsPacket::entries`]; never empty.
    pub entries: Range<u32>,
}

/// Acknowledgements and entries.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TurnsPacket {
    /// The sender's position: one more than the number of the newest entry in its own stream (for a peer without a stream: its next turn
    /// plus the turns ahead).
    pub base: u32,
    /// For each player's stream, the number of the first entry that the sender lacks.
    pub acks: SmallVec<[u32; PLAYERS_MAX as usize]>,
    /// How many of the receiver's acknowledged entries are still missing at a peer behind the sender.
    pub unconfirmed: u32,
    /// From the middle of a star, while a player that may come back is away: the first turn that the receiver may not begin yet. The receiver knows
    /// all returns before it.
    pub horizon: Option<u32>,
    /// Players from whose own links the sender accepts nothing more, bit n for player n (only in a mesh, before a drop).
    pub frozen: u16,
    /// Players whom the sender votes out, bit n for player n (only in a mesh).
    pub votes: u16,
    /// The signed part; empty in a match without keys.
    pub signed: Signed,
    /// Runs of entries, at most one per player, in any order.
    pub segments: SmallVec<[Segment; PLAYERS_MAX as usize]>,
    /// Entries of all segments, one after the other.
    pub entries: Vec<Entry>,
}

impl TurnsPacket {
    /// Clears the content and keeps the allocations.
    pub(crate) fn clear(&mut self) {
        self.base = 0;
        self.acks.clear();
        self.unconfirmed = 0;
        self.horizon = None;
        self.frozen = 0;
        self.votes = 0;
        self.signed.clear();
        self.segments.clear();
        self.entries.clear();
    }

    /// Entries of a segment.
    #[must_use]
    pub fn entries_of(&self, segment: &Segment) -> &[Entry] {
        &self.entries[segment.entries.start as usize..segment.entries.end as usize]
    }

    /// Writes the body of the packet, however long it is.
    pub fn encode(&self, format: PayloadFormat, writer: &mut BitWriter) {
        begin(writer, Kind::Turns);
        writer.write_golomb(self.base, BASE_ORDER);
        writer.write_bits(self.acks.len() as u64, 5);
        let mut previous = self.base;
        for &ack in &self.acks {
            writer.write_golomb_signed(ack.wrapping_sub(previous) as i32, 0);
            previous = ack;
        }
        writer.write_golomb(self.unconfirmed, 0);
        self.write_rare(writer);
        self.signed.write(writer, self.base, self.acks.len());
        self.write_segments(format, writer);
    }

    /// Bits of all but the signed part and the segments; their number counts as the greatest one.
    pub(crate) fn head_bits(&self) -> u32 {
        let mut previous = self.base;
        let mut bits = 4 + golomb_bits(self.base, BASE_ORDER) + 5;
        for &ack in &self.acks {
            bits += golomb_signed_bits(ack.wrapping_sub(previous) as i32, 0);
            previous = ack;
        }
        bits += golomb_bits(self.unconfirmed, 0);
        if let Some(horizon) = self.horizon {
            bits += golomb_signed_bits(horizon.wrapping_sub(self.base) as i32, HORIZON_ORDER);
        }
        // Three flags, frozen players and votes; one flag of the signed part.
        bits + 3 + 32 + 1 + golomb_bits(u32::from(PLAYERS_MAX), 0)
    }

    /// Writes what most packets do not have.
    fn write_rare(&self, writer: &mut BitWriter) {
        let votes = self.frozen != 0 || self.votes != 0;
        writer.write_bool(self.horizon.is_some() || votes);
        if let Some(horizon) = self.horizon {
            writer.write_bool(true);
            writer.write_golomb_signed(horizon.wrapping_sub(self.base) as i32, HORIZON_ORDER);
            writer.write_bool(votes);
        } else if votes {
            writer.write_bool(false);
        }
        if votes {
            writer.write_bits(u64::from(self.frozen), 16);
            writer.write_bits(u64::from(self.votes), 16);
        }
    }

    fn read_rare(&mut self, reader: &mut BitReader<'_>) -> Result<(), DecodeError> {
        if !reader.read_bool()? {
            return Ok(());
        }
        let has_horizon = reader.read_bool()?;
        if has_horizon {
            let ahead = reader.read_golomb_signed(HORIZON_ORDER)?;
            self.horizon = Some(self.base.wrapping_add(ahead as u32));
        }
        if !has_horizon || reader.read_bool()? {
            self.frozen = reader.read_bits(16)? as u16;
            self.votes = reader.read_bits(16)? as u16;
            if self.frozen == 0 && self.votes == 0 {
                return Err(DecodeError::NotCanonical);
            }
        }
        Ok(())
    }

    /// Writes the runs of entries.
    pub(crate) fn write_segments(&self, format: PayloadFormat, writer: &mut BitWriter) {
        writer.write_golomb(self.segments.len() as u32, 0);
        for segment in &self.segments {
            let entries = self.entries_of(segment);
            write_segment_head(writer, self.base, segment, entries.len() as u32);
            let mut previous: Option<&Payload> = None;
            for entry in entries {
                if let Some(previous) = previous {
                    writer.write_bool(entry.payload != *previous);
                }
                if previous != Some(&entry.payload) {
                    write_payload(writer, format, &entry.payload);
                }
                previous = Some(&entry.payload);
            }
            write_extras(writer, entries);
        }
    }

    /// Reads the packet into `self` and reuses its allocations. It has entries of at most `streams_max` players. After an error the content of `self` is
    /// undefined.
    pub(crate) fn decode_from(
        &mut self,
        mut reader: BitReader<'_>,
        format: PayloadFormat,
        streams_max: u8,
    ) -> Result<(), DecodeError> {
        self.clear();
        self.base = reader.read_golomb(BASE_ORDER, u32::MAX)?;
        let ack_count = reader.read_max(5, u64::from(PLAYERS_MAX))?;
        let mut previous = self.base;
        for _ in 0..ack_count {
            previous = previous.wrapping_add(reader.read_golomb_signed(0)? as u32);
            self.acks.push(previous);
        }
        self.unconfirmed = reader.read_golomb(0, u32::MAX)?;
        self.read_rare(&mut reader)?;
        self.signed.read(&mut reader, self.base, self.acks.len())?;
        self.read_segments(&mut reader, format, streams_max)?;
        reader.finish()
    }

    /// Reads the runs of entries; `base` is known.
    pub(crate) fn read_segments(
        &mut self,
        reader: &mut BitReader<'_>,
        format: PayloadFormat,
        streams_max: u8,
    ) -> Result<(), DecodeError> {
        let segment_count = reader.read_golomb(0, u32::from(streams_max))?;
        for _ in 0..segment_count {
            self.read_segment(reader, format)?;
        }
        Ok(())
    }

    fn read_segment(&mut self, reader: &mut BitReader<'_>, format: PayloadFormat) -> Result<(), DecodeError> {
        let player = PlayerId(reader.read_bits(4)? as u8);
        if self.segments.iter().any(|segment| segment.player == player) {
            return Err(DecodeError::NotCanonical);
        }
        let next = self.base.wrapping_add(reader.read_golomb_signed(0)? as u32);
        let start = self.entries.len() as u32;
        let count = reader.read_golomb(COUNT_ORDER, ENTRIES_MAX - 1)? + 1;
        let room = ENTRIES_MAX - start;
        if count > room || count > next {
            return Err(DecodeError::OutOfRange { value: u64::from(count), max: u64::from(room.min(next)) });
        }
        for index in 0..count {
            let same = index > 0 && !reader.read_bool()?;
            let previous = if index > 0 { self.entries.last().map(|entry| &entry.payload) } else { None };
            let payload = match previous {
                Some(previous) if same => previous.clone(),
                _ => {
                    let payload = read_payload(reader, format)?;
                    if previous == Some(&payload) {
                        return Err(DecodeError::NotCanonical);
                    }
                    payload
                }
            };
            self.entries.push(Entry { payload, extras: SmallVec::new() });
        }
        read_extras(reader, &mut self.entries[start as usize..])?;
        self.segments.push(Segment { player, first: next - count, entries: start..start + count });
        Ok(())
    }
}

fn write_segment_head(writer: &mut BitWriter, base: u32, segment: &Segment, count: u32) {
    writer.write_bits(u64::from(segment.player.0), 4);
    writer.write_golomb_signed((segment.first + count).wrapping_sub(base) as i32, 0);
    writer.write_golomb(count - 1, COUNT_ORDER);
}

/// Writes an entry in a form that differs for different entries; statements hash it.
pub(crate) fn entry_content(writer: &mut BitWriter, entry: &Entry) {
    writer.clear();
    writer.write_bits(u64::from(entry.payload.bit_count()), 32);
    writer.write_slice(entry.payload.bytes(), entry.payload.bit_count());
    writer.write_bits(entry.extras.len() as u64, 8);
    for &extra in &entry.extras {
        write_extra(writer, extra);
    }
}

fn write_payload(writer: &mut BitWriter, format: PayloadFormat, payload: &Payload) {
    match format {
        PayloadFormat::Fixed(bits) => assert_eq!(payload.bit_count(), bits, "input mode has one size"),
        PayloadFormat::Variable(_) => {
            writer.write_bool(!payload.is_none());
            if !payload.is_none() {
                writer.write_golomb(payload.bit_count() - 1, LENGTH_ORDER);
            }
        }
    }
    writer.write_slice(payload.bytes(), payload.bit_count());
}

fn read_payload(reader: &mut BitReader<'_>, format: PayloadFormat) -> Result<Payload, DecodeError> {
    let bit_count = match format {
        PayloadFormat::Fixed(bits) => bits,
        PayloadFormat::Variable(bits_max) => {
            if reader.read_bool()? {
                reader.read_golomb(LENGTH_ORDER, bits_max.saturating_sub(1))? + 1
            } else {
                0
            }
        }
    };
    Payload::read(reader, bit_count)
}

/// Writes extras as a sparse list: their number; then for each one the distance from the entry of the one before, its kind, its content.
fn write_extras(writer: &mut BitWriter, entries: &[Entry]) {
    let count: u32 = entries.iter().map(|entry| entry.extras.len() as u32).sum();
    writer.write_golomb(count, 0);
    let mut previous = 0;
    for (index, entry) in (0_u32..).zip(entries) {
        for &extra in &entry.extras {
            writer.write_golomb(index - previous, 0);
            write_extra(writer, extra);
            previous = index;
        }
    }
}

fn write_extra(writer: &mut BitWriter, extra: Extra) {
    writer.write_bits(u64::from(extra.kind()), 4);
    match extra {
        Extra::Checksum(value) => writer.write_bits(u64::from(value), 32),
        Extra::Pace { network_ms, runtime_ms } => {
            writer.write_bits(u64::from(network_ms), 16);
            writer.write_bits(u64::from(runtime_ms), 16);
        }
        Extra::End(reason) => reason.write(writer),
        Extra::Pause(paused) => writer.write_bool(paused),
        Extra::Speed(percent) => writer.write_bits(u64::from(percent), 8),
        Extra::Save => {}
        Extra::Result(value) => value.write(writer),
        Extra::Slack(tenths) => writer.write_bits(u64::from(tenths as u16), 16),
        Extra::Return(connection) => connection.write(writer),
        Extra::Votes(players) => players.bits().write(writer),
    }
}

pub(crate) fn end_reason_number(reason: EndReason) -> u64 {
    match reason {
        EndReason::Left => 0,
        EndReason::Dropped => 1,
        EndReason::Surrendered => 2,
        EndReason::HandedOver => 3,
    }
}

/// Three bits.
impl Field for EndReason {
    fn write(&self, writer: &mut BitWriter) {
        writer.write_bits(end_reason_number(*self), 3);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(match reader.read_max(3, 3)? {
            0 => Self::Left,
            1 => Self::Dropped,
            2 => Self::Surrendered,
            _ => Self::HandedOver,
        })
    }
}

fn read_extras(reader: &mut BitReader<'_>, entries: &mut [Entry]) -> Result<(), DecodeError> {
    // Each takes at least five bits, so the packet's size bounds their number.
    let count = reader.read_golomb(0, BODY_BITS_MAX / 5)?;
    let mut index = 0_u32;
    for _ in 0..count {
        index = index.saturating_add(reader.read_golomb(0, ENTRIES_MAX)?);
        let last = entries.len() as u64 - 1;
        let Some(entry) = entries.get_mut(index as usize) else {
            return Err(DecodeError::OutOfRange { value: u64::from(index), max: last });
        };
        let extra = read_extra(reader)?;
        if entry.extras.last().is_some_and(|before| before.kind() >= extra.kind()) {
            return Err(DecodeError::NotCanonical);
        }
        // Nothing follows the end of a stream.
        if matches!(extra, Extra::End(_)) && u64::from(index) != last {
            return Err(DecodeError::OutOfRange { value: u64::from(index), max: last });
        }
        entry.extras.push(extra);
    }
    Ok(())
}

fn read_extra(reader: &mut BitReader<'_>) -> Result<Extra, DecodeError> {
    Ok(match reader.read_bits(4)? as u8 {
        0 => Extra::Checksum(reader.read_bits(32)? as u32),
        1 => {
            Extra::Pace { network_ms: reader.read_bits(16)? as u16, runtime_ms: reader.read_bits(16)? as u16 }
        }
        2 => Extra::End(Field::read(reader)?),
        3 => Extra::Pause(reader.read_bool()?),
        4 => {
            let percent = reader.read_max(8, u64::from(SPEED_PERCENT_MAX))?;
            if percent < u64::from(SPEED_PERCENT_MIN) {
                return Err(DecodeError::OutOfRange { value: percent, max: u64::from(SPEED_PERCENT_MAX) });
            }
            Extra::Speed(percent as u8)
        }
        5 => Extra::Save,
        6 => Extra::Result(reader.read_bits(32)? as u32),
        7 => Extra::Slack(reader.read_bits(16)? as u16 as i16),
        8 => Extra::Return(reader.read_bits(16)? as u16),
        9 => Extra::Votes(PlayerSet::from_bits(reader.read_bits(16)? as u16)),
        unknown => return Err(DecodeError::UnknownKind(unknown)),
    })
}

/// How many entries of a stream fit, and how many bits they take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SegmentPlan {
    /// Entries that fit.
    pub count: u32,
    /// An upper bound of the segment's bits.
    pub bits: u32,
}

/// Plans a segment of entries `first..` within `bits_max` bits. The bound is exact except for the lengths of the counts, which are assumed
/// at their largest.
pub fn segment_cost<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    format: PayloadFormat,
    bits_max: u32,
) -> SegmentPlan {
    // Head: player, distance from base (at most the window, 13 bits mapped), count, number of extras.
    let mut plan = SegmentPlan { count: 0, bits: 4 + 27 + 21 + 21 };
    let mut previous: Option<&Payload> = None;
    let mut extras_gap = 0;
    for entry in entries.take(ENTRIES_MAX as usize) {
        let mut bits = u32::from(previous.is_some());
        if previous != Some(&entry.payload) {
            bits += payload_bits(&entry.payload, format);
        }
        for &extra in &entry.extras {
            bits += golomb_bits(extras_gap, 0) + 4 + extra_bits(extra);
            extras_gap = 0;
        }
        if plan.bits + bits > bits_max {
            break;
        }
        plan.bits += bits;
        plan.count += 1;
        extras_gap += 1;
        previous = Some(&entry.payload);
    }
    plan
}

fn payload_bits(payload: &Payload, format: PayloadFormat) -> u32 {
    match format {
        PayloadFormat::Fixed(bits) => bits,
        PayloadFormat::Variable(_) if payload.is_none() => 1,
        PayloadFormat::Variable(_) => {
            1 + golomb_bits(payload.bit_count() - 1, LENGTH_ORDER) + payload.bit_count()
        }
    }
}

fn extra_bits(extra: Extra) -> u32 {
    match extra {
        Extra::Checksum(_) | Extra::Pace { .. } | Extra::Result(_) => 32,
        Extra::Slack(_) | Extra::Return(_) | Extra::Votes(_) => 16,
        Extra::End(_) => 3,
        Extra::Pause(_) => 1,
        Extra::Speed(_) => 8,
        Extra::Save => 0,
    }
}
