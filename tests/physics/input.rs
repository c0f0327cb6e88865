//! Bad input: an error that names the limit, and an unchanged world.

use testudo_physics::{Aabb, BodyDef, Fx, Material, SnapshotError, StepError, Vec2, World, WorldDef};

use crate::build::{add, at, circle, rect, run, world};

#[test]
fn definitions_out_of_range_are_refused() {
    let mut w = world(WorldDef::new());
    let far = Fx::const_from_int(16_385);
    let ok = || BodyDef::dynamic(circle(500));
    let bad = [
        ok().position(Vec2::new(far, Fx::ZERO)),
        ok().position(Vec2::new(Fx::ZERO, -far)),
        ok().position(Vec2::new(Fx::MIN, Fx::MAX)),
        ok().velocity(Vec2::from_ints(1_025, 0)),
        ok().mass(Fx::ZERO),
        ok().mass(Fx::from_bits(-1)),
        ok().mass(Fx::const_from_int(16_385)),
        ok().restitution(Fx::from_bits((1 << 16) + 1)),
        ok().restitution(Fx::from_bits(-1)),
        ok().friction(Fx::const_from_int(5)),
        ok().ground_friction(Fx::from_bits(-1)),
        ok().damping(Fx::from_bits(-1)),
        ok().max_speed(Fx::from_bits(-1)),
        BodyDef::dynamic(circle(0)),
        BodyDef::dynamic(circle(-500)),
        BodyDef::dynamic(circle(4_096_001)),
        BodyDef::fixed(rect(0, 500)),
        BodyDef::fixed(rect(500, -1)),
        BodyDef::kinematic(rect(5_000_000, 500)),
    ];
    let before = w.checksum();
    for def in bad {
        let error = w.create_body(&def).expect_err("out of range");
        assert!(!error.to_string().is_empty());
        assert_eq!(w.checksum(), before, "{def:?} changed the world");
    }
}

#[test]
fn changes_out_of_range_are_refused() {
    let mut w = world(WorldDef::new());
    let id = add(&mut w, BodyDef::dynamic(circle(500)));
    run(&mut w, 3, 20);
    let before = w.checksum();
    let too_fast = Vec2::from_ints(0, -1_025);
    assert!(w.set_velocity(id, too_fast).is_err());
    assert!(w.set_position(id, Vec2::from_ints(20_000, 0)).is_err());
    assert!(w.set_mass(id, Fx::ZERO).is_err());
    assert!(w.set_shape(id, circle(0)).is_err());
    assert!(w.set_shape(id, rect(1, 0)).is_err());
    assert!(w.apply_force(id, Vec2::new(Fx::MAX, Fx::ZERO)).is_err());
    assert!(w.apply_impulse(id, Vec2::new(Fx::ZERO, Fx::MIN)).is_err());
    let material = Material { restitution: Fx::const_from_int(2), ..Material::default() };
    assert!(w.set_material(id, material).is_err());
    for fps in [0, 1_001, u32::MAX] {
        assert_eq!(w.step(fps), Err(StepError::FramesPerSecond { given: fps }));
    }
    assert_eq!(w.checksum(), before);
}

#[test]
fn settings_out_of_range_name_themselves() {
    let upside_down = Aabb { min: at(5_000, 0), max: at(-5_000, 0) };
    let bad = [
        ("gravity", WorldDef::new().gravity(Vec2::from_ints(2_000, 0))),
        ("bounds", WorldDef::new().bounds(upside_down)),
        ("iterations", WorldDef::new().iterations(0)),
        ("margin", WorldDef::new().margin(Fx::from_bits(-1))),
        ("quadtree_leaf_capacity", WorldDef::new().quadtree_leaf_capacity(0)),
        ("quadtree_depth_max", WorldDef::new().quadtree_depth_max(16)),
        ("max_speed", WorldDef::new().max_speed(Fx::ZERO)),
    ];
    for (name, def) in bad {
        let error = World::new(def).expect_err(name);
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn bytes_that_are_no_snapshot_are_refused_in_words() {
    assert_eq!(World::from_bytes(b"hello").err(), Some(SnapshotError::NotASnapshot));
    let mut bytes = Vec::new();
    world(WorldDef::new()).snapshot(&mut bytes);
    bytes[4] = 99;
    assert!(matches!(World::from_bytes(&bytes), Err(SnapshotError::Version { layout: 99, .. })));
}
