//! Deliberate damage to one peer's copy, and access to its numbers.

use core::fmt;
use std::collections::BTreeSet;

use testudo_physics::{BodyRef, POSITION_MAX, SPEED_MAX};

use crate::Game;
use crate::point::Point;

/// A number of a body that can be corrupted and compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyField {
    /// Of the centre, raw.
    PositionX,
    /// Of the centre, raw.
    PositionY,
    /// Raw units per second.
    VelocityX,
    /// Raw units per second.
    VelocityY,
}

/// Position and velocity of a body, raw integers with 16 fraction bits, in the order of [`BodyField::ALL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BodyState {
    pub(crate) slot: u32,
    pub(crate) values: [i32; 4],
}

/// Why a bit was not flipped. The state is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the fields are what their names say")]
pub enum FaultError {
    /// There is no living body with this slot index.
    NoBody { slot: u32 },
    /// The flipped value would be outside of the field's range.
    OutOfRange { field: BodyField, value: i32, max: i32 },
    /// The field of this body cannot change: an immovable body has no velocity.
    Immovable { slot: u32, field: BodyField },
}

impl BodyField {
    /// All fields, in the order of a body's numbers.
    pub const ALL: [Self; 4] = [Self::PositionX, Self::PositionY, Self::VelocityX, Self::VelocityY];

    /// The name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PositionX => "position.x",
            Self::PositionY => "position.y",
            Self::VelocityX => "velocity.x",
            Self::VelocityY => "velocity.y",
        }
    }

    fn in_physics(self) -> testudo_physics::BodyField {
        match self {
            Self::PositionX => testudo_physics::BodyField::PositionX,
            Self::PositionY => testudo_physics::BodyField::PositionY,
            Self::VelocityX => testudo_physics::BodyField::VelocityX,
            Self::VelocityY => testudo_physics::BodyField::VelocityY,
        }
    }

    fn index(self) -> usize {
        self as usize
    }

    /// Largest absolute raw value.
    fn max(self) -> i32 {
        let max = match self {
            Self::PositionX | Self::PositionY => POSITION_MAX,
            Self::VelocityX | Self::VelocityY => SPEED_MAX,
        };
        max.to_bits() as i32
    }
}

impl BodyState {
    /// The raw value of a field.
    pub(crate) fn value(&self, field: BodyField) -> i32 {
        self.values[field.index()]
    }

    fn of(body: &BodyRef<'_>) -> Self {
        let (position, velocity) = (Point::from_vec2(body.position()), Point::from_vec2(body.velocity()));
        Self { slot: body.id().index(), values: [position.x, position.y, velocity.x, velocity.y] }
    }
}

impl Game {
    /// Flips bit `bit` (0 = least significant, at most 31) of a field of the living body with slot index `slot`, and recomputes the
    /// checksum of the frame.
    ///
    /// # Errors
    /// [`FaultError`]; nothing has changed then.
    pub fn corrupt(&mut self, slot: u32, field: BodyField, bit: u32) -> Result<(), FaultError> {
        let found = self.world.body_in_slot(slot).and_then(|id| self.world.body(id));
        let Some(body) = found else { return Err(FaultError::NoBody { slot }) };
        let (id, mut state) = (body.id(), BodyState::of(&body));
        let value = &mut state.values[field.index()];
        *value ^= 1 << (bit & 31);
        let (wanted, max) = (*value, field.max());
        if wanted.unsigned_abs() > max.unsigned_abs() {
            return Err(FaultError::OutOfRange { field, value: wanted, max });
        }
        if self.world.flip_bit(id, field.in_physics(), bit & 31).is_err() {
            // A sleeping body has no velocity, so the flip wakes it like a push. An immovable body cannot have one.
            let [.., x, y] = state.values;
            let pushed = self.world.set_velocity(id, Point { x, y }.to_vec2());
            let now = self.world.body(id).map(|body| BodyState::of(&body).value(field));
            if pushed.is_err() || now != Some(wanted) {
                return Err(FaultError::Immovable { slot, field });
            }
        }
        self.checksum = self.hash_state();
        Ok(())
    }

    /// The slots of bodies that are not the same in another copy: elsewhere, of another velocity, or only in one of both. In ascending order.
    pub fn differing_bodies(&self, other: &Self) -> Vec<u32> {
        let states = |game: &Self| -> BTreeSet<(u32, [i32; 4])> {
            let states = game.world.bodies().map(|body| BodyState::of(&body));
            states.map(|state| (state.slot, state.values)).collect()
        };
        let mut slots: Vec<u32> =
            states(self).symmetric_difference(&states(other)).map(|(slot, _)| *slot).collect();
        slots.dedup();
        slots
    }

    /// Position and velocity of every body in ascending order of slots.
    #[cfg(test)]
    pub(super) fn dump(&self, out: &mut Vec<BodyState>) {
        out.clear();
        out.extend(self.world.bodies().map(|body| BodyState::of(&body)));
        out.sort_unstable_by_key(|state| state.slot);
    }
}

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBody { slot } => write!(f, "there is no living body with index {slot} at that turn"),
            Self::OutOfRange { field, value, max } => write!(
                f,
                "flipping that bit makes {} {value}, outside of its range of +-{max} (raw, 16 fraction bits)",
                field.name()
            ),
            Self::Immovable { slot, field } => {
                write!(f, "body {slot} is immovable and has no {}", field.name())
            }
        }
    }
}

impl std::error::Error for FaultError {}
