//! The path to one place from everywhere: a flow field that grows outward from its goal, a fixed number of cells per frame.

use testudo_lockstep::state::{StateError, Visit};

use crate::game::point::Point;
use crate::game::terrain::{Cell, Terrain};

/// Cost of a straight step and of a diagonal one: 7/5 is the square root of two within 1 %.
const STRAIGHT: u32 = 5;
const DIAGONAL: u32 = 7;

/// A step out of a wooded cell costs this many times as much, because units are slower there by the same factor.
const WOOD: u32 = 2;

/// Number of buckets for waiting cells, by distance modulo this; more than the longest step.
const BUCKETS: u32 = 16;

/// A cell that the search has not reached.
const UNKNOWN: Cell = Cell::MAX;

/// A flow field to a goal.
///
/// Only the goal, the ground and the number of searched cells are independent. Everything else follows from them, so a copy can rebuild it.
/// The hash of the state contains the digest instead of the whole field.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Route {
    goal: Cell,
    /// Bit `n`: building `n` stood when the search began.
    standing: u64,
    /// Cells taken from the queue so far.
    taken: u32,
    /// A hash over every settled cell and its result.
    digest: u64,
    is_complete: bool,
    // not state: rebuilt from the fields above
    flow: Flow,
    // not state: a function of `standing`
    terrain: Terrain,
}

// not state: the result of the search, a pure function of the route's goal, ground and count of cells
#[derive(Clone, PartialEq, Eq, Debug)]
struct Flow {
    goal: Cell,
    /// By cell: the farthest cell on the path to the goal that can be reached in a straight line. For a waiting cell, the cell from which
    /// it was reached.
    next: Vec<Cell>,
    /// By cell: length of the path. Emptied when the search is over.
    distances: Vec<u32>,
    is_settled: Vec<bool>,
    buckets: [Vec<Cell>; BUCKETS as usize],
    /// All cells nearer than this are settled.
    distance: u32,
}

impl Clone for Route {
    fn clone(&self) -> Self {
        let Self { goal, standing, taken, digest, is_complete, ref flow, ref terrain } = *self;
        Self { goal, standing, taken, digest, is_complete, flow: flow.clone(), terrain: terrain.clone() }
    }

    /// Copies are made within one match. There a route follows from these values, and most have not changed.
    fn clone_from(&mut self, source: &Self) {
        let key = |route: &Self| (route.goal, route.standing, route.taken, route.digest, route.is_complete);
        if key(self) != key(source) {
            *self = source.clone();
        }
    }
}

impl Route {
    /// A route before its search. `terrain` is the ground while the buildings `standing` stand.
    pub(crate) fn new(goal: Point, standing: u64, terrain: &Terrain) -> Self {
        Self::begun(terrain.cell(terrain.nearest_free(goal)), standing, terrain.clone())
    }

    fn begun(goal: Cell, standing: u64, terrain: Terrain) -> Self {
        let cells = terrain.cells() as usize;
        let mut flow = Flow {
            goal,
            next: vec![UNKNOWN; cells],
            distances: vec![u32::MAX; cells],
            is_settled: vec![false; cells],
            buckets: Default::default(),
            distance: 0,
        };
        flow.next[usize::from(goal)] = goal;
        flow.distances[usize::from(goal)] = 0;
        flow.buckets[0].push(goal);
        Self { goal, standing, taken: 0, digest: 0, is_complete: false, flow, terrain }
    }

    /// Whether this is the route to this goal over the ground with these buildings.
    pub(crate) fn leads_to(&self, goal: Point, standing: u64) -> bool {
        self.standing == standing && self.goal == self.terrain.cell(self.terrain.nearest_free(goal))
    }

    /// Whether every cell from which the goal can be reached has its path.
    #[cfg(test)]
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    #[cfg(test)]
    pub(crate) fn cells_taken(&self) -> u32 {
        self.taken
    }

    /// Searches at most `budget` more cells; returns how many it took.
    pub(crate) fn search(&mut self, budget: u32) -> u32 {
        if self.is_complete {
            return 0;
        }
        let flow = &mut self.flow;
        for taken in 0..budget {
            let Some(cell) = flow.take() else {
                self.is_complete = true;
                flow.finish();
                return taken;
            };
            self.taken += 1;
            if flow.settle(cell, &self.terrain) {
                let found = u64::from(cell) | u64::from(flow.next[usize::from(cell)]) << 16;
                self.digest = (self.digest.rotate_left(5) ^ found).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            }
        }
        budget
    }

    /// Where to walk from a position, in a straight line. None if the search has not reached the position yet, or if the goal cannot be
    /// reached. The last leg leads to the middle of the goal's cell.
    pub(crate) fn next(&self, place: Point) -> Option<Point> {
        let cell = self.terrain.cell(place);
        if self.terrain.is_blocked(cell) {
            // Pushed against a rock: first leave the blocked cell.
            return Some(self.terrain.nearest_free(place));
        }
        let is_known = self.flow.is_settled[usize::from(cell)];
        is_known.then(|| self.terrain.middle(self.flow.next[usize::from(cell)]))
    }

    /// The middle of the goal's cell.
    pub(crate) fn goal(&self) -> Point {
        self.terrain.middle(self.goal)
    }

    /// The result of the search: middles of cells, and where to walk from there.
    pub(crate) fn arrows(&self) -> impl Iterator<Item = (Point, Point)> + '_ {
        let known = self.flow.next.iter().zip(&self.flow.is_settled).enumerate();
        known
            .filter(|(_, (_, is_settled))| **is_settled)
            .map(|(cell, (next, _))| (self.terrain.middle(cell as Cell), self.terrain.middle(*next)))
    }

    /// Shows the independent fields, and the digest that proves the rest. If one of them changes, the route is searched again; `ground`
    /// gives the terrain while these buildings stand.
    pub(crate) fn visit<V: Visit>(
        &mut self,
        v: &mut V,
        ground: impl Fn(u64) -> Terrain,
    ) -> Result<(), StateError> {
        let Self { goal, standing, taken, digest: _, is_complete, flow: _, terrain } = &*self;
        let before = (*goal, *standing, *taken, *is_complete);
        let (mut goal, mut standing, mut taken, mut is_complete) = before;
        v.number_in("goal", &mut goal, 0..=i64::from(terrain.cells()) - 1)?;
        v.number("standing", &mut standing)?;
        v.number("taken", &mut taken)?;
        v.number("is_complete", &mut is_complete)?;
        if (goal, standing, taken, is_complete) != before {
            *self = Self::searched(goal, standing, taken, is_complete, ground(standing))?;
        }
        let mut digest = self.digest;
        v.number("digest", &mut digest)?;
        if digest == self.digest {
            Ok(())
        } else {
            Err(StateError::Part { what: "a route is not what its search finds" })
        }
    }

    /// A route after the search of this many cells.
    fn searched(
        goal: Cell,
        standing: u64,
        taken: u32,
        is_complete: bool,
        terrain: Terrain,
    ) -> Result<Self, StateError> {
        let mut route = Self::begun(goal, standing, terrain);
        let found = route.search(taken);
        if found == taken && is_complete {
            route.search(1);
        }
        if (route.taken, route.is_complete) == (taken, is_complete) {
            Ok(route)
        } else {
            Err(StateError::Part { what: "a route's search cannot have come that far" })
        }
    }
}

impl Flow {
    /// The next cell in order of distance; of equally near ones the last found.
    fn take(&mut self) -> Option<Cell> {
        for distance in self.distance..self.distance + BUCKETS {
            if let Some(cell) = self.buckets[(distance % BUCKETS) as usize].pop() {
                self.distance = distance;
                return Some(cell);
            }
        }
        None
    }

    /// Fixes the path from a cell and offers it to its neighbours; false if that was done before.
    fn settle(&mut self, cell: Cell, terrain: &Terrain) -> bool {
        let at = usize::from(cell);
        if self.is_settled[at] {
            return false;
        }
        self.is_settled[at] = true;
        // Settled before this one, so its next cell is known.
        let from = self.next[at];
        let beyond = self.next[usize::from(from)];
        if beyond != from && terrain.sees_evenly(cell, beyond) {
            self.next[at] = beyond;
        }
        for (neighbour, is_diagonal) in terrain.neighbours(cell) {
            let step = if is_diagonal { DIAGONAL } else { STRAIGHT };
            let slow = if terrain.is_wooded(neighbour) { WOOD } else { 1 };
            let distance = self.distance + step * slow;
            let known = self.distances[usize::from(neighbour)];
            if distance < known {
                self.distances[usize::from(neighbour)] = distance;
                self.next[usize::from(neighbour)] = cell;
                self.buckets[(distance % BUCKETS) as usize].push(neighbour);
            } else if distance == known {
                let other = self.next[usize::from(neighbour)];
                let rank = |step: Cell| terrain.detour(neighbour, step, self.goal);
                if rank(cell) < rank(other) {
                    self.next[usize::from(neighbour)] = cell;
                }
            }
        }
        true
    }

    /// Releases the memory that only the search needs.
    fn finish(&mut self) {
        self.distances = Vec::new();
        self.buckets = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::terrain::tests::ground;

    fn complete(terrain: &Terrain, goal: Point, budget: u32) -> Route {
        let mut route = Route::new(goal, 0, terrain);
        while !route.is_complete() {
            assert!(route.search(budget) <= budget);
        }
        route
    }

    fn progress(route: &Route) -> (u32, u64, bool) {
        (route.taken, route.digest, route.is_complete)
    }

    /// Rocks with a gap, a pocket that opens away from the goal, and an enclosed place.
    fn maze() -> Terrain {
        let walls = [(0, 12, 1, 9), (0, -12, 1, 9), (14, 0, 1, 6), (10, 6, 5, 1), (10, -6, 5, 1)];
        let cage = [(-20, -16, 4, 1), (-20, -24, 4, 1), (-24, -20, 1, 5), (-16, -20, 1, 5)];
        ground(30, &[walls.as_slice(), cage.as_slice()].concat())
    }

    #[test]
    fn from_everywhere_the_way_leads_to_the_goal_over_free_cells_in_sight() {
        let terrain = maze();
        let goal = Point::from_units(25, 1);
        let route = complete(&terrain, goal, 1_000);
        let (mut straight, mut around, mut cut_off) = (0, 0, 0);
        for cell in (0..terrain.cells() as Cell).filter(|cell| !terrain.is_blocked(*cell)) {
            let mut place = terrain.middle(cell);
            if route.next(place).is_none() {
                cut_off += 1;
                continue;
            }
            let mut legs = 0;
            while terrain.cell(place) != terrain.cell(goal) {
                let next = route.next(place).unwrap();
                assert!(terrain.sees(terrain.cell(place), terrain.cell(next)), "{place:?} {next:?}");
                place = next;
                legs += 1;
                assert!(legs < 30, "no end from {cell}");
            }
            if legs <= 1 { straight += 1 } else { around += 1 }
        }
        assert!(straight > 100 && around > 100, "{straight} {around}: not interesting");
        assert!((4..40).contains(&cut_off), "{cut_off} cells in the cage");
    }

    #[test]
    fn the_budget_decides_when_and_not_what() {
        let terrain = maze();
        let goal = Point::from_units(-3, 20);
        let whole = complete(&terrain, goal, u32::MAX);
        for budget in [1, 7, 100] {
            assert_eq!(progress(&complete(&terrain, goal, budget)), progress(&whole), "{budget}");
        }
        let mut part = Route::new(goal, 0, &terrain);
        assert_eq!(part.search(50), 50);
        assert_ne!(progress(&part), progress(&whole));
        assert!(part.next(goal).is_some() && part.next(Point::from_units(25, -25)).is_none());
    }

    #[test]
    fn a_goal_in_a_rock_is_beside_it() {
        let terrain = maze();
        let route = complete(&terrain, Point::from_units(14, 0), 500);
        assert!(!terrain.is_blocked(terrain.cell(route.goal())));
        assert!(route.leads_to(Point::from_units(14, 0), 0) && !route.leads_to(Point::from_units(14, 0), 1));
    }
    #[test]
    fn a_route_is_rebuilt_from_its_numbers() {
        let terrain = maze();
        for budget in [0, 50, u32::MAX] {
            let mut route = Route::new(Point::from_units(25, 1), 5, &terrain);
            route.search(budget);
            let again =
                Route::searched(route.goal, 5, route.taken, route.is_complete, terrain.clone()).unwrap();
            assert_eq!(again, route, "{budget}");
            assert!(Route::searched(route.goal, 5, u32::MAX, route.is_complete, terrain.clone()).is_err());
        }
    }

    /// On a map that looks the same after half a turn, so do the paths: no army has a shorter one because of the order of cells.
    #[test]
    fn facing_armies_have_the_same_paths() {
        use crate::game::field::Field;
        use crate::game::map::{MAP_NAMES, Map};
        use crate::game::setup::Setup;

        for name in MAP_NAMES {
            let field = Field::new(&Setup { players: 2, units: 200, seed: 1, map: Map::named(name) });
            let terrain = Terrain::new(&field, core::iter::empty());
            let turned = |place: Point| Point { x: -place.x, y: -place.y };
            for goal in [field.bases[0].centre, Point::from_units(3, -9), Point::from_units(21, 15)] {
                let [one, two] = [goal, turned(goal)].map(|goal| complete(&terrain, goal, u32::MAX));
                let mut known = 0;
                for cell in (0..terrain.cells() as Cell).filter(|cell| !terrain.is_blocked(*cell)) {
                    let place = terrain.middle(cell);
                    assert_eq!(
                        one.next(place),
                        two.next(turned(place)).map(turned),
                        "{name}: {place:?} to {goal:?}"
                    );
                    known += u32::from(one.next(place).is_some());
                }
                assert!(known > 1_000, "{name}: {known} cells");
            }
        }
    }
}
