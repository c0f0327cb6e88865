//! Fields that cover only corridors to their goals: against fields of the whole ground, and against brute force.

use testudo_movement::{CrowdDef, FlowId, Flows, Ground, GroundDef, MovementDraw, MoverDef, Way};
use testudo_physics::{Aabb, BodyId, Fx, Pcg32, Vec2, World, WorldDef};

use crate::maps::square;
use crate::paths::{self, size, walked};
use crate::scene::{Scene, house, open_world, surveyed};
use crate::state::damage;

/// What stands on a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Houses everywhere.
    Town,
    /// Long walls with a few gaps.
    Walls,
    /// Rooms without loops, with doors 1.1 to 3 diameters wide.
    Maze,
    /// Houses, and a wall from one side to the other one.
    River,
}

const KINDS: [Kind; 4] = [Kind::Town, Kind::Walls, Kind::Maze, Kind::River];

fn wall(world: &mut World, [x, y]: [Fx; 2], half: [Fx; 2]) {
    house(world, Vec2::new(x, y), Vec2::new(half[0], half[1]));
}

/// A world with the obstacles of a map, `side` units wide.
fn draw(kind: Kind, seed: u64, side: i32) -> World {
    let mut world = World::new(WorldDef::new().seed(seed)).unwrap();
    let mut rng = Pcg32::new(seed, 77);
    let half = Fx::from_num(side) / 2;
    let mut below = |most: Fx| Fx::from_bits(i64::from(rng.below(most.to_bits() as u32)));
    let thin = Fx::ONE / 2;
    match kind {
        Kind::Town | Kind::River => {
            for _ in 0..side * side / 200 {
                let place = [below(half * 2) - half, below(half * 2) - half];
                let size = [below(Fx::from_num(3)) + thin, below(Fx::from_num(4)) + thin];
                wall(&mut world, place, size);
            }
            if kind == Kind::River {
                wall(&mut world, [below(half) - half / 2, Fx::ZERO], [Fx::ONE, half + Fx::ONE]);
            }
        }
        Kind::Walls => {
            for number in 0..side / 8 {
                let place = [below(half * 2) - half, below(half * 2) - half];
                let long = below(half / 2) + Fx::ONE;
                let size = if number % 2 == 0 { [thin, long] } else { [long, thin] };
                wall(&mut world, place, size);
            }
        }
        Kind::Maze => {
            let pitch = Fx::from_num(16);
            for at in 0..side / 16 * (side / 16) {
                let [x, y] = [at % (side / 16), at / (side / 16)].map(|part| pitch * i64::from(part) - half);
                // Each room has a door to the left or downward, but for the first one: all rooms hang together.
                let door = below(Fx::lit("1.9")) + Fx::lit("1.1");
                let is_drawn_left = below(Fx::from_num(2)) < Fx::ONE;
                let is_left = at < side / 16 || at % (side / 16) > 0 && is_drawn_left;
                let gap = below(pitch - door - Fx::from_num(2)) + Fx::ONE;
                let parts = [(Fx::ZERO, gap), (gap + door, pitch)];
                for (from, to) in parts {
                    let (middle, long) = ((from + to) / 2, (to - from) / 2);
                    let (with_door, whole) = if is_left {
                        ([x, y + middle], [thin / 2, long])
                    } else {
                        ([x + middle, y], [long, thin / 2])
                    };
                    wall(&mut world, with_door, whole);
                }
                let (place, size) = if is_left {
                    ([x + pitch / 2, y], [pitch / 2, thin / 2])
                } else {
                    ([x, y + pitch / 2], [thin / 2, pitch / 2])
                };
                wall(&mut world, place, size);
            }
        }
    }
    world
}

fn open_place(ground: &Ground, rng: &mut Pcg32, side: i32) -> Vec2 {
    loop {
        let mut part = || Fx::from_num(rng.below(side as u32) as i32 - side / 2) + Fx::ONE / 2;
        let at = Vec2::new(part(), part());
        if ground.is_open(at, size(ground)) {
            return at;
        }
    }
}

/// Searches until a field leads to the goal from a position; `None` if there is no path. Counts the cells.
fn lead(ground: &Ground, flows: &mut Flows, flow: FlowId, from: Vec2) -> (Option<Fx>, u32) {
    let mut cells = 0;
    for _ in 0..10_000 {
        match flows.follow(ground, flow, from, false) {
            Way::Closed => return (None, cells),
            Way::Unknown => cells += flows.search(ground, 4_096),
            _ => return (walked(ground, flows, flow, from), cells),
        }
    }
    panic!("no answer from {from:?}");
}

/// What many paths gave.
#[derive(Debug, Default)]
struct Tally {
    paths: u32,
    told: u32,
    longer: u32,
    worst: Fx,
    ratios: Fx,
    /// Cells that were searched.
    cells: u32,
}

impl Tally {
    fn note(&mut self, length: Fx, judge: Fx) {
        // Both end on anchors, up to half a cell beside the middles.
        let ratio = (length - Fx::ONE / 2) / judge;
        self.paths += 1;
        self.ratios += length / judge;
        self.longer += u32::from(ratio > Fx::lit("1.05"));
        self.worst = self.worst.max(ratio);
    }
}

/// How many maps of each kind, and the first seed: `MOVEMENT_SCENES` and `MOVEMENT_SEED` say otherwise.
fn seeds() -> core::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let first = number("MOVEMENT_SEED").unwrap_or(0);
    first..first + number("MOVEMENT_SCENES").unwrap_or(1)
}

#[test]
fn corridors_give_paths_where_whole_fields_do_and_hardly_longer_ones() {
    const SIDE: i32 = 320;
    let mut tally = Tally::default();
    for seed in seeds() {
        for kind in KINDS {
            let ground = surveyed(&draw(kind, seed, SIDE), &GroundDef::new(square(SIDE / 2)));
            let mut rng = Pcg32::new(seed, 78);
            let goal = open_place(&ground, &mut rng, SIDE);
            let mut whole = Flows::new(1).unwrap();
            let all = whole.to(&ground, goal, size(&ground)).unwrap();
            whole.search_all(&ground, all);
            let mut flows = Flows::new(1).unwrap().whole_up_to(0);
            for _ in 0..16 {
                let from = open_place(&ground, &mut rng, SIDE);
                let judge = walked(&ground, &whole, all, from);
                let mut alone = Flows::new(1).unwrap().whole_up_to(0);
                let flow = alone.to(&ground, goal, size(&ground)).unwrap();
                let (length, cells) = lead(&ground, &mut alone, flow, from);
                tally.cells += cells;
                assert_eq!(length.is_some(), judge.is_some(), "{kind:?} {seed}: {from:?} to {goal:?}");
                // One field for all of them answers as well.
                let flow = flows.to(&ground, goal, size(&ground)).unwrap();
                let (shared, _) = lead(&ground, &mut flows, flow, from);
                assert_eq!(
                    shared.is_some(),
                    judge.is_some(),
                    "{kind:?} {seed}: {from:?} to {goal:?}, shared"
                );
                match (length, judge) {
                    (Some(length), Some(judge)) if judge > Fx::from_num(8) => {
                        if (length - Fx::ONE / 2) / judge > Fx::lit("1.05") {
                            println!("{kind:?} {seed}: {from:?} to {goal:?} {length} instead of {judge}");
                        }
                        tally.note(length, judge);
                    }
                    (None, None) => tally.told += 1,
                    _ => {}
                }
            }
        }
    }
    println!("{:?}: {tally:?}, mean {}", seeds(), tally.ratios / i64::from(tally.paths));
    assert!(tally.paths > 30 && tally.told > 2, "{tally:?}: not interesting");
    assert!(tally.longer * 100 <= tally.paths, "{tally:?}");
}

/// Tiles that had nothing new to tell sent each other to look again, for ever: on at least 8 of 160 drawn maps the search to a goal never ended.
#[test]
fn every_search_ends() {
    const SIDE: i32 = 320;
    for seed in [1_795_850_000_002, 1_795_850_000_003] {
        for kind in KINDS {
            let ground = surveyed(&draw(kind, seed, SIDE), &GroundDef::new(square(SIDE / 2)));
            let mut rng = Pcg32::new(seed, 78);
            let goal = open_place(&ground, &mut rng, SIDE);
            let mut flows = Flows::new(1).unwrap();
            let flow = flows.to(&ground, goal, size(&ground)).unwrap();
            flows.search_all(&ground, flow);
            assert_eq!(flows.search(&ground, 1), 0, "{kind:?} {seed}: cells are left");
        }
    }
}

/// Exact lengths of the shortest paths to a goal: a graph of all cells at corners, where every one in sight is a neighbour. Paths bend nowhere
/// else.
fn exact(ground: &Ground, goal: Vec2, starts: &[Vec2], side: i32) -> Vec<Option<Fx>> {
    let is_corner = |at: Vec2| {
        let steps = (0..9).map(|n| at + Vec2::from_ints(n % 3 - 1, n / 3 - 1));
        let closed = steps.filter(|&next| !ground.sees(at, next, size(ground))).count();
        (1..=2).contains(&closed)
    };
    let mut nodes: Vec<Vec2> = starts.to_vec();
    for n in 0..side * side {
        let at =
            Vec2::from_ints(n % side - side / 2, n / side - side / 2) + Vec2::new(Fx::ONE / 2, Fx::ONE / 2);
        let inner = at.x.abs().max(at.y.abs()) < Fx::from_num(side / 2 - 1);
        if inner && ground.is_open(at, size(ground)) && is_corner(at) {
            nodes.push(at);
        }
    }
    nodes.push(goal);
    paths::exact(ground, &nodes, nodes.len() - 1)[..starts.len()].to_vec()
}

#[test]
fn paths_across_tiles_are_hardly_longer_than_exact_ones() {
    const SIDE: i32 = 160;
    let mut tally = Tally::default();
    for seed in seeds() {
        for kind in KINDS {
            let ground = surveyed(&draw(kind, seed, SIDE), &GroundDef::new(square(SIDE / 2)));
            let mut rng = Pcg32::new(seed, 79);
            let goal = open_place(&ground, &mut rng, SIDE);
            let starts: Vec<Vec2> = (0..24).map(|_| open_place(&ground, &mut rng, SIDE)).collect();
            let shortest = exact(&ground, goal, &starts, SIDE);
            for (&from, judge) in starts.iter().zip(shortest) {
                let mut flows = Flows::new(1).unwrap().whole_up_to(0);
                let flow = flows.to(&ground, goal, size(&ground)).unwrap();
                let (length, _) = lead(&ground, &mut flows, flow, from);
                assert!(length.is_some() || judge.is_none(), "{kind:?} {seed}: {from:?} to {goal:?}");
                if let (Some(length), Some(judge)) = (length, judge)
                    && judge > Fx::from_num(4)
                {
                    tally.note(length, judge);
                }
            }
        }
    }
    println!("{:?}: {tally:?}, mean {}", seeds(), tally.ratios / i64::from(tally.paths));
    assert!(tally.paths > 30, "{tally:?}: not interesting");
    assert!(tally.longer * 100 <= tally.paths, "{tally:?}");
}

/// Two thousand cells of land with walls across it, and a crowd that may search few cells in a frame.
fn wide_land() -> Scene {
    let area = Aabb::from_corners(Vec2::from_ints(-1_024, -512), Vec2::from_ints(1_024, 512));
    let mut world = open_world();
    for x in [-600, -100, 300, 800] {
        house(&mut world, Vec2::from_ints(x, x / 4), Vec2::from_ints(1, 300));
    }
    Scene::of(world, CrowdDef::new(GroundDef::new(area)).cells_per_frame(1_000))
}

#[test]
fn a_goal_2000_cells_away_costs_a_small_part_of_the_map() {
    let scene = wide_land();
    let ground = scene.crowd.ground();
    let mut flows = Flows::new(1).unwrap();
    let goal = Vec2::from_ints(1_000, 100);
    let flow = flows.to(ground, goal, size(ground)).unwrap();
    let (length, cells) = lead(ground, &mut flows, flow, Vec2::from_ints(-1_000, 0));
    let length = length.unwrap();
    println!("{cells} of {} cells, path of {length} units", 2_048 * 1_024);
    assert!((2_100..2_900).contains(&length.to_num::<i32>()), "{length}");
    assert!(cells > 0 && cells < 2_048 * 1_024 / 4, "{cells}");
    // Where the unit goes later, the field leads, too, and nothing more is searched.
    let (_, more) = lead(ground, &mut flows, flow, Vec2::from_ints(990, 60));
    assert_eq!(more, 0);
}

pub(crate) const HALF: i32 = 112;

/// Cells and portals that are searched in a frame.
const PLENTY: u32 = 12_000;
/// So few that a path is planned in many frames.
pub(crate) const FEW: u32 = 200;

pub(crate) fn def(cells: u32) -> CrowdDef {
    let sizes = [Fx::lit("0.4"), Fx::lit("0.5")];
    CrowdDef::new(GroundDef::new(square(HALF)).sizes(&sizes))
        .fields_max(7)
        .cells_per_frame(cells)
        .whole_up_to(0)
}

/// Two squads in opposite corners of a map, which change places; then a building comes and goes.
fn play(frame: u32, scene: &mut Scene) {
    if frame.is_multiple_of(45) {
        let units = scene.units.clone();
        let (one, other) = units.split_at(units.len() / 2);
        let part = frame as i32 / 45;
        scene.go(one, Vec2::from_ints(95 - part * 9, 90));
        scene.go(other, Vec2::from_ints(-95, part * 20 - 90));
    }
    if frame % 40 == 30 {
        scene.build(Vec2::from_ints(frame as i32 - 70, 40 - frame as i32), Vec2::from_ints(30, 1));
    }
    if frame % 40 == 38 {
        let last = scene.world.bodies().rfind(|body| body.kind() == testudo_physics::BodyKind::Static);
        scene.pull_down(last.unwrap().id());
    }
    scene.step();
}

/// A map with two squads in opposite corners.
pub(crate) fn squads(kind: Kind, seed: u64, cells: u32) -> Scene {
    let mut scene = Scene::of(draw(kind, seed, 2 * HALF), def(cells));
    let size = scene.crowd.ground().size_of(Fx::lit("0.5")).unwrap();
    for n in 0..800 {
        let corner = if n < 400 { -100 } else { 80 };
        let at = Vec2::from_ints(corner + n % 400 % 20 * 2, corner + n % 400 / 20 * 2);
        if scene.units.len() < if n < 400 { 12 } else { 24 } && scene.crowd.ground().is_open(at, size) {
            let radius = if n % 2 == 0 { Fx::lit("0.4") } else { Fx::lit("0.5") };
            scene.add_disc(radius, at, MoverDef::default());
        }
    }
    scene
}

#[test]
fn a_match_with_corridors_that_is_restored_in_every_turn_goes_on_with_the_same_bits() {
    for (cells, frames, least_planning) in [(PLENTY, 80, 0), (FEW, 50, 40)] {
        let mut scene = squads(Kind::Walls, 2, cells);
        let mut copy = scene.clone();
        let (mut on_their_way, mut planning) = (0, 0);
        for frame in 0..frames {
            play(frame, &mut scene);
            play(frame, &mut copy);
            scene.assert_same(&copy, format!("{cells} cells, frame {frame}"));
            copy = scene.restored();
            let is_fast = |unit: &&BodyId| scene.world.body(**unit).unwrap().velocity().length() > Fx::ONE;
            on_their_way += scene.units.iter().filter(is_fast).count();
            planning += u32::from(scene.crowd.flows().is_planning());
        }
        println!("{cells} cells: {on_their_way} unit-frames on the way, planning in {planning} frames");
        assert!(on_their_way > 400 || cells == FEW, "{on_their_way}: not interesting");
        assert!(planning >= least_planning, "{planning}: not interesting");
    }
}

#[test]
fn damaged_bytes_of_a_path_that_is_being_planned_are_refused_or_play_on() {
    let mut scene = squads(Kind::Walls, 2, FEW);
    (0..6).for_each(|frame| play(frame, &mut scene));
    assert!(scene.crowd.flows().is_planning());
    // Before the units are the fields and the path.
    let end = scene.saved().len() - scene.units.len() * 130;
    damage(&scene, end - 220..end, 1, 10);
}

#[test]
fn a_path_over_the_whole_map_is_planned_over_many_frames() {
    let mut scene = wide_land();
    let unit = scene.add(Vec2::from_ints(-1_000, 0));
    scene.go(&[unit], Vec2::from_ints(1_000, 100));
    assert_eq!(scene.waiting(&[unit]), 1);
    let (mut waited, mut planning) = (0, 0);
    while scene.waiting(&[unit]) == 1 {
        scene.step();
        waited += 1;
        planning += u32::from(scene.crowd.flows().is_planning());
        assert!(waited < 2_000, "it waits for ever");
    }
    println!("planned in {planning} frames, a path after {waited}");
    assert!(planning > 10, "{planning}: all at once");
    (0..20).for_each(|_| scene.step());
    assert!(scene.world.body(unit).unwrap().velocity().length() > Fx::from_num(2));
}

/// Collects what is drawn.
#[derive(Default)]
struct Portals(Vec<[Vec2; 2]>);

impl MovementDraw for Portals {
    fn portal(&mut self, from: Vec2, to: Vec2) {
        self.0.push([from, to]);
    }
}

/// Two by two tiles: a wall along the border in the middle has one door.
#[test]
fn portals_are_drawn_where_tiles_are_connected() {
    let mut world = open_world();
    let drawn = |world: &World| {
        let (crowd, mut found) = (Scene::new(world.clone(), 32).crowd, Portals::default());
        crowd.draw_portals(size(crowd.ground()), &mut found);
        found.0
    };
    let across = |portals: &[[Vec2; 2]]| -> Vec<Fx> {
        let crosses = |[a, b]: &&[Vec2; 2]| (a.x < Fx::ZERO) != (b.x < Fx::ZERO);
        portals.iter().filter(crosses).map(|[a, _]| a.y).collect()
    };
    let open = drawn(&world);
    assert!(
        open.iter().all(|[a, b]| a.distance(*b) < Fx::lit("1.5")) && across(&open).len() >= 8,
        "{open:?}"
    );
    for (y, half) in [(-12, 20), (23, 12)] {
        house(&mut world, Vec2::from_ints(0, y), Vec2::new(Fx::ONE / 4, Fx::from_num(half)));
    }
    // Between 8 and 11.
    let door = across(&drawn(&world));
    assert!(door.len() == 1 && (door[0] - Fx::lit("9.5")).abs() < Fx::ONE, "{door:?}");
}
