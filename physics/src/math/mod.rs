//! Functions for [`Fx`](crate::Fx) with defined rounding, in integers only: the same bits on every machine.

pub(crate) mod aabb;
pub(crate) mod angle;
pub(crate) mod axes;
pub(crate) mod boxes;
pub(crate) mod copy;
pub(crate) mod lanes;
pub(crate) mod num;
pub(crate) mod plain;
pub(crate) mod rate;
pub(crate) mod rng;
pub(crate) mod sets;
pub(crate) mod vec2;

pub use num::{div_floor, isqrt_u64, mul_floor, mul_nearest, sqrt};
