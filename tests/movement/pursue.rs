//! Units that pursue a body find their way around what is between them.

use testudo_movement::MoverDef;
use testudo_physics::{BodyDef, BodyId, Fx, Pcg32, Shape, Vec2, World};

use crate::maps::{HALF, Kind, draw};
use crate::paths::{exact, middles, size};
use crate::scene::{self, RATE, Scene, open_world};

/// A unit that is so near to the surface of its prey stands.
const REACH: Fx = Fx::const_from_int(1);

/// Two radii: distances of middles count.
const TOUCH: Fx = Fx::const_from_int(1);

fn wall(world: &mut World, at: [i32; 2], half: [Fx; 2]) -> BodyId {
    scene::house(world, Vec2::from_ints(at[0], at[1]), Vec2::new(half[0], half[1]))
}

fn house(world: &mut World, at: [i32; 2], half: [i32; 2]) -> BodyId {
    wall(world, at, half.map(Fx::from_num))
}

/// Four walls around a room of this half side, half a unit thick.
fn room(world: &mut World, at: [i32; 2], half: i32) {
    let thin = Fx::ONE / 4;
    for (x, y) in [(half, 0), (-half, 0), (0, half), (0, -half)] {
        let half = if y == 0 { [thin, Fx::from_num(half)] } else { [Fx::from_num(half), thin] };
        wall(world, [at[0] + x, at[1] + y], half);
    }
}

/// Whether a unit is within reach of another one.
fn reaches(scene: &Scene, unit: BodyId, prey: BodyId) -> bool {
    scene.place(unit).distance(scene.place(prey)) <= REACH + TOUCH / 2
}

/// Lets units pursue others until each is within reach; after how many frames each was so for the first time.
fn hunt(scene: &mut Scene, pairs: &[(BodyId, BodyId)], frames: u32) -> Vec<Option<u32>> {
    for &(unit, prey) in pairs {
        scene.pursue(unit, prey, REACH);
    }
    let mut after = vec![None; pairs.len()];
    for frame in 0..frames {
        scene.step();
        for (after, &(unit, prey)) in after.iter_mut().zip(pairs) {
            if after.is_none() && reaches(scene, unit, prey) {
                *after = Some(frame);
            }
        }
        if after.iter().all(Option::is_some) {
            break;
        }
    }
    after
}

/// The pursuer pushed against the wall for ever.
#[test]
fn a_pursuer_comes_around_a_long_wall() {
    let mut world = open_world();
    house(&mut world, [0, 0], [1, 20]);
    let mut scene = Scene::new(world, 64);
    let [unit, prey] = [-6, 6].map(|x| scene.add(Vec2::from_ints(x, 0)));
    // Some 42 units at 3 units per second.
    let after = hunt(&mut scene, &[(unit, prey)], 20 * RATE)[0];
    assert!(after.is_some_and(|frame| frame < 16 * RATE), "{after:?}: {:?}", scene.place(unit));
}

/// Where nothing is in between, nobody looks for a path.
#[test]
fn who_sees_its_prey_goes_straight_at_it() {
    let mut world = open_world();
    house(&mut world, [0, 8], [6, 2]);
    let mut scene = Scene::new(world, 64);
    let [unit, prey] = [-20, 20].map(|x| scene.add(Vec2::from_ints(x, 4)));
    scene.pursue(unit, prey, REACH);
    for _ in 0..15 * RATE {
        scene.step();
        assert_eq!(scene.place(unit).y, Fx::from_num(4));
    }
    assert!(reaches(&scene, unit, prey));
}

/// A prey behind a house runs from corner to corner when its pursuer comes near, a little slower than that.
#[test]
fn a_prey_that_runs_around_a_house_is_caught() {
    let mut world = open_world();
    house(&mut world, [0, 0], [5, 3]);
    // Two wings: the pursuer starts in its yard.
    for y in [-3, 3] {
        house(&mut world, [-7, y], [3, 1]);
    }
    let mut scene = Scene::new(world, 32);
    let [unit, prey] = [-7, 8].map(|x| scene.add(Vec2::from_ints(x, 0)));
    scene.crowd.add(&scene.world, prey, MoverDef { speed: Fx::lit("2.2"), ..MoverDef::default() }).unwrap();
    scene.pursue(unit, prey, REACH);
    let corners = [[8, 6], [-13, 6], [-13, -6], [8, -6]].map(|[x, y]| Vec2::from_ints(x, y));
    let (mut at, mut turns) = (0, 0);
    for frame in 0..90 * RATE {
        let hunter = scene.place(unit);
        if frame == 0
            || scene.place(prey).distance(corners[at]) < Fx::ONE
                && hunter.distance(corners[at]) < Fx::from_num(6)
        {
            at = [(at + 1) % 4, (at + 3) % 4]
                .into_iter()
                .max_by_key(|&at| corners[at].distance(hunter))
                .unwrap();
            scene.go(&[prey], corners[at]);
            turns += 1;
        }
        scene.step();
        // While it comes nearer it slows down.
        if scene.place(unit).distance(scene.place(prey)) <= REACH + Fx::lit("0.65") {
            println!("caught after {} s", frame / RATE);
            assert!(turns > 1, "it did not run");
            return;
        }
    }
    panic!("not caught: {:?} {:?}", scene.place(unit), scene.place(prey));
}

/// It comes as near as it can, and stands there; the searches are paid for.
#[test]
fn nobody_swings_before_a_closed_room() {
    let mut world = open_world();
    room(&mut world, [0, 0], 6);
    house(&mut world, [-14, 0], [1, 6]);
    let mut scene = Scene::new(world, 32);
    let prey = scene.add(Vec2::from_ints(-2, 1));
    let units: Vec<BodyId> =
        (0..20).map(|n| scene.add(Vec2::from_ints(-25 + n % 4 * 2, n / 4 * 2 - 5))).collect();
    for &unit in &units {
        scene.pursue(unit, prey, REACH);
    }
    (0..30 * RATE).for_each(|_| scene.step());
    let before: Vec<Vec2> = units.iter().map(|&unit| scene.place(unit)).collect();
    let mut moves = 0;
    for _ in 0..20 * RATE {
        scene.step();
        moves +=
            units.iter().filter(|&&unit| scene.world.body(unit).unwrap().velocity() != Vec2::ZERO).count();
    }
    for (&unit, before) in units.iter().zip(before) {
        let at = scene.place(unit);
        assert!(at.distance(before) < Fx::ONE, "{unit:?} went from {before:?} to {at:?}");
        assert!(at.distance(scene.place(prey)) < Fx::from_num(12), "{unit:?} stays at {at:?}");
        assert!(at.x < Fx::from_num(-6), "{unit:?} went to {at:?}");
    }
    let part = moves * 100 / (units.len() * 20 * RATE as usize);
    assert!(part < 25, "they move in {part} % of all frames");
}

/// It stood where it was when it got another prey in the same room, and did not come back when something took it away from there.
#[test]
fn who_has_no_way_to_its_prey_goes_near_from_wherever_it_is() {
    let mut world = open_world();
    room(&mut world, [0, 0], 6);
    let mut scene = Scene::new(world, 64);
    let preys = [1, -1].map(|y| scene.add(Vec2::from_ints(-2, y)));
    let unit = scene.add(Vec2::from_ints(-50, 0));
    scene.go(&[unit], Vec2::from_ints(-8, 1));
    for (&prey, seconds) in preys.iter().zip([4, 40]) {
        (0..2 * RATE).for_each(|_| scene.step());
        scene.pursue(unit, prey, REACH);
        (0..seconds * RATE).for_each(|_| scene.step());
    }
    let is_near = |scene: &Scene| scene.place(unit).distance(scene.place(preys[1])) < Fx::from_num(9);
    assert!(is_near(&scene), "it stays at {:?}", scene.place(unit));
    scene.world.set_position(unit, Vec2::from_ints(-30, 3)).unwrap();
    (0..40 * RATE).for_each(|_| scene.step());
    assert!(is_near(&scene), "it does not come back from {:?}", scene.place(unit));
}

/// Where it saw only the first part of the way straight through a dead end, it turned back into it.
#[test]
fn who_comes_out_of_a_deep_dead_end_does_not_go_in_again() {
    let mut world = open_world();
    for y in [-3, 3] {
        wall(&mut world, [-10, y], [Fx::from_num(80), Fx::ONE / 4]);
    }
    wall(&mut world, [70, 0], [Fx::ONE / 4, Fx::from_num(3)]);
    let mut scene = Scene::new(world, 128);
    let prey = scene.add(Vec2::from_ints(76, 0));
    let unit = scene.add(Vec2::from_ints(-60, 0));
    // Two hundred units around, and what it goes in before it sees the end of it.
    let after = hunt(&mut scene, &[(unit, prey)], 150 * RATE);
    assert!(after[0].is_some(), "it is at {:?}", scene.place(unit));
}

/// Whom it pursues may come out.
#[test]
fn a_door_that_opens_lets_the_pursuer_in() {
    let mut world = open_world();
    room(&mut world, [0, 0], 6);
    let door = house(&mut world, [6, 0], [1, 2]);
    let mut scene = Scene::new(world, 32);
    let [unit, prey] = [-12, -2].map(|x| scene.add(Vec2::from_ints(x, 0)));
    let after = hunt(&mut scene, &[(unit, prey)], 10 * RATE)[0];
    assert_eq!(after, None);
    // The wall with the door in it.
    let walls: Vec<BodyId> = scene.world.bodies().map(|body| body.id()).collect();
    for body in walls {
        if scene.place(body) == Vec2::from_ints(6, 0) {
            scene.pull_down(body);
        }
    }
    assert!(scene.world.body(door).is_none());
    let after = hunt(&mut scene, &[(unit, prey)], 20 * RATE)[0];
    assert!(after.is_some(), "{:?}", scene.place(unit));
}

/// Its own cells are closed, and another house stands before it.
#[test]
fn a_house_is_a_prey_wherever_it_stands() {
    for behind in [4, 8, 12] {
        let mut world = open_world();
        house(&mut world, [0, 0], [1, 10]);
        let prey = house(&mut world, [behind, 0], [2, 3]);
        let mut scene = Scene::new(world, 32);
        let unit = scene.add(Vec2::from_ints(-10, 1));
        scene.pursue(unit, prey, REACH);
        (0..20 * RATE).for_each(|_| scene.step());
        let (at, around) = (scene.place(unit), scene.world.body(prey).unwrap().aabb());
        let nearest =
            Vec2::new(at.x.clamp(around.min.x, around.max.x), at.y.clamp(around.min.y, around.max.y));
        assert!(at.distance(nearest) <= REACH, "{behind}: {at:?}");
        assert_eq!(scene.world.body(unit).unwrap().velocity(), Vec2::ZERO);
    }
}

/// The wall is so thin that both are within a cell of it, and they could touch if it were not there.
#[test]
fn a_thin_wall_in_between_is_gone_around() {
    for tenth in 0..10 {
        let mut world = open_world();
        let x = Fx::from_num(tenth) / 10;
        scene::house(&mut world, Vec2::new(x, Fx::ZERO), Vec2::new(Fx::ONE / 8, Fx::from_num(8)));
        let mut scene = Scene::new(world, 16);
        let apart = Fx::lit("0.65");
        let [unit, prey] = [-apart, apart].map(|apart| scene.add(Vec2::new(x + apart, Fx::ZERO)));
        scene.pursue(unit, prey, Fx::ONE / 8);
        let mut frames = 0;
        while scene.place(unit).distance(scene.place(prey)) > Fx::ONE + Fx::ONE / 8 {
            scene.step();
            frames += 1;
            assert!(frames < 12 * RATE, "{tenth}: {:?}", scene.place(unit));
        }
    }
}

/// Three hundred of them, and one door that is half as wide again as they are.
#[test]
fn three_hundred_come_through_a_door_to_one_prey() {
    let mut world = open_world();
    let (jamb, gap) = (Fx::from_num(20), Fx::lit("0.75"));
    for side in [-1, 1] {
        let middle = Vec2::new(Fx::ZERO, (jamb + gap) * i64::from(side));
        scene::house(&mut world, middle, Vec2::new(Fx::ONE / 2, jamb));
    }
    let mut scene = Scene::new(world, 64);
    // They would push a unit away.
    let tower = BodyDef::static_body(Shape::circle(Fx::ONE)).position(Vec2::from_ints(20, 12));
    let prey = scene.world.create_body(&tower).unwrap();
    scene.crowd.survey_area(&scene.world, scene.world.body(prey).unwrap().aabb());
    let units: Vec<BodyId> =
        (0..300).map(|n| scene.add(Vec2::from_ints(-8 - n % 15 * 2, n / 15 * 2 - 19))).collect();
    for &unit in &units {
        scene.pursue(unit, prey, REACH);
    }
    let mut frames = 0;
    let through = |scene: &Scene| units.iter().filter(|&&unit| scene.place(unit).x > Fx::ONE).count();
    // One diameter through the door takes a third of a second, and the way half a minute.
    while through(&scene) < units.len() {
        scene.step();
        frames += 1;
        assert!(frames < 200 * RATE, "{} of 300 are through", through(&scene));
    }
    println!("through after {} s", frames / RATE);
}

/// Time for a path of this length: half as much again, a second to set out, and another one for corners.
fn limit(length: Fx) -> u32 {
    (length / 3 * 3 / 2 * i64::from(RATE)).to_num::<u32>() + 2 * RATE
}

/// A prey that stands on a drawn map, and pursuers one after the other: all with a path reach it in time.
#[test]
fn all_who_have_a_path_on_drawn_maps_reach_their_prey() {
    let (maps, first) = crate::truths::scenes();
    let (mut pairs, mut without, mut late, mut behind) = (0, 0, Vec::new(), 0);
    for seed in first..first + maps {
        let kind = [Kind::Rooms, Kind::Cave, Kind::Maze, Kind::Rocks][seed as usize % 4];
        let world = draw(kind, seed);
        let scene = Scene::new(world.clone(), HALF);
        let ground = scene.crowd.ground();
        let all = middles(ground);
        let cells: Vec<Vec2> = all.into_iter().filter(|&at| ground.is_open(at, size(ground))).collect();
        let mut rng = Pcg32::new(seed, 12);
        // Only where a whole unit has room.
        let mut found = Vec::new();
        let mut draws = || loop {
            let at = rng.below(cells.len() as u32) as usize;
            world.nearest(cells[at], 1, Fx::ONE / 2, &Default::default(), &mut found).unwrap();
            if found.is_empty() {
                return at;
            }
        };
        let goal = draws();
        let lengths = exact(ground, &cells, goal);
        for _ in 0..6 {
            let start = draws();
            if start == goal {
                continue;
            }
            let mut scene = Scene::new(world.clone(), HALF);
            let [unit, prey] = [start, goal].map(|at| scene.add(cells[at]));
            let Some(length) = lengths[start] else {
                without += 1;
                continue;
            };
            pairs += 1;
            behind +=
                i32::from(!scene.crowd.ground().sees(cells[start], cells[goal], size(scene.crowd.ground())));
            let after = hunt(&mut scene, &[(unit, prey)], limit(length) + 10 * RATE)[0];
            if after.is_none_or(|frame| frame > limit(length)) {
                late.push((kind, seed, cells[start], cells[goal], length, after, scene.place(unit)));
            }
        }
    }
    late.iter().for_each(|late| println!("{late:?}"));
    println!(
        "{pairs} pairs, {behind} of them behind something, {without} without a path, {} late",
        late.len()
    );
    assert!(behind * 2 > pairs && pairs > 20, "not interesting");
    assert!(late.is_empty(), "{} late", late.len());
}

/// Five thousand units pursue units on an island: no frame looks for paths over more cells than it may, and others still find theirs.
#[test]
fn pursuers_of_an_island_leave_others_their_paths() {
    let mut world = open_world();
    room(&mut world, [90, 90], 10);
    for x in -12..12 {
        house(&mut world, [x * 8, (x & 1) * 3], [2, 1]);
    }
    let mut scene = Scene::new(world, 128);
    let preys: Vec<BodyId> = (0..8).map(|n| scene.add(Vec2::from_ints(86 + n, 90))).collect();
    let at = |n: i32| Vec2::from_ints(n % 100 * 2 - 120, -120 + n / 100 * 2);
    let units: Vec<BodyId> = (0..5_000).map(|n| scene.add(at(n))).collect();
    for (n, &unit) in units.iter().enumerate() {
        scene.pursue(unit, preys[n % 8], REACH);
    }
    // A house is in the way of each of them.
    let others: Vec<BodyId> = (0..20).map(|n| scene.add(Vec2::from_ints(n * 8 - 90, 20))).collect();
    let mut waited = 0;
    for frame in 0..10 * RATE {
        if frame % RATE == RATE / 2 {
            for (n, &unit) in (0..).zip(&others) {
                let y = if (frame / RATE).is_multiple_of(2) { -15 } else { 20 };
                scene.go(&[unit], Vec2::from_ints(n * 8 - 90, y));
            }
        }
        scene.step();
        waited += scene.waiting(&others);
        let mut debt = 0;
        scene.crowd.visit_numbers(&mut |number| {
            if number.name == "paths_debt" {
                debt = number.value;
            }
        });
        // A quarter of a frame's cells, each counted eight times, and those who asked for room at its end.
        assert!(debt <= 2 * 16_384, "{debt} cells in frame {frame}");
    }
    println!("the others stood for {waited} frames");
    assert!(waited < 20 * 20 * 3, "the others stood for {waited} frames in all");
}
