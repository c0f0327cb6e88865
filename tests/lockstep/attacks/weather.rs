//! Not an attack, only a bad network: what an outage and a crowd cost, in time and in bytes.

use crate::play::{Play as _, assert_unharmed, match_at};
use crate::toy::{Toy, latency, toy_match};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, Instant, Pace, SessionConfig, Topology, TurnStatus, VirtualMatch};
use testudo_tests::cases::share;

fn link(latency_ms: u64, loss_ppm: u32) -> LinkConfig {
    latency(latency_ms).loss_ppm(loss_ppm)
}

/// Length of a turn at the first player, in ms.
fn turn_ms(game: &VirtualMatch<Toy>) -> u32 {
    let plan = game.session(0).plan();
    plan.frames_per_turn * 1_000_000 / plan.pace_millihertz
}

#[test]
fn three_seconds_after_an_outage_turns_are_as_long_as_before() {
    for topology in [Topology::Host, Topology::Mesh] {
        for outage_ms in [1_000, 3_000, 8_000, 25_000] {
            let config =
                SessionConfig::new(3).simulated().turns(2_000).topology(topology).pace(Pace::Adaptive);
            let mut game = match_at(&config, link(40, 0), 20_000);
            let before = turn_ms(&game);
            game.net_mut().set_partition(&[2]);
            // Longer than the drop time: the others go on alone when it is over.
            let recovered = 20_000 + outage_ms.min(21_000);
            game.play(recovered);
            if outage_ms < 21_000 {
                game.net_mut().set_partition(&[]);
            }
            game.play(recovered + 3_000);
            // One frame more is possible: how long a confirmation waits for the next packet has changed.
            assert!(
                turn_ms(&game) <= before + 50,
                "{topology:?} {outage_ms}: {before} to {}",
                turn_ms(&game)
            );
            let turns = game.session(0).next_turn().0;
            game.play(recovered + 5_000);
            let after = game.session(0).next_turn().0;
            let phase = game.session(0).phase();
            assert!(after > turns + 10, "{topology:?} {outage_ms}: {turns} to {after} {phase:?}");
        }
    }
}

/// A machine that is moved stands for a minute. On waking, the silence of the others was its own.
#[test]
fn a_middle_that_stood_for_a_minute_goes_on() {
    for topology in [Topology::Host, Topology::Relay] {
        for signed in [false, true] {
            let config = SessionConfig::new(3).simulated().turns(200).topology(topology);
            let config = config.silence_timeout(Duration::from_secs(90));
            let config = if signed { config.signed() } else { config };
            let mut game = match_at(&config, link(40, 10_000), 10_000);
            let middle = if topology == Topology::Relay { 3 } else { 0 };
            game.put_to_sleep(middle, Instant::from_millis(70_000));
            assert_unharmed(&mut game, &format!("{topology:?} {signed}"));
            assert!(game.toy(0).gone.is_empty(), "{topology:?} {signed}");
        }
    }
}

/// All copies of a farewell can be lost at once: found by a soak (seed 1795315955).
#[test]
fn a_last_word_that_was_lost_is_said_again() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        let config = SessionConfig::new(2).simulated().turns(60).topology(topology);
        let mut game = toy_match(&config, 0, 1, link(60, 0));
        let middle: u32 = if topology == Topology::Relay { 2 } else { 0 };
        game.play_until(5, 60_000, |game| game.session(1).turn_status() == TurnStatus::Over);
        // By now the last entries are on their way; the middle finishes, and nobody hears it.
        game.play_for(100);
        game.net_mut().set_link(middle, 1, link(60, 1_000_000));
        game.play_for(1_000);
        game.net_mut().set_link(middle, 1, link(60, 0));
        assert!(game.play_for(2_000), "{topology:?} {:?}", game.session(1).phase());
        assert_eq!(game.session(1).phase(), testudo_lockstep::SessionPhase::Finished, "{topology:?}");
    }
}

/// Bytes that each node sends per second while a match runs.
fn bytes_per_second(players: u8, topology: Topology, link: LinkConfig, has_keys: bool) -> Vec<u64> {
    let config = SessionConfig::new(players).simulated().turns(2_000).topology(topology).pace(Pace::Adaptive);
    let config = if has_keys { config.signed() } else { config };
    let mut game = match_at(&config, link, 10_000);
    let sent = |game: &VirtualMatch<Toy>| -> Vec<u64> {
        game.drivers().iter().map(|driver| driver.session().stats().bytes_sent).collect()
    };
    let before = sent(&game);
    let seconds = share(20);
    game.play(10_000 + 1_000 * seconds);
    assert!(game.now() >= Instant::from_millis(10_000 + 1_000 * seconds));
    sent(&game).iter().zip(before).map(|(now, before)| (now - before) / seconds).collect()
}

/// What no peer of a crowd may send: the first one, and each of the others.
fn limits_of_a_crowd(players: u8, topology: Topology, condition: &str) -> Option<(u64, u64)> {
    match (players, topology, condition) {
        (8, Topology::Mesh, "150 ms, 1 %") => Some((5_000, 5_000)),
        (16, Topology::Mesh, "150 ms, 1 %") => Some((15_000, 15_000)),
        (16, Topology::Host, "300 ms, 20 %") => Some((60_000, 4_000)),
        _ => None,
    }
}

/// The table of the documents: `TESTUDO_CASES=all cargo test -p testudo-tests --test lockstep bytes_per_second -- --nocapture` prints it.
#[test]
fn bytes_per_second_of_two_to_sixteen_players() {
    let mut crowds = 0;
    for (name, topology) in [("star", Topology::Host), ("mesh", Topology::Mesh)] {
        for (condition, link) in
            [("40 ms", link(40, 0)), ("150 ms, 1 %", link(150, 10_000)), ("300 ms, 20 %", link(300, 200_000))]
        {
            let players: &[u8] = match (share(8) == 8, topology) {
                (true, _) => &[2, 4, 8, 16],
                (false, Topology::Mesh) => &[2, 8],
                (false, _) => &[4, 16],
            };
            for &players in players {
                let mean = |bytes: &[u64]| bytes.iter().sum::<u64>() / bytes.len() as u64;
                let bytes = bytes_per_second(players, topology, link, false);
                let with_keys = bytes_per_second(players, topology, link, true);
                let (others, others_with_keys) = (mean(&bytes[1..]), mean(&with_keys[1..]));
                println!(
                    "| {name} | {condition} | {players} | {} | {others} | {} | {others_with_keys} |",
                    bytes[0], with_keys[0]
                );
                if let Some((first_max, others_max)) = limits_of_a_crowd(players, topology, condition) {
                    crowds += 1;
                    assert!(bytes[0] <= first_max, "{players} {topology:?}: {bytes:?}");
                    assert!(
                        bytes[1..].iter().all(|&bytes| bytes <= others_max),
                        "{name} {condition}: {bytes:?}"
                    );
                }
                let count = u64::from(players);
                let is_bad = condition.ends_with("20 %");
                let (first_max, others_max) = match topology {
                    Topology::Mesh if is_bad => (1_100 * count, 1_100 * count),
                    Topology::Mesh => (700 * count, 700 * count),
                    _ if is_bad => (300 * count * count, 800),
                    _ => (300 * count * count, 700),
                };
                assert!(bytes[0] <= first_max && others <= others_max, "{name} {condition}: {bytes:?}");
                // A hundred bytes per second for each player's statements and over each link, more where much is lost.
                let repeats = if is_bad { 2 } else { 1 };
                let (statements, links) = match topology {
                    Topology::Mesh => (1, count - 1),
                    _ => (count - 1, count - 1),
                };
                let most = bytes[0] + bytes[0] / 50 + 100 * statements * links * repeats;
                assert!(with_keys[0] <= most, "{name} {condition}: {bytes:?} {with_keys:?}");
            }
        }
    }
    assert_eq!(crowds, if share(8) == 8 { 3 } else { 2 });
}
