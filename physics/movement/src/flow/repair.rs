//! Mends a field after a change of the ground, as far as the change matters.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::flow::field::{Field, SIGHT, UNKNOWN, kept};
use crate::flow::sight::{look, straight};
use crate::flow::tile::{FAR, offer, slow_offer};
use crate::ground::{Cell, CellRect, Ground};

/// So many distances are computed after a change, those of all fields together.
pub(crate) const REPAIR_MAX: u32 = 1 << 15;

/// A change of more cells is no matter of a repair.
const CHANGED_MAX: i32 = 1 << 12;

/// A repair of one field (after Koenig, Likhachev and Furcy, "Lifelong Planning A*", 2004). A distance follows from lesser ones alone. So cells are settled in
/// the order of their distances, and what is settled stays.
struct Repair<'a> {
    field: &'a mut Field,
    ground: &'a Ground,
    /// Cells whose distance is not what their neighbours offer, by the lesser of both.
    queue: BinaryHeap<Reverse<(u32, Cell)>>,
    /// Distances that were computed.
    computed: u32,
}

impl Field {
    /// Makes distances those of the ground as it is now, with little more than `budget` computed ones. In the open, a change matters to few cells. Returns how
    /// many were computed, and the distance below which all are right; `None` if nothing was mended.
    pub(super) fn repair(
        &mut self,
        ground: &Ground,
        near: CellRect,
        looks: bool,
        budget: u32,
    ) -> Option<(u32, u32)> {
        let [columns, rows] = near.size();
        if columns * rows > CHANGED_MAX {
            return None;
        }
        let mut repair = Repair { field: self, ground, queue: BinaryHeap::new(), computed: 0 };
        if looks && !repair.look() {
            return None;
        }
        near.cells().for_each(|at| repair.check(ground.grid.cell(at)));
        let right = repair.settle(budget);
        Some((repair.computed, right))
    }
}

impl Repair<'_> {
    /// Looks from the goal again. False if a new field would let paths go in other tiles.
    fn look(&mut self) -> bool {
        let (ground, field) = (self.ground, &mut *self.field);
        let cells = field.looked.cells().map(|at| ground.grid.cell(at));
        let before: Vec<Cell> = cells.filter(|&cell| field.sees_goal(cell) && cell != field.goal).collect();
        let distances = &mut field.distances;
        before.iter().for_each(|&cell| distances[cell as usize] &= !SIGHT);
        let mut nearer = Vec::new();
        field.looked = look(ground, field.goal, field.size, |cell, distance| {
            let entry = &mut distances[cell as usize];
            if distance != kept(*entry) {
                nearer.push(cell);
            }
            *entry = SIGHT | kept(distance);
        });
        for cell in nearer {
            self.field.wake(ground, cell);
            for next in self.neighbours(cell) {
                self.check_unseen(next);
            }
        }
        before.into_iter().for_each(|cell| self.check_unseen(cell));
        let field = &self.field;
        // Tiles that are half of the ground without more are those that the goal was seen from before.
        let may_stay = |at: [i32; 2]| field.may_go(ground, ground.grid.cell(at));
        field.is_whole() || !field.bounds().0.is_half() && field.looked.cells().all(may_stay)
    }

    /// As [`Self::check`], for what may not be in sight: the distance of what is in sight is right.
    fn check_unseen(&mut self, cell: Cell) {
        if !self.field.sees_goal(cell) {
            self.check(cell);
        }
    }

    /// Queues a cell whose distance is not what is offered to it.
    fn check(&mut self, cell: Cell) {
        let (known, offered) = (self.known(cell), self.offered(cell));
        if known != offered && self.field.may_go(self.ground, cell) {
            self.queue.push(Reverse((known.min(offered), cell)));
        }
    }

    /// Settles cells, those with the least distances first. Returns the distance below which all are right: it ends when it has computed enough, or all.
    fn settle(&mut self, budget: u32) -> u32 {
        while let Some(Reverse((least, cell))) = self.queue.pop() {
            if least >= self.field.level() {
                break;
            }
            if self.computed >= budget {
                return least;
            }
            let (known, offered) = (self.known(cell), self.offered(cell));
            if known == offered {
                continue;
            }
            if known.min(offered) != least {
                self.queue.push(Reverse((known.min(offered), cell)));
                continue;
            }
            let entry = &mut self.field.distances[cell as usize];
            // It gets what is offered, or, if that is more, first nothing: those around it must not follow from it.
            let new = if offered < known || *entry & SIGHT != 0 { offered } else { UNKNOWN };
            *entry = *entry & SIGHT | kept(new);
            self.field.wake(self.ground, cell);
            if new != offered {
                self.check(cell);
            }
            for next in self.neighbours(cell) {
                if self.known(next) > least {
                    self.check(next);
                }
            }
        }
        self.field.level()
    }

    /// The distance of a cell; [`UNKNOWN`] if it has none below the level.
    fn known(&self, cell: Cell) -> u32 {
        self.field.distance(cell).unwrap_or(UNKNOWN)
    }

    /// The cells to which a step is open.
    fn neighbours(&self, cell: Cell) -> impl Iterator<Item = Cell> + use<> {
        let open = self.ground.steps(cell, self.field.size);
        let steps = self.ground.grid.offsets().into_iter().enumerate();
        steps.filter(move |(step, _)| open & 1 << step != 0).map(move |(_, by)| cell.wrapping_add_signed(by))
    }

    /// The distance of a cell by those of its neighbours and by its sight of the goal, as a tile computes it; [`UNKNOWN`] if nothing leads to it.
    fn offered(&mut self, cell: Cell) -> u32 {
        self.computed += 1;
        let (field, ground) = (&*self.field, self.ground);
        let sight = if field.sees_goal(cell) { straight(ground, field.goal, cell) } else { UNKNOWN };
        let (open, cost) = (ground.steps(cell, field.size), ground.cost_of(cell));
        let mut around = [UNKNOWN; 8];
        for (step, by) in ground.grid.offsets().into_iter().enumerate() {
            if open & 1 << step != 0 {
                around[step] = self.known(cell.wrapping_add_signed(by));
            }
        }
        let least = around.into_iter().min().unwrap_or(UNKNOWN);
        if least == UNKNOWN {
            return sight;
        }
        let local = around.map(|distance| (distance - least).min(FAR.into()) as u16);
        let offers = [0, 2, 4, 6].map(|step| {
            let (ahead, aside) = (local[step], local[step + 1].min(local[(step + 7) % 8]));
            if cost == 1 { offer(ahead, aside) } else { slow_offer(ahead, aside, cost.into()) }
        });
        let best = offers.into_iter().min().unwrap_or(FAR);
        (least + u32::from(best)).min(sight)
    }
}
