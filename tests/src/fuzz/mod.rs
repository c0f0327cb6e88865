//! What must hold for any bytes at all, as functions of the bytes: the fuzzer in `tests/fuzz` calls them with what it finds, `tests/corpus`
//! with the inputs that are checked in. A broken rule is a panic.
//!
//! Guards against accidental damage (a hash at the end) are no obstacle to somebody who means it, so each function puts them right.

mod action;
mod packet;
mod proof;
mod saved;
mod session;
mod toy;
mod world;

pub use action::action;
pub use packet::packet;
pub use proof::proof;
pub use saved::saved_match;
pub use session::session;
pub use world::world;

/// Name of a fuzz target and of its folder in the corpus, its function, and inputs from which a search may start.
pub type Target = (&'static str, fn(&[u8]), fn() -> Vec<Vec<u8>>);

/// Every target.
pub const TARGETS: [Target; 6] = [
    ("action", action, action::action_seeds),
    ("packet", packet, packet::packet_seeds),
    ("proof", proof, proof::proof_seeds),
    ("saved_match", saved_match, saved::saved_seeds),
    ("session", session, session::session_seeds),
    ("world", world, world::world_seeds),
];

/// Splits off the first byte.
fn first(bytes: &[u8]) -> Option<(u8, &[u8])> {
    bytes.split_first().map(|(first, rest)| (*first, rest))
}
