//! Shapes and letters on the screen, and where they are.

pub(crate) mod atlas;
pub(crate) mod batch;
pub(crate) mod camera;
pub(crate) mod palette;
pub(crate) mod pen;
pub(crate) mod screen;
pub(crate) mod viewport;
