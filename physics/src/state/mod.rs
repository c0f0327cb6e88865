//! The walk over the state: checksum, snapshot, validation, comparison.

pub(crate) mod bodies;
pub(crate) mod bytes;
pub(crate) mod diff;
pub(crate) mod fault;
pub(crate) mod hash;
pub(crate) mod snapshot;
pub(crate) mod validate;
pub(crate) mod version;
pub(crate) mod walk;
