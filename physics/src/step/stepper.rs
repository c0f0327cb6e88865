//! The phases of one step over the moving bodies, in curve order.
//!
//! The world stores bodies by slot. A step gathers the moving ones into working arrays along the curve, so that neighbours in space are
//! neighbours in memory, and writes them back at the end. Nothing here is state.

use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::body::record::{Body, Shell, flag};
use crate::collide::narrow_phase::{UNIT, UNIT_BITS, separation};
use crate::contact::cache::ContactCache;
use crate::math::boxes::{LANES, NO_SLOT, RawBox};
use crate::motion::gathered::{AT_REST, Gathered, WorkingArrays};
use crate::motion::movers::{Movement, MoverVelocities};
use crate::simd::Path;
use crate::solve::coloring::{Batches, Notes};
use crate::solve::colors::{Colors, Places};
use crate::solve::deep::DeepContacts;
use crate::solve::friction::FrictionContact;
use crate::solve::soft::SoftContacts;
use crate::solve::solver::Velocity;
use crate::solve::stiff::StiffContacts;
use crate::step::broad_phase::Join;
use crate::step::contact_phase::Scene;
use crate::step::crew::Crew;
use crate::step::fast::FastMovers;
use crate::step::islands::Islands;
use crate::step::pile_up::PileUp;
use crate::step::windows::WindowHits;
use crate::tree::block_join::{ALL_PAIRS, IndexPair};
use crate::tree::quadtree::Quadtree;
use crate::tree::radix_sort::radix_sort;
use crate::tree::resting::RestingTrees;
use crate::world_def::Settings;

/// Movers and bodies at rest are joined block by block unless one side has this many times fewer: then its bodies are searched for one by one.
const FEW: usize = 4;

/// Number of parts in which threads gather bodies.
const PARTS: usize = 16;

/// A body whose velocity along locked axes is restored after every pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Locked {
    pub(crate) body: u32,
    pub(crate) axis: u8,
    pub(crate) velocity: i32,
}

/// Scratch memory of a step; kept between steps so that a steady step does not allocate. Queries use the tree, too.
#[derive(Clone, Debug)]
pub(crate) struct Stepper {
    /// Moving bodies in curve order. After the step its boxes are those of the new positions.
    pub(crate) tree: Quadtree,
    pub(crate) path: Path,
    pub(crate) shells: Vec<Shell>,
    pub(crate) velocities: Vec<Velocity>,
    /// The velocities that advance positions: those after the biased passes, or the mean of the sub-steps.
    pub(crate) moving: Vec<Velocity>,
    /// What gravity and forces added to a velocity in this step, by slot; slots beyond its end got nothing.
    pub(crate) gains: Vec<[i32; 2]>,
    /// The same by working index; empty if no body got anything.
    pub(crate) gained: Vec<[i32; 2]>,
    pub(crate) notes: Notes,
    pub(crate) colors: Colors,
    pub(crate) places: Places,
    /// Colours of the parts of the windows that jobs look at.
    pub(crate) colors_of_jobs: Vec<Colors>,
    pub(crate) soft: SoftContacts,
    pub(crate) deep: DeepContacts,
    /// Milliseconds of stillness by working index; `AT_REST` for bodies that do not move.
    still: Vec<u16>,
    /// Least stillness among a body's touching neighbours.
    calm: Vec<u16>,
    pub(crate) batches: Batches,
    pub(crate) frictions: Vec<FrictionContact>,
    pub(crate) stiff: StiffContacts,
    /// Batch and lane of the contacts with immovable bodies, if bodies of different rank touch, or of very different mass without gravity.
    pub(crate) walls: Vec<(u32, u32)>,
    /// Batch and lane of the contacts in which only one body yields, if masses are mixed.
    pub(crate) supports: Vec<(u32, u32)>,
    /// The velocities before a pass.
    pub(crate) before: Vec<Velocity>,
    pub(crate) locked: Vec<Locked>,
    pub(crate) join: Join,
    /// Cached contacts of each working body as an owner: start and end in the cache.
    pub(crate) cached: Vec<[u32; 2]>,
    /// Hits by window; a single thread needs only one window.
    pub(crate) found: Vec<WindowHits>,
    /// New working bodies; empty if there are none.
    pub(crate) fresh: Vec<bool>,
    pub(crate) fast: FastMovers,
    pub(crate) pile_up: PileUp,
    /// Which hits with walls are on an inner seam of a wall. Scratch.
    pub(crate) seams: Vec<bool>,
    pub(crate) pairs: Vec<IndexPair>,
    /// Moving bodies and the terrain near them.
    pub(crate) terrain_pairs: Vec<IndexPair>,
    /// (Lane of the moving body, slot of the body at rest).
    pub(crate) resting_pairs: Vec<(u32, u32)>,
    /// The same as numbers, and scratch.
    sorted: [Vec<u64>; 2],
    /// Working index of a body at rest, by slot; `NO_SLOT` outside of a step.
    pub(crate) working: Vec<u32>,
    /// The fast bodies of each block, one bit each.
    fast_lanes: Vec<u8>,
    /// Lane by slot, see [`Self::lane`]; valid where the lane holds the slot.
    lanes: Vec<u32>,
    // not state: whether `lanes` is that of this step
    lanes_known: bool,
    pub(crate) islands: Islands,
    /// Bitwise or of all working bodies' flags.
    pub(crate) any_flags: u32,
    /// Whether there is a moving body that the solver cannot move.
    // not state: of this step
    pub(crate) some_fixed: bool,
}

impl Stepper {
    pub(crate) fn new(path: Path) -> Self {
        Self {
            tree: Quadtree::default(),
            path,
            shells: Vec::new(),
            velocities: Vec::new(),
            moving: Vec::new(),
            gains: Vec::new(),
            gained: Vec::new(),
            notes: Notes::default(),
            colors: Colors::default(),
            places: Places::default(),
            colors_of_jobs: Vec::new(),
            soft: SoftContacts::default(),
            deep: DeepContacts::default(),
            still: Vec::new(),
            calm: Vec::new(),
            batches: Batches::default(),
            frictions: Vec::new(),
            stiff: StiffContacts::default(),
            walls: Vec::new(),
            supports: Vec::new(),
            before: Vec::new(),
            locked: Vec::new(),
            join: Join::default(),
            cached: Vec::new(),
            found: Vec::new(),
            fresh: Vec::new(),
            fast: FastMovers::default(),
            pile_up: PileUp::default(),
            seams: Vec::new(),
            pairs: Vec::new(),
            terrain_pairs: Vec::new(),
            resting_pairs: Vec::new(),
            sorted: Default::default(),
            working: Vec::new(),
            fast_lanes: Vec::new(),
            lanes: Vec::new(),
            lanes_known: false,
            islands: Islands::default(),
            any_flags: 0,
            some_fixed: false,
        }
    }

    /// Sorts the moving bodies (`active`: ascending slots) along the curve and gathers them into the working arrays.
    #[inline(never)]
    pub(crate) fn gather(
        &mut self,
        active: &[u32],
        bodies: &[Body],
        contacts: &ContactCache,
        settings: &Settings,
        fps: u32,
        crew: &mut Crew<'_>,
    ) {
        let margin = settings.box_margin();
        self.path.sort(&mut self.tree, active, settings.split, bodies);
        self.lanes.resize(bodies.len(), 0);
        self.lanes_known = false;
        // One more lane for the dummy body that fills up batches. The others are all written below.
        let dummy = self.tree.slot_of_lane().len();
        let lanes = dummy + 1;
        self.shells.resize(lanes, Shell::HOLE);
        self.velocities.resize(lanes, Velocity::default());
        self.still.resize(lanes, AT_REST);
        self.cached.resize(lanes, [0; 2]);
        (self.shells[dummy], self.velocities[dummy]) = (Shell::HOLE, Velocity::default());
        (self.still[dummy], self.cached[dummy]) = (AT_REST, [0; 2]);
        self.fast.begin(fps);
        let (slots, boxes) = self.tree.blocks_mut();
        let to = WorkingArrays {
            shells: self.shells.as_chunks_mut().0,
            velocities: self.velocities.as_chunks_mut().0,
            still: self.still.as_chunks_mut().0,
            cached: self.cached.as_chunks_mut().0,
            boxes,
        };
        let (ranges, limits) = (contacts.ranges(), [margin, self.fast.growths()]);
        self.fast_lanes.resize(slots.len(), 0);
        let (path, fast) = (self.path, &mut self.fast_lanes[..]);
        let all = if crew.is_alone() {
            path.gather(to, slots, bodies, ranges, limits, fast)
        } else {
            gather_on_threads(to, slots, fast, crew, |to, slots, fast| {
                path.gather(to, slots, bodies, ranges, limits, fast)
            })
        };
        (self.any_flags, self.some_fixed) = (all.flags, all.some_fixed);
        if all.some_fast {
            self.note_fast();
        }
        self.gained.clear();
        if !self.gains.is_empty() {
            let gains = self.tree.slot_of_lane().iter().map(|&slot| self.gains.get(slot as usize).copied());
            self.gained.extend(gains.map(Option::unwrap_or_default));
            self.gained.resize(lanes, [0; 2]);
        }
        self.locked.clear();
        if all.flags & (flag::LOCK_X | flag::LOCK_Y) != 0 {
            self.note_locks(bodies);
        }
        self.path.rebuild_bounds(&mut self.tree);
    }

    /// Replaces the boxes of fast bodies by those around their paths.
    #[cold]
    fn note_fast(&mut self) {
        let boxes = self.tree.blocks_mut().1;
        for ((block, boxes), &lanes) in boxes.iter_mut().enumerate().zip(&self.fast_lanes) {
            for lane in (0..LANES).filter(|lane| lanes >> lane & 1 != 0) {
                let index = block * LANES + lane;
                boxes.set(lane, &self.fast.note(index, &boxes.get(lane), self.velocities[index].get()));
            }
        }
    }

    /// The moving bodies with their lanes.
    fn movers<'a>(&'a self, bodies: &'a [Body]) -> impl Iterator<Item = (u32, &'a Body)> {
        let lanes = (0..).zip(self.tree.slot_of_lane());
        lanes.filter_map(|(lane, &slot)| bodies.get(slot as usize).map(|body| (lane, body)))
    }

    /// Marks the new bodies among the moving ones; some of `fresh` may not be among them.
    pub(crate) fn note_fresh(&mut self, fresh: &[u32], bodies: &[Body]) {
        self.fresh.clear();
        for &slot in fresh.iter().filter(|&&slot| bodies[slot as usize].has(flag::FRESH)) {
            if let Some(lane) = self.lane(slot) {
                self.fresh.resize(self.shells.len(), false);
                self.fresh[lane] = true;
            }
        }
    }

    #[cold]
    fn note_locks(&mut self, bodies: &[Body]) {
        let mut locked = core::mem::take(&mut self.locked);
        self.movers(bodies).for_each(|(lane, body)| note_lock(lane, body, &mut locked));
        self.locked = locked;
    }

    /// Finds the pairs of a moving body and a body at rest whose boxes overlap.
    #[inline(never)]
    pub(crate) fn find_resting_pairs(&mut self, resting: &mut RestingTrees, movers: usize) {
        self.resting_pairs.clear();
        if self.tree.is_empty() {
            return;
        }
        for (tree, count) in resting.trees_and_counts() {
            self.pairs.clear();
            if count * FEW <= movers {
                self.path.find_each_in(tree, &self.tree, &mut self.pairs);
                self.pairs.iter_mut().for_each(|pair| pair.reverse());
            } else if movers * FEW <= count {
                self.path.find_each_in(&self.tree, tree, &mut self.pairs);
            } else {
                let height = tree.levels().len().max(self.tree.levels().len());
                self.tree.raise_to(height);
                tree.raise_to(height);
                let blocks = self.join.between(&self.tree, tree, self.path);
                self.path.join(blocks, &self.tree.levels()[0], &tree.levels()[0], ALL_PAIRS, &mut self.pairs);
            }
            self.resting_pairs
                .extend(self.pairs.iter().map(|&[lane, r]| (lane, tree.slot_of_lane()[r as usize])));
        }
        self.sort_resting_pairs();
    }

    /// By slot, in whatever order of lanes; then by lane, which keeps the order of slots.
    fn sort_resting_pairs(&mut self) {
        let Self { resting_pairs, sorted: [items, scratch], .. } = self;
        let bits = |numbers: u32| u32::BITS - numbers.leading_zeros();
        let (lanes, slots) = resting_pairs.iter().fold((0, 0), |all, pair| (all.0 | pair.0, all.1 | pair.1));
        items.clear();
        items.extend(resting_pairs.iter().map(|&(lane, slot)| u64::from(slot) << 32 | u64::from(lane)));
        radix_sort(items, scratch, bits(slots));
        items.iter_mut().for_each(|item| *item = item.rotate_left(32));
        radix_sort(items, scratch, bits(lanes));
        for (pair, item) in resting_pairs.iter_mut().zip(&*items) {
            *pair = ((item >> 32) as u32, *item as u32);
        }
    }

    /// The sleeping bodies that a moving body touches, or would touch within this frame if nothing stopped it. A slot may be listed twice.
    pub(crate) fn sleepers_in_the_way(&self, scene: Scene<'_>, fps: u32, out: &mut Vec<u32>) {
        out.clear();
        let bodies = scene.bodies;
        for &(lane, slot) in &self.resting_pairs {
            let sleeper = &bodies[slot as usize];
            if !sleeper.has(flag::DYNAMIC) {
                continue;
            }
            let shell = &self.shells[lane as usize];
            let mover = &bodies[shell.slot as usize];
            if !scene.interact(shell.slot, slot) || (mover.flags | sleeper.flags) & flag::SENSOR != 0 {
                continue;
            }
            let (normal, gap) = separation(shell, &sleeper.shell(slot));
            // The speed that a still body gains in a frame of gravity is absorbed by its support.
            let approaches = self.still[lane as usize] == 0
                && i64::from(gap) * i64::from(fps) < speed_along(mover.velocity, normal);
            if gap <= 0 || approaches {
                out.push(slot);
            }
        }
    }

    /// Appends each body at rest near a moving one once to the working arrays. Sleeping ones among them are *guests*: they take part in
    /// contacts with their own mass, but keep their position in this frame. A guest that is pushed wakes up with its island.
    pub(crate) fn append_resting(&mut self, bodies: &[Body], contacts: &ContactCache) {
        self.working.resize(bodies.len(), NO_SLOT);
        for &(_, slot) in &self.resting_pairs {
            if self.working[slot as usize] == NO_SLOT {
                self.working[slot as usize] = self.shells.len() as u32;
                let body = &bodies[slot as usize];
                if body.has(flag::DYNAMIC) && body.has(flag::LOCK_X | flag::LOCK_Y) {
                    note_lock(self.shells.len() as u32, body, &mut self.locked);
                }
                self.shells.push(body.shell(slot));
                self.velocities.push(Velocity::default());
                self.still.push(AT_REST);
                self.cached.push(contacts.range(slot));
                self.any_flags |= body.flags;
                if body.has(flag::FRESH) || !self.fresh.is_empty() {
                    self.fresh.resize(self.shells.len(), false);
                    self.fresh[self.shells.len() - 1] = body.has(flag::FRESH);
                }
            }
        }
    }
}

impl Stepper {
    /// Moves the bodies with their solved velocities and updates their boxes; meanwhile keeps the contacts, unless that is done.
    pub(crate) fn move_bodies(
        &mut self,
        movement: &mut Movement<'_>,
        contacts: Option<&mut ContactCache>,
        crew: &mut Crew<'_>,
    ) {
        let Self { tree, path, moving, velocities: kept, calm, batches, shells, frictions, .. } = self;
        let mut advance = || {
            let (slots, boxes) = tree.blocks_mut();
            path.move_blocks(movement, slots, MoverVelocities { moving, kept, calm }, boxes);
            path.rebuild_bounds(tree);
        };
        match contacts {
            // One thread keeps the contacts first: they are still in the caches, and the bodies are there afterwards, when a game hashes them.
            Some(contacts) if crew.is_alone() => {
                contacts.end_step(batches, shells, frictions);
                advance();
            }
            // The calling thread moves the bodies: it gathers most of them in the next step.
            Some(contacts) => crew.both(advance, || contacts.end_step(batches, shells, frictions)),
            None => advance(),
        }
    }

    /// The least stillness of each body and its touching neighbours. A body falls asleep only together with what it touches, so a heap
    /// falls asleep as a whole.
    #[inline(never)]
    pub(crate) fn spread_stillness(&mut self) {
        self.calm.clear();
        self.calm.extend_from_slice(&self.still);
        if self.still.iter().all(|&s| s == 0 || s == AT_REST) {
            return;
        }
        let Self { batches, still, calm, .. } = self;
        batches.for_each(|batch, lane, origin| {
            let (a, b) = (batch.a[lane] as usize, batch.b[lane] as usize);
            if batch.impulse[lane] != 0 || origin.is_touching() {
                calm[a] = calm[a].min(still[b]);
                calm[b] = calm[b].min(still[a]);
            }
        });
    }

    /// Calls `pushed` with slot and velocity of each sleeping body that was a guest in this step and is touched by a moving one; some are
    /// passed more than once.
    pub(crate) fn touched_guests(&self, bodies: &[Body], mut pushed: impl FnMut(u32, [i32; 2])) {
        // The dummy body is between the moving bodies and the guests.
        let guests = self.tree.slot_of_lane().len() + 1;
        if !self.shells[guests.min(self.shells.len())..].iter().any(|shell| shell.mass != 0) {
            return;
        }
        self.batches.for_each(|batch, lane, origin| {
            for at in [batch.a[lane] as usize, batch.b[lane] as usize] {
                let touches = batch.impulse[lane] != 0 || origin.is_touching();
                if touches && at >= guests && self.shells[at].mass != 0 {
                    let slot = self.shells[at].slot;
                    if !bodies[slot as usize].has(flag::AWAKE) {
                        pushed(slot, self.velocities[at].get());
                    }
                }
            }
        });
    }

    /// Finds the islands of moving bodies that touch after this step.
    pub(crate) fn find_islands(&mut self, gravity: [i32; 2]) {
        let lanes = self.tree.slot_of_lane().len();
        self.islands.find(&self.batches, &self.frictions, &self.shells, lanes, gravity);
    }

    /// Forgets all moving bodies.
    pub(crate) fn forget(&mut self) {
        self.tree.clear();
    }

    /// Empties the lane of a body that stopped moving.
    pub(crate) fn vacate(&mut self, slot: u32) {
        if let Some(lane) = self.lane(slot) {
            self.tree.vacate(lane);
        }
    }

    /// Updates the box of a moving body whose position was set.
    pub(crate) fn moved(&mut self, slot: u32, bounds: &RawBox) {
        if let Some(lane) = self.lane(slot) {
            self.tree.replace_box(lane, bounds);
        }
    }

    /// The lane of a body that moved in the last step. Few steps are asked for one, so the first call looks for all lanes.
    pub(crate) fn lane(&mut self, slot: u32) -> Option<usize> {
        let slots = self.tree.slot_of_lane();
        if !core::mem::replace(&mut self.lanes_known, true) {
            for (lane, &slot) in (0..).zip(slots).filter(|&(_, &slot)| slot != NO_SLOT) {
                self.lanes[slot as usize] = lane;
            }
        }
        let lane = *self.lanes.get(slot as usize)? as usize;
        (slots.get(lane) == Some(&slot)).then_some(lane)
    }
}

/// Gathers bodies in parts of equally many blocks.
fn gather_on_threads(
    mut to: WorkingArrays<'_>,
    mut slots: &[[u32; LANES]],
    mut fast: &mut [u8],
    crew: &mut Crew<'_>,
    gather: impl Fn(WorkingArrays<'_>, &[[u32; LANES]], &mut [u8]) -> Gathered + Sync,
) -> Gathered {
    let part = slots.len().div_ceil(PARTS).max(1);
    let mut jobs = SmallVec::<[_; PARTS]>::new();
    while !slots.is_empty() {
        let count = part.min(slots.len());
        let ((own, rest), (own_slots, rest_slots)) = (to.split_at(count), slots.split_at(count));
        let (own_fast, rest_fast) = fast.split_at_mut(count);
        jobs.push((Some(own), own_slots, own_fast, Gathered::default()));
        (to, slots, fast) = (rest, rest_slots, rest_fast);
    }
    crew.run(&mut jobs, |(to, slots, fast, found)| {
        if let Some(to) = to.take() {
            *found = gather(to, slots, fast);
        }
    });
    jobs.into_iter().fold(Gathered::default(), |all, (.., found)| all.and(found))
}

fn note_lock(index: u32, body: &Body, locked: &mut Vec<Locked>) {
    for (axis, bit) in [(0, flag::LOCK_X), (1, flag::LOCK_Y)] {
        if body.has(bit) {
            locked.push(Locked { body: index, axis, velocity: body.velocity[usize::from(axis)] });
        }
    }
}

/// The component of a velocity along a unit normal, raw units per second, rounded up.
fn speed_along(velocity: [i32; 2], normal: [i32; 2]) -> i64 {
    let product = (0..2).map(|x| i64::from(velocity[x]) * i64::from(normal[x])).sum::<i64>();
    (product + i64::from(UNIT) - 1) >> UNIT_BITS
}
