//! Crowds: which units arrive, when, and where they stand then.

use testudo_movement::{FlowError, GIVE_UP_MS, MoveError, MoverDef, Order};
use testudo_physics::{BodyId, Fx, Pcg32, Vec2, World};

use crate::maps::{HALF, KINDS, draw};
use crate::scene::{RATE, Scene, house, open_world, usual};

impl Scene {
    fn block(&mut self, corner: [i32; 2], columns: i32, count: i32) -> Vec<BodyId> {
        (0..count)
            .map(|i| {
                let [x, y] = [corner[0] * 4 + i % columns * 5, corner[1] * 4 + i / columns * 5];
                self.add(Vec2::new(Fx::from_num(x) / 4, Fx::from_num(y) / 4))
            })
            .collect()
    }

    /// Steps until nobody goes any more; panics after so many seconds.
    fn play(&mut self, seconds: u32) {
        for _ in 0..seconds * RATE {
            self.step();
            if self.units.iter().all(|&unit| self.crowd.is_going(unit) != Some(true)) {
                return;
            }
        }
        let going: Vec<_> =
            self.units.iter().filter(|&&unit| self.crowd.is_going(unit) == Some(true)).collect();
        panic!("{} of {} still go after {seconds} s", going.len(), self.units.len());
    }
}

#[test]
fn a_thousand_units_come_to_rest_as_a_disc() {
    let mut scene = Scene::new(open_world(), 64);
    let units = scene.block([-60, -20], 25, 1_000);
    let goal = Vec2::from_ints(25, 0);
    scene.go(&units, goal);
    scene.play(60);
    println!("at rest after {} s", scene.frame / RATE);
    assert_eq!((scene.gave_up.len(), scene.unreachable.len()), (0, 0));
    for _ in 0..3 * RATE {
        scene.step();
    }
    // Hexagonal, middles 9/8 of a unit apart: the disc of this area has a radius of 18.7.
    let far = units.iter().map(|&unit| scene.place(unit).distance(goal)).max().unwrap();
    let awake = units.iter().filter(|&&unit| scene.world.body(unit).unwrap().is_awake()).count();
    println!("radius {far}, awake {awake}");
    assert!(far < Fx::from_num(21), "{far}");
    assert_eq!(awake, 0);
}

/// Marchers of one goal closed up until they touched each other, and those at the edges had to wait for those in the middle.
#[test]
fn an_army_marches_as_wide_as_it_will_stand() {
    let mut scene = Scene::new(open_world(), 128);
    let units = scene.block([-120, -12], 20, 400);
    let starts: Vec<Vec2> = units.iter().map(|&unit| scene.place(unit)).collect();
    let way = Vec2::from_ints(180, 30);
    for (&unit, start) in units.iter().zip(&starts) {
        scene.crowd.send(unit, starts[210] + way, *start + way).unwrap();
    }
    (0..30 * RATE).for_each(|_| scene.step());
    let gone: Vec<Vec2> =
        units.iter().zip(&starts).map(|(&unit, &start)| scene.place(unit) - start).collect();
    for part in [|at: &Vec2| at.x, |at: &Vec2| at.y] {
        let (least, most) = (gone.iter().map(part).min().unwrap(), gone.iter().map(part).max().unwrap());
        // The search takes four frames to come to them, and they set out in turns of four.
        assert!(most - least < Fx::from_num(2), "halfway some are ahead by {}", most - least);
    }
    assert!(scene.world.contact_count() < 200, "{} contacts", scene.world.contact_count());
    scene.play(40);
    // 182.5 units at 3 a second, and its units start and stop one after the other.
    assert!(scene.frame / RATE < 65, "{} s", scene.frame / RATE);
}

/// Units that were pushed past their aim turned back to it, against all that came after them.
#[test]
fn a_crowd_flows_past_rocks() {
    let mut world = open_world();
    for (x, y) in [(-30, -14), (-28, 2), (-31, 17), (-12, -8), (-10, 9)] {
        house(&mut world, Vec2::from_ints(x, y), Vec2::from_ints(3, 3));
    }
    let mut scene = Scene::new(world, 128);
    let units = scene.block([-100, -25], 30, 1_200);
    scene.go(&units, Vec2::from_ints(90, 0));
    let mut seconds = 0;
    while seconds < 200 && scene.arrived.len() < 1_140 {
        (0..RATE).for_each(|_| scene.step());
        seconds += 1;
    }
    println!("{} have arrived after {seconds} s", scene.arrived.len());
    assert!(seconds < 100, "{seconds} s");
}

#[test]
fn everybody_with_a_path_arrives_and_the_others_are_told() {
    let (mut arrived, mut gave_up, mut told) = (0, 0, 0);
    for seed in 0..4 {
        for kind in KINDS {
            let mut scene = Scene::new(draw(kind, seed), HALF);
            let mut rng = Pcg32::new(seed, 3);
            let ground = scene.crowd.ground().clone();
            let size = ground.size_of(Fx::ONE / 2).unwrap();
            let mut free = || loop {
                let part =
                    |rng: &mut Pcg32| Fx::from_num(rng.below(2 * HALF as u32) as i32 - HALF) + Fx::ONE / 2;
                let at = Vec2::new(part(&mut rng), part(&mut rng));
                if ground.is_open(at, size) && ground.sees(at, at + Vec2::new(Fx::ONE / 8, Fx::ZERO), size) {
                    return at;
                }
            };
            let goal = free();
            let mut taken: Vec<Vec2> = Vec::new();
            while taken.len() < 30 {
                let at = free();
                if taken.iter().all(|other| other.distance(at) > Fx::ONE) {
                    taken.push(at);
                }
            }
            let units: Vec<_> = taken.into_iter().map(|at| scene.add(at)).collect();
            scene.go(&units, goal);
            scene.play(180);
            println!(
                "{kind:?} {seed}: {} s, {} arrived, {} gave up, {} unreachable",
                scene.frame / RATE,
                scene.arrived.len(),
                scene.gave_up.len(),
                scene.unreachable.len()
            );
            arrived += scene.arrived.len();
            told += scene.unreachable.len();
            gave_up += scene.gave_up.len();
            let last = scene.unreachable.iter().map(|&(frame, _)| frame).max();
            assert!(last.is_none_or(|frame| frame <= RATE), "{kind:?} {seed}: told late");
        }
    }
    println!("{arrived} arrived, {gave_up} gave up, {told} have no path");
    assert!(arrived > 400 && told > 5, "{arrived} {told}: not interesting");
    assert!(gave_up * 100 <= arrived, "{gave_up} of {arrived} gave up");
}

#[test]
fn a_building_on_the_path_is_gone_around() {
    let mut scene = Scene::new(open_world(), 24);
    let units = scene.block([-20, -3], 5, 25);
    scene.go(&units, Vec2::from_ints(18, 0));
    for _ in 0..3 * RATE {
        scene.step();
    }
    scene.build(Vec2::from_ints(2, 0), Vec2::from_ints(1, 12));
    scene.play(60);
    assert_eq!(scene.arrived.len(), 25, "{:?}", scene.gave_up);
    assert!(units.iter().all(|&unit| scene.place(unit).x > Fx::from_num(10)));
}

#[test]
fn two_groups_pass_each_other() {
    for crossing in [false, true] {
        let mut world = open_world();
        if !crossing {
            for side in [-1, 1] {
                house(&mut world, Vec2::from_ints(0, 6 * side), Vec2::from_ints(60, 1));
            }
        }
        let mut scene = Scene::new(world, 64);
        let (one, two) = if crossing {
            (scene.block([-40, -9], 14, 200), scene.block([-9, -40], 14, 200))
        } else {
            (scene.block([-45, -4], 28, 196), scene.block([15, -4], 28, 196))
        };
        scene.go(&one, Vec2::from_ints(32, 0));
        scene.go(&two, if crossing { Vec2::from_ints(0, 32) } else { Vec2::from_ints(-32, 0) });
        scene.play(120);
        println!("crossing {crossing}: {} s, gave up {}", scene.frame / RATE, scene.gave_up.len());
        assert_eq!(scene.gave_up.len(), 0);
    }
}

/// A unit that stood looked no further than its own speed took it, and touched those in its way in 121 of these 180 starts. Three of the starts are too near.
#[test]
fn who_sets_out_goes_around_one_that_stands_near() {
    let mut touched = 0;
    for (ahead, aside) in (12..32).flat_map(|ahead| (-4..5).map(move |aside| (ahead, aside))) {
        let mut scene = Scene::new(open_world(), HALF);
        let unit = scene.add(Vec2::ZERO);
        scene.add(Vec2::new(Fx::from_num(ahead) / 10, Fx::from_num(aside) / 10));
        scene.go(&[unit], Vec2::from_ints(15, 0));
        let touches = (0..10 * RATE).any(|_| {
            scene.step();
            scene.world.contact_count() > 0
        });
        touched += u32::from(touches);
        assert_eq!(scene.gave_up, [], "{ahead} {aside}");
    }
    assert!(touched <= 6, "{touched} of 180");
}

/// All think in the same frame. When they took turns over four frames, there were 240 contacts in the second one.
#[test]
fn an_army_sets_out_without_a_touch() {
    let mut scene = Scene::new(open_world(), HALF * 4);
    // A sixteenth of a unit apart: less than one walks in a frame.
    let place = |n: i32| Vec2::from_ints(n % 25, n / 25) * (Fx::from_num(17) / 16);
    let units: Vec<BodyId> = (0..1_000).map(|n| scene.add(place(n) - Vec2::from_ints(100, 20))).collect();
    scene.go(&units, Vec2::from_ints(90, 40));
    for _ in 0..RATE / 2 {
        scene.step();
        assert_eq!(scene.world.contacts().count(), 0, "frame {}", scene.frame);
    }
}

/// While units took turns after an order, the next order came before three of four had thought.
#[test]
fn who_gets_an_order_in_each_frame_goes() {
    let mut scene = Scene::new(open_world(), HALF);
    let units = scene.block([-20, -5], 4, 16);
    let starts: Vec<Vec2> = units.iter().map(|&unit| scene.place(unit)).collect();
    for _ in 0..2 * RATE {
        scene.go(&units, Vec2::from_ints(20, 0));
        scene.step();
    }
    for (&unit, start) in units.iter().zip(starts) {
        assert!(scene.place(unit).distance(start) > Fx::ONE, "{unit:?} stands at {start:?}");
    }
}

#[test]
fn an_order_takes_the_fields_of_those_whom_it_sends_elsewhere() {
    let mut scene = Scene::of(open_world(), usual(HALF).fields_max(1));
    let units = [-5, 0, 5, 10].map(|x| scene.add(Vec2::from_ints(x, 0)));
    let goals = [Vec2::from_ints(20, 20), Vec2::from_ints(20, -20)];
    scene.go(&units, goals[0]);
    scene.step();
    let refused = scene.crowd.order(&scene.world, &units[..2], &Order::go(goals[1]));
    assert_eq!(refused, Err(MoveError::Flow(FlowError::TooMany { max: 1 })), "the others use it");
    scene.go(&units, goals[1]);
    for _ in 0..30 * RATE {
        scene.step();
    }
    assert_eq!(scene.arrived.len(), 4);
}

/// Of two units with a field one is gone. A group was refused, because the other unit used the only field.
#[test]
fn an_order_takes_the_field_of_a_single_unit() {
    let mut world = open_world();
    house(&mut world, Vec2::ZERO, Vec2::from_ints(1, 12));
    let mut scene = Scene::of(world, usual(HALF).fields_max(1));
    let units = [-9, -7, -5, -3].map(|y| scene.add(Vec2::from_ints(-8, y)));
    scene.go(&units[..2], Vec2::from_ints(10, 0));
    (0..RATE).for_each(|_| scene.step());
    scene.world.remove_body(units[1]).unwrap();
    scene.step();
    scene.go(&units[2..], Vec2::from_ints(10, 5));
    (0..30 * RATE).for_each(|_| scene.step());
    assert_eq!(scene.arrived.len(), 3);
}

/// A unit on its way in a cage that nobody told the crowd of.
pub(crate) fn caged() -> (Scene, BodyId) {
    let mut scene = Scene::new(open_world(), 24);
    let unit = scene.add(Vec2::from_ints(0, 0));
    scene.go(&[unit], Vec2::from_ints(18, 0));
    for (x, y, half_x, half_y) in [(2, 0, 1, 3), (-2, 0, 1, 3), (0, 2, 3, 1), (0, -2, 3, 1)] {
        house(&mut scene.world, Vec2::from_ints(x, y), Vec2::from_ints(half_x, half_y));
    }
    (scene, unit)
}

/// Its higher rank became its own, and one more each time.
#[test]
fn a_unit_that_is_added_again_while_it_pushes_keeps_its_own_rank() {
    let (mut scene, unit) = caged();
    let rank = |scene: &Scene| scene.world.body(unit).unwrap().dominance();
    while rank(&scene) == 0 {
        scene.step();
        assert!(scene.frame < 10 * RATE, "it never pushes");
    }
    scene.crowd.add(&scene.world, unit, MoverDef::default()).unwrap();
    (0..RATE).for_each(|_| scene.step());
    assert_eq!(rank(&scene), 0);
}

#[test]
fn a_unit_that_is_walled_in_gives_up_in_time() {
    let (mut scene, _) = caged();
    scene.play(GIVE_UP_MS / 1_000 + 2);
    assert_eq!(scene.gave_up.len(), 1);
}

/// A wall across the field with a door, so many tenths of a diameter wide.
fn world_with_a_door(tenths: i32) -> World {
    let mut world = open_world();
    let (half, jamb) = (Fx::from_num(tenths) / 20, Fx::from_num(40));
    for side in [-1, 1] {
        house(&mut world, Vec2::new(Fx::ZERO, (half + jamb) * side), Vec2::new(Fx::ONE / 2, jamb));
    }
    world
}

/// Whoever was pushed beside the door went straight on, into the wall, and all waited for those in front: 250 s for a door of 15 tenths.
#[test]
fn three_hundred_of_one_order_go_through_a_door() {
    for tenths in [11, 15] {
        let mut scene = Scene::new(world_with_a_door(tenths), 64);
        let start = |n| Vec2::from_ints(-8 - n % 15 * 2, n / 15 * 2 - 19);
        let units: Vec<BodyId> = (0..300).map(|n| scene.add(start(n))).collect();
        scene.go(&units, Vec2::from_ints(40, 0));
        let through = |scene: &Scene| units.iter().filter(|&&unit| scene.place(unit).x > Fx::ONE).count();
        while through(&scene) < units.len() {
            scene.step();
            // One after the other each takes a third of a second.
            assert!(scene.frame < 225 * RATE, "{tenths} tenths: {} of 300 are through", through(&scene));
        }
        println!("{tenths} tenths: through after {} s", scene.frame / RATE);
    }
}

#[test]
fn a_crowd_goes_through_a_narrow_door() {
    for tenths in [11, 12, 16, 30] {
        let mut scene = Scene::new(world_with_a_door(tenths), 24);
        let units = scene.block([-16, -6], 10, 100);
        scene.go(&units, Vec2::from_ints(12, 0));
        scene.play(180);
        println!("door of {tenths} tenths: {} s", scene.frame / RATE);
        assert_eq!(scene.arrived.len(), 100, "door of {tenths} tenths");
        assert!(units.iter().all(|&unit| scene.place(unit).x > Fx::ZERO), "door of {tenths} tenths");
    }
}
