//! TCP on loopback. Free ports, no sleeps: the loop polls with virtual time, so timeouts do not depend on the machine.
#![expect(clippy::disallowed_types, reason = "the file of tests that other machines leave out")]

use crate::play::give_order;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use crate::toy::Toy;
use testudo_lockstep::transport::tcp::TcpTransport;
use testudo_lockstep::{Driver, Duration, Instant, PlayerId, Session, SessionConfig, SessionPhase};

const WAIT: Duration = Duration::from_secs(5);

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn config(players: u8) -> SessionConfig {
    let config = SessionConfig::new(players).without_drops();
    config.simulated().turns(60).session_id(78).connect_timeout(Duration::from_secs(60))
}

struct Peer {
    tcp: TcpTransport,
    driver: Driver<Toy>,
}

impl Peer {
    fn host(players: u8) -> Self {
        let session = Session::host(config(players), Instant::ZERO).unwrap();
        Self { tcp: TcpTransport::listen(loopback()).unwrap(), driver: Driver::new(Toy::default(), session) }
    }

    fn guest(players: u8, player: u8, host: SocketAddr) -> Self {
        let mut tcp = TcpTransport::new();
        let host = tcp.connect(host, WAIT).unwrap();
        let session = Session::join(config(players), PlayerId(player), host, Instant::ZERO).unwrap();
        Self { tcp, driver: Driver::new(Toy::default(), session) }
    }

    fn round(&mut self, now: Instant) {
        self.tcp.pump(self.driver.session_mut(), now);
        self.driver.advance_with(now, |turn, _, session| give_order(turn, session));
        self.tcp.pump(self.driver.session_mut(), now);
    }
}

/// Plays to the end; `beside` runs in every round. All must end with the same state.
fn play(peers: &mut [Peer], mut beside: impl FnMut()) {
    let mut now = Instant::ZERO;
    while !peers.iter().all(|peer| peer.driver.session().is_over()) {
        beside();
        peers.iter_mut().for_each(|peer| peer.round(now));
        now += Duration::from_millis(5);
        assert!(now < Instant::from_millis(120_000), "the match does not end: {:?}", peers[0].tcp.stats());
    }
    let checksum = peers[0].driver.simulation().checksum();
    for Peer { driver, .. } in peers {
        assert_eq!(driver.session().phase(), SessionPhase::Finished);
        assert_eq!((driver.frame().0, driver.simulation().checksum()), (240, checksum));
        assert!(!driver.simulation().log.is_empty());
    }
}

#[test]
fn three_peers_finish_a_match_beside_strangers() {
    let mut host = Peer::host(3);
    let at = host.tcp.local_address().unwrap();
    // One says nothing, one says a message that is too long, one says an empty one.
    let _silent = TcpStream::connect(at).unwrap();
    for said in [[0xff, 0xff], [0, 0]] {
        let mut stranger = TcpStream::connect(at).unwrap();
        stranger.write_all(&said).unwrap();
        host.round(Instant::ZERO);
        // The host has closed the connection.
        let error = stranger.read(&mut [0]).map_or_else(|error| error.kind(), |_| ErrorKind::UnexpectedEof);
        assert!(matches!(error, ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset), "{error}");
    }
    assert_eq!(host.tcp.stats().malformed, 2);
    let mut peers = vec![host, Peer::guest(3, 1, at), Peer::guest(3, 2, at)];
    play(&mut peers, || {});
    // The match takes 12 s.
    assert_eq!(peers[0].tcp.stats().unknown_closed, 1, "who says nothing is shown out after 10 s");
    assert_eq!(peers[0].driver.session().link_count(), 2);
    // After the match nobody is taken.
    let late: Vec<_> = (0..9).map(|_| TcpStream::connect(at).unwrap()).collect();
    let Peer { tcp, driver } = &mut peers[0];
    tcp.pump(driver.session_mut(), Instant::from_millis(60_000));
    assert_eq!((peers[0].tcp.stats().refused, peers[0].tcp.stats().unknown_closed), (9, 1), "{late:?}");
}

/// A network may cut what is written wherever it likes: here after each byte, in both directions.
#[test]
fn messages_that_come_byte_by_byte_are_whole() {
    let host = Peer::host(2);
    let between = TcpListener::bind(loopback()).unwrap();
    let guest = Peer::guest(2, 1, between.local_addr().unwrap());
    let (left, _) = between.accept().unwrap();
    let right = TcpStream::connect(host.tcp.local_address().unwrap()).unwrap();
    for stream in [&left, &right] {
        stream.set_nonblocking(true).unwrap();
        stream.set_nodelay(true).unwrap();
    }
    let pass = |mut from: &TcpStream, mut to: &TcpStream| {
        let mut byte = [0];
        // Some 30 bytes in each round are enough for a match, and few enough to cut most messages.
        for _ in 0..37 {
            if from.read(&mut byte).is_ok_and(|length| length == 1) {
                let _ = to.write(&byte);
            }
        }
    };
    play(&mut [host, guest], || {
        pass(&left, &right);
        pass(&right, &left);
    });
}

#[test]
fn who_floods_the_door_keeps_nobody_out() {
    let mut host = Peer::host(2);
    let at = host.tcp.local_address().unwrap();
    let mut flood: Vec<_> = (0..80).map(|_| TcpStream::connect(at)).collect::<Result<_, _>>().unwrap();
    let mut now = Instant::ZERO;
    host.round(now);
    host.round(now);
    // One address has eight places; the newest have them.
    assert_eq!((host.tcp.stats().refused, host.tcp.stats().unknown_closed), (0, 80 - 8));
    now += Duration::from_secs(10);
    host.round(now);
    assert_eq!(host.tcp.stats().unknown_closed, 80);
    let mut guest = Peer::guest(2, 1, at);
    while guest.driver.session().phase() != SessionPhase::Running {
        flood.push(TcpStream::connect(at).unwrap());
        host.round(now);
        guest.round(now);
        now += Duration::from_millis(5);
        assert!(now < Instant::from_millis(15_000), "{:?}", host.tcp.stats());
    }
}

#[test]
fn a_lost_connection_is_told() {
    let mut host = Peer::host(2);
    let mut guest = Peer::guest(2, 1, host.tcp.local_address().unwrap());
    let mut now = Instant::ZERO;
    while host.driver.session().phase() != SessionPhase::Running {
        host.round(now);
        guest.round(now);
        now += Duration::from_millis(5);
        assert!(now < Instant::from_millis(15_000), "{:?}", host.tcp.stats());
    }
    let peer = testudo_lockstep::PeerId(0);
    assert!(host.tcp.is_connected(peer));
    drop(guest);
    host.round(now);
    assert!(!host.tcp.is_connected(peer), "{:?}", host.tcp.stats());
    assert_eq!(host.tcp.stats().lost, 1);
}

/// A guest whose path has died without a word had two connections for good.
#[test]
fn a_guest_can_close_a_connection() {
    let mut host = Peer::host(2);
    let mut guest = Peer::guest(2, 1, host.tcp.local_address().unwrap());
    host.round(Instant::ZERO);
    let peer = testudo_lockstep::PeerId(0);
    assert!(guest.tcp.close(peer) && !guest.tcp.is_connected(peer) && !guest.tcp.close(peer));
    host.round(Instant::ZERO);
    assert_eq!(host.tcp.stats().lost, 1);
}

#[test]
fn nobody_listening_is_an_error_at_once() {
    // A port that is free: it was given back.
    let at = TcpListener::bind(loopback()).unwrap().local_addr().unwrap();
    let error = TcpTransport::new().connect(at, WAIT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    assert!(TcpTransport::new().local_address().is_err());
}
