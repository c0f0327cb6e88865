//! Statements: what this peer has seen of the match, what the players have signed about it, and the consequences of a contradiction.

use std::collections::VecDeque;

use siphasher::sip::SipHasher24;
use smallvec::SmallVec;

use crate::packet::{SignedEnd, end_reason_number, entry_content};
use crate::session::AnySession;
use crate::session::event::Event;
use crate::session::header::HeaderSigning;
use crate::signed::chain::{AGREED_HASH_BYTES, ALL_HASH_BYTES, Opening, StreamHash};
use crate::signed::key::SIGNATURE_BYTES;
use crate::signed::proof::{Proof, Verdict};
use crate::signed::roster::Roster;
use crate::signed::statement::{Since, Statement};
use crate::value::entry::EndReason;
use crate::value::ids::{Identity, PLAYERS_MAX, PlayerId, Turn};

/// Game time between two statements, in microseconds: about a second, and less than 100 bytes per second of each player and link.
const INTERVAL: u64 = 1_150_000;

/// Number of this peer's views, and of others' statements, that are kept for late ones.
const KEPT: usize = 12;

/// Number of signed ends that are kept of one player, who may sign as many as it likes.
const ENDS_KEPT: usize = 16;

/// Two statements that cannot both be true. Reported once for each player involved.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Contradiction {
    /// Both statements, for anybody with the roster.
    pub proof: Proof,
    /// What they prove to anybody.
    pub verdict: Verdict,
    /// The possible liars. This peer excludes itself, and uses the links over which the statements arrived. A single suspect is the liar.
    /// Empty: this peer cannot tell.
    pub suspects: Vec<Identity>,
}

/// A player whose simulation reached another state than those of most players, with the same orders. More than half of the active players
/// have signed this.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Outlier {
    /// Up to the start of this turn.
    pub turn: Turn,
    /// The player.
    pub player: PlayerId,
    /// The statements of the majority, and as the last one the player's own.
    pub statements: Vec<Statement>,
}

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
    /// Mesh: players who have passed on entries of this one since its stream was last found to be right.
    pub(super) passed: u16,
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
    pub(super) fn new(players: u8, salt: u64) -> Self {
        Self {
            roster: None,
            salt,
            streams: [StreamHash::default(); PLAYERS_MAX as usize],
            elapsed: 0,
            checksum: 0,
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
        // What was seen with a state that was refused since is worth nothing; what the players have signed is.
        self.views.clear();
        for author in &mut self.authors {
            *author = Author { held: core::mem::take(&mut author.held), ..Author::default() };
        }
        true
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
    fn keep_end(&mut self, end: SignedEnd, oldest: u32) {
        let ends = &mut self.ends[end.player.index()];
        ends.retain(|other| other.number >= oldest);
        if ends.len() >= ENDS_KEPT {
            ends.remove(0);
        }
        ends.push(end);
    }

    pub(super) fn view(&self, turn: u32) -> Option<&View> {
        self.views.iter().find(|view| view.turn == turn)
    }

    /// Mesh: a peer other than the author has passed on entries.
    pub(super) fn note_passed(&mut self, author: PlayerId, by: Option<Identity>) {
        if let Some(Identity::Player(by)) = by.filter(|by| *by != Identity::Player(author)) {
            self.authors[author.index()].passed |= 1 << by.0;
        }
    }
}

/// A salt for this match, derived from this peer's secret.
pub(super) fn salt(secret: (u64, u64)) -> u64 {
    SipHasher24::new_with_keys(secret.0, secret.1).hash(b"salt")
}

impl AnySession {
    /// The roster on which all players have agreed. None before the match, or if the match is not signed.
    #[must_use]
    pub fn roster(&self) -> Option<&Roster> {
        self.signing.as_ref()?.roster.as_ref()
    }

    /// What the players have signed about the match so far, for whoever keeps evidence: the last dozen of each player's statements, player by player,
    /// oldest first, their signatures checked. None in a match that is not signed.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        let authors = self.signing.iter().flat_map(|signing| &signing.authors);
        authors.flat_map(|author| &author.held)
    }

    /// A turn begins with everybody's entries: about once per second of game time a statement is due.
    pub(super) fn state_turn(&mut self, turn: Turn) {
        let Some(mut signing) = self.signing.take() else { return };
        for (hash, stream) in signing.streams.iter_mut().zip(&self.streams) {
            // Not all peers have the entries that fill an absence.
            let is_away = stream.end_in(turn.0).is_some_and(|(last, _)| last < turn.0);
            if let Some(entry) = stream.get(turn.0).filter(|_| !is_away) {
                entry_content(&mut self.buffers.recoded, entry);
                hash.add(turn.0, self.buffers.recoded.bytes());
            }
        }
        let plan = self.pace.planner.plan();
        let frame = 1_000_000 / u64::from(plan.frames_per_second.max(1));
        signing.elapsed += u64::from(plan.frames_per_turn) * frame;
        if signing.elapsed >= INTERVAL || self.gate.last_turn == Some(turn.0) {
            signing.elapsed = 0;
            self.note_view(&mut signing, turn.0);
        } else {
            self.verify_rhythm(&signing, turn.0);
        }
        self.signing = Some(signing);
    }

    /// Keeps a statement whose signature is valid.
    pub(super) fn hold(&mut self, signing: &mut Signing, statement: Statement) {
        if self.delays() {
            self.delayed.keep_statement(&statement);
        }
        signing.hold(statement);
    }

    fn note_view(&mut self, signing: &mut Signing, turn: u32) {
        let goes_on = |player: &usize| self.streams[*player].end_in(turn).is_none();
        let live = (0..self.streams.len()).filter(goes_on).fold(0, |live, player| live | (1 << player));
        let shown = signing.streams.iter().take(self.streams.len()).map(StreamHash::shown);
        let opening = Opening(shown.collect());
        let agreed = self.header(turn, Some(signing)).agreed();
        let view =
            View { turn, live, all: opening.all(turn, live), opening, checksum: signing.checksum, agreed };
        if let (Some(player), Some(key), Some(roster)) =
            (self.setup.player(), &self.setup.config.key, &signing.roster)
            && live & (1 << player.0) != 0
        {
            let mut statement = Statement {
                author: player,
                turn: Turn(turn),
                live,
                own: view.opening.own(player.index()).unwrap_or_default(),
                all: view.all,
                checksum: signing.checksum,
                agreed,
                since: signing.since,
                signature: [0; SIGNATURE_BYTES],
            };
            statement.sign(roster, key);
            self.hold(signing, statement);
        }
        if signing.views.len() >= KEPT {
            signing.views.pop_front();
        }
        signing.views.push_back(view);
        // No other peer is further than this while this peer keeps up.
        let ahead = self.setup.config.turns_ahead.saturating_mul(2).saturating_add(1);
        let is_level = !self.is_catching_up() && self.slowest_next() <= turn.saturating_add(ahead);
        signing.level_views = if is_level { signing.level_views.saturating_add(1) } else { 0 };
        self.report_missing(signing, live);
        self.judge_statements(signing, turn);
        self.lose_patience(signing);
    }

    /// Reports players without a statement about the second-last due turn or a later one.
    fn report_missing(&mut self, signing: &mut Signing, live: u16) {
        let Some(oldest) =
            signing.views.len().checked_sub(3).filter(|_| signing.roster.is_some() && !self.is_catching_up())
        else {
            return;
        };
        let views =
            [0, 1, 2].map(|next| (signing.views[oldest + next].turn, signing.views[oldest + next].live));
        let (turn, live) = (views[0].0, live & views[0].1);
        let own = self.setup.player().map_or(0, |own| 1 << own.0);
        let is_level = signing.level_views > 2;
        // A statement about another turn, or about a match without this player, proves nothing here. A peer that catches up gets only the newest
        // ones.
        let says = |author: &Author, (turn, live): (u32, u16)| {
            author.at(turn).is_some_and(|said| live & own == 0 || said.live & own != 0)
                || (!is_level && author.newest().is_some_and(|newest| newest.turn.0 >= turn))
        };
        for player in crate::session::players_in(live & !own) {
            let author = &mut signing.authors[player.index()];
            let is_missing = !views.iter().any(|view| says(author, *view));
            if is_missing && !author.told_missing {
                tracing::warn!(player = player.0, turn, "no statement");
                self.emit(Event::StatementMissing { player, turn: Turn(turn) });
            }
            author.told_missing = is_missing;
        }
    }

    /// The player's own signature for the end of its stream with this entry.
    pub(super) fn signed_end(&self, player: PlayerId, number: u32, reason: EndReason) -> Option<SignedEnd> {
        let ends = &self.signing.as_ref()?.ends[player.index()];
        let fits = |end: &&SignedEnd| (end.number, end.reason) == (number, end_reason_number(reason) as u8);
        ends.iter().find(fits).copied()
    }

    /// The local player ends its stream with this entry and signs the end itself.
    pub(super) fn sign_end(&mut self, player: PlayerId, number: u32, reason: EndReason) {
        let Some(signing) = &mut self.signing else { return };
        if let (Some(key), Some(roster)) = (&self.setup.config.key, &signing.roster) {
            let reason = end_reason_number(reason) as u8;
            let signature = key.sign(&roster.end_message(player, number, reason));
            let oldest = self.streams[player.index()].oldest();
            signing.keep_end(SignedEnd { player, number, reason, signature }, oldest);
        }
    }

    /// Whether the player itself ends its stream with this entry: its signature is known, or came with the entry.
    pub(super) fn ends_itself(
        &mut self,
        player: PlayerId,
        number: u32,
        reason: EndReason,
        told: &[SignedEnd],
    ) -> bool {
        let oldest = self.streams[player.index()].oldest();
        let Some(signing) = &mut self.signing else { return true };
        let reason = end_reason_number(reason) as u8;
        let fits = |end: &SignedEnd| (end.player, end.number, end.reason) == (player, number, reason);
        if signing.ends[player.index()].iter().any(fits) {
            return true;
        }
        let (Some(roster), Some(end)) = (&signing.roster, told.iter().find(|end| fits(end))) else {
            return false;
        };
        let is_signed = roster.has_ended(player, number, reason, &end.signature);
        if is_signed {
            signing.keep_end(*end, oldest);
        }
        is_signed
    }
}
