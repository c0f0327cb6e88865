//! Transports: they carry packets. Thin, non-blocking, and outside of everything that is deterministic.

pub mod memory;
#[cfg(feature = "sealed")]
#[expect(
    clippy::disallowed_types,
    reason = "a thread of its own moves the packets between the application and the socket"
)]
pub mod sealed;
#[cfg(feature = "udp")]
pub mod udp;
