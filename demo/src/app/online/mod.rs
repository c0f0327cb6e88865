//! Matches between processes: one peer is here. Sealed connections, or plain UDP.
//!
//! From the bottom: `name`, `agreement`, `greeting`, `keys` and `codes` are values; `places` and `invitation` say who may come; `wire` moves
//! packets; `seat` is this process's part in a match; `network` is its path there.

pub(crate) mod address;
pub(crate) mod agreement;
mod calling;
pub(crate) mod codes;
pub(crate) mod greeting;
mod invitation;
pub(crate) mod keys;
pub(crate) mod name;
pub(crate) mod network;
pub(crate) mod news;
pub(crate) mod places;
mod remote;
pub(crate) mod roll;
pub(crate) mod saves;
pub(crate) mod seat;
mod wire;
