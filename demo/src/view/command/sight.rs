//! What a window shows of one client in one picture: the battle, the small map, and who stands where in them.

use macroquad::math::{Rect, Vec2};

use crate::game::{BuildingLook, Foe, Game, Point, UnitLook};
use crate::view::battle::debug::Layers;
use crate::view::battle::minimap;
use crate::view::battle::scene::{self, Extras};
use crate::view::battle::selection::Own;
use crate::view::battle::view::View;
use crate::view::command::side::Side;
use crate::view::paint::batch::Batch;
use crate::view::paint::camera::{place, units};
use crate::view::paint::palette::{SELECTION, faded};
use crate::view::paint::viewport;

/// A box smaller than this is a click, pixels.
const CLICK: f32 = 5.0;

/// How far from its middle a unit is still hit by a click, units of length.
const REACH: f32 = 0.75;

/// A client's state and where it is drawn.
pub(crate) struct Sight<'a> {
    pub(crate) player: u8,
    pub(crate) game: &'a Game,
    /// How far the picture is between the last two frames: 0..=65,536.
    pub(crate) alpha: u32,
    pub(crate) view: View,
    /// The small map, inside the view.
    pub(crate) map: Rect,
}

impl Sight<'_> {
    /// The player's living units.
    pub(crate) fn own(&self) -> Vec<Own> {
        let looks = self.game.unit_looks().filter(|look| look.army == self.player);
        let own = looks.filter_map(|look| {
            let position = self.game.world().body(look.body)?.position();
            Some(Own { index: look.index, place: Point::from_vec2(position), groups: look.groups })
        });
        own.collect()
    }

    /// The place of the field under a point of the small map.
    pub(crate) fn on_map(&self, at: Vec2) -> Vec2 {
        let small = minimap::view(self.map, units(self.game.field_half()));
        small.camera.to_field(small.rect, at)
    }

    /// The place of the field under a point of the view.
    pub(crate) fn in_view(&self, at: Vec2) -> Vec2 {
        self.view.camera.to_field(self.view.rect, at)
    }

    /// The enemy that stands there, as the player sees it.
    pub(crate) fn enemy_at(&self, at: Vec2) -> Option<Foe> {
        let game = self.game;
        let mut enemies = game.unit_looks().filter(|look| look.army != self.player);
        let is_hit = |look: &UnitLook| {
            scene::position(game, look.body, self.alpha).is_some_and(|place| place.distance(at) < REACH)
        };
        if let Some(look) = enemies.find(is_hit) {
            return Some(Foe::Unit(look.number));
        }
        let covers = |look: &BuildingLook| {
            let away = (at - place(look.centre)).abs();
            away.x <= units(look.half.x) && away.y <= units(look.half.y)
        };
        let mut buildings = game.building_looks().filter(|look| look.army != self.player);
        buildings.find(covers).map(|look| Foe::Building(look.number))
    }

    /// The player's units in a box from a place of the field to the mouse; if that is no more than a click, the one that it hits.
    pub(crate) fn units_in(&self, from: Vec2, mouse: Vec2) -> Vec<u32> {
        let to = self.in_view(mouse);
        let own = self.game.unit_looks().filter(|look| look.army == self.player);
        let places =
            own.filter_map(|look| Some((look.index, scene::position(self.game, look.body, self.alpha)?)));
        if self.view.at(from).distance(mouse) < CLICK {
            let near = places.map(|(index, at)| (at.distance(to), index)).filter(|(away, _)| *away < REACH);
            near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, index)| index).into_iter().collect()
        } else {
            let (low, high) = (from.min(to), from.max(to));
            let area = Rect::new(low.x, low.y, high.x - low.x, high.y - low.y);
            places.filter(|(_, at)| area.contains(*at)).map(|(index, _)| index).collect()
        }
    }

    /// Draws it all. `accused`: slot of a body that differs from another client's, and how its ring pulses, 0..1.
    pub(crate) fn draw(
        &self,
        batch: &mut Batch,
        side: &Side,
        layers: Layers,
        mouse: Vec2,
        accused: Option<(u32, f32)>,
    ) {
        viewport::enter(self.view.rect);
        let extras = Extras {
            alpha: self.alpha,
            player: self.player,
            chosen: &side.chosen,
            effects: &side.effects,
            accused,
        };
        scene::draw(batch, self.game, &self.view, &extras);
        layers.draw(batch, self.game, &self.view);
        if let Some(from) = side.drag {
            let from = self.view.at(from);
            let (low, high) = (from.min(mouse), from.max(mouse));
            let rect = Rect::new(low.x, low.y, high.x - low.x, high.y - low.y);
            batch.block(rect, faded(SELECTION, 0.12));
            batch.frame(rect, 1.5, SELECTION);
        }
        if self.map.w > 0.0 {
            minimap::draw(batch, self.game, self.map, self.view.camera.seen(self.view.rect));
        }
        batch.draw();
        viewport::leave();
    }
}
