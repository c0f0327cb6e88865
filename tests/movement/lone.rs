//! One unit in the open: nothing holds it up, so it arrives at its goal, whatever it can do.

use testudo_movement::{CrowdDef, GroundDef, MoveEvent, MoverDef};
use testudo_physics::{Fx, Vec2};

use crate::maps::square;
use crate::scene::{RATE, Scene, open_world};

/// A unit goes `far` units on ground of a cost. It arrives once, in time and at its goal, and stays there.
fn goes(radius: Fx, def: MoverDef, far: i32, cost: u8) {
    let ground = GroundDef::new(square(64)).sizes(&[radius]);
    let mut scene = Scene::of(open_world(), CrowdDef::new(ground).slow_ground(true));
    scene.crowd.set_cost(&scene.world, square(64), cost).unwrap();
    let unit = scene.add_disc(radius, Vec2::ZERO, def);
    let goal = Vec2::from_ints(far, 0);
    scene.go(&[unit], goal);
    let pace = def.speed / i64::from(cost);
    let ideal: i32 = (Fx::from_num(far) / pace + pace / def.acceleration).ceil().to_num();
    let mut events = Vec::new();
    for _ in 0..(ideal as u32 * 3 / 2 + 10) * RATE {
        scene.step();
        events.extend_from_slice(scene.crowd.events());
    }
    let case = format!("radius {radius}, {def:?}, {far} units, cost {cost}");
    assert_eq!(events, [MoveEvent::Arrived(unit)], "{case}");
    let body = scene.world.body(unit).unwrap();
    assert_eq!(body.velocity(), Vec2::ZERO, "{case}");
    // A quarter of its radius is near enough, and then it brakes over half of it.
    assert!(body.position().distance(goal) <= radius, "{case}: {:?}", body.position());
}

/// Half a radius in 1.5 s was progress whatever the unit's own pace, and a unit that made less of it was content up to twelve radii from its goal.
#[test]
fn slow_units_arrive() {
    let speed = |parts: i32| MoverDef { speed: Fx::from_num(parts) / 20, ..MoverDef::default() };
    for (radius, parts) in [(2, 4), (2, 6), (2, 8), (2, 10), (1, 2), (1, 4), (1, 6)] {
        goes(Fx::from_num(radius), speed(parts), 30, 1);
    }
    goes(Fx::ONE / 2, speed(1), 10, 1);
    goes(Fx::ONE, MoverDef::default(), 30, 15);
    goes(Fx::from_num(2), MoverDef::default(), 30, 15);
}

/// They went on at four times their distance until they were there, and said that they had arrived while they ran past.
#[test]
fn units_brake_before_their_goals() {
    let pairs =
        [(3, 3), (3, 1), (5, 2), (10, 30), (10, 20), (10, 10), (10, 5), (10, 2), (10, 1), (20, 5), (20, 30)];
    for (speed, acceleration) in pairs {
        let def = MoverDef { speed: Fx::from_num(speed), acceleration: Fx::from_num(acceleration) };
        goes(Fx::ONE / 2, def, 40, 1);
    }
}
