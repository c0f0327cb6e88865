//! The states of the last turns, for the case that peers turn out to have disagreed some turns ago.

use std::collections::VecDeque;

use crate::state::{State, save};

/// Saved states of the most recent turns, limited in turns and in bytes. Old buffers are reused.
///
/// ```
/// use testudo_lockstep::state::{Recent, State, StateError, Visit};
/// # struct Game(u32);
/// # impl State for Game {
/// #     fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> { v.number("gold", &mut self.0) }
/// # }
/// let mut recent = Recent::new(2, 1_000);
/// for turn in 0..5 {
///     recent.push(turn, &mut Game(turn * 10));
/// }
/// assert_eq!(recent.get(2), None);
/// assert_eq!(recent.get(3), Some(&30_u32.to_le_bytes()[..]));
/// ```
#[derive(Clone, Debug)]
pub struct Recent {
    /// Oldest first; turns ascend.
    states: VecDeque<(u32, Vec<u8>)>,
    bytes: usize,
    turns_max: usize,
    bytes_max: usize,
}

impl Recent {
    /// Keeps at most this many turns and bytes, but always the last state.
    #[must_use]
    pub fn new(turns_max: usize, bytes_max: usize) -> Self {
        Self { states: VecDeque::new(), bytes: 0, turns_max, bytes_max }
    }

    /// Keeps the state before `turn`. States of this turn and later ones are forgotten.
    pub fn push<S: State>(&mut self, turn: u32, state: &mut S) {
        self.push_saved(turn, |buffer| save(state, buffer));
    }

    /// Like [`Recent::push`]. `save` replaces what the buffer holds with the state.
    pub(crate) fn push_saved(&mut self, turn: u32, save: impl FnOnce(&mut Vec<u8>)) {
        while self.states.back().is_some_and(|(last, _)| *last >= turn) {
            self.bytes -= self.states.pop_back().map_or(0, |(_, bytes)| bytes.len());
        }
        let mut buffer = Vec::new();
        while self.states.len() >= self.turns_max.max(1) {
            buffer = self.drop_oldest();
        }
        save(&mut buffer);
        self.bytes += buffer.len();
        self.states.push_back((turn, buffer));
        while self.bytes > self.bytes_max && self.states.len() > 1 {
            self.drop_oldest();
        }
    }

    /// Forgets all states.
    pub fn clear(&mut self) {
        (self.states, self.bytes) = (VecDeque::new(), 0);
    }

    /// The state before a turn, if it is kept.
    #[must_use]
    pub fn get(&self, turn: u32) -> Option<&[u8]> {
        let at = self.states.binary_search_by_key(&turn, |(turn, _)| *turn).ok()?;
        Some(&self.states[at].1)
    }

    /// The last state at or before a turn, and its turn.
    pub(crate) fn before(&self, turn: u32) -> Option<(u32, &[u8])> {
        let after = self.states.partition_point(|(at, _)| *at <= turn);
        let (turn, state) = self.states.get(after.checked_sub(1)?)?;
        Some((*turn, state))
    }

    /// Bytes of all states that are kept.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.bytes
    }

    fn drop_oldest(&mut self) -> Vec<u8> {
        let (_, bytes) = self.states.pop_front().unwrap_or_default();
        self.bytes -= bytes.len();
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{StateError, Visit};

    struct Numbers(Vec<u64>);

    impl State for Numbers {
        fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
            self.0.iter_mut().try_for_each(|number| v.number("number", number))
        }
    }

    #[test]
    fn turns_and_bytes_are_limited() {
        let mut recent = Recent::new(4, 100);
        for turn in 0..100 {
            recent.push(turn, &mut Numbers(vec![turn.into(); turn as usize % 7]));
            assert!(recent.states.len() <= 4 && recent.byte_count() <= 100, "turn {turn}");
            let kept = recent.states.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
            assert_eq!(recent.byte_count(), kept);
            assert_eq!(recent.get(turn).map(<[u8]>::len), Some(turn as usize % 7 * 8));
        }
    }

    #[test]
    fn the_last_state_is_kept_however_large_it_is() {
        let mut recent = Recent::new(0, 0);
        recent.push(1, &mut Numbers(vec![1, 2]));
        recent.push(2, &mut Numbers(vec![3]));
        assert_eq!((recent.get(1), recent.get(2)), (None, Some(&3_u64.to_le_bytes()[..])));
    }

    #[test]
    fn a_turn_that_comes_again_replaces_what_followed() {
        let mut recent = Recent::new(8, 1_000);
        (0..5).for_each(|turn| recent.push(turn, &mut Numbers(vec![turn.into()])));
        recent.push(2, &mut Numbers(vec![9]));
        assert_eq!((recent.get(2), recent.get(3)), (Some(&9_u64.to_le_bytes()[..]), None));
        assert_eq!(recent.byte_count(), 24);
    }
}
