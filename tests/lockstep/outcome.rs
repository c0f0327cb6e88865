//! Bots that take over, teams, surrender, and the result on which all peers agree.

use crate::play::{Play as _, SEED, assert_agreed_by, match_at};
use crate::toy::{Order, Toy, bot, terrible, toy_match, toy_match_from};
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Duration, EndReason, Event, Identity, MatchResult, PlayerId, SessionConfig, SessionPhase, Successor,
    Topology, Turn, VirtualMatch,
};

fn config(players: u8, topology: Topology) -> SessionConfig {
    SessionConfig::new(players).simulated().turns(100).topology(topology).drop_after(Duration::from_secs(3))
}

/// Peers that simulate to the end.
fn finished(game: &VirtualMatch<Toy>) -> Vec<usize> {
    let simulates = |peer: &usize| {
        let session = game.session(*peer);
        session.phase() == SessionPhase::Finished && session.identity() != Identity::Relay
    };
    (0..game.drivers().len()).filter(simulates).collect()
}

/// All peers that finished have run the same, and know of no divergence.
fn assert_agreement(game: &mut VirtualMatch<Toy>, at_least: usize, what: &str) -> (Toy, Vec<Vec<Event>>) {
    let peers = finished(game);
    assert!(peers.len() >= at_least, "{what}: {peers:?}");
    let events: Vec<Vec<Event>> = peers.iter().map(|peer| game.events(*peer)).collect();
    let is_desync = |event: &Event| matches!(event, Event::Desync(_));
    assert!(!events.iter().flatten().any(is_desync), "{what}: {events:?}");
    let first = game.toy(peers[0]).clone();
    assert_agreed_by(game, peers, what);
    (first, events)
}

/// The player's orders that ran are exactly those before the turn in which the player went.
fn assert_nothing_lost(toy: &Toy, player: u8, turn: u32, what: &str) {
    let ran = toy.log.iter().filter(|(frame, who, _)| *who == player && *frame < turn * 4);
    let ran: Vec<Order> = ran.map(|(_, _, order)| *order).collect();
    let given: Vec<Order> = (2..turn).filter_map(|turn| bot(SEED, turn - 2, player)).collect();
    assert_eq!(ran, given, "{what}: gone at {turn}");
}

#[test]
fn a_bot_takes_over_at_the_same_turn_everywhere() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        for (reason, settings) in
            [(EndReason::Left, true), (EndReason::Dropped, true), (EndReason::HandedOver, false)]
        {
            for seed in 0..4 {
                let what = format!("{topology:?} {reason:?} {seed}");
                let config = config(4, topology).bots_take_over(settings).rotate_players(seed % 2 == 1);
                let mut game = toy_match(&config, u32::from(topology != Topology::Mesh), seed, terrible());
                game.play(7_000 + seed * 41);
                match reason {
                    EndReason::Left => drop(game.session_mut(2).leave()),
                    EndReason::Dropped => game.net_mut().set_partition(&[2]),
                    _ => drop(game.session_mut(2).resign(Successor::Bot)),
                }
                assert!(game.play(600_000), "{what}");
                let watches_on = usize::from(reason == EndReason::HandedOver);
                let (toy, events) = assert_agreement(&mut game, 3 + watches_on, &what);
                assert!(toy.gone.is_empty() && toy.surrendered.is_empty(), "{what}");
                let [(2, from)] = toy.bots[..] else { panic!("{what}: {:?}", toy.bots) };
                let turns: Vec<(u32, u8)> = (from..100).map(|turn| (turn, 2)).collect();
                assert_eq!(toy.played, turns, "{what}: in every turn from then on");
                assert_nothing_lost(&toy, 2, from, &what);
                let turn = Turn(from);
                for events in events {
                    assert!(
                        events.contains(&Event::PlayerGone { player: PlayerId(2), reason, turn }),
                        "{what}"
                    );
                    assert!(events.contains(&Event::TakenOver { player: PlayerId(2), turn }), "{what}");
                    assert!(!events.iter().any(|event| matches!(event, Event::TeamOut { .. })), "{what}");
                }
            }
        }
    }
}

#[test]
fn a_bot_does_not_play_while_the_game_stands() {
    let mut game = match_at(&config(3, Topology::Host), LinkConfig::default(), 4_000);
    game.session_mut(1).resign(Successor::Bot);
    game.play(6_000);
    game.session_mut(2).pause(true).unwrap();
    game.play(10_000);
    game.session_mut(2).pause(false).unwrap();
    assert!(game.play(600_000));
    let (toy, events) = assert_agreement(&mut game, 3, "paused");
    let turn_of = |wanted: bool| {
        events[0].iter().find_map(|event| match event {
            Event::Paused { turn, paused, .. } if *paused == wanted => Some(turn.0),
            _ => None,
        })
    };
    let (stands, goes_on) = (turn_of(true).unwrap(), turn_of(false).unwrap());
    assert!(goes_on > stands + 10);
    let expected: Vec<u32> = (toy.bots[0].1..stands).chain(goes_on..100).collect();
    assert_eq!(toy.played.iter().map(|(turn, _)| *turn).collect::<Vec<_>>(), expected);
}

#[test]
fn in_a_resumed_match_the_bot_plays_on() {
    let config = config(3, Topology::Host);
    let mut game = match_at(&config, LinkConfig::default(), 4_000);
    game.session_mut(1).resign(Successor::Bot);
    game.play(6_000);
    game.session_mut(0).save();
    assert!(game.play(600_000));
    let saved = game.session_mut(0).take_saved().unwrap();
    assert_eq!(saved.ended(PlayerId(1)), Some(EndReason::HandedOver));
    let (turn, state) = game.toy(0).saved.clone().unwrap();
    let (whole, _) = assert_agreement(&mut game, 3, "whole");
    let mut resumed = toy_match_from(&config.resume(saved), &state, 0, 2, terrible());
    // Nobody replaces the player who handed over.
    let over = resumed.play(600_000);
    assert!(over);
    let (resumed, _) = assert_agreement(&mut resumed, 2, "resumed");
    assert!(turn > whole.bots[0].1);
    assert_eq!((resumed.history, resumed.played, resumed.log), (whole.history, whole.played, whole.log));
}

#[test]
fn a_team_is_out_with_its_last_player() {
    // Players 0 and 2 against 1 and 3. No bot follows a player who surrenders.
    let config = config(4, Topology::Host).teams(&[0, 9, 0, 9]).bots_take_over(true);
    assert_eq!([0, 1, 2, 3].map(|player| config.team_of(PlayerId(player))), [0, 9, 0, 9]);
    let mut game = toy_match(&config, 1, 3, terrible());
    game.play(5_000);
    game.session_mut(1).resign(Successor::Nobody);
    game.session_mut(0).resign(Successor::Bot);
    game.play(9_000);
    assert!(!game.events(0).iter().any(|event| matches!(event, Event::TeamOut { .. })));
    game.session_mut(3).resign(Successor::Nobody);
    game.session_mut(2).resign(Successor::Nobody);
    assert!(game.play(600_000));
    let (toy, events) = assert_agreement(&mut game, 5, "teams");
    assert_eq!(toy.surrendered.iter().map(|(player, _)| *player).max(), Some(3));
    let turn = Turn(toy.surrendered.iter().find(|(player, _)| *player == 3).unwrap().1);
    for events in events {
        let out: Vec<_> = events.iter().filter(|event| matches!(event, Event::TeamOut { .. })).collect();
        assert_eq!(out, [&Event::TeamOut { team: 9, turn }], "a bot holds the other team's flag");
    }
}

#[test]
fn two_who_surrender_at_one_turn_take_their_team_out_once() {
    let config = config(3, Topology::Host).teams(&[1, 0, 0]);
    let mut game = toy_match(&config, 0, 3, LinkConfig::default());
    game.play(5_000);
    game.session_mut(1).resign(Successor::Nobody);
    game.session_mut(2).resign(Successor::Nobody);
    assert!(game.play(600_000));
    let (toy, events) = assert_agreement(&mut game, 3, "both");
    assert_eq!(toy.surrendered[0].1, toy.surrendered[1].1);
    for events in events {
        let out = events.iter().filter(|event| matches!(event, Event::TeamOut { team: 0, .. }));
        assert_eq!(out.count(), 1, "{events:?}");
    }
}

fn results(events: &[Event]) -> Vec<MatchResult> {
    let result =
        |event: &Event| if let Event::MatchResult(result) = event { Some(result.clone()) } else { None };
    events.iter().filter_map(result).collect()
}

/// Turn, what each player has found, what this peer has found, and whether all agree.
type Told = (Turn, Vec<(PlayerId, Option<u32>)>, Option<u32>, bool);

fn told(events: &[Event]) -> Vec<Told> {
    let parts = |result: MatchResult| (result.turn, result.values, result.own, result.agreed);
    results(events).into_iter().map(parts).collect()
}

/// A match in which each peer's simulation finds the given result: frame and value.
fn decided(config: &SessionConfig, watchers: u32, found: &[Option<(u32, u32)>]) -> VirtualMatch<Toy> {
    let mut game = toy_match(config, watchers, 5, terrible());
    for (driver, found) in game.drivers_mut().iter_mut().zip(found) {
        driver.simulation_mut().decided = *found;
    }
    game
}

#[test]
fn everybody_learns_the_result_and_that_all_agree() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        // In the middle, in the last turn, and with checksums far apart.
        for (frame, interval) in [(201, 1), (204, 1), (400, 1), (203, 40)] {
            let config = config(3, topology).checksum_interval(interval);
            let watchers = u32::from(topology != Topology::Mesh);
            let mut game = decided(&config, watchers, &[Some((frame, 77)); 5]);
            assert!(game.play(600_000));
            let what = format!("{topology:?} {frame} {interval}");
            let (_, events) = assert_agreement(&mut game, 3, &what);
            let turn = Turn(frame.div_ceil(4) - 1);
            let values = [0, 1, 2].map(|player| (PlayerId(player), Some(77))).to_vec();
            for events in events {
                let expected = (turn, values.clone(), Some(77), true);
                assert_eq!(told(&events), [expected], "{what}");
            }
            if topology == Topology::Relay {
                // The relay does not simulate; it compares the players' results.
                let events = game.events(3);
                let expected = (turn, values, None, true);
                assert_eq!(told(&events), [expected], "{what}");
            }
        }
    }
}

#[test]
fn a_result_that_not_all_found_is_reported_as_such() {
    let (won, lost) = (Some((200, 1)), Some((200, 2)));
    let late = Some((220, 1));
    for (found, expected) in [
        ([won, lost, won, won], vec![(49, [Some(1), Some(2), Some(1)])]),
        ([won, None, won, won], vec![(49, [Some(1), None, Some(1)])]),
        ([won, won, late, won], vec![(49, [Some(1), Some(1), None]), (54, [None, None, Some(1)])]),
    ] {
        let mut game = decided(&config(3, Topology::Host), 1, &found);
        assert!(game.play(600_000));
        for peer in 0..4 {
            let told: Vec<_> = results(&game.events(peer))
                .iter()
                .map(|result| {
                    assert!(!result.agreed, "{result:?}");
                    let values: Vec<_> = result.values.iter().map(|(_, value)| *value).collect();
                    (result.turn.0, <[Option<u32>; 3]>::try_from(values).unwrap())
                })
                .collect();
            assert_eq!(told, expected, "peer {peer}");
        }
    }
    // A watcher that finds another result is told that it differs from all others.
    let mut game = decided(&config(3, Topology::Host), 1, &[won, won, won, lost]);
    assert!(game.play(600_000));
    let agreed = [0, 1, 2, 3].map(|peer| results(&game.events(peer))[0].agreed);
    assert_eq!(agreed, [true, true, true, false]);
}

#[test]
fn who_is_gone_has_no_say_in_the_result() {
    let mut game = decided(&config(3, Topology::Host), 0, &[Some((300, 5)); 3]);
    game.play(5_000);
    game.session_mut(1).resign(Successor::Nobody);
    game.net_mut().set_partition(&[2]);
    assert!(game.play(600_000));
    let (toy, events) = assert_agreement(&mut game, 1, "gone");
    assert_eq!((toy.surrendered.len(), toy.gone.len()), (1, 1));
    let values = vec![(PlayerId(0), Some(5))];
    let expected = (Turn(74), values, Some(5), true);
    for events in events {
        assert_eq!(told(&events), std::slice::from_ref(&expected));
    }
}

#[test]
fn a_single_player_has_a_result_too() {
    let mut game = decided(&config(1, Topology::Host), 0, &[Some((400, 3))]);
    assert!(game.play(600_000));
    let expected = (Turn(99), vec![(PlayerId(0), Some(3))], Some(3), true);
    assert_eq!(told(&game.events(0)), [expected]);
}
