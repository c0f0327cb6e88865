//! The distances from everywhere to one goal.

use alloc::vec;
use alloc::vec::Vec;

use testudo_physics::math::isqrt_u64;

use crate::flow::sight::{SIGHT_MAX, look};
use crate::ground::{Cell, CellRect, Ground, SizeClass};

/// Length of a straight step over cost 1.
pub(crate) const STRAIGHT: u32 = 256;

/// Length of a diagonal one, and its square root of two.
const DIAGONAL: u32 = 362;

/// A distance that is not known. Longer paths are not found: 2^21 cells.
const UNKNOWN: u32 = (1 << 29) - 1;

/// Marks beside a distance: the goal is in sight; the cell waits in its bucket; its distance is final and counted.
const SIGHT: u32 = 1 << 31;
const WAITS: u32 = 1 << 30;
const COUNTED: u32 = 1 << 29;

/// Distances of one bucket, and the number of buckets: more than the longest step and the longest line of sight.
const WIDTH_SHIFT: u32 = 7;
const BUCKETS: u32 = 256;
const _: () = assert!(DIAGONAL * (crate::ground::COST_MAX as u32) < (BUCKETS - 1) << WIDTH_SHIFT);
const _: () = assert!(2 * SIGHT_MAX.pow(2) < (((BUCKETS - 1) << WIDTH_SHIFT) / STRAIGHT).pow(2) as i32);

/// By difference of two neighbours' distances: the square root in Sethian's formula, for cost 1.
static ROOTS: [u16; STRAIGHT as usize + 1] = {
    let mut roots = [0; STRAIGHT as usize + 1];
    let mut difference = 0;
    while difference < roots.len() {
        let square = 2 * STRAIGHT as u64 * STRAIGHT as u64 - (difference * difference) as u64;
        roots[difference] = square.isqrt() as u16;
        difference += 1;
    }
    roots
};

/// The distances to one goal for one size of units, in 1/256 of a cell: a pure function of the ground, the goal, the size and [`Field::level`].
///
/// The field grows outward from its goal, a number of cells per call. It solves the eikonal equation on the grid (Sethian, "A Fast Marching Level Set
/// Method", 1996), so that paths may have any direction; diagonal steps have their exact length in addition. Cells wait in buckets by
/// distance (Dial, 1969). A cell whose distance falls while its bucket is worked off waits again, so the result does not depend on the order, and
/// a field that was repaired after a change of the ground equals a new one.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) goal: Cell,
    pub(crate) size: SizeClass,
    /// All distances below this are final.
    level: u32,
    is_complete: bool,
    // not state: the result of the search, a pure function of the fields above and of the ground
    distances: Vec<u32>,
    // not state: as above
    buckets: Vec<Vec<Cell>>,
    /// Number of cells that wait.
    // not state: as above
    waiting: u32,
    /// The cells that the lines of sight depend on.
    // not state: as above
    looked: CellRect,
}

impl Field {
    /// A field before its search, with its lines of sight.
    pub(crate) fn new(ground: &Ground, goal: Cell, size: SizeClass) -> Self {
        let mut field = Self {
            goal,
            size,
            level: 0,
            is_complete: false,
            distances: Vec::new(),
            buckets: vec![Vec::new(); BUCKETS as usize],
            waiting: 0,
            looked: CellRect { min: [0; 2], max: [0; 2] },
        };
        field.begin(ground, goal, size);
        field
    }

    /// Starts the search to a goal, in the memory of the last one. Returns the number of cells in sight.
    pub(crate) fn begin(&mut self, ground: &Ground, goal: Cell, size: SizeClass) -> u32 {
        (self.goal, self.size, self.level, self.is_complete) = (goal, size, 0, false);
        self.distances.clear();
        self.distances.resize(ground.grid.len() as usize, UNKNOWN);
        self.clear_buckets();
        let distances = &mut self.distances;
        let mut seen = 1;
        distances[goal as usize] = SIGHT;
        self.looked = look(ground, goal, size, |cell, [x, y]| {
            let square = (x * x + y * y) as u64 * u64::from(STRAIGHT).pow(2);
            distances[cell as usize] = SIGHT | isqrt_u64(square) as u32;
            seen += 1;
        });
        self.queue_sight(ground);
        seen
    }

    /// The distance below which all are final.
    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// Whether every cell from which the goal can be reached has its distance.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The distance of a cell, in 1/256 of a cell; `None` if it is not known yet, or if no path leads to the goal.
    #[inline]
    pub(crate) fn distance(&self, cell: Cell) -> Option<u32> {
        let entry = self.distances[cell as usize];
        let distance = entry & UNKNOWN;
        (entry & SIGHT != 0 || distance < self.level).then_some(distance)
    }

    /// Whether the straight line from a cell to the goal is free.
    #[inline]
    pub(crate) fn sees_goal(&self, cell: Cell) -> bool {
        self.distances[cell as usize] & SIGHT != 0
    }

    /// Searches until at least `budget` more cells have their distances; returns how many it were.
    pub(crate) fn search(&mut self, ground: &Ground, budget: u32) -> u32 {
        let mut found = 0;
        while found < budget && !self.is_complete {
            found += self.search_bucket(ground);
        }
        found
    }

    /// Searches up to a level that another search had reached.
    pub(crate) fn search_to(&mut self, ground: &Ground, level: u32, is_complete: bool) {
        while !self.is_complete && (self.level < level || is_complete) {
            self.search_bucket(ground);
        }
    }

    /// Works off the bucket of the present level. The number of cells that it settles does not depend on the order.
    fn search_bucket(&mut self, ground: &Ground) -> u32 {
        if self.waiting == 0 {
            (self.is_complete, self.level) = (true, UNKNOWN);
            return 0;
        }
        let wave = Wave::new(ground, self.size);
        let bucket = (self.level >> WIDTH_SHIFT & (BUCKETS - 1)) as usize;
        let end = self.level + (1 << WIDTH_SHIFT);
        let mut found = 0;
        while let Some(cell) = self.buckets[bucket].pop() {
            let entry = &mut self.distances[cell as usize];
            if *entry & WAITS == 0 || *entry & UNKNOWN >= end {
                continue;
            }
            self.waiting -= 1;
            found += u32::from(*entry & (SIGHT | COUNTED) == 0);
            *entry = *entry & !WAITS | COUNTED;
            let distance = *entry & UNKNOWN;
            self.waiting += wave.spread(&mut self.distances, &mut self.buckets, cell, distance);
        }
        self.level = end;
        found
    }

    /// Forgets what depends on a changed part of the ground. Returns whether everything starts again.
    pub(crate) fn forget(&mut self, ground: &Ground, changed: CellRect) -> bool {
        let near = ground.grid.clip(changed.grown(1));
        let looks = (0..2)
            .all(|axis| near.min[axis] <= self.looked.max[axis] && near.max[axis] >= self.looked.min[axis]);
        if looks {
            self.begin(ground, self.goal, self.size);
            return true;
        }
        let known = near.cells().filter_map(|at| self.distance(ground.grid.cell(at))).min();
        let floor = match known {
            // Where nobody has come from, nothing depends on the change; but what waits beside it was computed with the old ground.
            None => self.level,
            Some(distance) => distance.min(self.level),
        };
        self.truncate(ground, floor);
        false
    }

    /// Forgets all distances at and above a level, but for lines of sight, and lets their neighbours wait again.
    fn truncate(&mut self, ground: &Ground, floor: u32) {
        if self.is_complete && floor == UNKNOWN {
            return;
        }
        self.level = floor & !((1 << WIDTH_SHIFT) - 1);
        self.is_complete = false;
        self.clear_buckets();
        for entry in &mut self.distances {
            let keeps = *entry & SIGHT != 0 || *entry & UNKNOWN < self.level;
            *entry = if keeps { *entry & !WAITS } else { UNKNOWN };
        }
        let wave = Wave::new(ground, self.size);
        for cell in 0..self.distances.len() as u32 {
            let distance = self.distances[cell as usize] & UNKNOWN;
            if distance < self.level && wave.reaches_open(&self.distances, cell, self.level) {
                self.waiting += wave.spread(&mut self.distances, &mut self.buckets, cell, distance);
            }
        }
        self.queue_sight(ground);
    }

    fn clear_buckets(&mut self) {
        self.buckets.iter_mut().for_each(Vec::clear);
        self.waiting = 0;
    }

    /// Lets the cells in sight wait from whose neighbours the goal is not in sight.
    fn queue_sight(&mut self, ground: &Ground) {
        let wave = Wave::new(ground, self.size);
        for at in self.looked.cells() {
            let cell = ground.grid.cell(at);
            let entry = self.distances[cell as usize];
            let distance = entry & UNKNOWN;
            if entry & SIGHT != 0
                && distance >= self.level
                && wave.reaches_open(&self.distances, cell, self.level)
            {
                self.waiting += u32::from(entry & WAITS == 0);
                self.distances[cell as usize] |= WAITS;
                self.buckets[(distance >> WIDTH_SHIFT & (BUCKETS - 1)) as usize].push(cell);
            }
        }
    }
}

/// What one cell does to its neighbours.
struct Wave<'a> {
    steps: &'a [u8],
    costs: &'a [u8],
    offsets: [i32; 8],
}

impl<'a> Wave<'a> {
    fn new(ground: &'a Ground, size: SizeClass) -> Self {
        Self { steps: ground.all_steps(size), costs: ground.all_costs(), offsets: ground.grid.offsets() }
    }

    /// Whether a step leads to a cell whose distance is not final below a level.
    fn reaches_open(&self, distances: &[u32], cell: Cell, level: u32) -> bool {
        let steps = self.steps[cell as usize];
        (0..8).any(|step| {
            let to = cell.wrapping_add_signed(self.offsets[step]);
            steps & 1 << step != 0
                && distances[to as usize] & SIGHT == 0
                && distances[to as usize] & UNKNOWN >= level
        })
    }

    /// Offers a cell's distance to its neighbours; returns how many begin to wait because of it.
    #[inline(always)]
    fn spread(&self, distances: &mut [u32], buckets: &mut [Vec<Cell>], cell: Cell, distance: u32) -> u32 {
        let steps = self.steps[cell as usize];
        let mut begun = 0;
        for step in 0..8 {
            if steps & 1 << step == 0 {
                continue;
            }
            let to = cell.wrapping_add_signed(self.offsets[step]);
            let entry = distances[to as usize];
            let known = entry & UNKNOWN;
            if entry & SIGHT != 0 || known <= distance {
                continue;
            }
            let cost = u32::from(self.costs[to as usize]);
            let offer = if step % 2 == 1 {
                distance + DIAGONAL * cost
            } else {
                self.straight_offer(distances, to, step, distance, cost)
            };
            if offer >= known {
                continue;
            }
            let waits_there = entry & WAITS != 0 && known >> WIDTH_SHIFT == offer >> WIDTH_SHIFT;
            distances[to as usize] = offer | WAITS | entry & COUNTED;
            begun += u32::from(entry & WAITS == 0);
            if !waits_there {
                buckets[(offer >> WIDTH_SHIFT & (BUCKETS - 1)) as usize].push(to);
            }
        }
        begun
    }

    /// The distance of a cell by the straight step from a neighbour, or between it and a cell beside both.
    #[inline(always)]
    fn straight_offer(&self, distances: &[u32], to: Cell, step: usize, distance: u32, cost: u32) -> u32 {
        let open = self.steps[to as usize];
        let length = STRAIGHT * cost;
        let mut offer = distance + length;
        // Back where the wave comes from, and from there to both sides.
        for (aside, corner) in [(step + 2, step + 3), (step + 6, step + 5)] {
            let (aside, corner) = (aside % 8, corner % 8);
            if open & 1 << aside == 0 || open & 1 << corner == 0 {
                continue;
            }
            let other = distances[to.wrapping_add_signed(self.offsets[aside]) as usize] & UNKNOWN;
            let difference = other.abs_diff(distance);
            if difference < length {
                let root = if cost == 1 {
                    u32::from(ROOTS[difference as usize])
                } else {
                    isqrt_u64(2 * u64::from(length).pow(2) - u64::from(difference).pow(2)) as u32
                };
                offer = offer.min((distance + other + root) / 2);
            }
        }
        offer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::GroundDef;
    use testudo_physics::{Aabb, BodyDef, Fx, Pcg32, Shape, Vec2, World, WorldDef};

    /// All final distances. Those that are offered so far depend on the order.
    fn entries(field: &Field) -> Vec<u32> {
        let cells = 0..field.distances.len() as u32;
        cells
            .map(|cell| field.distance(cell).map_or(UNKNOWN, |d| d | u32::from(field.sees_goal(cell)) << 31))
            .collect()
    }

    /// Buildings come and go while fields are searched; each field equals one that is searched anew.
    #[test]
    fn a_repaired_field_equals_a_new_one() {
        let (mut repaired, mut restarted) = (0, 0);
        for seed in 0..20 {
            let mut rng = Pcg32::new(seed, 1);
            let mut world = World::new(WorldDef::new()).unwrap();
            let area = Aabb::from_corners(Vec2::from_ints(-20, -20), Vec2::from_ints(20, 20));
            let mut ground = Ground::new(&GroundDef::new(area)).unwrap();
            let size = SizeClass(0);
            let goal = ground.grid.cell_at(Vec2::from_ints(rng.below(40) as i32 - 20, -19));
            let mut field = Field::new(&ground, goal, size);
            let mut houses = Vec::new();
            for turn in 0..30 {
                let around = if turn % 3 < 2 || houses.is_empty() {
                    let place = Vec2::from_ints(rng.below(40) as i32 - 20, rng.below(40) as i32 - 20);
                    let house = Shape::rect(Fx::from_num(1 + rng.below(6)), Fx::ONE / 2);
                    let house = world.create_body(&BodyDef::static_body(house).position(place)).unwrap();
                    houses.push(house);
                    world.body(house).unwrap().aabb()
                } else {
                    let house = houses.swap_remove(rng.below(houses.len() as u32) as usize);
                    let around = world.body(house).unwrap().aabb();
                    world.remove_body(house).unwrap();
                    around
                };
                if let Some(changed) = ground.resurvey(&world, around)[0] {
                    if field.forget(&ground, changed) { restarted += 1 } else { repaired += 1 }
                }
                field.search(&ground, rng.below(600));
                let mut new = Field::new(&ground, goal, size);
                new.search_to(&ground, field.level(), field.is_complete());
                assert_eq!(entries(&field), entries(&new), "seed {seed} turn {turn}");
                assert_eq!(
                    (field.level, field.is_complete, field.waiting),
                    (new.level, new.is_complete, new.waiting)
                );
            }
        }
        assert!(repaired > 50 && restarted > 50, "{repaired} {restarted}: not interesting");
    }

    #[test]
    fn the_budget_decides_when_and_not_what() {
        let area = Aabb::from_corners(Vec2::from_ints(-60, -3), Vec2::from_ints(60, 3));
        let mut world = World::new(WorldDef::new()).unwrap();
        let wall = BodyDef::static_body(Shape::rect(Fx::ONE / 4, Fx::from_num(2)));
        for x in [-30, 0, 30] {
            world.create_body(&wall.position(Vec2::from_ints(x, 1))).unwrap();
        }
        let mut ground = Ground::new(&GroundDef::new(area)).unwrap();
        ground.survey(&world);
        let whole = |budget: u32| {
            let goal = ground.grid.cell_at(Vec2::from_ints(-50, 0));
            let mut field = Field::new(&ground, goal, SizeClass(0));
            while !field.is_complete() {
                field.search(&ground, budget);
            }
            entries(&field)
        };
        let all = whole(u32::MAX);
        assert!(all.iter().filter(|entry| **entry & UNKNOWN < UNKNOWN).count() > 500);
        assert_eq!(whole(1), all);
        assert_eq!(whole(77), all);
    }
}
