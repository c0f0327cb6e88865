//! Paths from tile to tile, for goals that are far away.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::flow::field::UNKNOWN;
use crate::flow::portals::NONE;
use crate::flow::sectors::{Node, Sectors, straight, tile_of};
use crate::flow::tiles::Tiles;
use crate::ground::{Cell, CellRect, Ground, SizeClass, TILE};

/// A straight line over so many portals is tried at most.
const LINE: usize = 32;

/// What the beginning of a search counts for: it looks through two tiles.
pub(crate) const BEGIN: u32 = 512;

/// After so many restarts the share of the budget does not double any more.
const DOUBLINGS: u32 = 20;

/// A search for a short path from one cell to another over portals (A*), spread over frames. Its state is its ends and how many steps it has made: the
/// rest follows from these and from the ground.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The place of the field that it is for.
    pub(crate) index: u16,
    pub(crate) start: Cell,
    pub(crate) goal: Cell,
    pub(crate) size: SizeClass,
    /// Portals that it has taken from its queue.
    pub(crate) steps: u32,
    /// How often it began again, because the ground changed where it had been, or at one of its ends.
    pub(crate) restarts: u8,
    // not state: follow from the above
    is_over: bool,
    /// From the goal to the portals of its tile.
    to_goal: Vec<u32>,
    /// The shortest path to the goal so far, and the last portal on it.
    best: (u32, Option<Node>),
    /// The least possible length of a path over a portal, and that of the path to it.
    queue: BinaryHeap<Reverse<(u32, Node, u32)>>,
}

/// The ends of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) start: Cell,
    pub(crate) goal: Cell,
    pub(crate) size: SizeClass,
}

impl Ends {
    /// Whether there is a path.
    pub(crate) fn are_connected(&self, sectors: &Sectors, ground: &Ground) -> bool {
        let [from_start, to_goal] = self.rows(sectors, ground);
        let [first, last] = [self.start, self.goal].map(|cell| tile_of(ground, cell));
        let direct = from_start.last().copied().unwrap_or(NONE);
        direct != NONE || sectors.connects((first, &from_start), (last, &to_goal))
    }

    /// Lengths from both ends to the portals of their tiles, and to the other end.
    fn rows(&self, sectors: &Sectors, ground: &Ground) -> [Vec<u32>; 2] {
        [(self.start, self.goal), (self.goal, self.start)]
            .map(|(from, to)| sectors.lengths_from(ground, self.size, from, to))
    }
}

impl Plan {
    /// Begins a search.
    pub(crate) fn new(sectors: &mut Sectors, ground: &Ground, index: u16, ends: Ends) -> Self {
        let Ends { start, goal, size } = ends;
        let mut plan = Self {
            index,
            start,
            goal,
            size,
            steps: 0,
            restarts: 0,
            is_over: false,
            to_goal: Vec::new(),
            best: (NONE, None),
            queue: BinaryHeap::new(),
        };
        plan.begin(sectors, ground);
        plan
    }

    /// Begins again, because the ground has changed.
    pub(crate) fn restart(&mut self, sectors: &mut Sectors, ground: &Ground) {
        self.restarts = self.restarts.saturating_add(1);
        self.begin(sectors, ground);
    }

    fn begin(&mut self, sectors: &mut Sectors, ground: &Ground) {
        let [from_start, to_goal] = self.ends().rows(sectors, ground);
        (self.steps, self.is_over, self.to_goal) = (0, false, to_goal);
        self.best = (from_start.last().copied().unwrap_or(NONE), None);
        self.queue.clear();
        let [tile, last] = [self.start, self.goal].map(|cell| tile_of(ground, cell));
        sectors.begin_search([tile, last]);
        for (portal, &length) in (0..sectors.at(tile).portals.len() as u32).zip(&from_start) {
            if length != NONE {
                self.enter(sectors, ground, (Node { tile, portal }, length, None));
            }
        }
    }

    pub(crate) fn ends(&self) -> Ends {
        Ends { start: self.start, goal: self.goal, size: self.size }
    }

    /// Its part of a budget. It doubles with each restart: a search ends even if the ground changes in every frame.
    pub(crate) fn share(&self, part: u32) -> u32 {
        part.saturating_mul(1 << u32::from(self.restarts).min(DOUBLINGS))
    }

    /// Searches until it has looked at `budget` portals or is over. Returns how many it were.
    pub(crate) fn search(&mut self, sectors: &mut Sectors, ground: &Ground, budget: u32) -> u32 {
        let mut looked = 0;
        while looked < budget && !self.is_over {
            looked += self.step(sectors, ground);
        }
        looked
    }

    /// Searches as far as another search had come; says whether there was so much to search.
    pub(crate) fn search_to(&mut self, sectors: &mut Sectors, ground: &Ground, steps: u32) -> bool {
        while self.steps < steps && !self.is_over {
            self.step(sectors, ground);
        }
        self.steps == steps && !self.is_over
    }

    /// Goes on from the best portal; says how many it looked at.
    fn step(&mut self, sectors: &mut Sectors, ground: &Ground) -> u32 {
        let next = self.queue.pop().filter(|Reverse((least, ..))| *least < self.best.0);
        let Some(Reverse((_, node, length))) = next else {
            self.is_over = true;
            return 1;
        };
        self.steps += 1;
        if length > sectors.visit(node).length {
            return 1;
        }
        if node.tile == tile_of(ground, self.goal)
            && let Some(&rest) = self.to_goal.get(node.portal as usize)
            && rest != NONE
            && length + rest < self.best.0
        {
            self.best = (length + rest, Some(node));
        }
        let count = sectors.at(node.tile).portals.len() as u32;
        for portal in (0..count).filter(|&portal| portal != node.portal) {
            let inside = sectors.at(node.tile).lengths(node.portal)[portal as usize];
            if inside != NONE {
                let exit = Node { portal, ..node };
                self.enter(sectors, ground, (exit, length + inside, Some(node)));
            }
        }
        count
    }

    /// Goes through a portal of a tile to the other side, if no shorter path is known.
    fn enter(
        &mut self,
        sectors: &mut Sectors,
        ground: &Ground,
        (exit, length, from): (Node, u32, Option<Node>),
    ) {
        let sector = sectors.at(exit.tile);
        let portal = sector.portals[exit.portal as usize];
        let node = Node { tile: portal.tile, portal: sector.partners[exit.portal as usize] };
        let (length, number) = (length + portal.across, sectors.search);
        if length >= UNKNOWN {
            // No field leads so far. (So no sum here comes near the greatest number.)
            return;
        }
        let Some(visit) = sectors.visit_mut(node) else { return };
        if visit.search == number && visit.length <= length {
            return;
        }
        (visit.search, visit.length, visit.from) = (number, length, from);
        let least = length + straight(ground, portal.beyond, self.goal);
        self.queue.push(Reverse((least, node, length)));
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The cells of the path that it found, each end of a line, from the start; `None` if there is none.
    pub(crate) fn path(&self, sectors: &Sectors) -> Option<Vec<Cell>> {
        if self.best.0 == NONE {
            return None;
        }
        let (mut path, mut at) = (alloc::vec![self.goal], self.best.1);
        while let Some(node) = at {
            let portal = sectors.at(node.tile).portals[node.portal as usize];
            path.extend([portal.cell, portal.beyond]);
            at = sectors.visit(node).from;
        }
        path.push(self.start);
        path.reverse();
        Some(path)
    }
}

/// The tiles around a path: those of its cells and of the lines that cut its corners, and one more on each side.
pub(crate) fn corridor(ground: &Ground, size: SizeClass, path: &[Cell]) -> Tiles {
    let [columns, rows] = ground.grid.tiles();
    let mut tiles = Tiles::none((columns * rows).unsigned_abs());
    let mut add = |at: [i32; 2]| {
        let tile = at.map(|part| part / TILE);
        for [x, y] in (CellRect { min: tile, max: tile }.grown(1)).cells() {
            if (0..columns).contains(&x) && (0..rows).contains(&y) {
                tiles.insert((y * columns + x).unsigned_abs());
            }
        }
    };
    path.iter().for_each(|&cell| add(ground.grid.split(cell)));
    let mut from = 0;
    while from + 1 < path.len() {
        let (start, mut to) = (ground.anchor(path[from]), from + 1);
        while to + 1 < path.len() && to - from < LINE && ground.sees(start, ground.anchor(path[to + 1]), size)
        {
            to += 1;
        }
        let ends = [path[from], path[to]].map(|cell| ground.grid.split(cell));
        let away = [0, 1].map(|axis| ends[1][axis] - ends[0][axis]);
        let parts = away[0].abs().max(away[1].abs()) / (TILE / 2) + 1;
        for part in 0..parts {
            add([0, 1].map(|axis| ends[0][axis] + away[axis] * part / parts));
        }
        from = to;
    }
    tiles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::GroundDef;
    use testudo_physics::{Aabb, BodyDef, Fx, Pcg32, Shape, Vec2, World, WorldDef};

    /// A drawn ground of 12 x 9 tiles, and a path that is to be planned.
    fn draw(seed: u64) -> (Ground, Sectors, Ends) {
        let mut rng = Pcg32::new(seed, 21);
        let mut world = World::new(WorldDef::new()).unwrap();
        let area = Aabb::from_corners(Vec2::from_ints(-190, -140), Vec2::from_ints(190, 140));
        let mut ground = Ground::new(&GroundDef::new(area)).unwrap();
        let mut place = || Vec2::from_ints(rng.below(380) as i32 - 190, rng.below(280) as i32 - 140);
        for n in 0..90 {
            let half = [Fx::from_num(16), Fx::ONE / 2];
            let wall = Shape::rect(half[n % 2], half[1 - n % 2]);
            world.create_body(&BodyDef::static_body(wall).position(place())).unwrap();
        }
        ground.survey(&world);
        let size = SizeClass(0);
        let mut sectors = Sectors::default();
        sectors.prepare(&ground, size);
        let [start, goal] = [place(), place()].map(|at| ground.nearest_open_cell(at, size).unwrap());
        (ground, sectors, Ends { start, goal, size })
    }

    #[test]
    fn the_budget_decides_when_a_path_is_planned_and_not_which() {
        let mut pauses = 0;
        for seed in 0..8 {
            let (ground, mut sectors, ends) = draw(seed);
            let untouched = sectors.clone();
            let mut at_once = Plan::new(&mut sectors, &ground, 0, ends);
            at_once.search(&mut sectors, &ground, u32::MAX);
            let path = at_once.path(&sectors);
            assert_eq!(path.is_some(), ends.are_connected(&sectors, &ground), "seed {seed}");
            for budget in [300, 1_000] {
                let mut plan = Plan::new(&mut sectors, &ground, 0, ends);
                while !plan.is_over() {
                    let looked = plan.search(&mut sectors, &ground, budget);
                    let most = (0..108).map(|tile| sectors.at(tile).portals.len()).max().unwrap();
                    assert!(looked < budget + most as u32, "seed {seed}: {looked} of {budget}");
                    pauses += 1;
                    // Another machine restores it.
                    let mut other = untouched.clone();
                    let mut copy = Plan::new(&mut other, &ground, 0, ends);
                    if !plan.is_over() {
                        assert!(copy.search_to(&mut other, &ground, plan.steps), "seed {seed}");
                        assert_eq!(
                            copy.queue.clone().into_sorted_vec(),
                            plan.queue.clone().into_sorted_vec()
                        );
                        assert_eq!(copy.best, plan.best);
                        assert!(!copy.search_to(&mut other, &ground, plan.steps + 100_000));
                    }
                }
                assert_eq!(plan.path(&sectors), path, "seed {seed}");
            }
        }
        assert!(pauses > 16, "{pauses}: not interesting");
    }

    /// Lengths were added up without a limit: in some builds the search panicked, in others it went on with short ones.
    #[test]
    fn a_path_through_a_dear_maze_that_is_longer_than_any_number_is_not_found() {
        let (columns, rows) = (2_048, 560);
        let mut world = World::new(WorldDef::new()).unwrap();
        let area = Aabb::from_corners(Vec2::ZERO, Vec2::from_ints(columns, rows));
        let mut ground = Ground::new(&GroundDef::new(area).sizes(&[Fx::ONE / 4])).unwrap();
        ground.set_cost(&world, area, 15).unwrap();
        let wall = BodyDef::static_body(Shape::rect(Fx::from_num(columns / 2 - 1), Fx::ONE / 64));
        for row in 1..rows {
            // Open at one end, and then at the other.
            let middle = columns / 2 + if row % 2 == 0 { 1 } else { -1 };
            world.create_body(&wall.position(Vec2::from_ints(middle, row))).unwrap();
        }
        ground.survey(&world);
        let size = SizeClass(0);
        let mut sectors = Sectors::default();
        sectors.prepare(&ground, size);
        let half = Fx::ONE / 2;
        let cell = |row: i32| ground.grid.cell_at(Vec2::from_ints(1, row) + Vec2::new(half, half));
        for (row, is_found) in [(60, true), (rows - 1, false)] {
            let ends = Ends { start: cell(0), goal: cell(row), size };
            assert!(ends.are_connected(&sectors, &ground));
            let mut plan = Plan::new(&mut sectors, &ground, 0, ends);
            plan.search(&mut sectors, &ground, u32::MAX);
            assert_eq!(plan.path(&sectors).is_some(), is_found, "to row {row}");
        }
    }
}
