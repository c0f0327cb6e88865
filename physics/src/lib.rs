//! Deterministic 2D physics in fixed-point arithmetic.
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code, clippy::float_arithmetic)]
extern crate alloc;

mod aabb;
mod advance;
mod block_join;
mod body;
mod body_def;
mod body_id;
mod broad_phase;
mod coloring;
mod contact_phase;
mod contacts;
mod filter;
mod friction;
mod material;
mod motion;
mod narrow_phase;
mod num;
mod ordered;
mod quadtree;
mod resting;
mod rng;
mod sensors;
mod setters;
mod shape;
mod simd;
mod snapshot;
mod solver;
mod state;
mod step;
mod sweep;
mod validate;
mod vec2;
mod world;
mod world_def;

pub use aabb::Aabb;
pub use body::BodyRef;
pub use body_def::{BodyDef, BodyError, BodyKind};
pub use body_id::BodyId;
pub use filter::Filter;
pub use material::Material;
pub use num::*;
pub use rng::Pcg32;
pub use shape::Shape;
pub use snapshot::{SIM_VERSION, SNAPSHOT_VERSION, SnapshotError};
pub use state::Part;
pub use vec2::Vec2;
pub use world::{ContactEvent, StepError, TouchingContact, World};
pub use world_def::{EdgePolicy, WorldDef, WorldError};
