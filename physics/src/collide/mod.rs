//! Geometry of pairs: distance and normal, rounded boxes, swept shapes.

pub(crate) mod narrow_phase;
pub(crate) mod passage;
pub(crate) mod polygon;
pub(crate) mod polygon_cast;
pub(crate) mod rounded_box;
pub(crate) mod seams;
pub(crate) mod sweep;
pub(crate) mod terrain;
