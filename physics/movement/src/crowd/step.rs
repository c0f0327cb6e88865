//! One frame of a crowd: every unit chooses its velocity.

use testudo_physics::{Fx, Vec2, World};

use crate::crowd::{Crowd, Errand, GIVE_UP_MS, MoveEvent, Mover, Task};
use crate::flow::Way;
use crate::ground::Ground;
use crate::steer::{Going, Neighbour, Step, give_way};

/// Speed per distance near a place, 1/s.
const APPROACH: i64 = 4;

/// Neighbours that one unit minds, nearest squares first.
const NEIGHBOURS_MAX: usize = 48;

/// A unit that has not come nearer for this long has lost its patience, ms.
const PATIENCE_MS: u32 = 1_500;

/// A unit that has not come nearer for this long trades its post with one that stands in its way, ms.
const TRADE_MS: u32 = 300;

/// Of the units that lost their patience, one in this many has a higher rank, in turns of so many ms. Those of lower rank cannot hold it, and there are
/// few enough of them that they do not hold each other.
const RANK_EVERY: u64 = 4;
const RANK_MS: u64 = 500;

/// A unit this near to its post, in radii, stays where it is after [`PATIENCE_MS`]; after each further span it accepts as much again.
const CONTENT: i64 = 3;

/// A unit that was pushed back by more than this, in radii, counts its progress from there; so often on one order.
const PUSHED_BACK: i64 = 8;
const SETBACKS_MAX: u8 = 8;

/// Further than this from its post, in radii, a unit that waits behind others is as patient as they.
const QUEUE: i64 = 12;

/// A unit that stands goes back if it was moved by more than this many radii, after this time in ms.
const OFF_RADII: i64 = 2;
const OFF_MS: u32 = 1_000;

/// A unit within so many cells of its post goes straight there if it sees it.
const NEAR_CELLS: i64 = 24;

/// What one unit decides.
struct Decision {
    velocity: Vec2,
    pushes: bool,
    event: Option<MoveEvent>,
}

impl Decision {
    fn go(velocity: Vec2) -> Self {
        Self { velocity, pushes: false, event: None }
    }
}

impl Crowd {
    /// Tells all units their velocities for the next step of the world, `1 / frames_per_second` seconds long (1..=1,000; values outside count as the nearest one).
    /// Call it before [`World::step`], in each frame.
    pub fn step(&mut self, world: &mut World, frames_per_second: u32) {
        let rate = frames_per_second.clamp(1, testudo_physics::FPS_MAX);
        self.events.clear();
        self.look(world);
        self.wish(rate);
        let side = self.seen.iter().map(|unit| unit.radius).max().unwrap_or(Fx::ONE) * 4;
        self.squares.fill(&self.seen, side);
        self.trade_posts();
        for number in 0..self.movers.len() {
            let decision = self.decide(number, rate);
            let mover = &mut self.movers[number];
            if mover.pushes != decision.pushes {
                mover.pushes = decision.pushes;
                // The body exists: `look` has removed the others.
                let _ = world.set_dominance(mover.body, mover.rank.saturating_add(i8::from(mover.pushes)));
            }
            let now = self.seen[number].velocity;
            let change = (decision.velocity - now).clamp_length(mover.def.acceleration / i64::from(rate));
            if change != Vec2::ZERO {
                // Two speeds within the limit have a mean within it.
                let _ = world.set_velocity(mover.body, now + change);
            }
            self.events.extend(decision.event);
        }
        self.flows.search(&self.ground, self.cells_per_frame);
    }

    /// Reads where everybody is, and removes units whose bodies are gone.
    fn look(&mut self, world: &World) {
        self.seen.clear();
        let (seen, events) = (&mut self.seen, &mut self.events);
        self.movers.retain(|mover| {
            let Some(body) = world.body(mover.body) else {
                events.push(MoveEvent::Gone(mover.body));
                return false;
            };
            let (position, velocity) = (body.position(), body.velocity());
            seen.push(Neighbour { position, velocity, radius: mover.radius, going: None });
            true
        });
    }

    /// Finds for everybody who goes somewhere the path and the velocity that it would like.
    fn wish(&mut self, rate: u32) {
        for number in 0..self.movers.len() {
            let (mover, seen) = (&mut self.movers[number], &mut self.seen[number]);
            let Task::Go(errand) = mover.task else { continue };
            let position = seen.position;
            let Errand { mut flow, group, pace } = errand;
            if !self.flows.is_live(flow) {
                // Its place was given away while nobody asked; the goal's cell is known.
                let goal = self.ground.anchor(flow.goal);
                flow = self.flows.to(&self.ground, goal, mover.size).unwrap_or(flow);
                mover.task = Task::Go(Errand { flow, ..errand });
            }
            let to_post = mover.post - position;
            let length = to_post.length();
            let goal = self.ground.anchor(flow.goal);
            let (to, left, to_go);
            if goes_straight(&self.ground, mover, position, length) {
                mover.aim = None;
                self.flows.keep(flow);
                (to, left, to_go) = (mover.post, position.distance(goal), length);
            } else if let Some(aim) =
                mover.aim.filter(|&aim| is_on_the_way(&self.ground, mover, position, aim))
            {
                self.flows.keep(flow);
                (to, left) = (aim, mover.beyond + position.distance(aim));
                to_go = left + goal.distance(mover.post);
            } else {
                let way = self.flows.follow(&self.ground, flow, position, is_careful(mover));
                mover.aim = None;
                (to, left, to_go) = match way {
                    Way::Straight { left } if self.ground.sees(position, mover.post, mover.size) => {
                        (mover.post, left, length)
                    }
                    // The goal is in sight, and the post behind a corner of it.
                    Way::Straight { left } => (goal, left, left + goal.distance(mover.post)),
                    Way::Aim { to, left } => {
                        (mover.aim, mover.beyond) = (Some(to), left - position.distance(to));
                        // The field leads to the goal; the post is beside it.
                        (to, left, left + goal.distance(mover.post))
                    }
                    // Nobody knows yet, or there is no path: it waits. `decide` asks which.
                    Way::Unknown | Way::Closed => (position, Fx::MAX, mover.best),
                };
            }
            let far = if to == mover.post { length } else { Fx::MAX };
            let wish = towards(to - position, far, pace, rate);
            let right_ms = mover.right_ms.saturating_sub(1_000 / rate);
            mover.to_go = to_go;
            seen.going = Some(Going { group, left, wish, right_ms });
        }
    }

    /// Two units of one order that are near each other trade their posts if both get nearer by it: so nobody has to pass one that goes the other way, or
    /// one that stands already.
    fn trade_posts(&mut self) {
        for number in 0..self.movers.len() {
            let mover = &self.movers[number];
            let Task::Go(errand) = mover.task else { continue };
            if mover.aim.is_some() {
                continue;
            }
            let me = self.seen[number];
            let mut partner = None;
            self.squares.near(me.position, |other| {
                if partner.is_none() && self.gains_by_trade(number, other as usize) {
                    partner = Some(other as usize);
                }
            });
            let Some(other) = partner else { continue };
            let posts = (mover.post, self.movers[other].post);
            (self.movers[other].post, self.movers[number].post) = posts;
            if !self.movers[other].is_going() {
                self.movers[other].forget();
                self.movers[other].task = Task::Go(Errand { pace: self.movers[other].def.speed, ..errand });
            }
            for at in [number, other] {
                self.movers[at].best = self.movers[at].post.distance(self.seen[at].position);
            }
        }
    }

    /// Whether a unit that goes gains by trading its post with another one of its order. Each pair that goes is asked once.
    fn gains_by_trade(&self, number: usize, other: usize) -> bool {
        let (mine, theirs) = (&self.movers[number], &self.movers[other]);
        let (Task::Go(errand), Task::Go(other_errand) | Task::Stand(Some(other_errand))) =
            (mine.task, theirs.task)
        else {
            return false;
        };
        let is_asked = if theirs.is_going() { other > number } else { mine.stalled_ms >= TRADE_MS };
        if !is_asked || errand.group != other_errand.group || mine.size != theirs.size {
            return false;
        }
        let (me, them) = (&self.seen[number], &self.seen[other]);
        let apart = me.position - them.position;
        // Less squared distance in all: paths that do not meet.
        apart.length() - me.radius - them.radius < me.radius && apart.dot(mine.post - theirs.post) < Fx::ZERO
    }

    /// The velocity of one unit, and what becomes of its order.
    fn decide(&mut self, number: usize, rate: u32) -> Decision {
        let me = self.seen[number];
        let Some(going) = me.going else { return self.stay(number, rate) };
        let mover = &self.movers[number];
        let body = mover.body;
        if going.left == Fx::MAX
            && let Some(event) = self.is_cut_off(number)
        {
            return self.end(number, event);
        }
        let at_post = me.position.distance(mover.post);
        if at_post * 4 <= me.radius {
            return self.end(number, MoveEvent::Arrived(body));
        }
        let mut near = [me; NEIGHBOURS_MAX];
        let mut count = 0;
        let mut least_stalled = u32::MAX;
        let reach = me.radius + going.wish.length() / 2;
        let (seen, movers) = (&self.seen, &self.movers);
        self.squares.near(me.position, |other| {
            let there = &seen[other as usize];
            let between = there.position - me.position;
            let within = reach + there.radius;
            if other as usize == number || between.x.abs() > within || between.y.abs() > within {
                return;
            }
            let is_ahead =
                there.going.is_some_and(|there| there.group == going.group && there.left < going.left);
            if is_ahead && at_post > me.radius * QUEUE {
                least_stalled = least_stalled.min(movers[other as usize].stalled_ms);
            }
            if count < NEIGHBOURS_MAX {
                near[count] = *there;
                count += 1;
            }
        });
        let mover = &mut self.movers[number];
        let Step { velocity, right_ms } = give_way(&me, &going, &near[..count], mover.pushes);
        mover.right_ms = right_ms;
        let elapsed = 1_000 / rate;
        // A unit that was pushed back has another try, but not for ever.
        let from = mover.to_go - me.radius * PUSHED_BACK;
        if mover.best < from && mover.setbacks < SETBACKS_MAX {
            (mover.best, mover.is_back) = (from, true);
        }
        if mover.to_go < mover.best - me.radius / 2 {
            mover.setbacks += u8::from(core::mem::replace(&mut mover.is_back, false));
            (mover.best, mover.stalled_ms) = (mover.to_go, 0);
        } else if going.left != Fx::MAX {
            mover.stalled_ms = mover.stalled_ms.min(least_stalled).saturating_add(elapsed);
        }
        let spans = mover.stalled_ms / PATIENCE_MS;
        // Around the post, or around the goal if the post is behind a corner.
        let away = match (mover.aim, mover.task) {
            (Some(_), Task::Go(errand)) => me.position.distance(self.ground.anchor(errand.flow.goal)),
            _ => at_post,
        };
        if spans > 0 && away <= me.radius * CONTENT * i64::from(spans.min(4)) {
            self.movers[number].post = me.position;
            return self.end(number, MoveEvent::Arrived(body));
        }
        if mover.stalled_ms >= GIVE_UP_MS {
            return self.end(number, MoveEvent::GaveUp(body));
        }
        if spans > 0 {
            // It may hang at an edge beside its line.
            mover.aim = None;
        }
        let turn =
            (self.flows.frame().wrapping_mul(elapsed.into()) / RANK_MS).wrapping_add(body.index().into());
        Decision { velocity, pushes: spans > 0 && turn.is_multiple_of(RANK_EVERY), event: None }
    }

    /// Whether no path leads from a unit to its goal.
    fn is_cut_off(&self, number: usize) -> Option<MoveEvent> {
        let Task::Go(errand) = self.movers[number].task else { return None };
        let way = self.flows.way(&self.ground, errand.flow, self.seen[number].position);
        (way == Way::Closed).then_some(MoveEvent::Unreachable(self.movers[number].body))
    }

    fn end(&mut self, number: usize, event: MoveEvent) -> Decision {
        let mover = &mut self.movers[number];
        match (event, mover.task) {
            (MoveEvent::Arrived(_), Task::Go(errand)) => mover.stand(mover.post, Some(errand)),
            _ => mover.stand(self.seen[number].position, None),
        }
        let is_news = !core::mem::replace(&mut mover.is_told, true);
        Decision { velocity: Vec2::ZERO, pushes: false, event: is_news.then_some(event) }
    }

    /// A unit that stands brakes. If it was moved away it waits, and then goes back as far as nothing is in the way.
    fn stay(&mut self, number: usize, rate: u32) -> Decision {
        let (mover, seen) = (&mut self.movers[number], &self.seen[number]);
        let away = mover.post - seen.position;
        let length = away.length();
        if length <= seen.radius * OFF_RADII {
            mover.off_ms = 0;
            return Decision::go(Vec2::ZERO);
        }
        mover.off_ms = mover.off_ms.saturating_add(1_000 / rate);
        if mover.off_ms < OFF_MS {
            return Decision::go(Vec2::ZERO);
        }
        if mover.off_ms >= 5 * OFF_MS || !self.ground.sees(seen.position, mover.post, mover.size) {
            // Somebody else stands there.
            mover.stand(seen.position, None);
            return Decision::go(Vec2::ZERO);
        }
        let direction = away.normalize();
        let speed = mover.def.speed.min(length * APPROACH);
        Decision::go(Vec2::new(direction.x * speed, direction.y * speed))
    }
}

/// Whether a unit can go straight to its post.
fn goes_straight(ground: &Ground, mover: &Mover, position: Vec2, length: Fx) -> bool {
    length <= ground.cell() * NEAR_CELLS
        && (!is_careful(mover) || ground.is_clear(position, mover.size))
        && ground.sees_plainly(position, mover.post, mover.size)
}

/// Whether a unit keeps to anchors beside obstacles, because it may hang at a corner.
fn is_careful(mover: &Mover) -> bool {
    mover.stalled_ms / PATIENCE_MS % 2 == 1
}

/// The velocity along a way with at most `pace`; slower near its end, which is `far` away, and no further than that in one frame.
fn towards(way: Vec2, far: Fx, pace: Fx, rate: u32) -> Vec2 {
    let far = far.min(testudo_physics::POSITION_MAX);
    let speed = pace.min(far * APPROACH).min(far * i64::from(rate));
    let direction = way.normalize();
    Vec2::new(direction.x * speed, direction.y * speed)
}

/// Whether a unit can still go straight to its aim: it is not there yet, and nothing moved the unit behind a corner.
fn is_on_the_way(ground: &Ground, mover: &Mover, position: Vec2, aim: Vec2) -> bool {
    position.distance(aim) * 4 > ground.cell() && ground.sees(position, aim, mover.size)
}
