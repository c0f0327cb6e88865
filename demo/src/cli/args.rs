//! Options with their units and ranges. Values out of range are refused, not clamped.

mod simulated;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::app::online::network::GUEST_UNITS_MAX;
use crate::app::{Pilot, TURNS_MAX};
pub(crate) use crate::cli::args::simulated::{CorruptArgs, HeadlessArgs, NetworkArgs, SoakArgs};
use crate::cli::value::{
    Ground, PaceArg, TeamsArg, bot, ground, name, page, probability, public, socket, speed, teams,
    turn_and_body,
};
use crate::pair::FRAMES_MAX;
use testudo_battle::{ARMIES_MAX, UNITS_MAX};
use testudo_cubes::{CUBES_MAX, FRAMES_PER_SECOND};

/// Deterministic lockstep: every machine simulates the whole battle, and the network carries only orders.
///
/// Without a command, a window shows a battle of two players over a simulated network.
/// Players are numbered from 1 in words, and from 0 in JSON and in --corrupt-player.
/// Exit codes: 0 everything agreed; 1 a disagreement, or the match or the network failed; 2 bad usage.
#[derive(Debug, Parser)]
#[command(name = "testudo", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Print one JSON object and nothing else on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Two players' clients over a simulated link (the default without a command)
    Skirmish(SkirmishArgs),
    /// A whole match of bots over a simulated network, in virtual time, as fast as possible
    Headless(HeadlessArgs),
    /// Glenn Fiedler's cubes in a window: two simulations two seconds apart; only keys cross the network
    Cubes(CubesArgs),
    /// Host a match and play as player 1
    Host(HostArgs),
    /// Join a match as a player or as a watcher
    Join(JoinArgs),
    /// The middle of many matches, for hosts without an open port; knows nothing of the game
    Relay(RelayArgs),
    /// Watch a match, simulate it, and say who was wrong if copies differ: a signed judgement, and the replay
    Referee(RefereeArgs),
    /// Check a referee's judgement: its signature, and that the match comes to the same when it is simulated again
    Verdict(VerdictArgs),
    /// Measure a relay under the load of many matches of bots that simulate nothing
    #[command(hide = true)]
    RelayLoad(RelayLoadArgs),
    /// Measure the physics on its standard scenes: speed, overlaps, memory, snapshots
    Bench(BenchArgs),
    /// Compare TCP and UDP over six bad links: late inputs, frozen pictures, added latency
    Netbench(NetbenchArgs),
    /// Many random matches under random network conditions; every turn of every client is checked
    Soak(SoakArgs),
    /// Does this build compute the same bits as all others of its version? Plays a fixed programme and compares its hash
    #[command(
        after_help = "Takes about a second. Exit code 0: the hash is the published one. 1: it is another one."
    )]
    Conformance,
    /// Play a replay again at full speed and compare every checksum
    Verify(VerifyArgs),
    /// Make a link of a replay: its settings, orders and last checksum, for verify and replay, and for a page
    Link(LinkArgs),
    /// Watch a replay in a window; without a window, print its contents and the state at any turn
    Replay(ReplayArgs),
    /// Compare two replays of one match: the first turn that differs, the wrong copy, and the number that differs
    Desync(DesyncArgs),
    #[command(external_subcommand)]
    Other(Vec<String>),
}

#[derive(Debug, Args)]
#[command(after_help = "\
    Exit code 0: complete, and every checksum is equal. 1: it diverges, the match's computers disagreed, or it was cut off and is sound up to there. \
    2: unreadable, or of another version.")]
pub(crate) struct VerifyArgs {
    /// A replay, or a link to a battle
    #[arg(value_name = "FILE|LINK")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 2: the match is too long for a link, was cut off, or its computers disagreed, or the replay begins in its middle; then send the file."
)]
pub(crate) struct LinkArgs {
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The address of a page that plays it, such as the one of `relay --web`; without it, a command is printed
    #[arg(long, value_name = "URL", value_parser = page)]
    pub(crate) page: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
    Start it before the match begins: the replay of a referee that comes later is not kept. Exit code 0: played to its end, and everything agreed. 1: \
    a difference, or the match ended early; the judgement is written all the same.")]
pub(crate) struct RefereeArgs {
    /// The code after "referee:"; - reads it from the input, @FILE from a file
    #[arg(value_name = "CODE")]
    pub(crate) code: String,
    /// Folder for judgements and replays
    #[arg(long, value_name = "DIR", default_value = "judgements")]
    pub(crate) archive: PathBuf,
    /// Refuse a match with more units than this, all players together
    #[arg(long, value_name = "N", default_value_t = GUEST_UNITS_MAX)]
    pub(crate) units_max: u32,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit code 0: it holds. 1: it does not. 2: unreadable.")]
pub(crate) struct VerdictArgs {
    /// The judgement; its replay is next to it
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The referee's key, 64 hexadecimal digits, as it was published: whoever makes up a judgement signs with another one
    #[arg(long, value_name = "HEX")]
    pub(crate) key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DesyncArgs {
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
    Exit code 0: everything compared before the window was closed is as recorded. 1: it diverges, or the file is incomplete. 2: unreadable, or of \
    another version.")]
pub(crate) struct ReplayArgs {
    /// A replay, or a link to a battle
    #[arg(value_name = "FILE|LINK")]
    pub(crate) file: PathBuf,
    /// Go to the start of this turn, from 0
    #[arg(long, value_name = "T")]
    pub(crate) turn: Option<u32>,
    /// Play from there to the end without a window, at this multiple of the match's speed, 0.25..16
    #[arg(long, value_name = "X", value_parser = speed, conflicts_with = WINDOW)]
    pub(crate) speed: Option<f64>,
    /// Open no window
    #[arg(long, conflicts_with = WINDOW)]
    pub(crate) headless: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

/// The group of options that only a window has.
const WINDOW: &str = "WindowArgs";

/// Options of the window.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WindowArgs {
    /// Write accepted orders, and the position of everything in the window, as one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) log_orders: Option<PathBuf>,
    /// Draw at most so many pictures per second, 1..1000 (default: what the screen shows)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) fps_max: Option<u32>,
}

impl WindowArgs {
    /// An option was given that only a window has.
    pub(crate) fn is_asked(&self) -> bool {
        self.log_orders.is_some() || self.fps_max.is_some()
    }
}

/// The match to play.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct MatchArgs {
    /// Number of players, 1..16
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=i64::from(ARMIES_MAX)))]
    pub(crate) players: u8,
    /// Units of each player, 1..100000
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=i64::from(UNITS_MAX)))]
    pub(crate) units: u32,
    /// Length of the match in turns (of 200 ms with a fixed pace), 1..1000000 (default 300; in a window unlimited)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(TURNS_MAX)))]
    pub(crate) turns: Option<u32>,
    /// Seed of the battlefield, the bots and the simulated network
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The map: open (random rocks), ford, pass, lakes, or a file; only open takes more than two players
    #[arg(long, value_name = "NAME|FILE", value_parser = ground, default_value = "open")]
    pub(crate) map: Ground,
}

#[derive(Debug, Default, Args)]
pub(crate) struct SkirmishArgs {
    /// Units of each player, 1..100000 (default 200)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(UNITS_MAX)))]
    pub(crate) units: Option<u32>,
    /// Seed of the battlefield, the bots and the simulated network (default 1)
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The map: ford, pass, lakes, open (random rocks), or a file (default ford)
    #[arg(long, value_name = "NAME|FILE", value_parser = ground)]
    pub(crate) map: Option<Ground>,
    /// Level of the opponent's bot: easy, normal, hard; clumsy plays for the first time, idle does nothing (default normal)
    #[arg(long, value_name = "LEVEL", value_parser = bot)]
    pub(crate) bot: Option<Pilot>,
    /// Two bots play; a button lets you take over
    #[arg(long)]
    pub(crate) bots: bool,
    /// Links to a battle lead to this page, which demo/web/build.sh makes; otherwise they are commands
    #[arg(long, value_name = "URL", value_parser = page)]
    pub(crate) page: Option<String>,
    /// Write no replay; otherwise each match in the window writes one into the folder `replays`
    #[arg(long)]
    pub(crate) no_replay: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
    Opens a window where you play the left side. With --headless, --json, --divergence, or without a display, an autopilot plays and the result is \
    printed. Next to the fixed-point scene the same scene runs in floats on both sides, with the contacts in another order on the right. All four are \
    compared in every frame.")]
pub(crate) struct CubesArgs {
    /// Write a plot of the distance between left and right in each frame (SVG)
    #[arg(long, value_name = "FILE", conflicts_with = WINDOW)]
    pub(crate) divergence: Option<PathBuf>,
    /// Small cubes, 1..10000
    #[arg(long, value_name = "N", default_value_t = 900, value_parser = clap::value_parser!(u32).range(1..=i64::from(CUBES_MAX)))]
    pub(crate) cubes: u32,
    /// Length in seconds, 1..3600 (default 60; in the window an hour)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(FRAMES_MAX / FRAMES_PER_SECOND)))]
    pub(crate) seconds: Option<u32>,
    /// Seed of the cubes' sizes and positions, the keys, the float contacts' order, and the simulated network
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Latency of one direction, in ms, 0..4000; the right side plays 100 ms after the earliest arrival
    #[arg(long, value_name = "N", default_value_t = 1_900, value_parser = clap::value_parser!(u64).range(0..=4_000))]
    pub(crate) latency_ms: u64,
    /// Random addition to each packet's latency, from 0 to this, uniformly distributed, in ms, 0..1000
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000))]
    pub(crate) jitter_ms: u64,
    /// Probability that a packet is lost, 0..1
    #[arg(long, value_name = "P", default_value = "0.25", value_parser = probability)]
    pub(crate) loss: u32,
    /// Flip one bit of the right side after this frame, counted from 0
    #[arg(long, value_name = "F")]
    pub(crate) corrupt_frame: Option<u32>,
    /// Open no window
    #[arg(long, conflicts_with = WINDOW)]
    pub(crate) headless: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Use only the instructions that every machine of this kind has; the results are the same, bit for bit
    #[arg(long)]
    pub(crate) portable: bool,
    /// Measure only the processor time of pictures of a battle of 5,000 units
    #[arg(long)]
    pub(crate) drawing: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
    Prints \"relay at CODE\" for `host --relay CODE`; whoever opens a room is told its codes. Players need a network that carries UDP payloads of \
    1,200 bytes. SIGTERM, SIGINT and SIGHUP: opens no more rooms, lets running matches finish (see --drain-s), then ends; a second SIGTERM or SIGINT \
    ends at once.")]
pub(crate) struct RelayArgs {
    #[arg(
        help = "Address to listen on; port 0 takes a free one. For other machines: 0.0.0.0:PORT, or [::]:PORT with IPv6",
        long,
        value_name = "ADDR",
        value_parser = socket,
        default_value = "127.0.0.1:0"
    )]
    pub(crate) bind: SocketAddr,
    /// Address at which others find this relay, if not the one it listens on; up to 4 times, with --agones 3
    #[arg(long, value_name = "ADDR", value_parser = public)]
    pub(crate) public: Vec<SocketAddr>,
    /// Serve counters for Prometheus at http://ADDR/metrics; port 0 takes a free one. Not for strangers
    #[arg(long, value_name = "ADDR", value_parser = socket)]
    pub(crate) metrics: Option<SocketAddr>,
    /// Serve the browser page at http://ADDR/, so that friends play by a link; port 0 takes a free one
    #[arg(long, value_name = "ADDR", value_parser = socket)]
    pub(crate) web: Option<SocketAddr>,
    /// Folder of the page, made by demo/web/build.sh
    #[arg(long, value_name = "DIR", default_value = "target/web", requires = "web")]
    pub(crate) web_root: PathBuf,
    /// Tell Agones' side car what this relay does, and take the public address from it (docs/fleet.md)
    #[arg(long)]
    pub(crate) agones: bool,
    /// Print "watch: CODE" for each room that is opened. Not where the output is kept: whoever reads it can watch
    #[arg(long)]
    pub(crate) print_watch_codes: bool,
    /// Seconds by which watchers are behind the players, 0..600: so nobody plays by what a watcher sees
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=600))]
    pub(crate) watch_delay_s: u64,
    /// Rooms at once, 1..10000
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rooms_max: u32,
    /// Rooms at once that are opened from one address, 1..10000
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rooms_per_address_max: u32,
    /// Connections at once from one address, 1..100000
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections_per_address_max: u32,
    /// Seconds that running matches have after the first signal, 0..86400
    #[arg(long, value_name = "S", default_value_t = 600, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(crate) drain_s: u64,
    /// Seconds after which it makes a new certificate and prints a new code, 1..946800 (11 days less an hour); before, it opens no rooms for up to --drain-s
    #[arg(long, value_name = "S", default_value_t = 864_000, value_parser = clap::value_parser!(u64).range(1..=946_800))]
    pub(crate) renew_s: u64,
    /// Memory for match states that are being sent to joining peers, all rooms together, MiB, 16..65536
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u64).range(16..=65_536))]
    pub(crate) states_mib: u64,
}

#[derive(Debug, Args)]
#[command(after_help = "\
    Starts a relay in a process of its own (or takes one that runs), and plays many matches at ten turns per second through it. Linux only.")]
pub(crate) struct RelayLoadArgs {
    /// Load this relay instead of starting one; its processor time and memory are then not measured
    #[arg(long, value_name = "CODE")]
    pub(crate) relay: Option<String>,
    /// Rooms, 1..10000
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rooms: u32,
    /// Players of each room, 2..16
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(2..=16))]
    pub(crate) players: u8,
    /// Watchers of each room, 0..16
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=16))]
    pub(crate) watchers: u32,
    /// Seconds to measure after all matches have begun, 1..3600
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: u64,
    /// Give the relay the first core and everything else the second one; needs `taskset`
    #[arg(long)]
    pub(crate) pin: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
    The same inputs, 60 per second, go over the same simulated links: as one message per input over TCP (smoltcp, Nagle's algorithm off), and as a \
    session's packets over UDP. The receiver plays each input 100 ms after its earliest possible arrival.")]
pub(crate) struct NetbenchArgs {
    /// Inputs over each link, 600..1000000
    #[arg(long, value_name = "N", default_value_t = 36_000, value_parser = clap::value_parser!(u32).range(600..=1_000_000))]
    pub(crate) inputs: u32,
    /// Seed of the keys and of the packet losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write a plot of the comparison (SVG)
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
    Prints \"join P: CODE\" for each free place from 2 on, and \"watch: CODE\". A code opens one place; the same code brings its player back after a \
    crash. With --relay also \"back: CODE\", which does the same for this player. Whoever joins needs a network that carries UDP payloads of 1,200 \
    bytes.")]
pub(crate) struct HostArgs {
    #[arg(
        help = "Address to listen on; port 0 takes a free one. For other machines: 0.0.0.0:0, or [::]:0 with IPv6",
        long,
        value_name = "ADDR",
        value_parser = socket,
        default_value = "127.0.0.1:0"
    )]
    pub(crate) bind: SocketAddr,
    /// Address at which others find this host, if not the one it listens on: the router's, which passes the port on; up to 3 times
    #[arg(long, value_name = "ADDR", conflicts_with = "relay", value_parser = public)]
    pub(crate) public: Vec<SocketAddr>,
    /// Play through a relay, which printed this code (or - or @FILE, as for join); this machine needs no open port
    #[arg(long, value_name = "CODE", conflicts_with_all = ["bind", "plain", "resume"])]
    pub(crate) relay: Option<String>,
    /// Print links, too: the address of a page that takes codes, such as the one of `relay --web`
    #[arg(long, value_name = "URL", conflicts_with = "plain", value_parser = page)]
    pub(crate) page: Option<String>,
    /// Plain UDP without a seal, for tests and networks in which everybody is trusted: whoever knows the address can come
    #[arg(long)]
    pub(crate) plain: bool,
    /// Go on with a saved match; it decides players, units, turns, seed and map
    #[arg(long, value_name = "FILE", conflicts_with_all = ["players", "units", "turns", "seed", "pace", "no_bots", "bots_take_over"])]
    pub(crate) resume: Option<PathBuf>,
    /// No bot plays for a lost player: the match pauses, then goes on without the player
    #[arg(long)]
    pub(crate) no_bots: bool,
    /// A bot plays for a lost player until that player is back (this is the default)
    #[arg(long, conflicts_with = "no_bots")]
    pub(crate) bots_take_over: bool,
    #[command(flatten)]
    pub(crate) game: MatchArgs,
    /// Team of each player, 1..8, 0 for none, as in 1,1,2,2; the lobby can change it (default: everybody for themselves)
    #[arg(long, value_name = "N,...", value_parser = teams, conflicts_with = "resume")]
    pub(crate) teams: Option<TeamsArg>,
    /// Length of turns: constant (default without a window), or as long as the network needs (default in a window)
    #[arg(long, value_enum)]
    pub(crate) pace: Option<PaceArg>,
    #[command(flatten)]
    pub(crate) player: PlayerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// The code that the host printed, or - to read it from the input, or @FILE, so that no list of processes shows it; with --plain the host's address or
    /// name, and a port
    #[arg(value_name = "CODE")]
    pub(crate) code: String,
    /// Watch instead of playing: the code after "watch:" is needed
    #[arg(long)]
    pub(crate) watch: bool,
    /// Plain UDP without a seal
    #[arg(long)]
    pub(crate) plain: bool,
    /// The host's map, if it is not a built-in one
    #[arg(long, value_name = "NAME|FILE", value_parser = ground)]
    pub(crate) map: Option<Ground>,
    /// Rehearse a desync: after turn T, flip a bit of the position of the body with slot index B in this copy
    #[arg(long, value_name = "T,B", value_parser = turn_and_body)]
    pub(crate) corrupt: Option<(u32, u32)>,
    /// Refuse a match with more units than this, all players together; each takes some 300 bytes
    #[arg(long, value_name = "N", default_value_t = GUEST_UNITS_MAX)]
    pub(crate) units_max: u32,
    #[command(flatten)]
    pub(crate) player: PlayerArgs,
}

/// The player's options.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlayerArgs {
    /// Name that the others see, up to 24 bytes
    #[arg(long, value_name = "NAME", value_parser = name, default_value = "")]
    pub(crate) name: String,
    /// If this copy differs from others, write a report for people, with the JSON object at its end
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write this player's replay of the match to this file (default: a new one in the folder `replays`)
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Write no replay
    #[arg(long, conflicts_with = "replay")]
    pub(crate) no_replay: bool,
    /// A bot plays instead of a person: =easy, =normal or =hard (default normal); in a window a button lets you take over
    #[arg(long, value_name = "LEVEL", value_parser = bot, num_args = 0..=1, require_equals = true, default_missing_value = "normal")]
    pub(crate) bot: Option<Pilot>,
    /// Open no window; needs --bot
    #[arg(long)]
    pub(crate) headless: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[test]
    fn the_parser_is_consistent() {
        Arguments::command().debug_assert();
    }

    /// With both times as long as they may be, whoever was lost in the last hour could not come back: the certificate was renewed in the middle of it.
    #[test]
    fn a_relay_renews_and_drains_while_its_certificate_is_good() {
        // Of its 13 days one lies in the past, and for the last hour it is no good.
        let good_s = 12 * 86_400 - 3_600;
        let parses = |renew_s: u64, drain_s: u64| {
            let times = [renew_s.to_string(), drain_s.to_string()];
            let words = ["testudo", "relay", "--renew-s", &times[0], "--drain-s", &times[1]];
            Arguments::try_parse_from(words).is_ok()
        };
        assert!(parses(good_s - 86_400, 86_400));
        assert!(!parses(good_s - 86_399, 86_400) && !parses(good_s - 86_400, 86_401));
    }
}
