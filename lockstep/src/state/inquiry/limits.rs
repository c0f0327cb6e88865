//! How much work a member may ask for.

use core::hash::BuildHasherDefault;

use indexmap::IndexMap;
use siphasher::sip::SipHasher13;

use crate::state::inquiry::InquiryError;
use crate::value::ids::{PLAYERS_MAX, PeerId};
use crate::value::time::{Duration, Instant};

/// Time that a question costs who asks it: eight per second. With lost messages asked again, a search needs fewer.
const QUESTION_MS: u64 = 125;

/// Questions that may come at once.
const QUESTIONS_AT_ONCE: u64 = 24;

/// Answers that are kept.
const ANSWERS_MAX: usize = 32;

/// Without a random key: both tables are small and bounded.
type Hasher = BuildHasherDefault<SipHasher13>;

/// What those who ask have used up, and what they were told.
#[derive(Default)]
pub(super) struct Limits {
    /// How many questions each may ask at once, in milliseconds of waiting, and when that was so.
    askers: IndexMap<PeerId, (u64, Instant), Hasher>,
    /// Oldest first.
    answers: IndexMap<Vec<u8>, Vec<u8>, Hasher>,
}

impl Limits {
    /// Takes the price of a question from what the asker has.
    pub(super) fn admit(&mut self, asker: PeerId, now: Instant) -> Result<(), InquiryError> {
        if !self.askers.contains_key(&asker) && self.askers.len() >= usize::from(PLAYERS_MAX) {
            return Err(InquiryError::TooOften);
        }
        let (credit, since) = self.askers.entry(asker).or_insert((QUESTION_MS * QUESTIONS_AT_ONCE, now));
        let earned = now.since(*since).as_millis();
        *credit = (*credit).saturating_add(earned).min(QUESTION_MS * QUESTIONS_AT_ONCE);
        // Only what was counted is used up: parts of a millisecond stay.
        *since += Duration::from_millis(earned);
        *credit = credit.checked_sub(QUESTION_MS).ok_or(InquiryError::TooOften)?;
        Ok(())
    }
    /// The answer that this question was given before.
    pub(super) fn answer_to(&self, question: &[u8]) -> Option<&[u8]> {
        self.answers.get(question).map(Vec::as_slice)
    }

    /// Keeps an answer; the oldest one makes room.
    pub(super) fn keep(&mut self, question: &[u8], answer: &[u8]) {
        if self.answers.len() >= ANSWERS_MAX {
            self.answers.shift_remove_index(0);
        }
        self.answers.insert(question.to_vec(), answer.to_vec());
    }
}

#[cfg(test)]
impl Limits {
    /// Lengths of what is kept.
    pub(super) fn lengths(&self) -> (usize, usize) {
        (self.askers.len(), self.answers.len())
    }
}
