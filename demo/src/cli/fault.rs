//! Fault injection, and the comparison that finds it again.

use serde::Serialize;
use testudo_physics::{BodyId, Fx, Vec2, World};

use super::args::{Corrupt, Field};
use crate::game::Battle;

/// A bit to flip in one client's copy.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// After this many frames.
    pub frame: u32,
    slot: u32,
    field: Field,
    bit: u32,
}

impl Fault {
    /// The fault that the arguments ask for, and the client that suffers it.
    pub fn from_args(corrupt: &Corrupt, frames_per_turn: u32) -> Option<(u8, Self)> {
        let frame = corrupt.corrupt_turn?.checked_add(1)?.checked_mul(frames_per_turn)?;
        let (slot, bit) = (corrupt.corrupt_body?, corrupt.corrupt_bit?);
        Some((corrupt.corrupt_player?, Self { frame, slot, field: corrupt.corrupt_field?, bit }))
    }

    /// Flips the bit.
    ///
    /// # Errors
    /// No body lives in the slot, or the value would leave its documented range.
    pub fn inject(&self, battle: &mut Battle) -> Result<(), String> {
        let world = battle.world_mut();
        let id = living(world, self.slot).ok_or(format!("no body lives in slot {}", self.slot))?;
        let flipped = raw(world, id, self.field).unwrap_or(0) ^ (1 << self.bit);
        let value = Fx::from_bits(i64::from(flipped));
        let body = world.body(id).ok_or("the body is gone")?;
        let (position, velocity) = (body.position(), body.velocity());
        match self.field {
            Field::PositionX => world.set_position(id, Vec2::new(value, position.y)),
            Field::PositionY => world.set_position(id, Vec2::new(position.x, value)),
            Field::VelocityX => world.set_velocity(id, Vec2::new(value, velocity.y)),
            Field::VelocityY => world.set_velocity(id, Vec2::new(velocity.x, value)),
        }
        .map_err(|error| format!("flipping bit {} of {}: {error:?}", self.bit, name(self.field)))
    }
}

/// The first difference between clients, as `--json` prints it.
#[derive(Clone, Debug, Serialize)]
pub struct Desync {
    turn: u32,
    frame: u32,
    body: u32,
    field: &'static str,
    values: Vec<Option<i32>>,
    outlier: Option<u8>,
}

/// Compares the worlds of all clients after a turn: the first body, in the order of slots, and its first field that differ.
pub fn compare(worlds: &[World], turn: u32, frames_per_turn: u32) -> Option<Desync> {
    let slots = worlds.iter().flat_map(|w| w.bodies().map(|b| b.id().index() + 1)).max().unwrap_or(0);
    for slot in 0..slots {
        for field in [Field::PositionX, Field::PositionY, Field::VelocityX, Field::VelocityY] {
            let values: Vec<Option<i32>> =
                worlds.iter().map(|w| living(w, slot).and_then(|id| raw(w, id, field))).collect();
            if values.windows(2).any(|pair| pair[0] != pair[1]) {
                let frame = (turn + 1) * frames_per_turn - 1;
                let outlier = outlier(&values);
                return Some(Desync { turn, frame, body: slot, field: name(field), values, outlier });
            }
        }
    }
    None
}

/// The one client whose value differs from all others; nobody can tell with two.
fn outlier<T: PartialEq>(values: &[T]) -> Option<u8> {
    let differs = |i: usize| {
        let mut others = values.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, v)| v);
        let first = others.next();
        values.len() > 2 && first.is_some_and(|f| *f != values[i] && others.all(|v| v == f))
    };
    (0..values.len()).find(|&i| differs(i)).map(|i| i as u8)
}

fn living(world: &World, slot: u32) -> Option<BodyId> {
    world.body_in_slot(slot)
}

fn raw(world: &World, id: BodyId, field: Field) -> Option<i32> {
    let body = world.body(id)?;
    let value = match field {
        Field::PositionX => body.position().x,
        Field::PositionY => body.position().y,
        Field::VelocityX => body.velocity().x,
        Field::VelocityY => body.velocity().y,
    };
    Some(value.to_bits() as i32)
}

fn name(field: Field) -> &'static str {
    match field {
        Field::PositionX => "position.x",
        Field::PositionY => "position.y",
        Field::VelocityX => "velocity.x",
        Field::VelocityY => "velocity.y",
    }
}
