//! Sockets.

#[cfg(feature = "sealed")]
mod guest;
#[cfg(feature = "sealed")]
mod host;
#[cfg(feature = "udp")]
mod udp;

use std::net::SocketAddr;

use crate::failure::{Failure, Outcome, TESTUDO_OUT_OF_RANGE};

#[cfg(feature = "sealed")]
pub use guest::*;
#[cfg(feature = "sealed")]
pub use host::*;
#[cfg(feature = "udp")]
pub use udp::*;

/// `127.0.0.1:4000`, `[::1]:4000`.
fn address(text: &str) -> Outcome<SocketAddr> {
    let words = || format!("\"{text}\" is not an address as 127.0.0.1:4000 or [::1]:4000");
    text.trim().parse().map_err(|_| Failure::new(TESTUDO_OUT_OF_RANGE, words()))
}
