//! Compares all copies of a match, turn by turn, as far as the slowest client has got.

use testudo_lockstep::Driver;

use crate::app::watch::diagnosis::{Desync, compare, simulate_again};
use crate::app::watch::game_copy::GameCopy;
use crate::app::watch::spread::Spread;
use crate::app::watch::turn_record::{FrameRecord, TurnRecord};
use testudo_battle::FaultError;

/// What has been compared so far, and the first difference.
#[derive(Default)]
pub(crate) struct Comparison {
    /// Turns in which all copies have been compared.
    pub(crate) turns: u32,
    frames: u32,
    /// The first difference.
    pub(crate) desync: Option<Desync>,
    /// Each client's checksum of the match up to the last turn compared; empty before the first.
    pub(crate) checksums: Vec<u64>,
    /// The first client's state at the end of that turn.
    last: Option<FrameRecord>,
    /// Whether it is watched how a difference between the first two copies spreads, and what was seen.
    follows: bool,
    pub(crate) spread: Option<Spread>,
}

impl Comparison {
    /// One that goes on to compare the first two copies after they have differed.
    pub(crate) fn following() -> Self {
        Self { follows: true, ..Self::default() }
    }

    /// Compares the copies in every turn that all clients have ended since the last call. Each copy is told of the first difference.
    ///
    /// # Errors
    /// A requested fault that was not possible.
    pub(crate) fn advance(&mut self, drivers: &mut [Driver<GameCopy>]) -> Result<(), FaultError> {
        if let Some(error) = drivers.iter().find_map(|driver| driver.simulation().refused()) {
            return Err(error);
        }
        while drivers.iter().all(|driver| driver.simulation().has_record()) {
            let records: Vec<_> =
                drivers.iter_mut().filter_map(|driver| driver.simulation_mut().take_record()).collect();
            if self.desync.is_none() {
                self.desync = self.compare(&records, drivers);
                self.desync.iter().for_each(|desync| note_divergence(drivers, desync.turn));
            }
            self.follow(&records, drivers);
            self.checksums.clear();
            self.checksums.extend(records.iter().map(|record| record.checksum));
            self.turns += 1;
            let first = records.into_iter().next();
            self.frames += first.as_ref().map_or(0, |record| record.frames.len() as u32);
            self.last = first.and_then(|record| record.frames.into_iter().last()).or(self.last.take());
        }
        Ok(())
    }

    /// How far the difference has spread by the end of this turn.
    fn follow(&mut self, records: &[TurnRecord], drivers: &[Driver<GameCopy>]) {
        let ([first, second, ..], Some(driver)) = (records, drivers.first()) else { return };
        let ends = [first.frames.last(), second.frames.last()];
        if let (true, Some(_), [Some(first), Some(second)]) = (self.follows, &self.desync, ends) {
            let any = driver.simulation().game();
            self.spread.get_or_insert_with(|| Spread::new(any)).note([first, second]);
        }
    }

    /// The difference in this turn, and whose copy does not follow from the orders.
    fn compare(&self, records: &[TurnRecord], drivers: &[Driver<GameCopy>]) -> Option<Desync> {
        let copies = || drivers.iter().map(Driver::simulation);
        let any = copies().next()?.game();
        let desync = compare(records, self.turns, self.frames, any)?;
        let at = (desync.frame - self.frames) as usize;
        let before = match at.checked_sub(1) {
            Some(before) => records.first()?.frames.get(before),
            None => self.last.as_ref(),
        };
        // Whoever is behind the others has forgotten the least.
        let past_actions = copies().min_by_key(|copy| copy.steps)?.actions_before(desync.frame);
        let copies: Vec<&FrameRecord> = records.iter().filter_map(|record| record.frames.get(at)).collect();
        let again = match (before, past_actions) {
            (Some(before), Some(past_actions)) => simulate_again(any, before, &past_actions, &copies),
            _ => Vec::new(),
        };
        Some(desync.judge(again))
    }
}

/// Tells each copy that they differ from this turn on.
pub(crate) fn note_divergence(drivers: &mut [Driver<GameCopy>], turn: u32) {
    drivers.iter_mut().for_each(|driver| driver.simulation_mut().note_divergence(turn));
}
