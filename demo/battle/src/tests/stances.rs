//! Units keep to their stances wherever they are.

use super::strikes::{only, put};
use super::*;

/// A guard of the first army off its post, whose way back it knows, and an archer that holds where the guard sees it, both so many units in front of the base.
/// Whether the guard ever goes for the archer, and where it is in the end, units squared from its post.
fn tempted(stance: Stance, guard: i32, archer: i32) -> (bool, i64) {
    let mut game = only(&[0, 21]);
    let post = put(&mut game, 0, 0, 0);
    put(&mut game, 21, archer, 0);
    game.units[21].hit_points = i32::MAX;
    tell(&mut game, 0, Selection::All, Command::Stand(stance));
    tell(&mut game, 1, Selection::All, Command::Stand(Stance::Hold));
    let (fx, fy) = game.field.bases[0].forward;
    let place = post.offset(fx * guard * UNIT / 10, fy * guard * UNIT / 10);
    let body = game.units[0].body.unwrap();
    game.world.set_position(body, place.to_vec2()).unwrap();
    (game.units[0].post, game.units[0].hit_points) = (post, i32::MAX);
    let mut is_tempted = false;
    for _ in 0..400 {
        run(&mut game, 1);
        is_tempted |= game.crowd.prey(body).is_some();
    }
    let away = game.place_of(0).unwrap().distance_squared(post);
    (is_tempted, away as i64 / squared(UNIT) as i64)
}

/// It was pushed off its post, sees an archer on its way back, and charged.
#[test]
fn who_holds_goes_back_to_its_post_past_enemies_in_sight() {
    assert_eq!(tempted(Stance::Hold, 40, 8), (false, 0));
}

/// It was lured away. On its way back it went for whomever it saw, across the whole field.
#[test]
fn who_defends_goes_back_to_its_post_past_enemies_that_are_far_from_it() {
    assert_eq!(tempted(Stance::Defend, 120, 18), (false, 0));
    assert!(tempted(Stance::Defend, 120, 8).0, "an enemy near its post is one");
    assert!(tempted(Stance::Pursue, 120, 18).0, "who pursues goes anywhere");
}

/// Nobody told it to go back: an order that is queued begins at once.
#[test]
fn a_queued_order_does_not_wait_until_a_unit_is_back_at_its_post() {
    let mut game = only(&[0, 21]);
    let post = put(&mut game, 0, 0, 0);
    put(&mut game, 21, 60, 0);
    let body = game.units[0].body.unwrap();
    let (fx, fy) = game.field.bases[0].forward;
    let [away, goal] = [12, 20].map(|far| post.offset(fx * far * UNIT, fy * far * UNIT));
    game.world.set_position(body, away.to_vec2()).unwrap();
    run(&mut game, 50);
    let back = game.units[0].task.destination().map(|destination| destination.place);
    assert_eq!(back, Some(post), "it is not on its way back");
    let goes = order(Selection::All, Command::Move(OrderPoint::near(goal)));
    game.apply(PlayerId(0), &Order { is_queued: true, ..goes });
    assert!(game.units[0].errands.is_empty() && matches!(game.units[0].task, Task::March(_)));
}
