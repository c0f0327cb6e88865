//! Units that find their way: clearance, flow fields, steering and formations, in fixed-point arithmetic.
//!
//! A [`Crowd`] moves bodies of a [`World`](testudo_physics::World). An order sends units to a place; in each frame the crowd tells the bodies
//! their velocities, and then the world makes its step. The same calls in the same order give the same bits on every machine.
//!
//! ```
//! use testudo_movement::{Crowd, CrowdDef, GroundDef, MoveEvent, MoverDef, Order};
//! use testudo_physics::{Aabb, BodyDef, Fx, Shape, Vec2, World, WorldDef};
//!
//! let mut world = World::new(WorldDef::new())?;
//! let wall = Shape::rect(Fx::ONE / 2, Fx::from_num(8));
//! world.create_body(&BodyDef::static_body(wall))?;
//! let area = Aabb::from_corners(Vec2::from_ints(-16, -16), Vec2::from_ints(16, 16));
//! let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(area)))?;
//! crowd.survey(&world); // when the walls stand
//!
//! let disc = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(Vec2::from_ints(-6, 0));
//! let unit = world.create_body(&disc)?;
//! crowd.add(&world, unit, MoverDef::default())?;
//! crowd.order(&world, &[unit], &Order::go(Vec2::from_ints(6, 0)))?;
//! let mut frames = 0;
//! while !crowd.events().contains(&MoveEvent::Arrived(unit)) {
//!     crowd.step(&mut world, 20)?;
//!     world.step(20)?;
//!     frames += 1;
//! }
//! assert!((150..180).contains(&frames), "{frames} frames: 21.5 units around the wall at 3 units per second");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to look: [`Crowd`] does everything. Its parts can be used alone: [`Ground`] knows where units of each size can be, [`Flows`] the paths to goals,
//! [`PathSearch`] one path, [`give_way`] is steering as a pure function, [`places`] and [`assign`] are formations. The package's README names methods, sources
//! and limits.
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code, clippy::float_arithmetic, clippy::print_stdout, clippy::print_stderr)]
#![warn(clippy::must_use_candidate, clippy::return_self_not_must_use)]
extern crate alloc;

mod crowd;
mod draw;
mod flow;
mod ground;
mod group;
mod steer;

pub use crowd::{
    Crowd, CrowdDef, CrowdError, CrowdNumber, GIVE_UP_MS, MOVEMENT_VERSION, MoveError, MoveEvent, MoverDef,
    Order, StateError,
};
pub use draw::MovementDraw;
pub use flow::{Corner, FIELDS_MAX, FlowError, FlowId, Flows, PathError, PathSearch, Way};
pub use ground::{COST_MAX, Ground, GroundDef, GroundError, SIDE_MAX, SIZES_MAX, SizeClass};
pub use group::{Formation, PlacesError, assign, places};
pub use steer::{Going, Neighbour, Step, give_way};
