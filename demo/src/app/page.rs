//! What the page around the program gives it: randomness, a secret that outlives the visit, and connections by WebTransport. The other side is
//! `demo/web/link.js`.

mod imports;

use serde_json::json;

/// Largest message of the page: a kind, and the answer to a greeting with its verdict.
const MESSAGE_BYTES_MAX: usize = 1 + 1 + 16_384;

/// Kinds of messages: their first byte.
const PACKET: u8 = 0;
const ANSWER: u8 = 1;
const LOST: u8 = 2;

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

/// Pixels of the screen per pixel of the page, as it is now.
pub(crate) fn pixel_ratio() -> f32 {
    let ratio = imports::pixel_ratio();
    if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 }
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
