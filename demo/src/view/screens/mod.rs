//! What a window shows as a whole.

mod board;
mod clients;
pub(crate) mod cubes;
pub(crate) mod desk;
mod eye;
pub(crate) mod layout;
pub(crate) mod network;
pub(crate) mod viewing;
