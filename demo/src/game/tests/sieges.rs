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
            tell(&mut game, 1, Selection::All, Command::Stand(true));
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
