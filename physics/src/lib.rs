//! Deterministic 2D physics in fixed-point arithmetic.
//!
//! A [`World`] holds bodies: circles and axis-aligned rectangles that collide, rest and sleep. The same calls in the same
//! order give the same bits on every machine, so machines that exchange only what their players do stay in the same
//! state, and a checksum proves it. There are no floats, no threads and no clock in here.
//!
//! ```
//! use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};
//!
//! let mut world = World::new(WorldDef::new())?;
//! let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).restitution(Fx::ONE);
//! let left = world.create_body(&ball.velocity(Vec2::from_ints(10, 0)))?;
//! let right = world.create_body(&ball.position(Vec2::from_ints(5, 0)))?;
//! for _ in 0..60 {
//!     world.step(60)?; // frames per second
//!     for hit in world.contacts_began() {
//!         assert_eq!((hit.a, hit.b), (left, right));
//!     }
//! }
//! // The moving ball handed its speed on, as in a game of billiards.
//! assert!(world.body(right).unwrap().velocity().x > world.body(left).unwrap().velocity().x);
//! println!("{:016x} after frame {}", world.checksum(), world.frame());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to look: [`BodyDef`] and [`WorldDef`] for what can be set, with units and ranges; [`World`] for everything that
//! happens; [`Fx`], [`Vec2`], [`Angle`], [`Rate`] and [`Pcg32`] for a game's own simulation code. The package's README has the
//! table of ranges and the rules of the numbers.
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code, clippy::float_arithmetic)]
extern crate alloc;

mod aabb;
mod advance;
mod angle;
mod block_join;
mod body;
mod body_def;
mod body_field;
mod body_id;
mod broad_phase;
mod coloring;
mod contact_phase;
mod contact_setup;
mod contacts;
mod curve;
mod debug_draw;
mod diff;
mod filter;
mod friction;
mod hasher;
mod interpolate;
mod material;
mod motion;
mod moving;
mod narrow_phase;
mod nearest;
mod num;
mod ordered;
mod quadtree;
mod query;
mod query_filter;
mod rate;
mod ray;
mod resting;
mod rng;
mod rounded_box;
mod search;
mod sensors;
mod setters;
mod shape;
mod simd;
mod snapshot;
mod solver;
mod state;
mod step;
mod stiff;
mod sweep;
mod tree_search;
mod validate;
mod vec2;
mod workers;
mod world;
mod world_def;
mod xxh3;

pub use aabb::Aabb;
pub use angle::Angle;
pub use body::BodyRef;
pub use body_def::{BodyDef, BodyError, BodyKind};
pub use body_field::BodyField;
pub use body_id::BodyId;
pub use debug_draw::{DebugDraw, DebugDrawOptions};
pub use diff::{Difference, FlipError, Place};
pub use filter::Filter;
pub use hasher::hash_bytes;
pub use material::Material;
pub use num::*;
pub use query::{QUERY_MAX, QueryError};
pub use query_filter::QueryFilter;
pub use rate::Rate;
pub use ray::{RayHit, SweepHit};
pub use rng::Pcg32;
pub use shape::Shape;
pub use snapshot::{SIM_VERSION, SNAPSHOT_VERSION, SnapshotError};
pub use state::Part;
pub use vec2::Vec2;
pub use workers::{Job, SameThread, Workers};
pub use world::{ContactEvent, StepError, TouchingContact, World};
pub use world_def::{EdgePolicy, Simd, WorldDef, WorldError};

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
