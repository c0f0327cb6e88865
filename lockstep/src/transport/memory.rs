//! Packets within one process: no loss, no delay, bounded.

use std::collections::VecDeque;

/// Carries packets between numbered nodes of one process.
#[derive(Clone, Debug, Default)]
pub struct MemoryHub {
    boxes: Vec<VecDeque<(u32, Vec<u8>)>>,
    dropped: u64,
}

/// Greatest number of packets that wait for one node; further ones are dropped, as by a socket's buffer.
pub const WAITING_MAX: usize = 1_024;

impl MemoryHub {
    /// A hub for nodes `0..nodes`.
    #[must_use]
    pub fn new(nodes: u32) -> Self {
        Self { boxes: (0..nodes).map(|_| VecDeque::new()).collect(), dropped: 0 }
    }

    /// Puts a packet into the box of node `to`. Packets to nodes that do not exist are dropped and counted.
    pub fn send(&mut self, from: u32, to: u32, bytes: &[u8]) {
        match self.boxes.get_mut(to as usize) {
            Some(waiting) if waiting.len() < WAITING_MAX => waiting.push_back((from, bytes.to_vec())),
            _ => self.dropped += 1,
        }
    }

    /// Takes the next packet for `node`: its sender and its content.
    pub fn receive(&mut self, node: u32) -> Option<(u32, Vec<u8>)> {
        self.boxes.get_mut(node as usize)?.pop_front()
    }

    /// Packets dropped so far.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_arrive_in_order_and_strays_are_counted() {
        let mut hub = MemoryHub::new(2);
        hub.send(0, 1, b"a");
        hub.send(0, 1, b"b");
        hub.send(0, 9, b"c");
        assert_eq!(hub.receive(1), Some((0, b"a".to_vec())));
        assert_eq!(hub.receive(1), Some((0, b"b".to_vec())));
        assert_eq!((hub.receive(1), hub.dropped()), (None, 1));
    }
}
