//! Limits the work that a member may ask for.

use core::hash::BuildHasherDefault;

use indexmap::IndexMap;
use siphasher::sip::SipHasher13;

use crate::state::inquiry::InquiryError;
use crate::value::bucket::Bucket;
use crate::value::ids::{PLAYERS_MAX, PeerId};
use crate::value::time::{Duration, Instant};

/// Time that each question costs its asker: eight questions per second. A search needs fewer, even if lost messages are asked again.
const QUESTION: Duration = Duration::from_millis(125);

/// Number of questions that may come at once.
const QUESTIONS_AT_ONCE: u64 = 24;

/// Number of cached answers.
const ANSWERS_MAX: usize = 32;

/// Without a random key, because both tables are small and bounded.
type Hasher = BuildHasherDefault<SipHasher13>;

/// What each asker has used up, and the cached answers.
#[derive(Default)]
pub(super) struct Limits {
    askers: IndexMap<PeerId, Bucket, Hasher>,
    /// Oldest first.
    answers: IndexMap<Vec<u8>, Vec<u8>, Hasher>,
}

impl Limits {
    /// Takes the price of a question from the asker's budget.
    pub(super) fn admit(&mut self, asker: PeerId, now: Instant) -> Result<(), InquiryError> {
        if !self.askers.contains_key(&asker) && self.askers.len() >= usize::from(PLAYERS_MAX) {
            return Err(InquiryError::TooOften);
        }
        let asked = self.askers.entry(asker).or_default();
        asked.take(now, QUESTION, QUESTION.times(QUESTIONS_AT_ONCE)).map_err(|_| InquiryError::TooOften)
    }

    /// The cached answer to this question.
    pub(super) fn answer_to(&self, question: &[u8]) -> Option<&[u8]> {
        self.answers.get(question).map(Vec::as_slice)
    }

    /// Caches an answer; the oldest one makes room.
    pub(super) fn keep(&mut self, question: &[u8], answer: &[u8]) {
        if self.answers.len() >= ANSWERS_MAX {
            self.answers.shift_remove_index(0);
        }
        self.answers.insert(question.to_vec(), answer.to_vec());
    }
}

#[cfg(test)]
impl Limits {
    /// Lengths of the two tables.
    pub(super) fn lengths(&self) -> (usize, usize) {
        (self.askers.len(), self.answers.len())
    }
}
