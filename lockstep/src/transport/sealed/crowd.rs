//! Who may connect: limits in all, for each address, and for those who have not been accepted yet.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;

use super::config::{PENDING_MAX, PENDING_PER_ADDRESS_MAX, SealedConfig};

/// The connections of a server, counted.
#[derive(Debug)]
pub(crate) struct Crowd {
    connections_max: u32,
    connections_per_address_max: u32,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    all: Count,
    by_address: IndexMap<IpAddr, Count>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    connections: u32,
    pending: u32,
}

/// What becomes of a newcomer.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It may go on, as long as it keeps the ticket.
    Granted(Ticket),
    /// Too many others are not accepted yet. It asks again by itself.
    Later,
    /// There is no room.
    Full,
}

/// A place among the connections; dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Ticket {
    crowd: Arc<Crowd>,
    address: IpAddr,
    is_pending: bool,
}

impl Crowd {
    pub(crate) fn new(config: &SealedConfig) -> Self {
        Self {
            connections_max: config.connections_max,
            connections_per_address_max: config.connections_per_address_max,
            counts: Mutex::default(),
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Admission {
        let address = household(address);
        let mut counts = self.counts();
        let here = counts.by_address.get(&address).copied().unwrap_or_default();
        if counts.all.connections >= self.connections_max
            || here.connections >= self.connections_per_address_max
        {
            return Admission::Full;
        }
        if counts.all.pending >= PENDING_MAX || here.pending >= PENDING_PER_ADDRESS_MAX {
            return Admission::Later;
        }
        for count in counts.of(address) {
            count.connections += 1;
            count.pending += 1;
        }
        Admission::Granted(Ticket { crowd: Arc::clone(self), address, is_pending: true })
    }

    /// Connections, and those of them that have not been accepted yet.
    pub(crate) fn size(&self) -> (u32, u32) {
        let counts = self.counts();
        (counts.all.connections, counts.all.pending)
    }
}

impl Counts {
    fn of(&mut self, address: IpAddr) -> [&mut Count; 2] {
        [&mut self.all, self.by_address.entry(address).or_default()]
    }
}

impl Ticket {
    /// The connection has been accepted.
    pub(crate) fn prove(&mut self) {
        if core::mem::take(&mut self.is_pending) {
            for count in self.crowd.counts().of(self.address) {
                count.pending -= 1;
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.prove();
        let mut counts = self.crowd.counts();
        for count in counts.of(self.address) {
            count.connections -= 1;
        }
        if counts.by_address.get(&self.address).is_some_and(|count| count.connections == 0) {
            counts.by_address.swap_remove(&self.address);
        }
    }
}

/// What one customer of a network provider can choose from: an address of version 4, or a /64 network of version 6.
fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_crowd_has_limits() {
        let crowd =
            Arc::new(Crowd::new(&SealedConfig::new().connections_max(28).connections_per_address_max(18)));
        let mut tickets = Vec::new();
        for _ in 0..PENDING_PER_ADDRESS_MAX {
            let Admission::Granted(ticket) = crowd.admit(address("10.0.0.1")) else { panic!() };
            tickets.push(ticket);
        }
        assert!(matches!(crowd.admit(address("::ffff:10.0.0.1")), Admission::Later));
        tickets.iter_mut().for_each(Ticket::prove);
        for _ in 0..2 {
            let Admission::Granted(ticket) = crowd.admit(address("10.0.0.1")) else { panic!() };
            tickets.push(ticket);
        }
        assert!(matches!(crowd.admit(address("10.0.0.1")), Admission::Full));
        for host in 0..10 {
            let Admission::Granted(mut ticket) = crowd.admit(address(&format!("fd00::{host:x}"))) else {
                panic!()
            };
            ticket.prove();
            tickets.push(ticket);
        }
        assert!(matches!(crowd.admit(address("10.0.0.2")), Admission::Full), "28 in all");
        assert_eq!(crowd.size(), (28, 2));
        tickets.clear();
        assert_eq!(crowd.size(), (0, 0));
        assert!(crowd.counts().by_address.is_empty());
    }
}
