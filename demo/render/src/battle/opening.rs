//! The first camera of a battle.

use macroquad::math::{Rect, Vec2, vec2};

use crate::battle::view::View;
use crate::paint::camera::{Camera, place, units};
use testudo_battle::Game;

/// Room around everything, units of length.
const AIR: f32 = 3.0;

/// A lower view shows one army only, pixels.
pub const LOW: f32 = 300.0;

/// The camera moves to either side in so many steps, and each next scale is this part of the one before.
const SIDEWAYS: i32 = 6;
const SMALLER: f32 = 0.97;
const SCALES: i32 = 18;

/// Half of the scale is as bad as one hidden barracks, and a keep counts as many of them.
const SMALLER_IS_WORSE: f32 = 2.0;
const KEEP: f32 = 50.0;

/// Something that ought to be seen: where it is, half of its size, and how much it counts.
type Sight = (Vec2, Vec2, f32);

/// The initial camera: it shows the starting positions of all armies, and their keeps. In a view that is higher than wide, or as low as that of
/// a phone that lies on its side, units would be too small then to be told from each other: there it shows the army of `player` and its
/// buildings, and nothing beyond the field.
///
/// If something lies over the view (`covers`), the camera moves a little, and further away, so that nothing of this is hidden; where that is
/// impossible, little. In a low window the small map would lie over one of the own barracks, and the inset over one of the enemy's.
pub fn camera(game: &Game, view: Rect, player: Option<u8>, covers: &[Rect]) -> Camera {
    let formation = Vec2::splat(units(game.formation_half()));
    let bases =
        (0..game.setup().players).filter_map(|army| Some((army, place(game.base(army)?), formation, 2.0)));
    let buildings = game
        .building_looks()
        .map(|look| (look.army, place(look.centre), place(look.half), if look.is_keep { KEEP } else { 1.0 }));
    let only = player.filter(|_| view.w < view.h || view.h < LOW);
    let sights: Vec<Sight> = bases
        .chain(buildings)
        .filter(|(army, ..)| only.is_none_or(|player| *army == player))
        .map(|(_, at, half, weight)| (at, half, weight))
        .collect();
    let (centre, half) = if only.is_some() && !sights.is_empty() {
        let low = sights.iter().fold(Vec2::INFINITY, |low, (at, half, _)| low.min(*at - *half));
        let high = sights.iter().fold(Vec2::NEG_INFINITY, |high, (at, half, _)| high.max(*at + *half));
        ((low + high) / 2.0, (high - low) / 2.0)
    } else {
        (Vec2::ZERO, sights.iter().fold(Vec2::ZERO, |far, (at, half, _)| far.max(at.abs() + *half)))
    };
    let half = half + Vec2::splat(AIR);
    let room = (place(game.field_half()) - centre.abs()).max(Vec2::ZERO);
    let (mut widest, is_low) = (Camera::fitting(centre, half, view), only.is_some() && view.w > view.h);
    if is_low {
        widest.hold(field(game), view);
    }
    let mut camera = uncovered(widest, [half, room], view, &sights, covers);
    // Otherwise a phone that lies on its side would show more woods than field.
    if is_low {
        camera.hold(field(game), view);
    }
    camera
}

/// A battle's first picture, and what later ones may show at most: the field, and what the first one shows beyond it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Opened {
    pub camera: Camera,
    pub bounds: Rect,
}

impl Opened {
    /// See [`camera`].
    pub fn new(game: &Game, view: Rect, player: Option<u8>, covers: &[Rect]) -> Self {
        let camera = camera(game, view, player, covers);
        Self { camera, bounds: field(game).combine_with(camera.seen(view)) }
    }
}

fn field(game: &Game) -> Rect {
    let half = place(game.field_half());
    Rect::new(-half.x, -half.y, 2.0 * half.x, 2.0 * half.y)
}

/// The largest camera in front of which nothing is covered; otherwise a large one in front of which little is. `half` is what it shows to all
/// sides; by `room` its middle may move and stays on the field.
fn uncovered(wide: Camera, [half, room]: [Vec2; 2], view: Rect, sights: &[Sight], covers: &[Rect]) -> Camera {
    let hidden = |camera: Camera| -> f32 {
        let view = View { rect: view, camera };
        let of = |(at, half, weight): &Sight| {
            let seen = view.rect_at(*at, *half);
            let parts = covers.iter().filter_map(|cover| seen.intersect(*cover));
            weight * parts.map(|part| part.w * part.h).sum::<f32>() / (seen.w * seen.h).max(1.0)
        };
        sights.iter().map(of).sum()
    };
    let (mut best, mut least) = (wide, f32::INFINITY);
    let mut scale = wide.scale;
    for _ in 0..SCALES {
        // How far everything may move without leaving the view, units.
        let slack = (view.size() / scale / 2.0 - half).max(Vec2::ZERO).min(room);
        for (x, y) in nearest_first() {
            let aside = vec2(x as f32, y as f32) / SIDEWAYS as f32 * slack;
            let camera = Camera::new(wide.centre + aside, scale);
            let hidden = hidden(camera);
            if hidden <= 0.0 {
                return camera;
            }
            let cost = hidden + SMALLER_IS_WORSE * (1.0 - scale / wide.scale);
            if cost < least {
                (best, least) = (camera, cost);
            }
        }
        scale *= SMALLER;
    }
    best
}

/// Steps to all sides, short ones first.
fn nearest_first() -> impl Iterator<Item = (i32, i32)> {
    let mut steps: Vec<(i32, i32)> =
        (-SIDEWAYS..=SIDEWAYS).flat_map(|x| (-SIDEWAYS..=SIDEWAYS).map(move |y| (x, y))).collect();
    steps.sort_by_key(|(x, y)| x * x + y * y);
    steps.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use testudo_battle::{Map, Setup};

    const VIEW: Rect = Rect { x: 0.0, y: 74.0, w: 800.0, h: 390.0 };
    const HALF: Vec2 = Vec2::new(55.0, 25.0);

    /// On a phone that lies on its side the field had 40 % of the picture's width, and units were 5 pixels.
    #[test]
    fn a_low_view_shows_the_own_army_and_nothing_but_field() {
        let view = Rect::new(0.0, 74.0, 844.0, 280.0);
        for map in ["ford", "pass", "lakes"].map(Map::named) {
            let game = Game::new(Setup { players: 2, units: 200, seed: 1, map }).unwrap();
            let (camera, half) = (camera(&game, view, Some(0), &[]), place(game.field_half()));
            let seen = camera.seen(view);
            assert!(seen.x >= -half.x - 0.1 && seen.right() <= half.x + 0.1, "{seen:?}");
            let keep = game.building_looks().find(|look| look.army == 0 && look.is_keep).unwrap();
            assert!(seen.contains(place(keep.centre)) && camera.scale > 5.0, "{camera:?}");
        }
    }

    #[test]
    fn the_picture_moves_aside_and_away_until_nothing_is_covered() {
        let sights = [(vec2(-48.0, 18.0), vec2(2.0, 2.0), 1.0), (vec2(48.0, -18.0), vec2(2.0, 2.0), 1.0)];
        let widest = Camera::fitting(Vec2::ZERO, HALF, VIEW);
        assert_eq!(uncovered(widest, [HALF, HALF], VIEW, &sights, &[]), widest, "nothing is in the way");
        let map = Rect::new(8.0, 332.0, 132.0, 124.0);
        let inset = Rect::new(598.0, 84.0, 192.0, 123.0);
        let camera = uncovered(widest, [HALF, HALF], VIEW, &sights, &[map, inset]);
        let view = View { rect: VIEW, camera };
        for (at, half, _) in sights {
            let seen = view.rect_at(at, half);
            assert!(![map, inset].iter().any(|cover| cover.overlaps(&seen)), "{seen:?}");
            assert!(VIEW.contains(seen.point()) && VIEW.contains(seen.point() + seen.size()), "{seen:?}");
        }
        assert!(camera.scale > 0.6 * widest.scale, "{camera:?}");
        // Nothing helps against this.
        assert_eq!(uncovered(widest, [HALF, HALF], VIEW, &sights, &[VIEW]).scale, widest.scale);
    }
}
