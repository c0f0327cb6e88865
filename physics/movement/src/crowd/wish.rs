//! Where a unit goes, and how fast it would like to.

use crate::crowd::leg::Leg;
use crate::crowd::{Crowd, Task};
use crate::steer::raw::{length, raw, resized};

/// Speed per distance near a place, 1/s.
pub(super) const APPROACH: i64 = 4;

impl Crowd {
    /// Finds the path of a unit that goes somewhere, and the velocity that it would like. False if it has to look for a path without a field, and not
    /// `may_seek`.
    pub(super) fn wish(&mut self, number: usize, rate: u32, may_seek: bool) -> bool {
        let Task::Go(errand) = self.movers[number].task else {
            self.walkers[number].sight.is_going = false;
            return true;
        };
        let position = self.walkers[number].place();
        let Some(Leg { to, left, to_go }) = self.leg(number, errand, rate, may_seek) else { return false };
        let (mover, walker) = (&mut self.movers[number], &mut self.walkers[number]);
        let way = raw(to - position, (1 << 31) - 1);
        let far = length(way);
        // Not further than its aim in one frame: behind it may be a cell from which the path leads back.
        let mut speed = errand.pace.to_bits();
        if self.slows {
            speed /= i64::from(self.ground.cost(position).max(1));
        }
        speed = speed.min(far * i64::from(rate));
        if to == mover.post {
            speed = speed.min(far * APPROACH);
        }
        mover.to_go = to_go;
        let sight = &mut walker.sight;
        sight.wish = resized(way, far, speed).map(|part| part as i32);
        (sight.is_going, sight.group, sight.left) = (true, errand.group, left.to_bits());
        mover.straight = far;
        true
    }
}
