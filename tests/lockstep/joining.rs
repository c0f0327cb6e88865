//! Peers join a running match: players come back, strangers take free places, watchers watch.

use crate::attacks::deliver;
use crate::play::{Play as _, accuses, assert_agreed, assert_untold, give_order};
use crate::toy::{Order, Toy, latency, middle_of, peer, terrible, toy_match_from};
use testudo_lockstep::packet::{Bye, Packet};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Driver, Duration, Event, Failure, Identity, Instant, Pace, PeerId, PlayerId, PlayerKey, Session,
    SessionConfig, SessionPhase, SignedBefore, Successor, Topology, VirtualMatch,
};
use testudo_tests::cases::share;

pub(crate) fn secret(player: u8) -> [u8; 16] {
    [player + 1; 16]
}

pub(crate) fn config(players: u8, topology: Topology) -> SessionConfig {
    SessionConfig::new(players)
        .simulated()
        .turns(200)
        .topology(topology)
        .drop_after(Duration::from_secs(3))
        .bots_take_over(true)
}

fn toy() -> Toy {
    Toy { gives_state: true, ballast: 100_000, ..Toy::default() }
}

/// A match in which every player has a secret.
pub(crate) fn start(config: &SessionConfig, watchers: u32, seed: u64, link: LinkConfig) -> VirtualMatch<Toy> {
    let mut game = toy_match_from(config, &toy(), watchers, seed, link);
    for player in 0..config.players {
        restart(&mut game, config, player.into(), Identity::Player(PlayerId(player)), secret(player));
    }
    game
}

/// A match of players alone, as in [`start`], which bots have played up to this time.
pub(crate) fn start_at(config: &SessionConfig, link: LinkConfig, ms: u64) -> VirtualMatch<Toy> {
    let mut game = start(config, 0, 3, link);
    game.play(ms);
    game
}

/// Starts or restarts the program of a node.
pub(crate) fn restart(
    game: &mut VirtualMatch<Toy>,
    config: &SessionConfig,
    node: u32,
    identity: Identity,
    secret: [u8; 16],
) {
    let config = config.clone().place_secret(secret);
    game.drivers_mut()[node as usize] = peer(&config, identity, toy(), game.now());
}

/// Does what is due now.
pub(crate) fn step(game: &mut VirtualMatch<Toy>) {
    game.step(&mut |_, turn, _, session| give_order(turn, session));
}

#[test]
fn a_dropped_player_comes_back_and_plays_on() {
    for topology in [Topology::Host, Topology::Relay] {
        for pace in [Pace::Fixed, Pace::Adaptive, Pace::Article] {
            for seed in 0..share(4).max(2) {
                let what = format!("{topology:?} {pace:?} {seed}");
                // Adaptive turns on a perfect link are short.
                let config =
                    config(3, topology).pace(pace).turns(if pace == Pace::Fixed { 200 } else { 600 });
                let link = if seed % 2 == 0 { terrible() } else { LinkConfig::default() };
                let mut game = start(&config, u32::from(seed == 1), seed, link);
                game.play(6_000);
                // The machine is off for longer than the drop time.
                game.play_cut_off(&[2], 12_000);
                come_back(&mut game, &config, 2);
                let over = game.play(3_000_000);
                let reached: Vec<_> =
                    game.drivers().iter().map(|d| (d.session().next_turn(), d.session().phase())).collect();
                assert!(over, "{what}: {reached:?}");
                let toys: Vec<&Toy> = game.drivers().iter().map(Driver::simulation).collect();
                assert_eq!(toys[0].bots.len(), 1, "{what}");
                assert_eq!(toys[0].returned.len(), 1, "{what}");
                assert_eq!(
                    (&toys[1].returned, &toys[2].returned),
                    (&toys[0].returned, &toys[0].returned),
                    "{what}"
                );
                assert_eq!(toys[2].loaded.len(), 1, "{what}");
                // Its own orders ran before, the bot's in between, and its own again afterwards.
                let last_bot = toys[0].played.last().unwrap().0;
                assert_eq!(last_bot + 1, toys[0].returned[0].1, "{what}");
                let back = toys[2]
                    .log
                    .iter()
                    .filter(|(frame, player, _)| *player == 2 && *frame > toys[2].loaded[0])
                    .count();
                assert!(back > 10, "{what}: {back}");
                assert_agreed(&mut game, &what);
            }
        }
    }
}

/// A match some seconds after its start, without the player that will join.
pub(crate) fn without(
    config: &SessionConfig,
    player: u8,
    watchers: u32,
    seed: u64,
    link: LinkConfig,
) -> VirtualMatch<Toy> {
    let mut game = start(config, watchers, seed, link);
    game.play(4_000);
    game.play_cut_off(&[player.into()], 10_000);
    game
}

pub(crate) fn come_back(game: &mut VirtualMatch<Toy>, config: &SessionConfig, player: u8) {
    restart(game, config, player.into(), Identity::Player(PlayerId(player)), secret(player));
}

/// The last entries of whoever has just gone can be forgotten already where everybody has them. A relay asked for a state before them, which it could not
/// use, and the source offered the same one for ten seconds.
#[test]
fn who_crashes_again_and_again_gets_a_state_each_time() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(4, topology);
        let mut game = start_at(&config, LinkConfig::default(), 5_000);
        for round in 0..6 {
            come_back(&mut game, &config, 3);
            game.play_for(5_000 + 37 * round);
            let told = game.events(3);
            let has_joined = |event: &Event| matches!(event, Event::Joined { .. });
            assert!(told.iter().any(has_joined), "{topology:?} {round}: {told:?}");
        }
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}

/// A joining peer waits for two checksums. With more turns between them than the settings allow now, nobody came back.
#[test]
fn a_player_comes_back_where_checksums_are_as_rare_as_they_may_be() {
    for topology in [Topology::Host, Topology::Relay] {
        for seed in 0..share(8) {
            let config = config(3, topology).checksum_interval(98).turns(600);
            let mut game = without(&config, 2, 0, seed, terrible());
            game.play(10_000 + 3_000 * seed);
            come_back(&mut game, &config, 2);
            assert_agreed(&mut game, &format!("{topology:?} {seed}"));
            assert_eq!(game.toy(2).loaded.len(), 1, "{topology:?} {seed}");
        }
    }
}

#[test]
fn who_crashes_and_comes_back_at_once_is_not_waited_for() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology);
        let mut game = start_at(&config, LinkConfig::default(), 5_000);
        come_back(&mut game, &config, 1);
        assert!(game.play(200_000));
        for driver in game.drivers().iter().filter(|d| d.session().identity() != Identity::Relay) {
            assert_eq!(driver.simulation().returned.len(), 1, "{topology:?}");
            assert!(
                driver.session().stats().stalled_frames < 60,
                "{topology:?} {:?}",
                driver.session().stats()
            );
        }
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}

#[test]
fn a_player_comes_back_as_often_as_it_likes() {
    let config = config(2, Topology::Host).turns(600);
    let mut game = start(&config, 0, 3, terrible());
    for round in 1..6 {
        game.play(round * 12_000);
        come_back(&mut game, &config, 1);
    }
    assert_agreed(&mut game, "often");
    assert_eq!(game.toy(0).returned.len(), 5);
}

#[test]
fn all_who_were_cut_off_come_back_together() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(8, topology).turns(300);
        let mut game = start_at(&config, terrible(), 4_000);
        game.play_cut_off(&[2, 3, 5, 7], 12_000);
        [2, 3, 5, 7].into_iter().for_each(|player| come_back(&mut game, &config, player));
        assert_agreed(&mut game, &format!("{topology:?}"));
        assert_eq!(game.toy(1).returned.len(), 4, "{topology:?}");
    }
}

#[test]
fn watchers_come_into_a_running_match() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(2, topology).late_watchers(true).watchers_max(2);
        let mut game = start(&config, 2, 3, terrible());
        // They start later than the others.
        let watchers = game.drivers().len() as u32 - 2;
        for node in watchers..watchers + 2 {
            game.put_to_sleep(node as usize, Instant::from_millis(5_000));
        }
        game.play(5_000);
        for node in watchers..watchers + 2 {
            restart(&mut game, &config, node, Identity::Watcher, secret(9));
        }
        assert!(game.play(400_000), "{topology:?}");
        for node in watchers as usize..watchers as usize + 2 {
            assert_eq!(game.toy(node).loaded.len(), 1, "{topology:?}");
            let events = game.events(node);
            assert!(
                events.iter().any(|event| matches!(event, Event::Joined { turn } if turn.0 > 10)),
                "{events:?}"
            );
            assert!(events.iter().any(|event| matches!(event, Event::CaughtUp { .. })), "{events:?}");
            assert!(
                events.iter().any(
                    |event| matches!(event, Event::StateProgress { received, total } if received == total)
                )
            );
        }
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}

/// Near was half of a window of 16 entries, less than what is on its way to a watcher that lacks nothing. It was sent away when its time for joining was over.
#[test]
fn a_watcher_at_the_end_of_a_long_line_stays_where_the_window_is_small() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(2, topology).frames_per_second(60).frames_per_turn(1).turns_ahead(4).turns(1_200);
        let config = config.window(16).late_watchers(true).join_timeout(Duration::from_secs(3));
        let mut game = start(&config, 1, 3, latency(5));
        let (middle, watcher) = (middle_of(&config), game.drivers().len() as u32 - 1);
        for (from, to) in [(middle, watcher), (watcher, middle)] {
            game.net_mut().set_link(from, to, latency(150));
        }
        game.put_to_sleep(watcher as usize, Instant::from_millis(3_000));
        game.play(3_000);
        restart(&mut game, &config, watcher, Identity::Watcher, secret(9));
        assert!(game.play(400_000), "{topology:?}");
        let told = game.events(middle as usize);
        assert!(!told.iter().any(|event| matches!(event, Event::JoinFailed(_))), "{topology:?}: {told:?}");
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}

/// 10 Mbit/s.
fn ten_megabits() -> LinkConfig {
    let latency = Duration::from_millis(30);
    LinkConfig::new().latency(latency).bytes_per_second(1_250_000)
}

#[test]
fn a_two_hour_match_is_rejoined_within_ten_seconds_and_nobody_else_waits() {
    // A quarter of an hour, if not all is asked for.
    let quarters = share(8);
    let config = config(4, Topology::Host).turns(4_525 * quarters as u32);
    let end_ms = 900_000 * quarters;
    let mut game = start(&config, 0, 3, ten_megabits());
    for driver in game.drivers_mut() {
        // The size of the demo's battle with 2,000 units; `testudo bench` measures it.
        driver.simulation_mut().ballast = 2_000_000;
    }
    game.play(end_ms - 30_000);
    game.net_mut().set_partition(&[3]);
    let stalled = |game: &VirtualMatch<Toy>| -> u64 {
        (0..3).map(|node| game.session(node).stats().stalled_frames).sum()
    };
    game.play(end_ms);
    game.net_mut().set_partition(&[]);
    let quiet = stalled(&game);
    come_back(&mut game, &config, 3);
    let began = game.now();
    game.play_until(10, 10_000, |game| !game.toy(3).returned.is_empty());
    println!("rejoined after {:?} at turn {:?}", game.now().since(began), game.session(3).next_turn());
    assert!(game.session(3).next_turn().0 > config.turns.unwrap() - 400);
    assert_eq!(stalled(&game), quiet, "nobody waits because of it");
    assert!(game.play(end_ms + 1_800_000));
    assert_eq!(stalled(&game), quiet, "nor afterwards");
    assert_agreed(&mut game, "two hours");
}

#[test]
fn a_decided_match_is_not_decided_again_by_who_comes_late() {
    let config = config(3, Topology::Host).late_watchers(true);
    let mut game = start(&config, 1, 3, LinkConfig::default());
    game.put_to_sleep(3, Instant::from_millis(10_000));
    for driver in game.drivers_mut() {
        driver.simulation_mut().decided = Some((60, 7));
    }
    game.play(4_000);
    game.play_cut_off(&[2], 10_000);
    come_back(&mut game, &config, 2);
    restart(&mut game, &config, 3, Identity::Watcher, secret(9));
    for node in [2, 3] {
        game.toy_mut(node).decided = Some((60, 7));
    }
    assert!(game.play(200_000));
    for node in 0..4 {
        let told = game.events(node);
        let results = told.iter().filter(|event| matches!(event, Event::MatchResult(_))).count();
        assert_eq!(results, usize::from(node < 2), "{node} {told:?}");
    }
    assert_eq!(game.toy(0).returned.len(), 1);
}

#[test]
fn in_a_signed_match_who_comes_back_signs_again_and_nobody_contradicts_it() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology).turns(260).late_watchers(true).signed();
        // With heavy loss, statements are late from time to time, whether or not anybody joins or leaves.
        let mut game = start(&config, 1, 3, latency(60));
        let watcher = game.drivers().len() as u32 - 1;
        game.put_to_sleep(watcher as usize, Instant::from_millis(5_000));
        game.play(5_000);
        restart(&mut game, &config, watcher, Identity::Watcher, secret(9));
        game.play_cut_off(&[2], 10_000);
        come_back(&mut game, &config, 2);
        assert!(game.play(400_000), "{topology:?}");
        assert_eq!(game.toy(1).returned.len(), 1, "{topology:?}");
        let mut marks = Vec::new();
        for node in 0..game.drivers().len() {
            marks.extend(game.session(node).roster().map(|roster| roster.fingerprint().to_string()));
        }
        let is_bad = |event: &Event| accuses(event) || matches!(event, Event::StatementMissing { .. });
        assert_untold(&mut game, is_bad, &format!("{topology:?}"));
        assert!(marks.len() >= 4 && marks.iter().all(|mark| *mark == marks[0]), "{marks:?}");
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}

/// The state that was on its way to a watcher was older than its own crash. It signed once more the turns that its former self had signed, and the two
/// statements were proof against it.
#[test]
fn who_comes_back_through_turns_that_it_has_signed_is_no_liar() {
    for topology in [Topology::Host, Topology::Relay] {
        for gap_ms in (200..4_200).step_by(800) {
            let config = config(4, topology).late_watchers(true).state_rate(50_000).signed();
            let mut game = start(&config, 1, 1, latency(30));
            let watcher = game.drivers().len() as u32 - 1;
            for player in 0..4 {
                come_back(&mut game, &config.clone().entropy([player + 1; 16]), player);
            }
            game.play(5_000);
            restart(&mut game, &config, watcher, Identity::Watcher, secret(9));
            game.play(5_000 + gap_ms);
            come_back(&mut game, &config.clone().entropy([77; 16]), 2);
            assert!(game.play(400_000), "{topology:?}, {gap_ms} ms");
            assert_untold(&mut game, accuses, &format!("{topology:?}, {gap_ms} ms"));
            assert_eq!(game.toy(1).returned.len(), 1);
        }
    }
}

/// A joining peer runs the turns that came with the state at once. If these were many and long, it stopped waiting before the others had signed any of them,
/// took the state for false, and named honest players.
#[test]
fn in_a_signed_match_of_long_turns_a_player_comes_back() {
    for (topology, ahead, frames) in
        [(Topology::Host, 4, 40), (Topology::Relay, 4, 40), (Topology::Host, 5, 40), (Topology::Relay, 2, 80)]
    {
        let what = format!("{topology:?}, {ahead} turns of {frames} frames");
        let config = config(3, topology).turns(100).turns_ahead(ahead).frames_per_turn(frames);
        let config = config.signed();
        let mut game = start(&config, 0, 1, LinkConfig::default());
        game.play(30_100);
        come_back(&mut game, &config, 2);
        assert!(game.play(1_000_000), "{what}");
        assert_untold(&mut game, accuses, &what);
        assert_eq!(game.toy(1).returned.len(), 1, "{what}");
        assert_agreed(&mut game, &what);
    }
}

#[test]
fn in_a_signed_match_another_key_does_not_take_a_place() {
    let config = config(2, Topology::Host).signed();
    let mut game = start_at(&config, LinkConfig::default(), 5_000);
    let stranger = config.place_secret(secret(1)).player_key(PlayerKey::from_secret([3; 32]));
    let session = Session::join(stranger, PlayerId(1), PeerId(0), game.now()).unwrap();
    game.drivers_mut()[1] = Driver::new(toy(), session);
    assert!(game.play(400_000));
    assert_eq!(game.session(1).phase(), SessionPhase::Failed(Failure::OtherKey));
    assert_eq!(game.session(0).phase(), SessionPhase::Finished);
}

/// Nothing is wrong with its key, as it was told.
#[test]
fn who_brings_what_it_has_signed_in_another_match_does_not_come_back() {
    let config = config(2, Topology::Host).signed();
    let mut game = start_at(&config, LinkConfig::default(), 5_000);
    come_back(&mut game, &config.signed_before(SignedBefore::from_bytes(&[9; 36])), 1);
    assert!(game.play(400_000));
    assert_eq!(game.session(1).phase(), SessionPhase::Failed(Failure::NoState));
    assert_eq!(game.session(0).phase(), SessionPhase::Finished);
}

/// Seed 1128 of `soak`: the relay took the first entries of those who came back, far ahead, for those of somebody who waits.
#[test]
fn a_return_that_lies_ahead_makes_nobody_late() {
    let config =
        config(4, Topology::Relay).pace(Pace::Article).turns(120).drop_after(Duration::from_millis(4_300));
    let mut game = start_at(&config, latency(62), 1_500);
    game.put_to_sleep(3, Instant::from_millis(4_200));
    game.play(6_500);
    for node in [1, 3] {
        game.put_to_sleep(node, Instant::from_millis(60_000));
    }
    game.play(8_500);
    for player in [1, 3] {
        game.put_to_sleep(player.into(), Instant::ZERO);
        come_back(&mut game, &config, player);
    }
    assert!(game.play(900_000));
    let toy = game.toy(0);
    let gone: Vec<u8> = toy.bots.iter().map(|(player, _)| *player).collect();
    assert!(gone.iter().all(|player| [1, 3].contains(player)), "{gone:?}");
    assert_eq!(toy.returned.len(), 2);
    assert_agreed(&mut game, "slow turns");
}

/// Seeds 424250 and 424320 of `soak`: nobody else played any more. A peer that caught up waited for no entries and passed the turn of its own return.
#[test]
fn who_returns_to_a_match_in_which_nobody_else_plays_plays_on() {
    let config = config(2, Topology::Host).turns(600);
    let mut game = start_at(&config, LinkConfig::default(), 3_000);
    game.session_mut(0).resign(Successor::Nobody);
    game.play(6_000);
    come_back(&mut game, &config, 1);
    assert!(game.play(400_000));
    let host = game.toy(0);
    assert_eq!(host.returned.len(), 1);
    let turn = host.returned[0].1;
    assert!(host.log.iter().filter(|(frame, player, _)| *player == 1 && *frame > turn * 2).count() > 20);
    assert_agreed(&mut game, "alone");
}

/// Seeds 1795334146 and 424423 of `soak`: with slow turns a return lies ahead, and a player that resigned before it put its newest checksum into an entry that
/// belongs to a later turn. Everybody was told of a desync.
#[test]
fn who_resigns_before_its_return_sends_no_checksum_of_another_turn() {
    for resigned_at in (1_500..9_000).step_by(250) {
        let config = config(3, Topology::Host).pace(Pace::Article).turns(60);
        let mut game = start_at(&config, latency(41), 1_050);
        come_back(&mut game, &config, 1);
        game.play(resigned_at);
        game.session_mut(1).resign(Successor::AsConfigured);
        assert_agreed(&mut game, &format!("{resigned_at} ms"));
    }
}

/// Seeds 1795334091 and 1795332918 of `soak`: a player that came again before the turn of its first return took that return for its own, and went on
/// without a state.
#[test]
fn who_comes_twice_runs_no_turn_without_a_state() {
    let mut back = 0;
    for again_at in (1_250..12_000).step_by(250) {
        let config = config(3, Topology::Host).pace(Pace::Article).turns(60);
        let mut game = start_at(&config, latency(41), 1_050);
        come_back(&mut game, &config, 1);
        game.play(again_at);
        come_back(&mut game, &config, 1);
        assert!(game.play(900_000), "{again_at}");
        let toy = game.toy(1);
        assert_eq!(toy.loaded.len(), 1, "{again_at}");
        back += game.toy(0).returned.len();
        assert_agreed(&mut game, &format!("{again_at} ms"));
    }
    assert!(back >= 60, "{back} returns of 86");
}

/// A tab of a browser has a poor uplink: others are asked first, and it is asked where there are no others.
#[test]
fn who_gives_its_state_last_gives_it_only_if_nobody_else_does() {
    for (others_give, players) in [(true, 3), (false, 3), (false, 2)] {
        let what = format!("{players} players, others give: {others_give}");
        let config = config(players, Topology::Relay).turns(600);
        let last = players - 1;
        let mut game = start(&config, 0, 5, LinkConfig::default());
        for player in 0..last {
            // Player 0 is asked first: it has the same time to spare, and the smallest number.
            let reluctant = player == 0 || !others_give;
            let own = if reluctant { config.clone().gives_state_last() } else { config.clone() };
            come_back(&mut game, &own, player);
        }
        game.play(6_000);
        game.play_cut_off(&[last.into()], 12_000);
        come_back(&mut game, &config, last);
        assert!(game.play(3_000_000), "{what}");
        let came = game.events(last.into());
        assert!(came.iter().any(|event| matches!(event, Event::CaughtUp { .. })), "{what}: {came:?}");
        let sent = |player: u8| game.session(usize::from(player)).stats().bytes_sent;
        let gave: Vec<u8> = (0..last).filter(|player| sent(*player) > sent(last) + 80_000).collect();
        assert_eq!(
            gave,
            [if others_give { 1 } else { 0 }],
            "{what}: {:?}",
            (0..last).map(sent).collect::<Vec<_>>()
        );
        assert_agreed(&mut game, &what);
    }
}

/// It stayed as late as its sleep was long, and missed the end when the others had gone.
#[test]
fn a_watcher_that_slept_catches_up() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(2, topology).turns(600);
        let mut game = start(&config, 1, 3, latency(40));
        let watcher = game.drivers().len() - 1;
        game.play(4_000);
        game.put_to_sleep(watcher, Instant::from_millis(16_000));
        game.play(16_000);
        let late = |game: &VirtualMatch<Toy>| {
            let turn = |node: usize| game.session(node).next_turn().0;
            config.turn_length().times(turn(0).saturating_sub(turn(watcher)).into())
        };
        assert!(late(&game) > Duration::from_secs(11), "{topology:?} {:?}", late(&game));
        let before = game.drivers()[watcher].frame().0;
        game.play(17_000);
        let frames = game.drivers()[watcher].frame().0 - before;
        assert!((60..=8 * 20 + 4).contains(&frames), "{topology:?}: {frames} in a second");
        game.play(21_000);
        assert!(late(&game) < Duration::from_millis(2_300), "{topology:?} {:?}", late(&game));
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}

/// It watched as late as its sleep was long to the end. After another sleep it was thrown out, as one who withholds, and its guest took the place back.
#[test]
fn who_has_resigned_and_slept_catches_up() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology).turns(800);
        let mut game = start_at(&config, latency(40), 3_000);
        game.session_mut(2).resign(Successor::Bot);
        game.play(5_000);
        for awake_ms in [17_000, 37_000] {
            game.put_to_sleep(2, Instant::from_millis(awake_ms));
            game.play(awake_ms);
            let late = |game: &VirtualMatch<Toy>| {
                let turn = |node: usize| game.session(node).next_turn().0;
                config.turn_length().times(turn(0).saturating_sub(turn(2)).into())
            };
            assert!(late(&game) > Duration::from_secs(10), "{topology:?} {:?}", late(&game));
            game.play(awake_ms + 8_000);
            assert!(late(&game) < Duration::from_millis(2_300), "{topology:?} {:?}", late(&game));
        }
        assert_agreed(&mut game, &format!("{topology:?}"));
        assert!(game.toy(0).returned.is_empty(), "{topology:?}");
    }
}

/// The relay ends a match when everybody has every entry. A watcher that had still to run some of them lost its connection, and failed.
#[test]
fn a_watcher_that_has_everything_needs_nobody() {
    for (topology, last_word) in [
        (Topology::Host, None),
        (Topology::Relay, None),
        (Topology::Relay, Some(Bye::Left)),
        (Topology::Host, Some(Bye::Dropped)),
    ] {
        let config = config(2, topology).turns(100);
        let mut game = start(&config, 1, 3, latency(5));
        let watcher = game.drivers().len() - 1;
        let impatient = config.clone().silence_timeout(Duration::from_millis(500));
        restart(&mut game, &impatient, watcher as u32, Identity::Watcher, secret(9));
        game.play(6_000);
        game.put_to_sleep(watcher, Instant::from_millis(11_000));
        game.play(11_000);
        game.play_until(5, 60_000, |game| !game.session(watcher).needs_others());
        assert_eq!(game.session(watcher).phase(), SessionPhase::Running);
        game.net_mut().set_partition(&[watcher as u32]);
        if let Some(bye) = last_word {
            deliver(&mut game, watcher, middle_of(&config), &Packet::Bye(bye));
        }
        assert!(game.play(60_000), "{topology:?} {last_word:?}");
        assert_agreed(&mut game, &format!("{topology:?} {last_word:?}"));
    }
}

/// It ended its stream up to a second ahead of the others, which was called further ahead than anybody honest can be.
#[test]
fn whoever_is_back_and_goes_again_at_once_is_no_cheat() {
    type Go = fn(&mut Session<Order>);
    let ways: [Go; 3] = [
        |session| _ = session.resign(Successor::AsConfigured),
        |session| _ = session.resign(Successor::Bot),
        |session| _ = session.leave(),
    ];
    for (case, go) in ways.into_iter().enumerate() {
        for topology in [Topology::Host, Topology::Relay] {
            // From long before its first own turn to after it.
            for wait_ms in (0..800).step_by(200) {
                let config = config(3, topology).frames_per_turn(1).turns(600);
                let mut game = start_at(&config, latency(30), 4_000);
                come_back(&mut game, &config, 1);
                let came = |event| matches!(event, Event::CaughtUp { .. });
                game.play_until(5, 16_000, |game| game.events(1).into_iter().any(came));
                game.play_for(wait_ms);
                go(game.session_mut(1));
                assert!(game.play(200_000), "case {case} after {wait_ms} ms: not over");
                let is_far = |event: &Event| matches!(event, Event::TooFarAhead { .. });
                assert_untold(&mut game, is_far, &format!("{topology:?}, case {case}, after {wait_ms} ms"));
            }
        }
    }
}
