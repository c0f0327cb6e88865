//! What a game may say that makes no sense.

use testudo_movement::{
    Crowd, CrowdDef, Formation, GroundDef, MoveError, MoveEvent, MoverDef, Order, places,
};
use testudo_physics::{Angle, BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};

use crate::maps::square;

const EXTREMES: [Fx; 5] =
    [Fx::MIN, Fx::const_from_int(-20_000), Fx::ZERO, Fx::const_from_int(20_000), Fx::MAX];

fn a_unit() -> (World, Crowd, BodyId) {
    let mut world = World::new(WorldDef::new()).unwrap();
    let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(square(16)))).unwrap();
    crowd.survey(&world);
    let unit = world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE / 2))).unwrap();
    crowd.add(&world, unit, MoverDef::default()).unwrap();
    (world, crowd, unit)
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
        crowd.step(&mut world, 20);
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
        for spacing in EXTREMES {
            let formation = (Formation::Rows { files: u32::MAX }, Angle::ZERO);
            let found = places(ground, size, at, formation, spacing, 4);
            assert!(!found.is_empty(), "{at:?} {spacing}");
        }
    }
}
