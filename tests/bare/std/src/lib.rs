//! Nothing but the standard library: what a dependency would bring that does without `#![no_std]`.
