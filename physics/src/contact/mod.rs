//! Contacts from frame to frame: set-up, warm start, sensors, begin and end events.

pub(crate) mod cache;
pub(crate) mod cached;
pub(crate) mod ignored;
pub(crate) mod sensors;
pub(crate) mod setup;
pub(crate) mod share;
