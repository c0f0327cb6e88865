//! Paths on a grid with houses: one field against Dijkstra from the goal, and against A* for single units.

use cpu_time::ThreadTime;
use pathfinding::directed::{astar::astar, dijkstra::dijkstra_all};
use testudo_movement::{FlowId, Flows, Ground, GroundDef, Way};
use testudo_physics::{Aabb, BodyDef, Fx, Pcg32, Shape, Vec2, World, WorldDef};

pub(crate) const HALF: i32 = 256;
pub(crate) const SIDE: i32 = 2 * HALF;
const STARTS: usize = 100;
const STEPS: [(i32, i32); 8] = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];

pub(crate) fn world(houses: u32) -> World {
    let mut world = World::new(WorldDef::new()).expect("the default settings are valid");
    let mut rng = Pcg32::new(1, 1);
    for _ in 0..houses {
        let mut part = |of: u32| Fx::from_num(rng.below(of));
        let place = Vec2::new(part(512) - Fx::from_num(HALF), part(512) - Fx::from_num(HALF));
        let shape = Shape::rect(part(4) + Fx::ONE, part(8) + Fx::ONE);
        world.create_body(&BodyDef::static_body(shape).position(place)).expect("all values are in range");
    }
    world
}

pub(crate) fn middle(cell: u32) -> Vec2 {
    let [x, y] = [cell as i32 % SIDE, cell as i32 / SIDE].map(|part| Fx::from_num(part - HALF) + Fx::ONE / 2);
    Vec2::new(x, y)
}

/// The cells that one step leads to, with its length in 1/256 of a cell: the same steps as those of the field.
pub(crate) struct Grid(pub(crate) Vec<u8>);

impl Grid {
    pub(crate) fn new(ground: &Ground) -> Self {
        let size = ground.size_of(Fx::ONE / 2).expect("the default size");
        let open = |cell: u32| {
            (0..8).filter(move |&step| {
                Self::to(cell, step).is_some_and(|to| ground.sees(middle(cell), middle(to), size))
            })
        };
        Self((0..(SIDE * SIDE) as u32).map(|cell| open(cell).fold(0, |all, step| all | 1 << step)).collect())
    }

    fn to(cell: u32, step: usize) -> Option<u32> {
        let (x, y) = (cell as i32 % SIDE + STEPS[step].0, cell as i32 / SIDE + STEPS[step].1);
        ((0..SIDE).contains(&x) && (0..SIDE).contains(&y)).then_some((y * SIDE + x) as u32)
    }

    pub(crate) fn successors(&self, cell: u32) -> impl Iterator<Item = (u32, u32)> {
        let open = self.0[cell as usize];
        (0..8).filter(move |step| open & 1 << step != 0).map(move |step| {
            let to = (cell as i32 + STEPS[step].1 * SIDE + STEPS[step].0) as u32;
            (to, if step % 2 == 0 { 256 } else { 362 })
        })
    }
}

/// The least number of straight and diagonal steps between two cells.
pub(crate) fn at_least(from: u32, to: u32) -> u32 {
    let (from, to) = (from as i32, to as i32);
    let [dx, dy] = [from % SIDE - to % SIDE, from / SIDE - to / SIDE].map(i32::unsigned_abs);
    256 * dx.max(dy) + 106 * dx.min(dy)
}

/// Length of the way that the field leads along, units.
fn walked(ground: &Ground, flows: &Flows, flow: FlowId, from: Vec2) -> Option<f64> {
    let (mut place, mut length) = (from, 0.0);
    for _ in 0..5_000 {
        match flows.way(ground, flow, place) {
            Way::Straight { left } => return Some(length + left.to_num::<f64>()),
            Way::Aim { to, .. } => {
                length += place.distance(to).to_num::<f64>();
                place = to;
            }
            _ => return None,
        }
    }
    None
}

pub(crate) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

pub(crate) fn timed<R>(act: impl FnOnce() -> R) -> (f64, R) {
    let start = ThreadTime::now();
    let result = act();
    (start.elapsed().as_secs_f64() * 1e3, result)
}

pub(crate) fn row(houses: u32) {
    let area = Aabb::from_corners(Vec2::from_ints(-HALF, -HALF), Vec2::from_ints(HALF, HALF));
    let mut ground = Ground::new(&GroundDef::new(area)).expect("a valid ground");
    ground.survey(&world(houses));
    let grid = Grid::new(&ground);
    let size = ground.size_of(Fx::ONE / 2).expect("the default size");
    let mut rng = Pcg32::new(7, 7);
    let mut open = || loop {
        let cell = rng.below((SIDE * SIDE) as u32);
        if grid.0[cell as usize] != 0 && ground.is_open(middle(cell), size) {
            return cell;
        }
    };
    let (mut fields, mut all, mut single, mut ratios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..5 {
        let goal = open();
        let mut flows = Flows::new(2).expect("a valid number");
        let (time, flow) = timed(|| {
            let flow = flows.to(&ground, middle(goal), size).expect("there is ground");
            flows.search_all(&ground, flow);
            flow
        });
        fields.push(time);
        let (time, parents) = timed(|| dijkstra_all(&goal, |&cell| grid.successors(cell)));
        all.push(time);
        for start in (0..STARTS / 5).map(|_| open()) {
            let (time, path) = timed(|| {
                astar(
                    &start,
                    |&cell| grid.successors(cell),
                    |&cell| at_least(cell, goal),
                    |&cell| cell == goal,
                )
            });
            single.push(time);
            let known = parents.get(&start).map(|&(_, length)| length);
            assert!(start == goal || path.as_ref().map(|path| path.1) == known, "A* and Dijkstra differ");
            let (Some((_, length)), Some(walked)) = (path, walked(&ground, &flows, flow, middle(start)))
            else {
                continue;
            };
            if walked > 4.0 {
                ratios.push(f64::from(length) / 256.0 / walked);
            }
        }
    }
    println!(
        "| {houses} houses | {:.2} ms | {:.0} ms | {:.2} ms | {:.3} |",
        median(fields),
        median(all),
        median(single),
        ratios.iter().sum::<f64>() / ratios.len() as f64
    );
}
