//! Limits of connections: in all, for each address, and for those who have not been accepted yet.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant as StdInstant;

use indexmap::IndexMap;
use tokio::sync::Notify;

use super::config::{PENDING_MAX, PENDING_PER_ADDRESS_MAX, SealedConfig};
use crate::service::household::household;
use crate::value::bucket::Bucket;
use crate::value::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// Greatest number of addresses that are remembered without a connection, for the limit of handshakes.
const ADDRESSES_MAX: usize = 4_096;

/// Handshakes per second of all addresses from which nobody plays, or has played lately. One takes .25 ms of the thread that also seals every match's packets
/// (measured with a client of our own, greeting and answer included), so all of them together take a sixteenth of it.
const STRANGERS_PER_SECOND: u32 = 256;

/// So many of these may come at once, or as many as two addresses may send. The second half is for addresses that have had none for [`RARE`].
const STRANGERS_AT_ONCE: u32 = 256;

/// An address that sends a handshake less often than this finds room beside those that send as many as they may, unless there are hundreds of these.
const RARE: Duration = Duration::from_secs(1);

/// Whoever plays, and comes back to the same address within this time, does not wait for strangers.
const KNOWN_FOR: Duration = Duration::from_secs(600);

/// The connections of a server, counted and limited.
#[derive(Debug)]
pub(crate) struct ConnectionLimits {
    connections_per_address_max: u32,
    /// Time between two handshakes of one address, and how many may come at once, as the time in which they come back.
    gap: Duration,
    at_once: Duration,
    /// The same for all strangers together.
    strangers_gap: Duration,
    strangers_at_once: Duration,
    start: StdInstant,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Most that are accepted at once.
    connections_max: u32,
    /// By the number of their ticket: from where, and whether they play.
    accepted: BTreeMap<u64, (IpAddr, bool)>,
    /// Those who have not been accepted yet, the oldest first.
    pending: BTreeMap<u64, Pending>,
    next: u64,
    /// Handshakes of strangers.
    strangers: Bucket,
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
    /// Those of them who play, and how many others left since nobody had left for [`KNOWN_FOR`]; whoever comes is counted as back.
    players: u32,
    gone: u32,
    pending: u32,
    handshakes: Bucket,
    /// When the last handshake was let in.
    last: Option<Instant>,
    /// When the last connection of a player ended.
    left: Option<Instant>,
}

impl Household {
    /// Whether somebody plays here, or did lately. Whoever has only watched is a stranger: codes to watch are public.
    fn is_known(&self, now: Instant) -> bool {
        self.players > 0 || self.misses_somebody(now)
    }

    /// Whether a player has left lately.
    fn misses_somebody(&self, now: Instant) -> bool {
        self.left.is_some_and(|at| now.since(at) < KNOWN_FOR)
    }

    /// Whether one more may be accepted. Whoever watches does not take the room of a player who has just left, and may be on the way back.
    fn has_room(&self, plays: bool, most: u32, now: Instant) -> bool {
        let kept = if !plays && self.misses_somebody(now) { self.gone } else { 0 };
        self.accepted + kept < most
    }

    fn come(&mut self, plays: bool, now: Instant) {
        self.accepted += 1;
        if plays {
            self.players += 1;
            self.gone = if self.misses_somebody(now) { self.gone.saturating_sub(1) } else { 0 };
        }
    }

    fn leave(&mut self, plays: bool, now: Instant) {
        self.accepted -= 1;
        if plays {
            self.players -= 1;
            self.gone = if self.misses_somebody(now) { self.gone + 1 } else { 1 };
            self.left = Some(now);
        }
    }

    /// Whether nothing is lost if it is forgotten.
    fn is_idle(&self, now: Instant) -> bool {
        self.is_empty() && self.handshakes.is_full(now) && !self.is_known(now)
    }

    /// Whether nobody is here. An address that is forgotten while somebody is would have fewer than no connections when they leave.
    fn is_empty(&self) -> bool {
        self.accepted == 0 && self.pending == 0
    }
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
    evicted: Arc<Notify>,
}

impl ConnectionLimits {
    pub(crate) fn new(config: &SealedConfig) -> Self {
        let gap = Duration::from_micros(1_000_000 / u64::from(config.handshakes_per_address));
        let at_once = config.connections_per_address_max.saturating_mul(2);
        // Who sets a high limit for one address sets it for all.
        let strangers_gap = gap.min(Duration::from_micros(1_000_000 / u64::from(STRANGERS_PER_SECOND)));
        let strangers_at_once = u64::from(at_once).saturating_mul(2).max(STRANGERS_AT_ONCE.into());
        Self {
            connections_per_address_max: config.connections_per_address_max,
            gap,
            at_once: gap.times(at_once.into()),
            strangers_gap,
            strangers_at_once: strangers_gap.times(strangers_at_once),
            start: StdInstant::now(),
            counts: Mutex::new(Counts { connections_max: config.connections_max, ..Counts::default() }),
        }
    }

    /// A time as a number.
    fn time(&self, now: StdInstant) -> Instant {
        let micros = now.saturating_duration_since(self.start).as_micros();
        // Above zero, at which nothing has happened yet.
        Instant::from_micros(1 + u64::try_from(micros).unwrap_or(u64::MAX / 2))
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides on a new connection. Only those who have been accepted fill the server; the others have places of their own, and the address that has most of
    /// these gives one to an address that has fewer. Where somebody plays, or did lately, nobody is told that there is no room: a player may come back whose
    /// former connection is what fills it. [`Self::accept`] asks for it, when the former one is gone.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr, now: StdInstant) -> Admission {
        let (address, now) = (household(address), self.time(now));
        let mut counts = self.counts();
        let mut here = counts.by_address.get(&address).copied().unwrap_or_default();
        let is_known = here.is_known(now);
        let is_full = counts.accepted.len() as u32 >= counts.connections_max;
        if !is_known && (is_full || !here.has_room(false, self.connections_per_address_max, now)) {
            return Admission::Full;
        }
        // Whoever waits may be accepted in the same moment as the others.
        let is_spoken_for = !is_known && here.accepted + here.pending >= self.connections_per_address_max;
        let mut strangers = counts.strangers;
        if here.pending >= PENDING_PER_ADDRESS_MAX
            || is_spoken_for
            || here.handshakes.take(now, self.gap, self.at_once).is_err()
            || !self.has_time(&mut strangers, &here, now)
            || (counts.pending.len() >= PENDING_MAX && !counts.evict(&here, now))
        {
            return Admission::Later;
        }
        counts.strangers = strangers;
        counts.forget(now);
        (here.pending, here.last) = (here.pending + 1, Some(now));
        counts.by_address.insert(address, here);
        let (number, evicted) = (counts.next, Arc::new(Notify::new()));
        counts.next += 1;
        counts.pending.insert(number, Pending { address, evicted: Arc::clone(&evicted) });
        Admission::Granted(Ticket { limits: Arc::clone(self), number, evicted })
    }

    /// Lets a server accept so many connections at least.
    pub(crate) fn make_room(&self, connections: u32) {
        let mut counts = self.counts();
        counts.connections_max = counts.connections_max.max(connections);
    }

    /// Whether the connection with this ticket may be accepted, if another one goes for it.
    pub(crate) fn has_room(&self, number: u64, plays: bool, former: Option<u64>, now: StdInstant) -> bool {
        let (now, counts) = (self.time(now), self.counts());
        let Some(pending) = counts.pending.get(&number) else { return false };
        let mut here = counts.by_address.get(&pending.address).copied().unwrap_or_default();
        let former = former.and_then(|former| counts.accepted.get(&former));
        if let Some(&(_, plays)) = former.filter(|(address, _)| *address == pending.address) {
            here.leave(plays, now);
        }
        let others = counts.accepted.len() as u32 - u32::from(former.is_some());
        others < counts.connections_max && here.has_room(plays, self.connections_per_address_max, now)
    }

    /// The connection with this ticket is accepted. Returns false if there is no room for it any more.
    pub(crate) fn accept(&self, number: u64, plays: bool, now: StdInstant) -> bool {
        let has_room = self.has_room(number, plays, None, now);
        let (now, mut counts) = (self.time(now), self.counts());
        let Some(Pending { address, .. }) = counts.settle(number) else { return false };
        if has_room {
            counts.accepted.insert(number, (address, plays));
            counts.by_address.entry(address).or_default().come(plays, now);
        }
        has_room
    }

    /// The connection with this ticket does not count any more. Its task may end later.
    pub(crate) fn free(&self, number: u64, now: StdInstant) {
        let (now, mut counts) = (self.time(now), self.counts());
        counts.settle(number);
        let Some((address, plays)) = counts.accepted.remove(&number) else { return };
        counts.by_address.get_mut(&address).into_iter().for_each(|here| here.leave(plays, now));
    }

    /// Whether all strangers together leave time for a handshake; those who are known need none.
    fn has_time(&self, strangers: &mut Bucket, here: &Household, now: Instant) -> bool {
        let is_rare = here.last.is_none_or(|last| now.since(last) >= RARE);
        let part = Duration::from_micros(self.strangers_at_once.as_micros() / if is_rare { 1 } else { 2 });
        here.is_known(now) || strangers.take(now, self.strangers_gap, part).is_ok()
    }

    /// Connections, and those of them that have not been accepted yet.
    pub(crate) fn size(&self) -> (u32, u32) {
        let counts = self.counts();
        let pending = counts.pending.len() as u32;
        (counts.accepted.len() as u32 + pending, pending)
    }
}

impl Counts {
    /// Makes room for an address: of the one with most pending connections, the oldest one goes. Strangers give way first, to whoever is known in any case;
    /// nobody who is known gives way to them. Otherwise nobody gives way to an address that has as many itself.
    fn evict(&mut self, here: &Household, now: Instant) -> bool {
        let most_of = |is_known: bool| {
            let pending = self.by_address.iter().filter(|(_, other)| other.pending > 0);
            let such = pending.filter(|(_, other)| other.is_known(now) == is_known);
            such.max_by_key(|(_, other)| other.pending)
        };
        let is_known = here.is_known(now);
        let fair = |(_, most): &(&IpAddr, &Household)| most.pending > here.pending + 1;
        let most = most_of(false).filter(|most| is_known || fair(most));
        let most = most.or_else(|| most_of(true).filter(|most| is_known && fair(most)));
        let Some((&address, _)) = most else { return false };
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

    /// Bounds the memory for addresses without a connection: those that have rested go, and then the first, of strangers if there are some.
    fn forget(&mut self, now: Instant) {
        if self.by_address.len() < ADDRESSES_MAX {
            return;
        }
        self.by_address.retain(|_, here| !here.is_idle(now));
        if self.by_address.len() >= ADDRESSES_MAX {
            let first = self.by_address.values().position(|here| here.is_empty() && !here.is_known(now));
            let first = first.or_else(|| self.by_address.values().position(Household::is_empty));
            first.and_then(|first| self.by_address.swap_remove_index(first));
        }
    }
}

impl Ticket {
    /// For [`ConnectionLimits::accept`] and [`ConnectionLimits::free`].
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Resolves when another address needs the place.
    pub(crate) fn evicted(&self) -> Arc<Notify> {
        Arc::clone(&self.evicted)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.limits.free(self.number, StdInstant::now());
    }
}
