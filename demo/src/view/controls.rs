//! Mouse and keys become choices, orders and movements of the camera.

use macroquad::input::{
    KeyCode, MouseButton, is_key_down, is_key_pressed, is_mouse_button_down, is_mouse_button_pressed,
    is_mouse_button_released,
};
use macroquad::math::{Rect, Vec2};

use crate::app::Pilot;
use crate::game::{BuildingLook, Command, Foe, UnitLook};
use crate::view::camera::{self, units};
use crate::view::desk::{Aim, Desk};
use crate::view::minimap;
use crate::view::scene;
use crate::view::steering::steer;

/// A box smaller than this is a click, pixels.
const CLICK: f32 = 5.0;

/// How far from its middle a unit is still hit by a click, units of length.
const REACH: f32 = 0.75;

const DIGITS: [KeyCode; 10] = [
    KeyCode::Key0,
    KeyCode::Key1,
    KeyCode::Key2,
    KeyCode::Key3,
    KeyCode::Key4,
    KeyCode::Key5,
    KeyCode::Key6,
    KeyCode::Key7,
    KeyCode::Key8,
    KeyCode::Key9,
];

/// Reads mouse and keys of one picture; `seconds` is the time since the last one.
pub(crate) fn read(desk: &mut Desk, seconds: f32) {
    if is_key_pressed(KeyCode::F1) {
        desk.toggle_help();
    }
    if is_key_pressed(KeyCode::Escape) {
        desk.shows_help = false;
        desk.aim = None;
        desk.drag = None;
    }
    time(desk);
    desk.layers.read_keys();
    move_camera(desk, seconds);
    if let Some(side) = side_under(desk, desk.ui.mouse)
        && desk.drag.is_none()
    {
        desk.active = side;
    }
    if desk.skirmish.pilot(desk.active) == Pilot::Person {
        keys(desk);
    }
    mouse(desk);
}

/// Ctrl Q.
pub(crate) fn wants_to_quit() -> bool {
    control() && is_key_pressed(KeyCode::Q)
}

fn time(desk: &mut Desk) {
    if is_key_pressed(KeyCode::Space) {
        desk.toggle_pause();
    }
    if is_key_pressed(KeyCode::N) {
        desk.wants_step = true;
    }
    if is_key_pressed(KeyCode::Equal) || is_key_pressed(KeyCode::KpAdd) {
        desk.change_speed(1);
    }
    if is_key_pressed(KeyCode::Minus) || is_key_pressed(KeyCode::KpSubtract) {
        desk.change_speed(-1);
    }
}

fn move_camera(desk: &mut Desk, seconds: f32) {
    let mouse = desk.ui.mouse;
    let under = side_under(desk, mouse).map(|side| desk.view(side).rect);
    steer(&mut desk.camera, mouse, under, desk.drag.is_none(), seconds);
    if is_key_pressed(KeyCode::Home) {
        desk.show_all();
    }
    let half = units(desk.skirmish.client(0).game().field_half());
    desk.camera.hold(half);
}

/// In whose view a point of the screen is.
fn side_under(desk: &Desk, at: Vec2) -> Option<u8> {
    (0..2).find(|side| desk.layout.views[usize::from(*side)].contains(at))
}

fn control() -> bool {
    is_key_down(KeyCode::LeftControl) || is_key_down(KeyCode::RightControl)
}

fn shift() -> bool {
    is_key_down(KeyCode::LeftShift) || is_key_down(KeyCode::RightShift)
}

fn keys(desk: &mut Desk) {
    let player = desk.active;
    let own = desk.own(player);
    desk.sides[usize::from(player)].chosen.keep(&own);
    if is_key_pressed(KeyCode::A) {
        if control() {
            desk.sides[usize::from(player)].chosen.choose(own.iter().map(|own| own.index), false);
            log_choice(desk, player);
        } else if !desk.sides[usize::from(player)].chosen.is_empty() {
            desk.aim = Some(Aim::Attack);
        }
    }
    if is_key_pressed(KeyCode::P) && !desk.sides[usize::from(player)].chosen.is_empty() {
        desk.aim = Some(Aim::Patrol);
    }
    if is_key_pressed(KeyCode::S) && !control() {
        desk.command(player, Command::Stop, None);
    }
    for (key, code) in DIGITS.into_iter().enumerate() {
        if !is_key_pressed(code) {
            continue;
        }
        if control() {
            desk.sides[usize::from(player)].chosen.assign(key);
            desk.command(player, Command::Assign(key as u8), None);
        } else {
            desk.sides[usize::from(player)].chosen.recall(key, &own, shift());
            log_choice(desk, player);
        }
    }
}

fn mouse(desk: &mut Desk) {
    let at = desk.ui.mouse;
    let free = !desk.ui.has_taken_mouse() && !desk.shows_help;
    if let Some(side) = map_under(desk, at) {
        let half = units(desk.skirmish.client(side).game().field_half());
        let small = minimap::view(desk.layout.maps[usize::from(side)], half);
        let place = small.camera.to_field(small.rect, at);
        if free && is_mouse_button_down(MouseButton::Left) && desk.drag.is_none() {
            desk.camera.centre = place;
        }
        if free && is_mouse_button_pressed(MouseButton::Right) {
            send(desk, side, place, None);
        }
        return;
    }
    if let Some(side) = side_under(desk, at)
        && free
    {
        let view = desk.view(side);
        let place = view.camera.to_field(view.rect, at);
        if is_mouse_button_pressed(MouseButton::Left) && desk.skirmish.pilot(side) == Pilot::Person {
            if let Some(aim) = desk.aim.take() {
                send(desk, side, place, Some(aim));
            } else {
                desk.drag = Some((side, place));
            }
        }
        if is_mouse_button_pressed(MouseButton::Right) {
            desk.aim = None;
            send(desk, side, place, None);
        }
    }
    if is_mouse_button_released(MouseButton::Left)
        && let Some((side, from)) = desk.drag.take()
    {
        choose(desk, side, from, at);
    }
}

fn map_under(desk: &Desk, at: Vec2) -> Option<u8> {
    (0..2).find(|side| desk.layout.maps[usize::from(*side)].contains(at))
}

/// Sends the chosen units somewhere; onto an enemy means to attack it. With nobody chosen, recruits gather there.
fn send(desk: &mut Desk, player: u8, place: Vec2, aim: Option<Aim>) {
    if desk.skirmish.pilot(player) != Pilot::Person {
        return;
    }
    let target = Desk::order_place(place);
    let command = match (aim, enemy_at(desk, player, place)) {
        (Some(Aim::Patrol), _) => Command::Patrol(target),
        (_, Some(foe)) => Command::Strike(foe),
        (Some(Aim::Attack), None) => Command::Attack(target),
        (None, None) if desk.sides[usize::from(player)].chosen.is_empty() => Command::Rally(target),
        (None, None) => Command::Move(target),
    };
    desk.command(player, command, Some(place));
}

/// The enemy that stands there, as the player sees it.
fn enemy_at(desk: &Desk, player: u8, place: Vec2) -> Option<Foe> {
    let (game, alpha) = (desk.skirmish.client(player).game(), desk.skirmish.alpha(player));
    let mut enemies = game.unit_looks().filter(|look| look.army != player);
    let is_hit = |look: &UnitLook| {
        scene::position(&game, look.body, alpha).is_some_and(|at| at.distance(place) < REACH)
    };
    if let Some(look) = enemies.find(is_hit) {
        return Some(Foe::Unit(u32::from(look.army) * game.setup().units + look.index));
    }
    let covers = |look: &BuildingLook| {
        let away = (place - camera::place(look.centre)).abs();
        away.x <= units(look.half.x) && away.y <= units(look.half.y)
    };
    let mut buildings = game.building_looks().filter(|look| look.army != player);
    buildings.find(covers).map(|look| Foe::Building(look.number))
}

/// The end of a box, or of a click.
fn choose(desk: &mut Desk, player: u8, from: Vec2, mouse: Vec2) {
    let view = desk.view(player);
    let to = view.camera.to_field(view.rect, mouse);
    let units = {
        let (game, alpha) = (desk.skirmish.client(player).game(), desk.skirmish.alpha(player));
        let own = game.unit_looks().filter(|look| look.army == player);
        let places = own.filter_map(|look| Some((look.index, scene::position(&game, look.body, alpha)?)));
        if view.at(from).distance(mouse) < CLICK {
            let near = places.map(|(index, at)| (at.distance(to), index)).filter(|(away, _)| *away < REACH);
            near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, index)| index).into_iter().collect::<Vec<u32>>()
        } else {
            let (low, high) = (from.min(to), from.max(to));
            let area = Rect::new(low.x, low.y, high.x - low.x, high.y - low.y);
            places.filter(|(_, at)| area.contains(*at)).map(|(index, _)| index).collect()
        }
    };
    desk.sides[usize::from(player)].chosen.choose(units, shift());
    log_choice(desk, player);
}

fn log_choice(desk: &mut Desk, player: u8) {
    let count = desk.sides[usize::from(player)].chosen.len();
    desk.log.selection(player, count);
}
