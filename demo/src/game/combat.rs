//! Who fights whom, and what becomes of it.

use crate::game::Game;
use crate::game::point::{Point, squared};
use crate::game::unit::Task;

/// Every unit looks around once in so many frames; the units take turns.
const LOOK_EVERY: u32 = 8;

impl Game {
    /// Notes where the living units are.
    pub(super) fn survey(&mut self) {
        let scratch = &mut self.scratch;
        scratch.grid.clear();
        for (number, unit) in (0..).zip(&self.units) {
            let Some(body) = unit.body.and_then(|id| self.world.body(id)) else { continue };
            let place = Point::from_vec2(body.position());
            scratch.places[number as usize] = place;
            scratch.grid.add(number, unit.army, place);
        }
        scratch.grid.settle();
    }

    /// Some of the units look for enemies. Whoever marches does not look.
    pub(super) fn look_around(&mut self) {
        let turn = (self.frame % u64::from(LOOK_EVERY)) as u32;
        for number in (turn..self.units.len() as u32).step_by(LOOK_EVERY as usize) {
            let unit = &self.units[number as usize];
            if !unit.is_alive() {
                continue;
            }
            let place = self.scratch.places[number as usize];
            let sight = unit.kind.stats().sight;
            let target = match unit.task {
                Task::March(_) => None,
                Task::Hold | Task::Attack(_) => self.scratch.grid.nearest_enemy(place, unit.army, sight),
            };
            self.units[number as usize].target = target;
        }
    }

    /// Everybody whose enemy is in range strikes. All blows of a frame fall together: who falls in it still strikes.
    pub(super) fn fight(&mut self, frames_per_second: u32) {
        for number in 0..self.units.len() as u32 {
            let unit = &self.units[number as usize];
            let Some(target) = unit.target.filter(|_| unit.is_alive()) else { continue };
            if !self.in_range(number, target) {
                continue;
            }
            let (army, stats) = (unit.army, unit.kind.stats());
            let unit = &mut self.units[number as usize];
            let damage = unit.blows.take(stats.damage_per_second, frames_per_second);
            let enemy = &mut self.units[target as usize];
            let stood = enemy.hit_points > 0;
            enemy.hit_points = enemy.hit_points.saturating_sub_unsigned(damage);
            if stood && enemy.hit_points <= 0 {
                self.armies[usize::from(army)].kills += 1;
                self.scratch.dead.push(target);
            }
        }
    }

    /// Takes the bodies of the dead out of the world.
    pub(super) fn bury(&mut self) {
        let mut dead = core::mem::take(&mut self.scratch.dead);
        dead.sort_unstable();
        for number in dead.drain(..) {
            let unit = &mut self.units[number as usize];
            let Some(body) = unit.body.take() else { continue };
            unit.target = None;
            unit.task = Task::Hold;
            let army = &mut self.armies[usize::from(unit.army)];
            army.losses += 1;
            army.fallen.push_back(number);
            let removed = self.world.remove_body(body);
            debug_assert!(removed.is_ok(), "unit {number} had no body: {removed:?}");
        }
        self.scratch.dead = dead;
    }

    /// Whether a unit's enemy lives and can be struck from where the unit stands.
    pub(super) fn in_range(&self, number: u32, target: u32) -> bool {
        let (unit, enemy) = (&self.units[number as usize], &self.units[target as usize]);
        let places = &self.scratch.places;
        let distance = places[number as usize].distance_squared(places[target as usize]);
        enemy.is_alive() && distance <= squared(unit.kind.stats().range)
    }
}
