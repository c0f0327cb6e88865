//! The numbers that a body's state is made of, by name: for the diagnosis of a desync and for deliberate faults.

use crate::body::filter::Filter;
use crate::body::record::{Body, Extra};

/// One number of a body's state. All of them together are the whole state of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum BodyField {
    /// Which body of the slot it is, see [`BodyId::generation`](crate::BodyId::generation).
    Generation,
    /// Centre, raw units.
    PositionX,
    /// Centre, raw units.
    PositionY,
    /// Velocity, raw units per second.
    VelocityX,
    /// Velocity, raw units per second.
    VelocityY,
    /// Kind, shape, sleep and other yes-no properties, one bit each.
    Flags,
    /// Half width of a rectangle, raw units; 0 for a circle.
    HalfExtentX,
    /// Half height of a rectangle, raw units; 0 for a circle.
    HalfExtentY,
    /// Radius of a circle, raw units; 0 for a rectangle.
    Radius,
    /// Raw mass; 0 for bodies that contacts cannot move.
    Mass,
    /// Raw coefficient of restitution.
    Restitution,
    /// Raw ground friction, units/s^2.
    GroundFriction,
    /// Raw coefficient of contact friction.
    Friction,
    /// Raw damping, 1/s.
    Damping,
    /// Raw speed limit; `i32::MAX` = only the world's.
    MaxSpeed,
    /// Carried remainder of the motion along x, in 1/fps of a raw unit.
    PositionRestX,
    /// Carried remainder of the motion along y, in 1/fps of a raw unit.
    PositionRestY,
    /// Carried remainder of the acceleration along x, in 1/fps of a raw unit per second.
    AccelerationRestX,
    /// Carried remainder of the acceleration along y, in 1/fps of a raw unit per second.
    AccelerationRestY,
    /// Carried remainder of the ground friction, in 1/fps of a raw unit per second.
    FrictionRest,
    /// Frames in a row in which the body hardly moved.
    StillMs,
    /// Acceleration by forces that wait for the next step, raw units/s^2.
    AccelerationX,
    /// Acceleration by forces that wait for the next step, raw units/s^2.
    AccelerationY,
    /// Collision layers.
    FilterLayers,
    /// Collision mask.
    FilterMask,
    /// The user's value.
    User,
}

impl BodyField {
    /// All fields, in the order in which differences are looked for: what players see comes before what follows from it, such as sleep.
    pub const ALL: [Self; 26] = [
        Self::Generation,
        Self::PositionX,
        Self::PositionY,
        Self::VelocityX,
        Self::VelocityY,
        Self::Flags,
        Self::HalfExtentX,
        Self::HalfExtentY,
        Self::Radius,
        Self::Mass,
        Self::Restitution,
        Self::GroundFriction,
        Self::Friction,
        Self::Damping,
        Self::MaxSpeed,
        Self::PositionRestX,
        Self::PositionRestY,
        Self::AccelerationRestX,
        Self::AccelerationRestY,
        Self::FrictionRest,
        Self::StillMs,
        Self::AccelerationX,
        Self::AccelerationY,
        Self::FilterLayers,
        Self::FilterMask,
        Self::User,
    ];

    /// Name as in `position.x`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generation => "generation",
            Self::Flags => "flags",
            Self::PositionX => "position.x",
            Self::PositionY => "position.y",
            Self::VelocityX => "velocity.x",
            Self::VelocityY => "velocity.y",
            Self::HalfExtentX => "half_extents.x",
            Self::HalfExtentY => "half_extents.y",
            Self::Radius => "radius",
            Self::Mass => "mass",
            Self::Restitution => "restitution",
            Self::GroundFriction => "ground_friction",
            Self::Friction => "friction",
            Self::Damping => "damping",
            Self::MaxSpeed => "max_speed",
            Self::PositionRestX => "position_rest.x",
            Self::PositionRestY => "position_rest.y",
            Self::AccelerationRestX => "acceleration_rest.x",
            Self::AccelerationRestY => "acceleration_rest.y",
            Self::FrictionRest => "friction_rest",
            Self::StillMs => "still_ms",
            Self::AccelerationX => "acceleration.x",
            Self::AccelerationY => "acceleration.y",
            Self::FilterLayers => "filter.layers",
            Self::FilterMask => "filter.mask",
            Self::User => "user",
        }
    }

    /// Number of bits of the field: 16, 32 or 64.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            // As many flags are defined.
            Self::Flags
            | Self::PositionRestX
            | Self::PositionRestY
            | Self::AccelerationRestX
            | Self::AccelerationRestY
            | Self::FrictionRest
            | Self::StillMs => 16,
            Self::User => 64,
            _ => 32,
        }
    }

    /// The raw value; signed fields keep their sign.
    pub(crate) fn get(self, body: &Body, extra: &Extra, generation: u32) -> i128 {
        // Taken apart without `..`, so that a new field does not compile until it is named here.
        let Body {
            position,
            velocity,
            half,
            radius,
            mass,
            restitution,
            flags,
            position_rest,
            acceleration_rest,
            friction_rest,
            still_ms,
            ground_friction,
            filter: Filter { layers, mask },
        } = *body;
        let Extra { user, acceleration, friction, damping, max_speed } = *extra;
        match self {
            Self::Generation => generation.into(),
            Self::Flags => flags.into(),
            Self::PositionX => position[0].into(),
            Self::PositionY => position[1].into(),
            Self::VelocityX => velocity[0].into(),
            Self::VelocityY => velocity[1].into(),
            Self::HalfExtentX => half[0].into(),
            Self::HalfExtentY => half[1].into(),
            Self::Radius => radius.into(),
            Self::Mass => mass.into(),
            Self::Restitution => restitution.into(),
            Self::GroundFriction => ground_friction.into(),
            Self::Friction => friction.into(),
            Self::Damping => damping.into(),
            Self::MaxSpeed => max_speed.into(),
            Self::PositionRestX => position_rest[0].into(),
            Self::PositionRestY => position_rest[1].into(),
            Self::AccelerationRestX => acceleration_rest[0].into(),
            Self::AccelerationRestY => acceleration_rest[1].into(),
            Self::FrictionRest => friction_rest.into(),
            Self::StillMs => still_ms.into(),
            Self::AccelerationX => acceleration[0].into(),
            Self::AccelerationY => acceleration[1].into(),
            Self::FilterLayers => layers.into(),
            Self::FilterMask => mask.into(),
            Self::User => user.into(),
        }
    }

    /// Flips one bit, which must be below [`bits`](Self::bits); the result may be out of range.
    pub(crate) fn flip(self, bit: u32, body: &mut Body, extra: &mut Extra, generation: &mut u32) {
        let signed = |v: &mut i32| *v ^= 1 << bit;
        let unsigned = |v: &mut u32| *v ^= 1 << bit;
        let short = |v: &mut u16| *v ^= 1 << bit;
        match self {
            Self::Generation => unsigned(generation),
            Self::Flags => unsigned(&mut body.flags),
            Self::PositionX => signed(&mut body.position[0]),
            Self::PositionY => signed(&mut body.position[1]),
            Self::VelocityX => signed(&mut body.velocity[0]),
            Self::VelocityY => signed(&mut body.velocity[1]),
            Self::HalfExtentX => signed(&mut body.half[0]),
            Self::HalfExtentY => signed(&mut body.half[1]),
            Self::Radius => signed(&mut body.radius),
            Self::Mass => unsigned(&mut body.mass),
            Self::Restitution => signed(&mut body.restitution),
            Self::GroundFriction => signed(&mut body.ground_friction),
            Self::Friction => signed(&mut extra.friction),
            Self::Damping => signed(&mut extra.damping),
            Self::MaxSpeed => signed(&mut extra.max_speed),
            Self::PositionRestX => short(&mut body.position_rest[0]),
            Self::PositionRestY => short(&mut body.position_rest[1]),
            Self::AccelerationRestX => short(&mut body.acceleration_rest[0]),
            Self::AccelerationRestY => short(&mut body.acceleration_rest[1]),
            Self::FrictionRest => short(&mut body.friction_rest),
            Self::StillMs => short(&mut body.still_ms),
            Self::AccelerationX => signed(&mut extra.acceleration[0]),
            Self::AccelerationY => signed(&mut extra.acceleration[1]),
            Self::FilterLayers => unsigned(&mut body.filter.layers),
            Self::FilterMask => unsigned(&mut body.filter.mask),
            Self::User => extra.user ^= 1 << bit,
        }
    }
}

impl core::fmt::Display for BodyField {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    #[test]
    fn all_flags_can_flip() {
        assert_eq!(crate::body::record::flag::ALL, (1 << BodyField::Flags.bits()) - 1);
    }

    #[test]
    fn every_bit_of_every_field_is_one_number_of_its_own() {
        for (place, field) in BodyField::ALL.into_iter().enumerate() {
            assert_eq!(field as usize, place, "{field}: the list has the order of the enum");
            for bit in 0..field.bits() {
                let (mut body, mut extra, mut generation) = (Body::default(), Extra::default(), 0);
                field.flip(bit, &mut body, &mut extra, &mut generation);
                for other in BodyField::ALL {
                    let before = other.get(&Body::default(), &Extra::default(), 0);
                    let changed = other.get(&body, &extra, generation) != before;
                    assert_eq!(changed, other == field, "bit {bit} of {field} seen in {other}");
                }
            }
        }
        let names: BTreeSet<_> = BodyField::ALL.iter().map(|f| f.name()).collect();
        assert_eq!(names.len(), BodyField::ALL.len(), "each has a name of its own");
    }
}
