//! Saved crowds: a match that is restored in every turn goes on with the same bits.

use std::ops::Range;

use testudo_movement::{
    Crowd, CrowdDef, FlowError, Formation, GroundDef, MoveError, MoveEvent, MoverDef, Order, StateError,
};
use testudo_physics::{Aabb, Angle, BodyId, BodyKind, Filter, Fx, QueryFilter, Vec2, World};
use testudo_tests::cases::share;

use crate::maps::{HALF, Kind, draw, square};
use crate::scene::{Scene, open_world};

fn def() -> CrowdDef {
    def_of(HALF)
}

fn def_of(half: i32) -> CrowdDef {
    CrowdDef::new(GroundDef::new(square(half)).sizes(&[Fx::lit("0.4"), Fx::lit("0.7")]))
        .fields_max(6)
        .cells_per_frame(400)
}

/// Units on a map.
pub(crate) fn scene(kind: Kind, seed: u64) -> Scene {
    people(draw(kind, seed), HALF)
}

/// Forty units of two sizes, and a swamp.
fn people(world: World, half: i32) -> Scene {
    let mut scene = Scene::of(world, def_of(half));
    let swamp = Aabb::from_corners(Vec2::from_ints(-4, -9), Vec2::from_ints(3, 2));
    scene.crowd.set_cost(&scene.world, swamp, 3).unwrap();
    let size = scene.crowd.ground().size_of(Fx::lit("0.7")).unwrap();
    for i in 0..400_i32 {
        let at = Vec2::from_ints(i % 20 * 3 / 2 - 15, i / 20 * 3 / 2 - 15);
        if scene.crowd.ground().is_open(at, size) && scene.units.len() < 40 {
            let radius = if i % 2 == 0 { Fx::lit("0.4") } else { Fx::lit("0.7") };
            scene.add_disc(radius, at, MoverDef { speed: Fx::from_num(2 + i % 3), ..MoverDef::default() });
        }
    }
    scene
}

/// What happens in a frame of the scenes here.
pub(crate) fn play(frame: u32, scene: &mut Scene) {
    let units = scene.units.clone();
    if frame.is_multiple_of(40) {
        let goals = [Vec2::from_ints(12, 11), Vec2::from_ints(-12, 10), Vec2::from_ints(1, -13)];
        let goal = goals[frame as usize / 40 % 3];
        let half = units.len() / 2;
        let chosen = if frame.is_multiple_of(80) { &units[..half] } else { &units[half..] };
        let order = Order::go(goal).together(frame.is_multiple_of(3));
        let rows = Formation::Rows { files: 5 };
        let in_rows = goal.x < Fx::ZERO;
        let order = if in_rows { order.formation(rows, Angle::ZERO) } else { order };
        let told = scene.crowd.order(&scene.world, chosen, &order);
        assert!(matches!(told, Ok(()) | Err(MoveError::Flow(FlowError::TooMany { .. }))), "{told:?}");
    }
    if frame % 10 < 4 {
        // Some go alone.
        let unit = units[frame as usize * 7 % units.len()];
        let goal = Vec2::from_ints((frame * 11 % 28) as i32 - 14, (frame * 17 % 28) as i32 - 14);
        scene.go(&[unit], goal);
    }
    if frame == 30 || frame == 70 {
        scene.build(Vec2::from_ints(0, frame as i32 / 10 - 4), Vec2::from_ints(2, 1));
    }
    if frame == 48 || frame == 88 {
        // On the goal of the one that was sent alone five frames ago.
        let sent = frame - 5;
        let goal = Vec2::from_ints((sent * 11 % 28) as i32 - 14, (sent * 17 % 28) as i32 - 14);
        scene.build(goal, Vec2::from_ints(2, 2));
    }
    scene.step();
}

#[test]
fn a_match_restored_in_every_turn_goes_on_with_the_same_bits() {
    for (kind, seed) in [(Kind::Rocks, 5), (Kind::Rooms, 6), (Kind::Cave, 7)] {
        let mut scene = scene(kind, seed);
        let mut copy = scene.clone();
        for frame in 0..160 {
            play(frame, &mut scene);
            play(frame, &mut copy);
            scene.assert_same(&copy, format!("{kind:?} frame {frame}"));
            copy = scene.restored();
        }
        let going = scene.units.iter().filter(|&&unit| scene.crowd.is_going(unit) == Some(true)).count();
        assert!(going > 5, "{kind:?}: only {going} are on their way at the end");
    }
}

/// Units pursue each other on a map, or in the open.
pub(crate) fn chase(kind: Option<Kind>, seed: u64) -> Scene {
    let (world, half) = match kind {
        Some(kind) => (draw(kind, seed), HALF),
        None => (open_world(), 4 * HALF),
    };
    let mut scene = people(world, half);
    let units = scene.units.clone();
    for (n, &unit) in units.iter().enumerate() {
        let prey = units[(n * 7 + 20) % units.len()];
        if unit != prey {
            scene.pursue(unit, prey, Fx::ONE / 2);
        }
    }
    scene
}

/// A frame of such a scene: some get another prey, and some run away.
pub(crate) fn run(frame: u32, scene: &mut Scene) {
    let units = scene.units.clone();
    let count = units.len();
    if frame.is_multiple_of(9) {
        let [unit, prey] = [frame as usize * 5 % count, frame as usize * 3 % count];
        if unit != prey {
            scene.pursue(units[unit], units[prey], Fx::from_num(frame % 4));
        }
    }
    if frame % 6 == 1 {
        let goal = Vec2::from_ints((frame * 13 % 28) as i32 - 14, (frame * 5 % 28) as i32 - 14);
        scene.crowd.send(units[frame as usize * 11 % count], goal, goal).unwrap();
    }
    let has_walls = scene.world.bodies().any(|body| body.kind() == BodyKind::Static);
    if frame == 60 && has_walls {
        scene.build(Vec2::from_ints(3, 3), Vec2::from_ints(2, 1));
    }
    scene.step();
}

#[test]
fn pursuers_on_their_ways_around_walls_restored_in_every_turn_go_on_with_the_same_bits() {
    let (mut around, mut waiting, mut owing) = (0, 0, 0);
    for kind in [Kind::Rooms, Kind::Cave] {
        let mut scene = chase(Some(kind), 4);
        let mut copy = scene.clone();
        for frame in 0..160 {
            run(frame, &mut scene);
            run(frame, &mut copy);
            scene.assert_same(&copy, format!("{kind:?} frame {frame}"));
            copy = scene.restored();
            let mut pursues = false;
            scene.crowd.visit_numbers(&mut |number| match number.name {
                "task" => pursues = number.value == 3,
                "aim.x" => around += i32::from(pursues),
                "waits_ms" => waiting += i32::from(number.value > 0),
                "paths_debt" => owing += i32::from(number.value > 0),
                _ => {}
            });
        }
    }
    println!("{around} units on their ways around, {waiting} that wait, {owing} frames in debt");
    assert!(around > 1_000 && waiting > 100 && owing > 50, "{around} {waiting} {owing}: not interesting");
}

#[test]
fn damaged_bytes_are_refused_or_play_on() {
    let mut played = scene(Kind::Rocks, 8);
    (0..30).for_each(|frame| play(frame, &mut played));
    damage(&played, 0..played.saved().len(), 5, share(500) / 5);
    let mut chased = chase(Some(Kind::Rooms), 4);
    (0..40).for_each(|frame| run(frame, &mut chased));
    damage(&chased, 0..chased.saved().len(), 29, share(500) / 29);
}

/// Flips a bit in some of the bytes of a saved crowd: they are refused, or the crowd plays on.
pub(crate) fn damage(scene: &Scene, part: Range<usize>, every: usize, least: u64) {
    let bytes = scene.saved();
    let (mut refused, mut taken) = (0_u64, 0);
    for at in part.step_by((every * 4 / share(4) as usize) | 1) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        match scene.load(&damaged) {
            Err(_) => refused += 1,
            Ok(crowd) => {
                taken += 1;
                let mut other = scene.clone();
                other.crowd = crowd;
                (0..3).for_each(|_| other.step());
            }
        }
        assert!(scene.load(&bytes[..at]).is_err());
    }
    assert!(refused > least && taken > least, "{refused} {taken}: not interesting");
}

/// A pause longer than any that a search makes would leave a unit standing.
#[test]
fn a_pause_of_a_pursuer_that_is_too_long_is_refused() {
    let mut scene = chase(Some(Kind::Rooms), 4);
    let mut pause = None;
    let mut frame = 0;
    while pause.is_none() && frame < 160 {
        frame += 1;
        run(frame, &mut scene);
        scene.crowd.visit_numbers(&mut |number| {
            if number.name == "waits_ms" && number.value > 0 {
                pause = Some(number.at as usize);
            }
        });
    }
    let (at, bytes) = (pause.expect("somebody waits"), scene.saved());
    for (ms, is_fine) in [(3_000_u16, true), (3_001, false), (u16::MAX, false)] {
        let mut damaged = bytes.clone();
        damaged[at..at + 2].copy_from_slice(&ms.to_le_bytes());
        assert_eq!(scene.load(&damaged).is_ok(), is_fine, "{ms}");
    }
    // Nobody waits who has not failed.
    let mut damaged = bytes;
    damaged[at - 1] = 0;
    assert!(scene.load(&damaged).is_err());
}

/// A greater debt would leave no cells for paths for days.
#[test]
fn a_debt_of_paths_above_the_longest_search_is_refused() {
    let scene = scene(Kind::Rocks, 8);
    let owing = |cells: u32| {
        let mut bytes = scene.saved();
        // After the version, the definition, the survey, the number of orders and the frame.
        bytes[25..29].copy_from_slice(&cells.to_le_bytes());
        scene.load(&bytes)
    };
    // All 400 cells of a frame, each counted eight times.
    assert!(owing(3_199).is_ok() && owing(3_200).is_ok());
    for cells in [3_201, u32::MAX] {
        let refused = owing(cells).unwrap_err();
        assert!(refused.to_string().contains("debt"), "{refused}");
    }
}

/// Neighbours are looked for as far as the largest unit's size says.
#[test]
fn a_unit_that_is_larger_than_its_size_is_refused() {
    let scene = scene(Kind::Rocks, 8);
    let mut radius = None;
    scene.crowd.visit_numbers(&mut |number| radius = radius.or((number.name == "radius").then_some(number)));
    let radius = radius.unwrap();
    for (value, is_fine) in [(radius.value as u32, true), (Fx::ONE.to_bits() as u32, false)] {
        let mut bytes = scene.saved();
        bytes[radius.at as usize..][..4].copy_from_slice(&value.to_le_bytes());
        let loaded = scene.load(&bytes);
        assert_eq!(loaded.is_ok(), is_fine, "{value}");
        assert!(loaded.err().is_none_or(|refused| refused.to_string().contains("radius")), "{value}");
    }
}

/// It was taken, and the two went on with other bits some frames later.
#[test]
fn a_crowd_that_was_saved_with_another_definition_is_refused_and_has_another_checksum() {
    let ground = || GroundDef::new(square(HALF)).sizes(&[Fx::lit("0.4"), Fx::lit("0.7")]);
    let with = |ground| CrowdDef::new(ground).fields_max(6).cells_per_frame(400);
    let layer = |layers| QueryFilter::new().only(BodyKind::Static).filter(Filter::new(layers, 7));
    let all = [
        def(),
        def().fields_max(7),
        def().cells_per_frame(401),
        def().whole_up_to(10),
        def().slow_ground(true),
        with(GroundDef::new(square(HALF)).sizes(&[Fx::lit("0.4"), Fx::lit("0.8")])),
        with(ground().sizes(&[Fx::lit("0.7")])),
        with(ground().cell(Fx::ONE / 2)),
        with(GroundDef::new(square(HALF + 1)).sizes(&[Fx::lit("0.4"), Fx::lit("0.7")])),
        with(ground().obstacles(QueryFilter::new())),
        with(ground().obstacles(layer(1))),
        with(ground().obstacles(layer(2))),
    ];
    let world = open_world();
    let crowds: Vec<Crowd> = all.iter().map(|def| Crowd::new(def).unwrap()).collect();
    for (n, crowd) in crowds.iter().enumerate() {
        let mut bytes = Vec::new();
        crowd.save(&mut bytes);
        for (m, def) in all.iter().enumerate() {
            let loaded = Crowd::load(def, &world, &bytes);
            let refused = loaded.as_ref().err();
            assert_eq!(refused, (n != m).then_some(&StateError::OtherDefinition), "{n} with {m}");
            assert_eq!(crowd.checksum() == crowds[m].checksum(), n == m, "{n} and {m}");
            assert!(loaded.is_ok_and(|loaded| loaded.checksum() == crowd.checksum()) || n != m);
        }
    }
    let mut copy = crowds[0].clone();
    copy.clone_from(&crowds[1]);
    assert_eq!(copy.checksum(), crowds[1].checksum());
}

/// Nobody was told of units whose slots others took before the next step.
#[test]
fn a_unit_whose_slot_is_taken_at_once_is_reported_gone() {
    let mut scene = scene(Kind::Rocks, 12);
    let fallen = scene.units[1];
    let mut gone = vec![fallen];
    scene.world.remove_body(fallen).unwrap();
    for _ in 0..2 {
        let recruit = scene.add_disc(Fx::lit("0.4"), Vec2::from_ints(-14, 14), MoverDef::default());
        assert_eq!(recruit.index(), fallen.index());
        scene.world.remove_body(recruit).unwrap();
        gone.push(recruit);
    }
    let mut loaded = scene.restored();
    assert_eq!(loaded.crowd.checksum(), scene.crowd.checksum());
    for scene in [&mut scene, &mut loaded] {
        scene.step();
        assert_eq!(scene.crowd.events(), gone.iter().copied().map(MoveEvent::Gone).collect::<Vec<_>>());
        scene.step();
        assert_eq!(scene.crowd.events(), []);
    }
    loaded.assert_same(&scene, "at the end");
}

/// Units fall and recruits come, some in the slots of the fallen: a crowd with gaps goes on as one that was restored and has none. Its checksum does not depend
/// on which units were hashed already.
#[test]
fn gaps_of_the_fallen_change_nothing() {
    let mut scene = scene(Kind::Rocks, 9);
    let recruit = |scene: &mut Scene, at: Vec2| scene.add_disc(Fx::lit("0.4"), at, MoverDef::default());
    for n in 0..300 {
        let at = Vec2::new(Fx::from_num(n % 20) - Fx::from_num(10), Fx::from_num(n / 20) - Fx::from_num(7));
        recruit(&mut scene, at);
    }
    let (mut copy, mut units) = (scene.clone(), scene.units.clone());
    let mut gone = 0;
    for frame in 0..90_usize {
        let fallen: Vec<BodyId> =
            (0..3).map(|n| units.swap_remove((frame * 7 + n * 50) % units.len())).collect();
        for scene in [&mut scene, &mut copy] {
            let Scene { world, crowd, .. } = &mut *scene;
            // One leaves the crowd and stays in the world as an obstacle.
            assert!(
                crowd.remove(world, fallen[0])
                    && !crowd.remove(world, fallen[0])
                    && crowd.is_going(fallen[0]).is_none()
            );
            world.remove_body(fallen[1]).unwrap();
            scene.go(&units[frame % 50..frame % 50 + 9], Vec2::from_ints(9, -9));
            scene.world.remove_body(fallen[2]).unwrap();
            if frame.is_multiple_of(2) {
                recruit(scene, Vec2::from_ints(-14, 14));
            }
            scene.step();
        }
        gone += scene.crowd.events().len();
        assert_eq!(scene.crowd.checksum(), copy.crowd.checksum(), "frame {frame}");
        scene.crowd.hash_units();
        assert_eq!(scene.crowd.checksum(), copy.crowd.checksum(), "frame {frame}");
        scene.assert_same(&copy, format!("frame {frame}"));
        copy.crowd = scene.load(&scene.saved()).unwrap();
        for unit in &units {
            let posts = [&scene, &copy].map(|scene| scene.crowd.post(*unit));
            assert_eq!((posts[0], scene.crowd.post(fallen[1])), (posts[1], None), "frame {frame}");
        }
    }
    assert!(gone > 100, "{gone} events");
}
