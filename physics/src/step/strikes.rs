//! Chains of fast bodies: a body that a fast one strikes within a frame may become fast itself, and strike the next one.
//!
//! What a body can hit is found along its path, before anything is solved. So the first body on the path of each fast one gets the velocity that
//! this collision alone would give it, and is swept with that velocity, too: it may strike another body in the same way. A pair gets a contact
//! if it meets on any of its paths; the solver then decides what becomes of it.

use alloc::vec::Vec;

use crate::body::record::{Extra, Shell, flag};
use crate::body::working_index::WorkingIndex;
use crate::collide::narrow_phase::{Manifold, UNIT, UNIT_BITS};
use crate::collide::passage::impact;
use crate::contact::share::share_with_locks;
use crate::math::axes::{both, each_axis};
use crate::math::boxes::{LANES, RawBox};
use crate::simd::Path;
use crate::step::fast_marks::FastMarks;
use crate::step::lanes::Lanes;
use crate::step::scene::Scene;
use crate::step::working::Working;
use crate::world_def::Settings;

/// Greatest number of bodies that strike each other one after the other within a frame.
const ROUNDS: u32 = 16;

/// A body with the velocity that a collision in this frame gives it.
#[derive(Clone, Copy, Debug)]
struct Strike {
    lane: WorkingIndex,
    velocity: [i32; 2],
    /// The parts of a frame until then, 32 fraction bits. A body moves with its last velocity from where the frame begins, so one that is struck late
    /// may strike others all the same.
    time: u64,
    /// The body that it has just met, or itself.
    by: WorkingIndex,
}

/// The bodies that are struck in a step. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strikes {
    /// Each lane once.
    list: Vec<Strike>,
    /// The other strikes of bodies that are struck more than once. They are not followed, but contacts may give a body that velocity, and then it must
    /// not pass through what is there: see [`crate::step::crossings`].
    others: Vec<Strike>,
    /// Where a lane is in the list. As long as the longest step had lanes.
    places: Vec<StrikeIndex>,
    /// Those whose paths are looked at in this round, and in the next one.
    present: Vec<Strike>,
    next: Vec<Strike>,
    /// The lanes of the bodies beside a path.
    beside: Vec<WorkingIndex>,
}

/// A body that is struck, by its place in the list of them, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
struct StrikeIndex(u32);

impl StrikeIndex {
    const NONE: Self = Self(u32::MAX);
}

/// What the search reads.
#[derive(Clone, Copy)]
pub(crate) struct StrikeInput<'a> {
    pub(crate) path: Path,
    pub(crate) scene: Scene<'a>,
    /// By slot.
    pub(crate) extras: &'a [Extra],
    pub(crate) settings: &'a Settings,
    pub(crate) working: &'a Working,
}

impl Strikes {
    pub(crate) fn begin(&mut self) {
        let Self { list, others, places, .. } = self;
        others.clear();
        list.drain(..).for_each(|strike| places[strike.lane.at()] = StrikeIndex::NONE);
    }

    /// Where a lane is in the list.
    fn place(&self, lane: WorkingIndex) -> Option<usize> {
        self.places.get(lane.at()).filter(|&&place| place != StrikeIndex::NONE).map(|place| place.0 as usize)
    }

    /// The velocity with which a body is swept besides its own one, and since when.
    pub(crate) fn of(&self, index: WorkingIndex) -> Option<([i32; 2], u64)> {
        let at = self.place(index)?;
        Some((self.list[at].velocity, self.list[at].time))
    }

    /// Finds the bodies that the fast ones strike, and marks them as fast.
    #[cold]
    pub(crate) fn find(&mut self, input: StrikeInput<'_>, lanes: &mut Lanes, marks: &mut FastMarks) {
        if self.places.len() < lanes.count() {
            self.places.resize(lanes.count(), StrikeIndex::NONE);
        }
        let velocity = |lane: WorkingIndex| input.working.velocities[lane].get();
        let fast = (0..lanes.count()).map(WorkingIndex::new).filter(|&lane| marks.contains(lane));
        self.next.clear();
        self.next.extend(fast.map(|lane| Strike { lane, velocity: velocity(lane), time: 0, by: lane }));
        for _ in 0..ROUNDS {
            core::mem::swap(&mut self.present, &mut self.next);
            self.next.clear();
            for at in 0..self.present.len() {
                let runner = self.present[at];
                if let Some((other, met, place)) = first_met(&runner, input, lanes, marks, &mut self.beside) {
                    let time = runner.time + place;
                    for strike in self.collide(&runner, other, &met, input) {
                        self.note(Strike { time, ..strike }, input, marks);
                    }
                }
            }
            if self.next.is_empty() {
                break;
            }
        }
        let boxes = lanes.tree.blocks_mut().1;
        for strike in self.list.iter().chain(&self.others) {
            let (block, lane) = (strike.lane.at() / LANES, strike.lane.at() % LANES);
            let path = marks.note(strike.lane, &boxes[block].get(lane), strike.velocity);
            boxes[block].set(lane, &path);
        }
    }

    /// What a runner and the other body do after they have met.
    fn collide(
        &self,
        runner: &Strike,
        other: WorkingIndex,
        met: &Manifold,
        input: StrikeInput<'_>,
    ) -> [Strike; 2] {
        let [a, b] = [runner.lane, other].map(|lane| &input.working.shells[lane]);
        let old = [runner.velocity, input.working.velocities[other].get()];
        let closing: i64 =
            (0..2).map(|x| (i64::from(old[0][x]) - i64::from(old[1][x])) * i64::from(met.normal[x])).sum();
        let closing = (closing >> UNIT_BITS).max(0);
        let restitution = i64::from(a.restitution.max(b.restitution)).min(1 << 16);
        let restitution =
            if closing > i64::from(input.settings.restitution_threshold) { restitution } else { 0 };
        let change = (closing * ((1 << 16) + restitution)) >> 16;
        let bodies = input.scene.bodies;
        let ranks = both([a, b], |shell| input.extras[shell.slot].dominance);
        let shares = share_with_locks(bodies, a, b, met.normal, ranks).map(|share| [share, UNIT - share]);
        let parts = shares.unwrap_or_default().map(|share| (change * i64::from(share)) >> UNIT_BITS);
        let most = i64::from(input.settings.max_speed);
        let after = |at: usize, sign: i64| {
            each_axis(|x| {
                let is_locked = bodies[[a, b][at].slot].has([flag::LOCK_X, flag::LOCK_Y][x]);
                let part = if is_locked { 0 } else { parts[at] };
                let push = (part * i64::from(met.normal[x])) >> UNIT_BITS;
                (i64::from(old[at][x]) + sign * push).clamp(-most, most) as i32
            })
        };
        [
            Strike { lane: runner.lane, velocity: after(0, -1), time: 0, by: other },
            Strike { lane: other, velocity: after(1, 1), time: 0, by: runner.lane },
        ]
    }

    /// Notes a body whose path changes by more than contacts would see otherwise, unless it is struck before that.
    fn note(&mut self, strike: Strike, input: StrikeInput<'_>, marks: &FastMarks) {
        let shell = &input.working.shells[strike.lane];
        let own = input.working.velocities[strike.lane].get();
        let limit = shell.growth(input.settings.box_margin()).saturating_mul(marks.growths());
        let changes = |x: usize| strike.velocity[x].saturating_sub(own[x]).abs() > limit / 2;
        if shell.mass == 0 || !(changes(0) || changes(1)) {
            return;
        }
        match self.place(strike.lane) {
            Some(at) if self.list[at].time <= strike.time => return self.others.push(strike),
            Some(at) => self.others.push(core::mem::replace(&mut self.list[at], strike)),
            None => {
                self.places[strike.lane.at()] = StrikeIndex(self.list.len() as u32);
                self.list.push(strike);
            }
        }
        if strike.velocity.iter().any(|v| v.abs() > limit) {
            self.next.push(strike);
        }
    }
}

/// The first moving body that a runner meets: its lane, how they touch, and when. Of several at the same time, that in the lowest lane.
fn first_met(
    runner: &Strike,
    input: StrikeInput<'_>,
    lanes: &Lanes,
    marks: &FastMarks,
    beside: &mut Vec<WorkingIndex>,
) -> Option<(WorkingIndex, Manifold, u64)> {
    let StrikeInput { path, scene, working, .. } = input;
    let own = working.shells[runner.lane];
    let is_sensor = |shell: &Shell| scene.bodies[shell.slot].has(flag::SENSOR);
    if is_sensor(&own) {
        return None;
    }
    let start = own.bounds();
    let way = marks.displacement(runner.velocity);
    let moved = |corner: [i32; 2]| [corner[0] + way[0], corner[1] + way[1]];
    let area = start.union(&RawBox { min: moved(start.min), max: moved(start.max) });
    let mut first: Option<(u64, WorkingIndex, Manifold)> = None;
    beside.clear();
    path.movers_in(&lanes.tree, &area, beside);
    for &lane in &*beside {
        let other = &working.shells[lane];
        if lane == runner.lane || lane == runner.by {
            continue;
        }
        let motion = marks.motion(runner.velocity, working.velocities[lane].get());
        if let Some((place, _, met)) = impact(&own, other, motion)
            && first.is_none_or(|(time, known, _)| (place, lane) < (time, known))
            && scene.interact(own.slot, other.slot)
            && !is_sensor(other)
        {
            first = Some((place, lane, met));
        }
    }
    first.map(|(place, lane, met)| (lane, met, place))
}
