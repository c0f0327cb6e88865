//! The result of the match: every player reports what its simulation found, and all peers compare.

use crate::session::common::Common;
use crate::session::event::Event;
use crate::session::match_result::MatchResult;
use crate::session::stream::Stream;
use crate::value::ids::{PLAYERS_MAX, PlayerId, Turn};

/// The players' results. Each player reports one, once.
#[derive(Clone, Debug, Default)]
pub(super) struct Results {
    /// Travels with the next entry.
    request: Option<u32>,
    /// The result of this peer's simulation, and the turn at whose end it was found.
    own: Option<(u32, u32)>,
    own_is_settled: bool,
    /// Each player's report (turn, value), and whether it has been compared.
    claims: [Option<(u32, u32, bool)>; PLAYERS_MAX as usize],
    /// Reports about turns before this one were compared without this peer.
    floor: u32,
}

impl Results {
    /// Takes what travels with the entry that closes.
    pub(super) fn take_request(&mut self) -> Option<u32> {
        self.request.take()
    }

    /// Continues from a turn before which the match was decided like this, or not at all.
    pub(super) fn go_on(&mut self, turn: u32, own: Option<(u32, u32)>) {
        *self = Self { own, own_is_settled: own.is_some(), floor: turn, ..Self::default() };
    }

    /// The result of this peer's simulation, and the turn at whose end it was found.
    pub(super) fn own(&self) -> Option<(u32, u32)> {
        self.own
    }

    /// A player reports that the match was decided at the end of a turn. Only the first report counts.
    pub(super) fn note(&mut self, turn: u32, player: PlayerId, value: u32) {
        if let Some(claim) = self.claims.get_mut(player.index()).filter(|_| turn >= self.floor) {
            claim.get_or_insert((turn, value, false));
        }
    }

    /// The first reported turn that has not been compared.
    fn first_turn(&self) -> Option<u32> {
        let claims = self.claims.iter().flatten().filter(|claim| !claim.2).map(|claim| claim.0);
        let own = self.own.filter(|_| !self.own_is_settled).map(|own| own.0);
        claims.chain(own).min()
    }

    fn value_of(&self, player: PlayerId, turn: u32) -> Option<u32> {
        self.claims[player.index()].filter(|claim| claim.0 == turn).map(|claim| claim.1)
    }

    /// Marks the reports about this turn as compared.
    fn settle(&mut self, turn: u32) {
        for claim in self.claims.iter_mut().flatten().filter(|claim| claim.0 == turn) {
            claim.2 = true;
        }
        self.own_is_settled |= self.own.is_some_and(|own| own.0 == turn);
    }

    /// Compares the reports about a turn once no more can come.
    pub(super) fn compare(&mut self, common: &mut Common) {
        while let Some(turn) = self.first_turn() {
            let simulated = common.gate.turn > turn && !(common.gate.in_turn && common.gate.turn - 1 == turn);
            if !(simulated || common.setup.is_relay()) {
                return;
            }
            // The entry that closes after the turn's end carries the report.
            let number = turn.saturating_add(common.setup.config.turns_ahead).saturating_add(1);
            let speaks = |stream: &Stream| stream.is_own(number);
            if common.streams.iter().any(|stream| speaks(stream) && stream.next() <= number) {
                return;
            }
            let players = (0_u8..).map(PlayerId).zip(&common.streams);
            let values: Vec<_> = players
                .map(|(player, stream)| (player, stream, self.value_of(player, turn)))
                .filter(|(_, stream, value)| speaks(stream) || value.is_some())
                .map(|(player, _, value)| (player, value))
                .collect();
            let own = self.own.filter(|own| own.0 == turn).map(|own| own.1);
            self.settle(turn);
            let first = own.or(values.first().and_then(|(_, value)| *value));
            let own_agrees = own.is_some() || common.setup.is_relay();
            let agreed = own_agrees && values.iter().all(|(_, value)| value.is_some() && *value == first);
            if !agreed {
                tracing::error!(turn, ?values, ?own, "results differ");
            }
            common.emit(Event::MatchResult(MatchResult { turn: Turn(turn), values, own, agreed }));
        }
    }

    /// The local simulation reports the result in the turn that has begun. Only the first report counts.
    pub(super) fn report(&mut self, common: &Common, value: u32) {
        if !common.gate.in_turn || self.own.is_some() {
            return;
        }
        let turn = common.gate.turn - 1;
        self.own = Some((turn, value));
        // Nobody expects a report of a player whose entry for that is made by the middle of the star, right before its return.
        let number = turn.saturating_add(common.setup.config.turns_ahead).saturating_add(1);
        let speaks = |player: &PlayerId| common.streams[player.index()].is_own(number);
        if let Some(player) = common.setup.player().filter(speaks) {
            self.request = Some(value);
            self.note(turn, player, value);
        }
    }
}
