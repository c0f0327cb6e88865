//! What calls between two steps do to bodies that sleep, and to those that come into the slots of others.

use testudo_physics::{BodyDef, BodyId, BodyKind, ChainDef, Filter, Fx, Vec2, World, WorldDef};

use crate::build::{add, at, circle, milli, rect, restored, run, world};

/// A world with gravity, in which bodies fall asleep after half a second.
fn heavy() -> World {
    world(WorldDef::new().gravity(Vec2::from_ints(0, -10)).sleep_ms(500))
}

fn awake(w: &World) -> Vec<BodyId> {
    w.bodies().filter(|body| body.is_awake()).map(|body| body.id()).collect()
}

/// A heap on the ground, asleep.
fn sleeping_heap() -> (World, Vec<BodyId>) {
    let mut w = heavy();
    add(&mut w, BodyDef::static_body(rect(20_000, 1_000)).position(at(0, -1_000)));
    let ids: Vec<_> = (0..12)
        .map(|i| {
            add(&mut w, BodyDef::dynamic(rect(500, 500)).position(at(i % 4 * 1_000, 500 + i / 4 * 1_000)))
        })
        .collect();
    run(&mut w, 120, 30);
    assert_eq!(awake(&w), []);
    (w, ids)
}

/// A sensor that began to drive woke those beneath it, as a platform does.
#[test]
fn a_sensor_that_drives_over_sleepers_wakes_nobody() {
    let (mut w, ids) = sleeping_heap();
    let in_the_air = add(&mut w, BodyDef::dynamic(circle(500)).position(at(0, 40_000)));
    run(&mut w, 1, 30);
    w.sleep_body(in_the_air).unwrap();
    let aura = BodyDef::kinematic(circle(5_000)).sensor(true).velocity(Vec2::from_ints(1, 0));
    let sensors = [at(0, 40_000), at(0, 0)].map(|place| add(&mut w, aura.position(place)));
    for frame in 0..60 {
        assert_eq!(awake(&w), sensors, "frame {frame}");
        run(&mut w, 1, 30);
    }
    for id in sensors {
        w.set_velocity(id, Vec2::ZERO).unwrap();
        run(&mut w, 2, 30);
        let target = w.body(id).unwrap().position() + Vec2::from_ints(1, 0);
        w.move_kinematic(id, target, 30).unwrap();
    }
    assert!(ids.iter().all(|&id| !w.body(id).unwrap().is_awake()));
}

/// A new body that was told to sleep woke itself in the next step, because new bodies at rest wake those beside them.
#[test]
fn who_is_put_to_sleep_at_its_creation_sleeps() {
    let mut w = heavy();
    let in_the_air = add(&mut w, BodyDef::dynamic(circle(500)).position(at(0, 40_000)));
    w.sleep_body(in_the_air).unwrap();
    let turned = add(&mut w, BodyDef::static_body(circle(500)).position(at(9_000, 40_000)));
    w.set_kind(turned, BodyKind::Dynamic).unwrap();
    w.sleep_body(turned).unwrap();
    // A level with its crates, all created at once.
    add(&mut w, BodyDef::static_body(rect(20_000, 1_000)).position(at(0, -1_000)));
    for i in 0..50 {
        let crate_ = BodyDef::dynamic(rect(500, 500)).position(at(i % 10 * 1_000, 500 + i / 10 * 1_000));
        let id = add(&mut w, crate_);
        w.sleep_body(id).unwrap();
    }
    let mut loaded = restored(&w);
    let before: Vec<_> = w.bodies().map(|body| body.position()).collect();
    for w in [&mut w, &mut loaded] {
        run(w, 30, 30);
        assert_eq!(awake(w), []);
        assert_eq!(w.bodies().map(|body| body.position()).collect::<Vec<_>>(), before);
    }
    assert_eq!(w.checksum(), loaded.checksum());
    // What comes later wakes who is in its way, and those wake others.
    add(&mut w, BodyDef::dynamic(circle(500)).position(at(4_500, 5_400)).velocity(at(0, -9_000)));
    run(&mut w, 5, 30);
    assert!(awake(&w).len() > 20, "{}", awake(&w).len());
}

/// A wall, a platform or terrain that is created beside a sleeper wakes it; a sensor or somebody disabled does not.
#[test]
fn who_is_created_beside_a_sleeper_wakes_it() {
    let (before, ids) = sleeping_heap();
    let beside = |def: BodyDef| def.position(at(4_000, 500));
    let square = rect(500, 400);
    for (what, def, wakes) in [
        ("wall", BodyDef::static_body(square), true),
        ("platform", BodyDef::kinematic(square), true),
        ("sensor", BodyDef::static_body(square).sensor(true), false),
        ("disabled", BodyDef::static_body(square).enabled(false), false),
    ] {
        let mut w = before.clone();
        add(&mut w, beside(def));
        run(&mut w, 1, 30);
        assert_eq!(awake(&w).contains(&ids[3]), wakes, "{what}");
    }
    let mut w = before.clone();
    w.create_chain(&ChainDef::new(&[at(3_510, 100), at(3_510, 900)])).unwrap();
    run(&mut w, 1, 30);
    assert!(awake(&w).contains(&ids[3]), "chain");
}

/// Setters woke whole heaps that a game set to what they were.
#[test]
fn calls_that_set_what_is_set_wake_nobody() {
    type Call = fn(&mut World, BodyId);
    let calls: [(&str, Call, Call); 8] = [
        (
            "filter",
            |w, id| w.set_filter(id, w.body(id).unwrap().filter()).unwrap(),
            |w, id| w.set_filter(id, Filter::new(1, 3)).unwrap(),
        ),
        ("sensor", |w, id| w.set_sensor(id, false).unwrap(), |w, id| w.set_sensor(id, true).unwrap()),
        ("mass", |w, id| w.set_mass(id, Fx::ONE).unwrap(), |w, id| w.set_mass(id, Fx::from_num(2)).unwrap()),
        ("rank", |w, id| w.set_dominance(id, 0).unwrap(), |w, id| w.set_dominance(id, 1).unwrap()),
        (
            "material",
            |w, id| w.set_material(id, w.body(id).unwrap().material()).unwrap(),
            |w, id| {
                let mut other = w.body(id).unwrap().material();
                other.friction += milli(100);
                w.set_material(id, other).unwrap();
            },
        ),
        (
            "locks",
            |w, id| w.set_locked_axes(id, false, false).unwrap(),
            |w, id| w.set_locked_axes(id, true, false).unwrap(),
        ),
        (
            "shape",
            |w, id| w.set_shape(id, w.body(id).unwrap().shape()).unwrap(),
            |w, id| w.set_shape(id, rect(400, 500)).unwrap(),
        ),
        ("sleep", |w, id| w.set_can_sleep(id, true).unwrap(), |w, id| w.set_can_sleep(id, false).unwrap()),
    ];
    let (before, ids) = sleeping_heap();
    for (what, same, other) in calls {
        let mut w = before.clone();
        ids.iter().for_each(|&id| same(&mut w, id));
        assert_eq!((awake(&w), w.checksum()), (vec![], before.checksum()), "{what}");
        run(&mut w, 30, 30);
        assert_eq!(awake(&w), [], "{what}");
        other(&mut w, ids[0]);
        run(&mut w, 1, 30);
        assert!(awake(&w).contains(&ids[0]), "{what}");
    }
}

/// The contact of the last body in a slot was taken for one of the terrain that is there now: who stood behind it was pushed out of it.
#[test]
fn one_sided_terrain_does_not_inherit_contacts() {
    for same_slot in [true, false] {
        let mut w = world(WorldDef::new().sleep_ms(0));
        let floor = add(&mut w, BodyDef::static_body(rect(9_000, 100)).position(at(0, -100)));
        let disc = add(&mut w, BodyDef::dynamic(circle(500)).position(at(0, 450)));
        run(&mut w, 30, 30);
        assert_eq!(w.contact_count(), 1);
        if same_slot {
            w.remove_body(floor).unwrap();
        } else {
            w.set_enabled(floor, false).unwrap();
        }
        w.set_velocity(disc, Vec2::ZERO).unwrap();
        // Solid above; the disc overlaps it, and has not come from there.
        let before = w.body(disc).unwrap().position();
        let ledge = ChainDef::new(&[at(9_000, 100), at(-9_000, 100)]).one_sided(true);
        let ledge = w.create_chain(&ledge).unwrap();
        assert_eq!(ledge[0].index() == floor.index(), same_slot);
        run(&mut w, 30, 30);
        assert_eq!(w.body(disc).unwrap().position(), before, "the same slot: {same_slot}");
    }
}

/// A body that takes no part lies on nobody.
#[test]
fn who_is_removed_while_it_takes_no_part_wakes_nobody() {
    let (mut w, ids) = sleeping_heap();
    let disabled = add(&mut w, BodyDef::static_body(rect(2_000, 2_000)).enabled(false));
    run(&mut w, 1, 30);
    let before = awake(&w);
    w.remove_body(disabled).unwrap();
    assert_eq!((awake(&w), before), (vec![], vec![]));
    // The slot is free again, and who takes it takes part.
    let wall = add(&mut w, BodyDef::static_body(rect(100, 100)).position(at(0, 2_600)));
    assert_eq!(wall.index(), disabled.index());
    run(&mut w, 1, 30);
    assert!(awake(&w).contains(&ids[8]));
    // One that was disabled before, and one that is removed in the same frame.
    let (mut w, ids) = sleeping_heap();
    w.set_enabled(ids[11], false).unwrap();
    run(&mut w, 90, 30);
    assert_eq!(awake(&w), []);
    w.remove_body(ids[11]).unwrap();
    assert_eq!(awake(&w), []);
    w.set_enabled(ids[10], false).unwrap();
    w.remove_body(ids[10]).unwrap();
    run(&mut w, 1, 30);
    assert!(w.contacts_ended().len() >= 2, "{:?}", w.contacts_ended());
}

/// Of two that had touched, the first was moved and put to sleep, then the second beside it: they had a contact, and slept as two islands. A restored world
/// had one. When one of them woke, it flew off, and the contact stayed.
#[test]
fn who_is_put_to_sleep_beside_a_sleeper_that_it_touched_sleeps_with_it() {
    let mut w = world(WorldDef::new());
    let disc = |x| BodyDef::dynamic(circle(500)).position(at(x, 0));
    // The owner of the contact is the second that comes to rest.
    let (second, first) = (add(&mut w, disc(0)), add(&mut w, disc(1_000)));
    run(&mut w, 1, 30);
    assert_eq!(w.contact_count(), 1);
    for (id, x) in [(first, 10_000), (second, 8_700)] {
        w.set_position(id, at(x, 0)).unwrap();
        w.sleep_body(id).unwrap();
    }
    assert_eq!(awake(&w), []);
    let mut copies = vec![restored(&w)];
    run(&mut w, 1, 30);
    run(&mut copies[0], 1, 30);
    assert_eq!(awake(&w), []);
    copies.push(restored(&w));
    w.set_velocity(first, Vec2::from_ints(20, 0)).unwrap();
    assert_eq!(awake(&w), [second, first]);
    for copy in &mut copies {
        copy.set_velocity(first, Vec2::from_ints(20, 0)).unwrap();
        assert_eq!(w.first_difference(copy).map(|found| found.to_string()), None);
    }
    run(&mut w, 30, 30);
    assert_eq!(w.contact_count(), 0);
    w.remove_body(first).unwrap();
    run(&mut w, 1, 30);
    assert_eq!(w.first_difference(&restored(&w)).map(|found| found.to_string()), None);
}
