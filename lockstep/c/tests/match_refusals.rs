//! What a match refuses: settings, pointers, actions, packets.

mod toy;
mod tried;

use std::collections::VecDeque;
use std::ptr::{null, null_mut};

use testudo::*;

use toy::{EVENT, Peer, Toy, config, peers, play, testudo_config, words};
use tried::{Call, assert_tried, calls};

#[test]
fn settings_and_games_that_cannot_be_are_refused_with_words() {
    let mut toy = Toy::default();
    let game = toy.game();
    let refused = |config: &TestudoConfig, game: &TestudoGame| {
        let mut handle = null_mut();
        // SAFETY: all of it is there.
        let status = unsafe { testudo_match_host(config, game, 0, &mut handle) };
        assert!(handle.is_null());
        (status, words())
    };
    let with = |change: fn(&mut TestudoConfig)| {
        let mut config = config(2);
        change(&mut config);
        refused(&config, &game)
    };
    let out_of_range = |words: &str| (TESTUDO_OUT_OF_RANGE, words.to_owned());
    assert_eq!(with(|config| config.sides.players = 17), out_of_range("players must be 1 to 16, not 17"));
    assert_eq!(with(|config| config.sides.players = 0).0, TESTUDO_OUT_OF_RANGE);
    assert_eq!(with(|config| config.sides.players = 258).0, TESTUDO_OUT_OF_RANGE);
    assert_eq!(with(|config| config.turns.pace = 3), out_of_range("pace must be 0..=2, not 3"));
    assert_eq!(with(|config| config.topology = 9).0, TESTUDO_OUT_OF_RANGE);
    assert_eq!(with(|config| config.controls.who = 9).0, TESTUDO_OUT_OF_RANGE);
    assert_eq!(with(|config| config.sides.host_player = 2).0, TESTUDO_OUT_OF_RANGE);
    assert_eq!(with(|config| config.sides.host_player = 256).0, TESTUDO_OUT_OF_RANGE);
    assert_eq!(with(|config| config.waits.drop_after_ms = 90_000_000).0, TESTUDO_OUT_OF_RANGE);
    assert_eq!(with(|config| config.game_length = 513).0, TESTUDO_OUT_OF_RANGE);
    assert_eq!(with(|config| config.game_length = 5), (TESTUDO_NULL, "data is NULL".to_owned()));
    assert_eq!(with(|config| config.session_id = 0).0, TESTUDO_REFUSED);
    assert_eq!(with(|config| config.turns.bytes_max = 2).0, TESTUDO_OUT_OF_RANGE, "17 bits");
    let damaged = with(|config| (config.own.saved, config.own.saved_length) = ([7; 9].as_ptr(), 9));
    assert!([TESTUDO_DAMAGED, TESTUDO_VERSION].contains(&damaged.0), "{damaged:?}");
    for bits in [0, 4_097] {
        let game = TestudoGame { action_bits: bits, ..game };
        assert_eq!(
            refused(&config(2), &game),
            out_of_range(&format!("action_bits must be 1..=4096, not {bits}"))
        );
    }
    for game in [
        TestudoGame { apply: None, ..game },
        TestudoGame { step: None, ..game },
        TestudoGame { checksum: None, ..game },
    ] {
        assert_eq!(
            refused(&config(2), &game),
            (TESTUDO_NULL, "apply, step or checksum of the game is NULL".to_owned())
        );
    }
    let mut records = config(2);
    records.own.records = 1;
    let only_loads = refused(&records, &TestudoGame { save: None, ..game });
    assert_eq!(only_loads, (TESTUDO_REFUSED, "a replay of a game with `load` needs `save`, too".to_owned()));
    assert_eq!(testudo_config(9).sides.players, 9);
    for frames in [0, 10_001, u32::MAX] {
        let mut config = config(2);
        config.own.catch_up_frames = frames;
        let words = format!("own.catch_up_frames must be 1..=10000, not {frames}");
        assert_eq!(refused(&config, &game), out_of_range(&words));
    }
    // A quarter of what a watcher can have waiting: 128 turns of 100 ms.
    for ms in [12_801, u32::MAX] {
        let mut config = config(2);
        config.own.playout_ms = ms;
        assert_eq!(
            refused(&config, &game),
            out_of_range(&format!("own.playout_ms must be 0..=12800, not {ms}"))
        );
    }
    let mut longest = config(2);
    (longest.own.playout_ms, longest.own.catch_up_frames) = (12_800, 10_000);
    Peer::new(&longest, Box::default(), 0, 0);
}

/// No handle.
const M: *mut TestudoMatch = null_mut();

fn statuses_without_a_match(config: &TestudoConfig, game: &TestudoGame) -> Vec<Call> {
    let (mut handle, mut player, buffer) = (M, null_mut(), null_mut());
    calls! { TESTUDO_NULL;
        testudo_config_default(2, null_mut());
        testudo_match_host(null(), game, 0, &mut handle);
        testudo_match_host(config, null(), 0, &mut handle);
        testudo_match_host(config, game, 0, null_mut());
        testudo_match_single(null(), game, 0, &mut handle);
        testudo_match_join(config, null(), 1, 0, 0, &mut handle);
        testudo_match_watch(config, game, 0, 0, null_mut());
        testudo_match_connect(M, 0);
        testudo_match_handle_packet(M, 0, 0, null(), 0);
        testudo_match_advance(M, 0, null_mut());
        testudo_match_note_work(M, 0, 0);
        testudo_match_submit(M, [0; 2].as_ptr(), 9);
        testudo_match_submit(M, null(), 9);
        testudo_match_may_submit(M);
        testudo_match_pause(M, 1);
        testudo_match_set_speed(M, 100);
        testudo_match_set_ready(M, 1);
        testudo_match_vote_out(M, 1, 1);
        testudo_match_kick(M, 1);
        testudo_match_resign(M, 0);
        testudo_match_leave(M);
        testudo_match_set_profile(M, 1, null(), 0);
        testudo_match_profile(M, 1, buffer);
        testudo_match_send_message(M, 1, null(), 0);
        testudo_match_send_to_link(M, 0, null(), 0);
        testudo_match_save(M);
        testudo_match_take_saved(M, buffer);
        testudo_match_take_replay(M, buffer);
        testudo_match_finish_replay(M);
        testudo_match_stats(M, null_mut());
        testudo_replay_read(null(), 5, 0, null_mut());
        testudo_replay_info(null(), null_mut());
        testudo_replay_game_data(null(), buffer);
        testudo_replay_verify(null(), game, null_mut(), null_mut());
        testudo_replay_player_new(null(), game, &mut player);
        testudo_replay_player_seek(null_mut(), 0);
    }
}

fn counts_without_a_match() -> Vec<Call> {
    calls! { -TESTUDO_NULL;
        testudo_match_poll_packet(M, 0, null_mut(), &mut 0);
        testudo_match_next_call(M, null_mut());
        testudo_match_poll_event(M, &mut EVENT.clone());
        testudo_match_poll_message(M, null_mut(), null_mut(), null_mut());
        testudo_replay_player_step(null_mut());
    }
}

fn values_without_a_match() -> Vec<Call> {
    let zeros = calls! { 0;
        testudo_match_turn(M);
        testudo_match_frame(M);
        testudo_match_alpha(M, 0);
        testudo_match_is_paused(M);
        testudo_match_is_catching_up(M);
        testudo_match_missing_players(M);
        testudo_match_present_players(M);
        testudo_match_ready_players(M);
        testudo_match_compared_turns(M);
        testudo_match_checksum(M);
        testudo_match_replay_file(M);
        testudo_replay_player_turn(null());
        testudo_replay_player_frame(null());
    };
    let others = [
        calls! { 1; testudo_match_is_over(M); },
        calls! { TESTUDO_PHASE_NONE; testudo_match_phase(M); },
        calls! { TESTUDO_NOBODY; testudo_match_player(M); },
        calls! { TESTUDO_NEVER; testudo_replay_player_difference(null()); },
    ];
    [zeros, others.concat()].concat()
}

#[cfg(all(feature = "udp", feature = "sealed"))]
fn calls_without_a_transport(config: &TestudoConfig, game: &TestudoGame) -> Vec<Call> {
    let (mut udp, mut guest, mut host, mut handle) = (null_mut(), null_mut(), null_mut(), M);
    let (bind, buffer) = (c"127.0.0.1:0".as_ptr(), null_mut());
    let statuses = calls! { TESTUDO_NULL;
        testudo_udp_bind(null(), &mut udp);
        testudo_udp_address(null(), buffer);
        testudo_udp_add_peer(null_mut(), bind, &mut 0);
        testudo_udp_pump(null_mut(), M, 0);
        testudo_udp_round(null_mut(), M, 0);
        testudo_random_bytes(null_mut(), 16);
        testudo_host_open(null(), game, bind, null(), 0, &mut host, &mut handle);
        testudo_host_open(config, game, bind, null(), 0, null_mut(), &mut handle);
        testudo_host_open(config, game, bind, null(), 0, &mut host, null_mut());
        testudo_host_address(null(), buffer);
        testudo_host_code(null(), 1, buffer);
        testudo_host_remove(null_mut(), M, 1, 0);
        testudo_host_round(null_mut(), M, 0);
        testudo_host_wait(null(), 0);
        testudo_guest_join(null(), null(), 0, &mut guest);
        testudo_guest_open(null(), null(), config, 9, 0, &mut guest);
        testudo_guest_code(null(), 0, buffer);
        testudo_guest_remove(null_mut(), M, 1);
        testudo_guest_game_data(null(), buffer);
        testudo_guest_match(null(), config, game, 0, &mut handle);
        testudo_guest_leave(null_mut());
        testudo_guest_delay(null(), buffer);
    };
    let others = [
        calls! { -TESTUDO_NULL; testudo_guest_round(null_mut(), M, 0); testudo_guest_wait(null(), 0); },
        calls! { TESTUDO_NOBODY; testudo_guest_place(null()); },
        calls! { 0; testudo_guest_players(null()); testudo_guest_is_cut_off(null()); },
    ];
    assert!(udp.is_null() && guest.is_null() && host.is_null() && handle.is_null());
    [statuses, others.concat()].concat()
}

#[cfg(not(all(feature = "udp", feature = "sealed")))]
fn calls_without_a_transport(_: &TestudoConfig, _: &TestudoGame) -> Vec<Call> {
    Vec::new()
}

#[test]
fn null_is_refused_by_every_function() {
    let (config, mut toy) = (config(2), Toy::default());
    let game = toy.game();
    let all = [
        statuses_without_a_match(&config, &game),
        counts_without_a_match(),
        values_without_a_match(),
        calls_without_a_transport(&config, &game),
    ]
    .concat();
    // SAFETY: NULL is allowed.
    unsafe {
        testudo_match_free(M);
        testudo_replay_free(null_mut());
        testudo_replay_player_free(null_mut());
        assert_eq!(*testudo_match_event_words(M), 0);
    }
    // Nothing is left out.
    assert_tried(&all, SOURCES, |name| ["_free", "_event_words"].iter().any(|end| name.ends_with(end)));
}

/// The part of this package for matches.
const SOURCES: &[&str] = &[
    include_str!("../src/config.rs"),
    include_str!("../src/replay.rs"),
    include_str!("../src/session/events.rs"),
    include_str!("../src/session/messages.rs"),
    include_str!("../src/session/mod.rs"),
    include_str!("../src/session/position.rs"),
    include_str!("../src/session/round.rs"),
    include_str!("../src/session/saving.rs"),
    include_str!("../src/session/wishes.rs"),
    #[cfg(all(feature = "udp", feature = "sealed"))]
    include_str!("../src/net/guest.rs"),
    #[cfg(all(feature = "udp", feature = "sealed"))]
    include_str!("../src/net/host.rs"),
    #[cfg(all(feature = "udp", feature = "sealed"))]
    include_str!("../src/net/udp.rs"),
];

#[test]
fn null_beside_a_match_is_refused_and_loses_nothing() {
    let mut peer = Peer::new(&config(2), Box::default(), 0, 0);
    // SAFETY: the match is one; NULL is allowed.
    unsafe {
        assert_eq!(testudo_match_poll_packet(peer.handle, 0, null_mut(), null_mut()), -TESTUDO_NULL);
        assert_eq!(testudo_match_poll_event(peer.handle, null_mut()), -TESTUDO_NULL);
        assert_eq!(testudo_match_stats(peer.handle, null_mut()), TESTUDO_NULL);
        for us in [0, 9_000, u64::MAX] {
            assert_eq!(testudo_match_note_work(peer.handle, us, us), TESTUDO_OK);
        }
        assert_eq!(testudo_match_handle_packet(peer.handle, 0, 0, null(), 3), TESTUDO_NULL);
    }
    peer.after();
}

#[test]
fn actions_of_wrong_lengths_are_refused_and_run_nowhere() {
    let peer = Peer::new(&config(2), Box::default(), 0, 0);
    let submit = |data: &[u8], bits| {
        // SAFETY: so many bits are there.
        let status = unsafe { testudo_match_submit(peer.handle, data.as_ptr(), bits) };
        (status, if status == TESTUDO_OK { String::new() } else { words() })
    };
    assert_eq!(submit(&[0, 0], 9).0, TESTUDO_OK);
    assert_eq!(submit(&[1, 0, 0], 17).0, TESTUDO_OK);
    let no_action = "by the length of actions, these bits are not one action";
    for (data, bits) in [([0, 0, 0], 8), ([0, 0, 0], 10), ([0, 0, 0], 17), ([1, 0, 0], 9), ([0xfe, 1, 0], 9)]
    {
        assert_eq!(submit(&data, bits), (TESTUDO_OUT_OF_RANGE, no_action.to_owned()), "{data:?} {bits}");
    }
    for bits in [0, 4_097, u32::MAX] {
        let words = format!("an action has 1 to 4096 bits, not {bits}");
        assert_eq!(submit(&[0; 3], bits), (TESTUDO_OUT_OF_RANGE, words));
    }
    let long = "an action of 18 bits, but action_bits of the game is 17".to_owned();
    assert_eq!(submit(&[0; 3], 18), (TESTUDO_OUT_OF_RANGE, long));
    let filled = (0..).find(|_| submit(&[0, 0], 9).0 == TESTUDO_FULL);
    assert_eq!(filled, Some(62), "of 64 two were there");
}

/// Bytes of any kind, also changed packets of the match itself, end neither the process nor the match.
#[test]
fn packets_of_any_bytes_change_nothing() {
    let (mut peers, mut net) = peers(&config(2));
    let (mut now, mut seed) = (0, 1_u64);
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u32
    };
    let mut fed = 0;
    play(&mut peers, &mut net, &mut now, |peers| {
        for peer in peers {
            let mut packet: Vec<u8> = (0..random() % 200).map(|_| random() as u8).collect();
            if random() % 2 == 0 {
                // As a packet begins.
                packet.splice(0..0, [random() as u8 % 16]);
            }
            let link = [1 - peer.node, 7][random() as usize % 2];
            // SAFETY: the bytes are there.
            let status =
                unsafe { testudo_match_handle_packet(peer.handle, 0, link, packet.as_ptr(), packet.len()) };
            assert_eq!(status, TESTUDO_OK);
            fed += 1;
        }
        peers.iter().all(Peer::is_over)
    });
    peers.iter().for_each(Peer::assert_well);
    assert_eq!(peers[0].toy.checksums, peers[1].toy.checksums);
    assert!(fed > 500, "{fed}");
}

/// Where actions end for a changed program: it takes any number for an action.
unsafe extern "C" fn any_number(_: *mut std::ffi::c_void, data: *const u8, _: u32) -> u32 {
    // SAFETY: at least one bit is there.
    if unsafe { *data } & 1 == 0 { 9 } else { 17 }
}

/// Who sends bits that are no action to the others is dropped, and they run nowhere.
#[test]
fn bits_that_are_no_action_run_nowhere() {
    let mut config = config(3);
    config.waits.drop_after_ms = 1_000;
    let mut peers: Vec<_> = [0, 1].map(|node| Peer::new(&config, Box::default(), node, 0)).into();
    peers.push(Peer::made(Box::default(), 2, |game, handle| {
        let game = TestudoGame { action_length: Some(any_number), ..*game };
        // SAFETY: all of it is there.
        unsafe { testudo_match_join(&config, &game, 2, 0, 0, handle) }
    }));
    let (handle, mut net, mut now) = (peers[2].handle, vec![VecDeque::new(); 3], 0);
    play(&mut peers, &mut net, &mut now, |peers| peers[2].turn() > 10);
    // SAFETY: the bits are there.
    let given = unsafe { testudo_match_submit(handle, [0xff, 0xff, 1].as_ptr(), 17) };
    assert_eq!(given, TESTUDO_OK, "{}", words());
    play(&mut peers, &mut net, &mut now, |peers| peers[..2].iter().all(Peer::is_over));
    peers[..2].iter().for_each(Peer::assert_well);
    assert_eq!(peers[0].toy.checksums, peers[1].toy.checksums);
    let gone = peers[0].of(TESTUDO_EVENT_PLAYER_GONE)[0].0;
    assert_eq!((gone.player, gone.number), (2, TESTUDO_GONE_DROPPED));
    // SAFETY: any bits are such a structure, and it is written.
    let invalid = unsafe {
        let mut stats: TestudoMatchStats = std::mem::zeroed();
        assert_eq!(testudo_match_stats(peers[0].handle, &mut stats), TESTUDO_OK);
        stats.entries_invalid
    };
    assert!(invalid > 0);
}
