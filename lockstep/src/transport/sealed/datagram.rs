//! Packets as datagrams of a WebTransport session (RFC 9297): the number of the session's stream among those of its kind, then the packet.
//!
//! Both sides begin with a datagram of one byte, a *plug*, and a packet of one zero byte is not delivered. Nothing here needs it; older builds,
//! which have the same protocol, lose the first packet where no plug comes before it.

use quinn::Connection;

use super::number::{number, put_number};
use super::webtransport::WebSession;

/// What both sides send first.
const PLUG: [u8; 1] = [0];

/// The datagrams of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    connection: Connection,
    session: u64,
}

impl Datagrams {
    pub(crate) fn of(session: &WebSession) -> Self {
        Self { connection: session.connection.clone(), session: session.number() }
    }

    /// What is sent before any packet.
    pub(crate) fn plug(&self) -> Vec<u8> {
        self.wrap(&PLUG)
    }

    /// The datagram of a packet.
    pub(crate) fn wrap(&self, packet: &[u8]) -> Vec<u8> {
        let mut datagram = Vec::with_capacity(packet.len() + 8);
        put_number(&mut datagram, self.session);
        datagram.extend_from_slice(packet);
        datagram
    }

    /// Sends what [`Datagrams::wrap`] made. False: the connection is gone, or the packet is too long for it.
    pub(crate) fn send(&self, datagram: Vec<u8>) -> bool {
        self.connection.send_datagram(datagram.into()).is_ok()
    }

    /// Hands the next packet to `take`. False: the connection is gone.
    pub(crate) async fn receive(&self, take: impl FnOnce(&[u8])) -> bool {
        loop {
            let Ok(datagram) = self.connection.read_datagram().await else { return false };
            match number(&datagram) {
                Some((session, packet))
                    if session == self.session && !packet.is_empty() && packet != PLUG =>
                {
                    take(packet);
                    return true;
                }
                // A plug, or of another session, which nobody here has opened.
                _ => {}
            }
        }
    }
}
