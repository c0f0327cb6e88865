//! Where a unit goes, and how fast it would like to.

use testudo_physics::{Fx, World};

use crate::crowd::leg::Leg;
use crate::crowd::{Crowd, Task};
use crate::steer::raw::{length, raw, resized};

/// Speed per distance near a place, 1/s.
pub(super) const APPROACH: i64 = 4;

impl Crowd {
    /// Finds the way of a unit, and the velocity that it would like. False if it has to look for a path without a field, and not `may_seek`.
    pub(super) fn find_course(&mut self, world: &World, number: usize, rate: u32, may_seek: bool) -> bool {
        match self.movers[number].task {
            Task::Stand(_) => {
                self.walkers[number].sight.is_going = false;
                true
            }
            Task::Go(errand) => {
                let leg = self.leg(number, errand, rate, may_seek);
                leg.map(|leg| self.head_for(number, leg, (errand.pace, errand.group), rate)).is_some()
            }
            Task::Pursue(pursuit) => self.close_in(world, number, pursuit, rate, may_seek),
        }
    }

    /// The velocity that a unit would like on its way at a pace, units per second.
    pub(super) fn head_for(
        &mut self,
        number: usize,
        Leg { to, left, to_go }: Leg,
        (pace, group): (Fx, u32),
        rate: u32,
    ) {
        let position = self.walkers[number].place();
        let (mover, walker) = (&mut self.movers[number], &mut self.walkers[number]);
        let way = raw(to - position, (1 << 31) - 1);
        let far = length(way);
        // Not further than its aim in one frame: behind it may be a cell from which the path leads back.
        let mut speed = pace.to_bits();
        if self.settings.slows {
            speed /= i64::from(self.ground.cost(position).max(1));
        }
        speed = speed.min(far * i64::from(rate));
        if to == mover.post {
            speed = speed.min(far * APPROACH);
        }
        mover.to_go = to_go;
        let sight = &mut walker.sight;
        sight.wish = resized(way, far, speed).map(|part| part as i32);
        (sight.is_going, sight.group, sight.left) = (true, group, left.to_bits());
        mover.straight = far;
    }
}
