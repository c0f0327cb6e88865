//! A guest's sealed connection to the middle of the star. A program makes it itself; in a page the browser makes it, and both speak WebTransport.

use std::io;

use testudo_lockstep::transport::code::JoinCode;

/// Greatest number of events of connections that are handled in one step, so that a flood cannot starve the game.
pub(crate) const EVENTS_MAX: u32 = 512;

/// What happened on a connection. The first event is never a packet, and nothing comes after a refusal or a loss.
pub(crate) enum EdgeEvent {
    /// The middle has let this guest in, with this answer.
    Accepted(Vec<u8>),
    /// It has not, with this answer.
    Refused(Vec<u8>),
    Packet(Vec<u8>),
    /// There is no connection, or not any more.
    Lost(Loss),
}

/// Why there is no connection.
pub(crate) struct Loss {
    pub(crate) why: String,
    pub(crate) kind: LossKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LossKind {
    /// Somebody else has come by the same code.
    Displaced,
    /// The middle takes no more connections just now.
    Full,
    Other,
}

/// A connection. Dropping it closes it.
pub(crate) struct Edge(Link);

#[cfg(not(target_arch = "wasm32"))]
type Link = testudo_lockstep::transport::sealed::SealedClient;
#[cfg(target_arch = "wasm32")]
type Link = crate::app::page::Link;

#[cfg(not(target_arch = "wasm32"))]
impl Edge {
    /// Begins to connect, with this greeting.
    ///
    /// # Errors
    /// The system gives no socket or thread.
    pub(crate) fn connect(code: &JoinCode, greeting: &[u8]) -> io::Result<Self> {
        let config = testudo_lockstep::transport::sealed::SealedConfig::new();
        Link::connect(code.addresses(), code.certificate_hash(), greeting, &config).map(Self)
    }

    /// The next event, if there is one.
    pub(crate) fn poll(&mut self) -> Option<EdgeEvent> {
        use testudo_lockstep::transport::sealed::{ClientEvent, LostReason};
        Some(match self.0.poll()? {
            ClientEvent::Accepted(answer) => EdgeEvent::Accepted(answer),
            ClientEvent::Refused(answer) => EdgeEvent::Refused(answer),
            ClientEvent::Packet(bytes) => EdgeEvent::Packet(bytes),
            ClientEvent::Lost(why) => {
                let kind = match why {
                    LostReason::Displaced => LossKind::Displaced,
                    LostReason::Full => LossKind::Full,
                    _ => LossKind::Other,
                };
                EdgeEvent::Lost(Loss { why: why.to_string(), kind })
            }
            _ => return None,
        })
    }

    /// Sends a packet. It may be lost.
    pub(crate) fn send(&mut self, packet: &[u8]) {
        self.0.send(packet);
    }
}

#[cfg(target_arch = "wasm32")]
impl Edge {
    /// Begins to connect, with this greeting.
    ///
    /// # Errors
    /// The browser has no WebTransport.
    pub(crate) fn connect(code: &JoinCode, greeting: &[u8]) -> io::Result<Self> {
        let addresses: Vec<String> = code.addresses().iter().map(ToString::to_string).collect();
        let link = Link::open(&addresses, &code.certificate_hash(), greeting);
        link.map(Self).ok_or_else(|| io::Error::other("this browser has no WebTransport"))
    }

    /// The next event, if there is one.
    pub(crate) fn poll(&mut self) -> Option<EdgeEvent> {
        use crate::app::page::LinkEvent;
        Some(match self.0.poll()? {
            LinkEvent::Answer(mut answer) => {
                // The stream of the answer begins with the verdict.
                let is_accepted = answer.first() == Some(&1);
                answer.drain(..answer.len().min(1));
                if is_accepted { EdgeEvent::Accepted(answer) } else { EdgeEvent::Refused(answer) }
            }
            LinkEvent::Packet(bytes) => EdgeEvent::Packet(bytes),
            // A browser does not say why.
            LinkEvent::Lost(why) => EdgeEvent::Lost(Loss { why, kind: LossKind::Other }),
        })
    }

    /// Sends a packet. It may be lost.
    pub(crate) fn send(&mut self, packet: &[u8]) {
        self.0.send(packet);
    }
}
