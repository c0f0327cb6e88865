//! The state of a crowd: one walk that saves and loads it. What is not in it follows from it and from the world.

use alloc::vec::Vec;
use core::fmt;

use testudo_physics::{BodyId, Fx, POSITION_MAX, Vec2, World, hash_bytes};

use crate::crowd::def::MoverDef;
use crate::crowd::{Crowd, CrowdDef, Errand, Mover, Task, Walker};
use crate::flow::{Ends, Field, FlowId, Tiles, Used};
use crate::ground::{Cell, Ground, GroundError, SizeClass};
use crate::steer::Sight;

/// Names the bits of movement: it grows by one with any change after which the same start and the same orders give another state.
pub const MOVEMENT_VERSION: u32 = 5;

/// Why a saved crowd was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The definition is wrong.
    Ground(GroundError),
    /// It was saved by another version.
    Version {
        /// That version.
        found: u32,
    },
    /// The bytes end too early or too late.
    Length,
    /// A number is out of its range, or does not fit the definition or the world.
    Invalid {
        /// Which one.
        what: &'static str,
    },
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ground(error) => error.fmt(f),
            Self::Version { found } => {
                write!(f, "saved by version {found} of movement, this is version {MOVEMENT_VERSION}")
            }
            Self::Length => write!(f, "a saved crowd ends too early or too late"),
            Self::Invalid { what } => write!(f, "a saved crowd has a wrong {what}"),
        }
    }
}

impl core::error::Error for StateError {}

impl Crowd {
    /// Appends the whole state: 90 to 190 bytes per unit, 20 per field, two bits per field and tile where fields cover corridors, and two bytes for each
    /// run of cells of equal cost.
    pub fn save(&self, out: &mut Vec<u8>) {
        let mut numbers = Writer(out);
        numbers.put(MOVEMENT_VERSION.into(), 4);
        numbers.put(self.orders.into(), 4);
        numbers.put(self.flows.frame as i64, 8);
        self.save_costs(&mut numbers);
        numbers.put(self.flows.fields.len() as i64, 4);
        for Used { field, last, .. } in &self.flows.fields {
            numbers.put(field.goal.into(), 4);
            numbers.put(field.size.0.into(), 1);
            numbers.put(field.level().into(), 4);
            numbers.put(field.is_complete().into(), 1);
            numbers.put(field.is_whole().into(), 1);
            if !field.is_whole() {
                let (allowed, planned) = field.bounds();
                numbers.tiles(allowed);
                numbers.tiles(planned);
            }
            numbers.put(*last as i64, 8);
        }
        numbers.put(self.flows.turn.into(), 2);
        numbers.put(self.flows.plan.is_some().into(), 1);
        if let Some(plan) = &self.flows.plan {
            numbers.put(plan.index.into(), 2);
            numbers.put(plan.start.into(), 4);
            numbers.put(plan.steps.into(), 4);
            numbers.put(plan.restarts.into(), 1);
        }
        numbers.put(self.movers.len() as i64, 4);
        for (walker, mover) in self.walkers.iter().zip(&self.movers) {
            numbers.walker(walker);
            numbers.mover(mover);
        }
    }

    /// A hash of the whole state, to be compared between peers beside [`World::checksum`]. Costs as much as [`Crowd::save`].
    #[must_use]
    pub fn checksum(&self) -> u64 {
        let mut bytes = Vec::new();
        self.save(&mut bytes);
        hash_bytes(&bytes)
    }

    /// A crowd as it was saved, with the definition that it was made with and the world of the same moment. The ground is surveyed, and the fields are searched
    /// as far as they were: this takes as long as that took. Untrusted bytes are welcome: every number is checked.
    ///
    /// # Errors
    /// [`StateError`] names what is wrong.
    pub fn load(def: &CrowdDef, world: &World, bytes: &[u8]) -> Result<Self, StateError> {
        let mut crowd = Self::new(def).map_err(StateError::Ground)?;
        let mut numbers = Reader(bytes);
        let found = numbers.take(4)? as u32;
        if found != MOVEMENT_VERSION {
            return Err(StateError::Version { found });
        }
        crowd.orders = numbers.take(4)? as u32;
        crowd.flows.frame = numbers.take(8)? as u64;
        crowd.load_costs(&mut numbers, world)?;
        let fields = numbers.take(4)? as u32;
        if fields > crowd.flows.max {
            return Err(StateError::Invalid { what: "number of fields" });
        }
        for _ in 0..fields {
            let used = crowd.load_field(&mut numbers)?;
            crowd.flows.fields.push(used);
        }
        crowd.flows.prepare(&crowd.ground);
        crowd.load_plan(&mut numbers)?;
        let movers = numbers.take(4)? as u32;
        for _ in 0..movers {
            let walker = numbers.walker()?;
            let before = crowd.walkers.last().map(|walker| walker.body.index());
            if before.is_some_and(|before| before >= walker.body.index()) {
                return Err(StateError::Invalid { what: "order of units" });
            }
            let mut mover = numbers.mover(&crowd.ground, walker.acceleration)?;
            if let Task::Go(errand) = mover.task {
                mover.beside = crowd.ground.anchor(errand.flow.goal).distance(mover.post);
            }
            crowd.walkers.push(walker);
            crowd.movers.push(mover);
        }
        if numbers.0.is_empty() { Ok(crowd) } else { Err(StateError::Length) }
    }

    /// Runs of equal costs: how many cells less one, and the cost.
    fn save_costs(&self, numbers: &mut Writer<'_>) {
        let grid = &self.ground.grid;
        let mut run: Option<(u8, u32)> = None;
        for cost in grid.whole().cells().map(|at| self.ground.cost_of(grid.cell(at))) {
            run = match run {
                Some((same, count)) if same == cost && count < 256 => Some((same, count + 1)),
                _ => {
                    numbers.run(run);
                    Some((cost, 1))
                }
            };
        }
        numbers.run(run);
    }

    fn load_costs(&mut self, numbers: &mut Reader<'_>, world: &World) -> Result<(), StateError> {
        let [columns, rows] = self.ground.grid.whole().size();
        let cells = columns.unsigned_abs() * rows.unsigned_abs();
        let mut costs = Vec::new();
        while (costs.len() as u32) < cells {
            let count = numbers.take(1)? as u8;
            let cost = numbers.take(1)? as u8;
            costs.extend(core::iter::repeat_n(cost, usize::from(count) + 1));
        }
        if self.ground.restore_costs(world, &costs) {
            Ok(())
        } else {
            Err(StateError::Invalid { what: "cost" })
        }
    }

    fn load_field(&self, numbers: &mut Reader<'_>) -> Result<Used, StateError> {
        let (goal, size) = numbers.goal(&self.ground)?;
        let level = numbers.take(4)? as u32;
        let is_complete = numbers.flag()?;
        let is_whole = numbers.flag()?;
        let mut field = Field::new(&self.ground, goal, size, is_whole);
        if !is_whole {
            let total = field.bounds().0.total();
            let (allowed, planned) = (numbers.tiles(total)?, numbers.tiles(total)?);
            field.allow(&self.ground, &allowed);
            planned.iter().for_each(|tile| field.plan(tile));
            if field.bounds().0 != &allowed {
                return Err(StateError::Invalid { what: "corridor" });
            }
        }
        let last = numbers.take(8)? as u64;
        if last > self.flows.frame {
            return Err(StateError::Invalid { what: "field" });
        }
        field.search_to(&self.ground, level, is_complete);
        if (field.level(), field.is_complete()) != (level, is_complete) {
            return Err(StateError::Invalid { what: "level of a field" });
        }
        Ok(Used::new(field, last))
    }

    /// The path that is being planned: searched again as far as it was.
    fn load_plan(&mut self, numbers: &mut Reader<'_>) -> Result<(), StateError> {
        self.flows.turn = numbers.take(2)? as u16;
        if !numbers.flag()? {
            return Ok(());
        }
        let index = numbers.take(2)? as u16;
        let start = numbers.cell(&self.ground)?;
        let (steps, restarts) = (numbers.take(4)? as u32, numbers.take(1)? as u8);
        let used = self.flows.fields.get(usize::from(index)).filter(|used| !used.field.is_whole());
        let field = &used.ok_or(StateError::Invalid { what: "field of a plan" })?.field;
        let ends = Ends { start, goal: field.goal, size: field.size };
        if self.flows.resume(&self.ground, index, ends, (steps, restarts)) {
            Ok(())
        } else {
            Err(StateError::Invalid { what: "plan" })
        }
    }
}

/// Numbers as little-endian bytes.
struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn put(&mut self, value: i64, bytes: usize) {
        self.0.extend_from_slice(&value.to_le_bytes()[..bytes]);
    }

    fn run(&mut self, run: Option<(u8, u32)>) {
        if let Some((cost, count)) = run {
            self.put(i64::from(count) - 1, 1);
            self.put(cost.into(), 1);
        }
    }

    /// One bit for each tile.
    fn tiles(&mut self, tiles: &Tiles) {
        for first in (0..tiles.total()).step_by(8) {
            let bits = (first..tiles.total().min(first + 8))
                .map(|tile| i64::from(tiles.contains(tile)) << (tile - first));
            self.put(bits.sum(), 1);
        }
    }

    fn length(&mut self, value: Fx) {
        self.put(value.to_bits(), 8);
    }

    fn point(&mut self, point: Vec2) {
        self.length(point.x);
        self.length(point.y);
    }

    fn errand(&mut self, errand: &Errand) {
        self.put(errand.flow.index.into(), 2);
        self.put(errand.flow.goal.into(), 4);
        self.put(errand.flow.size.0.into(), 1);
        self.put(errand.group.into(), 4);
        self.length(errand.pace);
        self.put(errand.in_rows.into(), 1);
    }

    fn walker(&mut self, walker: &Walker) {
        let Walker { sight, body, takes, acceleration, thinks, thought } = walker;
        let Sight { position: _, velocity: _, unit: _, wish, left, group, radius, right_ms, is_going } =
            sight;
        self.put(body.to_bits() as i64, 8);
        for part in [wish, takes].into_iter().flatten() {
            self.put((*part).into(), 4);
        }
        self.put(*left, 8);
        self.put((*group).into(), 4);
        self.put((*is_going).into(), 1);
        self.put((*right_ms).into(), 2);
        for number in [radius.unsigned_abs(), acceleration.unsigned_abs(), *thinks, *thought] {
            self.put(number.into(), 4);
        }
    }

    fn mover(&mut self, mover: &Mover) {
        let Mover { def, size, rank, pushes, task, is_told, post, aim, beyond, best, .. } = mover;
        self.length(def.speed);
        self.put(size.0.into(), 1);
        self.put((*rank).into(), 1);
        let flags = [*pushes, *is_told, mover.is_back, aim.is_some(), mover.is_straight, mover.is_new];
        let bits = flags.iter().enumerate().map(|(bit, &flag)| i64::from(flag) << bit).sum();
        self.put(bits, 1);
        match task {
            Task::Stand(None) => self.put(0, 1),
            Task::Stand(Some(errand)) => {
                self.put(1, 1);
                self.errand(errand);
            }
            Task::Go(errand) => {
                self.put(2, 1);
                self.errand(errand);
            }
        }
        self.point(*post);
        aim.iter().for_each(|&aim| self.point(aim));
        self.length(*beyond);
        self.length(*best);
        self.put(mover.setbacks.into(), 1);
        self.put(mover.trades.into(), 1);
        for time in [mover.stalled_ms, mover.off_ms] {
            self.put(time.into(), 4);
        }
    }
}

/// Reads what [`Writer`] wrote.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    /// A number of 1 to 8 bytes; not negative unless it has 8.
    fn take(&mut self, bytes: usize) -> Result<i64, StateError> {
        let (first, rest) = self.0.split_at_checked(bytes).ok_or(StateError::Length)?;
        self.0 = rest;
        let mut all = [0; 8];
        all[..bytes].copy_from_slice(first);
        Ok(i64::from_le_bytes(all))
    }

    /// A cell inside the frame of the ground, and one of its sizes.
    fn goal(&mut self, ground: &Ground) -> Result<(Cell, SizeClass), StateError> {
        let goal = self.cell(ground)?;
        let size = self.take(1)? as u8;
        if usize::from(size) >= ground.sizes.len() {
            return Err(StateError::Invalid { what: "goal" });
        }
        Ok((goal, SizeClass(size)))
    }

    /// A cell inside the frame of the ground.
    fn cell(&mut self, ground: &Ground) -> Result<Cell, StateError> {
        let cell = self.take(4)? as u32;
        let is_inside = cell < ground.grid.len() && ground.grid.whole().contains(ground.grid.split(cell));
        if is_inside { Ok(cell) } else { Err(StateError::Invalid { what: "cell" }) }
    }

    fn flag(&mut self) -> Result<bool, StateError> {
        match self.take(1)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(StateError::Invalid { what: "flag" }),
        }
    }

    /// So many tiles, one bit for each.
    fn tiles(&mut self, total: u32) -> Result<Tiles, StateError> {
        let mut tiles = Tiles::none(total);
        for first in (0..total).step_by(8) {
            let bits = self.take(1)?;
            for tile in (first..first + 8).filter(|tile| bits >> (tile - first) & 1 == 1) {
                if tile >= total {
                    return Err(StateError::Invalid { what: "tile" });
                }
                tiles.insert(tile);
            }
        }
        Ok(tiles)
    }

    /// A length in `0..=max` units.
    fn length(&mut self, what: &'static str, max: Fx) -> Result<Fx, StateError> {
        let value = Fx::from_bits(self.take(8)?);
        if (Fx::ZERO..=max).contains(&value) { Ok(value) } else { Err(StateError::Invalid { what }) }
    }

    fn point(&mut self, what: &'static str) -> Result<Vec2, StateError> {
        let point = Vec2::new(Fx::from_bits(self.take(8)?), Fx::from_bits(self.take(8)?));
        // Grids may reach beyond the area by less than a cell.
        let edge = POSITION_MAX * 2;
        let is_near = |part: Fx| (-edge..=edge).contains(&part);
        if is_near(point.x) && is_near(point.y) { Ok(point) } else { Err(StateError::Invalid { what }) }
    }

    fn errand(&mut self, ground: &Ground) -> Result<Errand, StateError> {
        let index = self.take(2)? as u16;
        let (goal, size) = self.goal(ground)?;
        let group = self.take(4)? as u32;
        let pace = self.length("pace", testudo_physics::SPEED_MAX)?;
        let in_rows = self.flag()?;
        Ok(Errand { flow: FlowId { index, goal, size }, group, pace, in_rows })
    }

    /// A number of four bytes in `-max..=max`.
    fn part(&mut self, what: &'static str, max: Fx) -> Result<i32, StateError> {
        let value = self.take(4)? as u32 as i32;
        let is_small = i64::from(value.unsigned_abs()) <= max.to_bits();
        if is_small { Ok(value) } else { Err(StateError::Invalid { what }) }
    }

    fn walker(&mut self) -> Result<Walker, StateError> {
        let body = BodyId::from_bits(self.take(8)? as u64);
        let speed = testudo_physics::SPEED_MAX;
        let mut velocity = || Ok([self.part("velocity", speed)?, self.part("velocity", speed)?]);
        let (wish, takes) = (velocity()?, velocity()?);
        let left = self.length("path", Fx::MAX)?.to_bits();
        let group = self.take(4)? as u32;
        let is_going = self.flag()?;
        let right_ms = self.take(2)? as u16;
        let radius = self.part("radius", testudo_physics::EXTENT_MAX)?.abs();
        let acceleration = self.part("acceleration", speed)?.abs();
        let (thinks, thought) = (self.take(4)? as u32, self.take(4)? as u32);
        let sight = Sight { wish, left, group, radius, right_ms, is_going, ..Sight::default() };
        Ok(Walker { sight, body, takes, acceleration, thinks, thought })
    }

    fn mover(&mut self, ground: &Ground, acceleration: i32) -> Result<Mover, StateError> {
        let speed = self.length("speed", testudo_physics::SPEED_MAX)?;
        let acceleration = Fx::from_bits(acceleration.into());
        let size = SizeClass(self.take(1)? as u8);
        if usize::from(size.0) >= ground.sizes.len() {
            return Err(StateError::Invalid { what: "size" });
        }
        let rank = self.take(1)? as u8 as i8;
        let flags = self.take(1)?;
        if flags > 63 {
            return Err(StateError::Invalid { what: "flag" });
        }
        let flag = |bit: u32| flags >> bit & 1 == 1;
        let task = match self.take(1)? {
            0 => Task::Stand(None),
            1 => Task::Stand(Some(self.errand(ground)?)),
            2 => Task::Go(self.errand(ground)?),
            _ => return Err(StateError::Invalid { what: "task" }),
        };
        let post = self.point("post")?;
        let aim = if flag(3) { Some(self.point("aim")?) } else { None };
        let beyond = self.length("path", Fx::MAX)?;
        let best = self.length("path", Fx::MAX)?;
        let (setbacks, trades) = (self.take(1)? as u8, self.take(1)? as u8);
        let [stalled_ms, off_ms] = [self.take(4)?, self.take(4)?].map(|ms| ms as u32);
        Ok(Mover {
            def: MoverDef { speed, acceleration },
            size,
            rank,
            pushes: flag(0),
            task,
            is_told: flag(1),
            post,
            aim,
            beyond,
            beside: Fx::ZERO,
            straight: 0,
            is_around: false,
            is_new: flag(5),
            is_closed: false,
            to_go: Fx::ZERO,
            best,
            setbacks,
            trades,
            is_back: flag(2),
            is_straight: flag(4),
            stalled_ms,
            off_ms,
        })
    }
}
