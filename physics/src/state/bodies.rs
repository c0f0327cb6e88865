//! Bodies as bytes, following the [`TABLE`] of their fields: writing to a snapshot, reading from one, hashing.
//!
//! In a snapshot the living bodies follow each other in slot order. A body begins with a word: its flags, and a bit for each field with an
//! unusual value. Only those fields follow. Equal states have equal bytes, and different states have different bytes. A checksum hashes
//! whole records instead, which is several times as fast.

use crate::body::field::{EXTRAS, Field, Home, OFTEN, PRESENT, Saved, TABLE, usual_mass};
use crate::body::record::{Body, Extra, flag};
use crate::body::slot::Slot;
use crate::state::bytes::{Page, Reader, Sink};
use crate::state::hash::Hasher;
use crate::state::version::SnapshotError;
use crate::world::World;

/// Bytes of the widest field.
const WIDE: usize = 8;

/// Bytes of a body whose values are all unusual, and of one more field.
const BODY_MAX: usize = {
    let (mut bytes, mut row) = (WIDE, 0);
    while row < TABLE.len() {
        bytes += TABLE[row].size();
        row += 1;
    }
    bytes
};

/// Runs a block for the rows of fields that a body often has, or for the others. The rows are written out: compilers keep a loop over so
/// many rows, look into the table again for every body, and take five times as long.
macro_rules! each_row {
    (often, $field:ident => $block:block) => { each_row!(0 1 2 3 4 5 6 7 8, $field => $block) };
    (seldom, $field:ident => $block:block) => { each_row!(9 10 11 12 13 14 15 16 17 18 19, $field => $block) };
    ($($row:literal)+, $field:ident => $block:block) => { $({ let $field = const { &TABLE[$row] }; $block })+ };
}
const _: () = assert!(OFTEN == 9 && TABLE.len() == 20, "the lists above have other rows");

/// Writes the living bodies.
pub(crate) fn walk(world: &World, sink: &mut impl Sink) {
    let mut page = Page::<4_096>::new();
    for (slot, (body, extra)) in world.bodies.iter().zip(&world.extras).enumerate() {
        if body.has(flag::ALIVE) {
            put_body(body, extra, world.order.slot_generation(Slot::new(slot)), &mut page);
            if page.len + BODY_MAX > page.bytes.len() {
                page.flush(sink);
            }
        }
    }
    page.flush(sink);
}

#[inline]
fn put_body<const SIZE: usize>(body: &Body, extra: &Extra, generation: u32, page: &mut Page<SIZE>) {
    let mut word = body.flags & flag::STATE;
    each_row!(often, field => { word |= unusual_bit(field, body, extra, generation) });
    each_row!(seldom, field => {
        if !is_extra(field) {
            word |= unusual_bit(field, body, extra, generation);
        }
    });
    if body.has(flag::EXTRA) {
        each_row!(seldom, field => {
            if is_extra(field) {
                word |= unusual_bit(field, body, extra, generation);
            }
        });
    }
    // No branches, because each body has other fields: each field is written to the position that it would have.
    let Some(to) = page.bytes[page.len..].first_chunk_mut::<BODY_MAX>() else { return };
    let mut at = 0;
    each_row!(often, field => {
        let value = if matches!(field.saved, Saved::InTheWord) { word.into() } else { field.get(body, extra, generation) };
        to[at..at + WIDE].copy_from_slice(&value.to_le_bytes());
        at += if is_there(field, word) { field.size() } else { 0 };
    });
    page.len += at;
    if word & SELDOM != 0 {
        put_seldom(body, extra, generation, word, page);
    }
}

#[cold]
fn put_seldom(body: &Body, extra: &Extra, generation: u32, word: u32, sink: &mut impl Sink) {
    each_row!(seldom, field => {
        if is_there(field, word) {
            sink.put(&field.get(body, extra, generation).to_le_bytes()[..field.size()]);
        }
    });
}

/// Bits of the fields behind [`OFTEN`].
const SELDOM: u32 = {
    let (mut bits, mut row) = (0, OFTEN);
    while row < TABLE.len() {
        bits |= TABLE[row].bit();
        row += 1;
    }
    bits
};

/// The field's bit if the body has an unusual value in it.
#[inline(always)]
fn unusual_bit(field: &Field, body: &Body, extra: &Extra, generation: u32) -> u32 {
    let value = field.get(body, extra, generation);
    if value != usual(field, body.flags) { field.bit() } else { 0 }
}

/// Whether only bodies with [`flag::EXTRA`] have an unusual value in the field.
#[inline(always)]
const fn is_extra(field: &Field) -> bool {
    matches!(field.home, Home::Extra(_))
}

/// Whether a body that begins with this word has the field.
#[inline(always)]
fn is_there(field: &Field, word: u32) -> bool {
    match field.saved {
        Saved::InTheWord | Saved::Always => true,
        Saved::Of(tag) => tag.is_in(word),
        Saved::Unless(..) | Saved::UnusualMass(_) => word & field.bit() != 0,
    }
}

/// The value of a field that is left out.
#[inline(always)]
fn usual(field: &Field, flags: u32) -> u64 {
    match field.saved {
        Saved::Unless(value, _) => value,
        Saved::UnusualMass(_) => usual_mass(flags).into(),
        _ => 0,
    }
}

/// Reads one body that [`walk`] wrote, over a default body and [`Extra::USUAL`]. Returns the generation of its slot.
#[inline]
pub(crate) fn read_body(
    reader: &mut Reader<'_>,
    body: &mut Body,
    extra: &mut Extra,
) -> Result<u32, SnapshotError> {
    // No branches, as above: each field is read from the position that it would have.
    const FIELDS_MAX: usize = OFTEN * WIDE;
    let end;
    let bytes = match reader.bytes.first_chunk() {
        Some(bytes) => bytes,
        None => {
            let mut padded = [0; FIELDS_MAX];
            padded[..reader.bytes.len()].copy_from_slice(reader.bytes);
            end = padded;
            &end
        }
    };
    let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    if word & !(flag::STATE | PRESENT) != 0 {
        return Err(SnapshotError::Invalid { what: "an unknown property of a body" });
    }
    let (mut at, mut generation) = (0, 0);
    each_row!(often, field => {
        let there = is_there(field, word);
        let mut value = [0; WIDE];
        value.copy_from_slice(&bytes[at..at + WIDE]);
        let value = if there { u64::from_le_bytes(value) } else { 0 };
        let value = if matches!(field.saved, Saved::InTheWord) { value & u64::from(flag::STATE | flag::FOLLOWING) } else { value };
        field.set(value, body, extra, &mut generation);
        at += if there { field.size() } else { 0 };
    });
    // The others have their usual values in a default body.
    each_row!(seldom, field => {
        if matches!(field.saved, Saved::UnusualMass(_)) {
            field.set(usual(field, word), body, extra, &mut generation)
        }
    });
    reader.take(at)?;
    if word & SELDOM != 0 { read_seldom(reader, word, body, extra) } else { Ok(0) }
}

#[cold]
fn read_seldom(
    reader: &mut Reader<'_>,
    word: u32,
    body: &mut Body,
    extra: &mut Extra,
) -> Result<u32, SnapshotError> {
    let mut generation = 0;
    body.set(flag::EXTRA, word & EXTRAS != 0);
    each_row!(seldom, field => {
        if is_there(field, word) {
            let mut value = [0; WIDE];
            value[..field.size()].copy_from_slice(reader.take(field.size())?);
            field.set(u64::from_le_bytes(value), body, extra, &mut generation);
        }
    });
    Ok(generation)
}

/// Hashes the records in slot order, vacant slots as zeros; then the unusual extra fields, each with its slot.
pub(crate) fn hash(world: &World, hasher: &mut Hasher) {
    let generations = world.order.generations();
    hasher.put_u32(generations.len() as u32);
    hasher.put_numbers(generations);
    if cfg!(target_endian = "little") {
        hasher.put_hash_of(bytemuck::cast_slice(&world.bodies));
    } else {
        let mut bodies = Hasher::new();
        world.bodies.iter().for_each(|body| bodies.put(&body_bytes(body)));
        hasher.put_u64(bodies.finish());
    }
    if world.ever.extras {
        let mut page = Page::<4_096>::new();
        for (slot, (body, extra)) in world.bodies.iter().zip(&world.extras).enumerate() {
            if body.has(flag::EXTRA) {
                page.put_u32(slot as u32);
                page.put(&extra_bytes(extra));
                if page.len + BODY_MAX > page.bytes.len() {
                    page.flush(hasher);
                }
            }
        }
        page.flush(hasher);
    }
}

/// A body in the memory of a little-endian machine.
fn body_bytes(body: &Body) -> [u8; size_of::<Body>()] {
    let mut bytes = [0; size_of::<Body>()];
    for field in &TABLE {
        if let Home::Body(at) = field.home {
            let value = field.get(body, &Extra::USUAL, 0).to_le_bytes();
            bytes[at..at + field.size()].copy_from_slice(&value[..field.size()]);
        }
    }
    bytes
}

/// The extra fields in the memory of a little-endian machine.
fn extra_bytes(extra: &Extra) -> [u8; size_of::<Extra>()] {
    if cfg!(target_endian = "little")
        && let Some(bytes) = bytemuck::bytes_of(extra).first_chunk()
    {
        return *bytes;
    }
    let mut bytes = [0; size_of::<Extra>()];
    for field in &TABLE {
        if let Home::Extra(at) = field.home {
            let value = field.get(&Body::default(), extra, 0).to_le_bytes();
            bytes[at..at + field.size()].copy_from_slice(&value[..field.size()]);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::body::def::BodyDef;
    use crate::body::record::choice;
    use crate::body::shape::Shape;
    use crate::math::num::Fx;
    use crate::math::vec2::Vec2;

    #[test]
    fn bodies_hash_as_their_little_endian_fields() {
        let def = BodyDef::dynamic(Shape::rect(Fx::lit("0.7"), Fx::lit("1.3"))).mass(Fx::from_num(3));
        let def = def
            .position(Vec2::from_ints(-5, 9))
            .velocity(Vec2::from_ints(1, -2))
            .user(7 | 8 << 32)
            .can_sleep(false)
            .dominance(-2);
        let (mut body, extra) = (Body::new(&def, i32::MAX), Extra::new(&def));
        (body.position_remainder, body.acceleration_remainder) = ([1, 2], [3, 4]);
        (body.friction_remainder, body.still_ms, body.ground_friction) = (5, 6, 7);
        body.filter = [8, 9];
        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.as_chunks().0.iter().map(|&w| u32::from_le_bytes(w)).collect()
        };
        assert_eq!(words(&body_bytes(&body))[10..], [2 << 16 | 1, 4 << 16 | 3, 6 << 16 | 5, 7, 8, 9]);
        assert_eq!(
            words(&extra_bytes(&extra)),
            [7, 8, 0, 0, 0, 0, i32::MAX as u32, choice::NEVER_SLEEPS as u32 | 0xfffe << 16, 0]
        );
    }
}
