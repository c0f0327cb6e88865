//! The working arrays and phases of a step.

pub(crate) mod broad_phase;
pub(crate) mod contact_phase;
pub(crate) mod crew;
pub(crate) mod fast;
pub(crate) mod islands;
pub(crate) mod pile_up;
mod settling;
mod solving;
pub(crate) mod stepper;
pub(crate) mod terrain;
pub(crate) mod windows;
pub(crate) mod workers;
