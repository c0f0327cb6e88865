//! Where units want to go. The physics decides how far they get in a crowd.

use testudo_physics::Fx;

use crate::game::Game;
use crate::game::point::{Point, UNIT, squared};
use crate::game::unit::{PUSH_MS, Task, Unit, Way};

/// Raw units/s^2 per axis: full speed within two frames of 1/20 s, and weak enough to be pushed.
const ACCELERATION: i32 = 40 * UNIT;

/// A unit that wants to stand and is slower than this (raw units/s) is left alone: the physics puts it to sleep.
const SLOW: i32 = UNIT / 16;

/// Such a unit is told to stand still once in this many frames: not more often, because who is told a velocity stays awake. The units take
/// turns.
const BRAKE_EVERY: u64 = 100;

/// Distance from the goal (raw) at which a unit has arrived.
const ARRIVAL: i32 = UNIT / 2;

/// Speed per distance near the goal, 1/s: four units per second at one unit of distance.
const APPROACH: i32 = 4;

/// A unit is in a jam below this part of the speed that it wants.
const JAM_PART: i32 = 4;

/// After this long in a jam a unit tries one side, then the other, ms each.
const SIDESTEP_MS: u16 = 600;

/// After this long without progress, ms, a unit near its destination stops there; after twice the time, from twice the distance.
const CONTENT_MS: u16 = 1_500;

/// A unit that makes no progress looks for another path once in this many frames; the units take turns.
const ASK_EVERY: u64 = 16;

/// Units are this many times slower in a wood.
const WOOD: i32 = 2;

/// Who has been near its destination for this long, ms, stays where it is: long enough to walk around any wall.
const NEAR_MS: u16 = 15_000;

/// How far from its post a unit may stand, raw.
const POST_WITHIN: i32 = UNIT;

/// A unit that was pushed away waits this long before it goes back, ms.
const AWAY_MS: u16 = 1_500;

/// The greatest distance at which it does so, raw.
const CONTENT_WITHIN: i32 = 6 * UNIT;

/// So near (raw) it does so even if it does not see its destination: others stand in the way round the rock.
const CLOSE: i32 = 3 * UNIT;

impl Game {
    /// Accelerates every living unit towards its wanted velocity.
    pub(super) fn march(&mut self, elapsed_ms: u16, frames_per_second: u32) {
        let step = ACCELERATION / frames_per_second.clamp(1, 1_000) as i32;
        self.routes.begin_count();
        for number in 0..self.units.len() as u32 {
            let Some(id) = self.units[number as usize].body else { continue };
            let wanted = self.wanted_velocity(number, elapsed_ms);
            let now = self.scratch.velocities[number as usize];
            let place = self.scratch.places[number as usize];
            let unit = &mut self.units[number as usize];
            unit.run(now, elapsed_ms);
            let pushed = unit.pushes();
            unit.note_progress(wanted != Point::ZERO, place, elapsed_ms);
            let pushes = unit.pushes();
            if pushes != pushed {
                let _ = self.world.set_dominance(id, pushes.into());
            }
            let wanted = if self.terrain.has_woods() && self.terrain.is_wooded(self.terrain.cell(place)) {
                Point { x: wanted.x / WOOD, y: wanted.y / WOOD }
            } else {
                wanted
            };
            if wanted == Point::ZERO {
                let unit = &mut self.units[number as usize];
                unit.jammed_ms = 0;
                let is_idle = unit.task == Task::Hold && unit.target.is_none();
                unit.away_ms = if is_idle { unit.away_ms.saturating_add(elapsed_ms) } else { 0 };
                let is_slow = now.x.abs() <= SLOW && now.y.abs() <= SLOW;
                // So slow a glide ends by itself only at an obstacle.
                let brakes =
                    now != Point::ZERO && (self.frame + u64::from(number)).is_multiple_of(BRAKE_EVERY);
                if is_slow && !brakes {
                    continue;
                }
            }
            let wanted = self.around_the_jam(number, now, wanted, elapsed_ms);
            let wanted = self.off_the_wall(number, wanted);
            let next = Point {
                x: now.x + (wanted.x - now.x).clamp(-step, step),
                y: now.y + (wanted.y - now.y).clamp(-step, step),
            };
            if next != now {
                // Only a damaged state names a body that is gone; its unit cannot move.
                let _ = self.world.set_velocity(id, next.to_vec2());
            }
        }
        self.routes.drop_unused();
        self.routes.search();
    }

    /// The wanted velocity, raw units per second. A unit that has arrived holds its position from now on.
    fn wanted_velocity(&mut self, number: u32, elapsed_ms: u16) -> Point {
        let place = self.scratch.places[number as usize];
        let Unit { kind, task, target, stalled_ms, .. } = self.units[number as usize];
        let target = match task {
            // A marching unit attacks enemies within reach.
            Task::March(_) => None,
            Task::Strike { foe, .. } => {
                target.and(self.is_within(place, foe, kind.stats().sight).then_some(foe))
            }
            _ => target,
        };
        let stats = kind.stats();
        if let Task::Patrol { back: Way { route: Some(route), .. }, .. } = task {
            self.routes.count(route);
        }
        if let Some(route) = task.way().and_then(|way| way.route) {
            self.routes.count(route);
        }
        if let Some(target) = target {
            if self.is_within(place, target, stats.range) {
                return Point::ZERO;
            }
            return place.towards(self.aim(place, target), stats.speed);
        }
        let Some(way) = task.way() else { return self.back_to_the_post(number, place) };
        let goal = self.next_place(number, place, way);
        let asks = stalled_ms >= SIDESTEP_MS && (self.frame + u64::from(number)).is_multiple_of(ASK_EVERY);
        if asks && !matches!(task, Task::Strike { .. }) {
            self.ask_the_way(number, task);
        }
        let distance = place.distance_squared(way.place);
        let patience = i32::from(stalled_ms / CONTENT_MS).min(2);
        // Behind a wall it tries longer, and pushes through before it gives up.
        let has_pushed = stalled_ms >= 2 * PUSH_MS;
        let tries_longer =
            !has_pushed && patience > 0 && distance > squared(CLOSE) && !self.sees(number, place, way.place);
        let patience = if tries_longer { 0 } else { patience };
        let is_almost_there = stalled_ms >= SIDESTEP_MS && distance <= squared(3 * ARRIVAL);
        let is_tired = distance <= squared(CONTENT_WITHIN) && {
            let unit = &mut self.units[number as usize];
            unit.away_ms = unit.away_ms.saturating_add(elapsed_ms);
            unit.away_ms >= NEAR_MS
        };
        let is_content =
            is_almost_there || is_tired || patience > 0 && distance <= squared(CONTENT_WITHIN * patience);
        if goal != way.place && !is_content {
            return place.towards(goal, stats.speed);
        }
        if distance <= squared(ARRIVAL) || is_content {
            self.arrive(number, place, is_content);
            return Point::ZERO;
        }
        if distance >= squared(stats.speed / APPROACH) {
            return place.towards(goal, stats.speed);
        }
        // Below full speed: proportional to the distance.
        Point { x: (goal.x - place.x) * APPROACH, y: (goal.y - place.y) * APPROACH }
    }

    /// A unit has come to its place, or accepts a position nearby.
    fn arrive(&mut self, number: u32, place: Point, is_content: bool) {
        let unit = &mut self.units[number as usize];
        let to = unit.task.way().map_or(place, |way| way.place);
        let post = match is_content {
            false => to,
            // Somebody is in the way back to its post. It will try again, but not for ever: each time it gives up a quarter of the distance.
            true if to == unit.post => {
                let quarter = |from: i32, to: i32| from + (to - from) / 4;
                Point { x: quarter(to.x, place.x), y: quarter(to.y, place.y) }
            }
            true => place,
        };
        let post = if let Task::Aid(_) = unit.task { unit.post } else { post };
        match unit.task.arrived() {
            Task::Hold => self.done(number, post),
            task => (unit.task, unit.away_ms) = (task, 0),
        }
    }

    /// The wanted velocity of an idle unit: it stands. If it was pushed or lured away, it waits for a moment and then goes back.
    fn back_to_the_post(&mut self, number: u32, place: Point) -> Point {
        let unit = &mut self.units[number as usize];
        if place.distance_squared(unit.post) <= squared(POST_WITHIN) {
            unit.away_ms = 0;
        } else if unit.away_ms >= AWAY_MS {
            let post = unit.post;
            let route = self.route_for(number, post, post);
            self.units[number as usize].task = Task::Attack(Way { place: post, route });
        }
        Point::ZERO
    }

    /// A unit that was pushed off its straight path may stand before a rock, or its route may lead over ground that has changed.
    fn ask_the_way(&mut self, number: u32, mut task: Task) {
        if let Task::March(way) | Task::Attack(way) | Task::Patrol { to: way, .. } = &mut task {
            let route = self.route_for(number, way.place, way.place);
            way.route = route.or(way.route);
        }
        self.units[number as usize].task = task;
    }

    /// The end of a unit's present straight leg: a bend of its route, or its own destination if that is in sight or the route is not yet
    /// known.
    fn next_place(&mut self, number: u32, place: Point, way: &Way) -> Point {
        let Some(id) = way.route else { return way.place };
        let Some(route) = self.routes.get(id) else { return way.place };
        match route.next(place) {
            Some(bend) if bend != route.goal() => bend,
            Some(goal) => {
                if self.sees(number, place, way.place) {
                    way.place
                } else {
                    goal
                }
            }
            None => {
                self.routes.want(id);
                way.place
            }
        }
    }

    /// Whether a unit sees its destination from its present position.
    fn sees(&mut self, number: u32, place: Point, to: Point) -> bool {
        let path = [self.terrain.cell(place), self.terrain.cell(to)];
        self.scratch.sights.get(number, path, |from, to| self.terrain.sees(from, to))
    }

    /// A unit that makes no progress at all may hang at an edge beside its path, or push a boulder against a wall. First it goes to the
    /// middle of its cell, from where the path is free as far as routes know; if that does not help, to one side and to the other.
    fn off_the_wall(&mut self, number: u32, wanted: Point) -> Point {
        let Unit { stalled_ms, kind, ref task, .. } = self.units[number as usize];
        if stalled_ms < SIDESTEP_MS || wanted == Point::ZERO {
            return wanted;
        }
        let place = self.scratch.places[number as usize];
        // Near its own destination and in sight of it, it will settle for the place that it has.
        if let Some(&way) = task.way() {
            let distance = way.place.distance_squared(place);
            let is_near = distance <= squared(CONTENT_WITHIN);
            if distance <= squared(CLOSE) || is_near && self.sees(number, place, way.place) {
                return wanted;
            }
        }
        let side = if number.is_multiple_of(2) { 1 } else { -1 };
        let aside = |side: i32| Point { x: -wanted.y * side, y: wanted.x * side };
        match stalled_ms / SIDESTEP_MS % 4 {
            0 => wanted,
            1 => {
                let cell = self.terrain.cell(place);
                let middle = self.terrain.middle(cell);
                let free =
                    if self.terrain.is_blocked(cell) { self.terrain.nearest_free(middle) } else { middle };
                place.towards(free, kind.stats().speed)
            }
            2 => aside(side),
            _ => aside(-side),
        }
    }

    /// The wanted velocity of a unit that is stuck: around the obstacle; half of the units try each side first.
    fn around_the_jam(&mut self, number: u32, now: Point, wanted: Point, elapsed_ms: u16) -> Point {
        let unit = &mut self.units[number as usize];
        let gets_on =
            now.distance_squared(Point::ZERO) * squared(JAM_PART) >= wanted.distance_squared(Point::ZERO);
        if gets_on {
            unit.jammed_ms = unit.jammed_ms.saturating_sub(elapsed_ms);
        } else {
            unit.jammed_ms = unit.jammed_ms.saturating_add(elapsed_ms);
        }
        let turned = Point { x: -wanted.y, y: wanted.x };
        let phase = unit.jammed_ms / SIDESTEP_MS;
        match (phase, (u32::from(phase) + number) % 2) {
            (0, _) => wanted,
            (_, 0) => Point { x: (wanted.x + turned.x) / 2, y: (wanted.y + turned.y) / 2 },
            _ => Point { x: (wanted.x - turned.x) / 2, y: (wanted.y - turned.y) / 2 },
        }
    }
}

/// A fixed-point number from its raw value.
pub(super) fn raw(value: i32) -> Fx {
    Fx::from_bits(value.into())
}
