//! Numbers, vectors, angles, boxes, rates and random numbers: integers only.

pub(crate) mod aabb;
pub(crate) mod angle;
pub(crate) mod boxes;
pub(crate) mod lanes;
pub(crate) mod num;
pub(crate) mod rate;
pub(crate) mod rng;
pub(crate) mod vec2;
