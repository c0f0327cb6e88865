//! Deterministic 2D physics in fixed-point arithmetic.
