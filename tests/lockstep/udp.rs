//! Real sockets on loopback. Free ports, no sleeps: the loop polls with virtual time, so timeouts do not depend on the machine.
#![expect(clippy::disallowed_types, reason = "the file of tests that other machines leave out")]

use std::net::{SocketAddr, UdpSocket};

use crate::toy::{Order, Toy, bot};
use testudo_lockstep::transport::udp::UdpTransport;
use testudo_lockstep::{Driver, Duration, Failure, Instant, PlayerId, Session, SessionConfig, SessionPhase};

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

#[test]
fn three_peers_finish_a_match_and_strangers_are_dropped() {
    let config = SessionConfig::new(3).simulated().turns(100).session_id(77);
    let mut now = Instant::ZERO;
    let host_socket = UdpTransport::bind(loopback()).unwrap();
    let host_address = host_socket.local_address().unwrap();
    let mut peers =
        vec![(host_socket, Driver::new(Toy::default(), Session::host(config.clone(), now).unwrap()))];
    for player in 1..3 {
        let mut socket = UdpTransport::bind(loopback()).unwrap();
        let host = socket.add_peer(host_address);
        let session = Session::join(config.clone(), PlayerId(player), host, now).unwrap();
        peers.push((socket, Driver::new(Toy::default(), session)));
    }
    let stranger = UdpSocket::bind(loopback()).unwrap();
    while !peers.iter().all(|(_, driver)| driver.session().is_over()) {
        stranger.send_to(b"let me in", host_address).unwrap();
        for (socket, driver) in &mut peers {
            socket.pump(driver.session_mut(), now).unwrap();
            driver.advance_with(now, |turn, _, session| {
                if let Some(order) = session.player().and_then(|player| bot(3, turn.0, player.0)) {
                    crate::toy::give(session, &order);
                }
            });
            socket.pump(driver.session_mut(), now).unwrap();
        }
        now += Duration::from_millis(5);
        assert!(now < Instant::from_millis(120_000), "the match does not end");
    }
    let checksum = peers[0].1.simulation().checksum();
    for (_, driver) in &peers {
        assert_eq!(driver.session().phase(), SessionPhase::Finished);
        assert_eq!(driver.frame().0, 400);
        assert_eq!(driver.simulation().checksum(), checksum);
    }
    let host = &peers[0];
    // The stranger spoke in every round of the running match.
    assert!(host.0.stats().unknown_dropped > 0);
    assert_eq!(host.1.session().link_count(), 2);
}

#[test]
fn joining_nobody_is_a_clear_error() {
    // A port that was free a moment ago: the network answers "refused", which must not end the attempt at once.
    let nobody = UdpSocket::bind(loopback()).unwrap().local_addr().unwrap();
    let mut socket = UdpTransport::bind(loopback()).unwrap();
    let host = socket.add_peer(nobody);
    let config = SessionConfig::new(2).simulated().turns(10);
    let mut now = Instant::ZERO;
    let mut session = Session::<Order>::join(config, PlayerId(1), host, now).unwrap();
    while !session.is_over() {
        socket.pump(&mut session, now).unwrap();
        now += Duration::from_millis(20);
        assert!(now < Instant::from_millis(11_000));
    }
    assert_eq!(session.phase(), SessionPhase::Failed(Failure::ConnectTimeout));
    assert_eq!(
        Failure::ConnectTimeout.to_string(),
        "nobody answered: nobody is listening, or the session id differs (another match)"
    );
}

#[test]
fn a_taken_port_is_an_error() {
    let first = UdpTransport::bind(loopback()).unwrap();
    assert!(UdpTransport::bind(first.local_address().unwrap()).is_err());
}

/// A packet may come from an address to which nothing can be sent.
#[test]
fn an_address_without_a_port_does_not_break_the_socket() {
    let mut udp = UdpTransport::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let nowhere = udp.add_peer("127.0.0.1:0".parse().unwrap());
    let mut session =
        Session::<Order>::join(SessionConfig::new(2).simulated(), PlayerId(1), nowhere, Instant::ZERO)
            .unwrap();
    udp.pump(&mut session, Instant::ZERO).unwrap();
    assert_eq!((udp.stats().send_dropped, udp.stats().unreachable), (1, 0));
}

#[test]
fn the_transport_is_send_and_sync() {
    crate::threads::is_promised::<UdpTransport>();
}
