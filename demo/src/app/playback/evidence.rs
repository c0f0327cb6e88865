//! What was different: the recorded copy's state against the one that the orders lead to.

use testudo_lockstep::replay::Divergence;
use testudo_lockstep::state::{self, Difference};

use crate::app::playback::course::Course;

impl Course {
    /// Right after the first turn that is not as it was recorded, if the file has the state of that moment: the turn, and the first number
    /// that differs, the recorded one first. None elsewhere.
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
