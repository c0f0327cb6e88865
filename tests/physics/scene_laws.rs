//! Laws that hold in every scene whatever its bits are, and laws of single scenes.
//!
//! Events balance, every invariant of the state holds, and worlds that must agree do: with and without SIMD instructions, saved and
//! restored in between, after many queries, with lists of persisting contacts.

use std::collections::BTreeSet;
use std::fmt::Write;

use testudo_physics::{
    Aabb, BodyDef, BodyId, BodyKind, ContactEvent, Filter, QueryFilter, Simd, Vec2, World, WorldDef,
};

use crate::build::{
    ONE, add, at, circle, deepest_overlap, energy, milli, momentum, position, raw, rect, run, saved,
    velocity, world,
};
use crate::scenes::{self, Build, Scene};

fn build(scene: Build) -> Scene {
    scene(WorldDef::new())
}

/// Runs to the end; returns the deepest overlap in between, raw units.
fn run_watching_overlap(scene: &mut Scene) -> i64 {
    let mut deepest = 0;
    scene.run(|world| deepest = deepest.max(deepest_overlap(world)));
    deepest
}

fn everybody_sleeps(world: &World) -> bool {
    world.bodies().all(|body| !body.is_awake())
}

#[test]
fn golden_values_of_all_scenes() {
    let mut table = String::new();
    for (name, scene) in scenes::ALL {
        let mut scene = build(scene);
        scene.run(|_| ());
        let world = &scene.world;
        let bytes = saved(world);
        writeln!(
            table,
            "{name}: {:016x}, {} bodies, {} contacts, {} bytes",
            world.checksum(),
            world.body_count(),
            world.contact_count(),
            bytes.len()
        )
        .unwrap();
        for &id in &scene.shown {
            if let Some(body) = world.body(id) {
                writeln!(table, "    {id} at {} {}", body.position().x, body.position().y).unwrap();
            }
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn what_begins_ends_or_lasts() {
    for (name, scene) in scenes::ALL {
        let mut scene = build(scene);
        let mut touching = 0;
        let (mut overlapping, mut crossings) = (BTreeSet::new(), 0);
        scene.run(|world| {
            assert_eq!(world.validate(), Ok(()), "{name}, frame {}", world.frame());
            touching += world.contacts_began().len() as i64 - world.contacts_ended().len() as i64;
            for ended in world.sensors_ended() {
                assert!(overlapping.remove(&(ended.a, ended.b)), "{name}: {ended:?} did not begin");
            }
            for began in world.sensors_began() {
                assert!(overlapping.insert((began.a, began.b)), "{name}: {began:?} begins twice");
                crossings += 1;
            }
            assert_eq!(touching, i64::from(world.contact_count()), "{name}, frame {}", world.frame());
            for event in world.contacts_began() {
                assert!(event.a.index() < event.b.index(), "{name}: the lower slot first");
                assert!(!world.contacts_ended().contains(event), "{name}: {event:?} begins and ends at once");
            }
            assert!(world.contacts_began().is_sorted_by_key(|e| (e.a, e.b)), "{name}: in order");
            assert!(world.contacts_ended().is_sorted_by_key(|e| (e.a, e.b)), "{name}: in order");
        });
        // Ten runners cross three gates and leave them behind.
        assert_eq!((crossings, overlapping.len()), (if name == "sensors" { 30 } else { 0 }, 0), "{name}");
    }
}

#[test]
fn a_new_body_in_an_old_slot_is_another_one() {
    let mut world = world(WorldDef::new());
    let disc = BodyDef::dynamic(circle(500));
    let old = add(&mut world, disc.user(1));
    let neighbour = add(&mut world, disc.position(at(900, 0)).user(2));
    let gate = add(&mut world, BodyDef::static_body(rect(500, 500)).sensor(true).user(3));
    run(&mut world, 1, 20);
    let pair = |w: &[ContactEvent]| w.iter().map(|e| (e.a, e.b, e.user_a, e.user_b)).collect::<Vec<_>>();
    assert_eq!(pair(world.contacts_began()), [(old, neighbour, 1, 2)]);
    world.remove_body(old).unwrap();
    let new = add(&mut world, disc.user(4));
    assert_eq!((new.index(), new.generation()), (old.index(), 1));
    run(&mut world, 1, 20);
    assert_eq!(pair(world.contacts_ended()), [(old, neighbour, 1, 2)]);
    assert_eq!(pair(world.contacts_began()), [(new, neighbour, 4, 2)]);
    assert_eq!(pair(world.sensors_ended()), [(old, gate, 1, 3)]);
    assert_eq!(pair(world.sensors_began()), [(new, gate, 4, 3)]);
}

/// Queries of every kind; they must change nothing, not even the form of the tree in the next step.
fn ask(world: &World) -> u64 {
    let (filter, mut found) = (QueryFilter::new().with_sensors(), Vec::new());
    let area = Aabb { min: at(-7_000, -7_000), max: at(7_000, 7_000) };
    world.query_area(area, &filter, &mut found);
    let mut count = found.len();
    world.query_area_exact(area, &filter, &mut found);
    count += found.len();
    world.query_point(at(500, 500), &filter, &mut found);
    count += found.len();
    let ray = world.ray_cast(at(-30_000, 100), at(30_000, 200), &filter).unwrap();
    let sweep = world.sweep_circle(at(-30_000, 100), at(30_000, 200), milli(700), &filter).unwrap();
    count as u64 + u64::from(ray.is_some()) + u64::from(sweep.is_some())
}

#[test]
fn peers_agree_in_every_scene() {
    let mut answers = 0;
    for (name, scene) in scenes::ALL {
        let mut reference = build(scene);
        let mut plain = scene(WorldDef::new().simd(Simd::Plain));
        let mut narrow = scene(WorldDef::new().simd(Simd::Bits128));
        let mut wide = scene(WorldDef::new().simd(Simd::Bits256));
        let mut restored = build(scene);
        let mut asked = build(scene);
        asked.world.list_stayed_contacts(true);
        let mut bytes = Vec::new();
        for frame in 0..reference.steps {
            if frame % 7 == 3 {
                restored.world.snapshot(&mut bytes);
                // In turn: a new world, a used one gone back, and one that was somewhere else before.
                match frame % 3 {
                    0 => restored.world = World::from_bytes(&bytes).unwrap(),
                    1 => {
                        restored.step();
                        restored.world.restore(&bytes).unwrap();
                    }
                    _ => {
                        restored.world = World::new(WorldDef::new().simd(Simd::Plain)).unwrap();
                        restored.world.restore(&bytes).unwrap();
                    }
                }
            }
            answers += ask(&asked.world);
            reference.step();
            let peers = [
                ("plain", &mut plain),
                ("narrow", &mut narrow),
                ("wide", &mut wide),
                ("restored", &mut restored),
                ("asked", &mut asked),
            ];
            for (kind, peer) in peers {
                peer.step();
                let difference = reference.world.first_difference(&peer.world).map(|d| d.to_string());
                assert_eq!(difference, None, "{name}, frame {frame}: {kind}");
                assert_eq!(
                    reference.world.checksum(),
                    peer.world.checksum(),
                    "{name}, frame {frame}: {kind}"
                );
                assert_eq!(reference.world.contacts_began(), peer.world.contacts_began(), "{name}: {kind}");
                assert_eq!(reference.world.contacts_ended(), peer.world.contacts_ended(), "{name}: {kind}");
                assert_eq!(reference.world.sensors_began(), peer.world.sensors_began(), "{name}: {kind}");
                assert_eq!(reference.world.sensors_ended(), peer.world.sensors_ended(), "{name}: {kind}");
            }
        }
    }
    assert!(answers > 10_000, "{answers}");
}

#[test]
fn a_crowd_gets_through_the_gap_and_rests() {
    let mut scene = build(scenes::gap);
    let deepest = run_watching_overlap(&mut scene);
    assert!(deepest < ONE / 4, "{deepest}");
    assert!(deepest_overlap(&scene.world) < ONE / 100);
    let units = || scene.world.bodies().filter(|b| b.kind() == BodyKind::Dynamic);
    assert!(units().all(|b| b.position().x > milli(1_500)), "everybody is through");
    assert!(everybody_sleeps(&scene.world));
}

#[test]
fn a_break_keeps_momentum_and_energy() {
    // A body that falls asleep loses the last bits of a speed.
    let mut scene = scenes::billiards(WorldDef::new().sleep_ms(0));
    let (p, e) = (momentum(&scene.world), energy(&scene.world));
    scene.run(|world| {
        assert_eq!(momentum(world), p, "frame {}", world.frame());
        let kept = energy(world) * 10_000 / e;
        assert!((9_900..=10_010).contains(&kept), "frame {}: {kept} of 10000", world.frame());
    });
    let moving = scene.world.bodies().filter(|b| b.velocity() != Vec2::ZERO).count();
    assert!(moving >= 14, "{moving}");
}

#[test]
fn a_pushed_stack_stays_before_its_wall() {
    let mut scene = build(scenes::stack);
    let deepest = run_watching_overlap(&mut scene);
    assert!(deepest < ONE / 5, "{deepest}");
    for body in scene.world.bodies().filter(|b| b.kind() == BodyKind::Dynamic) {
        assert!(body.aabb().max.x < milli(10_050), "{} is in the wall: {:?}", body.id(), body.position());
    }
}

#[test]
fn towers_stand_and_sleep() {
    let mut scene = build(scenes::tower);
    let start: Vec<_> = scene.world.bodies().map(|b| b.position()).collect();
    let deepest = run_watching_overlap(&mut scene);
    assert!(deepest < ONE / 100, "{deepest}");
    assert!(everybody_sleeps(&scene.world), "jitter keeps the tower awake");
    for (body, start) in scene.world.bodies().zip(start) {
        let [x, y] = raw(body.position() - start);
        // Ten boxes, each 1/100 deep at most.
        assert!(x.abs() < ONE / 100 && (-ONE / 10..ONE / 100).contains(&y), "{}: moved {x}, {y}", body.id());
    }
}

/// A change of one body.
type Change = fn(&mut World, BodyId);

/// Actions on the support of a sleeping box, by name.
const SUPPORT_GOES: [(&str, Change); 6] = [
    ("removed", |w, id| w.remove_body(id).unwrap()),
    ("moved", |w, id| w.set_position(id, at(5_000, 500)).unwrap()),
    ("switched off", |w, id| w.set_enabled(id, false).unwrap()),
    ("made a sensor", |w, id| w.set_sensor(id, true).unwrap()),
    ("made smaller", |w, id| w.set_shape(id, rect(500, 250)).unwrap()),
    ("filtered out", |w, id| w.set_filter(id, Filter::new(1, 2)).unwrap()),
];

#[test]
fn a_sleeper_falls_when_its_support_goes() {
    for (what, change) in SUPPORT_GOES {
        for kind in [BodyKind::Dynamic, BodyKind::Static, BodyKind::Kinematic] {
            let mut world = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)));
            add(&mut world, BodyDef::static_body(rect(9_000, 500)).position(at(0, -500)));
            let support = add(&mut world, BodyDef::new(kind, rect(500, 500)).position(at(0, 500)));
            let top = add(&mut world, BodyDef::dynamic(rect(500, 500)).position(at(0, 1_500)));
            run(&mut world, 60, 60);
            assert!(everybody_sleeps(&world));
            change(&mut world, support);
            run(&mut world, 60, 60);
            let fell = position(&world, top)[1] < 3 * ONE / 2 - ONE / 5;
            assert!(fell, "{kind:?} support {what}: {:?}", position(&world, top));
        }
    }
}

#[test]
fn heavy_and_light_bodies_keep_their_places() {
    let mut scene = build(scenes::masses);
    run_watching_overlap(&mut scene);
    let world = &scene.world;
    let [light, heavy, ram, bullet, target] = scene.shown[..] else { panic!("five are shown") };
    assert!((position(world, light)[1] - ONE / 2).abs() < ONE / 50, "the light one is under the heavy one");
    assert!(
        (position(world, heavy)[1] - 3 * ONE / 2).abs() < ONE / 50,
        "the heavy one stands on the light one"
    );
    assert!(velocity(world, ram)[0] > 39 * ONE / 10, "five thousandths of its mass hardly slow it down");
    // Elastic, 1 against 1,000: the bullet comes back with (1000 - 1) / (1000 + 1) of its speed.
    assert!((velocity(world, bullet)[0] + 4 * ONE * 999 / 1001).abs() < 16, "{:?}", velocity(world, bullet));
    assert!(position(world, target)[0] > 13 * ONE, "the target moved, so slowly that it fell asleep");
}

#[test]
fn a_heap_survives_removals() {
    let mut scene = build(scenes::removal);
    let deepest = run_watching_overlap(&mut scene);
    assert!(deepest < ONE / 2, "{deepest}");
    assert_eq!(scene.world.body_count(), 100);
    assert!(scene.world.bodies().skip(20).all(|b| b.user() >= 1_000), "the oldest went first");
}

#[test]
fn huge_and_tiny_bodies_rest_on_the_ground() {
    let mut scene = build(scenes::sizes);
    let deepest = run_watching_overlap(&mut scene);
    assert!(deepest < ONE / 100, "{deepest}");
    assert!(everybody_sleeps(&scene.world));
    for body in scene.world.bodies().skip(1) {
        let bottom = body.aabb().min.y.to_bits();
        // The smallest ones are 128 raw units high.
        assert!((-64..=64).contains(&bottom), "{} stands at {bottom}", body.id());
    }
}

#[test]
fn nobody_leaves_the_world() {
    for (scene, bounces) in [(scenes::edge_stop as Build, false), (scenes::edge_bounce, true)] {
        let mut scene = build(scene);
        let before = energy(&scene.world);
        let mut at_edge = 0;
        scene.run(|world| {
            for body in world.bodies() {
                let [x, y] = raw(body.position());
                assert!(x.abs() <= 10 * ONE && y.abs() <= 8 * ONE, "{}", body.id());
                at_edge += u32::from(x.abs() == 10 * ONE || y.abs() == 8 * ONE);
            }
        });
        assert!(at_edge > 20, "{at_edge}");
        let kept = energy(&scene.world) * 10_000 / before;
        if bounces {
            assert!((9_990..=10_010).contains(&kept), "{kept} of 10000");
        } else {
            assert!(kept < 1_000, "most of them were stopped: {kept} of 10000");
        }
    }
}

#[test]
fn gates_count_who_passes() {
    let mut scene = build(scenes::sensors);
    let (mut entered, mut left) = (Vec::new(), Vec::new());
    scene.run(|world| {
        let pairs = |events: &[ContactEvent]| -> Vec<(u64, u64)> {
            events.iter().map(|e| (e.user_a, e.user_b)).collect()
        };
        entered.extend(pairs(world.sensors_began()));
        left.extend(pairs(world.sensors_ended()));
        assert_eq!(world.contact_count(), 0, "sensors touch nobody");
    });
    let all: Vec<(u64, u64)> =
        [100, 101, 102].into_iter().flat_map(|gate| (0..10).map(move |runner| (gate, runner))).collect();
    entered.sort_unstable();
    left.sort_unstable();
    assert_eq!(
        (&entered, &left),
        (&all, &all),
        "each runner crosses each gate once, the blind gate sees nobody"
    );
    for (i, runner) in scene.shown.iter().enumerate() {
        assert_eq!(
            velocity(&scene.world, *runner),
            raw(at(4_000 + 100 * i as i64, 0)),
            "nothing slows a runner"
        );
    }
}

#[test]
fn kinematic_bodies_push_what_sleeps_in_their_way() {
    let mut scene = build(scenes::pusher);
    let deepest = run_watching_overlap(&mut scene);
    assert!(deepest < ONE / 50, "{deepest}");
    let world = &scene.world;
    let [slow, before_slow, bar, ..] = scene.shown[..] else { panic!("both are shown") };
    assert_eq!(position(world, bar), [15 * ONE, 0], "nothing slows a kinematic body");
    // 300 times a thirtieth of 0.05 units/s, whose raw value is 3,276.
    assert_eq!(position(world, slow)[0], 32_760);
    let pushed = position(world, before_slow)[0] - position(world, slow)[0];
    assert!(pushed > 99 * ONE / 100, "the slow bar went into its load: {pushed}");
    let load = world.bodies().filter(|b| b.kind() == BodyKind::Dynamic && b.position().y < milli(10_000));
    for disc in load {
        assert!(disc.position().x > milli(15_980), "{} was passed: {:?}", disc.id(), disc.position());
    }
}

#[test]
fn a_full_point_empties() {
    let mut scene = build(scenes::point);
    run_watching_overlap(&mut scene);
    assert!(everybody_sleeps(&scene.world));
    assert!(deepest_overlap(&scene.world) < ONE / 100);
    assert_eq!(momentum(&scene.world), [0, 0]);
}
