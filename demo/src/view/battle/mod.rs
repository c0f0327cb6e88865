//! Draws a client's state.

pub(crate) mod debug;
pub(crate) mod effects;
pub(crate) mod land;
pub(crate) mod minimap;
pub(crate) mod opening;
pub(crate) mod plans;
pub(crate) mod relief;
pub(crate) mod scene;
pub(crate) mod selection;
pub(crate) mod shown;
pub(crate) mod view;
