//! Debug drawing: passes what movement knows to a small trait, in simulation units. Nothing here draws.

use testudo_physics::{Aabb, BodyId, Fx, Vec2};

use crate::crowd::{Crowd, Task};
use crate::flow::{FlowId, Way, portals};
use crate::ground::SizeClass;

/// Receives what [`Crowd::draw_ground`], [`Crowd::draw_flow`], [`Crowd::draw_portals`] and [`Crowd::draw_units`] show. Every method does nothing by default.
pub trait MovementDraw {
    /// A cell that is closed, or has a cost other than 1. `cost` is 0 for a closed cell.
    fn cell(&mut self, cell: Aabb, cost: u8) {
        let _ = (cell, cost);
    }

    /// Where a unit in the middle of a cell goes straight, and the length of its whole path, units.
    fn arrow(&mut self, from: Vec2, to: Vec2, left: Fx) {
        let _ = (from, to, left);
    }

    /// A step between two tiles, over which paths on large ground are planned: the places on both sides.
    fn portal(&mut self, from: Vec2, to: Vec2) {
        let _ = (from, to);
    }

    /// Where a unit stands or wants to stand, and where it goes straight now. Where it is drawn between two frames says
    /// [`BodyRef::interpolated_position`](testudo_physics::BodyRef::interpolated_position).
    fn unit(&mut self, body: BodyId, post: Vec2, aim: Option<Vec2>) {
        let _ = (body, post, aim);
    }
}

impl Crowd {
    /// Shows the cells that are closed to a size, and those that cost more.
    pub fn draw_ground(&self, size: SizeClass, draw: &mut impl MovementDraw) {
        let grid = &self.ground.grid;
        let half = self.ground.cell() / 2;
        for at in grid.whole().cells() {
            let cell = grid.cell(at);
            let cost = if self.ground.steps(cell, size) == 0 { 0 } else { self.ground.cost_of(cell) };
            if cost != 1 {
                draw.cell(Aabb::from_center_half(grid.middle(at), Vec2::new(half, half)), cost);
            }
        }
    }

    /// Shows where a field leads from every cell that it knows.
    pub fn draw_flow(&self, flow: FlowId, draw: &mut impl MovementDraw) {
        let grid = &self.ground.grid;
        for at in grid.whole().cells() {
            let from = grid.middle(at);
            match self.flows.way(&self.ground, flow, from) {
                Way::Straight { left } => draw.arrow(from, self.ground.anchor(flow.goal), left),
                Way::Aim { to, left } => draw.arrow(from, to, left),
                Way::Unknown | Way::Closed => {}
            }
        }
    }

    /// Shows the portals between tiles of 32 x 32 cells for a size, on ground of any extent. They are found anew: this is for pictures, and takes long.
    pub fn draw_portals(&self, size: SizeClass, draw: &mut impl MovementDraw) {
        let [columns, rows] = self.ground.grid.tiles();
        for tile in 0..(columns * rows).unsigned_abs() {
            // Both tiles know a portal.
            for portal in portals(&self.ground, size, tile).iter().filter(|portal| portal.tile > tile) {
                draw.portal(self.ground.anchor(portal.cell), self.ground.anchor(portal.beyond));
            }
        }
    }

    /// The fields that may be in use.
    pub fn live_flows(&self) -> impl Iterator<Item = FlowId> + '_ {
        self.flows.ids()
    }

    /// Shows all units, in the order of their bodies' slots.
    pub fn draw_units(&self, draw: &mut impl MovementDraw) {
        let units = self.walkers.iter().zip(&self.movers).filter(|(walker, _)| !walker.is_gone);
        units.for_each(|(walker, mover)| draw.unit(walker.body, mover.post, mover.aim));
    }

    /// The field that a unit follows; `None` if it stands or is no unit.
    #[must_use]
    pub fn flow_of(&self, body: BodyId) -> Option<FlowId> {
        match self.movers[self.place_of(body)?].task {
            Task::Go(errand) => Some(errand.flow).filter(|flow| self.flows.is_live(*flow)),
            Task::Stand(_) | Task::Pursue(_) => None,
        }
    }
}
