//! Matches with all peers in this process, over a simulated network.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod conformance;
#[cfg(test)]
mod look_back;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod rejoin;
pub(crate) mod sabotage;
pub(crate) mod simulated;
pub(crate) mod skirmish;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod soak;
