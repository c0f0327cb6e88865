//! Searching the trees: the nearest boxes first, and none that cannot hold anything of interest.
//!
//! A body that takes part in queries is in exactly one place: in the movers' tree, whose boxes are those after the last
//! step, or among the bodies at rest (two trees, and newcomers that wait to be sorted in). Boxes are inflated by the world's
//! margin, so they say who *may* be of interest. What a tree looks like depends on history. What a search returns must not:
//! it has to depend on the set of bodies alone, never on the order in which they are visited.

use crate::body::Body;
use crate::body_id::BodyId;
use crate::quadtree::{LANES, Quadtree, RawBox};
use crate::query_filter::QueryFilter;
use crate::world::World;

/// What is searched for.
pub(crate) trait Search {
    /// Only what overlaps this box is of interest. It may shrink while the search goes on, and never spans all of `i32`.
    fn area(&self) -> &RawBox;

    /// The least measure (a distance, say) that a body in a box can have; `None` when none in there is of interest.
    fn least(&self, bounds: &RawBox) -> Option<u64>;

    /// Whether bodies of this measure are still of interest.
    fn reaches(&self, measure: u64) -> bool;

    /// A body whose box passed.
    fn visit(&mut self, slot: u32);
}

impl Quadtree {
    /// Hands the bodies whose boxes pass to the search, roughly in ascending order of their measures.
    pub(crate) fn search(&self, search: &mut impl Search) {
        if let Some(top) = self.levels().len().checked_sub(1)
            && !self.is_empty()
        {
            self.search_block(top, 0, search);
        }
    }

    fn search_block(&self, level: usize, block: usize, search: &mut impl Search) {
        let boxes = &self.levels()[level][block];
        let mut lanes = boxes.overlapping(search.area());
        // Children by measure, ascending; equal ones by lane.
        let mut order = [(0u64, 0u32); LANES];
        let mut count = 0;
        while lanes != 0 {
            let lane = lanes.trailing_zeros();
            lanes &= lanes - 1;
            let Some(least) = search.least(&boxes.get(lane as usize)) else { continue };
            let mut at = count;
            while at > 0 && order[at - 1].0 > least {
                order[at] = order[at - 1];
                at -= 1;
            }
            order[at] = (least, lane);
            count += 1;
        }
        for &(least, lane) in &order[..count] {
            if !search.reaches(least) {
                break;
            }
            let child = block * LANES + lane as usize;
            if level == 0 {
                search.visit(self.slot_of_lane()[child]);
            } else {
                self.search_block(level - 1, child, search);
            }
        }
    }
}

/// The bodies that a query may return.
#[derive(Clone, Copy)]
pub(crate) struct Candidates<'a> {
    world: &'a World,
    filter: QueryFilter,
}

impl<'a> Candidates<'a> {
    pub(crate) fn new(world: &'a World, filter: &QueryFilter) -> Self {
        Self { world, filter: *filter }
    }

    /// The body in a slot when it passes the filter, else `None`.
    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<&'a Body> {
        let body = &self.world.bodies[slot as usize];
        let excluded = || self.filter.exclude.is_some_and(|id| id == self.world.body_id(slot));
        (self.filter.accepts(body) && !excluded()).then_some(body)
    }
}

impl World {
    /// The handle of the body in a slot; the slot is not vacant.
    pub(crate) fn body_id(&self, slot: u32) -> BodyId {
        BodyId { index: slot, generation: self.order.slot_generation(slot) }
    }

    /// Searches the movers and the bodies at rest.
    pub(crate) fn search(&self, search: &mut impl Search) {
        self.stepper.tree.search(search);
        for tree in self.resting.each_tree() {
            tree.search(search);
        }
        for slot in self.resting.waiting() {
            let bounds = self.bodies[slot as usize].bounds();
            if bounds.overlaps(search.area())
                && search.least(&bounds).is_some_and(|least| search.reaches(least))
            {
                search.visit(slot);
            }
        }
    }
}
