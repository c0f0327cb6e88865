//! Mirror images: a scene that is reflected moves as the reflection, up to ties between equal paths and keeping to the right.

use testudo_movement::{Flows, Ground, GroundDef};
use testudo_physics::{BodyDef, Fx, Pcg32, Vec2, World};

use crate::maps::{HALF, KINDS, area, draw};
use crate::paths::{size, walked};
use crate::scene::{RATE, Scene, open_world, surveyed};

fn mirrored(at: Vec2) -> Vec2 {
    Vec2::new(-at.x, at.y)
}

/// The same obstacles, left and right exchanged.
fn mirror(world: &World) -> World {
    let mut image = open_world();
    for body in world.bodies() {
        let def = BodyDef::static_body(body.shape());
        image.create_body(&def.position(mirrored(body.position()))).unwrap();
    }
    image
}

fn middles() -> Vec<Vec2> {
    let part = |n: i32| Fx::from_num(n - HALF) + Fx::ONE / 2;
    (0..4 * HALF * HALF).map(|n| Vec2::new(part(n % (2 * HALF)), part(n / (2 * HALF)))).collect()
}

#[test]
fn paths_on_a_mirrored_map_are_as_long() {
    let (mut cells, mut open, mut far) = (0, 0, 0);
    for seed in 0..4 {
        for kind in KINDS {
            let world = draw(kind, seed);
            let grounds = [&world, &mirror(&world)].map(|world| surveyed(world, &GroundDef::new(area())));
            let size = size(&grounds[0]);
            let mut rng = Pcg32::new(seed, 6);
            let all = middles();
            let goal = loop {
                let at = all[rng.below(all.len() as u32) as usize];
                if grounds[0].is_open(at, size) && grounds[1].is_open(mirrored(at), size) {
                    break at;
                }
            };
            let lengths = |ground: &Ground, image: fn(Vec2) -> Vec2| -> Vec<Option<Fx>> {
                let mut flows = Flows::new(1).unwrap();
                let flow = flows.to(ground, image(goal), size).unwrap();
                flows.search_all(ground, flow);
                all.iter().map(|&at| walked(ground, &flows, flow, image(at))).collect()
            };
            let (one, other) = (lengths(&grounds[0], |at| at), lengths(&grounds[1], mirrored));
            let before = (open, far);
            for (one, other) in one.into_iter().zip(other) {
                cells += 1;
                open += u32::from(one.is_some() != other.is_some());
                far += u32::from(one.zip(other).is_some_and(|(a, b)| (a - b).abs() > Fx::ONE / 2 + a / 50));
            }
            if before != (open, far) {
                println!("{kind:?} {seed}: {} {}", open - before.0, far - before.1);
            }
        }
    }
    println!(
        "of {cells} cells {open} are closed on one side only, {far} have paths that differ by half a cell and a fiftieth"
    );
    // (Where both ends of a door have as much room, left and right decide.)
    assert!((open + far) * 95 <= cells, "{open} {far} of {cells}");
}

#[test]
fn a_unit_alone_moves_as_its_mirror_image() {
    let (mut scenes, mut apart, mut later) = (0, 0, 0);
    for seed in 0..10 {
        for kind in KINDS {
            let world = draw(kind, seed);
            let image = mirror(&world);
            let mut pair = [Scene::new(world, HALF), Scene::new(image, HALF)];
            let mut rng = Pcg32::new(seed, 7);
            let all = middles();
            let size = size(pair[0].crowd.ground());
            let mut place = || loop {
                let at = all[rng.below(all.len() as u32) as usize];
                let sees =
                    |ground: &Ground, at: Vec2| ground.sees(at, at + Vec2::new(Fx::ZERO, Fx::ONE / 8), size);
                let is_free = |ground: &Ground, at: Vec2| ground.is_open(at, size) && sees(ground, at);
                if is_free(pair[0].crowd.ground(), at) && is_free(pair[1].crowd.ground(), mirrored(at)) {
                    return at;
                }
            };
            let (start, goal) = (place(), place());
            let units = [pair[0].add(start), pair[1].add(mirrored(start))];
            pair[0].go(&units[..1], goal);
            pair[1].go(&units[1..], mirrored(goal));
            let (mut widest, mut ends) = (Fx::ZERO, [None; 2]);
            for frame in 0..60 * RATE {
                pair.iter_mut().for_each(Scene::step);
                let places = [0, 1].map(|n: usize| pair[n].place(units[n]));
                widest = widest.max(places[0].distance(mirrored(places[1])));
                for n in 0..2 {
                    if ends[n].is_none() && pair[n].crowd.is_going(units[n]) == Some(false) {
                        ends[n] = Some(frame);
                    }
                }
            }
            scenes += 1;
            assert_eq!(pair[0].arrived.len(), pair[1].arrived.len(), "{kind:?} {seed}");
            if widest > Fx::ONE {
                println!("{kind:?} {seed}: {widest} apart");
            }
            apart += u32::from(widest > Fx::ONE);
            let [Some(a), Some(b)] = ends else { panic!("{kind:?} {seed}: still on the way") };
            later += u32::from(a.abs_diff(b) > RATE / 2);
        }
    }
    println!("{scenes} scenes: {apart} more than a unit apart, {later} arrive more than half a second apart");
    assert!(apart * 10 <= scenes && later * 20 <= scenes, "{apart} {later} of {scenes}");
}
