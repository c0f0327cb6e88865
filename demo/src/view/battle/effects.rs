//! What pictures remember between frames: who was just hurt, who has just fallen, where somebody was told to go. None of it is
//! the match's business.

use macroquad::color::WHITE;
use macroquad::math::{Vec2, vec2};

use crate::game::Game;
use crate::view::battle::view::View;
use crate::view::paint::atlas::Sprite;
use crate::view::paint::batch::Batch;
use crate::view::paint::camera::units;
use crate::view::paint::palette::{DYING, SELECTION, army, faded, mixed};

/// How long things are seen, seconds.
const HURT: f32 = 0.22;
const FALLEN: f32 = 0.7;
const MARKER: f32 = 0.9;

/// Most marks of one kind at a time.
const MARKS_MAX: usize = 400;

/// What a unit was like in the picture before.
#[derive(Clone, Copy)]
struct Seen {
    army: u8,
    hit_points: i32,
    /// The most it had: units are not all equally strong.
    whole: i32,
    at: Vec2,
    /// Unit vector.
    facing: Vec2,
    /// Seconds since the last blow that was seen.
    unhurt: f32,
    /// Number of the frame in which it was seen last.
    frame: u32,
}

/// Something at a place that fades.
#[derive(Clone, Copy)]
struct Mark {
    at: Vec2,
    age: f32,
    army: u8,
    attacks: bool,
}

/// The memory of one view.
#[derive(Default)]
pub(crate) struct Effects {
    seconds: f32,
    frame: u32,
    /// By number in the match; none of who does not live.
    seen: Vec<Option<Seen>>,
    fallen: Vec<Mark>,
    markers: Vec<Mark>,
}

impl Effects {
    /// Looks at a client's state. `frame` is its number, `seconds` the time since the last call as the match runs, `real` as
    /// the person's clock runs.
    pub(crate) fn observe(&mut self, game: &Game, frame: u32, seconds: f32, real: f32) {
        self.seconds += seconds;
        for mark in &mut self.fallen {
            mark.age += seconds;
        }
        for mark in &mut self.markers {
            mark.age += real;
        }
        self.fallen.retain(|mark| mark.age < FALLEN);
        self.markers.retain(|mark| mark.age < MARKER);
        for seen in self.seen.iter_mut().flatten() {
            seen.unhurt += seconds;
        }
        if frame != self.frame || self.seen.is_empty() {
            self.frame = frame;
            self.compare(game);
        }
    }

    fn compare(&mut self, game: &Game) {
        let frame = self.frame;
        for look in game.unit_looks() {
            let Some(body) = game.world().body(look.body) else { continue };
            let (position, velocity) = (body.position(), body.velocity());
            let at = vec2(units(position.x.to_bits() as i32), units(position.y.to_bits() as i32));
            let speed = vec2(units(velocity.x.to_bits() as i32), units(velocity.y.to_bits() as i32));
            let target = game
                .struck_by(&look)
                .and_then(|enemy| game.world().body(enemy))
                .map(|enemy| enemy.position());
            let aim =
                target.map_or(speed, |t| vec2(units(t.x.to_bits() as i32), units(t.y.to_bits() as i32)) - at);
            let whole = whole(look.hit_points, look.hit_points_usual);
            let (army, hit_points) = (look.army, look.hit_points);
            let new = Seen { army, hit_points, whole, at, facing: Vec2::X, unhurt: HURT, frame };
            let place = look.number as usize;
            if self.seen.len() <= place {
                self.seen.resize(place + 1, None);
            }
            let seen = self.seen[place].get_or_insert(new);
            if look.hit_points < seen.hit_points {
                seen.unhurt = 0.0;
            }
            seen.whole = seen.whole.max(look.hit_points);
            (seen.hit_points, seen.at, seen.frame) = (look.hit_points, at, frame);
            if aim.length() > 0.4 {
                let turned = seen.facing + aim.normalize_or_zero() * 0.5;
                seen.facing = turned.try_normalize().unwrap_or(seen.facing);
            }
        }
        for place in &mut self.seen {
            if let Some(seen) = place.take_if(|seen| seen.frame != frame)
                && self.fallen.len() < MARKS_MAX
            {
                self.fallen.push(Mark { at: seen.at, age: 0.0, army: seen.army, attacks: false });
            }
        }
    }

    /// Shows at once where an order leads, long before it runs.
    pub(crate) fn mark(&mut self, at: Vec2, army: u8, attacks: bool) {
        if self.markers.len() < MARKS_MAX {
            self.markers.push(Mark { at, age: 0.0, army, attacks });
        }
    }

    /// How fresh the last blow is against the unit with this number in the match: 1 now, 0 long ago.
    pub(crate) fn hurt(&self, number: u32) -> f32 {
        self.seen(number).map_or(0.0, |seen| (1.0 - seen.unhurt / HURT).max(0.0))
    }

    /// The part of its hit points that a unit still has, 0..=1.
    pub(crate) fn health(&self, number: u32) -> f32 {
        let part = |seen: &Seen| seen.hit_points.max(0) as f32 / seen.whole.max(1) as f32;
        self.seen(number).map_or(1.0, part)
    }

    /// Where a unit looks.
    pub(crate) fn facing(&self, number: u32) -> Option<Vec2> {
        self.seen(number).map(|seen| seen.facing)
    }

    fn seen(&self, number: u32) -> Option<&Seen> {
        self.seen.get(number as usize)?.as_ref()
    }

    /// Time of the match as pictures count it.
    pub(crate) fn seconds(&self) -> f32 {
        self.seconds
    }

    pub(crate) fn draw(&self, batch: &mut Batch, view: &View) {
        for mark in &self.fallen {
            let part = mark.age / FALLEN;
            let radius = view.camera.scale * (0.5 + 0.7 * part);
            batch.sprite(Sprite::Ring, view.at(mark.at), radius, faded(army(mark.army), 0.8 * (1.0 - part)));
            batch.sprite(Sprite::Glow, view.at(mark.at), radius, faded(WHITE, 0.5 * (1.0 - part)));
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

/// What a unit that is seen for the first time had at its beginning: what it has, unless that is so little that it has been hit.
fn whole(hit_points: i32, usual: i32) -> i32 {
    if hit_points < usual - usual / 10 { usual } else { hit_points }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (Whoever jumped into the middle of a battle saw nobody wounded.)
    #[test]
    fn who_is_wounded_at_first_sight_is_seen_to_be() {
        let cases = [(120, 120), (108, 108), (132, 132), (107, 120), (1, 120), (0, 120)];
        for (hit_points, at_first) in cases {
            assert_eq!(whole(hit_points, 120), at_first, "{hit_points}");
        }
    }
}
