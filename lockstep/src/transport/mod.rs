//! Transports: they carry packets. Thin, non-blocking, and outside of everything that is deterministic.

pub mod memory;
#[cfg(feature = "sealed")]
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a thread of its own moves the packets between the application and the socket; a certificate has dates"
)]
pub mod sealed;
#[cfg(feature = "tcp")]
pub mod tcp;
#[cfg(feature = "udp")]
pub mod udp;
