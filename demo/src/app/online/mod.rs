//! Matches between processes: one peer is here. Sealed connections, or plain UDP.
//!
//! From the bottom: `name`, `agreement`, `profile`, `keys` and `codes` are values; `wire` is the library's host or guest;
//! `remark` is what the engine has noticed; `seat` is this process's part in a match; `network` is its path there; a `judgement` is the file that a referee
//! leaves of it.

pub(crate) mod agreement;
pub(crate) mod codes;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod judgement;
pub(crate) mod keys;
pub(crate) mod name;
pub(crate) mod network;
pub(crate) mod news;
mod own_saves;
pub(crate) mod profile;
pub(crate) mod remark;
pub(crate) mod saves;
pub(crate) mod seat;
pub(crate) mod wire;
