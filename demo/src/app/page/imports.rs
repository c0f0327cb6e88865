//! The page's functions. Calling one is unsafe for the compiler; each is given a slice that lives until it returns, and keeps nothing of it.

// SAFETY: signatures as in `demo/web/link.js`; the safe ones take and give numbers only.
unsafe extern "C" {
    fn testudo_random(to: *mut u8, length: usize) -> u32;
    fn testudo_secret(to: *mut u8, length: usize) -> u32;
    fn testudo_open(request: *const u8, length: usize) -> u32;
    fn testudo_poll(link: u32, to: *mut u8, length: usize) -> u32;
    fn testudo_send(link: u32, packet: *const u8, length: usize);
    pub(super) safe fn testudo_close(link: u32);
    /// Notes first that hints are over, if `are_ended` is 1.
    pub(super) safe fn testudo_hints_over(are_ended: u32) -> u32;
    pub(super) safe fn testudo_hidden() -> u32;
    pub(super) safe fn testudo_clipboard_open() -> u32;
    pub(super) safe fn testudo_pixel_ratio() -> f32;
}

/// Fills bytes with what nobody can guess. False: the browser has no randomness.
pub(crate) fn random(bytes: &mut [u8]) -> bool {
    // SAFETY: the slice is valid for its length until the function returns, and the page keeps nothing of it.
    unsafe { testudo_random(bytes.as_mut_ptr(), bytes.len()) != 0 }
}

/// The secret that the browser keeps for this page. False: it keeps none, for instance in a private window.
pub(crate) fn kept_secret(bytes: &mut [u8]) -> bool {
    // SAFETY: the slice is valid for its length until the function returns, and the page keeps nothing of it.
    unsafe { testudo_secret(bytes.as_mut_ptr(), bytes.len()) != 0 }
}

pub(super) fn open(request: &[u8]) -> u32 {
    // SAFETY: the slice is valid for its length until the function returns, and the page keeps nothing of it.
    unsafe { testudo_open(request.as_ptr(), request.len()) }
}

/// The length of the message, which is cut if it does not fit; 0: there is none.
pub(super) fn poll(link: u32, to: &mut [u8]) -> usize {
    // SAFETY: the slice is valid for its length until the function returns, and the page keeps nothing of it.
    unsafe { testudo_poll(link, to.as_mut_ptr(), to.len()) as usize }
}

pub(super) fn send(link: u32, packet: &[u8]) {
    // SAFETY: the slice is valid for its length until the function returns, and the page keeps nothing of it.
    unsafe { testudo_send(link, packet.as_ptr(), packet.len()) }
}
