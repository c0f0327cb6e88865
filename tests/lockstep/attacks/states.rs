//! Attacks with states of a running match: wrong ones, damaged ones, too many, too large.

use super::{FORMAT, bare, sealed};
use crate::joining::{come_back, config, restart, secret, start_at, without};
use crate::play::{Play as _, assert_agreed, assert_agreed_by};
use crate::toy::{Toy, latency, middle_of, terrible};
use testudo_lockstep::packet::{Chunk, Manifest, Packet, Transfer, Want};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    DecodeError, Duration, Event, Failure, Identity, Instant, PlayerId, Refusal, SessionConfig, SessionPhase,
    Successor, Topology, VirtualMatch,
};

#[test]
fn a_stranger_takes_a_place_only_if_the_settings_allow_it_and_only_an_empty_one() {
    let open = config(3, Topology::Host).late_joins(Duration::from_secs(5));
    for (config, secret_shown, surrenders, comes) in [
        (open.clone(), [77; 16], false, true),
        (open.clone(), [77; 16], true, false),
        (config(3, Topology::Host), [77; 16], false, false),
        (config(3, Topology::Host), [0; 16], false, false),
        (config(3, Topology::Host), secret(1), false, false),
        (config(3, Topology::Host), secret(2), false, true),
        (config(3, Topology::Host).state_bytes_max(0), secret(2), false, false),
    ] {
        let mut game = start_at(&config, LinkConfig::default(), 2_000);
        let leaver = game.session_mut(2);
        if surrenders {
            leaver.resign(Successor::Nobody)
        } else {
            leaver.leave()
        };
        // Nobody takes the place of a player who has just left.
        game.play(4_000);
        restart(&mut game, &config, 2, Identity::Player(PlayerId(2)), [78; 16]);
        game.play(5_000);
        let refused = matches!(game.session(2).phase(), SessionPhase::Failed(Failure::Refused(_)));
        assert!(refused, "{:?}", game.session(2).phase());
        game.play(9_000);
        let before = game.session(0).stats().bytes_sent;
        restart(&mut game, &config, 2, Identity::Player(PlayerId(2)), secret_shown);
        game.play(11_000);
        let sent = game.session(0).stats().bytes_sent - before;
        if comes {
            assert!(sent > 100_000);
            assert_agreed(&mut game, "a stranger");
            assert_eq!(game.toy(1).returned.len(), 1);
        } else {
            let phase = game.session(2).phase();
            let refusals =
                [Refusal::Taken, Refusal::Running].map(|r| SessionPhase::Failed(Failure::Refused(r)));
            assert!(refusals.contains(&phase), "{phase:?}");
            assert!(sent < 60_000, "orders, and nothing of the state of 100 kB: {sent}");
        }
    }
}

#[test]
fn a_source_that_lies_is_found_by_the_others_checksums_and_another_one_is_asked() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(4, topology);
        let mut game = without(&config, 3, 0, 3, terrible());
        // The peer that is asked first.
        game.toy_mut(0).lie = Some(1);
        come_back(&mut game, &config, 3);
        game.play(30_000);
        let told = game.events(3);
        assert!(
            told.iter().any(|event| matches!(event, Event::StateRefused { .. })),
            "{topology:?} {told:?}"
        );
        assert_agreed(&mut game, &format!("{topology:?}"));
        assert_eq!(game.toy(1).returned.len(), 1, "{topology:?}");
    }
}

/// What a joining peer acknowledged before it refused a state can arrive when the next one is under way already. It looked as if that were here.
#[test]
fn acknowledgements_from_before_a_refused_state_are_none_of_the_next() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(4, topology).state_rate(100_000);
        let mut game = without(&config, 3, 0, 3, latency(20));
        game.toy_mut(0).lie = Some(1);
        come_back(&mut game, &config, 3);
        let (mut told, mut had) = (Vec::new(), 0);
        while !told.iter().any(|event| matches!(event, Event::StateRefused { .. })) {
            assert!(game.now() < Instant::from_millis(20_000), "{topology:?} {told:?}");
            // It can have had no more than every entry that there was just before.
            had = game.session(0).next_turn().0 + config.turns_ahead;
            game.play_for(20);
            told = game.events(3);
        }
        let late = Packet::Turns(Box::new(bare(had, 4)));
        while !told.iter().any(|event| matches!(event, Event::Joined { .. })) {
            assert!(game.now() < Instant::from_millis(20_000), "{topology:?} {told:?}");
            super::deliver(&mut game, middle_of(&config) as usize, 3, &late);
            game.play_for(20);
            told = game.events(3);
        }
        assert_agreed(&mut game, &format!("{topology:?}"));
        assert_eq!(game.toy(1).returned.len(), 1, "{topology:?}");
    }
}

#[test]
fn when_all_sources_lie_or_have_nothing_the_joiner_is_told_and_the_match_goes_on() {
    for lies in [true, false] {
        let config = config(3, Topology::Relay);
        let mut game = without(&config, 2, 0, 3, LinkConfig::default());
        for node in 0..2 {
            let toy = game.toy_mut(node);
            (toy.lie, toy.gives_state) = (lies.then_some(1), lies);
        }
        come_back(&mut game, &config, 2);
        assert!(game.play(200_000), "{lies}");
        assert_eq!(game.session(2).phase(), SessionPhase::Failed(Failure::NoState), "{lies}");
        assert!((0..2).all(|node| game.session(node).phase() == SessionPhase::Finished));
    }
}

#[test]
fn a_source_that_leaves_is_replaced() {
    let config = config(4, Topology::Relay).state_rate(20_000);
    let mut game = without(&config, 3, 0, 3, LinkConfig::default());
    come_back(&mut game, &config, 3);
    game.play(14_500);
    let told = game.events(3);
    assert!(
        told.iter().any(|event| matches!(event, Event::StateProgress { received, .. } if *received > 0)),
        "{told:?}"
    );
    game.net_mut().set_partition(&[0]);
    assert!(game.play(200_000));
    let toy = game.toy(3);
    assert_eq!((toy.loaded.len(), toy.returned.len()), (1, 1));
    let rest = [1, 2].map(|node| game.toy(node).history);
    assert_eq!(rest, [toy.history; 2]);
}

/// Each chunk that comes counts as progress, so a source could keep everybody out by sending one now and then.
#[test]
fn a_source_that_trickles_is_replaced_and_asked_last_from_then_on() {
    let config =
        config(4, Topology::Relay).state_rate(20_000).join_timeout(Duration::from_secs(40)).turns(500);
    let mut game = without(&config, 3, 0, 3, LinkConfig::default());
    // The first one that is asked; its state would take 45 s.
    game.toy_mut(0).ballast = 900_000;
    for longest in [20_000, 10_000] {
        come_back(&mut game, &config, 3);
        game.play_for(longest);
        let told = game.events(3);
        let has_joined = |event: &Event| matches!(event, Event::Joined { .. });
        assert!(told.iter().any(has_joined), "{longest} ms: {told:?}");
    }
    assert_agreed(&mut game, "trickle");
}

fn deliver(game: &mut VirtualMatch<Toy>, to: usize, from: u32, transfer: Transfer) {
    super::deliver(game, to, from, &Packet::Transfer(transfer));
}

#[test]
fn forged_chunks_cost_a_block_and_never_the_match() {
    let config = config(3, Topology::Host).state_rate(100_000);
    let mut game = without(&config, 2, 0, 3, LinkConfig::default());
    come_back(&mut game, &config, 2);
    for round in 0..200 {
        game.play_for(20);
        for turn in 0..200 {
            let bytes = vec![round as u8; 1_024];
            deliver(&mut game, 2, 0, Transfer::Chunk(Chunk { turn, index: turn % 99, sent_ms: 0, bytes }));
        }
    }
    assert!(game.play(200_000));
    let phase = game.session(2).phase();
    assert!(matches!(phase, SessionPhase::Finished | SessionPhase::Failed(Failure::NoState)), "{phase:?}");
    assert_agreed_by(&mut game, 0..2, "forged chunks");
}

#[test]
fn members_who_ask_for_a_state_or_promise_one_get_nothing() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology);
        let mut game = start_at(&config, LinkConfig::default(), 3_000);
        let middle = middle_of(&config) as usize;
        let before = game.session(middle).stats().bytes_sent;
        let want = Want { turn: 5, next: 0, received: 0, echo_ms: 0, held_ms: 0, have: Default::default() };
        let manifest = Manifest { turn: 9, source: PlayerId(1), total: 100_000, hash: 1, blocks: vec![0; 2] };
        for _ in 0..300 {
            let words = [
                Transfer::Ask { not_before: 0 },
                Transfer::Want(want.clone()),
                Transfer::Here,
                Transfer::Refuse { turn: 5 },
                Transfer::Manifest(manifest.clone()),
                Transfer::Wait,
            ];
            for word in words {
                deliver(&mut game, middle, 1, word);
            }
        }
        game.play(5_000);
        let sent = game.session(middle).stats().bytes_sent - before;
        assert!(sent < 30_000, "{topology:?} {sent}");
        assert_agreed(&mut game, &format!("{topology:?}"));
        assert!(game.drivers().iter().all(|driver| driver.simulation().loaded.is_empty()));
    }
}

#[test]
fn who_never_acknowledges_gets_a_limited_state_for_a_limited_time() {
    let config = config(3, Topology::Host).join_timeout(Duration::from_secs(8));
    let mut game = without(&config, 2, 0, 3, LinkConfig::default());
    come_back(&mut game, &config, 2);
    game.play(10_300);
    // From now on none of its packets arrive, and it never hears that it was dropped.
    let deaf = LinkConfig::new().loss_ppm(1_000_000);
    game.net_mut().set_link(2, 0, deaf);
    let before = game.session(0).stats().bytes_sent;
    game.play(25_000);
    let sent = game.session(0).stats().bytes_sent - before;
    assert!(sent < 2_500_000, "{sent}");
    let told = game.events(0);
    assert!(told.iter().any(|event| matches!(event, Event::JoinFailed(_))), "{told:?}");
    assert!(game.play(200_000));
    assert!((0..2).all(|node| game.session(node).phase() == SessionPhase::Finished));
}

#[test]
fn a_state_that_is_too_large_is_neither_given_nor_taken() {
    let huge = Manifest { turn: 1, source: PlayerId(0), total: u32::MAX, hash: 0, blocks: vec![0; 256] };
    let bytes = sealed(&Packet::Transfer(Transfer::Manifest(huge)), 1);
    let refused = Packet::decode(&bytes, 1, FORMAT);
    assert!(matches!(refused, Err(DecodeError::OutOfRange { .. })), "{refused:?}");
    for (here, there) in [(50_000, 1 << 20), (1 << 20, 50_000)] {
        let config = config(2, Topology::Host).state_bytes_max(here);
        let mut game = without(&config, 1, 0, 3, LinkConfig::default());
        come_back(&mut game, &config.clone().state_bytes_max(there), 1);
        assert!(game.play(200_000));
        match game.session(1).phase() {
            SessionPhase::Failed(Failure::StateTooLarge { max, .. }) => assert_eq!([max, there], [50_000; 2]),
            phase => assert_eq!((phase, here), (SessionPhase::Failed(Failure::NoState), 50_000)),
        }
        assert_eq!(game.session(0).phase(), SessionPhase::Finished);
    }
}

/// A manifest that nobody has sent, of a state before this turn.
fn late_manifest(turn: u32, source: u8) -> Transfer {
    Transfer::Manifest(Manifest {
        turn,
        source: PlayerId(source),
        total: 100_000,
        hash: 1,
        blocks: vec![0; 2],
    })
}

/// How many bytes of a state a node was told to have, one report after the other.
fn progress(game: &mut VirtualMatch<Toy>, node: usize) -> Vec<u32> {
    let received = |event| match event {
        Event::StateProgress { received, .. } => Some(received),
        _ => None,
    };
    game.events(node).into_iter().filter_map(received).collect()
}

/// A match of four in which player 3 is in the middle of getting its state.
fn getting(config: &SessionConfig) -> VirtualMatch<Toy> {
    let mut game = without(config, 3, 0, 3, latency(20));
    come_back(&mut game, config, 3);
    game.play_until(20, 20_000, |game| progress(game, 3).iter().any(|received| *received >= 20_000));
    game
}

fn assert_back(game: &mut VirtualMatch<Toy>, node: usize, what: &str) {
    assert!(game.play(200_000), "{what}");
    let toy = game.toy(node);
    assert_eq!((toy.loaded.len(), toy.returned.len()), (1, 1), "{what}");
    assert_agreed(game, what);
}

/// A copy of the manifest of a former state, which its source had not given in the end, came late. Who joined wanted that one from then on, and nobody said
/// anything of the present one again.
#[test]
fn a_late_copy_of_a_former_manifest_takes_nothing_from_the_present_state() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(4, topology).state_rate(20_000);
        let mut game = getting(&config);
        for _ in 0..10 {
            deliver(&mut game, 3, middle_of(&config), late_manifest(3, 1));
            game.play_for(20);
            assert!(!progress(&mut game, 3).contains(&0), "{topology:?}: it begins again");
        }
        assert_back(&mut game, 3, &format!("{topology:?}"));
    }
}

/// The same after a second in which nothing came. Nothing of the present state is left then, but it is told of it again.
#[test]
fn after_a_pause_a_late_copy_of_a_former_manifest_costs_the_transfer_and_not_the_return() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(4, topology).state_rate(20_000);
        let mut game = getting(&config);
        game.net_mut().set_partition(&[3]);
        game.play_for(1_500);
        deliver(&mut game, 3, middle_of(&config), late_manifest(3, 1));
        assert!(progress(&mut game, 3).contains(&0), "{topology:?}: it begins again");
        game.net_mut().set_partition(&[]);
        assert_back(&mut game, 3, &format!("{topology:?}"));
    }
}

/// The manifest was sent to it instead of chunks.
#[test]
fn who_goes_on_to_want_a_former_state_gets_the_present_one() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(4, topology).state_rate(20_000);
        let mut game = getting(&config);
        let want = Want { turn: 3, next: 0, received: 0, echo_ms: 0, held_ms: 0, have: Default::default() };
        game.play_until(20, 15_000, |game| {
            deliver(game, middle_of(&config) as usize, 3, Transfer::Want(want.clone()));
            !game.toy(3).loaded.is_empty()
        });
        assert_back(&mut game, 3, &format!("{topology:?}"));
    }
}

/// It had its former state still, whose manifest was known, and said nothing for as long as it kept it: 10 s.
#[test]
fn a_source_that_was_given_up_and_is_asked_again_answers_at_once() {
    let config = config(4, Topology::Relay).state_rate(50_000).drop_after(Duration::from_secs(20));
    let mut game = without(&config, 3, 0, 3, latency(20));
    game.play(25_000);
    // Nobody else has a state to give.
    [1, 2].into_iter().for_each(|node| game.toy_mut(node).gives_state = false);
    come_back(&mut game, &config, 3);
    game.play_until(20, 15_000, |game| progress(game, 3).iter().any(|received| *received >= 20_000));
    let back_at = game.now().as_micros() / 1_000 + 3_500;
    game.play_cut_off(&[0], back_at);
    // It is asked again 2 s after the others have refused.
    game.play_until(20, 7_500, |game| !game.toy(3).loaded.is_empty());
    assert_back(&mut game, 3, "asked again");
}

/// A late copy of what it had given before made it a source that fails.
#[test]
fn a_late_manifest_from_a_source_is_not_its_answer() {
    let config = config(4, Topology::Relay);
    let mut game = without(&config, 3, 0, 3, latency(20));
    come_back(&mut game, &config, 3);
    game.play_until(20, 5_000, |game| {
        (0..3).for_each(|source| deliver(game, 4, source, late_manifest(3, source as u8)));
        !game.toy(3).loaded.is_empty()
    });
    assert_back(&mut game, 3, "late manifest");
}

/// A source announces a state and is gone. What the joining peer said of that one was taken for a word about the next one, where that was of the same turn, and
/// its parts were put together with this one's: an honest source was refused.
#[test]
fn no_two_states_that_one_peer_gets_are_of_one_turn() {
    let config = config(3, Topology::Relay).drop_after(Duration::from_secs(20));
    for ahead in 0..20 {
        let mut game = without(&config, 2, 0, 3, latency(20));
        game.play(25_000);
        come_back(&mut game, &config, 2);
        let turn = game.session(0).next_turn().0 + ahead;
        // The one that is asked first is asleep, and somebody lies in its name.
        game.put_to_sleep(0, game.now() + Duration::from_millis(4_000));
        for _ in 0..25 {
            deliver(&mut game, 3, 0, late_manifest(turn, 0));
            game.play_for(20);
        }
        // The first manifests of the next one are lost.
        let latency = latency(20);
        game.net_mut().set_link(3, 2, latency.loss_ppm(1_000_000));
        game.play_for(6_000);
        game.net_mut().set_link(3, 2, latency);
        game.play_until(20, 30_000, |game| !game.toy(2).loaded.is_empty());
        let told = game.events(2);
        let is_refused = |event: &Event| matches!(event, Event::StateRefused { .. });
        assert!(!told.iter().any(is_refused), "{ahead}: {told:?}");
    }
}

/// As soon as a node has been offered a state, the middle hears that it refuses that.
fn refuse(game: &mut VirtualMatch<Toy>, middle: usize, node: u32) {
    let mut given = None;
    while given.is_none() {
        let until = game.now().as_micros() / 1_000 + 1;
        super::play_watched(game, until, |_, to, packet| match packet {
            Packet::Transfer(Transfer::Manifest(manifest)) if to == node => given = Some(manifest.turn),
            _ => {}
        });
        assert!(game.now() < Instant::from_millis(30_000));
    }
    deliver(game, middle, node, Transfer::Refuse { turn: given.unwrap_or_default() });
}

/// As long as anybody got a state, nobody else was asked for another one: a watcher that took its time kept out who had refused that state.
#[test]
fn who_has_refused_a_state_waits_for_no_watcher_who_gets_it() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(4, topology).late_watchers(true).turns(400);
        let mut game = without(&config, 3, 1, 3, latency(20));
        let (middle, watcher) = (middle_of(&config), game.drivers().len() - 1);
        // The watcher's state would take 50 s.
        game.net_mut().set_link(middle, watcher as u32, LinkConfig::new().bytes_per_second(4_000));
        restart(&mut game, &config, watcher as u32, Identity::Watcher, secret(9));
        come_back(&mut game, &config, 3);
        refuse(&mut game, middle as usize, 3);
        game.play_until(20, 10_000, |game| !game.toy(3).loaded.is_empty());
        game.net_mut().set_link(middle, watcher as u32, LinkConfig::new());
        assert_back(&mut game, 3, &format!("{topology:?}"));
    }
}

/// The host's state was the only one. Whoever waited was sent away with the player who had refused it, unasked.
#[test]
fn who_refuses_the_only_state_costs_nobody_else_that_state() {
    let config = config(2, Topology::Host).late_watchers(true).turns(400);
    let mut game = without(&config, 1, 1, 3, LinkConfig::new().latency(Duration::from_millis(20)));
    come_back(&mut game, &config, 1);
    refuse(&mut game, 0, 1);
    // Everybody is asked again two seconds later.
    game.play_for(500);
    restart(&mut game, &config, 2, Identity::Watcher, secret(9));
    game.play_for(60_000);
    assert_eq!(game.toy(2).loaded.len(), 1, "{:?}", game.session(2).phase());
    assert_eq!(game.session(1).phase(), SessionPhase::Failed(Failure::NoState));
}
