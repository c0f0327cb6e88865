//! A player's place at the middle of a star, whoever has it: each stage of `WIRE.md`, "The life of a place", and places that change hands at random.

use crate::joining::{come_back, config, restart, secret, start, start_at};
use crate::play::{Play as _, assert_agreed, assert_agreed_by, assert_untold};
use crate::toy::{Order, Toy, latency, middle_of};
use crate::troubled::{Troubled, ms};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Duration, Event, Identity, Pace, PlayerId, SessionPhase, SubmitError, Successor, Topology, VirtualMatch,
};
use testudo_tests::cases::{cases, share};

/// Players that came back, with the turn of each, as the peer that has seen everything knows them.
pub(crate) fn returned(game: &VirtualMatch<Toy>) -> &[(u8, u32)] {
    &game.toy(0).returned
}

/// Seeds 424434 and 1795333959 of `soak`: the state before the very turn of a return said that the stream goes on, so the joining peer refused every
/// packet with that return.
#[test]
fn a_state_before_the_turn_of_a_return_leaves_the_return_to_the_entries() {
    let mut met = 0;
    for topology in [Topology::Host, Topology::Relay] {
        for watched_at in (6_500..9_000).step_by(2_500 / share(50).max(13) as usize) {
            let what = format!("{topology:?} {watched_at} ms");
            let config = config(3, topology).late_watchers(true).checksum_interval(1);
            let mut game = start(&config, 1, 3, latency(40));
            let watcher = game.drivers().len() as u32 - 1;
            game.put_to_sleep(watcher as usize, ms(watched_at));
            game.play(5_000);
            come_back(&mut game, &config, 1);
            game.play(watched_at);
            restart(&mut game, &config, watcher, Identity::Watcher, secret(9));
            assert!(game.play(300_000), "{what}");
            let joined = game.events(watcher as usize).into_iter().find_map(|event| match event {
                Event::Joined { turn } => Some(turn.0),
                _ => None,
            });
            met += u32::from(joined.is_some() && joined == returned(&game).first().map(|(_, turn)| *turn));
            assert_agreed(&mut game, &what);
        }
    }
    assert!(met >= 2, "{met} states of the right turn");
}

/// The only other player waits for nobody's entries. Without the horizon it passed the turn of the return before it heard of it.
#[test]
fn who_plays_alone_does_not_pass_the_turn_of_a_return_that_it_has_not_heard_of() {
    for topology in [Topology::Host, Topology::Relay] {
        for cut_at in (5_500..8_500).step_by(250) {
            let what = format!("{topology:?} {cut_at} ms");
            let config = config(2, topology).late_watchers(true).turns(400);
            let mut game = start(&config, 1, 3, latency(50));
            // Behind a host the watcher is the one who waits for nobody, because the host gives no actions.
            if topology == Topology::Host {
                game.play(3_000);
                game.session_mut(0).resign(Successor::AsConfigured);
            }
            let alone = if topology == Topology::Host { 2 } else { 0 };
            game.play(5_000);
            come_back(&mut game, &config, 1);
            game.play(cut_at);
            game.play_cut_off(&[alone], cut_at + 2_500);
            assert_agreed(&mut game, &what);
            for driver in game.drivers().iter().filter(|d| d.session().identity() != Identity::Relay) {
                assert_eq!(driver.simulation().returned.len(), 1, "{what}");
            }
        }
    }
}

/// A hundred returns through a relay: a sixth of all its packets were refused. They were the last chunks of the states, which the sources
/// repeated for ten seconds, because nobody told them that these had arrived.
#[test]
fn a_source_stops_when_its_state_has_arrived() {
    for loss in [0, 200_000] {
        let config = config(3, Topology::Relay).turns(400);
        let mut game = start_at(&config, latency(40).loss_ppm(loss), 5_000);
        for _ in 0..3 {
            come_back(&mut game, &config, 1);
            game.play_for(15_000);
        }
        assert_eq!(returned(&game).len(), 3, "loss {loss}");
        let stats = game.session(middle_of(&config) as usize).stats();
        assert_eq!(stats.packets_unexpected, 0, "loss {loss}: {stats:?}");
    }
}

/// A relay knows the position of a match only from those who play.
#[test]
fn a_relay_lets_nobody_back_where_nobody_plays() {
    let config = config(2, Topology::Relay).turns(600);
    let mut game = start_at(&config, LinkConfig::default(), 3_000);
    game.session_mut(0).resign(Successor::Nobody);
    game.play(4_000);
    game.session_mut(1).resign(Successor::AsConfigured);
    game.play(6_000);
    come_back(&mut game, &config, 1);
    assert!(game.play(400_000));
    assert_eq!(game.phases()[0], SessionPhase::Finished);
    assert!(matches!(game.phases()[1], SessionPhase::Failed(_)), "{:?}", game.phases());
}

/// Where the game ends the match and nobody plays any more, the relay says no horizon. Whoever saw it had "512 turns to catch up with", for ever: it passed the
/// bots' battle eight times as fast, and a watcher who came then never was level.
#[test]
fn where_nobody_plays_any_more_who_sees_it_does_so_at_the_speed_of_the_match() {
    let mut config = config(2, Topology::Relay).late_watchers(true);
    config.turns = None;
    let mut game = start(&config, 1, 3, latency(40));
    game.put_to_sleep(3, ms(8_000));
    game.play(3_000);
    game.session_mut(0).resign(Successor::Bot);
    game.play(4_000);
    game.session_mut(1).leave();
    game.play(8_000);
    restart(&mut game, &config, 3, Identity::Watcher, secret(9));
    let before = game.session(0).next_turn().0;
    game.play(18_000);
    let passed = game.session(0).next_turn().0 - before;
    assert!((47..=53).contains(&passed), "{passed} turns of 200 ms in ten seconds");
    assert!(
        game.events(3).iter().any(|event| matches!(event, Event::CaughtUp { .. })),
        "{:?}",
        game.phases()
    );
    let before = game.session(3).next_turn().0;
    game.play(28_000);
    let passed = game.session(3).next_turn().0 - before;
    assert!((47..=53).contains(&passed), "{passed} turns of 200 ms in ten seconds, seen by who came late");
}

/// Two of 9,600 matches of places that change hands at random, with other seeds of the network; here 9 of 16. A player came back twice while another one was
/// getting a state from before. The packet with the first return was lost, and the next one, sent before anybody could know that, had the second return.
#[test]
fn a_second_return_is_not_taken_for_the_first() {
    for seed in cases(0..16_u32).map(u64::from) {
        let what = format!("seed {seed}");
        // In a crowd entries are not repeated in every packet.
        let config = config(7, Topology::Host).turns(300);
        let config = config.drop_after(Duration::from_secs(60)).join_timeout(Duration::from_secs(100));
        let mut game = start(&config, 0, seed, latency(150));
        game.play(5_000);
        assert!(game.session_mut(0).kick(PlayerId(1)));
        game.play(6_000);
        let lossy = latency(150).loss_ppm(400_000);
        game.net_mut().set_link(0, 2, lossy.bytes_per_second(8_000));
        come_back(&mut game, &config, 2);
        for returns in 1..=2 {
            come_back(&mut game, &config, 1);
            game.play_until(10, 90_000, |game| {
                returned(game).iter().filter(|(of, _)| *of == 1).count() == returns
            });
        }
        assert!(game.toy(2).loaded.is_empty(), "{what}: both returns are news");
        game.net_mut().set_link(0, 2, lossy);
        game.play_until(10, 90_000, |game| !game.toy(2).loaded.is_empty());
        game.net_mut().set_link(0, 2, latency(150));
        assert_agreed(&mut game, &what);
        assert_eq!(game.toy(2).returned, game.toy(0).returned, "{what}");
    }
}

#[test]
fn who_joins_gives_no_orders_until_it_is_back() {
    let config = config(3, Topology::Host);
    let mut game = start_at(&config, latency(40), 5_000);
    come_back(&mut game, &config, 1);
    let mut refused = 0;
    while game.session(1).phase() != SessionPhase::Running
        || game.session(1).is_joining()
        || game.session(1).is_catching_up()
    {
        game.idle_for(10);
        if game.session(1).phase() == SessionPhase::Running {
            let said = game.session_mut(1).submit(&Order::Shout(7));
            assert_eq!(said, Err(SubmitError::NotPlaying));
            refused += 1;
        }
    }
    assert!(refused > 0);
    while game.session_mut(1).submit(&Order::Shout(8)).is_err() {
        game.idle_for(10);
        assert!(game.now() < ms(12_000), "never back");
    }
    assert!(game.play(300_000));
    for driver in game.drivers() {
        let ran =
            |number: u32| driver.simulation().log.iter().filter(|ran| ran.2 == Order::Shout(number)).count();
        assert_eq!((ran(7), ran(8)), (0, 1));
    }
}

/// Seed 1795333698 of `soak` left while it joined.
#[test]
fn who_leaves_or_gives_up_while_it_joins_is_rid_of_at_once() {
    for surrenders in [false, true] {
        for after in (0..3_000).step_by(125) {
            let what = format!("{surrenders} after {after} ms");
            let config = config(3, Topology::Host);
            let mut game = start_at(&config, latency(40), 5_000);
            come_back(&mut game, &config, 1);
            game.play(5_000 + after);
            let session = game.session_mut(1);
            let _ = session.submit(&Order::Shout(1));
            let waiting = session.queued_actions();
            let cancelled = if surrenders { session.resign(Successor::Nobody) } else { session.leave() };
            assert_eq!(cancelled, waiting, "{what}");
            assert!(game.play(300_000), "{what}");
            assert_agreed_by(&mut game, [0, 2], &what);
            let expected = if surrenders { SessionPhase::Finished } else { SessionPhase::Left };
            assert_eq!(game.phases()[1], expected, "{what}");
        }
    }
}

#[test]
fn who_is_away_is_not_accused_of_withholding_checksums() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology);
        let mut game = start_at(&config, latency(40), 5_000);
        come_back(&mut game, &config, 1);
        assert!(game.play(300_000));
        assert_eq!(returned(&game).len(), 1);
        let is_missing = |event: &Event| matches!(event, Event::ChecksumMissing { .. });
        assert_untold(&mut game, is_missing, &format!("{topology:?}"));
    }
}

/// A match that waits for somebody begins no turn, and a state is taken only before a turn.
#[test]
fn a_source_is_not_given_up_while_the_match_stands() {
    let config = config(4, Topology::Relay).drop_after(Duration::from_secs(14));
    let mut game = start_at(&config, latency(40), 5_000);
    game.net_mut().set_partition(&[2]);
    game.play(5_500);
    come_back(&mut game, &config, 1);
    assert!(game.play(300_000));
    for node in [0, 1, 3] {
        assert_eq!(game.phases()[node], SessionPhase::Finished);
        let told = game.events(node);
        assert!(!told.iter().any(|event| matches!(event, Event::JoinFailed(_))), "{told:?}");
    }
    assert_eq!(returned(&game), &game.toy(3).returned[..]);
    assert_eq!(returned(&game).len(), 1);
}

/// Seed 1795333959 of `soak`: the relay looked for a state for half a minute after the players had gone.
#[test]
fn who_comes_in_the_last_turns_holds_nobody_up() {
    for before_the_end in [100, 500, 1_000] {
        let config = config(3, Topology::Relay);
        let mut game = start(&config, 0, 3, latency(40));
        let turns = config.turns.unwrap();
        while game.session(0).next_turn().0 + 1 < turns - before_the_end / 100 {
            game.idle_for(10);
        }
        come_back(&mut game, &config, 1);
        let came = game.now();
        assert!(game.play(300_000));
        assert!(
            game.now().since(came) < Duration::from_secs(15),
            "{before_the_end} {:?}",
            game.now().since(came)
        );
        assert_eq!(game.phases()[0], SessionPhase::Finished);
    }
}

/// Found by places that change hands at random: those who wait for a state confirm nothing, and the host waited for their confirmations.
#[test]
fn a_host_that_leaves_does_not_wait_for_those_who_just_come() {
    let config = config(3, Topology::Host);
    let mut game = start_at(&config, latency(40), 5_000);
    come_back(&mut game, &config, 1);
    game.play(5_200);
    game.session_mut(0).leave();
    assert!(game.play(9_000), "{:?}", game.phases());
    assert_eq!(game.phases()[0], SessionPhase::Left);
}

#[test]
fn watchers_who_see_everything_later_keep_nobody_from_coming_back() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology).turns(400).watch_delay(Duration::from_secs(12));
        let mut game = start(&config, 1, 3, latency(40));
        let watcher = game.drivers().len() - 1;
        game.play(5_000);
        come_back(&mut game, &config, 1);
        game.play(10_000);
        assert_eq!(returned(&game).len(), 1, "{topology:?}");
        assert_agreed(&mut game, &format!("{topology:?}"));
        assert_eq!(game.toy(watcher).returned, game.toy(0).returned, "{topology:?}");
    }
}

#[test]
fn places_change_hands_at_random_and_nothing_is_lost() {
    let (mut came, mut back) = (0, 0);
    let matches = share(48).max(12);
    for seed in (0..matches).map(|n| n * 5 % 48) {
        let topology = if seed % 2 == 0 { Topology::Host } else { Topology::Relay };
        let pace = [Pace::Fixed, Pace::Adaptive, Pace::Article][(seed / 2 % 3) as usize];
        let players = 2 + (seed / 6 % 4) as u8;
        let what = format!("seed {seed} {topology:?} {pace:?} {players} players");
        println!("{what}");
        let mut troubled = Troubled::new(seed, topology, players, pace);
        let middle_leaves = seed % 8 == 7 || seed % 8 == 4;
        troubled.play(middle_leaves.then_some(9_000 + seed * 100));
        let phases = troubled.game.phases();
        assert!(troubled.game.is_over(), "{what}: {phases:?}");
        came += troubled.comings.iter().sum::<u32>();
        if middle_leaves {
            continue;
        }
        assert_eq!(phases[0], SessionPhase::Finished, "{what}");
        back += returned(&troubled.game).len();
        troubled.check_players(&what);
        troubled.check_orders(&what);
    }
    assert!(
        u64::from(came) * 48 > 100 * matches && back as u64 * 48 > 60 * matches,
        "{came} came, {back} came back in {matches} matches"
    );
}
