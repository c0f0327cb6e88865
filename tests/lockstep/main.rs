//! The lockstep protocol: packets, sessions and whole matches on a simulated network.

mod faults;
mod handshake;
mod matches;
mod membership;
mod pace;
mod toy;
mod udp;
mod wire;
