//! What a field says at a position: where to go from there.

use testudo_physics::{Fx, Vec2};

use crate::flow::field::{Field, STRAIGHT};
use crate::ground::{Cell, CellRect, Ground};
use crate::steer::raw::{length, resized, vec2};

/// How many cells beside obstacles a unit looks ahead, to go straight.
const LOOK_AHEAD: usize = 8;

/// Fewer cells from which no step leads are a pocket.
const POCKET_CELLS: usize = 12;

/// The way to a goal from a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// Nothing is in the way: go straight to the goal, or to a place beside it.
    Straight {
        /// Distance to the goal, units.
        left: Fx,
    },
    /// Go straight to this place and ask again there, or where something pushed the unit off its line.
    Aim {
        /// The place.
        to: Vec2,
        /// Length of the path to the goal over this place, units.
        left: Fx,
    },
    /// The search has not come here yet, or the path is still being planned.
    Unknown,
    /// No path leads to the goal.
    Closed,
}

impl Way {
    /// Length of the path to the goal, units, if it is known.
    #[must_use]
    pub fn left(&self) -> Option<Fx> {
        match *self {
            Self::Straight { left } | Self::Aim { left, .. } => Some(left),
            Self::Unknown | Self::Closed => None,
        }
    }
}

impl Field {
    /// The way from a position.
    pub(crate) fn way(&self, ground: &Ground, position: Vec2) -> Way {
        self.way_in_sight(ground, position, |to| ground.leads(position, to, self.size))
    }

    /// The way to the last place of the path that is in sight.
    fn way_in_sight(&self, ground: &Ground, position: Vec2, sees: impl Fn(Vec2) -> bool) -> Way {
        let cell = ground.grid.cell_at(position);
        if self.sees_goal(cell) {
            return Way::Straight { left: position.distance(ground.anchor(self.goal)) };
        }
        if ground.steps(cell, self.size) == 0 || self.distance(cell).is_none() {
            return self.way_back(ground, position, cell);
        }
        let Some((mut aim, mut ahead)) = self.first(ground, position, cell) else {
            // The goal's own cell, or one without neighbours that are known yet.
            let left = position.distance(ground.anchor(self.goal));
            return if cell == self.goal { Way::Straight { left } } else { Way::Unknown };
        };
        let mut path = [ahead; LOOK_AHEAD];
        // A unit in a narrow place may see the end of its step.
        let mut count = usize::from(ahead != aim);
        while count < LOOK_AHEAD
            && let Some(next) = self.step(ground, ahead, ground.grid.cell_at(ahead))
        {
            (path[count], ahead) = (next, next);
            count += 1;
        }
        // Mostly the last one is in sight.
        if count > 0 && sees(path[count - 1]) {
            aim = path[count - 1];
        } else {
            path[..count].iter().take_while(|next| sees(**next)).for_each(|next| aim = *next);
        }
        if ground.grid.cell_at(aim) == self.goal {
            aim = ground.anchor(self.goal);
        }
        let distance = self.distance(ground.grid.cell_at(aim)).unwrap_or(0);
        Way::Aim { to: aim, left: to_units(ground, distance) + position.distance(aim) }
    }

    /// The way for a unit that hangs at a corner: beside obstacles from anchor to anchor, first to that of the own cell.
    pub(crate) fn careful_way(&self, ground: &Ground, position: Vec2) -> Way {
        let cell = ground.grid.cell_at(position);
        if ground.is_clear(position, self.size) {
            return self.way_in_sight(ground, position, |to| ground.sees_plainly(position, to, self.size));
        }
        let Some(next) = self.next(ground, cell) else { return self.way(ground, position) };
        let (here, there) = (ground.anchor(cell), ground.anchor(next));
        let is_off =
            position.distance(here) * 4 > ground.cell() && position.distance(there) > here.distance(there);
        let to = if is_off { here } else { there };
        let distance = self.distance(next).unwrap_or(0);
        Way::Aim { to, left: to_units(ground, distance) + position.distance(to) + to.distance(there) }
    }

    /// The first step of a path from a position, and where it ends. Past a corner the unit keeps to the line between the anchors.
    fn first(&self, ground: &Ground, position: Vec2, cell: Cell) -> Option<(Vec2, Vec2)> {
        let step = ground.is_clear_cell(cell, self.size).then(|| self.step(ground, position, cell)).flatten();
        step.filter(|to| ground.leads(position, *to, self.size)).map(|to| (to, to)).or_else(|| {
            let next = self.next(ground, cell)?;
            Some((self.on_the_step(ground, position, cell, next), ground.anchor(next)))
        })
    }

    /// About a cell further down a path.
    fn step(&self, ground: &Ground, position: Vec2, cell: Cell) -> Option<Vec2> {
        let down = self.way_down(ground, position, cell);
        down.or_else(|| self.next(ground, cell).map(|next| ground.anchor(next)))
    }

    /// From a closed cell (the unit was pushed against an obstacle, or into a pocket behind a corner), or from one that the search has not reached.
    fn way_back(&self, ground: &Ground, position: Vec2, cell: Cell) -> Way {
        let none = if self.is_complete() && self.is_whole() { Way::Closed } else { Way::Unknown };
        let is_open = ground.steps(cell, self.size) != 0;
        if is_open && none == Way::Unknown {
            return none;
        }
        // Nearer than a diameter is on the same side of every wall.
        let reach = ground.radius(self.size) * 2;
        let near = self.around(ground, position).filter(|&(_, away, _)| away < reach);
        if let Some((left, _, to)) = near.min_by_key(|&(left, ..)| left) {
            return Way::Aim { to, left };
        }
        if is_open {
            return none;
        }
        let Some(open) = ground.nearest_open_cell(position, self.size) else { return Way::Closed };
        let Some(distance) = self.distance(open) else { return none };
        let to = ground.anchor(open);
        Way::Aim { to, left: to_units(ground, distance) + position.distance(to) }
    }

    /// The anchors around a position from which a path leads to the goal: how long it is from here, how far away they are, and where.
    fn around(&self, ground: &Ground, position: Vec2) -> impl Iterator<Item = (Fx, Fx, Vec2)> {
        let at = ground.grid.place(position);
        let around = ground.grid.clip(CellRect { min: at, max: at }.grown(2));
        around.cells().map(|at| ground.grid.cell(at)).filter_map(move |cell| {
            let distance = self.distance(cell).filter(|_| ground.steps(cell, self.size) != 0)?;
            let away = ground.anchor(cell).distance(position);
            Some((to_units(ground, distance) + away, away, ground.anchor(cell)))
        })
    }

    /// Out of a pocket of a few cells: to the nearest place from which a path leads to the goal, whatever is between.
    pub(crate) fn way_out(&self, ground: &Ground, position: Vec2) -> Option<Vec2> {
        let mut cells = [ground.grid.cell_at(position); POCKET_CELLS];
        let (mut done, mut known) = (0, 1);
        while done < known {
            let (cell, steps) = (cells[done], ground.steps(cells[done], self.size));
            done += 1;
            for step in (0..8).filter(|step| steps >> step & 1 == 1) {
                let next = cell.wrapping_add_signed(ground.grid.offsets()[step]);
                if !cells[..known].contains(&next) {
                    *cells.get_mut(known)? = next;
                    known += 1;
                }
            }
        }
        self.around(ground, position).min_by_key(|&(_, away, _)| away).map(|(.., to)| to)
    }

    /// A cell further down the gradient, where all neighbours are open.
    fn way_down(&self, ground: &Ground, position: Vec2, cell: Cell) -> Option<Vec2> {
        if ground.steps(cell, self.size) != 0xff {
            return None;
        }
        let (offsets, distance) = (ground.grid.offsets(), self.distance(cell)?);
        let fall = |step: usize| {
            let to = cell.wrapping_add_signed(offsets[step]);
            self.distance(to).map_or(0, |there| i64::from(distance) - i64::from(there)).max(0)
        };
        let axis = |ahead: usize, back: usize| {
            let (ahead, back) = (fall(ahead), fall(back));
            if ahead >= back { ahead } else { -back }
        };
        // Distances of neighbours differ by less than 2^16.
        let slope = [axis(0, 4), axis(2, 6)].map(|fall| fall << 12);
        let to = position + vec2(resized(slope, length(slope), ground.grid.side()));
        let there = ground.grid.cell_at(to);
        let is_lower = there != cell && self.distance(there).is_some_and(|there| there < distance);
        is_lower.then_some(to)
    }

    /// The neighbour over which the path is shortest; only downward, so that nobody walks in circles.
    fn next(&self, ground: &Ground, cell: Cell) -> Option<Cell> {
        let (steps, offsets) = (ground.steps(cell, self.size), ground.grid.offsets());
        let here = self.distance(cell)?;
        let lengths = [STRAIGHT, STRAIGHT * 181 / 128].map(|step| step * u32::from(ground.cost_of(cell)));
        let open = (0..8).filter(|step| steps & 1 << step != 0);
        let all = open.filter_map(|step| {
            let to = cell.wrapping_add_signed(offsets[step]);
            let there = self.distance(to).filter(|there| *there < here)?;
            Some((there + lengths[step % 2], to))
        });
        all.min_by_key(|&(left, _)| left).map(|(_, to)| to)
    }

    /// Where to go for one step. Past a corner the unit keeps to the line between the anchors, a quarter of a cell ahead.
    fn on_the_step(&self, ground: &Ground, position: Vec2, from: Cell, to: Cell) -> Vec2 {
        let (start, end) = (ground.anchor(from), ground.anchor(to));
        let line = end - start;
        let (direction, length) = (line.normalize(), line.length());
        let along = direction.dot(position - start).max(Fx::ZERO) + ground.cell() / 4;
        if along >= length {
            return end;
        }
        let ahead = start + Vec2::new(direction.x * along, direction.y * along);
        // The line may pass through a third cell, from which a path would lead back.
        let there = ground.grid.cell_at(ahead);
        if there == from || there == to { ahead } else { end }
    }
}

/// A distance of the field in units.
pub(crate) fn to_units(ground: &Ground, distance: u32) -> Fx {
    Fx::from_bits((i64::from(distance) << ground.grid.shift) / i64::from(STRAIGHT))
}
