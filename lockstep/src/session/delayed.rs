//! What watchers get later than the players: entries and states, held back by the middle of the star, so that nobody plays by what a
//! watcher sees.

use std::collections::VecDeque;

use crate::session::Session;
use crate::session::blob::Blob;
use crate::session::guests::{GUEST_WINDOW, GuestStage};
use crate::session::link::Link;
use crate::value::action::Action;
use crate::value::ids::Identity;
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
}

impl Delayed {
    /// The state for watchers.
    pub(super) fn state(&self) -> Option<&Blob> {
        self.state.as_ref().map(|(blob, _)| blob)
    }

    /// Somebody has found that the state is not good.
    pub(super) fn forget_state(&mut self) {
        self.state = None;
    }
}

impl<A: Action> Session<A> {
    /// Whether what goes over this link is delayed.
    pub(super) fn is_delayed(&self, link: &Link) -> bool {
        self.setup.config.watch_delay > Duration::ZERO
            && self.setup.forwards()
            && link.identity == Some(Identity::Spectator)
    }

    /// The number of the first entry that must not go over this link yet.
    pub(super) fn shown_to(&self, link: &Link) -> u32 {
        if self.is_delayed(link) { self.delayed.shown } else { u32::MAX }
    }

    /// Time passes.
    pub(super) fn pass_delay(&mut self) {
        let delay = self.setup.config.watch_delay;
        if delay == Duration::ZERO || !self.setup.forwards() {
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
