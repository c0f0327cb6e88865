//! Lengths of paths against brute force, and partial updates against whole ones.

use testudo_movement::{Corner, FlowId, Flows, Ground, GroundDef, PathError, PathSearch, SizeClass, Way};
use testudo_physics::{Aabb, Angle, Fx, Pcg32, PolygonDef, Vec2, World};
use testudo_tests::cases::share;

use crate::maps::{HALF as HALF_SIDE, KINDS, Kind, area, draw};
use crate::scene::{house, open_world, surveyed};

/// Half the side of a map, units.
const HALF: Fx = Fx::const_from_int(HALF_SIDE as i64);

pub(crate) fn size(ground: &Ground) -> SizeClass {
    ground.size_of(Fx::ONE / 2).unwrap()
}

pub(crate) fn middles(ground: &Ground) -> Vec<Vec2> {
    let half = ground.cell() / 2;
    (0..ground.rows())
        .flat_map(|y| (0..ground.columns()).map(move |x| (x, y)))
        .map(|(x, y)| {
            Vec2::new(ground.cell() * i64::from(x) + half - HALF, ground.cell() * i64::from(y) + half - HALF)
        })
        .collect()
}

/// Exact lengths of the shortest paths from all cells to one, where every cell in sight is a neighbour.
pub(crate) fn exact(ground: &Ground, cells: &[Vec2], goal: usize) -> Vec<Option<Fx>> {
    shortest(cells, goal, |from, to| ground.sees(from, to, size(ground)))
}

/// Exact lengths of the shortest paths from all places to one over places that see each other.
fn shortest(cells: &[Vec2], goal: usize, sees: impl Fn(Vec2, Vec2) -> bool) -> Vec<Option<Fx>> {
    let mut best: Vec<Option<Fx>> = vec![None; cells.len()];
    let mut is_done = vec![false; cells.len()];
    best[goal] = Some(Fx::ZERO);
    while let Some(at) =
        (0..cells.len()).filter(|&at| !is_done[at] && best[at].is_some()).min_by_key(|&at| best[at])
    {
        is_done[at] = true;
        for to in (0..cells.len()).filter(|&to| !is_done[to]) {
            let length = best[at].unwrap() + cells[at].distance(cells[to]);
            if best[to].is_none_or(|known| length < known) && sees(cells[at], cells[to]) {
                best[to] = Some(length);
            }
        }
    }
    best
}

/// The length of the path that a point walks along a field, from aim to aim.
pub(crate) fn walked(ground: &Ground, flows: &Flows, flow: FlowId, from: Vec2) -> Option<Fx> {
    let (mut place, mut length) = (from, Fx::ZERO);
    for _ in 0..1_000 {
        match flows.way(ground, flow, place) {
            Way::Straight { left } => return Some(length + left),
            Way::Aim { to, .. } => {
                length += place.distance(to);
                place = to;
            }
            _ => return None,
        }
    }
    panic!("no end from {from:?}, now at {place:?}");
}

/// A tenth more than the radius of a unit: the ground finds a way through nearly all doors that are so wide, and through some that are narrower.
const RADIUS: Fx = Fx::lit("0.55");

/// Whether a disc meets no obstacle between two places.
fn has_room(world: &World, from: Vec2, to: Vec2, radius: Fx) -> bool {
    world.sweep_circle(from, to, radius, &Default::default()).unwrap().is_none()
}

/// One place in each open cell where a unit has room, by the physics alone: its middle, or the first of those with the most room.
fn places(world: &World, ground: &Ground) -> Vec<Vec2> {
    let mut found = Vec::new();
    let mut room = |at: Vec2| {
        world.nearest(at, 1, Fx::ONE, &Default::default(), &mut found).unwrap();
        found.first().map_or(Fx::ONE, |&(_, distance)| distance)
    };
    let mut all = Vec::new();
    for middle in middles(ground).into_iter().filter(|&at| ground.is_open(at, size(ground))) {
        let parts = (-7..=7).flat_map(|y| (-7..=7).map(move |x| Vec2::from_ints(x, y)));
        let in_cell = |part: Vec2| middle + Vec2::new(part.x / 16, part.y / 16) * ground.cell();
        let mut best = (middle, room(middle));
        if best.1 < RADIUS {
            for at in parts.map(in_cell) {
                let here = room(at);
                best = if here > best.1 { (at, here) } else { best };
            }
        }
        if best.1 >= RADIUS {
            all.push(best.0);
        }
    }
    all
}

/// How much longer some paths are than exact ones.
#[derive(Default)]
struct Longer {
    around: i32,
    sum: Fx,
    /// More than a twentieth and half a cell.
    much: i32,
    worst: Fx,
}

impl Longer {
    /// The exact path goes from middle to middle, a walked one over anchors. Short ones say little.
    fn note(&mut self, cell: Fx, walked: Fx, shortest: Fx) {
        if shortest > Fx::from_num(4) {
            self.around += 1;
            self.sum += walked / shortest;
            self.much += i32::from(walked > shortest * 21 / 20 + cell / 2);
            self.worst = self.worst.max((walked - cell / 2) / shortest);
        }
    }

    /// Beside obstacles that lie across cells, paths over anchors make small detours.
    fn judge(&self, what: &str) {
        let Self { around, sum, much, worst } = *self;
        let mean = sum / i64::from(around.max(1));
        println!(
            "{what}: mean {mean} worst {worst} of {around}; {much} are more than a twentieth and half a cell longer"
        );
        assert!(around > 3_000, "{what}: {around} paths: not interesting");
        assert!(much * 1_000 < around && worst < Fx::lit("1.25"), "{what}: {much} paths, {worst}");
        assert!(mean <= Fx::lit("1.01"), "{what}: {mean}");
    }
}

/// Both those of fields and those of single searches.
#[test]
fn paths_are_hardly_longer_than_exact_ones() {
    let (mut of_fields, mut single) = (Longer::default(), Longer::default());
    let (mut search, mut looked) = (PathSearch::default(), 0);
    let (mut legs, mut blocked) = (0, 0);
    for seed in 0..3 {
        for kind in KINDS {
            let world = draw(kind, seed);
            let ground = surveyed(&world, &GroundDef::new(area()));
            let cells = places(&world, &ground);
            let mut rng = Pcg32::new(seed, 1);
            let goal = rng.below(cells.len() as u32) as usize;
            let shortest = shortest(&cells, goal, |from, to| has_room(&world, from, to, RADIUS));
            let mut flows = Flows::new(4).unwrap();
            let flow = flows.to(&ground, cells[goal], size(&ground)).unwrap();
            flows.search_all(&ground, flow);
            for (&from, shortest) in cells.iter().zip(&shortest) {
                let walked = walked(&ground, &flows, flow, from);
                // The judge may miss a place with a hand's breadth of room.
                assert!(walked.is_some() || shortest.is_none(), "{kind:?} {seed}: {from:?}");
                let path = search.find(&ground, [from, cells[goal]], size(&ground), u32::MAX);
                let path = path.ok().map(|corners| length(&ground, from, corners));
                assert_eq!(path.is_some(), walked.is_some(), "{kind:?} {seed}: {from:?}");
                looked += search.cells();
                let (Some(walked), Some(path), Some(shortest)) = (walked, path, *shortest) else { continue };
                of_fields.note(ground.cell(), walked, shortest);
                let mut at = from;
                while let Way::Aim { to, .. } = flows.way(&ground, flow, at) {
                    legs += 1;
                    blocked += i32::from(!has_room(&world, at, to, Fx::ONE / 4));
                    at = to;
                }
                single.note(ground.cell(), path, shortest);
            }
        }
    }
    println!("{} cells were looked at for each single path", looked / single.around.unsigned_abs());
    println!("{blocked} of {legs} legs");
    // Half as wide, a unit passes everywhere: at corners it may touch an obstacle, and slides past it.
    assert!(legs > 30_000 && blocked * 1_000 < legs, "{blocked} of {legs} straight legs lead into obstacles");
    of_fields.judge("fields");
    single.judge("single paths");
}

/// Of 200 drawn doors in straight walls, how many a path leads through. Width in diameters of a unit, thickness of the wall in units; walls along the axes, or
/// in any direction.
fn open_doors(width: Fx, thickness: Fx, is_turned: bool) -> u32 {
    let mut rng = Pcg32::new(7, width.to_bits() as u64);
    let length = Fx::from_num(40);
    let mut open = 0;
    for _ in 0..share(200) {
        let mut part = || Fx::from_bits(rng.below(2 << 16).into());
        let middle = Vec2::new(part(), part());
        let bits = if is_turned { rng.below(1 << 16) << 16 } else { rng.below(4) << 30 };
        let through = Vec2::from_angle(Angle::from_bits(bits));
        let place = |ahead: Fx, aside: Fx| {
            let (x, y) = (through.x * ahead - through.y * aside, through.y * ahead + through.x * aside);
            middle + Vec2::new(x, y)
        };
        let mut world = open_world();
        for [right, left] in [[width / 2, length], [-length, -width / 2]] {
            let half = thickness / 2;
            let corners = [place(-half, right), place(half, right), place(half, left), place(-half, left)];
            world.create_polygon(&PolygonDef::new(&corners)).unwrap();
        }
        let ground = surveyed(&world, &GroundDef::new(area()));
        let ends = [-8, 8].map(|ahead| place(Fx::from_num(ahead), Fx::ZERO));
        let size = size(&ground);
        open += u32::from(PathSearch::default().find(&ground, ends, size, u32::MAX).is_ok());
    }
    open
}

/// Of 400 doors of 1.1 diameters 163 were open: most ways from anchor to anchor led a hand's breadth into the edge of the door.
#[test]
fn doors_are_open_wherever_they_lie() {
    for (is_turned, width, least) in [
        (false, "1.1", 190),
        (false, "1.2", 200),
        (false, "2", 200),
        (true, "1.1", 130),
        (true, "1.2", 180),
        (true, "1.3", 198),
        (true, "2", 200),
    ] {
        for thickness in [Fx::ONE / 2, Fx::from_num(6)] {
            let open = open_doors(Fx::from_str(width).unwrap(), thickness, is_turned);
            let all = share(200);
            println!("{open} of {all} doors of {width} in walls of {thickness}, turned {is_turned}");
            assert!(
                u64::from(open) * 200 >= all * least,
                "{open} of {all} doors of {width} in walls of {thickness}, turned {is_turned}"
            );
        }
    }
}

/// The length of a path from corner to corner. Each sees the next one, and what it says of the rest is true.
fn length(ground: &Ground, from: Vec2, corners: &[Corner]) -> Fx {
    let size = size(ground);
    for pair in corners.windows(2) {
        // A step between neighbours may pass through the corner of a third cell.
        let is_step = pair[0].at.distance(pair[1].at) <= ground.cell() * 9 / 4;
        assert!(is_step || ground.sees(pair[0].at, pair[1].at, size), "{pair:?} on the way from {from:?}");
        let said = pair[0].left - pair[1].left;
        let off = (said - pair[0].at.distance(pair[1].at)).abs();
        // (Each length is rounded to 1/256 of a cell.)
        assert!(off <= ground.cell() / 64, "{pair:?}: {off}");
    }
    assert_eq!(corners.last().unwrap().left, Fx::ZERO);
    // It goes straight to the last one in sight each time.
    let (mut at, mut whole, mut ahead) = (from, Fx::ZERO, corners);
    while !ahead.is_empty() {
        let seen = ahead.iter().take_while(|corner| ground.sees(at, corner.at, size)).count().max(1);
        whole += at.distance(ahead[seen - 1].at);
        (at, ahead) = (ahead[seen - 1].at, &ahead[seen..]);
    }
    whole
}

/// Slow ground costs what it says: paths are hardly longer than the shortest from cell to neighbour, each step as many times as long as its cell costs.
#[test]
fn single_paths_over_slow_ground_are_as_short_as_steps() {
    let mut search = PathSearch::default();
    let (mut around, mut shorter) = (0, 0);
    for seed in 0..20 {
        let mut rng = Pcg32::new(seed, 78);
        let (world, mut ground) = (open_world(), Ground::new(&GroundDef::new(area())).unwrap());
        let place = |rng: &mut Pcg32| {
            Vec2::new(Fx::from_num(rng.below(32)) - HALF, Fx::from_num(rng.below(32)) - HALF)
        };
        for _ in 0..12 {
            let corner = place(&mut rng);
            let size = Vec2::from_ints(2 + rng.below(9) as i32, 2 + rng.below(9) as i32);
            ground
                .set_cost(&world, Aabb::from_corners(corner, corner + size), 1 + rng.below(8) as u8)
                .unwrap();
        }
        let middles = middles(&ground);
        let goal = rng.below(1_024) as usize;
        let steps = by_steps(&ground, &middles, goal);
        for from in (0..1_024).step_by(7) {
            let corners =
                search.find(&ground, [middles[from], middles[goal]], size(&ground), u32::MAX).unwrap();
            let (said, straight) = (corners[0].left, middles[from].distance(middles[goal]));
            assert!(
                said <= steps[from] * 33 / 32 + ground.cell() / 8,
                "{seed} {from}: {said}, {}",
                steps[from]
            );
            assert!(said >= straight - ground.cell() / 8, "{seed} {from}: {said}, {straight}");
            around += i32::from(said > straight * 11 / 10);
            shorter += i32::from(said < steps[from] * 99 / 100);
        }
    }
    assert!(around > 500 && shorter > 500, "{around} {shorter}: not interesting");
}

/// Lengths from all cells of open ground to one, from cell to neighbour, by brute force.
fn by_steps(ground: &Ground, middles: &[Vec2], goal: usize) -> Vec<Fx> {
    let columns = ground.columns() as usize;
    let mut best = vec![Fx::MAX; middles.len()];
    best[goal] = Fx::ZERO;
    let mut before = Vec::new();
    while best != before {
        before.clone_from(&best);
        for at in 0..middles.len() {
            let rows = (at / columns).saturating_sub(1)..=(at / columns + 1).min(ground.rows() as usize - 1);
            let around = (at % columns).saturating_sub(1)..=(at % columns + 1).min(columns - 1);
            for to in rows.flat_map(|row| around.clone().map(move |column| row * columns + column)) {
                let step = middles[at].distance(middles[to]) * i64::from(ground.cost(middles[at]));
                best[at] = best[at].min(best[to].saturating_add(step));
            }
        }
    }
    best
}

#[test]
fn a_path_that_is_closed_or_too_long_is_told() {
    let mut world = draw(Kind::Rocks, 4);
    let ring = Vec2::from_ints(-9, -9);
    for (x, y, half_x, half_y) in [(3, 0, 1, 4), (-3, 0, 1, 4), (0, 3, 4, 1), (0, -3, 4, 1)] {
        house(&mut world, ring + Vec2::from_ints(x, y), Vec2::from_ints(half_x, half_y));
    }
    let ground = surveyed(&world, &GroundDef::new(area()));
    let mut search = PathSearch::default();
    let far = Vec2::from_ints(14, 14);
    for ends in [[ring, far], [far, ring]] {
        assert_eq!(search.find(&ground, ends, size(&ground), u32::MAX), Err(PathError::Closed));
    }
    let ends = [Vec2::from_ints(-14, 14), Vec2::from_ints(14, -14)];
    let whole = search.find(&ground, ends, size(&ground), u32::MAX).unwrap().to_vec();
    let cells = search.cells();
    assert_eq!(search.find(&ground, ends, size(&ground), cells - 1), Err(PathError::TooFar));
    assert_eq!(search.find(&ground, ends, size(&ground), cells), Ok(&whole[..]));
    let near = far + Vec2::new(Fx::ONE / 4, Fx::ZERO);
    let ends = [Corner { at: far, left: Fx::ONE / 4 }, Corner { at: near, left: Fx::ZERO }];
    assert_eq!(search.find(&ground, [far, near], size(&ground), 1), Ok(&ends[..]));
}

#[test]
fn a_new_ground_equals_one_of_an_empty_world() {
    for cell in [Fx::ONE, Fx::ONE / 8, Fx::from_num(4)] {
        let def = GroundDef::new(area()).cell(cell).sizes(&[Fx::lit("0.4"), Fx::lit("1.3")]);
        let new = Ground::new(&def).unwrap();
        let mut empty = new.clone();
        empty.survey(&open_world());
        assert!(new == empty, "cells of {cell}");
    }
}

#[test]
fn a_partial_survey_equals_a_whole_one() {
    let mut changes = 0;
    for seed in 0..6 {
        for kind in KINDS {
            let mut world = draw(kind, seed);
            let mut rng = Pcg32::new(seed, 2);
            let def = GroundDef::new(area()).sizes(&[Fx::lit("0.4"), Fx::lit("0.5"), Fx::lit("1.3")]);
            let mut ground = surveyed(&world, &def);
            for turn in 0..6 {
                let before = ground.clone();
                let bodies: Vec<_> = world.bodies().map(|body| body.id()).collect();
                let part = |rng: &mut Pcg32, of: u32| Fx::from_bits(i64::from(rng.below(of << 16)));
                let around = if turn % 2 == 0 || bodies.is_empty() {
                    let place = Vec2::new(part(&mut rng, 32) - HALF, part(&mut rng, 32) - HALF);
                    let half = Vec2::new(part(&mut rng, 3) + Fx::ONE / 8, part(&mut rng, 3) + Fx::ONE / 8);
                    house(&mut world, place, half);
                    Aabb::from_center_half(place, half)
                } else {
                    let gone = bodies[rng.below(bodies.len() as u32) as usize];
                    let around = world.body(gone).unwrap().aabb();
                    world.remove_body(gone).unwrap();
                    around
                };
                ground.survey_area(&world, around);
                let whole = surveyed(&world, &def);
                assert!(ground == whole, "{kind:?} {seed} turn {turn}");
                changes += u32::from(ground != before);
            }
        }
    }
    assert!(changes > 100, "{changes} changes: not interesting");
}
