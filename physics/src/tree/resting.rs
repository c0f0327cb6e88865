//! Bodies that do not move: static ones, sleeping ones, and new ones until their first step.
//!
//! They stay in trees of their own, so the cost of a step depends on the bodies that move. A large tree changes rarely. A young tree takes
//! new bodies, and is merged into the large one when it has grown to a quarter of its size, so that any sequence of changes costs O(log n)
//! per change. Before that, some new bodies wait in blocks in the order of their arrival. The form of these trees depends on history, but no
//! result does, because every result is sorted.

use alloc::vec::Vec;

use crate::body::record::Body;
use crate::body::slot::Slot;
use crate::math::boxes::{LANES, RawBox};
use crate::math::copy::clone_in_place;
use crate::math::lanes::base;
use crate::tree::curve_box::CurveBox;
use crate::tree::quadtree::Quadtree;

/// Where a body at rest is: a lane of one of the trees, or nowhere here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
struct RestingPlace(u32);

/// What [`RestingPlace`] means.
#[derive(Clone, Copy)]
enum Place {
    Absent,
    Old(CurveBox),
    Young(CurveBox),
    Waiting(CurveBox),
}

impl RestingPlace {
    const ABSENT: Self = Self(u32::MAX);
    /// Set for a lane of the young tree.
    const YOUNG: u32 = 1 << 31;
    /// Set for a lane of the waiting bodies. 2^30 lanes would take more than 2^36 bytes of bodies.
    const WAITING: u32 = 1 << 30;

    fn get(self) -> Place {
        let lane = |tag: u32| CurveBox::new((self.0 & !tag) as usize);
        match self {
            Self::ABSENT => Place::Absent,
            Self(number) if number & Self::YOUNG != 0 => Place::Young(lane(Self::YOUNG)),
            Self(number) if number & Self::WAITING != 0 => Place::Waiting(lane(Self::WAITING)),
            Self(_) => Place::Old(lane(0)),
        }
    }
}

/// Greatest number of bodies that wait, besides an eighth of those in the trees.
const WAITING_MAX: usize = 128;

/// The trees of the bodies at rest.
#[derive(Debug, Default)]
pub(crate) struct RestingTrees {
    old: Quadtree,
    young: Quadtree,
    /// New bodies: blocks without leaves.
    waiting: Quadtree,
    /// Lanes of `waiting` that were used, vacated ones included.
    // not state: when waiting bodies are sorted in affects what a search costs, not what it returns
    waiting_lanes: usize,
    /// By slot.
    places: Vec<RestingPlace>,
    /// Number of bodies in the old tree, and in the young one.
    // not state: the time of merging affects what a search costs, not what it returns
    old_count: usize,
    // not state: as above
    young_count: usize,
    scratch: Vec<Slot>,
}

clone_in_place!(
    RestingTrees: old, young, waiting, waiting_lanes, places, old_count, young_count; not scratch
);

impl RestingTrees {
    /// Adds a body; `bodies` holds its geometry, and `sort` sorts slots into a tree.
    pub(crate) fn insert(
        &mut self,
        slot: Slot,
        bodies: &[Body],
        margin: i32,
        sort: impl Fn(&mut Quadtree, &[Slot]),
    ) {
        self.places.resize(bodies.len().max(self.places.len()), RestingPlace::ABSENT);
        if self.contains(slot) {
            return;
        }
        self.places[slot.at()] = RestingPlace(self.waiting_lanes as u32 | RestingPlace::WAITING);
        self.waiting.append(CurveBox::new(self.waiting_lanes), slot, &bodies[slot].grown_bounds(margin));
        self.waiting_lanes += 1;
        if self.waiting_lanes > WAITING_MAX + (self.old_count + self.young_count) / 8 {
            self.flush(bodies, margin, sort);
        }
    }

    /// Puts bodies into empty trees.
    pub(crate) fn fill(
        &mut self,
        slots: Vec<Slot>,
        bodies: &[Body],
        margin: i32,
        sort: impl Fn(&mut Quadtree, &[Slot]),
    ) {
        self.places.resize(bodies.len(), RestingPlace::ABSENT);
        self.scratch = slots;
        self.sort_in(true, bodies, margin, sort);
    }

    /// The tree of a place, and the lane there; `None` for a slot that is in no tree.
    fn find(&mut self, slot: Slot) -> Option<(&mut Quadtree, CurveBox)> {
        match self.places.get(slot.at())?.get() {
            Place::Absent => None,
            Place::Old(lane) => Some((&mut self.old, lane)),
            Place::Young(lane) => Some((&mut self.young, lane)),
            Place::Waiting(lane) => Some((&mut self.waiting, lane)),
        }
    }

    /// Removes a body. Does nothing if it is not in a tree.
    pub(crate) fn remove(&mut self, slot: Slot) {
        if let Some((tree, lane)) = self.find(slot) {
            tree.vacate(lane);
        }
        let Some(place) = self.places.get_mut(slot.at()) else { return };
        match core::mem::replace(place, RestingPlace::ABSENT).get() {
            Place::Absent | Place::Waiting(_) => {}
            Place::Old(_) => self.old_count -= 1,
            Place::Young(_) => self.young_count -= 1,
        }
    }

    /// Whether a body is here.
    pub(crate) fn contains(&self, slot: Slot) -> bool {
        self.places.get(slot.at()).is_some_and(|&place| place != RestingPlace::ABSENT)
    }

    /// Updates the box of a body whose position was set.
    pub(crate) fn moved(&mut self, slot: Slot, bounds: &RawBox) {
        if let Some((tree, lane)) = self.find(slot) {
            tree.replace_box(lane, bounds);
        }
    }

    /// Puts the waiting bodies into the trees, and rebuilds a tree that most of its bodies have left.
    pub(crate) fn flush(&mut self, bodies: &[Body], margin: i32, sort: impl Fn(&mut Quadtree, &[Slot])) {
        let living = |tree: &Quadtree, all: &mut Vec<Slot>| {
            all.extend(tree.slot_of_lane().iter().filter(|&&slot| slot != Slot::NONE));
        };
        self.scratch.clear();
        living(&self.waiting, &mut self.scratch);
        self.waiting.empty();
        self.waiting_lanes = 0;
        let hollow = is_hollow(&self.old, self.old_count);
        if self.scratch.is_empty() && !hollow && !is_hollow(&self.young, self.young_count) {
            return;
        }
        living(&self.young, &mut self.scratch);
        let into_old = hollow || self.scratch.len() * 4 > self.old_count;
        if into_old {
            living(&self.old, &mut self.scratch);
            self.young.clear();
        }
        if hollow {
            // Gives back the memory of those who left: in a crowd that set off, a twentieth of the world's.
            self.old = Quadtree::default();
        }
        self.sort_in(into_old, bodies, margin, sort);
    }

    /// Makes the old tree, or the young one, that of the bodies in `scratch`.
    fn sort_in(
        &mut self,
        into_old: bool,
        bodies: &[Body],
        margin: i32,
        sort: impl Fn(&mut Quadtree, &[Slot]),
    ) {
        let (tree, tag) = if into_old { (&mut self.old, 0) } else { (&mut self.young, RestingPlace::YOUNG) };
        sort(tree, &self.scratch);
        let places = &mut self.places;
        tree.set_boxes(|lane, slot| {
            places[slot.at()] = RestingPlace(lane as u32 | tag);
            bodies[slot].grown_bounds(margin)
        });
        if into_old {
            (self.old_count, self.young_count) = (self.scratch.len(), 0);
        } else {
            self.young_count = self.scratch.len();
        }
    }

    /// The trees with bodies, and their numbers of bodies. Call [`Self::flush`] before.
    pub(crate) fn trees_and_counts(&mut self) -> impl Iterator<Item = (&mut Quadtree, usize)> {
        let both = [(&mut self.old, self.old_count), (&mut self.young, self.young_count)];
        both.into_iter().filter(|&(_, count)| count > 0)
    }

    /// Calls `found` for each body whose inflated box may overlap `area`.
    pub(crate) fn visit(&self, area: &RawBox, found: &mut impl FnMut(Slot)) {
        for tree in self.each_tree() {
            tree.visit(base(), area, &mut *found);
        }
    }

    /// The trees themselves, for queries and debug drawing; the last one has no leaves.
    pub(crate) fn each_tree(&self) -> [&Quadtree; 3] {
        [&self.old, &self.young, &self.waiting]
    }
}

/// Whether most bodies have left a tree. Every new body starts at rest, so the tree of a few walls may have been that of a crowd.
fn is_hollow(tree: &Quadtree, count: usize) -> bool {
    (count + LANES) * 4 < tree.slot_of_lane().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::quadtree::SplitRule;
    use alloc::vec;

    fn sorter(bodies: &[Body]) -> impl Fn(&mut Quadtree, &[Slot]) + '_ {
        let rule = SplitRule { leaf_capacity: 8, depth_max: 15 };
        move |tree, slots| tree.sort(base(), slots, rule, |slot| bodies[slot].centre_and_extent())
    }

    #[test]
    fn a_slot_that_leaves_and_comes_back_while_waiting_is_found_once() {
        let bodies = vec![Body::default(); 3];
        let mut trees = RestingTrees::default();
        let found = |trees: &RestingTrees| {
            let mut found = vec![];
            trees.visit(&RawBox { min: [-1; 2], max: [1; 2] }, &mut |slot| found.push(slot));
            found.sort_unstable();
            found
        };
        for slot in [1, 2].map(Slot) {
            trees.insert(slot, &bodies, 0, sorter(&bodies));
        }
        trees.remove(Slot(1));
        assert!(!trees.contains(Slot(1)));
        assert_eq!(found(&trees), [Slot(2)]);
        trees.insert(Slot(1), &bodies, 0, sorter(&bodies));
        assert_eq!(found(&trees), [1, 2].map(Slot));
        trees.remove(Slot(2));
        trees.flush(&bodies, 0, sorter(&bodies));
        assert_eq!(found(&trees), [Slot(1)]);
        trees.insert(Slot(2), &bodies, 0, sorter(&bodies));
        assert_eq!(found(&trees), [1, 2].map(Slot));
    }

    #[test]
    fn a_tree_that_most_have_left_is_built_anew_with_those_who_stayed() {
        let bodies: Vec<Body> =
            (0..1_000).map(|x| Body { position: [x << 16, 0], radius: 1 << 14, ..Body::default() }).collect();
        let mut trees = RestingTrees::default();
        Slot::all(1_000).for_each(|slot| trees.insert(slot, &bodies, 0, sorter(&bodies)));
        trees.flush(&bodies, 0, sorter(&bodies));
        let lanes = |trees: &RestingTrees| {
            trees.each_tree().map(|tree| tree.slot_of_lane().len()).iter().sum::<usize>()
        };
        assert!(lanes(&trees) >= 1_000);
        Slot::all(1_000).filter(|slot| slot.0 % 50 != 0).for_each(|slot| trees.remove(slot));
        trees.flush(&bodies, 0, sorter(&bodies));
        assert!(lanes(&trees) < 100, "{} lanes for 20 bodies", lanes(&trees));
        let mut found = vec![];
        trees.visit(&RawBox { min: [0; 2], max: [1 << 26; 2] }, &mut |slot| found.push(slot));
        found.sort_unstable();
        assert_eq!(found, Slot::all(1_000).step_by(50).collect::<Vec<_>>());
    }
}
