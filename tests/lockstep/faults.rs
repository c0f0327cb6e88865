//! Faults: divergence, hostile and damaged packets, full queues.

use crate::attacks::{FORMAT, deliver};
use crate::play::{Play as _, alone, assert_untold, events_of};
use crate::replays::{SIM_VERSION, header};
use crate::toy::{Order, Toy, game_match, terrible, toy_match};
use testudo_lockstep::packet::Packet;
use testudo_lockstep::replay::{Ending, Recorded, Replay};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Driver, Event, Failure, Identity, Instant, PeerId, PlayerId, Session, SessionConfig, SessionPhase,
    SubmitError, Topology, Turn,
};

#[test]
fn a_divergence_names_turn_and_player_on_every_peer() {
    for (link, frame) in [(LinkConfig::new(), 41), (terrible(), 44)] {
        let config = SessionConfig::new(3).simulated().turns(40);
        let mut game = toy_match(&config, 1, 5, link);
        game.toy_mut(1).corrupt_at = Some(frame);
        let over = game.play(600_000);
        assert!(over);
        for driver in game.drivers_mut() {
            assert_eq!(driver.session().phase(), SessionPhase::Finished, "the match goes on to its end");
            let desyncs: Vec<_> = events_of(driver)
                .into_iter()
                .filter_map(|event| if let Event::Desync(mismatch) = event { Some(mismatch) } else { None })
                .collect();
            assert_eq!(desyncs.len(), 1, "reported once");
            assert_eq!(desyncs[0].turn, Turn(10), "frames 41 to 44 are those of turn 10");
            assert_eq!(desyncs[0].outlier(), Some(PlayerId(1)));
            assert_eq!(desyncs[0].values.len(), 3);
        }
    }
}

/// Only games that knew of `Recorded::diverged` had it in their files.
#[test]
fn a_desync_is_marked_in_every_recording_by_itself() {
    // After the last turn nothing runs any more.
    for (turn, signed, link) in
        [(10, false, LinkConfig::new()), (10, true, terrible()), (39, false, LinkConfig::new())]
    {
        let config = SessionConfig::new(3).simulated().turns(40);
        let config = if signed { config.signed() } else { config };
        let game = Recorded::new(Toy::default(), &header()).keyframe_every(0).keep_recent(64, 1 << 20);
        let mut game = game_match(&config, &game, 1, 5, link);
        game.drivers_mut()[1].simulation_mut().game_mut().corrupt_at = Some(4 * turn + 1);
        assert!(game.play(600_000));
        let mut states = Vec::new();
        for driver in game.drivers_mut() {
            let recorded = driver.simulation_mut();
            recorded.finish(Ending::Over);
            let replay = Replay::read(recorded.take_bytes(), SIM_VERSION).unwrap();
            assert_eq!((replay.desync(), replay.turns(), replay.is_complete()), (Some(turn), 40, true));
            let (at, state) = replay.evidence().expect("it was kept");
            assert_eq!(at, turn + 1);
            states.push(state.to_vec());
        }
        assert!(states[0] == states[2] && states[0] == states[3] && states[0] != states[1]);
    }
}

#[test]
fn an_undisturbed_match_reports_no_divergence() {
    let mut game = toy_match(&SessionConfig::new(3).simulated().turns(40), 1, 5, terrible());
    assert!(game.idle(600_000));
    assert_untold(&mut game, |event| matches!(event, Event::Desync(_) | Event::Failed(_)), "undisturbed");
}

#[test]
fn damaged_packets_are_counted_and_change_nothing() {
    let clean = toy_match(&SessionConfig::new(2).simulated().turns(200), 0, 3, LinkConfig::new());
    let dirty = LinkConfig::new().corrupt_ppm(300_000);
    let dirty = toy_match(&SessionConfig::new(2).simulated().turns(200), 0, 3, dirty);
    let mut finals = Vec::new();
    for mut game in [clean, dirty] {
        let over = game.run(Instant::from_millis(600_000), |_, turn, _, session| {
            let player = session.player().unwrap();
            crate::toy::give(session, &Order::Shout(turn.0 * 2 + u32::from(player.0)));
        });
        assert!(over);
        while game.net().in_flight() > 0 {
            game.step(&mut |_, _, _, _| {});
        }
        let malformed: u64 = game.drivers().iter().map(|d| d.session().stats().packets_malformed).sum();
        assert_eq!(malformed, game.net().stats().corrupted, "every damaged packet is told apart");
        finals.push(game.drivers().iter().map(|d| d.simulation().history).collect::<Vec<_>>());
    }
    assert_eq!(finals[0], finals[1]);
    assert_eq!(finals[0][0], finals[0][1]);
}

#[test]
fn packets_of_another_match_are_dropped() {
    let now = Instant::ZERO;
    let mut host = Session::<Order>::host(SessionConfig::new(2).simulated().session_id(1), now).unwrap();
    let stray = SessionConfig::new(2).simulated().session_id(2);
    let mut stray = Session::<Order>::join(stray, PlayerId(1), PeerId(0), now).unwrap();
    let mut packet = Vec::new();
    assert_eq!(stray.poll_transmit(now, &mut packet), Some(PeerId(0)));
    host.handle_packet(now, PeerId(7), &packet);
    assert_eq!((host.stats().packets_unexpected, host.link_count()), (1, 0));
    assert_eq!(host.poll_event(), None);
    // It is told the reason, in fewer bytes than it sent.
    let said = packet.len();
    assert_eq!(host.poll_transmit(now, &mut packet), Some(PeerId(7)));
    assert!(packet.len() < said);
}

#[test]
fn a_player_cannot_act_as_another() {
    let mut game = toy_match(&SessionConfig::new(3).simulated().turns(1_000), 0, 1, LinkConfig::new());
    game.idle(3_000);
    // It goes on to send what the host does not acknowledge.
    game.net_mut().set_partition(&[1]);
    game.idle(3_500);
    // Player 1's own packets, as if player 2 had sent them.
    let later = game.now() + testudo_lockstep::Duration::from_millis(500);
    let mut packet = Vec::new();
    while game.session_mut(1).poll_transmit(later, &mut packet).is_none() {}
    let host = game.session(0);
    // Player 2 knows its own link's key.
    let read = Packet::decode(&packet, host.packet_key(PeerId(1)).unwrap(), FORMAT).unwrap();
    let Packet::Turns(turns) = &read else { panic!("no turns: {read:?}") };
    assert!(turns.segments.iter().any(|segment| segment.player == PlayerId(1)), "{turns:?}");
    let before = host.stats();
    deliver(&mut game, 0, 2, &read);
    let after = game.session(0).stats();
    assert!(after.entries_invalid > before.entries_invalid, "{after:?}");
    assert_eq!(after.entries_received, before.entries_received);
    assert_eq!(after.packets_malformed, before.packets_malformed);
}

/// All that has run when the match is over.
fn orders_to_the_end(driver: &mut Driver<Toy>, mut now: Instant) -> Vec<Order> {
    while !driver.session().is_over() {
        driver.advance(now);
        now += testudo_lockstep::Duration::from_millis(7);
    }
    driver.simulation().log.iter().map(|(_, _, order)| *order).collect()
}

#[test]
fn a_full_queue_is_an_error_and_nothing_accepted_is_lost() {
    let config = SessionConfig::new(1).simulated().turns(60).queue_max(8);
    let mut driver = alone(config);
    let mut accepted = Vec::new();
    for number in 0..20 {
        match driver.session_mut().submit(&Order::Shout(number)) {
            Ok(()) => accepted.push(Order::Shout(number)),
            Err(error) => assert_eq!(error, SubmitError::QueueFull { max: 8 }),
        }
    }
    assert_eq!(accepted.len(), 8);
    assert_eq!(orders_to_the_end(&mut driver, Instant::ZERO), accepted);
    assert_eq!(driver.session_mut().submit(&Order::Shout(1)), Err(SubmitError::NotPlaying));
}

/// Those that had room ran, and were of no use without the rest.
#[test]
fn actions_that_belong_together_run_all_or_none() {
    let shouts = |numbers: core::ops::Range<u32>| numbers.map(Order::Shout).collect::<Vec<_>>();
    let config = SessionConfig::new(1).simulated().turns(20).queue_max(8).actions_per_turn_max(1);
    let mut driver = alone(config);
    let session = driver.session_mut();
    let full = Err(SubmitError::QueueFull { max: 8 });
    assert_eq!(session.submit_all(&shouts(0..9)), full);
    assert_eq!((session.submit_all(&shouts(0..5)), session.queued_actions()), (Ok(()), 5));
    assert_eq!((session.submit_all(&shouts(5..9)), session.queued_actions()), (full, 5));
    assert_eq!((session.submit_all(&[]), session.queued_actions()), (Ok(()), 5));
    // Near the end of the match only some of them could still run.
    let mut now = Instant::ZERO;
    let late = loop {
        driver.advance(now);
        let session = driver.session_mut();
        if session.queued_actions() == 0 {
            match session.submit_all(&shouts(10..14)) {
                Ok(()) => {}
                Err(error) => break (error, session.queued_actions()),
            }
        }
        now += testudo_lockstep::Duration::from_millis(7);
    };
    assert_eq!(late, (SubmitError::TooLate { last_turn: Turn(19) }, 0));
    let ran = orders_to_the_end(&mut driver, now);
    let rest = &ran[5..];
    assert_eq!(ran[..5], shouts(0..5));
    assert!(rest.len() > 4 && rest.chunks(4).all(|lot| lot == shouts(10..14)), "{ran:?}");
}

#[test]
fn a_peer_that_falls_silent_is_waited_for_and_then_lost() {
    let config = SessionConfig::new(2).simulated().turns(1_000).without_drops();
    let mut game = toy_match(&config, 0, 1, LinkConfig::new());
    game.idle(5_000);
    let dead = LinkConfig::new().loss_ppm(1_000_000);
    game.net_mut().set_default(dead);
    assert!(game.idle(60_000));
    for (index, driver) in game.drivers_mut().iter_mut().enumerate() {
        let other = 1 - index as u32;
        assert_eq!(driver.session().phase(), SessionPhase::Failed(Failure::ConnectionLost(PeerId(other))));
        let events = events_of(driver);
        // Only the host knows who is late. The other one was told that the host is, and would be dropped.
        let waiting = |event: &Event| match event {
            Event::WaitingFor { players, .. } => index == 0 && players == &[PlayerId(other as u8)],
            Event::CutOff { .. } => index == 1,
            _ => false,
        };
        let blames = |event: &&Event| {
            matches!(event, Event::WaitingFor { .. } | Event::CutOff { .. } | Event::OftenLate { .. })
        };
        assert!(events.iter().filter(blames).all(waiting), "{events:?}");
        assert_eq!(events.iter().filter(|event| waiting(event)).count(), 1, "{events:?}");
        assert!(matches!(driver.session().identity(), Identity::Player(_)));
        assert!(driver.session().stats().stalled_frames > 300, "20 s of 50 ms frames, less two turns");
    }
}

/// A player is missing, and then the host, too: the guest went on counting the time until that player is dropped, which nobody was there to do.
#[test]
fn a_guest_is_told_that_the_host_falls_silent_during_a_wait_and_that_it_is_back() {
    let config = SessionConfig::new(3).simulated().turns(1_000).without_drops();
    let mut game = toy_match(&config, 0, 1, LinkConfig::new());
    game.idle(3_000);
    let dead = LinkConfig::new().loss_ppm(1_000_000);
    for (lines, until) in
        [([true, false], 6_000), ([false, false], 9_000), ([true, false], 12_000), ([true, true], 14_000)]
    {
        for (guest, is_well) in (1..).zip(lines) {
            let line = if is_well { LinkConfig::new() } else { dead };
            game.net_mut().set_link(0, guest, line);
            game.net_mut().set_link(guest, 0, line);
        }
        game.idle(until);
    }
    let told: Vec<&str> = events_of(&mut game.drivers_mut()[1])
        .iter()
        .filter_map(|event| match event {
            Event::WaitingFor { players, .. } if players == &[PlayerId(2)] => Some("player 2"),
            Event::CutOff { .. } => Some("cut off"),
            Event::WaitingOver { .. } => Some("over"),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["player 2", "cut off", "player 2", "over"]);
}

/// The event said the whole drop time, and the countdown beside it what was left.
#[test]
fn after_a_silence_of_the_host_the_wait_for_a_player_is_told_with_the_time_that_is_left() {
    let mut game = toy_match(&SessionConfig::new(3).simulated().turns(1_000), 0, 1, LinkConfig::new());
    game.idle(5_000);
    game.put_to_sleep(2, Instant::from_millis(60_000));
    game.net_mut().set_partition(&[1]);
    game.idle(13_000);
    game.net_mut().set_partition(&[]);
    let told = loop {
        let told = std::iter::from_fn(|| game.session_mut(1).poll_event());
        if let Some(drop_in) = told.last().and_then(|event| match event {
            Event::WaitingFor { drop_in, .. } => Some(drop_in),
            _ => None,
        }) {
            break drop_in.unwrap();
        }
        game.idle_for(1);
        assert!(game.now() < Instant::from_millis(20_000));
    };
    assert!(told < testudo_lockstep::Duration::from_secs(13), "{told:?}");
    assert_eq!(Some(told), game.session(1).drop_in());
}

/// A program that sleeps until `poll_timeout` was told late, by whatever woke it: the time named had passed, or there was none.
#[test]
fn poll_timeout_names_the_time_of_a_notice_after_a_silence_of_the_middle() {
    let notice = testudo_lockstep::Duration::from_millis(100);
    // One frame in a second, so that nothing else wakes anybody so soon.
    let config =
        SessionConfig::new(3).simulated().frames_per_second(1).frames_per_turn(1).waiting_notice(notice);
    let mut game = toy_match(&config.turns(1_000).without_drops(), 0, 1, LinkConfig::new());
    game.idle(10_000);
    game.put_to_sleep(2, Instant::from_millis(60_000));
    game.put_to_sleep(0, Instant::from_millis(20_000));
    let told = |session: &mut Session<Order>| -> Vec<Event> {
        let told = std::iter::from_fn(|| session.poll_event());
        told.filter(|event| matches!(event, Event::WaitingFor { .. } | Event::CutOff { .. })).collect()
    };
    game.idle(19_990);
    assert!(matches!(told(game.session_mut(1))[..], [.., Event::CutOff { .. }]));
    game.idle(20_001);
    let (end, mut packet) = (Instant::from_millis(20_101), Vec::new());
    let session = game.session_mut(1);
    while told(session).is_empty() {
        let now = session.poll_timeout().unwrap();
        assert!(now <= end, "asleep until {now:?}");
        session.handle_timeout(now);
        while session.poll_transmit(now, &mut packet).is_some() {}
    }
}

/// The panel said that another player had made everybody wait, when the relay had been silent.
#[test]
fn silence_of_the_middle_counts_against_nobody() {
    let config = SessionConfig::new(2).simulated().topology(Topology::Relay).turns(1_000);
    let mut game = toy_match(&config, 0, 1, LinkConfig::new());
    game.idle(3_000);
    game.put_to_sleep(2, Instant::from_millis(9_000));
    game.idle(14_000);
    for player in [0, 1] {
        let session = game.session(player);
        let reports = [0, 1].map(|other| session.player_report(PlayerId(other)).delayed_turns);
        assert_eq!((session.phase(), reports), (SessionPhase::Running, [0, 0]), "player {player}");
        assert!(session.stats().stalled_frames > 60, "it has waited");
    }
}
