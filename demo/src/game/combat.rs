//! What units do in a frame: look for enemies, march, fight, die and return.

use testudo_physics::{Fx, Vec2, isqrt_u64};

use super::Battle;
use super::unit::{self, DAMAGE_PER_SECOND, HIT_POINTS, SPEED, Task};

/// Frames between two looks around; a unit looks at once when its enemy is gone.
const LOOK_INTERVAL: u32 = 5;
/// How far a unit sees enemies, raw units: 8 units of length (one cell of the grid).
const SIGHT: i64 = 8 << 16;
/// Distance between centres at which a unit hits, raw units: 1.5 units of length.
const RANGE: i64 = 3 << 15;
/// Seconds until a fallen unit returns.
const RETURN_SECONDS: u32 = 8;

/// Damage to a unit, and who dealt it.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    target: u32,
    attacker: u8,
    damage: i32,
}

impl Battle {
    /// Position of a living unit, raw units.
    fn place_of(&self, unit: u32) -> Option<[i32; 2]> {
        let id = self.units.get(unit as usize)?.body?;
        let p = self.world.body(id)?.position();
        Some([p.x.to_bits() as i32, p.y.to_bits() as i32])
    }

    /// Units without an enemy look for one every few frames, unless they were told to march on.
    pub(super) fn look_for_enemies(&mut self) {
        if !self.frame.is_multiple_of(LOOK_INTERVAL) || self.setup.players < 2 {
            return;
        }
        let mut grid = core::mem::take(&mut self.grid);
        grid.fill(
            (0..self.units.len() as u32)
                .filter_map(|unit| Some((unit, self.units[unit as usize].player, self.place_of(unit)?))),
        );
        for index in 0..self.units.len() {
            let target = match (self.units[index].task, self.place_of(index as u32)) {
                (Task::Hold | Task::AttackMove { .. }, Some(place)) => {
                    grid.nearest_enemy(self.units[index].player, place, SIGHT)
                }
                _ => None,
            };
            self.units[index].target = target;
        }
        self.grid = grid;
    }

    /// Drives every unit that has somewhere to go.
    pub(super) fn march(&mut self) {
        for index in 0..self.units.len() {
            let unit = self.units[index];
            let (Some(id), Some(place)) = (unit.body, self.place_of(index as u32)) else { continue };
            let enemy = unit.target.and_then(|target| self.place_of(target));
            let goal = match (enemy, unit.task) {
                (Some(enemy), _) => Some((enemy.map(i64::from), RANGE)),
                (None, Task::Hold) => None,
                (None, Task::Move { to, within } | Task::AttackMove { to, within }) => {
                    Some((to.map(|c| i64::from(c) << 16), i64::from(within) << 16))
                }
            };
            let Some((goal, close_enough)) = goal else { continue };
            let way = [goal[0] - i64::from(place[0]), goal[1] - i64::from(place[1])];
            let distance = isqrt_u64((way[0] * way[0] + way[1] * way[1]) as u64) as i64;
            if distance > close_enough {
                let along = |axis: usize| Fx::from_bits(way[axis] * SPEED / distance);
                let driven = self.world.set_velocity(id, Vec2::new(along(0), along(1)));
                debug_assert!(driven.is_ok());
            } else if enemy.is_none() {
                // Arrived: ground friction stops the unit.
                self.units[index].task = Task::Hold;
            }
        }
    }

    /// Units in range of their enemies hit them; all hits of a frame count, whoever falls.
    pub(super) fn fight(&mut self, frames_per_second: u32) {
        let mut hits = core::mem::take(&mut self.hits);
        hits.clear();
        for index in 0..self.units.len() {
            let Some(target) = self.units[index].target else { continue };
            let (Some(place), Some(enemy)) = (self.place_of(index as u32), self.place_of(target)) else {
                self.units[index].target = None;
                continue;
            };
            let [dx, dy] = [0, 1].map(|axis| i64::from(enemy[axis]) - i64::from(place[axis]));
            if dx * dx + dy * dy <= RANGE * RANGE {
                let unit = &mut self.units[index];
                // Damage per second in whole points per frame; what is left over counts in the next one.
                let total = DAMAGE_PER_SECOND + unit.damage_rest;
                unit.damage_rest = total % frames_per_second;
                let damage = (total / frames_per_second) as i32;
                hits.push(Hit { target, attacker: unit.player, damage });
            }
        }
        for hit in &hits {
            let unit = &mut self.units[hit.target as usize];
            if unit.hit_points > 0 {
                unit.hit_points -= hit.damage;
                if unit.hit_points <= 0 {
                    self.armies[usize::from(hit.attacker)].kills += 1;
                }
            }
        }
        self.hits = hits;
    }

    /// Removes the fallen and brings those back whose time has come.
    pub(super) fn bury_and_reinforce(&mut self, frames_per_second: u32) {
        for index in 0..self.units.len() {
            let unit = self.units[index];
            match unit.body {
                Some(id) if unit.hit_points <= 0 => {
                    let removed = self.world.remove_body(id);
                    debug_assert!(removed.is_ok());
                    self.armies[usize::from(unit.player)].losses += 1;
                    let fallen = &mut self.units[index];
                    (fallen.body, fallen.target, fallen.task) = (None, None, Task::Hold);
                    fallen.returns_in = RETURN_SECONDS * frames_per_second;
                }
                None if unit.returns_in > 1 => self.units[index].returns_in -= 1,
                None => self.reinforce(index),
                Some(_) => {}
            }
        }
    }

    fn reinforce(&mut self, index: usize) {
        let player = self.units[index].player;
        let number = (index - self.own_units(player).start) as u32;
        let place = self.field.place(player, number);
        let body = unit::spawn(&mut self.world, index as u32, player, place);
        let fresh = &mut self.units[index];
        (fresh.body, fresh.hit_points, fresh.returns_in, fresh.damage_rest) = (body, HIT_POINTS, 0, 0);
    }
}
