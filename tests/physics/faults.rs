//! Flipped bits, and what names them.

use testudo_physics::{
    BodyDef, BodyField, BodyId, BodyKind, FlipError, Fx, Shape, StatePath, Vec2, World, WorldDef,
};

/// A heap with everything that state can hold: contacts awake and resting, overlaps, vacant slots, forces.
fn heap() -> World {
    let mut world = World::new(WorldDef::new().sleep_ms(150)).unwrap();
    let disc = BodyDef::dynamic(Shape::circle(Fx::ONE)).user(5).ground_friction(Fx::ONE);
    // A row of touching discs that sleep, two of them on a gate.
    let row: Vec<_> =
        (0..16).map(|i| world.create_body(&disc.position(Vec2::from_ints(2 * i, 0))).unwrap()).collect();
    // A pair that stays asleep.
    for i in 0..2 {
        world.create_body(&disc.position(Vec2::from_ints(2 * i, 20))).unwrap();
    }
    let gate = BodyDef::static_body(Shape::rect(Fx::ONE, Fx::ONE)).sensor(true);
    world.create_body(&gate.position(Vec2::from_ints(1, 0))).unwrap();
    for _ in 0..30 {
        world.step(20).unwrap();
    }
    world.remove_body(row[8]).unwrap();
    world.remove_body(row[15]).unwrap();
    // Far away, discs that push each other apart.
    for i in 0..4 {
        world.create_body(&disc.position(Vec2::from_ints(50 + i, 50))).unwrap();
    }
    world.step(20).unwrap();
    world.remove_body(row[12]).unwrap();
    world.remove_body(row[11]).unwrap();
    world.apply_force(row[0], Vec2::from_ints(3, 4)).unwrap();
    let awake = |id| world.body(id).is_some_and(|body| body.is_awake());
    let (moving, resting): (Vec<_>, Vec<_>) =
        world.contacts().partition(|pair| awake(pair.a) || awake(pair.b));
    assert!(!moving.is_empty() && !resting.is_empty(), "contacts of movers, contacts at rest");
    let mut lists = Vec::new();
    world.visit_numbers(&mut |path, _| lists.extend(list_of(path)));
    for list in ["impulses", "first bodies of overlaps", "removed bodies", "vacant slots"] {
        assert!(lists.contains(&list), "{list}");
    }
    world
}

/// The list that a number stands in.
fn list_of(path: StatePath) -> Option<&'static str> {
    if let StatePath::Entry { list, .. } = path { Some(list) } else { None }
}

#[test]
fn equal_worlds_do_not_differ() {
    let (a, b) = (heap(), heap());
    assert_eq!(a.checksum(), b.checksum());
    assert_eq!(a.first_difference(&b), None);
}

/// The walk sees what the comparison sees, under the same names.
#[test]
fn the_numbers_of_two_worlds_differ_where_the_first_difference_says() {
    let world = heap();
    let numbers = |world: &World| {
        let mut all = Vec::new();
        world.visit_numbers(&mut |path, value| all.push((path, value)));
        all
    };
    let before = numbers(&world);
    let id = world.bodies().next().unwrap().id();
    let mut flipped = 0;
    for field in BodyField::ALL {
        let mut other = world.clone();
        if (0..field.bits()).any(|bit| other.flip_bit(id, field, bit).is_ok()) {
            flipped += 1;
            let after = numbers(&other);
            let differing: Vec<_> = before.iter().zip(&after).filter(|(a, b)| a.1 != b.1).collect();
            let first = world.first_difference(&other).unwrap();
            assert_eq!((differing.len(), after.len()), (1, before.len()), "{field}");
            assert_eq!((differing[0].0.0, Some(differing[0].1.1)), (first.path, first.there), "{field}");
        }
    }
    assert!(flipped > 15, "only {flipped} fields could be flipped");
    let mut stepped = world.clone();
    stepped.step(20).unwrap();
    let after = numbers(&stepped);
    let first = before.iter().zip(&after).find(|(a, b)| a != b).unwrap();
    assert_eq!(first.0.0, world.first_difference(&stepped).unwrap().path);
}

#[test]
fn every_bit_that_can_flip_is_named_and_changes_the_checksum() {
    let world = heap();
    let mut flipped = 0;
    for field in BodyField::ALL {
        for slot in 0..40 {
            let Some(id) = world.body_in_slot(slot) else { continue };
            for bit in 0..field.bits() {
                let mut other = world.clone();
                if other.flip_bit(id, field, bit).is_err() {
                    assert_eq!(other.checksum(), world.checksum(), "refused: unchanged");
                    continue;
                }
                flipped += 1;
                assert_ne!(other.checksum(), world.checksum(), "bit {bit} of {field} in slot {slot}");
                let found = world.first_difference(&other).unwrap();
                assert!(
                    matches!(found.path, StatePath::Body { body, field: f } if body.index() == slot && f == field)
                );
                let (here, there) = (found.here.unwrap(), found.there.unwrap());
                // Signed numbers keep their sign.
                let mask = (1i128 << field.bits()) - 1;
                assert_eq!((here ^ there) & mask, 1 << bit, "{found}");
                assert_eq!(other.validate(), Ok(()));
                for _ in 0..3 {
                    other.step(20).unwrap();
                }
            }
        }
    }
    assert!(flipped > 1_000, "{flipped}");
}

#[test]
fn flips_out_of_range_are_refused() {
    let mut world = heap();
    let before = world.checksum();
    let id = world.body_in_slot(0).unwrap();
    let wide = world.flip_bit(id, BodyField::Friction, 30);
    assert_eq!(wide, Err(FlipError::OutOfRange { what: "a friction out of range" }));
    assert!(world.flip_bit(id, BodyField::PositionX, 31).is_err());
    assert_eq!(
        world.flip_bit(id, BodyField::StillMs, 16),
        Err(FlipError::NoSuchBit { field: BodyField::StillMs, bit: 16 })
    );
    // A slot whose body was removed, one that was never used, and one that another body has by now.
    assert_eq!((world.body_in_slot(11), world.body_in_slot(99)), (None, None));
    let heir = world.body_in_slot(8).unwrap();
    let stale = [(11_u32, 0), (99, 0), (8, heir.generation() - 1), (8, heir.generation() + 1)];
    for id in
        stale.map(|(index, generation)| BodyId::from_bits(u64::from(generation) << 32 | u64::from(index)))
    {
        assert_eq!(world.flip_bit(id, BodyField::PositionX, 0), Err(FlipError::Stale(id)));
    }
    assert_eq!(world.checksum(), before);
    assert_eq!(world.flip_bit(heir, BodyField::PositionX, 0), Ok(()));
}

/// A usual value that becomes unusual is one changed number. Flips of it were refused, because a flag that follows from it was not changed with it.
#[test]
fn a_usual_value_can_flip_and_only_its_number_changes() {
    let world = heap();
    let id = world.body_in_slot(0).unwrap();
    let numbers = |world: &World| {
        let mut all = Vec::new();
        world.visit_numbers(&mut |path, value| all.push((path, value)));
        all
    };
    for field in [BodyField::Friction, BodyField::Damping, BodyField::FilterMask, BodyField::Dominance] {
        let mut other = world.clone();
        assert_eq!(other.flip_bit(id, field, 3), Ok(()), "{field}");
        let changed: Vec<_> = numbers(&world)
            .into_iter()
            .zip(numbers(&other))
            .filter(|(a, b)| a != b)
            .map(|(a, _)| a.0)
            .collect();
        assert_eq!(changed, [StatePath::Body { body: id, field }]);
        assert_ne!(world.checksum(), other.checksum());
        // And back.
        assert_eq!(other.flip_bit(id, field, 3), Ok(()));
        assert_eq!(world.checksum(), other.checksum());
    }
}

/// Only a dynamic body that is awake can have a force that waits. The flag stayed for ever at a static body, and moved a kinematic one.
#[test]
fn a_force_on_a_body_that_takes_none_is_refused() {
    const FORCED: u32 = 9;
    let mut world = heap();
    let wheel =
        world.create_body(&BodyDef::kinematic(Shape::circle(Fx::ONE)).velocity(Vec2::from_ints(1, 0)));
    let wheel = wheel.unwrap();
    let refused = Err(FlipError::OutOfRange { what: "a force on a body that takes none" });
    let mut seen = [0; 2];
    for id in world.bodies().map(|body| body.id()).collect::<Vec<_>>() {
        let body = world.body(id).unwrap();
        let takes = body.kind() == BodyKind::Dynamic && body.is_awake();
        seen[usize::from(takes)] += 1;
        let flipped = world.clone().flip_bit(id, BodyField::Flags, FORCED);
        // The one that has a force has an acceleration, which needs it.
        assert_eq!(flipped == refused, !takes, "{id}: {flipped:?}");
    }
    assert!(world.body(wheel).unwrap().is_awake() && seen[0] > 2 && seen[1] > 3, "{seen:?}");
}

/// A world in which somebody has friction stores the friction's impulses; one without does not, and its checksum says so.
#[test]
fn worlds_that_store_friction_or_not_differ() {
    let [some, none] = [Fx::ONE / 2, Fx::ZERO].map(|friction| {
        let mut world = World::new(WorldDef::new()).unwrap();
        let disc = BodyDef::dynamic(Shape::circle(Fx::ONE)).friction(friction);
        let disc = world.create_body(&disc).unwrap();
        let wall = BodyDef::static_body(Shape::rect(Fx::ONE, Fx::ONE)).friction(friction);
        let wall = world.create_body(&wall.position(Vec2::from_ints(2, 0))).unwrap();
        world.step(20).unwrap();
        for id in [disc, wall] {
            let mut smooth = world.body(id).unwrap().material();
            smooth.friction = Fx::ZERO;
            world.set_material(id, smooth).unwrap();
            world.wake_body(id).unwrap();
        }
        world
    });
    assert_ne!(some.checksum(), none.checksum());
    let found = some.first_difference(&none).unwrap();
    assert_eq!(
        (list_of(found.path), found.here, found.there),
        (Some("number of friction impulses"), Some(1), Some(0))
    );
}
