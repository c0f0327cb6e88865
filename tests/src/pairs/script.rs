//! Bytes as a list of calls: any bytes are one.

use testudo_physics::{BodyDef, BodyKind, Filter, Fx, Shape, Vec2};

/// The bytes that have not been read yet. Beyond their end there are zeros.
pub(super) struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all bytes have been read.
    pub(super) fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `n`, which is at most 256.
    pub(super) fn below(&mut self, n: u32) -> u32 {
        (u32::from(self.byte()) * n) >> 8
    }

    /// One of some values.
    pub(super) fn one_of<T: Copy, const N: usize>(&mut self, values: [T; N]) -> T {
        values[self.below(N as u32) as usize]
    }

    /// Whether one in `n` happens.
    pub(super) fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == n - 1
    }

    /// A number in `low..=high`, thousandths, as a fixed-point number.
    fn number(&mut self, low: i64, high: i64) -> Fx {
        let part = i64::from(self.byte()) << 8 | i64::from(self.byte());
        let thousandths = low + ((high - low) * part + (1 << 15)) / 65_535;
        Fx::from_bits((thousandths << 16) / 1_000)
    }

    /// A place within six units of the middle; one of three lies on a grid, so that sides are flush.
    pub(super) fn place(&mut self) -> Vec2 {
        if self.one_in(3) {
            let mut half = || Fx::from_num(i32::from(self.byte() / 11) - 12) / 2;
            return Vec2::new(half(), half());
        }
        Vec2::new(self.number(-6_000, 6_000), self.number(-6_000, 6_000))
    }

    /// A velocity; few are fast.
    pub(super) fn velocity(&mut self) -> Vec2 {
        let most = self.one_of([100, 2_000, 5_000, 60_000]);
        Vec2::new(self.number(-most, most), self.number(-most, most))
    }

    pub(super) fn shape(&mut self) -> Shape {
        match self.below(3) {
            0 => Shape::Circle { radius: self.number(50, 1_500) },
            1 => Shape::rect(Fx::ONE / 2, Fx::ONE),
            _ => Shape::rect(self.number(50, 1_500), self.number(50, 1_500)),
        }
    }

    pub(super) fn kind(&mut self) -> BodyKind {
        self.one_of([BodyKind::Static, BodyKind::Kinematic, BodyKind::Dynamic, BodyKind::Dynamic])
    }

    /// Most filters are the usual one.
    pub(super) fn filter(&mut self) -> Filter {
        let layers = self.one_of([1, 1, 1, 2, 3]);
        Filter::new(layers, self.one_of([u32::MAX, u32::MAX, 1, 2]))
    }

    pub(super) fn body(&mut self) -> BodyDef {
        let def = BodyDef::new(self.kind(), self.shape()).position(self.place());
        let def = def.sensor(self.one_in(3)).can_sleep(!self.one_in(12)).enabled(!self.one_in(12));
        let def = if self.one_in(4) { def.filter(self.filter()) } else { def };
        let def = if self.one_in(2) { def.velocity(self.velocity()) } else { def };
        def.friction(self.number(0, 800)).ground_friction(self.number(0, 4_000)).mass(self.number(250, 4_000))
    }
}
