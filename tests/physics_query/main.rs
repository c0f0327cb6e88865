//! Queries against brute force, in worlds with a history: bodies created, removed, moved by the game, changed, disabled and enabled, put to
//! sleep and woken, with steps in between.

mod history;
mod oracle;
mod terrain;

use history::{History, Scale};
use oracle::{Outline, Ray};
use testudo_physics::{
    Aabb, BodyDef, BodyKind, ChainDef, EXTENT_MAX, Filter, Fx, Pcg32, QUERY_MAX, QueryError, QueryFilter,
    RayHit, Shape, Vec2, World, WorldDef,
};

/// Worlds per test, each with a history of its own.
const WORLDS: u64 = 24;

/// Calls between two rounds of queries, and rounds per world.
const CALLS: u32 = 12;
const ROUNDS: u32 = 25;

/// Calls `ask` after every stretch of history; it returns how much it found. It must find something, or the test would prove nothing.
fn in_many_worlds(what: &str, mut ask: impl FnMut(&mut History) -> u32) {
    for scale in [Scale::Dense, Scale::Mixed, Scale::Wide] {
        let mut found = 0;
        for seed in 0..WORLDS {
            let mut history = History::new(seed, scale);
            for round in 0..ROUNDS {
                history.go_on(CALLS);
                let context = format!("{what}, {scale:?}, seed {seed}, round {round}");
                history.context = context;
                found += ask(&mut history);
            }
        }
        assert!(found > 500, "{what}, {scale:?}: only {found} answers in all");
    }
}

#[test]
fn areas() {
    in_many_worlds("area", |history| {
        let (area, filter) = (history.area(), history.filter());
        let (mut boxes, mut shapes) = (Vec::new(), Vec::new());
        history.world.query_area(area, &filter, &mut boxes);
        history.world.query_area_exact(area, &filter, &mut shapes);
        let expected: Vec<_> =
            history.all(&filter).filter(|(_, o)| o.box_overlaps(area)).map(|(id, _)| id).collect();
        assert_eq!(boxes, expected, "{}", history.context);
        let expected: Vec<_> =
            history.all(&filter).filter(|(_, o)| o.overlaps(area)).map(|(id, _)| id).collect();
        assert_eq!(shapes, expected, "{}", history.context);
        boxes.len() as u32
    });
}

#[test]
fn points() {
    in_many_worlds("point", |history| {
        let mut count = 0;
        for _ in 0..8 {
            let (point, filter) = (history.point(), history.filter());
            let mut found = Vec::new();
            history.world.query_point(point, &filter, &mut found);
            let expected: Vec<_> =
                history.all(&filter).filter(|(_, o)| o.contains(point)).map(|(id, _)| id).collect();
            assert_eq!(found, expected, "{}: {point:?}", history.context);
            count += found.len() as u32;
        }
        count
    });
}

#[test]
fn nearest_bodies() {
    in_many_worlds("nearest", |history| {
        let (point, filter) = (history.point(), history.filter());
        let k = [1, 1, 2, 5, 100][history.below(5) as usize];
        let limit = match history.below(4) {
            0 => Fx::MAX,
            1 => Fx::ZERO,
            _ => history.length(),
        };
        let mut found = Vec::new();
        history.world.nearest(point, k, limit, &filter, &mut found).unwrap();
        let mut expected: Vec<_> = history.all(&filter).map(|(id, o)| (id, o.distance(point))).collect();
        expected.retain(|&(_, distance)| distance <= limit);
        expected.sort_by_key(|&(id, distance)| (distance, id.index()));
        expected.truncate(k as usize);
        assert_eq!(found, expected, "{}: {k} at {point:?} within {limit}", history.context);
        for (id, outline) in history.all(&filter) {
            let distance = history.world.body(id).unwrap().distance(point);
            assert_eq!(
                distance,
                Ok(outline.distance(point)),
                "{}: {point:?} to {outline:?}",
                history.context
            );
        }
        found.len() as u32
    });
}

/// Compares what was found with brute force: the same bodies, at the same distance to a hair, in order.
fn check_hits(hits: &[RayHit], expected: &[(testudo_physics::BodyId, Outline)], ray: &Ray, context: &str) {
    let mut ids: Vec<_> = hits.iter().map(|hit| hit.body).collect();
    ids.sort_by_key(|id| id.index());
    let met: Vec<_> = expected.iter().filter(|(_, o)| o.meets(ray)).map(|&(id, _)| id).collect();
    assert_eq!(ids, met, "{context}");
    assert!(hits.is_sorted_by_key(|hit| (hit.distance, hit.body.index())), "{context}: {hits:?}");
    assert!(hits.is_sorted_by_key(|hit| hit.fraction), "{context}: {hits:?}");
    for hit in hits {
        let (_, outline) = expected.iter().find(|(id, _)| *id == hit.body).unwrap();
        let exact = outline.entry(ray);
        let late = hit.distance.to_bits() as f64 - exact;
        // Two raw units for the place, one for rounding down, and what 53 bits lose.
        assert!((-3.1..0.1).contains(&late), "{context}: {late} of {exact}, {hit:?} {outline:?} {ray:?}");
        assert!((Fx::ZERO..=Fx::ONE).contains(&hit.fraction), "{context}: {hit:?}");
        assert!(outline.distance(hit.point) <= Fx::from_bits(3), "{context}: {hit:?} {outline:?} {ray:?}");
        let inside = outline.contains(ray.origin);
        let [x, y] = [hit.normal.x, hit.normal.y].map(|c| c.to_bits() as f64 / 65_536.0);
        assert_eq!(inside, x == 0.0 && y == 0.0, "{context}: {hit:?}");
        assert!(inside || (x.hypot(y) - 1.0).abs() < 1e-4, "{context}: {hit:?}");
    }
}

#[test]
fn rays() {
    in_many_worlds("ray", |history| {
        let mut count = 0;
        for _ in 0..4 {
            let (ray, filter) = (history.ray(), history.filter());
            let mut hits = Vec::new();
            history.world.ray_cast_all(ray.origin, ray.end, &filter, &mut hits).unwrap();
            let everybody: Vec<_> = history.all(&filter).collect();
            check_hits(&hits, &everybody, &ray, &history.context);
            let first = history.world.ray_cast(ray.origin, ray.end, &filter).unwrap();
            assert_eq!(first, hits.first().copied(), "{}: {ray:?}", history.context);
            count += hits.len() as u32;
        }
        count
    });
}

#[test]
fn swept_circles() {
    in_many_worlds("sweep", |history| {
        let mut count = 0;
        for _ in 0..4 {
            let (ray, filter) = (history.ray(), history.filter());
            let radius = history.radius();
            let hit = history.world.sweep_circle(ray.origin, ray.end, radius, &filter).unwrap();
            let grown: Vec<_> = history.all(&filter).map(|(id, o)| (id, o.grown(radius))).collect();
            let first = grown
                .iter()
                .filter(|(_, o)| o.meets(&ray))
                .map(|(_, o)| o.entry(&ray))
                .min_by(f64::total_cmp);
            assert_eq!(hit.is_some(), first.is_some(), "{}: {ray:?}, radius {radius}", history.context);
            let (Some(hit), Some(first)) = (hit, first) else { continue };
            let late = hit.distance.to_bits() as f64 - first;
            assert!((-3.1..0.1).contains(&late), "{}: {late}, {hit:?} {ray:?}", history.context);
            let outline = Outline::of(&history.world.body(hit.body).unwrap());
            let gap = outline.distance(hit.position) - radius;
            let overlapped = outline.grown(radius).contains(ray.origin);
            assert!(overlapped || gap.abs() <= Fx::from_bits(3), "{}: {hit:?}", history.context);
            assert!(
                outline.distance(hit.point) <= Fx::from_bits(3) || overlapped,
                "{}: {hit:?}",
                history.context
            );
            let [x, y] =
                [hit.point.x - hit.position.x, hit.point.y - hit.position.y].map(|c| c.to_bits() as f64);
            let apart = Fx::from_bits(x.hypot(y) as i64);
            assert!(overlapped || (apart - radius).abs() <= Fx::from_bits(4), "{}: {hit:?}", history.context);
            count += 1;
        }
        count
    });
}

#[test]
fn answers_do_not_depend_on_what_happened_before() {
    in_many_worlds("history", |history| {
        let mut bytes = Vec::new();
        history.world.snapshot(&mut bytes);
        let copy = World::from_bytes(&bytes).unwrap();
        let (area, point, ray, filter) = (history.area(), history.point(), history.ray(), history.filter());
        let mut count = 0;
        let [here, there] = [&history.world, &copy].map(|world| {
            let (mut areas, mut points, mut near, mut hits) = (vec![], vec![], vec![], vec![]);
            world.query_area(area, &filter, &mut areas);
            world.query_point(point, &filter, &mut points);
            world.nearest(point, 3, Fx::MAX, &filter, &mut near).unwrap();
            world.ray_cast_all(ray.origin, ray.end, &filter, &mut hits).unwrap();
            let first = world.ray_cast(ray.origin, ray.end, &filter).unwrap();
            let swept = world.sweep_circle(ray.origin, ray.end, Fx::ONE, &filter).unwrap();
            count = (areas.len() + near.len() + hits.len()) as u32;
            (areas, points, near, hits, first, swept)
        });
        assert_eq!(here, there, "{}", history.context);
        count
    });
}

#[test]
fn buffers_that_are_large_enough_stay_where_they_are() {
    let mut history = History::new(7, Scale::Dense);
    history.go_on(300);
    let (mut ids, mut near, mut hits) = (vec![], vec![], vec![]);
    let mut places = [None; 3];
    for _ in 0..2 {
        let everything = QueryFilter::new().with_sensors();
        history.world.query_area(everywhere(), &everything, &mut ids);
        history.world.nearest(Vec2::ZERO, 1000, Fx::MAX, &everything, &mut near).unwrap();
        let (origin, end) = (Vec2::from_ints(-50, -50), Vec2::from_ints(50, 50));
        history.world.ray_cast_all(origin, end, &everything, &mut hits).unwrap();
        assert!(ids.len() > 20 && near.len() == ids.len() && !hits.is_empty());
        let now = [ids.as_ptr() as usize, near.as_ptr() as usize, hits.as_ptr() as usize];
        for (place, now) in places.iter_mut().zip(now) {
            assert_eq!(*place.get_or_insert(now), now);
        }
    }
}

fn everywhere() -> Aabb {
    Aabb { min: Vec2::new(Fx::MIN, Fx::MIN), max: Vec2::new(Fx::MAX, Fx::MAX) }
}

fn beyond(argument: &'static str, value: Fx) -> QueryError {
    QueryError::OutOfRange { argument, value, min: -QUERY_MAX, max: QUERY_MAX }
}

#[test]
fn arguments_out_of_range_are_errors_or_find_nothing() {
    let mut world = World::new(WorldDef::new()).unwrap();
    let edge = Vec2::from_ints(16_384, 16_384);
    let giant = BodyDef::static_body(Shape::Circle { radius: EXTENT_MAX });
    let giant = world.create_body(&giant.position(edge)).unwrap();
    let everything = QueryFilter::new();
    let mut ids = vec![giant];
    world.query_area(everywhere(), &everything, &mut ids);
    assert_eq!(ids, [giant]);
    let inverted = Aabb { min: Vec2::from_ints(16_384, 16_385), max: Vec2::from_ints(16_384, 16_384) };
    world.query_area(inverted, &everything, &mut ids);
    assert_eq!(ids, []);
    world.query_area_exact(everywhere(), &everything, &mut ids);
    assert_eq!(ids, [giant]);
    for point in [Vec2::new(Fx::MAX, Fx::MIN), Vec2::new(Fx::MIN, Fx::ZERO)] {
        world.query_point(point, &everything, &mut ids);
        assert_eq!(ids, []);
        let mut near = vec![(giant, Fx::ONE)];
        let refused = world.nearest(point, 1, Fx::MAX, &everything, &mut near);
        assert_eq!(refused, Err(beyond("point", point.x)));
        assert_eq!(near, []);
        assert_eq!(world.body(giant).unwrap().distance(point), Err(beyond("point", point.x)));
        assert_eq!(world.ray_cast(Vec2::ZERO, point, &everything), Err(beyond("end", point.x)));
        let refused = world.sweep_circle(point, Vec2::ZERO, Fx::ONE, &everything);
        assert_eq!(refused, Err(beyond("from", point.x)));
    }
    for radius in [-Fx::DELTA, EXTENT_MAX + Fx::DELTA, Fx::MAX, Fx::MIN] {
        let answer = world.sweep_circle(Vec2::ZERO, Vec2::ZERO, radius, &everything);
        let error =
            QueryError::OutOfRange { argument: "radius", value: radius, min: Fx::ZERO, max: EXTENT_MAX };
        assert_eq!(answer, Err(error));
    }
    // The furthest that is allowed, from corner to corner.
    let (low, high) = (Vec2::new(-QUERY_MAX, -QUERY_MAX), Vec2::new(QUERY_MAX, QUERY_MAX));
    let hit = world.ray_cast(low, high, &everything).unwrap().unwrap();
    let diagonal = 36_864.0 * 2f64.sqrt() - 4_096.0;
    assert!((hit.distance.to_num::<f64>() - diagonal).abs() < 1e-3, "{hit:?}");
    assert_eq!(world.sweep_circle(high, low, EXTENT_MAX, &everything).unwrap().unwrap().body, giant);
    let mut near = vec![];
    world.nearest(low, 9, Fx::MAX, &everything, &mut near).unwrap();
    assert!((near[0].1.to_num::<f64>() - diagonal).abs() < 1e-3, "{near:?}");
    world.nearest(low, 9, -Fx::DELTA, &everything, &mut near).unwrap();
    assert_eq!(near, []);
}

#[test]
fn filters_choose_kinds_sensors_layers_and_leave_one_out() {
    let mut world = World::new(WorldDef::new()).unwrap();
    let shape = Shape::Circle { radius: Fx::ONE };
    let wall = world.create_body(&BodyDef::static_body(shape)).unwrap();
    let lift = world.create_body(&BodyDef::kinematic(shape)).unwrap();
    let unit = world.create_body(&BodyDef::dynamic(shape)).unwrap();
    let layers = Filter::new(4, 2);
    let ghost = world.create_body(&BodyDef::dynamic(shape).filter(layers)).unwrap();
    let zone = world.create_body(&BodyDef::static_body(shape).sensor(true)).unwrap();
    world.create_body(&BodyDef::dynamic(shape).enabled(false)).unwrap();
    let found = |filter: QueryFilter| {
        let mut ids = vec![];
        world.query_point(Vec2::ZERO, &filter, &mut ids);
        ids
    };
    let all = QueryFilter::new();
    assert_eq!(found(all), [wall, lift, unit, ghost]);
    assert_eq!(found(all.with_sensors()), [wall, lift, unit, ghost, zone]);
    assert_eq!(found(all.only_sensors()), [zone]);
    assert_eq!(found(all.only(BodyKind::Static)), [wall]);
    assert_eq!(found(all.only(BodyKind::Kinematic)), [lift]);
    assert_eq!(found(all.only(BodyKind::Dynamic)), [unit, ghost]);
    assert_eq!(found(all.exclude(lift)), [wall, unit, ghost]);
    assert_eq!(found(all.filter(Filter::new(2, 4))), [ghost]);
    assert_eq!(found(all.filter(Filter::new(1, 4))), []);
    assert_eq!(found(all.filter(Filter::new(1, 1))), [wall, lift, unit]);
    // A stale handle excludes no body, not even the one that took over the slot.
    world.remove_body(lift).unwrap();
    let heir = world.create_body(&BodyDef::kinematic(shape)).unwrap();
    assert_eq!(heir.index(), lift.index());
    let mut ids = vec![];
    world.query_point(Vec2::ZERO, &all.exclude(lift), &mut ids);
    assert_eq!(ids, [wall, heir, unit, ghost]);
}

/// Brute force: the same chains with two sides.
#[test]
fn both_sides_of_one_sided_chains_are_those_of_others() {
    let mut rng = Pcg32::new(46, 1);
    let mut point =
        || Vec2::new(Fx::from_bits(rng.below(1 << 21).into()), Fx::from_bits(rng.below(1 << 21).into()));
    let mut from_behind = 0;
    for _ in 0..20 {
        let points: Vec<Vec2> = (0..6).map(|_| point()).collect();
        let [both, one] = [false, true].map(|one_sided| {
            let mut world = World::new(WorldDef::new()).unwrap();
            world.create_chain(&ChainDef::new(&points).one_sided(one_sided)).unwrap();
            world
        });
        let (usual, all) = (QueryFilter::new(), QueryFilter::new().both_sides());
        for _ in 0..50 {
            let (from, to, radius) = (point(), point(), point().x / 32);
            let sweep = |world: &World, filter| world.sweep_circle(from, to, radius, filter).unwrap();
            let ray = |world: &World, filter| world.ray_cast(from, to, filter).unwrap();
            assert_eq!((sweep(&one, &all), ray(&one, &all)), (sweep(&both, &usual), ray(&both, &usual)));
            from_behind += u32::from(ray(&one, &usual) != ray(&one, &all));
        }
    }
    assert!(from_behind > 100, "{from_behind}");
}
