//! What must hold for any bytes, as functions of the bytes: the fuzzer in `tests/fuzz` calls them with its inputs, `tests/corpus` with the
//! checked-in ones. A violation is a panic.
//!
//! Guards against accidental damage (a hash at the end) do not stop an attacker, so each function makes them valid.

mod action;
mod brief;
mod greeting;
mod packet;
mod pairs;
mod proof;
mod saved;
mod session;
mod toy;
mod world;

pub use action::action;
pub use brief::brief;
pub use greeting::greeting;
pub use packet::packet;
pub use pairs::{pairs, script};
pub use proof::proof;
pub use saved::saved_match;
pub use session::session;
pub use world::world;

/// Name of a fuzz target and of its folder in the corpus, its function, and inputs from which a search may start.
pub type Target = (&'static str, fn(&[u8]), fn() -> Vec<Vec<u8>>);

/// Every target.
pub const TARGETS: [Target; 9] = [
    ("action", action, action::action_seeds),
    ("brief", brief, brief::brief_seeds),
    ("greeting", greeting, greeting::greeting_seeds),
    ("packet", packet, packet::packet_seeds),
    ("pairs", pairs, pairs::pair_seeds),
    ("proof", proof, proof::proof_seeds),
    ("saved_match", saved_match, saved::saved_seeds),
    ("session", session, session::session_seeds),
    ("world", world, world::world_seeds),
];

/// Splits off the first byte.
fn first(bytes: &[u8]) -> Option<(u8, &[u8])> {
    bytes.split_first().map(|(first, rest)| (*first, rest))
}
