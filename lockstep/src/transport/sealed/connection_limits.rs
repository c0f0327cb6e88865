//! Limits of connections: in all, for each address, and for those who have not been accepted yet.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use tokio::sync::Notify;

use super::config::{PENDING_MAX, PENDING_PER_ADDRESS_MAX, SealedConfig};
use crate::service::household::household;

/// Greatest number of addresses that are remembered without a connection, for the limit of handshakes.
const ADDRESSES_MAX: usize = 4_096;

/// The connections of a server, counted and limited.
#[derive(Debug)]
pub(crate) struct ConnectionLimits {
    connections_max: u32,
    connections_per_address_max: u32,
    /// Time between two handshakes of one address, and how many may come at once.
    handshake_gap: Duration,
    handshakes_at_once: u32,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    accepted: u32,
    /// Those who have not been accepted yet, the oldest first.
    pending: BTreeMap<u64, Pending>,
    next: u64,
    by_address: IndexMap<IpAddr, Household>,
}

#[derive(Debug)]
struct Pending {
    address: IpAddr,
    evicted: Arc<Notify>,
}

/// The connections of one address.
#[derive(Clone, Copy, Debug, Default)]
struct Household {
    accepted: u32,
    pending: u32,
    /// When as many handshakes as ever may come at once again.
    rested_at: Option<Instant>,
}

/// What becomes of a new connection.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It may go on, as long as it keeps the ticket.
    Granted(Ticket),
    /// Too many others are not accepted yet, or too many come from its address. It asks again by itself.
    Later,
    /// There is no room.
    Full,
}

/// A place among the connections; dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Ticket {
    limits: Arc<ConnectionLimits>,
    number: u64,
    address: IpAddr,
    evicted: Arc<Notify>,
    is_accepted: bool,
}

impl ConnectionLimits {
    pub(crate) fn new(config: &SealedConfig) -> Self {
        Self {
            connections_max: config.connections_max,
            connections_per_address_max: config.connections_per_address_max,
            handshake_gap: Duration::from_secs(1) / config.handshakes_per_address,
            handshakes_at_once: config.connections_per_address_max.saturating_mul(2),
            counts: Mutex::default(),
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides on a new connection. Only those who have been accepted fill the server; the others have places of their own, and the address that has most of
    /// these gives one to an address that has fewer.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr, now: Instant) -> Admission {
        let address = household(address);
        let mut counts = self.counts();
        let mut here = counts.by_address.get(&address).copied().unwrap_or_default();
        if counts.accepted >= self.connections_max || here.accepted >= self.connections_per_address_max {
            return Admission::Full;
        }
        let rested_at = here.rested_at.map_or(now, |at| at.max(now)) + self.handshake_gap;
        // Whoever waits may be accepted in the same moment as the others.
        let is_spoken_for = here.accepted + here.pending >= self.connections_per_address_max;
        if here.pending >= PENDING_PER_ADDRESS_MAX
            || is_spoken_for
            || rested_at - now > self.handshake_gap * self.handshakes_at_once
            || (counts.pending.len() >= PENDING_MAX && !counts.evict(here.pending))
        {
            return Admission::Later;
        }
        counts.forget(now);
        (here.pending, here.rested_at) = (here.pending + 1, Some(rested_at));
        counts.by_address.insert(address, here);
        let (number, evicted) = (counts.next, Arc::new(Notify::new()));
        counts.next += 1;
        counts.pending.insert(number, Pending { address, evicted: Arc::clone(&evicted) });
        Admission::Granted(Ticket { limits: Arc::clone(self), number, address, evicted, is_accepted: false })
    }

    /// Connections, and those of them that have not been accepted yet.
    pub(crate) fn size(&self) -> (u32, u32) {
        let counts = self.counts();
        let pending = counts.pending.len() as u32;
        (counts.accepted + pending, pending)
    }
}

impl Counts {
    /// Makes room: of the address with most pending connections, the oldest one goes. Not for an address that has as many itself.
    fn evict(&mut self, own: u32) -> bool {
        let Some((address, most)) = self.by_address.iter().max_by_key(|(_, household)| household.pending)
        else {
            return false;
        };
        if most.pending <= own + 1 {
            return false;
        }
        let address = *address;
        let oldest = self.pending.iter().find(|(_, pending)| pending.address == address);
        let Some(number) = oldest.map(|(number, _)| *number) else { return false };
        self.settle(number).is_some_and(|pending| {
            pending.evicted.notify_one();
            true
        })
    }

    /// A connection is not pending any more.
    fn settle(&mut self, number: u64) -> Option<Pending> {
        let pending = self.pending.remove(&number)?;
        if let Some(here) = self.by_address.get_mut(&pending.address) {
            here.pending -= 1;
        }
        Some(pending)
    }

    /// Bounds the memory for addresses without a connection: those that have rested go, and then the first.
    fn forget(&mut self, now: Instant) {
        if self.by_address.len() < ADDRESSES_MAX {
            return;
        }
        let is_empty = |here: &Household| here.accepted == 0 && here.pending == 0;
        let has_rested = |here: &Household| here.rested_at.is_none_or(|at| at <= now);
        self.by_address.retain(|_, here| !(is_empty(here) && has_rested(here)));
        if self.by_address.len() >= ADDRESSES_MAX
            && let Some(first) = self.by_address.values().position(is_empty)
        {
            self.by_address.swap_remove_index(first);
        }
    }
}

impl Ticket {
    /// The connection has been accepted. Returns false if there is no room for it any more.
    pub(crate) fn accept(&mut self) -> bool {
        let mut counts = self.limits.counts();
        if counts.settle(self.number).is_none() || counts.accepted >= self.limits.connections_max {
            return false;
        }
        counts.accepted += 1;
        counts.by_address.entry(self.address).or_default().accepted += 1;
        self.is_accepted = true;
        true
    }

    /// Resolves when another address needs the place.
    pub(crate) fn evicted(&self) -> Arc<Notify> {
        Arc::clone(&self.evicted)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut counts = self.limits.counts();
        counts.settle(self.number);
        if self.is_accepted {
            counts.accepted -= 1;
            if let Some(here) = counts.by_address.get_mut(&self.address) {
                here.accepted -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn limits(config: SealedConfig) -> Arc<ConnectionLimits> {
        Arc::new(ConnectionLimits::new(&config))
    }

    fn granted(limits: &Arc<ConnectionLimits>, from: IpAddr, now: Instant) -> Ticket {
        match limits.admit(from, now) {
            Admission::Granted(ticket) => ticket,
            other => panic!("{from}: {other:?}"),
        }
    }

    #[test]
    fn connections_are_limited() {
        let now = Instant::now();
        let limits = limits(SealedConfig::new().connections_max(28).connections_per_address_max(18));
        let mut tickets = Vec::new();
        for _ in 0..PENDING_PER_ADDRESS_MAX {
            tickets.push(granted(&limits, address("10.0.0.1"), now));
        }
        assert!(matches!(limits.admit(address("::ffff:10.0.0.1"), now), Admission::Later));
        assert!(tickets.iter_mut().all(Ticket::accept));
        for _ in 0..2 {
            let mut ticket = granted(&limits, address("10.0.0.1"), now);
            assert!(ticket.accept());
            tickets.push(ticket);
        }
        assert!(matches!(limits.admit(address("10.0.0.1"), now), Admission::Full));
        let mut late = granted(&limits, address("10.0.0.3"), now);
        for host in 0..10 {
            let mut ticket = granted(&limits, address(&format!("fd00::{host:x}")), now);
            assert!(ticket.accept());
            tickets.push(ticket);
        }
        assert!(matches!(limits.admit(address("10.0.0.2"), now), Admission::Full), "28 in all");
        assert!(!late.accept(), "28 in all");
        assert_eq!(limits.size(), (28, 0));
        tickets.clear();
        assert_eq!(limits.size(), (0, 0));
    }

    /// Fifteen more than the limit, who came at once, were accepted.
    #[test]
    fn who_waits_to_be_accepted_counts_for_the_address() {
        let now = Instant::now();
        let limits = limits(SealedConfig::new().connections_per_address_max(3));
        let mut tickets: Vec<Ticket> = (0..3).map(|_| granted(&limits, address("10.0.0.1"), now)).collect();
        assert!(matches!(limits.admit(address("10.0.0.1"), now), Admission::Later));
        assert!(tickets.iter_mut().all(Ticket::accept));
        assert!(matches!(limits.admit(address("10.0.0.1"), now), Admission::Full));
        tickets.pop();
        granted(&limits, address("10.0.0.1"), now);
    }

    /// Forty addresses filled a server with connections that never greeted, and a player who had crashed was told that it was full.
    #[test]
    fn strangers_leave_a_place_to_an_address_that_has_none() {
        let now = Instant::now();
        let limits = limits(SealedConfig::new());
        let mut strangers = Vec::new();
        for stranger in 0..40_u8 {
            for _ in 0..PENDING_PER_ADDRESS_MAX {
                match limits.admit(IpAddr::from([10, 0, 1, stranger]), now) {
                    Admission::Granted(ticket) => strangers.push(ticket),
                    Admission::Later => {}
                    Admission::Full => panic!("nobody is accepted"),
                }
            }
        }
        assert_eq!(limits.size().1, PENDING_MAX as u32);
        let mut player = granted(&limits, address("10.0.2.1"), now);
        assert_eq!(limits.size().1, PENDING_MAX as u32, "a stranger has gone");
        assert!(player.accept());
        drop(strangers);
        assert_eq!(limits.size(), (1, 0));
    }

    /// 600 handshakes per second from one address took half a core.
    #[test]
    fn handshakes_of_one_address_are_limited_and_others_are_not() {
        let start = Instant::now();
        let limits = limits(SealedConfig::new().connections_per_address_max(8).handshakes_per_address(20));
        let taken = |from: &str| {
            (0..6_000_u32)
                .filter(|attempt| {
                    let now = start + Duration::from_micros(1_666) * *attempt;
                    matches!(limits.admit(address(from), now), Admission::Granted(_))
                })
                .count()
        };
        // 16 at once and 20 per second, for 10 s.
        let first = taken("10.0.0.1");
        assert!((214..=217).contains(&first), "{first}");
        assert_eq!(taken("10.0.0.2"), first);
    }

    #[test]
    fn addresses_are_forgotten() {
        let now = Instant::now();
        let limits = limits(SealedConfig::new());
        for network in 0..3 * ADDRESSES_MAX as u128 {
            let address = IpAddr::V6((0xfd00 << 112 | network << 64).into());
            drop(granted(&limits, address, now));
        }
        assert!(limits.counts().by_address.len() <= ADDRESSES_MAX);
    }
}
