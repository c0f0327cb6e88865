//! How long turns last and when they begin: from measurements of the network, agreed by all peers.

pub(crate) mod alignment;
pub(crate) mod pacing;
pub(crate) mod playout;
