//! Which units an order addresses, and points, as few bits.

use smallvec::SmallVec;
use testudo_lockstep::{BitReader, BitWriter, DecodeError};

use crate::point::{Point, UNIT};
use crate::setup::UNITS_MAX;

/// Control groups of an army: one for each digit, and [`SCATTERED`].
pub const GROUPS: u8 = 11;

/// The control group that no key names. A selection with more pieces than an order has ranges is gathered in it, and then gets its order as one: places in a
/// formation are those of one order.
pub const SCATTERED: u8 = 10;

/// Greatest number of ranges in one order.
pub const RANGES_MAX: usize = 32;

/// Bits of that number.
pub(crate) const RANGES_BITS: u32 = 5;

/// Points in orders are in quarters of a unit within +-16,384 units.
const QUARTERS: i32 = 4;
const POINT_MAX: i32 = 16_384 * QUARTERS;
pub(crate) const POINT_BITS: u32 = 18;

/// Exp-Golomb order of unit numbers and counts: short below 100.
pub(crate) const NUMBER_ORDER: u32 = 5;

/// The units that an order addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Selection {
    /// The whole army.
    All,
    /// A control group, 0..[`GROUPS`].
    Group(u8),
    /// Units in a rectangle.
    Area(Area),
    /// Units by their numbers in the army.
    Units(Ranges),
}

/// A point as orders encode it: quarters of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderPoint {
    x: i32,
    y: i32,
}

/// A rectangle, both corners included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Area {
    min: OrderPoint,
    max: OrderPoint,
}

/// Ascending ranges of unit numbers with gaps between them; between one and [`RANGES_MAX`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ranges(SmallVec<[UnitRange; 2]>);

/// `count` units from number `first` on; within 0..[`UNITS_MAX`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitRange {
    /// The lowest number.
    pub first: u32,
    /// At least 1.
    pub count: u32,
}

/// A part of an order, as bits. Reading takes only what writing gives.
pub(crate) trait Bits: Sized {
    fn write(&self, out: &mut BitWriter);
    fn read(input: &mut BitReader<'_>) -> Result<Self, DecodeError>;
}

impl OrderPoint {
    /// The nearest point that an order can encode.
    pub fn near(point: Point) -> Self {
        let quarter = UNIT / QUARTERS;
        let round =
            |raw: i32| raw.saturating_add(quarter / 2).div_euclid(quarter).clamp(-POINT_MAX, POINT_MAX);
        Self { x: round(point.x), y: round(point.y) }
    }

    /// The same in raw numbers; nothing is rounded.
    pub fn point(self) -> Point {
        Point { x: self.x * (UNIT / QUARTERS), y: self.y * (UNIT / QUARTERS) }
    }
}

impl Area {
    /// The rectangle between two corners, in any order.
    pub fn between(a: Point, b: Point) -> Self {
        let low = Point { x: a.x.min(b.x), y: a.y.min(b.y) };
        let high = Point { x: a.x.max(b.x), y: a.y.max(b.y) };
        Self { min: OrderPoint::near(low), max: OrderPoint::near(high) }
    }

    /// Whether a point lies inside or on the border.
    pub fn contains(&self, point: Point) -> bool {
        let (min, max) = (self.min.point(), self.max.point());
        (min.x..=max.x).contains(&point.x) && (min.y..=max.y).contains(&point.y)
    }
}

impl Ranges {
    /// One range, clipped at the largest army; none if nothing is left.
    #[cfg(test)]
    pub(crate) fn one(first: u32, count: u32) -> Option<Self> {
        let count = count.min(UNITS_MAX.saturating_sub(first));
        (count > 0).then(|| Self(SmallVec::from_slice(&[UnitRange { first, count }])))
    }

    /// First number and count of each range. None unless they are ascending, separate, and at most [`RANGES_MAX`].
    pub fn new(ranges: impl IntoIterator<Item = (u32, u32)>) -> Option<Self> {
        let mut free = 0;
        let mut checked = SmallVec::new();
        for (first, count) in ranges {
            let end = first.checked_add(count)?;
            if first < free || count == 0 || end > UNITS_MAX || checked.len() == RANGES_MAX {
                return None;
            }
            checked.push(UnitRange { first, count });
            free = end + 1;
        }
        (!checked.is_empty()).then_some(Self(checked))
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &UnitRange> {
        self.0.iter()
    }
}

impl Bits for bool {
    fn write(&self, out: &mut BitWriter) {
        out.write_bits(u64::from(*self), 1);
    }

    fn read(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        input.read_bool()
    }
}

/// A control group, which is the only `u8` in an order.
impl Bits for u8 {
    fn write(&self, out: &mut BitWriter) {
        out.write_bits(u64::from(*self), 4);
    }

    fn read(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(input.read_max(4, u64::from(GROUPS) - 1)? as u8)
    }
}

impl Bits for OrderPoint {
    fn write(&self, out: &mut BitWriter) {
        for part in [self.x, self.y] {
            out.write_bits((part + POINT_MAX) as u64, POINT_BITS);
        }
    }

    fn read(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let mut part = || Ok(input.read_max(POINT_BITS, 2 * POINT_MAX as u64)? as i32 - POINT_MAX);
        Ok(Self { x: part()?, y: part()? })
    }
}

impl Bits for Area {
    fn write(&self, out: &mut BitWriter) {
        self.min.write(out);
        self.max.write(out);
    }

    fn read(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let area = Self { min: OrderPoint::read(input)?, max: OrderPoint::read(input)? };
        if area.min.x > area.max.x || area.min.y > area.max.y {
            return Err(DecodeError::NotCanonical);
        }
        Ok(area)
    }
}

impl Bits for Ranges {
    fn write(&self, out: &mut BitWriter) {
        out.write_bits(self.0.len() as u64 - 1, RANGES_BITS);
        let mut free = 0;
        for range in &self.0 {
            out.write_golomb(range.first - free, NUMBER_ORDER);
            out.write_golomb(range.count - 1, NUMBER_ORDER);
            // At least one unit lies between two ranges; otherwise they would be one.
            free = range.first + range.count + 1;
        }
    }

    fn read(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let ranges = input.read_bits(RANGES_BITS)? + 1;
        let mut free = 0;
        let mut decoded = SmallVec::new();
        for _ in 0..ranges {
            let first = free + input.read_golomb(NUMBER_ORDER, UNITS_MAX)?;
            let count = 1 + input.read_golomb(NUMBER_ORDER, UNITS_MAX)?;
            if first + count > UNITS_MAX {
                return Err(DecodeError::OutOfRange {
                    value: u64::from(first + count),
                    max: u64::from(UNITS_MAX),
                });
            }
            decoded.push(UnitRange { first, count });
            free = first + count + 1;
        }
        Ok(Self(decoded))
    }
}

impl Bits for Selection {
    fn write(&self, out: &mut BitWriter) {
        match self {
            Self::All => out.write_bits(0, 2),
            Self::Group(group) => {
                out.write_bits(1, 2);
                group.write(out);
            }
            Self::Area(area) => {
                out.write_bits(2, 2);
                area.write(out);
            }
            Self::Units(ranges) => {
                out.write_bits(3, 2);
                ranges.write(out);
            }
        }
    }

    fn read(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(match input.read_bits(2)? {
            0 => Self::All,
            1 => Self::Group(u8::read(input)?),
            2 => Self::Area(Area::read(input)?),
            _ => Self::Units(Ranges::read(input)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_round_to_the_nearest_quarter() {
        let quarter = UNIT / 4;
        for (raw, quarters) in
            [(0, 0), (quarter / 2 - 1, 0), (quarter / 2, 1), (-quarter / 2, 0), (-quarter / 2 - 1, -1)]
        {
            assert_eq!(OrderPoint::near(Point { x: raw, y: 0 }).x, quarters, "{raw}");
        }
        assert_eq!(
            OrderPoint::near(Point { x: i32::MAX, y: i32::MIN }).point(),
            Point { x: 16_384 * UNIT, y: -16_384 * UNIT }
        );
    }
}
