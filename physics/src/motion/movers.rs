//! Moves one body after the solver. [`crate::motion::ordinary`] moves four ordinary bodies at once.

use core::ops::Range;

use crate::body::record::{Body, Extra, Shell, flag};
use crate::body::slot::Slot;
use crate::body::terrain::Terrain;
use crate::collide::narrow_phase::scale_down;
use crate::collide::sweep::{Barrier, sweep};
use crate::contact::ignored::IgnoredPairs;
use crate::math::axes::both;
use crate::math::boxes::{BoxBlock, LANES, RawBox};
use crate::motion::edge::Edge;
use crate::motion::rates::{self, PerFrame};
use crate::solve::solver::Velocity;
use crate::tree::resting::RestingTrees;
use crate::world_def::Settings;

/// Eight lanes of moving bodies after the solver; some may be holes.
pub(crate) struct MoverBlock<'a> {
    pub(crate) slots: &'a [Slot; LANES],
    /// The velocities that advance their positions.
    pub(crate) moving: &'a [Velocity; LANES],
    /// The velocities that they keep.
    pub(crate) kept: &'a [Velocity; LANES],
    /// The least stillness of each body and its touching neighbours.
    pub(crate) calm: &'a [u16; LANES],
}

/// What decides how the bodies in all lanes move: see [`MoverBlock`].
pub(crate) struct MoverVelocities<'a> {
    pub(crate) moving: &'a [Velocity],
    pub(crate) kept: &'a [Velocity],
    pub(crate) calm: &'a [u16],
}

/// Obstacles of bodies that move further than their own size.
#[derive(Clone, Copy)]
pub(crate) struct Walls<'a> {
    pub(crate) resting: &'a RestingTrees,
    pub(crate) ignored: &'a IgnoredPairs,
    pub(crate) terrain: &'a Terrain,
}

/// Input and output of moving.
pub(crate) struct Movement<'a> {
    pub(crate) bodies: &'a mut [Body],
    /// Positions before the step.
    pub(crate) previous: &'a mut [[i32; 2]],
    pub(crate) extras: &'a [Extra],
    pub(crate) walls: Walls<'a>,
    /// What gravity and forces added to the velocities in this frame, by slot; slots beyond the end got nothing.
    pub(crate) gains: &'a [[i32; 2]],
    pub(crate) settings: Settings,
    pub(crate) per_frame: PerFrame,
    /// Length of this frame, milliseconds.
    pub(crate) frame_ms: u16,
    /// Whether a body was still for long enough to fall asleep with its island.
    pub(crate) tired: bool,
    /// Whether a kinematic body stood still: only its own velocity moves it, so it sleeps at once. One that the world's edge has stopped in this frame
    /// has not been looked at where it is.
    pub(crate) stopped: bool,
}

impl Movement<'_> {
    /// Moves the bodies in some lanes of a block, one by one, and replaces their boxes.
    #[inline(never)]
    pub(crate) fn one_by_one(&mut self, block: &MoverBlock<'_>, lanes: Range<usize>, boxes: &mut BoxBlock) {
        for lane in lanes.filter(|&lane| block.slots[lane] != Slot::NONE) {
            let (moving, kept) = (block.moving[lane].get(), block.kept[lane].get());
            boxes.set(lane, &self.one(block.slots[lane], moving, kept, block.calm[lane]));
        }
    }

    fn one(&mut self, slot: Slot, moving: [i32; 2], kept: [i32; 2], calm: u16) -> RawBox {
        let Self { bodies, previous, extras, walls, gains, settings, per_frame, frame_ms, tired, stopped } =
            self;
        previous[slot.at()] = bodies[slot].position;
        let most = settings.max_speed;
        let moving = both(moving, |v| v.clamp(-most, most));
        let step = displacement(&mut bodies[slot], moving, *per_frame);
        let far = outruns_itself(&bodies[slot], step)
            || is_thrown(&bodies[slot], step, moving, *per_frame, settings.box_margin());
        let may_stop = far && bodies[slot].has(flag::DYNAMIC) && !bodies[slot].has(flag::SENSOR);
        let barrier = may_stop.then(|| nearest_barrier(slot, step, bodies, *walls)).flatten();
        let body = &mut bodies[slot];
        body.velocity = both(kept, |v| v.clamp(-settings.max_speed, settings.max_speed));
        let step = barrier.map_or(step, |barrier| stop_at(&barrier, step, body));
        body.velocity = both(body.velocity, |v| v.clamp(-settings.max_speed, settings.max_speed));
        let edge = Edge { settings, gains, fps: per_frame.fps() as u32 };
        let held = edge.advance(slot, body, step);
        if body.ground_friction != 0 && body.has(flag::DYNAMIC) {
            rates::apply_ground_friction(body, *per_frame);
        }
        if body.has(flag::LIMITED) {
            rates::limit_speed(&mut body.velocity, extras[slot].max_speed);
        }
        // A moving kinematic body is never still: a body that it pushes, however slowly, must not fall asleep before it.
        let still = body.has(flag::DYNAMIC)
            && (0..2).all(|x| {
                // At the edge only what moves counts: a body that arrives there is not still yet.
                let came = i64::from((body.position[x] - previous[slot.at()][x]).abs()) * per_frame.fps();
                let moving = if held[x] { came } else { i64::from(moving[x].abs()) };
                i64::from(body.velocity[x].abs()).max(moving / 2) <= i64::from(settings.sleep_speed)
            });
        body.still_ms = if still { calm.saturating_add(*frame_ms).min(settings.sleep_ms.max(1)) } else { 0 };
        *tired |= settings.sleep_ms > 0 && body.still_ms >= settings.sleep_ms;
        *stopped |=
            body.has(flag::KINEMATIC) && body.velocity == [0, 0] && body.position == previous[slot.at()];
        body.bounds().grown(settings.box_margin())
    }
}

/// How far a velocity moves a body in this frame; the body carries the remainder.
fn displacement(body: &mut Body, velocity: [i32; 2], per_frame: PerFrame) -> [i32; 2] {
    let mut step = [0; 2];
    for axis in 0..2 {
        (step[axis], body.position_remainder[axis]) =
            per_frame.take(velocity[axis], body.position_remainder[axis]);
    }
    step
}

/// Whether a body moves further than its own half size in one frame, so that it may pass through another one.
fn outruns_itself(body: &Body, step: [i32; 2]) -> bool {
    let [w, h] = body.extents();
    step[0].abs().max(step[1].abs()) > w.min(h)
}

/// Whether contacts threw a body to where its contacts were not searched for: further than its [reach](Shell::reach), and that far from
/// where its own velocity, which it still has, would take it.
fn is_thrown(body: &Body, step: [i32; 2], moving: [i32; 2], per_frame: PerFrame, most: i32) -> bool {
    let reach = body.plain_shell(Slot::NONE).reach(most);
    let limit = i64::from(reach) * per_frame.fps();
    (0..2)
        .any(|x| step[x].abs() > reach && (i64::from(moving[x]) - i64::from(body.velocity[x])).abs() > limit)
}

/// Continuous collision check for a body that [`outruns_itself`] or [`is_thrown`]: the first body at rest that stops it and that contacts
/// cannot move; of several at the same distance, the one in the lowest slot.
#[inline(never)]
fn nearest_barrier(slot: Slot, step: [i32; 2], bodies: &[Body], walls: Walls<'_>) -> Option<Barrier> {
    let body = &bodies[slot];
    let meets = |other: Slot| body.interacts_with(&bodies[other]) && !walls.ignored.contains(slot, other);
    let joins = |other: Slot| !bodies[other].has(flag::DISABLED) && meets(other);
    let shell: Shell = body.plain_shell(slot);
    let start = shell.bounds();
    let end = RawBox {
        min: [start.min[0] + step[0], start.min[1] + step[1]],
        max: [start.max[0] + step[0], start.max[1] + step[1]],
    };
    let mut first: Option<(i32, Slot, Barrier)> = None;
    walls.resting.visit(&start.union(&end), &mut |other| {
        let wall = &bodies[other];
        if !wall.has(flag::DYNAMIC | flag::SENSOR) && meets(other) {
            let hit = if wall.is_terrain() {
                walls.terrain.sweep(other, &shell, step, &joins)
            } else {
                sweep(&shell, step, &wall.shell(other))
            };
            if let Some(hit) = hit
                && first.is_none_or(|(part, slot, _)| (hit.part, other) < (part, slot))
            {
                first = Some((hit.part, other, hit));
            }
        }
    });
    first.map(|(.., barrier)| barrier)
}

/// The part of a step before a barrier. A body that the barrier stops at once does not keep its speed against it: its contact may have another
/// normal, at a corner, and would let the speed grow without end. Otherwise the contact absorbs it in the next step. What is locked stays.
fn stop_at(barrier: &Barrier, step: [i32; 2], body: &mut Body) -> [i32; 2] {
    let stopped = both(step, |s| scale_down(s, barrier.part));
    if stopped == [0; 2] {
        let velocity = body.velocity;
        let locked = [body.has(flag::LOCK_X), body.has(flag::LOCK_Y)];
        let against: i64 = (0..2).map(|axis| i64::from(velocity[axis]) * barrier.normal[axis]).sum();
        for axis in (0..2).filter(|&axis| !locked[axis]) {
            body.velocity[axis] -= (((against.min(0) >> 16) * barrier.normal[axis]) >> 16) as i32;
        }
    }
    stopped
}
