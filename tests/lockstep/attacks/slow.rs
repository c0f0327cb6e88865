//! A member that is slow on purpose: nobody can delay the match without limit, and every match ends.

use super::{bare, config, deliver, entries_of, hearers, slow};
use crate::play::{Play as _, assert_agreed, assert_agreed_by, events_of, match_at};
use crate::toy::{Toy, latency, middle_of, toy_match};
use testudo_lockstep::packet::{Packet, TurnsPacket};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Driver, Duration, Entry, Event, Instant, Pace, PlayerId, SessionConfig, SessionPhase, Topology,
    VirtualMatch,
};

const TOPOLOGIES: [Topology; 3] = [Topology::Host, Topology::Relay, Topology::Mesh];

fn finished(game: &VirtualMatch<Toy>, nodes: &[usize]) -> bool {
    nodes.iter().all(|&node| game.session(node).phase() == SessionPhase::Finished)
}

/// Every entry comes just before the drop time. Without a limit nine turns would take three minutes, and so on.
#[test]
fn who_is_late_again_and_again_is_shown_and_then_dropped() {
    for topology in TOPOLOGIES {
        let config = config(4, topology).drop_after(Duration::from_secs(4)).turns(200);
        let mut game = match_at(&config, slow(), 4_000);
        let gone = |game: &VirtualMatch<Toy>| !game.toy(1).gone.is_empty();
        while !gone(&game) && game.now() < Instant::from_millis(60_000) {
            // Awake for a moment: two or three entries.
            let now = game.now();
            game.put_to_sleep(3, now + Duration::from_millis(3_700));
            game.play_for(4_200);
        }
        // Three times the drop time of waiting, a bit more because some is forgiven.
        assert!(gone(&game) && game.now() < Instant::from_millis(32_000), "{topology:?} {:?}", game.now());
        game.put_to_sleep(3, Instant::from_millis(2_000_000));
        game.play(200_000);
        assert!(finished(&game, &[0, 1, 2]), "{topology:?}");
        let told = |driver: &mut Driver<Toy>| {
            let late = |event: &Event| matches!(event, Event::OftenLate { player, .. } if player.0 == 3);
            events_of(driver).iter().filter(|event| late(event)).count()
        };
        assert_eq!(told(&mut game.drivers_mut()[1]), 1, "{topology:?}");
    }
}

/// The first wait for a player said "dropped in 1.5 s", then "often late, 4 s more of waiting", and then the player was gone.
#[test]
fn who_is_gone_after_a_single_wait_was_not_often_late() {
    for topology in TOPOLOGIES {
        for drop_s in [2, 4, 20] {
            // A network that delays and loses makes everybody wait a little.
            for link in [latency(50), latency(20).loss_ppm(20_000)] {
                let config =
                    SessionConfig::new(3).simulated().turns(400).frames_per_turn(1).topology(topology);
                let config = config.drop_after(Duration::from_secs(drop_s));
                let mut game = match_at(&config, link, 5_000);
                game.put_to_sleep(2, Instant::from_millis(2_000_000));
                game.play(20_000 + 1_000 * drop_s);
                for peer in 0..2 {
                    let events = game.events(peer);
                    let is_gone =
                        |event: &Event| matches!(event, Event::PlayerGone { player, .. } if player.0 == 2);
                    let is_late =
                        |event: &Event| matches!(event, Event::OftenLate { player, .. } if player.0 == 2);
                    assert!(events.iter().any(is_gone), "{topology:?} {drop_s} s: {events:?}");
                    assert!(!events.iter().any(is_late), "{topology:?} {drop_s} s: {events:?}");
                }
            }
        }
    }
}

/// Each entry comes late, but never late enough for a drop. The match was three times as slow for ever, or two times.
#[test]
fn who_is_a_little_late_in_every_turn_is_dropped() {
    for topology in TOPOLOGIES {
        for (late_ms, within_s) in [(2_400, 90), (1_500, 200)] {
            let config = SessionConfig::new(4).simulated().turns(3_000).topology(topology);
            let config = config.drop_after(Duration::from_secs(8));
            let mut game = match_at(&config, slow(), 4_000);
            let others = if topology == Topology::Mesh { vec![0, 1, 2] } else { vec![middle_of(&config)] };
            for other in others {
                game.net_mut().set_link(3, other, latency(late_ms));
            }
            let what = format!("{topology:?} {late_ms}");
            game.play(within_s * 1_000);
            let gone = game.toy(1).gone.clone();
            assert_eq!(gone.iter().map(|gone| gone.0).collect::<Vec<_>>(), [3], "{what}");
            let late = |event: &Event| matches!(event, Event::OftenLate { player, .. } if player.0 == 3);
            assert!(events_of(&mut game.drivers_mut()[1]).iter().any(late), "{what}: nobody is told");
        }
    }
}

/// Nobody is dropped for a network that is bad for all, or for living far away.
#[test]
fn a_network_that_is_bad_for_all_drops_nobody() {
    for topology in TOPOLOGIES {
        for (all_ms, one_ms) in [(450, 450), (60, 350)] {
            let link = |ms| latency(ms).loss_ppm(50_000);
            let config = SessionConfig::new(4)
                .simulated()
                .turns(900)
                .topology(topology)
                .drop_after(Duration::from_secs(8));
            let mut game = toy_match(&config, 0, 1, link(all_ms));
            for other in 0..4 {
                game.net_mut().set_link(3, other, link(one_ms));
                game.net_mut().set_link(other, 3, link(one_ms));
            }
            let what = format!("{topology:?} {all_ms} {one_ms}");
            assert!(game.play(1_500_000), "{what}");
            assert_agreed(&mut game, &what);
            assert!(game.toy(0).gone.is_empty(), "{what}: {:?}", game.toy(0).gone);
        }
    }
}

/// Seed 3,324,111,036 of the soak: a host dropped two players whose lines were as bad as the weather, because the third one had a good line.
#[test]
fn two_on_bad_lines_are_not_dropped_because_a_third_has_a_good_one() {
    let millis = Duration::from_millis;
    let bad = LinkConfig::new().latency(millis(109)).jitter(millis(130)).loss_ppm(140_000);
    let config = SessionConfig::new(4)
        .simulated()
        .turns(300)
        .topology(Topology::Host)
        .pace(Pace::Fixed)
        .frames_per_second(20)
        .frames_per_turn(2)
        .turns_ahead(1)
        .drop_after(millis(4_163));
    let mut game = toy_match(&config, 0, 1, bad);
    game.net_mut().set_link(0, 3, LinkConfig::new());
    game.net_mut().set_link(3, 0, LinkConfig::new());
    assert!(game.play(1_500_000));
    assert!(finished(&game, &[0, 1, 2, 3]), "{:?}", game.toy(0).gone);
}

/// At the end it keeps sending, but confirms nothing, or withholds its last entry, or goes on with entries after the last turn, one every four
/// seconds.
#[test]
fn the_end_waits_for_nobody_for_ever() {
    for topology in TOPOLOGIES {
        for (keeps_last_entry, goes_on) in [(false, false), (true, false), (false, true)] {
            for drops in [true, false] {
                let config = config(3, topology).silence_timeout(Duration::from_secs(5));
                let config = if drops { config } else { config.without_drops() };
                let mut game = match_at(&config, slow(), 4_000);
                game.play_until(20, 60_000, |game| game.session(2).next_turn().0 >= 59);
                game.put_to_sleep(2, Instant::from_millis(2_000_000));
                let begun = game.now();
                let over = |game: &VirtualMatch<Toy>| {
                    let nodes = if topology == Topology::Relay { vec![0, 1, 3] } else { vec![0, 1] };
                    nodes.iter().all(|&node| game.session(node).is_over())
                };
                while !over(&game) && game.now() < begun + Duration::from_secs(120) {
                    game.play_for(50);
                    // The entries up to the last turn (59) that runs, and one for the last checksum.
                    let more = game.now().since(begun).as_micros() / 4_000_000 * u64::from(goes_on);
                    let last = if keeps_last_entry { 61 } else { 62 } + more as u32;
                    let rest = TurnsPacket { base: last + 1, ..bare(55, 3) };
                    let packet = entries_of(2, last - 4, vec![Entry::default(); 5], rest);
                    hearers(&config, 2).into_iter().for_each(|to| deliver(&mut game, to, 2, &packet));
                }
                let phases = game.phases();
                let what = format!("{topology:?} {keeps_last_entry} {goes_on} {drops}: {phases:?}");
                assert!(over(&game), "{what}");
                assert!(finished(&game, &[0, 1]), "{what}");
                assert!(game.now().since(begun) < Duration::from_secs(45), "{what} {:?}", game.now());
            }
        }
    }
}

/// One player claims that its frames take a minute.
#[test]
fn one_lie_about_the_pace_costs_a_factor_of_two_and_ten_seconds() {
    let config = SessionConfig::new(3).simulated().turns(4_000).pace(Pace::Adaptive);
    let mut game = toy_match(&config, 0, 1, slow());
    game.run(Instant::from_millis(120_000), |_, _, _, session| {
        if session.player() == Some(PlayerId(2)) {
            session.note_frame_time(Duration::from_secs(60));
        }
    });
    // 2,400 frames without the lie, 120 with the lie and no bound.
    let frames = game.drivers()[0].frame().0;
    assert!(frames > 1_000, "{frames} frames in two minutes");
    let slowed = game.session(0).player_report(PlayerId(2));
    assert_eq!(slowed.blame, Some(testudo_lockstep::Blame::Processor), "{slowed:?}");
}

#[test]
fn the_middle_of_a_star_can_drop_a_player_at_once() {
    for topology in [Topology::Host, Topology::Relay] {
        let mut game = toy_match(&config(4, topology), 1, 1, slow());
        game.play(4_000);
        let middle = if topology == Topology::Relay { 4 } else { 0 };
        assert!(!game.session_mut(1).kick(PlayerId(2)), "only the middle can");
        let session = game.session_mut(middle);
        assert!(!session.kick(PlayerId(9)));
        assert!(session.kick(PlayerId(2)));
        assert!(!session.kick(PlayerId(2)), "once");
        assert!(game.play(200_000));
        let survivors = (0..game.drivers().len()).filter(|&node| node != 2);
        assert_agreed_by(&mut game, survivors, &format!("{topology:?}"));
        assert_eq!(game.toy(0).gone.len(), 1);
    }
}

#[test]
fn who_looks_at_the_others_orders_first_is_measured() {
    let mut game = toy_match(&config(3, Topology::Host).turns(400), 0, 1, slow());
    let report = |game: &VirtualMatch<Toy>, player| {
        game.session(0).player_report(PlayerId(player)).looked_first_permille
    };
    game.play(20_000);
    assert!(report(&game, 1) < 100 && report(&game, 2) < 100);

    game.put_to_sleep(2, Instant::from_millis(2_000_000));
    for _ in 0..120 {
        game.play_for(100);
        // It confirms everything at once, and sends its own entry afterwards.
        let next = game.session(0).next_turn().0;
        let seen = TurnsPacket { acks: [next + 2, next + 2, next].into_iter().collect(), ..bare(next, 3) };
        deliver(&mut game, 0, 2, &Packet::Turns(Box::new(seen.clone())));
        let late = TurnsPacket { base: next + 1, ..seen };
        deliver(&mut game, 0, 2, &entries_of(2, next, vec![Entry::default()], late));
    }
    assert!(report(&game, 2) > 400, "{}", report(&game, 2));
    assert!(report(&game, 1) < 100, "{}", report(&game, 1));
}

#[test]
fn a_match_ends_once_and_watchers_are_not_told_of_waits() {
    for topology in [Topology::Host, Topology::Relay] {
        let mut game = toy_match(&config(3, topology).turns(40), 1, 1, slow());
        game.play(4_000);
        game.play_cut_off(&[1], 5_500);
        assert!(game.play(200_000));
        for (node, driver) in game.drivers_mut().iter_mut().enumerate() {
            let watches = driver.session().player().is_none();
            let events = events_of(driver);
            let count = |is: fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
            assert_eq!(count(|event| matches!(event, Event::Finished)), 1, "{topology:?} {node}");
            let waits = count(|event| matches!(event, Event::WaitingFor { .. } | Event::WaitingOver { .. }));
            assert_eq!(waits == 0, watches, "{topology:?} {node}");
        }
    }
}

/// With the article's gate the players wait for each other's confirmations. A member that gives none, and is ahead with its own entries, had
/// everybody else dropped.
#[test]
fn who_withholds_confirmations_in_the_articles_pace_is_dropped_itself() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(4, topology).pace(Pace::Article).turns(120).drop_after(Duration::from_secs(3));
        let mut game = match_at(&config, slow(), 3_000);
        let middle = if topology == Topology::Relay { 4 } else { 0 };
        game.put_to_sleep(2, Instant::from_millis(2_000_000));
        let first = game.session(0).next_turn().0;
        let honest = [0, 1, 3];
        let is_over = |game: &VirtualMatch<Toy>| honest.iter().all(|&node| game.session(node).is_over());
        for step in 1..20_000 {
            game.play(3_000 + step * 20);
            if is_over(&game) {
                break;
            }
            let next = game.session(0).next_turn().0 + 2;
            let rest = TurnsPacket { base: next + 4, ..bare(first, 4) };
            deliver(&mut game, middle, 2, &entries_of(2, next - 3, vec![Entry::default(); 7], rest));
        }
        assert_agreed_by(&mut game, honest, &format!("{topology:?}"));
        let gone = &game.toy(0).gone;
        assert!(gone.len() == 1 && gone[0].0 == 2, "{topology:?} {gone:?}");
    }
}
