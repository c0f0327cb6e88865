//! Orders to units.

use alloc::vec::Vec;

use testudo_physics::{BodyId, EXTENT_MAX, Fx, POSITION_MAX, Vec2, World};

use crate::crowd::state::CHANGED;
use crate::crowd::{Crowd, Errand, MoveError, Order, Task};
use crate::flow::{ALONE, FlowError, FlowId, NO_FIELD};
use crate::ground::{Cell, SIZES_MAX, SizeClass};
use crate::group::{Formation, assign, places};

/// Distance between the middles of units that stand together, in radii of the largest, as a fraction.
const SPACING: (i64, i64) = (9, 4);

/// Groups of units that were sent one by one, by their goals.
const SENT: u32 = 1 << 31;

/// A unit that has asked for so many trades asks for no more.
const KEEPS_PLACE: u8 = u8::MAX;

impl Crowd {
    /// Sends units to a place. Each gets a place of its own in the formation; the order in which they are named does not matter, and one that is named
    /// twice counts once. If there is no room for all of them, the last ones go to the last place. They stand 2.25 radii of the largest one apart: with a large
    /// unit among them small ones stand as wide as large ones would.
    ///
    /// # Errors
    /// [`MoveError`]: a body that is no unit, a goal out of range, a row without units, no open ground near the goal, too many goals, or ground that was never
    /// surveyed. Nobody goes then.
    pub fn order(&mut self, world: &World, units: &[BodyId], order: &Order) -> Result<(), MoveError> {
        self.knows_the_ground()?;
        if !is_in_range(order.goal) {
            return Err(MoveError::Goal);
        }
        order.formation.validate()?;
        let group = self.group_of(units)?;
        let Some(size) = group.iter().map(|&at| self.movers[at].size).max() else { return Ok(()) };
        // One field for each size in the group.
        let mut flows = [None; SIZES_MAX as usize];
        for &at in &group {
            let size = self.movers[at].size;
            if flows[usize::from(size.0)].is_none() {
                let field = if group.len() == 1 {
                    self.no_field(ALONE, order.goal, size)?
                } else {
                    self.field_of(&group, &flows, order.goal, size)?
                };
                flows[usize::from(size.0)] = Some(field);
            }
        }
        let positions: Vec<Vec2> = group
            .iter()
            .map(|&at| world.body(self.walkers[at].body).map_or(self.movers[at].post, |body| body.position()))
            .collect();
        let spacing = self.spacing(&group, size);
        let ahead = ahead(&positions, order.goal);
        // A disc has no front; where its last ring is not full, it is so on the far side.
        let facing = if order.formation == Formation::Disc { (-ahead).angle() } else { order.facing };
        let shape = (order.formation, facing);
        let count = group.len() as u32;
        let posts = places(&self.ground, size, order.goal, shape, spacing, count)?;
        let given = assign(&positions, &posts, ahead);
        let last = self.ground.held_inside(order.goal);
        let in_rows = matches!(order.formation, Formation::Rows { .. });
        let slowest = group.iter().map(|&at| self.movers[at].def.speed).min().unwrap_or(Fx::ONE);
        self.orders = self.orders.wrapping_add(1);
        let now = self.clock.now();
        for (at, place) in group.into_iter().zip(given) {
            let mover = &mut self.movers[at];
            let Some(mut flow) = flows[usize::from(mover.size.0)] else { continue };
            let pace = if order.together { slowest } else { mover.def.speed };
            mover.forget();
            (mover.is_told, mover.trades) = (false, 0);
            mover.post = posts.get(place as usize).copied().unwrap_or(last);
            if flow.index == ALONE {
                // Its goal is its post, and not one beside it.
                flow.goal = self.ground.nearest_open_cell(mover.post, mover.size).unwrap_or(flow.goal);
            }
            mover.task = Task::Go(Errand { flow, group: self.orders, pace, in_rows });
            mover.beside = self.ground.anchor(flow.goal).distance(mover.post);
            self.walkers[at].set_out(self.orders, now);
            self.hashes[at] = CHANGED;
        }
        Ok(())
    }

    /// Where these units are among all, ascending, each once.
    fn group_of(&self, units: &[BodyId]) -> Result<Vec<usize>, MoveError> {
        let mut group = Vec::new();
        for &body in units {
            group.push(self.place_of(body).ok_or(MoveError::Stranger(body))?);
        }
        group.sort_unstable();
        group.dedup();
        Ok(group)
    }

    /// Distance between the places of a group whose greatest size this is, units.
    fn spacing(&self, group: &[usize], size: SizeClass) -> Fx {
        let largest = group.iter().map(|&at| self.walkers[at].sight.radius).max().unwrap_or(1 << 16);
        let spacing = Fx::from_bits(i64::from(largest) * SPACING.0 / SPACING.1);
        spacing.clamp(self.ground.radius(size), EXTENT_MAX)
    }

    /// A goal, and no field that leads there as long as no unit needs one. `index`: [`NO_FIELD`] or [`ALONE`].
    fn no_field(&self, index: u16, goal: Vec2, size: SizeClass) -> Result<FlowId, FlowError> {
        let goal = self.ground.nearest_open_cell(goal, size).ok_or(FlowError::NoGround { goal })?;
        Ok(FlowId { index, goal, size })
    }

    /// The field for the units of one size in a group. If all are in use, it takes the place of one that at most one other unit uses, which looks for a
    /// path without. `new`: its other fields.
    fn field_of(
        &mut self,
        group: &[usize],
        new: &[Option<FlowId>],
        goal: Vec2,
        size: SizeClass,
    ) -> Result<FlowId, FlowError> {
        let field = self.flows.to(&self.ground, goal, size);
        let Err(FlowError::TooMany { .. }) = field else { return field };
        let units = self.movers.iter().zip(&self.walkers).enumerate();
        let others = units.filter(|(at, (_, walker))| !walker.is_gone && group.binary_search(at).is_err());
        let mut used: Vec<(Cell, SizeClass)> = others
            .filter_map(|(_, (mover, _))| match mover.task {
                Task::Go(errand) => Some((errand.flow.goal, errand.flow.size)),
                Task::Stand(_) | Task::Pursue(_) => None,
            })
            .collect();
        used.sort_unstable();
        // (Those that were sent there and have not asked for it yet count, too.)
        let users = |goal| used.partition_point(|&at| at <= goal) - used.partition_point(|&at| at < goal);
        let may_go = |field: FlowId, _| users((field.goal, field.size)) <= 1 && !new.contains(&Some(field));
        self.flows.claim(&self.ground, goal, size, may_go)
    }

    /// Sends one unit to a place of its own beside a goal that it shares with others, at its own pace: for games that choose the places. All units that are
    /// sent to the same goal are one group, whenever they were sent, and use one field, and each keeps its place. There is a field only when one of them does
    /// not see its place; a unit with a place in the cell of the goal looks for a path of its own instead. A place outside of the area counts as the nearest
    /// one in it.
    ///
    /// # Errors
    /// [`MoveError`]: the body is no unit, the goal or the place is out of range, there is no open ground near the goal, or the ground was never surveyed. The
    /// unit goes on as before then.
    pub fn send(&mut self, unit: BodyId, goal: Vec2, place: Vec2) -> Result<(), MoveError> {
        self.knows_the_ground()?;
        if !is_in_range(goal) || !is_in_range(place) {
            return Err(MoveError::Goal);
        }
        let place = self.ground.held_inside(place);
        let at = self.place_of(unit).ok_or(MoveError::Stranger(unit))?;
        let is_alone = self.ground.grid.cell_at(goal) == self.ground.grid.cell_at(place);
        let flow = self.no_field(if is_alone { ALONE } else { NO_FIELD }, goal, self.movers[at].size)?;
        let (mover, cell) = (&mut self.movers[at], flow.goal);
        mover.forget();
        (mover.is_told, mover.trades) = (false, KEEPS_PLACE);
        mover.post = place;
        mover.task = Task::Go(Errand { flow, group: SENT | cell, pace: mover.def.speed, in_rows: false });
        mover.beside = self.ground.anchor(cell).distance(place);
        self.walkers[at].set_out(SENT | cell, self.clock.now());
        self.hashes[at] = CHANGED;
        Ok(())
    }

    /// Whoever forgets the survey would see units walk into walls.
    pub(super) fn knows_the_ground(&self) -> Result<(), MoveError> {
        if self.is_surveyed { Ok(()) } else { Err(MoveError::NotSurveyed) }
    }

    /// Units stop where they are.
    ///
    /// # Errors
    /// [`MoveError::Stranger`] for a body that is no unit. Nobody stops then.
    pub fn stop(&mut self, world: &World, units: &[BodyId]) -> Result<(), MoveError> {
        if let Some(&stranger) = units.iter().find(|&&body| self.place_of(body).is_none()) {
            return Err(MoveError::Stranger(stranger));
        }
        for &body in units {
            let at = self.place_of(body).ok_or(MoveError::Stranger(body))?;
            let here = world.body(body).map_or(self.movers[at].post, |body| body.position());
            self.movers[at].stand(here, None);
            let now = self.clock.now();
            (self.walkers[at].thinks, self.walkers[at].thought) = (now, now);
            self.hashes[at] = CHANGED;
        }
        Ok(())
    }
}

/// Whether a position is one that a body can have.
fn is_in_range(at: Vec2) -> bool {
    [at.x, at.y].into_iter().all(|part| (-POSITION_MAX..=POSITION_MAX).contains(&part))
}

/// From the middle of some positions towards a goal, length 1; along the x axis if they are there.
fn ahead(positions: &[Vec2], goal: Vec2) -> Vec2 {
    let sum = positions.iter().fold(Vec2::ZERO, |sum, position| sum + (goal - *position));
    let way = sum.normalize();
    if way == Vec2::ZERO { Vec2::from_ints(1, 0) } else { way }
}
