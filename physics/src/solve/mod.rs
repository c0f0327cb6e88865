//! Contacts in batches of eight, solved by impulses.

pub(crate) mod coloring;
pub(crate) mod friction;
pub(crate) mod solver;
pub(crate) mod stiff;
