//! What a driver has told its simulation at the start of a turn, as a hash: two simulations that were told the same go on alike.

use core::hash::Hasher;
use std::collections::VecDeque;

use siphasher::sip::SipHasher13;

use crate::value::entry::{EndReason, Payload};
use crate::value::ids::PlayerId;

/// Number of turns that are remembered: many times those that begin between two pictures.
const BEGUN_MAX: usize = 64;

/// A turn that has begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BegunTurn {
    pub(crate) turn: u32,
    /// Number of frames that had passed before it, those of paused turns included.
    pub(crate) position: u32,
    /// Number of frames in it.
    pub(crate) frames: u32,
    /// 0 in a paused turn, which is not simulated.
    pub(crate) frames_per_second: u32,
    /// Hash of the calls before its first frame.
    pub(crate) told: u64,
}

/// Hashes the calls before the first frame of a turn, in their order.
#[derive(Clone, Default)]
pub(crate) struct TurnDigest(SipHasher13);

impl TurnDigest {
    pub(crate) fn gone(&mut self, player: PlayerId, reason: EndReason) {
        self.0.write(&[1, player.0, reason as u8]);
    }

    pub(crate) fn returned(&mut self, player: PlayerId) {
        self.0.write(&[2, player.0]);
    }

    pub(crate) fn played_for(&mut self, player: PlayerId) {
        self.0.write(&[3, player.0]);
    }

    /// A player's actions; none are no call.
    pub(crate) fn actions(&mut self, player: PlayerId, actions: &Payload) {
        if !actions.is_none() {
            self.0.write(&[4, player.0]);
            self.0.write(&actions.bit_count().to_le_bytes());
            self.0.write(actions.bytes());
        }
    }

    pub(crate) fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// The last turns that have begun, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct BegunTurns {
    turns: VecDeque<BegunTurn>,
    /// How often another state was loaded: what was told before does not lead to it.
    pub(crate) states_loaded: u32,
}

impl BegunTurns {
    pub(crate) fn new() -> Self {
        Self { turns: VecDeque::with_capacity(BEGUN_MAX), states_loaded: 0 }
    }

    pub(crate) fn push(&mut self, turn: BegunTurn) {
        if self.turns.len() == BEGUN_MAX {
            self.turns.pop_front();
        }
        self.turns.push_back(turn);
    }

    /// Another state is loaded.
    pub(crate) fn forget(&mut self) {
        self.turns.clear();
        self.states_loaded += 1;
    }

    /// The turns from this one on. None if the first of them is not remembered any more.
    pub(crate) fn since(&self, turn: u32) -> Option<impl Iterator<Item = &BegunTurn>> {
        let first = self.turns.front().map_or(turn, |begun| begun.turn);
        (first <= turn).then(|| self.turns.iter().filter(move |begun| begun.turn >= turn))
    }
}
