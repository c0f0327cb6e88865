//! A client of a match: the battle, with the clock that times its steps and the fault that it may suffer.

use std::time::Instant;

use testudo_lockstep::{PlayerId, Simulation, Turn};

use super::fault::Fault;
use crate::game::{Battle, Order};

/// A battle under observation.
pub struct Client {
    battle: Battle,
    fault: Option<Fault>,
    /// Why the fault could not be injected.
    refused: Option<String>,
    step_us: Vec<u32>,
    contacts: u64,
}

impl Client {
    /// A client that may suffer a fault.
    pub fn new(battle: Battle, fault: Option<Fault>) -> Self {
        Self { battle, fault, refused: None, step_us: Vec::new(), contacts: 0 }
    }

    /// The battle.
    pub fn battle(&self) -> &Battle {
        &self.battle
    }

    /// Why the fault was refused, if it was.
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Microseconds of each step.
    pub fn step_us(&self) -> &[u32] {
        &self.step_us
    }

    /// Contacts of all frames together.
    pub fn contacts(&self) -> u64 {
        self.contacts
    }
}

impl Simulation for Client {
    type Action = Order;

    fn apply(&mut self, player: PlayerId, order: &Order) {
        self.battle.apply(player, order);
    }

    fn step(&mut self, frames_per_second: u32) {
        let start = Instant::now();
        self.battle.step(frames_per_second);
        self.step_us.push(start.elapsed().as_micros().try_into().unwrap_or(u32::MAX));
        self.contacts += u64::from(self.battle.world().contact_count());
        if let Some(fault) = self.fault.take_if(|fault| fault.frame == self.battle.frame()) {
            self.refused = fault.inject(&mut self.battle).err();
        }
    }

    fn checksum(&self) -> u64 {
        self.battle.checksum()
    }

    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        self.battle.player_gone(player, turn);
    }
}
