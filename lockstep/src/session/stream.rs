//! One player's stream of entries: contiguous, each entry numbered by the turn in which it runs.

use std::collections::VecDeque;

use crate::session::saved::SavedStream;
use crate::value::entry::{EndReason, Entry};
use crate::value::ids::PeerId;

/// A player's entries that are still needed: to run, or for a peer that has not confirmed them.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// Number of the oldest entry kept.
    oldest: u32,
    entries: VecDeque<Entry>,
    /// Number of the last entry, and the reason for the end.
    end: Option<(u32, EndReason)>,
    /// The link that delivers this stream; none for a stream that originates here.
    pub(crate) source: Option<PeerId>,
}

impl Stream {
    /// A stream whose first entry will have the number `first`; the turns before it have no actions.
    pub(crate) fn new(first: u32) -> Self {
        Self { oldest: first, entries: VecDeque::with_capacity(16), end: None, source: None }
    }

    /// A stream that continues with saved entries from the number `first` on. If it had ended before, it keeps the reason.
    pub(crate) fn resumed(first: u32, saved: &SavedStream) -> Self {
        let mut stream = Self::new(first);
        for entry in &saved.entries {
            stream.push(entry.clone());
        }
        if let Some(reason) = saved.ended {
            stream.end = Some((first.saturating_sub(1), reason));
        }
        stream
    }

    /// Number of the next entry, one more than the newest.
    pub(crate) fn next(&self) -> u32 {
        self.oldest + self.entries.len() as u32
    }

    /// Number of the oldest entry that is kept.
    pub(crate) fn oldest(&self) -> u32 {
        self.oldest
    }

    /// Number of the last entry, if the stream has ended.
    pub(crate) fn end(&self) -> Option<(u32, EndReason)> {
        self.end
    }

    /// Whether this stream has the entry that the turn needs.
    pub(crate) fn has(&self, turn: u32) -> bool {
        turn < self.next() || self.end.is_some()
    }

    /// The entry of a turn. None before the first, after the end, or if it has been forgotten.
    pub(crate) fn get(&self, number: u32) -> Option<&Entry> {
        self.entries.get(number.checked_sub(self.oldest)? as usize)
    }

    /// Appends the next entry.
    pub(crate) fn push(&mut self, entry: Entry) {
        debug_assert!(self.end.is_none(), "nothing follows the end of a stream");
        if let Some(reason) = entry.end() {
            self.end = Some((self.next(), reason));
        }
        self.entries.push_back(entry);
    }

    /// Forgets entries below `number`.
    pub(crate) fn forget_below(&mut self, number: u32) {
        while self.oldest < number && self.entries.pop_front().is_some() {
            self.oldest += 1;
        }
    }
}
