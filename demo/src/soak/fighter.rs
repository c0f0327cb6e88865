//! One client's battle, which remembers what it ran.

use testudo_lockstep::replay::{Ending, Notice, Recorder, ReplayHeader};
use testudo_lockstep::{PlayerId, Simulation, Turn};

use crate::bots;
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
    /// The first turn that it ran: not 0 for a client that joined the running match.
    pub(crate) first: u32,
    /// Checksum after each turn, from the first on.
    pub(crate) checksums: Vec<u64>,
    pub(crate) orders: Vec<Ran>,
    /// Players who are gone, and the first turn without each.
    pub(crate) gone: Vec<(u8, u32)>,
    /// Players who are back, and the first turn with them.
    pub(crate) back: Vec<(u8, u32)>,
    /// Contacts that began, over all frames.
    pub(crate) contacts: u64,
    /// Frames of each turn, and their rate.
    pub(crate) frames: Vec<(u32, u32)>,
}

impl Trace {
    /// Number of turns that have ended, including those before its first one.
    pub(crate) fn turns(&self) -> u32 {
        self.first + self.checksums.len() as u32
    }

    /// The replay of what this client ran, which began with turn 0.
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
    trace: Trace,
}

impl Fighter {
    pub(crate) fn new(game: Game) -> Self {
        Self { game, trace: Trace::default() }
    }

    pub(crate) fn game(&self) -> &Game {
        &self.game
    }

    /// Number of turns that have ended.
    pub(crate) fn turns(&self) -> u32 {
        self.trace.turns()
    }

    /// Whether the player is here. On a client that has joined since it is not before its return has run.
    pub(crate) fn plays(&self, player: u8) -> bool {
        let latest = |all: &[(u8, u32)]| all.iter().rfind(|(who, _)| *who == player).map(|(_, turn)| *turn);
        let back = latest(&self.trace.back).or((self.trace.first == 0).then_some(0));
        back.is_some_and(|back| latest(&self.trace.gone).is_none_or(|gone| gone < back))
    }

    /// Takes the trace after the match.
    pub(crate) fn take_trace(&mut self) -> Trace {
        core::mem::take(&mut self.trace)
    }
}

impl Simulation for Fighter {
    type Action = Order;

    fn apply(&mut self, player: PlayerId, order: &Order) {
        let turn = self.trace.turns();
        self.trace.orders.push(Ran { turn, player: player.0, order: order.clone() });
        self.game.apply(player, order);
    }

    fn step(&mut self, frames_per_second: u32) {
        self.game.step(frames_per_second);
        let trace = &mut self.trace;
        trace.contacts += self.game.world().contacts_began().len() as u64;
        trace.frames.resize(trace.checksums.len() + 1, (0, 0));
        if let Some(frames) = trace.frames.last_mut() {
            *frames = (frames.0 + 1, frames_per_second);
        }
    }

    fn checksum(&mut self) -> u64 {
        self.game.checksum()
    }

    fn turn_ended(&mut self, _: Turn, checksum: u64) {
        self.trace.checksums.push(checksum);
    }

    /// Bots play on: their orders follow from the state and are not accounted for.
    fn player_taken_over(&mut self, player: PlayerId, turn: Turn) {
        self.trace.gone.push((player.0, turn.0));
        self.game.player_taken_over(player, turn);
    }

    fn play_for(&mut self, player: PlayerId, turn: Turn) {
        if let Some(order) = bots::order(&self.game, player, turn) {
            self.game.apply(player, &order);
        }
    }

    fn player_returned(&mut self, player: PlayerId, turn: Turn) {
        self.trace.back.push((player.0, turn.0));
        self.game.player_returned(player, turn);
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        let saved = self.game.save_state(out);
        out.extend_from_slice(&self.turns().to_le_bytes());
        saved
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        let Some((game, turns)) = bytes.split_last_chunk::<4>() else { return false };
        self.trace = Trace { first: u32::from_le_bytes(*turns), ..Trace::default() };
        self.game.load_state(game)
    }

    fn player_gone(&mut self, player: PlayerId, turn: Turn) {
        self.trace.gone.push((player.0, turn.0));
        self.game.player_gone(player, turn);
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::replay::{Replay, ReplayPlayer};

    use super::*;
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
            let checksum = fighter.checksum();
            fighter.turn_ended(Turn(turn), checksum);
        }
        let header = ReplayHeader { sim_version: 1, content_hash: 2, players: 2, settings: Vec::new() };
        let replay = Replay::read(fighter.take_trace().replay(&header), 1).unwrap();
        assert!(replay.is_complete() && replay.turns() == 50);
        let mut player = ReplayPlayer::new(replay, game);
        while player.step_turn() {}
        assert_eq!((player.turn(), player.divergence()), (50, None));
    }
}
