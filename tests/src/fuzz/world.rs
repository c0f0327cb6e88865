//! Worlds from snapshots of unknown origin.

use testudo_physics::{
    Aabb, BodyDef, ChainDef, EdgePolicy, Filter, Fx, PolygonDef, QueryFilter, SIM_VERSION, SNAPSHOT_VERSION,
    Shape, Simd, Vec2, World, WorldDef,
};
use xxhash_rust::xxh3::xxh3_64;

use super::first;

/// Larger snapshots only cost time: what can go wrong can go wrong among few bodies.
const BYTES_MAX: usize = 16 * 1024;

const FRAMES: u32 = 6;

/// Any bytes are refused, or are a world that keeps its invariants while it runs, the same with and without wide registers.
pub fn world(bytes: &[u8]) {
    let Some((choice, body)) = first(bytes) else { return };
    if body.len() > BYTES_MAX {
        return;
    }
    let _ = World::from_bytes(body);
    let mut bytes = b"TSPW".to_vec();
    bytes.extend_from_slice(&SNAPSHOT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&SIM_VERSION.to_le_bytes());
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
    let Ok(mut world) = World::from_bytes(&bytes) else { return };
    let mut again = Vec::new();
    world.snapshot(&mut again);
    // Fields that are written though they have their usual values are read; they are not written again.
    let same = World::from_bytes(&again).expect("what was written is read");
    assert_eq!(same.checksum(), world.checksum(), "what is read is what is written");
    let mut portable = World::new(WorldDef::new().simd(Simd::Plain)).expect("the default settings are valid");
    portable.restore(&bytes).expect("it was read before");
    let frames_per_second = [20, 60, 1, 1_000][usize::from(choice % 4)];
    let mut found = Vec::new();
    for _ in 0..FRAMES {
        world.step(frames_per_second).expect("a rate in range");
        portable.step(frames_per_second).expect("a rate in range");
        assert_eq!(world.checksum(), portable.checksum());
        world.validate().expect("every step keeps the invariants");
        world.query_area(
            Aabb { min: -Vec2::from_ints(99, 99), max: Vec2::from_ints(99, 99) },
            &QueryFilter::new(),
            &mut found,
        );
    }
    // The world goes on like any other: bodies can be removed and created.
    let oldest = world.bodies().next().map(|body| body.id());
    if let Some(id) = oldest {
        world.remove_body(id).expect("it is there");
    }
    let def = BodyDef::dynamic(Shape::Circle { radius: Fx::const_from_int(1) });
    let _ = world.create_body(&def);
    world.step(frames_per_second).expect("a rate in range");
    world.validate().expect("every step keeps the invariants");
}

/// Small worlds of every sort, after some frames.
pub(super) fn world_seeds() -> Vec<Vec<u8>> {
    let edges = [EdgePolicy::Stop, EdgePolicy::Bounce, EdgePolicy::Stop];
    let seed = |(number, edge): (usize, EdgePolicy)| {
        let bounds = Aabb { min: -Vec2::from_ints(40, 40), max: Vec2::from_ints(40, 40) };
        let def =
            WorldDef::new().edge(edge).bounds(bounds).gravity(Vec2::from_ints(0, -5)).seed(number as u64);
        let mut world = World::new(def).expect("settings in range");
        for place in 0..4 {
            let shape = match place % 2 {
                0 => Shape::Circle { radius: Fx::const_from_int(1) },
                _ => Shape::Rect { half_extents: Vec2::from_ints(1, 2) },
            };
            let at = Vec2::from_ints(place, 0);
            let body = [BodyDef::dynamic(shape), BodyDef::kinematic(shape), BodyDef::static_body(shape)]
                [(place as usize + number) % 3]
                .position(at)
                .filter(Filter::default());
            let id = world.create_body(&body).expect("a body in range");
            let _ = world.apply_force(id, Vec2::from_ints(3, 1));
            if place == 3 {
                world.remove_body(id).expect("it is there");
            }
        }
        if number == 2 {
            let ground = [(-9, -3), (0, -6), (9, -3)].map(|(x, y)| Vec2::from_ints(x, y));
            let ground = world.create_chain(&ChainDef::new(&ground).one_sided(true)).expect("a good chain");
            let rock = [(4, 0), (7, 0), (6, 3)].map(|(x, y)| Vec2::from_ints(x, y));
            let rock = world.create_polygon(&PolygonDef::new(&rock)).expect("a good polygon");
            world.set_pair_ignored(ground[0], rock, true).expect("both are there");
        }
        for _ in 0..number * 4 {
            world.step(20).expect("a rate in range");
        }
        let mut bytes = Vec::new();
        world.snapshot(&mut bytes);
        [&[0], &bytes[12..bytes.len() - 8]].concat()
    };
    edges.into_iter().enumerate().map(seed).collect()
}
