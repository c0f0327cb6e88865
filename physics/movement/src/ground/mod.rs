//! Where units can go: square cells with a cost each, and for each size of units the open steps between them.

mod def;
mod grid;
mod sight;
mod survey;

use alloc::vec;
use alloc::vec::Vec;

use testudo_physics::{Aabb, BodyId, Fx, QueryFilter, Vec2, World};

pub use def::{COST_MAX, GroundDef, GroundError, SIDE_MAX, SIZES_MAX};
pub(crate) use grid::{Cell, CellRect, Grid, STEPS, TILE};

/// Greatest number of rings around a cell that are searched for an open one.
const RINGS_MAX: i32 = 32;

/// One of the unit sizes of a ground, see [`Ground::size_of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeClass(pub(crate) u8);

/// The ground: a pure function of its definition, of the static bodies of the world and of the costs that the game set. After a partial
/// update ([`Ground::survey_area`]) it equals one that was surveyed as a whole.
///
/// Each cell has an *anchor*: the place in it where the greatest unit has room, found to 1/64 of a cell. A step between two neighbours is
/// open to a size if a disc of this size can be moved from anchor to anchor, straight or with a bend at the border between the cells; the physics' own
/// sweep decides. So a door of 1.3 diameters is open wherever it lies, nearly all of 1.1 in walls along the axes and five of six in turned ones, and one that
/// is a tenth narrower than a unit is closed.
///
/// Most cells are far from the boxes of all obstacles. Only the others ask the physics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ground {
    pub(crate) grid: Grid,
    pub(crate) sizes: Vec<Fx>,
    obstacles: QueryFilter,
    /// By cell: 0 closed to everybody, else how many times as long a step takes.
    costs: Vec<u8>,
    /// By cell: from its middle to its anchor, in 1/64 of a cell.
    anchors: Vec<[i8; 2]>,
    /// By cell: distance from its anchor to the nearest obstacle in 1/64 of a cell, rounded down; 255 is as much or more.
    rooms: Vec<u8>,
    /// By size and cell: the open steps, bit `n` for step `n` of [`STEPS`].
    open: Vec<Vec<u8>>,
}

/// What an update changed, by size: the smallest rectangle with all cells whose steps or costs are others now.
pub(crate) type Changes = [Option<CellRect>; SIZES_MAX as usize];

impl Ground {
    /// A ground without obstacles, every cell at cost 1.
    ///
    /// # Errors
    /// [`GroundError`] names what is wrong in the definition.
    pub fn new(def: &GroundDef) -> Result<Self, GroundError> {
        def.validate()?;
        let bits = def.cell.to_bits();
        let count = |min: Fx, max: Fx| (((max - min).to_bits() + bits - 1) / bits) as i32;
        let min = [def.area.min.x.to_bits(), def.area.min.y.to_bits()];
        let size = [count(def.area.min.x, def.area.max.x), count(def.area.min.y, def.area.max.y)];
        let grid = Grid::new(min, bits.trailing_zeros(), size);
        let cells = grid.len() as usize;
        let mut ground = Self {
            sizes: def.sizes.clone(),
            obstacles: def.obstacles.both_sides(),
            costs: vec![0; cells],
            anchors: vec![[0; 2]; cells],
            rooms: vec![0; cells],
            open: vec![vec![0; cells]; def.sizes.len()],
            grid,
        };
        let far_away = ground.in_parts(ground.far_away());
        for at in ground.grid.whole().cells() {
            let cell = ground.grid.cell(at) as usize;
            ground.costs[cell] = 1;
            ground.rooms[cell] = far_away;
            for (step, (x, y)) in STEPS.into_iter().enumerate() {
                let is_inside = ground.grid.whole().contains([at[0] + x, at[1] + y]);
                ground.open.iter_mut().for_each(|open| open[cell] |= u8::from(is_inside) << step);
            }
        }
        Ok(ground)
    }

    /// Looks at all obstacles of the world again.
    pub fn survey(&mut self, world: &World) {
        self.survey_cells(world, self.grid.whole());
    }

    /// Looks again at the obstacles in and around an area: call it with the box around a body that was created, removed or changed. Costs
    /// as much as the area is large, and gives what [`Ground::survey`] gives. An area whose `min` is above its `max` is empty: nothing changes.
    pub fn survey_area(&mut self, world: &World, area: Aabb) {
        self.resurvey(world, area);
    }

    /// As [`Ground::survey_area`]; says what it changed.
    pub(crate) fn resurvey(&mut self, world: &World, area: Aabb) -> Changes {
        self.cells_around(area).map_or(Changes::default(), |cells| self.survey_cells(world, cells))
    }

    /// The cells that an obstacle in an area can change; `None` if the area is empty.
    pub(crate) fn cells_around(&self, area: Aabb) -> Option<CellRect> {
        if area.min.x > area.max.x || area.min.y > area.max.y {
            return None;
        }
        // An obstacle matters to steps within the greatest radius of it, and a step is at most 2.24 cells long.
        let reach = self.largest() + Fx::from_bits(3 * self.grid.side());
        let (min, max) = (self.grid.place(area.min), self.grid.place(area.max));
        let cells = (reach.to_bits() >> self.grid.shift) as i32 + 1;
        Some(self.grid.clip(CellRect { min, max }.grown(cells)))
    }

    /// Sets the cost of all cells whose middles lie in an area: 0 closes them, 1 is ordinary ground, more makes paths through them that many times as
    /// long, up to [`COST_MAX`].
    ///
    /// # Errors
    /// [`GroundError::Cost`] if the cost is above that; nothing changes then.
    pub fn set_cost(&mut self, world: &World, area: Aabb, cost: u8) -> Result<(), GroundError> {
        self.change_cost(world, area, cost).map(|_| ())
    }

    /// As [`Ground::set_cost`]; says what it changed.
    pub(crate) fn change_cost(
        &mut self,
        world: &World,
        area: Aabb,
        cost: u8,
    ) -> Result<Changes, GroundError> {
        if cost > COST_MAX {
            return Err(GroundError::Cost { value: cost });
        }
        let rect = CellRect { min: self.grid.place(area.min), max: self.grid.place(area.max) };
        let mut touched = None;
        for at in rect.cells().filter(|&at| area.contains(self.grid.middle(at))) {
            let cell = self.grid.cell(at) as usize;
            if self.costs[cell] != cost {
                self.costs[cell] = cost;
                touched = Some(CellRect::with(touched, at));
            }
        }
        let Some(rect) = touched else { return Ok([None; SIZES_MAX as usize]) };
        self.survey_cells(world, rect);
        Ok([Some(rect); SIZES_MAX as usize])
    }

    /// The smallest size that a unit of this radius (units) fits; `None` if it is larger than all of them.
    #[must_use]
    pub fn size_of(&self, radius: Fx) -> Option<SizeClass> {
        self.sizes.iter().position(|size| *size >= radius).map(|at| SizeClass(at as u8))
    }

    /// The radius of a size, units.
    #[must_use]
    pub fn radius(&self, size: SizeClass) -> Fx {
        self.sizes[self.index(size)]
    }

    /// Number of cells along the x axis.
    #[must_use]
    pub fn columns(&self) -> u32 {
        self.grid.columns.unsigned_abs()
    }

    /// Number of cells along the y axis.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.grid.rows.unsigned_abs()
    }

    /// Width of a cell, units.
    #[must_use]
    pub fn cell(&self) -> Fx {
        Fx::from_bits(self.grid.side())
    }

    /// Whether a unit of a size can be in the cell of a position and leave it. Positions outside of the area count as the nearest cell.
    #[must_use]
    pub fn is_open(&self, position: Vec2, size: SizeClass) -> bool {
        self.steps(self.grid.cell_at(position), size) != 0
    }

    /// Whether a position is in the area.
    pub(crate) fn is_inside(&self, position: Vec2) -> bool {
        let grid = &self.grid;
        let is_within = |at: Fx, min: i64, count: i32| {
            (0..i64::from(count) << grid.shift).contains(&at.to_bits().saturating_sub(min))
        };
        is_within(position.x, grid.min[0], grid.columns) && is_within(position.y, grid.min[1], grid.rows)
    }

    /// The nearest position in the area.
    pub(crate) fn held_inside(&self, position: Vec2) -> Vec2 {
        let [x, y] = self.inside(position);
        Vec2::new(Fx::from_bits(x + self.grid.min[0]), Fx::from_bits(y + self.grid.min[1]))
    }

    /// Width and height of the area together: no two places in it are further apart.
    pub(crate) fn across(&self) -> Fx {
        Fx::from_bits(i64::from(self.grid.columns + self.grid.rows) << self.grid.shift)
    }

    /// The cost of the cell of a position, 0..=15.
    #[must_use]
    pub fn cost(&self, position: Vec2) -> u8 {
        self.cost_of(self.grid.cell_at(position))
    }

    /// The position itself if its cell is open to a size; else the anchor of the nearest open cell, at most 32 cells away. `None` if there
    /// is none.
    #[must_use]
    pub fn nearest_open(&self, position: Vec2, size: SizeClass) -> Option<Vec2> {
        let cell = self.nearest_open_cell(position, size)?;
        Some(if cell == self.grid.cell_at(position) { position } else { self.anchor(cell) })
    }

    /// The open cell nearest to a position; of equally near ones the one with the lowest number.
    pub(crate) fn nearest_open_cell(&self, position: Vec2, size: SizeClass) -> Option<Cell> {
        let position = self.held_inside(position);
        let [x, y] = self.grid.place(position);
        let here = self.grid.cell([x, y]);
        if self.steps(here, size) != 0 {
            return Some(here);
        }
        let mut best: Option<(Fx, Cell)> = None;
        for ring in 1..=RINGS_MAX {
            let around = self.grid.clip(CellRect { min: [x, y], max: [x, y] }.grown(ring));
            for at in around.cells().filter(|at| (at[0] - x).abs().max((at[1] - y).abs()) == ring) {
                let cell = self.grid.cell(at);
                if self.steps(cell, size) != 0 {
                    let candidate = (position.distance(self.anchor(cell)), cell);
                    best = Some(best.map_or(candidate, |best| best.min(candidate)));
                }
            }
            if let Some((_, cell)) = best {
                return Some(cell);
            }
        }
        None
    }

    /// Whether a disc (its radius in units) has room at the end of a line among the obstacles other than one body, and none of these is in between. A little
    /// less room is enough, as for steps. Corners that half of the disc passes count as nothing: it slides past them.
    pub(crate) fn has_room(
        &self,
        world: &World,
        [from, to]: [Vec2; 2],
        (radius, but): (Fx, BodyId),
        found: &mut Vec<(BodyId, Fx)>,
    ) -> bool {
        // The body itself may be one of the two. What is out of the range of queries is far from all obstacles.
        let _ = world.nearest(to, 2, radius, &self.obstacles, found);
        let has_room =
            found.iter().all(|&(body, distance)| body == but || distance >= radius - radius / survey::SLACK);
        let met = world.sweep_circle(from, to, radius / 2, &self.obstacles);
        has_room && !matches!(met, Ok(Some(hit)) if hit.body != but)
    }

    /// Whether all steps from the cell of a position are open.
    pub(crate) fn is_clear(&self, position: Vec2, size: SizeClass) -> bool {
        self.is_clear_cell(self.grid.cell_at(position), size)
    }

    /// Whether all steps from a cell are open.
    pub(crate) fn is_clear_cell(&self, cell: Cell, size: SizeClass) -> bool {
        self.steps(cell, size) == 0xff
    }

    /// Sets the costs of all cells, row by row, and surveys the world. False if they are not as many as there are cells, or too high.
    pub(crate) fn restore_costs(&mut self, world: &World, costs: &[u8]) -> bool {
        let [columns, rows] = self.grid.whole().size();
        if costs.len() as i64 != i64::from(columns) * i64::from(rows)
            || costs.iter().any(|&cost| cost > COST_MAX)
        {
            return false;
        }
        for (at, &cost) in self.grid.whole().cells().zip(costs) {
            let cell = self.grid.cell(at) as usize;
            self.costs[cell] = cost;
        }
        self.survey(world);
        true
    }

    /// The open steps of a cell.
    #[inline]
    pub(crate) fn steps(&self, cell: Cell, size: SizeClass) -> u8 {
        self.open[self.index(size)][cell as usize]
    }

    /// By cell: the open steps.
    pub(crate) fn all_steps(&self, size: SizeClass) -> &[u8] {
        &self.open[self.index(size)]
    }

    pub(crate) fn cost_of(&self, cell: Cell) -> u8 {
        self.costs[cell as usize]
    }

    pub(crate) fn all_costs(&self) -> &[u8] {
        &self.costs
    }

    /// The place in a cell that its steps lead to.
    pub(crate) fn anchor(&self, cell: Cell) -> Vec2 {
        self.anchor_at(cell, self.grid.split(cell))
    }

    /// As [`Ground::anchor`]; the column and the row of the cell are known.
    pub(crate) fn anchor_at(&self, cell: Cell, at: [i32; 2]) -> Vec2 {
        self.grid.middle(at) + self.off_middle(self.anchors[cell as usize])
    }

    /// Whether the middle of a cell has room for the greatest unit.
    pub(crate) fn is_plain(&self, cell: Cell) -> bool {
        self.anchors[cell as usize] == [0; 2]
    }

    /// Whether all steps of a tile's cells are open to a size, and all costs 1.
    pub(crate) fn is_tile_plain(&self, tile: u32, size: SizeClass) -> bool {
        let [columns, _] = self.grid.tiles();
        let corner = [tile as i32 % columns * TILE, tile as i32 / columns * TILE];
        let (steps, costs) = (self.all_steps(size), self.all_costs());
        (0..TILE).all(|y| {
            let first = self.grid.cell([corner[0], corner[1] + y]) as usize;
            let row = first..first + TILE as usize;
            steps[row.clone()].iter().all(|&open| open == 0xff) && costs[row].iter().all(|&cost| cost == 1)
        })
    }

    /// A way from the middle of a cell, given in 1/64 of a cell.
    fn off_middle(&self, part: [i8; 2]) -> Vec2 {
        let [x, y] = part.map(|part| Fx::from_bits(i64::from(part) << (self.grid.shift - 6)));
        Vec2::new(x, y)
    }

    /// The place of a size in the list; one of another ground counts as the greatest.
    fn index(&self, size: SizeClass) -> usize {
        usize::from(size.0).min(self.sizes.len() - 1)
    }

    /// The greatest radius.
    fn largest(&self) -> Fx {
        self.sizes[self.sizes.len() - 1]
    }
}
