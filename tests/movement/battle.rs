//! What a battle needs of a crowd: places of one's own, pursuit, slow ground, cheap copies, numbers with names.

use testudo_movement::{MoveError, MoveEvent};
use testudo_physics::{Aabb, BodyId, Fx, Vec2};

use crate::maps::Kind;
use crate::scene::{Scene, house, open_world, usual};
use crate::state::{play, scene};

/// A field with a wall from (0, -16) to (0, 16), and units at these places.
fn field(places: &[Vec2]) -> (Scene, Vec<BodyId>) {
    let mut world = open_world();
    house(&mut world, Vec2::ZERO, Vec2::new(Fx::ONE / 2, Fx::from_num(16)));
    let mut scene = Scene::of(world, usual(24).slow_ground(true));
    let units = places.iter().map(|&place| scene.add(place)).collect();
    (scene, units)
}

#[test]
fn who_is_sent_stands_at_its_own_place_and_opens_a_field_only_behind_a_wall() {
    let starts: Vec<Vec2> = (0..9).map(|n| Vec2::from_ints(-14 + n % 3 * 2, n / 3 * 2)).collect();
    for (goal, fields) in [(Vec2::from_ints(-6, 8), 0), (Vec2::from_ints(9, 4), 1)] {
        let (mut scene, units) = field(&starts);
        // The other way round: all of them have to pass each other.
        let own = |n: usize| goal + (Vec2::from_ints(-12, 2) - starts[n]);
        for (n, &unit) in units.iter().enumerate() {
            scene.crowd.send(unit, goal, own(n)).unwrap();
        }
        (0..800).for_each(|_| scene.step());
        assert_eq!((scene.arrived.len(), scene.crowd.live_flows().count()), (9, fields));
        for (n, &unit) in units.iter().enumerate() {
            let away = scene.place(unit).distance(own(n));
            assert!(away <= Fx::ONE, "unit {n} is {away} from its place");
        }
    }
}

#[test]
fn who_cannot_be_sent_goes_on_as_before() {
    let (mut scene, units) = field(&[Vec2::from_ints(-6, 0)]);
    let stranger = BodyId::from_bits(99);
    assert_eq!(scene.crowd.send(stranger, Vec2::ZERO, Vec2::ZERO), Err(MoveError::Stranger(stranger)));
    assert_eq!(
        scene.crowd.pursue(&scene.world, stranger, units[0], Fx::ONE),
        Err(MoveError::Stranger(stranger))
    );
    let far = Vec2::from_ints(20_000, 0);
    let before = scene.crowd.checksum();
    assert_eq!(scene.crowd.send(units[0], far, Vec2::ZERO), Err(MoveError::Goal));
    assert_eq!(scene.crowd.send(units[0], Vec2::ZERO, far), Err(MoveError::Goal));
    assert!(scene.crowd.checksum() == before && scene.world.body_count() == 2);
}

/// The prey goes to and fro between two places, faster than it is pursued, and then stands.
#[test]
fn who_pursues_stands_within_reach_and_goes_on_when_the_prey_leaves() {
    let (mut scene, units) = field(&[Vec2::from_ints(-20, 0), Vec2::from_ints(-8, 3)]);
    let [hunter, prey] = [units[0], units[1]];
    let reach = Fx::from_num(1);
    scene.pursue(hunter, prey, reach);
    let apart = |scene: &Scene| scene.place(hunter).distance(scene.place(prey));
    let mut was_near = 0;
    for round in 0..6 {
        let to = Vec2::from_ints(-8, if round % 2 == 0 { -15 } else { 15 });
        scene.crowd.send(prey, to, to).unwrap();
        let mut stands = 0;
        for _ in 0..240 {
            scene.step();
            stands += u32::from(scene.world.body(hunter).unwrap().velocity() == Vec2::ZERO);
        }
        assert!(apart(&scene) <= reach + Fx::ONE / 2, "round {round}: {}", apart(&scene));
        was_near += u32::from(stands > 10);
        assert_eq!((scene.crowd.prey(hunter), scene.crowd.is_going(hunter)), (Some(prey), Some(false)));
    }
    assert!(was_near >= 5, "it stood within reach in {was_near} of 6 rounds");
    assert!(apart(&scene) >= Fx::ONE, "it presses its prey");
    scene.world.remove_body(prey).unwrap();
    let at = scene.place(hunter);
    for _ in 0..40 {
        scene.step();
    }
    assert_eq!(scene.crowd.prey(hunter), None);
    assert!(scene.place(hunter).distance(at) < Fx::ONE / 4, "it stands where it was");
}

/// A game had to ask all pursuers in each frame whether their prey was still there.
#[test]
fn who_loses_its_prey_is_told_once_and_stands() {
    let places = [[-20, 0], [-8, 3], [4, 4], [6, -9]].map(|[x, y]| Vec2::from_ints(x, y));
    let (mut scene, units) = field(&places);
    let [hunter, prey, other, turncoat] = [0, 1, 2, 3].map(|n| units[n]);
    for unit in [hunter, other, turncoat] {
        scene.pursue(unit, prey, Fx::ONE);
    }
    (0..30).for_each(|_| scene.step());
    scene.world.remove_body(prey).unwrap();
    // It does not wait to be told.
    scene.pursue(turncoat, hunter, Fx::ONE);
    let mut told = Vec::new();
    for frame in 0..60 {
        let mut copy = scene.restored();
        copy.step();
        scene.step();
        assert_eq!(copy.crowd.events(), scene.crowd.events(), "frame {frame}");
        assert!(
            frame > 0 || scene.crowd.events().contains(&MoveEvent::Gone(prey)),
            "{:?}",
            scene.crowd.events()
        );
        for event in scene.crowd.events() {
            if let MoveEvent::PreyGone(unit) = *event {
                assert!(frame < 11 && scene.crowd.prey(unit).is_none(), "frame {frame}: {unit}");
                told.push(unit);
            }
        }
    }
    told.sort_unstable();
    assert_eq!((told, scene.crowd.prey(turncoat)), (vec![hunter, other], Some(hunter)));
}

/// Two lines run at each other: nobody dodges, as two groups do that only pass.
#[test]
fn those_who_charge_each_other_meet_and_a_wall_is_reached_at_its_nearest_point() {
    let line = |x: i32| (0..8).map(move |n| Vec2::from_ints(x, n * 2 - 8));
    let (mut scene, units) = field(&line(-20).chain(line(-6)).collect::<Vec<_>>());
    for n in 0..8 {
        scene.pursue(units[n], units[n + 8], Fx::ONE);
        scene.pursue(units[n + 8], units[n], Fx::ONE);
    }
    for _ in 0..80 {
        scene.step();
    }
    for n in 0..8 {
        let [one, other] = [n, n + 8].map(|n| scene.place(units[n]));
        assert!(
            one.distance(other) <= Fx::lit("1.6") && (one.y - other.y).abs() < Fx::ONE / 2,
            "{one:?} {other:?}"
        );
    }
    let wall = scene.world.bodies().next().unwrap().id();
    scene.pursue(units[8], wall, Fx::from_num(2));
    let y = scene.place(units[8]).y;
    for _ in 0..120 {
        scene.step();
    }
    let at = scene.place(units[8]);
    assert!((at.x + Fx::lit("2.5")).abs() < Fx::ONE / 4 && (at.y - y).abs() < Fx::ONE, "{at:?}");
}

/// Whom it pursues need not be a unit: on its way to a wall it kept to its right, as those do that are sent.
#[test]
fn who_pursues_a_wall_dodges_nobody_who_comes_towards_it() {
    let starts = [Vec2::from_ints(-20, 0), Vec2::new(Fx::from_num(-4), Fx::from_num(5) / 4)];
    let (mut scene, units) = field(&starts);
    let wall = scene.world.bodies().map(|body| body.id()).find(|body| !units.contains(body)).unwrap();
    scene.pursue(units[0], wall, Fx::from_num(2));
    let goal = Vec2::new(Fx::from_num(-20), starts[1].y);
    scene.crowd.send(units[1], goal, goal).unwrap();
    for frame in 0..120 {
        scene.step();
        assert_eq!(scene.place(units[0]).y, Fx::ZERO, "frame {frame}");
    }
    assert!(scene.place(units[0]).x > scene.place(units[1]).x, "they have passed each other");
}

#[test]
fn costly_ground_slows_who_walks_on_it() {
    let [free, swamp] = [false, true].map(|is_swamp| {
        let (mut scene, units) = field(&[Vec2::from_ints(-20, 20)]);
        if is_swamp {
            let area = Aabb::from_corners(Vec2::from_ints(-24, 10), Vec2::from_ints(24, 24));
            scene.crowd.set_cost(&scene.world, area, 2).unwrap();
        }
        let goal = Vec2::from_ints(-2, 20);
        scene.crowd.send(units[0], goal, goal).unwrap();
        let mut frames = 0;
        while scene.crowd.events().is_empty() {
            scene.step();
            frames += 1;
            assert!(frames < 1_000);
        }
        frames
    });
    assert!((150..250).contains(&(swamp * 100 / free)), "{free} frames, and {swamp} in the swamp");
}

/// Every number has its place in the saved bytes; a copy in used memory is as good as a new one, and a restored match goes on while units pursue.
#[test]
fn copies_and_restored_crowds_go_on_alike_while_units_pursue() {
    for (kind, seed) in [(Kind::Rocks, 5), (Kind::Rooms, 6)] {
        let mut scene = scene(kind, seed);
        let (mut copy, mut kept, units) = (scene.clone(), scene.clone(), scene.units.clone());
        for frame in 0..160 {
            if frame % 25 == 20 {
                for n in 0..units.len() / 2 {
                    scene.pursue(units[n], units[units.len() - 1 - n], Fx::ONE);
                    copy.pursue(units[n], units[units.len() - 1 - n], Fx::ONE);
                }
            }
            if frame % 7 == 0 {
                kept = scene.clone();
                // A prediction that goes elsewhere, and back.
                (0..3).for_each(|_| play(40, &mut copy));
                copy.world.clone_from(&kept.world);
                copy.crowd.clone_from(&kept.crowd);
            }
            play(frame, &mut scene);
            play(frame, &mut copy);
            scene.assert_same(&copy, format!("{kind:?} frame {frame}"));
            if frame % 20 == 0 {
                let bytes = scene.saved();
                copy.crowd = scene.load(&bytes).unwrap();
                let mut end = 0;
                scene.crowd.visit_numbers(&mut |number| {
                    assert_eq!(number.at, end, "{number:?}");
                    end += u64::from(number.bytes);
                    let mut value = [0; 8];
                    value[..number.bytes as usize].copy_from_slice(&bytes[number.at as usize..end as usize]);
                    let mask = u64::MAX >> (64 - 8 * number.bytes);
                    assert_eq!(u64::from_le_bytes(value), number.value as u64 & mask, "{number:?}");
                });
                assert_eq!(end, bytes.len() as u64);
            }
        }
        assert!(kept.crowd.checksum() != scene.crowd.checksum() && kept.world.frame() < scene.world.frame());
    }
}
