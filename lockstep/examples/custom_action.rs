//! A game's own action: compact ranges of unit ids, values that are checked on decoding, and what happens to an invalid action.
//! `cargo run -p testudo-lockstep --example custom_action`

use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Driver, Duration, Instant, PlayerId, Session, SessionConfig,
    Simulation, SubmitError,
};

/// An order names its units by a range of ids, so an order for 5,000 units is as small as one for a single unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    March { first: u32, count: u32, x: i16, y: i16 },
    Halt { first: u32, count: u32 },
}

/// Largest unit id. The decoder refuses larger ones, so the simulation never sees them.
const UNIT_MAX: u32 = 99_999;

impl Action for Order {
    // The kind, two numbers of up to 35 bits (17 bits of value in Exp-Golomb code of order 6), two of 16.
    const MAX_BITS: u32 = 1 + 35 + 35 + 32;

    fn encode(&self, out: &mut BitWriter) {
        let (Self::March { first, count, .. } | Self::Halt { first, count }) = *self;
        out.write_bool(matches!(self, Self::March { .. }));
        out.write_golomb(first, 6);
        out.write_golomb(count, 6);
        if let Self::March { x, y, .. } = *self {
            out.write_signed(i64::from(x), 16);
            out.write_signed(i64::from(y), 16);
        }
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let march = input.read_bool()?;
        let first = input.read_golomb(6, UNIT_MAX)?;
        let count = input.read_golomb(6, UNIT_MAX - first)?;
        if !march {
            return Ok(Self::Halt { first, count });
        }
        let (x, y) = (input.read_signed(16)? as i16, input.read_signed(16)? as i16);
        Ok(Self::March { first, count, x, y })
    }
}

#[derive(Default)]
struct Game {
    orders: Vec<(PlayerId, Order)>,
    frames: u32,
}

impl Simulation for Game {
    type Action = Order;
    fn apply(&mut self, player: PlayerId, order: &Order) {
        println!("frame {}: player {player} {order:?}", self.frames);
        self.orders.push((player, *order));
    }
    fn step(&mut self, _frames_per_second: u32) {
        self.frames += 1;
    }
    fn checksum(&mut self) -> u64 {
        u64::from(self.frames) << 32 | self.orders.len() as u64
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut now = Instant::ZERO;
    // Several orders may share a turn, up to 64 bytes.
    let config = SessionConfig::new(1).turns(8).actions_per_turn_max(4).turn_bytes_max(64);
    let mut driver = Driver::new(Game::default(), Session::single(config, now)?);
    let session = driver.session_mut();
    session.submit(&Order::March { first: 0, count: 5_000, x: -120, y: 300 })?;
    session.submit(&Order::Halt { first: 17, count: 1 })?;
    // An order that its own decoder would refuse is refused at once, because every peer would refuse it.
    let wrong = session.submit(&Order::Halt { first: UNIT_MAX + 1, count: 1 });
    assert_eq!(wrong, Err(SubmitError::NotCanonical));
    while !driver.session().is_over() {
        driver.advance(now);
        now += Duration::from_millis(16);
    }
    assert_eq!(driver.simulation().orders.len(), 2);
    Ok(())
}
