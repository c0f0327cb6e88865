//! The orders that players give, and their encoding.
//!
//! An order names a control group, an area or some ranges of unit numbers, so it is as small for 5,000 units as for five. Units of more ranges are gathered
//! in a group first: by their numbers in several orders, or in one if they stand in a rectangle.

use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError};

use crate::selection::{Bits, OrderPoint, POINT_BITS, RANGES_BITS, RANGES_MAX, SCATTERED, Selection};
use crate::setup::{ARMIES_MAX, UNITS_MAX};
use crate::teams::Teams;
use crate::unit::{Foe, Stance};

/// Bits that say which command it is.
const COMMAND_BITS: u32 = 4;

/// Greatest number of units and buildings in a match.
const FOES_MAX: u32 = ARMIES_MAX as u32 * UNITS_MAX - 1;

/// Exp-Golomb order of enemies' numbers: nearly as short for high ones as for low ones.
const FOE_ORDER: u32 = 10;

/// An order to units of the player's own army. Units that are gone, empty groups and areas without units are not errors; the order does
/// nothing for them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// To whom.
    pub units: Selection,
    /// What they are to do.
    pub command: Command,
    /// Whether it waits until the units have done their present errands. Applies to commands that lead somewhere: go, strike, patrol.
    pub is_queued: bool,
}

/// From one list follow the variants and their bits, both ways: the number, then the parts in their order.
macro_rules! commands {
    ($($(#[$doc:meta])* $number:literal
        $name:ident $(($($part:ident: $type:ty),*))? $({ $($field:ident: $kind:ty),* })?;)*) => {
        /// What to do.
        #[expect(missing_docs, reason = "the fields are what their names say")]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Command {
            $($(#[$doc])* $name $(($($type),*))? $({ $($field: $kind),* })?,)*
        }

        impl Bits for Command {
            fn write(&self, out: &mut BitWriter) {
                match self {
                    $(Self::$name $(($($part),*))? $({ $($field),* })? => {
                        out.write_bits($number, COMMAND_BITS);
                        $($($part.write(out);)*)?
                        $($($field.write(out);)*)?
                    })*
                }
            }

            fn read(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
                Ok(match input.read_bits(COMMAND_BITS)? {
                    $($number => Self::$name $(($(<$type>::read(input)?),*))? $({ $($field: <$kind>::read(input)?),* })?,)*
                    unknown => return Err(DecodeError::UnknownKind(unknown as u8)),
                })
            }
        }

        /// The numbers of all commands.
        #[cfg(test)]
        const NUMBERS: &[u64] = &[$($number),*];
    };
}

commands! {
    /// Stay, and attack enemies that come in sight.
    0 Stop;
    /// Go there without attacking.
    1 Move(to: OrderPoint);
    /// Go there, and attack enemies that come in sight.
    2 Attack(to: OrderPoint);
    /// Form this control group, below [`GROUPS`](crate::GROUPS); its former members leave it.
    3 Assign(group: u8);
    /// Go there and back for ever, and attack enemies that come in sight.
    4 Patrol(to: OrderPoint);
    /// Attack this enemy and no other until it has fallen.
    5 Strike(foe: Foe);
    /// Recruits of the army gather there from now on; the selection is ignored.
    6 Rally(to: OrderPoint);
    /// Go there and line up in ranks. The first rank reaches from here to there; its front is on the left. On the way they attack enemies that
    /// come in sight, or only strike those within reach.
    7 Line { from: OrderPoint, to: OrderPoint, attacks: bool };
    /// What they do from now on when they have no orders. To hold means to stop, too.
    8 Stand(stance: Stance);
    /// Who is with whom; the selection is ignored. Given once, at the start, by the first player's program.
    9 Teams(teams: Teams);
    /// Join this control group; its members stay in it.
    10 Join(group: u8);
}

impl Order {
    /// One that is not queued.
    pub fn new(units: Selection, command: Command) -> Self {
        Self { units, command, is_queued: false }
    }
}

impl Command {
    /// The name in logs.
    pub fn name(self) -> &'static str {
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
            Self::Join(_) => "join",
        }
    }

    /// Whether it only prepares: the units stay where they are.
    pub fn prepares(self) -> bool {
        match self {
            Self::Stop
            | Self::Assign(_)
            | Self::Join(_)
            | Self::Rally(_)
            | Self::Stand(_)
            | Self::Teams(_) => true,
            Self::Move(_) | Self::Attack(_) | Self::Patrol(_) | Self::Strike(_) | Self::Line { .. } => false,
        }
    }

    /// Whether it sends units to fight.
    pub fn attacks(self) -> bool {
        match self {
            Self::Attack(_) | Self::Strike(_) => true,
            Self::Line { attacks, .. } => attacks,
            Self::Stop
            | Self::Move(_)
            | Self::Assign(_)
            | Self::Join(_)
            | Self::Patrol(_)
            | Self::Rally(_)
            | Self::Stand(_)
            | Self::Teams(_) => false,
        }
    }

    /// The goal: where it leads, if it names a point.
    pub fn goal(self) -> Option<OrderPoint> {
        match self {
            Self::Move(to) | Self::Attack(to) | Self::Patrol(to) | Self::Rally(to) => Some(to),
            Self::Line { from, .. } => Some(from),
            Self::Stop
            | Self::Assign(_)
            | Self::Join(_)
            | Self::Strike(_)
            | Self::Stand(_)
            | Self::Teams(_) => None,
        }
    }
}

impl Order {
    /// Whether it only gathers the units to which the next order is given.
    pub fn gathers(&self) -> bool {
        matches!(self.command, Command::Assign(SCATTERED) | Command::Join(SCATTERED))
    }

    /// The order as a person would say it.
    pub fn in_words(&self) -> String {
        let whom = match &self.units {
            Selection::All => "everybody".into(),
            // Which ones were gathered, or are in a rectangle, no reader knows.
            Selection::Group(SCATTERED) | Selection::Area(_) => "some units".into(),
            Selection::Group(group) => format!("group {group}"),
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
            Command::Join(group) => format!("{whom}: join group {group}"),
        }
    }
}

impl Bits for Foe {
    fn write(&self, out: &mut BitWriter) {
        let (Self::Unit(number) | Self::Building(number)) = *self;
        matches!(self, Self::Building(_)).write(out);
        out.write_golomb(number.min(FOES_MAX), FOE_ORDER);
    }

    fn read(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let is_building = bool::read(input)?;
        let number = input.read_golomb(FOE_ORDER, FOES_MAX)?;
        Ok(if is_building { Self::Building(number) } else { Self::Unit(number) })
    }
}

impl Bits for Stance {
    fn write(&self, out: &mut BitWriter) {
        out.write_bits(*self as u64, 2);
    }

    fn read(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self::ALL[input.read_max(2, Self::ALL.len() as u64 - 1)? as usize])
    }
}

impl Bits for Teams {
    fn write(&self, out: &mut BitWriter) {
        self.encode(out);
    }

    fn read(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Self::decode(input)
    }
}

impl Action for Order {
    /// The command, one bit for `is_queued`, two of selection, the count of ranges, ranges of two numbers of at most 28 bits, two positions (an enemy's
    /// number, and teams, are shorter). A turn of the usual 256 bytes has room for it.
    const MAX_BITS: u32 =
        COMMAND_BITS + 1 + 2 + RANGES_BITS + RANGES_MAX as u32 * 2 * 28 + 4 * POINT_BITS + 1;

    fn encode(&self, out: &mut BitWriter) {
        self.command.write(out);
        self.is_queued.write(out);
        self.units.write(out);
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let (command, is_queued) = (Command::read(input)?, bool::read(input)?);
        Ok(Self { units: Selection::read(input)?, command, is_queued })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use crate::point::Point;
    use crate::selection::{Area, NUMBER_ORDER, Ranges};

    fn bits_of(order: &Order) -> BitWriter {
        let mut out = BitWriter::new();
        order.encode(&mut out);
        assert!(out.bit_count() <= Order::MAX_BITS, "{} bits: {order:?}", out.bit_count());
        out
    }

    fn ranges(list: &[(u32, u32)]) -> Selection {
        Selection::Units(Ranges::new(list.iter().copied()).unwrap())
    }

    /// The head of a replay said "units in an area".
    #[test]
    fn an_order_is_said_in_plain_words() {
        let area = Selection::Area(Area::between(Point::from_units(-5, 7), Point::ZERO));
        let order = Order::new(area, Command::Strike(Foe::Building(1)));
        assert_eq!(order.in_words(), "some units: attack a building");
    }

    fn samples() -> Vec<Order> {
        let place = OrderPoint::near(Point::from_units(-16_384, 16_384));
        let corner = Point::from_units(-5, 7);
        let worst: Vec<(u32, u32)> = (0..32).map(|n| (n * 3_125, 3_124)).collect();
        let selections = [
            Selection::All,
            Selection::Group(9),
            Selection::Group(SCATTERED),
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
            Command::Line { from: place, to: OrderPoint::near(corner), attacks: false },
            Command::Line { from: place, to: OrderPoint::near(corner), attacks: true },
            Command::Stand(Stance::Hold),
            Command::Stand(Stance::Pursue),
            Command::Teams(Teams::new(&[8; 16]).unwrap()),
            Command::Join(SCATTERED),
        ];
        let all = commands
            .into_iter()
            .flat_map(|command| selections.clone().map(|units| Order::new(units, command)));
        all.flat_map(|order| [false, true].map(|is_queued| Order { is_queued, ..order.clone() })).collect()
    }

    #[test]
    fn every_order_comes_back() {
        let mut missing = NUMBERS.to_vec();
        for order in samples() {
            let out = bits_of(&order);
            let number = BitReader::new(out.bytes()).read_bits(COMMAND_BITS).unwrap();
            missing.retain(|other| *other != number);
            let mut input = BitReader::with_bit_count(out.bytes(), out.bit_count());
            assert_eq!(Order::decode(&mut input), Ok(order));
            assert_eq!(input.bits_left(), 0);
        }
        assert!(missing.is_empty(), "commands without a sample: {missing:?}");
    }

    /// A replay marked an attack in a line as if it were none.
    #[test]
    fn an_order_that_attacks_says_so() {
        for order in samples() {
            let words = order.in_words();
            assert_eq!(order.command.attacks(), words.contains("attack"), "{words}");
        }
    }

    #[test]
    fn an_order_for_5000_units_is_as_small_as_one_for_five() {
        let command = Command::Attack(OrderPoint::near(Point::ZERO));
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
        out.write_bits(11, 4);
        let decode =
            |out: &BitWriter| Order::decode(&mut BitReader::with_bit_count(out.bytes(), out.bit_count()));
        assert_eq!(decode(&out), Err(DecodeError::OutOfRange { value: 11, max: 10 }));
        out.clear();
        let last: u8 = (1 << COMMAND_BITS) - 1;
        out.write_bits(last.into(), COMMAND_BITS);
        assert_eq!(decode(&out), Err(DecodeError::UnknownKind(last)));
        out.clear();
        out.write_bits(0, COMMAND_BITS + 1);
        out.write_bits(3, 2);
        out.write_bits(0, RANGES_BITS);
        out.write_golomb(UNITS_MAX, NUMBER_ORDER);
        out.write_golomb(0, NUMBER_ORDER);
        assert!(matches!(decode(&out), Err(DecodeError::OutOfRange { .. })));
    }
}
