//! Matches between processes: one peer is here. Sealed connections, or plain UDP.
//!
//! From the bottom: `name`, `agreement`, `greeting`, `team_wish`, `removal` (both `repeated`), `keys` and `codes` are values; `places` and `invitation` say who may come; `edge` is a
//! guest's connection, `server` a host's, and `wire` moves packets over them; `remark` is what the engine has noticed; `seat` is this process's part in a match; `network` is its path there; a `judgement`
//! is what a referee leaves of it, with the players' `testimony`.

pub(crate) mod address;
pub(crate) mod agreement;
mod calling;
pub(crate) mod codes;
pub(crate) mod edge;
pub(crate) mod greeting;
mod invitation;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod judgement;
pub(crate) mod keys;
pub(crate) mod name;
pub(crate) mod network;
pub(crate) mod news;
mod own_saves;
pub(crate) mod places;
pub(crate) mod remark;
mod remote;
pub(crate) mod removal;
mod repeated;
pub(crate) mod roll;
pub(crate) mod saves;
pub(crate) mod seat;
#[cfg(not(target_arch = "wasm32"))]
mod server;
pub(crate) mod team_wish;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod testimony;
mod wire;
