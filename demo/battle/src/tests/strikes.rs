//! Orders to strike, and what becomes of units that have nothing left to do, or nowhere to go.

use testudo_physics::Aabb;

use super::*;

/// A match of 12 units each in which only some are left, and nobody is trained.
pub(super) fn only(left: &[u32]) -> Game {
    let mut game = game(2, 12);
    (0..24).filter(|number| !left.contains(number)).for_each(|number| game.bury_unit(number, false));
    game.armies.iter_mut().for_each(|army| army.fallen.clear());
    game
}

/// Puts a unit so many units in front of the first army's base, and aside.
pub(super) fn put(game: &mut Game, number: u32, ahead: i32, aside: i32) -> Point {
    let base = game.base(0).unwrap();
    let (fx, fy) = game.field.bases[0].forward;
    let at = |forward: i32, side: i32| (forward * ahead * UNIT) + side * aside * UNIT / 10;
    let place = base.offset(at(fx, -fy), at(fy, fx));
    let unit = &mut game.units[number as usize];
    unit.hit_points = 100_000;
    let body = unit.body.unwrap();
    game.world.set_position(body, place.to_vec2()).unwrap();
    game.stop(&[number]);
    place
}

/// A guard runs after an archer, past others that it strikes on the way. It does not turn back to where the archer was.
#[test]
fn who_strikes_somebody_runs_past_others() {
    let mut game = only(&[0, 12, 13, 14, 15, 21]);
    for (number, ahead, aside) in [(12, 12, 13), (13, 12, -13), (14, 16, 13), (15, 16, -13)] {
        put(&mut game, number, ahead, aside);
    }
    put(&mut game, 0, 0, 0);
    let archer = put(&mut game, 21, 5, 0);
    tell(&mut game, 1, Selection::All, Command::Stand(Stance::Hold));
    tell(&mut game, 0, Selection::All, Command::Strike(Foe::Unit(21)));
    let (fx, fy) = game.field.bases[0].forward;
    let far = archer.offset(fx * 30 * UNIT, fy * 30 * UNIT);
    let flees = Selection::Units(Ranges::one(9, 1).unwrap());
    tell(&mut game, 1, flees, Command::Move(OrderPoint::near(far)));
    let prey = game.units[21].body;
    let (mut both, mut since) = (0, None);
    for frame in 0..160 {
        run(&mut game, 1);
        let chases = game.units[0].body.and_then(|body| game.crowd.prey(body)) == prey;
        since = since.or(chases.then_some(frame));
        let [here, there] = [0, 21].map(|unit| game.place_of(unit).unwrap());
        if since.is_none() || here.distance_squared(there) > squared(8 * UNIT) {
            continue;
        }
        both += u32::from(game.units[0].target.is_some_and(|foe| foe != Foe::Unit(21)));
        assert!(chases, "frame {frame}: the guard at {here:?} lets go of the archer at {there:?}");
    }
    assert!(both > 0, "the guard never struck anybody else: the test is not interesting");
}

#[test]
fn whose_enemy_falls_far_away_stands() {
    let mut game = only(&[0, 12, 21]);
    put(&mut game, 0, 0, 0);
    put(&mut game, 12, 40, 60);
    put(&mut game, 21, 40, 0);
    tell(&mut game, 0, Selection::All, Command::Strike(Foe::Unit(21)));
    run(&mut game, 30);
    let way = game.place_of(0).unwrap().distance_squared(game.base(0).unwrap());
    assert!(way > squared(3 * UNIT), "the guard did not set out");
    game.units[21].hit_points = 0;
    game.scratch.fallen.push(Foe::Unit(21));
    run(&mut game, 10);
    assert_eq!(game.units[0].task, Task::Hold);
    let here = game.place_of(0).unwrap();
    run(&mut game, 30);
    let there = game.place_of(0).unwrap();
    assert!(here.distance_squared(there) <= squared(UNIT / 4), "it went on from {here:?} to {there:?}");
}

/// The same order once more while a guard strikes a building.
#[test]
fn the_same_strike_again_changes_nothing() {
    let mut game = only(&[12, 0]);
    let barracks = game.buildings[1].ground.centre;
    let body = game.units[12].body.unwrap();
    game.world.set_position(body, barracks.offset(6 * UNIT, 6 * UNIT).to_vec2()).unwrap();
    let strike = Command::Strike(Foe::Building(1));
    tell(&mut game, 1, Selection::All, strike);
    run(&mut game, 100);
    assert_eq!(game.units[12].target, Some(Foe::Building(1)));
    tell(&mut game, 1, Selection::All, strike);
    assert_eq!(game.units[12].target, Some(Foe::Building(1)), "it lets go");
    let body = game.units[12].body.unwrap();
    assert_eq!(game.crowd.prey(body), game.foe_body(Foe::Building(1)));
}

/// A recruit takes the number of the enemy that a guard is to strike after its march.
#[test]
fn an_order_against_the_fallen_is_not_one_against_their_recruits() {
    let mut game = only(&[0, 12, 21]);
    put(&mut game, 0, 0, 0);
    put(&mut game, 12, 40, 60);
    put(&mut game, 21, 40, 0);
    let (fx, fy) = game.field.bases[0].forward;
    let far = game.base(0).unwrap().offset(fx * 30 * UNIT, fy * 30 * UNIT);
    tell(&mut game, 0, Selection::All, Command::Move(OrderPoint::near(far)));
    let strike = order(Selection::All, Command::Strike(Foe::Unit(21)));
    game.apply(PlayerId(0), &Order { is_queued: true, ..strike });
    let before = game.units[21].body;
    game.units[21].hit_points = 0;
    game.scratch.fallen.push(Foe::Unit(21));
    let mut is_there = false;
    for _ in 0..800 {
        run(&mut game, 1);
        is_there |= game.units[21].body.is_some_and(|body| Some(body) != before);
        let strikes = |errand: &crate::unit::Errand| matches!(errand.deed, crate::unit::Deed::Strike(_));
        assert!(!game.units[0].errands.iter().any(strikes), "it is still to strike number 21");
        assert!(!matches!(game.units[0].task, Task::Strike { .. }), "it strikes a recruit");
    }
    assert!(is_there && game.units[0].task == Task::Hold, "not interesting: no recruit, or no march");
}

/// Into a lake, 36 units from its shore: further than units look for a free place.
#[test]
fn an_order_into_a_wide_lake_leads_to_its_shore() {
    let mut game = game(2, 12);
    let half = game.field.half;
    let (left, edge) = (Point { x: -half.x, y: -half.y }, game.base(0).unwrap().x + 20 * UNIT);
    let lake = Aabb { min: Point { x: edge, ..left }.to_vec2(), max: half.to_vec2() };
    game.crowd.set_cost(&game.world, lake, 0).unwrap();
    let far = Point { x: edge + 36 * UNIT, y: 0 };
    assert!(far.x < half.x && game.terrain().nearest_open(far).is_none());
    for command in [Command::Move(OrderPoint::near(far)), Command::Attack(OrderPoint::near(far))] {
        tell(&mut game, 0, Selection::All, command);
        run(&mut game, 600);
        for unit in 0..12 {
            let place = game.place_of(unit).unwrap();
            // Others may push it a step into the shallows.
            let shore = edge - 8 * UNIT..edge + 2 * UNIT;
            assert!(shore.contains(&place.x), "{command:?}: {unit} at {place:?}");
            // It stands, or was pushed and goes back to its post.
            let state = &game.units[unit as usize];
            assert!(
                state.task.destination().is_none_or(|destination| destination.place == state.post),
                "{command:?}: {unit}"
            );
        }
    }
}

/// Those whose places would be in the water get others on land.
#[test]
fn an_army_at_a_lake_stands_on_land() {
    let mut game = game(2, 200);
    let half = game.field.half;
    let edge = game.base(0).unwrap().x + 20 * UNIT;
    let lake = Aabb { min: Point { x: edge, y: -half.y }.to_vec2(), max: half.to_vec2() };
    game.crowd.set_cost(&game.world, lake, 0).unwrap();
    let far = Point { x: edge + 40 * UNIT, y: 0 };
    assert!(game.terrain().nearest_open(far).is_none());
    tell(&mut game, 0, Selection::All, Command::Move(OrderPoint::near(far)));
    let destinations: Vec<_> = game.units[..200].iter().filter_map(|unit| unit.task.destination()).collect();
    let near = destinations
        .iter()
        .filter(|destination| destination.place.distance_squared(destination.goal) <= squared(2 * UNIT))
        .count();
    assert!(destinations.len() == 200 && near < 60, "{near} of {} at the goal itself", destinations.len());
    assert!(destinations.iter().all(|destination| game.terrain().is_open(destination.place)));
}

/// There is no open ground at all. A unit that kept such an order would never begin those after it.
#[test]
fn an_order_to_where_nobody_can_stand_changes_nothing() {
    let mut game = game(2, 12);
    let half = game.field.half;
    let everywhere = Aabb { min: Point { x: -half.x, y: -half.y }.to_vec2(), max: half.to_vec2() };
    game.crowd.set_cost(&game.world, everywhere, 0).unwrap();
    for command in
        [Command::Move(OrderPoint::near(Point::ZERO)), Command::Patrol(OrderPoint::near(Point::ZERO))]
    {
        tell(&mut game, 0, Selection::All, command);
        run(&mut game, 1);
        let idle = game.units[..12].iter().filter(|unit| unit.task == Task::Hold).count();
        assert_eq!(idle, 12, "{command:?}");
    }
}
