//! A whole match in one thread: every peer has its own session and simulation, on a simulated network, in virtual time.

use core::fmt;

use crate::drive::driver::Driver;
use crate::drive::simulation::Simulation;
use crate::session::Session;
use crate::session::event::Event;
#[cfg(feature = "testing")]
use crate::session::saved_match::SavedMatch;
#[cfg(feature = "testing")]
use crate::session::talk::Message;
use crate::simnet::{Delivery, SimNet};
use crate::value::ids::{PeerId, Turn};
use crate::value::time::{Duration, Instant};

/// A time that never comes.
const NEVER: Instant = Instant::from_micros(u64::MAX);

/// Greatest number of packets that wait for sleeping peers. All of them share it: while several sleep, few packets wait for each, and the rest is lost.
const SOCKET_BUFFER: usize = 256;

/// Greatest drift of a clock, parts per million.
const DRIFT_MAX: i32 = 500_000;

/// Why a peer was not given a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ClockError {
    /// It would be too fast or too slow.
    OutOfRange {
        /// [`PeerClock::drift_ppm`], parts per million.
        drift_ppm: i32,
        /// The slowest.
        min: i32,
        /// The fastest.
        max: i32,
    },
}

impl fmt::Display for ClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::OutOfRange { drift_ppm, min, max } = self;
        write!(f, "a clock drifts by {min} to {max} parts per million, not by {drift_ppm}")
    }
}

impl std::error::Error for ClockError {}

/// A peer's own clock, relative to virtual time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PeerClock {
    /// The peer's clock at the start.
    pub offset: Duration,
    /// How much faster (or slower) it runs, parts per million, -500,000..=500,000.
    pub drift_ppm: i32,
    /// The peer does nothing before this virtual time, like a suspended machine. Packets wait.
    pub asleep_until: Instant,
}

impl PeerClock {
    /// Microseconds that the peer's clock passes in a second. The drift is in its range.
    fn rate(&self) -> u128 {
        (1_000_000 + i64::from(self.drift_ppm)) as u128
    }

    /// The peer's time at a virtual time.
    fn local(&self, now: Instant) -> Instant {
        let micros = u128::from(now.as_micros()) * self.rate() / 1_000_000;
        Instant::from_micros(micros as u64) + self.offset
    }

    /// The first virtual time at which the peer's clock shows this.
    fn global(&self, local: Instant) -> Instant {
        let micros = u128::from(local.as_micros().saturating_sub(self.offset.as_micros())) * 1_000_000;
        Instant::from_micros(micros.div_ceil(self.rate()) as u64)
    }
}

/// Peers on a [`SimNet`]. Node `n` is the peer with index `n`, and [`PeerId`]`(n)` for all others.
pub struct VirtualMatch<S: Simulation> {
    drivers: Vec<Driver<S>>,
    clocks: Vec<PeerClock>,
    /// When each peer has something to do, in virtual time. No peer is called before: with many peers most packets are for others.
    due: Vec<Instant>,
    net: SimNet,
    now: Instant,
    packet: Vec<u8>,
    /// Packets for peers that are asleep.
    waiting: Vec<Delivery>,
}

impl<S: Simulation> VirtualMatch<S> {
    /// A match that has not begun.
    #[must_use]
    pub fn new(drivers: Vec<Driver<S>>, net: SimNet) -> Self {
        let clocks = vec![PeerClock::default(); drivers.len()];
        let due = vec![Instant::ZERO; drivers.len()];
        Self { drivers, clocks, due, net, now: Instant::ZERO, packet: Vec::new(), waiting: Vec::new() }
    }

    /// Gives a peer its own clock. For a session time does not go back: it stands still until the clock shows the former time again.
    ///
    /// # Errors
    /// [`ClockError::OutOfRange`] if the drift is outside of -500,000..=500,000; the peer keeps its clock then.
    ///
    /// # Panics
    /// There is no such peer.
    pub fn set_clock(&mut self, peer: usize, clock: PeerClock) -> Result<(), ClockError> {
        let (drift_ppm, min, max) = (clock.drift_ppm, -DRIFT_MAX, DRIFT_MAX);
        if !(min..=max).contains(&drift_ppm) {
            return Err(ClockError::OutOfRange { drift_ppm, min, max });
        }
        self.clocks[peer] = clock;
        self.due[peer] = Instant::ZERO;
        Ok(())
    }

    /// Suspends a peer until a virtual time. Packets wait for it; of those for all sleeping peers together the first 256 do.
    ///
    /// # Panics
    /// There is no such peer.
    pub fn put_to_sleep(&mut self, peer: usize, until: Instant) {
        self.clocks[peer].asleep_until = until;
        self.due[peer] = Instant::ZERO;
    }

    /// Runs until every session is over, or virtual time reaches `until`. Returns whether every session is over. Time goes from event to event, so it may end
    /// up to a frame after `until`.
    ///
    /// `at_turn` is called as in [`Driver::advance_with`], with the peer's index first.
    pub fn run(
        &mut self,
        until: Instant,
        mut at_turn: impl FnMut(usize, Turn, &S, &mut Session<S::Action>),
    ) -> bool {
        while !self.is_over() && self.now < until {
            self.step(&mut at_turn);
        }
        self.is_over()
    }

    /// Does everything that is due at one virtual time, then moves to the next.
    pub fn step(&mut self, at_turn: &mut impl FnMut(usize, Turn, &S, &mut Session<S::Action>)) {
        let now = self.now;
        self.deliver(now);
        let peers = self.drivers.iter_mut().zip(&self.clocks).zip(&mut self.due);
        for (index, ((driver, clock), due)) in peers.enumerate() {
            if now < *due {
                continue;
            }
            if now < clock.asleep_until {
                *due = clock.asleep_until;
                continue;
            }
            let local = clock.local(now);
            let mut advance = |driver: &mut Driver<S>| {
                driver.advance_with(local, |turn, state, session| at_turn(index, turn, state, session))
            };
            // A peer that is behind needs several calls, as it would over several rendered frames.
            while advance(driver).frames > 0 {}
            while let Some(peer) = driver.session_mut().poll_transmit(local, &mut self.packet) {
                self.net.send(now, index as u32, peer.0, &self.packet);
            }
            *due = driver.poll_timeout().map_or(NEVER, |at| clock.global(at));
        }
        let next = self.due.iter().copied().chain(self.net.next_delivery()).min().filter(|at| *at < NEVER);
        // Time goes on whatever the peers ask for.
        let soonest = now + Duration::from_micros(1);
        self.now = next.unwrap_or(now + Duration::from_secs(1)).max(soonest);
    }

    /// Delivers what has arrived; packets for a sleeping peer wait as in a socket's buffer.
    fn deliver(&mut self, now: Instant) {
        // Most of the time nobody wakes.
        let clock_of = |delivery: &Delivery| self.clocks.get(delivery.to as usize);
        let is_awake = |delivery| clock_of(delivery).is_none_or(|clock| now >= clock.asleep_until);
        if self.waiting.iter().any(is_awake) {
            for delivery in core::mem::take(&mut self.waiting) {
                self.hand_over(now, delivery);
            }
        }
        while let Some(delivery) = self.net.receive(now) {
            self.hand_over(now, delivery);
        }
    }

    fn hand_over(&mut self, now: Instant, delivery: Delivery) {
        let Some(clock) = self.clocks.get(delivery.to as usize) else { return };
        if now < clock.asleep_until {
            if self.waiting.len() < SOCKET_BUFFER {
                self.waiting.push(delivery);
            }
            return;
        }
        let local = clock.local(now);
        let session = self.drivers[delivery.to as usize].session_mut();
        session.handle_packet(local, PeerId(delivery.from), &delivery.bytes);
        self.due[delivery.to as usize] = now;
        self.net.recycle(delivery.bytes);
    }

    /// Whether every session has finished or failed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.drivers.iter().all(|driver| driver.session().is_over())
    }

    /// The time on a peer's own clock.
    #[cfg(feature = "testing")]
    pub(crate) fn local_time(&self, peer: usize) -> Instant {
        self.clocks[peer].local(self.now)
    }

    /// Virtual time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The peers.
    #[must_use]
    pub fn drivers(&self) -> &[Driver<S>] {
        &self.drivers
    }

    /// The peers, mutable. A peer that comes later, or comes back after a crash of its program: put a placeholder to sleep
    /// ([`VirtualMatch::put_to_sleep`]) until it is to come, and then assign a new driver to its place here.
    pub fn drivers_mut(&mut self) -> &mut [Driver<S>] {
        self.due.fill(Instant::ZERO);
        &mut self.drivers
    }

    /// Ends the match.
    #[cfg(feature = "testing")]
    pub(crate) fn take_drivers(&mut self) -> Vec<Driver<S>> {
        core::mem::take(&mut self.drivers)
    }

    /// Takes a peer's next event. None for a peer that does not exist.
    pub fn poll_event(&mut self, peer: usize) -> Option<Event> {
        self.drivers.get_mut(peer)?.session_mut().poll_event()
    }

    /// Takes a peer's next message. None for a peer that does not exist.
    #[cfg(feature = "testing")]
    pub(crate) fn poll_message(&mut self, peer: usize) -> Option<Message> {
        self.drivers.get_mut(peer)?.session_mut().poll_message()
    }

    /// Takes a peer's save. None for a peer that does not exist.
    #[cfg(feature = "testing")]
    pub(crate) fn take_saved(&mut self, peer: usize) -> Option<SavedMatch> {
        self.drivers.get_mut(peer)?.session_mut().take_saved()
    }

    /// The network.
    #[must_use]
    pub fn net(&self) -> &SimNet {
        &self.net
    }

    /// The network, mutable, for changes during the match.
    pub fn net_mut(&mut self) -> &mut SimNet {
        &mut self.net
    }
}
