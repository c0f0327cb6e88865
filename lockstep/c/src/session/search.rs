//! After a desync: the search for the first number that differs, in questions and answers between the peers.

use std::collections::VecDeque;

use testudo_lockstep::state::inquiry::{Finding, Inquiry, Moments};
use testudo_lockstep::state::{Leaf, Part, State, StateError, Visit};
use testudo_lockstep::{AnySession, Desync, Identity, Instant, Message, Search, To};

use crate::game::Game;

/// Bytes of the states that are kept.
const STATES_BYTES_MAX: usize = 64 << 20;

/// Messages of the game that wait for `testudo_match_poll_message` while the search runs, and their bytes. The others wait in the session.
const MESSAGES_MAX: usize = 256;
const MESSAGES_BYTES_MAX: usize = 128 << 10;

/// A game as it was: only to have its numbers shown, the game itself goes back to that time.
struct Past {
    game: Game,
    state: Vec<u8>,
    /// The numbers of the state that was loaded.
    leaves: Vec<Leaf>,
    /// The game has not returned to the present.
    is_lost: bool,
}

impl Past {
    fn new(game: Game, state: Vec<u8>) -> Self {
        Self { game, state, leaves: Vec::new(), is_lost: false }
    }
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
        out.extend_from_slice(&self.state);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let Self { game, leaves, .. } = self;
        let mut now = Vec::new();
        if self.is_lost || !game.write_state(&mut now) {
            return Err(StateError::Part { what: "the present state is not saved" });
        }
        leaves.clear();
        let is_loaded = game.read_state(bytes);
        if is_loaded {
            game.leaves(&mut |leaf| leaves.push(leaf));
        }
        // Also after a refusal, which may have come half way.
        let is_back = game.read_state(&now);
        self.is_lost = !is_back;
        if is_loaded && is_back {
            Ok(())
        } else {
            Err(StateError::Part { what: "the game refuses the state" })
        }
    }

    fn leaves(&self, each: &mut dyn FnMut(Leaf)) {
        self.leaves.iter().copied().for_each(each);
    }

    fn flip_bit(&mut self, _: &Leaf, bit: u32) -> Result<(), StateError> {
        Err(StateError::NoSuchBit { bit })
    }
}

/// What a match keeps for the search, and the search.
pub(super) struct Hunt {
    past: Moments,
    /// Who is asked, once the search begins, which needs the state after the turn that differs.
    due: Option<(Option<(To, Identity)>, Game)>,
    search: Search<Past>,
    /// Messages of the game.
    messages: VecDeque<Message>,
    /// The time of the last round.
    now: Instant,
    is_told: bool,
    is_loss_told: bool,
}

impl Hunt {
    /// For a game that names its numbers, and whose state can be kept.
    pub(super) fn new(game: &Game) -> Option<Self> {
        game.names_numbers().then(|| Self {
            past: Moments::default().bytes_max(STATES_BYTES_MAX),
            due: None,
            search: Search::default(),
            messages: VecDeque::new(),
            now: Instant::ZERO,
            is_told: false,
            is_loss_told: false,
        })
    }

    /// Keeps the state before a turn, until the peers have disagreed. A state that the game has not saved is none.
    pub(super) fn keep(&mut self, turn: u32, game: Game) {
        let mut state = Vec::new();
        if !self.search.has_begun() && game.write_state(&mut state) {
            self.past.push(turn, &mut Past::new(game, state));
        }
    }

    /// Another state comes: those before do not lead to it.
    pub(super) fn forget(&mut self) {
        self.past = Moments::default().bytes_max(STATES_BYTES_MAX);
    }

    /// The peers have disagreed: one with another value is asked. A watcher can ask the host alone.
    pub(super) fn begin(&mut self, desync: &Desync, game: Game, session: &AnySession) {
        let is_asked = |&&(player, value): &&(_, u64)| {
            let reaches = match session.player() {
                Some(own) => own != player && session.is_here(player),
                None => session.middle() == Some(Identity::Player(player)),
            };
            reaches && Some(value) != desync.own
        };
        let other = desync.values.iter().find(is_asked).map(|&(player, _)| {
            let to = if session.player().is_some() { To::Player(player) } else { To::Middle };
            (to, Identity::Player(player))
        });
        self.due = Some((other, game));
    }

    /// Between two turns: answers, and says what is to be said. Only while a search runs it takes the messages out of the session, as far as there is
    /// room: there they hold back a peer that sends too many.
    pub(super) fn advance(&mut self, session: &mut AnySession, now: Instant) {
        self.now = now;
        if let Some((other, game)) = self.due.take() {
            self.keep(session.next_turn().0, game);
            let past = std::mem::take(&mut self.past);
            self.search.begin(other, Inquiry::new(past, Past::new(game, Vec::new())));
        }
        while self.search.has_begun()
            && self.has_room()
            && let Some(message) = self.poll_session(session)
        {
            self.messages.push_back(message);
        }
        self.search.advance(session, now);
    }

    fn has_room(&self) -> bool {
        let bytes: usize = self.messages.iter().map(|message| message.bytes.len()).sum();
        self.messages.len() < MESSAGES_MAX && bytes < MESSAGES_BYTES_MAX
    }

    /// The oldest message of the game in the session; the search has those before it.
    fn poll_session(&mut self, session: &mut AnySession) -> Option<Message> {
        std::iter::from_fn(|| session.poll_message())
            .find(|message| !self.search.hear(message.clone(), self.now))
    }

    pub(super) fn poll_message(&mut self, session: &mut AnySession) -> Option<Message> {
        self.messages.pop_front().or_else(|| self.poll_session(session))
    }

    /// What the search came to, in words, once: also that it found nothing. And that the game is lost in the past.
    pub(super) fn poll_result(&mut self) -> Option<(Option<Finding>, String)> {
        let is_lost = self.search.inquiry_mut().is_some_and(|inquiry| inquiry.game().is_lost);
        if is_lost && !self.is_loss_told {
            (self.is_told, self.is_loss_told) = (true, true);
            return Some((
                None,
                "the game refuses its own present state: it plays on from an old one".into(),
            ));
        }
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
