//! Draws the battle of one client.

use macroquad::color::{Color, WHITE};
use macroquad::math::{Rect, Vec2, vec2};
use testudo_physics::{BodyId, Shape};

use crate::battle::effects::Effects;
use crate::battle::land;
use crate::battle::relief;
use crate::battle::selection::Chosen;
use crate::battle::shown::Shown;
use crate::battle::view::View;
use crate::paint::atlas::{Figure, Sprite};
use crate::paint::batch::Batch;
use crate::paint::camera::{place, units};
use crate::paint::palette::{
    BACKDROP, BOULDER, DIFFERENT, DYING, EARTH, HEALTHY, OUTSIDE, ROCK, ROCK_DARK, SELECTION, TEXT, TIMBER,
    WOUNDED, army, faded, mixed,
};
use testudo_battle::{BuildingLook, Game, Scenery, UnitLook};

/// Radius of a unit, units of length.
const UNIT_RADIUS: f32 = 0.5;

/// Below this radius on the screen, signs and shadows are left out, pixels.
const DETAIL_FROM: f32 = 4.5;

/// From this radius on units show their health, pixels. On smaller ones the bars would hide the front.
const BARS_FROM: f32 = 8.0;

/// Up to this radius on the screen a unit is a dot, pixels.
const DOT_TO: f32 = 2.2;

/// Up to this many selected units show their health even if they are unhurt.
const BARS_MAX: usize = 40;

/// What is drawn besides the state itself.
pub struct Extras<'a> {
    /// The player whose selection is shown, and the selection.
    pub player: u8,
    pub chosen: &'a Chosen,
    pub effects: &'a Effects,
    pub marks: Marks<'a>,
}

/// What differs from another client's copy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks<'a> {
    /// Slot of the body that differed first, and the phase of its ring, 0..1.
    pub accused: Option<(u32, f32)>,
    /// Slots of all bodies that differ, in ascending order.
    pub differing: &'a [u32],
}

impl Marks<'_> {
    fn has(&self, body: BodyId) -> bool {
        self.differing.binary_search(&body.index()).is_ok()
    }
}

/// Draws every part of a game that is visible in the view.
pub fn draw(batch: &mut Batch, shown: Shown<'_>, view: &View, extras: &Extras<'_>) {
    let Shown { game, truth, .. } = shown;
    ground(batch, truth, view, extras);
    extras.effects.draw_ground(batch, view);
    boulders(batch, shown, view);
    let looks: Vec<(UnitLook, Vec2)> = shown
        .unit_looks()
        .filter_map(|look| Some((look, shown.position(look.body)?)))
        .filter(|(_, at)| view.sees(*at, 2.0))
        .collect();
    let radius = UNIT_RADIUS * view.camera.scale;
    if radius > DETAIL_FROM {
        for (_, at) in &looks {
            batch.sprite(Sprite::Shadow, view.at(*at) + Vec2::splat(radius * 0.22), radius * 1.45, WHITE);
        }
    }
    // Many rings side by side would hide who stands in them.
    let strength = if extras.chosen.len() <= BARS_MAX { 1.0 } else { 0.6 };
    for (look, at) in &looks {
        if look.army == extras.player && extras.chosen.contains((look.index, look.body)) {
            let ring = (radius * 1.26).max(3.0);
            if radius > DETAIL_FROM {
                batch.sprite(Sprite::Stain, view.at(*at), ring * 1.25, faded(SELECTION, 0.5 * strength));
            }
            batch.sprite(Sprite::Ring, view.at(*at), ring, faded(SELECTION, strength));
        }
    }
    for (look, at) in &looks {
        unit(batch, view, look, *at, extras);
    }
    shots(batch, shown, view, &looks, extras);
    rally(batch, game, view, extras);
    extras.effects.draw(batch, view);
    if radius > BARS_FROM {
        let few = extras.chosen.len() <= BARS_MAX;
        for (look, at) in &looks {
            let is_chosen =
                few && look.army == extras.player && extras.chosen.contains((look.index, look.body));
            health(batch, extras.effects.health(look.number), view.at(*at), radius, is_chosen);
        }
    }
    for look in truth.building_looks() {
        wounds(batch, view, &look);
    }
    if let Some((slot, pulse)) = extras.marks.accused {
        accused(batch, shown, view, slot, pulse);
    }
}

/// Where to draw a body.
pub fn position(game: &Game, body: BodyId, alpha: u32) -> Option<Vec2> {
    Some(Vec2::from(game.world().body(body)?.interpolated_position(alpha)))
}

fn ground(batch: &mut Batch, game: &Game, view: &View, extras: &Extras<'_>) {
    batch.block(view.rect, OUTSIDE);
    relief::draw(batch, game, view, true);
    for look in game.building_looks() {
        let trodden = place(look.half) * 2.6 * view.camera.scale;
        batch.stretched(Sprite::Stain, view.at(place(look.centre)), trodden, faded(EARTH, 0.8));
    }
    land::draw(batch, game, view, extras.effects.seconds());
    for scenery in game.scenery() {
        match scenery {
            Scenery::Building(look) if look.is_keep => {
                keep(batch, view, place(look.centre), place(look.half), army(look.army));
                let top = place(look.centre) - vec2(0.0, units(look.half.y) * 0.3);
                let size = (units(look.half.x) * 0.55 * view.camera.scale).max(5.0);
                flag(batch, view.at(top), size, extras.effects.seconds(), army(look.army));
            }
            Scenery::Building(look) => {
                barracks(batch, view, place(look.centre), place(look.half), army(look.army));
            }
            _ => {}
        }
    }
}

/// A small flag where the player's recruits gather, unless that is the army's starting position.
fn rally(batch: &mut Batch, game: &Game, view: &View, extras: &Extras<'_>) {
    if let Some(at) = game.rally(extras.player)
        && game.base(extras.player) != Some(at)
    {
        let (at, size) = (view.at(place(at)), (view.camera.scale * 0.9).clamp(8.0, 26.0));
        batch.sprite(Sprite::Ring, at, size * 0.7, faded(army(extras.player), 0.8));
        flag(batch, at, size, extras.effects.seconds(), army(extras.player));
    }
}

/// A flag on its pole, in the wind.
fn flag(batch: &mut Batch, at: Vec2, size: f32, seconds: f32, color: Color) {
    const PIECES: u8 = 12;
    let top = at - vec2(0.0, size * 1.5);
    batch.line(at, top, (size * 0.1).max(1.0), TEXT);
    for n in 0..PIECES {
        let part = f32::from(n) / f32::from(PIECES);
        let wave = (seconds * 5.0 - part * 5.0).sin();
        let from = top + vec2(part * 1.3, 0.3 + wave * 0.09 * part) * size;
        let piece = Rect::new(from.x, from.y - size * 0.3, size * 1.36 / f32::from(PIECES), size * 0.6);
        // Folds in light and shade.
        batch.block(piece, mixed(color, BACKDROP, 0.12 - 0.12 * (seconds * 5.0 - part * 5.0).cos()));
    }
}

/// A solid block with a lit top and a dark edge below.
fn block(batch: &mut Batch, rect: Rect, top: Color, side: Color) {
    let depth = (rect.w.min(rect.h) * 0.16).clamp(1.0, 10.0);
    let shadow = rect.center() + Vec2::splat(depth * 0.9);
    let wide = rect.size() / 2.0 + Vec2::splat(depth * 0.5);
    batch.stretched(Sprite::Tile, shadow, wide, faded(BACKDROP, 0.35));
    batch.stretched(Sprite::Stain, shadow, rect.size() * 0.85, faded(BACKDROP, 0.5));
    batch.block(rect, side);
    let face = Rect::new(rect.x + depth * 0.5, rect.y + depth * 0.3, rect.w - depth, rect.h - depth * 1.2);
    batch.block(face, top);
    batch.block(Rect { h: (depth * 0.3).max(1.0), ..face }, mixed(top, WHITE, 0.25));
}

fn keep(batch: &mut Batch, view: &View, centre: Vec2, half: Vec2, color: Color) {
    let rect = view.rect_at(centre, half);
    let stone = mixed(ROCK, color, 0.3);
    block(batch, rect, stone, mixed(ROCK_DARK, color, 0.2));
    battlements(batch, rect, mixed(stone, WHITE, 0.12));
    // The yard, four towers, and the army's sign.
    let yard = view.rect_at(centre, half * 0.62);
    batch.block(yard, mixed(ROCK_DARK, color, 0.3));
    batch.block(Rect { h: yard.h * 0.12, ..yard }, faded(BACKDROP, 0.35));
    let tower = half.x * 0.32;
    for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
        let at = view.at(centre + vec2(x, y) * (half - Vec2::splat(tower * 0.55)));
        let radius = tower * view.camera.scale;
        batch.sprite(Sprite::Shadow, at + Vec2::splat(radius * 0.3), radius * 1.3, WHITE);
        batch.sprite(Sprite::Ball, at, radius, mixed(ROCK, color, 0.5));
        batch.sprite(Sprite::Ball, at, radius * 0.55, mixed(ROCK, color, 0.8));
    }
    batch.sprite(Sprite::Shield, view.at(centre), half.x * 0.42 * view.camera.scale, color);
}

/// Teeth along the edges of a wall.
fn battlements(batch: &mut Batch, rect: Rect, color: Color) {
    const TEETH: u8 = 9;
    let tooth = rect.size() / (2.0 * f32::from(TEETH));
    for n in 0..TEETH {
        let along = vec2(rect.x, rect.y) + rect.size() * ((f32::from(n) + 0.25) / f32::from(TEETH));
        for y in [rect.y, rect.bottom() - tooth.y * 2.2] {
            batch.block(Rect::new(along.x, y, tooth.x, tooth.y * 1.2), color);
        }
        for x in [rect.x, rect.right() - tooth.x * 1.2] {
            batch.block(Rect::new(x, along.y, tooth.x * 1.2, tooth.y), color);
        }
    }
}

/// A long house: a roof with two slopes in the army's colour, and the sign of those who are trained in it.
fn barracks(batch: &mut Batch, view: &View, centre: Vec2, half: Vec2, color: Color) {
    const PLANKS: u8 = 8;
    let rect = view.rect_at(centre, half);
    block(batch, rect, TIMBER, mixed(TIMBER, BACKDROP, 0.5));
    let roof = view.rect_at(centre - vec2(0.0, half.y * 0.06), half * vec2(0.94, 0.9));
    let (sunny, shady) = (mixed(TIMBER, color, 0.62), mixed(mixed(TIMBER, color, 0.5), BACKDROP, 0.3));
    batch.block(Rect { h: roof.h / 2.0, ..roof }, sunny);
    batch.block(Rect { y: roof.y + roof.h / 2.0, h: roof.h / 2.0, ..roof }, shady);
    for n in 1..PLANKS {
        let x = roof.x + roof.w * f32::from(n) / f32::from(PLANKS);
        batch.line(vec2(x, roof.y), vec2(x, roof.bottom()), 1.0, faded(BACKDROP, 0.25));
    }
    let ridge = Rect { y: roof.y + roof.h * 0.47, h: roof.h * 0.06, ..roof };
    batch.block(ridge, mixed(sunny, WHITE, 0.35));
    let middle = view.at(centre);
    batch.sprite(Sprite::Disc, middle, half.x * 0.42 * view.camera.scale, faded(BACKDROP, 0.6));
    batch.sprite(Sprite::Arrow, middle, half.x * 0.36 * view.camera.scale, color);
}

/// The health of a building that has been hit.
fn wounds(batch: &mut Batch, view: &View, look: &BuildingLook) {
    let part = look.hit_points.max(0) as f32 / look.hit_points_max.max(1) as f32;
    let radius = units(look.half.x) * view.camera.scale;
    health(batch, part, view.at(place(look.centre)), radius, false);
}

fn boulders(batch: &mut Batch, shown: Shown<'_>, view: &View) {
    let game = shown.game;
    for body in game.boulders().filter_map(|id| game.world().body(id)) {
        let Shape::Circle { radius } = body.shape() else { continue };
        let Some(at) = shown.position(body.id()) else { continue };
        let radius = units(radius.to_bits() as i32);
        if view.sees(at, radius) {
            let pixels = radius * view.camera.scale;
            batch.sprite(Sprite::Shadow, view.at(at) + Vec2::splat(pixels * 0.25), pixels * 1.4, WHITE);
            // Each has its own rotation.
            let turn = Vec2::from_angle(body.id().index() as f32);
            batch.turned(Sprite::Boulder, view.at(at), pixels, turn, BOULDER);
        }
    }
}

fn unit(batch: &mut Batch, view: &View, look: &UnitLook, at: Vec2, extras: &Extras<'_>) {
    let radius = (UNIT_RADIUS * view.camera.scale).max(1.2);
    let differs = extras.marks.has(look.body);
    if differs {
        batch.sprite(Sprite::Stain, view.at(at), radius.max(2.5) * 2.2, faded(DIFFERENT, 0.8));
    }
    let color = if differs { DIFFERENT } else { army(look.army) };
    let hurt = extras.effects.hurt(look.number);
    let color = mixed(color, WHITE, hurt * 0.6);
    if radius <= DOT_TO {
        batch.sprite(Sprite::Ball, view.at(at), radius, color);
        return;
    }
    let facing = extras.effects.facing(look.number).unwrap_or(Vec2::X);
    let sprite = if look.is_archer { Sprite::Archer } else { Sprite::Guard };
    let pose = if radius > DETAIL_FROM { extras.effects.pose(look.number) } else { 0 };
    batch.turned(Figure(sprite, pose), view.at(at), radius * 1.06, facing, color);
}

/// Arrows in flight: a short line that runs from the archer to the enemy again and again.
fn shots(batch: &mut Batch, shown: Shown<'_>, view: &View, looks: &[(UnitLook, Vec2)], extras: &Extras<'_>) {
    /// Units of length per second, and length of the line.
    const SPEED: f32 = 14.0;
    const LENGTH: f32 = 0.9;
    for (look, at) in looks.iter().filter(|(look, _)| look.is_archer) {
        let Some(to) = shown.game.struck_by(look).and_then(|enemy| shown.position(enemy)) else {
            continue;
        };
        let way = to - *at;
        let Some(direction) = way.try_normalize() else { continue };
        let Some(flown) = extras.effects.flight(look.number).map(|seconds| seconds * SPEED) else { continue };
        if flown < way.length() {
            let tip = *at + direction * flown;
            let tail = *at + direction * (flown - LENGTH).max(0.0);
            let light = mixed(army(look.army), WHITE, 0.6);
            batch.line(view.at(tail), view.at(tip), (view.camera.scale * 0.12).max(1.0), light);
        }
    }
}

/// A bar above wounded or selected units.
fn health(batch: &mut Batch, part: f32, at: Vec2, radius: f32, is_chosen: bool) {
    if part >= 1.0 && !is_chosen {
        return;
    }
    let bar = Rect::new(at.x - radius, at.y - radius * 1.62, radius * 2.0, (radius * 0.28).clamp(2.0, 5.0));
    let color = match part {
        0.6.. => HEALTHY,
        0.3.. => WOUNDED,
        _ => DYING,
    };
    batch.block(Rect::new(bar.x - 1.0, bar.y - 1.0, bar.w + 2.0, bar.h + 2.0), faded(BACKDROP, 0.85));
    batch.block(Rect { w: bar.w * part.clamp(0.0, 1.0), ..bar }, color);
}

/// Rings and cross hairs around the body that differs.
fn accused(batch: &mut Batch, shown: Shown<'_>, view: &View, slot: u32, pulse: f32) {
    let Some(at) = shown.game.world().body_in_slot(slot).and_then(|body| shown.position(body)) else {
        return;
    };
    let (at, radius) = (view.at(at), (UNIT_RADIUS * view.camera.scale).max(6.0));
    for (factor, strength) in
        [(1.7, 1.0), (2.4 + pulse, 0.9 - 0.6 * pulse), (3.6 + 1.5 * pulse, 0.5 * (1.0 - pulse))]
    {
        batch.sprite(Sprite::Ring, at, radius * factor, faded(DYING, strength));
    }
    for axis in [Vec2::X, Vec2::Y, -Vec2::X, -Vec2::Y] {
        batch.line(at + axis * radius * 2.0, at + axis * radius * 4.5, 2.0, DYING);
    }
}
