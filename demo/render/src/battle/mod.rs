//! Draws a client's state.

pub mod debug;
pub mod effects;
pub mod foresight;
pub mod land;
pub mod minimap;
pub mod opening;
pub mod plans;
pub mod relief;
pub mod scene;
pub mod selection;
pub mod shown;
pub mod view;
