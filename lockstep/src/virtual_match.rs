//! A whole match in one thread: every peer with its own session and simulation, on a simulated network, in virtual time.

use crate::driver::Driver;
use crate::ids::{PeerId, Turn};
use crate::session::Session;
use crate::simnet::SimNet;
use crate::simulation::Simulation;
use crate::time::{Duration, Instant};

/// Peers on a [`SimNet`]. Node `n` is the peer with index `n`, and [`PeerId`]`(n)` for all others.
pub struct VirtualMatch<S: Simulation> {
    drivers: Vec<Driver<S>>,
    net: SimNet,
    now: Instant,
    packet: Vec<u8>,
}

impl<S: Simulation> VirtualMatch<S> {
    /// A match that has not begun.
    pub fn new(drivers: Vec<Driver<S>>, net: SimNet) -> Self {
        Self { drivers, net, now: Instant::ZERO, packet: Vec::new() }
    }

    /// Runs until every session is over, or virtual time reaches `until`. Returns whether every session is over.
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

    /// Does everything that is to do at one point of virtual time, then moves to the next.
    pub fn step(&mut self, at_turn: &mut impl FnMut(usize, Turn, &S, &mut Session<S::Action>)) {
        let now = self.now;
        while let Some(delivery) = self.net.receive(now) {
            if let Some(driver) = self.drivers.get_mut(delivery.to as usize) {
                driver.session_mut().handle_packet(now, PeerId(delivery.from), &delivery.bytes);
            }
            self.net.recycle(delivery.bytes);
        }
        let mut next: Option<Instant> = None;
        for (index, driver) in self.drivers.iter_mut().enumerate() {
            let mut advance = |driver: &mut Driver<S>| {
                driver.advance_with(now, |turn, state, session| at_turn(index, turn, state, session))
            };
            // A peer that is behind simulates in several calls, as it would over several rendered frames.
            while advance(driver).frames > 0 {}
            while let Some(peer) = driver.session_mut().poll_transmit(now, &mut self.packet) {
                self.net.send(now, index as u32, peer.0, &self.packet);
            }
            next = earlier(next, driver.poll_timeout());
        }
        next = earlier(next, self.net.next_delivery());
        // Whatever is asked for, time goes on.
        let soonest = now + Duration::from_micros(1);
        self.now = next.unwrap_or(soonest).max(soonest);
    }

    /// Whether every session has finished or failed.
    pub fn is_over(&self) -> bool {
        self.drivers.iter().all(|driver| driver.session().is_over())
    }

    /// Virtual time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The peers.
    pub fn drivers(&self) -> &[Driver<S>] {
        &self.drivers
    }

    /// The peers, to change them.
    pub fn drivers_mut(&mut self) -> &mut [Driver<S>] {
        &mut self.drivers
    }

    /// The network.
    pub fn net(&self) -> &SimNet {
        &self.net
    }

    /// The network, to change it during the match.
    pub fn net_mut(&mut self) -> &mut SimNet {
        &mut self.net
    }
}

fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
