//! Fast bodies: those that could pass through or sink into another body between two frames.
//!
//! Ordinary pairs are found by boxes that are a little larger than the bodies, and use the normal at the start of the frame. A body that
//! moves further in a frame than two such growths gets a box around its whole path, and its pairs are tested one by one
//! ([`crate::step::passages`]). A pair that meets on its paths gets a contact with the normal at that time, a pair that passes freely is
//! left alone, and sensors report bodies that cross them. So nothing depends on where a frame ends.

use alloc::vec::Vec;

use crate::body::record::{Shell, flag};
use crate::body::terrain::Terrain;
use crate::body::working_index::{WorkingIndex, WorkingPair};
use crate::collide::narrow_phase::{Hit, Hits, Manifold, UNIT_BITS, manifold};
use crate::collide::passage::{impact, meets};
use crate::collide::rounded_box::FRACTION_BITS;
use crate::contact::sensors::SensorOverlaps;
use crate::math::axes::{both, each_axis};
use crate::solve::solver::Velocity;
use crate::step::crossings::Crossings;
use crate::step::fast_marks::FastMarks;
use crate::step::input::ContactInput;
use crate::step::near::NearPair;
use crate::step::overlap::overlaps_deeply;
use crate::step::scene::Scene;
use crate::step::seams::is_seam;
use crate::step::strikes::Strikes;

/// Surfaces this close touch, raw units (1/256 unit): the distance that the solver leaves between bodies that it stops at each other.
pub(crate) const TOUCH_SLOP: i32 = 1 << 8;

/// Where a wall stops a fast body in this frame.
#[derive(Clone, Copy, Debug)]
struct Stop {
    lane: WorkingIndex,
    /// The part of the frame before it, 32 fraction bits.
    place: u64,
    /// The path of the wall relative to the body: until they meet, and from there along the wall.
    legs: [[i32; 2]; 2],
}

impl Stop {
    /// How far the body moves in this frame.
    fn displacement(&self) -> [i32; 2] {
        each_axis(|axis| -(self.legs[0][axis] + self.legs[1][axis]))
    }
}

/// The fast bodies of a step. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct FastMovers {
    pub(crate) marks: FastMarks,
    pub(crate) strikes: Strikes,
    /// Where walls stop them, by working index.
    stops: Vec<Stop>,
    /// Pairs that need a closer test, in the order of the broad phase.
    pub(crate) pairs: Vec<WorkingPair>,
    pub(crate) crossings: Crossings,
    /// Pairs of a sensor and a body beside it, also those of slow bodies: they are tested when the bodies have moved.
    pub(crate) sensors: Vec<WorkingPair>,
    /// Whether there may be a pile-up.
    // not state: of this step
    pub(crate) in_pile_up: bool,
}

/// The bodies of a step when their velocities are solved.
#[derive(Clone, Copy)]
pub(crate) struct Solved<'a> {
    pub(crate) scene: Scene<'a>,
    pub(crate) shells: &'a [Shell],
    /// The velocities that advance positions.
    pub(crate) moving: &'a [Velocity],
    /// Moving bodies come before it, bodies at rest behind it.
    pub(crate) dummy: WorkingIndex,
}

impl FastMovers {
    pub(crate) fn begin(&mut self, fps: u32) {
        self.marks.begin(fps);
        self.strikes.begin();
        self.stops.clear();
        self.pairs.clear();
        self.crossings.pairs.clear();
        self.sensors.clear();
    }

    fn stop_of(&self, lane: WorkingIndex) -> Option<&Stop> {
        let at = self.stops.binary_search_by_key(&lane, |stop| stop.lane).ok()?;
        Some(&self.stops[at])
    }

    /// Finds the walls that stop the fast bodies.
    pub(crate) fn find_stops(&mut self, input: &ContactInput<'_>) {
        if self.marks.is_empty() {
            return;
        }
        for near in input.near.pairs().chunk_by(|a, b| a.lane == b.lane) {
            let lane = near[0].lane;
            // Walls stop no kinematic body.
            if self.marks.contains(lane) && input.working.shells[lane].mass != 0 {
                let motion = self.marks.motion(input.velocity(lane), [0; 2]);
                self.stops.extend(first_stop(lane, motion, near, input));
            }
        }
    }

    /// Whether a pair moves too far for an ordinary contact: further than its margin.
    pub(crate) fn is_swept(&self, [a, b]: WorkingPair, input: &ContactInput<'_>) -> bool {
        if !(self.marks.contains(a) || self.marks.contains(b)) {
            return false;
        }
        let margin = input.pair_margin([a, b]);
        let limit = self.marks.speed(margin);
        let far = self.speeds([a, b], input).any(|([speed_a, speed_b], _)| {
            (0..2).any(|axis| speed_b[axis].wrapping_sub(speed_a[axis]).abs() > limit)
        }) || self.is_parted_by_a_wall([a, b], margin, input);
        far && !(self.in_pile_up && overlaps_deeply(&input.working.shells, [a, b]))
    }

    /// The velocities with which two bodies are swept, and since when: their own, and those of a body that is struck.
    fn speeds(
        &self,
        pair: WorkingPair,
        input: &ContactInput<'_>,
    ) -> impl Iterator<Item = ([[i32; 2]; 2], u64)> + use<> {
        let own = both(pair, |index| input.velocity(index));
        let [struck_a, struck_b] = both(pair, |index| self.strikes.of(index));
        let a = struck_a.map(|(speed, since)| ([speed, own[1]], since));
        let b = struck_b.map(|(speed, since)| ([own[0], speed], since));
        let both = struck_a.zip(struck_b).map(|((a, since_a), (b, since_b))| ([a, b], since_a.max(since_b)));
        [Some((own, 0)), a, b, both].into_iter().flatten()
    }

    /// The paths of the second body of a pair relative to the first one, each in two legs, and since when: as they are, and if one of them is
    /// struck. Bodies at rest are never struck.
    pub(crate) fn paths(
        &self,
        pair: WorkingPair,
        input: &ContactInput<'_>,
    ) -> impl Iterator<Item = ([[i32; 2]; 2], u64)> {
        let at_rest = pair[1] > input.dummy();
        let usual = if at_rest { self.legs_at_rest(pair[0], input) } else { self.legs(pair, input) };
        let struck = self.speeds(pair, input).skip(1);
        let struck = struck.map(|([a, b], since)| ([self.marks.motion(a, b), [0; 2]], since));
        core::iter::once((usual, 0)).chain(struck)
    }

    /// Whether a wall stops one of two bodies, so that their distance changes by more than `margin`.
    fn is_parted_by_a_wall(&self, pair: WorkingPair, margin: i32, input: &ContactInput<'_>) -> bool {
        if pair.iter().all(|&index| self.stop_of(index).is_none()) {
            return false;
        }
        let [a, b] = both(pair, |index| self.way(index, input));
        (0..2).any(|axis| (b[axis] - a[axis]).abs() > margin)
    }

    /// How far a body will move in this frame, as far as walls let it.
    fn way(&self, index: WorkingIndex, input: &ContactInput<'_>) -> [i32; 2] {
        let free = || self.marks.displacement(input.velocity(index));
        self.stop_of(index).map_or_else(free, Stop::displacement)
    }

    /// The path of the second of two moving bodies relative to the first one: until a wall stops one of them, and after that.
    fn legs(&self, pair: WorkingPair, input: &ContactInput<'_>) -> [[i32; 2]; 2] {
        let [speed_a, speed_b] = both(pair, |index| input.velocity(index));
        let motion = self.marks.motion(speed_a, speed_b);
        let stops = pair.iter().filter_map(|&index| self.stop_of(index));
        let Some(place) = stops.map(|stop| stop.place).min() else { return [motion, [0; 2]] };
        let before = both(motion, |m| ((i64::from(m) * place as i64) >> FRACTION_BITS) as i32);
        let [a, b] = both(pair, |index| self.way(index, input));
        [before, each_axis(|axis| b[axis] - a[axis] - before[axis])]
    }

    /// The path of the bodies at rest relative to a moving one, likewise.
    fn legs_at_rest(&self, lane: WorkingIndex, input: &ContactInput<'_>) -> [[i32; 2]; 2] {
        let free = || [self.marks.motion(input.velocity(lane), [0; 2]), [0; 2]];
        self.stop_of(lane).map_or_else(free, |stop| stop.legs)
    }

    /// Whether a pair that is apart may touch in this frame. The normal at the start of the frame says so of many that pass beside a corner.
    pub(crate) fn may_meet(
        &self,
        pair: WorkingPair,
        normal: [i32; 2],
        gap: i32,
        input: &ContactInput<'_>,
    ) -> bool {
        let clearance = 1 << 10;
        if gap <= clearance {
            return true;
        }
        let [a, b] = pair;
        let motion = self.marks.motion(input.velocity(a), input.velocity(b));
        let come: i64 = (0..2).map(|axis| i64::from(motion[axis]) * i64::from(normal[axis])).sum();
        let [shell_a, shell_b] = both(pair, |index| &input.working.shells[index]);
        let wide = Shell { radius: shell_a.radius + clearance, ..*shell_a };
        -(come >> UNIT_BITS) < i64::from(gap) || meet(&wide, shell_b, motion, input.phase.scene.terrain)
    }

    /// Drops pairs that only seem to meet.
    pub(crate) fn drop_passing(&self, hits: &mut Hits, input: &ContactInput<'_>) {
        hits.retain_hits(|pair, normal, gap| self.may_meet(pair, normal, gap, input));
    }

    /// Moves the pairs of a window that need a closer test from its hits to the list.
    pub(crate) fn set_aside(&mut self, pairs: &[WorkingPair], hits: &mut Hits, input: &ContactInput<'_>) {
        // Two discs that move hardly seem to: their normal turns little in a frame.
        if input.working.some_boxes || pairs.last().is_some_and(|pair| pair[1] >= input.dummy()) {
            self.drop_passing(hits, input);
        }
        if self.marks.is_empty() {
            return;
        }
        for &pair in pairs {
            if self.is_swept(pair, input) {
                self.pairs.push(pair);
            }
            if self.may_cross(pair, input) {
                self.crossings.pairs.push(pair);
            }
        }
        hits.retain(|_, pair| !self.is_swept(pair, input));
    }

    /// Whether the solver may send a fast body and another one that is no wall through each other.
    fn may_cross(&self, pair: WorkingPair, input: &ContactInput<'_>) -> bool {
        let shells = &input.working.shells;
        let is_wall = pair[1] > input.dummy() && shells[pair[1]].mass == 0;
        let is_fast = pair.iter().any(|&index| self.marks.contains(index));
        is_fast && !is_wall && !(self.in_pile_up && overlaps_deeply(shells, pair))
    }

    /// Overlaps with sensors that began on the way from where the bodies were (`solved.shells`) to where they are now.
    pub(crate) fn cross_sensors(&self, solved: &Solved<'_>, sensors: &mut SensorOverlaps) {
        for &pair in &self.sensors {
            let [from, to] = both(pair, |index| {
                let shell = &solved.shells[index];
                let now = &solved.scene.bodies[shell.slot].position;
                // Guests keep their place in this frame.
                if index < solved.dummy { each_axis(|axis| now[axis] - shell.position[axis]) } else { [0; 2] }
            });
            let [a, b] = both(pair, |index| &solved.shells[index]);
            if meet(a, b, [to[0] - from[0], to[1] - from[1]], solved.scene.terrain) {
                sensors.push(a.slot, b.slot);
            }
        }
    }

    fn solved_motion(&self, a: WorkingIndex, b: WorkingIndex, solved: &Solved<'_>) -> [i32; 2] {
        self.marks.motion(solved.moving[a].get(), solved.moving[b].get())
    }

    /// Whether two bodies that the solver separated touch in this frame: at its end, or along their unhindered paths.
    pub(crate) fn touch(&self, a: WorkingIndex, b: WorkingIndex, solved: &Solved<'_>) -> bool {
        let (scene, motion) = (solved.scene, self.solved_motion(a, b, solved));
        let [shell_a, shell_b] = both([a, b], |index| &solved.shells[index]);
        let touches = if shell_b.is_terrain() {
            // The body moves in the direction from which the terrain would come.
            let position = [shell_a.position[0] - motion[0], shell_a.position[1] - motion[1]];
            let there = Shell { position, ..*shell_a };
            scene.terrain.plain_separation(shell_b.slot, &there).is_some_and(|found| found.gap <= TOUCH_SLOP)
        } else {
            let position = [shell_b.position[0] + motion[0], shell_b.position[1] + motion[1]];
            manifold(shell_a, &Shell { position, ..*shell_b }, TOUCH_SLOP).is_some()
        };
        if touches {
            return true;
        }
        let before = |index: WorkingIndex, shell: &Shell| {
            let moves = index < solved.dummy;
            if moves { scene.bodies[shell.slot].velocity } else { Velocity::default().get() }
        };
        let motion = self.marks.motion(before(a, shell_a), before(b, shell_b));
        meet(shell_a, shell_b, motion, scene.terrain)
    }
}

/// Where the first wall stops a moving body. `motion` is its path, reversed so that bodies at rest come towards it.
fn first_stop(
    lane: WorkingIndex,
    motion: [i32; 2],
    near: &[NearPair],
    input: &ContactInput<'_>,
) -> Option<Stop> {
    let (shells, scene) = (&input.working.shells, input.phase.scene);
    let mover = shells[lane];
    let mut first: Option<(u64, [i32; 2], Manifold)> = None;
    for &NearPair { slot, .. } in near {
        let wall = input.near.index(slot);
        let (body, shell) = (&scene.bodies[slot], &shells[wall]);
        if shell.mass != 0 || body.has(flag::SENSOR) || !scene.interact(mover.slot, slot) {
            continue;
        }
        let met = if shell.is_terrain() {
            scene.terrain.impact(slot, &mover, motion, &|other| scene.joins(mover.slot, other))
        } else {
            impact(&mover, shell, motion)
        };
        if let Some(hit) = met
            && first.is_none_or(|first| hit.0 < first.0)
            && !is_seam_at([lane, wall], hit.1, &hit.2, near, input)
        {
            first = Some(hit);
        }
    }
    let (place, moved, Manifold { normal, .. }) = first?;
    let left = [motion[0] - moved[0], motion[1] - moved[1]];
    let inward: i64 = (0..2).map(|axis| i64::from(left[axis]) * i64::from(normal[axis])).sum();
    let inward = (inward >> UNIT_BITS).min(0);
    let along = each_axis(|axis| left[axis] - ((inward * i64::from(normal[axis])) >> UNIT_BITS) as i32);
    Some(Stop { lane, place, legs: [moved, along] })
}

/// [`is_seam`] where the wall has come towards the mover by `moved`.
pub(crate) fn is_seam_at(
    [a, b]: WorkingPair,
    moved: [i32; 2],
    found: &Manifold,
    near: &[NearPair],
    input: &ContactInput<'_>,
) -> bool {
    let shell = input.working.shells[a];
    let position = each_axis(|axis| shell.position[axis] - moved[axis]);
    let others = near.iter().map(|pair| input.near.index(pair.slot));
    let hit = Hit { a, b, normal: found.normal, gap: found.gap };
    is_seam(&hit, &Shell { position, ..shell }, others, input)
}

/// Whether two bodies touch while the second one moves by `motion` as seen from the first one. Terrain is the second one.
fn meet(a: &Shell, b: &Shell, motion: [i32; 2], terrain: &Terrain) -> bool {
    if b.is_terrain() { terrain.meets(b.slot, a, both(motion, |m| -m)) } else { meets(a, b, motion) }
}
