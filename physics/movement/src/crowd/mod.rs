//! A crowd: units with orders, moved frame by frame.

mod around;
mod clock;
mod copy;
mod decide;
mod def;
mod finder;
mod leg;
mod mover;
mod order;
mod progress;
mod pursue;
mod state;
mod step;
mod trade;
mod walker;
mod wish;

use alloc::vec::Vec;

use testudo_physics::{Aabb, BodyId, BodyKind, Fx, Vec2, World};

use crate::flow::{Flows, PathSearch, WHOLE_UP_TO};
use crate::ground::{Ground, GroundDef, GroundError};
use crate::steer::Squares;

use around::Pack;
pub(crate) use clock::Clock;
pub use def::{CrowdError, GIVE_UP_MS, MoveError, MoveEvent, MoverDef, Order};
use finder::Finder;
pub(crate) use mover::{Errand, Mover, Pursuit, Task};
pub(crate) use progress::Progress;
use state::{CHANGED, GONE};
pub use state::{CrowdNumber, MOVEMENT_VERSION, StateError};
use step::Active;
pub(crate) use walker::Walker;

/// The settings of a crowd.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct CrowdDef {
    pub(crate) ground: GroundDef,
    pub(crate) fields_max: u32,
    pub(crate) cells_per_frame: u32,
    pub(crate) whole_up_to: u32,
    pub(crate) slows: bool,
}

impl CrowdDef {
    /// 64 fields, 16,384 searched cells per frame, corridors on ground above 2^18 cells.
    pub fn new(ground: GroundDef) -> Self {
        Self { ground, fields_max: 64, cells_per_frame: 16_384, whole_up_to: WHOLE_UP_TO, slows: false }
    }

    /// Greatest number of fields at a time, 1..=1,024: goals that several units share. Single units, and those for whom there is none, find paths without. A
    /// field takes four bytes per cell of the ground.
    pub fn fields_max(self, fields_max: u32) -> Self {
        Self { fields_max, ..self }
    }

    /// How many cells all fields together find in a frame, at least 1. The last wave of cells is finished, so it may be some more. Paths of units without a
    /// field have as many, each cell of theirs counting as eight, and leave half to the fields. One such search takes a quarter as many of its cells at most,
    /// or as many while all fields are in use; what is too much is missing in the next frames.
    pub fn cells_per_frame(self, cells_per_frame: u32) -> Self {
        Self { cells_per_frame, ..self }
    }

    /// On ground with more cells than this, fields cover only corridors to their goals, see [`Flows::whole_up_to`].
    pub fn whole_up_to(self, cells: u32) -> Self {
        Self { whole_up_to: cells, ..self }
    }

    /// Whether ground of a cost slows the units on it, to one part in so many of their speed. Default no: it makes paths longer and nothing else.
    pub fn slow_ground(self, slows: bool) -> Self {
        Self { slows, ..self }
    }
}

/// What a crowd keeps of its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) cells_per_frame: u32,
    pub(crate) slows: bool,
    /// A hash of all of it.
    pub(crate) definition: u64,
}

impl Settings {
    fn of(def: &CrowdDef) -> Self {
        Self { cells_per_frame: def.cells_per_frame, slows: def.slows, definition: def.digest() }
    }
}

/// Units that find their way: the ground, the fields to their goals, and what each unit is about.
///
/// In each frame [`Crowd::step`] tells the bodies their velocities, and then the world makes its step. The order of calls decides the bits, as in the
/// physics. While units are jammed, some of them have a rank (dominance) one above that which they had when they were added. All of it is state
/// ([`Crowd::save`], [`Crowd::checksum`]) or follows from the state, but for the list of events.
#[derive(Debug)]
pub struct Crowd {
    pub(crate) ground: Ground,
    pub(crate) flows: Flows,
    // not state: memory of searches
    paths: PathSearch,
    /// How many cells the paths of units without a field may still take in this frame.
    // not state: set in every step before it is read
    paths_left: u32,
    /// What pursuers tell each other.
    // not state: set in every step before it is read
    pack: Pack,
    /// Its time.
    pub(crate) clock: Clock,
    /// How many cells they have taken too much; that many fewer are left in the frames to come.
    pub(crate) paths_debt: u32,
    pub(crate) settings: Settings,
    /// Whether it has looked at all obstacles of the world.
    pub(crate) is_surveyed: bool,
    /// In ascending order of their bodies' slots.
    pub(crate) walkers: Vec<Walker>,
    /// In the same order.
    pub(crate) movers: Vec<Mover>,
    /// Hashes of both, see `state/digest.rs`.
    // not state: follows from the units
    pub(crate) hashes: Vec<u64>,
    /// How many of them are gone, and only take a place.
    // not state: those that are gone are not saved
    pub(crate) gone: u32,
    /// Units that the next step reports as gone, because another unit has taken the slot of their body.
    pub(crate) replaced: Vec<BodyId>,
    // not state: follows from the walkers
    pub(crate) finder: Finder,
    /// Number of orders so far.
    pub(crate) orders: u32,
    // not state: empty in a crowd that was loaded
    pub(crate) events: Vec<MoveEvent>,
    // not state: filled in every step before it is read
    pub(crate) squares: Squares,
    /// Who does what in this frame.
    // not state: as above
    active: Active,
}

impl Crowd {
    /// A crowd without units; call [`Crowd::survey`] when the world has its walls, also if there are none. Before that it takes no orders.
    ///
    /// # Errors
    /// [`CrowdError`] names what is wrong in the definition.
    pub fn new(def: &CrowdDef) -> Result<Self, CrowdError> {
        if def.cells_per_frame == 0 {
            return Err(CrowdError::CellsPerFrame);
        }
        Ok(Self {
            ground: Ground::new(&def.ground)?,
            flows: Flows::new(def.fields_max)?.whole_up_to(def.whole_up_to),
            paths: PathSearch::default(),
            paths_left: 0,
            pack: Pack::default(),
            clock: Clock::new(),
            paths_debt: 0,
            settings: Settings::of(def),
            is_surveyed: false,
            walkers: Vec::new(),
            movers: Vec::new(),
            hashes: Vec::new(),
            gone: 0,
            replaced: Vec::new(),
            finder: Finder::default(),
            orders: 0,
            events: Vec::new(),
            squares: Squares::default(),
            active: Active::default(),
        })
    }

    /// Looks at all obstacles of the world. All fields start again.
    pub fn survey(&mut self, world: &World) {
        self.ground.survey(world);
        self.is_surveyed = true;
        let changes = [Some(self.ground.grid.whole()); crate::ground::SIZES_MAX as usize];
        self.flows.forget(&self.ground, &changes);
        self.flows.prepare(&self.ground);
        self.look_again();
    }

    /// Looks again at the obstacles in and around an area: call it with the box around a building that came or went, in the same frame,
    /// after its body was created or removed: a crowd that is loaded surveys its ground anew, and goes on with other bits otherwise. Fields keep what does not
    /// depend on it. Nothing changes if the area is empty, its `min` above its `max`.
    pub fn survey_area(&mut self, world: &World, area: Aabb) {
        let changes = self.ground.resurvey(world, area);
        // Before that nobody has a field, and what the ground knows is no state: that of a loaded crowd knows all walls, and has other changes.
        if self.is_surveyed {
            self.flows.forget(&self.ground, &changes);
        }
        self.look_again();
    }

    /// Sets the cost of an area, see [`Ground::set_cost`].
    ///
    /// # Errors
    /// [`GroundError::Cost`] if the cost is above [`COST_MAX`](crate::COST_MAX); nothing changes then.
    pub fn set_cost(&mut self, world: &World, area: Aabb, cost: u8) -> Result<(), GroundError> {
        let changes = self.ground.change_cost(world, area, cost)?;
        self.flows.forget(&self.ground, &changes);
        self.look_again();
        Ok(())
    }

    /// The ground has changed: all units look for their ways again.
    fn look_again(&mut self) {
        self.flows.give_up_closed(&self.ground);
        for mover in &mut self.movers {
            mover.look_again(mover.has_field(&self.flows));
            mover.leave_closed_goal(&self.ground);
            if let Task::Go(errand) = mover.task {
                mover.beside = self.ground.anchor(errand.flow.goal).distance(mover.post);
            }
        }
        self.all_change();
    }

    /// Makes a dynamic body a unit of the crowd; it stands. A unit that is one already gets the new definition, and loses its order without an event: give
    /// it again. Size and kind are those that the body has now: after [`World::set_shape`] add it again, and [`Crowd::remove`] it while it is not dynamic.
    /// While its body is disabled, a unit is in nobody's way, and its order waits.
    ///
    /// # Errors
    /// [`MoveError`]: no such body, one that is not dynamic, a unit that is too large for the ground, or a pace out of range.
    pub fn add(&mut self, world: &World, body: BodyId, def: MoverDef) -> Result<(), MoveError> {
        def.validate()?;
        let view = world.body(body).ok_or(MoveError::BodyGone(body))?;
        if view.kind() != BodyKind::Dynamic {
            return Err(MoveError::NotDynamic(body));
        }
        let half = view.shape().half_extents();
        let radius = half.x.max(half.y);
        let size = self.ground.size_of(radius).ok_or(MoveError::TooLarge { radius })?;
        let known = self.finder.find(&self.walkers, body.index());
        // One that pushes has a higher rank than its own.
        let is_here = |at: usize| self.walkers[at].body == body && !self.walkers[at].is_gone;
        let pushes = known.is_ok_and(|at| is_here(at) && self.movers[at].pushes);
        let rank = known.ok().filter(|_| pushes).map_or(view.dominance(), |at| self.movers[at].rank);
        let mut mover = Mover {
            def,
            size,
            rank,
            pushes,
            is_told: false,
            task: Task::Stand(None),
            post: view.position(),
            aim: None,
            beyond: Fx::ZERO,
            beside: Fx::ZERO,
            progress: Progress::NONE,
            trades: 0,
            straight: 0,
            is_around: false,
            is_new: false,
            is_closed: false,
            to_go: Fx::ZERO,
            is_straight: false,
            off_ms: 0,
            right_ms: 0,
        };
        mover.forget();
        let walker = Walker::new(body, radius, def.acceleration, self.clock.now());
        match known {
            Ok(at) => {
                let before = &self.walkers[at];
                self.gone -= u32::from(before.is_gone);
                if !before.is_gone && before.body != body {
                    self.replaced.push(before.body);
                }
                (self.walkers[at], self.movers[at], self.hashes[at]) = (walker, mover, CHANGED);
            }
            Err(at) => {
                self.walkers.insert(at, walker);
                self.movers.insert(at, mover);
                self.hashes.insert(at, CHANGED);
                if at + 1 == self.walkers.len() {
                    self.finder.add(&self.walkers);
                } else {
                    self.finder.fill(&self.walkers);
                }
            }
        }
        Ok(())
    }

    /// The body is no unit any more; it keeps its velocity, and its rank is the one that it had when it was added. Says whether it was one. Units whose bodies
    /// are gone leave by themselves.
    pub fn remove(&mut self, world: &mut World, body: BodyId) -> bool {
        let Some(at) = self.place_of(body) else { return false };
        self.set_rank(world, at, false);
        self.walkers[at].is_gone = true;
        self.hashes[at] = GONE;
        self.gone += 1;
        true
    }

    /// Whether a unit is on its way; `None` if the body is no unit.
    #[must_use]
    pub fn is_going(&self, body: BodyId) -> Option<bool> {
        self.place_of(body).map(|at| self.movers[at].is_going())
    }

    /// Whether a unit is on its way and does not know its path yet, because the search has not come to it; it stands until then. So may one that pursues a body
    /// and does not see it. `None` if the body is no unit.
    #[must_use]
    pub fn is_waiting(&self, body: BodyId) -> Option<bool> {
        let at = self.place_of(body)?;
        let (mover, sight) = (&self.movers[at], &self.walkers[at].sight);
        // A new group: it has not thought since its order.
        let waits = |group: u32| sight.left == i64::MAX || sight.group != group;
        Some(match mover.task {
            Task::Stand(_) => false,
            Task::Go(errand) => waits(errand.group),
            Task::Pursue(_) => sight.left == i64::MAX,
        })
    }

    /// Where a unit stands or wants to stand; `None` if the body is no unit.
    #[must_use]
    pub fn post(&self, body: BodyId) -> Option<Vec2> {
        self.place_of(body).map(|at| self.movers[at].post)
    }

    /// What happened in the last step: first the units that are gone, then those whose prey is gone, then all else, in the order of the bodies' slots.
    /// Empty after [`Crowd::load`]: what follows from them is to be done in the frame of that step, or a peer that joins afterwards does not do it.
    #[must_use]
    pub fn events(&self) -> &[MoveEvent] {
        &self.events
    }

    /// The ground.
    #[must_use]
    pub fn ground(&self) -> &Ground {
        &self.ground
    }

    /// The fields.
    #[must_use]
    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    pub(crate) fn place_of(&self, body: BodyId) -> Option<usize> {
        let at = self.finder.find(&self.walkers, body.index()).ok()?;
        (self.walkers[at].body == body && !self.walkers[at].is_gone).then_some(at)
    }
}
