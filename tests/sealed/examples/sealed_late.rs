//! How late turns are: sealed against plain UDP, through the same lossy proxy, with and without a state under way, in real time and side by side.
//!
//! `cargo run --profile dist -p testudo-sealed-tests --features measure --example sealed_late -- [seconds] [games of each kind]`

use std::thread::JoinHandle;
use std::time::Duration as StdDuration;

use testudo_lockstep::transport::sealed::SealedConfig;
use testudo_lockstep::{Duration, Identity, Pace, PlayerId, SessionConfig, SessionPhase};
use testudo_sealed_tests::clock::{Clock, Group, patient};
use testudo_sealed_tests::game::{Guest, Host};
use testudo_sealed_tests::proxy::{Proxy, Weather};

/// Losses in percent, and the round trip in ms.
const NETWORKS: [(u32, u64); 4] = [(25, 2_000), (20, 150), (5, 250), (1, 100)];

/// Bytes of the state that goes to one watcher after the other.
const STATE_BYTES: usize = 2_000_000;

/// Before this many seconds turns have not found their length.
const WARM_UP_S: u64 = 20;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a number"));
    let (seconds, games) = (arguments.next().unwrap_or(60), arguments.next().unwrap_or(2));
    println!(
        "{games} games of 4 players and {seconds} s each, 10 Mbit/s with a queue of 60 kB, turns as long as the network needs\n"
    );
    println!(
        "| loss, round trip | state under way | transport | turn, ms | late turns, % | late, 99 % of turns, ms | worst, ms | states sent |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut kinds = Vec::new();
    for network in NETWORKS {
        for state in [false, true] {
            for is_sealed in [false, true] {
                let runs: Vec<JoinHandle<Option<Outcome>>> = (0..games)
                    .map(|seed| std::thread::spawn(move || play(network, state, is_sealed, seed, seconds)))
                    .collect();
                kinds.push((network, state, is_sealed, runs));
            }
        }
    }
    for ((loss, round_trip), state, is_sealed, runs) in kinds {
        let outcomes: Vec<Option<Outcome>> =
            runs.into_iter().map(|run| run.join().expect("no panic")).collect();
        let failed = outcomes.iter().filter(|outcome| outcome.is_none()).count();
        let states: u32 = outcomes.iter().flatten().map(|outcome| outcome.states).sum();
        let turns: Vec<(u64, u64)> =
            outcomes.into_iter().flatten().flat_map(|outcome| outcome.turns_ms).collect();
        let mut late: Vec<u64> = turns.iter().map(|turn| turn.1).collect();
        late.sort_unstable();
        let count = late.len().max(1);
        let length = turns.iter().map(|turn| turn.0).sum::<u64>() / count as u64;
        let some = late.iter().filter(|late| **late > 0).count();
        let transport = if is_sealed { "sealed" } else { "plain UDP" };
        println!(
            "| {loss} %, {round_trip} ms | {} | {transport} | {length} | {}.{} | {} | {} | {states} |{}",
            if state { "yes" } else { "no" },
            some * 100 / count,
            some * 1_000 / count % 10,
            late.get(count * 99 / 100).unwrap_or(&0),
            late.last().unwrap_or(&0),
            if failed > 0 { format!(" {failed} games did not begin") } else { String::new() },
        );
    }
}

struct Outcome {
    turns_ms: Vec<(u64, u64)>,
    states: u32,
}

/// One game; none if it did not begin.
fn play(
    (loss, round_trip): (u32, u64),
    state: bool,
    is_sealed: bool,
    seed: u64,
    seconds: u64,
) -> Option<Outcome> {
    let config =
        patient(SessionConfig::new(4).simulated().pace(Pace::Adaptive).late_watchers(true).watchers_max(16));
    let limit = Duration::from_secs(120);
    let sealed = SealedConfig::new().connect_timeout(limit).greeting_timeout(limit).idle_timeout(limit);
    let clock = Clock::start();
    let now = clock.now();
    let mut host = if is_sealed { Host::sealed(&config, &sealed, now) } else { Host::plain(&config, now) };
    host.driver.simulation_mut().ballast = STATE_BYTES;
    let weather = Weather {
        delay: StdDuration::from_millis(round_trip / 2),
        jitter: StdDuration::from_millis(10),
        loss_ppm: loss * 10_000,
        bottleneck: (1_250_000, 60_000),
        ..Weather::default()
    };
    let proxy = Proxy::start(host.address(), weather, seed).expect("a proxy");
    let guest = |host: &Host, identity| host.guest(proxy.address(), identity, &config, &sealed, clock.now());
    let guests = (1..4).map(|player| guest(&host, Identity::Player(PlayerId(player)))).collect();
    let mut group = Group { clock, host, guests };
    if !group.meet() {
        return None;
    }
    group.play(WARM_UP_S);
    let skip: Vec<usize> = group.guests.iter().map(|guest| guest.watch.turns_ms.len()).collect();
    let end = group.clock.now() + Duration::from_secs(seconds);
    let (mut watcher, mut leaving, mut states) = (None::<Guest>, Vec::new(), 0);
    while group.clock.now() < end {
        group.run();
        if state {
            let now = group.clock.now();
            let guest = watcher.get_or_insert_with(|| {
                group.host.guest(proxy.address(), Identity::Watcher, &config, &sealed, now)
            });
            guest.run(now);
            let session = guest.driver.session();
            let is_there = session.phase() == SessionPhase::Running && !session.is_joining();
            if is_there || session.is_over() || guest.lost.is_some() {
                states += u32::from(is_there);
                guest.driver.session_mut().leave();
                leaving.extend(watcher.take().map(|guest| (guest, now + Duration::from_secs(5))));
            }
            leaving.iter_mut().for_each(|(guest, _)| guest.run(now));
            if leaving.first().is_some_and(|(_, until)| now > *until) {
                // Closing takes a moment, which the others should not wait for.
                let gone = leaving.remove(0);
                std::thread::spawn(move || drop(gone));
            }
        }
    }
    let turns_ms = group
        .guests
        .iter()
        .zip(skip)
        .flat_map(|(guest, skip)| guest.watch.turns_ms[skip..].to_vec())
        .collect();
    Some(Outcome { turns_ms, states })
}
