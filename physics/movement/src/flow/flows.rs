//! The fields in use: units that go to the same goal share one.

use alloc::vec::Vec;

use testudo_physics::{Aabb, Fx, Vec2};

use crate::flow::field::Field;
use crate::flow::flow_error::{FIELDS_MAX, FlowError};
use crate::flow::plan::{BEGIN, Ends, Plan, corridor};
use crate::flow::repair::REPAIR_MAX;
use crate::flow::sectors::{Sectors, tile_of};
use crate::flow::tiles::Tiles;
use crate::flow::turn::{SCATTER, Turn};
use crate::flow::way::{Way, to_units};
use crate::ground::{Cell, CellRect, Changes, Ground, SIZES_MAX, SizeClass};

/// Fields are searched over the whole ground up to this many cells, unless [`Flows::whole_up_to`] says otherwise: 512 x 512.
pub(crate) const WHOLE_UP_TO: u32 = 1 << 18;

/// A goal at most this many tiles away is searched for in all directions, on both axes.
const NEAR: i32 = 3;

/// The place of a field that is not there yet.
pub(crate) const NO_FIELD: u16 = u16::MAX;

/// The same for a unit that goes to a goal of its own, and needs none as long as a single path is enough.
pub(crate) const ALONE: u16 = u16::MAX - 1;

/// The same for a unit whose search for a single path has failed.
pub(crate) const ONLY_FIELD: u16 = u16::MAX - 2;

/// Positions are at most so far from the middle on each axis, units.
const FAR: Fx = Fx::const_from_int(1 << 40);

/// So many units may ask for a path in a frame, one of each field if its goal is far and can be reached; the others ask again.
const ASKS_MAX: u32 = 32;

/// What came of the wish to use a field at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// The field leads there, or will.
    Open,
    /// Its path is still to be planned, or too many asked in this frame.
    Later,
    /// No path leads to the goal.
    Closed,
}

/// Names a field. It stays valid as long as the field is used in each frame or kept; a stale one is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    pub(crate) index: u16,
    pub(crate) goal: Cell,
    pub(crate) size: SizeClass,
}

/// Flow fields, one for each goal and size of units, in a bounded number of places.
///
/// A field that nobody used in this frame and the one before, and for which nobody said that it is in use for longer ([`Flows::keep`]), gives its place to a
/// new one, the longest unused first. The searches are spread
/// over frames by counted cells. What a field says is a pure function of the ground, the goal, the size and of how far its search has come.
///
/// On large ground a field covers corridors from the units that asked to the goal, planned from tile to tile over portals (Botea, Mueller and Schaeffer, "Near
/// Optimal Hierarchical Path-Finding", 2004). Which tiles they cover is then a part of what the field depends on. One path is planned at a time, spread over
/// frames by counted portals; fields take turns.
#[derive(Clone, Debug)]
pub struct Flows {
    pub(crate) fields: Vec<Used>,
    pub(crate) max: u32,
    pub(crate) frame: u64,
    whole_up_to: u32,
    /// By size.
    // not state: a pure function of the ground
    sectors: [Sectors; SIZES_MAX as usize],
    /// The path that is being planned.
    pub(crate) plan: Option<Plan>,
    /// The field for which a path was planned last.
    pub(crate) turn: u16,
    pub(crate) searched: Turn,
    /// How many may still ask in this frame.
    // not state: the greatest number between two frames
    asks_left: u32,
}

/// The nearest position from which lengths can be computed.
fn held(position: Vec2) -> Vec2 {
    let part = |at: Fx| at.clamp(-FAR, FAR);
    Vec2::new(part(position.x), part(position.y))
}

/// A field and its users.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    pub(crate) field: Field,
    /// The frame in which it was used last, or will be at the latest.
    pub(crate) until: u64,
    /// Whether somebody in this frame stands where the search has not come yet.
    // not state: false between two frames
    pub(crate) wanted: bool,
    /// The first cell of this frame from which a path is to be planned.
    // not state: `None` between two frames
    asks: Option<Cell>,
}

impl Flows {
    /// No fields; at most `max` at a time, 1..=[`FIELDS_MAX`]. A field takes four bytes per cell and some more while it is searched.
    ///
    /// # Errors
    /// [`FlowError::FieldsMax`] if `max` is out of its range.
    pub fn new(max: u32) -> Result<Self, FlowError> {
        if !(1..=FIELDS_MAX).contains(&max) {
            return Err(FlowError::FieldsMax { value: max });
        }
        Ok(Self {
            fields: Vec::new(),
            max,
            frame: 0,
            whole_up_to: WHOLE_UP_TO,
            sectors: Default::default(),
            plan: None,
            turn: 0,
            searched: Turn::default(),
            asks_left: ASKS_MAX,
        })
    }

    /// Finds all portals of the ground, where they are needed: planning then costs the same in every frame.
    pub(crate) fn prepare(&mut self, ground: &Ground) {
        if !self.are_whole(ground) {
            let sizes = (0..).zip(&mut self.sectors).take(ground.sizes.len());
            sizes.for_each(|(size, sectors)| sectors.prepare(ground, SizeClass(size)));
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

    /// The field to a goal's cell, if there is one.
    pub(crate) fn known(&self, goal: Cell, size: SizeClass) -> Option<FlowId> {
        let index = self.fields.iter().position(|used| used.field.goal == goal && used.field.size == size)?;
        Some(FlowId { index: index as u16, goal, size })
    }

    /// The field to a goal; a new one if nobody goes there yet. If the goal is closed, it is the field to the nearest open cell.
    ///
    /// # Errors
    /// [`FlowError`]: no open ground near the goal, or too many goals.
    pub fn to(&mut self, ground: &Ground, goal: Vec2, size: SizeClass) -> Result<FlowId, FlowError> {
        let frame = self.frame;
        self.claim(ground, goal, size, |_, until| until.wrapping_add(1) < frame)
    }

    /// As [`Flows::to`]. `may_go`: whether another field can be given up for it, by its name and the frame in which it was used last, or will be.
    pub(crate) fn claim(
        &mut self,
        ground: &Ground,
        goal: Vec2,
        size: SizeClass,
        may_go: impl Fn(FlowId, u64) -> bool,
    ) -> Result<FlowId, FlowError> {
        let cell = ground.nearest_open_cell(goal, size).ok_or(FlowError::NoGround { goal })?;
        if let Some(known) = self.known(cell, size) {
            self.keep(known, 0);
            return Ok(known);
        }
        let is_whole = self.are_whole(ground);
        if !is_whole {
            self.sectors[usize::from(size.0)].prepare(ground, size);
        }
        let index = if self.fields.len() < self.max as usize {
            let field = Field::new(ground, cell, size, is_whole);
            self.fields.push(Used::new(field, self.frame));
            self.fields.len() - 1
        } else {
            let unused = self.fields.iter().enumerate().filter(|&(index, used)| {
                let Field { goal, size, .. } = used.field;
                may_go(FlowId { index: index as u16, goal, size }, used.until)
            });
            let oldest = unused.min_by_key(|(index, used)| (used.until, *index));
            let (index, _) = oldest.ok_or(FlowError::TooMany { max: self.max })?;
            let used = &mut self.fields[index];
            (used.until, used.wanted, used.asks) = (self.frame, false, None);
            used.field.begin(ground, cell, size, is_whole);
            self.plan.take_if(|plan| usize::from(plan.index) == index);
            index
        };
        Ok(FlowId { index: index as u16, goal: cell, size })
    }

    /// The way from a position, and the note that the field is in use. [`Way::Unknown`] for a stale name. `careful`: from anchor to anchor, for a
    /// unit that hangs at a corner. A position further than 2^40 units from the middle on an axis counts as one there.
    pub fn follow(&mut self, ground: &Ground, id: FlowId, position: Vec2, careful: bool) -> Way {
        let Some(used) = self.fields.get_mut(usize::from(id.index)).filter(|used| used.is(id)) else {
            return Way::Unknown;
        };
        used.until = used.until.max(self.frame);
        let position = held(position);
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

    /// A unit waits for its way between two thoughts: the search goes on in each frame, however many frames a second has.
    pub(crate) fn wait(&mut self, ground: &Ground, id: FlowId, position: Vec2) {
        let Some(used) = self.fields.get(usize::from(id.index)).filter(|used| used.is(id)) else { return };
        let is_planned = self.plan.as_ref().is_some_and(|plan| plan.index == id.index);
        let asks_no_more = is_planned || used.asks.is_some() || self.asks_left == 0 || used.field.is_whole();
        let has_asked = used.wanted && asks_no_more;
        // Where the search has come, nothing is left to wait for but the unit's next thought.
        if !has_asked && used.field.distance(ground.grid.cell_at(held(position))).is_none() {
            self.follow(ground, id, position, false);
        }
    }

    /// As [`Flows::follow`], for a unit whose path may not have been planned yet: it asks for it, and meanwhile follows what the field knows already.
    pub(crate) fn seek(
        &mut self,
        ground: &Ground,
        id: FlowId,
        position: Vec2,
        careful: bool,
        is_new: &mut bool,
    ) -> Way {
        *is_new = *is_new && self.open(ground, id, position) == Opening::Later;
        self.follow(ground, id, position, careful)
    }

    /// Lets a field grow towards a position, if it does not lead there: around a goal that is near, else along a path from tile to tile, which
    /// is planned later.
    fn open(&mut self, ground: &Ground, id: FlowId, position: Vec2) -> Opening {
        let used = self.fields.get_mut(usize::from(id.index)).filter(|used| used.is(id));
        let Some(used) = used.filter(|used| !used.field.is_whole()) else { return Opening::Open };
        let field = &mut used.field;
        let Some(start) = ground.nearest_open_cell(position, field.size) else { return Opening::Closed };
        let tile = tile_of(ground, start);
        // The search is over, and has not come here.
        let is_missing = field.is_complete() && field.distance(start).is_none();
        if field.sees_goal(start) || field.bounds().1.contains(tile) && !is_missing {
            return Opening::Open;
        }
        let plan = self.plan.as_ref().filter(|plan| plan.index == id.index);
        let is_planned = plan.is_some_and(|plan| tile_of(ground, plan.start) == tile);
        let ends = [start, field.goal].map(|cell| ground.grid.split(cell).map(|at| at / crate::ground::TILE));
        let away = [0, 1].map(|axis| (ends[1][axis] - ends[0][axis]).abs());
        let steps = away[0].max(away[1]);
        let is_near = steps <= NEAR && !is_missing;
        // One path is planned at a time. If all who want one paid, the units of one field could keep all others from asking.
        let is_asked = !is_near && used.asks.is_some();
        if is_planned || is_asked || self.asks_left == 0 {
            return Opening::Later;
        }
        self.asks_left -= 1;
        if is_near {
            field.plan(tile);
            field.allow(ground, &around(ground, ends[1], steps + 2));
            return Opening::Open;
        }
        let sectors = &self.sectors[usize::from(field.size.0)];
        let ends = Ends { start, goal: field.goal, size: field.size };
        if !ends.are_connected(sectors, ground) {
            return Opening::Closed;
        }
        used.asks = Some(start);
        Opening::Later
    }

    /// Plans paths until about `budget` portals were looked at. Returns how many it were.
    fn plan_paths(&mut self, ground: &Ground, budget: u32) -> u32 {
        let mut looked = 0;
        // A field that covers everything by now needs no more paths.
        let fields = &self.fields;
        self.plan.take_if(|plan| fields[usize::from(plan.index)].field.is_whole());
        while looked < budget {
            let is_new = self.plan.is_none();
            let Some(mut plan) = self.plan.take().or_else(|| self.next_plan(ground)) else { break };
            looked += if is_new { BEGIN } else { 0 };
            let sectors = &mut self.sectors[usize::from(plan.size.0)];
            let most = plan.share(budget).saturating_sub(looked);
            looked = looked.saturating_add(plan.search(sectors, ground, most));
            if plan.is_over() {
                self.grow(ground, &plan);
            } else {
                // Its field keeps its place as long.
                let used = &mut self.fields[usize::from(plan.index)];
                used.until = used.until.max(self.frame);
                self.plan = Some(plan);
            }
        }
        looked
    }

    /// Begins to plan a path for the next field that asked for one.
    fn next_plan(&mut self, ground: &Ground) -> Option<Plan> {
        let count = self.fields.len();
        let turn = usize::from(self.turn);
        let needs = |used: &Used| used.asks.is_some() && !used.field.is_whole();
        let next = (1..=count).map(|step| (turn + step) % count).find(|&at| needs(&self.fields[at]))?;
        let Used { field, asks, .. } = &mut self.fields[next];
        let ends = Ends { start: asks.take()?, goal: field.goal, size: field.size };
        self.turn = next as u16;
        let sectors = &mut self.sectors[usize::from(ends.size.0)];
        Some(Plan::new(sectors, ground, self.turn, ends))
    }

    /// Plans a path again as far as it was when it was saved (steps, restarts); says whether that is possible.
    pub(crate) fn resume(
        &mut self,
        ground: &Ground,
        index: u16,
        ends: Ends,
        (steps, restarts): (u32, u8),
    ) -> bool {
        let sectors = &mut self.sectors[usize::from(ends.size.0)];
        sectors.prepare(ground, ends.size);
        let mut plan = Plan::new(sectors, ground, index, ends);
        plan.restarts = restarts;
        let is_right = ends.are_connected(sectors, ground) && plan.search_to(sectors, ground, steps);
        self.plan = Some(plan);
        is_right
    }

    /// Lets a field grow along a path that was planned for it.
    fn grow(&mut self, ground: &Ground, plan: &Plan) {
        let field = &mut self.fields[usize::from(plan.index)].field;
        let is_missing = field.is_complete() && field.distance(plan.start).is_none();
        field.plan(tile_of(ground, plan.start));
        let path = plan.path(&self.sectors[usize::from(plan.size.0)]);
        let is_new = path.is_some_and(|path| {
            path.iter().for_each(|&cell| field.plan(tile_of(ground, cell)));
            field.allow(ground, &corridor(ground, plan.size, &path))
        });
        if is_missing && !is_new {
            // Tiles and cells always agree about paths; should they not, the whole ground decides.
            let total = field.bounds().0.total();
            field.allow(ground, &Tiles::all(total));
        }
    }

    /// Fields to cells that are closed now give their places to others first: nobody goes there any more.
    pub(crate) fn give_up_closed(&mut self, ground: &Ground) {
        let is_closed = |field: &Field| ground.steps(field.goal, field.size) == 0;
        self.fields.iter_mut().filter(|used| is_closed(&used.field)).for_each(|used| used.until = 0);
    }

    /// Notes that a field is in use in this frame and for so many more.
    pub fn keep(&mut self, id: FlowId, frames: u32) {
        if let Some(used) = self.fields.get_mut(usize::from(id.index)).filter(|used| used.is(id)) {
            used.until = used.until.max(self.frame.saturating_add(frames.into()));
        }
    }

    /// Frames have another length from now on (frames per second before and now): fields are kept as long as before.
    pub(crate) fn change_rate(&mut self, before: u32, now: u32) {
        if before == now || before == 0 {
            return;
        }
        for used in &mut self.fields {
            // The frame that begins is one of them.
            let frames = used.until.saturating_add(1).saturating_sub(self.frame);
            if frames > 0 {
                let frames = frames.saturating_mul(now.into()).div_ceil(before.into());
                // Whoever uses it thinks within half a second. (One long frame may become more short ones than that.)
                used.until = self.frame.saturating_add((frames - 1).min(u64::from(now / 2)));
            }
        }
    }

    /// Where a unit goes that keeps beside the path of its group, and how long its own path is. It goes as an imagined leader would, which is `beside` away
    /// from it and goes to the goal itself. So a group stays as wide as it will stand. `None` if the unit sees the goal, does not see the leader's place or the
    /// place where it would come to itself, or if that way is less than three quarters as good as its own path.
    pub(crate) fn beside(
        &self,
        ground: &Ground,
        id: FlowId,
        position: Vec2,
        beside: Vec2,
    ) -> Option<(Vec2, Fx)> {
        let field = &self.fields.get(usize::from(id.index)).filter(|used| used.is(id))?.field;
        let (leader, cell) = (position - beside, ground.grid.cell_at(position));
        let sees = |to: Vec2| ground.is_inside(to) && ground.leads(position, to, id.size);
        if field.sees_goal(cell) {
            return None;
        }
        let left = to_units(ground, field.distance(cell)?);
        if !sees(leader) {
            return None;
        }
        let to = match field.way(ground, leader) {
            // Where the unit stands in the end.
            Way::Straight { .. } => ground.anchor(id.goal) + beside,
            Way::Aim { to, .. } => {
                let to = to + beside;
                let beyond = to_units(ground, field.distance(ground.grid.cell_at(to))?);
                (beyond + position.distance(to) * 3 / 4 <= left).then_some(to)?
            }
            Way::Unknown | Way::Closed => return None,
        };
        sees(to).then_some((to, left))
    }

    /// Where a unit goes that was pushed into a pocket from which no path leads.
    pub(crate) fn way_out(&self, ground: &Ground, id: FlowId, position: Vec2) -> Option<Vec2> {
        self.fields.get(usize::from(id.index)).filter(|used| used.is(id))?.field.way_out(ground, position)
    }

    /// Length of the path from the middle of a position's cell, units; `None` where it is not known.
    pub(crate) fn left(&self, ground: &Ground, id: FlowId, position: Vec2) -> Option<Fx> {
        let field = &self.fields.get(usize::from(id.index)).filter(|used| used.is(id))?.field;
        field.distance(ground.grid.cell_at(position)).map(|distance| to_units(ground, distance))
    }

    /// Like [`Flows::follow`], but only looks.
    #[must_use]
    pub fn way(&self, ground: &Ground, id: FlowId, position: Vec2) -> Way {
        let used = self.fields.get(usize::from(id.index)).filter(|used| used.is(id));
        used.map_or(Way::Unknown, |used| used.field.way(ground, held(position)))
    }

    /// Whether a name still means its field.
    #[must_use]
    pub fn is_live(&self, id: FlowId) -> bool {
        self.fields.get(usize::from(id.index)).is_some_and(|used| used.is(id))
    }

    /// Names of all fields.
    pub(crate) fn ids(&self) -> impl Iterator<Item = FlowId> + '_ {
        let fields = (0..).zip(&self.fields);
        fields.map(|(index, used)| FlowId { index, goal: used.field.goal, size: used.field.size })
    }

    /// Becomes a copy of others over the same ground. Fields that are searched as far stay as they are.
    pub(crate) fn copy_fields(&mut self, source: &Self) {
        let Self { fields, max, frame, whole_up_to, sectors, plan, turn, searched, asks_left } = source;
        self.fields.truncate(fields.len());
        let known = self.fields.len();
        for (here, there) in self.fields.iter_mut().zip(fields) {
            if !here.field.is_as_far_as(&there.field) {
                here.field.clone_from(&there.field);
            }
            (here.until, here.wanted, here.asks) = (there.until, there.wanted, there.asks);
        }
        self.fields.extend_from_slice(&fields[known..]);
        let are_ready = |all: &[Sectors]| all.iter().map(Sectors::is_ready).collect::<Vec<_>>();
        if self.plan.is_some() || plan.is_some() || are_ready(&self.sectors) != are_ready(sectors) {
            // The search has left its marks in the sectors.
            self.sectors.clone_from(sectors);
            self.plan.clone_from(plan);
        }
        (self.max, self.frame, self.whole_up_to) = (*max, *frame, *whole_up_to);
        (self.turn, self.searched, self.asks_left) = (*turn, *searched, *asks_left);
    }

    /// Whether the search of a field is over; true for a stale name.
    #[must_use]
    pub fn is_complete(&self, id: FlowId) -> bool {
        let used = self.fields.get(usize::from(id.index)).filter(|used| used.is(id));
        used.is_none_or(|used| used.field.is_complete())
    }

    /// Whether a path is being planned from tile to tile.
    #[must_use]
    pub fn is_planning(&self) -> bool {
        self.plan.is_some()
    }

    /// 32 bits, others in each frame: who is first in it.
    pub(crate) fn scatter(&self) -> u64 {
        (self.frame as u32).wrapping_mul(SCATTER).into()
    }

    /// Ends a frame: continues the searches that somebody waits for, one after the other, until about `budget` cells have their distances (the last wave of
    /// cells is finished). Returns how many it were. It goes on where the last budget ended. While a path is planned over portals, that takes up to half of
    /// the budget; a portal counts as a cell.
    pub fn search(&mut self, ground: &Ground, budget: u32) -> u32 {
        let planned = self.plan_paths(ground, budget.div_ceil(2));
        let (budget, mut found) = (budget - planned.min(budget / 2), 0);
        let (first, count) = (self.searched.first(), self.fields.len());
        for place in (first..first + count).map(|place| place % count) {
            let used = &mut self.fields[place];
            if used.wanted && found < budget {
                found += used.field.search(ground, budget - found);
                self.searched.note(place);
            }
            (used.wanted, used.asks) = (false, None);
        }
        self.frame = self.frame.wrapping_add(1);
        self.asks_left = ASKS_MAX;
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

    /// Tells the fields that the ground has changed in and around an area: call it after [`Ground::survey_area`] and [`Ground::set_cost`] with the same area,
    /// and after [`Ground::survey`] with all of it. Fields keep what does not depend on it. If a goal is closed now, [`Flows::to`] names another field. Nothing
    /// changes if the area is empty, its `min` above its `max`. ([`Crowd`](crate::Crowd) does this by itself.)
    pub fn forget_area(&mut self, ground: &Ground, area: Aabb) {
        let changed = ground.cells_around(area);
        self.forget(ground, &[changed; SIZES_MAX as usize]);
    }

    /// Forgets what a change of the ground makes wrong.
    pub(crate) fn forget(&mut self, ground: &Ground, changes: &Changes) {
        self.searched.has_changed |= changes.iter().any(Option::is_some);
        for ((size, sectors), changed) in (0..).map(SizeClass).zip(&mut self.sectors).zip(changes) {
            let Some(changed) = *changed else { continue };
            let is_known = sectors.forget(ground, size, changed);
            let Some(plan) = self.plan.as_mut().filter(|plan| plan.size == size) else { continue };
            if !plan.ends().are_connected(sectors, ground) {
                // The unit that asked for it is told when it asks again.
                self.plan = None;
            } else if is_known {
                plan.restart(sectors, ground);
            }
        }
        let (mut left, mut others) = (REPAIR_MAX, self.fields.len() as u32);
        for used in &mut self.fields {
            if let Some(changed) = changes[usize::from(used.field.size.0)] {
                // What one does not need is for those behind it.
                let computed = used.field.follow_change(ground, changed, left / others);
                left = left.saturating_sub(computed);
            }
            others -= 1;
        }
    }
}

/// The tiles at most `steps` away from one.
fn around(ground: &Ground, tile: [i32; 2], steps: i32) -> Tiles {
    let [columns, rows] = ground.grid.tiles();
    let mut tiles = Tiles::none((columns * rows).unsigned_abs());
    let exists = |at: &[i32; 2]| (0..columns).contains(&at[0]) && (0..rows).contains(&at[1]);
    let all = CellRect { min: tile, max: tile }.grown(steps).cells().filter(exists);
    all.for_each(|[x, y]| _ = tiles.insert((y * columns + x).unsigned_abs()));
    tiles
}

impl Used {
    /// A field that was used last in a frame.
    pub(crate) fn new(field: Field, until: u64) -> Self {
        Self { field, until, wanted: false, asks: None }
    }

    fn is(&self, id: FlowId) -> bool {
        self.field.goal == id.goal && self.field.size == id.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::GroundDef;
    use testudo_physics::{BodyDef, Shape, World, WorldDef};

    /// A crowd that was saved while such a path was planned could not be loaded.
    #[test]
    fn no_path_is_planned_for_a_field_that_covers_everything_by_now() {
        let area = Aabb::from_corners(Vec2::from_ints(-190, -140), Vec2::from_ints(190, 140));
        let mut world = World::new(WorldDef::new()).unwrap();
        let wall = Shape::rect(Fx::ONE / 2, Fx::from_num(130));
        world.create_body(&BodyDef::static_body(wall)).unwrap();
        let mut ground = Ground::new(&GroundDef::new(area)).unwrap();
        ground.survey(&world);
        let mut flows = Flows::new(1).unwrap().whole_up_to(0);
        let flow = flows.to(&ground, Vec2::from_ints(180, 130), SizeClass(0)).unwrap();
        for planning in [true, false] {
            flows.follow(&ground, flow, Vec2::from_ints(-180, -130), false);
            flows.search(&ground, 60);
            assert_eq!(flows.is_planning(), planning);
            let total = flows.fields[0].field.bounds().0.total();
            flows.fields[0].field.allow(&ground, &Tiles::all(total));
        }
    }

    /// The search begins again in every frame, and ends because its share of the budget grows.
    #[test]
    fn a_path_is_planned_though_the_ground_changes_in_every_frame() {
        let mut world = World::new(WorldDef::new()).unwrap();
        let area = Aabb::from_corners(Vec2::from_ints(-190, -140), Vec2::from_ints(190, 140));
        for x in [-120, -40, 40, 120] {
            let wall = Shape::rect(Fx::ONE / 2, Fx::from_num(130));
            let place = Vec2::from_ints(x, if x % 80 == 0 { 11 } else { -11 });
            world.create_body(&BodyDef::static_body(wall).position(place)).unwrap();
        }
        let mut ground = Ground::new(&GroundDef::new(area)).unwrap();
        ground.survey(&world);
        let (from, goal) = (Vec2::from_ints(-180, -130), Vec2::from_ints(180, 130));
        let mut flows = Flows::new(1).unwrap().whole_up_to(0);
        let flow = flows.to(&ground, goal, SizeClass(0)).unwrap();
        let here = ground.grid.place(from);
        let mut changes: Changes = Default::default();
        changes[0] = Some(CellRect { min: here, max: here });
        let mut frames = 0;
        while flows.follow(&ground, flow, from, false) == Way::Unknown && (frames == 0 || flows.is_planning())
        {
            flows.search(&ground, 60);
            flows.forget(&ground, &changes);
            frames += 1;
            assert!(frames < 100, "it is planned for ever");
        }
        let is_allowed =
            |at: Vec2| flows.fields[0].field.bounds().0.contains(tile_of(&ground, ground.grid.cell_at(at)));
        assert!(frames > 4 && is_allowed(from) && is_allowed(goal), "{frames}");
    }
}
