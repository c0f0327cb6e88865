//! Packets as datagrams of a WebTransport session (RFC 9297): the session's number divided by four, as a number of QUIC with a length of its own,
//! then the packet.
//!
//! The library's own task hands each datagram on through a channel with room for one, which costs more than unsealing it. So both sides begin
//! with a datagram of one byte, a *plug*. Nobody takes it out of the channel; from then on the library's task leaves datagrams alone, and they
//! are read here, right from the connection. If the plug is lost, the first packet is lost in its place, which may happen to any packet.
//! So a packet of one zero byte is not delivered. An empty plug would do, but browsers stop reading at an empty datagram.

use wtransport::quinn;
use wtransport::{Connection, SessionId};

/// What both sides send first.
const PLUG: [u8; 1] = [0];

/// The datagrams of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    connection: quinn::Connection,
    session: u64,
}

impl Datagrams {
    pub(crate) fn of(connection: &Connection) -> Self {
        let session = connection.session_id();
        Self { connection: connection.quic_connection().clone(), session: quarter(session) }
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

fn quarter(session: SessionId) -> u64 {
    session.into_u64() / 4
}

/// RFC 9000, section 16: the upper two bits of the first byte give the length.
fn put_number(bytes: &mut Vec<u8>, number: u64) {
    match number {
        0..0x40 => bytes.push(number as u8),
        0x40..0x4000 => bytes.extend_from_slice(&(number as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => bytes.extend_from_slice(&(number as u32 | 0x8000_0000).to_be_bytes()),
        _ => bytes.extend_from_slice(&(number | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// The number at the beginning, and what follows it.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let first = *bytes.first()?;
    let (head, rest) = bytes.split_at_checked(1 << (first >> 6))?;
    let tail = head[1..].iter().fold(u64::from(first & 0x3f), |number, byte| number << 8 | u64::from(*byte));
    Some((tail, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 9000, appendix A.1, and the ends of the ranges.
    #[test]
    fn numbers_are_those_of_quic() {
        let examples: [(u64, &[u8]); 4] = [
            (151_288_809_941_952_652, &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c]),
            (494_878_333, &[0x9d, 0x7f, 0x3e, 0x7d]),
            (15_293, &[0x7b, 0xbd]),
            (37, &[0x25]),
        ];
        for (value, written) in examples {
            let mut bytes = Vec::new();
            put_number(&mut bytes, value);
            assert_eq!(bytes, written);
            assert_eq!(number(written), Some((value, &[][..])));
            assert_eq!(number(&written[..written.len() - 1]), None);
        }
        assert_eq!(number(&[0x40, 0x25, 7]), Some((37, &[7][..])), "longer than necessary");
        for value in [0, 63, 64, 16_383, 16_384, (1 << 30) - 1, 1 << 30, (1 << 60) - 1] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, value);
            assert_eq!(number(&bytes), Some((value, &[][..])));
        }
    }
}
