//! The effect of mouse and keys: orders, selections, camera motion.

pub(crate) mod controls;
pub(crate) mod order_log;
pub(crate) mod side;
pub(crate) mod sight;
pub(crate) mod steering;
pub(crate) mod touch;
