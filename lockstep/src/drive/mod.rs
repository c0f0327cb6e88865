//! What a game implements, and the driver that turns accumulated time into frames and frames into turns.

pub(crate) mod begun;
pub(crate) mod driver;
pub(crate) mod frame_objects;
pub(crate) mod search;
pub(crate) mod simulation;
mod work;
