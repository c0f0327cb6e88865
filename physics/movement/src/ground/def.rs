//! What a game says about its ground.

use alloc::vec::Vec;
use core::fmt;

use testudo_physics::{Aabb, BodyKind, Fx, QueryFilter};

/// Greatest number of unit sizes of one ground.
pub const SIZES_MAX: u32 = 4;

/// Greatest number of cells along each side of a ground.
pub const SIDE_MAX: u32 = 2_048;

/// Greatest cost of a cell.
pub const COST_MAX: u8 = 15;

/// Width of the smallest and of the largest cells, units.
const CELL_MIN: Fx = Fx::from_bits(1 << 13);
const CELL_MAX: Fx = Fx::from_bits(1 << 20);

/// The area, the cells and the unit sizes of a ground.
///
/// ```
/// use testudo_movement::{Ground, GroundDef};
/// use testudo_physics::{Aabb, Fx, Vec2};
/// let area = Aabb::from_corners(Vec2::from_ints(-32, -32), Vec2::from_ints(32, 32));
/// let ground = Ground::new(&GroundDef::new(area).sizes(&[Fx::lit("0.5"), Fx::lit("1.5")]))?;
/// assert_eq!(ground.columns(), 64);
/// # Ok::<(), testudo_movement::GroundError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct GroundDef {
    pub(crate) area: Aabb,
    pub(crate) cell: Fx,
    pub(crate) sizes: Vec<Fx>,
    pub(crate) obstacles: QueryFilter,
}

impl GroundDef {
    /// Cells of one unit over an area, for units of radius 1/2.
    pub fn new(area: Aabb) -> Self {
        let obstacles = QueryFilter::new().only(BodyKind::Static);
        Self { area, cell: Fx::ONE, sizes: [Fx::ONE / 2].into(), obstacles }
    }

    /// Width of a cell, units: a power of two, 1/8..=16. Default 1. Once or twice the radius of the smallest units is right: larger cells
    /// miss paths between obstacles that stand close, smaller ones cost time and memory.
    pub fn cell(self, cell: Fx) -> Self {
        Self { cell, ..self }
    }

    /// Radii of the units that walk here, units, ascending; at most [`SIZES_MAX`]. Default 1/2. A unit uses the smallest one that is not
    /// below its own radius.
    pub fn sizes(self, sizes: &[Fx]) -> Self {
        Self { sizes: sizes.into(), ..self }
    }

    /// Which bodies are obstacles. Default: the static ones that are no sensors. Both sides of one-sided terrain are obstacles.
    pub fn obstacles(self, obstacles: QueryFilter) -> Self {
        Self { obstacles, ..self }
    }

    pub(crate) fn validate(&self) -> Result<(), GroundError> {
        let bits = self.cell.to_bits();
        if !(CELL_MIN..=CELL_MAX).contains(&self.cell) || bits.count_ones() != 1 {
            return Err(GroundError::Cell { value: self.cell });
        }
        for (min, max) in [(self.area.min.x, self.area.max.x), (self.area.min.y, self.area.max.y)] {
            let edge = testudo_physics::POSITION_MAX;
            if min < -edge || max > edge || min >= max {
                return Err(GroundError::Area);
            }
            let cells = ((max - min).to_bits() + bits - 1) / bits;
            if cells > i64::from(SIDE_MAX) {
                return Err(GroundError::TooManyCells { cells: cells as u32 });
            }
        }
        let count = self.sizes.len();
        let ascends = self.sizes.windows(2).all(|pair| pair[0] < pair[1]);
        let fits = |size: &Fx| *size >= testudo_physics::EXTENT_MIN && *size <= self.cell * 16;
        if count == 0 || count > SIZES_MAX as usize || !ascends || !self.sizes.iter().all(fits) {
            return Err(GroundError::Sizes);
        }
        Ok(())
    }
}

/// Why a ground or a change of it was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroundError {
    /// The width of a cell is no power of two in 1/8..=16 units.
    Cell {
        /// The width given.
        value: Fx,
    },
    /// The area is empty, or reaches beyond +-16,384 units.
    Area,
    /// A side of the area has more cells than [`SIDE_MAX`].
    TooManyCells {
        /// The number of cells along that side.
        cells: u32,
    },
    /// The radii are not 1..=4 ascending numbers of at least 1/1,024 unit and at most 16 cells.
    Sizes,
    /// A cost is above [`COST_MAX`].
    Cost {
        /// The value.
        value: u8,
    },
}

impl fmt::Display for GroundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cell { value } => {
                write!(f, "a cell must be a power of two of units in 1/8..=16 wide, not {value}")
            }
            Self::Area => write!(f, "the area of a ground must not be empty, and lie within +-16384 units"),
            Self::TooManyCells { cells } => {
                write!(f, "a ground has at most {SIDE_MAX} cells along a side, not {cells}")
            }
            Self::Sizes => {
                write!(f, "a ground has 1 to {SIZES_MAX} ascending radii of 1/1024 unit to 16 cells")
            }
            Self::Cost { value } => write!(f, "a cost must be 0 to {COST_MAX}, not {value}"),
        }
    }
}

impl core::error::Error for GroundError {}
