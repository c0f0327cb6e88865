//! Real sockets on loopback. Free ports, no sleeps: the loop polls with virtual time, so timeouts do not depend on the machine.
#![expect(clippy::disallowed_types, reason = "the file of tests that other machines leave out")]

use crate::play::give_order;
use std::net::{SocketAddr, UdpSocket};

use crate::toy::{Order, Toy, key_of};
use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::guest::{Guest, GuestError};
use testudo_lockstep::service::host::Host;
use testudo_lockstep::service::invitation::Offers;
use testudo_lockstep::transport::tcp::TcpTransport;
use testudo_lockstep::transport::udp::{Aside, PlainDialer, UdpTransport};
use testudo_lockstep::{
    Driver, Duration, Event, Failure, Identity, Instant, PeerId, PlayerId, Refusal, Session, SessionConfig,
    SessionPhase,
};

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// A port at which nobody listens. It stays taken as long as the socket lives, and a socket that is connected to itself hears nobody else.
fn silent() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind(loopback()).unwrap();
    let address = socket.local_addr().unwrap();
    socket.connect(address).unwrap();
    (socket, address)
}

#[test]
fn three_peers_finish_a_match_and_strangers_are_dropped() {
    play(loopback());
}

#[test]
fn a_match_is_played_over_version_6_of_ip() {
    let loopback = "[::1]:0".parse().unwrap();
    match UdpSocket::bind(loopback) {
        Ok(_) => play(loopback),
        Err(error) => eprintln!("nothing is tested: this machine has no IPv6: {error}"),
    }
}

fn play(loopback: SocketAddr) {
    let config = SessionConfig::new(3).simulated().turns(100).session_id(77);
    let mut now = Instant::ZERO;
    let host_socket = UdpTransport::bind(loopback).unwrap();
    let host_address = host_socket.local_address().unwrap();
    let mut peers =
        vec![(host_socket, Driver::new(Toy::default(), Session::host(config.clone(), now).unwrap()))];
    for player in 1..3 {
        let mut socket = UdpTransport::bind(loopback).unwrap();
        let host = socket.add_peer(host_address);
        let session = Session::join(config.clone(), PlayerId(player), host, now).unwrap();
        peers.push((socket, Driver::new(Toy::default(), session)));
    }
    let stranger = UdpSocket::bind(loopback).unwrap();
    while !peers.iter().all(|(_, driver)| driver.session().is_over()) {
        stranger.send_to(b"let me in", host_address).unwrap();
        for (socket, driver) in &mut peers {
            socket.pump(driver.session_mut(), now).unwrap();
            driver.advance_with(now, |turn, _, session| give_order(turn, session));
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
        assert!(!driver.simulation().log.is_empty());
    }
    let host = &peers[0];
    // The stranger spoke in every round of the running match.
    assert!(host.0.stats().unknown_dropped > 0);
    assert_eq!(host.1.session().link_count(), 2);
}

/// A match between these sockets begins; to the guest, the host is this peer.
fn assert_meet(host: &mut UdpTransport, guest: &mut UdpTransport, peer: PeerId) {
    let config = SessionConfig::new(2).simulated().turns(10);
    let mut now = Instant::ZERO;
    let mut first = Session::<Order>::host(config.clone(), now).unwrap();
    let mut second = Session::<Order>::join(config, PlayerId(1), peer, now).unwrap();
    while second.phase() != SessionPhase::Running {
        host.pump(&mut first, now).unwrap();
        guest.pump(&mut second, now).unwrap();
        now += Duration::from_millis(5);
        assert!(now < Instant::from_millis(9_000), "{:?} {:?}", host.stats(), guest.stats());
    }
}

/// The host's answers came from an address that the guest did not know: its own host's, in the form of the other version of IP.
#[test]
fn a_socket_of_version_6_reaches_a_host_of_version_4() {
    let (host_at, guest_at) = (loopback(), "[::]:0".parse().unwrap());
    let mut host = UdpTransport::bind(host_at).unwrap();
    let at = host.local_address().unwrap();
    let mapped = SocketAddr::new("::ffff:127.0.0.1".parse().unwrap(), at.port());
    if let Err(error) = UdpSocket::bind(guest_at).and_then(|socket| socket.send_to(&[0], mapped)) {
        return eprintln!(
            "nothing is tested: from IPv6 this machine reaches no address of version 4: {error}"
        );
    }
    let mut guest = UdpTransport::bind(guest_at).unwrap();
    let peer = guest.add_peer(at);
    assert_eq!(guest.add_peer(mapped), peer);
    assert_meet(&mut host, &mut guest, peer);
}

#[test]
fn joining_nobody_is_a_clear_error() {
    // The network answers "refused", which must not end the attempt at once.
    let (_silent, nobody) = silent();
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
        "nobody answered: nobody is listening there, or packets do not get through"
    );
}

/// Addresses that the application had added took the places of strangers, for ever.
#[test]
fn who_has_asked_many_hosts_can_be_one() {
    let mut host = UdpTransport::bind(loopback()).unwrap();
    let at = host.local_address().unwrap();
    for port in 1..=100 {
        host.add_peer(SocketAddr::new(at.ip(), port));
    }
    let mut guest = UdpTransport::bind(loopback()).unwrap();
    let peer = guest.add_peer(at);
    assert_meet(&mut host, &mut guest, peer);
}

/// A host without a seal, which offers its places to whoever asks.
struct PlainHost {
    udp: UdpTransport,
    offers: Offers,
    driver: Driver<Toy>,
    gone: u32,
}

impl PlainHost {
    /// It offers places in this match, whose host has this session. Returns its code, too.
    fn new(session: Session<Order>, agreement: Agreement) -> (Self, JoinCode) {
        let udp = UdpTransport::bind(loopback()).unwrap();
        let code = JoinCode::unsealed(udp.local_address().unwrap());
        let offers = Offers::new(&session, agreement);
        (
            Self {
                udp,
                offers,
                driver: Driver::new(Toy { gives_state: true, ..Toy::default() }, session),
                gone: 0,
            },
            code,
        )
    }

    fn round(&mut self, now: Instant) {
        let Self { udp, offers, driver, gone } = self;
        let invite = |member: Option<PeerId>, bytes: &[u8]| {
            let reply = if member.is_none() { offers.answer(bytes, now) } else { None };
            reply.map_or(Aside::Session, Aside::Reply)
        };
        udp.pump_with(driver.session_mut(), now, invite).unwrap();
        driver.advance(now);
        udp.pump(driver.session_mut(), now).unwrap();
        while let Some(event) = driver.session_mut().poll_event() {
            match event {
                Event::Connected { identity: Identity::Player(player), .. } => {
                    offers.set_connected(player, true);
                }
                Event::PlayerGone { player, .. } => {
                    *gone += 1;
                    offers.set_connected(player, false);
                }
                _ => {}
            }
        }
    }
}

/// Each demo had its own way to ask, to wait and to come back.
#[test]
fn a_guest_without_a_seal_comes_and_comes_back_to_its_place() {
    let settings = SessionConfig::new(2).turns(150).drop_after(Duration::from_secs(2));
    let settings = settings.bots_take_over(true).late_joins(Duration::ZERO).signed();
    let agreement = Agreement::new::<Order>(&settings, b"").unwrap();
    let mut now = Instant::ZERO;
    let config = agreement.config().simulated().session_id(7).player_key(key_of(0));
    let session = Session::host(config, now).unwrap();
    let (mut host, code) = PlainHost::new(session, agreement);
    let mut guest = Guest::join(PlainDialer::new(99, false), code, [0; 16], now).unwrap();
    let (mut driver, mut arrivals): (Option<Driver<Toy>>, u32) = (None, 0);
    let mut asleep_until = Instant::ZERO;
    loop {
        host.round(now);
        if now >= asleep_until {
            if let Some(arrival) =
                guest.round(driver.as_mut().map(|driver| &mut **driver.session_mut()), now).unwrap()
            {
                assert_eq!(arrival.welcome.place, Identity::Player(PlayerId(1)));
                arrivals += 1;
                let config = arrival.config().simulated().player_key(key_of(1));
                let session = arrival.session(config, now).unwrap();
                // It signs no turn a second time.
                let before = driver.as_ref().map(|driver| driver.session().signed_before().unwrap());
                assert_eq!(session.signed_before(), before);
                assert!(before.is_none_or(|before| before.to_bytes()[32..] > [0; 4][..]));
                driver = Some(Driver::new(Toy { gives_state: true, ..Toy::default() }, session));
            }
            if let Some(driver) = &mut driver {
                driver.advance(now);
                while let Some(event) = driver.session_mut().poll_event() {
                    assert!(!matches!(event, Event::Failed(_)), "it comes back by itself: {event:?}");
                }
                assert!(!driver.session().is_over() || arrivals == 2);
            }
        }
        let turn = host.driver.session().next_turn().0;
        if turn >= 30 && asleep_until == Instant::ZERO {
            // Longer than the others wait.
            asleep_until = now + Duration::from_secs(5);
        }
        if host.driver.session().is_over() {
            break;
        }
        now += Duration::from_millis(5);
        assert!(now < Instant::from_millis(120_000), "turn {turn}, {arrivals} arrivals, {:?}", guest.error());
    }
    assert_eq!((arrivals, host.gone), (2, 1));
    assert_eq!(host.driver.session().phase(), SessionPhase::Finished);
    let back = driver.unwrap();
    assert!(!back.simulation().loaded.is_empty(), "it came back with the state of the running match");
    assert!(back.session().next_turn().0 >= 140, "it plays on: {:?}", back.session().phase());
}

/// The version of the engines came with the agreement, like a setting of the match: a guest of another build was let in, and differed.
#[test]
fn a_guest_whose_engines_have_another_version_is_refused() {
    let settings = SessionConfig::new(2).engine_version(1_000_000);
    let agreement = Agreement::new::<Order>(&settings, b"").unwrap();
    let mut now = Instant::ZERO;
    let session = Session::host(agreement.config().simulated().session_id(7), now).unwrap();
    let (mut host, code) = PlainHost::new(session, agreement);
    let mut guest = Guest::join(PlainDialer::new(99, false), code, [0; 16], now).unwrap();
    let mut session: Option<Session<Order>> = None;
    while session.as_ref().is_none_or(|session| !session.is_over()) {
        host.round(now);
        if let Some(arrival) = guest.round(session.as_deref_mut(), now).unwrap() {
            session = Some(arrival.session(arrival.config().simulated(), now).unwrap());
        }
        now += Duration::from_millis(5);
        assert!(now < Instant::from_millis(9_000));
    }
    let phase = session.unwrap().phase();
    assert!(matches!(phase, SessionPhase::Failed(Failure::Refused(Refusal::Content { .. }))), "{phase:?}");
    // A host goes by its own engines, too, if the agreement is that of an old save.
    let [old, own] =
        [settings, SessionConfig::new(2)].map(|settings| Agreement::new::<Order>(&settings, b""));
    assert_eq!(Host::config(&old.unwrap(), 7), Host::config(&own.unwrap(), 7));
}

#[test]
fn asking_nobody_for_a_place_is_a_clear_error() {
    let (_silent, nobody) = silent();
    let mut now = Instant::ZERO;
    let code = JoinCode::unsealed(nobody);
    let mut guest = Guest::join(PlainDialer::new(99, true), code, [0; 16], now).unwrap();
    let error = loop {
        match guest.round(None, now) {
            Ok(arrival) => assert_eq!(arrival, None),
            Err(error) => break error,
        }
        now += Duration::from_millis(20);
        assert!(now < Instant::from_millis(11_000));
    };
    assert_eq!(error, GuestError::Lost { why: format!("nobody at {nobody} answered within 10 s") });
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
    crate::threads::is_promised::<(UdpTransport, TcpTransport, Guest<PlainDialer>)>();
}
