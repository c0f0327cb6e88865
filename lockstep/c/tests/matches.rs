//! Matches through the functions that C calls, without sockets.

mod toy;

use std::collections::VecDeque;
use std::ptr::null_mut;

use testudo::*;
use testudo_lockstep::replay::Replay;
use testudo_lockstep::{Driver, Instant, PeerId, PlayerId, Session, SessionConfig};

use toy::{Inbox, Order, Peer, TURNS, Toy, Typed, bytes_of, config, peers, play, play_to_end, words};

#[test]
fn peers_play_to_the_end_with_the_same_checksum_of_every_turn() {
    let (mut peers, mut net) = peers(&config(3));
    play_to_end(&mut peers, &mut net, &mut 0);
    for peer in &peers {
        peer.assert_well();
        assert_eq!(peer.toy.checksums, peers[0].toy.checksums);
        assert_eq!((peer.toy.checksums.len() as u32, peer.toy.frames), (TURNS, 2 * TURNS));
        let ran: usize =
            (1..TURNS).flat_map(|turn| (0..3).map(move |player| Order::all(turn, player).len())).sum();
        assert_eq!(peer.toy.actions as usize, ran, "several actions of a turn stay several");
        assert_eq!([TESTUDO_EVENT_STARTED, TESTUDO_EVENT_FINISHED].map(|kind| peer.of(kind).len()), [1, 1]);
        let result = &peer.of(TESTUDO_EVENT_RESULT)[0].0;
        assert_eq!((result.players, result.number, &result.values[..3]), (0b111, 1, &[7, 7, 7][..]));
        // SAFETY: the match is one.
        let told = unsafe { (testudo_match_checksum(peer.handle), testudo_match_frame(peer.handle)) };
        assert_eq!(told, (peer.toy.checksum(), 2 * TURNS));
        // SAFETY: as above.
        assert_eq!(unsafe { testudo_match_compared_turns(peer.handle) }, TURNS);
    }
}

/// The settings of [`config`] as a peer in Rust has them.
fn typed_config() -> SessionConfig {
    let config = SessionConfig::new(2).session_id(77).content_hash(5).entropy([4; 16]);
    config.turns(TURNS).frames_per_turn(2).actions_per_turn_max(3)
}

/// Rounds of a peer in C and one in Rust; node n is player n.
fn play_mixed(peer: &mut Peer, driver: &mut Driver<Typed>) {
    let (mut net, mut packet) = (vec![VecDeque::new(); 2], Vec::new());
    let node = 1 - peer.node;
    let mut given = 0;
    for now in (0..).map(|round| round * 10_000) {
        if peer.is_over() && driver.session().is_over() {
            return;
        }
        assert!(now < 60_000_000, "{:?}", peer.events);
        let at = Instant::from_micros(now);
        peer.round(&mut net, now);
        while let Some((from, packet)) = net[node as usize].pop_front() {
            driver.session_mut().handle_packet(at, PeerId(from), &packet);
        }
        driver.advance(at);
        let turn = driver.session().next_turn().0;
        if turn > given {
            given = turn;
            let orders = Order::all(turn, node);
            orders.iter().for_each(|order| driver.session_mut().submit(order).expect("there is room"));
        }
        while let Some(to) = driver.session_mut().poll_transmit(at, &mut packet) {
            net[to.0 as usize].push_back((node, packet.clone()));
        }
    }
}

#[test]
fn a_peer_in_c_plays_with_one_in_rust_as_host_and_as_guest() {
    for node in [0, 1] {
        let mut config = config(2);
        config.own.records = 1;
        let mut peer = Peer::new(&config, Box::default(), node, 0);
        let session = match node {
            0 => Session::join(typed_config(), PlayerId(1), PeerId(0), Instant::ZERO),
            _ => Session::host(typed_config(), Instant::ZERO),
        };
        let mut driver = Driver::new(Typed::default(), session.expect("settings in range"));
        play_mixed(&mut peer, &mut driver);
        peer.assert_well();
        assert_eq!(peer.toy.checksums, driver.simulation().0.checksums);
        assert_eq!(
            (peer.toy.checksums.len() as u32, peer.toy.actions),
            (TURNS, driver.simulation().0.actions)
        );
        // What the peer in C has recorded is a replay of the game in Rust.
        let replay = Replay::read(peer.replay.clone(), 3).expect("a replay");
        let verification = replay.verify(Typed::default());
        assert!(verification.is_sound() && verification.turns == TURNS, "{verification}");
    }
}

#[test]
fn who_comes_back_gets_the_state_from_the_others() {
    let mut config = config(2);
    (config.own.place_secret, config.own.records) = ([3; 16], 1);
    let (mut peers, mut net) = peers(&config);
    let mut now = 0;
    play(&mut peers, &mut net, &mut now, |peers| peers[1].turn() > 15);
    net[1].clear();
    config.own.entropy = [8; 16];
    peers[1] = Peer::new(&config, Box::default(), 1, now);
    play_to_end(&mut peers, &mut net, &mut now);
    peers.iter().for_each(Peer::assert_well);
    for kind in [TESTUDO_EVENT_JOINED, TESTUDO_EVENT_CAUGHT_UP, TESTUDO_EVENT_PLAYER_RETURNED] {
        assert_eq!(peers[1].of(kind).len(), 1, "{kind}: {:?}", peers[1].events);
    }
    assert_eq!(peers[0].toy.checksum(), peers[1].toy.checksum());
    let first = *peers[1].toy.checksums.keys().next().expect("turns");
    assert!(
        first > 10 && peers[0].toy.checksums.range(first..).eq(&peers[1].toy.checksums),
        "from turn {first} on"
    );
    // SAFETY: the matches are some.
    let files = [0, 1].map(|peer: usize| unsafe { testudo_match_replay_file(peers[peer].handle) });
    assert_eq!(files, [0, 1], "a new one since the state came");
}

/// A watcher shows everything a little later, and sees the same.
#[test]
fn a_watcher_sees_the_same_match() {
    let mut config = config(2);
    config.arrivals.watchers_min = 1;
    let (mut peers, _) = peers(&config);
    (config.own.playout_ms, config.own.entropy) = (100, [5; 16]);
    peers.push(Peer::watching(&config, Box::default(), 2));
    let (mut net, mut now) = (vec![Inbox::new(); 3], 0);
    play(&mut peers, &mut net, &mut now, |peers| peers[2].turn() > 5);
    let (mut from, mut link) = (0, 0);
    // SAFETY: all of it is there.
    unsafe {
        let asked = testudo_match_send_message(peers[2].handle, TESTUDO_MIDDLE, b"who leads?".as_ptr(), 10);
        assert_eq!(asked, TESTUDO_OK, "{}", words());
        play(&mut peers, &mut net, &mut now, |peers| {
            testudo_match_poll_message(peers[0].handle, &mut from, &mut link, peers[0].buffer) == 1
        });
        assert_eq!((from, link, bytes_of(peers[0].buffer)), (TESTUDO_WATCHER, 2, b"who leads?".to_vec()));
        assert_eq!(testudo_match_send_to_link(peers[0].handle, link, b"I".as_ptr(), 1), TESTUDO_OK);
        play(&mut peers, &mut net, &mut now, |peers| {
            testudo_match_poll_message(peers[2].handle, &mut from, null_mut(), peers[2].buffer) == 1
        });
        assert_eq!((from, bytes_of(peers[2].buffer)), (0, b"I".to_vec()));
    }
    play_to_end(&mut peers, &mut net, &mut now);
    peers.iter().for_each(Peer::assert_well);
    assert_eq!(peers[2].toy.checksums, peers[0].toy.checksums);
    // SAFETY: the match is one.
    assert_eq!(unsafe { testudo_match_player(peers[2].handle) }, TESTUDO_WATCHER);
    let came = peers[0].of(TESTUDO_EVENT_CONNECTED);
    assert!(came.iter().any(|(event, _)| (event.peer, event.player) == (2, TESTUDO_WATCHER)), "{came:?}");
}

#[test]
fn a_wrong_bit_is_told_as_a_desync() {
    let (mut peers, mut net) = peers(&config(3));
    peers[2].toy.wrong_at = 21;
    play_to_end(&mut peers, &mut net, &mut 0);
    for peer in &peers {
        let told = peer.of(TESTUDO_EVENT_DESYNC);
        let (event, words) = told[0];
        assert_eq!((told.len(), event.turn, event.player, event.players), (1, 10, 2, 0b111), "{words}");
        assert_eq!(event.values[0], event.values[1]);
        assert_ne!(event.values[0], event.values[2]);
        assert_eq!(event.number, event.values[peer.node as usize], "its own");
        assert!(words.starts_with("the checksums of turn 10 differ"), "{words}");
    }
}

#[test]
fn a_replay_is_verified_and_a_flipped_bit_in_it_is_found() {
    let mut config = config(2);
    let data = b"map 4";
    (config.own.records, config.game_data, config.game_length) = (1, data.as_ptr(), 5);
    let (mut peers, mut net) = peers(&config);
    play_to_end(&mut peers, &mut net, &mut 0);
    let file = peers[1].replay.clone();
    let verify = |bytes: &[u8], version| {
        let (mut replay, mut toy) = (null_mut(), Toy::default());
        let mut found = TestudoVerification { turns: 0, first_difference: 0, sound: 0 };
        // SAFETY: all of it is there.
        unsafe {
            let read = testudo_replay_read(bytes.as_ptr(), bytes.len(), version, &mut replay);
            if read == TESTUDO_OK {
                assert_eq!(testudo_replay_verify(replay, &toy.game(), null_mut(), &mut found), TESTUDO_OK);
            }
            testudo_replay_free(replay);
            (read, found.turns, found.first_difference, found.sound)
        }
    };
    assert_eq!(verify(&file, 3), (TESTUDO_OK, TURNS, TESTUDO_NEVER, 1));
    assert_eq!(verify(&file, 4).0, TESTUDO_VERSION);
    for bit in (0..file.len() * 8).step_by(61) {
        let mut file = file.clone();
        file[bit / 8] ^= 1 << (bit % 8);
        let found = verify(&file, 3);
        assert!(found.0 != TESTUDO_OK || found.3 == 0, "bit {bit}: {found:?}");
    }
    let ((replay, info), mut player, mut toy) = (toy::read(&file, 3), null_mut(), Toy::default());
    // SAFETY: all of it is there.
    unsafe {
        assert_eq!(testudo_replay_game_data(replay, peers[0].buffer), TESTUDO_OK);
        assert_eq!(bytes_of(peers[0].buffer), data);
        assert_eq!(testudo_replay_player_new(replay, &toy.game(), &mut player), TESTUDO_OK);
        testudo_replay_free(replay);
        for turn in [20, 50, 3] {
            assert_eq!(testudo_replay_player_seek(player, turn), TESTUDO_OK, "{}", words());
            assert_eq!((testudo_replay_player_turn(player), toy.frames), (turn, 2 * turn));
            assert_eq!(toy.checksum(), peers[0].toy.checksums[&(turn - 1)]);
        }
        assert_eq!((testudo_replay_player_step(player), testudo_replay_player_frame(player)), (1, 1));
        assert_eq!(testudo_replay_player_seek(player, TURNS + 1), TESTUDO_REFUSED);
        assert_eq!(testudo_replay_player_difference(player), TESTUDO_NEVER);
        testudo_replay_player_free(player);
    }
    let told = (info.content_hash, info.players, info.turns, info.first_turn, info.desync_turn);
    assert_eq!(told, (5, 2, TURNS, 0, TESTUDO_NEVER));
    assert_eq!((info.complete, info.damaged), (1, 0));
}

#[test]
fn a_saved_match_goes_on() {
    let (mut peers, mut net) = peers(&config(2));
    let mut now = 0;
    play(&mut peers, &mut net, &mut now, |peers| peers[0].turn() > 20);
    // SAFETY: all of it is there.
    unsafe {
        assert_eq!(testudo_match_take_saved(peers[0].handle, peers[0].buffer), TESTUDO_REFUSED);
        assert_eq!(testudo_match_save(peers[0].handle), TESTUDO_OK);
    }
    play(&mut peers, &mut net, &mut now, |peers| !peers[0].of(TESTUDO_EVENT_SAVED).is_empty());
    // SAFETY: all of it is there.
    assert_eq!(unsafe { testudo_match_take_saved(peers[0].handle, peers[0].buffer) }, TESTUDO_OK);
    let (saved, state) = (bytes_of(peers[0].buffer), peers[0].toy.kept.clone());
    play_to_end(&mut peers, &mut net, &mut now);
    let turn = peers[0].of(TESTUDO_EVENT_SAVED)[0].0.turn;

    let mut config = config(2);
    (config.own.saved, config.own.saved_length) = (saved.as_ptr(), saved.len());
    let (mut handle, mut fresh) = (null_mut(), Toy::default());
    // SAFETY: all of it is there.
    let made = unsafe { testudo_match_host(&config, &fresh.game(), 0, &mut handle) };
    assert_eq!(
        (made, handle, words()),
        (TESTUDO_REFUSED, null_mut(), "the game is not in the state that was saved".into())
    );
    let resumed = |node| {
        let mut toy = Box::<Toy>::default();
        assert!(toy.restore(&state));
        Peer::new(&config, toy, node, 0)
    };
    let (mut again, mut net) = (vec![resumed(0), resumed(1)], vec![VecDeque::new(); 2]);
    play(&mut again, &mut net, &mut 0, |peers| peers.iter().all(Peer::is_over));
    again.iter().for_each(Peer::assert_well);
    // The orders after the save were given anew; those in flight came with it.
    assert_eq!(again[0].toy.checksums, again[1].toy.checksums);
    assert_eq!(again[0].toy.checksums[&turn], peers[0].toy.checksums[&turn]);
    assert_eq!(again[0].toy.checksums.len() as u32, TURNS - turn);
}

#[test]
fn a_game_ends_the_match_at_the_same_turn_everywhere() {
    unsafe extern "C" fn is_over(context: *mut std::ffi::c_void) -> TestudoBool {
        // SAFETY: the context is a toy.
        (unsafe { &*context.cast::<Toy>() }.frames >= 30).into()
    }
    let mut config = config(2);
    config.turns.count = 0;
    let mut peers = Vec::new();
    for node in [0, 1] {
        peers.push(Peer::made(Box::default(), node, |game, handle| {
            let game = TestudoGame { is_over: Some(is_over), ..*game };
            // SAFETY: all of it is there.
            unsafe {
                match node {
                    0 => testudo_match_host(&config, &game, 0, handle),
                    _ => testudo_match_join(&config, &game, 1, 0, 0, handle),
                }
            }
        }));
    }
    play_to_end(&mut peers, &mut vec![VecDeque::new(); 2], &mut 0);
    peers.iter().for_each(Peer::assert_well);
    assert_eq!(peers[0].toy.checksums, peers[1].toy.checksums);
    assert_eq!(peers[0].toy.frames, 32, "the turn after it was decided is the last one");
}

#[test]
fn a_callback_cannot_call_its_own_match() {
    let mut config = config(1);
    config.turns.count = 5;
    let mut peer = [Peer::alone(&config, Box::default())];
    peer[0].toy.within = peer[0].handle;
    play_to_end(&mut peer, &mut vec![VecDeque::new(); 1], &mut 0);
    assert_eq!(peer[0].toy.answers, [TESTUDO_BUSY; 4]);
    peer[0].assert_well();
}

/// A program that has one set of settings for all its matches: they waited for a relay, and for somebody who watches.
#[test]
fn a_match_alone_waits_for_nobody_whatever_the_network_settings_are() {
    let network = [(TESTUDO_TOPOLOGY_HOST, 1), (TESTUDO_TOPOLOGY_RELAY, 0), (TESTUDO_TOPOLOGY_MESH, 0)];
    for (topology, watchers) in network {
        let mut config = config(1);
        (config.topology, config.turns.count, config.arrivals.watchers_min) = (topology, 5, watchers);
        let mut peer = [Peer::alone(&config, Box::default())];
        play_to_end(&mut peer, &mut vec![VecDeque::new(); 1], &mut 0);
        peer[0].assert_well();
        assert_eq!(peer[0].toy.frames, 10, "topology {topology}");
    }
}

#[test]
fn pause_speed_messages_and_profiles_reach_the_other_side() {
    let (mut peers, mut net) = peers(&config(2));
    let mut now = 0;
    // SAFETY: all of it is there.
    unsafe {
        assert_eq!(testudo_match_set_profile(peers[1].handle, 1, b"Bo".as_ptr(), 2), TESTUDO_OK);
        assert_eq!(testudo_match_set_ready(peers[1].handle, 0), TESTUDO_OK);
        play(&mut peers, &mut net, &mut now, |peers| !peers[0].of(TESTUDO_EVENT_PROFILE).is_empty());
        assert_eq!(testudo_match_profile(peers[0].handle, 1, peers[0].buffer), TESTUDO_OK);
        assert_eq!(bytes_of(peers[0].buffer), b"Bo");
        assert_eq!(testudo_match_phase(peers[0].handle), TESTUDO_PHASE_LOBBY);
        assert_eq!(testudo_match_present_players(peers[0].handle), 0b11);
        assert_eq!(testudo_match_ready_players(peers[0].handle), 0b01);
        testudo_match_set_ready(peers[1].handle, 1);
        play(&mut peers, &mut net, &mut now, |peers| peers[0].turn() > 4);
        assert_eq!(
            testudo_match_send_message(peers[0].handle, TESTUDO_EVERYBODY, b"hi".as_ptr(), 2),
            TESTUDO_OK
        );
        assert_eq!(testudo_match_pause(peers[1].handle, 1), TESTUDO_OK);
        play(&mut peers, &mut net, &mut now, |peers| testudo_match_is_paused(peers[0].handle) != 0);
        let (mut from, frame) = (99, testudo_match_frame(peers[0].handle));
        assert_eq!(testudo_match_poll_message(peers[1].handle, &mut from, null_mut(), peers[1].buffer), 1);
        assert_eq!((from, bytes_of(peers[1].buffer)), (0, b"hi".to_vec()));
        assert_eq!(testudo_match_poll_message(peers[1].handle, null_mut(), null_mut(), peers[1].buffer), 0);
        let turn = peers[0].turn();
        play(&mut peers, &mut net, &mut now, |peers| peers[0].turn() > turn + 3);
        assert_eq!(testudo_match_frame(peers[0].handle), frame, "no frames in a pause");
        assert_eq!(testudo_match_pause(peers[0].handle, 0), TESTUDO_OK);
        assert_eq!(testudo_match_set_speed(peers[0].handle, 200), TESTUDO_OK);
        assert_eq!(testudo_match_set_speed(peers[0].handle, 251), TESTUDO_OUT_OF_RANGE);
        assert_eq!(
            testudo_match_vote_out(peers[0].handle, 1, 1),
            TESTUDO_REFUSED,
            "nobody votes in a match of two"
        );
        play_to_end(&mut peers, &mut net, &mut now);
    }
    peers.iter().for_each(Peer::assert_well);
    let paused: Vec<_> =
        peers[0].of(TESTUDO_EVENT_PAUSED).iter().map(|(event, _)| (event.player, event.number)).collect();
    assert_eq!(paused, [(1, 1), (0, 0)]);
    assert_eq!(peers[1].of(TESTUDO_EVENT_SPEED)[0].0.number, 200);
}

/// Whoever leaves is told as gone, with the reason.
#[test]
fn who_leaves_is_gone_from_the_same_turn_on() {
    let (mut peers, mut net) = peers(&config(3));
    let mut now = 0;
    play(&mut peers, &mut net, &mut now, |peers| peers[0].turn() > 9);
    // SAFETY: the matches are some.
    unsafe {
        assert_eq!(testudo_match_resign(peers[2].handle, 3), TESTUDO_OUT_OF_RANGE);
        assert_eq!(testudo_match_leave(peers[2].handle), TESTUDO_OK);
        assert_eq!(testudo_match_kick(peers[1].handle, 0), TESTUDO_REFUSED);
    }
    play_to_end(&mut peers, &mut net, &mut now);
    let gone = peers[1].of(TESTUDO_EVENT_PLAYER_GONE)[0].0;
    assert_eq!((gone.player, gone.number), (2, TESTUDO_GONE_LEFT));
    // SAFETY: the match is one.
    assert_eq!(unsafe { testudo_match_phase(peers[2].handle) }, TESTUDO_PHASE_LEFT);
    assert_eq!(peers[0].toy.checksums, peers[1].toy.checksums);
}

/// Orders that waited when their player left ran nowhere, and no number said so: only a caller in Rust was told how many.
#[test]
fn orders_that_wait_when_their_player_goes_are_counted_as_cancelled() {
    let mut config = config(1);
    config.turns.actions_max = 1;
    for resigns in [false, true] {
        let (mut peer, mut net, mut now) = ([Peer::alone(&config, Box::default())], [VecDeque::new()], 0);
        let handle = peer[0].handle;
        play(&mut peer, &mut net, &mut now, |peers| peers[0].turn() > 9);
        (0..3).for_each(|value| peer[0].submit(Order::Short(value)));
        // SAFETY: the match is one.
        let gone = unsafe {
            if resigns {
                testudo_match_resign(handle, TESTUDO_SUCCESSOR_NOBODY)
            } else {
                testudo_match_leave(handle)
            }
        };
        assert_eq!(gone, TESTUDO_OK);
        play_to_end(&mut peer, &mut net, &mut now);
        let cancelled: u64 = peer[0].of(TESTUDO_EVENT_CANCELLED).iter().map(|(event, _)| event.number).sum();
        assert!(cancelled >= 3, "{:?}", peer[0].events);
        assert_eq!(u64::from(peer[0].toy.actions) + cancelled, u64::from(peer[0].accepted), "none is lost");
    }
}
