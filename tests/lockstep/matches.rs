//! Whole matches: whatever the network does, all peers end in the same state.

use crate::attacks::{FORMAT, deliver};
use crate::joining::{self};
use crate::play::{Play as _, SEED, accuses, assert_agreed, assert_untold, give_order};
use crate::toy::{Order, Toy, bot, latency, middle_of, terrible, toy_match};
use testudo_lockstep::packet::{Bye, Packet};
use testudo_lockstep::simnet::{Delivery, LinkConfig, Transport};
use testudo_lockstep::{
    Duration, Entry, Event, Failure, Instant, PeerId, SessionConfig, SessionPhase, Successor, Topology, Turn,
    VirtualMatch,
};

fn play(config: &SessionConfig, watchers: u32, seed: u64, link: LinkConfig) -> VirtualMatch<Toy> {
    let mut game = toy_match(config, watchers, seed, link);
    assert!(game.play(3_600_000), "not over after an hour: {:?}", game.phases());
    game
}

/// The expected log: every bot order of turn T runs in turn T + 2.
fn expected_log(players: u8, turns: u32, frames_per_turn: u32) -> Vec<(u32, u8, Order)> {
    let orders = |turn: u32| {
        (0..players).filter_map(move |p| Some((turn * frames_per_turn, p, bot(SEED, turn - 2, p)?)))
    };
    (2..turns).flat_map(orders).collect()
}

#[test]
fn perfect_and_terrible_networks_end_in_the_same_state() {
    let config = SessionConfig::new(4).simulated().turns(300).session_id(9);
    let latency = Duration::from_millis(150);
    let links = [
        ("perfect", LinkConfig::new()),
        ("latency", LinkConfig::new().latency(latency)),
        ("terrible", terrible()),
        // With more losses TCP is silent for longer than the silence timeout.
        ("lossy, by TCP", LinkConfig::new().transport(Transport::Tcp).loss_ppm(30_000).latency(latency)),
    ];
    let mut finals = Vec::new();
    for (name, link) in links {
        let game = play(&config, 0, 7, link);
        for driver in game.drivers() {
            let stats = driver.session().stats();
            assert_eq!(driver.session().phase(), SessionPhase::Finished, "{name} {stats:?}");
            assert_eq!(driver.frame().0, 1_200, "{name}");
            assert_eq!(driver.simulation().log, expected_log(4, 300, 4), "{name}");
            assert_eq!(stats.entries_invalid, 0, "{name}");
            finals.push(driver.simulation().values);
            eprintln!("{name} {stats:?} now {:?}", game.now());
        }
    }
    assert!(finals.windows(2).all(|pair| pair[0] == pair[1]));
}

/// The entry for turn T + 2 closes at the start of turn T. What is given later in turn T, also in its last frame, goes with the next one.
#[test]
fn an_order_that_is_given_within_a_turn_runs_three_turns_later() {
    let config = SessionConfig::new(2).simulated().turns(40);
    let mut game = toy_match(&config, 0, 1, latency(20));
    for (number, node) in (0..24).zip([0, 1].repeat(12)) {
        // Three, two and one frames before the end of a turn.
        let moment = (number + 1, 3 - number / 2 % 3);
        loop {
            let (turn, frames_left) = (game.session(node).next_turn().0, game.drivers()[node].frames_left());
            assert!(turn <= moment.0, "the moment has passed");
            if (turn, frames_left) == moment {
                break;
            }
            game.step(&mut |_, _, _, _| {});
        }
        crate::toy::give(game.session_mut(node), &Order::Shout(number));
    }
    assert!(game.idle(600_000));
    let expected: Vec<_> =
        (0..24).map(|number| ((number + 3) * 4, (number % 2) as u8, Order::Shout(number))).collect();
    assert_eq!([&game.toy(0).log, &game.toy(1).log], [&expected; 2]);
}

#[test]
fn every_topology_plays_the_same_match_under_many_seeds() {
    for seed in 0..60 {
        let topology = [Topology::Host, Topology::Relay, Topology::Mesh][seed as usize % 3];
        let players = 2 + (seed % 5) as u8;
        let config = SessionConfig::new(players).simulated().turns(60).topology(topology).session_id(seed);
        let mut game = play(&config, if topology == Topology::Mesh { 0 } else { 1 }, seed, terrible());
        assert_agreed(&mut game, &format!("seed {seed}"));
        assert_eq!(game.toy(0).log, expected_log(players, 60, 4), "seed {seed}");
    }
}

#[test]
fn a_decided_game_ends_at_the_same_turn_and_reports_what_never_ran() {
    let mut game = toy_match(&SessionConfig::new(3).simulated(), 1, 2, terrible());
    let over = game.run(Instant::from_millis(600_000), |_, turn, state, session| {
        if session.player().is_some() {
            crate::toy::give(session, &Order::Shout(turn.0));
        }
        // Decided by the state: every peer sees it at the start of turn 20.
        if state.log.len() >= 54 {
            session.end_match();
        }
    });
    assert!(over);
    for driver in game.drivers_mut() {
        assert_eq!(driver.session().phase(), SessionPhase::Finished);
        assert_eq!((driver.session().last_turn(), driver.frame().0), (Some(Turn(20)), 84));
        assert_eq!(driver.simulation().log.len(), 3 * 19, "turns 2 to 20");
        let is_player = driver.session().player().is_some();
        let events: Vec<_> = std::iter::from_fn(|| driver.session_mut().poll_event()).collect();
        // Given in turns 0 to 20, run up to turn 20: two entries are left over.
        let cancelled = events.contains(&Event::Cancelled { actions: 2 });
        assert_eq!(cancelled, is_player, "{events:?}");
    }
}

/// The loop that sends until nothing is due never ended.
#[test]
fn at_the_end_of_time_nothing_is_due() {
    let end = Instant::from_micros(u64::MAX);
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        let config = SessionConfig::new(3).simulated().topology(topology).turns(100);
        let mut game = toy_match(&config, 1, 7, LinkConfig::new());
        game.idle(3_000);
        for driver in game.drivers_mut() {
            let (mut packets, mut bytes) = (0, Vec::new());
            for now in [end, end] {
                driver.session_mut().handle_timeout(now);
                while driver.session_mut().poll_transmit(now, &mut bytes).is_some() {
                    packets += 1;
                    assert!(packets < 1_000, "{topology:?}");
                }
            }
        }
    }
}

/// Player 4 was cut off from most of a mesh, and player 3 a moment later. Both failed alone. Player 3 had run a turn with an entry of player 4 that nobody else
/// had, and was said to differ.
#[test]
fn a_player_of_a_mesh_that_fails_alone_is_not_said_to_differ() {
    let dead = LinkConfig::new().loss_ppm(1_000_000);
    let config = SessionConfig::new(5).simulated().topology(Topology::Mesh).frames_per_turn(2).turns(90);
    let config = config.drop_after(Duration::from_millis(2_000));
    // Statements are rare, so a signed match is cut off at twelve moments: some of them fall behind a statement that only player 3 could make.
    for (is_signed, at) in (0..3).map(|n| (false, n * 100)).chain((0..12).map(|n| (true, n * 100))) {
        let config = if is_signed { config.clone().signed() } else { config.clone() };
        let mut game = toy_match(&config, 0, 1, latency(5));
        for (cut_off, at) in [(4, 4_000 + at), (3, 4_350 + at)] {
            game.idle(at);
            for other in 0..3 {
                game.net_mut().set_link(other, cut_off, dead);
                game.net_mut().set_link(cut_off, other, dead);
            }
        }
        assert!(game.idle(200_000));
        for node in 0..5 {
            let has_finished = game.session(node).phase() == SessionPhase::Finished;
            assert_eq!(has_finished, node < 3, "{node}");
        }
        assert_untold(&mut game, accuses, &format!("cut off after {at} ms"));
    }
}

/// Player 2 left while only player 3, who had resigned, could hear it. The others dropped player 2, and player 3 went on to the end with its last entries.
#[test]
fn a_resigned_player_of_a_mesh_does_not_watch_another_match_than_most_play() {
    let dead = LinkConfig::new().loss_ppm(1_000_000);
    let config = SessionConfig::new(4).simulated().topology(Topology::Mesh).turns_ahead(3).turns(60);
    let config = config.drop_after(Duration::from_millis(2_000));
    let mut game = toy_match(&config, 0, 1, latency(5));
    game.idle(2_000);
    game.session_mut(3).resign(Successor::Nobody);
    game.idle(4_000);
    for (from, to) in [(2, 0), (2, 1), (3, 0), (3, 1)] {
        game.net_mut().set_link(from, to, dead);
    }
    game.idle(4_500);
    game.session_mut(2).leave();
    game.idle(7_000);
    for to in [0, 1] {
        game.net_mut().set_link(3, to, LinkConfig::new());
    }
    assert!(game.idle(200_000));
    let phases = game.phases();
    assert_eq!(phases[..2], [SessionPhase::Finished; 2]);
    assert_eq!(phases[3], SessionPhase::Failed(Failure::Dropped));
}

/// A match without a known end. Of its last turn only the game knows.
fn without_end(topology: Topology) -> SessionConfig {
    SessionConfig::new(3).simulated().topology(topology).drop_after(Duration::from_millis(3_000))
}

/// The middle finished as soon as everybody had every entry, and a relay even before. Who had yet to run some of them could not know that the last turn was
/// among them, and lost the connection instead of seeing the end.
#[test]
fn an_end_that_only_the_game_knows_is_seen_by_whoever_is_late() {
    const LAST: u32 = 130;
    for (topology, delay_ms, far_ms) in [
        (Topology::Host, 0, 20),
        (Topology::Relay, 0, 20),
        (Topology::Relay, 0, 700),
        (Topology::Host, 3_000, 20),
        (Topology::Relay, 3_000, 20),
    ] {
        let what = format!("{topology:?}, shown after {delay_ms} ms, {far_ms} ms away");
        let config = without_end(topology).watch_delay(Duration::from_millis(delay_ms));
        let mut game = toy_match(&config, 1, 3, latency(20));
        let (middle, watcher) = (middle_of(&config), game.drivers().len() - 1);
        game.play(3_000);
        game.net_mut().set_link(middle, watcher as u32, latency(far_ms));
        game.net_mut().set_link(watcher as u32, middle, latency(far_ms));
        game.session_mut(2).resign(Successor::Bot);
        game.play(5_000);
        // They are up to two seconds late from then on.
        for node in [2, watcher] {
            game.put_to_sleep(node, Instant::from_millis(15_000));
        }
        let play_on = |game: &mut VirtualMatch<Toy>, ms| {
            game.run(game.now() + Duration::from_millis(ms), |_, turn, _, session| {
                give_order(turn, session);
                if turn.0 >= LAST {
                    session.end_match();
                }
            })
        };
        while game.session(0).phase() != SessionPhase::Finished {
            assert!(game.now() < Instant::from_millis(60_000), "{what}: {:?}", game.phases());
            play_on(&mut game, 5);
        }
        let is_late = [2, watcher].map(|node| game.session(node).next_turn().0 < LAST);
        // A host stays until the watcher has been shown everything.
        assert_eq!(is_late, [topology == Topology::Relay || delay_ms == 0, true], "{what}");
        play_on(&mut game, 30_000);
        assert_agreed(&mut game, &what);
    }
}

/// The others have finished without it: what it has is not the whole match.
#[test]
fn whoever_runs_out_of_turns_after_the_others_have_finished_has_lost_the_connection() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = without_end(topology);
        let mut game = toy_match(&config, 1, 3, latency(20));
        let (middle, watcher) = (middle_of(&config), game.drivers().len() - 1);
        game.play(4_000);
        game.put_to_sleep(watcher, Instant::from_millis(12_000));
        game.play(14_000);
        game.net_mut().set_partition(&[watcher as u32]);
        deliver(&mut game, watcher, middle, &Packet::Bye(Bye::Finished));
        let has = game.session(watcher).next_turn().0 + game.session(watcher).turns_ready();
        assert!(game.session(watcher).turns_ready() > 4, "{topology:?}");
        game.play_for(4_000);
        assert_eq!(game.session(watcher).next_turn().0, has, "{topology:?}: it runs what it has");
        let lost = SessionPhase::Failed(Failure::ConnectionLost(PeerId(middle)));
        assert_eq!(game.session(watcher).phase(), lost, "{topology:?}");
    }
}

/// The middle's horizon counted no longer once that had finished. Whoever lacked a return passed it, and saw another match to its end.
#[test]
fn whoever_lacks_a_return_when_the_others_have_finished_stops_before_it() {
    let mut config = joining::config(3, Topology::Host).late_watchers(true);
    config.turns = None;
    let mut game = joining::start(&config, 1, 3, latency(20));
    let watcher = 3;
    game.play(4_000);
    joining::come_back(&mut game, &config, 2);
    while game.now() < Instant::from_millis(14_000) {
        let now = game.now();
        while let Some(Delivery { from, to, bytes, .. }) = game.net_mut().receive(now) {
            let session = game.session_mut(to as usize);
            let key = session.packet_key(PeerId(from)).unwrap_or(0);
            match Packet::decode(&bytes, key, FORMAT) {
                Ok(Packet::Turns(mut turns)) if to == watcher => {
                    let all = turns.clone();
                    let returns = |entries: &[Entry]| entries.iter().any(|entry| entry.returns().is_some());
                    turns.segments.retain(|segment| !returns(all.entries_of(segment)));
                    deliver(&mut game, watcher as usize, from, &Packet::Turns(turns));
                }
                _ => session.handle_packet(now, PeerId(from), &bytes),
            }
        }
        joining::step(&mut game);
    }
    let back = game.toy(0).returned[0].1;
    let session = game.session(watcher as usize);
    assert!(session.next_turn().0 == back && session.turns_ready() > 4, "{:?} {back}", session.next_turn());
    game.net_mut().set_partition(&[watcher]);
    deliver(&mut game, watcher as usize, 0, &Packet::Bye(Bye::Finished));
    game.play_for(4_000);
    assert_eq!(game.session(watcher as usize).next_turn().0, back);
    let lost = SessionPhase::Failed(Failure::ConnectionLost(PeerId(0)));
    assert_eq!(game.session(watcher as usize).phase(), lost);
}
