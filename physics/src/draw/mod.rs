//! For renderers, outside of the state: interpolation and debug drawing.

pub(crate) mod debug;
pub(crate) mod interpolate;
