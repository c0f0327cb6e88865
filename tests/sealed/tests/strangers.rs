//! Strangers, who have no code: random datagrams, first datagrams of a handshake from addresses that prove nothing, wrong secrets.

use std::time::Duration as StdDuration;

use testudo_lockstep::transport::sealed::{ClientEvent, SealedClient, SealedConfig};
use testudo_sealed_tests::proxy::{Proxy, Weather};
use testudo_sealed_tests::stranger::Stranger;

use crate::network::Table;
use crate::people::{client_by, meet, server};
use crate::until;

/// The datagrams with which a client begins.
fn first_datagrams() -> Vec<Vec<u8>> {
    let config = SealedConfig::new();
    let mut server = server(&config);
    let proxy = Proxy::start(server.local_address(), Weather::default(), 1).unwrap();
    proxy.record();
    let mut client = client_by(proxy.address(), &server, b"hello", &config);
    meet(&mut server, &mut client, b"hello");
    let mut capture = proxy.traffic().capture;
    // A client's first datagram asks for a connection, the second shows the token of the retry.
    assert!(capture.len() >= 2 && capture.iter().take(2).all(|datagram| datagram.len() >= 1_200));
    capture.truncate(2);
    capture
}

/// QUIC's limit is three bytes for each byte received. An address that has not proved itself gets far less.
#[test]
fn an_answer_to_a_stranger_is_shorter_than_the_question() {
    let server = server(&SealedConfig::new());
    let quiet = StdDuration::from_millis(300);

    let mut random = Stranger::new(server.local_address(), 1);
    for _ in 0..2_000 {
        random.send_random();
    }
    random.listen(quiet);

    let handshake = first_datagrams();
    let mut asking = Stranger::new(server.local_address(), 2);
    for _ in 0..100 {
        asking.send(&handshake[0]);
        asking.send(&handshake[1]);
    }
    asking.listen(quiet);

    let mut mutated = Stranger::new(server.local_address(), 3);
    for _ in 0..1_000 {
        mutated.send_mutated(&handshake);
    }
    mutated.listen(quiet);

    for (what, stranger) in [("random", &random), ("handshakes", &asking), ("mutated", &mutated)] {
        let (sent, received) = (stranger.sent, stranger.received);
        assert!(2 * received.1 < sent.1, "{what}: {received:?} datagrams and bytes in answer to {sent:?}");
    }
    assert!(asking.received.0 > 0, "a handshake is answered with a retry");
    assert!(server.stats().retried > 0);
    assert_eq!(
        (server.stats().connections, server.stats().greetings),
        (0, 0),
        "nothing is kept for a stranger"
    );
}

/// A match goes on while strangers knock with wrong secrets, send garbage, and pieces of handshakes.
#[test]
fn strangers_do_not_disturb_a_match() {
    let config = SealedConfig::new();
    let handshake = first_datagrams();
    let (mut table, _) = Table::new(200, |_| None);
    let mut stranger = Stranger::new(table.host.address(), 7);
    let (way, hash) = (table.host.address(), table.host.server().certificate_hash());
    let mut knocking: Vec<SealedClient> = Vec::new();
    let (mut knocks, mut refused) = (0, 0);
    while !table.is_over() {
        table.round();
        for _ in 0..5 {
            stranger.send_random();
            stranger.send_mutated(&handshake);
        }
        if knocking.len() < 4 && knocks < 12 {
            knocks += 1;
            knocking.push(SealedClient::connect(&[way], hash, &[knocks; 16], &config).unwrap());
        }
        knocking.retain_mut(|client| match client.poll() {
            Some(ClientEvent::Refused(answer)) => {
                assert_eq!(answer, b"wrong secret");
                refused += 1;
                false
            }
            Some(other) => panic!("{other:?}"),
            None => true,
        });
    }
    assert!(refused >= 4 && table.host.refused >= refused, "{refused} were refused");
    table.assert_untouched();
    let server = table.host.server();
    drop(knocking);
    until("only the guests are left", || {
        server.wait(testudo_lockstep::Duration::from_millis(10));
        server.poll();
        server.stats().connections <= 2
    });
}
