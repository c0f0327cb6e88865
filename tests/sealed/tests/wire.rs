//! How a connection begins and ends: with another implementation on the other side, and byte by byte, as the standards have it.

use std::time::Duration as StdDuration;

use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, SignatureAlgorithm};
use testudo_lockstep::Duration;
use testudo_lockstep::transport::sealed::{
    ClientEvent, LostReason, SealedClient, SealedConfig, SealedEvent, SealedServer,
};
use tokio::runtime::Handle;
use wtransport::endpoint::endpoint_side::Server;
use wtransport::quinn::{self, RecvStream, SendStream, VarInt, WriteError};
use wtransport::tls::{Certificate, CertificateChain, PrivateKey};
use wtransport::{Endpoint, Identity, ServerConfig};

use crate::attackers::{assert_healthy, config_of, runtime};
use crate::people::server;
use crate::{next_event, next_of, until};

const DAY: StdDuration = StdDuration::from_secs(86_400);

/// A certificate that begins a day ago.
#[expect(clippy::disallowed_types, reason = "clients check it by the clock")]
fn identity(algorithm: &'static SignatureAlgorithm, days: u32) -> Identity {
    let key = KeyPair::generate_for(algorithm).unwrap();
    let mut about = CertificateParams::new(["localhost".into()]).unwrap();
    let start = std::time::SystemTime::now() - DAY;
    (about.not_before, about.not_after) = (start.into(), (start + DAY * days).into());
    let certificate = about.self_signed(&key).unwrap();
    let chain = CertificateChain::single(Certificate::from_der(certificate.der().to_vec()).unwrap());
    Identity::new(chain, PrivateKey::from_der_pkcs8(key.serialize_der()))
}

/// A client of ours, and a server of the other implementation with this certificate.
fn foreign_server(runtime: &Handle, identity: Identity) -> (SealedClient, Endpoint<Server>) {
    let hash = *identity.certificate_chain().as_slice()[0].hash().as_ref();
    let address = "127.0.0.1:0".parse().unwrap();
    let endpoint = runtime.block_on(async {
        Endpoint::server(ServerConfig::builder().with_bind_address(address).with_identity(identity).build())
            .unwrap()
    });
    let address = endpoint.local_addr().unwrap();
    (SealedClient::connect(&[address], hash, b"hello", &SealedConfig::new()).unwrap(), endpoint)
}

/// Also what servers of older builds are: the same implementation, with the same certificates.
#[test]
fn a_server_of_another_implementation_is_understood() {
    let runtime = runtime();
    let (mut client, endpoint) = foreign_server(&runtime, identity(&PKCS_ECDSA_P256_SHA256, 13));
    let connection = runtime.block_on(async {
        let connection = endpoint.accept().await.await.unwrap().accept().await.unwrap();
        let (mut send, mut receive) = connection.accept_bi().await.unwrap();
        let mut greeting = Vec::new();
        let mut buffer = [0; 64];
        while let Some(length) = receive.read(&mut buffer).await.unwrap() {
            greeting.extend_from_slice(&buffer[..length]);
        }
        assert_eq!(greeting, b"hello");
        send.write_all(b"\x01come in").await.unwrap();
        send.finish().await.unwrap();
        connection
    });
    assert_eq!(next_of(&mut client), ClientEvent::Accepted(b"come in".to_vec()));
    client.send(b"ping");
    runtime.block_on(async {
        assert_eq!(connection.receive_datagram().await.unwrap().payload()[..], [0], "a plug comes first");
        assert_eq!(connection.receive_datagram().await.unwrap().payload()[..], *b"ping");
    });
    connection.send_datagram([0]).unwrap();
    connection.send_datagram(b"pong").unwrap();
    assert_eq!(next_of(&mut client), ClientEvent::Packet(b"pong".to_vec()));
    connection.close(1_u32.into(), b"");
    assert_eq!(next_of(&mut client), ClientEvent::Lost(LostReason::Displaced));
}

/// The rules of browsers for certificates by hash hold for all clients.
#[test]
fn certificates_of_other_kinds_are_not_taken() {
    let runtime = runtime();
    for identity in [identity(&PKCS_ECDSA_P256_SHA256, 16), identity(&PKCS_ED25519, 13)] {
        let (mut client, endpoint) = foreign_server(&runtime, identity);
        runtime.spawn(async move { endpoint.accept().await.await.map(drop) });
        assert_eq!(next_of(&mut client), ClientEvent::Lost(LostReason::OtherServer));
    }
}

/// RFC 9114, sections 6.2 and 7.2: a control stream with settings, here none.
const CONTROL: &[u8] = &[0x00, 0x04, 0x00];

/// A frame with compressed headers (RFC 9114, section 7.2.2) that name no other tables than the static one (RFC 9204, appendix A).
fn headers(lines: &[&[u8]]) -> Vec<u8> {
    let lines = lines.concat();
    [&[0x01, 2 + lines.len() as u8, 0, 0][..], &lines].concat()
}

const METHOD_CONNECT: &[u8] = &[0xc0 | 15];
const METHOD_GET: &[u8] = &[0xc0 | 17];
const SCHEME_HTTPS: &[u8] = &[0xc0 | 23];
const PATH: &[u8] = &[0xc0 | 1];
const AUTHORITY: &[u8] = b"\x50\x09localhost";
const PROTOCOL: &[u8] = b"\x27\x02:protocol\x0cwebtransport";

fn request() -> Vec<u8> {
    headers(&[METHOD_CONNECT, SCHEME_HTTPS, PATH, AUTHORITY, PROTOCOL])
}

/// The two ends of a request's stream.
type Request = (SendStream, RecvStream);

/// A client that says what it is told to.
struct ByHand {
    connection: quinn::Connection,
    _endpoint: quinn::Endpoint,
    /// Whoever drops a stream ends it.
    control: Vec<SendStream>,
}

impl ByHand {
    async fn connect(server: &SealedServer) -> Self {
        let quic = config_of(server).quic_config().clone();
        let endpoint = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
        let connecting = endpoint.connect_with(quic, server.local_address(), "localhost").unwrap();
        let connection = connecting.await.unwrap();
        Self { connection, _endpoint: endpoint, control: Vec::new() }
    }

    /// Opens streams in one direction, and then one in both. The server may let go of it before it has said all.
    async fn say(&mut self, streams: &[&[u8]], request: &[u8]) -> Result<Request, WriteError> {
        for bytes in streams {
            let mut stream = self.connection.open_uni().await?;
            stream.write_all(bytes).await?;
            self.control.push(stream);
        }
        let (mut send, receive) = self.connection.open_bi().await?;
        send.write_all(request).await?;
        Ok((send, receive))
    }

    /// One that the server has no reason to let go of.
    async fn begin(server: &SealedServer, streams: &[&[u8]], request: &[u8]) -> (Self, Request) {
        let mut client = Self::connect(server).await;
        let request = client.say(streams, request).await.unwrap();
        (client, request)
    }
}

/// As a browser may do it: the streams in any order, with some that mean nothing; and it closes the session, not the connection.
#[test]
fn a_client_by_the_book_is_let_in() {
    let mut server = server(&SealedConfig::new());
    let runtime = runtime();
    // Types 0x21 and 0x40 mean nothing (RFC 9114, section 6.2.3) and are unknown; 2 and 3 are those of QPACK.
    let streams: [&[u8]; 5] = [&[0x21, 7, 7], &[0x02], &[0x40, 0x40, 1], &[0x03], CONTROL];
    let meaningless = [&[0x21, 0x02, 9, 9][..], &request()].concat();
    let (client, (mut send, mut receive)) = runtime.block_on(ByHand::begin(&server, &streams, &meaningless));
    let (status, mut answer) = runtime.block_on(async {
        let mut status = [0; 9];
        receive.read_exact(&mut status).await.unwrap();
        let (mut send, receive) = client.connection.open_bi().await.unwrap();
        // The session's number is that of its stream, 0, here longer than necessary.
        send.write_all(b"\x40\x41\x40\x00hello").await.unwrap();
        send.finish().unwrap();
        (status, receive)
    });
    // ":status" is line 24 of the static table (RFC 9204); "200" is compressed (RFC 7541, appendix B).
    assert_eq!(status, [0x01, 7, 0, 0, 0x5f, 24 - 15, 0x82, 0x10, 0x01]);
    let SealedEvent::Greeting { peer, bytes, .. } = next_event(&mut server) else { panic!("no greeting") };
    assert_eq!(bytes, b"hello");
    server.accept(peer, b"come in");
    runtime.block_on(async {
        assert_eq!(answer.read_to_end(100).await.unwrap(), b"\x01come in");
        assert_eq!(client.connection.read_datagram().await.unwrap()[..], [0, 0], "a plug comes first");
        client.connection.send_datagram(b"\x00ping".to_vec().into()).unwrap();
    });
    assert_eq!(next_event(&mut server), SealedEvent::Packet { peer, bytes: b"ping".to_vec() });
    send.finish().unwrap();
    assert_eq!(next_event(&mut server), SealedEvent::Closed { peer });
    until("the place is free", || {
        server.wait(Duration::from_millis(10));
        server.stats().connections == 0
    });
}

/// What is wrong, the streams in one direction, and the one in both.
type Case = (&'static str, &'static [&'static [u8]], Vec<u8>);

/// Each of these ends its own connection, and nothing else.
#[test]
fn who_breaks_the_rules_of_http_is_let_go() {
    let good = request();
    let control: &'static [&'static [u8]] = &[CONTROL];
    let mut endless = headers(&[]);
    endless[1] = 26;
    endless.extend_from_slice(&[0xff; 24]);
    let cases: [Case; 12] = [
        ("no settings, but data", &[&[0x00, 0x00, 0x01, 7]], good.clone()),
        ("settings that break off", &[&[0x00, 0x04, 0x01, 0x01]], good.clone()),
        ("settings of the version before", &[&[0x00, 0x04, 0x02, 0x02, 0x01]], good.clone()),
        ("settings longer than 4,096 bytes", &[&[0x00, 0x04, 0xbf, 0xff, 0xff, 0xff]], good),
        ("no request, but data", control, vec![0x00, 0x01, 7]),
        ("another method", control, headers(&[METHOD_GET, SCHEME_HTTPS, PATH, AUTHORITY, PROTOCOL])),
        ("another protocol", control, headers(&[METHOD_CONNECT, SCHEME_HTTPS, PATH, AUTHORITY])),
        ("no such line in the table", control, headers(&[&[0xff, 0x7f]])),
        ("a table that is not there", control, headers(&[&[0x80]])),
        ("a number without an end", control, endless),
        ("a stream of a session that is none", control, b"\x40\x41\x00hello".to_vec()),
        (
            "a request longer than 4,096 bytes",
            control,
            vec![0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        ),
    ];
    let mut server = server(&SealedConfig::new().greeting_timeout(Duration::from_secs(100)));
    let runtime = runtime();
    for (what, streams, request) in &cases {
        runtime.block_on(async {
            let mut client = ByHand::connect(&server).await;
            let said = client.say(streams, request).await;
            let why = tokio::time::timeout(StdDuration::from_secs(60), client.connection.closed()).await;
            assert!(
                matches!(why, Ok(quinn::ConnectionError::ApplicationClosed(_))),
                "{what}: {said:?}, {why:?}"
            );
        });
        assert_eq!(server.poll(), None, "{what}");
    }
    until("the places are free", || server.stats().connections == 0);
    assert_eq!(server.stats().greetings, 0);
    assert_healthy(&mut server);
}

/// 1,024 bytes behind the longest numbers that there are; one more is too long, see below.
#[test]
fn the_longest_greeting_behind_the_longest_head_is_let_in() {
    let mut server = server(&SealedConfig::new());
    let runtime = runtime();
    let head = b"\xc0\0\0\0\0\0\0\x41\xc0\0\0\0\0\0\0\0";
    let greeting = [&head[..], &[7; 1_024]].concat();
    let _client = runtime.block_on(async {
        let (client, request) = ByHand::begin(&server, &[CONTROL], &request()).await;
        let (mut send, answer) = client.connection.open_bi().await.unwrap();
        send.write_all(&greeting).await.unwrap();
        send.finish().unwrap();
        (client, request, answer)
    });
    let SealedEvent::Greeting { bytes, .. } = next_event(&mut server) else { panic!("no greeting") };
    assert_eq!(bytes, [7; 1_024]);
}

/// The session is there, but what follows is not its stream, or is too long.
#[test]
fn a_greeting_belongs_to_its_session() {
    let long = [b"\x40\x41\x00", &[7; 1_025][..]].concat();
    let cases: [&[u8]; 6] = [b"", b"\x40", b"\x40\x41", b"\x40\x41\x04hello", b"\x40\x54\x00hello", &long];
    let mut server = server(&SealedConfig::new().greeting_timeout(Duration::from_secs(100)));
    let runtime = runtime();
    for bytes in cases {
        runtime.block_on(async {
            let (client, _request) = ByHand::begin(&server, &[CONTROL], &request()).await;
            let (mut send, _answer) = client.connection.open_bi().await.unwrap();
            send.write_all(bytes).await.unwrap();
            send.finish().unwrap();
            let why = tokio::time::timeout(StdDuration::from_secs(60), client.connection.closed()).await;
            let is_closed = |why| matches!(why, quinn::ConnectionError::ApplicationClosed(close) if close.error_code == VarInt::from_u32(0));
            assert!(why.is_ok_and(is_closed), "{bytes:?}");
        });
        assert_eq!(server.poll(), None, "{bytes:?}");
    }
    until("the places are free", || server.stats().connections == 0);
    assert_healthy(&mut server);
}
