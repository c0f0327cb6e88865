//! A game's own action: compact ranges of unit ids, values that are checked on decoding, and what happens to an invalid action. And what takes
//! more than a frame: marches as [`FrameObjects`].
//! `cargo run -p testudo-lockstep --example custom_action`

use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Driver, Duration, FrameObject, FrameObjects, Instant,
    PlayerId, Session, SessionConfig, Simulation, SubmitError,
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

/// Units on the march: they act in every frame until they arrive.
#[derive(Default)]
struct March {
    first: u32,
    count: u32,
    frames_left: u32,
}

impl FrameObject<u32> for March {
    fn frame(&mut self, arrived: &mut u32, _frames_per_second: u32) -> bool {
        self.frames_left -= 1;
        *arrived += if self.frames_left == 0 { self.count } else { 0 };
        self.frames_left == 0
    }
}

impl State for March {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.number("first", &mut self.first)?;
        v.number("count", &mut self.count)?;
        v.number_in("frames left", &mut self.frames_left, 1..=1_000)
    }
}

#[derive(Default)]
struct Game {
    marches: FrameObjects<March>,
    arrived: u32,
}

impl Simulation for Game {
    type Action = Order;
    fn apply(&mut self, player: PlayerId, order: &Order) {
        println!("player {player} {order:?}, {} on the march", self.marches.len());
        match *order {
            Order::March { first, count, x, y } => {
                let frames_left = 1 + u32::from(x.unsigned_abs().max(y.unsigned_abs())) / 100;
                self.marches.add(March { first, count, frames_left });
            }
            Order::Halt { first, count } => {
                self.marches.retain(|_, march| (march.first, march.count) != (first, count));
            }
        }
    }
    fn step(&mut self, frames_per_second: u32) {
        self.marches.run(&mut self.arrived, frames_per_second);
    }
    fn checksum(&mut self) -> u64 {
        state::digest(self)
    }
}

impl State for Game {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        self.marches.visit(v)?;
        v.object("game", 0);
        v.number("arrived", &mut self.arrived)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut now = Instant::ZERO;
    // Several orders may share a turn, up to 64 bytes.
    let config = SessionConfig::new(1).turns(8).actions_per_turn_max(4).turn_bytes_max(64);
    let mut driver = Driver::new(Game::default(), Session::single(config, now)?);
    let session = driver.session_mut();
    session.submit(&Order::March { first: 0, count: 5_000, x: -120, y: 300 })?;
    session.submit(&Order::March { first: 5_000, count: 1, x: 100, y: 100 })?;
    session.submit(&Order::Halt { first: 5_000, count: 1 })?;
    // An order that its own decoder would refuse is refused at once, because every peer would refuse it.
    let wrong = session.submit(&Order::Halt { first: UNIT_MAX + 1, count: 1 });
    assert!(matches!(wrong, Err(SubmitError::Refused(_))), "{wrong:?}");
    while !driver.session().is_over() {
        driver.advance(now);
        now += Duration::from_millis(16);
    }
    assert_eq!(driver.simulation().arrived, 5_000, "one was halted");
    Ok(())
}
