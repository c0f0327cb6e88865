//! After a desync: the search for the first number that differs, in questions and answers between the peers.

use std::collections::VecDeque;

use testudo_lockstep::state::inquiry::{Finding, Inquiry, Moments};
use testudo_lockstep::state::{Leaf, Part, State, StateError, Visit};
use testudo_lockstep::{AnySession, Desync, Identity, Instant, Message, Search, To};

use crate::game::Game;

/// Messages of the game that wait for `testudo_match_poll_message`; then the oldest one is dropped.
const MESSAGES_MAX: usize = 64;

/// A game as it was: only while its numbers are shown, the game itself goes back to that time.
struct Past {
    game: Game,
    bytes: Vec<u8>,
}

impl State for Past {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.part(self)
    }
}

impl Part for Past {
    fn digest(&self) -> u64 {
        self.game.checksum()
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.game.write_state(out);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        bytes.clone_into(&mut self.bytes);
        Ok(())
    }

    fn leaves(&self, each: &mut dyn FnMut(Leaf)) {
        let mut now = Vec::new();
        if self.game.write_state(&mut now) && self.game.read_state(&self.bytes) {
            self.game.leaves(each);
            self.game.read_state(&now);
        }
    }

    fn flip_bit(&mut self, _: &Leaf, bit: u32) -> Result<(), StateError> {
        Err(StateError::NoSuchBit { bit })
    }
}

/// What a match keeps for the search, and the search.
pub(super) struct Hunt {
    past: Moments,
    search: Search<Past>,
    /// Messages of the game.
    messages: VecDeque<Message>,
    is_told: bool,
}

impl Hunt {
    /// For a game that names its numbers, and whose state can be kept.
    pub(super) fn new(game: &Game) -> Option<Self> {
        game.names_numbers().then(|| Self {
            past: Moments::default(),
            search: Search::default(),
            messages: VecDeque::new(),
            is_told: false,
        })
    }

    /// Keeps the state before a turn, until the peers have disagreed.
    pub(super) fn keep(&mut self, turn: u32, game: Game) {
        if !self.search.has_begun() {
            self.past.push(turn, &mut Past { game, bytes: Vec::new() });
        }
    }

    /// The peers have disagreed: one with another value is asked.
    pub(super) fn begin(&mut self, desync: &Desync, game: Game, session: &AnySession) {
        let differs = |&&(player, value): &&(_, u64)| {
            Some(value) != desync.own && session.is_here(player) && session.player() != Some(player)
        };
        let other = desync.values.iter().find(differs);
        let other = other.map(|&(player, _)| (To::Player(player), Identity::Player(player)));
        let past = std::mem::take(&mut self.past);
        self.search.begin(other, Inquiry::new(past, Past { game, bytes: Vec::new() }));
    }

    /// Hears and says what is to be said.
    pub(super) fn advance(&mut self, session: &mut AnySession, now: Instant) {
        while let Some(message) = session.poll_message() {
            if self.search.hear(message.clone(), now) {
                continue;
            }
            if self.messages.len() == MESSAGES_MAX {
                self.messages.pop_front();
            }
            self.messages.push_back(message);
        }
        self.search.advance(session, now);
    }

    pub(super) fn poll_message(&mut self) -> Option<Message> {
        self.messages.pop_front()
    }

    /// What the search came to, in words, once: also that it found nothing.
    pub(super) fn poll_result(&mut self) -> Option<(Option<Finding>, String)> {
        if self.is_told || !self.search.is_over() {
            return None;
        }
        self.is_told = true;
        let finding = self.search.finding().cloned();
        let words = finding.as_ref().map_or("no peer has said which number differs".into(), words_of);
        Some((finding, words))
    }
}

fn words_of(finding: &Finding) -> String {
    let Some(turn) = finding.frame else { return "all states that both peers have kept are equal".into() };
    let or_earlier = if finding.is_first { "" } else { " or earlier" };
    let what =
        finding.here.map(|leaf| format!("{} of {} {} is {}", leaf.name, leaf.kind, leaf.index, leaf.value));
    match (what, finding.there) {
        (Some(what), Some(there)) => format!("before turn {turn}{or_earlier}: {what} here and {there} there"),
        (Some(what), None) => format!("before turn {turn}{or_earlier}: {what} here and missing there"),
        (None, _) => {
            format!("before turn {turn}{or_earlier}: the other state has numbers that this one lacks")
        }
    }
}
