//! Who is near whom: units sorted into squares, anew in every frame.

use alloc::vec::Vec;

use testudo_physics::{Fx, Vec2};

/// What steering knows of one unit at the start of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Centre, units.
    pub position: Vec2,
    /// Velocity, units per second.
    pub velocity: Vec2,
    /// Radius, units.
    pub radius: Fx,
    /// Where it goes; `None` if it stands.
    pub going: Option<Going>,
}

/// Where a unit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Going {
    /// Units with the same number go to the same place, and the one that is nearer to it goes first.
    pub group: u32,
    /// Length of the path that is left, units.
    pub left: Fx,
    /// The velocity that it would like, units per second.
    pub wish: Vec2,
    /// How long it keeps to its right because others come towards it, ms.
    pub right_ms: u32,
}

/// Units in squares, so that those near a place are found without looking at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Squares {
    min: Vec2,
    shift: u32,
    columns: i32,
    rows: i32,
    /// By square: where its units begin in `units`; one more at the end.
    starts: Vec<u32>,
    /// Numbers of units, ascending in each square.
    units: Vec<u32>,
}

impl Squares {
    /// Sorts units into squares of at least `side` (units).
    pub(crate) fn fill(&mut self, units: &[Neighbour], side: Fx) {
        let mut positions = units.iter().map(|unit| unit.position);
        let first = positions.next().unwrap_or(Vec2::ZERO);
        let (min, max) = positions.fold((first, first), |(min, max), at| (min.min(at), max.max(at)));
        let extent = (max - min).x.max((max - min).y).to_bits() as u64;
        self.min = min;
        self.shift = 64 - (side.to_bits().max(1) as u64 - 1).leading_zeros();
        // At most 256 squares along a side: a few units far away cost no memory.
        while extent >> self.shift >= 256 {
            self.shift += 1;
        }
        self.columns = ((max - min).x.to_bits() >> self.shift) as i32 + 1;
        self.rows = ((max - min).y.to_bits() >> self.shift) as i32 + 1;
        let squares = (self.columns * self.rows) as usize;
        self.starts.clear();
        self.starts.resize(squares + 1, 0);
        for unit in units {
            let square = self.square(self.place(unit.position));
            self.starts[square + 1] += 1;
        }
        for square in 0..squares {
            self.starts[square + 1] += self.starts[square];
        }
        self.units.clear();
        self.units.resize(units.len(), 0);
        // From the last one: each square's start moves down to its first unit, and the numbers ascend.
        for (number, unit) in units.iter().enumerate().rev() {
            let square = self.square(self.place(unit.position));
            self.starts[square + 1] -= 1;
            self.units[self.starts[square + 1] as usize] = number as u32;
        }
        self.starts.remove(0);
        self.starts.push(units.len() as u32);
    }

    fn place(&self, position: Vec2) -> [i32; 2] {
        let away = position - self.min;
        [away.x, away.y].map(|part| (part.to_bits() >> self.shift) as i32)
    }

    fn square(&self, [x, y]: [i32; 2]) -> usize {
        (y * self.columns + x) as usize
    }

    /// Calls `each` for the numbers of all units in the squares around a position, which reach at least one side of a square far.
    #[inline(always)]
    pub(crate) fn near(&self, position: Vec2, mut each: impl FnMut(u32)) {
        let [x, y] = self.place(position);
        for row in (y - 1).max(0)..=(y + 1).min(self.rows - 1) {
            let first = self.square([(x - 1).max(0), row]);
            let last = self.square([(x + 1).min(self.columns - 1), row]);
            let range = self.starts[first] as usize..self.starts[last + 1] as usize;
            self.units[range].iter().for_each(|&unit| each(unit));
        }
    }
}
