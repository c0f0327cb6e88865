//! Orders: what players tell their armies. They name a control group, an area or a range of numbers, so an order for
//! 5,000 units is as small as one for five.

use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError};

use super::unit::Task;
use super::{Battle, Unit};

/// Which of a player's units an order is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// A control group, 0..=15.
    Group(u8),
    /// All units inside a rectangle: two corners in whole units of length.
    Area {
        /// Lower corner.
        min: [i16; 2],
        /// Upper corner.
        max: [i16; 2],
    },
    /// Units by their number within the army; both ends belong to it.
    Range {
        /// First number, below 2^17.
        first: u32,
        /// Last number, below 2^17.
        last: u32,
    },
}

/// What a player tells some of their units. Units that are dead and selections that name nobody are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Go to a place without looking left or right.
    Move {
        /// Who.
        who: Selection,
        /// Where to, whole units of length.
        to: [i16; 2],
    },
    /// Go to a place and fight on the way.
    AttackMove {
        /// Who.
        who: Selection,
        /// Where to, whole units of length.
        to: [i16; 2],
    },
    /// Stand and fight what comes close.
    Stop {
        /// Who.
        who: Selection,
    },
}

const NUMBER_BITS: u32 = 17;

impl Action for Order {
    /// Kind, the longest selection (an area), a place.
    const MAX_BITS: u32 = 2 + (2 + 64) + 32;

    fn encode(&self, out: &mut BitWriter) {
        let (kind, who, to) = match self {
            Self::Move { who, to } => (0, who, Some(to)),
            Self::AttackMove { who, to } => (1, who, Some(to)),
            Self::Stop { who } => (2, who, None),
        };
        out.write_bits(kind, 2);
        match who {
            Selection::Group(group) => {
                out.write_bits(0, 2);
                out.write_bits(u64::from(*group), 4);
            }
            Selection::Area { min, max } => {
                out.write_bits(1, 2);
                write_place(out, *min);
                write_place(out, *max);
            }
            Selection::Range { first, last } => {
                out.write_bits(2, 2);
                out.write_bits(u64::from(*first), NUMBER_BITS);
                out.write_bits(u64::from(*last), NUMBER_BITS);
            }
        }
        if let Some(to) = to {
            write_place(out, *to);
        }
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let kind = input.read_max(2, 2)?;
        let who = match input.read_max(2, 2)? {
            0 => Selection::Group(input.read_bits(4)? as u8),
            1 => Selection::Area { min: read_place(input)?, max: read_place(input)? },
            _ => Selection::Range {
                first: input.read_bits(NUMBER_BITS)? as u32,
                last: input.read_bits(NUMBER_BITS)? as u32,
            },
        };
        Ok(match kind {
            0 => Self::Move { who, to: read_place(input)? },
            1 => Self::AttackMove { who, to: read_place(input)? },
            _ => Self::Stop { who },
        })
    }
}

fn write_place(out: &mut BitWriter, place: [i16; 2]) {
    for coordinate in place {
        out.write_bits(u64::from(coordinate as u16), 16);
    }
}

fn read_place(input: &mut BitReader<'_>) -> Result<[i16; 2], DecodeError> {
    Ok([input.read_bits(16)? as u16 as i16, input.read_bits(16)? as u16 as i16])
}

impl Battle {
    /// Gives the selected units of a player their new task.
    pub(super) fn carry_out(&mut self, player: u8, order: &Order) {
        let (Order::Move { who, .. } | Order::AttackMove { who, .. } | Order::Stop { who }) = order;
        let own = self.own_units(player);
        let first = own.start;
        let selected = |battle: &Self, index: usize| {
            let unit = &battle.units[index];
            unit.body.is_some() && battle.is_selected(unit, (index - first) as u32, who)
        };
        let count = own.clone().filter(|&i| selected(self, i)).count();
        // A crowd cannot stand on one point: it has arrived when it fills a disc about it.
        let within = (count.isqrt() * 3 / 4 + 1).min(usize::from(u16::MAX)) as u16;
        let task = match *order {
            Order::Move { to, .. } => Task::Move { to, within },
            Order::AttackMove { to, .. } => Task::AttackMove { to, within },
            Order::Stop { .. } => Task::Hold,
        };
        for index in own {
            if selected(self, index) {
                let unit = &mut self.units[index];
                (unit.task, unit.target) = (task, None);
            }
        }
    }

    fn is_selected(&self, unit: &Unit, number: u32, who: &Selection) -> bool {
        match *who {
            Selection::Group(group) => unit.group == group,
            Selection::Range { first, last } => (first..=last).contains(&number),
            Selection::Area { min, max } => {
                unit.body.and_then(|id| self.world.body(id)).is_some_and(|body| {
                    let p = body.position();
                    let inside = |v: testudo_physics::Fx, axis: usize| {
                        let raw = v.to_bits();
                        (i64::from(min[axis]) << 16..=i64::from(max[axis]) << 16).contains(&raw)
                    };
                    inside(p.x, 0) && inside(p.y, 1)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_survive_the_wire_and_stay_small() {
        let selections = [
            Selection::Group(3),
            Selection::Area { min: [-5, -6], max: [i16::MAX, i16::MIN] },
            Selection::Range { first: 0, last: 99_999 },
        ];
        for who in selections {
            for order in [
                Order::Move { who, to: [-1, 2] },
                Order::AttackMove { who, to: [i16::MIN, 0] },
                Order::Stop { who },
            ] {
                let mut out = BitWriter::new();
                order.encode(&mut out);
                assert!(out.bit_count() <= Order::MAX_BITS);
                let mut input = BitReader::with_bit_count(out.bytes(), out.bit_count());
                assert_eq!(Order::decode(&mut input), Ok(order));
                assert_eq!(input.bits_left(), 0);
            }
        }
    }
}
