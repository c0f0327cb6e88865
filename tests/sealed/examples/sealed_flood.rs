//! A sealed match of four under a flood of datagrams from strangers: what becomes of its turns, of the memory, and what the strangers get.
//!
//! `cargo run --profile dist -p testudo-sealed-tests --features measure --example sealed_flood -- [datagrams]`
//!
//! With a join code after the number it floods the server that made the code, such as a relay, and plays nothing.

use std::sync::{Arc, mpsc};
use std::time::{Duration as StdDuration, Instant as StdInstant};

use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::transport::sealed::{SealedClient, SealedConfig};
use testudo_lockstep::{Duration, Identity, PlayerId, SessionConfig};
use testudo_sealed_tests::clock::{Clock, Group, patient};
use testudo_sealed_tests::game::Host;
use testudo_sealed_tests::proxy::{Proxy, Weather};
use testudo_sealed_tests::stranger::Stranger;

/// Turns of 100 ms.
const FRAMES_PER_TURN: u32 = 2;

/// Seconds before and after the flood.
const QUIET_S: u64 = 20;

/// Strangers that send at once, each on a thread.
const STRANGERS: u64 = 1;

fn main() {
    let datagrams = std::env::args().nth(1).map_or(1_000_000, |argument| argument.parse().expect("a number"));
    if let Some(code) = std::env::args().nth(2) {
        return flood_only(&code.parse().expect("a join code"), datagrams);
    }
    let config = patient(SessionConfig::new(4).simulated().frames_per_turn(FRAMES_PER_TURN));
    let (sealed, clock) = (SealedConfig::new(), Clock::start());
    let now = clock.now();
    let host = Host::sealed(&config, &sealed, now);
    let address = host.address();
    // One guest comes by way of a proxy that records, so that the strangers have something to change.
    let proxy = Proxy::start(address, Weather::default(), 1).expect("a proxy");
    proxy.record();
    let guests = (1..4)
        .map(|player| {
            let way = if player == 1 { proxy.address() } else { address };
            host.guest(way, Identity::Player(PlayerId(player)), &config, &sealed, now)
        })
        .collect();
    let mut group = Group { clock, host, guests };
    assert!(group.meet(), "the match begins");
    group.play(5);
    let capture: Arc<[Vec<u8>]> = proxy.stop_recording().into();
    // The strangers' own memory belongs to the time before.
    let (strangers, starts): (Vec<_>, Vec<_>) = (0..STRANGERS)
        .map(|seed| {
            let (capture, (start, started)) = (Arc::clone(&capture), mpsc::channel());
            let work = move || {
                let mut stranger = Stranger::new(address, seed);
                let Ok(()) = started.recv() else { return (stranger.sent, stranger.received) };
                flood(&mut stranger, &capture, datagrams / STRANGERS);
                (stranger.sent, stranger.received)
            };
            (std::thread::spawn(work), start)
        })
        .unzip();
    group.host.watch.turns_ms.clear();
    group.play(QUIET_S);
    report("before", &mut group, QUIET_S);
    let before = memory_kb();
    let start = StdInstant::now();
    starts.iter().for_each(|start| start.send(()).expect("a stranger waits"));
    let turns = group.host.watch.turns_ms.len();
    let mut peak = before;
    while strangers.iter().any(|stranger| !stranger.is_finished()) {
        group.play(1);
        peak = peak.max(memory_kb());
    }
    let time = start.elapsed();
    let played = group.host.watch.turns_ms.len() - turns;
    println!(
        "flood: {} ms, {} turns per 100 s",
        time.as_millis(),
        played as u128 * 100_000 / time.as_millis()
    );
    for stranger in strangers {
        let (sent, received) = stranger.join().expect("no panic");
        print_traffic(sent, received);
    }
    report("flooded", &mut group, time.as_secs().max(1));
    group.play(QUIET_S);
    report("after", &mut group, QUIET_S);
    println!("memory, kB: {before} before, {peak} at most, {} after", memory_kb());
    println!("{:?}", group.host.server().stats());
    let ahead = group.guests.iter().map(|guest| guest.driver.session().next_turn().0);
    println!("turns of the guests: {:?}, connections lost: {}", ahead.collect::<Vec<_>>(), group.host.closed);
}

/// Sends, and counts the answers.
fn flood(stranger: &mut Stranger, capture: &[Vec<u8>], datagrams: u64) {
    for number in 0..datagrams {
        match number % 4 {
            0 | 1 => stranger.send_random(),
            2 => stranger.send_mutated(capture),
            // The beginning of a handshake, as it was.
            _ => stranger.send(&capture[0]),
        }
    }
    stranger.listen(StdDuration::from_millis(500));
}

fn print_traffic(sent: (u64, u64), received: (u64, u64)) {
    println!(
        "a stranger sent {} datagrams, {} bytes, and got {} datagrams, {} bytes: 1 in {}",
        sent.0,
        sent.1,
        received.0,
        received.1,
        sent.1 / received.1.max(1)
    );
}

/// Somebody without a place knocks once, and the stranger goes on from what that took.
fn flood_only(code: &JoinCode, datagrams: u64) {
    let server = code.addresses()[0];
    let proxy = Proxy::start(server, Weather::default(), 1).expect("a proxy");
    proxy.record();
    let config = SealedConfig::new();
    let client = SealedClient::connect(&[proxy.address()], code.certificate_hash(), b"nobody", &config);
    client.expect("a socket").wait(Duration::from_secs(10));
    let capture = proxy.stop_recording();
    let (mut stranger, start) = (Stranger::new(server, 0), StdInstant::now());
    flood(&mut stranger, &capture, datagrams);
    println!("flood: {} ms", start.elapsed().as_millis());
    print_traffic(stranger.sent, stranger.received);
}

/// The turns of the last seconds.
fn report(what: &str, group: &mut Group, seconds: u64) {
    let turns = std::mem::take(&mut group.host.watch.turns_ms);
    let late = turns.iter().filter(|turn| turn.1 > 0).count();
    let worst = turns.iter().map(|turn| turn.1).max().unwrap_or(0);
    println!("{what}: {} turns in {seconds} s, {late} late, {worst} ms at most", turns.len());
}

/// Resident memory of this program, strangers included. 0 where the system does not say.
fn memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
