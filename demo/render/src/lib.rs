//! What one sees and hears of the battle. It reads a battle's state, and of its match only what has been ordered and is not confirmed.
//!
//! From the bottom: `clock`; `sound` is heard; `paint` draws shapes and letters; `battle` draws a battle's state, confirmed or predicted.
//!
//! This is a package of its own because a picture has to be optimised: the demo itself is not, so that it builds soon.

#![deny(clippy::print_stdout, clippy::print_stderr)]
#![expect(
    missing_docs,
    reason = "inside of the demo, whose own items need no words where their names say it"
)]
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "pictures are drawn in floats")]

pub mod battle;
pub mod clock;
pub mod paint;
pub mod sound;
