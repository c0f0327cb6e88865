//! How units enter the world: all at once at the start, then one by one from keeps and barracks.

use std::collections::VecDeque;

use testudo_physics::math::isqrt_u64;
use testudo_physics::{BodyDef, Shape};

use crate::building::Building;
use crate::field::{BOULDER_RADIUS, Base, Field};
use crate::kind::{Kind, UNIT_RADIUS};
use crate::march::raw;
use crate::point::{Point, UNIT};
use crate::rock::Rock;
use crate::setup::{Setup, SetupError};
use crate::unit::{Destination, Stance, Task, Unit};
use crate::{ARCHERS, Game, LEFT_WING, NO_UNIT, RIGHT_WING};

/// Mass of boulders: heavy enough to need several units to push one.
const BOULDER_MASS: i32 = 6 * UNIT;
const BOULDER_FRICTION: i32 = 4 * UNIT;

/// Recruits appear within this distance (raw) of their building's front.
const YARD: i32 = 2 * UNIT;

/// Enemies besiege a building if they are as near to it as the front of the army's first formation, or this much (raw) farther away.
const SIEGE: i32 = 14 * UNIT;

/// A besieged building trains in two of five frames: an attack on a base must win against recruits who are at once where they are needed,
/// and a lost battle must not yet be a lost match.
const SIEGE_FRAMES: u64 = 5;
const SIEGE_FRAMES_TRAINED: u64 = 2;

/// An army that is behind in losses trains twice in one of so many frames, so 50 % faster: a side that is behind after the first clash comes back to full
/// strength first.
const HASTE_FRAMES: u64 = 2;

/// By more than one in so many of a full army. If any difference counted, a player who does nothing would win three of 48 matches on open ground.
const BEHIND_PART: u32 = 10;

impl Game {
    /// Creates boulders, rocks and buildings.
    pub(super) fn furnish(&mut self) -> Result<(), SetupError> {
        for boulder in &self.field.boulders {
            let body = BodyDef::dynamic(Shape::Circle { radius: raw(BOULDER_RADIUS) })
                .position(boulder.to_vec2())
                .mass(raw(BOULDER_MASS))
                .ground_friction(raw(BOULDER_FRICTION));
            self.world.create_body(&body.user(NO_UNIT))?;
        }
        let immovable = |rock: &Rock| {
            let body = BodyDef::static_body(Shape::Rect { half_extents: rock.half.to_vec2() });
            body.position(rock.centre.to_vec2()).user(NO_UNIT)
        };
        for rock in self.field.rocks.iter().chain(&self.field.waters) {
            self.world.create_body(&immovable(rock))?;
        }
        for building in &mut self.buildings {
            building.body = Some(self.world.create_body(&immovable(&building.ground))?);
        }
        Ok(())
    }

    /// Creates all units at their places in the armies' first formations.
    pub(super) fn enlist_all(&mut self) -> Result<(), SetupError> {
        for number in 0..self.units.len() as u32 {
            let army = self.units[number as usize].army;
            let base = &self.field.bases[usize::from(army)];
            let index = number % self.setup.units;
            let place = self.field.place(army, base.centre, index, self.field.files);
            self.enlist(number, place, first_groups(&self.setup, &self.field, number))?;
        }
        Ok(())
    }

    /// Creates a unit at full strength.
    fn enlist(&mut self, number: u32, place: Point, groups: u16) -> Result<(), SetupError> {
        let stats = self.units[number as usize].kind.stats();
        let body = BodyDef::dynamic(Shape::Circle { radius: raw(UNIT_RADIUS) })
            .position(place.to_vec2())
            .mass(raw(stats.mass))
            .user(number.into());
        let body = self.world.create_body(&body)?;
        self.crowd.add(&self.world, body, Self::mover(self.units[number as usize].kind))?;
        // Up to a tenth more or less, so that units that started together do not fall together.
        let spread = stats.hit_points / 10;
        let hit_points = stats.hit_points + self.dice.between(-spread, spread);
        let reload_ms = self.dice.between(0, stats.reload_ms as i32).unsigned_abs();
        let unit = &mut self.units[number as usize];
        *unit = Unit {
            groups,
            body: Some(body),
            hit_points,
            ready_ms: self.now_ms.saturating_add(reload_ms.into()),
            post: place,
            ..dismissed(unit.army, unit.kind)
        };
        self.running_ms[number as usize] = 0;
        self.scratch.places[number as usize] = place;
        Ok(())
    }

    /// Buildings train; recruits appear in front of them and go to the rally point.
    pub(super) fn train(&mut self, frames_per_second: u32) {
        for number in 0..self.buildings.len() {
            if self.is_besieged(number) && self.frame % SIEGE_FRAMES >= SIEGE_FRAMES_TRAINED {
                continue;
            }
            let building = &self.buildings[number];
            let is_wanted = building.stands() && self.armies[usize::from(building.army)].wants_recruits();
            let times = if self.frame.is_multiple_of(HASTE_FRAMES) && self.has_lost_most(building.army) {
                2
            } else {
                1
            };
            for _ in 0..times {
                self.buildings[number].train(is_wanted, frames_per_second);
            }
            while self.buildings[number].take_recruit() {
                let army = self.buildings[number].army;
                let Some(unit) = self.armies[usize::from(army)].recruit() else { break };
                // Only a damaged state names somebody who lives among the fallen.
                if self.units[unit as usize].is_alive() {
                    continue;
                }
                let place = self.way_out(number);
                let enlisted = self.enlist(unit, place, 0);
                debug_assert!(enlisted.is_ok(), "unit {unit}: {enlisted:?}");
                self.gather(unit);
            }
        }
    }

    /// Whether an army has lost more units than each of its enemies, by more than a part of an army.
    fn has_lost_most(&self, army: u8) -> bool {
        let losses = self.armies[usize::from(army)].losses;
        let behind = self.setup.units / BEHIND_PART;
        let mut enemies = (0..).zip(&self.armies).filter(|(other, _)| !self.teams.are_friends(army, *other));
        enemies.all(|(_, enemy)| enemy.is_defeated || enemy.losses.saturating_add(behind) < losses)
    }

    /// Whether an enemy is near a building, which slows training there.
    fn is_besieged(&self, number: usize) -> bool {
        let Building { army, ground, .. } = &self.buildings[number];
        let base = &self.field.bases[usize::from(*army)];
        // A field is narrower than 2^31, so a root of a distance fits.
        let to_army = isqrt_u64(ground.centre.distance_squared(base.centre)) as i32;
        let reach = to_army.saturating_add(self.formation_half() + SIEGE).min(1 << 30);
        self.scratch.grid.is_enemy_within(ground.centre, self.teams.foes_of(*army), reach)
    }

    /// A position in front of a building.
    fn way_out(&mut self, building: usize) -> Point {
        let building = &self.buildings[building];
        let Base { forward: (fx, fy), .. } = self.field.bases[usize::from(building.army)];
        let half = building.ground.half.x;
        let across = self.dice.between(-half, half);
        let ahead = half + UNIT_RADIUS + self.dice.between(0, YARD);
        let place = building.ground.centre.offset(fx * ahead - fy * across, fy * ahead + fx * across);
        place.clamped(self.field.half)
    }

    /// Sends a recruit to its place in the formation at the rally point.
    fn gather(&mut self, number: u32) {
        let army = self.units[number as usize].army;
        let rally = self.armies[usize::from(army)].rally;
        let place = self.field.place(army, rally, number % self.setup.units, self.field.files);
        let destination = Destination { place: self.terrain().nearest_free(place), goal: rally };
        self.units[number as usize].task = Task::Attack(destination);
        self.go(number, destination);
    }
}

/// A unit that is not in the world.
pub(super) fn dismissed(army: u8, kind: Kind) -> Unit {
    Unit {
        army,
        kind,
        groups: 0,
        body: None,
        hit_points: 0,
        ready_ms: 0,
        task: Task::Hold,
        errands: VecDeque::new(),
        stance: Stance::Defend,
        post: Point::ZERO,
        away_ms: 0,
        target: None,
    }
}

/// The control groups of a unit at the start. Recruits are in no group: a group contains only the units that were put into it.
fn first_groups(setup: &Setup, field: &Field, number: u32) -> u16 {
    let index = number % setup.units;
    let group = match Kind::of(index, setup.units) {
        Kind::Archer => ARCHERS,
        Kind::Guard if index % field.files < field.files.div_ceil(2) => LEFT_WING,
        Kind::Guard => RIGHT_WING,
    };
    1 << group
}

/// Buildings of all armies at full strength that are not in the world yet.
pub(super) fn buildings(setup: &Setup, field: &Field) -> Vec<Building> {
    let of_army = |(army, base): (u8, &Base)| {
        let units = setup.units;
        base.buildings.map(|(kind, ground)| Building::new(army, kind, ground, units))
    };
    (0..).zip(&field.bases).flat_map(of_army).collect()
}
