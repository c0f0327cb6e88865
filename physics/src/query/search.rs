//! Searches the world: the moving bodies' tree and the trees of the bodies at rest.
//!
//! A body that takes part in queries is in exactly one of these places. The moving bodies' boxes are those after the last step. All boxes
//! are inflated by the world's margin, so they only preselect bodies. The form of a tree depends on history. The result of a search must
//! not: it may depend on the set of bodies, never on the order in which they are visited.

use crate::body::id::BodyId;
use crate::body::record::Body;
use crate::body::slot::Slot;
use crate::body::terrain::Terrain;
use crate::query::filter::{Prepared, QueryFilter};
use crate::query::outline::Outline;
use crate::tree::search::Search;
use crate::world::World;

/// The bodies that a query may return.
#[derive(Clone, Copy)]
pub(crate) struct Candidates<'a> {
    bodies: &'a [Body],
    terrain: &'a Terrain,
    pub(crate) filter: Prepared,
}

impl<'a> Candidates<'a> {
    pub(crate) fn new(world: &'a World, filter: &QueryFilter) -> Self {
        let excluded = filter.exclude.filter(|&id| world.slot(id).is_ok());
        Self {
            bodies: &world.bodies,
            terrain: &world.terrain,
            filter: filter.prepare(excluded.map(BodyId::slot)),
        }
    }

    /// The outline of a body.
    #[inline]
    pub(crate) fn outline(&self, slot: Slot, body: &Body) -> Outline<'a> {
        Outline::of(slot, body, self.terrain)
    }

    /// The body in a slot if it passes the filter, else `None`.
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> Option<&'a Body> {
        let body = &self.bodies[slot];
        self.filter.accepts(slot, body).then_some(body)
    }
}

impl World {
    /// The handle of the body in a slot; the slot is not vacant.
    pub(crate) fn body_id(&self, slot: Slot) -> BodyId {
        BodyId::new(slot, self.order.slot_generation(slot))
    }

    /// Searches the movers and the bodies at rest.
    pub(crate) fn search(&self, search: &mut impl Search) {
        let path = self.stepper.path;
        path.search(&self.stepper.lanes.tree, search);
        let [sorted @ .., waiting] = self.resting.each_tree();
        for tree in sorted {
            path.search(tree, search);
        }
        path.search_blocks(waiting, search);
    }
}
