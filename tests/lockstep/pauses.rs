//! Pauses: how long they last, and who can end them.

use crate::joining::{come_back, config, start, start_at, without};
use crate::play::{Play as _, alone, assert_agreed, assert_agreed_by, exchange_all, match_at};
use crate::saving;
use crate::toy::{Order, Toy, latency, toy_match, toy_match_from};
use testudo_lockstep::{
    ControlError, Controls, Driver, Duration, EndReason, Event, Identity, Instant, PeerId, PlayerId, Session,
    SessionConfig, SessionPhase, SubmitError, Successor, Topology, Turn, VirtualMatch,
};

/// Whole milliseconds of each turn were counted: of half a millisecond none, and a pause had no end; of 2.7 ms two.
#[test]
fn a_pause_lasts_as_long_as_it_may_whatever_the_turns() {
    for (frames_per_second, speed) in [(1_000, 250), (144, 250), (20, 100)] {
        let config =
            SessionConfig::new(1).simulated().frames_per_second(frames_per_second).frames_per_turn(1);
        let config = config.pause_max(Duration::from_secs(3));
        let mut driver = alone(config);
        driver.session_mut().set_speed(speed).unwrap();
        driver.session_mut().pause(true).unwrap();
        let mut paused_us = 0;
        for step in 0..100_000_u64 {
            while driver.advance(Instant::from_micros(step * 50)).frames > 0 {}
            paused_us += if driver.session().is_paused() { 50 } else { 0 };
        }
        let expected = 2_900_000..3_110_000;
        assert!(expected.contains(&paused_us), "{frames_per_second} {speed}: {paused_us} us");
    }
}

/// Whoever ended a pause that had ended was told that the match continues, again.
#[test]
fn the_end_of_no_pause_is_no_event() {
    let mut game = match_at(&config(2, Topology::Host).turns(100), latency(10), 2_000);
    game.session_mut(0).pause(false).unwrap();
    game.play(4_000);
    game.session_mut(0).pause(true).unwrap();
    game.play(5_000);
    for player in [0, 1] {
        game.session_mut(player).pause(false).unwrap();
    }
    assert!(game.play(100_000));
    for node in [0, 1] {
        let told = game.events(node).into_iter().filter_map(|event| match event {
            Event::Paused { paused, .. } => Some(paused),
            _ => None,
        });
        assert_eq!(told.collect::<Vec<_>>(), [true, false]);
    }
}

/// The majority ends a pause; where nobody was left, the match stood for ever.
#[test]
fn a_pause_ends_with_the_last_player() {
    let config = config(2, Topology::Host).turns(100).controls(Controls::Majority);
    let mut game = toy_match(&config, 1, 1, latency(10));
    game.play(2_000);
    for player in [0, 1] {
        game.session_mut(player).pause(true).unwrap();
    }
    game.play(4_000);
    assert!(game.drivers().iter().all(|driver| driver.session().is_paused()));
    for player in [0, 1] {
        game.session_mut(player).resign(Successor::AsConfigured);
    }
    game.play(600_000);
    let told = game.events(2);
    let ends = told.iter().position(|event| matches!(event, Event::Paused { paused: false, .. }));
    let gone = told.iter().rposition(|event| matches!(event, Event::PlayerGone { .. }));
    assert!(gone.is_some() && gone < ends, "{told:?}");
    assert_agreed(&mut game, "nobody plays");
    assert!(game.toy(0).frames > 300, "{}", game.toy(0).frames);
}

/// The handshake compares whole milliseconds, and the pause ended after as many microseconds as each peer had.
#[test]
fn a_pause_ends_in_the_same_turn_where_its_limits_differ_by_less_than_the_handshake_sees() {
    let limited = |us| config(2, Topology::Host).pause_max(Duration::from_micros(us));
    let mut game = start(&limited(1_000_000), 0, 1, latency(10));
    come_back(&mut game, &limited(1_000_999), 1);
    game.play(2_000);
    game.session_mut(1).pause(true).unwrap();
    assert!(game.play(100_000));
    assert_agreed(&mut game, "limits that differ by less than a millisecond");
}

/// A match of three in which player 0 alone may pause, for longer than the tests last.
fn hosted(topology: Topology) -> SessionConfig {
    config(3, topology).controls(Controls::HostPlayer)
}

/// Whether the match stands for these peers, who agree on it.
fn is_paused(game: &VirtualMatch<Toy>, nodes: &[usize], what: &str) -> bool {
    let paused: Vec<bool> = nodes.iter().map(|node| game.session(*node).is_paused()).collect();
    assert!(paused.iter().all(|is_paused| *is_paused == paused[0]), "{what}: {paused:?}");
    paused[0]
}

/// Nobody else could end it, and the match stood to the end of the player's budget.
#[test]
fn a_pause_of_a_host_player_who_resigns_ends_with_its_stream() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        for resigns_after in [0, 1_500] {
            let what = format!("{topology:?} {resigns_after}");
            let mut game = match_at(&hosted(topology), latency(10), 2_000);
            game.session_mut(0).pause(true).unwrap();
            if resigns_after > 0 {
                game.play_for(resigns_after);
                assert!(is_paused(&game, &[0, 1, 2], &what), "{what}");
            }
            game.session_mut(0).resign(Successor::AsConfigured);
            game.play_for(2_000);
            assert!(!is_paused(&game, &[0, 1, 2], &what), "{what}");
            assert_eq!(game.session_mut(1).pause(true), Err(ControlError::HostOnly), "{what}");
            assert!(game.play(100_000), "{what}");
            let (frames, expected) = (game.toy(1).frames, 4 * (200 - 20)..4 * 200);
            assert!(expected.contains(&frames), "{what}: {frames}");
            assert_agreed(&mut game, &what);
        }
    }
}

/// The same with one who crashes. When the player is back its pauses last as long as it plays, and a second crash ends the next one.
#[test]
fn a_pause_of_a_host_player_who_is_dropped_ends_with_the_drop() {
    for seed in 0..3 {
        let what = format!("{seed}");
        let config = hosted(Topology::Relay);
        let mut game = start(&config, 0, seed, latency(20));
        game.play(3_000);
        for round in 1..=2 {
            let what = format!("{what}, {round}");
            game.session_mut(0).pause(true).unwrap();
            game.play_for(4_000);
            assert!(is_paused(&game, &[0, 1, 2], &what), "{what}");
            let dropped_at = game.now().as_micros() / 1_000 + 5_000;
            game.play_cut_off(&[0], dropped_at);
            assert!(!is_paused(&game, &[1, 2], &what), "{what}");
            come_back(&mut game, &config, 0);
            game.play_for(5_000);
            assert_eq!(game.toy(1).returned.len(), round, "{what}");
        }
        game.session_mut(0).pause(true).unwrap();
        game.play_for(1_000);
        assert!(is_paused(&game, &[0, 1, 2], &what), "{what}");
        game.session_mut(0).pause(false).unwrap();
        assert_agreed(&mut game, &what);
    }
}

/// In a mesh the others drop whoever has gone, and agree on its last entry.
#[test]
fn a_pause_of_a_host_player_whom_a_mesh_drops_ends_with_the_drop() {
    let mut game = match_at(&hosted(Topology::Mesh), latency(20), 2_000);
    game.session_mut(0).pause(true).unwrap();
    game.play(4_000);
    assert!(is_paused(&game, &[0, 1, 2], "before"));
    game.play_cut_off(&[0], 12_000);
    assert!(!is_paused(&game, &[1, 2], "after"));
    game.play_cut_off(&[0], 100_000);
    assert_agreed_by(&mut game, [1, 2], "without the host player");
}

/// Whoever gets the state in such a pause ends it in the same turn as the others.
#[test]
fn who_joins_in_a_pause_of_a_host_player_sees_its_end() {
    for topology in [Topology::Host, Topology::Relay] {
        for resigns_after in [100, 600, 1_100, 1_600, 4_000] {
            let what = format!("{topology:?} {resigns_after}");
            let config = hosted(topology);
            let mut game = without(&config, 2, 0, 1, latency(20));
            game.session_mut(0).pause(true).unwrap();
            game.play_for(1_000);
            assert!(is_paused(&game, &[0, 1], &what), "{what}");
            come_back(&mut game, &config, 2);
            game.play_for(resigns_after);
            game.session_mut(0).resign(Successor::AsConfigured);
            game.play_for(5_000);
            assert!(!is_paused(&game, &[0, 1, 2], &what), "{what}");
            assert_agreed(&mut game, &what);
            assert_eq!(game.toy(1).returned.len(), 1, "{what}");
        }
    }
}

/// The save holds the pause, and the entries in flight hold the player's end.
#[test]
fn a_pause_of_a_host_player_ends_with_it_in_a_resumed_match_too() {
    for topology in [Topology::Host, Topology::Relay] {
        for resigns_in in [30, 31, 40] {
            let what = format!("{topology:?} {resigns_in}");
            let config = hosted(topology);
            let mut course = |turn: u32, identity: Identity, session: &mut Session<Order>| {
                let Identity::Player(player) = identity else { return };
                match (turn, player.0) {
                    (20, 0) => session.pause(true).unwrap(),
                    (30, 1) => {
                        session.save();
                    }
                    (_, 0) if turn == resigns_in => {
                        session.resign(Successor::AsConfigured);
                    }
                    _ => {}
                }
            };
            let mut game = toy_match(&config, 0, 1, latency(20));
            saving::play(&mut game, &mut course);
            let (saved, state) = saving::the_save(&mut game);
            let mut second = toy_match_from(&config.resume(saved), &state, 0, 2, latency(20));
            assert!(is_paused(&second, &[0, 1, 2], &what), "{what}");
            saving::play(&mut second, &mut course);
            let whole = game.toy(1);
            assert_eq!(whole.frames, 4 * (200 - (resigns_in - 20)), "{what}");
            assert_agreed_by(&mut second, 0..3, &what);
            assert_eq!(second.toy(0).course(), whole.course(), "{what}");
        }
    }
}

/// What somebody had wanted who was gone counted again for whoever came to the place.
#[test]
fn who_comes_back_to_a_place_wants_nothing_yet() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology).controls(Controls::Majority).turns(300);
        let mut game = start_at(&config, latency(10), 3_000);
        game.session_mut(2).pause(true).unwrap();
        game.play(5_000);
        game.play_cut_off(&[2], 12_000);
        come_back(&mut game, &config, 2);
        game.play(25_000);
        assert_eq!(game.toy(0).returned.len(), 1);
        game.session_mut(0).pause(true).unwrap();
        game.play(27_000);
        let is_paused = game.drivers().iter().any(|driver| driver.session().is_paused());
        assert!(!is_paused, "{topology:?}: one of three wants it");
    }
}

/// Percent of real time.
fn speed(game: &VirtualMatch<Toy>, node: usize) -> u32 {
    let plan = game.session(node).plan();
    plan.pace_millihertz / (10 * plan.frames_per_second)
}

/// The match went on at a tenth of its pace to the end, and nobody could do anything about it.
#[test]
fn the_speed_of_a_host_player_ends_with_its_stream() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        for percent in [10, 250] {
            let what = format!("{topology:?} {percent}");
            let mut game = match_at(&hosted(topology), latency(10), 2_000);
            game.session_mut(0).set_speed(percent).unwrap();
            game.play_for(2_000);
            assert_eq!(speed(&game, 1), u32::from(percent), "{what}");
            game.session_mut(0).resign(Successor::AsConfigured);
            // A turn lasts two seconds at a tenth of the speed.
            game.play_for(if percent < 100 { 9_000 } else { 2_500 });
            for node in 0..3 {
                assert_eq!(speed(&game, node), 100, "{what} {node}");
                let told = game.events(node);
                let ends = |event: &&Event| matches!(event, Event::Speed { percent: 100, .. });
                assert_eq!(told.iter().filter(ends).count(), 1, "{what}: {told:?}");
                // Before it had gone it was told as having set the speed.
                let place = |is: fn(&Event) -> bool| told.iter().position(is).unwrap();
                let gone = place(|event| matches!(event, Event::PlayerGone { player: PlayerId(0), .. }));
                assert!(gone < place(|event| matches!(event, Event::Speed { percent: 100, .. })), "{what}");
            }
            assert_eq!(game.session_mut(1).set_speed(120), Err(ControlError::HostOnly), "{what}");
            assert!(game.play(100_000), "{what}");
            assert_agreed(&mut game, &what);
        }
    }
}

/// The last entry has an order of its own. "100 %" was told after it, while the match ran at half its speed, and again a turn later.
#[test]
fn an_order_in_the_last_entry_of_a_host_player_is_told_before_its_end() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        let what = format!("{topology:?}");
        let mut game = match_at(&hosted(topology), latency(10), 2_000);
        game.session_mut(0).set_speed(60).unwrap();
        game.session_mut(0).pause(true).unwrap();
        game.play_for(2_000);
        game.session_mut(0).set_speed(50).unwrap();
        game.session_mut(0).pause(false).unwrap();
        game.session_mut(0).resign(Successor::AsConfigured);
        game.play_for(3_000);
        for node in 0..3 {
            let told = game.events(node);
            let speeds = told.iter().filter_map(|event| match event {
                Event::Speed { percent, .. } => Some(*percent),
                _ => None,
            });
            assert_eq!(speeds.collect::<Vec<_>>(), [60, 50, 100], "{what} {node}: {told:?}");
            let pauses = told.iter().filter_map(|event| match event {
                Event::Paused { paused, .. } => Some(*paused),
                _ => None,
            });
            assert_eq!(pauses.collect::<Vec<_>>(), [true, false], "{what} {node}: {told:?}");
        }
        assert!(game.play(100_000), "{what}");
        assert_agreed(&mut game, &what);
    }
}

/// The same with one who crashes, and while another player comes: both have the speed of all others.
#[test]
fn who_joins_when_a_host_player_is_gone_has_the_usual_speed() {
    for away_ms in [4_000, 12_000] {
        let what = format!("{away_ms}");
        let config = hosted(Topology::Relay);
        let mut game = start(&config, 0, 1, latency(20));
        game.play(2_000);
        game.session_mut(0).set_speed(50).unwrap();
        game.play_for(1_000);
        assert_eq!(speed(&game, 1), 50, "{what}");
        game.play_cut_off(&[0], 11_000);
        game.play_cut_off(&[0, 2], 11_000 + away_ms);
        assert_eq!(speed(&game, 1), 100, "{what}");
        come_back(&mut game, &config, 2);
        game.play_for(6_000);
        come_back(&mut game, &config, 0);
        game.play_for(6_000);
        for node in 0..3 {
            assert_eq!(speed(&game, node), 100, "{what}");
        }
        game.session_mut(0).set_speed(200).unwrap();
        game.play_for(1_000);
        assert_eq!(speed(&game, 2), 200, "{what}");
        assert_agreed(&mut game, &what);
    }
}

/// They were accepted, and nothing came of them: whoever waited for the save waited in vain.
#[test]
fn what_cannot_take_effect_before_the_end_is_refused() {
    for (topology, turns_ahead) in [(Topology::Host, 2), (Topology::Relay, 2), (Topology::Mesh, 3)] {
        let config = config(2, topology).turns(40).turns_ahead(turns_ahead);
        let mut game = toy_match(&config, 0, 1, latency(10));
        let mut accepted = 0;
        let over = game.run(Instant::from_millis(60_000), |node, turn, _, session| {
            if node != 1 || turn.0 < 36 - turns_ahead {
                return;
            }
            let late = ControlError::TooLate { last_turn: Turn(39) };
            // What is asked for before this turn begins has an entry so many turns later.
            let is_late = turn.0 + turns_ahead > 39;
            let expected = if is_late { Err(late) } else { Ok(()) };
            // The last pause in time is taken back, so that a later one is not on its way already.
            let pauses = is_late || (turn.0 + turns_ahead) % 2 == 0;
            assert_eq!(session.set_speed(if turn.0 % 2 == 0 { 110 } else { 120 }), expected, "{topology:?}");
            assert_eq!(session.save(), !is_late, "{topology:?}");
            assert_eq!(session.pause(pauses), expected, "{topology:?}");
            accepted += u32::from(!is_late);
        });
        assert!(over, "{topology:?}");
        let told = game.events(0);
        let speeds = told.iter().filter(|event| matches!(event, Event::Speed { .. })).count() as u32;
        assert_eq!((accepted, speeds), (4, 4), "{topology:?}");
        let saved = told.iter().filter(|event| matches!(event, Event::Saved { .. })).count();
        assert_eq!(saved, 1, "{topology:?}: {told:?}");
    }
}

/// Nothing came of it: the match began with the player in it.
#[test]
fn who_resigns_before_the_start_is_out_with_the_first_entry() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        for player in [0_u8, 1] {
            let what = format!("{topology:?} {player}");
            let config = config(3, topology).turns(60);
            let mut game = toy_match(&config, 0, 1, latency(10));
            let session = game.session_mut(player.into());
            let early = Order::Shout(77);
            session.submit(&early).unwrap();
            assert_eq!(session.resign(Successor::Bot), 1, "{what}");
            assert_eq!(session.submit(&early), Err(SubmitError::NotPlaying), "{what}");
            assert_eq!(
                (session.pause(true), session.save()),
                (Err(ControlError::NotPlaying), false),
                "{what}"
            );
            assert!(game.play(100_000), "{what}");
            for node in 0..3 {
                assert_eq!(game.toy(node).bots, [(player, config.turns_ahead)], "{what}");
                assert!(game.toy(node).log.iter().all(|(_, _, order)| *order != early), "{what}");
            }
            assert_agreed(&mut game, &what);
        }
    }
}

/// The first entry said that the player had left: with bots, one played for a side that had given up, and without them nobody for one that was handed over.
#[test]
fn whoever_leaves_after_resigning_before_the_start_has_resigned() {
    for (successor, reason) in
        [(Successor::Nobody, EndReason::Surrendered), (Successor::Bot, EndReason::HandedOver)]
    {
        let config = config(2, Topology::Host).turns(60).bots_take_over(true);
        let host = Session::host(config.clone(), Instant::ZERO).unwrap();
        let guest = Session::join(config, PlayerId(1), PeerId(0), Instant::ZERO).unwrap();
        let mut drivers = [host, guest].map(|session| Driver::new(Toy::default(), session));
        drivers[1].session_mut().resign(successor);
        let mut now = Instant::ZERO;
        while drivers[1].session().phase() == SessionPhase::Lobby {
            now += Duration::from_millis(10);
            exchange_all(&mut drivers, now);
            drivers.iter_mut().for_each(|driver| driver.session_mut().handle_timeout(now));
            assert!(now < Instant::from_millis(10_000), "it does not begin");
        }
        // Before the first entry.
        drivers[1].session_mut().leave();
        let mut gone = None;
        while gone.is_none() {
            now += Duration::from_millis(10);
            exchange_all(&mut drivers, now);
            drivers.iter_mut().for_each(|driver| _ = driver.advance(now));
            while let Some(event) = drivers[0].session_mut().poll_event() {
                if let Event::PlayerGone { player: PlayerId(1), reason, .. } = event {
                    gone = Some(reason);
                }
            }
            assert!(now < Instant::from_millis(20_000), "nobody has gone");
        }
        assert_eq!(gone, Some(reason));
    }
}
