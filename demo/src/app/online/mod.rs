//! Matches between processes, over UDP: one peer is here.

mod address;
pub(crate) mod invitation;
pub(crate) mod network;
pub(crate) mod news;
pub(crate) mod remote;
pub(crate) mod seat;
