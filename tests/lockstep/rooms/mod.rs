//! The rooms of a relay with real sessions, in virtual time.

mod alone;
mod floods;
mod games;
mod misuse;
mod world;

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::greeting::{Answer, Refused};
use testudo_lockstep::service::places::{Pass, Secret};
use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::service::relay::phase;
use testudo_lockstep::{Duration, Failure, Instant, PeerId, SessionConfig, SessionPhase};
use testudo_tests::cases::cases;

use crate::toy::Order;
use world::{TICK, World, agreement, come, come_with, limits, open};

const SECOND: Duration = Duration::from_secs(1);

/// A room with all its clients.
struct Match {
    players: Vec<usize>,
    watchers: Vec<usize>,
    secrets: Vec<Secret>,
    watch: Secret,
}

/// Somebody opens a room and the others come.
fn gather(world: &mut World, address: u8, players: u8, turns: u32) -> Match {
    let (first, opened) = world.open(address, agreement(players, turns));
    let others: Vec<usize> = opened.secrets.players[1..].iter().map(|secret| world.come(*secret)).collect();
    let players = [first].into_iter().chain(others).collect();
    Match { players, watchers: Vec::new(), secrets: opened.secrets.players, watch: opened.secrets.watchers }
}

/// A match with the usual limits that has run for more than so many frames.
fn running(seed: u64, players: u8, turns: u32, frames: u64) -> (World, Match) {
    let mut world = World::new(Limits::default(), seed);
    let game = gather(&mut world, 1, players, turns);
    assert!(world.until(60, |world| world.copy(game.players[0]).frames > frames));
    (world, game)
}

impl Match {
    fn clients(&self) -> Vec<usize> {
        [&self.players[..], &self.watchers].concat()
    }
}

/// Those of these clients who were there at the end have finished, with the same copy.
fn assert_agreed(world: &World, clients: &[usize], what: &str) {
    let here: Vec<usize> = clients.iter().copied().filter(|client| world.clients[*client].is_alive).collect();
    for &client in &here {
        assert_eq!(world.session(client).phase(), SessionPhase::Finished, "{what}, client {client}");
        let (copy, first) = (world.copy(client), world.copy(here[0]));
        assert_eq!((copy.history, copy.frames), (first.history, first.frames), "{what}, client {client}");
    }
    assert!(world.copy(here[0]).actions > 20, "{what}: {:?}", world.copy(here[0]));
}

#[test]
fn twenty_rooms_with_everything_at_once() {
    for seed in cases([1, 2]) {
        let mut world = World::new(Limits::default(), seed);
        let mut games: Vec<Match> = (0..20_u8)
            .map(|room| {
                let game = gather(&mut world, room, 2 + room % 3, 150);
                for _ in 0..room {
                    world.step();
                }
                game
            })
            .collect();
        for game in &mut games[..10] {
            game.watchers.push(world.come(game.watch));
        }
        assert!(world.until(20, |world| world.copy(games[19].players[0]).frames > 0), "seed {seed}");

        // One player of every other room is killed; half of them come back with the same secret, at different times.
        let mut returns: Vec<(usize, usize, u64)> = Vec::new();
        for (room, game) in games.iter_mut().enumerate().filter(|(room, _)| room % 2 == 0) {
            let player = world.dice.between(0, game.players.len() as i32 - 1) as usize;
            world.kill(game.players[player]);
            if room % 4 == 0 && game.players.len() > 2 {
                returns.push((room, player, world.dice.between(0, 11_000) as u64));
            }
        }
        // Every third room gets another watcher in the middle of the match.
        for game in games.iter_mut().skip(1).step_by(3) {
            let _ = world.until(1, |_| false);
            game.watchers.push(world.come(game.watch));
        }
        let start = world.now;
        while !returns.is_empty() {
            world.step();
            let passed = world.now.since(start);
            returns.retain(|&(room, player, at)| {
                let is_due = passed >= Duration::from_millis(at);
                if is_due {
                    let game: &mut Match = &mut games[room];
                    game.players[player] = world.come(game.secrets[player]);
                }
                !is_due
            });
            // Strangers guess, and members repeat by their own connection what they have seen elsewhere.
            let guess: Secret = core::array::from_fn(|_| world.dice.between(0, 255) as u8);
            let (_, reply) = world.greet_from(99, &come(guess));
            assert_eq!(reply.answer, Answer::Refused(Refused::WrongSecret));
            if let Some((from, packet)) = world.captured.last().cloned() {
                let others =
                    (0..world.clients.len()).filter(|client| world.clients[*client].connection != from);
                if let Some(client) = others.filter(|client| world.clients[*client].is_alive).nth(3)
                    && packet.first().is_some_and(|first| first & 15 != 0)
                {
                    let connection = world.clients[client].connection;
                    world.inject(connection, &packet);
                    world.inject(PeerId(5), &packet);
                }
            }
        }
        assert!(world.until(120, |world| world.rooms.is_empty()), "seed {seed}: {} rooms", world.rooms.len());
        for (room, game) in games.iter().enumerate() {
            assert_agreed(&world, &game.clients(), &format!("seed {seed}, room {room}"));
        }
        let counters = world.rooms.counters();
        assert_eq!(
            (counters.rooms, counters.players_seen),
            (20, games.iter().map(|game| game.players.len() as u64).sum())
        );
        assert_eq!(counters.watchers_seen, games.iter().map(|game| game.watchers.len() as u64).sum::<u64>());
        assert!(counters.players_back > 0 && counters.players_lost > 0, "{counters:?}");
        assert!(counters.packets_refused > 100 && counters.greetings_refused > 100, "{counters:?}");
        assert_eq!(world.rooms.guests(), 0);
    }
}

#[test]
fn a_broken_connection_is_replaced_without_a_word_to_the_others() {
    let (mut world, game) = running(7, 2, 100, 20);
    // The same session goes on by a new connection, as after a change of the network.
    let former = world.clients[game.players[1]].connection;
    world.lose(game.players[1]);
    let (connection, reply) = world.greet_from(1, &come(game.secrets[1]));
    assert!(reply.is_welcome() && reply.former.is_none(), "{reply:?}");
    world.rename(former, connection);
    assert!(world.until(60, |world| world.rooms.is_empty()));
    assert_agreed(&world, &game.clients(), "both");
    assert_eq!(world.rooms.counters().players_lost, 0);
}

#[test]
fn who_claims_another_place_is_disconnected() {
    let mut world = World::new(Limits::default(), 8);
    let (first, opened) = world.open(1, agreement(3, 100));
    let second = world.come(opened.secrets.players[1]);
    world.step();
    let hello = world.captured.iter().find(|(from, _)| *from == world.clients[second].connection).cloned();
    let (_, hello) = hello.expect("a hello");
    world.inject(world.clients[first].connection, &hello);
    world.step();
    assert!(world.clients[first].is_closed, "player 0 claimed to be player 1");
    assert!(!world.clients[second].is_closed);
}

#[test]
fn limits_are_kept_and_told() {
    let few = limits(|limits| {
        (limits.rooms_max, limits.rooms_per_address_max, limits.watchers_max) = (3, 2, 1);
    });
    let mut world = World::new(few, 9);
    let (_, opened) = world.open(1, agreement(2, 100));
    world.open(1, agreement(2, 100));
    let greeting = open(agreement(2, 100));
    assert_eq!(world.answer(1, &greeting), Answer::Refused(Refused::TooManyRooms), "two from one address");
    world.open(2, agreement(2, 100));
    assert_eq!(world.answer(3, &greeting), Answer::Refused(Refused::TooManyRooms), "three in all");
    world.come(opened.secrets.watchers);
    assert_eq!(world.answer(1, &come(opened.secrets.watchers)), Answer::Refused(Refused::Full));
    world.come(opened.secrets.referee);
    let mut other = greeting.clone();
    other[0] ^= 1;
    assert!(matches!(world.answer(3, &other), Answer::Refused(Refused::Version(_))));
    assert_eq!(world.answer(3, &greeting[..9]), Answer::Refused(Refused::Malformed));
    let mut guess = greeting;
    guess[3] ^= 1;
    assert_eq!(
        world.answer(3, &guess),
        Answer::Refused(Refused::WrongSecret),
        "rooms are opened with the relay's secret only"
    );
}

/// Each arrival costs a player the sending of its state, so a code that many have is no way to keep a player busy.
#[test]
fn who_comes_again_and_again_is_told_to_come_later() {
    let (mut world, game) = running(15, 2, 4_000, 100);
    let come_and_go = |world: &mut World| {
        let (connection, reply) = world.greet_from(7, &come(game.watch));
        world.rooms.closed(connection, world.now);
        reply.answer
    };
    let answers: Vec<Answer> = (0..100).map(|_| come_and_go(&mut world)).collect();
    let (first, later) = answers.split_at(32);
    assert!(first.iter().all(|answer| matches!(answer, Answer::Come(_))));
    assert!(later.iter().all(|answer| *answer == Answer::Refused(Refused::Later)));
    let _ = world.until(3, |_| false);
    assert!(matches!(come_and_go(&mut world), Answer::Come(_)), "one each two seconds");
}

/// There was one limit for all who came to a match, so the holder of any of its codes kept crashed players out.
#[test]
fn who_comes_again_and_again_keeps_nobody_else_out() {
    let (mut world, mut game) = running(18, 3, 4_000, 100);
    for code in [game.watch, game.secrets[2]] {
        world.kill(game.players[1]);
        let mut later = 0;
        // A hundred times a second for five seconds.
        for _ in 0..500 {
            let (connection, reply) = world.greet_from(7, &come(code));
            world.rooms.closed(connection, world.now);
            later += u32::from(reply.answer == Answer::Refused(Refused::Later));
            world.step();
            world.step();
        }
        assert!(later > 400, "the code itself is limited: {later}");
        game.players[1] = world.come(game.secrets[1]);
        let back = game.players[1];
        assert!(world.until(60, |world| world.copy(back).frames > 100), "player 1 plays again");
    }
    let left: Vec<Answer> = (0..3).map(|_| world.answer(1, &come(game.secrets[1]))).collect();
    assert!(left.iter().all(|answer| matches!(answer, Answer::Come(_))), "{left:?}");
}

/// One code in two programs: each takes the place from the other, and each time somebody has to send a state.
#[test]
fn one_code_in_two_programs_is_told_to_come_later() {
    let (mut world, game) = running(19, 2, 4_000, 100);
    let mut welcome = 0;
    for _ in 0..60 {
        welcome += u32::from(world.greet_from(7, &come(game.secrets[1])).1.is_welcome());
        let _ = world.until(1, |_| false);
    }
    assert!((10..=12).contains(&welcome), "six, and one every twelve seconds: {welcome}");
}

/// Matches that became complete in the same moment began in the same moment, and all their turns were forwarded together.
#[test]
fn rooms_that_fill_at_once_are_forwarded_one_after_the_other() {
    let mut world = World::new(Limits::default(), 20);
    (world.loss, world.delay) = (0, (10, 10));
    let games: Vec<Match> = (0..10).map(|room| gather(&mut world, room, 2, 100)).collect();
    let mut began = [None; 10];
    while began.iter().any(Option::is_none) {
        assert!(world.now < Instant::from_millis(5_000), "{began:?}");
        world.step();
        for (game, began) in games.iter().zip(&mut began) {
            if began.is_none() && world.copy(game.players[1]).frames > 0 {
                *began = Some(world.now.as_micros() % 50_000);
            }
        }
    }
    // The world stands for some milliseconds at a time, so two moments that are closer than that may look the same.
    let mut free: Vec<Duration> = Vec::new();
    for _ in 0..10 {
        free.push(phase::freest(Duration::from_millis(50), free.iter().copied()));
    }
    free.sort_unstable();
    let next = free.iter().skip(1).copied().chain([free[0] + Duration::from_millis(50)]);
    let close = free.iter().zip(next).filter(|(one, next)| *next - **one < TICK).count();
    began.sort_unstable();
    let distinct = 1 + began.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(close <= 2 && distinct >= 10 - close, "{began:?}: {close} are close");
}

/// Packets left in the order of rooms, so players waited for the watchers of other rooms.
#[test]
fn no_player_waits_for_a_watcher_of_another_room() {
    let mut world = World::new(Limits::default(), 21);
    let mut games: Vec<Match> = (0..6).map(|room| gather(&mut world, room, 2, 400)).collect();
    for game in &mut games {
        game.watchers = (0..3).map(|_| world.come(game.watch)).collect();
    }
    let mut mixed = 0;
    for _ in 0..2_000 {
        world.step();
        let is_of = |clients: &[usize], connection: PeerId| {
            clients.iter().any(|client| world.clients[*client].connection == connection)
        };
        let is_player =
            |(connection, _): &(PeerId, Vec<u8>)| games.iter().any(|game| is_of(&game.players, *connection));
        let sent: Vec<bool> = world.last_sent.iter().map(is_player).collect();
        assert!(sent.is_sorted_by(|first, second| first >= second), "players first: {sent:?}");
        mixed += u32::from(sent.contains(&true) && sent.contains(&false));
    }
    assert!(mixed > 50, "{mixed}");
}

/// A holder of the code to watch took every place to watch from, so that no referee could come.
#[test]
fn those_who_watch_leave_the_referee_its_place() {
    let mut world = World::new(Limits::default(), 22);
    let (first, opened) = world.open(1, agreement(2, 100));
    let second = world.come(opened.secrets.players[1]);
    let mut watchers: Vec<usize> = (0..16).map(|_| world.come(opened.secrets.watchers)).collect();
    assert!(world.until(20, |world| watchers.iter().all(|client| world.copy(*client).frames > 20)));
    assert_eq!(world.answer(1, &come(opened.secrets.watchers)), Answer::Refused(Refused::Full));
    watchers.push(world.come(opened.secrets.referee));
    assert!(world.until(120, |world| world.rooms.is_empty()));
    assert_agreed(&world, &[&[first, second][..], &watchers].concat(), "with a referee");
}

/// It took the place and could not play; then both were out.
#[test]
fn a_code_in_a_program_with_another_key_does_not_displace_whoever_plays() {
    let (mut world, game) = running(18, 3, 200, 20);
    for token in 1..100 {
        let pass = Pass { secret: game.secrets[2], token: [token; 16] };
        let reply = world.greet_from(2, &come_with(pass)).1;
        assert_eq!((reply.answer, reply.former), (Answer::Refused(Refused::OtherProgram), None));
        world.step();
    }
    assert!(world.until(120, |world| world.rooms.is_empty()));
    assert!(game.players.iter().all(|player| world.session(*player).stats().drops == 0));
    assert_agreed(&world, &game.clients(), "nobody was displaced");
}

#[test]
fn rooms_in_which_nobody_is_end() {
    let usual = Limits::default();
    let mut world = World::new(usual, 10);
    let (client, opened) = world.open(1, agreement(2, 100));
    world.kill(client);
    world.lose(client);
    assert!(!world.until(usual.idle.as_millis() / 1_000 - 2, |world| world.rooms.is_empty()), "too soon");
    assert!(world.until(5, |world| world.rooms.is_empty()));
    assert_eq!(
        world.answer(1, &come(opened.secrets.players[1])),
        Answer::Refused(Refused::Over),
        "a guest that comes too late is told"
    );

    let (client, _) = world.open(1, agreement(2, 100));
    assert!(
        world.until(usual.lobby.as_millis() / 1_000 + 10, |world| world.rooms.is_empty()),
        "nobody else came"
    );
    assert!(matches!(world.session(client).phase(), SessionPhase::Failed(Failure::NeverBegan(_))));
}

#[test]
fn a_relay_that_is_told_to_stop_lets_matches_finish() {
    let mut world = World::new(Limits::default(), 11);
    let game = gather(&mut world, 1, 3, 100);
    let (waiting, opened) = world.open(2, agreement(2, 100));
    assert!(world.until(10, |world| world.copy(game.players[0]).frames > 40));
    assert!(!world.rooms.is_full());
    world.rooms.stop(world.now);
    assert!(world.rooms.is_full());
    assert_eq!(world.answer(3, &open(agreement(2, 9))), Answer::Refused(Refused::GoingAway));
    assert!(world.until(5, |world| world.rooms.len() == 1), "the lobby ends at once");
    assert!(matches!(world.session(waiting).phase(), SessionPhase::Failed(Failure::NeverBegan(_))));
    // Whoever has not heard of it and asks again was told that the match was over.
    let again = world.answer(2, &come(opened.secrets.players[0]));
    assert_eq!(again, Answer::Refused(Refused::GoingAway));
    assert!(world.until(60, |world| world.rooms.is_empty()));
    assert_agreed(&world, &game.clients(), "the match that ran");
}

#[test]
fn a_relay_does_not_wait_for_ever() {
    let mut world = World::new(limits(|limits| limits.drain = SECOND.times(5)), 12);
    let game = gather(&mut world, 1, 2, 10_000);
    assert!(world.until(10, |world| world.copy(game.players[0]).frames > 40));
    world.rooms.stop(world.now);
    assert!(!world.until(4, |world| world.rooms.is_empty()), "the match goes on");
    let is_over = |world: &World| game.players.iter().all(|client| world.session(*client).is_over());
    assert!(world.until(3, is_over), "everybody is told");
    assert_eq!(world.rooms.len(), 1, "the room lingers for those who have not heard");
    assert_eq!(world.answer(1, &come(game.secrets[0])), Answer::Refused(Refused::GoingAway));
    assert!(world.until(6, |world| world.rooms.is_empty()));
    for client in game.players {
        assert!(matches!(world.session(client).phase(), SessionPhase::Failed(Failure::PeerLeft(_))));
    }
}

/// The room was gone at once: nobody was told, and whoever asked again heard that the match was over.
#[test]
fn a_match_that_is_too_old_is_ended_for_all() {
    let mut world = World::new(limits(|limits| limits.age_max = SECOND.times(20)), 13);
    let game = gather(&mut world, 1, 2, 10_000);
    assert!(world.until(10, |world| world.copy(game.players[0]).frames > 40));
    let is_over = |world: &World| game.players.iter().all(|client| world.session(*client).is_over());
    assert!(world.until(20, is_over), "everybody is told");
    for client in &game.players {
        assert!(matches!(world.session(*client).phase(), SessionPhase::Failed(Failure::PeerLeft(_))));
    }
    assert_eq!(world.answer(1, &come(game.secrets[0])), Answer::Refused(Refused::GoingAway));
    assert!(world.until(6, |world| world.rooms.is_empty()));
}

/// A cluster took such a relay for one with room.
#[test]
fn a_relay_that_renews_its_certificate_is_full() {
    let mut world = World::new(Limits::default(), 14);
    for is_renewing in [true, false] {
        world.rooms.set_renewing(is_renewing);
        assert_eq!(world.rooms.is_full(), is_renewing);
        let answer = world.answer(3, &open(agreement(2, 9)));
        assert_eq!(matches!(answer, Answer::Refused(Refused::GoingAway)), is_renewing);
    }
}

/// Frames of a millisecond made it send a packet in each of them to everybody.
#[test]
fn short_frames_cost_the_relay_no_more_packets() {
    let mut world = World::new(Limits::default(), 15);
    let config = SessionConfig::new(2).turns(100_000).content_hash(5).frames_per_second(1_000).signed();
    let config = config.frames_per_turn(200).actions_per_turn_max(8);
    let (_, opened) = world.open(1, Agreement::new::<Order>(&config, b"a map").unwrap());
    let other = world.come(opened.secrets.players[1]);
    assert!(world.until(10, |world| world.copy(other).frames > 1_000));
    let before = world.rooms.counters().packets_out;
    assert!(!world.until(10, |_| false));
    let sent = world.rooms.counters().packets_out - before;
    // Ten seconds, two connections, and five times per second a turn for each.
    assert!((1_000..=2_100).contains(&sent), "{sent} packets");
}
