//! Formations on their way: they split at houses and join behind them, and two of them give way to each other.
//!
//! `MOVEMENT_SCENES=300 cargo test --release -p testudo-tests --test movement formations -- --nocapture` plays more scenes and prints pictures;
//! `MOVEMENT_SEED` names the first one.

use testudo_movement::{Formation, Order, places};
use testudo_physics::{Angle, BodyId, BodyKind, Fx, Pcg32, QueryFilter, Vec2, World};

use crate::scene::{RATE, Scene, house, open_world};
use crate::truths::scenes;

/// Half the side of the map, and the units of a formation: five rows of ten.
const HALF: i32 = 24;
const COUNT: usize = 50;
const ROWS: Formation = Formation::Rows { files: 10 };

/// Units further than this from all others of a part belong to another part.
const GAP: Fx = Fx::const_from_int(3);

/// A unit that has arrived is at most this far from its place: a quarter of its radius, and what its neighbours push.
const OFF: Fx = Fx::lit("0.25");

/// One that stands beside the rows is a neighbour's distance from a place that is empty, and what its neighbours push.
const BESIDE: Fx = Fx::lit("1.375");

/// The places of a formation.
fn wanted(scene: &Scene, goal: Vec2, facing: Angle) -> Vec<Vec2> {
    let ground = scene.crowd.ground();
    let size = ground.size_of(Fx::ONE / 2).unwrap();
    places(ground, size, goal, (ROWS, facing), Fx::ONE * 9 / 8, COUNT as u32).unwrap()
}

/// Units in rows, which face along the x axis.
fn block(scene: &mut Scene, middle: Vec2) -> Vec<BodyId> {
    let unit = |number: i32| {
        let [rank, file] = [number / 10, number % 10].map(Fx::from_num);
        middle + Vec2::new((rank - Fx::from_num(2)) * 9 / 8, (file - Fx::lit("4.5")) * 9 / 8)
    };
    (0..COUNT as i32).map(|number| scene.add(unit(number))).collect()
}

fn at(scene: &Scene, units: &[BodyId]) -> Vec<Vec2> {
    units.iter().map(|&unit| scene.place(unit)).collect()
}

/// Into how many parts a group is split, and how many units the smallest one has.
fn parts(points: &[Vec2]) -> (usize, usize) {
    let mut left = points.to_vec();
    let mut sizes = Vec::new();
    while let Some(first) = left.pop() {
        let mut part = vec![first];
        let mut next = 0;
        while next < part.len() {
            let from = part[next];
            let (near, far): (Vec<_>, Vec<_>) = left.iter().partition(|other| other.distance(from) < GAP);
            part.extend(near);
            left = far;
            next += 1;
        }
        sizes.push(part.len());
    }
    (sizes.len(), sizes.iter().copied().min().unwrap_or(0))
}

/// Greatest distance of a unit from the middle of its group.
fn spread(points: &[Vec2]) -> Fx {
    let sum = points.iter().fold(Vec2::ZERO, |sum, &point| sum + point);
    let count = points.len() as i64;
    let middle = Vec2::new(sum.x / count, sum.y / count);
    points.iter().map(|point| point.distance(middle)).max().unwrap_or(Fx::ZERO)
}

/// How far the place that is filled worst is from the unit that is nearest to it.
fn worst_place(wanted: &[Vec2], points: &[Vec2]) -> Fx {
    let nearest = |place: &Vec2| points.iter().map(|point| point.distance(*place)).min().unwrap();
    wanted.iter().map(nearest).max().unwrap()
}

/// A picture in letters: houses, and the units of two groups.
fn picture(scene: &Scene, groups: [&[BodyId]; 2]) -> String {
    let walls = QueryFilter::new().only(BodyKind::Static);
    let mut text = String::new();
    for row in (-14..14).rev() {
        let mut line = String::new();
        for column in -HALF..HALF {
            let middle = Vec2::from_ints(column, row) + Vec2::new(Fx::ONE / 2, Fx::ONE / 2);
            let is_here = |unit: &&BodyId| {
                let away = scene.place(**unit) - middle;
                away.x.abs().max(away.y.abs()) <= Fx::ONE / 2
            };
            let mut near = Vec::new();
            scene.world.nearest(middle, 1, Fx::ONE, &walls, &mut near).unwrap();
            let is_wall = near.first().is_some_and(|&(_, distance)| distance <= Fx::ZERO);
            let letters = [('#', is_wall), ('o', groups[0].iter().any(|unit| is_here(&unit)))];
            let other = ('x', groups[1].iter().any(|unit| is_here(&unit)));
            let letter = letters.into_iter().chain([other]).find(|letter| letter.1);
            line.push(letter.map_or(' ', |letter| letter.0));
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// What became of a formation.
#[derive(Debug)]
struct March {
    arrived: usize,
    seconds: u32,
    most_parts: usize,
    spread_most: Fx,
    spread_at_end: Fx,
    worst_place: Fx,
}

/// Sends a formation through a world with houses, along the x axis.
fn march(world: World, is_shown: bool) -> March {
    let mut scene = Scene::new(world, HALF);
    let units = block(&mut scene, Vec2::from_ints(-19, 0));
    let goal = Vec2::from_ints(18, 0);
    let order = Order::go(goal).formation(ROWS, Angle::ZERO).together(true);
    scene.crowd.order(&scene.world, &units, &order).unwrap();
    let (mut most_parts, mut spread_most, mut frames) = (1, Fx::ZERO, 0);
    while frames < 90 * RATE && units.iter().any(|&unit| scene.crowd.is_going(unit) == Some(true)) {
        scene.step();
        let points = at(&scene, &units);
        let (parts, smallest) = parts(&points);
        // A few that lag behind are no part.
        most_parts = most_parts.max(if smallest >= 5 { parts } else { 1 });
        spread_most = spread_most.max(spread(&points));
        frames += 1;
        if is_shown && frames % (4 * RATE) == 0 {
            println!("After {} s:\n{}", frames / RATE, picture(&scene, [&units, &[]]));
        }
    }
    (0..RATE).for_each(|_| scene.step());
    let points = at(&scene, &units);
    March {
        arrived: scene.arrived.len(),
        seconds: frames / RATE,
        most_parts,
        spread_most,
        spread_at_end: spread(&points),
        worst_place: worst_place(&wanted(&scene, goal, Angle::ZERO), &points),
    }
}

#[test]
fn a_formation_splits_at_a_house_and_joins_behind_it() {
    let mut world = open_world();
    house(&mut world, Vec2::ZERO, Vec2::from_ints(3, 4));
    let march = march(world, scenes().0 > 10);
    println!("{march:?}");
    assert_eq!(march.arrived, COUNT);
    assert!(march.seconds < 40 && march.spread_at_end < Fx::from_num(7), "{march:?}");
    assert_eq!(march.most_parts, 2, "both sides of the house are as near");
    assert!(march.worst_place <= OFF, "{march:?}");
}

#[test]
fn formations_pass_fields_of_houses_and_stand_in_rows_again() {
    let (count, first) = scenes();
    let (mut split, mut exact, mut spreads) = (0, 0, Fx::ZERO);
    for seed in first..first + count {
        let mut world = open_world();
        let mut rng = Pcg32::new(seed, 12);
        for _ in 0..12 {
            let mut part = |low: i32, high: i32| low + rng.below((high - low + 1) as u32) as i32;
            let (middle, half) = ([part(-9, 6), part(-12, 12)], [part(1, 2), part(1, 3)]);
            house(&mut world, Vec2::from_ints(middle[0], middle[1]), Vec2::from_ints(half[0], half[1]));
        }
        let march = march(world, false);
        assert_eq!(march.arrived, COUNT, "seed {seed}: {march:?}");
        assert!(march.worst_place <= BESIDE, "seed {seed}: {march:?}");
        split += u32::from(march.most_parts > 1);
        exact += u32::from(march.worst_place <= OFF);
        spreads = spreads.max(march.spread_most);
        if count > 10 || march.worst_place > OFF {
            println!("{seed}: {march:?}");
        }
    }
    println!("{count} formations: {split} were split, {exact} stand exactly, spread at most {spreads}");
    assert!(split > 0, "not interesting");
    // In the others one unit or two stand beside the rows: the README says how often.
    assert!(u64::from(exact) * 10 >= count * 9, "seeds from {first}");
}

#[test]
fn two_formations_give_way_to_each_other() {
    let mut scene = Scene::new(open_world(), HALF);
    let (one, two) = (block(&mut scene, Vec2::from_ints(-18, 0)), block(&mut scene, Vec2::from_ints(18, 0)));
    let goals = [(Vec2::from_ints(18, 0), Angle::ZERO), (Vec2::from_ints(-18, 0), Angle::from_degrees(180))];
    for (units, (goal, facing)) in [&one, &two].into_iter().zip(goals) {
        let order = Order::go(goal).formation(ROWS, facing).together(true);
        scene.crowd.order(&scene.world, units, &order).unwrap();
    }
    let all: Vec<BodyId> = one.iter().chain(&two).copied().collect();
    let mut frames = 0;
    while frames < 90 * RATE && all.iter().any(|&unit| scene.crowd.is_going(unit) == Some(true)) {
        scene.step();
        frames += 1;
        if scenes().0 > 10 && frames % (4 * RATE) == 0 {
            println!("After {} s:\n{}", frames / RATE, picture(&scene, [&one, &two]));
        }
    }
    (0..RATE).for_each(|_| scene.step());
    let worst = [&one, &two]
        .into_iter()
        .zip(goals)
        .map(|(units, (goal, facing))| worst_place(&wanted(&scene, goal, facing), &at(&scene, units)));
    let worst = worst.max().unwrap();
    println!("{} arrived after {} s, worst place {worst}", scene.arrived.len(), frames / RATE);
    assert_eq!(scene.arrived.len(), 2 * COUNT);
    assert!(worst <= OFF, "{worst}");
}

/// In a great crowd those that go back to their exact places are in the way of those that still come.
#[test]
fn units_go_back_to_exact_places_only_in_rows() {
    for formation in [Formation::Disc, ROWS] {
        let mut scene = Scene::new(open_world(), HALF);
        let units = block(&mut scene, Vec2::from_ints(-18, 0));
        let order = Order::go(Vec2::ZERO).formation(formation, Angle::ZERO);
        scene.crowd.order(&scene.world, &units, &order).unwrap();
        (0..40 * RATE).for_each(|_| scene.step());
        let (unit, place) = units.iter().copied().zip(at(&scene, &units)).max_by_key(|at| at.1.x).unwrap();
        scene.world.set_position(unit, place + Vec2::new(Fx::lit("0.75"), Fx::ZERO)).unwrap();
        (0..5 * RATE).for_each(|_| scene.step());
        let off = at(&scene, &[unit])[0].distance(place);
        println!("{formation:?}: {off} from its place");
        assert_eq!(off <= OFF, formation == ROWS, "{formation:?}: {off}");
    }
}
