//! Where the selected units go, and what they do afterwards.

use std::collections::BTreeMap;

use macroquad::math::Vec2;

use crate::game::{Game, Leg};
use crate::view::battle::scene::position;
use crate::view::battle::selection::Chosen;
use crate::view::battle::view::View;
use crate::view::paint::atlas::Sprite;
use crate::view::paint::batch::Batch;
use crate::view::paint::camera::place;
use crate::view::paint::palette::{DYING, SELECTION, faded};

/// Most groups of units whose ways are drawn.
const GROUPS_MAX: usize = 8;

/// A way that ends within this distance, units of length, is not drawn.
const NEAR: f32 = 2.0;

/// Units with the same orders.
struct Group {
    /// One of them.
    number: u32,
    count: f32,
    /// Sums of where they are and of where they go first.
    from: Vec2,
    to: Vec2,
}

/// Draws a line from the middle of each group of selected units that have the same orders to every place where they are to go.
pub(crate) fn draw(batch: &mut Batch, game: &Game, view: &View, player: u8, chosen: &Chosen) {
    let mut groups: BTreeMap<(bool, usize, [i32; 2]), Group> = BTreeMap::new();
    for look in
        game.unit_looks().filter(|look| look.army == player && chosen.contains((look.index, look.body)))
    {
        let (Some(first), Some(at)) = (game.plan(look.number).next(), position(game, look.body, 65_536))
        else {
            continue;
        };
        let (count, last) = game
            .plan(look.number)
            .skip(1)
            .fold((0, [0; 2]), |(count, _), leg| (count + 1, [leg.place.x, leg.place.y]));
        let fresh = Group { number: look.number, count: 0.0, from: Vec2::ZERO, to: Vec2::ZERO };
        let group = groups.entry((first.attacks, count, last)).or_insert(fresh);
        group.count += 1.0;
        group.from += at;
        group.to += place(first.place);
    }
    for group in groups.values().take(GROUPS_MAX) {
        let mut from = group.from / group.count;
        for (n, Leg { place: goal, attacks }) in game.plan(group.number).enumerate() {
            let to = if n == 0 { group.to / group.count } else { place(goal) };
            if from.distance(to) > NEAR {
                let color = if attacks { DYING } else { SELECTION };
                batch.line(view.at(from), view.at(to), 1.5, faded(color, 0.45));
                batch.sprite(Sprite::Disc, view.at(to), 3.5, faded(color, 0.8));
            }
            from = to;
        }
    }
}
