//! How a step moves one body: velocities, accelerations and damping with their remainders.

pub(crate) mod edge;
pub(crate) mod movers;
pub(crate) mod ordinary;
pub(crate) mod rates;
pub(crate) mod working_arrays;
