//! What a game may say that makes no sense.

use testudo_movement::{
    COST_MAX, Crowd, CrowdDef, CrowdError, FIELDS_MAX, FlowError, Flows, Formation, GroundDef, GroundError,
    MoveError, MoveEvent, MoverDef, Order, PlacesError, Way, places,
};
use testudo_physics::{Aabb, Angle, BodyDef, BodyId, EXTENT_MAX, FPS_MAX, Fx, Shape, StepError, Vec2, World};

use crate::maps::square;
use crate::scene::{Scene, house, open_world, usual};

const EXTREMES: [Fx; 5] =
    [Fx::MIN, Fx::const_from_int(-20_000), Fx::ZERO, Fx::const_from_int(20_000), Fx::MAX];

fn a_unit() -> (World, Crowd, BodyId) {
    let mut scene = Scene::new(open_world(), 16);
    let unit = scene.add(Vec2::ZERO);
    (scene.world, scene.crowd, unit)
}

/// The least number has no opposite: an order there panicked.
#[test]
fn goals_out_of_range_are_refused() {
    let (world, mut crowd, unit) = a_unit();
    for far in EXTREMES.into_iter().filter(|&part| part != Fx::ZERO) {
        for goal in [Vec2::new(far, Fx::ZERO), Vec2::new(Fx::ZERO, far), Vec2::new(far, far)] {
            assert_eq!(crowd.order(&world, &[unit], &Order::go(goal)), Err(MoveError::Goal), "{goal:?}");
            assert_eq!(crowd.send(unit, goal, Vec2::ZERO), Err(MoveError::Goal), "{goal:?}");
            assert_eq!(crowd.send(unit, Vec2::ZERO, goal), Err(MoveError::Goal), "{goal:?}");
        }
    }
    assert_eq!(crowd.is_going(unit), Some(false));
}

/// It left the area, and went for ever.
#[test]
fn a_place_outside_of_the_area_is_the_nearest_one_inside() {
    let (mut world, mut crowd, unit) = a_unit();
    crowd.send(unit, Vec2::from_ints(10, 0), Vec2::from_ints(16_000, 0)).unwrap();
    let mut arrived = false;
    for _ in 0..400 {
        crowd.step(&mut world, 20).unwrap();
        arrived |= crowd.events().contains(&MoveEvent::Arrived(unit));
        world.step(20).unwrap();
    }
    let x = world.body(unit).unwrap().position().x;
    assert!(arrived && (x - Fx::from_num(16)).abs() < Fx::ONE, "{arrived} {x}");
}

#[test]
fn questions_about_places_far_outside_are_answered() {
    let (_, crowd, _) = a_unit();
    let ground = crowd.ground();
    let size = ground.size_of(Fx::ONE / 2).unwrap();
    let corners = EXTREMES.into_iter().flat_map(|x| EXTREMES.map(|y| Vec2::new(x, y)));
    for at in corners {
        for to in [Vec2::ZERO, Vec2::new(Fx::MAX, Fx::MIN)] {
            assert!(ground.sees(at, to, size), "{at:?}");
            let last = ground.towards(at, to, size);
            assert!(last.x.abs() <= Fx::from_num(16) && last.y.abs() <= Fx::from_num(16), "{at:?}: {last:?}");
        }
        assert!(ground.is_open(at, size) && ground.cost(at) == 1 && ground.nearest_open(at, size).is_some());
        for spacing in [Fx::ONE / 2, EXTENT_MAX] {
            let formation = (Formation::Rows { files: u32::MAX }, Angle::ZERO);
            let found = places(ground, size, at, formation, spacing, 4).unwrap();
            assert!(!found.is_empty(), "{at:?} {spacing}");
        }
    }
}

/// The whole state, to see that a refused call changes nothing.
fn state(world: &World, crowd: &Crowd) -> (u64, Vec<u8>, Vec<MoveEvent>) {
    let mut bytes = Vec::new();
    crowd.save(&mut bytes);
    (world.checksum(), bytes, crowd.events().to_vec())
}

#[test]
fn rates_out_of_range_are_refused() {
    let (mut world, mut crowd, unit) = a_unit();
    crowd.order(&world, &[unit], &Order::go(Vec2::from_ints(2, 0))).unwrap();
    while crowd.events().is_empty() {
        crowd.step(&mut world, 20).unwrap();
        world.step(20).unwrap();
    }
    let before = state(&world, &crowd);
    for given in [0, FPS_MAX + 1, u32::MAX] {
        assert_eq!(crowd.step(&mut world, given), Err(StepError::FramesPerSecond { given }));
        assert_eq!(state(&world, &crowd), before, "{given}");
    }
    for rate in [1, FPS_MAX] {
        assert_eq!(crowd.step(&mut world, rate), Ok(()));
        world.step(rate).unwrap();
    }
}

#[test]
fn reaches_out_of_range_are_refused() {
    let (mut world, mut crowd, unit) = a_unit();
    let wall = BodyDef::static_body(Shape::circle(Fx::ONE)).position(Vec2::from_ints(8, 0));
    let prey = world.create_body(&wall).unwrap();
    crowd.pursue(&world, unit, prey, Fx::ONE).unwrap();
    let (before, most) = (state(&world, &crowd), Fx::from_num(65_536));
    for value in [-Fx::DELTA, most + Fx::DELTA, Fx::MIN, Fx::MAX] {
        assert_eq!(crowd.pursue(&world, unit, prey, value), Err(MoveError::Reach { value }));
        assert_eq!(state(&world, &crowd), before, "{value}");
    }
    for reach in [Fx::ZERO, most] {
        assert_eq!(crowd.pursue(&world, unit, prey, reach), Ok(()));
        assert_ne!(state(&world, &crowd), before, "{reach}");
    }
}

#[test]
fn settings_of_crowds_and_fields_out_of_range_are_refused() {
    let def = || usual(16);
    for value in [0, FIELDS_MAX + 1, u32::MAX] {
        let error = FlowError::FieldsMax { value };
        assert_eq!(Flows::new(value).err(), Some(error));
        assert_eq!(Crowd::new(&def().fields_max(value)).err(), Some(CrowdError::Flow(error)));
    }
    for value in [1, FIELDS_MAX] {
        assert!(Flows::new(value).is_ok() && Crowd::new(&def().fields_max(value)).is_ok(), "{value}");
    }
    assert_eq!(Crowd::new(&def().cells_per_frame(0)).err(), Some(CrowdError::CellsPerFrame));
    assert!([1, u32::MAX].iter().all(|&cells| Crowd::new(&def().cells_per_frame(cells)).is_ok()));
    let narrow = CrowdDef::new(GroundDef::new(square(16)).cell(Fx::ZERO));
    let error = GroundError::Cell { value: Fx::ZERO };
    assert_eq!(Crowd::new(&narrow).err(), Some(CrowdError::Ground(error)));
}

#[test]
fn costs_out_of_range_are_refused() {
    let (world, mut crowd, _) = a_unit();
    let swamp = Aabb::from_corners(Vec2::from_ints(4, 4), Vec2::from_ints(8, 8));
    let middle = Vec2::from_ints(6, 6);
    for cost in [0, COST_MAX] {
        assert_eq!(crowd.set_cost(&world, swamp, cost), Ok(()));
        assert_eq!(crowd.ground().cost(middle), cost);
        let mut ground = crowd.ground().clone();
        for value in [COST_MAX + 1, u8::MAX] {
            assert_eq!(crowd.set_cost(&world, swamp, value), Err(GroundError::Cost { value }));
            assert_eq!(ground.set_cost(&world, swamp, value), Err(GroundError::Cost { value }));
        }
        assert_eq!([crowd.ground().cost(middle), ground.cost(middle)], [cost; 2]);
    }
}

#[test]
fn formations_out_of_range_are_refused() {
    let (world, mut crowd, unit) = a_unit();
    let before = state(&world, &crowd);
    let rows = |files| Formation::Rows { files };
    let order = |files| Order::go(Vec2::from_ints(2, 0)).formation(rows(files), Angle::ZERO);
    assert_eq!(crowd.order(&world, &[unit], &order(0)), Err(MoveError::Places(PlacesError::Files)));
    assert_eq!(state(&world, &crowd), before);
    let (ground, min) = (crowd.ground().clone(), Fx::ONE / 2);
    let size = ground.size_of(min).unwrap();
    let found = |files, spacing| places(&ground, size, Vec2::ZERO, (rows(files), Angle::ZERO), spacing, 4);
    assert_eq!(found(0, Fx::ONE), Err(PlacesError::Files));
    for value in [min - Fx::DELTA, EXTENT_MAX + Fx::DELTA, Fx::MIN, Fx::MAX] {
        assert_eq!(found(1, value), Err(PlacesError::Spacing { value, min }));
    }
    for files in [1, u32::MAX] {
        assert!(found(files, min).is_ok() && found(files, EXTENT_MAX).is_ok(), "{files}");
        assert_eq!(crowd.order(&world, &[unit], &order(files)), Ok(()));
    }
}

/// Lengths of ways from there had no room in a number: a panic, or another number where overflow is not checked.
#[test]
fn ways_from_far_outside_lead_to_the_goal_on_all_machines_alike() {
    let (_, crowd, _) = a_unit();
    let ground = crowd.ground();
    let size = ground.size_of(Fx::ONE / 2).unwrap();
    let mut flows = Flows::new(2).unwrap();
    let flow = flows.to(ground, Vec2::from_ints(5, 3), size).unwrap();
    let extremes = [Fx::MIN, -Fx::from_num(1_i64 << 45), Fx::ZERO, Fx::from_num(1_i64 << 46), Fx::MAX];
    for at in extremes.into_iter().flat_map(|x| extremes.map(|y| Vec2::new(x, y))) {
        for careful in [false, true] {
            let way = flows.follow(ground, flow, at, careful);
            assert_ne!(way, Way::Closed, "{at:?}");
            assert!(way.left().is_none_or(|left| left >= Fx::ZERO), "{at:?}: {way:?}");
        }
        flows.search(ground, 100_000);
        let way = flows.way(ground, flow, at);
        assert!(way.left().is_some_and(|left| left >= Fx::ZERO), "{at:?}: {way:?}");
    }
}

/// Such a unit stood for ever, and nobody was told.
#[test]
fn who_is_to_pursue_itself_or_a_body_that_is_gone_goes_on_as_before() {
    let (mut world, mut crowd, unit) = a_unit();
    let tower = BodyDef::static_body(Shape::circle(Fx::ONE)).position(Vec2::from_ints(8, 0));
    let gone = world.create_body(&tower).unwrap();
    world.remove_body(gone).unwrap();
    let prey = world.create_body(&tower).unwrap();
    assert_eq!(gone.index(), prey.index());
    crowd.pursue(&world, unit, prey, Fx::ONE).unwrap();
    let before = state(&world, &crowd);
    for (whom, error) in [(unit, MoveError::PursuesItself(unit)), (gone, MoveError::PreyGone(gone))] {
        assert_eq!(crowd.pursue(&world, unit, whom, Fx::ONE), Err(error));
        assert!(error.to_string().contains(&format!(" {whom} ")), "{error}");
        assert_eq!(state(&world, &crowd), before, "{error}");
    }
}

#[test]
fn a_body_that_cannot_be_a_unit_is_named_with_the_reason() {
    let (mut world, mut crowd, unit) = a_unit();
    let tower = world.create_body(&BodyDef::static_body(Shape::circle(Fx::ONE))).unwrap();
    let before = state(&world, &crowd);
    let added = |crowd: &mut Crowd, world: &World, body| crowd.add(world, body, MoverDef::default());
    assert_eq!(added(&mut crowd, &world, tower), Err(MoveError::NotDynamic(tower)));
    assert_eq!(state(&world, &crowd), before);
    world.remove_body(unit).unwrap();
    let error = added(&mut crowd, &world, unit).unwrap_err();
    assert_eq!((error, error.to_string()), (MoveError::BodyGone(unit), format!("body {unit} is gone")));
}

/// Units walked into walls for 20 s, and nothing said why.
#[test]
fn a_crowd_that_has_not_looked_at_the_walls_takes_no_orders() {
    let (world, surveyed, unit) = a_unit();
    let def = usual(16);
    let mut crowd = Crowd::new(&def).unwrap();
    crowd.add(&world, unit, MoverDef::default()).unwrap();
    let goal = Vec2::from_ints(9, 0);
    let loaded = Crowd::load(&def, &world, &state(&world, &crowd).1).unwrap();
    for mut crowd in [crowd.clone(), loaded, crowd] {
        let before = state(&world, &crowd);
        assert_eq!(crowd.order(&world, &[unit], &Order::go(goal)), Err(MoveError::NotSurveyed));
        assert_eq!(crowd.send(unit, goal, goal), Err(MoveError::NotSurveyed));
        assert_eq!(crowd.pursue(&world, unit, unit, Fx::ONE), Err(MoveError::NotSurveyed));
        assert_eq!(state(&world, &crowd), before);
        let mut copy = surveyed.clone();
        copy.clone_from(&crowd);
        assert_eq!(copy.send(unit, goal, goal), Err(MoveError::NotSurveyed));
        crowd.survey(&world);
        let loaded = Crowd::load(&def, &world, &state(&world, &crowd).1).unwrap();
        for mut crowd in [crowd, loaded] {
            assert_eq!(crowd.order(&world, &[unit], &Order::go(goal)), Ok(()));
        }
    }
}

/// A unit beside a wall, in a crowd that has not looked at that.
fn beside_an_unknown_wall() -> (Scene, BodyId) {
    let mut world = open_world();
    house(&mut world, Vec2::ZERO, Vec2::from_ints(1, 12));
    let mut scene = Scene::unsurveyed(world, usual(16));
    let unit = scene.add(Vec2::from_ints(-5, 0));
    (scene, unit)
}

/// It knew no wall, and the unit went back to its post, straight through one. A crowd that was loaded surveys all walls, and its unit stayed.
#[test]
fn a_unit_of_a_crowd_that_has_not_looked_at_the_walls_stays_where_it_was_put() {
    let (mut scene, unit) = beside_an_unknown_wall();
    // The second time no wall is between.
    for place in [5, 8] {
        let place = Vec2::from_ints(place, 0);
        scene.world.set_position(unit, place).unwrap();
        let mut other = scene.restored();
        for frame in 0..80 {
            scene.step();
            other.step();
            scene.assert_same(&other, frame);
        }
        assert_eq!((scene.place(unit), scene.crowd.post(unit)), (place, Some(place)));
    }
}

/// It found the wall, and the copy that was loaded knew it: whether the ground had changed was in the checksum, and stayed there after a survey.
#[test]
fn a_crowd_that_has_not_looked_at_the_walls_looks_at_an_area_as_its_loaded_copy_does() {
    let (mut scene, unit) = beside_an_unknown_wall();
    let mut other = scene.restored();
    for frame in 0..6 {
        for scene in [&mut scene, &mut other] {
            match frame {
                0 => scene.crowd.survey_area(&scene.world, square(4)),
                // Everything that an order takes is there.
                3 => {
                    scene.crowd.survey(&scene.world);
                    scene.go(&[unit], Vec2::from_ints(9, 0));
                }
                _ => {}
            }
            scene.step();
        }
        scene.assert_same(&other, frame);
    }
}
