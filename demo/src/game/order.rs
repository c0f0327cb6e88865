//! The orders that players give, and their encoding.
//!
//! An order names a control group, an area or a few ranges of unit numbers, so it is as small for 5,000 units as for five.

use smallvec::SmallVec;
use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError};

use crate::game::point::{Point, UNIT};
use crate::game::setup::{ARMIES_MAX, UNITS_MAX};
use crate::game::teams::Teams;
use crate::game::unit::{Foe, Stance};

/// Control groups of an army.
pub(crate) const GROUPS: u8 = 10;

/// Bits that say which command it is.
const COMMAND_BITS: u32 = 4;

/// Greatest number of ranges in one order. A selection with more pieces is sent as a control group or an area.
pub(crate) const RANGES_MAX: usize = 8;

/// Positions in orders are in quarters of a unit within +-16,384 units.
const QUARTERS: i32 = 4;
const PLACE_MAX: i32 = 16_384 * QUARTERS;
const PLACE_BITS: u32 = 18;

/// Greatest number of units and buildings in a match.
const FOES_MAX: u32 = ARMIES_MAX as u32 * UNITS_MAX - 1;

/// Exp-Golomb order of enemies' numbers: nearly as short for high ones as for low ones.
const FOE_ORDER: u32 = 10;

/// Exp-Golomb order of unit numbers and counts: short below 100.
const NUMBER_ORDER: u32 = 5;

/// An order to units of the player's own army. Units that are gone, empty groups and areas without units are not errors; the order does
/// nothing for them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Order {
    pub(crate) units: Selection,
    pub(crate) command: Command,
    /// Whether it waits until the units have done their present errands. Applies to commands with an end: go somewhere, strike.
    pub(crate) is_queued: bool,
}

/// The units that an order addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Selection {
    /// The whole army.
    All,
    /// A control group, 0..[`GROUPS`].
    Group(u8),
    /// Units in a rectangle.
    Area(Area),
    /// Units by their numbers in the army.
    Units(Ranges),
}

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// Stay, and attack enemies that come in sight.
    Stop,
    /// Go there without attacking.
    Move(Place),
    /// Go there, and attack enemies that come in sight.
    Attack(Place),
    /// Form this control group, 0..[`GROUPS`]; its former members leave it.
    Assign(u8),
    /// Go there and back for ever, and attack enemies that come in sight.
    Patrol(Place),
    /// Attack this enemy and no other until it has fallen.
    Strike(Foe),
    /// Recruits of the army gather there from now on; the selection is ignored.
    Rally(Place),
    /// Go there and line up in ranks. The first rank reaches from here to there; its front is on the left. On the way they attack enemies that
    /// come in sight, or only strike those within reach.
    Line { from: Place, to: Place, attacks: bool },
    /// What they do from now on when they have no orders. To hold means to stop, too.
    Stand(Stance),
    /// Who is with whom; the selection is ignored. Given once, at the start, by the first player's program.
    Teams(Teams),
}

impl Order {
    /// One that is not queued.
    pub(crate) fn new(units: Selection, command: Command) -> Self {
        Self { units, command, is_queued: false }
    }
}

/// A position as orders encode it: quarters of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    x: i32,
    y: i32,
}

/// A rectangle, both corners included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Area {
    min: Place,
    max: Place,
}

/// Ascending ranges of unit numbers with gaps between them; between one and [`RANGES_MAX`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ranges(SmallVec<[UnitRange; 2]>);

/// `count` units from number `first` on; within 0..[`UNITS_MAX`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnitRange {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Command {
    /// The name in logs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Move(_) => "move",
            Self::Attack(_) => "attack",
            Self::Assign(_) => "assign",
            Self::Patrol(_) => "patrol",
            Self::Strike(_) => "strike",
            Self::Rally(_) => "rally",
            Self::Line { .. } => "line",
            Self::Stand(Stance::Hold) => "hold",
            Self::Stand(Stance::Defend) => "defend",
            Self::Stand(Stance::Pursue) => "pursue",
            Self::Teams(_) => "teams",
        }
    }

    /// The place where it leads, if it names one.
    pub(crate) fn place(self) -> Option<Place> {
        match self {
            Self::Move(place) | Self::Attack(place) | Self::Patrol(place) | Self::Rally(place) => Some(place),
            Self::Line { from, .. } => Some(from),
            Self::Stop | Self::Assign(_) | Self::Strike(_) | Self::Stand(_) | Self::Teams(_) => None,
        }
    }
}

impl Order {
    /// The order as a person would say it.
    pub(crate) fn in_words(&self) -> String {
        let whom = match &self.units {
            Selection::All => "everybody".into(),
            Selection::Group(group) => format!("group {group}"),
            Selection::Area(_) => "units in an area".into(),
            Selection::Units(ranges) => {
                format!("{} units", ranges.iter().map(|range| range.count).sum::<u32>())
            }
        };
        match self.command {
            Command::Stop => format!("{whom}: stop"),
            Command::Move(_) => format!("{whom}: go there"),
            Command::Attack(_) => format!("{whom}: attack there"),
            Command::Assign(group) => format!("{whom}: form group {group}"),
            Command::Patrol(_) => format!("{whom}: patrol"),
            Command::Strike(Foe::Unit(_)) => format!("{whom}: attack one enemy"),
            Command::Strike(Foe::Building(_)) => format!("{whom}: attack a building"),
            Command::Rally(_) => "recruits: gather there".into(),
            Command::Line { attacks: false, .. } => format!("{whom}: line up there"),
            Command::Line { attacks: true, .. } => format!("{whom}: attack in a line"),
            Command::Stand(Stance::Hold) => format!("{whom}: hold ground"),
            Command::Stand(Stance::Defend) => format!("{whom}: defend the place"),
            Command::Stand(Stance::Pursue) => format!("{whom}: pursue who comes near"),
            Command::Teams(_) => "the teams are settled".into(),
        }
    }
}

impl Place {
    /// The nearest position that an order can encode.
    pub(crate) fn near(point: Point) -> Self {
        let quarter = UNIT / QUARTERS;
        let round =
            |raw: i32| raw.saturating_add(quarter / 2).div_euclid(quarter).clamp(-PLACE_MAX, PLACE_MAX);
        Self { x: round(point.x), y: round(point.y) }
    }

    pub(crate) fn point(self) -> Point {
        Point { x: self.x * (UNIT / QUARTERS), y: self.y * (UNIT / QUARTERS) }
    }

    fn encode(self, out: &mut BitWriter) {
        for part in [self.x, self.y] {
            out.write_bits((part + PLACE_MAX) as u64, PLACE_BITS);
        }
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let mut part = || Ok(input.read_max(PLACE_BITS, 2 * PLACE_MAX as u64)? as i32 - PLACE_MAX);
        Ok(Self { x: part()?, y: part()? })
    }
}

impl Area {
    /// The rectangle between two corners, in any order.
    pub(crate) fn between(a: Point, b: Point) -> Self {
        let low = Point { x: a.x.min(b.x), y: a.y.min(b.y) };
        let high = Point { x: a.x.max(b.x), y: a.y.max(b.y) };
        Self { min: Place::near(low), max: Place::near(high) }
    }

    pub(crate) fn contains(&self, point: Point) -> bool {
        let (min, max) = (self.min.point(), self.max.point());
        (min.x..=max.x).contains(&point.x) && (min.y..=max.y).contains(&point.y)
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let area = Self { min: Place::decode(input)?, max: Place::decode(input)? };
        if area.min.x > area.max.x || area.min.y > area.max.y {
            return Err(DecodeError::NotCanonical);
        }
        Ok(area)
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
    pub(crate) fn new(ranges: impl IntoIterator<Item = (u32, u32)>) -> Option<Self> {
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

    pub(crate) fn iter(&self) -> impl Iterator<Item = &UnitRange> {
        self.0.iter()
    }

    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(self.0.len() as u64 - 1, 3);
        let mut free = 0;
        for range in &self.0 {
            out.write_golomb(range.first - free, NUMBER_ORDER);
            out.write_golomb(range.count - 1, NUMBER_ORDER);
            // At least one unit lies between two ranges; otherwise they would be one.
            free = range.first + range.count + 1;
        }
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let ranges = input.read_bits(3)? + 1;
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

fn encode_foe(foe: Foe, out: &mut BitWriter) {
    let (kind, number) = match foe {
        Foe::Unit(number) => (0, number),
        Foe::Building(number) => (1, number),
    };
    out.write_bits(kind, 1);
    out.write_golomb(number.min(FOES_MAX), FOE_ORDER);
}

fn decode_foe(input: &mut BitReader<'_>) -> Result<Foe, DecodeError> {
    let kind = input.read_bits(1)?;
    let number = input.read_golomb(FOE_ORDER, FOES_MAX)?;
    Ok(if kind == 0 { Foe::Unit(number) } else { Foe::Building(number) })
}

fn encode_group(group: u8, out: &mut BitWriter) {
    out.write_bits(u64::from(group), 4);
}

fn decode_group(input: &mut BitReader<'_>) -> Result<u8, DecodeError> {
    Ok(input.read_max(4, u64::from(GROUPS) - 1)? as u8)
}

impl Action for Order {
    /// Four bits of command, one for `is_queued`, two of selection, three of count, eight ranges of two numbers of at most 28 bits, two
    /// positions (an enemy's number, and teams, are shorter).
    const MAX_BITS: u32 = COMMAND_BITS + 1 + 2 + 3 + RANGES_MAX as u32 * 2 * 28 + 4 * PLACE_BITS + 1;

    fn encode(&self, out: &mut BitWriter) {
        match self.command {
            Command::Stop => out.write_bits(0, COMMAND_BITS),
            Command::Move(place) => {
                out.write_bits(1, COMMAND_BITS);
                place.encode(out);
            }
            Command::Attack(place) => {
                out.write_bits(2, COMMAND_BITS);
                place.encode(out);
            }
            Command::Assign(group) => {
                out.write_bits(3, COMMAND_BITS);
                encode_group(group, out);
            }
            Command::Patrol(place) => {
                out.write_bits(4, COMMAND_BITS);
                place.encode(out);
            }
            Command::Strike(foe) => {
                out.write_bits(5, COMMAND_BITS);
                encode_foe(foe, out);
            }
            Command::Rally(place) => {
                out.write_bits(6, COMMAND_BITS);
                place.encode(out);
            }
            Command::Line { from, to, attacks } => {
                out.write_bits(7, COMMAND_BITS);
                from.encode(out);
                to.encode(out);
                out.write_bits(u64::from(attacks), 1);
            }
            Command::Stand(stance) => {
                out.write_bits(8, COMMAND_BITS);
                out.write_bits(stance as u64, 2);
            }
            Command::Teams(teams) => {
                out.write_bits(9, COMMAND_BITS);
                teams.encode(out);
            }
        }
        out.write_bits(u64::from(self.is_queued), 1);
        match &self.units {
            Selection::All => out.write_bits(0, 2),
            Selection::Group(group) => {
                out.write_bits(1, 2);
                encode_group(*group, out);
            }
            Selection::Area(area) => {
                out.write_bits(2, 2);
                area.min.encode(out);
                area.max.encode(out);
            }
            Selection::Units(ranges) => {
                out.write_bits(3, 2);
                ranges.encode(out);
            }
        }
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let command = match input.read_bits(COMMAND_BITS)? {
            0 => Command::Stop,
            1 => Command::Move(Place::decode(input)?),
            2 => Command::Attack(Place::decode(input)?),
            3 => Command::Assign(decode_group(input)?),
            4 => Command::Patrol(Place::decode(input)?),
            5 => Command::Strike(decode_foe(input)?),
            6 => Command::Rally(Place::decode(input)?),
            7 => Command::Line {
                from: Place::decode(input)?,
                to: Place::decode(input)?,
                attacks: input.read_bits(1)? == 1,
            },
            8 => Command::Stand(Stance::ALL[input.read_max(2, Stance::ALL.len() as u64 - 1)? as usize]),
            9 => Command::Teams(Teams::decode(input)?),
            kind => return Err(DecodeError::UnknownKind(kind as u8)),
        };
        let is_queued = input.read_bits(1)? == 1;
        let units = match input.read_bits(2)? {
            0 => Selection::All,
            1 => Selection::Group(decode_group(input)?),
            2 => Selection::Area(Area::decode(input)?),
            _ => Selection::Units(Ranges::decode(input)?),
        };
        Ok(Self { units, command, is_queued })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::dice::Dice;

    fn bits_of(order: &Order) -> BitWriter {
        let mut out = BitWriter::new();
        order.encode(&mut out);
        assert!(out.bit_count() <= Order::MAX_BITS, "{} bits: {order:?}", out.bit_count());
        out
    }

    fn ranges(list: &[(u32, u32)]) -> Selection {
        Selection::Units(Ranges(list.iter().map(|&(first, count)| UnitRange { first, count }).collect()))
    }

    fn samples() -> Vec<Order> {
        let place = Place::near(Point::from_units(-16_384, 16_384));
        let corner = Point::from_units(-5, 7);
        let worst: Vec<(u32, u32)> = (0..8).map(|n| (n * 12_500, 12_499)).collect();
        let selections = [
            Selection::All,
            Selection::Group(9),
            Selection::Area(Area::between(corner, Point::ZERO)),
            ranges(&[(0, 1)]),
            ranges(&[(3, 5), (9, 1), (11, 4_000)]),
            ranges(&worst),
            ranges(&[(0, UNITS_MAX)]),
        ];
        let commands = [
            Command::Stop,
            Command::Move(place),
            Command::Attack(place),
            Command::Assign(0),
            Command::Patrol(place),
            Command::Strike(Foe::Unit(FOES_MAX)),
            Command::Strike(Foe::Building(0)),
            Command::Rally(place),
            Command::Line { from: place, to: Place::near(corner), attacks: false },
            Command::Line { from: place, to: Place::near(corner), attacks: true },
            Command::Stand(Stance::Hold),
            Command::Stand(Stance::Pursue),
            Command::Teams(Teams::new(&[8; 16]).unwrap()),
        ];
        let all = commands
            .into_iter()
            .flat_map(|command| selections.clone().map(|units| Order::new(units, command)));
        all.flat_map(|order| [false, true].map(|is_queued| Order { is_queued, ..order.clone() })).collect()
    }

    #[test]
    fn every_order_comes_back() {
        for order in samples() {
            let out = bits_of(&order);
            let mut input = BitReader::with_bit_count(out.bytes(), out.bit_count());
            assert_eq!(Order::decode(&mut input), Ok(order));
            assert_eq!(input.bits_left(), 0);
        }
    }

    #[test]
    fn an_order_for_5000_units_is_as_small_as_one_for_five() {
        let command = Command::Attack(Place::near(Point::ZERO));
        for units in [Selection::Group(3), Selection::Area(Area::between(Point::ZERO, Point::ZERO))] {
            assert!(bits_of(&Order::new(units, command)).bit_count() <= 15 * 8);
        }
        let five = bits_of(&Order::new(ranges(&[(0, 5)]), command)).bit_count();
        let many = bits_of(&Order::new(ranges(&[(0, 5_000)]), command)).bit_count();
        assert!(many <= five + 16, "{many} bits instead of {five}");
    }

    /// Any bits decode to an order that encodes to the same bits again, or to an error.
    #[test]
    fn random_bits_decode_canonically_or_not_at_all() {
        let mut dice = Dice::new(5);
        let mut decoded = 0;
        for round in 0..20_000 {
            let bytes: Vec<u8> = (0..dice.between(0, 70)).map(|_| dice.between(0, 255) as u8).collect();
            let mut input = BitReader::new(&bytes);
            let all = input.bits_left();
            let Ok(order) = Order::decode(&mut input) else { continue };
            decoded += 1;
            let used = all - input.bits_left();
            let out = bits_of(&order);
            assert_eq!(out.bit_count(), used, "round {round}: {order:?}");
            let mut first = BitReader::with_bit_count(&bytes, used);
            let mut again = BitReader::with_bit_count(out.bytes(), used);
            for _ in 0..used {
                assert_eq!(first.read_bool(), again.read_bool(), "round {round}: {order:?}");
            }
        }
        assert!(decoded > 1_000, "only {decoded} of 20,000 decoded: the test is not interesting");
    }

    #[test]
    fn orders_out_of_range_are_refused() {
        let mut out = BitWriter::new();
        out.write_bits(0, COMMAND_BITS + 1);
        out.write_bits(1, 2);
        out.write_bits(10, 4);
        let decode =
            |out: &BitWriter| Order::decode(&mut BitReader::with_bit_count(out.bytes(), out.bit_count()));
        assert_eq!(decode(&out), Err(DecodeError::OutOfRange { value: 10, max: 9 }));
        out.clear();
        out.write_bits(10, COMMAND_BITS);
        assert_eq!(decode(&out), Err(DecodeError::UnknownKind(10)));
        out.clear();
        out.write_bits(0, COMMAND_BITS + 1);
        out.write_bits(3, 2);
        out.write_bits(0, 3);
        out.write_golomb(UNITS_MAX, NUMBER_ORDER);
        out.write_golomb(0, NUMBER_ORDER);
        assert!(matches!(decode(&out), Err(DecodeError::OutOfRange { .. })));
    }

    #[test]
    fn places_round_to_the_nearest_quarter() {
        let quarter = UNIT / 4;
        for (raw, quarters) in
            [(0, 0), (quarter / 2 - 1, 0), (quarter / 2, 1), (-quarter / 2, 0), (-quarter / 2 - 1, -1)]
        {
            assert_eq!(Place::near(Point { x: raw, y: 0 }).x, quarters, "{raw}");
        }
        assert_eq!(
            Place::near(Point { x: i32::MAX, y: i32::MIN }).point(),
            Point { x: 16_384 * UNIT, y: -16_384 * UNIT }
        );
    }
}
