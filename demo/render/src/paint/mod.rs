//! Shapes and letters on the screen, and where they are.

pub mod atlas;
pub mod batch;
pub mod camera;
pub mod palette;
pub mod pen;
pub mod screen;
pub mod viewport;
