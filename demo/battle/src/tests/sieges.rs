//! How armies lose their bases, and how matches end.

use testudo_lockstep::{PlayerId, Simulation, Turn};

use super::*;

/// Everything is within reach of an army that nobody resists.
fn raze_everything(army: u8) -> Game {
    let mut game = game(2, 40);
    let enemy = 1 - army;
    game.player_gone(PlayerId(enemy), Turn(0));
    for number in u32::from(enemy) * 40..u32::from(enemy) * 40 + 40 {
        game.bury_unit(number, false);
    }
    // It could have recruits, but nobody's place is free.
    game.armies[usize::from(enemy)].fallen.clear();
    for building in [1, 2, 0] {
        let number = u32::from(enemy) * 3 + building;
        tell(&mut game, army, Selection::All, Command::Strike(Foe::Building(number)));
        for _ in 0..3_000 {
            run(&mut game, 1);
            if !game.buildings[number as usize].stands() {
                break;
            }
        }
        assert!(!game.buildings[number as usize].stands(), "building {number} of army {enemy} stands");
    }
    game
}

#[test]
fn an_army_without_a_keep_is_beaten() {
    for army in 0..2 {
        let mut game = raze_everything(army);
        assert_eq!(game.result(), Some(army.into()));
        let before = game.world.body_count();
        run(&mut game, 100);
        assert_eq!(game.result(), Some(army.into()));
        assert_eq!(game.world.body_count(), before, "the beaten come back");
    }
}

#[test]
fn an_army_without_units_and_recruits_is_beaten_though_its_keep_stands() {
    for reserve in [0, 1] {
        let mut game = game(2, 12);
        game.armies[1].reserve = reserve;
        for unit in 12..24 {
            game.units[unit].hit_points = 0;
            game.scratch.fallen.push(Foe::Unit(unit as u32));
        }
        run(&mut game, 1);
        assert_eq!(game.result(), (reserve == 0).then_some(0));
        assert_eq!(
            game.building_looks().filter(|building| building.army == 1).count(),
            if reserve == 0 { 0 } else { 3 }
        );
    }
}

#[test]
fn besieged_buildings_train_two_recruits_instead_of_five() {
    let trained = [false, true].map(|is_besieged| {
        let mut game = game(2, 100);
        for unit in 0..90 {
            game.bury_unit(unit, true);
        }
        if is_besieged {
            tell(&mut game, 1, Selection::All, Command::Stand(Stance::Hold));
            let far = game.base(0).unwrap().offset(0, -15 * UNIT);
            let body = game.units[100].body.unwrap();
            game.world.set_position(body, far.to_vec2()).unwrap();
            (game.units[100].post, game.units[100].hit_points) = (far, i32::MAX);
        }
        let before = game.armies[0].reserve;
        run(&mut game, 200);
        before - game.armies[0].reserve
    });
    assert!(trained[0] >= 25 && trained[0].abs_diff(trained[1] * 5 / 2) <= 6, "{trained:?}");
}

/// Army 0 stands 18 units in front of its first barracks; six guards of army 1 stand behind it, out of sight, and strike it.
fn raid(stance: Stance) -> Game {
    let mut game = game(2, 40);
    let barracks = game.buildings[1].ground.centre;
    let (fx, fy) = game.field.bases[0].forward;
    let ahead = |units: i32| barracks.offset(fx * units * UNIT, fy * units * UNIT);
    tell(&mut game, 0, Selection::All, Command::Move(OrderPoint::near(ahead(18))));
    run(&mut game, 200);
    tell(&mut game, 0, Selection::All, Command::Stop);
    tell(&mut game, 0, Selection::All, Command::Stand(stance));
    for unit in 0..6_u32 {
        let number = 40 + unit;
        let place = ahead(-4).offset(-fy * unit as i32 * UNIT, fx * unit as i32 * UNIT);
        let body = game.units[number as usize].body.unwrap();
        game.world.set_position(body, place.to_vec2()).unwrap();
    }
    let raiders = Selection::Units(Ranges::one(0, 6).unwrap());
    tell(&mut game, 1, raiders, Command::Strike(Foe::Building(1)));
    game
}

#[test]
fn idle_units_defend_a_building_near_them_and_go_back() {
    let mut game = raid(Stance::Defend);
    let posts: Vec<Point> = game.units[..40].iter().map(|unit| unit.post).collect();
    run(&mut game, 400);
    assert_eq!(game.score(1).1, 6, "the raiders live: {:?}", game.buildings[1].hit_points);
    run(&mut game, 400);
    let away = (0..40).filter(|number| {
        let place = game.place_of(*number);
        place.is_some_and(|place| place.distance_squared(posts[*number as usize]) > squared(3 * UNIT))
    });
    assert_eq!(away.count(), 0, "some have not gone back");
    assert!(game.buildings[1].stands());
}

#[test]
fn who_holds_leaves_a_burning_building_alone() {
    let mut game = raid(Stance::Hold);
    run(&mut game, 400);
    assert_eq!(game.score(1).1, 0);
    assert!(game.buildings[1].hit_points < game.buildings[1].kind.hit_points(40));
}

#[test]
fn who_is_ordered_away_from_a_burning_building_goes() {
    let mut game = raid(Stance::Defend);
    run(&mut game, 20);
    assert!(game.units[..40].iter().any(|unit| matches!(unit.task, Task::Aid(_))), "nobody comes to aid");
    let goal = game.field.bases[0].centre;
    let queued = Order { is_queued: true, ..order(Selection::All, Command::Move(OrderPoint::near(goal))) };
    game.apply(PlayerId(0), &queued);
    assert!(!game.units[..40].iter().any(|unit| matches!(unit.task, Task::Aid(_))), "an order has to wait");
}

/// An enemy 15 units away, out of sight.
#[test]
fn who_pursues_goes_at_enemies_that_defenders_do_not_see() {
    let meets = [Stance::Defend, Stance::Pursue].map(|stance| {
        let mut game = game(2, 4);
        tell(&mut game, 0, Selection::All, Command::Stand(stance));
        tell(&mut game, 1, Selection::All, Command::Stand(Stance::Hold));
        let (fx, fy) = game.field.bases[0].forward;
        let at = game.middle(0).unwrap().1.offset(fx * 15 * UNIT, fy * 15 * UNIT);
        for unit in 4..8 {
            let body = game.units[unit].body.unwrap();
            game.world.set_position(body, at.offset(0, unit as i32 * UNIT - 6 * UNIT).to_vec2()).unwrap();
            game.units[unit].post = at;
        }
        run(&mut game, 200);
        game.score(0).0 + game.score(0).1 > 0
    });
    assert_eq!(meets, [false, true]);
}

#[test]
fn who_has_lost_most_trains_half_again_as_fast() {
    let trained = [0, 200].map(|others| {
        let mut game = game(3, 100);
        for unit in 0..90 {
            game.bury_unit(unit, true);
        }
        game.armies[1].losses = others;
        let before = game.armies[0].reserve;
        run(&mut game, 200);
        before - game.armies[0].reserve
    });
    assert!(trained[1] >= 25 && trained[0].abs_diff(trained[1] * 3 / 2) <= 4, "{trained:?}");
}
