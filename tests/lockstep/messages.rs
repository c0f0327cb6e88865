//! What members show of themselves and say to each other, beside the match.

use crate::joining;
use crate::play::Play as _;
use crate::toy::{Toy, latency, middle_of, terrible, toy_match};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{
    Duration, Event, Identity, Instant, MESSAGE_BYTES_MAX, MessageError, PROFILE_BYTES_MAX, PeerId, PlayerId,
    SessionConfig, SessionPhase, To, Topology, VirtualMatch,
};
use testudo_tests::cases::cases;

const TOPOLOGIES: [Topology; 3] = [Topology::Host, Topology::Relay, Topology::Mesh];

fn a_match(topology: Topology, watchers: u32, seed: u64, link: LinkConfig) -> VirtualMatch<Toy> {
    let config = SessionConfig::new(3).simulated().turns(100).topology(topology).watchers_min(watchers);
    let config = config.lobby_timeout(Duration::from_secs(60));
    toy_match(&config, watchers, seed, link)
}

#[test]
fn everybody_in_the_lobby_knows_who_is_here_and_ready_and_what_each_player_shows() {
    for topology in TOPOLOGIES {
        let mut game = a_match(topology, 0, 1, terrible());
        for player in 0..3_u8 {
            let session = game.session_mut(usize::from(player));
            assert_eq!(session.set_profile(PlayerId(player), &[player, 7]), Ok(()));
            session.set_ready(player != 1);
        }
        game.play_for(10_000);
        for (node, driver) in game.drivers().iter().enumerate() {
            let session = driver.session();
            assert_eq!(session.phase(), SessionPhase::Lobby, "{topology:?}");
            for player in 0..3_u8 {
                let id = PlayerId(player);
                let known = (session.profile(id), session.is_here(id), session.is_ready(id));
                assert_eq!(known, (&[player, 7][..], true, player != 1), "{topology:?}, {node} of {player}");
            }
            assert_eq!(session.profile(PlayerId(9)), b"");
        }
        // A change before the start is told, too; then the match begins.
        let changed = game.session_mut(1).set_profile(PlayerId(1), b"new");
        assert_eq!(changed, Ok(()));
        game.play_for(5_000);
        game.session_mut(1).set_ready(true);
        assert!(game.play_for(600_000), "{topology:?}");
        for driver in game.drivers_mut() {
            assert_eq!(driver.session().phase(), SessionPhase::Finished, "{topology:?}");
            assert_eq!(driver.session().profile(PlayerId(1)), b"new", "{topology:?}");
            let told = std::iter::from_fn(|| driver.session_mut().poll_event());
            let told = told.filter(|event| matches!(event, Event::Profile { .. })).count();
            assert!(told >= 1 || driver.session().identity() == Identity::Player(PlayerId(1)));
        }
    }
}

#[test]
fn the_host_may_change_what_the_others_show_and_nobody_else_may() {
    for topology in TOPOLOGIES {
        let mut game = a_match(topology, 0, 1, LinkConfig::new());
        game.session_mut(2).set_ready(false);
        game.play_for(1_000);
        let mut set = |node: usize, player: u8, bytes: &[u8]| {
            game.session_mut(node).set_profile(PlayerId(player), bytes)
        };
        let is_mesh = topology == Topology::Mesh;
        // "The receiver is not here" was said of players who were.
        let expected = if is_mesh { Err(MessageError::OfAnother) } else { Ok(()) };
        assert_eq!(set(0, 2, b"team 1"), expected, "{topology:?}");
        assert_eq!(set(1, 2, b"mine"), Err(MessageError::OfAnother));
        assert_eq!(set(1, 9, b"mine"), Err(MessageError::Nobody));
        let long = [0; PROFILE_BYTES_MAX + 1];
        assert_eq!(set(1, 1, &long), Err(MessageError::TooLong { bytes: 65, max: 64 }));
        let all: Vec<_> = (0..1_000).map(|number| set(1, 1, &[(number % 256) as u8])).collect();
        assert!(all.contains(&Err(MessageError::TooOften)), "a thousand changes at once");
        game.play_for(1_000);
        let shown: &[u8] = if is_mesh { b"" } else { b"team 1" };
        assert!(game.drivers().iter().all(|driver| driver.session().profile(PlayerId(2)) == shown));
        game.session_mut(2).set_ready(true);
        game.play_for(3_000);
        let late = game.session_mut(1).set_profile(PlayerId(1), b"late");
        assert_eq!(late, Err(MessageError::Begun));
    }
}

/// Messages and profiles come in one order. A game without chat, which takes no messages, saw nobody's name and team any more after 256 of them.
#[test]
fn a_program_that_takes_no_messages_sees_every_profile() {
    for topology in TOPOLOGIES {
        let mut game = a_match(topology, 0, 1, LinkConfig::new());
        game.session_mut(2).set_ready(false);
        game.play_for(1_000);
        let mut said = 0;
        for _ in 0..100 {
            game.play_for(100);
            for _ in 0..20 {
                said += u32::from(game.session_mut(2).send_message(To::Player(PlayerId(1)), b"").is_ok());
            }
        }
        assert!(said > 300, "{topology:?}: {said}");
        game.play_for(3_000);
        game.session_mut(2).set_profile(PlayerId(2), b"team 2").unwrap();
        game.play_for(3_000);
        assert_eq!(game.session(1).profile(PlayerId(2)), b"team 2", "{topology:?}");
        let refused = game.session(1).stats().messages_refused;
        assert_eq!(refused, u64::from(said - 256), "{topology:?}");
    }
}

/// Everybody talks all the time, in the lobby and in the match, to everybody and to single players.
#[test]
fn every_message_arrives_once_and_in_order_on_a_terrible_network() {
    for (seed, topology) in (1..).zip(TOPOLOGIES) {
        let watchers = if topology == Topology::Mesh { 0 } else { 1 };
        let mut game = a_match(topology, watchers, seed, terrible());
        let nodes = game.drivers().len();
        let mut said: Vec<Vec<u8>> = vec![Vec::new(); 3];
        let mut heard: Vec<Vec<(Identity, u8, u8)>> = vec![Vec::new(); nodes];
        while !game.is_over() && game.now() < Instant::from_millis(120_000) {
            game.play_for(500);
            for player in 0..3_usize {
                let number = said[player].len() as u8;
                let to = match number % 3 {
                    0 => To::Everybody,
                    other => To::Player(PlayerId((player as u8 + other) % 3)),
                };
                let session = game.session_mut(player);
                // Not everybody is here yet, or some are done.
                let is_early = (0..3).any(|other| !session.is_here(PlayerId(other)));
                let last = session.last_turn().is_some_and(|last| session.next_turn().0 + 25 > last.0);
                if !is_early && !last && session.send_message(to, &[number, number % 3]).is_ok() {
                    said[player].push(number);
                }
            }
            for (node, heard) in heard.iter_mut().enumerate() {
                let session = game.session_mut(node);
                while let Some(message) = session.poll_message() {
                    heard.push((message.from, message.bytes[0], message.bytes[1]));
                }
            }
        }
        assert!(game.is_over(), "{topology:?}");
        for (node, heard) in heard.iter().enumerate() {
            let identity = game.session(node).identity();
            for (player, said) in said.iter().enumerate() {
                assert!(said.len() > 15, "{topology:?}: {} messages", said.len());
                let is_for_it = |number: &&u8| match (identity, **number % 3) {
                    (Identity::Player(own), _) if usize::from(own.0) == player => false,
                    (Identity::Relay, _) => false,
                    (_, 0) => true,
                    (Identity::Player(own), other) => own.0 == (player as u8 + other) % 3,
                    _ => false,
                };
                let expected: Vec<u8> = said.iter().filter(is_for_it).copied().collect();
                let from = Identity::Player(PlayerId(player as u8));
                let arrived: Vec<u8> =
                    heard.iter().filter(|(who, ..)| *who == from).map(|(_, number, _)| *number).collect();
                assert_eq!(arrived, expected, "{topology:?} seed {seed}: {player} to {node}");
            }
        }
    }
}

#[test]
fn a_watcher_asks_the_host_and_gets_an_answer() {
    let mut game = a_match(Topology::Host, 1, 1, LinkConfig::new());
    game.play_for(2_000);
    let watcher = 3;
    assert_eq!(game.session_mut(watcher).send_message(To::Middle, b"why?"), Ok(()));
    game.play_for(500);
    let host = game.session_mut(0);
    let question = host.poll_message().unwrap();
    assert_eq!((question.from, &question.bytes[..]), (Identity::Watcher, &b"why?"[..]));
    assert_eq!(host.send_message(To::Link(question.link), &[9; MESSAGE_BYTES_MAX]), Ok(()));
    game.play_for(500);
    let answer = game.session_mut(watcher).poll_message().unwrap();
    assert_eq!((answer.from, answer.bytes.len()), (Identity::Player(PlayerId(0)), MESSAGE_BYTES_MAX));
    assert_eq!(game.session_mut(1).poll_message(), None);
}

#[test]
fn what_is_not_accepted_says_why() {
    let mut game = a_match(Topology::Host, 0, 1, LinkConfig::new());
    let guest = |game: &mut VirtualMatch<Toy>, to, bytes: &[u8]| game.session_mut(1).send_message(to, bytes);
    assert_eq!(guest(&mut game, To::Everybody, b"hello"), Err(MessageError::Nobody), "not connected yet");
    game.play_for(1_000);
    let long = vec![0; MESSAGE_BYTES_MAX + 1];
    let too_long = MessageError::TooLong { bytes: MESSAGE_BYTES_MAX + 1, max: MESSAGE_BYTES_MAX };
    assert_eq!(guest(&mut game, To::Middle, &long), Err(too_long));
    for to in [To::Player(PlayerId(1)), To::Player(PlayerId(9)), To::Link(PeerId(77))] {
        assert_eq!(guest(&mut game, to, b""), Err(MessageError::Nobody), "{to:?}");
    }
    let many: Vec<_> = (0..40).map(|_| guest(&mut game, To::Middle, &[0; MESSAGE_BYTES_MAX])).collect();
    assert_eq!(many[..15], [Ok(()); 15]);
    assert_eq!(many[39], Err(MessageError::TooOften));
    assert!(game.play_for(600_000));
    assert_eq!(guest(&mut game, To::Middle, b""), Err(MessageError::Over));
}

#[test]
fn a_message_to_a_player_who_is_gone_is_reported_to_its_sender() {
    let config = SessionConfig::new(3).simulated().turns(200).drop_after(Duration::from_secs(2));
    let mut game = toy_match(&config, 0, 1, LinkConfig::new());
    game.play_for(3_000);
    game.put_to_sleep(2, Instant::from_millis(10_000_000));
    game.play_for(1_000);
    // It is still here as far as anybody knows, and takes nothing.
    let (mut undelivered, mut accepted) = (0, 0);
    for _ in 0..600 {
        game.play_for(100);
        let sender = game.session_mut(1);
        accepted += u32::from(sender.send_message(To::Player(PlayerId(2)), &[0; 400]).is_ok());
        let _ = sender.send_message(To::Player(PlayerId(0)), b"you");
        while let Some(event) = sender.poll_event() {
            if let Event::Undelivered { players } = event {
                assert!(players.contains(PlayerId(2)) && !players.contains(PlayerId(0)));
                undelivered += 1;
            }
        }
        while game.session_mut(0).poll_message().is_some() {}
        if !game.session(1).is_here(PlayerId(2)) {
            break;
        }
    }
    assert!(!game.session(1).is_here(PlayerId(2)), "it was dropped");
    let gone = game.session_mut(1).send_message(To::Player(PlayerId(2)), b"");
    assert_eq!(gone, Err(MessageError::Nobody));
    println!("{accepted} accepted, {undelivered} reports");
}

/// A message under way to a machine that crashed was forgotten with the link, and nobody was told.
#[test]
fn a_message_to_who_crashes_arrives_or_is_reported() {
    // The middle shows a profile over the new link, at which the channel of the former one begins again.
    let cases = [Topology::Host, Topology::Relay].into_iter().flat_map(|topology| {
        [(0, 1), (1, 2)].map(|(sender, seed)| [false, true].map(|shows| (topology, sender, seed, shows)))
    });
    for (topology, sender, seed, shows) in cases.flatten() {
        let config = joining::config(3, topology);
        let mut game = joining::start(&config, 0, seed, latency(40));
        if shows {
            game.session_mut(0).set_profile(PlayerId(0), b"Ada").unwrap();
        }
        game.play(6_000);
        game.net_mut().set_partition(&[2]);
        game.play(6_500);
        while game.poll_event(sender).is_some() {}
        let session = game.session_mut(sender);
        if !shows {
            assert_eq!(session.send_message(To::Player(PlayerId(2)), b"help"), Ok(()));
        }
        assert_eq!(session.send_message(To::Everybody, b"help all"), Ok(()));
        // After it was dropped, or before the others have noticed anything.
        game.play(if shows { 7_500 } else { 12_000 });
        game.net_mut().set_partition(&[]);
        joining::come_back(&mut game, &config, 2);
        assert!(game.play(3_000_000));
        let what = format!("{topology:?}, player {sender}, profiles {shows}");
        assert_eq!(game.session_mut(2).poll_message(), None, "{what}: both were for its former self");
        let reports = |event| match event {
            Event::Undelivered { players } => players.iter().collect(),
            _ => Vec::new(),
        };
        let told: Vec<PlayerId> = std::iter::from_fn(|| game.poll_event(sender)).flat_map(reports).collect();
        assert!(!told.is_empty() && told.iter().all(|player| *player == PlayerId(2)), "{what}: {told:?}");
        let other = game.session_mut(1 - sender).poll_message().expect("everybody else has heard it");
        assert_eq!(other.bytes, b"help all", "{what}");
    }
}

/// A message to one player, and what became of it.
struct Sent {
    from: usize,
    to: usize,
    /// How many reports for this receiver the author had by then.
    reports: usize,
    arrived: u32,
}

/// Programs that crash and come back, links that are cut off, and removals, at random. Two players stay and write to the others.
#[test]
fn messages_to_players_who_come_and_go_arrive_once_or_are_reported() {
    let (mut lost, mut arrived) = (0, 0);
    for seed in cases(0..48) {
        let topology = [Topology::Host, Topology::Relay][seed as usize % 2];
        let config = joining::config(4, topology).turns(500);
        let mut dice = Pcg32::seed_from_u64(seed);
        let mut game = joining::start(&config, 0, seed, latency(30));
        let mut sent: Vec<Sent> = Vec::new();
        let mut reports = [[0; 4]; 2];
        for round in 0..320_u64 {
            let is_over = game.play(3_000 + 250 * round);
            for node in 0..4 {
                while let Some(message) = game.session_mut(node).poll_message() {
                    let number = u32::from_le_bytes(message.bytes.try_into().unwrap());
                    let sent = &mut sent[number as usize];
                    assert_eq!((message.from, node), (Identity::Player(PlayerId(sent.from as u8)), sent.to));
                    sent.arrived += 1;
                }
            }
            for (author, reports) in reports.iter_mut().enumerate() {
                while let Some(event) = game.poll_event(author) {
                    if let Event::Undelivered { players } = event {
                        players.iter().for_each(|player| reports[player.index()] += 1);
                    }
                }
            }
            if is_over {
                break;
            }
            // In the end all can arrive.
            if round >= 240 {
                game.net_mut().set_partition(&[]);
                continue;
            }
            let other = 2 + dice.next_u32() % 2;
            match dice.next_u32() % 24 {
                0 => game.net_mut().set_partition(&[other]),
                1 | 2 => game.net_mut().set_partition(&[]),
                3 => joining::come_back(&mut game, &config, other as u8),
                4 => {
                    game.session_mut(middle_of(&config) as usize).kick(PlayerId(other as u8));
                }
                _ => {}
            }
            for from in 0..2 {
                let to = 2 + dice.next_u32() as usize % 2;
                let number = sent.len() as u32;
                let session = game.session_mut(from);
                if session.send_message(To::Player(PlayerId(to as u8)), &number.to_le_bytes()).is_ok() {
                    sent.push(Sent { from, to, reports: reports[from][to], arrived: 0 });
                }
            }
        }
        for (number, sent) in sent.iter().enumerate() {
            let what = format!("seed {seed}, {topology:?}: message {number} of {} to {}", sent.from, sent.to);
            assert!(sent.arrived <= 1, "{what} arrived {} times", sent.arrived);
            assert!(sent.arrived == 1 || reports[sent.from][sent.to] > sent.reports, "{what} is lost");
            if sent.arrived == 1 { arrived += 1 } else { lost += 1 }
        }
    }
    println!("{arrived} arrived, {lost} were reported");
    assert!(arrived > 1_000 && lost > 50, "{arrived} arrived, {lost} were reported");
}
