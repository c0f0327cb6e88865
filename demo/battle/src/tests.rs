//! Whole battles, small ones.

mod errands;
mod formations;
mod loaded;
mod patrols;
mod sieges;
mod stances;
mod strikes;
mod teams;

use testudo_lockstep::state;
use testudo_lockstep::testing::{Trial, assert_deterministic};
use testudo_lockstep::{PlayerId, Simulation, Turn};
use testudo_tests::cases::share;

use super::bots::Level;
use super::unit::Task;
use super::*;

const FPS: u32 = 20;

fn game(players: u8, units: u32) -> Game {
    Game::new(Setup { players, units, seed: 7, map: None }).unwrap()
}

fn order(units: Selection, command: Command) -> Order {
    Order::new(units, command)
}

fn attack_centre(game: &mut Game) {
    for player in 0..game.setup.players {
        let command = Command::Attack(OrderPoint::near(Point::ZERO));
        game.apply(PlayerId(player), &order(Selection::All, command));
    }
}

fn run(game: &mut Game, frames: u32) {
    for _ in 0..frames {
        game.step(FPS);
    }
}

fn tell(game: &mut Game, player: u8, units: Selection, command: Command) {
    game.apply(PlayerId(player), &order(units, command));
}

#[test]
fn the_same_orders_give_the_same_bits_and_another_seed_others() {
    let checksum = |seed| {
        let mut game = Game::new(Setup { players: 3, units: 30, seed, map: None }).unwrap();
        attack_centre(&mut game);
        run(&mut game, 200);
        game.checksum()
    };
    assert_eq!(checksum(7), checksum(7));
    assert_ne!(checksum(7), checksum(8));
}

#[test]
fn armies_meet_fight_and_never_run_out() {
    let mut game = game(2, 60);
    attack_centre(&mut game);
    let mut first_kill = None;
    for frame in 0..1_200 {
        if frame % 100 == 0 {
            attack_centre(&mut game);
        }
        game.step(FPS);
        for army in 0..2 {
            assert!(game.middle(army).is_some_and(|(living, _)| living >= 15), "army {army} at {frame}");
        }
        if first_kill.is_none() && game.score(0).0 > 0 {
            first_kill = Some(frame);
        }
    }
    assert!(first_kill.is_some_and(|frame| (40..400).contains(&frame)), "first kill: {first_kill:?}");
    let (kills, losses) = game.score(0);
    assert!(kills > 30 && losses > 30, "{kills} kills, {losses} losses in a minute");
    assert_eq!((losses, kills), game.score(1), "what one army loses the other has beaten");
}

#[test]
fn bodies_are_the_living_and_what_lies_around_and_stay_on_the_field() {
    let mut game = game(4, 25);
    let around = game.field.boulders.len() + game.field.rocks.len();
    attack_centre(&mut game);
    for _ in 0..600 {
        game.step(FPS);
        let living = game.units.iter().filter(|unit| unit.is_alive()).count();
        let standing = game.buildings.iter().filter(|building| building.stands()).count();
        assert_eq!(game.world.body_count() as usize, around + standing + living);
        for army in &game.armies {
            assert!(army.fallen.len() <= 25);
        }
    }
    assert!(game.armies.iter().any(|army| army.losses > 0), "nobody fell: the test is not interesting");
    for body in game.world.bodies() {
        let place = Point::from_vec2(body.position());
        assert_eq!(place, place.clamped(game.field.half));
    }
}

#[test]
fn marching_units_arrive_in_formation() {
    let mut game = game(1, 16);
    let goal = Point::from_units(-8, 12);
    game.apply(PlayerId(0), &order(Selection::All, Command::Move(OrderPoint::near(goal))));
    run(&mut game, 400);
    let (living, middle) = game.middle(0).unwrap();
    assert_eq!(living, 16);
    assert!(middle.distance_squared(goal) < point::squared(2 * UNIT), "{middle:?}");
}

#[test]
fn a_stop_stops_and_a_group_follows_its_orders_alone() {
    let mut game = game(1, 16);
    let start = game.middle(0).unwrap().1;
    let left = Selection::Group(LEFT_WING);
    game.apply(PlayerId(0), &order(left.clone(), Command::Move(OrderPoint::near(Point::from_units(60, 0)))));
    run(&mut game, 20);
    let tasks = |game: &Game| game.units.iter().filter(|unit| unit.task != Task::Hold).count();
    assert_eq!(tasks(&game), game.units.iter().filter(|unit| unit.groups == 1 << LEFT_WING).count());
    assert!(game.middle(0).unwrap().1.distance_squared(start) > point::squared(UNIT));
    game.apply(PlayerId(0), &order(left, Command::Stop));
    assert_eq!(tasks(&game), 0);
    run(&mut game, 60);
    let stopped = game.middle(0);
    run(&mut game, 20);
    assert_eq!(game.middle(0), stopped);
}

#[test]
fn queued_orders_run_one_after_the_other_and_a_new_one_replaces_them() {
    let mut game = game(1, 9);
    let base = game.base(0).unwrap();
    let corners = [(10, 6), (20, -4), (6, -6)].map(|(x, y)| base.offset(x * UNIT, y * UNIT));
    for (n, corner) in corners.into_iter().enumerate() {
        let go = order(Selection::All, Command::Move(OrderPoint::near(corner)));
        game.apply(PlayerId(0), &Order { is_queued: n > 0, ..go });
    }
    let mut visited = Vec::new();
    for _ in 0..800 {
        run(&mut game, 1);
        // All nine together: which of them stands in the middle is chance.
        let middle = game.middle(0).unwrap().1;
        let near = corners.iter().position(|corner| middle.distance_squared(*corner) < squared(UNIT));
        if near.is_some() && visited.last() != Some(&near) {
            visited.push(near);
        }
    }
    assert_eq!(visited, [Some(0), Some(1), Some(2)]);
    assert!(game.units.iter().all(|unit| unit.task == Task::Hold && unit.errands.is_empty()));
    for is_queued in [false, true, true] {
        let go = order(Selection::All, Command::Attack(OrderPoint::near(corners[0])));
        game.apply(PlayerId(0), &Order { is_queued, ..go });
    }
    assert!(game.units.iter().all(|unit| unit.errands.len() == 2));
    game.apply(PlayerId(0), &order(Selection::All, Command::Move(OrderPoint::near(corners[1]))));
    assert!(game.units.iter().all(|unit| unit.errands.is_empty()));
}

/// Both see an enemy; the unit that holds its position stays.
#[test]
fn who_holds_strikes_only_who_comes_within_reach() {
    for holds in [false, true] {
        let mut game = game(2, 12);
        let foe = game.base(1).unwrap();
        let near = foe.offset(-11 * UNIT, 0);
        game.apply(
            PlayerId(0),
            &order(Selection::All, Command::Stand(if holds { Stance::Hold } else { Stance::Defend })),
        );
        game.apply(PlayerId(0), &order(Selection::All, Command::Move(OrderPoint::near(near))));
        game.apply(PlayerId(1), &order(Selection::All, Command::Stand(Stance::Hold)));
        run(&mut game, 600);
        let (_, middle) = game.middle(0).unwrap();
        assert_eq!(middle.distance_squared(near) < squared(UNIT), holds, "{holds}: {middle:?} {near:?}");
    }
}

/// In a trial, units that were told to hold ground ran on after their enemies: the attack before was not over.
#[test]
fn who_is_told_to_hold_goes_no_further() {
    let base = |game: &Game| OrderPoint::near(game.base(1).unwrap());
    for command in [Command::Attack, Command::Move, Command::Patrol] {
        let mut game = game(2, 12);
        game.apply(PlayerId(1), &order(Selection::All, Command::Stand(Stance::Hold)));
        game.apply(PlayerId(0), &order(Selection::All, command(base(&game))));
        run(&mut game, 120);
        let (_, before) = game.middle(0).unwrap();
        game.apply(PlayerId(0), &order(Selection::All, Command::Stand(Stance::Hold)));
        run(&mut game, 300);
        let (_, after) = game.middle(0).unwrap();
        assert!(before.distance_squared(after) < squared(2 * UNIT), "{before:?} {after:?}");
    }
}

#[test]
fn control_groups_are_assigned_and_replaced() {
    let mut game = game(2, 10);
    let some = Selection::Units(Ranges::one(2, 3).unwrap());
    game.apply(PlayerId(1), &order(some, Command::Assign(5)));
    let members = |game: &Game| -> Vec<usize> {
        (0..20).filter(|unit| game.units[*unit].groups & 1 << 5 != 0).collect()
    };
    assert_eq!(members(&game), [12, 13, 14]);
    let others = Selection::Units(Ranges::one(9, 1).unwrap());
    game.apply(PlayerId(1), &order(others, Command::Assign(5)));
    assert_eq!(members(&game), [19]);
}

#[test]
fn an_area_means_the_own_units_in_it() {
    let mut game = game(2, 20);
    let base = game.base(0).unwrap();
    let whole_field =
        Area::between(base.offset(-500 * UNIT, -500 * UNIT), base.offset(500 * UNIT, 500 * UNIT));
    game.apply(PlayerId(0), &order(Selection::Area(whole_field), Command::Assign(7)));
    assert!((0..40).all(|unit| (game.units[unit].groups & 1 << 7 != 0) == (unit < 20)));
}

/// Missing units and groups are missing for all peers, so orders to them change nothing.
#[test]
fn orders_to_nobody_change_nothing() {
    let mut game = game(2, 10);
    run(&mut game, 3);
    let before = game.hash_state();
    let far = Point::from_units(-16_384, -16_384);
    let nobody = [
        Selection::Group(0),
        Selection::Group(200),
        Selection::Area(Area::between(far, far)),
        Selection::Units(Ranges::one(10, 90_000).unwrap()),
    ];
    for units in nobody {
        for command in
            [Command::Stop, Command::Move(OrderPoint::near(far)), Command::Assign(4), Command::Assign(99)]
        {
            game.apply(PlayerId(1), &order(units.clone(), command));
        }
    }
    for player in [2, 15, 255] {
        game.apply(PlayerId(player), &order(Selection::All, Command::Attack(OrderPoint::near(Point::ZERO))));
        game.apply(PlayerId(player), &order(Selection::All, Command::Assign(1)));
    }
    assert_eq!(game.hash_state(), before);
}

/// Whatever decides how the match goes on is in the walk (the compiler sees to that), and each of its numbers is in the hash and is named.
#[test]
fn every_number_of_the_state_is_hashed_and_named() {
    let mut whole = game(2, 10);
    attack_centre(&mut whole);
    let patrol = Command::Patrol(OrderPoint::near(Point::from_units(0, 20)));
    whole.apply(PlayerId(1), &order(Selection::Group(ARCHERS), patrol));
    whole.apply(PlayerId(0), &order(Selection::Group(LEFT_WING), Command::Stand(Stance::Hold)));
    let strike = Command::Strike(Foe::Building(4));
    whole.apply(PlayerId(0), &order(Selection::Group(LEFT_WING), strike));
    let then = order(Selection::Group(LEFT_WING), Command::Strike(Foe::Building(3)));
    whole.apply(PlayerId(0), &Order { is_queued: true, ..then });
    let then = order(Selection::Group(RIGHT_WING), Command::Move(OrderPoint::near(Point::ZERO)));
    whole.apply(PlayerId(0), &Order { is_queued: true, ..then });
    let then = order(Selection::Group(LEFT_WING), Command::Patrol(OrderPoint::near(Point::ZERO)));
    whole.apply(PlayerId(0), &Order { is_queued: true, ..then });
    run(&mut whole, 140);
    for (unit, task) in Task::ALL.into_iter().enumerate() {
        whole.units[unit].task = task;
    }
    let before = state_hash(&mut whole);
    let mut leaves = Vec::new();
    state::leaves(&mut whole, &mut |leaf| leaves.push(leaf));
    // What cannot flip in the state at hand, or follows from other numbers.
    let mut stiff = std::collections::BTreeSet::new();
    let mut flipped = std::collections::BTreeMap::new();
    for leaf in &leaves {
        let key = (leaf.kind, leaf.name);
        stiff.insert(key);
        // Every field in a few objects; every body costs a snapshot of the world.
        if flipped.get(&key).is_some_and(|count| *count >= 8) {
            continue;
        }
        for bit in [0, leaf.bits.saturating_sub(1)] {
            let mut broken = whole.clone();
            if state::flip_bit(&mut broken, leaf, bit).is_err() {
                continue;
            }
            *flipped.entry(key).or_insert(0) += 1;
            assert_ne!(state_hash(&mut broken), before, "bit {bit} of {leaf:?}");
            let found = state::first_difference(&mut whole, &mut broken).unwrap();
            let here = found.here.unwrap();
            assert!(here.is_same_number(leaf), "bit {bit} of {leaf:?} is found as {found}");
        }
    }
    stiff.retain(|key| !flipped.contains_key(key));
    let games_own: Vec<_> = stiff
        .iter()
        .filter(|(kind, _)| !matches!(*kind, "world" | "body" | "crowd" | "field" | "mover"))
        .collect();
    assert!(
        games_own.iter().all(|(_, name)| *name == "entry" || name.ends_with("foe.kind")),
        "never flipped: {games_own:?}"
    );
    for own in [
        "hit_points",
        "task",
        "target",
        "goal.x",
        "back.x",
        "errand.back.x",
        "foe",
        "rally.x",
        "ready",
        "reserve",
        "post.x",
        "stalled_ms",
    ] {
        assert!(flipped.keys().any(|(_, name)| *name == own), "{own} is not among {flipped:?}");
    }
}

#[test]
fn recruits_come_out_of_buildings_and_go_to_the_rally_point() {
    let mut game = game(2, 40);
    let rally = Point::from_units(-5, 9);
    game.apply(PlayerId(0), &order(Selection::All, Command::Rally(OrderPoint::near(rally))));
    for number in 0..20 {
        game.bury_unit(number, true);
    }
    let reserve = game.armies[0].reserve;
    for _ in 0..1_200 {
        game.step(FPS);
        if game.armies[0].fallen.is_empty() {
            break;
        }
    }
    assert_eq!((game.armies[0].fallen.len(), reserve - game.armies[0].reserve), (0, 20));
    run(&mut game, 400);
    let near = |unit: u32| game.place_of(unit).unwrap().distance_squared(rally) < squared(9 * UNIT);
    assert!((0..20).all(near), "some recruits are elsewhere");
}

/// A wall across the straight path: a unit that walks straight stays behind it.
#[test]
fn units_walk_around_walls() {
    let mut game = game(1, 12);
    let base = game.base(0).unwrap();
    let wall = rock::Rock { centre: base.offset(9 * UNIT, 0), half: Point { x: UNIT, y: 12 * UNIT } };
    game.field.rocks.push(wall);
    let body = testudo_physics::BodyDef::static_body(testudo_physics::Shape::Rect {
        half_extents: wall.half.to_vec2(),
    });
    game.world.create_body(&body.position(wall.centre.to_vec2()).user(NO_UNIT)).unwrap();
    game.crowd.survey(&game.world);
    let goal = base.offset(18 * UNIT, 0);
    game.apply(PlayerId(0), &order(Selection::All, Command::Move(OrderPoint::near(goal))));
    run(&mut game, 600);
    let places: Vec<Point> = (0..12).filter_map(|unit| game.place_of(unit)).collect();
    let arrived = places.iter().filter(|place| place.distance_squared(goal) < squared(4 * UNIT)).count();
    assert_eq!(arrived, 12, "{places:?}");
}

#[test]
fn a_corrupted_bit_is_seen_and_never_forgotten() {
    let mut whole = game(2, 10);
    run(&mut whole, 5);
    for field in BodyField::ALL {
        let mut broken = whole.clone();
        broken.corrupt(3, field, 0).unwrap();
        assert_ne!(broken.checksum(), whole.checksum(), "{field:?}");
        let (mut a, mut b) = (Vec::new(), Vec::new());
        whole.dump(&mut a);
        broken.dump(&mut b);
        let differing: Vec<u32> = a.iter().zip(&b).filter(|(a, b)| a != b).map(|(a, _)| a.slot).collect();
        assert_eq!(differing, [3], "{field:?}");
        let mut whole = whole.clone();
        run(&mut whole, 40);
        run(&mut broken, 40);
        assert_ne!(broken.checksum(), whole.checksum(), "{field:?}");
    }
}

#[test]
fn what_cannot_be_corrupted_is_refused_and_unchanged() {
    let mut game = game(2, 10);
    let (before, whole) = (game.checksum(), state_hash(&mut game));
    assert_eq!(game.corrupt(9_999, BodyField::PositionX, 0), Err(FaultError::NoBody { slot: 9_999 }));
    let refused = game.corrupt(0, BodyField::PositionX, 30);
    assert!(
        matches!(refused, Err(FaultError::OutOfRange { field: BodyField::PositionX, .. })),
        "{refused:?}"
    );
    let rock = game.field.boulders.len() as u32;
    let field = BodyField::VelocityY;
    assert_eq!(game.corrupt(rock, field, 4), Err(FaultError::Immovable { slot: rock, field }));
    assert_eq!(game.checksum(), before);
    assert_eq!(state_hash(&mut game), whole);
}

/// Of the state as it is now; the frame's checksum is a part of it.
fn state_hash(game: &mut Game) -> u64 {
    state::digest(game)
}

#[test]
fn a_saved_battle_goes_on_alike() {
    let mut one = game(2, 40);
    attack_centre(&mut one);
    run(&mut one, 150);
    let mut bytes = Vec::new();
    state::save(&mut one, &mut bytes);
    let mut other = game(2, 40);
    state::load(&mut other, &bytes).unwrap();
    assert_eq!(state::first_difference(&mut one, &mut other), None);
    for _ in 0..150 {
        run(&mut one, 1);
        run(&mut other, 1);
        assert_eq!(one.checksum(), other.checksum());
    }
    assert!(one.score(0).1 > 0, "nobody fell");
}

#[test]
fn the_battle_is_deterministic() {
    let trial = Trial::new()
        .turns(share(120).max(30) as u32)
        .frames_per_turn(3)
        .frames_per_second(FPS)
        .restore_every(7)
        .flips(5)
        .flips_at_end(share(4_096) as u32);
    let orders = |turn: Turn, game: &Game, orders: &mut Vec<_>| {
        for player in 0..game.setup.players {
            if (turn.0 + u32::from(player)).is_multiple_of(20) {
                let command = Command::Attack(OrderPoint::near(Point::ZERO));
                orders.push((PlayerId(player), order(Selection::All, command)));
            }
        }
    };
    // With all cases, nearly every number is flipped in the end.
    let units = share(20).max(6) as u32;
    assert_deterministic(trial, || game(3, units), orders);
}

/// A battle came with its checksum and was believed, whatever stood in the rest of it.
#[test]
fn the_checksum_of_a_loaded_battle_is_that_of_what_was_loaded() {
    let mut battle = game(2, 20);
    attack_centre(&mut battle);
    run(&mut battle, 60);
    let (mut bytes, mut again) = (Vec::new(), Vec::new());
    state::save(&mut battle, &mut bytes);
    let mut copy = game(2, 20);
    assert_eq!(state::load(&mut copy, &bytes), Ok(()));
    assert_eq!(copy.checksum(), battle.checksum());
    let mut loaded = 0;
    for place in (0..bytes.len() * 8).step_by(61) {
        let mut damaged = bytes.clone();
        damaged[place / 8] ^= 1 << (place % 8);
        if state::load(&mut copy, &damaged).is_err() {
            continue;
        }
        state::save(&mut copy, &mut again);
        loaded += 1;
        assert!(copy.checksum() != battle.checksum() || again == bytes, "bit {place}");
    }
    assert!(loaded > 100, "{loaded}");
}

/// A keyframe may come from a damaged file.
#[test]
fn a_damaged_battle_is_refused_or_goes_on_without_a_panic() {
    let mut whole = game(2, 12);
    attack_centre(&mut whole);
    run(&mut whole, 120);
    let mut bytes = Vec::new();
    state::save(&mut whole, &mut bytes);
    let mut world = Vec::new();
    whole.world.snapshot(&mut world);
    // Damage of the world is found by its own hash; so look at what follows it.
    let start = 8 + world.len();
    let mut dice = Dice::new(5);
    let mut loaded = 0;
    let rounds = share(2_000);
    for round in 0..rounds {
        let mut damaged = bytes.clone();
        for _ in 0..dice.between(1, 3) {
            let at = dice.between(start as i32, bytes.len() as i32 - 1) as usize;
            damaged[at] = dice.between(0, 255) as u8;
        }
        let mut other = whole.clone();
        if state::load(&mut other, &damaged).is_ok() {
            loaded += 1;
            if round % 10 == 0 {
                run(&mut other, 20);
            }
        }
    }
    assert!((rounds / 10..rounds).contains(&loaded), "{loaded} of {rounds} were taken");
}

/// The frame was counted by an addition that panics in some builds and wraps in others.
#[test]
fn a_loaded_battle_with_the_greatest_numbers_goes_on_alike_in_every_build() {
    let mut battle = game(2, 20);
    attack_centre(&mut battle);
    battle.frame = u64::MAX;
    battle.armies.iter_mut().for_each(|army| (army.kills, army.losses) = (u32::MAX, u32::MAX));
    let mut bytes = Vec::new();
    state::save(&mut battle, &mut bytes);
    let mut loaded = game(2, 20);
    state::load(&mut loaded, &bytes).unwrap();
    let turns = (0..120).flat_map(|turn| [0, 1].map(|player| (PlayerId(player), Turn(turn))));
    let bots = turns.flat_map(|turn| [Level::Easy, Level::Normal, Level::Hard].map(|level| (level, turn)));
    let given =
        bots.filter_map(|(level, (player, turn))| bots::order_at(level, &loaded, player, turn)).count();
    assert!(given > 10, "{given} orders");
    run(&mut loaded, 1);
    assert_eq!(loaded.frame, 0);
    run(&mut loaded, 600);
    assert!(loaded.armies.iter().any(|army| !army.fallen.is_empty()), "nobody fell");
    assert_eq!([0, 1].map(|army| loaded.score(army)), [(u32::MAX, u32::MAX); 2]);
}

/// A frame keeps the checksum of the state before it. That was the one that somebody had asked for last, perhaps in a pause and before an order: a frame that
/// was simulated again from the same orders had another one, and honest players were named.
#[test]
fn whether_somebody_asks_for_a_checksum_decides_nothing() {
    let mut asked = game(2, 20);
    run(&mut asked, 3);
    let mut other = asked.clone();
    for asks in [true, false] {
        let game = if asks { &mut asked } else { &mut other };
        for command in [Command::Stop, Command::Attack(OrderPoint::near(Point::ZERO))] {
            tell(game, 0, Selection::All, command);
            if asks {
                Simulation::checksum(game);
            }
        }
        tell(game, 1, Selection::All, Command::Attack(OrderPoint::near(Point::ZERO)));
        run(game, 1);
    }
    assert_eq!(state::first_difference(&mut asked, &mut other).map(|found| found.to_string()), None);
    assert_eq!(asked.checksum(), other.checksum());
}

#[test]
fn every_size_has_a_field() {
    for (players, units) in [(1, 1), (2, 1), (16, 3), (3, 400)] {
        let mut game = game(players, units);
        attack_centre(&mut game);
        run(&mut game, 10);
        assert!(game.checksum() != 0);
    }
}
