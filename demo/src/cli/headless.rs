//! A whole match in one process: every client with its own session and battle, over a simulated network, in virtual time.

use std::collections::VecDeque;

use indicatif::{ProgressBar, ProgressStyle};
use testudo_lockstep::simnet::{LinkSettings, SimNet};
use testudo_lockstep::{
    Driver, Duration, Event, Failure, Instant, PeerId, PlayerId, Session, SessionConfig, Simulation, State,
    Topology, Turn, VirtualMatch,
};
use testudo_physics::World;

use super::Failed;
use super::args::{Corrupt, Headless, Links, Match, Network};
use super::client::Client;
use super::fault::{self, Desync, Fault};
use super::report::{Report, hex, step_times};
use crate::bots;
use crate::game::{Battle, Setup};

/// Virtual time that a match may take at most, times its length without stalls, plus the handshake.
const PATIENCE: u64 = 50;

/// States that are kept for the comparison after a desync: clients are never further apart than the two turns ahead.
const TURNS_KEPT: usize = 8;

/// Frames of 50 ms in a turn; constant, so that trajectories never depend on the network.
const FRAMES_PER_TURN: u32 = 4;

/// Everything that a run needs to know.
struct Plan {
    game: Match,
    network: Network,
    mesh: bool,
    fault: Option<(u8, Fault)>,
}

/// The default: a short match with a summary.
pub fn skirmish() -> Result<bool, Failed> {
    eprintln!(
        "No window in this version: the skirmish runs headless. ('testudo --help' lists what else there is.)"
    );
    let network = Network { latency_ms: 60, jitter_ms: 15, loss: 20_000, duplicate: 0, reorder: 0 };
    let game = Match { players: 2, units: 400, turns: 300, seed: 1 };
    let report = play(&Plan { game, network, mesh: false, fault: None })?;
    report.print_summary("a simulated link with 60-75 ms one way and 2 % loss");
    println!();
    println!(
        "Both clients got only each other's orders and computed everything else themselves, bit for bit alike."
    );
    println!("Try next:  testudo headless --players 4 --latency-ms 150 --jitter-ms 60 --loss 0.2");
    println!("           testudo headless --corrupt-turn 20 --corrupt-player 1 --corrupt-body 30 \\");
    println!("             --corrupt-field position.x --corrupt-bit 3");
    Ok(report.checksums_agree)
}

/// `headless`.
pub fn run(options: &Headless) -> Result<bool, Failed> {
    let fault = checked_fault(&options.corrupt, &options.game)?;
    let mesh = options.topology == Links::Mesh;
    let report = play(&Plan { game: options.game, network: options.network, mesh, fault })?;
    if options.json {
        report.print_json();
    } else {
        let n = &options.network;
        let loss = f64::from(n.loss) / 1e4;
        report.print_summary(&format!(
            "a simulated network with {} ms one way, {} ms jitter and {loss} % loss",
            n.latency_ms, n.jitter_ms
        ));
        if let Some(desync) = &report.desync {
            println!("  desync          {}", serde_json::to_string(desync).unwrap_or_default());
        }
    }
    Ok(report.checksums_agree)
}

fn checked_fault(corrupt: &Corrupt, game: &Match) -> Result<Option<(u8, Fault)>, Failed> {
    let Some((player, fault)) = Fault::from_args(corrupt, FRAMES_PER_TURN) else { return Ok(None) };
    if player >= game.players {
        return Err(Failed::usage(format!(
            "--corrupt-player {player}: the players are 0 to {}",
            game.players - 1
        )));
    }
    if corrupt.corrupt_turn >= Some(game.turns) {
        return Err(Failed::usage(format!("--corrupt-turn: the match has turns 0 to {}", game.turns - 1)));
    }
    Ok(Some((player, fault)))
}

/// Settings of a session; the same for simulated and real networks.
pub fn config(game: &Match, topology: Topology) -> SessionConfig {
    // The content hash stands for the field and the armies, which follow from these numbers.
    let content = game.seed ^ u64::from(game.units) << 40 ^ u64::from(game.players) << 60;
    SessionConfig::new(game.players)
        .topology(topology)
        .frames_per_turn(FRAMES_PER_TURN)
        .turns(game.turns)
        .session_id(game.seed)
        .content_hash(content)
        // Drops are off: with the same seed the same match must come out whatever the network does.
        .silence_timeout(Duration::from_secs(3_600))
        .without_drops()
}

/// The battle that follows from the options.
pub fn battle(game: &Match) -> Result<Battle, Failed> {
    Battle::new(Setup { players: game.players, units: game.units, seed: game.seed })
        .map_err(|error| Failed::usage(error.to_string()))
}

/// A progress bar on standard error; hidden when that is no terminal.
pub fn progress(turns: u32) -> ProgressBar {
    let bar = ProgressBar::new(u64::from(turns));
    if let Ok(style) = ProgressStyle::with_template("{bar:40} turn {pos}/{len}  {msg}") {
        bar.set_style(style);
    }
    bar
}

fn play(plan: &Plan) -> Result<Report, Failed> {
    let mut game = VirtualMatch::new(drivers(plan)?, net(plan));
    let mut watch = Watch::new(plan);
    let patience = u64::from(plan.game.turns) * 200 * PATIENCE + 60_000;
    let over = game.run(Instant::from_millis(patience), |client, turn, state, session| {
        watch.at_turn(client, turn, state);
        if let Some(order) = bots::order(state.battle(), turn.0, client as u8) {
            // A full queue is the bot's loss; it sees the next turn's state anyway.
            let _ = session.submit(&order);
        }
    });
    watch.bar.finish_and_clear();
    for driver in game.drivers() {
        if let State::Failed(failure) = driver.session().state() {
            let when = if failure == Failure::ConnectTimeout {
                "the match did not start"
            } else {
                "the match broke off"
            };
            return Err(Failed::run(format!("{when}: {failure}")));
        }
        if let Some(sentence) = driver.simulation().refused() {
            return Err(Failed::usage(sentence));
        }
    }
    if !over {
        return Err(Failed::run("the match did not complete: the network delivers too little"));
    }
    Ok(watch.report(plan, &mut game))
}

fn net(plan: &Plan) -> SimNet {
    let mut net = SimNet::new(plan.game.seed);
    net.set_default(LinkSettings {
        latency: Duration::from_millis(plan.network.latency_ms),
        jitter: Duration::from_millis(plan.network.jitter_ms),
        loss_ppm: plan.network.loss,
        duplicate_ppm: plan.network.duplicate,
        reorder_ppm: plan.network.reorder,
        reorder_hold: Duration::from_millis(40),
        ..LinkSettings::default()
    });
    net
}

fn drivers(plan: &Plan) -> Result<Vec<Driver<Client>>, Failed> {
    let topology = if plan.mesh { Topology::Mesh } else { Topology::Host };
    let config = config(&plan.game, topology);
    (0..plan.game.players)
        .map(|player| {
            let session = session(&config, player, plan.mesh).map_err(|e| Failed::usage(e.to_string()))?;
            let fault = plan.fault.filter(|(victim, _)| *victim == player).map(|(_, fault)| fault);
            Ok(Driver::new(Client::new(battle(&plan.game)?, fault), session))
        })
        .collect()
}

fn session(
    config: &SessionConfig,
    player: u8,
    mesh: bool,
) -> Result<Session<crate::game::Order>, testudo_lockstep::ConfigError> {
    let start = Instant::ZERO;
    let mut session = match player {
        0 => Session::host(config.clone(), start)?,
        _ => Session::join(config.clone(), PlayerId(player), PeerId(0), start)?,
    };
    if mesh {
        (0..config.player_count()).filter(|&other| other != player).for_each(|other| {
            session.connect(PeerId(u32::from(other)));
        });
    }
    Ok(session)
}

/// Follows a match: progress, the checksum of every client after every turn, and recent states.
struct Watch {
    bar: ProgressBar,
    /// By turn: checksums of the clients that have finished it.
    checksums: Vec<Vec<Option<u64>>>,
    /// By client: the worlds after the latest turns, only while a fault is expected.
    worlds: Vec<VecDeque<(u32, World)>>,
    keep_worlds: bool,
    first_divergent: Option<u32>,
    desync: Option<Desync>,
}

impl Watch {
    fn new(plan: &Plan) -> Self {
        let players = usize::from(plan.game.players);
        Self {
            bar: progress(plan.game.turns),
            checksums: vec![vec![None; players]; plan.game.turns as usize],
            worlds: vec![VecDeque::new(); players],
            keep_worlds: plan.fault.is_some(),
            first_divergent: None,
            desync: None,
        }
    }

    /// At the start of a turn the state is as the turn before left it.
    fn at_turn(&mut self, client: usize, turn: Turn, state: &Client) {
        if let Some(done) = turn.0.checked_sub(1) {
            self.after_turn(client, done, state);
        }
        if client == 0 {
            self.bar.set_position(u64::from(turn.0));
        }
    }

    fn after_turn(&mut self, client: usize, turn: u32, state: &Client) {
        let Some(row) = self.checksums.get_mut(turn as usize) else { return };
        row[client] = Some(state.checksum());
        if self.keep_worlds {
            let kept = &mut self.worlds[client];
            kept.push_back((turn, state.battle().world().clone()));
            if kept.len() > TURNS_KEPT {
                kept.pop_front();
            }
        }
        let complete = row.iter().all(Option::is_some);
        if complete && self.first_divergent.is_none() && row.windows(2).any(|pair| pair[0] != pair[1]) {
            self.first_divergent = Some(turn);
            self.desync = self.diagnose(turn);
            self.keep_worlds = false;
        }
    }

    fn diagnose(&self, turn: u32) -> Option<Desync> {
        let worlds: Vec<World> = self
            .worlds
            .iter()
            .filter_map(|kept| kept.iter().find(|(t, _)| *t == turn).map(|(_, world)| world.clone()))
            .collect();
        fault::compare(&worlds, turn, FRAMES_PER_TURN)
    }

    fn report(mut self, plan: &Plan, game: &mut VirtualMatch<Client>) -> Report {
        for client in 0..usize::from(plan.game.players) {
            let state = game.drivers()[client].simulation();
            // The last turn has no turn after it.
            self.after_turn(client, plan.game.turns - 1, state);
        }
        let noticed = game.drivers_mut().iter_mut().any(|driver| {
            std::iter::from_fn(|| driver.session_mut().poll_event()).any(|e| matches!(e, Event::Desync(_)))
        });
        let drivers = game.drivers();
        let sums: Vec<u64> = drivers.iter().map(|d| d.simulation().checksum()).collect();
        let stats: Vec<_> = drivers.iter().map(|d| d.session().stats()).collect();
        let seconds = game.now().as_micros() as f64 / 1e6;
        let rate = |bytes: u64| if seconds > 0.0 { bytes as f64 / seconds } else { 0.0 };
        let frames = drivers[0].frame().0;
        let stalled: u64 = stats.iter().map(|s| s.stalled_frames).sum();
        let all_frames: u64 = drivers.iter().map(|d| u64::from(d.frame().0)).sum();
        let others = &stats[1..];
        let turns_run = stats.iter().map(|s| s.turns_begun).min().unwrap_or(0);
        let mut step_us: Vec<u32> =
            drivers.iter().flat_map(|d| d.simulation().step_us().iter().copied()).collect();
        let (step_ms_median, step_ms_p99) = step_times(&mut step_us);
        let first = drivers[0].simulation();
        Report {
            players: plan.game.players,
            turns: plan.game.turns,
            frames,
            seed: plan.game.seed,
            final_checksum: hex(sums[0]),
            checksums_agree: self.first_divergent.is_none() && !noticed,
            first_divergent_turn: self.first_divergent,
            client_checksums: sums.iter().copied().map(hex).collect(),
            client_steps: drivers.iter().map(|d| d.simulation().step_us().len() as u32).collect(),
            stalled_frames: stalled,
            stalled_fraction: stalled as f64 / ((stalled + all_frames).max(1)) as f64,
            turn_ms_mean: seconds * 1e3 / f64::from(plan.game.turns),
            delivered_fraction: turns_run as f64 / f64::from(plan.game.turns),
            bytes_per_second_per_player: rate(others.iter().map(|s| s.bytes_sent).sum())
                / (others.len().max(1)) as f64,
            host_bytes_per_second: rate(stats[0].bytes_sent),
            step_ms_median,
            step_ms_p99,
            bodies: first.battle().world().body_count(),
            contacts_mean: first.contacts() as f64 / f64::from(frames.max(1)),
            desync: self.desync,
        }
    }
}
