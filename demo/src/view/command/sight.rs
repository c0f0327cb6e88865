//! What a window shows of one client in one picture: the battle, the minimap, and the positions of units in them.

use macroquad::math::{Rect, Vec2};

use crate::view::command::side::{Aim, Side};
use testudo_battle::{BuildingLook, Foe, Point, UnitLook};
use testudo_render::battle::debug::Layers;
use testudo_render::battle::minimap;
use testudo_render::battle::plans;
use testudo_render::battle::scene::{self, Extras, Marks};
use testudo_render::battle::selection::{Member, Own};
use testudo_render::battle::shown::Shown;
use testudo_render::battle::view::View;
use testudo_render::paint::atlas::Sprite;
use testudo_render::paint::batch::Batch;
use testudo_render::paint::camera::{place, units};
use testudo_render::paint::palette::{DYING, SELECTION, faded};
use testudo_render::paint::viewport;

/// A box smaller than this counts as a click, pixels.
const CLICK: f32 = 5.0;

/// Greatest distance of a click from a unit's centre, units of length.
const REACH: f32 = 0.75;

/// A client's state and its position on the screen.
pub(crate) struct Sight<'a> {
    pub(crate) player: u8,
    pub(crate) shown: Shown<'a>,
    pub(crate) view: View,
    /// The minimap, inside the view.
    pub(crate) map: Rect,
}

impl Sight<'_> {
    /// The player's living units. Orders name units of the confirmed battle.
    pub(crate) fn own(&self) -> Vec<Own> {
        let game = self.shown.truth;
        let looks = game.unit_looks().filter(|look| look.army == self.player);
        let own = looks.filter_map(|look| {
            let UnitLook { index, body, groups, stance, .. } = look;
            let place = Point::from_vec2(game.world().body(body)?.position());
            Some(Own { index, body, place, groups, stance })
        });
        own.collect()
    }

    /// The position on the field under a point of the minimap.
    pub(crate) fn on_map(&self, at: Vec2) -> Vec2 {
        let small = minimap::view(self.map, place(self.shown.truth.field_half()));
        small.camera.to_field(small.rect, at)
    }

    /// The position on the field under a point of the view.
    pub(crate) fn in_view(&self, at: Vec2) -> Vec2 {
        self.view.camera.to_field(self.view.rect, at)
    }

    /// The enemy at a point, as the player sees it: one that is alive in truth, where it is drawn.
    pub(crate) fn enemy_at(&self, at: Vec2) -> Option<Foe> {
        let game = self.shown.truth;
        let is_foe = |army| !game.teams().are_friends(self.player, army);
        let mut enemies = game.unit_looks().filter(|look| is_foe(look.army));
        let is_hit =
            |look: &UnitLook| self.shown.position(look.body).is_some_and(|place| place.distance(at) < REACH);
        if let Some(look) = enemies.find(is_hit) {
            return Some(Foe::Unit(look.number));
        }
        let covers = |look: &BuildingLook| {
            let away = (at - place(look.centre)).abs();
            away.x <= units(look.half.x) && away.y <= units(look.half.y)
        };
        let mut buildings = game.building_looks().filter(|look| is_foe(look.army));
        buildings.find(covers).map(|look| Foe::Building(look.number))
    }

    /// The player's units in a box from a position on the field to the mouse; if it is only a click, the unit that it hits.
    pub(crate) fn units_in(&self, from: Vec2, mouse: Vec2) -> Vec<Member> {
        let to = self.in_view(mouse);
        let own = self.shown.truth.unit_looks().filter(|look| look.army == self.player);
        let places = own.filter_map(|look| Some(((look.index, look.body), self.shown.position(look.body)?)));
        if self.is_click(from, mouse) {
            let near = places.map(|(unit, at)| (at.distance(to), unit)).filter(|(away, _)| *away < REACH);
            near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, unit)| unit).into_iter().collect()
        } else {
            let (low, high) = (from.min(to), from.max(to));
            let area = Rect::new(low.x, low.y, high.x - low.x, high.y - low.y);
            places.filter(|(_, at)| area.contains(*at)).map(|(unit, _)| unit).collect()
        }
    }

    /// Whether the mouse has hardly moved since it was at this position on the field.
    pub(crate) fn is_click(&self, from: Vec2, mouse: Vec2) -> bool {
        self.view.at(from).distance(mouse) < CLICK
    }

    /// The player's units in the view that are of the same kind as one of them.
    pub(crate) fn same_kind(&self, index: u32) -> Vec<Member> {
        let own = || self.shown.truth.unit_looks().filter(|look| look.army == self.player);
        let Some(kind) = own().find(|look| look.index == index).map(|look| look.is_archer) else {
            return Vec::new();
        };
        let is_seen =
            |look: &UnitLook| self.shown.position(look.body).is_some_and(|at| self.view.sees(at, 0.0));
        let alike = own().filter(|look| look.is_archer == kind && is_seen(look));
        alike.map(|look| (look.index, look.body)).collect()
    }

    /// Draws the effect of the mouse: cross hairs on an enemy that the selected units would attack, or the line being drawn.
    fn draw_mouse(&self, batch: &mut Batch, side: &Side, mouse: Vec2) {
        if let Some(line) = side.line.filter(|line| !self.is_click(line.from, mouse)) {
            let (from, to) = (self.view.at(line.from), mouse);
            let colour = if line.attacks { DYING } else { SELECTION };
            let front = (to - from).normalize_or_zero();
            let front = Vec2::new(front.y, -front.x);
            batch.line(from, to, 2.0, colour);
            let middle = (from + to) / 2.0;
            batch.line(middle, middle + front * 24.0, 2.0, colour);
            batch.turned(Sprite::Arrow, middle + front * 26.0, 10.0, front, colour);
        }
        let is_aiming = side.aim == Some(Aim::Attack);
        let is_over = self.view.rect.contains(mouse) && !self.map.contains(mouse);
        let is_enemy = || !side.chosen.is_empty() && self.enemy_at(self.in_view(mouse)).is_some();
        if is_over && side.drag.is_none() && (is_aiming || is_enemy()) {
            batch.sprite(Sprite::Ring, mouse, 13.0, DYING);
            for axis in [Vec2::X, Vec2::Y, -Vec2::X, -Vec2::Y] {
                batch.line(mouse + axis * 9.0, mouse + axis * 18.0, 2.0, DYING);
            }
        }
    }

    /// Draws everything.
    pub(crate) fn draw(&self, batch: &mut Batch, side: &Side, layers: Layers, mouse: Vec2, marks: Marks<'_>) {
        viewport::enter(self.view.rect);
        let extras = Extras { player: self.player, chosen: &side.chosen, effects: &side.effects, marks };
        let game = self.shown.game;
        scene::draw(batch, self.shown, &self.view, &extras);
        plans::draw(batch, game, &self.view, self.player, &side.chosen);
        layers.draw(batch, game, &self.view);
        if let Some(from) = side.drag {
            let from = self.view.at(from);
            let (low, high) = (from.min(mouse), from.max(mouse));
            let rect = Rect::new(low.x, low.y, high.x - low.x, high.y - low.y);
            batch.block(rect, faded(SELECTION, 0.12));
            batch.frame(rect, 1.5, SELECTION);
        }
        self.draw_mouse(batch, side, mouse);
        if self.map.w > 0.0 {
            minimap::draw(batch, game, self.map, self.view.camera.seen(self.view.rect));
        }
        batch.draw();
        viewport::leave();
    }
}
