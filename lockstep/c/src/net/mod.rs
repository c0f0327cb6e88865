//! Sockets.

#[cfg(feature = "sealed")]
mod guest;
#[cfg(feature = "sealed")]
mod host;
#[cfg(feature = "udp")]
mod udp;

use std::ffi::{CStr, c_char};
use std::net::SocketAddr;

use crate::failure::{Failure, Outcome, TESTUDO_OUT_OF_RANGE};

#[cfg(feature = "sealed")]
pub use guest::*;
#[cfg(feature = "sealed")]
pub use host::*;
#[cfg(feature = "udp")]
pub use udp::*;

/// A text of the caller.
///
/// # Safety
/// `pointer` is NULL or points to a text that ends with 0, as long as the result is used.
unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Outcome<&'a str> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::new(TESTUDO_OUT_OF_RANGE, format!("{name} is not UTF-8")))
}

/// `127.0.0.1:4000`, `[::1]:4000`.
fn address(text: &str) -> Outcome<SocketAddr> {
    let words = || format!("\"{text}\" is not an address as 127.0.0.1:4000 or [::1]:4000");
    text.trim().parse().map_err(|_| Failure::new(TESTUDO_OUT_OF_RANGE, words()))
}
