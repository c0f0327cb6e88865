//! Where a unit goes now: straight to its post, on to its aim, or where its path leads.

use testudo_physics::{Fx, Vec2, World};

use crate::crowd::mover::Mover;
use crate::crowd::{Crowd, Errand, Task, Walker};
use crate::flow::{ALONE, Corner, FlowId, Flows, NO_FIELD, ONLY_FIELD, PathError, Way};
use crate::ground::{Ground, SizeClass};
use crate::steer::raw::{raw, resized, vec2};

/// A unit that was moved off its line looks whether so many cells ahead are free.
const AHEAD_CELLS: i64 = 12;

/// A unit within so many cells of its post goes straight there if it sees it.
const NEAR_CELLS: i64 = 24;

/// A unit that goes alone looks for its path over this part of a frame's cells; one for which there is no field over all of them.
pub(super) const ALONE_PART: u32 = 4;

/// A cell of such a search counts as so many of a field. A search that takes more than are left is paid for by the frames after it.
const CELLS_OF_FIELDS: u32 = 8;

/// So many cells of a straight line cost as much as one of a search.
pub(super) const LINE_CELLS: u32 = 64;

/// A search counts as one of at least so many cells.
pub(super) const PATH_CELLS_MIN: u32 = 32;

/// A unit was moved if it is further than this part of a cell beside the line to its aim, or further back on its way than when it thought last: others in a
/// crowd push it by less.
const MOVED_PART: i64 = 2;

/// From anchor to anchor a unit looks for its way to the next corner over so many cells.
const STEP_CELLS_MAX: u32 = 512;

/// So many corners of its path ahead are looked for.
pub(super) const CORNERS: usize = 4;

/// The most that frames pay for, by the cells of a frame: as much as the longest search.
pub(super) fn debt_max(cells_per_frame: u32) -> u32 {
    cells_per_frame.max(PATH_CELLS_MIN).saturating_mul(CELLS_OF_FIELDS)
}

/// Where a unit goes now.
#[derive(Clone, Copy)]
pub(super) struct Leg {
    pub(super) to: Vec2,
    /// Length of its path to the goal, units.
    pub(super) left: Fx,
    /// Length of its path to its post, units.
    pub(super) to_go: Fx,
}

impl Crowd {
    /// Where a unit goes now: straight to its post, on to its aim, or where its path leads. `None` if it has to look for a path without a field, and not
    /// `may_seek`.
    pub(super) fn leg(&mut self, number: usize, errand: Errand, rate: u32, may_seek: bool) -> Option<Leg> {
        let (mover, walker) = (&mut self.movers[number], &self.walkers[number]);
        let position = walker.place();
        let goal = self.ground.anchor(errand.flow.goal);
        (mover.is_around, mover.is_closed) = (false, false);
        self.flows.keep(errand.flow, rate / 2);
        if goes_straight(&self.ground, mover, position) {
            mover.aim = None;
            let to_go = position.distance(mover.post);
            return Some(Leg { to: mover.post, left: position.distance(goal), to_go });
        }
        let is_alone = errand.flow.index == ALONE;
        let ways = (&self.ground, &self.flows);
        // One without a field keeps an old aim only while it waits for its turn.
        let aim = mover.aim.filter(|_| !mover.is_new || self.flows.is_live(errand.flow));
        if let Some(aim) = aim {
            let far = position.distance(aim);
            let leg = if aim == mover.post {
                Leg { to: aim, left: position.distance(goal), to_go: far }
            } else {
                let left = mover.beyond + far;
                Leg { to: aim, left, to_go: left + mover.beside }
            };
            // On the way to its post it may come further from the goal, by at most twice the distance of the two.
            let least = if aim == mover.post { leg.left - mover.beside * 2 } else { leg.left };
            if is_on_the_way(ways, mover, walker, (errand.flow, aim), least) {
                return Some(leg);
            }
        }
        let mut flow = self.field(number, errand, rate);
        if !self.flows.is_live(flow) && flow.index != ONLY_FIELD {
            if !may_seek {
                return None;
            }
            if let Some(way) = self.way_alone(number, goal, is_alone) {
                return Some(take(&self.ground, &mut self.movers[number], (position, goal), way, None));
            }
            let index = if is_alone { NO_FIELD } else { ONLY_FIELD };
            let flow_of_field = FlowId { index, ..errand.flow };
            self.movers[number].task = Task::Go(Errand { flow: flow_of_field, ..errand });
            flow = self.field(number, Errand { flow: flow_of_field, ..errand }, rate);
        }
        Some(ask((&self.ground, &mut self.flows), &mut self.movers[number], position, flow))
    }

    /// The field of a unit's errand, if it needs one and gets one.
    fn field(&mut self, number: usize, errand: Errand, rate: u32) -> FlowId {
        let FlowId { goal, size, .. } = errand.flow;
        if self.flows.is_live(errand.flow) {
            return errand.flow;
        }
        // There was none yet, or its place was given away while nobody asked; the goal's cell is known. One that goes alone takes what is there, and a new one
        // only if it hangs somewhere.
        let mover = &mut self.movers[number];
        let needs_none = errand.flow.index == ALONE && !mover.is_careful();
        let flow = if needs_none {
            self.flows.known(goal, size)
        } else {
            self.flows.to(&self.ground, self.ground.anchor(goal), size).ok()
        };
        let Some(flow) = flow else { return errand.flow };
        mover.task = Task::Go(Errand { flow, ..errand });
        // If the goal has been built over, it is another one.
        mover.beside = self.ground.anchor(flow.goal).distance(mover.post);
        self.flows.keep(flow, rate / 2);
        flow
    }

    /// The way of a unit without a field. `None` if a search for it fails, so that only a field can help.
    fn way_alone(&mut self, number: usize, goal: Vec2, is_alone: bool) -> Option<Way> {
        let (mover, ground, position) = (&self.movers[number], &self.ground, self.walkers[number].place());
        if self.paths_left == 0 {
            let to_aim = |to: Vec2| Way::Aim { to, left: mover.beyond + position.distance(to) };
            return Some(self.old_aim(number).map_or(Way::Unknown, to_aim));
        }
        let is_held = mover.is_careful() && !ground.is_clear(position, mover.size);
        let way = if !is_held && ground.leads_level(position, goal, mover.size) {
            let left = position.distance(goal);
            self.pay(1 + (left.to_bits() >> ground.grid.shift) as u32 / LINE_CELLS);
            Some(Way::Straight { left })
        } else {
            let most = if is_alone {
                self.settings.cells_per_frame / ALONE_PART
            } else {
                self.settings.cells_per_frame
            };
            self.pack.forget();
            let way = match self.paths.find(ground, [position, goal], mover.size, most) {
                Ok(corners) => Some(along(ground, position, mover.size, corners)),
                // A unit that has been on its path already was pushed into a pocket.
                Err(PathError::Closed) if !mover.progress.had_path() => Some(Way::Closed),
                Err(_) => None,
            };
            self.pay(self.paths.cells().max(PATH_CELLS_MIN));
            way
        };
        self.movers[number].is_new &= way.is_none();
        match way {
            Some(Way::Aim { to, left }) if is_held => Some(self.step_to(number, to, left)),
            way => way,
        }
    }

    /// The old aim of a unit, to which it goes on while it waits for its turn.
    pub(super) fn old_aim(&self, number: usize) -> Option<Vec2> {
        let (mover, ground, position) = (&self.movers[number], &self.ground, self.walkers[number].place());
        let is_ahead = |aim: &Vec2| *aim != mover.post && position.distance(*aim) * 4 > ground.cell();
        mover.aim.filter(is_ahead).filter(|&aim| ground.sees(position, aim, mover.size))
    }

    /// The first step on the way to an aim, from anchor to anchor.
    pub(super) fn step_to(&mut self, number: usize, aim: Vec2, left: Fx) -> Way {
        let (ground, position) = (&self.ground, self.walkers[number].place());
        let size = self.movers[number].size;
        self.pack.forget();
        let steps = self.paths.find_lines(ground, [position, aim], size, (STEP_CELLS_MAX, 0));
        let way = match steps {
            Ok([_, next, ..]) => {
                let left = (left - position.distance(aim)).max(Fx::ZERO) + next.left;
                stride(ground, position, Corner { left, ..*next })
            }
            _ => Way::Aim { to: aim, left },
        };
        self.pay(self.paths.cells());
        way
    }

    /// Takes cells of single paths from those of this frame, and of the next ones.
    pub(super) fn pay(&mut self, cells: u32) {
        let cells = cells.saturating_mul(CELLS_OF_FIELDS);
        let debt = self.paths_debt.saturating_add(cells.saturating_sub(self.paths_left));
        self.paths_debt = debt.min(debt_max(self.settings.cells_per_frame));
        self.paths_left = self.paths_left.saturating_sub(cells);
    }

    /// Lets units without a field look for their paths while there are cells for it, and not always the same ones first. In five of eight frames units that go
    /// somewhere are first, then pursuers, and then pursuers that have found no way to their prey; in two frames units that go somewhere are last, and in one
    /// frame pursuers that have found no way are first. If two units that go alone look for a path to the same goal, they share a field instead.
    pub(super) fn seek(&mut self, world: &World, rate: u32) {
        self.paths_left = self.settings.cells_per_frame.saturating_sub(self.paths_debt);
        self.paths_debt = self.paths_debt.saturating_sub(self.settings.cells_per_frame);
        self.pack.begin(self.settings.cells_per_frame);
        line_up(&mut self.active.seekers, &mut self.movers, self.flows.scatter());
        for at in 0..self.active.seekers.len() {
            self.find_course(world, self.active.seekers[at] as usize, rate, true);
        }
    }
}

/// Puts units that look for a path into the order of [`Crowd::seek`], and tells units with the same goal so. `scatter`: 32 bits, others in each frame.
fn line_up(seekers: &mut [u32], movers: &mut [Mover], scatter: u64) {
    let errand = |movers: &[Mover], number: u32| movers[number as usize].seeks();
    seekers.sort_unstable_by_key(|&number| (errand(movers, number), number));
    for pair in seekers.windows(2) {
        if errand(movers, pair[0]) == errand(movers, pair[1]) {
            pair.iter().for_each(|&number| movers[number as usize].shares_goal());
        }
    }
    for equals in seekers.chunk_by_mut(|&a, &b| errand(movers, a).0 == errand(movers, b).0) {
        let first = (scatter * equals.len() as u64) >> 32;
        equals.rotate_left(first as usize);
    }
    let turns_before = |turn: u8| seekers.partition_point(|&number| errand(movers, number).0 < turn);
    // Other bits than those above, or some would never be first.
    let first = match scatter >> 13 & 7 {
        0 | 1 => turns_before(1),
        2 => turns_before(2),
        _ => 0,
    };
    seekers.rotate_left(first);
}

/// The way to the last of the next corners of a path that is in sight.
pub(super) fn along(ground: &Ground, position: Vec2, size: SizeClass, corners: &[Corner]) -> Way {
    let [start, ahead @ ..] = corners else { return Way::Unknown };
    let to = |corner: &Corner| Way::Aim { to: corner.at, left: corner.left + position.distance(corner.at) };
    if start.at != position {
        // It was pushed against an obstacle, and goes back to where a path begins.
        return to(start);
    }
    let seen = ahead.iter().take(CORNERS).take_while(|corner| ground.leads_level(position, corner.at, size));
    match (seen.last(), ahead.first()) {
        (Some(last), _) => to(last),
        (None, Some(next)) => stride(ground, position, *next),
        (None, None) => Way::Straight { left: start.left },
    }
}

/// A step to a neighbour, which leads from anchor to anchor: the unit may be beside the place from which it can make it.
fn stride(ground: &Ground, position: Vec2, next: Corner) -> Way {
    let here = ground.anchor(ground.grid.cell_at(position));
    let is_off =
        position.distance(here) * 4 > ground.cell() && position.distance(next.at) > here.distance(next.at);
    let to = if is_off { here } else { next.at };
    Way::Aim { to, left: next.left + position.distance(to) + to.distance(next.at) }
}

/// A unit asks its field for an aim, and keeps beside the path of its group if it can.
fn ask((ground, flows): (&Ground, &mut Flows), mover: &mut Mover, position: Vec2, flow: FlowId) -> Leg {
    let (goal, careful) = (ground.anchor(flow.goal), mover.is_careful());
    let beside = mover.post - goal;
    let is_led = !careful && !mover.is_new && beside != Vec2::ZERO;
    let with_group = is_led.then(|| flows.beside(ground, flow, position, beside)).flatten();
    let way = match with_group {
        Some((to, left)) => Way::Aim { to, left },
        None => flows.seek(ground, flow, position, careful, &mut mover.is_new),
    };
    // A unit that has been on its path already was pushed into a pocket.
    let had_path = way == Way::Closed && mover.progress.had_path();
    let out = had_path.then(|| flows.way_out(ground, flow, position)).flatten();
    take(ground, mover, (position, goal), way, out)
}

/// A unit takes the way that it was told. `out`: the way out of a pocket.
fn take(
    ground: &Ground,
    mover: &mut Mover,
    (position, goal): (Vec2, Vec2),
    way: Way,
    out: Option<Vec2>,
) -> Leg {
    (mover.aim, mover.is_closed) = (None, way == Way::Closed && out.is_none());
    match way {
        Way::Straight { left } if ground.leads_near(position, mover.post, mover.size) => {
            mover.aim = Some(mover.post);
            Leg { to: mover.post, left, to_go: position.distance(mover.post) }
        }
        // The goal is in sight, and the post behind a corner of it.
        Way::Straight { left } => {
            mover.is_around = true;
            Leg { to: goal, left, to_go: left + mover.beside }
        }
        Way::Aim { to, left } => {
            (mover.aim, mover.beyond) = (Some(to), (left - position.distance(to)).max(Fx::ZERO));
            // The field leads to the goal; the post is beside it.
            Leg { to, left, to_go: left + mover.beside }
        }
        // Nobody knows yet, or there is no path: it waits. `decide` asks which.
        Way::Unknown | Way::Closed => {
            let waits = Leg { to: position, left: Fx::MAX, to_go: mover.progress.best };
            out.map_or(waits, |to| Leg { to, left: mover.progress.best, to_go: mover.progress.best })
        }
    }
}

/// Whether a unit can go straight to its post.
fn goes_straight(ground: &Ground, mover: &Mover, position: Vec2) -> bool {
    let away = raw(mover.post - position, (1 << 31) - 1);
    let near = (ground.cell() * NEAR_CELLS).to_bits();
    away[0].abs().max(away[1].abs()) <= near
        && (!mover.is_careful() || ground.is_clear(position, mover.size))
        && ground.leads_near(position, mover.post, mover.size)
}

/// Whether a unit can still go straight to its aim: it is not there yet, and nothing moved the unit behind a corner. What is further ahead is looked at
/// when the unit comes there. `left`: what its path over the aim is at least, to be compared with that when it thought last.
pub(super) fn is_on_the_way(
    (ground, flows): (&Ground, &Flows),
    mover: &Mover,
    walker: &Walker,
    (flow, aim): (FlowId, Vec2),
    left: Fx,
) -> bool {
    let position = walker.place();
    let away = raw(aim - position, (1 << 31) - 1);
    let (cell, far) = (ground.cell().to_bits(), away[0].abs().max(away[1].abs()));
    // Beside its cell a path may lead back to where the unit comes from.
    let is_there = ground.grid.cell_at(position) == ground.grid.cell_at(aim);
    if far <= if is_there { cell / 4 } else { cell / 64 } {
        return false;
    }
    let slack = cell / MOVED_PART;
    let is_back = left.to_bits() > walker.sight.left.saturating_add(slack);
    if mover.is_straight && walker.sight.velocity == walker.takes && !is_back && walker.heads_for(away, slack)
    {
        return true;
    }
    // Others hold it up next to its aim: perhaps its path goes on from here.
    if flow.index == ALONE && far < 2 * cell {
        return false;
    }
    // Others may have pushed it past its aim, or to where a shorter path begins.
    let left = flows.left(ground, flow, position).filter(|_| aim != mover.post);
    if left.is_some_and(|left| mover.beyond + position.distance(aim) > left) {
        return false;
    }
    let ahead = far.min(cell * AHEAD_CELLS);
    ground.leads_near(position, position + vec2(resized(away, far, ahead)), mover.size)
}
