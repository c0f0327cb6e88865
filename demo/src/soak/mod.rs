//! Soak: random matches under random conditions; every turn of every client is checked from outside.
//!
//! A game is a pure function of its seed. The [`Plan`] says who plays, over which network, and what goes wrong when; [`play()`] plays it in
//! virtual time; the verdict compares what each client really ran with a ledger that the harness keeps itself. Nothing here trusts the
//! checksums that the sessions exchange.

mod fighter;
mod ledger;
mod plan;
mod play;
#[cfg(test)]
mod rejoin;
mod verdict;

pub(crate) use plan::Plan;
pub(crate) use play::{Faults, GameReport, PlanError, play};
pub(crate) use verdict::Finding;
