//! Units that a game moves, disables, removes and adds again, and ground that changes under the parts of a crowd that are used alone.

use testudo_movement::{Flows, Formation, Ground, GroundDef, MoverDef, Way, places};
use testudo_physics::{Aabb, Angle, BodyDef, BodyId, ChainDef, Fx, Pcg32, Shape, Vec2, World};
use testudo_tests::cases::share;

use crate::crowds::caged;
use crate::maps::square;
use crate::paths::size;
use crate::scene::{RATE, Scene, open_world, surveyed};

/// A step between two cells was open in both directions if the sweep from the lower one began behind the chain: units were led into walls, and gave up.
#[test]
fn units_go_around_one_sided_chains_from_both_sides() {
    for (points, sign) in [([-8, 8], 1), ([8, -8], 1), ([-8, 8], -1), ([8, -8], -1)] {
        let mut world = open_world();
        let ends = points.map(|y| Vec2::from_ints(0, y));
        world.create_chain(&ChainDef::new(&ends).one_sided(true)).unwrap();
        let mut scene = Scene::new(world, 16);
        let unit = scene.add(Vec2::from_ints(10 * sign, 0));
        scene.go(&[unit], Vec2::from_ints(-10 * sign, 0));
        (0..15 * RATE).for_each(|_| scene.step());
        assert_eq!(scene.arrived.len(), 1, "{points:?} from {sign}: at {:?}", scene.place(unit));
    }
}

/// Brute force: the same chains with two sides.
#[test]
fn the_ground_is_the_same_whichever_sides_of_chains_are_solid() {
    let mut closed = 0;
    for seed in 0..share(24) {
        let mut rng = Pcg32::new(seed, 46);
        let part = |rng: &mut Pcg32| Fx::from_bits(i64::from(rng.below(28 << 16)) - (14 << 16));
        let chains: Vec<Vec<Vec2>> = (0..4)
            .map(|_| (0..2 + rng.below(4)).map(|_| Vec2::new(part(&mut rng), part(&mut rng))).collect())
            .collect();
        let [both, one] = [false, true].map(|one_sided| {
            let mut world = open_world();
            for points in &chains {
                world.create_chain(&ChainDef::new(points).one_sided(one_sided)).unwrap();
            }
            let sizes = [Fx::ONE / 4, Fx::ONE / 2, Fx::ONE];
            surveyed(&world, &GroundDef::new(square(16)).sizes(&sizes))
        });
        let half = both.size_of(Fx::ONE / 2).unwrap();
        let middles = crate::paths::middles(&both);
        closed += middles.iter().filter(|&&at| !both.is_open(at, half)).count();
        assert!(both == one, "seed {seed}: the grounds differ");
    }
    assert!(closed > 20, "{closed} closed cells");
}

/// A unit on its way to a goal, and a lake, which only the ground knows.
fn beside_a_lake(from: Vec2, goal: Vec2, lake: Aabb) -> (Scene, BodyId) {
    let mut scene = Scene::new(open_world(), 40);
    scene.crowd.set_cost(&scene.world, lake, 0).unwrap();
    let unit = scene.add(from);
    scene.go(&[unit], goal);
    (scene, unit)
}

/// Moves a unit, which then has to go around the lake. (A line may pass a corner of a closed cell.)
fn goes_around(scene: &mut Scene, unit: BodyId, to: Vec2, lake: Aabb) {
    scene.world.set_position(unit, to).unwrap();
    let edge = Vec2::new(Fx::ONE / 4, Fx::ONE / 4);
    let lake = Aabb { min: lake.min + edge, max: lake.max - edge };
    for frame in 0..60 * RATE {
        scene.step();
        let at = scene.place(unit);
        assert!(!lake.contains(at), "moved to {to:?}: at {at:?}, frame {frame}");
    }
    assert_eq!(scene.arrived.len(), 1, "moved to {to:?}: at {:?}", scene.place(unit));
}

/// It kept its aim, because it had the velocity that it wanted, and walked straight across the lake.
#[test]
fn a_unit_that_was_moved_looks_what_is_between_it_and_its_aim() {
    let lake = Aabb::from_center_half(Vec2::ZERO, Vec2::from_ints(20, 10));
    for (x, y) in [(-25, -14), (0, -14), (15, -13)] {
        let (mut scene, unit) = beside_a_lake(Vec2::from_ints(-35, 13), Vec2::from_ints(36, 13), lake);
        (0..4 * RATE).for_each(|_| scene.step());
        goes_around(&mut scene, unit, Vec2::from_ints(x, y), lake);
    }
}

#[test]
fn a_unit_that_was_moved_back_on_its_line_looks_what_is_in_between() {
    let lake = Aabb::from_corners(Vec2::from_ints(-20, -5), Vec2::from_ints(-12, 5));
    let (mut scene, unit) = beside_a_lake(Vec2::from_ints(-6, 0), Vec2::from_ints(36, 0), lake);
    (0..2 * RATE).for_each(|_| scene.step());
    goes_around(&mut scene, unit, Vec2::from_ints(-22, 0), lake);
}

/// Others went around it, and it gave up what it could not do.
#[test]
fn a_unit_that_is_disabled_is_in_nobodys_way_and_goes_on_when_it_is_back() {
    let march = |in_the_way: bool| {
        let mut scene = Scene::new(open_world(), 24);
        let units: Vec<BodyId> = (-2..=2).map(|y| scene.add(Vec2::from_ints(-18, 2 * y))).collect();
        if in_the_way {
            for x in [-8, 0, 18] {
                let other = scene.add(Vec2::from_ints(x, 0));
                scene.world.set_enabled(other, false).unwrap();
            }
        }
        scene.go(&units, Vec2::from_ints(18, 0));
        let mut story = Vec::new();
        for _ in 0..20 * RATE {
            scene.step();
            story.extend(units.iter().map(|&unit| scene.place(unit)));
        }
        assert_eq!(scene.arrived.len(), units.len());
        story
    };
    assert!(march(true) == march(false), "somebody went around a body that takes no part");

    let mut scene = Scene::new(open_world(), 24);
    let units = [-4, 4].map(|y| scene.add(Vec2::from_ints(-18, y)));
    let [unit, pursuer] = units;
    let prey = scene
        .world
        .create_body(&BodyDef::static_body(Shape::circle(Fx::ONE)).position(Vec2::from_ints(18, 10)));
    let prey = prey.unwrap();
    scene.go(&[unit], Vec2::from_ints(18, 0));
    scene.crowd.pursue(&scene.world, pursuer, prey, Fx::ONE).unwrap();
    (0..2 * RATE).for_each(|_| scene.step());
    let before = units.map(|unit| scene.place(unit));
    units.iter().for_each(|&unit| scene.world.set_enabled(unit, false).unwrap());
    for _ in 0..60 * RATE {
        scene.step();
        assert_eq!(scene.gave_up, []);
        assert_eq!(units.map(|unit| scene.place(unit)), before);
    }
    units.iter().for_each(|&unit| scene.world.set_enabled(unit, true).unwrap());
    (0..20 * RATE).for_each(|_| scene.step());
    assert_eq!((scene.arrived.len(), scene.gave_up.len()), (1, 0));
    let reach = scene.world.body(prey).unwrap().distance(scene.place(pursuer)).unwrap();
    assert!(reach < Fx::lit("1.2"), "{reach}");
}

/// The higher rank became its own, and one more each time.
#[test]
fn a_unit_that_is_removed_while_it_pushes_gets_its_own_rank_back() {
    let (mut scene, unit) = caged();
    let rank = |scene: &Scene| scene.world.body(unit).unwrap().dominance();
    for _ in 0..3 {
        scene.go(&[unit], Vec2::from_ints(18, 0));
        let mut frames = 0;
        while rank(&scene) == 0 {
            scene.step();
            frames += 1;
            assert!(frames < 10 * RATE, "it never pushes");
        }
        assert!(scene.crowd.remove(&mut scene.world, unit));
        assert_eq!(rank(&scene), 0);
        scene.crowd.add(&scene.world, unit, MoverDef::default()).unwrap();
        (0..RATE).for_each(|_| scene.step());
        assert_eq!(rank(&scene), 0);
    }
}

/// They led through the house.
#[test]
fn flows_that_are_used_alone_can_be_told_that_the_ground_has_changed() {
    for whole_up_to in [u32::MAX, 0] {
        let mut world = open_world();
        let mut ground = surveyed(&world, &GroundDef::new(square(64)));
        let (from, goal) = (Vec2::from_ints(-40, 0), Vec2::from_ints(40, 0));
        let mut flows = Flows::new(1).unwrap().whole_up_to(whole_up_to);
        let flow = flows.to(&ground, goal, size(&ground)).unwrap();
        let way = |flows: &mut Flows, ground: &Ground| {
            let flow = flows.to(ground, goal, size(ground)).unwrap();
            (0..400).for_each(|_| {
                flows.follow(ground, flow, from, false);
                flows.search(ground, 1_024);
            });
            flows.follow(ground, flow, from, false)
        };
        let before = way(&mut flows, &ground);
        assert!(matches!(before, Way::Straight { .. }), "{before:?}");
        let build = |world: &mut World, half_y: i32| {
            let house = Shape::rect(Fx::from_num(2), Fx::from_num(half_y));
            let house = world.create_body(&BodyDef::static_body(house)).unwrap();
            world.body(house).unwrap().aabb()
        };
        let area = build(&mut world, 20);
        ground.survey_area(&world, area);
        flows.forget_area(&ground, area);
        let around = way(&mut flows, &ground);
        let mut fresh = Flows::new(1).unwrap().whole_up_to(whole_up_to);
        assert_eq!(around, way(&mut fresh, &ground));
        assert!(matches!(around, Way::Aim { left, .. } if left > Fx::from_num(85)), "{around:?}");
        let all = Aabb::from_corners(Vec2::from_ints(-64, -64), Vec2::from_ints(64, 64));
        build(&mut world, 64);
        ground.survey(&world);
        flows.forget_area(&ground, all);
        assert_eq!(way(&mut flows, &ground), Way::Closed);
        assert!(flows.is_live(flow));
    }
}

/// They were said to be in the order of their distance from the goal.
#[test]
fn places_in_rows_come_row_by_row_and_from_left_to_right() {
    let ground = Ground::new(&GroundDef::new(square(16))).unwrap();
    let rows = (Formation::Rows { files: 3 }, Angle::ZERO);
    let found = places(&ground, size(&ground), Vec2::ZERO, rows, Fx::from_num(2), 8).unwrap();
    let expected = [(2, 2), (2, 0), (2, -2), (0, 2), (0, 0), (0, -2), (-2, 1), (-2, -1)];
    assert_eq!(found, expected.map(|(x, y)| Vec2::from_ints(x, y)));
}
