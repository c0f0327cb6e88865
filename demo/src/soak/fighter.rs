//! One client's battle, which remembers what it ran.

use std::cell::RefCell;

use testudo_lockstep::{PlayerId, Simulation, Turn};

use crate::game::{Game, Order};

/// An order as a client ran it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ran {
    pub(crate) turn: u32,
    pub(crate) player: u8,
    pub(crate) order: Order,
}

/// What a client ran.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Trace {
    /// Checksum after each turn, from turn 0.
    pub(crate) checksums: Vec<u64>,
    pub(crate) orders: Vec<Ran>,
    /// Players who are gone, and the first turn without them.
    pub(crate) gone: Vec<(u8, u32)>,
    /// Contacts that began, over all frames.
    pub(crate) contacts: u64,
}

/// A [`Game`] with a [`Trace`].
pub(crate) struct Fighter {
    game: Game,
    /// A turn ends with the call of [`Simulation::checksum`], which gets a shared reference.
    trace: RefCell<Trace>,
}

impl Fighter {
    pub(crate) fn new(game: Game) -> Self {
        Self { game, trace: RefCell::default() }
    }

    pub(crate) fn game(&self) -> &Game {
        &self.game
    }

    /// Turns that have ended.
    pub(crate) fn turns(&self) -> u32 {
        self.trace.borrow().checksums.len() as u32
    }

    /// Takes the trace; the match is over.
    pub(crate) fn take_trace(&mut self) -> Trace {
        core::mem::take(self.trace.get_mut())
    }
}

impl Simulation for Fighter {
    type Action = Order;

    fn apply(&mut self, player: PlayerId, order: &Order) {
        let trace = self.trace.get_mut();
        let turn = trace.checksums.len() as u32;
        trace.orders.push(Ran { turn, player: player.0, order: order.clone() });
        self.game.apply(player, order);
    }

    fn step(&mut self, frames_per_second: u32) {
        self.game.step(frames_per_second);
        self.trace.get_mut().contacts += self.game.world().contacts_began().len() as u64;
    }

    fn checksum(&self) -> u64 {
        let checksum = self.game.checksum();
        self.trace.borrow_mut().checksums.push(checksum);
        checksum
    }

    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        self.trace.get_mut().gone.push((player.0, turn.0));
        self.game.player_gone(player, turn);
    }
}
