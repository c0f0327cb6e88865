//! Transport of statements: in the packets of the match, repeated until they are confirmed, forwarded by the middle of a star.

use smallvec::SmallVec;

use crate::packet::{Received, STATEMENTS_MAX, TurnsPacket};
use crate::session::AnySession;
use crate::session::link::Link;
use crate::session::signing::Signing;
use crate::signed::proof::Proof;
use crate::signed::statement::Statement;
use crate::value::ids::{Identity, PLAYERS_MAX, PlayerId};
use crate::value::time::{Duration, Instant};

/// Number of signatures that are checked for one link at once, and per second: twice what a star's middle sends with sixteen players.
const CHECKS_MAX: u32 = 32;

/// Shortest and longest time after which an unconfirmed statement is repeated.
const AGAIN_MIN: Duration = Duration::from_millis(300);
const AGAIN_MAX: Duration = Duration::from_millis(1_000);

/// The statements of one link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    /// For each author, the turn of the statement that was sent last, and the time.
    sent: [Option<(u32, Instant)>; PLAYERS_MAX as usize],
    /// For each author, the turn of the statement that was confirmed last.
    acked: [Option<u32>; PLAYERS_MAX as usize],
    /// Receipts that must be sent.
    received: SmallVec<[Received; 4]>,
    /// Number of signatures that may still be checked, and the time of that value.
    checks: Option<(u32, Instant)>,
    /// The remote has asked for the roster.
    pub(super) owes_roster: bool,
    /// When it was sent last during the match.
    pub(super) roster_sent: Option<Instant>,
}

impl Carried {
    fn owe_receipt(&mut self, turn: u32, author: PlayerId) {
        let bit = 1 << author.0;
        if let Some(received) = self.received.iter_mut().find(|received| received.turn == turn) {
            received.authors |= bit;
        } else if self.received.len() < 4 {
            self.received.push(Received { turn, authors: bit });
        }
    }

    /// Whether one more signature may be checked.
    fn may_check(&mut self, now: Instant) -> bool {
        let (left, since) = self.checks.get_or_insert((CHECKS_MAX, now));
        if now.since(*since) >= Duration::from_secs(1) {
            (*left, *since) = (CHECKS_MAX, now);
        }
        let may = *left > 0;
        *left = left.saturating_sub(1);
        may
    }
}

impl AnySession {
    /// Puts receipts and statements into a packet; returns an upper bound of their bits.
    pub(super) fn write_signed(&mut self, index: usize, turns: &mut TurnsPacket) -> u32 {
        let Some(signing) = &self.signing else { return 0 };
        let again = Duration::from_micros(self.pace.meter.network().as_micros() * 3 / 2);
        let again = again.clamp(AGAIN_MIN, AGAIN_MAX);
        let (now, is_mesh, forwards) = (self.now, self.setup.is_mesh(), self.setup.forwards());
        let own = self.setup.player();
        let is_delayed = self.is_delayed(&self.links[index]);
        let link = &mut self.links[index];
        turns.signed.wants_roster = signing.roster.is_none();
        turns.signed.received.extend(link.carried_statements.received.drain(..));
        for player in (0..self.setup.config.players).map(PlayerId) {
            let author = &signing.authors[player.index()];
            let statement = match signing.alarm {
                _ if link.identity == Some(Identity::Player(player)) => None,
                _ if is_delayed => self.delayed.statement_of(player),
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
            carried.sent[player.index()] = Some((turn, now));
            turns.signed.statements.push(statement.clone());
            if turns.signed.statements.len() >= STATEMENTS_MAX {
                break;
            }
        }
        turns.signed.bits()
    }

    /// Handles the signed part of a packet.
    pub(super) fn take_signed(&mut self, index: usize, turns: &TurnsPacket) {
        let Some(mut signing) = self.signing.take() else { return };
        let link = &mut self.links[index];
        link.carried_statements.owes_roster = turns.signed.wants_roster && self.setup.forwards();
        for received in &turns.signed.received {
            for author in crate::session::players_in(received.authors) {
                let carried = &mut link.carried_statements;
                if carried.sent[author.index()].is_some_and(|(turn, _)| turn == received.turn) {
                    carried.acked[author.index()] = Some(received.turn);
                }
            }
        }
        for statement in &turns.signed.statements {
            self.take_statement(&mut signing, index, statement);
        }
        self.signing = Some(signing);
    }

    fn take_statement(&mut self, signing: &mut Signing, index: usize, statement: &Statement) {
        let (author, turn) = (statement.author, statement.turn.0);
        let Some(roster) = &signing.roster else { return };
        if !self.may_state(&self.links[index], author) || self.setup.player() == Some(author) {
            self.stats.statements_invalid += 1;
            return;
        }
        // A peer begins a turn only when it has all of its entries, so no peer is further than the entries here and those in flight.
        let live = self.streams.iter().filter(|stream| stream.end().is_none());
        let slowest = live.map(crate::session::stream::Stream::next).min().unwrap_or(u32::MAX);
        let ends = self.streams[author.index()].end().is_some_and(|(last, _)| last <= turn);
        if ends || turn > slowest.saturating_add(self.setup.config.turns_ahead) {
            return;
        }
        let held = &signing.authors[author.index()];
        let is_older = held.held.front().is_some_and(|oldest| turn < oldest.turn.0);
        let before = held.at(turn);
        if is_older || before == Some(statement) {
            self.links[index].carried_statements.owe_receipt(turn, author);
            return;
        }
        if !self.links[index].carried_statements.may_check(self.now) {
            return;
        }
        if !statement.is_signed(roster) {
            self.stats.statements_invalid += 1;
            return;
        }
        self.links[index].carried_statements.owe_receipt(turn, author);
        if let Some(before) = before.cloned() {
            if !before.says_the_same(statement) {
                let proof = Proof { first: before, second: statement.clone(), opening: None };
                self.report_lie(signing, author, proof);
            }
            return;
        }
        self.hold(signing, statement.clone());
        self.judge_statements(signing, turn);
    }

    /// Whether a player's statements may arrive over this link.
    fn may_state(&self, link: &Link, author: PlayerId) -> bool {
        let Some(from) = link.identity else { return false };
        author.0 < self.setup.config.players
            && (from == Identity::Player(author) || self.setup.may_forward(from))
    }
}
