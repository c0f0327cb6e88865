//! The way of a unit around what stands between it and the body that it pursues.

use alloc::vec::Vec;

use testudo_physics::{BodyId, Fx, Vec2, World};

use crate::crowd::decide::CONTENT;
use crate::crowd::leg::{ALONE_PART, CORNERS, LINE_CELLS, Leg, PATH_CELLS_MIN, along, is_on_the_way};
use crate::crowd::pursue::{Hunt, SIGHT_CELLS};
use crate::crowd::{Crowd, Mover, Pursuit, Task};
use crate::flow::{ALONE, FlowId, Way};
use crate::ground::SizeClass;

/// A unit that has found no way to its prey looks again after this time, ms.
pub(super) const RETRY_MS: u16 = 3_000;

/// One of them whose turn to look does not come asks for another one after this time, ms.
const TURN_MS: u16 = 1_000;

/// A path ends where a straight line of so many cells leads within reach.
const END_CELLS: i64 = 2;

/// A path is still good while its end is not further from where the prey can be reached than this part of the path.
const STRAY_PART: i64 = 4;

/// To ask whether there is room at the end of a path costs as much as so many cells of a search.
const ROOM_CELLS: u32 = 8;

/// A unit that is no further from the start of another one's path than this part of it, and so many cells, may take it, too.
const SHARE_PART: i64 = 4;
const SHARE_CELLS: i64 = 32;

/// What pursuers of one body tell each other in a frame.
#[derive(Debug, Default)]
pub(super) struct Pack {
    /// For whom the last path of this frame was looked for.
    // not state: set in every step before it is read
    last: Option<Shared>,
    /// How many may still take a path of another one in this frame.
    // not state: as above
    shares_left: u32,
    // not state: memory of a question
    found: Vec<(BodyId, Fx)>,
}

/// A search that is good for others, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shared {
    prey: BodyId,
    reach: Fx,
    size: SizeClass,
    has_failed: bool,
}

/// What becomes of a unit that does not see its prey.
#[derive(Clone, Copy)]
enum Course {
    /// It goes to this place; the length of its path over it, units.
    Way(Vec2, Fx),
    /// It waits for its turn to look for a path.
    Later,
    /// There is no better place than that where it is.
    Nowhere,
}

impl Mover {
    /// It has found no way to its prey, and stands here from now on, as near to the end of its path as others let it.
    fn wait_at(&mut self, place: Vec2) {
        (self.aim, self.beyond) = (None, place.distance(self.post));
    }

    /// Whether it is at the end of its path, or no further from there than where it waited.
    fn is_at_its_end(&self, place: Vec2, cell: Fx) -> bool {
        let waited = if self.aim.is_none() { self.beyond } else { Fx::ZERO };
        place.distance(self.post) <= waited + cell * END_CELLS
    }
}

impl Course {
    fn of(way: Way) -> Self {
        if let Way::Aim { to, left } = way { Self::Way(to, left) } else { Self::Nowhere }
    }
}

impl Pack {
    /// A new frame.
    pub(super) fn begin(&mut self, cells_per_frame: u32) {
        (self.last, self.shares_left) = (None, (cells_per_frame / LINE_CELLS).max(1));
    }

    /// Somebody else looks for a path.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }
}

impl Crowd {
    /// Whether a unit goes straight at whom it pursues. One that hangs beside an obstacle looks for a path, and one that goes around something does so until it
    /// sees the whole way.
    pub(super) fn sees_prey(&mut self, world: &World, number: usize, hunt: &Hunt) -> bool {
        let (mover, position) = (&self.movers[number], self.walkers[number].place());
        let hangs = mover.is_careful() && !self.ground.is_clear(position, mover.size);
        let is_far = mover.aim.is_some() && hunt.left(position) > self.ground.cell() * SIGHT_CELLS;
        !hangs
            && !is_far
            && hunt.is_open_from((&self.ground, world), position, mover.size, &mut self.pack.found)
    }

    /// Where a unit goes that does not see its prey. `None` if it has to look for a path, and not `may_seek`.
    pub(super) fn leg_around(
        &mut self,
        world: &World,
        number: usize,
        hunt: &Hunt,
        may_seek: bool,
    ) -> Option<Leg> {
        if let Some(leg) = self.leg_as_before(number, hunt) {
            return Some(leg);
        }
        let position = self.walkers[number].place();
        let mover = &mut self.movers[number];
        if hunt.waits() && mover.goes_to_post() && mover.is_at_its_end(position, self.ground.cell()) {
            if mover.aim.is_some() {
                mover.wait_at(position);
            }
            return Some(Leg { to: position, left: Fx::ZERO, to_go: Fx::ZERO });
        }
        if !may_seek {
            return None;
        }
        let course = self.way_around(world, number, hunt);
        let mover = &mut self.movers[number];
        let (to, left) = match course {
            Course::Way(to, left) => (to, left),
            Course::Later if mover.aim.is_none() && hunt.pursuit.has_failed => {
                // It stands anyway.
                mover.pause(TURN_MS);
                return Some(Leg { to: position, left: Fx::ZERO, to_go: Fx::ZERO });
            }
            Course::Later => return Some(Leg { to: position, left: Fx::MAX, to_go: mover.progress.best }),
            Course::Nowhere => {
                if mover.aim.take().is_some() {
                    mover.beyond = Fx::ZERO;
                }
                return Some(Leg { to: position, left: Fx::ZERO, to_go: Fx::ZERO });
            }
        };
        if mover.aim.is_none() {
            // What was left of a straight way says nothing about a path.
            mover.progress.best = Fx::MAX;
        }
        (mover.aim, mover.beyond) = (Some(to), (left - position.distance(to)).max(Fx::ZERO));
        Some(Leg { to, left, to_go: left })
    }

    /// On to the aim, while it is not there and the path still leads near the prey.
    fn leg_as_before(&self, number: usize, hunt: &Hunt) -> Option<Leg> {
        let (mover, walker) = (&self.movers[number], &self.walkers[number]);
        let aim = mover.aim.filter(|_| !mover.is_new)?;
        let left = mover.beyond + walker.place().distance(aim);
        let stray = hunt.left(mover.post) - self.ground.cell() * END_CELLS;
        let is_good = hunt.waits() || stray * STRAY_PART <= left;
        let flow = FlowId { index: ALONE, goal: 0, size: mover.size };
        let ways = (&self.ground, &self.flows);
        let goes_on = is_good && is_on_the_way(ways, mover, walker, (flow, aim), left);
        goes_on.then_some(Leg { to: aim, left, to_go: left })
    }

    /// A new way.
    fn way_around(&mut self, world: &World, number: usize, hunt: &Hunt) -> Course {
        let (size, position) = (self.movers[number].size, self.walkers[number].place());
        let is_held = self.movers[number].is_careful() && !self.ground.is_clear(position, size);
        if !is_held
            && !hunt.waits()
            && let Some(course) = self.course_of_another(number, hunt)
        {
            return course;
        }
        if self.paths_left == 0 {
            let beyond = self.movers[number].beyond;
            let to_aim = |to: Vec2| Course::Way(to, beyond + position.distance(to));
            return self.old_aim(number).map_or(Course::Later, to_aim);
        }
        let has_failed = self.find_around(world, number, hunt, is_held);
        if has_failed && hunt.waits() {
            // It cannot come back to where it waited, and looks for another place.
            self.movers[number].pause(0);
        }
        let way = along(&self.ground, position, size, self.paths.corners());
        if !self.follows_path(number, hunt, has_failed) {
            return Course::Nowhere;
        }
        match way {
            Way::Aim { to, left } if is_held => Course::of(self.step_to(number, to, left)),
            way => Course::of(way),
        }
    }

    /// Looks for a path to where a unit can reach its prey, and pays for it. One that knows of none goes on to the nearest place that it found. Says whether
    /// there is none.
    fn find_around(&mut self, world: &World, number: usize, hunt: &Hunt, is_held: bool) -> bool {
        let (mover, ground, position) = (&self.movers[number], &self.ground, self.walkers[number].place());
        let (size, most) = (mover.size, self.settings.cells_per_frame / ALONE_PART);
        let mut rooms = 0;
        let path = if hunt.waits() {
            self.paths.find(ground, [position, mover.post], size, most).map(|_| ())
        } else {
            let (near, found) = (ground.cell() * END_CELLS, &mut self.pack.found);
            let is_end = |place: Vec2| {
                if hunt.left(place) > near || is_held && place == position {
                    return false;
                }
                rooms += 1;
                hunt.is_open_from((ground, world), place, size, found)
            };
            self.paths.find_near(ground, (position, hunt.ahead()), size, most, is_end)
        };
        let Pursuit { prey, reach, .. } = hunt.pursuit;
        let shared = Shared { prey, reach, size, has_failed: path.is_err() };
        self.pack.last = (!hunt.waits() && !is_held).then_some(shared);
        self.pay(self.paths.cells().saturating_add(rooms * ROOM_CELLS).max(PATH_CELLS_MIN));
        path.is_err()
    }

    /// The way that the path of another one with the same prey shows, if that begins near enough.
    fn course_of_another(&mut self, number: usize, hunt: &Hunt) -> Option<Course> {
        let (size, position) = (self.movers[number].size, self.walkers[number].place());
        let last = self.pack.last.filter(|last| {
            (last.prey, last.reach, last.size) == (hunt.pursuit.prey, hunt.pursuit.reach, size)
        })?;
        let (ground, corners) = (&self.ground, self.paths.corners());
        let start = corners.first().filter(|_| self.pack.shares_left > 0)?;
        let apart = position.distance(start.at);
        let is_near = last.has_failed || apart * SHARE_PART <= start.left;
        // Between two places from which no path leads on it would go to and fro.
        let end = corners.last().filter(|_| last.has_failed && hunt.pursuit.has_failed);
        let is_worse = end.is_some_and(|end| hunt.left(end.at) >= hunt.left(self.movers[number].post));
        if !is_near || is_worse || apart > ground.cell() * SHARE_CELLS {
            return None;
        }
        self.pack.shares_left -= 1;
        let mut ahead = corners.iter().take(CORNERS + 1).rev();
        let seen = ahead.find(|corner| ground.leads_level(position, corner.at, size))?;
        let way = Course::Way(seen.at, seen.left + position.distance(seen.at));
        Some(if self.follows_path(number, hunt, last.has_failed) { way } else { Course::Nowhere })
    }

    /// A unit takes the path that was found last. False if that leads to no better place than that where it has waited already.
    fn follows_path(&mut self, number: usize, hunt: &Hunt, has_failed: bool) -> bool {
        let (mover, position) = (&mut self.movers[number], self.walkers[number].place());
        mover.is_new = false;
        if hunt.waits() {
            return true;
        }
        let post = self.paths.corners().last().map_or(mover.post, |corner| corner.at);
        // The last search failed, too, and led here.
        let is_same = hunt.pursuit.has_failed && mover.post.distance(post) <= self.ground.cell() * END_CELLS;
        let stays =
            has_failed && is_same && mover.aim.is_none() && mover.is_at_its_end(position, self.ground.cell());
        if let Task::Pursue(pursuit) = &mut mover.task {
            pursuit.has_failed = has_failed;
        }
        mover.pause(if has_failed { RETRY_MS } else { 0 });
        if !stays {
            mover.post = post;
        }
        !stays
    }

    /// A unit that pursues gives way to its neighbours, and notes whether it gets on.
    pub(super) fn chase(&mut self, world: &mut World, number: usize, largest: i32, elapsed: u32) {
        let is_around = self.movers[number].aim.is_some();
        let ahead = self.look_around(number, largest, elapsed, is_around);
        let comes_nearer = self.comes_nearer(number);
        let (mover, walker) = (&mut self.movers[number], &self.walkers[number]);
        let before = mover.progress.spans();
        if comes_nearer {
            mover.progress.counts_from(mover.to_go);
        } else if walker.sight.left != i64::MAX {
            mover.progress.waits(elapsed, ahead.least_stalled);
        }
        let spans = mover.progress.spans();
        if is_around && spans > 0 {
            let near = Fx::from_bits(walker.sight.radius.into()) * CONTENT * i64::from(spans.min(1_000));
            let has_failed = matches!(mover.task, Task::Pursue(pursuit) if pursuit.has_failed);
            if has_failed && walker.place().distance(mover.post) <= near {
                // Others stand where it would wait.
                mover.wait_at(walker.place());
            }
            mover.is_new |= spans != before;
        }
        let pushes = is_around && spans > 0 && self.is_its_turn(number);
        self.set_rank(world, number, pushes);
    }
}
