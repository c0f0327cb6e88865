//! Members that want more than their share of a relay: of its time, its memory, or other members' places.

use testudo_lockstep::packet::{Bye, Packet, TurnsPacket};
use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::greeting::{Answer, Refused};
use testudo_lockstep::service::places::{Pass, Secret};
use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::{Duration, Entry, Payload, PeerId, SessionConfig, SessionPhase};
use testudo_tests::counting::Counting;

use super::world::{World, agreement, come, come_with, limits, open};
use super::{Match, assert_agreed, gather, running};
use crate::attacks::{FORMAT, bare, entries_of, sealed};

/// What is too much is not looked at, and a peer that does not stop is disconnected.
///
/// Its own orders are among the packets that are not looked at. The others waited until it was cut off, and then for its drop.
#[test]
fn a_member_that_floods_keeps_the_others_waiting_no_longer_than_it_is_tolerated() {
    for rate in [1_500_u32, 2_000, 4_000, 20_000] {
        let (mut world, game) = running(16, 3, 300, 20);
        let stalled = |world: &World| world.session(game.players[0]).stats().stalled_frames;
        let (before, connection) = (stalled(&world), world.clients[game.players[2]].connection);
        for step in 0..2_000 {
            // A step takes 5 ms.
            for _ in step * rate / 200..(step + 1) * rate / 200 {
                world.inject(connection, b"\x0f");
            }
            world.step();
        }
        assert!(world.clients[game.players[2]].is_closed, "{rate}");
        // Packets are lost while there are too many: until there were 1,000 too many. Twenty frames per second; one more may pass until everybody
        // knows of the drop, and one was under way.
        let most = (20 * 1_000_u32).div_ceil(rate - 1_000) + 2;
        let stalled = stalled(&world) - before;
        assert!(stalled <= u64::from(most), "{rate} packets per second: {stalled} frames of at most {most}");
        assert!(world.until(120, |world| world.rooms.is_empty()), "the others play on");
        assert_agreed(&world, &game.players[..2], "without the one who floods");
    }
}

/// Eight rooms of these addresses, to each of which somebody comes late: all get in. Returns how many bytes of states there were at most.
fn come_to_eight_rooms(limits: Limits, address: fn(u8) -> u8) -> u64 {
    let most = std::cell::Cell::new(0);
    let mut world = World::new(limits, 14);
    let games: Vec<Match> = (0..8).map(|room| gather(&mut world, address(room), 2, 4_000)).collect();
    let plays = |world: &World, client: usize| world.copy(client).frames > 100;
    assert!(world.until(60, |world| games.iter().all(|game| plays(world, game.players[0]))));
    let late: Vec<usize> = games.iter().map(|game| world.come(game.watch)).collect();
    let is_in = world.until(60, |world| {
        most.set(most.get().max(world.rooms.states()));
        late.iter().all(|client| plays(world, *client))
    });
    assert!(is_in);
    most.get()
}

/// Eight rooms, and memory for one state: whoever comes late waits for the others, and everybody comes in.
#[test]
fn states_of_all_rooms_have_one_limit() {
    // Of one state and a half.
    let size = come_to_eight_rooms(limits(|limits| limits.states_bytes_max = u64::MAX), |room| room) * 3 / 16;
    assert!(size > 0);
    let most = come_to_eight_rooms(limits(|limits| limits.states_bytes_max = size), |room| room);
    assert!((1..=size).contains(&most), "{most} of {size} bytes");
}

/// Only the player that opened the room removes players, and each is removed once.
#[test]
fn who_has_opened_a_room_removes_players() {
    let mut world = World::new(Limits::default(), 17);
    let (first, opened) = world.open(1, agreement(3, 200));
    let secrets = opened.secrets.players;
    let second = world.come(secrets[1]);
    assert!(!world.until(2, |_| false));
    let ask = |world: &mut World, client: usize, player: u8, secret: Secret| {
        world.remove(client, player, secret);
        let _ = world.until(2, |_| false);
    };
    ask(&mut world, second, 2, [5; 16]);
    ask(&mut world, first, 0, [5; 16]);
    ask(&mut world, first, 3, [5; 16]);
    assert!(matches!(world.answer(1, &come(secrets[2])), Answer::Come(_)));
    let wrong = Answer::Refused(Refused::WrongSecret);
    assert_eq!(world.greet_from(1, &come([5; 16])).1.answer, wrong);

    ask(&mut world, first, 1, [6; 16]);
    assert!(world.clients[second].is_closed && !world.clients[first].is_closed);
    let removed = Answer::Refused(Refused::Removed);
    assert_eq!(world.answer(1, &come(secrets[1])), removed, "it was told of a wrong code");
    let instead = world.come([6; 16]);
    let third = world.come(secrets[2]);
    ask(&mut world, first, 1, [6; 16]);
    assert!(world.until(10, |world| world.copy(third).frames > 20));
    assert!(!world.clients[instead].is_closed, "the second question was about somebody else");

    ask(&mut world, first, 2, [7; 16]);
    assert!(world.clients[third].is_closed);
    for secret in [secrets[2], [7; 16]] {
        let answer = world.answer(1, &come(secret));
        assert_eq!(answer, if secret == [7; 16] { wrong.clone() } else { removed.clone() });
    }
    assert!(world.until(120, |world| world.rooms.is_empty()), "the others play on");
    assert_agreed(&world, &[first, instead], "without the player that was removed");
}

/// The start is fixed a moment before the first turn. Whoever came in that moment was let in and then refused: with a new code after a removal because
/// the place was taken, with another key because the roster was written; and then whoever had the place was out, too.
#[test]
fn once_the_start_is_fixed_places_change_no_more() {
    let mut world = World::new(Limits::default(), 19);
    let (first, opened) = world.open(1, agreement(3, 200));
    let secrets = opened.secrets.players;
    let [second, third] = [1, 2].map(|player| world.come(secrets[player]));
    assert!(world.until(20, |world| world.session(first).start_is_fixed()));
    let other = Pass { secret: secrets[2], token: [9; 16] };
    assert_eq!(world.answer(2, &come_with(other)), Answer::Refused(Refused::OtherProgram));
    world.remove(first, 1, [6; 16]);
    assert!(world.until(2, |world| world.clients[second].is_closed));
    assert_eq!(world.session(first).phase(), SessionPhase::Lobby, "the first turn has not begun");
    assert_eq!(world.greet_from(1, &come([6; 16])).1.answer, Answer::Refused(Refused::WrongSecret));
    assert_eq!(world.answer(1, &come(secrets[1])), Answer::Refused(Refused::Removed));
    assert!(world.until(120, |world| world.rooms.is_empty()));
    assert_agreed(&world, &[first, third], "without the player that was removed");
}

/// Two questions about one player came together, and the place opened with the secret of the first one, which its owner had forgotten.
#[test]
fn who_removes_a_player_twice_knows_the_secret_of_the_second_time() {
    let mut world = World::new(Limits::default(), 19);
    let (first, opened) = world.open(1, agreement(3, 100));
    world.come(opened.secrets.players[1]);
    assert!(!world.until(2, |_| false));
    for secret in [[5; 16], [6; 16]] {
        world.remove(first, 1, secret);
    }
    assert!(!world.until(2, |_| false));
    let answer = |world: &mut World, secret: Secret| world.answer(1, &come(secret));
    assert_eq!(answer(&mut world, [5; 16]), Answer::Refused(Refused::WrongSecret));
    assert!(matches!(answer(&mut world, [6; 16]), Answer::Come(_)));
}

/// A player that gave a place the secret of another room, and then another one, took the other room's secret away and could use it for its own room.
#[test]
fn who_has_opened_a_room_takes_no_secret_of_another() {
    let mut world = World::new(Limits::default(), 23);
    let (_, other) = world.open(1, agreement(2, 200));
    let (first, opened) = world.open(2, agreement(2, 200));
    assert_ne!(other.welcome.session_id, opened.welcome.session_id);
    let _ = world.until(2, |_| false);
    for secret in [other.secrets.watchers, [9; 16], other.secrets.watchers] {
        world.remove(first, 1, secret);
        let _ = world.until(2, |_| false);
        match world.answer(3, &come(other.secrets.watchers)) {
            Answer::Come(welcome) => assert_eq!(welcome.session_id, other.welcome.session_id, "{secret:?}"),
            answer => panic!("{answer:?}"),
        }
    }
}

/// Whoever had opened a room gave a place that nobody had taken one secret after the other, until guests of other rooms were told of a wrong code.
#[test]
fn places_that_nobody_has_taken_are_renewed_without_a_trace() {
    let mut world = World::new(Limits::default(), 31);
    world.loss = 0;
    let (other, opened) = world.open(1, agreement(2, 200));
    world.clients[other].driver.session_mut().set_ready(false);
    let second = world.come(opened.secrets.players[1]);
    let _ = world.until(2, |_| false);
    world.remove(other, 1, [6; 16]);
    assert!(world.until(2, |world| world.clients[second].is_closed));
    let (first, _) = world.open(2, agreement(16, 200));
    let _ = world.until(2, |_| false);
    let secret = |number: u16| [&number.to_le_bytes()[..], &[1; 14]].concat().try_into().unwrap();
    for number in (0..4_200).step_by(15) {
        (0..15).for_each(|place| world.remove(first, place + 1, secret(number + u16::from(place))));
        let _ = world.until(1, |_| false);
    }
    let last = world.answer(3, &come(secret(4_199)));
    assert!(matches!(last, Answer::Come(_)), "all places were renewed");
    let removed = Answer::Refused(Refused::Removed);
    assert_eq!(world.answer(1, &come(opened.secrets.players[1])), removed);
}

/// One customer has a whole network of addresses of version 6.
#[test]
fn the_addresses_of_one_network_share_their_rooms_and_a_quarter_of_the_states() {
    let few = limits(|limits| limits.rooms_per_address_max = 2);
    let mut world = World::new(few, 9);
    let mut from = |last: u16| {
        let address = std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, last).into();
        let (connection, now) = (PeerId(1_000 + u32::from(last)), world.now);
        world.rooms.greet(connection, address, &open(agreement(2, 100)), now, &mut || [last as u8; 16]).answer
    };
    assert!(matches!((from(1), from(2)), (Answer::Opened(_), Answer::Opened(_))));
    assert_eq!(from(3), Answer::Refused(Refused::TooManyRooms));

    // Eight peers come at once, to rooms from eight addresses or from one.
    let apart = come_to_eight_rooms(Limits::default(), |room| room);
    // Of eight states at once.
    let one = apart.div_ceil(8);
    let limited = limits(|limits| {
        (limits.state_bytes_max, limits.states_bytes_max) = (2 * one as u32, 16 * one);
    });
    let together = come_to_eight_rooms(limited, |_| 7);
    assert!(together <= 4 * one && apart > 7 * one, "{apart}, {together}, a state has {one} bytes");
}

/// A game whose turns are too large for the relay's memory gets no room.
#[test]
fn turns_have_a_size_that_the_relay_allows() {
    let mut world = World::new(limits(|limits| limits.turn_bytes_max = 100), 23);
    let refused = Answer::Refused(Refused::TurnTooLarge { bytes: 256, max: 100 });
    assert_eq!(world.answer(3, &open(agreement(2, 100))), refused);
    let mut world = World::new(limits(|limits| limits.turn_bytes_max = 256), 23);
    assert!(matches!(world.answer(3, &open(agreement(2, 100))), Answer::Opened(_)));
}

/// In input mode the size of a turn is that of an action, and nobody looked at it.
#[test]
fn inputs_have_a_size_that_the_relay_allows() {
    let config = SessionConfig::input(2, 20).turns(100);
    let bits = [2_048, 2_056].map(|bits| open(Agreement::with_action_bits(&config, bits, b"").unwrap()));
    let mut world = World::new(Limits::default(), 23);
    assert!(matches!(world.answer(3, &bits[0]), Answer::Opened(_)));
    let refused = Answer::Refused(Refused::TurnTooLarge { bytes: 257, max: 256 });
    assert_eq!(world.answer(3, &bits[1]), refused);
}

/// Entries of four players, four at a time. The first player never confirms any, and the others confirm what is not there yet.
fn send_ahead(world: &mut World, members: &[usize], rounds: u32) {
    let from = members.iter().map(|member| world.session(*member).next_turn().0).min().unwrap();
    let of = |member: &usize| {
        (world.clients[*member].connection, world.session(*member).packet_key(PeerId(0)).unwrap())
    };
    let links: Vec<(PeerId, u64)> = members.iter().map(of).collect();
    for round in 0..rounds {
        let first = from + 4 * round;
        for (player, (connection, key)) in (0_u8..).zip(&links) {
            let acked = if player == 0 { from } else { first + 400 };
            let entry = |number: u32| Entry {
                payload: Payload::new(&[number as u8 ^ player; 250], 2_000),
                ..Entry::default()
            };
            let rest = TurnsPacket { base: first + 4, ..bare(acked, 4) };
            let packet = entries_of(player, first, (first..first + 4).map(entry).collect(), rest);
            world.inject(*connection, &sealed(&packet, *key));
        }
        if round % 4 == 0 {
            world.step();
        }
    }
}

/// A room of four whose entries may be large. Returns its members.
fn open_for_four(world: &mut World, address: u8) -> Vec<usize> {
    let config = SessionConfig::new(4).turns(100_000).turns_ahead(8);
    let config = config.drop_after(Duration::from_secs(24 * 3_600)).signed();
    let agreement = Agreement::new::<crate::toy::Order>(&config, b"").unwrap();
    let (first, opened) = world.open(address, agreement);
    let others = opened.secrets.players[1..].iter().map(|secret| world.come(*secret));
    [first].into_iter().chain(others).collect()
}

fn all_play(world: &World, members: &[usize]) -> bool {
    members.iter().all(|member| world.copy(*member).frames > 20)
}

/// Whether the relay tells the first of these members, who confirms nothing, that the others go on without it.
fn is_first_lost(world: &mut World, members: &[usize]) -> bool {
    let connection = world.clients[members[0]].connection;
    let key = world.session(members[0]).packet_key(PeerId(0)).unwrap();
    let mut is_lost = false;
    send_ahead(world, members, 1);
    for _ in 0..20 {
        let told = world.last_sent.iter().filter(|(to, _)| *to == connection);
        is_lost |= told
            .into_iter()
            .any(|(_, packet)| matches!(Packet::decode(packet, key, FORMAT), Ok(Packet::Bye(Bye::Dropped))));
        world.step();
    }
    is_lost
}

/// Rooms of three households, and so many bytes for all entries. The programs of all members are killed, and their entries come in so many rounds: 300, or as
/// many as are given in the first room.
fn five_rooms(bytes: u64, rounds: u32) -> (World, [Vec<usize>; 5]) {
    let mut world = World::new(limits(|limits| limits.entries_bytes_max = bytes), 43);
    world.loss = 0;
    let rooms = [3, 1, 1, 2, 2].map(|address| open_for_four(&mut world, address));
    assert!(world.until(60, |world| rooms.iter().all(|members| all_play(world, members))));
    rooms.iter().flatten().for_each(|member| world.kill(*member));
    assert!(!world.until(1, |_| false));
    for (members, rounds) in rooms.iter().zip([rounds, 300, 300, 300, 300]) {
        send_ahead(&mut world, members, rounds);
    }
    (world, rooms)
}

/// Whoever holds most loses first. The fullest room was searched among all of them, so two households with many rooms took the largest room of a third one.
#[test]
fn a_household_loses_nobody_while_another_one_holds_more() {
    let mut all = u64::MAX;
    for is_limited in [false, true] {
        let (mut world, rooms) = five_rooms(all, 500);
        // The largest room has less than a third, and its household the least.
        all = world.rooms.entries() / 20 * 19;
        let lost = rooms.map(|members| is_first_lost(&mut world, &members));
        let others = lost[1..].iter().filter(|is_lost| **is_lost).count();
        assert_eq!((lost[0], others > 0), (false, is_limited), "{lost:?}");
    }
}

/// Matches that were over kept their entries while everybody was told, and members of other rooms were dropped instead.
#[test]
fn nobody_pays_for_the_entries_of_matches_that_are_over() {
    let mut all = u64::MAX;
    for is_limited in [false, true] {
        let (mut world, rooms) = five_rooms(all, 100);
        all = world.rooms.entries() + 50_000;
        for member in rooms[1..].iter().flatten() {
            let key = world.session(*member).packet_key(PeerId(0)).unwrap();
            world.inject(world.clients[*member].connection, &sealed(&Packet::Bye(Bye::Left), key));
        }
        world.step();
        let (lost, held) = (world.rooms.counters().players_lost, world.rooms.entries());
        // A hundred of them are known.
        send_ahead(&mut world, &rooms[0], 300);
        assert_eq!((world.rooms.len(), world.rooms.counters().players_lost), (5, lost), "{is_limited}");
        assert!(held < all / 4 || !is_limited, "{held} of {all} bytes held after the end");
    }
}

/// Nothing counted the entries that are kept for whoever does not confirm them: two households could take all memory of a relay.
#[test]
fn entries_of_all_rooms_have_one_limit() {
    for all in [u64::MAX, 2 << 20] {
        let mut world = World::new(limits(|limits| limits.entries_bytes_max = all), 41);
        world.loss = 0;
        let honest = gather(&mut world, 2, 3, 400);
        let members = open_for_four(&mut world, 1);
        assert!(world.until(60, |world| all_play(world, &members)));
        members.iter().for_each(|member| world.kill(*member));
        assert!(!world.until(1, |_| false));
        let before = Counting::counts().bytes;
        send_ahead(&mut world, &members, 500);
        let (held, lost) = (Counting::counts().bytes - before, world.rooms.counters().players_lost);
        let is_limited = all < u64::MAX;
        // Eight thousand entries; a household has half of all.
        let expected = if is_limited { 0..1_500_000 } else { 2_500_000..6_000_000 };
        assert!(expected.contains(&held), "{held} bytes held, of {} counted", world.rooms.entries());
        assert!(world.rooms.entries() as i64 > held - 500_000, "{held}, {} counted", world.rooms.entries());
        assert_eq!(lost, u64::from(is_limited), "who does not confirm, and nobody else");
        assert!(world.until(120, |world| world.session(honest.players[0]).phase() == SessionPhase::Finished));
        assert_agreed(&world, &honest.players, "beside the room that was too large");
    }
}

/// The opener had the only other member removed, and closed its connection before the relay did: nothing noted that the room was empty.
#[test]
fn a_room_whose_last_member_was_removed_ends_when_idle() {
    for removes in [false, true] {
        let few = limits(|limits| limits.idle = Duration::from_secs(5));
        let mut world = World::new(few, 29);
        world.loss = 0;
        let (first, opened) = world.open(1, agreement(2, 200));
        let second = world.come(opened.secrets.players[1]);
        world.clients[first].driver.session_mut().set_ready(false);
        let _ = world.until(2, |_| false);
        if removes {
            world.remove(first, 1, [6; 16]);
            let (now, from, mut packet) = (world.now, world.clients[first].connection, Vec::new());
            for ms in 0..60 {
                let at = now + Duration::from_millis(ms);
                while world.clients[first].driver.session_mut().poll_transmit(at, &mut packet).is_some() {
                    world.rooms.packet(from, &packet, now);
                }
            }
        } else {
            world.kill(second);
            world.lose(second);
        }
        world.kill(first);
        world.lose(first);
        let _ = world.until(1, |_| false);
        assert!(world.clients[second].is_closed || !removes);
        assert!(!world.rooms.is_empty());
        assert!(world.until(10, |world| world.rooms.is_empty()), "removes: {removes}");
    }
}
