//! What has arrived and waits for the application: bounded for everybody, and for each peer.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;

use crate::value::ids::PeerId;

use super::config::std_time;
use crate::value::time::Duration;

/// Greatest number of packets of one peer that wait. Further ones are dropped, as by a socket's buffer.
const PACKETS_PER_PEER_MAX: u32 = 512;

/// Greatest number of packets that wait, in all.
const PACKETS_MAX: u32 = 16_384;

/// Number of items that are no packets, from which on [`Inbox::offer`] takes no more.
const OTHERS_MAX: u32 = 4_096;

/// What waits at most: so much an application takes in one round. If it took less, whoever sends as much as may be sent would hold up what others send; how
/// many packets of a connection are looked at is for the application to say.
pub(crate) const WAITING_MAX: u32 = PACKETS_MAX + OTHERS_MAX;

/// A queue between the thread of an endpoint and the application's. `T` is anything but a packet.
#[derive(Debug)]
pub(crate) struct Inbox<T> {
    queue: Mutex<Queue<T>>,
    filled: Condvar,
}

#[derive(Debug)]
struct Queue<T> {
    items: VecDeque<Item<T>>,
    others: u32,
    packets: u32,
    packets_of: IndexMap<PeerId, u32>,
    dropped: u64,
    /// The application waits: otherwise it need not be woken, which would cost more than a packet.
    is_awaited: bool,
}

#[derive(Debug)]
pub(crate) enum Item<T> {
    Packet(PeerId, Vec<u8>),
    Other(T),
}

impl<T> Inbox<T> {
    pub(crate) fn new() -> Self {
        let queue = Queue {
            items: VecDeque::new(),
            others: 0,
            packets: 0,
            packets_of: IndexMap::new(),
            dropped: 0,
            is_awaited: false,
        };
        Self { queue: Mutex::new(queue), filled: Condvar::new() }
    }

    /// A panic of another thread leaves the queue as it was: every change below is complete before anything can panic.
    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, item: T) {
        let mut queue = self.queue();
        queue.others += 1;
        queue.items.push_back(Item::Other(item));
        self.wake(queue);
    }

    /// False, and nothing is pushed, if the application has not looked for a long time.
    pub(crate) fn offer(&self, item: T) -> bool {
        let has_room = self.queue().others < OTHERS_MAX;
        if has_room {
            self.push(item);
        }
        has_room
    }

    /// Drops the packet if too many wait.
    pub(crate) fn push_packet(&self, peer: PeerId, bytes: &[u8]) {
        let mut queue = self.queue();
        let waiting = queue.packets_of.get(&peer).copied().unwrap_or(0);
        if waiting >= PACKETS_PER_PEER_MAX || queue.packets >= PACKETS_MAX {
            queue.dropped += 1;
            return;
        }
        queue.packets_of.insert(peer, waiting + 1);
        queue.packets += 1;
        queue.items.push_back(Item::Packet(peer, bytes.to_vec()));
        self.wake(queue);
    }

    fn wake(&self, mut queue: MutexGuard<'_, Queue<T>>) {
        if core::mem::take(&mut queue.is_awaited) {
            drop(queue);
            self.filled.notify_one();
        }
    }

    pub(crate) fn pop(&self) -> Option<Item<T>> {
        let mut queue = self.queue();
        let item = queue.items.pop_front()?;
        if matches!(item, Item::Other(_)) {
            queue.others -= 1;
        }
        if let Item::Packet(peer, _) = item {
            queue.packets -= 1;
            match queue.packets_of.get_mut(&peer) {
                Some(waiting) if *waiting > 1 => *waiting -= 1,
                _ => {
                    queue.packets_of.swap_remove(&peer);
                }
            }
        }
        Some(item)
    }

    /// Waits until something is there, or the time is up.
    pub(crate) fn wait(&self, time: Duration) {
        let waited = self.filled.wait_timeout_while(self.queue(), std_time(time), |queue| {
            queue.is_awaited = queue.items.is_empty();
            queue.is_awaited
        });
        waited.unwrap_or_else(PoisonError::into_inner).0.is_awaited = false;
    }

    /// Packets dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.queue().dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_peer_cannot_fill_the_queue() {
        let inbox = Inbox::<()>::new();
        for _ in 0..PACKETS_PER_PEER_MAX + 3 {
            inbox.push_packet(PeerId(1), b"a");
        }
        inbox.push_packet(PeerId(2), b"b");
        inbox.push(());
        assert_eq!(inbox.dropped(), 3);
        let mut taken = 0;
        while let Some(item) = inbox.pop() {
            taken += 1;
            assert!(taken <= PACKETS_PER_PEER_MAX || !matches!(item, Item::Packet(PeerId(1), _)));
        }
        assert_eq!(taken, PACKETS_PER_PEER_MAX + 2);
        while inbox.offer(()) {}
        assert_eq!(inbox.queue().items.len(), OTHERS_MAX as usize);
        while inbox.pop().is_some() {}
        let queue = inbox.queue();
        assert!(queue.others == 0 && queue.packets == 0 && queue.packets_of.is_empty());
    }
}
