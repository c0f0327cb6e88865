//! Contacts in batches of eight, solved by impulses.

pub(crate) mod bounce;
pub(crate) mod coloring;
pub(crate) mod colors;
pub(crate) mod deep;
pub(crate) mod friction;
pub(crate) mod soft;
pub(crate) mod solver;
pub(crate) mod stiff;
