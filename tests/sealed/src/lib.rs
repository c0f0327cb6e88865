//! What the tests and measurements of the sealed transport share: a network that can be made as bad as any, strangers, and a small match.
#![deny(unsafe_code)]

pub mod clock;
pub mod game;
pub mod proxy;
pub mod stranger;
