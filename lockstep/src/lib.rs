//! Deterministic lockstep without IO.
