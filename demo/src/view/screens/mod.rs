//! What a window shows as a whole.

mod board;
mod clients;
pub(crate) mod cubes;
pub(crate) mod desk;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod drawing_cost;
mod eye;
pub(crate) mod layout;
pub(crate) mod network;
pub(crate) mod viewing;
