//! Units that go straight at a body, and stand where they can reach it.

use testudo_physics::{BodyId, BodyRef, Fx, Shape, Vec2, World};

use crate::crowd::state::CHANGED;
use crate::crowd::{Crowd, MoveError, Pursuit, Task};
use crate::steer::raw::{length, raw, resized};

/// Groups of units that pursue, by their bodies: each is a group of its own, because the way of one says nothing about that of another.
const PURSUERS: u32 = 3 << 30;

/// Further than any two bodies are from each other, units.
pub(super) const REACH_MAX: Fx = Fx::const_from_int(1 << 16);

impl Crowd {
    /// A unit goes straight at a body from now on, wherever that goes, and stands while its middle is no further than `reach` (units) from the body's surface
    /// (of shapes that are not round: from the box around it). It gives way to those that stand, but not to whom it pursues. It finds no way around
    /// obstacles, and nothing ends it but another order, [`Crowd::stop`], or that the body is removed: the unit stands then. There are no events.
    /// A reach outside of 0..=65,536 counts as the nearest one inside.
    ///
    /// # Errors
    /// [`MoveError::Stranger`] if the first body is no unit.
    pub fn pursue(&mut self, unit: BodyId, prey: BodyId, reach: Fx) -> Result<(), MoveError> {
        let at = self.place_of(unit).ok_or(MoveError::Stranger(unit))?;
        let task = Task::Pursue(Pursuit { prey, reach: reach.clamp(Fx::ZERO, REACH_MAX) });
        let mover = &mut self.movers[at];
        if mover.task != task {
            self.hashes[at] = CHANGED;
            mover.forget();
            (mover.task, mover.is_told) = (task, true);
            self.walkers[at].thinks = self.flows.frame() as u32;
        }
        Ok(())
    }

    /// Whom a unit pursues; `None` if nobody, or if the body is no unit.
    #[must_use]
    pub fn prey(&self, unit: BodyId) -> Option<BodyId> {
        match self.movers[self.place_of(unit)?].task {
            Task::Pursue(pursuit) => Some(pursuit.prey),
            Task::Stand(_) | Task::Go(_) => None,
        }
    }

    /// The velocity that a unit would like that pursues a body. It is always known.
    pub(super) fn close_in(
        &mut self,
        world: &World,
        number: usize,
        Pursuit { prey, reach }: Pursuit,
        rate: u32,
    ) -> bool {
        let (mover, walker) = (&mut self.movers[number], &mut self.walkers[number]);
        let position = walker.place();
        let Some(prey) = world.body(prey) else {
            mover.stand(position, None);
            walker.sight.is_going = false;
            return true;
        };
        let (to, radius) = surface(&prey, position);
        mover.post = position;
        let way = raw(to - position, (1 << 31) - 1);
        let far = length(way);
        let left = far - (reach + radius).to_bits();
        mover.straight = left;
        let sight = &mut walker.sight;
        (sight.is_going, sight.left) = (left > 0, left.max(0));
        sight.group = PURSUERS | walker.body.index();
        let mut speed = mover.def.speed.to_bits();
        if self.slows {
            speed /= i64::from(self.ground.cost(position).max(1));
        }
        let speed = speed.min(left.max(0) * i64::from(rate));
        sight.wish = resized(way, far, speed).map(|part| part as i32);
        true
    }
}

/// The point of a body that is nearest to a position, and how far its surface is around that point, units.
fn surface(body: &BodyRef<'_>, from: Vec2) -> (Vec2, Fx) {
    if let Shape::Circle { radius } = body.shape() {
        return (body.position(), radius);
    }
    let aabb = body.aabb();
    (Vec2::new(from.x.clamp(aabb.min.x, aabb.max.x), from.y.clamp(aabb.min.y, aabb.max.y)), Fx::ZERO)
}
