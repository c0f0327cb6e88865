//! What belongs to an army as a whole: its losses and its reinforcements.

use std::collections::VecDeque;

use crate::game::rate::Rate;

/// Reinforcements are counted in thousandths, so that small armies get some too.
const WHOLE: u32 = 1_000;

/// An army gets 1/20 of its strength per second back.
const PER_SECOND_PER_UNIT: u32 = WHOLE / 20;

/// At least one reinforcement in four seconds.
const PER_SECOND_MIN: u32 = WHOLE / 4;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Army {
    /// Enemies beaten.
    pub(crate) kills: u32,
    /// Own units that fell.
    pub(crate) losses: u32,
    /// Its player gives no more orders.
    pub(crate) is_gone: bool,
    /// Units that wait for a reinforcement, first fallen first. Numbers of the match; never more than the army's units.
    pub(crate) fallen: VecDeque<u32>,
    /// Thousandths of a reinforcement that have arrived.
    pub(super) ready: u32,
    pub(super) arrivals: Rate,
}

impl Army {
    /// The unit whose place is taken by a reinforcement now, if one is ready. Call until it gives none.
    pub(crate) fn reinforce(&mut self) -> Option<u32> {
        if self.ready < WHOLE {
            return None;
        }
        let unit = self.fallen.pop_front()?;
        self.ready -= WHOLE;
        Some(unit)
    }

    /// One frame of reinforcements arrives. Nobody waits in the keep while nobody is missing.
    pub(crate) fn muster(&mut self, units: u32, frames_per_second: u32) {
        let per_second = (units * PER_SECOND_PER_UNIT).max(PER_SECOND_MIN);
        let arrived = self.arrivals.take(per_second, frames_per_second);
        self.ready = if self.fallen.is_empty() { 0 } else { self.ready.saturating_add(arrived) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reinforcements_come_in_the_order_of_falling_and_at_their_pace() {
        let mut army = Army { fallen: (0..30).collect(), ..Army::default() };
        let mut arrived = Vec::new();
        for _ in 0..40 {
            army.muster(200, 20);
            arrived.extend(core::iter::from_fn(|| army.reinforce()));
        }
        assert_eq!(arrived, (0..20).collect::<Vec<u32>>(), "ten per second for two seconds");
    }

    #[test]
    fn nobody_waits_in_the_keep() {
        let mut army = Army::default();
        for _ in 0..1_000 {
            army.muster(1, 20);
        }
        army.fallen.push_back(0);
        assert_eq!(army.reinforce(), None);
        let frames = (1..1_000).find(|_| {
            army.muster(1, 20);
            army.reinforce().is_some()
        });
        assert_eq!(frames, Some(80), "four seconds");
    }
}
