//! What the page around the program gives it: randomness, a secret that outlives the visit, and connections by WebTransport. The other side is
//! `demo/web/link.js`.

mod imports;

pub(crate) use imports::{kept_secret, random};

use std::io;

use serde_json::json;
use testudo_lockstep::Instant;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::guest::{Dial, Line, LineEvent, LossKind};

/// Largest message of the page: a kind, and the answer to a greeting with its decision.
const MESSAGE_BYTES_MAX: usize = 1 + 1 + 16_384;

/// Kinds of messages: their first byte.
const PACKET: u8 = 0;
const ANSWER: u8 = 1;
const LOST: u8 = 2;

/// Whether hints were put away in this browser.
pub(crate) fn are_hints_over() -> bool {
    imports::testudo_hints_over(0) != 0
}

/// They stay away. A private window may forget it.
pub(crate) fn end_hints() {
    imports::testudo_hints_over(1);
}

/// Whether nobody sees the page: another tab is in front of it, or the window is minimised.
pub(crate) fn is_hidden() -> bool {
    imports::testudo_hidden() != 0
}

/// Whether the browser has taken the text that was copied last, or is about to. Otherwise the person has to press Ctrl C.
pub(crate) fn is_clipboard_open() -> bool {
    imports::testudo_clipboard_open() != 0
}

/// Pixels of the screen per pixel of the page, as it is now.
pub(crate) fn pixel_ratio() -> f32 {
    let ratio = imports::testudo_pixel_ratio();
    if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 }
}

/// A connection that the browser makes. Dropping it closes it.
pub(crate) struct Link {
    number: u32,
    message: Vec<u8>,
}

/// Makes connections by the browser.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dialer;

impl Dial for Dialer {
    type Line = Link;

    fn dial(&mut self, code: &JoinCode, greeting: &[u8]) -> io::Result<Link> {
        let addresses: Vec<String> = code.addresses().iter().map(ToString::to_string).collect();
        let link = Link::open(&addresses, &code.certificate_hash(), greeting);
        link.ok_or_else(|| io::Error::other("this browser has no WebTransport"))
    }
}

impl Link {
    /// Begins to connect to the first of these addresses that answers and shows the certificate with this hash. None: the browser has no
    /// WebTransport.
    fn open(addresses: &[String], certificate_hash: &[u8], greeting: &[u8]) -> Option<Self> {
        let request = json!({ "addresses": addresses, "hash": certificate_hash, "greeting": greeting });
        let number = imports::open(request.to_string().as_bytes());
        (number != 0).then(|| Self { number, message: vec![0; MESSAGE_BYTES_MAX] })
    }
}

impl Line for Link {
    fn poll(&mut self, _: Instant) -> Option<LineEvent> {
        let length = imports::poll(self.number, &mut self.message);
        let (kind, bytes) = self.message.get(..length)?.split_first()?;
        match *kind {
            PACKET => Some(LineEvent::Packet(bytes.to_vec())),
            ANSWER => {
                // The stream of the answer begins with the decision.
                let (decision, answer) = bytes.split_first()?;
                let answer = answer.to_vec();
                Some(if *decision == 1 { LineEvent::Accepted(answer) } else { LineEvent::Refused(answer) })
            }
            // A browser does not say why.
            LOST => {
                let why = String::from_utf8_lossy(bytes).into_owned();
                Some(LineEvent::Lost { why, kind: LossKind::Other })
            }
            _ => None,
        }
    }

    fn send(&mut self, packet: &[u8]) {
        imports::send(self.number, packet);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        imports::testudo_close(self.number);
    }
}
