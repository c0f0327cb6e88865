//! The state of a crowd: one walk that saves and loads it. What is not in it follows from it and from the world.

mod digest;
mod read;
mod write;

use alloc::vec::Vec;
use core::fmt;

use testudo_physics::{BodyId, FPS_MAX, World};

use crate::crowd::leg::debt_max;
use crate::crowd::{Clock, Crowd, CrowdDef, CrowdError, Task, Walker};
use crate::flow::{Ends, Field, Turn, Used};
pub(crate) use digest::{CHANGED, GONE};
use read::Reader;
pub use write::CrowdNumber;
use write::{Bytes, Names};

/// Names the bits of movement: it grows by one with any change after which the same start and the same orders give another state.
pub const MOVEMENT_VERSION: u32 = 24;

/// Why a saved crowd was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The definition is wrong.
    Definition(CrowdError),
    /// It was saved by another version.
    Version {
        /// That version.
        found: u32,
    },
    /// It was saved by a crowd that was made with another definition.
    OtherDefinition,
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
            Self::Definition(error) => error.fmt(f),
            Self::Version { found } => {
                write!(f, "saved by version {found} of movement, this is version {MOVEMENT_VERSION}")
            }
            Self::OtherDefinition => {
                write!(f, "saved by a crowd with another definition: its ground or another setting differs")
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
        let mut bytes = Bytes::new(out);
        self.write(&mut bytes);
        bytes.end();
    }

    /// Names every number of the state, in the order in which they are saved: for reports of what differs between two peers.
    pub fn visit_numbers(&self, each: &mut dyn FnMut(CrowdNumber)) {
        self.write(&mut Names::new(each));
    }

    /// A crowd as it was saved, with the definition that it was made with and the world of the same moment. The ground is surveyed, and the fields are searched
    /// as far as they were: this takes as long as that took. Another definition is refused. Untrusted bytes are welcome: every number is checked. (A crowd goes
    /// on with the same bits only if its ground knew the obstacles of that world: survey what is built or removed in the same frame.) Events are empty
    /// afterwards.
    ///
    /// # Errors
    /// [`StateError`] names what is wrong.
    pub fn load(def: &CrowdDef, world: &World, bytes: &[u8]) -> Result<Self, StateError> {
        let mut crowd = Self::new(def).map_err(StateError::Definition)?;
        let mut numbers = Reader(bytes);
        let found = numbers.take(4)? as u32;
        if found != MOVEMENT_VERSION {
            return Err(StateError::Version { found });
        }
        if numbers.take(8)? as u64 != crowd.settings.definition {
            return Err(StateError::OtherDefinition);
        }
        crowd.is_surveyed = numbers.flag()?;
        crowd.orders = numbers.take(4)? as u32;
        crowd.flows.frame = numbers.take(8)? as u64;
        crowd.paths_debt = numbers.take(4)? as u32;
        if crowd.paths_debt > debt_max(def.cells_per_frame) {
            return Err(StateError::Invalid { what: "debt of paths" });
        }
        let (now, remainder) = (numbers.take(8)? as u64, (numbers.take(2)? as u32, numbers.take(2)? as u32));
        let clock = Clock::restored(now, remainder).filter(|_| remainder.1 <= FPS_MAX);
        crowd.clock = clock.ok_or(StateError::Invalid { what: "clock" })?;
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
        for _ in 0..numbers.take(4)? as u32 {
            crowd.replaced.push(BodyId::from_bits(numbers.take(8)? as u64));
        }
        let movers = numbers.take(4)? as u32;
        for _ in 0..movers {
            let walker = numbers.walker()?;
            let before = crowd.walkers.last().map(|walker| walker.body.index());
            if before.is_some_and(|before| before >= walker.body.index()) {
                return Err(StateError::Invalid { what: "order of units" });
            }
            let mut mover = numbers.mover(&crowd.ground, walker.acceleration)?;
            if i64::from(walker.sight.radius) > crowd.ground.radius(mover.size).to_bits() {
                return Err(StateError::Invalid { what: "radius" });
            }
            if matches!(mover.task, Task::Pursue(pursuit) if pursuit.prey == walker.body) {
                return Err(StateError::Invalid { what: "prey" });
            }
            if let Task::Go(errand) = mover.task {
                mover.beside = crowd.ground.anchor(errand.flow.goal).distance(mover.post);
            }
            crowd.hashes.push(CHANGED);
            crowd.walkers.push(Walker { stalled_ms: mover.stalled_ms(), ..walker });
            crowd.movers.push(mover);
        }
        crowd.finder.fill(&crowd.walkers);
        if numbers.0.is_empty() { Ok(crowd) } else { Err(StateError::Length) }
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
        let until = numbers.take(8)? as u64;
        if until > self.flows.frame.saturating_add(u64::from(FPS_MAX / 2)) {
            return Err(StateError::Invalid { what: "field" });
        }
        field.search_to(&self.ground, level, is_complete);
        if (field.level(), field.is_complete()) != (level, is_complete) {
            return Err(StateError::Invalid { what: "level of a field" });
        }
        Ok(Used::new(field, until))
    }

    /// The path that is being planned: searched again as far as it was.
    fn load_plan(&mut self, numbers: &mut Reader<'_>) -> Result<(), StateError> {
        self.flows.turn = numbers.take(2)? as u16;
        let (place, was_first, has_changed) = (numbers.take(2)? as u16, numbers.flag()?, numbers.flag()?);
        self.flows.searched = Turn { place, was_first, has_changed };
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
