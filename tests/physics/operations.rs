//! Random lists of operations: a world that was saved and read back goes on like the one that was not.

use testudo_physics::{
    Aabb, BodyDef, BodyError, BodyId, BodyKind, ChainDef, Filter, Fx, PolygonDef, QueryFilter, Simd,
    StatePart, Vec2, World, WorldDef,
};

use crate::build::{Chance, add, at, circle, rect, restored, saved, world};
use testudo_tests::cases::share;

const RATES: [u32; 5] = [20, 20, 20, 60, 30];

/// So many cases, or fewer where the processor is emulated: the cross check asks by this variable for one in ten (8) or in forty (2).
fn cases(all: u32) -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse::<u32>().ok());
    asked.map_or(share(all.into()) as u32, |asked| (all * asked.min(80) / 80).max(1))
}

fn random_body(chance: &mut Chance) -> BodyDef {
    let shape = if chance.below(2) == 0 {
        circle(chance.between(300, 1_000))
    } else {
        rect(chance.between(300, 1_200), chance.between(300, 1_200))
    };
    let def = match chance.below(4) {
        0 => BodyDef::static_body(shape),
        1 => BodyDef::kinematic(shape),
        _ => BodyDef::dynamic(shape).mass(Fx::from_bits(chance.between(1 << 8, 1 << 20))),
    };
    def.position(at(chance.between(-10_000, 10_000), chance.between(-10_000, 10_000)))
        .velocity(at(chance.between(-3_000, 3_000), chance.between(-3_000, 3_000)))
        .ground_friction(Fx::from_bits(chance.between(0, 3 << 16)))
        .damping(Fx::from_bits(chance.between(0, 1 << 14)))
        .restitution(Fx::from_bits(chance.between(0, 1 << 16)))
        .friction(Fx::from_bits(chance.between(0, 1 << 16) * i64::from(chance.below(2))))
        .sensor(chance.below(10) == 0)
        .locked_axes(chance.below(10) == 0, chance.below(10) == 0)
        .user(u64::from(chance.below(3)))
}

/// A chain, open or closed, or a polygon; invalid ones are left out.
fn random_terrain(w: &mut World, chance: &mut Chance) -> Vec<BodyId> {
    let place = |chance: &mut Chance| at(chance.between(-10_000, 10_000), chance.between(-10_000, 10_000));
    let points: Vec<_> = (0..2 + chance.below(5)).map(|_| place(chance)).collect();
    let e = Fx::from_bits(chance.between(0, 1 << 16));
    if chance.below(3) == 0 {
        let def = PolygonDef::new(&points[..points.len().min(3)]).restitution(e);
        let def = def.radius(Fx::from_bits(chance.between(0, 1 << 15) * i64::from(chance.below(2))));
        return w.create_polygon(&def).into_iter().collect();
    }
    let def = ChainDef::new(&points).friction(e).enabled(chance.below(8) != 0);
    let def = def.closed(chance.below(2) == 0).one_sided(chance.below(2) == 0);
    w.create_chain(&def).unwrap_or_default()
}

/// Terrain refuses changes that would move it, and is removed piece by piece. Returns whether this piece was removed.
fn operate_terrain(w: &mut World, id: BodyId, chance: &mut Chance) -> bool {
    let refused = Err(BodyError::Terrain(id));
    assert_eq!(w.set_position(id, Vec2::ZERO), refused);
    assert_eq!(w.set_shape(id, circle(500)), refused);
    assert_eq!(w.set_kind(id, BodyKind::Dynamic), refused);
    assert_eq!(w.set_sensor(id, true), refused);
    match chance.below(3) {
        0 => w.remove_body(id).expect("alive"),
        1 => w.set_enabled(id, chance.below(2) == 0).expect("alive"),
        _ => w.set_filter(id, Filter::new(1, chance.below(4))).expect("alive"),
    }
    w.body(id).is_none()
}

/// One random change. A stale handle is part of the game: it must be an error and change nothing.
pub(crate) fn operate(w: &mut World, ids: &mut Vec<BodyId>, chance: &mut Chance) {
    if ids.is_empty() || chance.below(2) == 0 {
        ids.push(add(w, random_body(chance)));
        return;
    }
    if chance.below(20) == 0 {
        ids.extend(random_terrain(w, chance));
        return;
    }
    let at_index = chance.below(ids.len() as u32) as usize;
    let id = ids[at_index];
    if w.body(id).is_some_and(|body| body.terrain().is_some()) {
        if operate_terrain(w, id, chance) {
            ids.swap_remove(at_index);
        }
        return;
    }
    let push = Vec2::from_ints(chance.between(-50, 50) as i32, chance.between(-50, 50) as i32);
    const CALLS: u32 = 18;
    match chance.below(CALLS) {
        // First, so that an arm beyond the bound is an unreachable pattern.
        CALLS.. => unreachable!("below the bound"),
        0 | 1 => {
            ids.swap_remove(at_index);
            w.remove_body(id).expect("alive");
            assert!(w.remove_body(id).is_err() && w.set_velocity(id, push).is_err() && w.body(id).is_none());
        }
        2 => w.set_velocity(id, push).expect("in range"),
        3 => w.set_position(id, at(chance.between(-10_000, 10_000), 0)).expect("in range"),
        4 => w.set_enabled(id, chance.below(2) == 0).expect("alive"),
        5 => w.apply_force(id, push).expect("in range"),
        6 => w.apply_impulse(id, push).expect("in range"),
        7 => w.set_shape(id, circle(chance.between(200, 900))).expect("in range"),
        8 => w.set_sensor(id, chance.below(2) == 0).expect("alive"),
        9 => {
            let kinds = [BodyKind::Static, BodyKind::Kinematic, BodyKind::Dynamic, BodyKind::Dynamic];
            w.set_kind(id, kinds[chance.below(4) as usize]).expect("alive");
        }
        10 => w.set_gravity(at(0, -i64::from(chance.below(3)) * 5_000)).expect("in range"),
        11 => w.set_locked_axes(id, chance.below(4) == 0, chance.below(4) == 0).expect("alive"),
        12 => {
            let limit = (chance.below(2) == 0).then(|| Fx::from_bits(chance.between(0, 20 << 16)));
            w.set_max_speed(id, limit).expect("in range");
        }
        13 => w.set_damping(id, Fx::from_bits(chance.between(0, 1 << 16))).expect("in range"),
        14 => w.set_dominance(id, chance.between(-1, 1) as i8).expect("alive"),
        15 | 16 => {
            let other = ids[chance.below(ids.len() as u32) as usize];
            let set = w.set_pair_ignored(id, other, chance.below(3) != 0);
            assert_eq!(set.is_err(), id == other);
        }
        17 => w.set_mass(id, Fx::from_bits(chance.between(1 << 8, 1 << 20))).expect("in range"),
    }
}

pub(crate) fn same(a: &World, b: &World, context: &str) {
    assert_eq!(a.contacts_began(), b.contacts_began(), "{context}");
    assert_eq!(a.contacts_ended(), b.contacts_ended(), "{context}");
    assert_eq!(a.sensors_began(), b.sensors_began(), "{context}");
    assert_eq!(a.sensors_ended(), b.sensors_ended(), "{context}");
    assert_eq!(a.first_difference(b).map(|d| d.to_string()), None, "{context}");
    for part in StatePart::ALL {
        assert_eq!(a.part_checksum(part), b.part_checksum(part), "{context}: {part}");
    }
    assert_eq!(a.checksum(), b.checksum(), "{context}");
}

#[test]
fn saved_and_restored_worlds_go_on_alike() {
    let (mut slept, seeds) = (0, cases(40));
    for seed in 0..u64::from(seeds) {
        let mut chance = Chance::new(seed);
        let mut w = world(WorldDef::new().sleep_ms(250));
        let mut ids = Vec::new();
        let (mut began, mut ended, mut overlaps) = (0, 0, 0i64);
        for step in 0..120 {
            for _ in 0..chance.below(9) {
                operate(&mut w, &mut ids, &mut chance);
            }
            let bytes = saved(&w);
            let context = format!("seed {seed}, step {step}");
            let mut read = World::from_bytes(&bytes).unwrap_or_else(|e| panic!("{context}: {e}"));
            let again = saved(&read);
            assert_eq!(bytes, again, "{context}: bytes of the same state");
            let simd = [Simd::Plain, Simd::Bits128, Simd::Bits256][step as usize % 3];
            let mut back = world(WorldDef::new().simd(simd));
            back.restore(&bytes).expect("own bytes");
            let fps = RATES[chance.below(5) as usize];
            for w in [&mut w, &mut read, &mut back] {
                w.step(fps).expect("in range");
            }
            same(&w, &read, &context);
            same(&w, &back, &context);
            assert_eq!(w.validate(), Ok(()), "{context}");
            began += w.contacts_began().len();
            ended += w.contacts_ended().len();
            overlaps += w.sensors_began().len() as i64 - w.sensors_ended().len() as i64;
            slept += w.bodies().filter(|b| !b.is_awake()).count();
            if step % 3 == 0 {
                w = read;
            }
        }
        for id in ids {
            w.remove_body(id).expect("alive");
        }
        w.step(20).expect("in range");
        ended += w.contacts_ended().len();
        overlaps -= w.sensors_ended().len() as i64;
        assert_eq!((began, overlaps), (ended, 0), "seed {seed}: everything that begins ends");
        assert!(began > 300, "seed {seed}: only {began} contacts");
    }
    assert!(slept > 25 * seeds as usize, "bodies slept");
}

/// What is done between a restore and the next step comes to the same. (Removing a body took the count of still frames from those beside it
/// that were awake.)
#[test]
fn a_restored_world_is_operated_on_alike() {
    for seed in 0..u64::from(cases(20)) {
        let (mut chance, mut ids) = (Chance::new(seed), Vec::new());
        let mut w = world(WorldDef::new().sleep_ms(250));
        for step in 0..120 {
            let mut read = restored(&w);
            let (mut same_chance, mut same_ids) = (chance.clone(), ids.clone());
            for (w, chance, ids) in
                [(&mut w, &mut chance, &mut ids), (&mut read, &mut same_chance, &mut same_ids)]
            {
                for _ in 0..chance.below(5) {
                    operate(w, ids, chance);
                }
                w.step(20).expect("in range");
            }
            same(&w, &read, &format!("seed {seed}, step {step}"));
        }
    }
}

/// Everything that a program can ask of a world and that is not in its checksum.
fn same_answers(a: &World, b: &World, context: &str) {
    assert_eq!(a.contacts_stayed(), b.contacts_stayed(), "{context}");
    assert_eq!(a.contact_hits(), b.contact_hits(), "{context}");
    assert!(a.moved_bodies().eq(b.moved_bodies()), "{context}");
    let drawn = |w: &World| w.bodies().map(|body| body.interpolated_position(0)).collect::<Vec<_>>();
    assert_eq!(drawn(a), drawn(b), "{context}: drawing");
    let found = |w: &World| {
        let mut found = Vec::new();
        let area = Aabb { min: at(-5_000, -5_000), max: at(5_000, 5_000) };
        w.query_area_exact(area, &QueryFilter::new(), &mut found);
        found
    };
    assert_eq!(found(a), found(b), "{context}: a query");
}

/// Into a new world, and into one that was in quite another state. The copy and the source are operated on before they are stepped.
#[test]
fn a_copied_world_goes_on_alike() {
    let (mut slept, mut kept) = (0, world(WorldDef::new().simd(Simd::Plain)));
    for seed in 0..u64::from(cases(16)) {
        let (mut chance, mut ids) = (Chance::new(seed), Vec::new());
        let mut w = world(WorldDef::new().sleep_ms(250).seed(seed));
        w.list_stayed_contacts(seed % 2 == 0);
        w.list_contact_hits(seed % 3 == 0);
        for step in 0..120 {
            let context = format!("seed {seed}, step {step}");
            let mut copy = w.clone();
            kept.clone_from(&w);
            same(&w, &copy, &context);
            same(&w, &kept, &context);
            same_answers(&w, &copy, &context);
            same_answers(&w, &kept, &context);
            let (fps, (start, start_ids)) = (RATES[chance.below(5) as usize], (chance.clone(), ids.clone()));
            for w in [&mut w, &mut copy, &mut kept] {
                (chance, ids) = (start.clone(), start_ids.clone());
                for _ in 0..chance.below(7) {
                    operate(w, &mut ids, &mut chance);
                }
            }
            same_answers(&w, &kept, &context);
            for w in [&mut w, &mut copy, &mut kept] {
                w.step(fps).expect("in range");
            }
            for other in [&copy, &kept] {
                same(&w, other, &context);
                same_answers(&w, other, &context);
                assert_eq!(other.validate(), Ok(()), "{context}");
            }
            slept += w.bodies().filter(|b| !b.is_awake()).count();
            if step % 3 == 0 {
                core::mem::swap(&mut w, &mut kept);
            }
        }
    }
    assert!(slept > 200, "only {slept} slept");
}

#[test]
fn damaged_bytes_never_panic_and_never_make_an_inconsistent_world() {
    let mut chance = Chance::new(99);
    let mut w = world(WorldDef::new().sleep_ms(250));
    let mut ids = Vec::new();
    for _ in 0..60 {
        for _ in 0..4 {
            operate(&mut w, &mut ids, &mut chance);
        }
        w.step(20).expect("in range");
    }
    operate(&mut w, &mut ids, &mut chance);
    let bytes = saved(&w);
    for length in 0..bytes.len() {
        assert!(World::from_bytes(&bytes[..length]).is_err(), "cut at {length}");
    }
    let mut accepted = 0;
    let trials = cases(3_000);
    for _ in 0..trials {
        let mut damaged = bytes.clone();
        for _ in 0..=chance.below(3) {
            let at = chance.below(damaged.len() as u32 - 8) as usize;
            damaged[at] ^= 1 << chance.below(8);
        }
        // A forger can compute the checksum, too.
        let end = damaged.len() - 8;
        let hash = testudo_physics::hash_bytes(&damaged[..end]);
        damaged[end..].copy_from_slice(&hash.to_le_bytes());
        if let Ok(mut world) = World::from_bytes(&damaged) {
            accepted += 1;
            for _ in 0..50 {
                world.step(20).expect("in range");
            }
            assert_eq!(world.validate(), Ok(()));
        }
    }
    assert!(accepted > trials / 12, "many flips are other valid worlds: {accepted} of {trials}");
}
