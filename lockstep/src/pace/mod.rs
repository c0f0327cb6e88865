//! How long turns last and when they begin. All peers agree on this from measurements of the network.

pub(crate) mod alignment;
pub(crate) mod meter;
pub(crate) mod pacing;
pub(crate) mod playout;
