//! Numbers of the physics: laws in exact integers, and bounds against floats.

mod floats;
mod laws;
