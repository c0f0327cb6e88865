//! The distances from everywhere to one goal.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use fearless_simd::{Simd, dispatch};

use crate::flow::sight::look;
use crate::flow::tile::{self, FAR, Leaks, SIDE, Tile};
use crate::flow::tiles::Tiles;
use crate::ground::{Cell, CellRect, Ground, SizeClass, TILE};

/// Length of a straight step over cost 1.
pub(crate) const STRAIGHT: u32 = tile::STRAIGHT as u32;

/// A distance that is not known. Longer paths are not found: 2^21 cells.
pub(crate) const UNKNOWN: u32 = (1 << 29) - 1;

/// Marks beside a distance that the goal is in sight.
pub(super) const SIGHT: u32 = 1 << 31;

/// A distance as it is kept: an unknown one is 0, therefore memory that no search has touched costs nothing.
#[inline(always)]
pub(super) const fn kept(distance: u32) -> u32 {
    !distance & UNKNOWN
}

/// Distances that are found at a time: 64 cells.
const WAVE: u32 = 64 * STRAIGHT;

/// In a tile, distances count from this much before the wave: more than the longest step.
const BEFORE: u32 = 5_600;
const _: () = assert!(362 * (crate::ground::COST_MAX as u32 + 1) < BEFORE + 362);

/// Distances above this are not taken from a tile; the waves that reach them find them again.
const TAKEN: u16 = 50_000;
const _: () = assert!(BEFORE + WAVE + 362 * 16 < TAKEN as u32);

/// What is known of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    /// Its least distance that is not final, or of its neighbours'; [`UNKNOWN`] if there is none.
    next: u32,
    /// Cells that this wave has found in it.
    found: u32,
    waits: bool,
    /// Whether this wave has been here.
    is_seen: bool,
}

impl Look {
    const UNKNOWN: Self = Self { next: UNKNOWN, found: 0, waits: false, is_seen: false };
}

/// The distances to one goal for one size of units, in 1/256 of a cell: a pure function of the ground, the goal, the size, the tiles in which
/// paths may go, and [`Field::level`].
///
/// The field grows outward from its goal in waves. A wave visits the tiles in which it may find distances, and again those that a
/// neighbour may improve (after Jeong and Whitaker, "A Fast Iterative Method for Eikonal Equations", 2008). Within a tile all cells of a row get their
/// offers at once, row after row in four directions (Zhao, "A Fast Sweeping Method for Eikonal Equations", 2005). The distances solve
/// the eikonal equation on the grid, so paths may have any direction. They are the only solution, and therefore do not depend on the order of visits; a
/// field that was repaired after a change of the ground equals a new one.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) goal: Cell,
    pub(crate) size: SizeClass,
    /// All distances below this are final.
    level: u32,
    is_complete: bool,
    /// The tiles in which paths may go.
    allowed: Tiles,
    /// Those from which a path was planned since the ground changed.
    planned: Tiles,
    // not state: the result of the search, a pure function of the fields above and of the ground; see `kept`
    pub(super) distances: Vec<u32>,
    // not state: as above
    tiles: Vec<Look>,
    /// Tiles that wait for a visit in this wave.
    // not state: empty between two waves
    queue: VecDeque<u32>,
    /// The cells that the lines of sight depend on.
    // not state: as above
    pub(super) looked: CellRect,
}

impl Field {
    /// A field before its search, with its lines of sight. `is_whole`: paths may go everywhere; else only around the goal.
    pub(crate) fn new(ground: &Ground, goal: Cell, size: SizeClass, is_whole: bool) -> Self {
        let mut field = Self {
            goal,
            size,
            level: 0,
            is_complete: false,
            allowed: Tiles::none(0),
            planned: Tiles::none(0),
            distances: Vec::new(),
            tiles: Vec::new(),
            queue: VecDeque::new(),
            looked: CellRect { min: [0; 2], max: [0; 2] },
        };
        field.begin(ground, goal, size, is_whole);
        field
    }

    /// Starts the search to a goal, in the memory of the last one.
    pub(crate) fn begin(&mut self, ground: &Ground, goal: Cell, size: SizeClass, is_whole: bool) {
        (self.goal, self.size, self.level, self.is_complete) = (goal, size, 0, false);
        if self.distances.len() != ground.grid.len() as usize {
            self.distances = vec![0; ground.grid.len() as usize];
        } else {
            let distances = &mut self.distances;
            self.allowed.iter().for_each(|tile| rows(ground, tile).for_each(|row| distances[row].fill(0)));
        }
        let [columns, rows] = ground.grid.tiles();
        let total = (columns * rows).unsigned_abs();
        self.tiles.clear();
        self.tiles.resize(total as usize, Look::UNKNOWN);
        self.planned = Tiles::none(total);
        let distances = &mut self.distances;
        distances[goal as usize] = SIGHT | kept(0);
        self.looked =
            look(ground, goal, size, |cell, distance| distances[cell as usize] = SIGHT | kept(distance));
        if is_whole {
            self.allowed = Tiles::all(total);
        } else {
            self.allowed = Tiles::none(total);
            let [min, max] = [self.looked.min, self.looked.max].map(|at| at.map(|part| part / TILE));
            for [x, y] in (CellRect { min, max }).cells() {
                self.allowed.insert((y * columns + x).unsigned_abs());
            }
        }
        self.queue_sight(ground);
    }

    /// Whether paths may go everywhere.
    pub(crate) fn is_whole(&self) -> bool {
        self.allowed.is_whole()
    }

    /// The tiles in which paths may go, and those from which a path was planned.
    pub(crate) fn bounds(&self) -> (&Tiles, &Tiles) {
        (&self.allowed, &self.planned)
    }

    /// Whether paths may go through a cell.
    pub(super) fn may_go(&self, ground: &Ground, cell: Cell) -> bool {
        self.allowed.contains(ground.grid.tile(ground.grid.split(cell)))
    }

    /// Notes that a path was planned from a tile.
    pub(crate) fn plan(&mut self, tile: u32) {
        self.planned.insert(tile);
    }

    /// Lets paths go in more tiles; everywhere, if that is half of the ground. Distances that this may improve are forgotten.
    pub(crate) fn allow(&mut self, ground: &Ground, tiles: &Tiles) -> bool {
        let mut floor = None;
        for tile in tiles.iter().filter(|&tile| !self.allowed.contains(tile)) {
            let least = floor.unwrap_or(self.level).min(self.least_around(ground, tile));
            floor = Some(least);
        }
        let Some(mut floor) = floor else { return false };
        tiles.iter().for_each(|tile| _ = self.allowed.insert(tile));
        if self.allowed.is_half() && !self.is_whole() {
            let total = self.allowed.total();
            let new = (0..total).filter(|&tile| !self.allowed.contains(tile));
            floor = new.map(|tile| self.least_around(ground, tile)).fold(floor, u32::min);
            self.allowed = Tiles::all(total);
        }
        self.truncate(ground, floor);
        true
    }

    /// The least distance that is known beside a tile.
    fn least_around(&self, ground: &Ground, tile: u32) -> u32 {
        let around = square(ground, tile).grown(1);
        let rows = around.min[1]..=around.max[1];
        let columns = around.min[0]..=around.max[0];
        let sides = rows.flat_map(|y| [[around.min[0], y], [around.max[0], y]]);
        let ends = columns.flat_map(|x| [[x, around.min[1]], [x, around.max[1]]]);
        let known = sides.chain(ends).filter_map(|at| self.distance(ground.grid.cell(at)));
        known.min().unwrap_or(UNKNOWN)
    }

    /// The distance below which all are final.
    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// Whether this is the same field as another one over the same ground.
    pub(crate) fn is_as_far_as(&self, other: &Self) -> bool {
        let key = |field: &Self| (field.goal, field.size, field.level, field.is_complete);
        key(self) == key(other) && self.bounds() == other.bounds()
    }

    /// Whether every cell from which the goal can be reached has its distance.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The distance of a cell, in 1/256 of a cell; `None` if it is not known yet, or if no path leads to the goal.
    #[inline]
    pub(crate) fn distance(&self, cell: Cell) -> Option<u32> {
        let entry = self.distances[cell as usize];
        let distance = kept(entry);
        (entry & SIGHT != 0 || distance < self.level).then_some(distance)
    }

    /// Whether the straight line from a cell to the goal is free.
    #[inline]
    pub(crate) fn sees_goal(&self, cell: Cell) -> bool {
        self.distances[cell as usize] & SIGHT != 0
    }

    /// Searches until at least `budget` more cells have their distances; returns how many it were.
    pub(crate) fn search(&mut self, ground: &Ground, budget: u32) -> u32 {
        let (mut found, mut tile) = (0, Tile::new());
        while found < budget && !self.is_complete {
            found += self.search_wave(ground, &mut tile);
        }
        found
    }

    /// Searches up to a level that another search had reached.
    pub(crate) fn search_to(&mut self, ground: &Ground, level: u32, is_complete: bool) {
        let mut tile = Tile::new();
        while !self.is_complete && (self.level < level || is_complete) {
            self.search_wave(ground, &mut tile);
        }
        if self.is_complete && !is_complete {
            // The other search did not know yet that nothing is left.
            self.truncate(ground, level);
        }
    }

    /// Finds the distances of one wave. How many there are does not depend on the order of visits.
    fn search_wave(&mut self, ground: &Ground, tile: &mut Tile) -> u32 {
        let end = self.level + WAVE;
        let (mut is_over, mut found) = (true, 0);
        for number in 0..self.tiles.len() {
            is_over &= self.tiles[number].next == UNKNOWN;
            (self.tiles[number].found, self.tiles[number].is_seen) = (0, false);
            if self.tiles[number].next < end {
                self.enqueue(number as u32);
            }
        }
        if is_over {
            (self.is_complete, self.level) = (true, UNKNOWN);
            return 0;
        }
        while let Some(number) = self.queue.pop_front() {
            let before = self.tiles[number as usize].found;
            self.visit(ground, tile, number);
            found += self.tiles[number as usize].found - before;
        }
        self.level = end;
        found
    }

    fn enqueue(&mut self, tile: u32) {
        if !self.allowed.contains(tile) {
            return;
        }
        let look = &mut self.tiles[tile as usize];
        if !core::mem::replace(&mut look.waits, true) {
            self.queue.push_back(tile);
        }
    }

    /// Solves one tile for the present wave.
    fn visit(&mut self, ground: &Ground, tile: &mut Tile, number: u32) {
        let leaks = dispatch!(tile.level, simd => self.solve(simd, ground, tile, number));
        let [columns, rows] = ground.grid.tiles();
        let (column, row) = (number as i32 % columns, number as i32 / columns);
        leaks.each(|x, y| {
            let at = [column + x, row + y];
            if (0..columns).contains(&at[0]) && (0..rows).contains(&at[1]) {
                self.enqueue((at[1] * columns + at[0]) as u32);
            }
        });
    }

    #[inline(always)]
    fn solve<S: Simd>(&mut self, simd: S, ground: &Ground, tile: &mut Tile, number: u32) -> Leaks {
        let grid = &ground.grid;
        let columns = grid.tiles()[0];
        let (column, row) = (number as i32 % columns, number as i32 / columns);
        let stride = grid.stride() as usize;
        // The first cell of the frame around the tile.
        let corner = row as usize * SIDE * stride + column as usize * SIDE;
        // Distances of the tile count from here.
        let base = self.level.wrapping_sub(BEFORE) as i32;
        for y in 0..SIDE + 2 {
            let cells = &self.distances[corner + y * stride..][..SIDE + 2];
            for (to, entry) in tile.row_mut(y).iter_mut().zip(cells) {
                let local = kept(*entry) as i32 - base - 32_768;
                *to = local.clamp(i16::MIN.into(), i16::MAX.into()) as i16 as u16 ^ 0x8000;
            }
        }
        tile.put_ground(ground, self.size, corner);
        tile.solve(simd);
        let last = (BEFORE + WAVE) as u16;
        let (mut next, mut found, mut improved) = (FAR, 0, 0);
        for y in 1..=SIDE {
            let cells = &mut self.distances[corner + y * stride + 1..][..SIDE];
            for (entry, &local) in cells.iter_mut().zip(tile.row(y)) {
                let new = (i32::from(local) + base) as u32;
                let is_better = local < TAKEN && new < kept(*entry);
                let after = if is_better { kept(new) | *entry & SIGHT } else { *entry };
                improved |= *entry ^ after;
                *entry = after;
                found += u32::from(local.wrapping_sub(BEFORE as u16) < WAVE as u16);
                next = next.min(if local < last { FAR } else { local });
            }
        }
        let next = if next == FAR { UNKNOWN } else { (i32::from(next) + base) as u32 };
        let look = &mut self.tiles[number as usize];
        let is_first = !look.is_seen;
        *look = Look { next, found, waits: false, is_seen: true };
        // Only what is kept counts. Distances that are not taken yet improve again in each visit: tiles that may improve each other would never end.
        if improved != 0 || is_first { tile.leaks(last) } else { Leaks::default() }
    }

    /// Mends what depends on a changed part of the ground, with little more than `budget` computed distances. What would need more is forgotten, and found
    /// again by the search. Returns how many were computed.
    pub(crate) fn follow_change(&mut self, ground: &Ground, changed: CellRect, budget: u32) -> u32 {
        self.planned.clear();
        let near = ground.grid.clip(changed.grown(1));
        let looks = (0..2)
            .all(|axis| near.min[axis] <= self.looked.max[axis] && near.max[axis] >= self.looked.min[axis]);
        if let Some((computed, right)) = self.repair(ground, near, looks, budget) {
            if right < self.level {
                self.truncate(ground, right);
            } else {
                self.wait_again(ground);
            }
            return computed;
        }
        if looks {
            self.begin(ground, self.goal, self.size, self.is_whole());
            return 0;
        }
        let known = near.cells().filter_map(|at| self.distance(ground.grid.cell(at))).min();
        // Where nobody has come from, nothing depends on the change; but what waits beside it was computed with the old ground.
        self.truncate(ground, known.map_or(self.level, |distance| distance.min(self.level)));
        0
    }

    /// Lets the tiles around a cell wait, whose distance has changed.
    pub(super) fn wake(&mut self, ground: &Ground, cell: Cell) {
        let at = ground.grid.split(cell);
        let around = ground.grid.clip(CellRect { min: at, max: at }.grown(1));
        for corner in [around.min, [around.min[0], around.max[1]], [around.max[0], around.min[1]], around.max]
        {
            let tile = ground.grid.tile(corner);
            if self.allowed.contains(tile) {
                let next = &mut self.tiles[tile as usize].next;
                *next = (*next).min(self.level);
            }
        }
    }

    /// Forgets the distances that are not final: they were computed with the old ground. Only tiles that wait have some.
    fn wait_again(&mut self, ground: &Ground) {
        let level = self.level;
        for (number, tile) in (0..).zip(&mut self.tiles).filter(|(_, tile)| tile.next != UNKNOWN) {
            tile.next = level;
            for entry in rows(ground, number).flatten() {
                let entry = &mut self.distances[entry];
                let keeps = *entry & SIGHT != 0 || kept(*entry) < level;
                *entry = if keeps { *entry } else { 0 };
            }
        }
    }

    /// Forgets all distances at and above a level, but for lines of sight; the next wave begins there.
    fn truncate(&mut self, ground: &Ground, floor: u32) {
        if self.is_complete && floor == UNKNOWN {
            return;
        }
        self.level = floor - floor % WAVE;
        self.is_complete = false;
        let (level, grid) = (self.level, &ground.grid);
        let columns = grid.tiles()[0];
        self.tiles.fill(Look::UNKNOWN);
        for number in self.allowed.iter() {
            let mut is_front = false;
            for row in rows(ground, number) {
                for entry in &mut self.distances[row] {
                    let distance = kept(*entry);
                    is_front |= distance < level && distance + BEFORE >= level;
                    let keeps = *entry & SIGHT != 0 || distance < level;
                    *entry = if keeps { *entry } else { 0 };
                }
            }
            if is_front {
                let at = [number as i32 % columns, number as i32 / columns];
                let all = CellRect { min: [0; 2], max: grid.tiles().map(|count| count - 1) };
                for at in (CellRect { min: at, max: at }).grown(1).cells().filter(|&at| all.contains(at)) {
                    let tile = (at[1] * columns + at[0]).unsigned_abs();
                    if self.allowed.contains(tile) {
                        self.tiles[tile as usize].next = level;
                    }
                }
            }
        }
        self.queue_sight(ground);
    }

    /// Lets the tiles wait whose cells see the goal and are not final.
    fn queue_sight(&mut self, ground: &Ground) {
        for at in self.looked.cells() {
            let entry = self.distances[ground.grid.cell(at) as usize];
            let distance = kept(entry);
            if entry & SIGHT != 0 && distance >= self.level {
                let next = &mut self.tiles[ground.grid.tile(at) as usize].next;
                *next = (*next).min(distance);
            }
        }
    }
}

/// The cells of a tile; not all of them may be inside the area.
fn square(ground: &Ground, tile: u32) -> CellRect {
    let columns = ground.grid.tiles()[0];
    let min = [tile as i32 % columns * TILE, tile as i32 / columns * TILE];
    CellRect { min, max: min.map(|at| at + TILE - 1) }
}

/// The rows of a tile, as places of cells.
fn rows(ground: &Ground, tile: u32) -> impl Iterator<Item = core::ops::Range<usize>> {
    let first = ground.grid.cell(square(ground, tile).min) as usize;
    let stride = ground.grid.stride() as usize;
    (0..SIDE).map(move |row| first + row * stride..first + row * stride + SIDE)
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

    /// Buildings and swamps come and go while fields are searched, also in corridors and beside the goal; each field equals one that is searched anew.
    #[test]
    fn a_repaired_field_equals_a_new_one() {
        let (mut mended, mut searched) = (0, 0);
        for seed in 0..16 {
            let (mut rng, is_whole) = (Pcg32::new(seed, 1), seed % 2 == 0);
            let mut world = World::new(WorldDef::new()).unwrap();
            let area = Aabb::from_corners(Vec2::from_ints(-150, -90), Vec2::from_ints(150, 90));
            let mut ground = Ground::new(&GroundDef::new(area)).unwrap();
            let size = SizeClass(0);
            let mut place = move || Vec2::from_ints(rng.below(300) as i32 - 150, rng.below(180) as i32 - 90);
            let (mut rng, near) = (Pcg32::new(seed, 2), place());
            let goal = ground.grid.cell_at(near);
            let mut field = Field::new(&ground, goal, size, is_whole);
            let mut houses = Vec::new();
            for turn in 0..30 {
                let at = if turn % 4 == 3 { near + place() * (Fx::ONE / 16) } else { place() };
                let changes = if turn % 5 == 4 {
                    let swamp = Aabb::from_center_half(at, Vec2::from_ints(4, 9));
                    ground.change_cost(&world, swamp, rng.below(5) as u8).unwrap()
                } else if turn % 3 < 2 || houses.is_empty() {
                    let house = Shape::rect(Fx::from_num(1 + rng.below(40) / 4), Fx::ONE / 2);
                    let house = world.create_body(&BodyDef::static_body(house).position(at)).unwrap();
                    houses.push(house);
                    ground.resurvey(&world, world.body(house).unwrap().aabb())
                } else {
                    let house = houses.swap_remove(rng.below(houses.len() as u32) as usize);
                    let around = world.body(house).unwrap().aabb();
                    world.remove_body(house).unwrap();
                    ground.resurvey(&world, around)
                };
                if let Some(changed) = changes[0] {
                    let before = (field.level, field.is_complete);
                    field.follow_change(&ground, changed, rng.below(20_000));
                    let is_mended = (field.level, field.is_complete) == before;
                    *if is_mended { &mut mended } else { &mut searched } += 1;
                }
                if seed % 4 == 3 {
                    let mut more = Tiles::none(field.bounds().0.total());
                    (0..2).for_each(|_| _ = more.insert(rng.below(field.bounds().0.total())));
                    field.allow(&ground, &more);
                }
                for _ in 0..2 {
                    let mut new = Field::new(&ground, goal, size, is_whole);
                    new.allow(&ground, field.bounds().0);
                    assert_eq!(field.bounds().0, new.bounds().0, "seed {seed} turn {turn}");
                    new.search_to(&ground, field.level(), field.is_complete());
                    assert_eq!(entries(&field), entries(&new), "seed {seed} turn {turn}");
                    assert_eq!((field.level, field.is_complete), (new.level, new.is_complete));
                    // Both go on alike.
                    let budget = rng.below(16_000);
                    field.search(&ground, budget);
                    new.search(&ground, budget);
                    assert_eq!((field.level, field.is_complete), (new.level, new.is_complete));
                    assert_eq!(entries(&field), entries(&new), "seed {seed} turn {turn}");
                }
            }
        }
        assert!(mended > 50 && searched > 50, "{mended} {searched}: not interesting");
    }

    /// Corridors are added while a field is searched; it equals one that had all of them from the start.
    #[test]
    fn a_field_that_grew_by_corridors_equals_a_new_one() {
        let mut partial = 0;
        for seed in 0..10 {
            let mut rng = Pcg32::new(seed, 5);
            let mut world = World::new(WorldDef::new()).unwrap();
            let area = Aabb::from_corners(Vec2::from_ints(-200, -150), Vec2::from_ints(200, 150));
            let mut ground = Ground::new(&GroundDef::new(area)).unwrap();
            let mut place = || Vec2::from_ints(rng.below(400) as i32 - 200, rng.below(300) as i32 - 150);
            for _ in 0..60 {
                let house = Shape::rect(Fx::from_num(12), Fx::ONE / 2);
                world.create_body(&BodyDef::static_body(house).position(place())).unwrap();
            }
            ground.survey(&world);
            let size = SizeClass(0);
            let Some(goal) = ground.nearest_open_cell(place(), size) else { continue };
            let mut field = Field::new(&ground, goal, size, false);
            let total = field.bounds().0.total();
            for turn in 0..24 {
                let mut more = Tiles::none(total);
                (0..3).for_each(|_| _ = more.insert(rng.below(total)));
                if turn % 2 == 0 {
                    field.allow(&ground, &more);
                }
                field.search(&ground, rng.below(9_000));
                let mut new = Field::new(&ground, goal, size, field.is_whole());
                new.allow(&ground, field.bounds().0);
                new.search_to(&ground, field.level(), field.is_complete());
                assert_eq!(entries(&field), entries(&new), "seed {seed} turn {turn}");
                assert_eq!((field.level, field.is_complete), (new.level, new.is_complete));
                partial += u32::from(!field.is_whole());
            }
        }
        assert!(partial > 50, "{partial}: not interesting");
    }

    /// Every cell takes the best offer of its neighbours, again and again, without tiles and waves.
    #[test]
    fn a_field_is_what_plain_iteration_finds() {
        for seed in 0..6 {
            let mut rng = Pcg32::new(seed, 9);
            let mut world = World::new(WorldDef::new()).unwrap();
            let area = Aabb::from_corners(Vec2::from_ints(-36, -30), Vec2::from_ints(36, 30));
            let mut ground = Ground::new(&GroundDef::new(area)).unwrap();
            let mut place = || Vec2::from_ints(rng.below(72) as i32 - 36, rng.below(60) as i32 - 30);
            for _ in 0..25 {
                let house = Shape::rect(Fx::ONE / 2, Fx::from_num(4));
                world.create_body(&BodyDef::static_body(house).position(place())).unwrap();
            }
            ground.survey(&world);
            for cost in [2, 5, 15, 3] {
                let swamp = Aabb::from_center_half(place(), Vec2::from_ints(7, 5));
                ground.set_cost(&world, swamp, cost).unwrap();
            }
            let size = SizeClass(0);
            let Some(goal) = ground.nearest_open_cell(place(), size) else { continue };
            let mut field = Field::new(&ground, goal, size, true);
            let mut plain: Vec<u32> = entries(&field);
            field.search(&ground, u32::MAX);
            while relax(&ground, &mut plain) {}
            let found = entries(&field);
            let is_near = |entry: &u32| *entry == UNKNOWN || *entry & UNKNOWN < 60_000;
            assert!(plain.iter().all(is_near), "seed {seed}: too far for 16 bits");
            assert_eq!(found, plain, "seed {seed}");
        }
    }

    /// Improves every cell by the offers of its neighbours; says whether something changed.
    fn relax(ground: &Ground, distances: &mut [u32]) -> bool {
        let offsets = ground.grid.offsets();
        let mut is_better = false;
        for at in ground.grid.whole().cells() {
            let cell = ground.grid.cell(at);
            let (open, cost) = (ground.steps(cell, SizeClass(0)), ground.cost_of(cell).into());
            let seen = |step: usize| {
                let to = cell.wrapping_add_signed(offsets[step % 8]) as usize;
                let is_open = open & 1 << (step % 8) != 0;
                if is_open { (distances[to] & UNKNOWN).min(FAR.into()) as u16 } else { FAR }
            };
            let offers = [0, 2, 4, 6].map(|step| {
                let (ahead, aside) = (seen(step), seen(step + 1).min(seen(step + 7)));
                if cost == 1 { tile::offer(ahead, aside) } else { tile::slow_offer(ahead, aside, cost) }
            });
            let best = offers.into_iter().min().unwrap();
            let entry = &mut distances[cell as usize];
            if best < FAR && u32::from(best) < *entry & UNKNOWN {
                *entry = u32::from(best) | *entry & SIGHT;
                is_better = true;
            }
        }
        is_better
    }

    #[test]
    fn the_budget_decides_when_and_not_what() {
        let area = Aabb::from_corners(Vec2::from_ints(-260, -3), Vec2::from_ints(260, 3));
        let mut world = World::new(WorldDef::new()).unwrap();
        let wall = BodyDef::static_body(Shape::rect(Fx::ONE / 4, Fx::from_num(2)));
        for x in [-130, 0, 130] {
            world.create_body(&wall.position(Vec2::from_ints(x, 1))).unwrap();
        }
        let mut ground = Ground::new(&GroundDef::new(area)).unwrap();
        ground.survey(&world);
        let whole = |budget: u32| {
            let goal = ground.grid.cell_at(Vec2::from_ints(-250, 0));
            let mut field = Field::new(&ground, goal, SizeClass(0), true);
            while !field.is_complete() {
                field.search(&ground, budget);
            }
            entries(&field)
        };
        let all = whole(u32::MAX);
        assert!(all.iter().filter(|entry| **entry & UNKNOWN < UNKNOWN).count() > 2_500);
        assert_eq!(whole(1), all);
        assert_eq!(whole(77), all);
    }
}
