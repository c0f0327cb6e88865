//! The difference between the recorded copy's state and the state that follows from the orders.

use testudo_lockstep::replay::Divergence;
use testudo_lockstep::state::{self, Difference};

use crate::app::playback::course::Course;

impl Course {
    /// At the end of the first turn that differs from the recording, if the file has that state: the turn, and the first number that
    /// differs, with the recorded value first. None at other frames.
    pub(crate) fn difference(&self) -> Option<(u32, Difference)> {
        let Divergence::Checksum { turn, .. } = self.divergence()? else { return None };
        let after = turn + 1;
        if self.is_seeking() || self.frame() != self.timetable().start_of(after) {
            return None;
        }
        let evidence = self.replay().evidence().filter(|(at, _)| *at == after);
        let recorded = evidence.map(|(_, state)| state).or_else(|| self.replay().keyframe(after))?;
        let (mut there, mut here) = (self.game().clone(), self.game().clone());
        state::load(&mut there, recorded).ok()?;
        state::first_difference(&mut there, &mut here).map(|difference| (turn, difference))
    }
}
