//! One side's scene, from above.

use macroquad::color::{BLACK, Color, WHITE};
use macroquad::math::{Rect, Vec2, vec2};
use testudo_physics as physics;

use crate::pair::LiveCubes;
use testudo_cubes::{BLOW_REACH, Cube, GATHER_REACH, LIFT_FRAMES};
use testudo_render::battle::view::View;
use testudo_render::paint::atlas::Sprite;
use testudo_render::paint::batch::Batch;
use testudo_render::paint::camera::{Camera, vector};
use testudo_render::paint::palette::{GROUND, GROUND_LINE, LINE, OUTSIDE, SELECTION, army, faded, mixed};

/// Distance of the lines on the ground, units.
const GRID: f32 = 5.0;

/// Which of the armies' colours small cubes have.
const COLORS: [u8; 5] = [0, 4, 5, 2, 3];

/// A small cube as fast as this has its full colour, units/s.
const BRIGHT_SPEED: f32 = 5.0;

/// Frames in which a ring of wind runs from the middle to its reach, or back.
const RING_FRAMES: u32 = 24;

/// How a side is looked at.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Look {
    pub(super) rect: Rect,
    /// 1 shows the whole field; more follows the player's cube.
    pub(super) zoom: f32,
    /// The scene in `f32` instead of that in fixed point.
    pub(super) floats: bool,
}

/// Draws one side.
pub(super) fn draw(batch: &mut Batch, live: &LiveCubes, side: u8, look: &Look) {
    let cubes: Vec<Cube> = live.side(side).fixed.bodies().collect();
    let places = places(live, side, look.floats);
    let (Some(&player), half) =
        (places.first(), vector(physics::Vec2::new(live.spec().setup.field_half(), physics::Fx::ZERO)).x)
    else {
        return;
    };
    let whole = look.rect.size().min_element() / (2.0 * half + 2.0);
    let camera = Camera::new(player * (1.0 - 1.0 / look.zoom), whole * look.zoom);
    let eye = View { rect: look.rect, camera };
    ground(batch, &eye, half);
    let lift = live.side(side).fixed.lift_frames() as f32 / LIFT_FRAMES as f32;
    winds(batch, &eye, live, side, player);
    for (n, (cube, &place)) in cubes.iter().zip(&places).enumerate().skip(1) {
        let speed = if look.floats { BRIGHT_SPEED / 2.0 } else { length(cube) };
        tile(batch, &eye, place, half_of(cube), 0.0, small_color(n, speed));
    }
    if let Some(cube) = cubes.first() {
        marked(batch, &eye, place_lifted(player, lift), half_of(cube), lift);
    }
}

/// Where to draw the cubes, the player's first. Their y axis points up.
fn places(live: &LiveCubes, side: u8, floats: bool) -> Vec<Vec2> {
    let down = |[x, y]: [f32; 2]| vec2(x, -y);
    if floats {
        return live.side(side).float.centres().map(down).collect();
    }
    let alpha = live.alpha(side);
    live.side(side).fixed.world().bodies().map(|body| down(body.interpolated_position(alpha))).collect()
}

fn ground(batch: &mut Batch, eye: &View, half: f32) {
    batch.block(eye.rect, OUTSIDE);
    let field = eye.rect_at(Vec2::ZERO, Vec2::splat(half));
    batch.block(field, GROUND);
    let lines = (half / GRID) as i32;
    for n in -lines..=lines {
        let at = n as f32 * GRID;
        for (from, to) in [(vec2(at, -half), vec2(at, half)), (vec2(-half, at), vec2(half, at))] {
            batch.line(eye.at(from), eye.at(to), 1.0, GROUND_LINE);
        }
    }
    batch.frame(field, 2.0, LINE);
}

/// Rings that run outwards while space is held, inwards while z is.
fn winds(batch: &mut Batch, eye: &View, live: &LiveCubes, side: u8, player: Vec2) {
    let (held, frame) = (live.side(side).held, live.frame(side));
    for (is_held, reach, outwards, color) in
        [(held.space, BLOW_REACH, true, SELECTION), (held.z, GATHER_REACH, false, army(0))]
    {
        if !is_held {
            continue;
        }
        let reach = reach as f32 * eye.camera.scale;
        batch.sprite(Sprite::Glow, eye.at(player), reach, faded(color, 0.22));
        for ring in 0..3 {
            let phase = (frame + ring * RING_FRAMES / 3) % RING_FRAMES;
            let part = phase as f32 / RING_FRAMES as f32;
            let (radius, strength) = if outwards { (part, 1.0 - part) } else { (1.0 - part, part) };
            batch.sprite(Sprite::Ring, eye.at(player), radius * reach, faded(color, 0.55 * strength));
        }
    }
}

/// A cube with its shadow, `height` units above the ground.
fn tile(batch: &mut Batch, eye: &View, place: Vec2, half: Vec2, height: f32, color: Color) {
    let (at, half) = (eye.at(place), half * eye.camera.scale);
    let aside = Vec2::splat(1.0 + (0.1 + height) * eye.camera.scale);
    batch.stretched(Sprite::Tile, at + aside, half, faded(BLACK, 0.4));
    batch.stretched(Sprite::Tile, at, half, color);
}

/// The player's cube: white, with a bright frame and a dot.
fn marked(batch: &mut Batch, eye: &View, place: Vec2, half: Vec2, lift: f32) {
    let half = half * (1.0 + 0.25 * lift);
    let (at, pixels) = (eye.at(place), half * eye.camera.scale);
    batch.sprite(Sprite::Glow, at, pixels.x * 2.6, faded(SELECTION, 0.5));
    tile(batch, eye, place, half, 0.8 * lift, SELECTION);
    batch.stretched(Sprite::Tile, at, pixels * 0.72, WHITE);
    batch.sprite(Sprite::Ball, at, pixels.x * 0.34, army(6));
}

/// Raised cubes appear a little higher on the screen.
fn place_lifted(place: Vec2, lift: f32) -> Vec2 {
    place - vec2(0.0, 0.4 * lift)
}

fn small_color(number: usize, speed: f32) -> Color {
    // Neighbours differ.
    let color = army(COLORS[number * 7 % 11 % COLORS.len()]);
    mixed(mixed(color, GROUND, 0.42), color, (speed / BRIGHT_SPEED).min(1.0))
}

fn half_of(cube: &Cube) -> Vec2 {
    vector(cube.half)
}

fn length(cube: &Cube) -> f32 {
    vector(cube.velocity).length()
}
