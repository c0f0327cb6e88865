//! Clients who know the address and the certificate but no secret, and who do not keep to the rules: they speak QUIC by hand.

use rand_core::Rng;
use rand_pcg::Pcg32;
use testudo_lockstep::transport::sealed::{ClientEvent, SealedConfig, SealedEvent, SealedServer};
use testudo_lockstep::{Duration, PACKET_BYTES_MAX};
use tokio::runtime::Handle;
use wtransport::endpoint::endpoint_side::Client;
use wtransport::{ClientConfig, Connection, Endpoint, quinn};

use crate::people::{client, meet, server};
use crate::{next_event, next_of, until};

/// A runtime that runs on a thread of its own until the tests end.
pub(crate) fn runtime() -> Handle {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    handle
}

pub(crate) fn config_of(server: &SealedServer) -> ClientConfig {
    ClientConfig::builder()
        .with_bind_address("127.0.0.1:0".parse().unwrap())
        .with_server_certificate_hashes([server.certificate_hash().into()])
        .build()
}

/// A WebTransport session, without a greeting.
async fn connect(server: &SealedServer) -> (Endpoint<Client>, Connection) {
    let endpoint = Endpoint::client(config_of(server)).unwrap();
    let connection = endpoint.connect(format!("https://{}/", server.local_address())).await.unwrap();
    (endpoint, connection)
}

/// Nothing is passed on, and the places are free again.
#[track_caller]
fn assert_gone(server: &mut SealedServer, failed: u64) {
    until("the places are free", || {
        server.wait(Duration::from_millis(10));
        assert_eq!(server.poll(), None);
        server.stats().connections == 0 && server.stats().failed == failed
    });
    assert_eq!((server.stats().pending, server.stats().greetings), (0, 0));
}

/// A client that keeps to the rules is let in as if nothing had been.
#[track_caller]
pub(crate) fn assert_healthy(server: &mut SealedServer) {
    let mut client = client(server, b"healthy", &SealedConfig::new());
    let peer = meet(server, &mut client, b"healthy");
    client.send(b"ping");
    assert_eq!(next_event(server), SealedEvent::Packet { peer, bytes: b"ping".to_vec() });
    server.send(peer, b"pong");
    assert_eq!(next_of(&mut client), ClientEvent::Packet(b"pong".to_vec()));
}

#[test]
fn a_greeting_that_is_too_long_or_breaks_off_ends_the_connection() {
    let mut server = server(&SealedConfig::new());
    let runtime = runtime();
    let held = runtime.block_on(async {
        let (long_endpoint, long) = connect(&server).await;
        let (mut stream, _answer) = long.open_bi().await.unwrap().await.unwrap();
        // The server stops reading at some point, which is an error here.
        let _ = stream.write_all(&[1; 100_000]).await;
        let (short_endpoint, short) = connect(&server).await;
        let (mut stream, _answer) = short.open_bi().await.unwrap().await.unwrap();
        stream.write_all(b"half a").await.unwrap();
        stream.reset(7_u32.into()).unwrap();
        (long_endpoint, short_endpoint, long, short)
    });
    assert_gone(&mut server, 2);
    drop(held);
    assert_healthy(&mut server);
}

/// Silence costs a place among those who are not accepted, for the time of a greeting. Nobody who was accepted notices.
#[test]
fn who_does_not_greet_is_let_go() {
    const ATTACKERS: u64 = 24;
    let mut server = server(&SealedConfig::new().greeting_timeout(Duration::from_secs(3)));
    let mut friend = client(&server, b"friend", &SealedConfig::new());
    let peer = meet(&mut server, &mut friend, b"friend");
    let runtime = runtime();
    let _held: Vec<_> = (0..ATTACKERS)
        .map(|_| {
            let (endpoint, target) = (
                runtime.block_on(async { Endpoint::client(config_of(&server)).unwrap() }),
                server.local_address(),
            );
            runtime.spawn(async move {
                let connection = endpoint.connect(format!("https://{target}/")).await;
                (endpoint, connection)
            })
        })
        .collect();
    until("some have to wait", || {
        server.wait(Duration::from_millis(10));
        assert!(server.stats().pending <= 16, "the limit for one address");
        server.stats().ignored > 0
    });
    friend.send(b"still here");
    assert_eq!(next_event(&mut server), SealedEvent::Packet { peer, bytes: b"still here".to_vec() });
    assert_healthy(&mut server);
    until("all are let go", || {
        server.wait(Duration::from_millis(10));
        server.poll();
        // More on a slow machine, where a client tries again.
        server.stats().failed >= ATTACKERS && server.stats().pending == 0
    });
}

/// Before a greeting is accepted, what a client sends in datagrams is neither looked at nor kept at length.
#[test]
fn datagrams_before_the_greeting_do_not_pile_up() {
    let mut server = server(&SealedConfig::new());
    let runtime = runtime();
    let (_endpoint, connection, _answer) = runtime.block_on(async {
        let (endpoint, connection) = connect(&server).await;
        let all = connection.quic_connection().datagram_send_buffer_space();
        for _ in 0..2_000 {
            connection.send_datagram([9; PACKET_BYTES_MAX]).unwrap();
            tokio::task::yield_now().await;
        }
        // All have left.
        while connection.quic_connection().datagram_send_buffer_space() < all {
            tokio::task::yield_now().await;
        }
        let (mut stream, answer) = connection.open_bi().await.unwrap().await.unwrap();
        stream.write_all(b"at last").await.unwrap();
        stream.quic_stream_mut().finish().unwrap();
        (endpoint, connection, answer)
    });
    let SealedEvent::Greeting { peer, bytes, .. } = next_event(&mut server) else { panic!("no greeting") };
    assert_eq!(bytes, b"at last");
    server.accept(peer, b"");
    connection.send_datagram(b"marker").unwrap();
    let mut kept = 0;
    until("the marker", || {
        server.wait(Duration::from_millis(10));
        connection.send_datagram(b"marker").unwrap();
        while let Some(event) = server.poll() {
            match event {
                SealedEvent::Packet { bytes, .. } if bytes == b"marker" => return true,
                _ => kept += 1,
            }
        }
        false
    });
    assert!(kept * PACKET_BYTES_MAX <= 3 * 65_536, "{kept} datagrams were kept");
}

/// QUIC without WebTransport: random bytes on streams and in datagrams, and beginnings that look like HTTP/3.
#[test]
fn garbage_inside_of_quic_ends_its_own_connection_only() {
    let mut server = server(&SealedConfig::new().greeting_timeout(Duration::from_secs(10)));
    let mut friend = client(&server, b"friend", &SealedConfig::new());
    let peer = meet(&mut server, &mut friend, b"friend");
    let runtime = runtime();
    let mut config = config_of(&server);
    let quic = config.quic_config_mut().clone();
    for seed in 0..60 {
        let (quic, target) = (quic.clone(), server.local_address());
        runtime.block_on(async move {
            let endpoint = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
            let connection = endpoint.connect_with(quic, target, "localhost").unwrap().await.unwrap();
            // It may be closed at any point.
            let _ = talk_nonsense(&connection, seed).await;
            connection.close(0_u32.into(), b"");
            endpoint.wait_idle().await;
        });
        assert_eq!(server.poll(), None, "seed {seed}");
    }
    friend.send(b"still here");
    assert_eq!(next_event(&mut server), SealedEvent::Packet { peer, bytes: b"still here".to_vec() });
    assert_healthy(&mut server);
}

async fn talk_nonsense(connection: &quinn::Connection, seed: u64) -> Result<(), Box<dyn std::error::Error>> {
    let mut random = Pcg32::new(seed, 5);
    // Types of streams and frames of HTTP/3 and WebTransport: control, encoder, decoder, WebTransport; data, headers, settings.
    let starts: [&[u8]; 9] =
        [&[], &[0], &[2], &[3], &[0x40, 0x54], &[0x40, 0x41], &[0, 4], &[1, 0x40], &[0x40, 0x41, 0x80]];
    for _ in 0..6 {
        let mut bytes = starts[random.next_u32() as usize % starts.len()].to_vec();
        let start = bytes.len();
        bytes.resize(start + random.next_u32() as usize % 300, 0);
        random.fill_bytes(&mut bytes[start..]);
        match random.next_u32() % 3 {
            0 => connection.send_datagram(bytes.into())?,
            1 => {
                let mut stream = connection.open_uni().await?;
                stream.write_all(&bytes).await?;
                if random.next_u32().is_multiple_of(2) {
                    stream.finish()?;
                }
            }
            _ => {
                let (mut stream, _) = connection.open_bi().await?;
                stream.write_all(&bytes).await?;
                if random.next_u32().is_multiple_of(2) {
                    stream.finish()?;
                }
            }
        }
    }
    // Until the server has closed, or has had time to read it.
    let _ = tokio::time::timeout(std::time::Duration::from_millis(50), connection.closed()).await;
    Ok(())
}
