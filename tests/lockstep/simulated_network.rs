//! What the simulated network does to packets, against what its settings say.

use testudo_lockstep::simnet::{LinkConfig, PPM, SimNet, SimNetStats};
use testudo_lockstep::{Duration, Instant};

fn run(seed: u64, settings: LinkConfig) -> (Vec<(Instant, Vec<u8>)>, SimNetStats) {
    let mut net = SimNet::new(seed);
    net.set_default(settings);
    let mut arrivals = Vec::new();
    for i in 0..10_000_u32 {
        net.send(Instant::from_millis(u64::from(i) * 10), 0, 1, &i.to_le_bytes());
    }
    while let Some(at) = net.next_delivery() {
        arrivals.push((at, net.receive(at).unwrap().bytes));
    }
    (arrivals, net.stats())
}

#[test]
fn a_seed_is_a_fate() {
    let settings = LinkConfig::new()
        .latency(Duration::from_millis(40))
        .jitter(Duration::from_millis(25))
        .loss_ppm(200_000)
        .duplicate_ppm(50_000)
        .reorder_ppm(100_000)
        .reorder_hold(Duration::from_millis(30))
        .corrupt_ppm(10_000);
    let (first, stats) = run(11, settings);
    assert_eq!(first, run(11, settings).0);
    assert_ne!(first, run(12, settings).0);
    // 10,000 draws: four standard deviations around the expected counts.
    assert!((1_840..=2_160).contains(&stats.lost), "{stats:?}");
    assert!((320..=480).contains(&stats.duplicated), "{stats:?}");
    assert!((690..=910).contains(&stats.reordered), "{stats:?}");
    assert!((44..=116).contains(&stats.corrupted), "{stats:?}");
    assert_eq!(stats.delivered, 10_000 - stats.lost + stats.duplicated);
}

#[test]
fn loss_of_one_setting_does_not_shift_the_jitter_of_the_rest() {
    let jitter = LinkConfig::new().jitter(Duration::from_millis(5));
    let lossy = jitter.loss_ppm(300_000);
    let all = run(3, jitter).0;
    assert!(run(3, lossy).0.iter().all(|arrival| all.contains(arrival)));
}

#[test]
fn bursts_take_out_neighbours() {
    let settings = LinkConfig::new().burst_ppm(10_000).burst_length(Duration::from_millis(100));
    let stats = run(5, settings).1;
    // One packet per 10 ms: about 1 burst in 109 packets, 10 packets each.
    assert!((700..1_150).contains(&stats.lost_in_bursts), "{stats:?}");
    assert_eq!(stats.lost_in_bursts + stats.delivered, 10_000);
}

#[test]
fn a_narrow_link_delays_and_then_loses() {
    // 400 bytes per second offered, 200 carried.
    let settings = LinkConfig::new().bytes_per_second(200);
    let (arrivals, stats) = run(5, settings);
    assert!((4_950..5_050).contains(&stats.delivered), "{stats:?}");
    assert!(arrivals.windows(2).all(|pair| pair[1].0.since(pair[0].0) == Duration::from_millis(20)));
}

#[test]
fn a_partition_cuts_both_ways_until_it_heals() {
    let mut net = SimNet::new(1);
    net.set_partition(&[2, 3]);
    for (from, to) in [(0, 2), (2, 0), (2, 3), (0, 1)] {
        net.send(Instant::ZERO, from, to, b"x");
    }
    assert_eq!((net.in_flight(), net.stats().partitioned), (2, 2));
    net.set_partition(&[]);
    net.send(Instant::ZERO, 0, 2, b"x");
    assert_eq!(net.in_flight(), 3);
}

#[test]
fn total_loss_delivers_nothing() {
    let settings = LinkConfig::new().loss_ppm(PPM);
    assert_eq!(run(1, settings).0.len(), 0);
}
