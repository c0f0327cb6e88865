//! The lockstep protocol: packets, sessions and whole matches on a simulated network.

mod matches;
mod toy;
