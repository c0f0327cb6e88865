//! Packets on their way from the application's thread to the endpoint's: handed over in lots, because waking a thread costs more than a packet.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::datagram::Datagrams;

/// Greatest number of packets that wait. Further ones are dropped, as by a socket's buffer.
const PACKETS_MAX: usize = 65_536;

/// A connection, and a datagram for it.
pub(crate) type Outgoing = (Datagrams, Vec<u8>);

/// A queue from the application's thread to the one of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    lot: Vec<Outgoing>,
    dropped: u64,
}

impl Outbox {
    /// A panic of another thread leaves the queue as it was.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over all packets of a lot, which is empty then.
    pub(crate) fn push(&self, lot: &mut Vec<Outgoing>) {
        if lot.is_empty() {
            return;
        }
        let mut queue = self.queue();
        let room = PACKETS_MAX.saturating_sub(queue.lot.len());
        queue.dropped += lot.len().saturating_sub(room) as u64;
        lot.truncate(room);
        queue.lot.append(lot);
        drop(queue);
        self.filled.notify_one();
    }

    /// Sends what waits.
    pub(crate) fn send(&self, lot: &mut Vec<Outgoing>) {
        core::mem::swap(&mut self.queue().lot, lot);
        let mut lost = 0;
        for (datagrams, datagram) in lot.drain(..) {
            lost += u64::from(!datagrams.send(datagram));
        }
        if lost > 0 {
            self.queue().dropped += lost;
        }
    }

    /// Sends, for ever.
    pub(crate) async fn run(&self) {
        let mut lot = Vec::new();
        loop {
            self.filled.notified().await;
            self.send(&mut lot);
        }
    }

    /// Packets that could not be sent so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.queue().dropped
    }
}
