//! What a game reads after a step, by brute force: the bodies that moved, the contacts of one body. And bounds that change.

use testudo_physics::{Aabb, BodyDef, BodyKind, Vec2, World, WorldDef, WorldError};

use crate::build::{Chance, add, at, circle, rect, run, world};
use crate::operations::operate;

/// Worlds with and without gravity in which anything happens; `look` sees each before and after each step.
fn at_random(mut look: impl FnMut(&mut World)) {
    for seed in 0..6 {
        let gravity = if seed % 2 == 0 { Vec2::ZERO } else { Vec2::from_ints(0, -10) };
        let (mut w, mut chance, mut ids) =
            (world(WorldDef::new().gravity(gravity)), Chance::new(seed), Vec::new());
        add(&mut w, BodyDef::static_body(rect(60_000, 1_000)).position(at(0, -20_000)));
        for frame in 0..160 {
            ids.retain(|&id| w.body(id).is_some());
            // At the end everything comes to rest.
            for _ in 0..if frame < 60 { 4 } else { 0 } {
                operate(&mut w, &mut ids, &mut chance);
            }
            look(&mut w);
        }
    }
}

#[test]
fn moved_bodies_are_those_whose_position_a_step_changed() {
    let (mut moved, mut asleep) = (0, 0);
    at_random(|w| {
        let before: Vec<_> = w.bodies().map(|body| (body.id(), body.position())).collect();
        run(w, 1, 20);
        let here = |id| w.body(id).expect("a step removes nobody");
        let mut expected: Vec<_> =
            before.iter().filter(|&&(id, at)| here(id).position() != at).map(|&(id, _)| id).collect();
        expected.sort_unstable();
        let mut listed: Vec<_> = w.moved_bodies().collect();
        let awake = listed.iter().take_while(|&&id| here(id).is_awake()).count();
        assert!(listed[..awake].is_sorted() && listed[awake..].is_sorted(), "{listed:?}");
        assert!(listed[awake..].iter().all(|&id| !here(id).is_awake()), "those that fell asleep come last");
        asleep += listed.len() - awake;
        listed.sort_unstable();
        assert_eq!(listed, expected, "frame {}", w.frame());
        moved += listed.len();
        // What happens between steps takes bodies off the list.
        if let Some(&id) = listed.first() {
            w.remove_body(id).expect("alive");
            assert!(w.moved_bodies().all(|other| other != id));
        }
    });
    assert!(moved > 1_000 && asleep > 0, "{moved} moved, {asleep} of them fell asleep");
}

#[test]
fn contacts_of_a_body_are_those_of_the_world_that_name_it() {
    let mut found = 0;
    at_random(|w| {
        let check = |w: &World| {
            let all: Vec<_> = w.contacts().collect();
            for body in w.bodies() {
                let own: Vec<_> = w.contacts_of(body.id()).collect();
                let id = body.id();
                let expected: Vec<_> = all.iter().filter(|c| c.a == id || c.b == id).copied().collect();
                assert_eq!(own, expected, "{id} in frame {}", w.frame());
            }
            all.len()
        };
        check(w);
        run(w, 1, 20);
        found += check(w);
        if w.frame() == 100 {
            let touching: Vec<_> = w.contacts().map(|contact| contact.b).take(1).collect();
            for id in touching {
                w.remove_body(id).expect("alive");
                assert!(w.contacts_of(id).next().is_none(), "a body that is gone has none");
            }
        }
    });
    assert!(found > 1_000, "{found} contacts");
}

fn square(half: i32) -> Aabb {
    Aabb { min: Vec2::from_ints(-half, -half), max: Vec2::from_ints(half, half) }
}

#[test]
fn nobody_who_can_move_is_outside_of_bounds_that_shrink_and_grow() {
    let mut chance = Chance::new(3);
    at_random(|w| {
        if chance.below(8) == 0 {
            let bounds = square(5 + chance.below(40) as i32);
            w.set_bounds(bounds).expect("in range");
            assert_eq!(w.bounds(), bounds);
        }
        run(w, 1, 20);
        assert_eq!(w.validate(), Ok(()), "frame {}", w.frame());
        let Aabb { min, max } = w.bounds();
        for body in w.bodies().filter(|body| body.kind() != BodyKind::Static) {
            let at = body.position();
            assert!(
                min.x <= at.x && at.x <= max.x && min.y <= at.y && at.y <= max.y,
                "{} at {at:?}",
                body.id()
            );
        }
    });
}

#[test]
fn bounds_that_are_set_first_are_those_of_the_definition() {
    let crowded = |mut w: World| {
        for i in 0..100 {
            let towards = at(3_000 - i * 61, i * 57 - 2_500);
            add(
                &mut w,
                BodyDef::dynamic(circle(450))
                    .position(at(i % 10 * 950 - 4_000, i / 10 * 950 - 4_000))
                    .velocity(towards),
            );
        }
        w
    };
    let mut defined = crowded(world(WorldDef::new().bounds(square(6))));
    let mut set = crowded(world(WorldDef::new()));
    set.set_bounds(square(6)).expect("in range");
    let checksum = set.checksum();
    for bad in [square(-1), square(20_000)] {
        assert!(matches!(set.set_bounds(bad), Err(WorldError::OutOfRange { setting: "bounds", .. })));
    }
    assert_eq!(set.checksum(), checksum, "a refused call changes nothing");
    run(&mut defined, 60, 20);
    run(&mut set, 60, 20);
    assert_eq!(set.checksum(), defined.checksum());
}

#[test]
fn a_body_that_sleeps_at_the_edge_falls_when_the_edge_goes() {
    let mut w = world(WorldDef::new().gravity(Vec2::from_ints(0, -10)).bounds(square(5)));
    let stone = add(&mut w, BodyDef::dynamic(circle(500)));
    run(&mut w, 600, 240);
    assert!(!w.body(stone).expect("alive").is_awake());
    w.set_bounds(square(5)).expect("in range");
    assert!(!w.body(stone).expect("alive").is_awake(), "the same bounds wake nobody");
    w.set_bounds(square(9)).expect("in range");
    run(&mut w, 600, 240);
    assert_eq!(w.body(stone).expect("alive").position(), Vec2::from_ints(0, -9));
}
