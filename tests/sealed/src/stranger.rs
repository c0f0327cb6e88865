//! Somebody who sends datagrams of his own to a server, from an address that nobody knows.
#![expect(clippy::disallowed_types, reason = "sockets are what is tested here")]

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use rand_core::Rng;
use rand_pcg::Pcg32;

/// A socket, and what it has sent and received.
pub struct Stranger {
    socket: UdpSocket,
    random: Pcg32,
    /// Datagrams sent, and their bytes.
    pub sent: (u64, u64),
    /// Datagrams received, and their bytes.
    pub received: (u64, u64),
}

impl Stranger {
    /// A stranger on a free port who sends to one server only.
    ///
    /// # Panics
    /// Without a network.
    pub fn new(server: SocketAddr, seed: u64) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        socket.connect(server).expect("loopback");
        Self { socket, random: Pcg32::new(seed, 1), sent: (0, 0), received: (0, 0) }
    }

    /// Sends a datagram.
    pub fn send(&mut self, bytes: &[u8]) {
        // A full buffer or "connection refused" is a datagram that is lost.
        if self.socket.send(bytes).is_ok() {
            self.sent.0 += 1;
            self.sent.1 += bytes.len() as u64;
        }
    }

    /// Sends a datagram of random bytes and length.
    pub fn send_random(&mut self) {
        let length = self.random.next_u32() as usize % 1_400;
        let mut bytes = vec![0; length];
        self.random.fill_bytes(&mut bytes);
        self.send(&bytes);
    }

    /// Sends one of these datagrams with up to four bytes changed, and sometimes cut.
    pub fn send_mutated(&mut self, datagrams: &[Vec<u8>]) {
        let mut bytes = datagrams[self.random.next_u32() as usize % datagrams.len()].clone();
        for _ in 0..self.random.next_u32() % 5 {
            let place = self.random.next_u32() as usize % bytes.len();
            bytes[place] = self.random.next_u32() as u8;
        }
        if self.random.next_u32().is_multiple_of(8) {
            bytes.truncate(1 + self.random.next_u32() as usize % bytes.len());
        }
        self.send(&bytes);
    }

    /// Counts what has come back, until nothing comes for so long.
    ///
    /// # Panics
    /// If the time is zero.
    pub fn listen(&mut self, quiet: Duration) {
        self.socket.set_read_timeout(Some(quiet)).expect("a time above zero");
        let mut buffer = [0; 65_536];
        // A refused connection is an answer of the operating system.
        while let Ok(length) = self.socket.recv(&mut buffer) {
            self.received.0 += 1;
            self.received.1 += length as u64;
        }
    }
}
