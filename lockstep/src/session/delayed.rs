//! What watchers get later than the players: entries and states, held back by the middle of the star, so that nobody plays by what a
//! watcher sees.

use std::collections::VecDeque;

use crate::session::common::Common;
use crate::session::link::Link;
use crate::session::stream::{ARRIVAL_WINDOW, Stream};
use crate::session::transfer::arrival::ArrivalStage;
use crate::session::transfer::blob::Blob;
use crate::signed::statement::{INTERVAL, Statement};
use crate::value::entry::SPEED_PERCENT_MAX;
use crate::value::ids::{PLAYERS_MAX, PlayerId};
use crate::value::time::{Duration, Instant};

/// Time between two notes of how far the match is.
const NOTE_EVERY: Duration = Duration::from_millis(100);

/// However long the delay is, watchers are at most this many entries behind: the middle keeps no more for them.
const BEHIND_MAX: u32 = ARRIVAL_WINDOW - 512;

/// Of the statements of a player that come within this time the middle keeps one: half of the shortest time between two that are due.
const STATEMENT_GAP: Duration = Duration::from_micros(INTERVAL * 100 / SPEED_PERCENT_MAX as u64 / 2);

/// How far watchers may see.
#[derive(Clone, Debug, Default)]
pub(super) struct Delayed {
    /// Times, and the number of the first entry that was not complete then.
    notes: VecDeque<(Instant, u32)>,
    /// Watchers get the entries below this number.
    shown: u32,
    /// A state for watchers.
    state: Option<Blob>,
    /// By author, oldest first: the newest statement that watchers may see, and those that they may not see yet. A statement says something
    /// of the turn that it is about.
    statements: [VecDeque<Kept>; PLAYERS_MAX as usize],
}

/// A statement, and when it came, or the first of those of which it is the newest.
#[derive(Clone, Debug)]
struct Kept {
    at: Instant,
    statement: Statement,
}

impl Kept {
    fn turn(&self) -> u32 {
        self.statement.turn.0
    }
}

impl Delayed {
    /// A player has stated something that watchers may see later. One that states something of every turn, though nothing is due, fills no memory: of several
    /// in a moment the newest is kept.
    pub(super) fn keep_statement(&mut self, statement: &Statement, now: Instant) {
        let kept = &mut self.statements[statement.author.index()];
        if kept.back().is_some_and(|newest| newest.turn() >= statement.turn.0) {
            return;
        }
        let shown = self.shown;
        let in_its_place =
            kept.pop_back_if(|newest| newest.turn() >= shown && now.since(newest.at) < STATEMENT_GAP);
        kept.push_back(Kept { at: in_its_place.map_or(now, |kept| kept.at), statement: statement.clone() });
    }

    /// The newest statement of a player that watchers may see.
    pub(super) fn statement_of(&self, author: PlayerId) -> Option<&Statement> {
        let first = self.statements[author.index()].front().filter(|kept| kept.turn() < self.shown);
        first.map(|kept| &kept.statement)
    }

    /// The number of the first entry that must not go over this link yet.
    pub(super) fn shown_to(&self, common: &Common, link: &Link) -> u32 {
        if common.is_delayed(link) { self.shown } else { u32::MAX }
    }

    /// What a watcher will have when it is as near as it may be.
    pub(super) fn near_end(&self, common: &Common, link: &Link, next: u32) -> u32 {
        next.min(self.shown_to(common, link))
    }

    /// When something becomes visible, if nothing else happens before.
    pub(super) fn due_at(&self, common: &Common) -> Option<Instant> {
        let delay = common.setup.config.watchers.watch_delay;
        let note = self.notes.front().map(|(at, _)| *at);
        note.map(|at| at + delay).filter(|at| *at > common.now)
    }

    /// Time passes.
    pub(super) fn pass(&mut self, common: &Common) {
        if !common.delays() {
            return;
        }
        let complete = match common.streams.slowest_next() {
            // Nobody plays any more.
            u32::MAX => common.streams.iter().map(Stream::next).max().unwrap_or(0),
            complete => complete,
        };
        self.note(complete, common.now, common.setup.config.watchers.watch_delay);
    }

    /// The entries below this number are complete now.
    fn note(&mut self, complete: u32, now: Instant, delay: Duration) {
        let is_due =
            self.notes.back().is_none_or(|(at, number)| now.since(*at) >= NOTE_EVERY && complete != *number);
        if is_due {
            self.notes.push_back((now, complete));
        }
        while let Some((_, number)) = self.notes.pop_front_if(|(at, _)| now.since(*at) >= delay) {
            self.shown = self.shown.max(number);
        }
        self.shown = self.shown.max(complete.saturating_sub(BEHIND_MAX));
        // Notes of what is shown already say nothing more. The last one says when the next is due.
        while self.notes.len() > 1 && self.notes.pop_front_if(|(_, number)| *number <= self.shown).is_some() {
        }
        for kept in &mut self.statements {
            while kept.get(1).is_some_and(|next| next.turn() < self.shown) {
                kept.pop_front();
            }
        }
    }

    // ---- states for watchers who come late

    /// Bytes of the state for watchers.
    pub(super) fn state_bytes(&self) -> u64 {
        self.state.as_ref().map_or(0, |blob| u64::from(blob.manifest().total))
    }

    /// The state for watchers, if they may see all that led to it.
    pub(super) fn visible_state(&self) -> Option<&Blob> {
        self.state.as_ref().filter(|blob| blob.turn() <= self.shown)
    }

    /// Whether a joining peer waits for a state that has to be asked for: a delayed watcher only until there is one that grows old enough.
    pub(super) fn wants_new_state(&self, common: &Common, link: &Link) -> bool {
        let waits = link.arrival.as_deref().is_some_and(|arrival| arrival.stage == ArrivalStage::Waiting);
        waits && !(common.is_delayed(link) && self.state.is_some())
    }

    /// Puts a state in transfer that is whole aside for delayed watchers. Forgets it when it is of use to none of them. A watcher that refuses the state does
    /// not take it away from others that get it. Returns whether it was put aside now.
    pub(super) fn keep_state(&mut self, common: &mut Common, transferred: &mut Option<Blob>) -> bool {
        if self.state.take_if(|blob| !is_of_use(common, blob)).is_some() {
            common.take_back_states(true);
        }
        if self.state.is_some() {
            return false;
        }
        let Some(blob) = transferred.take_if(|blob| blob.is_whole() && is_of_use(common, blob)) else {
            return false;
        };
        if common.links.values().any(|link| link.lacks_state() && !common.is_delayed(link)) {
            *transferred = Some(blob.clone());
        }
        self.state = Some(blob);
        true
    }
}

/// Whether a delayed watcher gets or may get this state.
fn is_of_use(common: &Common, blob: &Blob) -> bool {
    let uses = |link: &Link| {
        let arrival = link.arrival.as_deref().filter(|_| common.is_delayed(link));
        arrival.is_some_and(|arrival| {
            arrival.stage == ArrivalStage::Fed || arrival.can_use(blob.turn(), blob.manifest().source)
        })
    };
    // One of the first turns is followed by no entries that could be sent.
    common.streams.serve(blob.turn()) && common.links.values().any(uses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::ids::Turn;

    const DELAY: Duration = Duration::from_secs(12 * 3_600);

    fn statement(turn: u32) -> Statement {
        Statement {
            author: PlayerId(0),
            turn: Turn(turn),
            live: 1,
            own: Default::default(),
            all: Default::default(),
            checksum: 0,
            agreed: Default::default(),
            since: None,
            signature: [0; 64],
        }
    }

    /// Watchers see everything 3,584 entries later, however long the delay is; the notes of it stayed for the whole delay.
    #[test]
    fn what_watchers_have_seen_leaves_no_notes() {
        let mut delayed = Delayed::default();
        for turn in 0..200_000_u32 {
            delayed.note(turn, Instant::from_millis(u64::from(turn) * 200), DELAY);
            assert_eq!(delayed.shown, turn.saturating_sub(BEHIND_MAX));
            assert!(delayed.notes.len() <= BEHIND_MAX as usize + 1, "{}", delayed.notes.len());
        }
        assert!(delayed.notes.capacity() <= 8_192);
    }

    /// Whoever signed a statement of every turn had all of them kept until watchers had seen the turn.
    #[test]
    fn who_states_something_in_every_turn_has_no_more_kept_than_is_due() {
        for (turn_ms, every, most) in [(50, 1, 900), (50, 23, 158), (20, 23, 158), (200, 6, 600)] {
            let mut delayed = Delayed::default();
            for turn in 0..10_000_u32 {
                let now = Instant::from_millis(u64::from(turn) * turn_ms);
                delayed.note(turn, now, DELAY);
                if turn % every == 0 {
                    delayed.keep_statement(&statement(turn), now);
                }
                let kept = &delayed.statements[0];
                assert!(kept.len() <= most, "{} of {turn_ms} ms, {every}", kept.len());
                let newest = kept.back().map(Kept::turn);
                assert_eq!(newest, Some(turn - turn % every), "the newest, perhaps the last of the match");
                // What watchers may see stays, whatever comes.
                let seen = delayed.statement_of(PlayerId(0)).map(|seen| seen.turn.0);
                let needed = turn.checked_sub(BEHIND_MAX + 1 + 23);
                assert!(needed.is_none_or(|needed| seen > Some(needed)), "{seen:?} of {needed:?}");
            }
            let all = delayed.statements[0].len();
            assert!(every == 1 || all >= (BEHIND_MAX / every) as usize, "all that were due: {all}");
        }
    }
}
