//! One client's battle, which remembers what it ran.

use std::cell::RefCell;

use testudo_lockstep::replay::{Ending, Notice, Recorder, ReplayHeader};
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
    /// Frames of each turn, and their rate.
    pub(crate) frames: Vec<(u32, u32)>,
}

impl Trace {
    /// The replay of what this client ran.
    pub(crate) fn replay(&self, header: &ReplayHeader) -> Vec<u8> {
        let mut recorder = Recorder::new(header);
        for (turn, checksum) in (0..).zip(&self.checksums) {
            for (player, _) in self.gone.iter().filter(|(_, from)| *from == turn) {
                recorder.notice(PlayerId(*player), Notice::Gone);
            }
            for ran in self.orders.iter().filter(|ran| ran.turn == turn) {
                recorder.action(PlayerId(ran.player), &ran.order);
            }
            let (frames, rate) = self.frames.get(turn as usize).copied().unwrap_or_default();
            (0..frames).for_each(|_| recorder.frame(rate));
            recorder.end_turn(*checksum);
        }
        recorder.end(Ending::Over);
        recorder.bytes().to_vec()
    }
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
        let trace = self.trace.get_mut();
        trace.contacts += self.game.world().contacts_began().len() as u64;
        trace.frames.resize(trace.checksums.len() + 1, (0, 0));
        if let Some(frames) = trace.frames.last_mut() {
            *frames = (frames.0 + 1, frames_per_second);
        }
    }

    fn checksum(&mut self) -> u64 {
        let checksum = self.game.checksum();
        self.trace.borrow_mut().checksums.push(checksum);
        checksum
    }

    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        self.trace.get_mut().gone.push((player.0, turn.0));
        self.game.player_gone(player, turn);
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::replay::{Replay, ReplayPlayer};

    use super::*;
    use crate::bots;
    use crate::game::Setup;

    #[test]
    fn what_a_client_ran_can_be_played_again() {
        let game = Game::new(Setup { players: 2, units: 20, seed: 4, map: None }).unwrap();
        let mut fighter = Fighter::new(game.clone());
        for turn in 0..50 {
            if turn == 20 {
                fighter.player_gone(PlayerId(1), Turn(turn));
            }
            for player in (0..2).map(PlayerId) {
                if let Some(order) = bots::order(fighter.game(), player, Turn(turn)) {
                    fighter.apply(player, &order);
                }
            }
            // A paused turn has no frames.
            let frames = if turn == 30 { 0 } else { 3 };
            (0..frames).for_each(|_| fighter.step(20));
            fighter.checksum();
        }
        let header = ReplayHeader { sim_version: 1, content_hash: 2, players: 2, settings: Vec::new() };
        let replay = Replay::read(fighter.take_trace().replay(&header), 1).unwrap();
        assert!(replay.is_complete() && replay.turns() == 50);
        let mut player = ReplayPlayer::new(replay, game);
        while player.step_turn() {}
        assert_eq!((player.turn(), player.divergence()), (50, None));
    }
}
