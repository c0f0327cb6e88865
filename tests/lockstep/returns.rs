//! What goes on around the moment in which a player comes back: results, votes, and those for whom nobody waits.

use crate::joining::{come_back, config, start, start_at};
use crate::play::{Play as _, assert_agreed};
use crate::saving::{resumed_by_the_host_alone, saved_by};
use crate::toy::{Order, Toy, latency};

use testudo_lockstep::{Duration, Event, Failure, PeerId, PlayerId, SessionPhase, Topology, VirtualMatch};

/// A match of four, in which player 3 has gone and is here again after ten seconds, with a state of so many bytes to get.
fn with_three_away(topology: Topology, ballast: usize, seed: u64) -> VirtualMatch<Toy> {
    let config = config(4, topology).turns(400);
    let mut game = start(&config, 0, seed, latency(10));
    for driver in game.drivers_mut() {
        driver.simulation_mut().ballast = ballast;
    }
    game.play(3_000);
    game.play_cut_off(&[3], 10_000);
    come_back(&mut game, &config, 3);
    game
}

/// The player was asked for the result of a turn whose entry the host had made for it, and everybody read that the results differed.
#[test]
fn a_match_that_is_decided_right_before_a_return_has_one_result() {
    for topology in [Topology::Host, Topology::Relay] {
        let mut game = with_three_away(topology, 0, 3);
        game.play_until(1, 120_000, |game| !game.toy(3).returned.is_empty());
        let back = game.toy(3).returned[0].1;
        for turn in back - 3..back + 4 {
            let mut game = with_three_away(topology, 0, 3);
            // A state does not hold it.
            for driver in game.drivers_mut() {
                driver.simulation_mut().decided = Some((4 * turn + 1, 7));
            }
            assert!(game.play(400_000));
            for node in 0..4 {
                let told = game.events(node);
                let results = told.iter().filter_map(|event| match event {
                    Event::MatchResult(result) => Some(result.agreed),
                    _ => None,
                });
                assert_eq!(results.collect::<Vec<_>>(), [true], "{topology:?} {back} {turn} {node}");
            }
            assert_agreed(&mut game, &format!("{topology:?} {turn}"));
        }
    }
}

/// Everybody was shown the vote, and the host had forgotten it when the turn of the return began.
#[test]
fn a_vote_of_a_player_who_is_just_back_counts() {
    let mut game = with_three_away(Topology::Host, 0, 3);
    // As soon as it knows that it is back, and before anybody has begun that turn.
    game.play_until(1, 120_000, |game| game.session_mut(3).vote_out(PlayerId(1), true).is_ok());
    assert!(game.toy(0).returned.is_empty());
    game.play_for(4_000);
    assert!(!game.toy(0).returned.is_empty());
    game.session_mut(0).vote_out(PlayerId(1), true).unwrap();
    game.play(60_000);
    let told = game.events(0);
    let shown = |event: &Event| matches!(event, Event::Vote { voter: PlayerId(3), out: true, .. });
    assert!(told.iter().any(shown), "{told:?}");
    let gone = |event: &Event| matches!(event, Event::PlayerGone { player: PlayerId(1), .. });
    assert!(told.iter().any(gone), "{told:?}");
}

/// It came back, and was dropped two turns later.
#[test]
fn who_is_voted_out_while_it_joins_does_not_come_back() {
    for topology in [Topology::Host, Topology::Relay] {
        let mut game = with_three_away(topology, 2_000_000, 3);
        game.play(10_500);
        for voter in 0..3 {
            game.session_mut(voter).vote_out(PlayerId(3), true).unwrap();
        }
        assert!(game.session(3).is_joining(), "{topology:?}");
        assert!(game.play(400_000));
        assert!(game.toy(0).returned.is_empty(), "{topology:?}");
        let phase = game.session(3).phase();
        assert_eq!(phase, SessionPhase::Failed(Failure::Dropped), "{topology:?}");
    }
}

/// Whoever had started again between the moment in which the start was fixed and the start counted as here, and everybody waited for it for the drop time.
#[test]
fn a_resumed_match_does_not_wait_for_a_guest_that_comes_anew_before_the_start() {
    let config = config(3, Topology::Host);
    let (saved, state) = saved_by(&config);
    let state = Toy { ballast: 200_000, ..state };
    let mut hits = 0;
    for restart_ms in (2_400..3_600).step_by(25) {
        let mut game = resumed_by_the_host_alone(&config, saved.clone(), state.clone(), 1);
        game.net_mut().set_default(latency(10));
        game.net_mut().set_link(0, 1, latency(400));
        come_back(&mut game, &config, 2);
        game.idle(restart_ms);
        let was_in_lobby = game.session(0).phase() == SessionPhase::Lobby;
        come_back(&mut game, &config, 2);
        game.idle(restart_ms + 12_000);
        let stalled = game.session(0).stats().stalled_frames;
        let has_started = game.session(0).phase() == SessionPhase::Running;
        hits += u32::from(was_in_lobby && has_started);
        assert_eq!(game.session(2).phase(), SessionPhase::Running, "{restart_ms} ms");
        // The drop time is 60 frames long.
        assert!(!was_in_lobby || stalled < 50, "{restart_ms} ms: {stalled} frames");
    }
    assert!(hits > 10, "{hits}");
}

/// It said that it was here as soon as it had run the few turns that had come at once. Everybody else then waited for it to run all that it lacked.
#[test]
fn who_gets_few_turns_at_a_time_is_not_back_before_it_has_them_all() {
    for topology in [Topology::Host, Topology::Relay] {
        for window in [512, 16] {
            let config = config(3, topology).frames_per_second(60).frames_per_turn(1).turns_ahead(8);
            let config = config.turns(3_000).state_rate(200_000);
            let mut game = start(&config, 0, 3, latency(30));
            for driver in game.drivers_mut() {
                driver.simulation_mut().ballast = 1_000_000;
            }
            game.play(3_000);
            game.play_cut_off(&[2], 10_000);
            come_back(&mut game, &config.clone().window(window), 2);
            game.play_until(1, 120_000, |game| game.session(2).is_catching_up());
            let lag = |game: &VirtualMatch<Toy>| {
                let [front, own] = [0, 2].map(|node: usize| game.session(node).next_turn().0);
                front.saturating_sub(own)
            };
            assert!(lag(&game) > 100, "{topology:?}, window {window}");
            game.play_until(1, 120_000, |game| !game.session(2).is_catching_up());
            // As many as a player may be behind another one, and those that are on their way.
            assert!(lag(&game) < 20, "{topology:?}, window {window}: lacks {} turns", lag(&game));
            assert_agreed(&mut game, &format!("{topology:?}, window {window}"));
            assert_eq!(game.toy(0).returned.len(), 1, "{topology:?}, window {window}");
        }
    }
}

/// It was told that it had been dropped, and the host that a watcher had gone.
#[test]
fn who_is_too_slow_to_join_has_not_been_dropped() {
    let config = config(3, Topology::Host).frames_per_second(100).frames_per_turn(1).turns_ahead(8);
    let config = config.turns(20_000).state_rate(20_000);
    let mut game = start(&config, 0, 3, latency(5));
    for driver in game.drivers_mut() {
        driver.simulation_mut().ballast = 1_000_000;
    }
    game.play(3_000);
    game.play_cut_off(&[2], 8_000);
    game.events(0);
    come_back(&mut game, &config, 2);
    // The state takes 50 s, and the host keeps 41 s of turns.
    game.play(60_000);
    let told = game.events(0);
    assert!(told.contains(&Event::JoinFailed(PeerId(2))), "{told:?}");
    assert!(!told.contains(&Event::WatcherGone(PeerId(2))), "{told:?}");
    assert_eq!(game.session(2).phase(), SessionPhase::Failed(Failure::NoState));
    assert_eq!(game.session(0).phase(), SessionPhase::Running);
}

/// The guest was told that the host had ended the match, and did not ask for its place again.
#[test]
fn who_is_given_up_while_it_catches_up_may_ask_again() {
    for topology in [Topology::Host, Topology::Relay] {
        // The host gives it up for the time that has passed, or because it keeps no more turns.
        for join_s in [15, 1_000] {
            let what = format!("{topology:?}, {join_s} s");
            let config = config(3, topology).frames_per_second(100).frames_per_turn(1).turns_ahead(8);
            let config = config.turns(20_000).join_timeout(Duration::from_secs(join_s));
            let mut game = start_at(&config, latency(5), 3_000);
            game.play_cut_off(&[2], 10_000);
            come_back(&mut game, &config.clone().window(16).join_timeout(Duration::from_secs(1_000)), 2);
            game.play_until(1, 120_000, |game| game.session(2).is_catching_up());
            // Its machine runs 16 turns at a time, and then has something else to do.
            game.play_until(1, 120_000, |game| {
                let awake = game.now() + Duration::from_millis(300);
                game.put_to_sleep(2, awake);
                game.play_for(300);
                game.session(2).is_over()
            });
            assert_eq!(game.session(2).phase(), SessionPhase::Failed(Failure::Dropped), "{what}");
            assert_eq!(game.session(0).phase(), SessionPhase::Running, "{what}");
            assert!(game.toy(0).returned.is_empty(), "{what}");
        }
    }
}

/// It ran when the player was back, a minute later and in another battle; so did the pause.
#[test]
fn what_is_asked_for_before_the_first_answer_is_cancelled_where_the_match_runs() {
    for topology in [Topology::Host, Topology::Relay] {
        let mut game = with_three_away(topology, 0, 3);
        let early = Order::Shout(77);
        let session = game.session_mut(3);
        for _ in 0..2 {
            session.submit(&early).unwrap();
        }
        session.pause(true).unwrap();
        session.set_speed(50).unwrap();
        assert!(game.play(400_000));
        assert_eq!(game.toy(0).returned.len(), 1, "{topology:?}");
        let told = game.events(3);
        assert!(told.contains(&Event::Cancelled { actions: 2 }), "{topology:?}: {told:?}");
        assert!(game.toy(0).log.iter().all(|(_, _, order)| *order != early), "{topology:?}");
        let controls = |event: &Event| matches!(event, Event::Paused { .. } | Event::Speed { .. });
        assert!(!game.events(0).iter().any(controls), "{topology:?}");
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}
