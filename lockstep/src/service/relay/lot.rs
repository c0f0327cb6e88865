//! Packets that wait for others to be sent first.

use core::ops::Range;

use crate::value::ids::PeerId;

/// Packets in the order in which they came. It keeps its memory.
#[derive(Debug, Default)]
pub(super) struct Lot {
    bytes: Vec<u8>,
    packets: Vec<(PeerId, Range<usize>)>,
}

impl Lot {
    pub(super) fn add(&mut self, connection: PeerId, packet: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(packet);
        self.packets.push((connection, start..self.bytes.len()));
    }

    /// Hands every packet to `send`; the lot is empty then.
    pub(super) fn take(&mut self, mut send: impl FnMut(PeerId, &[u8])) {
        for (connection, range) in self.packets.drain(..) {
            send(connection, &self.bytes[range]);
        }
        self.bytes.clear();
    }
}
