//! Looks at the obstacles of a world: the anchors of cells and the open steps between them.

use alloc::vec;
use alloc::vec::Vec;

use testudo_physics::{Aabb, BodyId, Fx, QueryFilter, Vec2, World};

use crate::ground::{CellRect, Changes, Ground, SizeClass};

/// A disc that is this part smaller than the units must pass from anchor to anchor: distances are rounded down to 1/65,536.
pub(super) const SLACK: i64 = 64;

/// Steps of the search for an anchor, in 1/64 of a cell.
const SEARCH: [i8; 4] = [16, 8, 4, 2];

/// What is known of one area while it is surveyed.
struct Survey<'a> {
    world: &'a World,
    /// The cells whose clearance is known.
    rect: CellRect,
    /// By cell of `rect`: distance from its anchor to the nearest obstacle, or less if that is far away.
    clearance: Vec<Fx>,
    found: Vec<(BodyId, Fx)>,
}

impl Survey<'_> {
    fn at(&self, [x, y]: [i32; 2]) -> usize {
        ((y - self.rect.min[1]) * self.rect.size()[0] + x - self.rect.min[0]) as usize
    }
}

/// The obstacles around a place. They tell the room at many places beside it without a search of the world for each.
struct Near<'a> {
    world: &'a World,
    obstacles: &'a QueryFilter,
    found: &'a mut Vec<(BodyId, Fx)>,
    /// More room than this is of no interest.
    limit: Fx,
    /// More than the distance of any place beside it.
    wander: Fx,
}

impl Near<'_> {
    /// Distance from a place to the nearest obstacle. The area of a ground lies within what queries accept.
    fn room_at(&mut self, place: Vec2) -> Fx {
        let _ = self.world.nearest(place, 1, self.limit, self.obstacles, self.found);
        self.found.first().map_or(self.limit, |&(_, distance)| distance)
    }

    /// Finds all that can be the nearest at a place beside this one, which has this room.
    fn look_around(&mut self, place: Vec2, room: Fx) {
        let _ = self.world.nearest(place, u32::MAX, room + self.wander * 2, self.obstacles, self.found);
    }

    /// As [`Self::room_at`], at a place beside the one that was looked around.
    fn room_beside(&self, place: Vec2) -> Fx {
        let mut room = self.limit;
        for &(body, distance) in self.found.iter() {
            // Those behind it cannot be nearer.
            if distance - self.wander >= room {
                break;
            }
            let here = self.world.body(body).and_then(|body| body.distance(place).ok());
            room = here.map_or(room, |here| room.min(here));
        }
        room
    }
}

impl Ground {
    /// Surveys a rectangle of cells, and all steps from and to them.
    pub(super) fn survey_cells(&mut self, world: &World, rect: CellRect) -> Changes {
        let rect = self.grid.clip(rect);
        let around = self.grid.clip(rect.grown(1));
        let [columns, rows] = around.size();
        let clearance = vec![Fx::ZERO; (columns * rows) as usize];
        let mut survey = Survey { world, rect: around, clearance, found: Vec::new() };
        let far = self.far(world, around);
        let far_away = self.far_away();
        for ((index, at), is_far) in around.cells().enumerate().zip(far) {
            let cell = self.grid.cell(at) as usize;
            let room = if is_far {
                self.anchors[cell] = [0; 2];
                far_away
            } else {
                self.find_anchor(&mut survey, at, far_away)
            };
            survey.clearance[index] = room;
            self.rooms[cell] = self.in_parts(room);
        }
        let mut changes = Changes::default();
        for size in 0..self.sizes.len() {
            changes[size] = self.open_steps(&mut survey, rect, SizeClass(size as u8));
        }
        changes
    }

    /// The room at a place that is far from all obstacles, as far as that matters. Two such cells have an open step between them: see `far`.
    pub(super) fn far_away(&self) -> Fx {
        self.largest() + Fx::from_bits(9 * self.grid.side() / 4)
    }

    /// A room in 1/64 of a cell, rounded down; 255 is as much or more.
    pub(super) fn in_parts(&self, room: Fx) -> u8 {
        (room.to_bits() >> (self.grid.shift - 6)).min(u8::MAX.into()) as u8
    }

    /// By cell of a rectangle: whether all obstacles are further away than the greatest radius and the longest step. The cells around the box of each obstacle
    /// are not.
    fn far(&self, world: &World, rect: CellRect) -> Vec<bool> {
        // The middle of a cell that is `n` steps from another is at least n - 1/2 cells away from it.
        let enough = (self.largest().to_bits() >> self.grid.shift) + 4;
        let [columns, rows] = rect.size();
        let mut far = vec![true; (columns * rows) as usize];
        let mut bodies = Vec::new();
        world.query_area(self.box_of(rect.grown(enough as i32)), &self.obstacles, &mut bodies);
        for body in bodies.iter().filter_map(|&id| world.body(id)) {
            let bounds = body.aabb();
            let near = |[low, high]: [Fx; 2], axis: usize| {
                let place = |at: Fx, more: i64| {
                    let from_rect = at.to_bits().saturating_sub(self.grid.min[axis]) >> self.grid.shift;
                    from_rect - i64::from(rect.min[axis]) + more
                };
                let last = i64::from(rect.size()[axis]) - 1;
                [place(low, 1 - enough).max(0), place(high, enough - 1).min(last)].map(|at| at as i32)
            };
            let [left, right] = near([bounds.min.x, bounds.max.x], 0);
            let [bottom, top] = near([bounds.min.y, bounds.max.y], 1);
            for y in bottom..=top {
                let row = y * columns;
                if left <= right {
                    far[(row + left) as usize..=(row + right) as usize].fill(false);
                }
            }
        }
        far
    }

    /// The box around a rectangle of cells, units.
    fn box_of(&self, rect: CellRect) -> Aabb {
        let corner = |[x, y]: [i32; 2]| {
            let part = |at: i32, min: i64| Fx::from_bits(min + (i64::from(at) << self.grid.shift));
            Vec2::new(part(x, self.grid.min[0]), part(y, self.grid.min[1]))
        };
        Aabb { min: corner(rect.min), max: corner(rect.max.map(|c| c + 1)) }
    }

    /// Finds the place in a cell with room for the greatest unit, or with the most room; returns the room.
    fn find_anchor(&mut self, survey: &mut Survey<'_>, at: [i32; 2], limit: Fx) -> Fx {
        let middle = self.grid.middle(at);
        // At most 30/64 of a cell from the middle on each axis.
        let wander = Fx::from_bits(self.grid.side() * 3 / 4);
        let mut near =
            Near { world: survey.world, obstacles: &self.obstacles, found: &mut survey.found, limit, wander };
        let mut best = ([0_i8; 2], near.room_at(middle));
        if best.1 < self.largest() && best.1 + wander >= self.sizes[0] {
            near.look_around(middle, best.1);
            for step in SEARCH {
                let from = best.0;
                // Straight steps first: beside a straight wall a diagonal one gives no more room, on neither side.
                for (x, y) in [0, 2, 4, 6, 1, 3, 5, 7].map(|step: usize| super::STEPS[step]) {
                    let part = [from[0] + x as i8 * step, from[1] + y as i8 * step];
                    let here = near.room_beside(middle + self.off_middle(part));
                    if here > best.1 {
                        best = (part, here);
                    }
                }
            }
        }
        self.anchors[self.grid.cell(at) as usize] = best.0;
        best.1
    }

    /// Decides all steps from and to a rectangle of cells for one size; returns where something changed.
    fn open_steps(&mut self, survey: &mut Survey<'_>, rect: CellRect, size: SizeClass) -> Option<CellRect> {
        let mut changed = None;
        for at in survey.rect.cells() {
            for step in 0..4 {
                let (x, y) = super::STEPS[step];
                let to = [at[0] + x, at[1] + y];
                if !survey.rect.contains(to) || !(rect.contains(at) || rect.contains(to)) {
                    continue;
                }
                let is_open = self.is_step_open(survey, at, to, size);
                for (cell, bit) in [(at, step), (to, step + 4)] {
                    let index = self.grid.cell(cell) as usize;
                    let open = &mut self.open[usize::from(size.0)][index];
                    let now = *open & !(1 << bit) | u8::from(is_open) << bit;
                    if now != *open {
                        *open = now;
                        changed = Some(CellRect::with(changed, cell));
                    }
                }
            }
        }
        changed
    }

    fn is_step_open(&self, survey: &mut Survey<'_>, from: [i32; 2], to: [i32; 2], size: SizeClass) -> bool {
        let cells = [from, to].map(|at| self.grid.cell(at));
        let rooms = [from, to].map(|at| survey.clearance[survey.at(at)]);
        let radius = self.radius(size);
        if rooms.iter().any(|room| *room < radius) || cells.iter().any(|&cell| self.cost_of(cell) == 0) {
            return false;
        }
        // The clearance changes by at most the distance. So it is nowhere below half of this sum. Anchors are less than two cells apart on each axis.
        let more = rooms[0] + rooms[1] - radius * 2;
        if more >= self.cell() * 3 {
            return true;
        }
        let [start, end] = cells.map(|cell| self.anchor(cell));
        if more >= start.distance(end) {
            return true;
        }
        let disc = radius - radius / SLACK;
        let world = survey.world;
        let is_free = |from: Vec2, to: Vec2, disc: Fx| {
            matches!(world.sweep_circle(from, to, disc, &self.obstacles), Ok(None))
        };
        if is_free(start, end, disc) {
            return true;
        }
        // A unit that goes straight slides past corners that half of it passes.
        if !is_free(start, end, radius / 2) {
            return false;
        }
        let Some(gate) = self.gate(survey, from, to, radius) else { return false };
        // From each anchor straight to the gate, or first to the place opposite of it.
        [start, end].into_iter().all(|anchor| {
            let opposite = if from[1] == to[1] { [anchor.x, gate.y] } else { [gate.x, anchor.y] };
            let opposite = Vec2::new(opposite[0], opposite[1]);
            is_free(anchor, gate, disc) || is_free(anchor, opposite, disc) && is_free(opposite, gate, disc)
        })
    }

    /// The place with the most room on the border between two cells that share an edge, if a disc has room there. A door that is hardly wider than a unit bends
    /// the way from anchor to anchor a little; a unit that goes straight slides past its edges.
    fn gate(&self, survey: &mut Survey<'_>, from: [i32; 2], to: [i32; 2], radius: Fx) -> Option<Vec2> {
        let along = match [to[0] - from[0], to[1] - from[1]] {
            [_, 0] => [0, 1],
            [0, _] => [1, 0],
            _ => return None,
        };
        let half = (self.grid.middle(to) - self.grid.middle(from)) * (Fx::ONE / 2);
        let border = self.grid.middle(from) + half;
        let point = |part: i8| border + self.off_middle(along.map(|axis| axis * part));
        let (limit, wander) = (radius + self.cell() / 2, self.cell() / 2);
        let mut near =
            Near { world: survey.world, obstacles: &self.obstacles, found: &mut survey.found, limit, wander };
        let mut best = (0, near.room_at(border));
        near.look_around(border, best.1);
        let look = |best: &mut (i8, Fx), part: i8| {
            let here = near.room_beside(point(part));
            if here > best.1 {
                *best = (part, here);
            }
        };
        (1..=4)
            .for_each(|step| [8 * step - 2, 2 - 8 * step].into_iter().for_each(|part| look(&mut best, part)));
        for step in [4, 2, 1] {
            let from = best.0;
            [from - step, from + step]
                .into_iter()
                .filter(|part| part.abs() < 32)
                .for_each(|part| look(&mut best, part));
        }
        (best.1 >= radius).then(|| point(best.0))
    }
}
