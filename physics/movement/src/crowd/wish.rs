//! Where a unit goes, and how fast it would like to.

use testudo_physics::math::isqrt_u64;
use testudo_physics::{Fx, World};

use crate::crowd::leg::Leg;
use crate::crowd::progress::PATIENCE_MS;
use crate::crowd::{Crowd, Task, Walker};
use crate::steer::raw::{dot, length, raw, resized};

/// Speed per distance near a place, 1/s.
const APPROACH: i64 = 4;

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
        let mut speed = self.speed_here(number, pace);
        let (mover, walker) = (&mut self.movers[number], &mut self.walkers[number]);
        let way = raw(to - position, (1 << 31) - 1);
        let far = length(way);
        // Not further than its aim in one frame: behind it may be a cell from which the path leads back.
        speed = speed.min(far * i64::from(rate));
        mover.straight = far;
        if to == mover.post {
            speed = speed.min(walker.approach(far, rate));
            mover.straight = (far - walker.overrun()).max(0);
        }
        mover.to_go = to_go;
        let sight = &mut walker.sight;
        sight.wish = resized(way, far, speed).map(|part| part as i32);
        (sight.is_going, sight.group, sight.left) = (true, group, left.to_bits());
    }

    /// How fast a pace is on the ground under a unit, raw units per second.
    pub(super) fn speed_here(&self, number: usize, pace: Fx) -> i64 {
        let cost = if self.settings.slows { self.ground.cost(self.walkers[number].place()) } else { 1 };
        pace.to_bits() / i64::from(cost.max(1))
    }

    /// Whether a unit is nearer to its post than ever by more than half of its radius, or, if it is slower than that, by half of the way that it goes before it
    /// loses its patience, from rest.
    pub(super) fn comes_nearer(&self, number: usize) -> bool {
        let (mover, walker) = (&self.movers[number], &self.walkers[number]);
        let pace = match mover.task {
            Task::Go(errand) => errand.pace,
            _ => mover.def.speed,
        };
        let patience = i64::from(PATIENCE_MS);
        let at_pace = self.speed_here(number, pace) * patience / 1_000;
        let from_rest = i64::from(walker.acceleration) * patience * patience / 2_000_000;
        let nearer = i64::from(walker.sight.radius).min(at_pace).min(from_rest) / 2;
        mover.to_go < mover.progress.best - Fx::from_bits(nearer)
    }
}

impl Walker {
    /// The greatest speed so far from its post (raw units) from which a unit can brake in time, raw units per second.
    pub(super) fn approach(&self, far: i64, rate: u32) -> i64 {
        let acceleration = i64::from(self.acceleration);
        // It brakes from the next frame on: v * v / 2a + v / (2 * rate) is the way.
        let half = acceleration / (2 * i64::from(rate));
        let brakes = isqrt_u64((half * half + 2 * acceleration * far) as u64) as i64 - half;
        brakes.min(far * APPROACH)
    }

    /// How far it goes before it stands if it brakes, beyond half of its radius, raw units.
    fn overrun(&self) -> i64 {
        let velocity = self.sight.velocity.map(i64::from);
        let way = dot(velocity, velocity) / (2 * i64::from(self.acceleration)).max(1);
        (way - i64::from(self.sight.radius) / 2).max(0)
    }

    /// Whether it stands within half of its radius if it brakes.
    pub(super) fn is_slow(&self) -> bool {
        self.overrun() == 0
    }
}
