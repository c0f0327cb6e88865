//! Greeting, packets, the end of connections, limits.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use testudo_lockstep::transport::sealed::{
    ClientEvent, GREETING_BYTES_MAX, LostReason, SealedClient, SealedConfig, SealedEvent, SealedServer,
    SealedThread,
};
use testudo_lockstep::{Duration, PACKET_BYTES_MAX, PeerId};

use crate::people::{client, meet, server};
use crate::{next_event, next_of, until};

#[test]
fn the_largest_packet_passes_in_both_directions() {
    let config = SealedConfig::new();
    let mut server = server(&config);
    let mut client = client(&server, b"hello", &config);
    let peer = meet(&mut server, &mut client, b"hello");
    let large: Vec<u8> = (0..PACKET_BYTES_MAX).map(|place| place as u8).collect();
    // The first two are not delivered, the third is the shortest that may be.
    [&[][..], &[0], &[1], &large].into_iter().for_each(|packet| client.send(packet));
    assert_eq!(next_event(&mut server), SealedEvent::Packet { peer, bytes: vec![1] });
    assert_eq!(next_event(&mut server), SealedEvent::Packet { peer, bytes: large.clone() });
    server.send(peer, &large);
    assert_eq!(next_of(&mut client), ClientEvent::Packet(large.clone()));
    // What is longer than any packet is not sent.
    client.send(&[0; 1_500]);
    server.send(peer, &[0; 1_500]);
    assert_eq!((client.send_dropped(), server.stats().send_dropped), (1, 1));
    assert_eq!((server.stats().packets_received, server.stats().packets_sent), (2, 1));
}

#[test]
fn who_is_refused_is_told_why() {
    let config = SealedConfig::new();
    let mut server = server(&config);
    let mut client = client(&server, b"wrong", &config);
    let SealedEvent::Greeting { peer, address, bytes } = next_event(&mut server) else {
        panic!("no greeting")
    };
    assert_eq!(bytes, b"wrong");
    assert!(address.ip().is_loopback());
    server.send(peer, b"too early");
    assert_eq!(server.stats().send_dropped, 1);
    server.refuse(peer, b"wrong secret");
    assert_eq!(next_of(&mut client), ClientEvent::Refused(b"wrong secret".to_vec()));
    client.send(b"let me in all the same");
    until("the place is free", || {
        server.wait(Duration::from_millis(10));
        assert_eq!(server.poll(), None, "nothing is reported about a peer that was refused");
        server.stats().connections == 0
    });
}

/// What arrives before the application accepts stays in the connection.
#[test]
fn nothing_is_passed_on_before_it_is_accepted() {
    let config = SealedConfig::new().greeting_timeout(Duration::from_secs(3));
    let mut server = server(&config);
    let mut client = client(&server, b"hello", &config);
    let SealedEvent::Greeting { .. } = next_event(&mut server) else { panic!("no greeting") };
    client.send(b"early");
    assert_eq!(client.send_dropped(), 1);
    // The application does not answer at all: in the end the connection is closed.
    assert_eq!(next_of(&mut client), ClientEvent::Lost(LostReason::Closed));
    assert!(matches!(next_event(&mut server), SealedEvent::Closed { .. }));
    assert!(server.stats().failed >= 1);
}

#[test]
fn each_side_hears_when_the_other_goes() {
    let config = SealedConfig::new();
    let mut server = server(&config);
    let mut client_a = client(&server, b"a", &config);
    let a = meet(&mut server, &mut client_a, b"a");
    let mut client_b = client(&server, b"b", &config);
    let b = meet(&mut server, &mut client_b, b"b");
    assert_ne!(a, b);

    client_a.send(b"farewell");
    drop(client_a);
    assert_eq!(next_event(&mut server), SealedEvent::Packet { peer: a, bytes: b"farewell".to_vec() });
    assert_eq!(next_event(&mut server), SealedEvent::Closed { peer: a });

    server.send(b, b"farewell");
    server.close(b);
    assert_eq!(next_of(&mut client_b), ClientEvent::Packet(b"farewell".to_vec()));
    assert_eq!(next_of(&mut client_b), ClientEvent::Lost(LostReason::Closed));
    until("all places are free", || {
        server.wait(Duration::from_millis(10));
        assert_eq!(server.poll(), None, "the server has closed it itself");
        server.stats().connections == 0
    });

    let mut client_c = client(&server, b"c", &config);
    let c = meet(&mut server, &mut client_c, b"c");
    server.send(c, b"the end");
    drop(server);
    assert_eq!(next_of(&mut client_c), ClientEvent::Packet(b"the end".to_vec()));
    assert_eq!(next_of(&mut client_c), ClientEvent::Lost(LostReason::Closed));
}

#[test]
fn another_server_is_not_trusted() {
    let config = SealedConfig::new();
    let mut server = server(&config);
    let mut client =
        SealedClient::connect(&[server.local_address()], [0; 32], b"my secret", &config).unwrap();
    assert_eq!(next_of(&mut client), ClientEvent::Lost(LostReason::OtherServer));
    until("the connection is gone", || {
        server.wait(Duration::from_millis(10));
        server.stats().connections == 0
    });
    assert_eq!(server.poll(), None, "the secret has not been sent");
}

/// Before a certificate expires there is another one. Clients that are here stay; those that come need the new hash.
#[test]
fn a_certificate_is_renewed_without_a_word_to_who_is_here() {
    let config = SealedConfig::new();
    let mut server = server(&config);
    let old = server.certificate_hash();
    let mut early = client(&server, b"early", &config);
    let peer = meet(&mut server, &mut early, b"early");
    server.renew_certificate().unwrap();
    assert_ne!(server.certificate_hash(), old);
    let mut late = client(&server, b"late", &config);
    meet(&mut server, &mut late, b"late");
    let mut behind = SealedClient::connect(&[server.local_address()], old, b"old code", &config).unwrap();
    assert_eq!(next_of(&mut behind), ClientEvent::Lost(LostReason::OtherServer));
    early.send(b"still here");
    assert_eq!(next_event(&mut server), SealedEvent::Packet { peer, bytes: b"still here".to_vec() });
    server.send(peer, b"so am I");
    assert_eq!(next_of(&mut early), ClientEvent::Packet(b"so am I".to_vec()));
}

/// As a program does that plays for many people.
#[test]
fn clients_share_a_thread() {
    let config = SealedConfig::new();
    let mut server = server(&config);
    let thread = SealedThread::start().unwrap();
    let (way, hash) = (server.local_address(), server.certificate_hash());
    let mut clients: Vec<SealedClient> = Vec::new();
    for word in [b"a", b"b", b"c"] {
        let mut client = SealedClient::connect_on(&thread, &[way], hash, word, &config).unwrap();
        let peer = meet(&mut server, &mut client, word);
        server.send(peer, word);
        assert_eq!(next_of(&mut client), ClientEvent::Packet(word.to_vec()));
        clients.push(client);
    }
    drop(thread);
    clients[1].send(b"the thread goes on");
    assert!(matches!(next_event(&mut server), SealedEvent::Packet { .. }));
    drop(clients.swap_remove(0));
    assert!(matches!(next_event(&mut server), SealedEvent::Closed { .. }));
    drop(clients);
}

#[test]
fn packets_of_a_batch_leave_together_when_it_is_dropped() {
    let config = SealedConfig::new();
    let mut server = server(&config);
    let mut clients = [client(&server, b"a", &config), client(&server, b"b", &config)];
    // Greetings come in any order.
    let peers = [0, 1].map(|_| {
        let SealedEvent::Greeting { peer, bytes, .. } = next_event(&mut server) else {
            panic!("no greeting")
        };
        server.accept(peer, b"");
        (bytes, peer)
    });
    let mut batch = server.batch();
    for (word, peer) in &peers {
        (0..100).for_each(|_| batch.send(*peer, word));
    }
    batch.send(PeerId(99), b"nobody");
    drop(batch);
    for (client, word) in clients.iter_mut().zip([b"a", b"b"]) {
        assert!(matches!(next_of(client), ClientEvent::Accepted(_)));
        for _ in 0..100 {
            assert_eq!(next_of(client), ClientEvent::Packet(word.to_vec()));
        }
    }
    assert_eq!((server.stats().packets_sent, server.stats().send_dropped), (200, 1));
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let config = SealedConfig::new().connect_timeout(Duration::from_secs(1));
    // It was there a moment ago.
    let nowhere = server(&config).local_address();
    let mut client = SealedClient::connect(&[nowhere], [0; 32], b"", &config).unwrap();
    assert_eq!(next_of(&mut client), ClientEvent::Lost(LostReason::NoAnswer));
    let odd = "[::1]:0".parse().unwrap();
    let mut client = SealedClient::connect(&[odd], [0; 32], b"", &config).unwrap();
    assert_eq!(next_of(&mut client), ClientEvent::Lost(LostReason::Unreachable));
}

#[test]
fn the_first_address_that_answers_is_taken() {
    let config = SealedConfig::new();
    let mut server = server(&config);
    let nowhere = self::server(&config).local_address();
    let addresses = ["[::1]:0".parse().unwrap(), nowhere, server.local_address()];
    let mut client = SealedClient::connect(&addresses, server.certificate_hash(), b"here", &config).unwrap();
    meet(&mut server, &mut client, b"here");
}

/// A stranger is told at once. From where somebody plays, a player may come back in place of its former connection: the application is asked first.
#[test]
fn a_full_server_says_so() {
    for plays in [false, true] {
        let config = SealedConfig::new().connections_max(1);
        let mut server = server(&config);
        let greeting = |server: &mut SealedServer| match next_event(server) {
            SealedEvent::Greeting { peer, .. } => peer,
            other => panic!("{other:?}"),
        };
        let mut first = client(&server, b"first", &config);
        let peer = greeting(&mut server);
        if plays {
            server.accept(peer, b"come in");
        } else {
            server.accept_watcher(peer, b"come in");
        }
        assert_eq!(next_of(&mut first), ClientEvent::Accepted(b"come in".to_vec()));
        let mut second = client(&server, b"second", &config);
        if plays {
            let peer = greeting(&mut server);
            server.accept(peer, b"come in");
            assert_eq!(next_event(&mut server), SealedEvent::Closed { peer });
        }
        assert_eq!(next_of(&mut second), ClientEvent::Lost(LostReason::Full));
        assert!(server.stats().refused >= 1);
        drop(first);
        assert!(matches!(next_event(&mut server), SealedEvent::Closed { .. }));
        until("the place is free", || {
            server.wait(Duration::from_millis(10));
            server.stats().connections == 0
        });
        let mut third = client(&server, b"third", &config);
        meet(&mut server, &mut third, b"third");
    }
}

#[test]
fn silence_ends_a_connection() {
    let config = SealedConfig::new().idle_timeout(Duration::from_secs(3)).keep_alive(Duration::from_secs(60));
    let mut server = server(&config);
    let mut client = client(&server, b"hello", &config);
    let peer = meet(&mut server, &mut client, b"hello");
    assert_eq!(next_event(&mut server), SealedEvent::Closed { peer });
    assert_eq!(next_of(&mut client), ClientEvent::Lost(LostReason::TimedOut));
}

#[test]
fn mistakes_are_errors() {
    let config = SealedConfig::new();
    let server = server(&config);
    assert!(SealedServer::bind(server.local_address(), &config).is_err(), "a taken port");
    assert!(SealedClient::connect(&[], [0; 32], b"", &config).is_err(), "no address");
    let long = [0; GREETING_BYTES_MAX + 1];
    assert!(SealedClient::connect(&[server.local_address()], [0; 32], &long, &config).is_err());
}

/// `[::]` takes both versions of IP; addresses of version 4 are reported as such.
#[test]
fn one_port_takes_both_versions_of_ip() {
    let config = SealedConfig::new();
    let Ok(mut server) = SealedServer::bind("[::]:0".parse().unwrap(), &config) else {
        return eprintln!("this machine has no IPv6: nothing is tested");
    };
    let port = server.local_address().port();
    for host in [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)] {
        let way = SocketAddr::new(host, port);
        let mut client = SealedClient::connect(&[way], server.certificate_hash(), b"hello", &config).unwrap();
        let SealedEvent::Greeting { peer, address, .. } = next_event(&mut server) else {
            panic!("no greeting")
        };
        assert_eq!(address.ip(), host);
        server.accept(peer, b"");
        assert_eq!(next_of(&mut client), ClientEvent::Accepted(Vec::new()));
        server.close(peer);
    }
}

/// As when one of the clocks is off by a year.
#[test]
fn a_certificate_of_another_year_is_named() {
    let config = SealedConfig::new();
    for days in [-365, 365] {
        let address = "127.0.0.1:0".parse().unwrap();
        let mut server = SealedServer::bind_off_by(address, &config, days).unwrap();
        let hash = server.certificate_hash();
        let mut client = SealedClient::connect(&[server.local_address()], hash, b"", &config).unwrap();
        assert_eq!(next_of(&mut client), ClientEvent::Lost(LostReason::Expired));
        // A relay had a clock that was set right after the start, and nobody could come to it for ten days.
        assert!(!server.certificate_is_valid());
        server.renew_certificate().unwrap();
        assert!(server.certificate_is_valid());
        let hash = server.certificate_hash();
        let _client = SealedClient::connect(&[server.local_address()], hash, b"hello", &config).unwrap();
        assert!(matches!(next_event(&mut server), SealedEvent::Greeting { .. }));
    }
    // By the longest time after which a relay renews its certificate in good order.
    for (days, is_valid) in [(-2, false), (-1, false), (0, true), (11, true), (12, false), (13, false)] {
        let server = SealedServer::bind_off_by("127.0.0.1:0".parse().unwrap(), &config, days).unwrap();
        assert_eq!(server.certificate_is_valid(), is_valid, "{days} days later");
    }
}
