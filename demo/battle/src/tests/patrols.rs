//! Patrols: there and back, until something else is to be done.

use super::*;

#[test]
fn a_patrol_goes_there_and_back() {
    let mut game = game(1, 9);
    let home = game.middle(0).unwrap().1;
    let there = home.offset(0, 15 * UNIT);
    game.apply(PlayerId(0), &order(Selection::All, Command::Patrol(OrderPoint::near(there))));
    let (mut visits, mut is_out) = (Vec::new(), false);
    for frame in 0..1_500 {
        run(&mut game, 1);
        let place = game.place_of(4).unwrap();
        let goal = if is_out { home } else { there };
        if place.distance_squared(goal) < squared(3 * UNIT) {
            visits.push(frame);
            is_out = !is_out;
        }
    }
    assert!(visits.len() >= 6, "{visits:?}");
}

fn queued(command: Command) -> Order {
    Order { is_queued: true, ..order(Selection::All, command) }
}

/// The places that the unit in the middle comes to, of these, in order.
fn visits(game: &mut Game, places: &[Point]) -> Vec<usize> {
    let mut visits = Vec::new();
    for _ in 0..1_500 {
        run(game, 1);
        let at = game.place_of(4).unwrap();
        let near = places.iter().position(|place| at.distance_squared(*place) < squared(3 * UNIT));
        if let Some(place) = near.filter(|place| visits.last() != Some(place)) {
            visits.push(place);
        }
    }
    visits
}

/// It cancelled the present orders: the units turned round at once.
#[test]
fn a_queued_patrol_begins_where_the_orders_before_it_end() {
    let mut game = game(1, 9);
    let home = game.middle(0).unwrap().1;
    let places =
        [home.offset(0, 12 * UNIT), home.offset(12 * UNIT, 12 * UNIT), home.offset(12 * UNIT, 0), home];
    let [first, second, third] = [0, 1, 2].map(|at| OrderPoint::near(places[at]));
    game.apply(PlayerId(0), &order(Selection::All, Command::Move(first)));
    game.apply(PlayerId(0), &queued(Command::Move(second)));
    game.apply(PlayerId(0), &queued(Command::Patrol(third)));
    let seen = visits(&mut game, &places);
    assert!(seen.starts_with(&[3, 0, 1, 2, 1, 2, 1]), "{seen:?}");
    assert!(!seen[1..].contains(&3), "{seen:?}");
}

/// It waited for the end of something that has none.
#[test]
fn a_queued_order_ends_a_patrol_where_it_turns() {
    let mut game = game(1, 9);
    let home = game.middle(0).unwrap().1;
    let places = [home.offset(0, 12 * UNIT), home.offset(12 * UNIT, 12 * UNIT), home];
    let [first, second] = [0, 1].map(|at| OrderPoint::near(places[at]));
    game.apply(PlayerId(0), &order(Selection::All, Command::Patrol(first)));
    game.apply(PlayerId(0), &queued(Command::Move(second)));
    assert_eq!(visits(&mut game, &places), [2, 0, 1]);
}
