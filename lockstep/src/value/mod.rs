//! Values without behaviour: bits, actions, entries, ids, time.

pub mod action;
pub mod bits;
pub(crate) mod codec;
pub(crate) mod entry;
pub(crate) mod ids;
pub(crate) mod time;
