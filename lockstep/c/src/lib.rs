//! Testudo for C and for every language that can call C.
//!
//! `include/testudo.h` is made of this package (`tests/header.rs`), so the docs of the functions are written for readers of C.
//! `README.md` beside this folder has the conventions.
//!
//! # Pointers
//!
//! Every function is unsafe in the same way. A pointer is NULL, or points to as many values as the docs say, which nobody else
//! changes during the call. A handle is NULL, or came from a function of this library and is not freed. All else is checked: NULL
//! where it may not be, handles in use, numbers and enumerators out of range, bytes of any origin. Values need no alignment.
//!
//! # How a function is written
//!
//! ```text
//! pub unsafe extern "C" fn testudo_thing_do(thing: *mut TestudoThing, number: u32) -> TestudoStatus {
//!     status(|| {
//!         // SAFETY: the contract of pointers.
//!         unsafe { with(thing, |thing| Ok(thing.do_it(number)?)) }
//!     })
//! }
//! ```
//!
//! [`status`](failure::status), [`count`](failure::count) and [`value`](failure::value) turn failures into what C sees, and let no
//! panic out. [`with`](handle::with) opens a handle. What comes in and goes out by pointer passes through [`pointer`].
// The lint finds it only from here.
#![expect(
    clippy::disallowed_macros,
    reason = "the words of a thread's last failure: no result depends on them"
)]

// Each group is a part of the header, in its order.
mod failure;
mod handle;
mod pointer;

mod buffer;
mod version;

mod number;
mod random;
mod value;

#[cfg(target_arch = "wasm32")]
mod wasm;
mod world;
mod world_def;

mod body;
mod body_def;
mod setters;
mod terrain;

mod draw;
mod lists;
mod query;
mod refusal;

mod crowd;

mod config;
mod game;
mod match_refusal;
#[cfg(any(feature = "udp", feature = "sealed"))]
mod net;
mod replay;
mod session;
mod visit;

pub use failure::*;
pub use pointer::TestudoBool;

pub use buffer::*;
pub use version::*;

pub use number::*;
pub use random::*;
pub use value::*;

#[cfg(target_arch = "wasm32")]
pub use wasm::*;
pub use world::*;
pub use world_def::*;

pub use body::*;
pub use body_def::*;
pub use setters::*;
pub use terrain::*;

pub use draw::*;
pub use lists::*;
pub use query::*;

pub use crowd::*;

pub use config::*;
pub use game::*;
#[cfg(any(feature = "udp", feature = "sealed"))]
pub use net::*;
pub use replay::*;
pub use session::*;
pub use visit::*;
