//! A relay: the middle of the star for many matches at once, of any games. It forwards, and knows nothing of them.
//!
//! From the bottom: [`limits`], [`counters`] with the times of [`forwarding`]; a room is one match; [`rooms`] find the room and the place of whoever
//! comes. They read no clock, no socket and no randomness.

pub mod counters;
pub mod forwarding;
pub mod limits;
mod lot;
#[cfg(not(feature = "wire"))]
#[allow(unreachable_pub, reason = "the tests of rooms look at it")]
mod phase;
#[cfg(feature = "wire")]
#[doc(hidden)]
pub mod phase;
mod room;
pub mod rooms;
