//! Areas, points, nearest bodies, rays and sweeps.

pub(crate) mod areas;
pub(crate) mod filter;
pub(crate) mod nearest;
pub(crate) mod outline;
pub(crate) mod ray;
pub(crate) mod search;
