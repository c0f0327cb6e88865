//! Arguments and their ranges. What is out of range is refused, not clamped.

use std::net::SocketAddr;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Deterministic lockstep: a battle that runs bit for bit the same on every machine.
#[derive(Debug, Parser)]
#[command(name = "testudo", version, about, long_about = None)]
pub struct Arguments {
    /// What to do; without a command a short skirmish is played and explained.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Two players' clients over a simulated link, with a summary (the default).
    Skirmish,
    /// A whole match with bots over a simulated network, in virtual time, as fast as it goes.
    Headless(Headless),
    /// Host a match over UDP and play as player 0.
    Host(Host),
    /// Join a match over UDP.
    Join(Join),
    /// Anything else.
    #[command(external_subcommand)]
    Later(Vec<String>),
}

/// What every kind of match has.
#[derive(Clone, Copy, Debug, Args)]
pub struct Match {
    /// Players, 1 to 16.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub players: u8,
    /// Units per player, 1 to 100000.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub units: u32,
    /// Turns of 200 ms, 1 to 1000000.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub turns: u32,
    /// Seed of the field, the bots and the network.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// How the simulated network treats packets.
#[derive(Clone, Copy, Debug, Args)]
pub struct Network {
    /// Time on the way, one direction, ms, 0 to 10000.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub latency_ms: u64,
    /// Added to the latency of each packet, evenly between 0 and this, ms, 0 to 10000.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub jitter_ms: u64,
    /// Probability that a packet is lost, 0 to 1.
    #[arg(long, default_value = "0", value_parser = parts_per_million)]
    pub loss: u32,
    /// Probability that a packet arrives twice, 0 to 1.
    #[arg(long, default_value = "0", value_parser = parts_per_million)]
    pub duplicate: u32,
    /// Probability that a packet is overtaken by later ones, 0 to 1.
    #[arg(long, default_value = "0", value_parser = parts_per_million)]
    pub reorder: u32,
}

/// Options of `headless`.
#[derive(Clone, Debug, Args)]
pub struct Headless {
    /// The match.
    #[command(flatten)]
    pub game: Match,
    /// The network.
    #[command(flatten)]
    pub network: Network,
    /// Turn length: fixed (200 ms). Adaptive pacing comes later.
    #[arg(long, value_enum, default_value_t = Pace::Fixed)]
    pub pace: Pace,
    /// Links: a star around player 0, or everybody with everybody.
    #[arg(long, value_enum, default_value_t = Links::Star)]
    pub topology: Links,
    /// Print one JSON object instead of a summary.
    #[arg(long)]
    pub json: bool,
    /// Flip a bit in one client's copy of a body, to see the desync found.
    #[command(flatten)]
    pub corrupt: Corrupt,
}

/// Fault injection.
#[derive(Clone, Copy, Debug, Args)]
pub struct Corrupt {
    /// Turn after whose last frame the bit is flipped.
    #[arg(long, requires_all = ["corrupt_player", "corrupt_body", "corrupt_field", "corrupt_bit"])]
    pub corrupt_turn: Option<u32>,
    /// Client whose copy is changed.
    #[arg(long, requires = "corrupt_turn")]
    pub corrupt_player: Option<u8>,
    /// Slot index of a living body.
    #[arg(long, requires = "corrupt_turn")]
    pub corrupt_body: Option<u32>,
    /// Field of the body.
    #[arg(long, requires = "corrupt_turn", value_enum)]
    pub corrupt_field: Option<Field>,
    /// Bit, 0 = least significant, 0 to 31.
    #[arg(long, requires = "corrupt_turn", value_parser = clap::value_parser!(u32).range(0..=31))]
    pub corrupt_bit: Option<u32>,
}

/// How long turns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pace {
    /// 200 ms, whatever the network does.
    Fixed,
}

/// Which links there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Links {
    /// Everybody has a link to player 0.
    Star,
    /// Everybody has a link to everybody.
    Mesh,
}

/// A field that fault injection can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Field {
    /// Horizontal position.
    #[value(name = "position.x")]
    PositionX,
    /// Vertical position.
    #[value(name = "position.y")]
    PositionY,
    /// Horizontal velocity.
    #[value(name = "velocity.x")]
    VelocityX,
    /// Vertical velocity.
    #[value(name = "velocity.y")]
    VelocityY,
}

/// Options of `host`.
#[derive(Clone, Debug, Args)]
pub struct Host {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub bind: SocketAddr,
    /// The match; the host is player 0.
    #[command(flatten)]
    pub game: Match,
    /// How it is played.
    #[command(flatten)]
    pub seat: Seat,
}

/// Options of `join`.
#[derive(Clone, Debug, Args)]
pub struct Join {
    /// What the host printed for a free place.
    pub invitation: String,
    /// How it is played.
    #[command(flatten)]
    pub seat: Seat,
}

/// Who plays, and what is shown.
#[derive(Clone, Copy, Debug, Args)]
pub struct Seat {
    /// A bot plays.
    #[arg(long)]
    pub bot: bool,
    /// No window.
    #[arg(long)]
    pub headless: bool,
    /// Print one JSON object instead of a summary.
    #[arg(long)]
    pub json: bool,
}

/// A probability from 0 to 1 in parts per million.
fn parts_per_million(text: &str) -> Result<u32, String> {
    let p: f64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
    if (0.0..=1.0).contains(&p) {
        Ok((p * 1e6).round() as u32)
    } else {
        Err("a probability lies between 0 and 1".to_owned())
    }
}
