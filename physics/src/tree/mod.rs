//! The quadtree along a Hilbert curve, its blocks of eight boxes, and the trees of bodies at rest.

pub(crate) mod block_join;
mod changes;
pub(crate) mod curve;
pub(crate) mod curve_box;
pub(crate) mod quadtree;
pub(crate) mod radix_sort;
pub(crate) mod resting;
pub(crate) mod search;
mod visit;
