//! A watcher with a delay is told no less of a signed match than the players, and nothing false.

use super::signed::{forge, shown};
use super::{bare, deliver, play_watched, slow};
use crate::joining::{come_back, config, restart, secret, start};
use crate::play::{Play as _, accuses, assert_agreed, assert_untold};
use crate::toy::{Toy, latency, middle_of};
use testudo_lockstep::packet::{Packet, Transfer, TurnsPacket};
use testudo_lockstep::{
    Duration, Event, Identity, Instant, SessionConfig, Successor, Topology, VirtualMatch,
};
use testudo_tests::counting::Counting;

const PLAYERS: u8 = 3;

fn delayed(topology: Topology, seconds: u64) -> SessionConfig {
    let delay = Duration::from_secs(seconds);
    config(PLAYERS, topology).turns(300).late_watchers(true).watch_delay(delay).signed()
}

/// A signed match with two watchers: one from the start, and the last node.
fn signed_match(config: &SessionConfig) -> VirtualMatch<Toy> {
    start(config, 2, 3, slow())
}

/// Whether somebody is accused, or said to have sent nothing.
fn accuses_or_misses(event: &Event) -> bool {
    accuses(event) || matches!(event, Event::StatementMissing { .. } | Event::ChecksumMissing { .. })
}

/// The middle gave watchers the statements of the present, which are about turns that they have not seen; so they missed those of their own.
#[test]
fn who_watches_later_misses_no_statement() {
    for topology in [Topology::Host, Topology::Relay] {
        for seconds in [1, 5, 16] {
            let config = delayed(topology, seconds);
            let mut game = signed_match(&config);
            let late = game.drivers().len() as u32 - 1;
            game.play_cut_off(&[late], 6_000);
            restart(&mut game, &config, late, Identity::Watcher, secret(9));
            assert!(game.play(300_000), "{topology:?} {seconds} s");
            assert_untold(&mut game, accuses_or_misses, &format!("{topology:?} {seconds} s"));
            assert_agreed(&mut game, &format!("{topology:?} {seconds} s"));
        }
    }
}

#[test]
fn who_watches_later_is_told_what_it_was_shown() {
    for (topology, middle) in [(Topology::Host, 0), (Topology::Relay, 3)] {
        let mut game = signed_match(&delayed(topology, 5));
        let watcher = game.drivers().len() - 1;
        game.play(9_000);
        assert!(game.session(watcher).next_turn().0 > 10, "{topology:?}");
        forge(&mut game, watcher, middle, 1, None);
        game.play(13_000);
        assert_eq!(shown(&mut game, watcher), [0, 1, 2], "{topology:?}");
        assert_eq!(shown(&mut game, watcher - 1), [0; 0], "{topology:?}: the other one watches in peace");
    }
}

/// A player who ends its stream signs that. The signature was forgotten when the player came back, and a watcher that was behind needed it.
#[test]
fn who_is_behind_believes_the_end_of_a_player_who_has_come_back_since() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = delayed(topology, 6);
        let mut game = signed_match(&config);
        for round in 1..4 {
            game.play(round * 6_000);
            let leaver = game.session_mut(2);
            if round % 2 == 0 {
                leaver.resign(Successor::AsConfigured)
            } else {
                leaver.leave()
            };
            game.play(round * 6_000 + 600);
            come_back(&mut game, &config, 2);
        }
        assert!(game.play(300_000), "{topology:?}");
        for node in [0, 1] {
            let accused = game.events(node).into_iter().find(accuses_or_misses);
            assert_eq!(accused, None, "{topology:?}: {node}");
            let toy = game.toy(node);
            assert_eq!(toy.returned.len(), 3, "{topology:?} {:?} {:?}", toy.returned, toy.bots);
        }
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}

/// Nobody came back until everybody had acknowledged that the player was gone, and a watcher kept that to itself for 512 turns.
#[test]
fn who_watches_keeps_nobody_out_by_what_it_does_not_acknowledge() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(PLAYERS, topology).turns(600);
        let mut game = start(&config, 1, 3, slow());
        let (middle, watcher) = (middle_of(&config) as usize, game.drivers().len() - 1);
        game.play(5_000);
        let acked = game.session(watcher).next_turn().0;
        game.put_to_sleep(watcher, Instant::from_millis(4_000_000));
        game.net_mut().set_partition(&[2]);
        for step in 0..140 {
            game.play(5_000 + 100 * step);
            // It can be heard, and that is all.
            deliver(&mut game, middle, watcher as u32, &Packet::Turns(Box::new(bare(acked, PLAYERS))));
            if step == 50 {
                game.net_mut().set_partition(&[]);
                come_back(&mut game, &config, 2);
            }
        }
        assert_eq!(game.toy(1).returned.len(), 1, "{topology:?}");
        assert_eq!(game.session(middle).link_count(), usize::from(PLAYERS) + usize::from(middle > 0));
    }
}

/// Of an entry that it never acknowledged everything since was kept: when the player came back, one entry for each turn of its absence.
#[test]
fn who_watches_makes_nobody_keep_a_long_absence() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(PLAYERS, topology).frames_per_second(100).frames_per_turn(1).turns_ahead(8);
        let config = config.turns(30_000).queue_max(1_000);
        let mut game = start(&config, 1, 3, latency(5));
        let (middle, watcher) = (middle_of(&config) as usize, game.drivers().len() - 1);
        game.drivers_mut().iter_mut().for_each(|driver| driver.simulation_mut().ballast = 0);
        game.play(3_000);
        let acked = game.session(watcher).next_turn().0;
        game.put_to_sleep(watcher, Instant::from_millis(4_000_000));
        game.net_mut().set_partition(&[2]);
        for step in 0..500 {
            game.play(3_000 + 200 * step);
            let next = game.session(1).next_turn().0;
            let acks = [next, next, acked].into_iter().collect();
            let packet = TurnsPacket { acks, ..bare(next, PLAYERS) };
            deliver(&mut game, middle, watcher as u32, &Packet::Turns(Box::new(packet)));
        }
        game.net_mut().set_partition(&[]);
        assert_eq!(game.session(middle).link_count(), usize::from(PLAYERS) + usize::from(middle > 0));
        let before = Counting::counts().bytes;
        come_back(&mut game, &config, 2);
        game.drivers_mut()[2].simulation_mut().ballast = 0;
        game.play_until(10, 60_000, |game| !game.toy(1).returned.is_empty());
        // An entry of nothing takes 72 bytes, and the absence is of 9,000 turns.
        let kept = Counting::counts().bytes - before;
        assert!(kept < 100_000, "{topology:?}: {kept} bytes");
    }
}

/// There is one state for all delayed watchers. Who refused it took it from the others, and the next one went to them as soon as the relay had it: a player
/// with two such connections saw the present.
#[test]
fn who_refuses_a_state_shows_nobody_the_next_one_before_its_time() {
    const DELAY_MS: u64 = 8_000;
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(PLAYERS, topology).turns(300).late_watchers(true).state_rate(20_000);
        let config =
            config.watch_delay(Duration::from_millis(DELAY_MS)).join_timeout(Duration::from_secs(60));
        let mut game = start(&config, 2, 3, slow());
        let first = game.drivers().len() as u32 - 2;
        game.net_mut().set_partition(&[first, first + 1]);
        let (mut shown, mut begun, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for until in (100..40_000).step_by(100) {
            if until == 4_000 {
                game.net_mut().set_partition(&[]);
                for node in [first, first + 1] {
                    restart(&mut game, &config, node, Identity::Watcher, secret(9));
                }
            }
            begun.push((game.now(), game.session(1).next_turn().0));
            play_watched(&mut game, until, |now, to, packet| {
                let turn = match packet {
                    Packet::Transfer(Transfer::Chunk(chunk)) => chunk.turn,
                    Packet::Transfer(Transfer::Manifest(manifest)) => manifest.turn,
                    _ => return,
                };
                if to >= first {
                    shown.push((now, to, turn));
                }
            });
            let got =
                |turn: &u32| shown.iter().filter(|(_, to, shown)| (to, shown) == (&first, turn)).count();
            let turn = shown.first().map(|(.., turn)| *turn);
            if let Some(turn) = turn.filter(|turn| got(turn) > 10 && seen.is_empty()) {
                seen.push(turn);
                deliver(
                    &mut game,
                    middle_of(&config) as usize,
                    first,
                    &Packet::Transfer(Transfer::Refuse { turn }),
                );
            }
        }
        let what = format!("{topology:?}");
        for (at, to, turn) in &shown {
            let old = begun.iter().filter(|(then, _)| at.since(*then) >= Duration::from_millis(DELAY_MS));
            let newest = old.map(|(_, turn)| *turn).max().unwrap_or(0) + config.turns_ahead + 1;
            assert!(
                *turn <= newest,
                "{what}: node {to} is shown turn {turn} at {at:?}, and may see {newest}"
            );
        }
        let turns = |node: u32| -> Vec<u32> {
            let mut turns: Vec<u32> = shown.iter().filter(|told| told.1 == node).map(|told| told.2).collect();
            turns.dedup();
            turns
        };
        assert_eq!((turns(first).len(), turns(first + 1).len()), (2, 1), "{what}: {:?}", turns(first));
        assert!(game.play(400_000), "{what}");
        for node in [first, first + 1] {
            assert_eq!(game.toy(node as usize).loaded.len(), 1, "{what}");
        }
        assert_agreed(&mut game, &what);
    }
}
