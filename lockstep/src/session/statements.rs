//! Transport of statements: in the packets of the match, repeated until they are confirmed, forwarded by the middle of a star.

use crate::packet::STATEMENTS_MAX;
use crate::packet::TurnsPacket;
use crate::session::common::Common;
use crate::session::delayed::Delayed;
use crate::session::signing::{Parts, Signing};
use crate::signed::proof::Proof;
use crate::signed::statement::Statement;
use crate::value::ids::Identity;
use crate::value::ids::PlayerId;
use crate::value::time::Duration;
use crate::value::time::Instant;

/// Shortest and longest time after which an unconfirmed statement is repeated.
const AGAIN_MIN: Duration = Duration::from_millis(300);
const AGAIN_MAX: Duration = Duration::from_millis(1_000);

impl Signing {
    /// Puts receipts and statements into a packet. Returns whether there are more, for another packet.
    ///
    /// An unconfirmed statement is repeated after one and a half times `round_trip`.
    pub(super) fn write(
        &self,
        common: &mut Common,
        delayed: &Delayed,
        index: usize,
        round_trip: Duration,
        turns: &mut TurnsPacket,
    ) -> bool {
        let again = Duration::from_micros(round_trip.as_micros() * 3 / 2);
        let again = again.clamp(AGAIN_MIN, AGAIN_MAX);
        let (now, is_mesh, forwards) = (common.now, common.setup.is_mesh(), common.setup.forwards());
        let own = common.setup.player();
        let is_delayed = common.is_delayed(&common.links[index]);
        let link = &mut common.links[index];
        turns.signed.wants_roster = self.roster.is_none();
        turns.signed.received.extend(link.carried_statements.received.drain(..));
        for player in (0..common.setup.config.players).map(PlayerId) {
            let author = &self.authors[player.index()];
            let statement = match self.alarm {
                _ if link.identity == Some(Identity::Player(player)) => None,
                _ if is_delayed => delayed.statement_of(player),
                _ if own == Some(player) || forwards => author.newest(),
                Some(turn) if is_mesh => author.at(turn),
                _ => None,
            };
            let Some(statement) = statement else { continue };
            let (turn, carried) = (statement.turn.0, &mut link.carried_statements);
            let is_known = carried.acked[player.index()].is_some_and(|acked| acked >= turn);
            let was_sent = |(sent, at): (u32, Instant)| sent == turn && now.since(at) < again;
            if is_known || carried.sent[player.index()].is_some_and(was_sent) {
                continue;
            }
            if turns.signed.statements.len() >= STATEMENTS_MAX {
                return true;
            }
            carried.sent[player.index()] = Some((turn, now));
            turns.signed.statements.push(statement.clone());
        }
        false
    }

    /// Handles the signed part of a packet.
    pub(super) fn take(&mut self, parts: &mut Parts<'_>, index: usize, turns: &TurnsPacket) {
        let link = &mut parts.common.links[index];
        link.carried_statements.owes_roster = turns.signed.wants_roster && parts.common.setup.forwards();
        for received in &turns.signed.received {
            for author in crate::session::players_in(received.authors) {
                let carried = &mut link.carried_statements;
                if carried.sent[author.index()].is_some_and(|(turn, _)| turn == received.turn) {
                    carried.acked[author.index()] = Some(received.turn);
                }
            }
        }
        for statement in &turns.signed.statements {
            self.take_statement(parts, index, statement);
        }
    }

    fn take_statement(&mut self, parts: &mut Parts<'_>, index: usize, statement: &Statement) {
        let (author, turn) = (statement.author, statement.turn.0);
        let Some(roster) = &self.roster else { return };
        if !parts.common.may_state(&parts.common.links[index], author)
            || parts.common.setup.player() == Some(author)
        {
            parts.common.stats.statements_invalid += 1;
            return;
        }
        // A peer begins a turn only when it has all of its entries, so no peer is further than the entries here and those in flight.
        let live = parts.common.streams.iter().filter(|stream| stream.end().is_none());
        let slowest = live.map(crate::session::stream::Stream::next).min().unwrap_or(u32::MAX);
        let ends = parts.common.streams[author.index()].end().is_some_and(|(last, _)| last <= turn);
        if ends || turn > slowest.saturating_add(parts.common.setup.config.turns_ahead) {
            return;
        }
        let held = &self.authors[author.index()];
        let is_older = held.held.front().is_some_and(|oldest| turn < oldest.turn.0);
        let before = held.at(turn);
        if is_older || before == Some(statement) {
            parts.common.links[index].carried_statements.owe_receipt(turn, author);
            return;
        }
        if !parts.common.links[index].carried_statements.checks.take(parts.common.now) {
            return;
        }
        if !statement.is_signed(roster) {
            parts.common.stats.statements_invalid += 1;
            return;
        }
        parts.common.links[index].carried_statements.owe_receipt(turn, author);
        if let Some(before) = before.cloned() {
            if !before.says_the_same(statement) {
                let proof = Proof { first: before, second: statement.clone(), opening: None };
                self.report_lie(parts.common, author, proof);
            }
            return;
        }
        self.keep(parts.common, parts.delayed, statement.clone());
        self.judge(parts, turn);
    }
}
