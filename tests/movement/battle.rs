//! What a battle needs of a crowd: places of one's own, pursuit, slow ground, cheap copies, numbers with names.

use testudo_movement::{Crowd, CrowdDef, GroundDef, MoveError, MoveEvent, MoverDef};
use testudo_physics::{Aabb, BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};

use crate::maps::{Kind, square};
use crate::state::{play, scene};

const HALF: i32 = 24;

fn def() -> CrowdDef {
    CrowdDef::new(GroundDef::new(square(HALF))).slow_ground(true)
}

/// A field with a wall from (0, -16) to (0, 16), and units at these places.
fn field(places: &[Vec2]) -> (World, Crowd, Vec<BodyId>) {
    let mut world = World::new(WorldDef::new()).unwrap();
    world.create_body(&BodyDef::static_body(Shape::rect(Fx::ONE / 2, Fx::from_num(16)))).unwrap();
    let mut crowd = Crowd::new(&def()).unwrap();
    crowd.survey(&world);
    let mut units = Vec::new();
    for place in places {
        let disc = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(*place);
        units.push(world.create_body(&disc).unwrap());
        crowd.add(&world, units[units.len() - 1], MoverDef::default()).unwrap();
    }
    (world, crowd, units)
}

fn step(world: &mut World, crowd: &mut Crowd) {
    crowd.step(world, 20).unwrap();
    world.step(20).unwrap();
}

fn place(world: &World, unit: BodyId) -> Vec2 {
    world.body(unit).unwrap().position()
}

#[test]
fn who_is_sent_stands_at_its_own_place_and_opens_a_field_only_behind_a_wall() {
    let starts: Vec<Vec2> = (0..9).map(|n| Vec2::from_ints(-14 + n % 3 * 2, n / 3 * 2)).collect();
    for (goal, fields) in [(Vec2::from_ints(-6, 8), 0), (Vec2::from_ints(9, 4), 1)] {
        let (mut world, mut crowd, units) = field(&starts);
        // The other way round: all of them have to pass each other.
        let own = |n: usize| goal + (Vec2::from_ints(-12, 2) - starts[n]);
        for (n, &unit) in units.iter().enumerate() {
            crowd.send(unit, goal, own(n)).unwrap();
        }
        let mut arrived = 0;
        for _ in 0..800 {
            step(&mut world, &mut crowd);
            let is_arrival = |event: &&MoveEvent| matches!(event, MoveEvent::Arrived(_));
            arrived += crowd.events().iter().filter(is_arrival).count();
        }
        assert_eq!((arrived, crowd.live_flows().count()), (9, fields));
        for (n, &unit) in units.iter().enumerate() {
            let away = place(&world, unit).distance(own(n));
            assert!(away <= Fx::ONE, "unit {n} is {away} from its place");
        }
    }
}

#[test]
fn who_cannot_be_sent_goes_on_as_before() {
    let (world, mut crowd, units) = field(&[Vec2::from_ints(-6, 0)]);
    let stranger = BodyId::from_bits(99);
    assert_eq!(crowd.send(stranger, Vec2::ZERO, Vec2::ZERO), Err(MoveError::Stranger(stranger)));
    assert_eq!(crowd.pursue(&world, stranger, units[0], Fx::ONE), Err(MoveError::Stranger(stranger)));
    let far = Vec2::from_ints(20_000, 0);
    let before = crowd.checksum();
    assert_eq!(crowd.send(units[0], far, Vec2::ZERO), Err(MoveError::Goal));
    assert_eq!(crowd.send(units[0], Vec2::ZERO, far), Err(MoveError::Goal));
    assert!(crowd.checksum() == before && world.body_count() == 2);
}

/// The prey goes to and fro between two places, faster than it is pursued, and then stands.
#[test]
fn who_pursues_stands_within_reach_and_goes_on_when_the_prey_leaves() {
    let (mut world, mut crowd, units) = field(&[Vec2::from_ints(-20, 0), Vec2::from_ints(-8, 3)]);
    let [hunter, prey] = [units[0], units[1]];
    let reach = Fx::from_num(1);
    crowd.pursue(&world, hunter, prey, reach).unwrap();
    let is_near = |world: &World| place(world, hunter).distance(place(world, prey)) <= reach + Fx::ONE / 2;
    let mut was_near = 0;
    for round in 0..6 {
        let to = Vec2::from_ints(-8, if round % 2 == 0 { -15 } else { 15 });
        crowd.send(prey, to, to).unwrap();
        let mut stands = 0;
        for _ in 0..240 {
            step(&mut world, &mut crowd);
            stands += u32::from(world.body(hunter).unwrap().velocity() == Vec2::ZERO);
        }
        assert!(is_near(&world), "round {round}: {:?} {:?}", place(&world, hunter), place(&world, prey));
        was_near += u32::from(stands > 10);
        assert_eq!((crowd.prey(hunter), crowd.is_going(hunter)), (Some(prey), Some(false)));
    }
    assert!(was_near >= 5, "it stood within reach in {was_near} of 6 rounds");
    assert!(place(&world, hunter).distance(place(&world, prey)) >= Fx::ONE, "it presses its prey");
    world.remove_body(prey).unwrap();
    let at = place(&world, hunter);
    for _ in 0..40 {
        step(&mut world, &mut crowd);
    }
    assert_eq!(crowd.prey(hunter), None);
    assert!(place(&world, hunter).distance(at) < Fx::ONE / 4, "it stands where it was");
}

/// A game had to ask all pursuers in each frame whether their prey was still there.
#[test]
fn who_loses_its_prey_is_told_once_and_stands() {
    let places = [[-20, 0], [-8, 3], [4, 4], [6, -9]].map(|[x, y]| Vec2::from_ints(x, y));
    let (mut world, mut crowd, units) = field(&places);
    let [hunter, prey, other, turncoat] = [0, 1, 2, 3].map(|n| units[n]);
    for unit in [hunter, other, turncoat] {
        crowd.pursue(&world, unit, prey, Fx::ONE).unwrap();
    }
    (0..30).for_each(|_| step(&mut world, &mut crowd));
    world.remove_body(prey).unwrap();
    // It does not wait to be told.
    crowd.pursue(&world, turncoat, hunter, Fx::ONE).unwrap();
    let mut told = Vec::new();
    for frame in 0..60 {
        let mut bytes = Vec::new();
        crowd.save(&mut bytes);
        let mut copy = Crowd::load(&def(), &world, &bytes).unwrap();
        copy.step(&mut world.clone(), 20).unwrap();
        step(&mut world, &mut crowd);
        assert_eq!(copy.events(), crowd.events(), "frame {frame}");
        assert!(frame > 0 || crowd.events().contains(&MoveEvent::Gone(prey)), "{:?}", crowd.events());
        for event in crowd.events() {
            if let MoveEvent::PreyGone(unit) = *event {
                assert!(frame < 11 && crowd.prey(unit).is_none(), "frame {frame}: {unit}");
                told.push(unit);
            }
        }
    }
    told.sort_unstable();
    assert_eq!((told, crowd.prey(turncoat)), (vec![hunter, other], Some(hunter)));
}

/// Two lines run at each other: nobody dodges, as two groups do that only pass.
#[test]
fn those_who_charge_each_other_meet_and_a_wall_is_reached_at_its_nearest_point() {
    let line = |x: i32| (0..8).map(move |n| Vec2::from_ints(x, n * 2 - 8));
    let (mut world, mut crowd, units) = field(&line(-20).chain(line(-6)).collect::<Vec<_>>());
    for n in 0..8 {
        crowd.pursue(&world, units[n], units[n + 8], Fx::ONE).unwrap();
        crowd.pursue(&world, units[n + 8], units[n], Fx::ONE).unwrap();
    }
    for _ in 0..80 {
        step(&mut world, &mut crowd);
    }
    for n in 0..8 {
        let [one, other] = [n, n + 8].map(|n| place(&world, units[n]));
        assert!(
            one.distance(other) <= Fx::lit("1.6") && (one.y - other.y).abs() < Fx::ONE / 2,
            "{one:?} {other:?}"
        );
    }
    let wall = world.bodies().next().unwrap().id();
    crowd.pursue(&world, units[8], wall, Fx::from_num(2)).unwrap();
    let y = place(&world, units[8]).y;
    for _ in 0..120 {
        step(&mut world, &mut crowd);
    }
    let at = place(&world, units[8]);
    assert!((at.x + Fx::lit("2.5")).abs() < Fx::ONE / 4 && (at.y - y).abs() < Fx::ONE, "{at:?}");
}

/// Whom it pursues need not be a unit: on its way to a wall it kept to its right, as those do that are sent.
#[test]
fn who_pursues_a_wall_dodges_nobody_who_comes_towards_it() {
    let starts = [Vec2::from_ints(-20, 0), Vec2::new(Fx::from_num(-4), Fx::from_num(5) / 4)];
    let (mut world, mut crowd, units) = field(&starts);
    let wall = world.bodies().map(|body| body.id()).find(|body| !units.contains(body)).unwrap();
    crowd.pursue(&world, units[0], wall, Fx::from_num(2)).unwrap();
    let goal = Vec2::new(Fx::from_num(-20), starts[1].y);
    crowd.send(units[1], goal, goal).unwrap();
    for frame in 0..120 {
        step(&mut world, &mut crowd);
        assert_eq!(place(&world, units[0]).y, Fx::ZERO, "frame {frame}");
    }
    assert!(place(&world, units[0]).x > place(&world, units[1]).x, "they have passed each other");
}

#[test]
fn costly_ground_slows_who_walks_on_it() {
    let [free, swamp] = [false, true].map(|is_swamp| {
        let (mut world, mut crowd, units) = field(&[Vec2::from_ints(-20, 20)]);
        if is_swamp {
            let area = Aabb::from_corners(Vec2::from_ints(-24, 10), Vec2::from_ints(24, 24));
            crowd.set_cost(&world, area, 2).unwrap();
        }
        let goal = Vec2::from_ints(-2, 20);
        crowd.send(units[0], goal, goal).unwrap();
        let mut frames = 0;
        while crowd.events().is_empty() {
            step(&mut world, &mut crowd);
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
        let (mut world, mut crowd, units) = scene(kind, seed);
        let (mut copy_world, mut copy) = (world.clone(), crowd.clone());
        let (mut kept_world, mut kept) = (world.clone(), crowd.clone());
        for frame in 0..160 {
            if frame % 25 == 20 {
                for n in 0..units.len() / 2 {
                    crowd.pursue(&world, units[n], units[units.len() - 1 - n], Fx::ONE).unwrap();
                    copy.pursue(&world, units[n], units[units.len() - 1 - n], Fx::ONE).unwrap();
                }
            }
            if frame % 7 == 0 {
                (kept_world, kept) = (world.clone(), crowd.clone());
                // A prediction that goes elsewhere, and back.
                (0..3).for_each(|_| play(40, &mut copy_world, &mut copy, &units));
                copy_world.clone_from(&kept_world);
                copy.clone_from(&kept);
            }
            play(frame, &mut world, &mut crowd, &units);
            play(frame, &mut copy_world, &mut copy, &units);
            let (mut bytes, mut again) = (Vec::new(), Vec::new());
            crowd.save(&mut bytes);
            copy.save(&mut again);
            assert!(bytes == again && world.checksum() == copy_world.checksum(), "{kind:?} frame {frame}");
            if frame % 20 == 0 {
                copy = Crowd::load(&crate::state::def(), &world, &bytes).unwrap();
                let mut end = 0;
                crowd.visit_numbers(&mut |number| {
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
        assert!(kept.checksum() != crowd.checksum() && kept_world.frame() < world.frame());
    }
}
