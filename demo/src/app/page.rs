//! What the page around the program gives it: randomness, a secret that outlives the visit, and connections by WebTransport. The other side is
//! `demo/web/link.js`.

use serde_json::json;

/// Largest message of the page: a kind, and the answer to a greeting with its verdict.
const MESSAGE_BYTES_MAX: usize = 1 + 1 + 16_384;

/// Kinds of messages: their first byte.
const PACKET: u8 = 0;
const ANSWER: u8 = 1;
const LOST: u8 = 2;

/// Each function gets the place and the length of bytes in the program's memory, and keeps neither.
#[allow(unsafe_code, reason = "functions of the page; each is given a slice that lives until it returns")]
mod imports {
    unsafe extern "C" {
        fn testudo_random(to: *mut u8, length: usize) -> u32;
        fn testudo_secret(to: *mut u8, length: usize) -> u32;
        fn testudo_open(request: *const u8, length: usize) -> u32;
        fn testudo_poll(link: u32, to: *mut u8, length: usize) -> u32;
        fn testudo_send(link: u32, packet: *const u8, length: usize);
        fn testudo_close(link: u32);
        fn testudo_hidden() -> u32;
    }

    pub(super) fn random(bytes: &mut [u8]) -> bool {
        unsafe { testudo_random(bytes.as_mut_ptr(), bytes.len()) != 0 }
    }

    pub(super) fn secret(bytes: &mut [u8]) -> bool {
        unsafe { testudo_secret(bytes.as_mut_ptr(), bytes.len()) != 0 }
    }

    pub(super) fn open(request: &[u8]) -> u32 {
        unsafe { testudo_open(request.as_ptr(), request.len()) }
    }

    /// The length of the message, which is cut if it does not fit; 0: there is none.
    pub(super) fn poll(link: u32, to: &mut [u8]) -> usize {
        unsafe { testudo_poll(link, to.as_mut_ptr(), to.len()) as usize }
    }

    pub(super) fn send(link: u32, packet: &[u8]) {
        unsafe { testudo_send(link, packet.as_ptr(), packet.len()) }
    }

    pub(super) fn close(link: u32) {
        unsafe { testudo_close(link) }
    }

    pub(super) fn hidden() -> u32 {
        unsafe { testudo_hidden() }
    }
}

/// Fills bytes with what nobody can guess. False: the browser has no randomness.
pub(crate) fn random(bytes: &mut [u8]) -> bool {
    imports::random(bytes)
}

/// The secret that the browser keeps for this page. False: it keeps none, for instance in a private window.
pub(crate) fn kept_secret(bytes: &mut [u8]) -> bool {
    imports::secret(bytes)
}

/// Whether nobody sees the page: another tab is in front of it, or the window is minimised.
pub(crate) fn is_hidden() -> bool {
    imports::hidden() != 0
}

/// A connection that the browser makes. Dropping it closes it.
pub(crate) struct Link {
    number: u32,
    message: Vec<u8>,
}

/// What happened on a connection.
pub(crate) enum LinkEvent {
    /// The answer to the greeting, with the verdict as its first byte.
    Answer(Vec<u8>),
    Packet(Vec<u8>),
    /// There is no connection, for this reason.
    Lost(String),
}

impl Link {
    /// Begins to connect to the first of these addresses that answers and shows the certificate with this hash. None: the browser has no
    /// WebTransport.
    pub(crate) fn open(addresses: &[String], certificate_hash: &[u8], greeting: &[u8]) -> Option<Self> {
        let request = json!({ "addresses": addresses, "hash": certificate_hash, "greeting": greeting });
        let number = imports::open(request.to_string().as_bytes());
        (number != 0).then(|| Self { number, message: vec![0; MESSAGE_BYTES_MAX] })
    }

    /// The next event, if there is one.
    pub(crate) fn poll(&mut self) -> Option<LinkEvent> {
        let length = imports::poll(self.number, &mut self.message);
        let (kind, bytes) = self.message.get(..length)?.split_first()?;
        match *kind {
            PACKET => Some(LinkEvent::Packet(bytes.to_vec())),
            ANSWER => Some(LinkEvent::Answer(bytes.to_vec())),
            LOST => Some(LinkEvent::Lost(String::from_utf8_lossy(bytes).into_owned())),
            _ => None,
        }
    }

    /// Sends a packet. It may be lost.
    pub(crate) fn send(&mut self, packet: &[u8]) {
        imports::send(self.number, packet);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        imports::close(self.number);
    }
}
