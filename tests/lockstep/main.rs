//! The lockstep protocol: packets, sessions and whole matches on a simulated network.

mod allocation;
mod attacks;
mod crowd;
mod faults;
mod foresight;
mod handshake;
mod hostile;
mod input_mode;
mod joining;
mod matches;
mod membership;
mod outcome;
mod pace;
mod playout;
mod prediction;
mod random_operations;
mod relays;
mod replays;
mod saving;
mod seats;
mod threads;
mod toy;
mod udp;
mod viewing;
mod wire;
