//! The number type, its ranges, and exact integer helpers.

/// The one number of the public API: 48.16 fixed point, resolution 1/65,536.
pub type Fx = fixed::types::I48F16;

/// Greatest absolute value of a position component, units.
pub const POSITION_MAX: Fx = Fx::const_from_int(16_384);
/// Smallest radius or half extent, units: 1/1024.
pub const EXTENT_MIN: Fx = Fx::from_bits(64);
/// Greatest radius or half extent, units.
pub const EXTENT_MAX: Fx = Fx::const_from_int(4_096);
/// Greatest absolute value of a velocity component, units per second.
pub const SPEED_MAX: Fx = Fx::const_from_int(1_024);
/// Smallest mass of a dynamic body: 1/256.
pub const MASS_MIN: Fx = Fx::from_bits(256);
/// Greatest mass.
pub const MASS_MAX: Fx = Fx::const_from_int(16_384);
/// Greatest coefficient of contact friction.
pub const FRICTION_MAX: Fx = Fx::const_from_int(4);
/// Greatest number of frames per second.
pub const FPS_MAX: u32 = 1_000;

/// Square root, rounded down.
#[must_use]
pub const fn isqrt_u64(value: u64) -> u64 {
    value.isqrt()
}
