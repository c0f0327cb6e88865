//! Rays and sweeps at the ends, along the lines and behind the backs of terrain.

use testudo_physics::{
    BodyDef, ChainDef, Fx, Pcg32, PolygonDef, QueryFilter, Shape, SweepHit, Vec2, World, WorldDef,
};

fn raw(x: i64, y: i64) -> Vec2 {
    Vec2::new(Fx::from_bits(x), Fx::from_bits(y))
}

/// A place in a square of 8 units.
fn place(rng: &mut Pcg32) -> Vec2 {
    raw(i64::from(rng.below(1 << 19)), i64::from(rng.below(1 << 19)))
}

/// A few raw units beside a point.
fn beside(rng: &mut Pcg32, point: Vec2) -> Vec2 {
    let mut near = || Fx::from_bits(i64::from(rng.below(5)) - 2);
    Vec2::new(point.x + near(), point.y + near())
}

/// Boxes in trees are larger than those that a world without trees looked at: there, rays missed what they meet a raw unit beyond its end.
#[test]
fn rays_at_the_ends_of_terrain_do_not_depend_on_what_happened_before() {
    let rng = &mut Pcg32::new(47, 1);
    let everything = QueryFilter::new();
    let (mut hits, mut misses) = (0, 0);
    for _ in 0..40 {
        let corners: Vec<Vec2> = (0..4).map(|_| place(rng)).collect();
        // Points along an axis, at whose ends no other edge begins.
        let line = [corners[0], Vec2::new(corners[0].x + Fx::ONE, corners[0].y)];
        let mut new = World::new(WorldDef::new()).unwrap();
        new.create_chain(&ChainDef::new(&corners)).unwrap();
        new.create_chain(&ChainDef::new(&line)).unwrap();
        let wedge = [line[0], line[1], Vec2::new(line[1].x, line[1].y + Fx::ONE)];
        new.create_polygon(&PolygonDef::new(&wedge)).unwrap();
        let mut stepped = new.clone();
        stepped.step(30).unwrap();
        let mut bytes = Vec::new();
        stepped.snapshot(&mut bytes);
        let loaded = World::from_bytes(&bytes).unwrap();
        for _ in 0..200 {
            let end = [corners[0], corners[3], line[1], wedge[2]][rng.below(4) as usize];
            let at = beside(rng, end);
            // Past the end, most of them along an axis.
            let (from, to) = match rng.below(3) {
                0 => (Vec2::new(at.x, at.y - Fx::ONE), Vec2::new(at.x, at.y + Fx::ONE)),
                1 => (Vec2::new(at.x + Fx::ONE, at.y), Vec2::new(at.x - Fx::ONE, at.y)),
                _ => (at, place(rng)),
            };
            let half = Vec2::new(Fx::from_bits(i64::from(rng.below(1 << 14))), Fx::ZERO);
            let answers = [&new, &stepped, &loaded].map(|world| {
                let (mut all, mut swept) = (vec![], vec![]);
                world.ray_cast_all(from, to, &everything, &mut all).unwrap();
                world.sweep_all(Shape::rect(half.x, half.y), from, to, &everything, &mut swept).unwrap();
                (all, swept)
            });
            assert_eq!(answers[0], answers[1], "{corners:?} from {from:?} to {to:?}");
            assert_eq!(answers[2], answers[1], "{corners:?} from {from:?} to {to:?}");
            *(if answers[0].0.is_empty() { &mut misses } else { &mut hits }) += 1;
        }
    }
    assert!(hits > 1_000 && misses > 500, "{hits} {misses}");
}

/// A path along the line of a segment crosses it nowhere: rays went through.
#[test]
fn a_path_along_the_line_of_a_segment_meets_its_end() {
    let everything = QueryFilter::new();
    for direction in [[1, 0], [0, 1], [1, 1], [3, -2], [-5, 7]].map(|[x, y]| Vec2::from_ints(x, y)) {
        for reversed in [false, true] {
            let mut ends = [Vec2::ZERO, direction * Fx::from_num(4)];
            let [near, far] = ends;
            if reversed {
                ends.reverse();
            }
            let mut world = World::new(WorldDef::new()).unwrap();
            let fence = world.create_chain(&ChainDef::new(&ends)).unwrap()[0];
            let ray = |from: Vec2, to: Vec2| world.ray_cast(from, to, &everything).unwrap();
            // From one end, from the other, and as far as the end or the middle.
            let (before, behind) = (-direction, direction * Fx::from_num(7));
            for (from, to, met) in [
                (before, behind, near),
                (behind, before, far),
                (before, near, near),
                (before, direction, near),
                (behind, direction, far),
            ] {
                let hit = ray(from, to).unwrap_or_else(|| panic!("no hit from {from:?} to {to:?}"));
                assert_eq!((hit.body, hit.point), (fence, met), "from {from:?} to {to:?}");
                let back = (from - met).normalize();
                assert!((hit.normal - back).length() < Fx::from_bits(8), "{hit:?} {back:?}");
                let length = (met - from).length();
                assert!((hit.distance - length).abs() <= Fx::from_bits(3), "{hit:?}, not {length}");
                let point = Shape::rect(Fx::ZERO, Fx::ZERO);
                let swept = world.sweep(point, from, to, &everything).unwrap().unwrap();
                assert_eq!((swept.position, swept.point, swept.normal), (met, met, hit.normal));
            }
            let inside = ray(direction, behind).unwrap();
            assert_eq!((inside.point, inside.normal), (direction, Vec2::ZERO));
            // Short of it, away from it, and a raw unit beside its line.
            assert_eq!(ray(before, before * (Fx::ONE / 8)), None);
            assert_eq!(ray(before, before * Fx::from_num(3)), None);
            let aside = Vec2::new(direction.y, -direction.x) * Fx::from_bits(64);
            assert_eq!(ray(before + aside, behind + aside), None);
        }
    }
    // A plank without height slides along a floor to the next one.
    let mut world = World::new(WorldDef::new()).unwrap();
    world.create_chain(&ChainDef::new(&[Vec2::ZERO, Vec2::from_ints(4, 0)])).unwrap();
    let plank = Shape::rect(Fx::ONE, Fx::ZERO);
    let hit =
        world.sweep(plank, Vec2::from_ints(-5, 0), Vec2::from_ints(9, 0), &everything).unwrap().unwrap();
    assert_eq!((hit.position, hit.point), (Vec2::from_ints(-1, 0), Vec2::ZERO));
}

/// The bent fence: its first segment is met, and not the second.
#[test]
fn a_ray_along_the_first_segment_of_a_bent_chain_meets_that() {
    let mut world = World::new(WorldDef::new()).unwrap();
    let points = [(0, 0), (10, 0), (15, 5)].map(|(x, y)| Vec2::from_ints(x, y));
    let fence = world.create_chain(&ChainDef::new(&points)).unwrap();
    let everything = QueryFilter::new();
    let (from, to) = (Vec2::from_ints(-5, 0), Vec2::from_ints(15, 0));
    let hit = world.ray_cast(from, to, &everything).unwrap().unwrap();
    assert_eq!((hit.body, hit.point, hit.distance), (fence[0], Vec2::ZERO, Fx::from_num(5)));
    assert_eq!(hit.normal, Vec2::from_ints(-1, 0));
}

/// Where a ray meets a line, its point is on the line, or a raw unit to either side of it: half of the hits were taken for those of its back.
#[test]
fn rays_from_the_front_hit_one_sided_terrain() {
    let rng = &mut Pcg32::new(47, 4);
    let (usual, all) = (QueryFilter::new(), QueryFilter::new().both_sides());
    let (mut hits, mut passed) = (0, 0);
    for case in 0..2_000 {
        let start = place(rng);
        let end = match case % 3 {
            0 => place(rng),
            1 => Vec2::new(place(rng).x, start.y),
            _ => Vec2::new(start.x, place(rng).y),
        };
        let edge = [end.x - start.x, end.y - start.y].map(|c| i128::from(c.to_bits()));
        let mut world = World::new(WorldDef::new()).unwrap();
        if world.create_chain(&ChainDef::new(&[start, end]).one_sided(true)).is_err() {
            continue;
        }
        for _ in 0..4 {
            let (from, to) = (place(rng), place(rng));
            let way = [from.x - start.x, from.y - start.y].map(|c| i128::from(c.to_bits()));
            let is_in_front = way[0] * edge[1] - way[1] * edge[0] > 0;
            let ray = world.ray_cast(from, to, &all).unwrap();
            let found = world.ray_cast(from, to, &usual).unwrap();
            assert_eq!(found, ray.filter(|_| is_in_front), "case {case}: {from:?} to {to:?}");
            hits += u32::from(found.is_some());
            passed += u32::from(ray.is_some() && found.is_none());
        }
    }
    assert!(hits > 500 && passed > 500, "{hits} {passed}");
    let mut world = World::new(WorldDef::new()).unwrap();
    world.create_chain(&ChainDef::new(&[Vec2::ZERO, Vec2::from_ints(4, 0)]).one_sided(true)).unwrap();
    let flat = Shape::rect(Fx::ONE, Fx::ZERO);
    let hit = world.sweep(flat, Vec2::from_ints(2, -1), Vec2::from_ints(2, 1), &usual).unwrap();
    assert_eq!(hit.map(|hit| hit.distance), Some(Fx::ONE));
}

/// A sweep was stopped by the end of a one-sided segment, from behind.
#[test]
fn sweeps_pass_where_bodies_pass_one_sided_terrain() {
    let rng = &mut Pcg32::new(47, 3);
    let usual = QueryFilter::new();
    let (mut passed, mut stopped) = (0, 0);
    for case in 0..2_000 {
        let mut world = World::new(WorldDef::new().max_speed(Fx::from_num(1_000))).unwrap();
        let ends = [Vec2::ZERO, Vec2::from_ints(4, 0)];
        world.create_chain(&ChainDef::new(&ends).one_sided(true)).unwrap();
        let shape = match case % 2 {
            0 => Shape::circle(Fx::ONE),
            _ => Shape::rect(Fx::ONE, Fx::ONE / 2),
        };
        // In front is below.
        let offset = Vec2::from_ints(3, 5);
        let (from, to) = if case < 2 {
            (raw(-131_072, -6_554), raw(32_768, 78_643))
        } else {
            (place(rng) - offset, place(rng) - offset)
        };
        let hit = world.sweep(shape, from, to, &usual).unwrap();
        if from.y >= Fx::ZERO {
            assert_eq!(hit, None, "from behind");
            continue;
        }
        if hit.is_some_and(|hit| hit.distance == Fx::ZERO) || (to - from).length() < Fx::ONE {
            continue;
        }
        let body = BodyDef::dynamic(shape).position(from).velocity((to - from) * Fx::from_num(60));
        let body = world.create_body(&body).unwrap();
        world.step(60).unwrap();
        let end = world.body(body).unwrap().position();
        let free = (end - to).length() < Fx::ONE / 100;
        // Who comes to a stop just before the end may have arrived.
        let almost = hit.is_some_and(|hit: SweepHit| (hit.position - to).length() < Fx::ONE / 4);
        // A box beside the end, half of it behind the line, gets past if it does not come nearer. The query tells of the end.
        let sideways = case % 2 == 1 && hit.is_some_and(|hit| hit.normal.x.abs() > Fx::ONE / 2);
        assert!(
            free == hit.is_none() || almost || sideways,
            "{case}: {shape:?} from {from:?} to {to:?}, {end:?}, {hit:?}"
        );
        *(if free { &mut passed } else { &mut stopped }) += 1;
    }
    assert!(passed > 100 && stopped > 100, "{passed} {stopped}");
}
