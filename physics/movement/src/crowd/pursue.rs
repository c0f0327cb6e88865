//! Units that go at a body, and stand where they can reach it.

use alloc::vec::Vec;

use testudo_physics::{Aabb, BodyId, BodyRef, Fx, Shape, Vec2, World};

use crate::crowd::state::CHANGED;
use crate::crowd::{Crowd, MoveError, MoveEvent, Pursuit, Task};
use crate::ground::{Ground, SizeClass};
use crate::steer::raw::{length, raw, resized, vec2};

/// Groups of units that pursue, by their bodies: each is a group of its own, because the way of one says nothing about that of another.
const PURSUERS: u32 = 3 << 30;

/// So many cells ahead a unit looks whether it can go straight.
pub(super) const SIGHT_CELLS: i64 = 128;

/// Further than any two bodies are from each other, units.
pub(super) const REACH_MAX: Fx = Fx::const_from_int(1 << 16);

impl Crowd {
    /// A unit goes at a body from now on, wherever that goes, and stands while its middle is no further than `reach` (units) from the body's surface (of shapes
    /// that are not round: from the box around it). It gives way to those that stand, but not to whom it pursues. Nothing ends it but another order,
    /// [`Crowd::stop`], or that the body is removed: the unit stands then, and [`MoveEvent::PreyGone`] tells. There are no other events. The reach is in
    /// 0..=65,536.
    ///
    /// It goes straight while cells in which it need not keep to one side lead to where it would stand, and there is room for it. Else it looks for a path to
    /// the nearest place from which it comes within reach when its turn comes ([`Crowd::is_waiting`]), over a quarter of a frame's cells at most
    /// ([`CrowdDef::cells_per_frame`](crate::CrowdDef::cells_per_frame)). If there is no path, or a longer one, it goes to the place nearest to the body that
    /// it knows, stands there, and looks again after three seconds. A dead end wider than a search may hold it.
    ///
    /// # Errors
    /// [`MoveError`]: the first body is no unit, the second one is gone or the unit itself, the reach is out of range, or the ground was never surveyed. The
    /// unit goes on as before then.
    pub fn pursue(&mut self, world: &World, unit: BodyId, prey: BodyId, reach: Fx) -> Result<(), MoveError> {
        self.knows_the_ground()?;
        let at = self.place_of(unit).ok_or(MoveError::Stranger(unit))?;
        if unit == prey {
            return Err(MoveError::PursuesItself(unit));
        }
        if world.body(prey).is_none() {
            return Err(MoveError::PreyGone(prey));
        }
        if !(Fx::ZERO..=REACH_MAX).contains(&reach) {
            return Err(MoveError::Reach { value: reach });
        }
        let mover = &mut self.movers[at];
        let goes_on = |old: &Pursuit| (old.prey, old.reach) == (prey, reach);
        if !matches!(&mover.task, Task::Pursue(old) if goes_on(old)) {
            self.hashes[at] = CHANGED;
            mover.forget();
            mover.is_told = true;
            mover.task = Task::Pursue(Pursuit { prey, reach, has_failed: false, waits_ms: 0 });
            self.walkers[at].thinks = self.clock.now();
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

    /// The velocity that a unit would like that pursues a body. False if it has to look for a path, and not `may_seek`.
    pub(super) fn close_in(
        &mut self,
        world: &World,
        number: usize,
        pursuit: Pursuit,
        rate: u32,
        may_seek: bool,
    ) -> bool {
        let (mover, walker) = (&mut self.movers[number], &mut self.walkers[number]);
        let position = walker.place();
        let Some(prey) = world.body(pursuit.prey) else {
            mover.stand(position, None);
            walker.sight.is_going = false;
            self.events.push(MoveEvent::PreyGone(walker.body));
            return true;
        };
        let hunt = Hunt::new(&prey, pursuit, Fx::from_bits(walker.sight.radius.into()));
        let way = raw(hunt.nearest(position) - position, (1 << 31) - 1);
        let far = length(way);
        let left = far - hunt.within.to_bits();
        // A unit that seeks has looked in this frame already.
        if left > 0 && (may_seek || !self.sees_prey(world, number, &hunt)) {
            let Some(leg) = self.leg_around(world, number, &hunt, may_seek) else { return false };
            let course = (self.movers[number].def.speed, PURSUERS | self.walkers[number].body.index());
            self.head_for(number, leg, course, rate);
            self.walkers[number].sight.is_going = self.movers[number].aim.is_some() || leg.left == Fx::MAX;
            return true;
        }
        let (mover, walker) = (&mut self.movers[number], &mut self.walkers[number]);
        if mover.aim.take().is_some() {
            mover.progress.best = Fx::MAX;
        }
        mover.beyond = Fx::ZERO;
        if let Task::Pursue(pursuit) = &mut mover.task {
            pursuit.has_failed = false;
        }
        if left <= 0 || self.ground.is_clear(position, mover.size) {
            // Beside an obstacle it may hang at a corner; here only others hold it up.
            (mover.progress.stalled_ms, mover.progress.best) = (0, Fx::MAX);
        }
        mover.pause(0);
        mover.post = position;
        mover.straight = left;
        mover.to_go = Fx::from_bits(left);
        let sight = &mut walker.sight;
        (sight.is_going, sight.left) = (left > 0, left.max(0));
        sight.group = PURSUERS | walker.body.index();
        let speed = self.speed_here(number, self.movers[number].def.speed).min(left.max(0) * i64::from(rate));
        self.walkers[number].sight.wish = resized(way, far, speed).map(|part| part as i32);
        true
    }
}

/// A body that is pursued, as one unit sees it.
pub(super) struct Hunt {
    pub(super) pursuit: Pursuit,
    /// Its middle, or the box around a shape that is not round.
    area: Aabb,
    /// The unit stands where its middle is so far from there, units.
    within: Fx,
    /// So far from there it touches the prey, or is within reach before.
    touch: Fx,
    /// The unit's own radius.
    radius: Fx,
}

impl Hunt {
    fn new(prey: &BodyRef<'_>, pursuit: Pursuit, radius: Fx) -> Self {
        let (area, around) = if let Shape::Circle { radius } = prey.shape() {
            (Aabb { min: prey.position(), max: prey.position() }, radius)
        } else {
            (prey.aabb(), Fx::ZERO)
        };
        let (within, touch) = (pursuit.reach + around, pursuit.reach.max(radius) + around);
        Self { pursuit, area, within, touch, radius }
    }

    /// Whether the unit has found no way, and does not look for one again yet.
    pub(super) fn waits(&self) -> bool {
        self.pursuit.waits_ms > 0
    }

    /// The box that a path leads to, and how near to it.
    pub(super) fn ahead(&self) -> (Aabb, Fx) {
        (self.area, self.within)
    }

    /// The place of the prey that is nearest to a position.
    fn nearest(&self, from: Vec2) -> Vec2 {
        let Aabb { min, max } = self.area;
        Vec2::new(from.x.clamp(min.x, max.x), from.y.clamp(min.y, max.y))
    }

    /// How far it is from a position to where the unit would stand, units.
    pub(super) fn left(&self, from: Vec2) -> Fx {
        from.distance(self.nearest(from)) - self.touch
    }

    /// Whether a straight line leads a unit from a position to where it would stand, and there is room for it there. The cell of that place may be closed, as
    /// often beside a building: then the line leads from cell to cell up to one cell before it. What is further than [`SIGHT_CELLS`] is looked at when the unit
    /// comes there.
    pub(super) fn is_open_from(
        &self,
        (ground, world): (&Ground, &World),
        from: Vec2,
        size: SizeClass,
        found: &mut Vec<(BodyId, Fx)>,
    ) -> bool {
        let way = raw(self.nearest(from) - from, (1 << 31) - 1);
        let far = length(way);
        let left = far - self.touch.to_bits();
        if left <= 0 {
            return true;
        }
        let on_the_line = |part: i64| from + vec2(resized(way, far, part));
        let most = ground.cell().to_bits() * SIGHT_CELLS;
        if left > most {
            let start = ground.nearest_open(from, size);
            return start.is_none_or(|start| ground.sees_plainly(start, on_the_line(most), size));
        }
        let place = on_the_line(left);
        let before = on_the_line((left - ground.cell().to_bits()).max(0));
        let end = if ground.is_open(place, size) { place } else { before };
        if end != from {
            // One that was pushed against an obstacle goes on from where it comes free.
            let start = ground.nearest_open(from, size);
            if start.is_some_and(|start| !ground.sees_plainly(start, end, size)) {
                return false;
            }
        }
        let room = (self.radius, self.pursuit.prey);
        ground.is_clear(place, size)
            || ground.cost(place) > 0 && ground.has_room(world, [before, place], room, found)
    }
}
