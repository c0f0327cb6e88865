//! The whole field in a corner.

use macroquad::math::{Rect, Vec2};

use crate::battle::relief;
use crate::battle::scene::position;
use crate::battle::view::View;
use crate::paint::atlas::Sprite;
use crate::paint::batch::Batch;
use crate::paint::camera::{Camera, place};
use crate::paint::palette::{BACKDROP, LINE, TEXT, army, faded};
use testudo_battle::Game;

/// The largest small map of a field in the lower left corner of a square. Nothing else of the square is covered, or takes a click.
pub fn fitted(square: Rect, half: Vec2) -> Rect {
    let size = half * (square.w / half.max_element());
    Rect::new(square.x, square.bottom() - size.y, size.x, size.y)
}

/// A small view of the whole field, in the middle of a rectangle.
pub fn view(map: Rect, half: Vec2) -> View {
    View { rect: map, camera: Camera::new(Vec2::ZERO, (map.w / half.x).min(map.h / half.y) / 2.0) }
}

/// Draws every unit as a dot, and the large view's area as a frame.
pub fn draw(batch: &mut Batch, game: &Game, map: Rect, seen: Rect) {
    let half = place(game.field_half());
    let small = view(map, half);
    let map = small.rect_at(Vec2::ZERO, half);
    batch.block(Rect::new(map.x - 3.0, map.y - 3.0, map.w + 6.0, map.h + 6.0), faded(BACKDROP, 0.85));
    relief::draw(batch, game, &small, false);
    for look in game.building_looks() {
        batch.block(small.rect_at(place(look.centre), place(look.half)), army(look.army));
    }
    // From afar many units are one dot.
    let mut dots = vec![u8::MAX; (map.w.max(0.0) as usize + 1) * (map.h.max(0.0) as usize + 1)];
    for look in game.unit_looks() {
        let Some(at) = position(game, look.body, 65_536) else { continue };
        let (at, from) = (small.at(at), map.point());
        let place = (at.y - from.y) as usize * (map.w as usize + 1) + (at.x - from.x) as usize;
        if dots.get_mut(place).is_none_or(|dot| core::mem::replace(dot, look.army) != look.army) {
            batch.sprite(Sprite::Block, at, 1.0, army(look.army));
        }
    }
    let corner = small.at(seen.point()).max(map.point());
    let end = small.at(seen.point() + seen.size()).min(map.point() + map.size());
    if end.x > corner.x && end.y > corner.y {
        batch.frame(Rect::new(corner.x, corner.y, end.x - corner.x, end.y - corner.y), 1.0, TEXT);
    }
    batch.frame(map, 1.0, LINE);
}

#[cfg(test)]
mod tests {
    use macroquad::math::vec2;

    use super::*;

    /// Clicks above the drawn map were clicks on it, and sent units to places outside of the field.
    #[test]
    fn every_point_of_the_small_map_is_a_point_of_the_field() {
        for half in [vec2(60.0, 35.0), vec2(40.0, 40.0), vec2(30.0, 50.0)] {
            let square = Rect::new(8.0, 292.0, 132.0, 132.0);
            let map = fitted(square, half);
            assert_eq!((map.x, map.bottom()), (square.x, square.bottom()), "{half}");
            assert!(map.w <= square.w && map.h <= square.h, "{half}: {map:?}");
            let small = view(map, half);
            for (corner, end) in [(map.point(), -half), (vec2(map.right(), map.bottom()), half)] {
                let at = small.camera.to_field(small.rect, corner);
                assert!(at.distance(end) < 0.01, "{half}: {at}");
            }
        }
    }
}
