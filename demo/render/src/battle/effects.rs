//! What the view remembers between pictures: hits, fallen units, order markers. None of it affects the match.

use std::collections::VecDeque;

use macroquad::color::WHITE;
use macroquad::math::{Vec2, vec2};

use crate::battle::shown::Shown;
use crate::battle::view::View;
use crate::paint::atlas::{Pose, STRIKES, Sprite};
use crate::paint::batch::Batch;
use crate::paint::camera::{place, vector};
use crate::paint::palette::{BACKDROP, DYING, ROCK_DARK, SELECTION, SPARKLE, TEXT_DIM, army, faded, mixed};
use crate::sound::Cue;
use testudo_battle::{BuildingLook, UnitLook};
use testudo_physics::BodyId;

/// Durations of effects, seconds.
const HURT: f32 = 0.22;
const FALLEN: f32 = 0.7;
const MARKER: f32 = 0.9;
const SPARK: f32 = 0.25;
const CORPSE: f32 = 40.0;

/// Greatest number of marks of one kind, of corpses, and of events that nobody has heard yet, at a time.
const MARKS_MAX: usize = 400;
const CORPSES_MAX: usize = 600;
const EVENTS_MAX: usize = 64;

/// Most frames from one picture to the next; after more of them, or backwards, what was seen before is another part of the battle.
const JUMP: u32 = 40;

/// Seconds from one arrow of an archer to the next.
const ARROW_SECONDS: f32 = 1.2;

/// Seconds from one picture of walking to the next, and from one of a blow; slower than this a unit stands, units per second.
const STEP: f32 = 0.14;
const BLOW: f32 = 0.11;
const WALKS: f32 = 0.6;

/// An event of the battle: what is heard of it, where, and to whom.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BattleEvent {
    pub cue: Cue,
    /// A building was hit.
    pub is_siege: bool,
    pub at: Vec2,
    pub army: u8,
}

/// A unit in the picture before.
#[derive(Clone, Copy)]
struct Seen {
    /// In the confirmed battle. None: so far it is only predicted that there is such a unit.
    body: Option<BodyId>,
    army: u8,
    hit_points: i32,
    /// The fewest hit points that were seen, predicted or not.
    least: i32,
    /// Its greatest hit points so far; units are not all equally strong.
    whole: i32,
    at: Vec2,
    /// Unit vector.
    facing: Vec2,
    is_archer: bool,
    /// It strikes an enemy; it walks.
    strikes: bool,
    walks: bool,
    /// It has released an arrow since it began to strike.
    has_shot: bool,
    /// Seconds since the last visible blow.
    unhurt: f32,
    /// Number of the frame in which it was last seen.
    frame: u32,
}

/// A building that has fallen.
#[derive(Clone, Copy)]
struct Ruin {
    look: BuildingLook,
    /// Seconds since it fell.
    age: f32,
}

/// A fallen unit on the ground, as it was seen last.
#[derive(Clone, Copy)]
struct Corpse {
    unit: Seen,
    age: f32,
}

/// A fading mark at a position.
#[derive(Clone, Copy)]
struct Mark {
    at: Vec2,
    age: f32,
    army: u8,
    attacks: bool,
}

/// The memory of one view.
#[derive(Default)]
pub struct Effects {
    seconds: f32,
    frame: u32,
    /// By number in the match; none for units that are not alive.
    seen: Vec<Option<Seen>>,
    markers: Vec<Mark>,
    /// Positions of recent hits.
    sparks: Vec<Mark>,
    corpses: VecDeque<Corpse>,
    /// The buildings of the picture before, and those that have fallen.
    buildings: Vec<BuildingLook>,
    ruins: Vec<Ruin>,
    /// What has happened since somebody listened.
    events: Vec<BattleEvent>,
}

impl Effects {
    /// What has happened since the last call.
    pub fn take_events(&mut self) -> Vec<BattleEvent> {
        core::mem::take(&mut self.events)
    }

    fn note(&mut self, cue: Cue, is_siege: bool, at: Vec2, army: u8) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(BattleEvent { cue, is_siege, at, army });
        }
    }

    /// Who comes late, or back, is shown the first formation until the state is there: nobody falls by that.
    fn forget_after_jump(&mut self, frame: u32) {
        if frame < self.frame || frame - self.frame > JUMP {
            let markers = core::mem::take(&mut self.markers);
            *self = Self { seconds: self.seconds, markers, ..Self::default() };
        }
    }

    /// Reads what a client shows. `frame` is its number; `seconds` is the time since the last call in match time, `real` in real time. Blows and
    /// shots may be predicted; that a unit or a building falls is shown when it is confirmed.
    pub fn observe(&mut self, shown: Shown<'_>, frame: u32, seconds: f32, real: f32) {
        self.forget_after_jump(frame);
        let before = self.seconds;
        self.seconds += seconds;
        self.sparks.iter_mut().for_each(|mark| mark.age += seconds);
        self.markers.iter_mut().for_each(|mark| mark.age += real);
        self.corpses.iter_mut().for_each(|corpse| corpse.age += seconds);
        self.ruins.iter_mut().for_each(|ruin| ruin.age += seconds);
        self.sparks.retain(|mark| mark.age < SPARK);
        while self.corpses.pop_front_if(|corpse| corpse.age > CORPSE).is_some() {}
        self.markers.retain(|mark| mark.age < MARKER);
        if frame != self.frame || self.seen.is_empty() {
            self.frame = frame;
            self.compare(shown);
        }
        self.look_at_units(before, seconds);
    }

    /// What happens to units between two frames: wounds close, and arrows are released.
    fn look_at_units(&mut self, before: f32, seconds: f32) {
        for number in 0..self.seen.len() {
            let released = volleys(before, number as u32) != volleys(self.seconds, number as u32);
            let Some(seen) = &mut self.seen[number] else { continue };
            seen.unhurt += seconds;
            seen.has_shot &= seen.strikes;
            if released && seen.strikes && seen.is_archer {
                seen.has_shot = true;
                let Seen { at, army, .. } = *seen;
                self.note(Cue::Arrow, false, at, army);
            }
        }
    }

    fn compare(&mut self, shown: Shown<'_>) {
        let frame = self.frame;
        let mut living = vec![None; self.seen.len()];
        for look in shown.truth.unit_looks() {
            let place = look.number as usize;
            living.resize(living.len().max(place + 1), None);
            living[place] = Some(look.body);
        }
        self.seen.resize(living.len(), None);
        for (place, body) in living.iter().enumerate() {
            // A recruit may have its number already.
            let is_dead = |seen: &mut Seen| seen.body.is_some() && seen.body != *body;
            let Some(dead) = self.seen[place].take_if(is_dead) else { continue };
            self.note(Cue::Fall, false, dead.at, dead.army);
            if self.corpses.len() == CORPSES_MAX {
                self.corpses.pop_front();
            }
            self.corpses.push_back(Corpse { unit: dead, age: 0.0 });
        }
        for look in shown.unit_looks() {
            let confirmed = living.get(look.number as usize).copied().flatten();
            // A predicted recruit whose number still belongs to another is not looked at yet.
            if confirmed.is_none_or(|body| body == look.body) {
                self.compare_unit(shown, &look, confirmed);
            }
        }
        // Recruits that were predicted, and do not come.
        for seen in &mut self.seen {
            *seen = seen.filter(|seen| seen.frame == frame);
        }
        self.compare_buildings(shown);
    }

    /// A unit, with what was seen of it before.
    fn compare_unit(&mut self, shown: Shown<'_>, look: &UnitLook, confirmed: Option<BodyId>) {
        let frame = self.frame;
        let Some(body) = shown.body(look.body) else { return };
        let (position, velocity) = (body.position(), body.velocity());
        let at = vector(position);
        let speed = vector(velocity);
        let target = shown.game.struck_by(look).and_then(|enemy| shown.body(enemy));
        let target = target.map(|enemy| enemy.position());
        let aim = target.map_or(speed, |target| vector(target) - at);
        let (strikes, walks) = (target.is_some(), speed.length() > WALKS);
        let new = Seen {
            body: confirmed,
            army: look.army,
            hit_points: look.hit_points,
            least: look.hit_points,
            whole: whole(look.hit_points, look.stats.hit_points),
            at,
            facing: if look.army == 0 { Vec2::X } else { -Vec2::X },
            is_archer: look.is_archer,
            strikes,
            walks,
            has_shot: false,
            unhurt: HURT,
            frame,
        };
        let place = look.number as usize;
        if self.seen.len() <= place {
            self.seen.resize(place + 1, None);
        }
        let seen = self.seen[place].get_or_insert(new);
        seen.body = confirmed;
        if shown.is_doomed(look.body) {
            // It stays as it was seen last.
            seen.frame = frame;
            return;
        }
        let is_hit = look.hit_points < seen.least;
        // A predicted blow that was revoked is not seen again when it is struck a little later.
        seen.least = if shown.is_predicted() { seen.least.min(look.hit_points) } else { look.hit_points };
        if is_hit {
            seen.unhurt = 0.0;
        }
        seen.whole = seen.whole.max(look.hit_points);
        (seen.hit_points, seen.at, seen.frame) = (look.hit_points, at, frame);
        (seen.strikes, seen.walks) = (strikes, walks);
        if aim.length() > 0.4 {
            let turned = seen.facing + aim.normalize_or_zero() * 0.5;
            seen.facing = turned.try_normalize().unwrap_or(seen.facing);
        }
        if is_hit {
            if self.sparks.len() < MARKS_MAX {
                self.sparks.push(Mark { at, age: 0.0, army: look.army, attacks: true });
            }
            self.note(Cue::Blow, false, at, look.army);
        }
    }

    /// The buildings, with those of the picture before.
    fn compare_buildings(&mut self, shown: Shown<'_>) {
        let standing: Vec<BuildingLook> = shown.truth.building_looks().collect();
        for look in core::mem::take(&mut self.buildings) {
            let at = place(look.centre);
            match standing.iter().find(|other| other.number == look.number) {
                None => {
                    self.ruins.push(Ruin { look, age: 0.0 });
                    self.note(Cue::Crash, false, at, look.army);
                }
                Some(now) if now.hit_points < look.hit_points => {
                    self.note(Cue::Blow, true, at, look.army);
                }
                Some(_) => {}
            }
        }
        self.buildings = standing;
    }

    /// Shows at once where an order leads, before it runs.
    pub fn mark(&mut self, at: Vec2, army: u8, attacks: bool) {
        if self.markers.len() < MARKS_MAX {
            self.markers.push(Mark { at, age: 0.0, army, attacks });
        }
    }

    /// How recent the last blow against the unit with this number is: 1 now, 0 long ago.
    pub fn hurt(&self, number: u32) -> f32 {
        self.seen(number).map_or(0.0, |seen| (1.0 - seen.unhurt / HURT).max(0.0))
    }

    /// The share of its hit points that a unit still has, 0..=1.
    pub fn health(&self, number: u32) -> f32 {
        let part = |seen: &Seen| seen.hit_points.max(0) as f32 / seen.whole.max(1) as f32;
        self.seen(number).map_or(1.0, part)
    }

    /// The direction in which a unit looks.
    pub fn facing(&self, number: u32) -> Option<Vec2> {
        self.seen(number).map(|seen| seen.facing)
    }

    /// The picture of what a unit does now.
    pub fn pose(&self, number: u32) -> Pose {
        let turn = |seconds: f32, of: f32| ((seconds / of) as u32 + number) as u8 % STRIKES;
        match self.seen(number) {
            Some(seen) if seen.strikes && seen.is_archer => {
                // The arrow is gone at first; then the bow is drawn.
                STRIKES + [3, 0, 1, 2][(self.volley(number) * 4.0) as usize % 4]
            }
            Some(seen) if seen.strikes => STRIKES + turn(self.seconds, BLOW),
            Some(seen) if seen.walks => turn(self.seconds, STEP),
            _ => 0,
        }
    }

    /// How far an archer is from one arrow, 0, to the next, 1.
    fn volley(&self, number: u32) -> f32 {
        rhythm(self.seconds, number).fract()
    }

    /// For how long an archer's arrow has been flying, seconds; none if it has released none.
    pub fn flight(&self, number: u32) -> Option<f32> {
        self.seen(number).filter(|seen| seen.has_shot).map(|_| self.volley(number) * ARROW_SECONDS)
    }

    fn seen(&self, number: u32) -> Option<&Seen> {
        self.seen.get(number as usize)?.as_ref()
    }

    /// Match time as pictures count it.
    pub fn seconds(&self) -> f32 {
        self.seconds
    }

    /// Draws what lies on the ground, below the units.
    pub fn draw_ground(&self, batch: &mut Batch, view: &View) {
        for ruin in &self.ruins {
            draw_ruin(batch, view, ruin);
        }
        let radius = view.camera.scale * 0.46;
        for Corpse { unit, age } in self.corpses.iter().filter(|corpse| view.sees(corpse.unit.at, 1.0)) {
            let sprite = if unit.is_archer { Sprite::Archer } else { Sprite::Guard };
            let color = faded(mixed(BACKDROP, army(unit.army), 0.35), 0.75 * (1.0 - age / CORPSE));
            batch.turned(sprite, view.at(unit.at), radius, unit.facing.perp(), color);
        }
    }

    pub fn draw(&self, batch: &mut Batch, view: &View) {
        for mark in self.sparks.iter().filter(|mark| view.sees(mark.at, 1.0)) {
            let part = mark.age / SPARK;
            let radius = view.camera.scale * (0.45 + 0.35 * part);
            let turn = Vec2::from_angle(mark.at.x * 7.0 + mark.at.y * 3.0);
            batch.turned(Sprite::Spark, view.at(mark.at), radius, turn, faded(SPARKLE, 0.9 * (1.0 - part)));
        }
        for Corpse { unit, age } in self.corpses.iter().rev().take_while(|corpse| corpse.age < FALLEN) {
            let (at, part) = (view.at(unit.at), age / FALLEN);
            let radius = view.camera.scale * (0.5 + 0.7 * part);
            batch.sprite(Sprite::Ring, at, radius, faded(army(unit.army), 0.8 * (1.0 - part)));
            batch.sprite(Sprite::Glow, at, radius, faded(WHITE, 0.5 * (1.0 - part)));
        }
        for mark in &self.markers {
            let part = mark.age / MARKER;
            let color = if mark.attacks { DYING } else { mixed(SELECTION, army(mark.army), 0.2) };
            for lag in [0.0, 0.35] {
                let ring = (part + lag) % 1.0;
                let radius = 22.0 * (1.0 - ring) + 3.0;
                batch.sprite(Sprite::Ring, view.at(mark.at), radius, faded(color, (1.0 - part) * 0.9));
            }
            batch.sprite(Sprite::Ball, view.at(mark.at), 3.0, color);
        }
    }
}

/// Arrows since the start, as this archer would have shot them without a pause. Each has its own rhythm.
fn rhythm(seconds: f32, number: u32) -> f32 {
    seconds / ARROW_SECONDS + number as f32 * 0.29
}

fn volleys(seconds: f32, number: u32) -> f32 {
    rhythm(seconds, number).floor()
}

/// Stumps of walls and rubble where a building stood. It smokes for a while and never disappears completely.
fn draw_ruin(batch: &mut Batch, view: &View, ruin: &Ruin) {
    /// Until it looks as it will for good, seconds, and how long it smokes.
    const COOLS: f32 = 20.0;
    let (centre, half) = (place(ruin.look.centre), place(ruin.look.half));
    let heat = (1.0 - ruin.age / COOLS).max(0.0);
    let stone = mixed(ROCK_DARK, army(ruin.look.army), 0.15);
    batch.stretched(Sprite::Stain, view.at(centre), half * 1.5 * view.camera.scale, faded(BACKDROP, 0.75));
    for n in 0..14_u32 {
        // The same stones in every picture.
        let (a, b) = ((n * 37 % 29) as f32 / 14.0 - 1.0, (n * n * 7 % 31) as f32 / 15.0 - 1.0);
        let at = view.at(centre + half * vec2(a, b) * 0.9);
        let radius = half.x * (0.12 + (n * 17 % 7) as f32 * 0.025) * view.camera.scale;
        let turn = Vec2::from_angle(n as f32);
        batch.turned(Sprite::Boulder, at, radius, turn, faded(mixed(stone, DYING, 0.5 * heat), 0.9));
    }
    if heat > 0.0 {
        for n in 0..3 {
            let rise = (ruin.age * 0.4 + n as f32 / 3.0).fract();
            let at = view.at(centre + vec2(half.x * 0.3 * (n as f32 - 1.0), -half.y * 1.6 * rise));
            let radius = half.x * (0.5 + rise) * view.camera.scale;
            batch.sprite(Sprite::Stain, at, radius, faded(TEXT_DIM, 0.3 * heat * (1.0 - rise)));
        }
    }
}

/// The initial hit points of a unit that is seen for the first time: its present ones, unless they are so few that it must have been hit.
fn whole(hit_points: i32, usual: i32) -> i32 {
    if hit_points < usual - usual / 10 { usual } else { hit_points }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_wounded_at_first_sight_is_seen_to_be() {
        let cases = [(120, 120), (108, 108), (132, 132), (107, 120), (1, 120), (0, 120)];
        for (hit_points, at_first) in cases {
            assert_eq!(whole(hit_points, 120), at_first, "{hit_points}");
        }
    }
}
