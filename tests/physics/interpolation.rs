//! Positions between two frames.

use testudo_physics::{BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};

use crate::build::restored;

/// A whole frame in units of `alpha`.
const WHOLE: u32 = 1 << 16;

const ALPHAS: [u32; 5] = [0, 1, WHOLE / 3, WHOLE - 1, WHOLE];

fn world_with(def: &BodyDef) -> (World, BodyId) {
    let mut world = World::new(WorldDef::default()).unwrap();
    let id = world.create_body(def).unwrap();
    (world, id)
}

fn ball() -> BodyDef {
    BodyDef::dynamic(Shape::circle(Fx::ONE)).velocity(Vec2::from_ints(60, -30))
}

fn drawn(world: &World, id: BodyId, alpha: u32) -> [f32; 2] {
    world.body(id).unwrap().interpolated_position(alpha)
}

#[test]
fn ends_are_the_two_states_and_the_way_is_straight() {
    let (mut world, id) = world_with(&ball());
    for frame in 0..5_u8 {
        assert_eq!(drawn(&world, id, WHOLE), [f32::from(frame), -f32::from(frame) / 2.0]);
        let before = drawn(&world, id, WHOLE);
        world.step(60).unwrap();
        assert_eq!(drawn(&world, id, 0), before);
        assert_eq!(drawn(&world, id, WHOLE / 2), [before[0] + 0.5, before[1] - 0.25]);
        assert_eq!(drawn(&world, id, u32::MAX), drawn(&world, id, WHOLE));
    }
}

#[test]
fn what_is_put_somewhere_is_there() {
    let (mut world, id) = world_with(&ball());
    world.step(60).unwrap();
    world.set_position(id, Vec2::from_ints(-100, 7)).unwrap();
    assert_eq!(ALPHAS.map(|alpha| drawn(&world, id, alpha)), [[-100.0, 7.0]; 5]);

    world.step(60).unwrap();
    let restored = restored(&world);
    assert_eq!(ALPHAS.map(|alpha| drawn(&restored, id, alpha)), [[-99.0, 6.5]; 5]);
}

#[test]
fn bodies_at_rest_are_where_they_are_and_start_from_there() {
    // The top of a tower that settles: it still sinks a little in the frame in which it falls asleep.
    let mut world = World::new(WorldDef::new().gravity(Vec2::from_ints(0, -10))).unwrap();
    world.create_body(&BodyDef::static_body(Shape::rect(Fx::from_num(9), Fx::ONE))).unwrap();
    let mut id = None;
    for i in 1..7 {
        let block = BodyDef::dynamic(Shape::rect(Fx::ONE, Fx::ONE)).position(Vec2::from_ints(0, 2 * i));
        id = Some(world.create_body(&block).unwrap());
    }
    let id = id.unwrap();
    let mut before = [0.0; 2];
    for _ in 0..1_000 {
        before = drawn(&world, id, WHOLE);
        world.step(60).unwrap();
        if !world.body(id).unwrap().is_awake() {
            break;
        }
    }
    assert!(!world.body(id).unwrap().is_awake(), "it falls asleep");
    let last = drawn(&world, id, WHOLE);
    assert_ne!(last, before, "it has moved in the frame in which it fell asleep");
    assert_eq!(ALPHAS.map(|alpha| drawn(&world, id, alpha)), [last; 5]);

    // Woken between two steps, it has not moved yet.
    world.set_velocity(id, Vec2::from_ints(60, 0)).unwrap();
    assert!(world.body(id).unwrap().is_awake());
    assert_eq!(ALPHAS.map(|alpha| drawn(&world, id, alpha)), [last; 5]);
    world.step(60).unwrap();
    assert_eq!(drawn(&world, id, 0), last);
}

#[test]
fn a_body_in_a_used_slot_starts_where_it_is_created() {
    let (mut world, id) = world_with(&ball());
    world.step(60).unwrap();
    world.remove_body(id).unwrap();
    let new = world.create_body(&ball().position(Vec2::from_ints(50, 50))).unwrap();
    assert_eq!(new.index(), id.index());
    assert!(world.body(id).is_none());
    assert_eq!(ALPHAS.map(|alpha| drawn(&world, new, alpha)), [[50.0, 50.0]; 5]);
}

#[test]
fn all_at_once_are_the_same_in_insertion_order_and_change_no_state() {
    let (mut world, first) = world_with(&ball());
    let wall = BodyDef::static_body(Shape::rect(Fx::ONE, Fx::ONE)).position(Vec2::from_ints(-9, 9));
    let removed = world.create_body(&wall).unwrap();
    let wall = world.create_body(&wall).unwrap();
    world.remove_body(removed).unwrap();
    let last = world.create_body(&ball().position(Vec2::from_ints(0, 20))).unwrap();
    assert!(last.index() < wall.index(), "slots are no insertion order");
    world.step(60).unwrap();
    let checksum = world.checksum();
    let mut out = vec![(first, [0.0; 2]); 9];
    for alpha in ALPHAS {
        world.interpolated_positions(alpha, &mut out);
        assert_eq!(out, [first, wall, last].map(|id| (id, drawn(&world, id, alpha))));
    }
    assert_eq!(world.checksum(), checksum);
}
