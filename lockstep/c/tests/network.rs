//! Matches through the functions that C calls, over sockets on loopback.
#![cfg(all(feature = "udp", feature = "sealed"))]

mod toy;

use std::ffi::{CStr, CString};
use std::net::SocketAddr;
use std::ptr::{null, null_mut};

use testudo::*;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::transport::sealed::{SealedConfig, SealedRelay, SealedServer};
use testudo_lockstep::{Duration, Instant};

use toy::{Peer, Toy, bytes_of, config, testudo_config, words};

/// The text in a buffer, as C has it.
fn text(buffer: *mut TestudoBuffer) -> CString {
    CString::from_vec_with_nul(bytes_of(buffer)).expect("a text with a 0 at its end")
}

/// A host, and the peer in it.
fn open(config: &TestudoConfig, bind: &CStr, addresses: Option<&CStr>) -> (*mut TestudoHost, Peer) {
    let (mut host, addresses) = (null_mut(), addresses.map_or(null(), CStr::as_ptr));
    // SAFETY: all of it is there.
    let peer = Peer::made(Box::default(), 0, |game, handle| unsafe {
        testudo_host_open(config, game, bind.as_ptr(), addresses, 0, &mut host, handle)
    });
    (host, peer)
}

#[test]
fn two_programs_play_over_udp() {
    let (mut sockets, mut peers) = ([null_mut(); 2], Vec::new());
    // SAFETY: all of it is there.
    unsafe {
        for socket in &mut sockets {
            assert_eq!(testudo_udp_bind(c"127.0.0.1:0".as_ptr(), socket), TESTUDO_OK, "{}", words());
        }
        peers.push(Peer::new(&config(2), Box::default(), 0, 0));
        assert_eq!(testudo_udp_address(sockets[0], peers[0].buffer), TESTUDO_OK);
        let (address, mut link) = (text(peers[0].buffer), TESTUDO_NO_PEER);
        assert_eq!(testudo_udp_add_peer(sockets[1], address.as_ptr(), &mut link), TESTUDO_OK);
        assert_eq!(link, 0, "the first one");
        peers.push(Peer::new(&config(2), Box::default(), 1, 0));
        let mut now = 0;
        while !peers.iter().all(Peer::is_over) {
            now += 2_000;
            assert!(now < 120_000_000, "{:?}", peers[0].events);
            for (peer, socket) in peers.iter_mut().zip(sockets) {
                assert_eq!(testudo_udp_round(socket, peer.handle, now), TESTUDO_OK, "{}", words());
                peer.after();
            }
        }
        sockets.into_iter().for_each(|socket| testudo_udp_free(socket));
    }
    peers.iter().for_each(Peer::assert_well);
    assert_eq!(peers[0].toy.checksums, peers[1].toy.checksums);
}

/// A guest comes by its code, is killed, and comes back; somebody watches.
#[test]
fn a_guest_comes_by_its_code_and_comes_back_after_a_crash() {
    let data = b"map 4";
    let mut settings = config(2);
    (settings.session_id, settings.own.entropy) = (0, [0; 16]);
    (settings.game_data, settings.game_length, settings.arrivals.late_watchers) = (data.as_ptr(), 5, 1);
    let (host, peer) = open(&settings, c"127.0.0.1:0", None);
    // SAFETY: all of it is there.
    let [code, watch] = unsafe {
        let buffer = testudo_buffer_new();
        let codes = [1, TESTUDO_WATCHER].map(|place| {
            assert_eq!(testudo_host_code(host, place, buffer), TESTUDO_OK);
            text(buffer)
        });
        assert_eq!(testudo_host_code(host, 5, buffer), TESTUDO_REFUSED);
        testudo_buffer_free(buffer);
        codes
    };
    let mut room = Room { host, peer, now: 0 };
    let mut guest = Visitor::come(&code, 0);
    room.play(&mut [&mut guest], |room, guests| room.peer.turn() > 15 && guests[0].turn() > 15);
    assert_eq!(guest.recorded_content_hash(), settings.content_hash, "that of the host");
    drop(guest);
    let (mut guest, mut watcher) = (Visitor::come(&code, room.now), Visitor::come(&watch, room.now));
    room.play(&mut [&mut guest, &mut watcher], |room, guests| {
        room.peer.is_over() && guests.iter().all(|guest| guest.is_over())
    });
    let all = [&room.peer, guest.peer(), watcher.peer()];
    for peer in all {
        peer.assert_well();
        assert_eq!(peer.toy.checksum(), room.peer.toy.checksum());
    }
    assert_eq!(all[1].of(TESTUDO_EVENT_PLAYER_RETURNED).len(), 1, "{:?}", all[1].events);
    assert_eq!(guest.data, data);
    // SAFETY: all of it is there.
    unsafe {
        assert_eq!(testudo_guest_is_cut_off(guest.guest), 0);
        assert_eq!(testudo_guest_delay(guest.guest, all[1].buffer), TESTUDO_OK);
        assert_eq!(text(all[1].buffer).as_c_str(), c"");
        assert_eq!(testudo_guest_leave(guest.guest), TESTUDO_OK);
    }
    // SAFETY: it is not used any more.
    unsafe { testudo_host_free(room.host) };
}

/// A relay, and its code.
fn relay() -> (SealedRelay, CString) {
    let server = SealedServer::bind("127.0.0.1:0".parse().expect("an address"), &SealedConfig::new());
    let server = server.expect("a socket");
    let found_at = server.local_address();
    let relay = SealedRelay::new(server, &[found_at], Limits::default()).expect("limits in range");
    let code = CString::new(relay.code().expect("a code").to_string()).expect("a text");
    (relay, code)
}

/// A room at a relay, in which guests of this process play. The first one has opened it.
struct RelayRoom {
    relay: SealedRelay,
    guests: Vec<Visitor>,
    now: u64,
}

impl RelayRoom {
    fn open(config: &TestudoConfig) -> Self {
        let ((relay, code), mut guest) = (relay(), null_mut());
        // SAFETY: all of it is there.
        let status =
            unsafe { testudo_guest_open(code.as_ptr(), [7; 16].as_ptr(), config, 17, 0, &mut guest) };
        assert_eq!(status, TESTUDO_OK, "{}", words());
        let buffer = testudo_buffer_new();
        // SAFETY: they are some.
        unsafe {
            assert_eq!(testudo_guest_code(guest, 1, buffer), TESTUDO_REFUSED, "not open yet");
            testudo_buffer_free(buffer);
        }
        let opener = Visitor { guest, peer: None, data: Vec::new() };
        let mut room = Self { relay, guests: vec![opener], now: 0 };
        room.play(|guests| guests[0].peer.is_some());
        room
    }

    fn come(&mut self, code: &CString) {
        self.guests.push(Visitor::come(code, self.now));
    }

    fn play(&mut self, done: impl Fn(&[Visitor]) -> bool) {
        self.play_without(0, 4_000, done);
    }

    /// The first guests stand still. A round takes `step` microseconds of the match.
    fn play_without(&mut self, first: usize, step: u64, done: impl Fn(&[Visitor]) -> bool) {
        for _ in 0..20_000 {
            if done(&self.guests) {
                return;
            }
            self.now += step;
            self.relay.round(|| Instant::from_micros(self.now)).expect("a socket");
            self.guests[first..].iter_mut().for_each(|guest| guest.round(self.now));
            // While it connects, and while it plays.
            // SAFETY: it is one.
            let has_waited = unsafe { testudo_guest_wait(self.guests[first].guest, 2) };
            assert!(has_waited >= 0, "{}", words());
            if has_waited == 0 {
                self.relay.server().wait(Duration::from_millis(2));
            }
        }
        panic!("no end");
    }

    /// Everybody has come to the same end.
    fn assert_well(&self) {
        self.guests.iter().for_each(|guest| guest.peer().assert_well());
        assert_eq!(self.guests[0].peer().toy.checksum(), self.guests[1].peer().toy.checksum());
    }
}

/// All players are guests of a relay, which nobody of them runs.
#[test]
fn a_room_of_a_relay_is_opened_and_played_in() {
    let mut config = config(2);
    (config.game_data, config.game_length) = (DATA.as_ptr(), DATA.len() as u32);
    let mut room = RelayRoom::open(&config);
    let code = room.guests[0].code(1);
    room.come(&code);
    room.play(|guests| guests.iter().all(Visitor::is_over));
    room.assert_well();
    assert_eq!([0, 1].map(|at| room.guests[at].peer().node), [0, 1]);
    assert!(room.guests.iter().all(|guest| guest.data == DATA));
    let buffer = testudo_buffer_new();
    // SAFETY: they are some; only the opener has codes.
    unsafe {
        assert_eq!(testudo_guest_code(room.guests[0].guest, 9, buffer), TESTUDO_REFUSED);
        assert_eq!(testudo_guest_code(room.guests[1].guest, 1, buffer), TESTUDO_REFUSED);
        testudo_buffer_free(buffer);
    }
}

/// `testudo_match_kick` is refused behind a relay, and nobody could be removed there.
#[test]
fn who_has_opened_a_room_removes_a_player_and_somebody_else_comes() {
    let mut room = RelayRoom::open(&config(2));
    let (opener, handle, before) = (room.guests[0].guest, room.guests[0].handle(), room.guests[0].code(1));
    // SAFETY: they are some.
    unsafe {
        assert_eq!(testudo_match_set_ready(handle, 0), TESTUDO_OK);
        for player in [0, 2] {
            assert_eq!(testudo_guest_remove(opener, handle, player), TESTUDO_REFUSED, "{player}");
        }
        assert_eq!(testudo_guest_remove(opener, handle, 16), TESTUDO_OUT_OF_RANGE);
    }
    room.come(&before);
    room.play(|guests| guests[1].peer.is_some() && guests[0].present() == 0b11);
    // SAFETY: they are some.
    unsafe {
        let (guest, own) = (room.guests[1].guest, room.guests[1].handle());
        assert_eq!(testudo_guest_remove(guest, own, 0), TESTUDO_REFUSED, "only the opener");
        assert_eq!(testudo_guest_remove(opener, handle, 1), TESTUDO_OK, "{}", words());
    }
    // It is not asked any more: it would fail, as it is told.
    let removed = room.guests.pop().expect("a guest");
    room.play(|guests| guests[0].present() == 0b01);
    drop(removed);
    let second = room.guests[0].code(1);
    assert_ne!(second, before);
    room.come(&second);
    // SAFETY: it is one.
    assert_eq!(unsafe { testudo_match_set_ready(handle, 1) }, TESTUDO_OK);
    room.play(|guests| guests.iter().all(Visitor::is_over));
    room.assert_well();
}

/// With its place it got an arrival without codes, which took the place of the first one.
#[test]
fn who_has_opened_a_room_has_its_codes_after_it_has_come_back() {
    let mut config = config(2);
    config.turns.count = 3_000;
    let mut room = RelayRoom::open(&config);
    let codes = |room: &RelayRoom| [1, TESTUDO_WATCHER].map(|place| room.guests[0].code(place));
    let before = codes(&room);
    room.come(&before[0]);
    room.play(|guests| guests.iter().all(|guest| guest.turn() > 5));
    room.play_without(1, 40_000, |guests| guests[1].present() == 0b10);
    room.play(|guests| guests[0].turn() == 0);
    assert_eq!(codes(&room), before, "the match is a new one");
    room.play(|guests| guests[0].present() == 0b11);
    let opener = &room.guests[0];
    // SAFETY: they are some.
    let removed = unsafe { testudo_guest_remove(opener.guest, opener.handle(), 1) };
    assert_eq!(removed, TESTUDO_OK, "{}", words());
}

const DATA: &[u8] = b"a map";

/// They were left out without a word: the watchers of the room saw everything at once.
#[test]
fn what_a_relay_has_of_its_own_is_refused_of_whoever_opens_a_room() {
    let (_relay, code) = relay();
    for (change, name) in [
        ((|config| config.arrivals.watch_delay_ms = 60_000) as fn(&mut TestudoConfig), "watch_delay_ms"),
        (|config| config.arrivals.watchers_min = 1, "watchers_min"),
    ] {
        let (mut config, mut guest) = (config(2), null_mut());
        change(&mut config);
        // SAFETY: all of it is there.
        let status = unsafe { testudo_guest_open(code.as_ptr(), null(), &config, 17, 0, &mut guest) };
        assert_eq!((status, guest.is_null()), (TESTUDO_REFUSED, true), "{name}");
        assert!(words().contains(name), "{}", words());
    }
}

/// The host of a match by codes.
struct Room {
    host: *mut TestudoHost,
    peer: Peer,
    now: u64,
}

impl Room {
    fn play(&mut self, guests: &mut [&mut Visitor], done: impl Fn(&Self, &[&mut Visitor]) -> bool) {
        // The time of the match passes as the sockets' threads let it.
        for _ in 0..20_000 {
            if done(self, guests) {
                return;
            }
            self.now += 4_000;
            // SAFETY: they are some.
            unsafe {
                assert_eq!(testudo_host_wait(self.host, 2), TESTUDO_OK);
                assert_eq!(
                    testudo_host_round(self.host, self.peer.handle, self.now),
                    TESTUDO_OK,
                    "{}",
                    words()
                );
            }
            self.peer.after();
            guests.iter_mut().for_each(|guest| guest.round(self.now));
        }
        panic!("no end: {:?}", self.peer.events);
    }
}

/// A guest, with its match as soon as its place is open.
struct Visitor {
    guest: *mut TestudoGuest,
    peer: Option<Peer>,
    data: Vec<u8>,
}

impl Drop for Visitor {
    fn drop(&mut self) {
        // SAFETY: it is not used any more.
        unsafe { testudo_guest_free(self.guest) };
    }
}

impl Visitor {
    fn come(code: &CString, now: u64) -> Self {
        let mut guest = null_mut();
        // SAFETY: all of it is there.
        let status = unsafe { testudo_guest_join(code.as_ptr(), [6; 16].as_ptr(), now, &mut guest) };
        assert_eq!(status, TESTUDO_OK, "{}", words());
        Self { guest, peer: None, data: Vec::new() }
    }

    fn round(&mut self, now: u64) {
        // SAFETY: they are some.
        let arrived = unsafe { testudo_guest_round(self.guest, self.handle(), now) };
        assert!(arrived >= 0, "{}", words());
        if arrived == 1 {
            self.peer = None;
            let mut settings = testudo_config(1);
            settings.own.records = 1;
            let (mut toy, mut handle) = (Box::<Toy>::default(), null_mut());
            // SAFETY: all of it is there.
            unsafe {
                // A watcher takes the defaults.
                let watches = testudo_guest_place(self.guest) == TESTUDO_WATCHER;
                let own = if watches { null() } else { &raw const settings };
                let made = testudo_guest_match(self.guest, own, &toy.game(), now, &mut handle);
                assert_eq!(made, TESTUDO_OK, "{}", words());
                let peer = Peer::around(toy, handle, testudo_guest_place(self.guest));
                assert_eq!(testudo_guest_game_data(self.guest, peer.buffer), TESTUDO_OK);
                assert_eq!(testudo_guest_players(self.guest), 2);
                self.data = bytes_of(peer.buffer);
                self.peer = Some(peer);
            }
        }
        if let Some(peer) = &mut self.peer {
            peer.after();
        }
    }

    /// What the recording so far says of itself.
    fn recorded_content_hash(&self) -> u64 {
        let (replay, info) = toy::read(&self.peer().replay, 0);
        // SAFETY: it is not used any more.
        unsafe { testudo_replay_free(replay) };
        info.content_hash
    }

    fn peer(&self) -> &Peer {
        self.peer.as_ref().expect("a match")
    }

    /// The code of a place of the room that it has opened.
    fn code(&self, place: u32) -> CString {
        let buffer = testudo_buffer_new();
        // SAFETY: they are some.
        assert_eq!(unsafe { testudo_guest_code(self.guest, place, buffer) }, TESTUDO_OK, "{}", words());
        let code = text(buffer);
        // SAFETY: it is not used any more.
        unsafe { testudo_buffer_free(buffer) };
        code
    }

    fn handle(&self) -> *mut TestudoMatch {
        self.peer.as_ref().map_or(null_mut(), |peer| peer.handle)
    }

    /// The set of players that it sees.
    fn present(&self) -> u32 {
        // SAFETY: it is NULL, or a match.
        unsafe { testudo_match_present_players(self.handle()) }
    }

    fn turn(&self) -> u32 {
        self.peer.as_ref().map_or(0, Peer::turn)
    }

    fn is_over(&self) -> bool {
        self.peer.as_ref().is_some_and(Peer::is_over)
    }
}

/// The addresses in the codes of a host that is bound like this.
fn addresses_in_codes(bind: &CStr, addresses: Option<&CStr>) -> (Vec<SocketAddr>, u16) {
    let (host, peer) = open(&config(2), bind, addresses);
    // SAFETY: all of it is there, and freed after all uses.
    unsafe {
        assert_eq!(testudo_host_code(host, 1, peer.buffer), TESTUDO_OK);
        let code: JoinCode = text(peer.buffer).to_str().expect("UTF-8").parse().expect("a code");
        assert_eq!(testudo_host_address(host, peer.buffer), TESTUDO_OK, "{}", words());
        let bound: SocketAddr = text(peer.buffer).to_str().expect("UTF-8").parse().expect("an address");
        testudo_host_free(host);
        (code.addresses().to_vec(), bound.port())
    }
}

/// Every code of a host at "0.0.0.0:0" named 0.0.0.0: a guest on another machine called itself.
#[test]
fn codes_lead_to_the_host_whatever_it_is_bound_to() {
    for (bind, addresses) in
        [(c"0.0.0.0:0", None), (c"[::]:0", None), (c"127.0.0.1:0", Some(c"0.0.0.0:0, [::]:0"))]
    {
        let (found_at, port) = addresses_in_codes(bind, addresses);
        let leads = |address: &SocketAddr| !address.ip().is_unspecified() && address.port() == port;
        assert!(!found_at.is_empty() && found_at.iter().all(leads), "{bind:?}: {found_at:?}");
    }
    // Nobody knows the port before.
    let (found_at, port) = addresses_in_codes(c"127.0.0.1:0", Some(c"192.0.2.5:0,[2001:db8::1]:7000"));
    assert_ne!(port, 0);
    let expected = [format!("192.0.2.5:{port}"), "[2001:db8::1]:7000".to_owned()];
    assert_eq!(found_at, expected.map(|address| address.parse().expect("an address")));
}

/// Four were refused where the machine has two addresses for one of them, and doubles stood in codes.
#[test]
fn four_addresses_are_four_on_every_machine() {
    let given = "203.0.113.5:7,[2001:db8::5]:7,[::]:7,198.51.100.7:7";
    let (found_at, _) = addresses_in_codes(c"127.0.0.1:0", Some(&CString::new(given).expect("a text")));
    let expected = given.split(',').map(|address| address.parse().expect("an address"));
    let expected: Vec<SocketAddr> =
        expected.filter(|address: &SocketAddr| !address.ip().is_unspecified()).collect();
    assert_eq!((found_at.len(), [&found_at[..2], &found_at[3..]].concat()), (4, expected));
    let (found_at, _) = addresses_in_codes(c"127.0.0.1:0", Some(c"0.0.0.0:7,[::]:7,0.0.0.0:7,[::]:7"));
    let doubles = |at: usize| found_at[..at].contains(&found_at[at]);
    assert!(!(0..found_at.len()).any(doubles), "{found_at:?}");
    let (mut host, mut handle, mut toy) = (null_mut(), null_mut(), Box::<Toy>::default());
    let (bind, five) =
        (c"127.0.0.1:0".as_ptr(), c"0.0.0.0:7,0.0.0.0:7,0.0.0.0:7,0.0.0.0:7,0.0.0.0:7".as_ptr());
    // SAFETY: all of it is there.
    let opened = unsafe { testudo_host_open(&config(2), &toy.game(), bind, five, 0, &mut host, &mut handle) };
    assert_eq!((opened, host.is_null()), (TESTUDO_OUT_OF_RANGE, true), "{}", words());
}

#[test]
fn a_player_who_was_removed_finds_its_code_worth_nothing() {
    let mut settings = config(2);
    settings.session_id = 0;
    let (host, peer) = open(&settings, c"127.0.0.1:0", None);
    let handle = peer.handle;
    // SAFETY: all of it is there, and freed after all uses.
    unsafe {
        let code = || {
            assert_eq!(testudo_host_code(host, 1, peer.buffer), TESTUDO_OK);
            text(peer.buffer)
        };
        let before = code();
        assert_eq!(testudo_host_remove(host, handle, 16, 0), TESTUDO_OUT_OF_RANGE);
        // It said OK, and removed nobody.
        for player in [0, 2] {
            assert_eq!(testudo_host_remove(host, handle, player, 0), TESTUDO_REFUSED, "{player}");
        }
        assert_eq!(testudo_host_remove(host, handle, 1, 0), TESTUDO_OK, "{}", words());
        assert_ne!(code(), before);
        testudo_host_free(host);
    }
}

#[test]
fn addresses_and_codes_that_are_none_are_refused_with_words() {
    let (mut udp, mut guest) = (null_mut(), null_mut());
    // SAFETY: NULL is allowed by the contract, as all pointers here are NULL or there.
    unsafe {
        assert_eq!(testudo_udp_bind(c"here".as_ptr(), &mut udp), TESTUDO_OUT_OF_RANGE);
        assert_eq!(words(), "\"here\" is not an address as 127.0.0.1:4000 or [::1]:4000");
        assert_eq!(testudo_udp_bind(null(), &mut udp), TESTUDO_NULL);
        assert_eq!(testudo_udp_bind(c"192.0.2.1:9".as_ptr(), &mut udp), TESTUDO_IO, "of another machine");
        assert_eq!(testudo_guest_join(c"no code".as_ptr(), null(), 0, &mut guest), TESTUDO_OUT_OF_RANGE);
        assert_eq!(testudo_guest_join(c"\xff".as_ptr(), null(), 0, &mut guest), TESTUDO_OUT_OF_RANGE);
        assert_eq!(
            testudo_guest_open(c"no code".as_ptr(), null(), null(), 9, 0, &mut guest),
            TESTUDO_OUT_OF_RANGE
        );
        assert_eq!(testudo_guest_round(null_mut(), null_mut(), 0), -TESTUDO_NULL);
        assert_eq!(testudo_guest_match(null(), null(), null(), 0, null_mut()), TESTUDO_NULL);
        assert_eq!(testudo_host_round(null_mut(), null_mut(), 0), TESTUDO_NULL);
        assert!(udp.is_null() && guest.is_null());
        // It refused, and had added the peer.
        assert_eq!(testudo_udp_bind(c"127.0.0.1:0".as_ptr(), &mut udp), TESTUDO_OK);
        assert_eq!(testudo_udp_add_peer(udp, c"127.0.0.1:9".as_ptr(), null_mut()), TESTUDO_NULL);
        let mut peer = TESTUDO_NO_PEER;
        assert_eq!(testudo_udp_add_peer(udp, c"127.0.0.1:8".as_ptr(), &mut peer), TESTUDO_OK);
        assert_eq!(peer, 0, "the first one");
        testudo_udp_free(udp);
        let mut bytes = [[0; 16]; 2];
        bytes.iter_mut().for_each(|half| assert_eq!(testudo_random_bytes(half.as_mut_ptr(), 16), TESTUDO_OK));
        assert_ne!(bytes[0], bytes[1]);
        assert_eq!(testudo_random_bytes(null_mut(), 16), TESTUDO_NULL);
        assert_eq!(testudo_random_bytes(null_mut(), 257), TESTUDO_OUT_OF_RANGE);
    }
}
