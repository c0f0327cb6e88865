//! Deterministic 2D physics in fixed-point arithmetic.
//!
//! A [`World`] holds bodies: circles and axis-aligned rectangles that collide, rest and sleep. The same calls in the same order give the
//! same bits on every machine. So machines that exchange only what their players do stay in the same state, and a checksum proves it. There
//! are no floats, no clock and no threads of its own in here.
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
//! // The moving ball passed its speed on, as in billiards.
//! assert!(world.body(right).unwrap().velocity().x > world.body(left).unwrap().velocity().x);
//! println!("{:016x} after frame {}", world.checksum(), world.frame());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to look: [`BodyDef`] and [`WorldDef`] for all settings, with units and ranges; [`World`] for everything that happens; [`Fx`],
//! [`Vec2`], [`Angle`], [`Rate`] and [`Pcg32`] for a game's own simulation code. The package's README has the table of ranges and the rules
//! of the numbers.
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code, clippy::float_arithmetic, clippy::print_stdout, clippy::print_stderr)]
#![warn(clippy::must_use_candidate, clippy::return_self_not_must_use)]
extern crate alloc;

mod body;
mod collide;
mod conformance;
mod contact;
mod draw;
pub mod math;
mod motion;
mod query;
mod simd;
mod solve;
mod state;
mod step;
mod tree;
mod world;
mod world_def;

pub use fixed;
#[cfg(feature = "glam")]
pub use glam;

pub use body::def::{BodyDef, BodyError, BodyKind};
pub use body::field::BodyField;
pub use body::filter::Filter;
pub use body::id::BodyId;
pub use body::material::Material;
pub use body::shape::Shape;
pub use body::terrain::TerrainRef;
pub use body::terrain_def::{CHAIN_POINTS_MAX, ChainDef, POLYGON_POINTS_MAX, PolygonDef, TerrainError};
pub use body::view::BodyRef;
pub use conformance::conformance;
pub use contact::ignored::IGNORED_PAIRS_MAX;
pub use draw::debug::{DebugDraw, DebugDrawOptions};
pub use math::aabb::Aabb;
pub use math::angle::Angle;
pub use math::num::{
    EXTENT_MAX, EXTENT_MIN, FPS_MAX, FRICTION_MAX, Fx, MASS_MAX, MASS_MIN, POSITION_MAX, SPEED_MAX,
};
pub use math::rate::Rate;
pub use math::rng::Pcg32;
pub use math::vec2::Vec2;
pub use query::areas::{QUERY_MAX, QueryError};
pub use query::filter::QueryFilter;
pub use query::ray::{RayHit, SweepHit};
pub use state::diff::{StateDifference, StatePath};
pub use state::fault::FlipError;
pub use state::hash::hash_bytes;
pub use state::validate::InvalidState;
pub use state::version::{CONFORMANCE, SIM_VERSION, SNAPSHOT_VERSION, SnapshotError};
pub use state::walk::StatePart;
pub use step::workers::{SameThread, Workers};
pub use world::hits::ContactHit;
pub use world::{ContactEvent, StepError, TouchingContact, World};
pub use world_def::{EdgePolicy, Simd, WorldDef, WorldError};

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
