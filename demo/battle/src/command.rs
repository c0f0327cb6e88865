//! Carries out orders: which units they address, and where each unit goes.

use testudo_physics::math::isqrt_u64;

use crate::Game;
use crate::field::{SPACING, files_for};
use crate::order::{Command, Order};
use crate::point::{Point, UNIT, mean, squared};
use crate::selection::{GROUPS, Selection};
use crate::unit::{Deed, Destination, ERRANDS_MAX, Errand, Foe, Stance, Task, Unit};

/// A place that lies further than this in closed ground (raw) is exchanged for one on the other side of the goal.
const SHORE: i32 = 4 * UNIT;

/// How units line up.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Around this centre, facing the middle of the field.
    Square(Point),
    /// The first rank reaches from one position to the other.
    Line(Point, Point),
}

impl Shape {
    fn middle(self) -> Point {
        match self {
            Self::Square(middle) => middle,
            // Both are at most 2^30.
            Self::Line(from, to) => Point { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 },
        }
    }

    fn within(self, half: Point) -> Self {
        match self {
            Self::Square(middle) => Self::Square(middle.clamped(half)),
            Self::Line(from, to) => Self::Line(from.clamped(half), to.clamped(half)),
        }
    }
}

/// Position of unit `number` of `count` in ranks. The first rank reaches from one position to the other, with as many files as fit, spread
/// over its whole length. The other ranks stand on its right side.
fn line_place(from: Point, to: Point, number: u32, count: u32) -> Point {
    let length = isqrt_u64(from.distance_squared(to)) as i32;
    let files = (length / SPACING + 1).clamp(1, count.max(1) as i32);
    let (file, rank) = (number as i32 % files, number as i32 / files);
    let along = |part: i32, whole: i32| (i64::from(part) * i64::from(file) / i64::from(whole)) as i32;
    let gaps = (files - 1).max(1);
    let back = from.towards(to, SPACING);
    from.offset(along(to.x - from.x, gaps), along(to.y - from.y, gaps))
        .offset((-back.y).saturating_mul(rank), back.x.saturating_mul(rank))
}

impl Game {
    /// Carries out an order of the player who commands `army`. Selected units that are not alive are ignored; an army that does not exist
    /// has no units.
    pub(super) fn obey(&mut self, army: u8, order: &Order) {
        if army >= self.setup.players {
            return;
        }
        let mut chosen = core::mem::take(&mut self.scratch.chosen);
        chosen.clear();
        self.select(army, &order.units, &mut chosen);
        match order.command {
            Command::Stop => self.stop(&chosen),
            Command::Move(to) => {
                self.send(army, &chosen, Shape::Square(to.point()), Deed::March, order.is_queued);
            }
            Command::Attack(to) => {
                self.send(army, &chosen, Shape::Square(to.point()), Deed::Attack, order.is_queued);
            }
            Command::Line { from, to, attacks } => {
                let deed = if attacks { Deed::Attack } else { Deed::March };
                self.send(army, &chosen, Shape::Line(from.point(), to.point()), deed, order.is_queued);
            }
            Command::Stand(stance) => {
                // Otherwise a unit that was told to attack would go on attacking when it is told to hold.
                if stance == Stance::Hold {
                    self.stop(&chosen);
                }
                for &unit in &chosen {
                    self.units[unit as usize].stance = stance;
                }
            }
            Command::Assign(group) => self.assign(army, &chosen, group),
            Command::Join(group) => self.join(&chosen, group),
            Command::Patrol(to) => self.patrol(army, &chosen, to.point(), order.is_queued),
            Command::Strike(foe) => self.strike(army, &chosen, foe, order.is_queued),
            Command::Teams(teams) => self.settle_teams(army, teams),
            Command::Rally(to) => {
                self.armies[usize::from(army)].rally = to.point().clamped(self.field.half);
            }
        }
        self.scratch.chosen = chosen;
    }

    /// Collects the living units of a selection, in ascending order.
    fn select(&self, army: u8, selection: &Selection, chosen: &mut Vec<u32>) {
        let first = u32::from(army) * self.setup.units;
        let end = first + self.setup.units;
        let living = |unit: &u32| self.units[*unit as usize].is_alive();
        match selection {
            Selection::All => chosen.extend((first..end).filter(living)),
            Selection::Group(group) => {
                let in_group = |unit: &u32| self.units[*unit as usize].groups & group_bit(*group) != 0;
                chosen.extend((first..end).filter(living).filter(in_group));
            }
            Selection::Area(area) => {
                let inside = |unit: &u32| self.place_of(*unit).is_some_and(|place| area.contains(place));
                chosen.extend((first..end).filter(inside));
            }
            Selection::Units(ranges) => {
                for range in ranges.iter() {
                    let from = range.first.min(self.setup.units);
                    let to = from + range.count.min(self.setup.units - from);
                    chosen.extend((first + from..first + to).filter(living));
                }
            }
        }
    }

    /// Sends units to their places in a formation. They share the way to its centre.
    fn send(&mut self, army: u8, chosen: &[u32], shape: Shape, deed: Deed, is_queued: bool) {
        let middle = shape.within(self.field.half).middle();
        let Some(goal) = self.goal_near(middle, chosen) else { return };
        let count = chosen.len() as u32;
        for (number, &unit) in (0..).zip(chosen) {
            let errand = Errand { deed, destination: self.destination(army, shape, goal, number, count) };
            self.give(unit, errand, is_queued);
        }
    }

    /// Gives a unit an errand: after those that it has, or instead of them.
    fn give(&mut self, unit: u32, errand: Errand, is_queued: bool) {
        let state = &mut self.units[unit as usize];
        if is_queued && !state.task.is_idle() {
            if state.errands.len() < ERRANDS_MAX {
                state.errands.push_back(errand);
            }
        } else {
            state.errands.clear();
            self.begin(unit, errand);
        }
    }

    /// Where units that are sent to a position go: the open ground nearest to it. If there is none nearby, as in the middle of a wide lake, as far as the
    /// nearest of them gets on a straight line. It is searched once for all of them, because a player can order it again and again. `None` if none of them
    /// stands on open ground.
    fn goal_near(&self, position: Point, units: &[u32]) -> Option<Point> {
        let terrain = self.terrain();
        terrain.nearest_open(position).or_else(|| {
            let places = units.iter().filter_map(|&unit| self.place_of(unit));
            let nearest =
                places.min_by_key(|place| (!terrain.is_open(*place), place.distance_squared(position)));
            Some(terrain.towards(terrain.nearest_open(nearest?)?, position))
        })
    }

    /// The destination of unit `number` of `count` around a goal.
    fn destination(&self, army: u8, shape: Shape, goal: Point, number: u32, count: u32) -> Destination {
        let terrain = self.terrain();
        // No unit gets a place in a rock, or on the other side of a wall or a river.
        let place = match shape.within(self.field.half) {
            Shape::Square(_) => {
                let wanted = self.field.place(army, goal, number, files_for(count));
                let place = terrain.towards(goal, wanted);
                let is_far = !terrain.is_open(wanted) && place.distance_squared(wanted) > squared(SHORE);
                // On the shore of a lake, one on land.
                let opposite = goal.offset(goal.x.saturating_sub(wanted.x), goal.y.saturating_sub(wanted.y));
                if is_far { terrain.towards(goal, opposite.clamped(self.field.half)) } else { place }
            }
            Shape::Line(from, to) => {
                let wanted = line_place(from, to, number, count).clamped(self.field.half);
                terrain.towards(goal, wanted)
            }
        };
        Destination { place, goal }
    }

    /// Sends a unit on its way.
    fn begin(&mut self, number: u32, Errand { deed, destination }: Errand) {
        let strikes_on = match (self.units[number as usize].task, deed) {
            (Task::Strike { foe, .. }, Deed::Strike(same)) => foe == same && self.chases(number, foe),
            _ => false,
        };
        let unit = &mut self.units[number as usize];
        let before = core::mem::replace(&mut unit.task, deed.task(destination));
        unit.away_ms = 0;
        if strikes_on {
            return;
        }
        // A unit that may fight continues its present fight.
        if !matches!(deed, Deed::Attack | Deed::Patrol { .. }) {
            unit.target = None;
        }
        let goes_there = before.destination() == Some(&destination)
            && unit.body.and_then(|body| self.crowd.is_going(body)) == Some(true);
        if unit.target.is_some() {
            self.heed(number);
        } else if !goes_there {
            self.go(number, destination);
        }
    }

    /// A unit has finished its errand: it starts the next one, or stays at its post.
    pub(super) fn done(&mut self, unit: u32, post: Point) {
        if let Some(errand) = self.units[unit as usize].errands.pop_front() {
            return self.begin(unit, errand);
        }
        let state = &mut self.units[unit as usize];
        state.settle(post);
        if state.body.and_then(|body| self.crowd.is_going(body)) == Some(true) {
            self.halt(unit);
        }
    }

    pub(super) fn stop(&mut self, chosen: &[u32]) {
        for &number in chosen {
            let Some(post) = self.place_of(number) else { continue };
            let unit = &mut self.units[number as usize];
            unit.settle(post);
            unit.errands.clear();
            unit.target = None;
            self.halt(number);
        }
    }

    /// A patrol to `to` in formation, and back to the middle of the places where the units begin it, also in formation.
    fn patrol(&mut self, army: u8, chosen: &[u32], to: Point, is_queued: bool) {
        let begins_at = |&unit: &u32| if is_queued { self.last_place(unit) } else { self.place_of(unit) };
        let Some((_, home)) = mean(chosen.iter().filter_map(begins_at)) else { return };
        let [there, here] = [to, home].map(|middle| Shape::Square(middle).within(self.field.half));
        let (Some(far), Some(near)) =
            (self.goal_near(there.middle(), chosen), self.goal_near(here.middle(), chosen))
        else {
            return;
        };
        let count = chosen.len() as u32;
        for (number, &unit) in (0..).zip(chosen) {
            let deed = Deed::Patrol { back: self.destination(army, here, near, number, count) };
            let destination = self.destination(army, there, far, number, count);
            self.give(unit, Errand { deed, destination }, is_queued);
        }
    }

    /// Where a unit will stand once it has done what it has been told.
    fn last_place(&self, unit: u32) -> Option<Point> {
        let Unit { task, errands, .. } = &self.units[unit as usize];
        let last = errands.back().map(|errand| &errand.destination);
        let last = last.or_else(|| task.destination().filter(|_| !task.is_idle()));
        last.map(|last| last.place).or_else(|| self.place_of(unit))
    }

    /// An attack on an existing enemy. Units and buildings of the army and of its team are not enemies.
    fn strike(&mut self, army: u8, chosen: &[u32], foe: Foe, is_queued: bool) {
        let Some((owner, place)) = self.foe_place(foe) else { return };
        if !self.teams.are_friends(army, owner) {
            self.send(army, chosen, Shape::Square(place), Deed::Strike(foe), is_queued);
        }
    }

    fn assign(&mut self, army: u8, chosen: &[u32], group: u8) {
        for unit in self.numbers_of(army) {
            if self.units[unit as usize].groups & group_bit(group) != 0 {
                self.units[unit as usize].groups &= !group_bit(group);
            }
        }
        self.join(chosen, group);
    }

    fn join(&mut self, chosen: &[u32], group: u8) {
        for &unit in chosen {
            self.units[unit as usize].groups |= group_bit(group);
        }
    }
}

/// The bit of a control group; 0 for a group that does not exist.
fn group_bit(group: u8) -> u16 {
    if group < GROUPS { 1 << group } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last ranks of a line of one file were further away than a position can be: that was a panic, or the other side of the field.
    #[test]
    fn a_short_line_of_the_largest_army_stays_on_its_right_side() {
        let (from, to) = (Point::ZERO, Point { x: 0, y: UNIT / 8 });
        for number in [0, 1, 26_215, 26_216, crate::UNITS_MAX - 1] {
            let place = line_place(from, to, number, crate::UNITS_MAX);
            assert!(place.x <= 0 && place.y == 0, "{number}: {place:?}");
        }
    }
}
