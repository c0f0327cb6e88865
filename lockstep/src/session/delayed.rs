//! What watchers get later than the players: entries and states, held back by the middle of the star, so that nobody plays by what a
//! watcher sees.

use std::collections::VecDeque;

use crate::session::AnySession;
use crate::session::blob::Blob;
use crate::session::guests::{GUEST_WINDOW, GuestStage};
use crate::session::link::Link;
use crate::signed::statement::Statement;
use crate::value::ids::{Identity, PLAYERS_MAX, PlayerId};
use crate::value::time::{Duration, Instant};

/// Time between two notes of how far the match is.
const NOTE_EVERY: Duration = Duration::from_millis(100);

/// However long the delay is, watchers are at most this many entries behind: the middle keeps no more for them.
const BEHIND_MAX: u32 = GUEST_WINDOW - 512;

/// How far watchers may see.
#[derive(Clone, Debug, Default)]
pub(super) struct Delayed {
    /// Times, and the number of the first entry that was not complete then.
    notes: VecDeque<(Instant, u32)>,
    /// Watchers get the entries below this number.
    shown: u32,
    /// A state for watchers, and when it was here.
    state: Option<(Blob, Instant)>,
    /// By author, oldest first: the newest statement that watchers may see, and those that they may not see yet. A statement says something
    /// of the turn that it is about.
    statements: [VecDeque<Statement>; PLAYERS_MAX as usize],
}

impl Delayed {
    /// The state for watchers.
    pub(super) fn state(&self) -> Option<&Blob> {
        self.state.as_ref().map(|(blob, _)| blob)
    }

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

    /// Somebody has found that the state is not good.
    pub(super) fn forget_state(&mut self) {
        self.state = None;
    }
}

impl AnySession {
    /// Whether watchers get everything later from here.
    pub(super) fn delays(&self) -> bool {
        self.setup.config.watch_delay > Duration::ZERO && self.setup.forwards()
    }

    /// Whether what goes over this link is delayed.
    pub(super) fn is_delayed(&self, link: &Link) -> bool {
        self.delays() && link.identity == Some(Identity::Spectator)
    }

    /// The number of the first entry that must not go over this link yet.
    pub(super) fn shown_to(&self, link: &Link) -> u32 {
        if self.is_delayed(link) { self.delayed.shown } else { u32::MAX }
    }

    /// Time passes.
    pub(super) fn pass_delay(&mut self) {
        let delay = self.setup.config.watch_delay;
        if !self.delays() {
            return;
        }
        let complete = match self.slowest_next() {
            // Nobody plays any more.
            u32::MAX => self.streams.iter().map(crate::session::stream::Stream::next).max().unwrap_or(0),
            complete => complete,
        };
        let delayed = &mut self.delayed;
        let is_due = delayed
            .notes
            .back()
            .is_none_or(|(at, number)| self.now.since(*at) >= NOTE_EVERY && complete != *number);
        if is_due {
            delayed.notes.push_back((self.now, complete));
        }
        while let Some((_, number)) = delayed.notes.pop_front_if(|(at, _)| self.now.since(*at) >= delay) {
            delayed.shown = delayed.shown.max(number);
        }
        delayed.shown = delayed.shown.max(complete.saturating_sub(BEHIND_MAX));
        for kept in &mut delayed.statements {
            while kept.get(1).is_some_and(|next| next.turn.0 < delayed.shown) {
                kept.pop_front();
            }
        }
    }

    // ---- states for watchers who come late

    /// The state that may go over this link.
    pub(super) fn blob_for(&self, link: &Link) -> Option<&Blob> {
        if self.is_delayed(link) { self.delayed.state() } else { self.transfers.blob.as_ref() }
    }

    /// Whether a guest waits for a state that has to be asked for: a delayed watcher only until there is one that grows old enough.
    pub(super) fn wants_new_state(&self, link: &Link) -> bool {
        let waits = link.guest.as_deref().is_some_and(|guest| guest.stage == GuestStage::Waiting);
        waits && !(self.is_delayed(link) && self.delayed.state.is_some())
    }

    /// Puts a state aside for delayed watchers. It is forgotten when nobody needs it.
    pub(super) fn keep_state_for_watchers(&mut self) {
        let needs = |link: &Link| link.lacks_state() && self.is_delayed(link);
        if !self.links.values().any(needs) {
            self.delayed.state = None;
            return;
        }
        let others = self.links.values().any(|link| link.lacks_state() && !self.is_delayed(link));
        if self.delayed.state.is_none()
            && let Some(blob) = self.transfers.blob.take_if(|blob| blob.is_whole())
        {
            if others {
                self.transfers.blob = Some(blob.clone());
            }
            self.delayed.state = Some((blob, self.now));
            self.transfers.source = None;
        }
    }

    /// Whether the state for watchers is old enough.
    pub(super) fn may_show_state(&self) -> bool {
        let state = self.delayed.state.as_ref();
        state.is_some_and(|(_, since)| self.now.since(*since) >= self.setup.config.watch_delay)
    }

    /// When something becomes visible, if nothing else happens before.
    pub(super) fn delay_due_at(&self) -> Option<Instant> {
        let delay = self.setup.config.watch_delay;
        let note = self.delayed.notes.front().map(|(at, _)| *at);
        let state = self.delayed.state.as_ref().map(|(_, since)| *since);
        [note, state].into_iter().flatten().map(|at| at + delay).filter(|at| *at > self.now).min()
    }

    /// What a watcher will have when it is as near as it may be.
    pub(super) fn near_end(&self, link: &Link, next: u32) -> u32 {
        next.min(self.shown_to(link))
    }
}
