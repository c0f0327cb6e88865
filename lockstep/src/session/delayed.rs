//! What watchers get later than the players: entries and states, held back by the middle of the star, so that nobody plays by what a
//! watcher sees.

use std::collections::VecDeque;

use crate::session::common::Common;
use crate::session::link::Link;
use crate::session::stream::{ARRIVAL_WINDOW, Stream};
use crate::session::transfer::arrival::ArrivalStage;
use crate::session::transfer::blob::Blob;
use crate::signed::statement::Statement;
use crate::value::ids::{PLAYERS_MAX, PlayerId};
use crate::value::time::{Duration, Instant};

/// Time between two notes of how far the match is.
const NOTE_EVERY: Duration = Duration::from_millis(100);

/// However long the delay is, watchers are at most this many entries behind: the middle keeps no more for them.
const BEHIND_MAX: u32 = ARRIVAL_WINDOW - 512;

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
    statements: [VecDeque<Statement>; PLAYERS_MAX as usize],
}

impl Delayed {
    /// A player has stated something that watchers may see later.
    pub(super) fn keep_statement(&mut self, statement: &Statement) {
        let kept = &mut self.statements[statement.author.index()];
        if kept.back().is_none_or(|newest| newest.turn < statement.turn) {
            kept.push_back(statement.clone());
        }
    }

    /// The newest statement of a player that watchers may see.
    pub(super) fn statement_of(&self, author: PlayerId) -> Option<&Statement> {
        self.statements[author.index()].front().filter(|statement| statement.turn.0 < self.shown)
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
        let delay = common.setup.config.watchers.watch_delay;
        if !common.delays() {
            return;
        }
        let complete = match common.streams.slowest_next() {
            // Nobody plays any more.
            u32::MAX => common.streams.iter().map(Stream::next).max().unwrap_or(0),
            complete => complete,
        };
        let is_due = self
            .notes
            .back()
            .is_none_or(|(at, number)| common.now.since(*at) >= NOTE_EVERY && complete != *number);
        if is_due {
            self.notes.push_back((common.now, complete));
        }
        while let Some((_, number)) = self.notes.pop_front_if(|(at, _)| common.now.since(*at) >= delay) {
            self.shown = self.shown.max(number);
        }
        self.shown = self.shown.max(complete.saturating_sub(BEHIND_MAX));
        for kept in &mut self.statements {
            while kept.get(1).is_some_and(|next| next.turn.0 < self.shown) {
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
