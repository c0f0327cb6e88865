//! What mouse and keys mean: orders, a choice of units, another place for the camera.

pub(crate) mod controls;
pub(crate) mod order_log;
pub(crate) mod side;
pub(crate) mod sight;
pub(crate) mod steering;
pub(crate) mod touch;
