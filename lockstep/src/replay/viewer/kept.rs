//! Saved states of a replayed match, as targets of jumps, with limits of number and bytes.

use std::collections::BTreeMap;

use crate::state::Recent;

/// Most states of a whole match.
pub(super) const KEYFRAMES_MAX: usize = 64;
const KEYFRAME_BYTES_MAX: usize = 192 << 20;

/// Turns between two states before there are too many.
const EVERY: u32 = 8;

/// Most states just before the present one, one turn apart, for single steps back.
pub(super) const TRAIL_MAX: usize = 24;
const TRAIL_BYTES_MAX: usize = 64 << 20;

/// States at the starts of turns, evenly spread over the match. When there are too many, every second one is removed.
pub(super) struct Keyframes {
    /// By turn. The state of turn 0 is never removed.
    states: BTreeMap<u32, Vec<u8>>,
    bytes: usize,
    every: u32,
}

impl Keyframes {
    /// `start` is the state before the first turn.
    pub(super) fn new(start: Vec<u8>) -> Self {
        let bytes = start.len();
        Self { states: BTreeMap::from([(0, start)]), bytes, every: EVERY }
    }

    /// Whether the state before this turn should be kept.
    pub(super) fn wants(&self, turn: u32) -> bool {
        turn.is_multiple_of(self.every) && !self.states.contains_key(&turn)
    }

    pub(super) fn keep(&mut self, turn: u32, state: Vec<u8>) {
        self.bytes += state.len();
        if let Some(before) = self.states.insert(turn, state) {
            self.bytes -= before.len();
        }
        while self.states.len() > 1
            && (self.states.len() > KEYFRAMES_MAX || self.bytes > KEYFRAME_BYTES_MAX)
            && self.every < u32::MAX / 2
        {
            self.every *= 2;
            self.states.retain(|turn, _| turn.is_multiple_of(self.every));
            self.bytes = self.states.values().map(Vec::len).sum();
        }
    }

    /// The last state at or before a turn, and its turn.
    pub(super) fn before(&self, turn: u32) -> Option<(u32, &[u8])> {
        let (turn, state) = self.states.range(..=turn).next_back()?;
        Some((*turn, state))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }
}

/// States of the last turns, without gaps.
pub(super) struct Trail(Recent);

impl Trail {
    pub(super) fn new() -> Self {
        Self(Recent::new(TRAIL_MAX, TRAIL_BYTES_MAX))
    }

    /// Stores the state before a turn. Removes stored states of this and later turns, and of another history.
    pub(super) fn keep(&mut self, turn: u32, state: Vec<u8>) {
        let follows = turn.checked_sub(1).is_some_and(|last| self.0.get(last).is_some());
        if !follows {
            self.0.clear();
        }
        self.0.push_saved(turn, |buffer| *buffer = state);
    }

    /// The last state at or before a turn, and its turn.
    pub(super) fn before(&self, turn: u32) -> Option<(u32, &[u8])> {
        self.0.before(turn)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyframes_are_thinned_evenly() {
        let mut keyframes = Keyframes::new(vec![0]);
        for turn in 0..9_000 {
            if keyframes.wants(turn) {
                keyframes.keep(turn, vec![0; turn as usize % 7]);
            }
            assert!(keyframes.len() <= KEYFRAMES_MAX);
        }
        assert!(keyframes.len() > KEYFRAMES_MAX / 2, "{}", keyframes.len());
        let turns: Vec<u32> = keyframes.states.keys().copied().collect();
        assert!(turns.windows(2).all(|pair| pair[1] - pair[0] == keyframes.every), "{turns:?}");
        assert_eq!(keyframes.bytes, keyframes.states.values().map(Vec::len).sum::<usize>());
        assert_eq!(keyframes.before(keyframes.every * 3 - 1).unwrap().0, keyframes.every * 2);
        assert_eq!(keyframes.before(0).unwrap(), (0, &[0][..]));
    }

    #[test]
    fn large_states_are_thinned_by_their_bytes() {
        let mut keyframes = Keyframes::new(vec![0; 1 << 20]);
        for turn in (0..900).filter(|turn| turn % EVERY == 0) {
            if keyframes.wants(turn) {
                keyframes.keep(turn, vec![0; 20 << 20]);
            }
            assert!(keyframes.bytes <= KEYFRAME_BYTES_MAX && keyframes.before(0).is_some());
        }
        assert!((4..10).contains(&keyframes.len()), "{}", keyframes.len());
    }

    #[test]
    fn the_trail_has_no_gaps_and_an_end() {
        let mut trail = Trail::new();
        (5..50).for_each(|turn| trail.keep(turn, vec![turn as u8]));
        assert_eq!(trail.0.byte_count(), TRAIL_MAX);
        assert_eq!(trail.before(49), Some((49, &[49][..])));
        assert_eq!(
            (trail.before(60).unwrap().0, trail.before(40).unwrap().0, trail.before(25)),
            (49, 40, None)
        );
        trail.keep(40, vec![1]);
        assert_eq!((trail.before(45).unwrap().0, trail.before(39).unwrap().0), (40, 39));
        trail.keep(45, vec![1]);
        assert_eq!((trail.0.byte_count(), trail.before(44)), (1, None));
    }
}
