//! The fields in use: units that go to the same goal share one.

use alloc::vec::Vec;
use core::fmt;

use testudo_physics::Vec2;

use crate::flow::field::Field;
use crate::flow::plan::{Sectors, corridor};
use crate::flow::tiles::Tiles;
use crate::flow::way::Way;
use crate::ground::{Cell, CellRect, Changes, Ground, SIZES_MAX, SizeClass};

/// Greatest number of fields of one [`Flows`].
pub const FIELDS_MAX: u32 = 1_024;

/// Fields are searched over the whole ground up to this many cells, unless [`Flows::whole_up_to`] says otherwise: 512 x 512.
pub(crate) const WHOLE_UP_TO: u32 = 1 << 18;

/// A goal at most this many tiles away is searched for in all directions, on both axes.
const NEAR: i32 = 3;

/// Greatest number of paths that are planned from tile to tile in a frame.
const PLANS_MAX: u32 = 8;

/// What came of the wish to use a field at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// The field leads there, or will.
    Open,
    /// Too many asked in this frame.
    Later,
    /// No path leads to the goal.
    Closed,
}

/// Names a field. It stays valid as long as the field is used in each frame; a stale one is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    pub(crate) index: u16,
    pub(crate) goal: Cell,
    pub(crate) size: SizeClass,
}

/// Why there is no flow to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlowError {
    /// No open cell is near the goal.
    NoGround {
        /// The goal.
        goal: Vec2,
    },
    /// All fields are in use.
    TooMany {
        /// How many there may be.
        max: u32,
    },
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGround { goal } => {
                write!(f, "no open ground within 32 cells of ({}, {})", goal.x, goal.y)
            }
            Self::TooMany { max } => write!(f, "all {max} fields are in use"),
        }
    }
}

impl core::error::Error for FlowError {}

/// Flow fields, one for each goal and size of units, in a bounded number of places.
///
/// A field that nobody used in this frame and the one before gives its place to a new one, the longest unused first. The searches are spread
/// over frames by counted cells. What a field says is a pure function of the ground, the goal, the size and of how far its search has come.
///
/// On large ground a field covers corridors from those who asked to the goal, planned from tile to tile over portals (Botea, Mueller and Schaeffer,
/// "Near Optimal Hierarchical Path-Finding", 2004). Which tiles they cover is then a part of what the field depends on.
#[derive(Clone, Debug)]
pub struct Flows {
    pub(crate) fields: Vec<Used>,
    pub(crate) max: u32,
    pub(crate) frame: u64,
    whole_up_to: u32,
    /// By size.
    // not state: a pure function of the ground
    sectors: [Sectors; SIZES_MAX as usize],
    /// How many paths may still be planned in this frame.
    // not state: the greatest number between two frames
    plans_left: u32,
}

/// A field and its users.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    pub(crate) field: Field,
    /// The frame in which it was used last.
    pub(crate) last: u64,
    /// Whether somebody in this frame stands where the search has not come yet.
    // not state: false between two frames
    pub(crate) wanted: bool,
}

impl Flows {
    /// No fields; at most `max` at a time, 1..=[`FIELDS_MAX`] (values outside count as the nearest one). A field takes four bytes per cell and
    /// some more while it is searched.
    #[must_use]
    pub fn new(max: u32) -> Self {
        Self {
            fields: Vec::new(),
            max: max.clamp(1, FIELDS_MAX),
            frame: 0,
            whole_up_to: WHOLE_UP_TO,
            sectors: Default::default(),
            plans_left: PLANS_MAX,
        }
    }

    /// On ground with more cells than this, a field covers only corridors to its goal. Default 2^18 (512 x 512).
    #[must_use]
    pub fn whole_up_to(self, cells: u32) -> Self {
        Self { whole_up_to: cells, ..self }
    }

    /// Whether fields cover the whole ground from the start.
    pub(crate) fn are_whole(&self, ground: &Ground) -> bool {
        ground.columns() * ground.rows() <= self.whole_up_to
    }

    /// The field to a goal; a new one if nobody goes there yet. If the goal is closed, it is the field to the nearest open cell.
    ///
    /// # Errors
    /// [`FlowError`]: no open ground near the goal, or too many goals.
    pub fn to(&mut self, ground: &Ground, goal: Vec2, size: SizeClass) -> Result<FlowId, FlowError> {
        let cell = ground.nearest_open_cell(goal, size).ok_or(FlowError::NoGround { goal })?;
        let known = self.fields.iter().position(|used| used.field.goal == cell && used.field.size == size);
        if let Some(index) = known {
            self.fields[index].last = self.frame;
            return Ok(FlowId { index: index as u16, goal: cell, size });
        }
        let is_whole = self.are_whole(ground);
        let index = if self.fields.len() < self.max as usize {
            let field = Field::new(ground, cell, size, is_whole);
            self.fields.push(Used { field, last: self.frame, wanted: false });
            self.fields.len() - 1
        } else {
            let unused =
                self.fields.iter().enumerate().filter(|(_, used)| used.last.wrapping_add(1) < self.frame);
            let oldest = unused.min_by_key(|(index, used)| (used.last, *index));
            let (index, _) = oldest.ok_or(FlowError::TooMany { max: self.max })?;
            let used = &mut self.fields[index];
            (used.last, used.wanted) = (self.frame, false);
            used.field.begin(ground, cell, size, is_whole);
            index
        };
        Ok(FlowId { index: index as u16, goal: cell, size })
    }

    /// The way from a position, and the note that the field is in use. [`Way::Unknown`] for a stale name. `careful`: from anchor to anchor, for a
    /// unit that hangs at a corner.
    pub fn follow(&mut self, ground: &Ground, id: FlowId, position: Vec2, careful: bool) -> Way {
        let Some(used) = self.fields.get_mut(usize::from(id.index)).filter(|used| used.is(id)) else {
            return Way::Unknown;
        };
        used.last = self.frame;
        let way =
            if careful { used.field.careful_way(ground, position) } else { used.field.way(ground, position) };
        if way != Way::Unknown {
            return way;
        }
        used.wanted = true;
        match self.open(ground, id, position) {
            Opening::Closed => Way::Closed,
            Opening::Open | Opening::Later => way,
        }
    }

    /// As [`Flows::follow`], for a unit whose path may not have been planned yet.
    pub(crate) fn seek(
        &mut self,
        ground: &Ground,
        id: FlowId,
        position: Vec2,
        careful: bool,
        is_new: &mut bool,
    ) -> Way {
        *is_new = *is_new && self.open(ground, id, position) == Opening::Later;
        if *is_new {
            self.keep(id);
            return Way::Unknown;
        }
        self.follow(ground, id, position, careful)
    }

    /// Lets a field grow towards a position, if it does not lead there: around a goal that is near, else along a path from tile to tile.
    fn open(&mut self, ground: &Ground, id: FlowId, position: Vec2) -> Opening {
        let used = self.fields.get_mut(usize::from(id.index)).filter(|used| used.is(id));
        let Some(field) = used.map(|used| &mut used.field).filter(|field| !field.is_whole()) else {
            return Opening::Open;
        };
        let Some(start) = ground.nearest_open_cell(position, field.size) else { return Opening::Closed };
        let tile = ground.grid.tile(ground.grid.split(start));
        // The search is over, and has not come here.
        let is_missing = field.is_complete() && field.distance(start).is_none();
        if field.sees_goal(start) || field.bounds().1.contains(tile) && !is_missing {
            return Opening::Open;
        }
        if self.plans_left == 0 {
            return Opening::Later;
        }
        let [columns, rows] = ground.grid.tiles();
        let ends = [start, field.goal].map(|cell| ground.grid.split(cell).map(|at| at / crate::ground::TILE));
        let away = [0, 1].map(|axis| (ends[1][axis] - ends[0][axis]).abs());
        let steps = away[0].max(away[1]);
        let tiles = if steps <= NEAR && !is_missing {
            let mut tiles = Tiles::none((columns * rows).unsigned_abs());
            let around = CellRect { min: ends[1], max: ends[1] }.grown(steps + 2);
            let exists = |at: &[i32; 2]| (0..columns).contains(&at[0]) && (0..rows).contains(&at[1]);
            around
                .cells()
                .filter(exists)
                .for_each(|[x, y]| _ = tiles.insert((y * columns + x).unsigned_abs()));
            tiles
        } else {
            let sectors = &mut self.sectors[usize::from(field.size.0)];
            let Some(path) = sectors.path(ground, field.size, start, field.goal) else {
                return Opening::Closed;
            };
            path.iter().for_each(|&cell| field.plan(ground.grid.tile(ground.grid.split(cell))));
            corridor(ground, field.size, &path)
        };
        self.plans_left -= 1;
        field.plan(tile);
        let is_new = field.allow(ground, &tiles);
        if is_missing && !is_new {
            // Tiles and cells always agree about paths; should they not, the whole ground decides.
            field.allow(ground, &Tiles::all(tiles.total()));
        }
        Opening::Open
    }

    /// Notes that a field is in use.
    pub fn keep(&mut self, id: FlowId) {
        if let Some(used) = self.fields.get_mut(usize::from(id.index)).filter(|used| used.is(id)) {
            used.last = self.frame;
        }
    }

    /// Like [`Flows::follow`], but only looks.
    #[must_use]
    pub fn way(&self, ground: &Ground, id: FlowId, position: Vec2) -> Way {
        let used = self.fields.get(usize::from(id.index)).filter(|used| used.is(id));
        used.map_or(Way::Unknown, |used| used.field.way(ground, position))
    }

    /// Whether a name still means its field.
    #[must_use]
    pub fn is_live(&self, id: FlowId) -> bool {
        self.fields.get(usize::from(id.index)).is_some_and(|used| used.is(id))
    }

    /// Whether the search of a field is over; true for a stale name.
    #[must_use]
    pub fn is_complete(&self, id: FlowId) -> bool {
        let used = self.fields.get(usize::from(id.index)).filter(|used| used.is(id));
        used.is_none_or(|used| used.field.is_complete())
    }

    /// Number of frames so far.
    pub(crate) fn frame(&self) -> u64 {
        self.frame
    }

    /// Ends a frame: continues the searches that somebody waits for, in the order of their places, until about `budget` cells have their
    /// distances (the last wave of cells is finished). Returns how many it were.
    pub fn search(&mut self, ground: &Ground, budget: u32) -> u32 {
        let mut found = 0;
        for used in &mut self.fields {
            if used.wanted && found < budget {
                found += used.field.search(ground, budget - found);
            }
            used.wanted = false;
        }
        self.frame = self.frame.wrapping_add(1);
        self.plans_left = PLANS_MAX;
        found
    }

    /// Searches one field to its end over the whole ground, whatever it costs.
    pub fn search_all(&mut self, ground: &Ground, id: FlowId) {
        let used = self.fields.get_mut(usize::from(id.index)).filter(|used| used.is(id));
        if let Some(used) = used {
            let [columns, rows] = ground.grid.tiles();
            used.field.allow(ground, &Tiles::all((columns * rows).unsigned_abs()));
            used.field.search(ground, u32::MAX);
        }
    }

    /// Forgets what a change of the ground makes wrong.
    pub(crate) fn forget(&mut self, ground: &Ground, changes: &Changes) {
        for (sectors, changed) in self.sectors.iter_mut().zip(changes) {
            changed.iter().for_each(|&changed| sectors.forget(ground, changed));
        }
        for used in &mut self.fields {
            if let Some(changed) = changes[usize::from(used.field.size.0)] {
                used.field.forget(ground, changed);
            }
        }
    }
}

impl Used {
    fn is(&self, id: FlowId) -> bool {
        self.field.goal == id.goal && self.field.size == id.size
    }
}
