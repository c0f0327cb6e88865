//! The working arrays of a step.
//!
//! The world stores bodies by slot. A step gathers the moving ones into arrays along the curve, so that neighbours in space are neighbours in
//! memory, and writes them back at the end.

use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::body::record::{Body, Shell, flag};
use crate::body::slot::Slot;
use crate::body::working_index::WorkingIndex;
use crate::contact::cache::ContactCache;
use crate::contact::cached::Owned;
use crate::math::boxes::LANES;
use crate::motion::working_arrays::{AT_REST, GatherSummary, WorkingArrays};
use crate::simd::Path;
use crate::solve::batches::Batches;
use crate::solve::bodies::{Bodies, Locked};
use crate::solve::solver::Velocity;
use crate::step::crew::Crew;
use crate::step::fast_marks::FastMarks;
use crate::step::lanes::Lanes;
use crate::world_def::Settings;

/// Number of parts in which threads gather bodies.
const PARTS: usize = 16;

/// What the world gathers bodies from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// By slot.
    pub(crate) bodies: &'a [Body],
    pub(crate) contacts: &'a ContactCache,
    pub(crate) settings: &'a Settings,
}

/// Arrays by working index. The moving bodies come first, each at its lane; then the dummy body that fills up batches; then the bodies at rest
/// near them. Kept between steps so that a steady step does not allocate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Working {
    pub(crate) shells: Vec<Shell>,
    pub(crate) velocities: Vec<Velocity>,
    /// Milliseconds of stillness; `AT_REST` for bodies that do not move.
    pub(crate) still: Vec<u16>,
    /// Least stillness of a body and its touching neighbours.
    pub(crate) calm: Vec<u16>,
    /// The cached contacts that each body owns.
    pub(crate) cached: Vec<Owned>,
    /// New bodies; empty if there are none.
    pub(crate) fresh: Vec<bool>,
    /// What gravity and forces added to a velocity in this step; empty if no body got anything.
    pub(crate) gained: Vec<[i32; 2]>,
    pub(crate) locked: Vec<Locked>,
    /// The kinematic bodies at rest, ascending.
    parked: Vec<WorkingIndex>,
    /// Bitwise or of all flags.
    pub(crate) any_flags: u32,
    /// Whether there is a box among the moving bodies.
    // not state: of this step
    pub(crate) some_boxes: bool,
    /// Whether there is a moving body that the solver cannot move.
    // not state: of this step
    pub(crate) some_fixed: bool,
    /// The fast bodies of each block, one bit each.
    fast_lanes: Vec<u8>,
}

impl Working {
    /// Gathers the moving bodies, which `lanes` has sorted; its boxes are filled. Notes the fast ones.
    pub(crate) fn gather(
        &mut self,
        lanes: &mut Lanes,
        source: Source<'_>,
        fast: &mut FastMarks,
        path: Path,
        crew: &mut Crew<'_>,
    ) {
        let Source { bodies, contacts, settings } = source;
        self.resize(lanes.count());
        let (slots, boxes) = lanes.tree.blocks_mut();
        let to = WorkingArrays {
            shells: self.shells.as_chunks_mut().0,
            velocities: self.velocities.as_chunks_mut().0,
            still: self.still.as_chunks_mut().0,
            cached: self.cached.as_chunks_mut().0,
            boxes,
        };
        let (ranges, limits) = (contacts.ranges(), [settings.box_margin(), fast.growths()]);
        self.fast_lanes.resize(slots.len(), 0);
        let fast_lanes = &mut self.fast_lanes[..];
        let all = if crew.is_alone() {
            path.gather(to, slots, bodies, ranges, limits, fast_lanes)
        } else {
            gather_on_threads(to, slots, fast_lanes, crew, |to, slots, fast_lanes| {
                path.gather(to, slots, bodies, ranges, limits, fast_lanes)
            })
        };
        (self.any_flags, self.some_boxes, self.some_fixed) = (all.flags, all.half != 0, all.some_fixed);
        if all.some_fast {
            self.note_fast(lanes, fast);
        }
        self.locked.clear();
        self.parked.clear();
        if all.flags & (flag::LOCK_X | flag::LOCK_Y) != 0 {
            self.note_locks(lanes, bodies);
        }
    }

    /// Makes room for the lanes, and one more for the dummy body, which is number `dummy`. The others are all written when bodies are gathered.
    fn resize(&mut self, dummy: usize) {
        let lanes = dummy + 1;
        self.shells.resize(lanes, Shell::HOLE);
        self.velocities.resize(lanes, Velocity::default());
        self.still.resize(lanes, AT_REST);
        self.cached.resize(lanes, Owned::default());
        (self.shells[dummy], self.velocities[dummy]) = (Shell::HOLE, Velocity::default());
        (self.still[dummy], self.cached[dummy]) = (AT_REST, Owned::default());
    }

    /// Replaces the boxes of fast bodies by those around their paths.
    #[cold]
    fn note_fast(&self, lanes: &mut Lanes, fast: &mut FastMarks) {
        let boxes = lanes.tree.blocks_mut().1;
        for ((block, boxes), &bits) in boxes.iter_mut().enumerate().zip(&self.fast_lanes) {
            for lane in (0..LANES).filter(|lane| bits >> lane & 1 != 0) {
                let index = WorkingIndex::new(block * LANES + lane);
                boxes.set(lane, &fast.note(index, &boxes.get(lane), self.velocities[index].get()));
            }
        }
    }

    #[cold]
    fn note_locks(&mut self, lanes: &Lanes, bodies: &[Body]) {
        for (lane, &slot) in (0..).zip(lanes.tree.slot_of_lane()) {
            if let Some(body) = bodies.get(slot.at()) {
                note_lock(WorkingIndex(lane), body, &mut self.locked);
            }
        }
    }

    /// Notes what gravity and forces added in this step; `gains` are by slot, and slots beyond its end got nothing.
    pub(crate) fn note_gains(&mut self, gains: &[[i32; 2]], lanes: &Lanes) {
        self.gained.clear();
        if !gains.is_empty() {
            let slots = lanes.tree.slot_of_lane().iter();
            self.gained.extend(slots.map(|&slot| gains.get(slot.at()).copied().unwrap_or_default()));
            self.gained.resize(self.shells.len(), [0; 2]);
        }
    }

    /// Marks the new bodies among the moving ones; some of `fresh` may not be among them.
    pub(crate) fn note_fresh(&mut self, fresh: &[Slot], lanes: &mut Lanes, bodies: &[Body]) {
        self.fresh.clear();
        for &slot in fresh.iter().filter(|&&slot| bodies[slot].has(flag::FRESH)) {
            if let Some(lane) = lanes.of(slot) {
                self.fresh.resize(self.shells.len(), false);
                self.fresh[lane.at()] = true;
            }
        }
    }

    /// Appends a body at rest, and returns its index. A sleeping one is a *guest*: it takes part in contacts with its own mass, but keeps its
    /// position in this frame. A guest that is pushed wakes up with its island.
    pub(crate) fn append_resting(
        &mut self,
        slot: Slot,
        body: &Body,
        contacts: &ContactCache,
    ) -> WorkingIndex {
        let index = WorkingIndex::new(self.shells.len());
        if body.has(flag::DYNAMIC) && body.has(flag::LOCK_X | flag::LOCK_Y) {
            note_lock(index, body, &mut self.locked);
        }
        if body.has(flag::KINEMATIC) {
            self.parked.push(index);
        }
        self.shells.push(body.shell(slot));
        self.velocities.push(Velocity::default());
        self.still.push(AT_REST);
        self.cached.push(contacts.range(slot));
        self.any_flags |= body.flags;
        if body.has(flag::FRESH) || !self.fresh.is_empty() {
            self.fresh.resize(self.shells.len(), false);
            self.fresh[index.at()] = body.has(flag::FRESH);
        }
        index
    }

    /// Whether a body is new.
    pub(crate) fn is_fresh(&self, index: WorkingIndex) -> bool {
        self.fresh.get(index.at()).is_some_and(|&fresh| fresh)
    }

    /// What the solver works on.
    pub(crate) fn bodies(&mut self) -> Bodies<'_> {
        let Self { shells, velocities, gained, locked, parked, some_fixed, .. } = self;
        let some_kinematic = *some_fixed || !parked.is_empty();
        Bodies { shells, velocities, gained, locked, parked, some_kinematic }
    }

    /// The least stillness of each body and its touching neighbours. A body falls asleep only together with what it touches, so a heap falls
    /// asleep as a whole.
    #[inline(never)]
    pub(crate) fn spread_stillness(&mut self, batches: &Batches) {
        let Self { still, calm, .. } = self;
        calm.clear();
        calm.extend_from_slice(still);
        if still.iter().all(|&s| s == 0 || s == AT_REST) {
            return;
        }
        batches.for_each(|batch, lane, origin| {
            let (a, b) = (batch.a[lane].at(), batch.b[lane].at());
            let is_still = (still[a] | still[b]) != 0;
            if is_still && (batch.impulse[lane] != 0 || origin.is_touching()) {
                calm[a] = calm[a].min(still[b]);
                calm[b] = calm[b].min(still[a]);
            }
        });
    }

    /// Calls `pushed` with slot and velocity of each sleeping body that was a guest in this step and is touched by a moving one; some are
    /// passed more than once.
    pub(crate) fn touched_guests(
        &self,
        batches: &Batches,
        bodies: &[Body],
        mut pushed: impl FnMut(Slot, [i32; 2]),
    ) {
        // The dummy body is between the moving bodies and the guests.
        let dummy = batches.dummy();
        if !self.shells.iter().skip(dummy.at() + 1).any(|shell| shell.mass != 0) {
            return;
        }
        batches.for_each(|batch, lane, origin| {
            for at in [batch.a[lane], batch.b[lane]] {
                let touches = batch.impulse[lane] != 0 || origin.is_touching();
                if touches && at > dummy && self.shells[at].mass != 0 {
                    let slot = self.shells[at].slot;
                    if !bodies[slot].has(flag::AWAKE) {
                        pushed(slot, self.velocities[at].get());
                    }
                }
            }
        });
    }
}

/// Gathers bodies in parts of equally many blocks.
fn gather_on_threads(
    mut to: WorkingArrays<'_>,
    mut slots: &[[Slot; LANES]],
    mut fast: &mut [u8],
    crew: &mut Crew<'_>,
    gather: impl Fn(WorkingArrays<'_>, &[[Slot; LANES]], &mut [u8]) -> GatherSummary + Sync,
) -> GatherSummary {
    let part = slots.len().div_ceil(PARTS).max(1);
    let mut jobs = SmallVec::<[_; PARTS]>::new();
    while !slots.is_empty() {
        let count = part.min(slots.len());
        let ((own, rest), (own_slots, rest_slots)) = (to.split_at(count), slots.split_at(count));
        let (own_fast, rest_fast) = fast.split_at_mut(count);
        jobs.push((Some(own), own_slots, own_fast, GatherSummary::default()));
        (to, slots, fast) = (rest, rest_slots, rest_fast);
    }
    crew.run(&mut jobs, |(to, slots, fast, found)| {
        if let Some(to) = to.take() {
            *found = gather(to, slots, fast);
        }
    });
    jobs.into_iter().fold(GatherSummary::default(), |all, (.., found)| all.and(found))
}

fn note_lock(index: WorkingIndex, body: &Body, locked: &mut Vec<Locked>) {
    for (axis, bit) in [(0, flag::LOCK_X), (1, flag::LOCK_Y)] {
        if body.has(bit) {
            locked.push(Locked { body: index, axis, velocity: body.velocity[usize::from(axis)] });
        }
    }
}
