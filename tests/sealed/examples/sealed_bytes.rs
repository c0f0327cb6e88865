//! Bytes per second between a player and the host, UDP payload: sealed against plain UDP, in real time at 50 ms one way.
//!
//! `cargo run --profile dist -p testudo-sealed-tests --features measure --example sealed_bytes -- [seconds]`

use std::time::Duration as StdDuration;

use testudo_lockstep::transport::sealed::SealedConfig;
use testudo_lockstep::{Identity, Pace, PlayerId, SessionConfig};
use testudo_sealed_tests::clock::{Clock, Group, patient};
use testudo_sealed_tests::game::Host;
use testudo_sealed_tests::proxy::{Proxy, Weather};

fn main() {
    let seconds = std::env::args().nth(1).map_or(20, |argument| argument.parse().expect("a number"));
    println!(
        "| mode | players | transport | a guest sends, bytes/s | a guest receives, bytes/s | packets/s up, down |"
    );
    println!("|---|---|---|---|---|---|");
    for is_input in [false, true] {
        let runs: Vec<_> = [2, 4, 8, 16]
            .into_iter()
            .flat_map(|players| [false, true].map(|is_sealed| (players, is_sealed)))
            .map(|(players, is_sealed)| {
                (players, is_sealed, std::thread::spawn(move || play(players, is_sealed, is_input, seconds)))
            })
            .collect();
        for (players, is_sealed, run) in runs {
            let mode = if is_input { "input, 60 Hz" } else { "turns" };
            let transport = if is_sealed { "sealed" } else { "plain UDP" };
            let Some([up, down, up_packets, down_packets]) = run.join().expect("no panic") else {
                println!("| {mode} | {players} | {transport} | did not begin |");
                continue;
            };
            println!("| {mode} | {players} | {transport} | {up} | {down} | {up_packets}, {down_packets} |");
        }
    }
}

/// The mean of all guests: bytes per second up and down, packets per second up and down.
fn play(players: u8, is_sealed: bool, is_input: bool, seconds: u64) -> Option<[u64; 4]> {
    let config = patient(match is_input {
        true => SessionConfig::input(players, 60).simulated(),
        false => SessionConfig::new(players).simulated().pace(Pace::Adaptive),
    });
    let (sealed, clock) = (SealedConfig::new(), Clock::start());
    let now = clock.now();
    let host = if is_sealed { Host::sealed(&config, &sealed, now) } else { Host::plain(&config, now) };
    let weather = Weather { delay: StdDuration::from_millis(50), ..Weather::default() };
    let proxies: Vec<Proxy> = (1..players)
        .map(|player| Proxy::start(host.address(), weather.clone(), player.into()).expect("a proxy"))
        .collect();
    let guests = (1..players)
        .zip(&proxies)
        .map(|(player, proxy)| {
            host.guest(proxy.address(), Identity::Player(PlayerId(player)), &config, &sealed, clock.now())
        })
        .collect();
    let mut group = Group { clock, host, guests };
    if !group.meet() {
        return None;
    }
    group.play(10);
    let sum = || {
        proxies.iter().map(Proxy::traffic).fold([0; 4], |sum, traffic| {
            [sum[0] + traffic.up.1, sum[1] + traffic.down.1, sum[2] + traffic.up.0, sum[3] + traffic.down.0]
        })
    };
    let (start, before) = (group.clock.now(), sum());
    group.play(seconds);
    let (after, time_ms) = (sum(), group.clock.now().since(start).as_millis());
    let rate = |place: usize| (after[place] - before[place]) * 1_000 / time_ms / u64::from(players - 1);
    Some([0, 1, 2, 3].map(rate))
}
