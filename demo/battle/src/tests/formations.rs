//! Lines, and the order of those who stand.

use super::*;

#[test]
fn a_line_is_as_broad_as_it_was_drawn_and_its_guards_stand_in_front() {
    let mut game = game(1, 40);
    let base = game.base(0).unwrap();
    let (from, to) = (base.offset(10 * UNIT, -8 * UNIT), base.offset(10 * UNIT, 8 * UNIT));
    let line = Command::Line { from: OrderPoint::near(from), to: OrderPoint::near(to), attacks: false };
    tell(&mut game, 0, Selection::All, line);
    run(&mut game, 500);
    let places: Vec<Point> = (0..40).map(|unit| game.place_of(unit).unwrap()).collect();
    // Drawn downwards: it looks to the right.
    let front = places[..13].iter().map(|place| place.x).min().unwrap();
    let rear = places[30..].iter().map(|place| place.x).max().unwrap();
    assert!(front > rear, "archers (from number 30 on) stand before guards: {places:?}");
    let ys = || places.iter().map(|place| place.y);
    let breadth = ys().max().unwrap() - ys().min().unwrap();
    assert!((14 * UNIT..19 * UNIT).contains(&breadth), "{breadth}");
}

/// On the way to a line before the enemy, those who attack choose enemies that they cannot reach yet, and those who march do not.
#[test]
fn a_line_can_be_an_attack() {
    for attacks in [false, true] {
        let mut game = game(2, 24);
        tell(&mut game, 1, Selection::All, Command::Stand(Stance::Hold));
        let base = game.base(1).unwrap();
        let [from, to] = [8, -8].map(|y| OrderPoint::near(base.offset(-6 * UNIT, y * UNIT)));
        tell(&mut game, 0, Selection::All, Command::Line { from, to, attacks });
        let mut has_chosen = false;
        for _ in 0..300 {
            run(&mut game, 1);
            has_chosen |= (0..24).any(|number| {
                let unit = &game.units[number];
                let place = game.scratch.places[number];
                let reach = unit.kind.stats().range + UNIT;
                unit.task != unit::Task::Hold
                    && unit.target.is_some_and(|foe| !game.is_within(place, foe, reach))
            });
        }
        assert_eq!(has_chosen, attacks);
        assert!(game.score(0).0 > 0, "nobody fought: the test is not interesting");
    }
}

/// The archers walk through the ranks of the sleeping guards, to places in front of them, around most of them. Where somebody else stands by then, a guard
/// stays: one of twenty at most.
#[test]
fn who_is_pushed_aside_goes_back_to_its_place() {
    let (mut pushed, mut lost, mut strayed) = (0, 0, 0);
    for (x, y) in (10..24).step_by(2).flat_map(|x| [-4, 0, 4].map(|y| (x, y))) {
        let mut game = game(1, 60);
        run(&mut game, 60);
        let before: Vec<Point> = (0..60).map(|unit| game.place_of(unit).unwrap()).collect();
        assert_eq!(awake_guards(&game), 0, "the guards are not asleep");
        let goal = game.base(0).unwrap().offset(x * UNIT, y * UNIT);
        tell(&mut game, 0, Selection::Group(ARCHERS), Command::Move(OrderPoint::near(goal)));
        let is_away = |game: &Game, unit: u32, by: i32| {
            game.place_of(unit).unwrap().distance_squared(before[unit as usize]) > squared(by)
        };
        let mut aside = 0;
        for _ in 0..600 {
            run(&mut game, 1);
            aside = aside.max((0..45).filter(|&unit| is_away(&game, unit, UNIT)).count());
        }
        pushed += aside;
        lost += (0..45).filter(|&unit| is_away(&game, unit, UNIT * 5 / 4)).count();
        let archers = game.mean_place(45..60).unwrap().1;
        strayed += u32::from(archers.distance_squared(goal) >= squared(2 * UNIT));
        run(&mut game, 600);
        assert_eq!(awake_guards(&game), 0, "the guards do not come to rest again");
    }
    assert!(pushed > 60, "only {pushed} guards were ever pushed: the test is not interesting");
    // Some places are in rocks, and some archers do not get through the ranks.
    assert!(lost * 20 <= pushed, "{lost} of {pushed} are not back");
    assert!(
        strayed < 11,
        "in {strayed} of 21 cases the archers are not where they were sent: the test is not interesting"
    );
}

/// Guards of a match of 60 units that do not sleep.
fn awake_guards(game: &Game) -> usize {
    let bodies = game.units[..45].iter().filter_map(|unit| game.world.body(unit.body?));
    bodies.filter(|body| body.is_awake()).count()
}
