//! `host` and `join`: a match between processes over UDP, with bots for players.

use std::net::SocketAddr;
use std::time::{Duration as Pause, Instant as Clock};

use testudo_lockstep::transport::udp::UdpTransport;
use testudo_lockstep::{
    Driver, Duration, Event, Instant, PlayerId, Session, SessionConfig, Simulation, State, Topology,
};

use super::Failed;
use super::args::{Host, Join, Match, Seat};
use super::client::Client;
use super::headless::{battle, config, progress};
use super::report::{Report, hex, step_times};
use crate::bots;

/// Time that a host waits for everybody.
const LOBBY_SECONDS: u64 = 300;
/// Pause between two looks at the socket: well below a frame of 50 ms.
const PAUSE: Pause = Pause::from_millis(2);

/// `host`.
pub fn host(options: &Host) -> Result<bool, Failed> {
    need_bot(&options.seat)?;
    let mut udp = UdpTransport::bind(options.bind)
        .map_err(|error| Failed::run(format!("cannot listen on {}: {error}", options.bind)))?;
    let address = udp.local_address().map_err(|error| Failed::run(error.to_string()))?;
    let config = network_config(&options.game).lobby_timeout(Duration::from_secs(LOBBY_SECONDS));
    for player in 1..options.game.players {
        eprintln!("join {player}: {}", Invitation { address, player, game: options.game });
    }
    let session = Session::host(config, Instant::ZERO).map_err(|e| Failed::usage(e.to_string()))?;
    play(session, &mut udp, &options.game, &options.seat)
}

/// `join`.
pub fn join(options: &Join) -> Result<bool, Failed> {
    need_bot(&options.seat)?;
    let invitation = Invitation::parse(&options.invitation)?;
    let any: SocketAddr =
        if invitation.address.is_ipv6() { ([0u16; 8], 0).into() } else { ([0u8; 4], 0).into() };
    let mut udp =
        UdpTransport::bind(any).map_err(|error| Failed::run(format!("cannot open a socket: {error}")))?;
    let host = udp.peer(invitation.address);
    let player = PlayerId(invitation.player);
    let session = Session::join(network_config(&invitation.game), player, host, Instant::ZERO)
        .map_err(|e| Failed::usage(e.to_string()))?;
    play(session, &mut udp, &invitation.game, &options.seat)
}

fn need_bot(seat: &Seat) -> Result<(), Failed> {
    if seat.bot && seat.headless {
        return Ok(());
    }
    Err(Failed::usage("there is no window in this version: add --bot --headless"))
}

fn network_config(game: &Match) -> SessionConfig {
    config(game, Topology::Host).silence_timeout(Duration::from_secs(20))
}

/// What a player needs to join: address, place, and the match's numbers. A bare address means place 1 of a default match.
#[derive(Clone, Copy, Debug)]
struct Invitation {
    address: SocketAddr,
    player: u8,
    game: Match,
}

impl std::fmt::Display for Invitation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Match { players, units, turns, seed } = self.game;
        write!(f, "{}/{}/{players}/{units}/{turns}/{seed}", self.address, self.player)
    }
}

impl Invitation {
    fn parse(text: &str) -> Result<Self, Failed> {
        let unreadable = || Failed::usage(format!("'{text}' is not what a host prints after 'join N:'"));
        let mut parts = text.split('/');
        let address = parts.next().and_then(|p| p.parse().ok()).ok_or_else(unreadable)?;
        let numbers: Vec<u64> = parts.map(str::parse).collect::<Result<_, _>>().map_err(|_| unreadable())?;
        let numbers: [u64; 5] = match numbers.len() {
            0 => [1, 2, 200, 300, 1],
            _ => numbers.try_into().map_err(|_| unreadable())?,
        };
        let [player, players, units, turns, seed] = numbers;
        let in_range = (1..=16).contains(&players)
            && (1..players).contains(&player)
            && (1..=100_000).contains(&units)
            && (1..=1_000_000).contains(&turns);
        if !in_range {
            return Err(unreadable());
        }
        let game = Match { players: players as u8, units: units as u32, turns: turns as u32, seed };
        Ok(Self { address, player: player as u8, game })
    }
}

/// Plays to the end in real time.
fn play(
    session: Session<crate::game::Order>,
    udp: &mut UdpTransport,
    game: &Match,
    seat: &Seat,
) -> Result<bool, Failed> {
    let player = session.player().map_or(0, |p| p.0);
    let mut driver = Driver::new(Client::new(battle(game)?, None), session);
    let clock = Clock::now();
    let now = || Instant::from_micros(clock.elapsed().as_micros() as u64);
    let broken = |error: std::io::Error| Failed::run(format!("the network failed: {error}"));
    let bar = progress(game.turns);
    let mut divergent = None;
    let mut started = now();
    while !driver.session().is_over() {
        udp.pump(driver.session_mut(), now()).map_err(broken)?;
        driver.advance_with(now(), |turn, state, session| {
            bar.set_position(u64::from(turn.0));
            if let Some(order) = bots::order(state.battle(), turn.0, player) {
                let _ = session.submit(&order);
            }
        });
        udp.pump(driver.session_mut(), now()).map_err(broken)?;
        while let Some(event) = driver.session_mut().poll_event() {
            match event {
                Event::Started => started = now(),
                Event::Desync(mismatch) => divergent = divergent.or(Some(mismatch)),
                Event::WaitingFor { players, .. } => {
                    bar.set_message(format!("waiting for player {}", list(&players)))
                }
                Event::WaitingOver { .. } => bar.set_message(""),
                _ => {}
            }
        }
        std::thread::sleep(PAUSE);
    }
    udp.pump(driver.session_mut(), now()).map_err(broken)?;
    bar.finish_and_clear();
    if let State::Failed(failure) = driver.session().state() {
        return Err(Failed::run(format!("no match: {failure}")));
    }
    let seconds = now().since(started).as_micros() as f64 / 1e6;
    let report = report(&driver, player, game, seconds, divergent.map(|mismatch| mismatch.turn.0));
    if seat.json {
        report.print_json();
    } else {
        report.print_summary("a real network over UDP");
    }
    Ok(report.checksums_agree)
}

fn list(players: &[PlayerId]) -> String {
    players.iter().map(|p| p.0.to_string()).collect::<Vec<_>>().join(", ")
}

/// What this process knows of the match: its own client.
fn report(driver: &Driver<Client>, player: u8, game: &Match, seconds: f64, divergent: Option<u32>) -> Report {
    let (client, stats) = (driver.simulation(), driver.session().stats());
    let (step_ms_median, step_ms_p99) = step_times(&mut client.step_us().to_vec());
    let checksum = hex(client.checksum());
    let frames = driver.frame().0;
    let sent = stats.bytes_sent as f64 / seconds.max(1e-3);
    Report {
        players: game.players,
        turns: game.turns,
        frames,
        seed: game.seed,
        final_checksum: checksum.clone(),
        checksums_agree: divergent.is_none(),
        first_divergent_turn: divergent,
        client_checksums: vec![checksum],
        client_steps: vec![client.step_us().len() as u32],
        stalled_frames: stats.stalled_frames,
        stalled_fraction: stats.stalled_frames as f64
            / (stats.stalled_frames + u64::from(frames)).max(1) as f64,
        turn_ms_mean: seconds * 1e3 / f64::from(game.turns),
        delivered_fraction: stats.turns_begun as f64 / f64::from(game.turns),
        bytes_per_second_per_player: if player == 0 { 0.0 } else { sent },
        host_bytes_per_second: if player == 0 { sent } else { 0.0 },
        step_ms_median,
        step_ms_p99,
        bodies: client.battle().world().body_count(),
        contacts_mean: client.contacts() as f64 / f64::from(frames.max(1)),
        desync: None,
    }
}
