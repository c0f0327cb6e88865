//! Transports: they carry packets. Thin, non-blocking, and outside of everything that is deterministic.

pub mod memory;
#[cfg(feature = "udp")]
pub mod udp;
