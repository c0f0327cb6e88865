//! Attacks with states of a running match: wrong ones, damaged ones, too many, too large.

use super::bare;
use crate::joining::{
    assert_agreed, come_back, config, events, middle_of, play, restart, secret, start, without,
};
use crate::toy::{Toy, terrible};
use testudo_lockstep::packet::{Chunk, Manifest, Packet, PayloadFormat, Transfer, Want};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    BitWriter, DecodeError, Duration, Event, Failure, Identity, Instant, PeerId, PlayerId, Refusal,
    SessionPhase, Successor, Topology, VirtualMatch,
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
        let mut game = start(&config, 0, 3, LinkConfig::default());
        play(&mut game, 2_000);
        let leaver = game.drivers_mut()[2].session_mut();
        if surrenders {
            leaver.resign(Successor::Nobody)
        } else {
            leaver.leave()
        };
        // Nobody takes the place of a player who has just left.
        play(&mut game, 4_000);
        restart(&mut game, &config, 2, Identity::Player(PlayerId(2)), [78; 16]);
        play(&mut game, 5_000);
        let refused =
            matches!(game.drivers()[2].session().phase(), SessionPhase::Failed(Failure::Refused(_)));
        assert!(refused, "{:?}", game.drivers()[2].session().phase());
        play(&mut game, 9_000);
        let before = game.drivers()[0].session().stats().bytes_sent;
        restart(&mut game, &config, 2, Identity::Player(PlayerId(2)), secret_shown);
        play(&mut game, 11_000);
        let sent = game.drivers()[0].session().stats().bytes_sent - before;
        if comes {
            assert!(sent > 100_000);
            assert!(play(&mut game, 200_000));
            assert_eq!(game.drivers()[1].simulation().returned.len(), 1);
            assert_agreed(&mut game, "a stranger");
        } else {
            let phase = game.drivers()[2].session().phase();
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
        game.drivers_mut()[0].simulation_mut().lie = Some(1);
        come_back(&mut game, &config, 3);
        play(&mut game, 30_000);
        let told = events(&mut game, 3);
        assert!(
            told.iter().any(|event| matches!(event, Event::StateRefused { .. })),
            "{topology:?} {told:?}"
        );
        assert!(play(&mut game, 200_000));
        assert_eq!(game.drivers()[1].simulation().returned.len(), 1, "{topology:?}");
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}

/// What a joining peer acknowledged before it refused a state can arrive when the next one is under way already. It looked as if that were here.
#[test]
fn acknowledgements_from_before_a_refused_state_are_none_of_the_next() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(4, topology).state_rate(100_000);
        let mut game = without(&config, 3, 0, 3, LinkConfig::new().latency(Duration::from_millis(20)));
        game.drivers_mut()[0].simulation_mut().lie = Some(1);
        come_back(&mut game, &config, 3);
        let (mut told, mut had) = (Vec::new(), 0);
        while !told.iter().any(|event| matches!(event, Event::StateRefused { .. })) {
            assert!(game.now() < Instant::from_millis(20_000), "{topology:?} {told:?}");
            // It can have had no more than every entry that there was just before.
            had = game.drivers()[0].session().next_turn().0 + config.turns_ahead;
            step(&mut game);
            told = events(&mut game, 3);
        }
        let late = Packet::Turns(Box::new(bare(had, 4)));
        while !told.iter().any(|event| matches!(event, Event::Joined { .. })) {
            assert!(game.now() < Instant::from_millis(20_000), "{topology:?} {told:?}");
            super::deliver(&mut game, middle_of(&config) as usize, 3, &late);
            step(&mut game);
            told = events(&mut game, 3);
        }
        assert!(play(&mut game, 200_000), "{topology:?}");
        assert_eq!(game.drivers()[1].simulation().returned.len(), 1, "{topology:?}");
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}

fn step(game: &mut VirtualMatch<Toy>) {
    let next = game.now().as_micros() / 1_000 + 20;
    play(game, next);
}

#[test]
fn when_all_sources_lie_or_have_nothing_the_joiner_is_told_and_the_match_goes_on() {
    for lies in [true, false] {
        let config = config(3, Topology::Relay);
        let mut game = without(&config, 2, 0, 3, LinkConfig::default());
        for node in 0..2 {
            let toy = game.drivers_mut()[node].simulation_mut();
            (toy.lie, toy.gives_state) = (lies.then_some(1), lies);
        }
        come_back(&mut game, &config, 2);
        assert!(play(&mut game, 200_000), "{lies}");
        assert_eq!(game.drivers()[2].session().phase(), SessionPhase::Failed(Failure::NoState), "{lies}");
        assert!((0..2).all(|node| game.drivers()[node].session().phase() == SessionPhase::Finished));
    }
}

#[test]
fn a_source_that_leaves_is_replaced() {
    let config = config(4, Topology::Relay).state_rate(20_000);
    let mut game = without(&config, 3, 0, 3, LinkConfig::default());
    come_back(&mut game, &config, 3);
    play(&mut game, 14_500);
    let told = events(&mut game, 3);
    assert!(
        told.iter().any(|event| matches!(event, Event::StateProgress { received, .. } if *received > 0)),
        "{told:?}"
    );
    game.net_mut().set_partition(&[0]);
    assert!(play(&mut game, 200_000));
    let toy = game.drivers()[3].simulation();
    assert_eq!((toy.loaded.len(), toy.returned.len()), (1, 1));
    let rest = [1, 2].map(|node| game.drivers()[node].simulation().history);
    assert_eq!(rest, [toy.history; 2]);
}

/// Each chunk that comes counts as progress, so a source could keep everybody out by sending one now and then.
#[test]
fn a_source_that_trickles_is_replaced_and_asked_last_from_then_on() {
    let config =
        config(4, Topology::Relay).state_rate(20_000).join_timeout(Duration::from_secs(40)).turns(500);
    let mut game = without(&config, 3, 0, 3, LinkConfig::default());
    // The first one that is asked; its state would take 45 s.
    game.drivers_mut()[0].simulation_mut().ballast = 900_000;
    for longest in [20_000, 10_000] {
        come_back(&mut game, &config, 3);
        let begun = game.now();
        let until = begun.as_micros() / 1_000 + longest;
        play(&mut game, until);
        let told = events(&mut game, 3);
        let has_joined = |event: &Event| matches!(event, Event::Joined { .. });
        assert!(told.iter().any(has_joined), "{longest} ms: {told:?}");
    }
    assert!(play(&mut game, 300_000));
    assert_agreed(&mut game, "trickle");
}

fn deliver(game: &mut VirtualMatch<Toy>, to: usize, from: u32, transfer: Transfer) {
    let mut bytes = Vec::new();
    let key = game.drivers()[to].session().packet_key(PeerId(from)).unwrap_or(0);
    let format = PayloadFormat::Variable(2_048);
    Packet::Transfer(transfer).encode(key, format, &mut BitWriter::new(), &mut bytes);
    let now = game.now();
    game.drivers_mut()[to].session_mut().handle_packet(now, PeerId(from), &bytes);
}

#[test]
fn forged_chunks_cost_a_block_and_never_the_match() {
    let config = config(3, Topology::Host).state_rate(100_000);
    let mut game = without(&config, 2, 0, 3, LinkConfig::default());
    come_back(&mut game, &config, 2);
    for round in 0..200 {
        let until = game.now() + Duration::from_millis(20);
        play(&mut game, until.as_micros() / 1_000);
        for turn in 0..200 {
            let bytes = vec![round as u8; 1_024];
            deliver(&mut game, 2, 0, Transfer::Chunk(Chunk { turn, index: turn % 99, sent_ms: 0, bytes }));
        }
    }
    assert!(play(&mut game, 200_000));
    let phase = game.drivers()[2].session().phase();
    assert!(matches!(phase, SessionPhase::Finished | SessionPhase::Failed(Failure::NoState)), "{phase:?}");
    assert!((0..2).all(|node| game.drivers()[node].session().phase() == SessionPhase::Finished));
    assert_eq!(game.drivers()[0].simulation().history, game.drivers()[1].simulation().history);
}

#[test]
fn members_who_ask_for_a_state_or_promise_one_get_nothing() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology);
        let mut game = start(&config, 0, 3, LinkConfig::default());
        play(&mut game, 3_000);
        let middle = middle_of(&config) as usize;
        let before = game.drivers()[middle].session().stats().bytes_sent;
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
        play(&mut game, 5_000);
        let sent = game.drivers()[middle].session().stats().bytes_sent - before;
        assert!(sent < 30_000, "{topology:?} {sent}");
        assert!(play(&mut game, 200_000));
        assert!(game.drivers().iter().all(|driver| driver.simulation().loaded.is_empty()));
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}

#[test]
fn who_never_acknowledges_gets_a_limited_state_for_a_limited_time() {
    let config = config(3, Topology::Host).join_timeout(Duration::from_secs(8));
    let mut game = without(&config, 2, 0, 3, LinkConfig::default());
    come_back(&mut game, &config, 2);
    play(&mut game, 10_300);
    // From now on none of its packets arrive, and it never hears that it was dropped.
    let deaf = LinkConfig::new().loss_ppm(1_000_000);
    game.net_mut().set_link(2, 0, deaf);
    let before = game.drivers()[0].session().stats().bytes_sent;
    play(&mut game, 25_000);
    let sent = game.drivers()[0].session().stats().bytes_sent - before;
    assert!(sent < 2_500_000, "{sent}");
    let told = events(&mut game, 0);
    assert!(told.iter().any(|event| matches!(event, Event::JoinFailed(_))), "{told:?}");
    assert!(play(&mut game, 200_000));
    assert!((0..2).all(|node| game.drivers()[node].session().phase() == SessionPhase::Finished));
}

#[test]
fn a_state_that_is_too_large_is_neither_given_nor_taken() {
    let huge = Manifest { turn: 1, source: PlayerId(0), total: u32::MAX, hash: 0, blocks: vec![0; 256] };
    let mut bytes = Vec::new();
    let format = PayloadFormat::Variable(2_048);
    Packet::Transfer(Transfer::Manifest(huge)).encode(1, format, &mut BitWriter::new(), &mut bytes);
    let refused = Packet::decode(&bytes, 1, format);
    assert!(matches!(refused, Err(DecodeError::OutOfRange { .. })), "{refused:?}");
    for (here, there) in [(50_000, 1 << 20), (1 << 20, 50_000)] {
        let config = config(2, Topology::Host).state_bytes_max(here);
        let mut game = without(&config, 1, 0, 3, LinkConfig::default());
        come_back(&mut game, &config.clone().state_bytes_max(there), 1);
        assert!(play(&mut game, 200_000));
        let expected = match there {
            50_000 => Failure::StateTooLarge { bytes: 100_000 + 4 + 17 * 8 + 130, max: 50_000 },
            _ => Failure::NoState,
        };
        match (game.drivers()[1].session().phase(), expected) {
            (SessionPhase::Failed(Failure::StateTooLarge { max, .. }), Failure::StateTooLarge { .. }) => {
                assert_eq!(max, 50_000);
            }
            (phase, expected) => assert_eq!(phase, SessionPhase::Failed(expected)),
        }
        assert_eq!(game.drivers()[0].session().phase(), SessionPhase::Finished);
    }
}
