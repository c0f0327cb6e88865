//! Where the selected units go, and what they do afterwards.

use std::collections::BTreeMap;

use macroquad::math::Vec2;

use crate::battle::scene::position;
use crate::battle::selection::Chosen;
use crate::battle::view::View;
use crate::paint::atlas::Sprite;
use crate::paint::batch::Batch;
use crate::paint::camera::place;
use crate::paint::palette::{DYING, SELECTION, faded};
use testudo_battle::{Game, Leg};

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
pub fn draw(batch: &mut Batch, game: &Game, view: &View, player: u8, chosen: &Chosen) {
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

#[cfg(test)]
mod tests {
    use macroquad::math::Rect;
    use testudo_lockstep::{PlayerId, Simulation as _};

    use super::*;
    use crate::battle::opening;
    use testudo_battle::{Command, Order, OrderPoint, Point, Selection, Setup, UNIT};

    #[test]
    fn every_order_of_a_row_has_its_line() {
        let mut game = Game::new(Setup { players: 2, units: 8, seed: 1, map: None }).unwrap();
        let rect = Rect::new(0.0, 0.0, 1_360.0, 860.0);
        let view = View { rect, camera: opening::camera(&game, rect, None, &[]) };
        let mut own = Chosen::default();
        let looks = game.unit_looks().filter(|look| look.army == 0);
        own.choose(looks.map(|look| (look.index, look.body)), false);
        let shapes = |game: &Game, chosen: &Chosen| {
            let mut batch = Batch::blind();
            draw(&mut batch, game, &view, 0, chosen);
            batch.draw();
            batch.shapes()
        };
        assert_eq!(shapes(&game, &own), 0, "nobody goes anywhere");
        let to = |x, y| OrderPoint::near(Point { x: x * UNIT, y: y * UNIT });
        game.apply(PlayerId(0), &Order::new(Selection::All, Command::Move(to(4, 6))));
        game.step(20);
        let one = shapes(&game, &own);
        assert!(one >= 2, "a line and its end: {one}");
        let next = Order { is_queued: true, ..Order::new(Selection::All, Command::Attack(to(9, -6))) };
        game.apply(PlayerId(0), &next);
        game.step(20);
        assert!(shapes(&game, &own) >= one + 2);
        assert_eq!(shapes(&game, &Chosen::default()), 0, "only those of the selected units");
    }
}
