//! The search for the number that differs, in matches through the functions that C calls.

mod toy;

use std::ptr::null_mut;

use testudo::*;

use toy::{Inbox, Peer, Toy, bytes_of, config, play, play_to_end, words};

/// Peers of whom number 1 gets a wrong bit after frame 30, played to the end. This is changed in them before.
fn played(players: u32, change: impl Fn(u32, &mut Toy)) -> Vec<Peer> {
    let mut peers = Vec::new();
    for node in 0..players {
        let wrong_at = if node == 1 { 30 } else { u32::MAX };
        let mut toy = Box::new(Toy { shows: true, wrong_at, ..Toy::default() });
        change(node, &mut toy);
        peers.push(Peer::new(&config(players), toy, node, 0));
    }
    play_to_end(&mut peers, &mut vec![Inbox::new(); players as usize], &mut 0);
    peers
}

/// Whether a peer was told that the number `history` differs before turn 15.
fn has_found(peer: &Peer) -> bool {
    let told = peer.of(TESTUDO_EVENT_DIFFERENCE);
    let [(event, words)] = told[..] else { panic!("{:?}", peer.events) };
    event.number == 1 && words.starts_with("before turn 15: history of toy 3 is ")
}

/// The search has gone back in time and returned: nothing else has changed.
fn assert_unchanged(peers: &[Peer]) {
    let silent = played(peers.len() as u32, |_, toy| toy.shows = false);
    for (peer, silent) in peers.iter().zip(silent) {
        assert_eq!(peer.toy.checksums, silent.toy.checksums);
        assert_eq!(peer.toy.state(), silent.toy.state());
        assert_eq!(silent.of(TESTUDO_EVENT_DIFFERENCE).len(), 0);
    }
}

/// A desync named the turn and nothing else, for games in C.
#[test]
fn after_a_desync_every_peer_names_the_number() {
    let peers = played(3, |_, _| {});
    for peer in &peers {
        let [(event, words)] = peer.of(TESTUDO_EVENT_DIFFERENCE)[..] else { panic!("{:?}", peer.events) };
        let (here, there) = (event.values[0], event.values[1]);
        assert_eq!((event.turn, event.number, here ^ there), (15, 1, 1), "{words}");
        let named =
            format!("before turn 15: history of toy 3 is {} here and {} there", here as i64, there as i64);
        assert_eq!(*words, named);
    }
    assert_unchanged(&peers);
}

/// Nobody else has a copy that could differ. It saved before each turn.
#[test]
fn a_match_alone_keeps_no_states_for_a_search() {
    let toy = Box::new(Toy { shows: true, ..Toy::default() });
    let mut peer = [Peer::alone(&config(1), toy)];
    play_to_end(&mut peer, &mut vec![Inbox::new(); 1], &mut 0);
    peer[0].assert_well();
    assert_eq!(peer[0].toy.saves, 0);
}

/// Most searches found nothing: all guests asked over one link, which had been allowed as many questions as one of them.
#[test]
fn with_many_players_every_peer_finds_the_number() {
    let peers = played(16, |_, _| {});
    let found = peers.iter().filter(|peer| has_found(peer)).count();
    assert_eq!(found, 16);
}

/// A game that has more than its state within a turn lost it by the search.
#[test]
fn states_are_loaded_between_turns_alone() {
    for peer in played(3, |_, _| {}) {
        assert_eq!((has_found(&peer), peer.toy.loads_within), (true, 0));
    }
}

/// What was not saved was kept as an empty state, which differs from all others.
#[test]
fn a_state_that_was_not_saved_is_none() {
    let peers = played(3, |node, toy| toy.save_fails_at = if node == 1 { 20 } else { u32::MAX });
    assert!(peers.iter().all(has_found));
}

/// It stayed half in the past.
#[test]
fn a_game_that_refuses_an_old_state_half_way_returns_to_the_present() {
    let peers = played(3, |node, toy| toy.load_fails_at = if node == 2 { 30 } else { u32::MAX });
    let found: Vec<_> = peers.iter().map(|peer| peer.of(TESTUDO_EVENT_DIFFERENCE)[0].0.number).collect();
    assert_eq!(found, [1, 1, 0]);
    assert_unchanged(&peers);
}

#[test]
fn a_game_that_refuses_its_present_state_is_told() {
    let peers = played(3, |node, toy| toy.loads_before = if node == 2 { 31 } else { u32::MAX });
    let [(event, words)] = peers[2].of(TESTUDO_EVENT_DIFFERENCE)[..] else { panic!("{:?}", peers[2].events) };
    assert_eq!(
        (event.number, &words[..]),
        (0, "the game refuses its own present state: it plays on from an old one")
    );
    assert!(peers[..2].iter().all(has_found));
}

/// A watcher got no answer, and the one to its question ended the search of the host.
#[test]
fn a_watcher_asks_the_host_and_nobody_else() {
    for wrong in [0, 1] {
        let mut config = config(2);
        (config.arrivals.watchers_min, config.own.playout_ms) = (1, 100);
        let toy = |node| {
            let wrong_at = if node == wrong { 30 } else { u32::MAX };
            Box::new(Toy { shows: true, wrong_at, ..Toy::default() })
        };
        let mut peers: Vec<_> = (0..2).map(|node| Peer::new(&config, toy(node), node, 0)).collect();
        config.own.entropy = [5; 16];
        peers.push(Peer::watching(&config, toy(2), 2));
        play_to_end(&mut peers, &mut vec![Inbox::new(); 3], &mut 0);
        assert!(peers[..2].iter().all(has_found), "{wrong}");
        assert_eq!(has_found(&peers[2]), wrong == 0, "{:?}", peers[2].events);
    }
}

/// Sends a short message to the other peer of two.
fn send(peer: &Peer, bytes: &[u8]) -> TestudoStatus {
    // SAFETY: the match is one; the bytes are there.
    unsafe { testudo_match_send_message(peer.handle, 1 - peer.node, bytes.as_ptr(), bytes.len()) }
}

/// All messages that are there.
fn polled(peer: &Peer) -> Vec<Vec<u8>> {
    // SAFETY: the match is one, and so is the buffer.
    let poll = || unsafe { testudo_match_poll_message(peer.handle, null_mut(), null_mut(), peer.buffer) };
    std::iter::from_fn(|| (poll() == 1).then(|| bytes_of(peer.buffer))).collect()
}

/// The messages of the search pass between those of the game.
#[test]
fn messages_go_beside_the_search() {
    let toy = |wrong_at| Box::new(Toy { shows: true, wrong_at, ..Toy::default() });
    let mut peers: Vec<_> = [20, u32::MAX]
        .into_iter()
        .zip(0..)
        .map(|(at, node)| Peer::new(&config(2), toy(at), node, 0))
        .collect();
    let (mut net, mut now) = (vec![Inbox::new(); 2], 0);
    play(&mut peers, &mut net, &mut now, |peers| !peers[0].of(TESTUDO_EVENT_DESYNC).is_empty());
    assert_eq!([send(&peers[0], b"\0"), send(&peers[0], b"\x01x")], [TESTUDO_OUT_OF_RANGE; 2]);
    let mut had = Vec::new();
    for text in [&b"hello"[..], b"again"] {
        assert_eq!(send(&peers[0], text), TESTUDO_OK, "{}", words());
        play(&mut peers, &mut net, &mut now, |peers| {
            had.extend(polled(&peers[1]));
            had.last().is_some_and(|last| last == text)
        });
    }
    play_to_end(&mut peers, &mut net, &mut now);
    had.extend(polled(&peers[1]));
    assert_eq!(had, [b"hello", b"again"]);
    let found =
        peers.iter().flat_map(|peer| peer.of(TESTUDO_EVENT_DIFFERENCE)).filter(|told| told.0.number == 1);
    assert_eq!(found.count(), 2);
}

/// The oldest of more than 64 messages got lost in games with `visit`, without any difference.
#[test]
fn messages_wait_for_a_program_that_does_not_take_them() {
    for wrong_at in [u32::MAX, 20] {
        let toy = |wrong_at| Box::new(Toy { shows: true, wrong_at, ..Toy::default() });
        let mut peers =
            vec![Peer::new(&config(2), toy(wrong_at), 0, 0), Peer::new(&config(2), toy(u32::MAX), 1, 0)];
        let (mut net, mut now) = (vec![Inbox::new(); 2], 0);
        play(&mut peers, &mut net, &mut now, |peers| peers[1].turn() > 3);
        let texts: Vec<_> = (0..100_u8).map(|number| vec![number + 2]).collect();
        texts.iter().for_each(|text| assert_eq!(send(&peers[0], text), TESTUDO_OK, "{}", words()));
        play_to_end(&mut peers, &mut net, &mut now);
        assert_eq!(polled(&peers[1]), texts);
    }
}
