//! Bad input: an error that names the limit, and an unchanged world.

use testudo_physics::{
    Aabb, BodyDef, Fx, Material, PolygonDef, Shape, SnapshotError, StepError, Vec2, World, WorldDef,
    WorldError,
};

use crate::build::{add, at, circle, rect, run, saved, world};

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
        BodyDef::static_body(rect(0, 500)),
        BodyDef::static_body(rect(500, -1)),
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
    let extremes = [Fx::MIN, Fx::MAX];
    for bad in extremes.into_iter().chain([Fx::const_from_int(1_025), Fx::const_from_int(-1_025)]) {
        assert!(w.set_velocity(id, Vec2::new(bad, Fx::ZERO)).is_err());
        assert!(w.set_velocity(id, Vec2::new(Fx::ZERO, bad)).is_err());
    }
    for bad in extremes.into_iter().chain([Fx::const_from_int(16_385), Fx::const_from_int(-16_385)]) {
        assert!(w.set_position(id, Vec2::new(bad, Fx::ZERO)).is_err());
        assert!(w.set_position(id, Vec2::new(Fx::ZERO, bad)).is_err());
    }
    for bad in extremes.into_iter().chain([Fx::ZERO, Fx::from_bits(255), Fx::const_from_int(16_385)]) {
        assert!(w.set_mass(id, bad).is_err());
    }
    for bad in extremes {
        for vector in [Vec2::new(bad, Fx::ZERO), Vec2::new(Fx::ZERO, bad)] {
            assert!(w.apply_force(id, vector).is_err());
            assert!(w.apply_impulse(id, vector).is_err());
        }
        for shape in [Shape::Circle { radius: bad }, Shape::rect(bad, Fx::ONE), Shape::rect(Fx::ONE, bad)] {
            assert!(w.set_shape(id, shape).is_err());
        }
        let usual = Material::default();
        for material in
            [usual.restitution(bad), usual.friction(bad), usual.ground_friction(bad), usual.damping(bad)]
        {
            assert!(w.set_material(id, material).is_err());
        }
    }
    for shape in [circle(0), rect(1, 0), rect(0, 1)] {
        assert!(w.set_shape(id, shape).is_err());
    }
    for fps in [0, 1_001, u32::MAX] {
        assert_eq!(w.step(fps), Err(StepError::FramesPerSecond { given: fps }));
    }
    assert_eq!(w.checksum(), before);
}

#[test]
fn settings_out_of_range_name_themselves() {
    let upside_down = Aabb { min: at(5_000, 0), max: at(-5_000, 0) };
    let (below, above) = (Fx::from_bits(-1), Fx::const_from_int(1_025));
    let far = Fx::const_from_int(16_385);
    let wide = Aabb { min: at(0, 0), max: Vec2::new(far, Fx::ONE) };
    let def = WorldDef::new;
    let bad = [
        ("gravity", def().gravity(Vec2::new(above, Fx::ZERO))),
        ("gravity", def().gravity(Vec2::new(Fx::ZERO, -above))),
        ("bounds", def().bounds(upside_down)),
        ("bounds", def().bounds(wide)),
        ("iterations", def().iterations(0)),
        ("iterations", def().iterations(65)),
        ("relax_iterations", def().relax_iterations(17)),
        ("push_factor", def().push_factor(below)),
        ("push_factor", def().push_factor(Fx::ONE + Fx::DELTA)),
        ("margin", def().margin(below)),
        ("margin", def().margin(Fx::const_from_int(17))),
        ("restitution_threshold", def().restitution_threshold(below)),
        ("restitution_threshold", def().restitution_threshold(above)),
        ("max_speed", def().max_speed(Fx::ZERO)),
        ("max_speed", def().max_speed(above)),
        ("sleep_speed", def().sleep_speed(below)),
        ("sleep_speed", def().sleep_speed(above)),
        ("sleep_ms", def().sleep_ms(60_001)),
        ("quadtree_leaf_capacity", def().quadtree_leaf_capacity(0)),
        ("quadtree_leaf_capacity", def().quadtree_leaf_capacity(65)),
        ("quadtree_depth_max", def().quadtree_depth_max(16)),
    ];
    for (name, def) in bad {
        let error = World::new(def).expect_err(name);
        let WorldError::OutOfRange { setting, value, min, max } = error else { panic!("{error}") };
        assert_eq!(setting, name);
        assert!(!(min..=max).contains(&value), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn bytes_that_are_no_snapshot_are_refused_in_words() {
    assert_eq!(World::from_bytes(b"hello").err(), Some(SnapshotError::NotASnapshot));
    let mut bytes = saved(&world(WorldDef::new()));
    bytes[4] = 99;
    assert!(matches!(World::from_bytes(&bytes), Err(SnapshotError::Version { layout: 99, .. })));
}

/// What [`World::from_bytes`] says to bytes whose hash is made right.
fn refusal(mut bytes: Vec<u8>) -> Option<SnapshotError> {
    let end = bytes.len() - 8;
    let hash = testudo_physics::hash_bytes(&bytes[..end]);
    bytes[end..].copy_from_slice(&hash.to_le_bytes());
    World::from_bytes(&bytes).err()
}

/// A snapshot's body begins with a word. Its free bits, and numbers of shapes that nobody has defined, are refused: a later version means something by them.
#[test]
fn shapes_and_properties_of_later_versions_are_refused() {
    let mut w = world(WorldDef::new());
    w.create_body(&BodyDef::static_body(circle(1000)).position(Vec2::from_ints(3, -7))).expect("in range");
    let bytes = saved(&w);
    let position: Vec<u8> = [3 << 16, -7 << 16].iter().flat_map(|part: &i32| part.to_le_bytes()).collect();
    let position = bytes.windows(8).position(|here| here == position).expect("its position follows the word");
    let with = |change: &dyn Fn(u32) -> u32| {
        let mut changed = bytes.clone();
        // Only a circle has a radius, behind its position.
        if change(1 << 10) & 7 << 10 != 1 << 10 {
            changed.drain(position + 8..position + 12);
        }
        let word = changed[..position].last_chunk_mut().expect("a word");
        *word = change(u32::from_le_bytes(*word)).to_le_bytes();
        refusal(changed)
    };
    assert_eq!(with(&|word| word), None);
    let refused = |what| Some(SnapshotError::Invalid { what });
    for bit in 13..16 {
        assert_eq!(with(&|word| word | 1 << bit), refused("an unknown property of a body"), "bit {bit}");
    }
    let shaped = |shape: u32| with(&|word| word & !(7 << 10) | shape << 10);
    for shape in 3..8 {
        assert_eq!(shaped(shape), refused("an unknown shape of a body"), "shape {shape}");
    }
    assert_eq!(shaped(2), refused("a body without its terrain"));
}

/// A body with a piece of terrain got the shape of terrain, whatever its word said: many byte strings for one state.
#[test]
fn a_piece_of_a_body_with_another_shape_is_refused() {
    let mut w = world(WorldDef::new());
    w.create_polygon(&PolygonDef::new(&[at(0, 0), at(4000, 0), at(4000, 2000)])).expect("in range");
    let bytes = saved(&w);
    assert!(World::from_bytes(&bytes).is_ok());
    // The middle of the box around it follows the word.
    let position: Vec<u8> = [2 << 16, 1 << 16].iter().flat_map(|part: &i32| part.to_le_bytes()).collect();
    let position = bytes.windows(8).position(|here| here == position).expect("its position follows the word");
    for shape in (0..8).filter(|shape| *shape != 2) {
        let mut changed = bytes.clone();
        let word = changed[..position].last_chunk_mut().expect("a word");
        *word = (u32::from_le_bytes(*word) & !(7 << 10) | shape << 10).to_le_bytes();
        // What a rectangle or a circle has beside: half extents, or a radius.
        let extents = match shape {
            0 => vec![2 << 16, 1 << 16],
            1 => vec![1 << 16],
            _ => Vec::new(),
        };
        let fields = extents.iter().flat_map(|part: &i32| part.to_le_bytes());
        changed.splice(position + 8..position + 8, fields);
        let refused = SnapshotError::Invalid { what: "a body that is not its terrain" };
        assert_eq!(refusal(changed), Some(refused), "shape {shape}");
    }
}

/// One pair with a contact of moving bodies and one at rest was taken. The world then wrote snapshots that nobody took.
#[test]
fn a_contact_that_is_listed_twice_is_refused() {
    let mut w = world(WorldDef::new().sleep_ms(150));
    for x in [0, 2] {
        add(&mut w, BodyDef::dynamic(circle(1000)).position(Vec2::from_ints(x, 0)));
    }
    run(&mut w, 20, 20);
    let bytes = saved(&w);
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    // Numbers of owners, of contacts, of those at rest and of friction impulses; then owner, other, impulse and friction impulse of the one at rest.
    let asleep = words(&[0, 0, 1, 0, 0, 1, 0, 0]);
    let at = bytes.windows(asleep.len()).position(|here| here == asleep).expect("one contact at rest");
    let with = |contacts: &[u32]| {
        let mut changed = bytes.clone();
        changed.splice(at..at + asleep.len(), words(contacts));
        refusal(changed)
    };
    // Slot and number of contacts of each owner, then the others and the impulses.
    assert_eq!(with(&[1, 1, 0, 0, 0, 1, 1, 0]), None, "as after `sleep_body`");
    let twice = Some(SnapshotError::Invalid { what: "a contact listed twice" });
    assert_eq!(with(&[1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0]), twice, "moving, and at rest");
    assert_eq!(with(&[2, 2, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0]), twice, "of both owners");
    assert_eq!(with(&[1, 2, 0, 0, 0, 2, 1, 1, 0, 0]), twice, "twice of one owner");
    assert_eq!(with(&[0, 0, 2, 0, 0, 1, 0, 0, 1, 0, 0, 0]), twice, "at rest, of both owners");
}
