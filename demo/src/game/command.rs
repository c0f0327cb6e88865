//! Carrying out orders: who is meant, and where everybody goes.

use crate::game::Game;
use crate::game::field::files_for;
use crate::game::order::{Command, GROUPS, Order, Selection};
use crate::game::point::Point;
use crate::game::routes::RouteId;
use crate::game::unit::{Foe, Task, Way};

impl Game {
    /// Carries out an order of the player who commands `army`. Whoever of the selection is not alive is left out; an army
    /// that does not exist has nobody.
    pub(super) fn obey(&mut self, army: u8, order: &Order) {
        if army >= self.setup.players {
            return;
        }
        let mut chosen = core::mem::take(&mut self.scratch.chosen);
        chosen.clear();
        self.select(army, &order.units, &mut chosen);
        match order.command {
            Command::Stop => self.stop(&chosen),
            Command::Move(place) => self.send(army, &chosen, place.point(), Task::March),
            Command::Attack(place) => self.send(army, &chosen, place.point(), Task::Attack),
            Command::Assign(group) => self.assign(army, &chosen, group),
            Command::Patrol(place) => self.patrol(army, &chosen, place.point()),
            Command::Strike(foe) => self.strike(army, &chosen, foe),
            Command::Rally(place) => {
                self.armies[usize::from(army)].rally = place.point().clamped(self.field.half);
            }
        }
        self.scratch.chosen = chosen;
    }

    /// Collects the living units that a selection means, in ascending order.
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

    /// Sends units to their places in a formation about a middle. Those who cannot walk there straight share a route to it.
    fn send(&mut self, army: u8, chosen: &[u32], middle: Point, task: impl Fn(Way) -> Task) {
        let files = files_for(chosen.len() as u32);
        let middle = middle.clamped(self.field.half);
        for (number, &unit) in (0..).zip(chosen) {
            let place = self.terrain.nearest_free(self.field.place(army, middle, number, files));
            let route = self.route_for(unit, place, middle);
            let task = task(Way { place, route });
            let unit = &mut self.units[unit as usize];
            unit.task = task;
            unit.jammed_ms = 0;
            // Who may fight goes on with the fight that he is in.
            if matches!(task, Task::March(_) | Task::Strike { .. }) {
                unit.target = None;
            }
        }
    }

    /// None if the unit can walk straight to its place; else the route to `goal`, near the place.
    pub(super) fn route_for(&mut self, unit: u32, place: Point, goal: Point) -> Option<RouteId> {
        let from = self.place_of(unit)?;
        if self.terrain.sees(self.terrain.cell(from), self.terrain.cell(place)) {
            return None;
        }
        self.routes.to(goal, self.standing(), &self.terrain)
    }

    fn stop(&mut self, chosen: &[u32]) {
        for &number in chosen {
            let Some(post) = self.place_of(number) else { continue };
            let unit = &mut self.units[number as usize];
            unit.settle(post);
            unit.target = None;
        }
    }

    /// There in formation, and back to the middle of where the units are now, in formation too.
    fn patrol(&mut self, army: u8, chosen: &[u32], to: Point) {
        let Some((_, home)) = self.mean_place(chosen.iter().copied()) else { return };
        self.send(army, chosen, home, Task::Attack);
        let backs: Vec<Way> =
            chosen.iter().filter_map(|unit| self.units[*unit as usize].task.way().copied()).collect();
        self.send(army, chosen, to, Task::Attack);
        for (&unit, mut back) in chosen.iter().zip(backs) {
            if let Task::Attack(to) = self.units[unit as usize].task {
                // Home is near now; from there it is as far as there from here.
                if to.route.is_some() && back.route.is_none() {
                    back.route = self.routes.to(home, self.standing(), &self.terrain);
                }
                self.units[unit as usize].task = Task::Patrol { to, back };
            }
        }
    }

    /// Against an enemy that stands. Own units and buildings are no enemies.
    fn strike(&mut self, army: u8, chosen: &[u32], foe: Foe) {
        let Some((owner, place)) = self.foe_place(foe) else { return };
        if owner != army {
            self.send(army, chosen, place, |way| Task::Strike { foe, way });
        }
    }

    fn assign(&mut self, army: u8, chosen: &[u32], group: u8) {
        let first = (u32::from(army) * self.setup.units) as usize;
        for unit in &mut self.units[first..first + self.setup.units as usize] {
            unit.groups &= !group_bit(group);
        }
        for &unit in chosen {
            self.units[unit as usize].groups |= group_bit(group);
        }
    }
}

/// The bit of a control group; of a group that does not exist, none.
fn group_bit(group: u8) -> u16 {
    if group < GROUPS { 1 << group } else { 0 }
}
