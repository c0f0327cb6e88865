//! Combat: which units fight, and the results.

use crate::Game;
use crate::point::{Point, UNIT, squared};
use crate::unit::{Deed, Destination, Errand, Foe, Stance, Task};

/// Every unit looks around once in this many frames; the units take turns.
pub(super) const LOOK_EVERY: u32 = 8;

/// A building's wall this far (raw) out of reach is as good as seen.
const WALL: i32 = 3 * UNIT;

/// The first blow of a unit that has run for this long is a charge, ms.
const CHARGE_AFTER_MS: u16 = 1_500;

impl Game {
    /// Notes the positions of the living units, and how they run.
    pub(super) fn survey(&mut self, elapsed_ms: u16) {
        let scratch = &mut self.scratch;
        scratch.grid.clear();
        scratch.assailants.fill(None);
        for number in 0..self.units.len() as u32 {
            let unit = &self.units[number as usize];
            let Some(body) = unit.body.and_then(|id| self.world.body(id)) else { continue };
            let place = Point::from_vec2(body.position());
            scratch.places[number as usize] = place;
            let running_ms = &mut self.running_ms[number as usize];
            *running_ms = unit.momentum(*running_ms, Point::from_vec2(body.velocity()), elapsed_ms);
            scratch.grid.add(number, unit.army, place);
            if let Some(Foe::Building(building)) = unit.target {
                scratch.assailants[building as usize].get_or_insert(number);
            }
        }
        scratch.grid.settle();
    }

    /// Some of the units look for enemies.
    pub(super) fn look_around(&mut self, elapsed_ms: u16) {
        let turn = (self.frame % u64::from(LOOK_EVERY)) as u32;
        for number in (turn..self.units.len() as u32).step_by(LOOK_EVERY as usize) {
            let unit = &self.units[number as usize];
            if !unit.is_alive() {
                continue;
            }
            let place = self.scratch.places[number as usize];
            let sight = unit.kind.stats().sight;
            let range = unit.kind.stats().range;
            let target = match unit.task {
                Task::March(_) => self.nearest_foe(place, unit.army, range),
                Task::Strike { foe, .. } if self.is_within(place, foe, sight) => {
                    // A unit strikes an enemy in its path until its target is within reach.
                    let reached = self.is_within(place, foe, range);
                    let other = self.nearest_foe(place, unit.army, range).filter(|_| !reached);
                    Some(other.unwrap_or(foe))
                }
                Task::Strike { .. } => self.nearest_foe(place, unit.army, range),
                Task::Attack(_) | Task::Patrol { .. } => self.nearest_foe(place, unit.army, sight),
                Task::Hold | Task::Return(_) => match unit.stance {
                    Stance::Hold => self.nearest_foe(place, unit.army, range),
                    Stance::Pursue => self.nearest_foe(place, unit.army, 2 * sight),
                    // No unit is lured away from its post.
                    Stance::Defend => self.nearest_foe(place, unit.army, sight).filter(|foe| {
                        unit.post.distance_squared(self.aim(unit.post, *foe)) <= squared(sight + range)
                    }),
                },
                Task::Aid(_) => self.nearest_foe(place, unit.army, sight).filter(|foe| {
                    unit.post.distance_squared(self.aim(unit.post, *foe)) <= squared(self.aid_reach() + sight)
                }),
            };
            let target = target.filter(|foe| self.can_come_at(number, *foe));
            if unit.target != target {
                self.units[number as usize].target = target;
            }
            let unit = &self.units[number as usize];
            if target.is_none() && unit.task.is_idle() && unit.stance != Stance::Hold {
                self.come_to_aid(number);
            }
            self.follow(number);
            self.heed(number);
            self.back_to_the_post(number, elapsed_ms);
        }
    }

    /// Whether an enemy is within reach, or a straight walk leads to it, so that no unit runs at a wall or a river because of an enemy
    /// behind it. At the corner of a building the nearest free ground may be round the corner, though the wall is in front of the unit.
    fn can_come_at(&self, number: u32, foe: Foe) -> bool {
        let place = self.scratch.places[number as usize];
        let aim = self.aim(place, foe);
        let range = self.units[number as usize].kind.stats().range;
        let near = if let Foe::Building(_) = foe { range + WALL } else { range };
        place.distance_squared(aim) <= squared(near)
            || self.terrain().sees(place, self.terrain().nearest_free(aim))
    }

    /// A unit that has gone to where its enemy was, and does not fight it there, goes to where it is now.
    fn follow(&mut self, number: u32) {
        let unit = &self.units[number as usize];
        let Task::Strike { foe, .. } = unit.task else { return };
        let stands = unit
            .body
            .is_some_and(|body| self.crowd.is_going(body) == Some(false) && self.crowd.prey(body).is_none());
        if let Some((_, place)) = self.foe_place(foe).filter(|_| stands) {
            let place = self.terrain().nearest_free(place);
            self.units[number as usize].task =
                Task::Strike { foe, destination: Destination { place, goal: place } };
        }
    }

    /// The nearest enemy unit in sight; if there is none, the nearest building; the first one of equally near ones.
    fn nearest_foe(&self, place: Point, army: u8, sight: i32) -> Option<Foe> {
        if let Some(unit) = self.scratch.grid.nearest_enemy(place, self.teams.foes_of(army), sight) {
            return Some(Foe::Unit(unit));
        }
        let enemies = (0..)
            .zip(&self.buildings)
            .filter(|(_, other)| other.stands() && !self.teams.are_friends(army, other.army));
        let distances =
            enemies.map(|(number, other)| (place.distance_squared(other.nearest_place(place)), number));
        let (distance, number) = distances.min()?;
        (distance <= squared(sight)).then_some(Foe::Building(number))
    }

    /// Every unit with an enemy in range strikes. All blows of a frame fall at the same time, so a unit that falls in this frame still
    /// strikes.
    pub(super) fn fight(&mut self) {
        let now_ms = self.now_ms;
        for number in 0..self.units.len() as u32 {
            let unit = &self.units[number as usize];
            let is_ready = unit.body.is_some() && unit.ready_ms <= now_ms;
            let Some(target) = unit.target.filter(|_| is_ready) else { continue };
            let (army, kind) = (unit.army, unit.kind);
            let from = self.scratch.places[number as usize];
            if !self.is_within(from, target, kind.stats().range) {
                continue;
            }
            self.units[number as usize].ready_ms = now_ms.saturating_add(kind.stats().reload_ms.into());
            let ran_ms = core::mem::take(&mut self.running_ms[number as usize]);
            let charge = if ran_ms >= CHARGE_AFTER_MS { kind.stats().charge } else { 1 };
            self.hit(army, target, kind.stats().damage * charge);
        }
    }

    fn hit(&mut self, army: u8, target: Foe, damage: u32) {
        let hit_points = match target {
            Foe::Unit(unit) => &mut self.units[unit as usize].hit_points,
            Foe::Building(building) => &mut self.buildings[building as usize].hit_points,
        };
        let stood = *hit_points > 0;
        *hit_points = hit_points.saturating_sub_unsigned(damage);
        if stood && *hit_points <= 0 {
            self.scratch.fallen.push(target);
            if let Foe::Unit(_) = target {
                let kills = &mut self.armies[usize::from(army)].kills;
                *kills = kills.saturating_add(1);
            }
        }
    }

    /// Removes fallen units and buildings from the world, and armies that are defeated now.
    pub(super) fn bury(&mut self) {
        let mut fallen = core::mem::take(&mut self.scratch.fallen);
        fallen.sort_unstable();
        for &foe in &fallen {
            match foe {
                Foe::Unit(number) => self.bury_unit(number, true),
                Foe::Building(number) => self.raze(number),
            }
        }
        if !fallen.is_empty() {
            self.disband_the_defeated();
            self.forget_the_fallen();
        }
        fallen.clear();
        self.scratch.fallen = fallen;
    }

    pub(super) fn bury_unit(&mut self, number: u32, in_battle: bool) {
        let unit = &mut self.units[number as usize];
        let Some(body) = unit.body.take() else { return };
        unit.target = None;
        unit.errands.clear();
        unit.settle(Point::ZERO);
        let army = &mut self.armies[usize::from(unit.army)];
        army.losses = army.losses.saturating_add(in_battle.into());
        // Only a damaged state has named more of them than there are.
        if army.fallen.len() < self.setup.units as usize {
            army.fallen.push_back(number);
        }
        // Only a damaged state names a body that is gone.
        let _ = self.world.remove_body(body);
    }

    fn raze(&mut self, number: u32) {
        let building = &mut self.buildings[number as usize];
        let Some(body) = building.body.take() else { return };
        let area = self.world.body(body).map(|body| body.aabb());
        // Only a damaged state names a body that is gone.
        let _ = self.world.remove_body(body);
        if let Some(area) = area {
            self.crowd.survey_area(&self.world, area);
        }
    }

    /// Armies without a keep, and armies with neither units nor recruits, are defeated: their buildings fall, and their units leave the
    /// field.
    fn disband_the_defeated(&mut self) {
        for army in 0..self.setup.players {
            let has_keep = self.buildings.iter().any(|building| building.is_keep_of(army));
            let is_spent = self.armies[usize::from(army)].reserve == 0
                && self.numbers_of(army).all(|unit| !self.units[unit as usize].is_alive());
            let state = &mut self.armies[usize::from(army)];
            if state.is_defeated || has_keep && !is_spent {
                continue;
            }
            state.is_defeated = true;
            for number in 0..self.buildings.len() as u32 {
                if self.buildings[number as usize].army == army {
                    self.raze(number);
                }
            }
            for number in self.numbers_of(army) {
                self.bury_unit(number, false);
            }
        }
    }

    /// Units stop fighting the fallen, now and later, so they do not fight the recruits who get the same numbers.
    fn forget_the_fallen(&mut self) {
        for number in 0..self.units.len() {
            if self.units[number].errands.iter().any(|errand| self.has_fallen(errand)) {
                let mut errands = core::mem::take(&mut self.units[number].errands);
                errands.retain(|errand| !self.has_fallen(errand));
                self.units[number].errands = errands;
            }
            let unit = &self.units[number];
            if unit.target.is_some_and(|foe| self.foe_place(foe).is_none()) {
                self.units[number].target = None;
                // A unit that strikes others on the way to its own enemy goes on.
                let chases = |foe| self.chases(number as u32, foe);
                if !matches!(self.units[number].task, Task::Strike { foe, .. } if chases(foe)) {
                    self.heed(number as u32);
                }
            }
            if let Task::Strike { foe, .. } = self.units[number].task
                && self.foe_place(foe).is_none()
            {
                let post = self.place_of(number as u32).unwrap_or(Point::ZERO);
                self.done(number as u32, post);
            }
        }
    }

    /// Whether an errand is to strike somebody who has fallen.
    fn has_fallen(&self, errand: &Errand) -> bool {
        matches!(errand.deed, Deed::Strike(foe) if self.foe_place(foe).is_none())
    }

    /// Owner and position of an enemy; none if it has fallen or never existed.
    pub(super) fn foe_place(&self, foe: Foe) -> Option<(u8, Point)> {
        match foe {
            Foe::Unit(number) => {
                let unit = self.units.get(number as usize)?;
                Some((unit.army, self.place_of(number)?))
            }
            Foe::Building(number) => {
                let building = self.buildings.get(number as usize).filter(|building| building.stands())?;
                Some((building.army, building.ground.centre))
            }
        }
    }

    /// The point of an enemy that an attack from `from` goes to.
    pub(super) fn aim(&self, from: Point, foe: Foe) -> Point {
        match foe {
            Foe::Unit(unit) => self.scratch.places[unit as usize],
            Foe::Building(building) => self.buildings[building as usize].nearest_place(from),
        }
    }

    /// Whether an enemy exists, no farther than `reach` (raw).
    pub(super) fn is_within(&self, from: Point, foe: Foe, reach: i32) -> bool {
        let stands = match foe {
            Foe::Unit(unit) => self.units[unit as usize].is_alive(),
            Foe::Building(building) => self.buildings[building as usize].stands(),
        };
        stands && from.distance_squared(self.aim(from, foe)) <= squared(reach)
    }
}
