//! Options of matches over a simulated network.

use std::path::PathBuf;

use clap::Args;

use crate::app::Pilot;
use crate::cli::args::MatchArgs;
use crate::cli::value::{PaceArg, TeamsArg, TopologyArg, bot, field, probability, teams};
use testudo_battle::BodyField;

#[derive(Debug, Args)]
pub(crate) struct HeadlessArgs {
    #[command(flatten)]
    pub(crate) game: MatchArgs,
    #[command(flatten)]
    pub(crate) link: NetworkArgs,
    /// Length of turns: constant, or as long as the network needs
    #[arg(long, value_enum, default_value_t = PaceArg::Adaptive)]
    pub(crate) pace: PaceArg,
    /// Level of each player's bot: easy, normal, hard, clumsy or idle; the last one applies to all further players
    #[arg(long, value_name = "LEVEL,...", value_delimiter = ',', value_parser = bot, default_value = "normal")]
    pub(crate) bot: Vec<Pilot>,
    /// Team of each player, 1..8, 0 for none, as in 1,1,2,2 (default: everybody for themselves)
    #[arg(long, value_name = "N,...", value_parser = teams)]
    pub(crate) teams: Option<TeamsArg>,
    /// Links: everybody to player 1, or everybody to everybody
    #[arg(long, value_enum, default_value_t = TopologyArg::Star)]
    pub(crate) topology: TopologyArg,
    /// If the clients' copies differ, write a report for people, with the JSON object at its end
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write a replay of the match from player 1's client
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Watchers of the star, each with a simulation of its own, whose checksums are compared, too, 0..16
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=16))]
    pub(crate) spectators: u8,
    /// Save every frame of player 1's client, restore it into a fresh battle, and simulate it in both (steps take as long as both); the first difference ends
    /// the match with exit code 1
    #[arg(long)]
    pub(crate) heavy: bool,
    /// Let each client show its own orders at once, up to so much ahead of the match, in ms, 0..1000 (0: off); nothing may change by that
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub(crate) prediction: u32,
    #[command(flatten)]
    pub(crate) corrupt: CorruptArgs,
}

/// The simulated network: all links, in both directions.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct NetworkArgs {
    /// Latency of one direction, in ms, 0..10000
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub(crate) latency_ms: u64,
    /// Random addition to each packet's latency, from 0 to this, uniformly distributed, in ms, 0..10000
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub(crate) jitter_ms: u64,
    /// Probability that a packet is lost, 0..1
    #[arg(long, value_name = "P", default_value = "0", value_parser = probability)]
    pub(crate) loss: u32,
    /// Probability that a packet arrives twice, 0..1
    #[arg(long, value_name = "P", default_value = "0", value_parser = probability)]
    pub(crate) duplicate: u32,
    /// Probability that a packet is held back, so that later ones overtake it, 0..1
    #[arg(long, value_name = "P", default_value = "0", value_parser = probability)]
    pub(crate) reorder: u32,
}

/// Deliberate damage to one client's copy.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Fault injection (all five together)")]
pub(crate) struct CorruptArgs {
    /// Turn, from 0; the bit flips after its last frame
    #[arg(long, value_name = "T", requires_all = ["corrupt_player", "corrupt_body", "corrupt_field", "corrupt_bit"])]
    pub(crate) corrupt_turn: Option<u32>,
    /// Player whose copy is damaged, counted from 0 as in the JSON
    #[arg(long, value_name = "P", requires = "corrupt_turn")]
    pub(crate) corrupt_player: Option<u8>,
    /// Slot index of a living body
    #[arg(long, value_name = "B", requires = "corrupt_turn")]
    pub(crate) corrupt_body: Option<u32>,
    /// Field of the body
    #[arg(long, value_parser = field(), requires = "corrupt_turn")]
    pub(crate) corrupt_field: Option<BodyField>,
    /// Bit of the raw value, 0 (least significant)..31
    #[arg(long, value_name = "K", requires = "corrupt_turn", value_parser = clap::value_parser!(u32).range(0..=31))]
    pub(crate) corrupt_bit: Option<u32>,
}

#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "\
    Each game's seed decides everything else: 2 to 16 players with at least 20 units each, star, relay or mesh, at least 100 turns, latency, jitter, \
    loss, bursts, duplicates, reordering, damage, narrow links, bad clocks, storms, partitions, suspended machines, pauses, and players who leave or \
    are lost.")]
pub(crate) struct SoakArgs {
    /// Number of games, 1..1000000
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) games: u64,
    /// Seed of the first game; the next games use the numbers after it, so each can be played alone
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Let random peers show their own orders at once: nothing may change by that
    #[arg(long, alias = "predict")]
    pub(crate) prediction: bool,
}
