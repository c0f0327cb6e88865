//! One unit and one goal: a single path, a field that ends as soon as the unit has its path, and A* of `pathfinding`.

use pathfinding::directed::astar::astar;
use testudo_movement::{Flows, Ground, GroundDef, PathSearch, Way};
use testudo_physics::{Aabb, Fx, Pcg32, Vec2};

use crate::paths::{Grid, HALF, SIDE, at_least, median, middle, timed, world};

/// Pairs of a start and a goal for each row.
const PAIRS: usize = 60;

/// A crowd's budget for each frame, see `CrowdDef::cells_per_frame`.
const CELLS_PER_FRAME: u32 = 16_384;

pub(crate) fn table() {
    println!(
        "| houses | goal, cells away | single path | cells | new field until its path is known | cells | over a corridor | cells | A* of `pathfinding` | cells | its path / ours |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for houses in [0, 500, 3_000] {
        let area = Aabb::from_corners(Vec2::from_ints(-HALF, -HALF), Vec2::from_ints(HALF, HALF));
        let mut ground = Ground::new(&GroundDef::new(area)).expect("a valid ground");
        ground.survey(&world(houses));
        let grid = Grid::new(&ground);
        for away in [30, 100, 300] {
            row(houses, away, &ground, &grid);
        }
    }
    println!();
}

/// A field until the way of one unit is known: time and cells.
fn search(flows: &mut Flows, ground: &Ground, from: Vec2, goal: Vec2) -> (f64, u32) {
    timed(|| {
        let size = ground.size_of(Fx::ONE / 2).expect("the default size");
        let flow = flows.to(ground, goal, size).expect("there is ground");
        let mut cells = 0;
        while flows.follow(ground, flow, from, false) == Way::Unknown {
            cells += flows.search(ground, CELLS_PER_FRAME);
        }
        cells
    })
}

fn row(houses: u32, away: i32, ground: &Ground, grid: &Grid) {
    let size = ground.size_of(Fx::ONE / 2).expect("the default size");
    let mut rng = Pcg32::new(11, 11);
    let (mut new, mut corridor, mut single) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ours, mut narrow, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    let (mut alone, mut looked, mut longer) = (Vec::new(), Vec::new(), Vec::new());
    let mut paths = PathSearch::default();
    // Its portals are known.
    let mut corridors = Flows::new(1).expect("a valid number").whole_up_to(0);
    while new.len() < PAIRS {
        let start = rng.below((SIDE * SIDE) as u32);
        let way = rng.below(4) as usize;
        let ([x, y], [dx, dy]) =
            ([start as i32 % SIDE, start as i32 / SIDE], [[1, 0], [0, 1], [-1, 0], [0, -1]][way]);
        let to = [x + dx * away, y + dy * away];
        if !to.iter().all(|part| (0..SIDE).contains(part)) {
            continue;
        }
        let goal = (to[1] * SIDE + to[0]) as u32;
        if ![start, goal].iter().all(|&cell| ground.is_open(middle(cell), size)) {
            continue;
        }
        let mut visited = 0_u32;
        let (time, path) = timed(|| {
            let successors = |&cell: &u32| {
                visited += 1;
                grid.successors(cell)
            };
            astar(&start, successors, |&cell| at_least(cell, goal), |&cell| cell == goal)
        });
        let Some((_, their_length)) = path else { continue };
        let ends = [middle(start), middle(goal)];
        let (alone_time, length) = timed(|| {
            let corners = paths.find(ground, ends, size, u32::MAX).expect("a path, as theirs");
            corners.first().expect("its start").left
        });
        alone.push(alone_time);
        looked.push(f64::from(paths.cells()));
        longer.push(f64::from(their_length) / 256.0 / length.to_num::<f64>());
        single.push(time);
        theirs.push(f64::from(visited));
        let (time, cells) = search(&mut Flows::new(1).expect("a valid number"), ground, middle(start), middle(goal));
        new.push(time);
        ours.push(f64::from(cells));
        // The first search finds the portals; nobody uses a field for two frames, and the next goal gets its place.
        for from in [goal, start] {
            (0..3).for_each(|_| _ = corridors.search(ground, 1));
            let (time, cells) = search(&mut corridors, ground, middle(from), middle(start ^ goal ^ from));
            if from == start {
                corridor.push(time);
                narrow.push(f64::from(cells));
            }
        }
    }
    println!(
        "| {houses} | {away} | {:.3} ms | {:.0} | {:.3} ms | {:.0} | {:.3} ms | {:.0} | {:.3} ms | {:.0} | {:.3} |",
        median(alone),
        median(looked),
        median(new),
        median(ours),
        median(corridor),
        median(narrow),
        median(single),
        median(theirs),
        median(longer)
    );
}
