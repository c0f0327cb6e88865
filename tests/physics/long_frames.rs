//! What happens within one frame: fast bodies at corners, and bodies that meet, part and fall asleep.

use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};

use crate::build::restored;

fn wall(world: &mut World, half: [&str; 2], at: [&str; 2], restitution: &str) {
    let shape = Shape::rect(Fx::lit(half[0]), Fx::lit(half[1]));
    let wall = BodyDef::static_body(shape).restitution(Fx::lit(restitution));
    world.create_body(&wall.position(Vec2::new(Fx::lit(at[0]), Fx::lit(at[1])))).unwrap();
}

fn disc() -> BodyDef {
    BodyDef::dynamic(Shape::circle(Fx::lit("0.5")))
}

/// A barrier took the part of the speed against its diagonal normal, which made the other part greater than a body can have. The world was saved, and could
/// not be loaded.
#[test]
fn a_body_that_is_turned_at_a_corner_keeps_to_the_greatest_speed() {
    let mut fast = World::new(WorldDef::new()).unwrap();
    wall(&mut fast, ["2", "1"], ["-1.5", "0.5"], "0");
    let lift = disc().locked_axes(true, false).position(Vec2::new(Fx::ONE, Fx::lit("-0.5")));
    fast.create_body(&lift.velocity(Vec2::from_ints(-1_024, -1_003))).unwrap();
    let mut slow = World::new(WorldDef::new().max_speed(Fx::from_num(100))).unwrap();
    wall(&mut slow, ["2", "3"], ["-4", "0.5"], "0");
    wall(&mut slow, ["3", "3"], ["0.5", "3.5"], "0");
    let at = Vec2::new(Fx::from_num(-3), Fx::lit("0.5"));
    slow.create_body(&disc().position(at).velocity(Vec2::from_ints(100, -89))).unwrap();
    for mut world in [fast, slow] {
        for _ in 0..2 {
            world.step(20).unwrap();
        }
        assert_eq!(world.validate(), Ok(()));
        restored(&world);
    }
}

/// It slept in contact with a wall that was .66 units away; a world that was loaded then did not know the contact.
#[test]
fn nobody_falls_asleep_in_contact_with_a_wall_far_away() {
    for (fps, sleep_ms) in [(1, 500), (10, 100)] {
        let mut world = World::new(WorldDef::new().sleep_ms(sleep_ms)).unwrap();
        wall(&mut world, ["2", "3"], ["-3.5", "2"], "0.11");
        let round = BodyDef::static_body(Shape::circle(Fx::from_num(2)));
        world.create_body(&round.position(Vec2::new(Fx::ZERO, Fx::lit("2.5")))).unwrap();
        wall(&mut world, ["1", "3"], ["0", "-4"], "0.825");
        let ball = disc().restitution(Fx::lit("0.25")).position(Vec2::new(-Fx::ONE, Fx::lit("-0.5")));
        let speed = Vec2::new(Fx::from_num(4) * i64::from(fps) / 10, Fx::from_num(2 * fps));
        world.create_body(&ball.velocity(speed)).unwrap();
        world.step(fps).unwrap();
        let mut copy = restored(&world);
        for world in [&mut world, &mut copy] {
            world.step(fps).unwrap();
        }
        assert_eq!(world.first_difference(&copy).map(|found| found.to_string()), None, "{fps}");
        assert_eq!(world.contacts_ended(), copy.contacts_ended(), "{fps}");
    }
}

/// A barrier took away a part of the speed along a locked axis, too, which no contact can change.
#[test]
fn a_corner_does_not_slow_a_body_along_its_locked_axis() {
    let mut world = World::new(WorldDef::new()).unwrap();
    wall(&mut world, ["2", "1"], ["-1.5", "0.5"], "0");
    let lift = disc().locked_axes(true, false).position(Vec2::new(Fx::ONE, Fx::lit("-0.5")));
    let lift = world.create_body(&lift.velocity(Vec2::from_ints(-1_024, -1_003))).unwrap();
    for _ in 0..4 {
        world.step(20).unwrap();
        assert_eq!(world.body(lift).unwrap().velocity().x, Fx::from_num(-1_024));
    }
}

/// Two that linger beside a heap of very different masses fell asleep in a frame in which they had bounced off each other: in contact, half a unit apart.
#[test]
fn nobody_who_lingers_falls_asleep_in_contact_with_a_body_far_away() {
    let (fps, at) = (3, |x: &str, y: &str| Vec2::new(Fx::lit(x), Fx::lit(y)));
    let def = WorldDef::new().gravity(Vec2::from_ints(0, -1)).sleep_ms(3_000);
    let mut world = World::new(def).unwrap();
    wall(&mut world, ["40", "1"], ["0", "-1"], "0");
    for (mass, y) in [(1, "0.5"), (16, "1.5")] {
        let disc = disc().mass(Fx::from_num(mass)).can_sleep(false);
        world.create_body(&disc.position(at("-20", y))).unwrap();
    }
    wall(&mut world, ["1", "1"], ["-2.345", "1"], "1");
    wall(&mut world, ["1", "1"], ["2.345", "1"], "1");
    // From one frame to the next they go to the walls and back, and bounce off each other.
    let ball = disc().restitution(Fx::ONE);
    let pair = [("-0.745", "-0.45"), ("0.745", "0.45")]
        .map(|(x, v)| world.create_body(&ball.position(at(x, "0.5")).velocity(at(v, "0"))).unwrap());
    let mut parted = 0;
    for frame in 1..=24 {
        world.step(fps).unwrap();
        let places = pair.map(|id| world.body(id).unwrap().position().x);
        let meet = world.contacts_of(pair[0]).any(|contact| [contact.a, contact.b].contains(&pair[1]));
        parted += u32::from(meet && places[1] - places[0] > Fx::lit("1.45"));
        let mut copy = restored(&world);
        let mut next = world.clone();
        for world in [&mut next, &mut copy] {
            world.step(fps).unwrap();
        }
        assert_eq!(next.first_difference(&copy).map(|found| found.to_string()), None, "{frame}");
        assert_eq!(next.contacts_ended(), copy.contacts_ended(), "{frame}");
    }
    assert!(parted > 8, "they met, and were apart at the end of {parted} frames");
}
