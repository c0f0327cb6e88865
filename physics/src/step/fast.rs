//! Fast bodies: those that could pass through or sink into another body between two frames.
//!
//! Ordinary pairs are found by boxes that are a little larger than the bodies, and use the normal at the start of the frame. A body that
//! moves further in a frame than two such growths gets a box around its whole path, and its pairs are tested one by one
//! ([`crate::collide::passage`]). A pair that meets on its paths gets a contact with the normal at that time, a pair that passes freely is
//! left alone, and sensors report bodies that cross them. So nothing depends on where a frame ends.

use alloc::vec::Vec;

use crate::body::record::{Shell, flag};
use crate::body::terrain::Terrain;
use crate::collide::narrow_phase::{Hit, Hits, Manifold, UNIT_BITS, manifold};
use crate::collide::passage::{Passage, impact, meets, passage};
use crate::collide::rounded_box::FRACTION_BITS;
use crate::contact::sensors::SensorOverlaps;
use crate::math::boxes::RawBox;
use crate::solve::solver::Velocity;
use crate::step::contact_phase::{ContactPhase, Scene};
use crate::step::stepper::Stepper;
use crate::tree::block_join::IndexPair;

/// Surfaces this close touch, raw units (1/256 unit): the distance that the solver leaves between bodies that it stops at each other.
pub(crate) const TOUCH_SLOP: i32 = 1 << 8;

/// Where a wall stops a fast body in this frame.
#[derive(Clone, Copy, Debug)]
struct Stop {
    lane: u32,
    /// The part of the frame before it, 32 fraction bits.
    place: u64,
    /// The path of the wall relative to the body: until they meet, and from there along the wall.
    legs: [[i32; 2]; 2],
}

impl Stop {
    /// How far the body moves in this frame.
    fn displacement(&self) -> [i32; 2] {
        [0, 1].map(|axis| -(self.legs[0][axis] + self.legs[1][axis]))
    }
}

/// The fast bodies of a step. Nothing here is state.
#[derive(Clone, Debug, Default)]
pub(crate) struct FastMovers {
    /// Frames per second of this step.
    // not state: the world's, during a step
    fps: u32,
    /// By working index; empty if there are none.
    marks: Vec<bool>,
    /// Where walls stop them, by working index.
    stops: Vec<Stop>,
    /// Pairs that need a closer test, in the order of the broad phase.
    pairs: Vec<IndexPair>,
    /// Pairs with a sensor, which are tested when the velocities are solved.
    sensors: Vec<IndexPair>,
}

impl FastMovers {
    pub(crate) fn begin(&mut self, fps: u32) {
        self.fps = fps;
        self.marks.clear();
        self.stops.clear();
        self.pairs.clear();
        self.sensors.clear();
    }

    /// A body that is faster, per second and axis, than this many times the growth of its box (at most 8 units) moves too far in this frame for
    /// ordinary contacts.
    pub(crate) fn growths(&self) -> i32 {
        2 * self.fps as i32
    }

    /// Notes a fast body and returns the box around its whole path.
    #[cold]
    pub(crate) fn note(&mut self, index: usize, start: &RawBox, velocity: [i32; 2]) -> RawBox {
        let step = self.displacement(velocity);
        let moved = |corner: [i32; 2]| [corner[0] + step[0], corner[1] + step[1]];
        self.marks.resize(index + 1, false);
        self.marks[index] = true;
        start.union(&RawBox { min: moved(start.min), max: moved(start.max) })
    }

    /// Notes a pair that needs a closer look.
    pub(crate) fn note_pair(&mut self, pair: IndexPair) {
        self.pairs.push(pair);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    fn contains(&self, index: u32) -> bool {
        self.marks.get(index as usize).is_some_and(|&fast| fast)
    }

    /// The distance of a velocity in this frame, raw units, toward zero.
    fn displacement(&self, velocity: [i32; 2]) -> [i32; 2] {
        velocity.map(|v| v / self.fps as i32)
    }

    fn stop(&self, lane: u32) -> Option<&Stop> {
        let at = self.stops.binary_search_by_key(&lane, |stop| stop.lane).ok()?;
        Some(&self.stops[at])
    }

    /// The distance of `b` in this frame, relative to `a`.
    fn motion(&self, a: [i32; 2], b: [i32; 2]) -> [i32; 2] {
        self.displacement([b[0].wrapping_sub(a[0]), b[1].wrapping_sub(a[1])])
    }
}

impl Stepper {
    /// Finds the walls that stop the fast bodies. `resting_pairs` are those of moving bodies with bodies at rest, sorted.
    pub(crate) fn find_stops(&mut self, resting_pairs: &[(u32, u32)], scene: Scene<'_>) {
        let mut stops = core::mem::take(&mut self.fast.stops);
        for near in resting_pairs.chunk_by(|a, b| a.0 == b.0) {
            let lane = near[0].0;
            if self.fast.contains(lane) {
                let motion = self.fast.motion(self.velocities[lane as usize].get(), [0; 2]);
                stops.extend(self.stop(lane, motion, near, scene));
            }
        }
        self.fast.stops = stops;
    }

    /// Whether a pair moves too far for an ordinary contact: further than its margin.
    pub(crate) fn is_swept(&self, [a, b]: IndexPair, most: i32) -> bool {
        if !(self.fast.contains(a) || self.fast.contains(b)) {
            return false;
        }
        let [speed_a, speed_b] = [a, b].map(|index| self.velocities[index as usize].get());
        let margin = self.pair_margin([a, b], most);
        let limit = margin * self.fast.fps as i32;
        let far = (0..2).any(|axis| speed_b[axis].wrapping_sub(speed_a[axis]).abs() > limit)
            || self.is_parted_by_a_wall([a, b], margin);
        far && !(self.pile_up.is_here() && self.overlaps_deeply([a, b]))
    }

    /// Whether a wall stops one of two bodies, so that their distance changes by more than `margin`.
    fn is_parted_by_a_wall(&self, pair: IndexPair, margin: i32) -> bool {
        if pair.iter().all(|&index| self.fast.stop(index).is_none()) {
            return false;
        }
        let [a, b] = pair.map(|index| self.way(index));
        (0..2).any(|axis| (b[axis] - a[axis]).abs() > margin)
    }

    /// How far a body will move in this frame, as far as walls let it.
    fn way(&self, index: u32) -> [i32; 2] {
        let free = || self.fast.displacement(self.velocities[index as usize].get());
        self.fast.stop(index).map_or_else(free, Stop::displacement)
    }

    /// The path of the second of two moving bodies relative to the first one: until a wall stops one of them, and after that.
    fn legs(&self, pair: IndexPair) -> [[i32; 2]; 2] {
        let [speed_a, speed_b] = pair.map(|index| self.velocities[index as usize].get());
        let motion = self.fast.motion(speed_a, speed_b);
        let stops = pair.iter().filter_map(|&index| self.fast.stop(index));
        let Some(place) = stops.map(|stop| stop.place).min() else { return [motion, [0; 2]] };
        let before = motion.map(|m| ((i64::from(m) * place as i64) >> FRACTION_BITS) as i32);
        let [a, b] = pair.map(|index| self.way(index));
        [before, [0, 1].map(|axis| b[axis] - a[axis] - before[axis])]
    }

    fn pair_margin(&self, pair: IndexPair, most: i32) -> i32 {
        pair.map(|index| self.shells[index as usize].growth(most)).iter().sum()
    }

    /// Moves the pairs of a window that need a closer test from its hits to the list.
    pub(crate) fn set_aside_fast(&mut self, pairs: &[IndexPair], hits: &mut Hits, most: i32) {
        if self.fast.is_empty() {
            return;
        }
        let mut swept = core::mem::take(&mut self.fast.pairs);
        swept.extend(pairs.iter().filter(|&&pair| self.is_swept(pair, most)));
        self.fast.pairs = swept;
        hits.retain(|_, pair| !self.is_swept(pair, most));
    }

    /// Contacts of the noted pairs. Those of one moving body with bodies at rest are adjacent.
    pub(crate) fn add_fast(&mut self, resting_pairs: &[(u32, u32)], phase: &mut ContactPhase<'_>) {
        let pairs = core::mem::take(&mut self.fast.pairs);
        let movers = self.tree.slot_of_lane().len() as u32;
        for &pair in &pairs {
            if !self.meet_at_all(pair, phase.scene) {
                continue;
            }
            if pair[1] < movers {
                self.add_passage(pair, self.legs(pair), &[], phase);
                continue;
            }
            let first = resting_pairs.partition_point(|&(lane, _)| lane < pair[0]);
            let near = &resting_pairs[first..];
            let near = &near[..near.partition_point(|&(lane, _)| lane == pair[0])];
            let free = || [self.fast.motion(self.velocities[pair[0] as usize].get(), [0; 2]), [0; 2]];
            let legs = self.fast.stop(pair[0]).map_or_else(free, |stop| stop.legs);
            self.add_passage(pair, legs, near, phase);
        }
        self.end_window(&pairs);
        self.fast.pairs = pairs;
    }

    /// Whether a pair can have a contact at all; notes those with a sensor.
    fn meet_at_all(&mut self, pair: IndexPair, scene: Scene<'_>) -> bool {
        let [a, b] = pair.map(|index| self.shells[index as usize].slot);
        if !scene.interact(a, b) {
            return false;
        }
        let sensor = [a, b].into_iter().any(|slot| scene.bodies[slot as usize].has(flag::SENSOR));
        if sensor {
            self.fast.sensors.push(pair);
        }
        !sensor
    }

    /// Where the first wall stops a moving body. `motion` is its path, reversed so that bodies at rest come towards it.
    fn stop(&self, lane: u32, motion: [i32; 2], near: &[(u32, u32)], scene: Scene<'_>) -> Option<Stop> {
        let mover = self.shells[lane as usize];
        let mut first: Option<(u64, [i32; 2], Manifold)> = None;
        for &(_, slot) in near {
            let wall = self.working[slot as usize];
            let (body, shell) = (&scene.bodies[slot as usize], &self.shells[wall as usize]);
            if shell.mass != 0 || body.has(flag::SENSOR) || !scene.interact(mover.slot, slot) {
                continue;
            }
            let met = if shell.is_terrain() {
                scene.terrain.impact(slot, &mover, motion)
            } else {
                impact(&mover, shell, motion)
            };
            if let Some(hit) = met
                && first.is_none_or(|first| hit.0 < first.0)
                && !self.is_seam_at(lane, wall, hit.1, &hit.2, near, scene)
            {
                first = Some(hit);
            }
        }
        let (place, moved, Manifold { normal, .. }) = first?;
        let left = [motion[0] - moved[0], motion[1] - moved[1]];
        let inward: i64 = (0..2).map(|axis| i64::from(left[axis]) * i64::from(normal[axis])).sum();
        let inward = (inward >> UNIT_BITS).min(0);
        let along = [0, 1].map(|axis| left[axis] - ((inward * i64::from(normal[axis])) >> UNIT_BITS) as i32);
        Some(Stop { lane, place, legs: [moved, along] })
    }

    /// [`Self::is_seam`] where the wall has come towards the mover by `moved`.
    fn is_seam_at(
        &self,
        a: u32,
        b: u32,
        moved: [i32; 2],
        found: &Manifold,
        near: &[(u32, u32)],
        scene: Scene<'_>,
    ) -> bool {
        let shell = self.shells[a as usize];
        let position = [0, 1].map(|axis| shell.position[axis] - moved[axis]);
        let others = near.iter().map(|&(_, slot)| self.working[slot as usize]);
        let hit = Hit { a, b, normal: found.normal, gap: found.gap };
        self.is_seam(&hit, &Shell { position, ..shell }, others, scene)
    }

    fn add_passage(
        &mut self,
        [a, b]: IndexPair,
        legs: [[i32; 2]; 2],
        near: &[(u32, u32)],
        phase: &mut ContactPhase<'_>,
    ) {
        let margin = self.pair_margin([a, b], phase.settings.box_margin());
        let [mover, other] = [a, b].map(|index| self.shells[index as usize]);
        let found = if other.is_terrain() {
            let found = phase.scene.terrain.passage(other.slot, &mover, legs, margin);
            found.filter(|found| self.enters(a, other.slot, &found.manifold, phase))
        } else {
            passage(&mover, &other, legs, margin)
        };
        let Some(Passage { manifold, moved }) = found else { return };
        if near.is_empty() || !self.is_seam_at(a, b, moved, &manifold, near, phase.scene) {
            self.add_solid(&Hit { a, b, normal: manifold.normal, gap: manifold.gap }, phase);
        }
    }

    /// Overlaps of fast bodies with sensors at any time of this frame.
    pub(crate) fn cross_sensors(&self, sensors: &mut SensorOverlaps, terrain: &Terrain) {
        for &[a, b] in &self.fast.sensors {
            let motion = self.solved_motion(a, b);
            let (a, b) = (&self.shells[a as usize], &self.shells[b as usize]);
            if meet(a, b, motion, terrain) {
                sensors.push(a.slot, b.slot);
            }
        }
    }

    fn solved_motion(&self, a: u32, b: u32) -> [i32; 2] {
        self.fast.motion(self.moving[a as usize].get(), self.moving[b as usize].get())
    }

    /// Whether two bodies that the solver separated touch in this frame: at its end, or along their unhindered paths.
    pub(crate) fn touch(&self, a: u32, b: u32, scene: Scene<'_>) -> bool {
        let (shell_a, shell_b) = (&self.shells[a as usize], &self.shells[b as usize]);
        let motion = self.solved_motion(a, b);
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
        let movers = self.tree.slot_of_lane().len() as u32;
        let before = |index: u32, shell: &Shell| {
            if index < movers {
                scene.bodies[shell.slot as usize].velocity
            } else {
                Velocity::default().get()
            }
        };
        let motion = self.fast.motion(before(a, shell_a), before(b, shell_b));
        meet(shell_a, shell_b, motion, scene.terrain)
    }
}

/// Whether two bodies touch while the second one moves by `motion` as seen from the first one. Terrain is the second one.
fn meet(a: &Shell, b: &Shell, motion: [i32; 2], terrain: &Terrain) -> bool {
    if b.is_terrain() { terrain.meets(b.slot, a, motion.map(|m| -m)) } else { meets(a, b, motion) }
}
