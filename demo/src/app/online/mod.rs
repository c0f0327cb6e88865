//! Matches between processes, over UDP: one peer is here.

mod address;
pub(crate) mod agreement;
pub(crate) mod greeting;
pub(crate) mod invitation;
pub(crate) mod name;
pub(crate) mod network;
pub(crate) mod news;
pub(crate) mod places;
pub(crate) mod remote;
pub(crate) mod seat;
