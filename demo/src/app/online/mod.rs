//! Matches between processes, over UDP: one peer is here.

pub(crate) mod invitation;
pub(crate) mod network;
pub(crate) mod remote;
pub(crate) mod seat;
