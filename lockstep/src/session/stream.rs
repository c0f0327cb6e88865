//! One player's stream of entries: contiguous, each entry numbered by the turn in which it runs.

use core::ops::Range;
use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::session::saved_match::SavedStream;
use crate::value::entry::{EndReason, Entry, Extra};
use crate::value::ids::PeerId;

/// Number of entries of one stream that are kept for a peer that is catching up.
pub(crate) const ARRIVAL_WINDOW: u32 = 4_096;

/// Room for so many entries stays when they are forgotten.
const ROOM_KEPT: usize = 64;

/// An absence is remembered until this many entries of the return are forgotten, because turns that have run are still asked for: whose entry was the
/// player's own is known of as many turns as checksums may be late.
const RETURNS_KEPT: u32 = 1_024;

/// Turns in which a player that came back was away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Absence {
    /// Number of the entry that ended the stream, and the reason.
    last: u32,
    reason: EndReason,
    /// Number of the entry with which it continues.
    first: u32,
    /// Number of the first entry that the player made itself.
    own: u32,
}

/// A player's entries that are still needed: to run, or for a peer that has not confirmed them.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// Number of the oldest entry kept.
    oldest: u32,
    entries: VecDeque<Entry>,
    /// Bytes that the entries take beside themselves.
    heap_bytes: u64,
    /// Number of the last entry, and the reason for the end.
    end: Option<(u32, EndReason)>,
    /// Past absences, oldest first, as long as their turns may still be read.
    absences: SmallVec<[Absence; 1]>,
    /// The link that delivers this stream; none for a stream that originates here.
    pub(crate) source: Option<PeerId>,
}

impl Stream {
    /// A stream whose first entry will have the number `first`; the turns before it have no actions.
    pub(crate) fn new(first: u32) -> Self {
        Self {
            oldest: first,
            entries: VecDeque::with_capacity(16),
            heap_bytes: 0,
            end: None,
            absences: SmallVec::new(),
            source: None,
        }
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

    /// Bytes that the entries take, at most.
    #[cfg(feature = "codes")]
    pub(crate) fn bytes(&self) -> u64 {
        self.heap_bytes + (self.entries.capacity() * size_of::<Entry>()) as u64
    }

    /// Number of the oldest entry that is kept.
    pub(crate) fn oldest(&self) -> u32 {
        self.oldest
    }

    /// Number of the last entry, if the stream has ended.
    pub(crate) fn end(&self) -> Option<(u32, EndReason)> {
        self.end
    }

    /// A stream that ended before the entries that are still to come.
    pub(crate) fn ended(last: u32, reason: EndReason) -> Self {
        Self { end: Some((last, reason)), ..Self::new(last.saturating_add(1)) }
    }

    /// Continues the stream with the entry `first`, and `made` empty entries; the player makes the entries after them, over the connection
    /// with this number. `filler` is an empty entry.
    pub(crate) fn go_on(&mut self, first: u32, made: u32, connection: u16, filler: &Entry) {
        let Some((last, reason)) = self.end.take() else { return };
        let own = first.saturating_add(made);
        self.absences.push(Absence { last, reason, first, own });
        // Whoever still lacks an entry from before so long an absence is lost.
        if first.saturating_sub(self.next()) > ARRIVAL_WINDOW {
            (self.entries, self.heap_bytes) = (VecDeque::new(), 0);
        }
        if self.entries.is_empty() {
            self.oldest = first;
        }
        for number in self.next()..own {
            let mut entry = filler.clone();
            if number == first {
                entry.extras.push(Extra::Return(connection));
            }
            self.keep(entry);
        }
    }

    fn keep(&mut self, entry: Entry) {
        self.heap_bytes += entry.heap_bytes();
        self.entries.push_back(entry);
    }

    /// The end that applies in this turn, if the player is away in it: number of the last entry, and the reason.
    pub(crate) fn end_in(&self, turn: u32) -> Option<(u32, EndReason)> {
        let over = self.absences.iter().find(|away| (away.last..away.first).contains(&turn));
        over.map(|away| (away.last, away.reason)).or(self.end.filter(|(last, _)| *last <= turn))
    }

    /// The end that was the last word before the entry with this number: number of the last entry, and the reason. A return with this very
    /// entry does not count yet.
    pub(crate) fn ended_before(&self, number: u32) -> Option<(u32, EndReason)> {
        let over = self.absences.iter().find(|away| away.last < number && number <= away.first);
        over.map(|away| (away.last, away.reason)).or(self.end.filter(|(last, _)| *last < number))
    }

    /// Whether the entry with this number is or was the last one, also if the player has come back since.
    pub(crate) fn has_ended_with(&self, number: u32) -> bool {
        let is_past = self.absences.iter().any(|away| away.last == number);
        is_past || self.end.is_some_and(|(last, _)| last == number)
    }

    /// Whether the player itself makes (or made) the entry with this number.
    pub(crate) fn is_own(&self, number: u32) -> bool {
        let made = self.absences.iter().any(|away| (away.last..away.own).contains(&number));
        !made && self.end.is_none_or(|(last, _)| last > number)
    }

    /// The first return that a peer does not know which lacks this entry and those after it.
    pub(crate) fn return_after(&self, acked: u32) -> Option<u32> {
        self.absences.iter().map(|away| away.first).find(|first| acked <= *first)
    }

    /// Whether the stream continues after an absence, and none of its entries since are the player's own.
    pub(crate) fn is_pending(&self) -> bool {
        self.end.is_none() && self.absences.last().is_some_and(|away| away.own == self.next())
    }

    /// The consecutive entries from `first` on without an absence between them, as a range of numbers.
    pub(crate) fn run_from(&self, first: u32) -> Range<u32> {
        let mut first = first;
        for away in &self.absences {
            if first <= away.last {
                return first..away.last + 1;
            }
            first = if first < away.first { away.first } else { first };
        }
        first..self.next()
    }

    /// The first entry for a peer that has the state before this turn.
    pub(crate) fn first_after(&self, turn: u32) -> u32 {
        match self.absences.iter().find(|away| (away.last + 1..=away.first).contains(&turn)) {
            Some(away) => away.first,
            None => self.end.map_or(turn, |(last, _)| turn.min(last.saturating_add(1))),
        }
    }

    /// Whether all entries are here that a peer with the state before this turn needs.
    pub(crate) fn serves(&self, turn: u32) -> bool {
        self.oldest <= self.first_after(turn)
    }

    /// Whether this stream has the entry that the turn needs.
    pub(crate) fn has(&self, turn: u32) -> bool {
        turn < self.next() || self.end.is_some()
    }

    /// The entry of a turn. None before the first, after the end, during an absence, or if it has been forgotten. (Entries that fill an absence are
    /// kept by some peers only. In input mode they look like actions.)
    pub(crate) fn get(&self, number: u32) -> Option<&Entry> {
        if self.absences.iter().any(|away| (away.last + 1..away.first).contains(&number)) {
            return None;
        }
        self.entries.get(number.checked_sub(self.oldest)? as usize)
    }

    /// Appends the next entry.
    pub(crate) fn push(&mut self, entry: Entry) {
        debug_assert!(self.end.is_none(), "nothing follows the end of a stream");
        if let Some(reason) = entry.end() {
            self.end = Some((self.next(), reason));
        }
        self.keep(entry);
    }

    /// Forgets entries below `number`.
    pub(crate) fn forget_below(&mut self, number: u32) {
        while self.oldest < number
            && let Some(entry) = self.entries.pop_front()
        {
            self.heap_bytes -= entry.heap_bytes();
            self.oldest += 1;
        }
        // A stream that was long for a while does not stay as large.
        let kept = self.entries.len().max(ROOM_KEPT);
        if self.entries.capacity() > 4 * kept {
            self.entries.shrink_to(2 * kept);
        }
        let oldest = self.oldest;
        // A peer that has none of the entries may still have to learn that the stream continues.
        self.absences.retain(|away| away.own.saturating_add(RETURNS_KEPT) > oldest);
    }

    /// Forgets all entries, and keeps no room for others.
    #[cfg(feature = "codes")]
    pub(crate) fn forget_all(&mut self) {
        self.oldest = self.next();
        (self.entries, self.heap_bytes) = (VecDeque::new(), 0);
    }
}

#[cfg(all(test, feature = "codes"))]
mod tests {
    use super::*;
    use crate::value::entry::Payload;

    /// What a relay counts against a household: it was not counted at all.
    #[test]
    fn a_stream_takes_the_bytes_of_what_it_keeps() {
        let mut stream = Stream::new(0);
        let none = stream.bytes();
        for entry in 0..2_000_u32 {
            let payload = Payload::new(&[entry as u8; 200], 1_600);
            stream.push(Entry { payload, ..Entry::default() });
        }
        let actions = 2_000 * (200 + 2 * size_of::<usize>() as u64);
        let most = actions + 2_000 * 16 + 2_048 * size_of::<Entry>() as u64;
        assert!((actions..=most).contains(&stream.bytes()), "{}", stream.bytes());
        stream.forget_below(1_990);
        assert!(stream.bytes() < none + 40_000, "{}", stream.bytes());
        stream.forget_below(2_000);
        assert_eq!(stream.heap_bytes, 0);
    }

    /// Somebody had never acknowledged the end of the stream, and all the time since was filled with entries.
    #[test]
    fn a_long_absence_is_not_filled_with_entries() {
        for (absence, kept) in
            [(0, 5), (ARRIVAL_WINDOW, 5 + ARRIVAL_WINDOW), (ARRIVAL_WINDOW + 1, 2), (4_000_000_000, 2)]
        {
            let mut stream = Stream::new(100);
            stream.push(Entry::default());
            stream.push(Entry::default());
            stream.push(Entry {
                extras: [Extra::End(EndReason::Dropped)].into_iter().collect(),
                ..Entry::default()
            });
            let first = stream.next() + absence;
            stream.go_on(first, 2, 1, &Entry::default());
            assert_eq!((stream.next(), stream.entries.len() as u32), (first + 2, kept), "{absence}");
            assert!(stream.get(first).is_some_and(|entry| entry.returns() == Some(1)), "{absence}");
            assert_eq!(
                (stream.end_in(first - 1), stream.is_pending()),
                (Some((102, EndReason::Dropped)), true),
                "{absence}"
            );
        }
    }
}
