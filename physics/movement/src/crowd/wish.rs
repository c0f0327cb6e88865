//! Where a unit goes, and how fast it would like to.

use testudo_physics::{Fx, Vec2};

use crate::crowd::mover::Mover;
use crate::crowd::{Crowd, Errand, Task, Walker};
use crate::flow::{FlowId, Flows, NO_FIELD, Way};
use crate::ground::Ground;
use crate::steer::raw::{length, raw, resized, vec2};

/// Speed per distance near a place, 1/s.
pub(super) const APPROACH: i64 = 4;

/// A unit that has not come nearer for this long has lost its patience, ms.
pub(super) const PATIENCE_MS: u32 = 1_500;

/// A unit that was moved off its line looks whether so many cells ahead are free.
const AHEAD_CELLS: i64 = 12;

/// A unit within so many cells of its post goes straight there if it sees it.
const NEAR_CELLS: i64 = 24;

impl Crowd {
    /// Finds the path of a unit that goes somewhere, and the velocity that it would like.
    pub(super) fn wish(&mut self, number: usize, rate: u32) {
        let (mover, walker) = (&mut self.movers[number], &mut self.walkers[number]);
        let Task::Go(errand) = mover.task else {
            walker.sight.is_going = false;
            return;
        };
        let position = walker.place();
        let Errand { mut flow, group, pace, .. } = errand;
        let straight = goes_straight(&self.ground, mover, position);
        // One that is sent alone has no field until it needs one.
        let needs_none = straight && flow.index == NO_FIELD;
        if !needs_none && !self.flows.is_live(flow) {
            // Its place was given away while nobody asked; the goal's cell is known.
            let goal = self.ground.anchor(flow.goal);
            flow = self.flows.to(&self.ground, goal, mover.size).unwrap_or(flow);
            mover.task = Task::Go(Errand { flow, ..errand });
        }
        let goal = self.ground.anchor(flow.goal);
        (mover.is_around, mover.is_closed) = (false, false);
        let Leg { to, left, to_go } = if straight {
            mover.aim = None;
            self.flows.keep(flow);
            Leg { to: mover.post, left: position.distance(goal), to_go: position.distance(mover.post) }
        } else if let Some(aim) =
            mover.aim.filter(|&aim| is_on_the_way((&self.ground, &self.flows), mover, walker, (flow, aim)))
        {
            self.flows.keep(flow);
            if aim == mover.post {
                Leg { to: aim, left: position.distance(goal), to_go: position.distance(aim) }
            } else {
                let left = mover.beyond + position.distance(aim);
                Leg { to: aim, left, to_go: left + mover.beside }
            }
        } else {
            ask((&self.ground, &mut self.flows), mover, position, flow)
        };
        let way = raw(to - position, (1 << 31) - 1);
        let far = length(way);
        // Not further than its aim in one frame: behind it may be a cell from which the path leads back.
        let mut speed = pace.to_bits();
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
        (sight.is_going, sight.group, sight.left) = (true, group, left.to_bits());
        mover.straight = far;
    }
}

/// Where a unit goes now.
struct Leg {
    to: Vec2,
    /// Length of its path to the goal, units.
    left: Fx,
    /// Length of its path to its post, units.
    to_go: Fx,
}

/// A unit asks its field for an aim, and keeps beside the path of its group if it can.
fn ask((ground, flows): (&Ground, &mut Flows), mover: &mut Mover, position: Vec2, flow: FlowId) -> Leg {
    let (goal, careful) = (ground.anchor(flow.goal), is_careful(mover));
    let beside = mover.post - goal;
    let is_led = !careful && !mover.is_new && beside != Vec2::ZERO;
    let with_group = is_led.then(|| flows.beside(ground, flow, position, beside)).flatten();
    let way = match with_group {
        Some((to, left)) => Way::Aim { to, left },
        None => flows.seek(ground, flow, position, careful, &mut mover.is_new),
    };
    flows.keep(flow);
    // Who has been on its path already was pushed into a pocket.
    let had_path = way == Way::Closed && mover.best < Fx::MAX;
    let out = had_path.then(|| flows.way_out(ground, flow, position)).flatten();
    (mover.aim, mover.is_closed) = (None, way == Way::Closed && out.is_none());
    match way {
        Way::Straight { left } if ground.sees(position, mover.post, mover.size) => {
            mover.aim = Some(mover.post);
            Leg { to: mover.post, left, to_go: position.distance(mover.post) }
        }
        // The goal is in sight, and the post behind a corner of it.
        Way::Straight { left } => {
            mover.is_around = true;
            Leg { to: goal, left, to_go: left + mover.beside }
        }
        Way::Aim { to, left } => {
            (mover.aim, mover.beyond) = (Some(to), (left - position.distance(to)).max(Fx::ZERO));
            // The field leads to the goal; the post is beside it.
            Leg { to, left, to_go: left + mover.beside }
        }
        // Nobody knows yet, or there is no path: it waits. `decide` asks which.
        Way::Unknown | Way::Closed => {
            let waits = Leg { to: position, left: Fx::MAX, to_go: mover.best };
            out.map_or(waits, |to| Leg { to, left: mover.best, to_go: mover.best })
        }
    }
}

/// Whether a unit can go straight to its post.
fn goes_straight(ground: &Ground, mover: &Mover, position: Vec2) -> bool {
    let away = raw(mover.post - position, (1 << 31) - 1);
    let near = (ground.cell() * NEAR_CELLS).to_bits();
    away[0].abs().max(away[1].abs()) <= near
        && (!is_careful(mover) || ground.is_clear(position, mover.size))
        && ground.sees_plainly(position, mover.post, mover.size)
}

/// Whether a unit keeps to anchors beside obstacles, because it may hang at a corner.
fn is_careful(mover: &Mover) -> bool {
    mover.stalled_ms / PATIENCE_MS % 2 == 1
}

/// Whether a unit can still go straight to its aim: it is not there yet, and nothing moved the unit behind a corner. What is further ahead is looked at
/// when the unit comes there.
fn is_on_the_way(
    (ground, flows): (&Ground, &Flows),
    mover: &Mover,
    walker: &Walker,
    (flow, aim): (FlowId, Vec2),
) -> bool {
    let position = walker.place();
    let away = raw(aim - position, (1 << 31) - 1);
    let (cell, far) = (ground.cell().to_bits(), away[0].abs().max(away[1].abs()));
    // Beside its cell a path may lead back to where the unit comes from.
    let is_there = ground.grid.cell_at(position) == ground.grid.cell_at(aim);
    if far <= if is_there { cell / 4 } else { cell / 64 } {
        return false;
    }
    if mover.is_straight && walker.sight.velocity == walker.takes {
        return true;
    }
    // Others may have pushed it past its aim, or to where a shorter path begins.
    let left = flows.left(ground, flow, position).filter(|_| aim != mover.post);
    if left.is_some_and(|left| mover.beyond + position.distance(aim) > left) {
        return false;
    }
    let ahead = far.min(cell * AHEAD_CELLS);
    ground.sees(position, position + vec2(resized(away, far, ahead)), mover.size)
}
