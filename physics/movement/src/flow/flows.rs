//! The fields in use: units that go to the same goal share one.

use alloc::vec::Vec;
use core::fmt;

use testudo_physics::Vec2;

use crate::flow::field::Field;
use crate::flow::way::Way;
use crate::ground::{Cell, Changes, Ground, SizeClass};

/// Greatest number of fields of one [`Flows`].
pub const FIELDS_MAX: u32 = 1_024;

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
#[derive(Clone, Debug)]
pub struct Flows {
    pub(crate) fields: Vec<Used>,
    pub(crate) max: u32,
    pub(crate) frame: u64,
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
        Self { fields: Vec::new(), max: max.clamp(1, FIELDS_MAX), frame: 0 }
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
        let index = if self.fields.len() < self.max as usize {
            let field = Field::new(ground, cell, size);
            self.fields.push(Used { field, last: self.frame, wanted: false });
            self.fields.len() - 1
        } else {
            let unused =
                self.fields.iter().enumerate().filter(|(_, used)| used.last.wrapping_add(1) < self.frame);
            let oldest = unused.min_by_key(|(index, used)| (used.last, *index));
            let (index, _) = oldest.ok_or(FlowError::TooMany { max: self.max })?;
            let used = &mut self.fields[index];
            (used.last, used.wanted) = (self.frame, false);
            used.field.begin(ground, cell, size);
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
        used.wanted |= way == Way::Unknown;
        way
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
        found
    }

    /// Searches one field to its end, whatever it costs.
    pub fn search_all(&mut self, ground: &Ground, id: FlowId) {
        let used = self.fields.get_mut(usize::from(id.index)).filter(|used| used.is(id));
        if let Some(used) = used {
            used.field.search(ground, u32::MAX);
        }
    }

    /// Forgets what a change of the ground makes wrong.
    pub(crate) fn forget(&mut self, ground: &Ground, changes: &Changes) {
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
