//! Players who leave, fall silent, pause or sleep: the others agree on the turn, and no order is lost or runs twice.

use crate::play::{Play as _, SEED, assert_agreed, assert_agreed_by, assert_unharmed, events_of, match_at};
use crate::toy::{Order, Toy, bot, latency, terrible, toy_match};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Duration, EndReason, Event, Failure, Identity, Instant, Pace, PeerClock, PeerId, PlayerId, Session,
    SessionConfig, SessionPhase, Successor, Topology, VirtualMatch,
};
use testudo_tests::cases::share;

pub(crate) fn config(players: u8, topology: Topology) -> SessionConfig {
    SessionConfig::new(players).simulated().turns(150).topology(topology).drop_after(Duration::from_secs(4))
}

/// All survivors have finished with the same log, with the same orders of the player who is gone.
fn assert_survivors_agree(game: &mut VirtualMatch<Toy>, gone: u8, reason: EndReason, what: &str) {
    let survivors = (0..game.drivers().len()).filter(|node| *node != usize::from(gone));
    for node in survivors.clone() {
        let told = game.events(node);
        assert!(!told.iter().any(|event| matches!(event, Event::Desync(_))), "{what}: {told:?}");
        let is_told = |event: &&Event| matches!(event, Event::PlayerGone { player, reason: why, .. } if player.0 == gone && *why == reason);
        let simulates = game.session(node).identity() != Identity::Relay;
        assert!(!simulates || told.iter().filter(is_told).count() == 1, "{what}: {told:?}");
    }
    assert_agreed_by(game, survivors, what);
    let toy = game.toy(usize::from(gone == 0));
    assert_eq!((toy.frames, toy.gone.len()), (600, 1), "{what}");
    let last_turn = toy.gone[0].1;
    // Everything that the player submitted in time has run, and nothing after the end.
    let ran: Vec<_> = toy.log.iter().filter(|(_, player, _)| *player == gone).collect();
    let expected = (2..last_turn).filter(|turn| bot(SEED, turn - 2, gone).is_some()).count();
    assert_eq!(ran.len(), expected, "{what}: gone at {last_turn}");
}

/// These peers have lost the others.
fn assert_lost(game: &VirtualMatch<Toy>, nodes: impl IntoIterator<Item = usize>) {
    for phase in nodes.into_iter().map(|node| game.session(node).phase()) {
        assert!(matches!(phase, SessionPhase::Failed(Failure::ConnectionLost(_))), "{phase:?}");
    }
}

#[test]
fn a_silent_player_is_dropped_at_the_same_turn_everywhere() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        for (name, link) in [("perfect", LinkConfig::new()), ("terrible", terrible())] {
            for seed in 0..6 {
                let what = format!("{topology:?} {name} {seed}");
                let watchers = u32::from(topology != Topology::Mesh);
                let mut game = toy_match(&config(4, topology), watchers, seed, link);
                game.play(8_000 + seed * 37);
                game.net_mut().set_partition(&[2]);
                assert!(game.play(600_000), "{what}: {:?}", game.phases());
                assert_survivors_agree(&mut game, 2, EndReason::Dropped, &what);
                assert_lost(&game, [2]);
            }
        }
    }
}

/// With the default settings.
#[test]
fn the_time_until_a_drop_counts_down_from_twenty_seconds() {
    const FRAME: Duration = Duration::from_millis(50);
    let mut game = toy_match(&SessionConfig::new(3).simulated().turns(1_000), 0, 1, latency(20));
    game.idle(5_000);
    assert!((0..3).all(|node| game.session(node).drop_in().is_none()));
    game.net_mut().set_partition(&[2]);
    for node in [0, 1] {
        game.idle(10_000);
        let told = game.events(node).into_iter().find_map(|event| match event {
            Event::WaitingFor { players, drop_in, .. } => Some((players, drop_in)),
            _ => None,
        });
        assert_eq!(told, Some((vec![PlayerId(2)], Some(Duration::from_millis(19_500)))), "player {node}");
    }
    // Nothing comes from the host, which alone drops players.
    assert_eq!(game.session(2).drop_in(), None);
    let drop_at = |game: &VirtualMatch<Toy>, node| game.now() + game.session(node).drop_in().unwrap();
    let ends = [drop_at(&game, 0), drop_at(&game, 1)];
    // The entries that were here were enough for two to three turns.
    let range = Instant::from_millis(25_400)..Instant::from_millis(25_600);
    assert!(ends.iter().all(|end| range.contains(end)), "{ends:?}");
    while game.session(0).stats().drops == 0 {
        for (node, end) in ends.into_iter().enumerate() {
            // A session knows the time of its last call, a frame ago at most.
            let (end, seen) = (end.max(game.now()), drop_at(&game, node));
            assert!(end.since(seen).max(seen.since(end)) <= FRAME, "player {node}: {end:?} {seen:?}");
        }
        game.idle_for(10);
    }
    assert!(game.now().since(ends[0]) <= FRAME, "{:?} {ends:?}", game.now());
    game.idle_for(500);
    assert!([0, 1].iter().all(|node| game.session(*node).drop_in().is_none()));
}

#[test]
fn a_partition_that_heals_in_time_costs_only_time() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        let mut game = match_at(&config(3, topology), terrible(), 8_000);
        game.play_cut_off(&[1], 11_000);
        assert_unharmed(&mut game, &format!("{topology:?}"));
    }
}

#[test]
fn after_a_split_the_hosts_side_goes_on() {
    let mut game = match_at(&config(4, Topology::Host), LinkConfig::new(), 8_000);
    game.net_mut().set_partition(&[2, 3]);
    assert!(game.play(600_000));
    assert_agreed_by(&mut game, [0, 1], "the host's side");
    assert_lost(&game, [2, 3]);
}

/// A player who needs nobody's entries reaches the end alone, and must not take that for the end of the match.
#[test]
fn who_ends_alone_is_told_that_the_others_went_on() {
    let mut game = match_at(&config(3, Topology::Host), LinkConfig::new(), 4_000);
    for player in [0, 2] {
        game.session_mut(player).resign(Successor::AsConfigured);
    }
    // Less than the silence timeout before the end.
    game.play(20_000);
    game.net_mut().set_partition(&[1]);
    assert!(game.play(600_000));
    let states = game.phases();
    assert_eq!([states[0], states[2]], [SessionPhase::Finished; 2]);
    assert_lost(&game, [1]);
    assert!(game.toy(0).gone.iter().any(|(player, _)| *player == 1));
    let events = events_of(&mut game.drivers_mut()[1]);
    assert!(events.iter().any(|event| matches!(event, Event::Cancelled { .. })), "{events:?}");
}

#[test]
fn after_a_split_of_a_mesh_the_majority_goes_on_else_the_lowest() {
    for (players, island, survivors) in [(5, vec![0, 1], vec![2, 3, 4]), (4, vec![1, 3], vec![0, 2])] {
        let mut game = match_at(&config(players, Topology::Mesh), terrible(), 8_000);
        game.net_mut().set_partition(&island);
        assert!(game.play(600_000));
        assert_lost(&game, island.into_iter().map(|node| node as usize));
        assert_agreed_by(&mut game, survivors, &format!("{players} players"));
    }
}

#[test]
fn a_broken_link_of_a_mesh_is_bridged_by_the_others() {
    let dead = LinkConfig::new().loss_ppm(1_000_000);
    let mut game = match_at(&config(3, Topology::Mesh), LinkConfig::new(), 5_000);
    game.net_mut().set_link(1, 2, dead);
    game.net_mut().set_link(2, 1, dead);
    assert_unharmed(&mut game, "a broken link");
}

#[test]
fn leaving_in_good_order() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        for seed in 0..6 {
            let mut game = toy_match(&config(3, topology), 0, seed, terrible());
            game.play(8_000);
            let session = game.session_mut(1);
            session.leave();
            assert!(session.submit(&Order::Push(1)).is_err());
            assert!(game.play(600_000), "{topology:?}");
            let what = format!("{topology:?} {seed}");
            assert_survivors_agree(&mut game, 1, EndReason::Left, &what);
            assert_eq!(game.session(1).phase(), SessionPhase::Left, "{what}");
        }
    }
}

/// The article's gate waits for all confirmations, but not for that of a player who has left and whose bye was lost.
#[test]
fn nobody_waits_for_the_confirmation_of_who_has_left() {
    let slow = latency(100);
    let dead = slow.loss_ppm(1_000_000);
    // In a star the middle must get the last entry; otherwise the player has not left. Its link breaks while the bye is in flight.
    for (topology, leaver, deaf, breaks_after) in
        [(Topology::Mesh, 2, 1, 0), (Topology::Mesh, 0, 1, 0), (Topology::Host, 2, 0, 120)]
    {
        let mut game = match_at(&config(3, topology).pace(Pace::Article), slow, 8_000);
        game.session_mut(leaver).leave();
        game.play(8_000 + breaks_after);
        game.net_mut().set_link(leaver as u32, deaf, dead);
        assert!(game.play(600_000), "{topology:?}");
        for (player, driver) in game.drivers_mut().iter_mut().enumerate() {
            let expected = if player == leaver { SessionPhase::Left } else { SessionPhase::Finished };
            assert_eq!(driver.session().phase(), expected, "{topology:?}: {player}");
            let events = events_of(driver);
            let cancelled = events.iter().any(|event| matches!(event, Event::Cancelled { .. }));
            assert!(player == leaver || !cancelled, "{topology:?}: {player} {events:?}");
        }
    }
}

#[test]
fn a_relay_stays_until_those_who_watch_have_the_end() {
    let dead = LinkConfig::new().loss_ppm(1_000_000);
    let mut game = toy_match(&config(3, Topology::Relay), 1, 1, LinkConfig::new());
    game.play(29_500);
    game.net_mut().set_link(3, 4, dead);
    game.play(31_000);
    assert!(game.drivers()[..3].iter().all(|driver| driver.session().phase() == SessionPhase::Finished));
    game.net_mut().set_link(3, 4, LinkConfig::new());
    assert_agreed(&mut game, "with the watcher");
}

/// Seed 2,811,250,432 of the soak: a watcher that lacked nothing but the checksums after the last turn was given up after two seconds of silence, and lost its
/// match when it was heard again.
#[test]
fn the_end_waits_for_who_lacks_only_the_last_checksums() {
    for (topology, cut_off) in [
        (Topology::Host, 1),
        (Topology::Host, 3),
        (Topology::Relay, 1),
        (Topology::Relay, 4),
        (Topology::Mesh, 0),
        (Topology::Mesh, 1),
    ] {
        let watchers = u32::from(topology != Topology::Mesh);
        let mut close = 0;
        for cut_at in (29_300..30_300).step_by(1_000 / share(50) as usize) {
            let mut game = toy_match(&config(3, topology), watchers, 1, LinkConfig::new());
            game.play(cut_at);
            game.net_mut().set_partition(&[cut_off]);
            game.play(cut_at + 2_800);
            let turn = game.session(cut_off as usize).next_turn().0;
            let phase = game.session(cut_off as usize).phase();
            close += u32::from(turn == 150 && phase != SessionPhase::Finished);
            game.net_mut().set_partition(&[]);
            let what = format!("{topology:?}: {cut_off} in turn {turn} cut off at {cut_at}");
            assert_agreed(&mut game, &what);
        }
        assert!(close > 1, "{topology:?}: {cut_off} never lacked the last checksums alone");
    }
}

/// Seed 3,024,115,158 of the soak: a player that resigned waits for no confirmations, and therefore stood a turn ahead of the others while they all waited for
/// a silent one. When that one was dropped, it held the whole wait against the others, gave them all up and was alone.
#[test]
fn a_player_that_resigned_during_a_wait_stays_with_the_others() {
    let mut was_ahead = 0;
    for asleep_at in (4_000..4_400).step_by(400 / share(20) as usize) {
        let config = config(8, Topology::Mesh).pace(Pace::Article).turns_ahead(1);
        let link = latency(150).jitter(Duration::from_millis(60));
        let mut game = match_at(&config, link, asleep_at);
        game.put_to_sleep(2, Instant::from_millis(60_000));
        game.play(asleep_at + 1_500);
        game.session_mut(5).resign(Successor::AsConfigured);
        game.play(asleep_at + 3_500);
        let turn = |player: usize| game.session(player).next_turn();
        was_ahead += u32::from(turn(5) > turn(0));
        assert!(game.play(600_000), "{asleep_at}");
        assert_agreed_by(&mut game, [0, 1, 3, 4, 5, 6, 7], &format!("asleep at {asleep_at}"));
    }
    assert!(was_ahead > 0, "nobody was ever ahead of the others");
}

/// A peer that lacks turns when the others are done is not gone: its link may come back.
#[test]
fn the_end_waits_for_who_is_cut_off_and_comes_back() {
    let dead = LinkConfig::new().loss_ppm(1_000_000);
    for topology in [Topology::Host, Topology::Mesh] {
        let mut alone_at_the_end = 0;
        for cut_at in (29_000..29_800).step_by(50).chain([28_200]) {
            let mut game = match_at(&config(2, topology), LinkConfig::new(), 4_000);
            if cut_at == 28_200 {
                // The others can reach the end without a player who resigned.
                game.session_mut(1).resign(Successor::AsConfigured);
            }
            game.play(cut_at);
            // What player 1 says arrives a little longer.
            game.net_mut().set_link(0, 1, dead);
            game.play(cut_at + 250);
            game.net_mut().set_partition(&[1]);
            // Longer than the linger time after the end, shorter than anybody waits for a player.
            game.play(cut_at + 3_700);
            let turns: Vec<u32> =
                game.drivers().iter().map(|driver| driver.session().next_turn().0).collect();
            alone_at_the_end += u32::from(turns[0] == 150 && turns[1] < 150);
            game.net_mut().set_partition(&[]);
            game.net_mut().set_link(0, 1, LinkConfig::new());
            let what = format!("{topology:?}, cut at {cut_at}, turns {turns:?}");
            assert_agreed(&mut game, &what);
        }
        assert!(alone_at_the_end > 1, "{topology:?}: never was anybody cut off by itself");
    }
}

/// Under the article's gate a player of a mesh may wait for a lost confirmation of the one who is gone, turns before the others do. The
/// others must not drop it together with that one.
#[test]
fn who_stands_for_the_silent_one_is_not_dropped_with_it() {
    let link = latency(120);
    let dead = link.loss_ppm(1_000_000);
    for before in (0..2_000).step_by(100) {
        let mut game = match_at(&config(4, Topology::Mesh).pace(Pace::Article), link, 8_000);
        // The last words of player 3 do not reach player 2.
        game.net_mut().set_link(3, 2, dead);
        game.play(8_000 + before);
        game.net_mut().set_partition(&[3]);
        assert!(game.play(600_000));
        assert_agreed_by(&mut game, 0..3, &format!("cut {before} ms later"));
        assert_eq!(game.toy(0).gone.len(), 1);
    }
}

#[test]
fn resigning_goes_on_watching() {
    let mut game = match_at(&config(3, Topology::Host), terrible(), 8_000);
    // The host resigns and goes on forwarding.
    game.session_mut(0).resign(Successor::AsConfigured);
    assert_agreed(&mut game, "one watches");
}

#[test]
fn a_pause_stands_at_the_same_turn_everywhere() {
    let mut game = toy_match(&config(3, Topology::Host), 1, 1, terrible());
    game.play(8_000);
    game.session_mut(2).pause(true).unwrap();
    game.play(12_000);
    let frames: Vec<u32> = game.drivers().iter().map(|driver| driver.simulation().frames).collect();
    assert!(game.drivers().iter().all(|driver| driver.session().is_paused()));
    game.play(14_000);
    assert!(frames.iter().all(|count| *count == frames[0]), "{frames:?}");
    assert!(game.drivers().iter().all(|driver| driver.simulation().frames == frames[0]));
    game.session_mut(1).pause(false).unwrap();
    assert!(game.play(600_000));
    let frames = game.toy(0).frames;
    assert!(frames < 600);
    for node in 0..game.drivers().len() {
        let events = game.events(node);
        let pauses: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                Event::Paused { turn, player, paused } => Some((turn.0, player.0, *paused)),
                _ => None,
            })
            .collect();
        assert_eq!(pauses.len(), 2, "{events:?}");
        assert_eq!((pauses[0].1, pauses[0].2), (2, true));
        assert_eq!((pauses[1].1, pauses[1].2), (1, false));
        assert_eq!(600 - frames, 4 * (pauses[1].0 - pauses[0].0));
        assert!(!events.iter().any(|event| matches!(event, Event::Desync(_))));
    }
    assert_agreed(&mut game, "paused");
}

#[test]
fn a_suspended_machine_does_no_harm() {
    // Two seconds asleep: the others wait, and nobody is dropped, whichever machine sleeps.
    for sleeper in 0..3 {
        let mut game = match_at(&config(3, Topology::Host), LinkConfig::new(), 8_000);
        game.put_to_sleep(sleeper, Instant::from_millis(11_500));
        assert_agreed(&mut game, &format!("{sleeper} sleeps"));
    }
    // A minute asleep: dropped, and told so after waking up.
    let mut game = match_at(&config(3, Topology::Host), LinkConfig::new(), 8_000);
    game.put_to_sleep(1, Instant::from_millis(30_000));
    assert!(game.play(600_000));
    assert_eq!(game.session(1).phase(), SessionPhase::Failed(Failure::Dropped));
    assert_survivors_agree(&mut game, 1, EndReason::Dropped, "asleep");
    let report = game.session(0).player_report(PlayerId(1));
    assert!(report.delayed >= Duration::from_secs(3) && report.delayed_turns > 0, "{report:?}");
}

/// As when a clock is set. For the session time stands still until its clock shows the former time again.
#[test]
fn a_clock_that_goes_back_does_no_harm() {
    for node in 0..3 {
        let mut game = toy_match(&config(3, Topology::Host), 0, 1, latency(20));
        let ahead = PeerClock { offset: Duration::from_secs(2), ..PeerClock::default() };
        game.set_clock(node, ahead).unwrap();
        game.play(8_000);
        let before = game.drivers()[node].frame();
        game.set_clock(node, PeerClock::default()).unwrap();
        game.play(9_900);
        assert!(game.drivers()[node].frame().0 <= before.0 + 4, "node {node}");
        assert_unharmed(&mut game, &format!("node {node}"));
        assert_eq!(game.drivers()[0].frame().0, 600);
    }
}

/// Each round that came late counted as a machine that had been asleep, so nobody was dropped, and nobody gave up: all waited for ever.
#[test]
fn a_program_whose_rounds_are_slow_waits_no_longer_than_others() {
    for round_ms in [100, 1_900, 2_100, 2_500, 5_000] {
        let mut game = match_at(&config(3, Topology::Host), LinkConfig::new(), 8_000);
        game.put_to_sleep(2, Instant::from_millis(10_000_000));
        let mut at = 8_000;
        while game.session(0).present_players().len() == 3 && at < 120_000 {
            at += round_ms;
            game.put_to_sleep(0, Instant::from_millis(at));
            game.play(at + 5);
        }
        assert!(at < 45_000, "rounds of {round_ms} ms: dropped after {at} ms");
        // Nobody answers, nobody comes.
        let config = config(2, Topology::Host);
        let mut guest =
            Session::<Order>::join(config.clone(), PlayerId(1), PeerId(0), Instant::ZERO).unwrap();
        let mut host = Session::<Order>::host(config, Instant::ZERO).unwrap();
        for session in [&mut guest, &mut host] {
            let rounds = (1..100).map(|round| Instant::from_millis(round * round_ms));
            let over = rounds.take_while(|now| {
                session.handle_timeout(*now);
                while session.poll_transmit(*now, &mut Vec::new()).is_some() {}
                !session.is_over()
            });
            let waited_ms = (over.count() as u64 + 1) * round_ms;
            assert!(waited_ms <= 10_000 + 4 * round_ms, "rounds of {round_ms} ms: {waited_ms} ms");
        }
    }
}

/// Whoever is here may ask the others to wait.
#[test]
fn a_match_begins_when_all_are_ready() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        for late in 0..3_u8 {
            let mut game = toy_match(&config(3, topology), 0, 3, LinkConfig::default());
            let node = usize::from(late);
            game.session_mut(node).set_ready(false);
            game.play(5_000);
            let middle = if topology == Topology::Relay { 3 } else { 0 };
            let middle = game.session(middle);
            assert_eq!(middle.phase(), SessionPhase::Lobby, "{topology:?}, player {late}");
            let ready = [0, 1, 2].map(|player| middle.is_ready(PlayerId(player)));
            assert_eq!(ready, [0, 1, 2].map(|player| player != late), "{topology:?}");
            game.session_mut(node).set_ready(true);
            game.play(6_000);
            for driver in game.drivers_mut() {
                assert_eq!(driver.session().phase(), SessionPhase::Running, "{topology:?}, player {late}");
                // From now on it has no effect.
                driver.session_mut().set_ready(false);
            }
            assert!(game.play(120_000), "{topology:?}, player {late}");
        }
    }
}

/// A relay forgot entries that everybody had before it had read them: the pace of who had gone held, and the last player was too far ahead of it.
#[test]
fn a_relay_reads_the_end_of_a_player_that_is_ahead_of_the_others() {
    for case in 0..share(20) {
        for pace in [Pace::Adaptive, Pace::Article] {
            let config =
                SessionConfig::new(2).simulated().topology(Topology::Relay).turns_ahead(4).pace(pace);
            let link = latency(60);
            let mut game = toy_match(&config.turns(400), 0, case, link);
            // Player 1 sees everything early, and player 0 late.
            game.net_mut().set_link(2, 0, link.latency(Duration::from_millis(300)));
            game.net_mut().set_link(0, 2, link.latency(Duration::from_millis(300)));
            game.idle(6_000 + 37 * case);
            game.session_mut(1).leave();
            game.idle(40_000);
            let reports = [0, 2].map(|node: usize| game.session(node).player_report(PlayerId(1)).network_ms);
            assert_eq!(reports, [0, 0], "{pace:?} {case}: the player, the relay");
            assert!(game.idle(900_000), "{pace:?} {case}");
        }
    }
}

/// The last player's checksums after the last turn reach the watchers through the relay. It finished without handing them over, and every watcher failed
/// after it had seen the whole match.
#[test]
fn the_last_player_is_cut_off_at_the_end_and_watchers_finish() {
    for cut_ms in [500, 2_500, 8_000] {
        for at in [58, 59, 60] {
            let what = format!("{cut_ms} ms from turn {at} on");
            let config =
                SessionConfig::new(2).simulated().topology(Topology::Relay).turns(60).watchers_min(1);
            let mut game = toy_match(&config, 1, 1, latency(20));
            game.idle(4_000);
            game.session_mut(0).leave();
            while game.session(1).next_turn().0 < at {
                let next = game.now() + Duration::from_millis(5);
                game.run(next, |_, _, _, _| {});
            }
            game.net_mut().set_partition(&[1]);
            game.idle_for(cut_ms);
            game.net_mut().set_partition(&[]);
            assert!(game.idle(200_000), "{what}");
            assert_agreed_by(&mut game, 1..4, &what);
        }
    }
}
