//! Where units want to go. What becomes of it in a crowd is the physics' business.

use testudo_physics::{BodyDef, Fx, Shape};

use crate::game::Game;
use crate::game::point::{Point, UNIT, squared};
use crate::game::setup::SetupError;
use crate::game::unit::{Task, UNIT_RADIUS};

/// Raw units/s^2 per axis: full speed within two frames of 1/20 s, and weak enough to be pushed.
const ACCELERATION: i32 = 40 * UNIT;

/// Brakes the units that nobody drives: raw units/s^2.
const GROUND_FRICTION: i32 = 8 * UNIT;

/// Slower than this (raw units/s), a unit that wants to stand is left to ground friction.
const SLOW: i32 = UNIT / 2;

/// Distance from the goal (raw) at which a unit has arrived.
const ARRIVAL: i32 = UNIT / 2;

/// Speed per distance near the goal, 1/s: four units per second at one unit of distance.
const APPROACH: i32 = 4;

impl Game {
    /// Every living unit accelerates towards what it wants.
    pub(super) fn march(&mut self, frames_per_second: u32) {
        let step = ACCELERATION / frames_per_second.clamp(1, 1_000) as i32;
        for number in 0..self.units.len() as u32 {
            let Some(id) = self.units[number as usize].body else { continue };
            let wanted = self.wanted_velocity(number);
            let Some(body) = self.world.body(id) else { continue };
            let now = Point::from_vec2(body.velocity());
            if wanted == Point::ZERO && now.x.abs() <= SLOW && now.y.abs() <= SLOW {
                continue;
            }
            let next = Point {
                x: now.x + (wanted.x - now.x).clamp(-step, step),
                y: now.y + (wanted.y - now.y).clamp(-step, step),
            };
            if next != now {
                let set = self.world.set_velocity(id, next.to_vec2());
                debug_assert!(set.is_ok(), "unit {number}: {set:?}");
            }
        }
    }

    /// Raw units per second. A unit that has arrived holds its place from now on.
    fn wanted_velocity(&mut self, number: u32) -> Point {
        let place = self.scratch.places[number as usize];
        let unit = &self.units[number as usize];
        let speed = unit.kind.stats().speed;
        if let Some(target) = unit.target.filter(|target| self.units[*target as usize].is_alive()) {
            if self.in_range(number, target) {
                return Point::ZERO;
            }
            return place.towards(self.scratch.places[target as usize], speed);
        }
        let (Task::March(goal) | Task::Attack(goal)) = unit.task else { return Point::ZERO };
        let distance = place.distance_squared(goal);
        if distance <= squared(ARRIVAL) {
            self.units[number as usize].task = Task::Hold;
            return Point::ZERO;
        }
        if distance >= squared(speed / APPROACH) {
            return place.towards(goal, speed);
        }
        // Below full speed: the way itself, times a constant.
        Point { x: (goal.x - place.x) * APPROACH, y: (goal.y - place.y) * APPROACH }
    }

    /// Puts a unit at full strength into the world, at its place in the army's first formation.
    pub(super) fn enlist(&mut self, number: u32) -> Result<(), SetupError> {
        let unit = &self.units[number as usize];
        let base = &self.field.bases[usize::from(unit.army)];
        let place = self.field.place(unit.army, base.centre, number % self.setup.units, self.field.files);
        let stats = unit.kind.stats();
        let body = BodyDef::dynamic(Shape::Circle { radius: raw(UNIT_RADIUS) })
            .position(place.to_vec2())
            .mass(raw(stats.mass))
            .ground_friction(raw(GROUND_FRICTION))
            .user(number.into());
        let body = self.world.create_body(&body)?;
        // A tenth more or less, so that not all who began together fall together.
        let spread = stats.hit_points / 10;
        let hit_points = stats.hit_points + self.dice.between(-spread, spread);
        let unit = &mut self.units[number as usize];
        unit.body = Some(body);
        unit.hit_points = hit_points;
        unit.task = Task::Hold;
        unit.target = None;
        self.scratch.places[number as usize] = place;
        Ok(())
    }

    /// Reinforcements take the places of the fallen.
    pub(super) fn reinforce(&mut self, frames_per_second: u32) {
        for army in 0..self.armies.len() {
            self.armies[army].muster(self.setup.units, frames_per_second);
            while let Some(unit) = self.armies[army].reinforce() {
                let enlisted = self.enlist(unit);
                debug_assert!(enlisted.is_ok(), "unit {unit}: {enlisted:?}");
            }
        }
    }
}

/// A fixed-point number from its raw value.
pub(super) fn raw(value: i32) -> Fx {
    Fx::from_bits(value.into())
}
