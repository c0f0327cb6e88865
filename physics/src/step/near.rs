//! The bodies at rest near moving ones.

use alloc::vec::Vec;

use crate::body::record::{Body, flag};
use crate::body::slot::Slot;
use crate::body::working_index::WorkingIndex;
use crate::collide::narrow_phase::{UNIT, UNIT_BITS, separation};
use crate::contact::cache::ContactCache;
use crate::simd::Path;
use crate::step::broad_phase::Join;
use crate::step::scene::Scene;
use crate::step::working::Working;
use crate::tree::block_join::ALL_PAIRS;
use crate::tree::curve_box::{CurveBox, CurvePair};
use crate::tree::quadtree::Quadtree;
use crate::tree::radix_sort::radix_sort;
use crate::tree::resting::RestingTrees;

/// Movers and bodies at rest are joined block by block unless one side has this many times fewer: then its bodies are searched for one by one.
const FEW: usize = 4;

/// Not among the bodies of a step.
const NOWHERE: WorkingIndex = WorkingIndex(u32::MAX);

/// A moving body and a body at rest whose boxes overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NearPair {
    /// The moving body, by its lane.
    pub(crate) lane: WorkingIndex,
    /// Slot of the body at rest.
    pub(crate) slot: Slot,
}

/// The pairs of moving bodies and bodies at rest, and the working indices of the latter. Kept between steps so that a steady step does not
/// allocate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Near {
    /// Sorted by lane, then slot.
    pairs: Vec<NearPair>,
    /// Working index of a body at rest, by slot; [`NOWHERE`] outside of a step.
    index: Vec<WorkingIndex>,
    join: Join,
    /// Of the bodies of one tree that are searched for in the other one.
    found: Vec<CurvePair>,
    /// The pairs as numbers, and scratch.
    sorted: [Vec<u64>; 2],
}

impl Near {
    /// Finds the pairs. `tree` is that of the moving bodies, and `movers` their number.
    #[inline(never)]
    pub(crate) fn find(
        &mut self,
        tree: &mut Quadtree,
        resting: &mut RestingTrees,
        movers: usize,
        path: Path,
    ) {
        let Self { pairs, join, found, .. } = self;
        pairs.clear();
        if tree.is_empty() {
            return;
        }
        for (rest, count) in resting.trees_and_counts() {
            found.clear();
            let few_rest = count * FEW <= movers;
            if few_rest {
                path.find_each_in(rest, tree, found);
            } else if movers * FEW <= count {
                path.find_each_in(tree, rest, found);
            } else {
                let height = rest.levels().len().max(tree.levels().len());
                tree.raise_to(height);
                rest.raise_to(height);
                let blocks = join.between(tree, rest, path);
                path.join(blocks, &tree.levels()[0], &rest.levels()[0], ALL_PAIRS, found);
            }
            let slots = rest.slot_of_lane();
            let near = |mover: CurveBox, other: CurveBox| NearPair {
                lane: WorkingIndex::new(mover.at()),
                slot: slots[other.at()],
            };
            if few_rest {
                pairs.extend(found.iter().map(|pair| near(pair.b, pair.a)));
            } else {
                pairs.extend(found.iter().map(|pair| near(pair.a, pair.b)));
            }
        }
        self.sort();
    }

    /// By slot, in whatever order of lanes; then by lane, which keeps the order of slots.
    fn sort(&mut self) {
        let Self { pairs, sorted: [items, scratch], .. } = self;
        let bits = |numbers: u32| u32::BITS - numbers.leading_zeros();
        let (lanes, slots) =
            pairs.iter().fold((0, 0), |all, pair| (all.0 | pair.lane.0, all.1 | pair.slot.0));
        items.clear();
        items.extend(pairs.iter().map(|pair| u64::from(pair.slot.0) << 32 | u64::from(pair.lane.0)));
        radix_sort(items, scratch, bits(slots));
        items.iter_mut().for_each(|item| *item = item.rotate_left(32));
        radix_sort(items, scratch, bits(lanes));
        for (pair, item) in pairs.iter_mut().zip(&*items) {
            *pair = NearPair { lane: WorkingIndex((item >> 32) as u32), slot: Slot(*item as u32) };
        }
    }

    /// All pairs, by lane and then slot.
    pub(crate) fn pairs(&self) -> &[NearPair] {
        &self.pairs
    }

    /// The pairs of one moving body.
    pub(crate) fn pairs_of(&self, lane: WorkingIndex) -> &[NearPair] {
        let near = &self.pairs[self.pairs.partition_point(|pair| pair.lane < lane)..];
        &near[..near.partition_point(|pair| pair.lane == lane)]
    }

    /// The working index of a body at rest of one of the pairs.
    pub(crate) fn index(&self, slot: Slot) -> WorkingIndex {
        self.index[slot.at()]
    }

    /// The sleeping bodies that a moving body touches, or would touch within this frame if nothing stopped it. A slot may be listed twice.
    pub(crate) fn sleepers_in_the_way(
        &self,
        working: &Working,
        scene: Scene<'_>,
        fps: u32,
        out: &mut Vec<Slot>,
    ) {
        out.clear();
        for &NearPair { lane, slot } in &self.pairs {
            let sleeper = &scene.bodies[slot];
            if !sleeper.has(flag::DYNAMIC) {
                continue;
            }
            let shell = &working.shells[lane];
            let mover = &scene.bodies[shell.slot];
            if !scene.interact(shell.slot, slot) || (mover.flags | sleeper.flags) & flag::SENSOR != 0 {
                continue;
            }
            let (normal, gap) = separation(shell, &sleeper.shell(slot));
            // The speed that a still body gains in a frame of gravity is absorbed by its support.
            let approaches = working.still[lane.at()] == 0
                && i64::from(gap) * i64::from(fps) < speed_along(mover.velocity, normal);
            if gap <= 0 || approaches {
                out.push(slot);
            }
        }
    }

    /// Appends each body at rest once to the working arrays.
    pub(crate) fn append_to(&mut self, working: &mut Working, bodies: &[Body], contacts: &ContactCache) {
        let Self { pairs, index, .. } = self;
        index.resize(bodies.len(), NOWHERE);
        for &NearPair { slot, .. } in &*pairs {
            if index[slot.at()] == NOWHERE {
                index[slot.at()] = working.append_resting(slot, &bodies[slot], contacts);
            }
        }
    }

    /// Forgets the working indices, at the end of the search for contacts.
    pub(crate) fn forget_indices(&mut self) {
        for pair in &self.pairs {
            self.index[pair.slot.at()] = NOWHERE;
        }
    }
}

/// The component of a velocity along a unit normal, raw units per second, rounded up.
fn speed_along(velocity: [i32; 2], normal: [i32; 2]) -> i64 {
    let product = (0..2).map(|x| i64::from(velocity[x]) * i64::from(normal[x])).sum::<i64>();
    (product + i64::from(UNIT) - 1) >> UNIT_BITS
}
