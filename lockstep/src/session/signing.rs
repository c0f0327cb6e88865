//! Statements: what this peer has seen of the match, what the players have signed about it, and the consequences of a contradiction.

use crate::pace::pacing::TurnPlan;
use crate::session::common::Common;
use crate::session::comparison::Comparison;
use crate::session::delayed::Delayed;
use crate::session::transfer::joiner::Joiner;
use crate::value::bits::BitWriter;
use std::collections::VecDeque;

use siphasher::sip::SipHasher24;
use smallvec::SmallVec;

use crate::packet::{SignedEnd, end_reason_number, entry_content};
use crate::session::event::Event;
use crate::session::mesh::DropAgreement;
use crate::session::stream::Stream;
use crate::session::transfer::header::HeaderSigning;
use crate::signed::chain::{AGREED_HASH_BYTES, ALL_HASH_BYTES, Opening, StreamHash};
use crate::signed::crypto::SIGNATURE_BYTES;
use crate::signed::roster::Roster;
use crate::signed::signed_before::SignedBefore;
use crate::signed::statement::{INTERVAL, Since, Statement};
use crate::value::entry::EndReason;
use crate::value::ids::{Identity, PLAYERS_MAX, PlayerId, Turn};

/// Number of this peer's views, and of others' statements, that are kept for late ones.
const KEPT: usize = 12;

/// Number of signed ends that are kept of one player beside those that its stream has: it may sign as many as it likes.
const ENDS_KEPT: usize = 16;

/// What this peer has seen when a turn began for which statements are due.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) turn: u32,
    pub(super) live: u16,
    pub(super) opening: Opening,
    pub(super) all: [u8; ALL_HASH_BYTES],
    /// What a statement of this peer would say: see [`Statement`].
    pub(super) checksum: u32,
    pub(super) agreed: [u8; AGREED_HASH_BYTES],
}

/// A player's statements.
#[derive(Clone, Debug, Default)]
pub(super) struct Author {
    /// Its last statements, oldest first.
    pub(super) held: VecDeque<Statement>,
    /// Statements up to this turn have been compared.
    pub(super) judged: Option<u32>,
    /// Mesh: the newest entry of this player that another one has passed on and that no statement has shown to be right yet.
    pub(super) passed: Option<u32>,
    pub(super) told_lie: bool,
    pub(super) told_liar: bool,
    pub(super) told_other: bool,
    pub(super) told_outlier: bool,
    pub(super) told_missing: bool,
}

impl Author {
    pub(super) fn at(&self, turn: u32) -> Option<&Statement> {
        self.held.iter().find(|statement| statement.turn.0 == turn)
    }

    pub(super) fn newest(&self) -> Option<&Statement> {
        self.held.back()
    }
}

/// The parts of a session that statements have to do with.
pub(super) struct Parts<'a> {
    pub(super) common: &'a mut Common,
    pub(super) joiner: &'a mut Joiner,
    pub(super) compared: &'a mut Comparison,
    pub(super) delayed: &'a mut Delayed,
    pub(super) mesh: &'a DropAgreement,
}

/// The part of a session that handles signatures.
#[derive(Clone, Debug)]
pub(crate) struct Signing {
    pub(super) roster: Option<Roster>,
    /// The local player's salt for this match.
    pub(super) salt: u64,
    /// Hashes of the entries up to the turn that began last.
    streams: [StreamHash; PLAYERS_MAX as usize],
    /// Game time since the last statement, in microseconds.
    elapsed: u64,
    /// Folded checksum of the newest turn whose checksums are exchanged.
    pub(super) checksum: u32,
    /// What the local player has signed, in this session or before.
    signed_before: Option<SignedBefore>,
    /// The state with which this peer has joined.
    pub(super) since: Option<Since>,
    pub(super) views: VecDeque<View>,
    pub(super) authors: SmallVec<[Author; 4]>,
    /// Signatures of players who ended their streams themselves, oldest first: a peer that is behind needs those of players who have come
    /// back since, too.
    pub(super) ends: SmallVec<[SmallVec<[SignedEnd; 1]>; 4]>,
    /// Views in a row that were noted while this peer kept up with the others.
    level_views: u32,
    /// Mesh: everybody's statements about this turn are sent to everybody, because some of them contradict each other.
    pub(super) alarm: Option<u32>,
}

impl Signing {
    pub(super) fn new(players: u8, salt: u64, signed_before: Option<SignedBefore>) -> Self {
        Self {
            roster: None,
            salt,
            streams: [StreamHash::default(); PLAYERS_MAX as usize],
            elapsed: 0,
            checksum: 0,
            signed_before,
            since: None,
            views: VecDeque::with_capacity(KEPT),
            authors: (0..players).map(|_| Author::default()).collect(),
            ends: (0..players).map(|_| SmallVec::new()).collect(),
            level_views: 0,
            alarm: None,
        }
    }

    /// What a peer needs that joins the running match before the turn that begins.
    pub(super) fn to_header(&self, players: usize) -> HeaderSigning {
        HeaderSigning {
            elapsed: self.elapsed,
            checksum: self.checksum,
            streams: self.streams.iter().take(players).copied().collect(),
            seats: self.roster.iter().flat_map(Roster::seats).collect(),
        }
    }

    /// Continues in a running match with this roster. The local player's key gives it its number back; false if the roster has another key
    /// for it.
    pub(super) fn go_on(
        &mut self,
        header: &HeaderSigning,
        roster: Roster,
        own: Option<(PlayerId, [u8; 32])>,
    ) -> bool {
        let seat = own.map(|(player, key)| (roster.seats().nth(player.index()).flatten(), key));
        match seat {
            Some((Some(seat), key)) if seat.key == key => self.salt = seat.salt,
            Some(_) => return false,
            None => {}
        }
        (self.elapsed, self.checksum, self.roster) = (header.elapsed, header.checksum, Some(roster));
        for (hash, known) in self.streams.iter_mut().zip(&header.streams) {
            *hash = *known;
        }
        // What was seen with a state that was refused since is worth nothing; what the players have signed is. Signatures of ends may have been checked with
        // its keys: they come again with the ends.
        self.views.clear();
        self.ends.iter_mut().for_each(SmallVec::clear);
        for author in &mut self.authors {
            *author = Author { held: core::mem::take(&mut author.held), ..Author::default() };
        }
        true
    }

    /// What the local player has signed of the match. Of a roster that was made before the start, with its own new salt, it has signed nothing.
    pub(super) fn signed_before(&self) -> Option<SignedBefore> {
        let hash = self.roster.as_ref().map(Roster::hash);
        let known = self.signed_before.filter(|signed| hash.is_none_or(|hash| signed.roster == *hash));
        known.or_else(|| hash.map(|hash| SignedBefore { roster: *hash, next: 0 }))
    }

    /// Whether the local player has signed nothing of this turn, nor of a later one.
    pub(super) fn is_unsigned(&self, turn: u32) -> bool {
        self.signed_before().is_none_or(|signed| turn >= signed.next)
    }

    fn hold(&mut self, statement: Statement) {
        let held = &mut self.authors[statement.author.index()].held;
        if held.len() >= KEPT {
            held.pop_front();
        }
        let place = held.partition_point(|other| other.turn <= statement.turn);
        held.insert(place, statement);
    }

    /// Keeps a player's signature for the end of its stream, as long as the stream keeps the entry.
    /// Whoever lacks that entry takes it only with the signature, and nothing else of its packet without.
    fn keep_end(&mut self, end: SignedEnd, stream: &Stream) {
        let ends = &mut self.ends[end.player.index()];
        ends.retain(|other| other.number >= stream.oldest());
        let is_spare = |other: &SignedEnd| !stream.has_ended_with(other.number);
        if ends.iter().filter(|other| is_spare(other)).count() >= ENDS_KEPT
            && let Some(oldest) = ends.iter().position(is_spare)
        {
            ends.remove(oldest);
        }
        ends.push(end);
    }

    pub(super) fn view(&self, turn: u32) -> Option<&View> {
        self.views.iter().find(|view| view.turn == turn)
    }

    /// New entries of a player have come up to this one. Mesh: perhaps another peer has passed them on.
    pub(super) fn note_passed(&mut self, author: PlayerId, by: Option<Identity>, newest: Option<u32>) {
        if by != Some(Identity::Player(author)) {
            self.authors[author.index()].passed = newest;
        }
    }
}

/// A salt for this match, derived from this peer's secret.
pub(super) fn salt(secret: (u64, u64)) -> u64 {
    SipHasher24::new_with_keys(secret.0, secret.1).hash(b"salt")
}

impl Signing {
    /// Hashes the entries of a turn that begins with everybody's entries. About once per second of game time a statement is due: returns
    /// whether it is now.
    pub(super) fn begin_turn(
        &mut self,
        common: &Common,
        turn: u32,
        plan: TurnPlan,
        scratch: &mut BitWriter,
    ) -> bool {
        for (hash, stream) in self.streams.iter_mut().zip(&common.streams) {
            if let Some(entry) = stream.get(turn) {
                entry_content(scratch, entry);
                hash.add(turn, scratch.bytes());
            }
        }
        let frame = 1_000_000 / u64::from(plan.frames_per_second.max(1));
        self.elapsed += u64::from(plan.frames_per_turn) * frame;
        let is_due = self.elapsed >= INTERVAL || common.gate.last_turn == Some(turn);
        if is_due {
            self.elapsed = 0;
        }
        is_due
    }

    /// Keeps a statement whose signature is valid.
    pub(super) fn keep(&mut self, common: &Common, delayed: &mut Delayed, statement: Statement) {
        if common.delays() {
            delayed.keep_statement(&statement, common.now);
        }
        self.hold(statement);
    }

    /// Notes what this peer has seen up to the start of this turn, and signs it. `agreed` is the hash of the match before the turn.
    pub(super) fn note_view(&mut self, parts: &mut Parts<'_>, turn: u32, agreed: [u8; AGREED_HASH_BYTES]) {
        let live = parts.common.streams.live_in(turn);
        let shown = self.streams.iter().take(parts.common.streams.len()).map(StreamHash::shown);
        let opening = Opening(shown.collect());
        let view =
            View { turn, live, all: opening.all(turn, live), opening, checksum: self.checksum, agreed };
        // A player who comes back is a watcher until its return: it may pass turns that its former self has signed.
        if let (Some(player), Some(key), Some(roster)) =
            (parts.common.streams.author(), &parts.common.setup.config.own.key, &self.roster)
            && live & (1 << player.0) != 0
            && !parts.joiner.is_active()
            && self.is_unsigned(turn)
        {
            let mut statement = Statement {
                author: player,
                turn: Turn(turn),
                live,
                own: view.opening.own(player.index()).unwrap_or_default(),
                all: view.all,
                checksum: self.checksum,
                agreed,
                since: self.since,
                signature: [0; SIGNATURE_BYTES],
            };
            statement.sign(roster, key);
            self.signed_before = Some(SignedBefore { roster: *roster.hash(), next: turn.saturating_add(1) });
            self.keep(parts.common, parts.delayed, statement);
        }
        if self.views.len() >= KEPT {
            self.views.pop_front();
        }
        self.views.push_back(view);
        // No other peer is further than this while this peer keeps up.
        let ahead = parts.common.setup.config.turns_ahead.saturating_mul(2).saturating_add(1);
        let is_level = !parts.joiner.is_catching_up()
            && parts.common.streams.slowest_next() <= turn.saturating_add(ahead);
        self.level_views = if is_level { self.level_views.saturating_add(1) } else { 0 };
        self.report_missing(parts, live);
        self.judge(parts, turn);
        let confirm = self.views.iter().fold(0, |all, view| all | self.votes_on(view).same);
        parts.joiner.lose_patience(parts.common, turn, live, confirm);
    }

    /// Reports players without a statement about the second-last due turn or a later one.
    fn report_missing(&mut self, parts: &mut Parts<'_>, live: u16) {
        let Some(oldest) = self
            .views
            .len()
            .checked_sub(3)
            .filter(|_| self.roster.is_some() && !parts.joiner.is_catching_up())
        else {
            return;
        };
        let views = [0, 1, 2].map(|next| (self.views[oldest + next].turn, self.views[oldest + next].live));
        let (turn, live) = (views[0].0, live & views[0].1);
        let own = parts.common.own();
        let is_level = self.level_views > 2;
        // A statement about another turn, or about a match without this player, proves nothing here. A peer that catches up gets only the newest
        // ones.
        let says = |author: &Author, (turn, live): (u32, u16)| {
            author.at(turn).is_some_and(|said| live & own == 0 || said.live & own != 0)
                || (!is_level && author.newest().is_some_and(|newest| newest.turn.0 >= turn))
        };
        for player in crate::session::players_in(live & !own) {
            let author = &mut self.authors[player.index()];
            let is_missing = !views.iter().any(|view| says(author, *view));
            if is_missing && !author.told_missing {
                tracing::warn!(player = player.0, turn, "no statement");
                parts.common.emit(Event::StatementMissing { player, turn: Turn(turn) });
            }
            author.told_missing = is_missing;
        }
    }

    /// The player's own signature for the end of its stream with this entry.
    pub(super) fn end_of(&self, player: PlayerId, number: u32, reason: EndReason) -> Option<SignedEnd> {
        let ends = &self.ends[player.index()];
        let fits = |end: &&SignedEnd| (end.number, end.reason) == (number, end_reason_number(reason) as u8);
        ends.iter().find(fits).copied()
    }

    /// The local player ends its stream with this entry and signs the end itself.
    pub(super) fn sign_end(&mut self, common: &Common, player: PlayerId, number: u32, reason: EndReason) {
        if let (Some(key), Some(roster)) = (&common.setup.config.own.key, &self.roster) {
            let reason = end_reason_number(reason) as u8;
            let mut end = SignedEnd { player, number, reason, signature: [0; SIGNATURE_BYTES] };
            end.sign(roster, key);
            self.keep_end(end, &common.streams[player.index()]);
        }
    }

    /// Whether the player itself ends its stream with this entry: its signature is known, or came with the entry.
    pub(super) fn ends_itself(
        &mut self,
        common: &mut Common,
        index: usize,
        (player, number, reason): (PlayerId, u32, EndReason),
        told: &[SignedEnd],
    ) -> bool {
        let reason = end_reason_number(reason) as u8;
        let fits = |end: &SignedEnd| (end.player, end.number, end.reason) == (player, number, reason);
        if self.ends[player.index()].iter().any(fits) {
            return true;
        }
        let (Some(roster), Some(end)) = (&self.roster, told.iter().find(|end| fits(end))) else {
            return false;
        };
        // A refused packet is sent again.
        if !common.links[index].carried_statements.end_checks.take(common.now) {
            return false;
        }
        let is_signed = roster.has_ended(player, number, reason, &end.signature);
        common.stats.ends_invalid += u64::from(!is_signed);
        if is_signed {
            self.keep_end(*end, &common.streams[player.index()]);
        }
        is_signed
    }
}

#[cfg(all(test, feature = "signed"))]
mod tests {
    use super::*;
    use crate::signed::key::PlayerKey;
    use crate::signed::roster::Seat;

    /// A watcher believed the host that a player had surrendered: a key that had come with a state, which was refused, had signed the end.
    #[test]
    fn what_was_signed_with_the_keys_of_a_refused_state_is_not_believed_with_the_next() {
        let seats = |secret: u8| {
            let key = PlayerKey::from_secret([secret; 32]).public().to_bytes();
            [Some(Seat { key, salt: 1 }), None]
        };
        let header = |secret| HeaderSigning { seats: seats(secret).to_vec(), ..HeaderSigning::default() };
        let roster = |secret| Roster::new(7, &seats(secret)).unwrap();
        let mut signing = Signing::new(2, 0, None);
        assert!(signing.go_on(&header(1), roster(1), None));
        let reason = end_reason_number(EndReason::Surrendered) as u8;
        let mut end = SignedEnd { player: PlayerId(0), number: 9, reason, signature: [0; SIGNATURE_BYTES] };
        end.sign(&roster(1), &PlayerKey::from_secret([1; 32]));
        signing.keep_end(end, &Stream::new(5));
        assert!(signing.end_of(PlayerId(0), 9, EndReason::Surrendered).is_some());
        assert!(signing.go_on(&header(2), roster(2), None));
        assert_eq!(signing.end_of(PlayerId(0), 9, EndReason::Surrendered).map(|end| end.number), None);
    }
}
