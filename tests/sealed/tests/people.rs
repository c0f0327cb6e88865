//! A server with a client that it has accepted.

use std::net::SocketAddr;

use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::transport::sealed::{
    ClientEvent, SealedClient, SealedConfig, SealedEvent, SealedRelay, SealedServer,
};
use testudo_lockstep::{Duration, Instant, PeerId};

use crate::{next_event, next_of, until};

pub(crate) fn server(config: &SealedConfig) -> SealedServer {
    SealedServer::bind("127.0.0.1:0".parse().unwrap(), config).unwrap()
}

/// A client that greets with one word.
pub(crate) fn client(server: &SealedServer, word: &[u8], config: &SealedConfig) -> SealedClient {
    client_by(server.local_address(), server, word, config)
}

pub(crate) fn client_by(
    way: SocketAddr,
    server: &SealedServer,
    word: &[u8],
    config: &SealedConfig,
) -> SealedClient {
    SealedClient::connect(&[way], server.certificate_hash(), word, config).unwrap()
}

/// The server accepts the next greeting.
#[track_caller]
pub(crate) fn meet(server: &mut SealedServer, client: &mut SealedClient, word: &[u8]) -> PeerId {
    let SealedEvent::Greeting { peer, bytes, .. } = next_event(server) else {
        panic!("a greeting comes first")
    };
    assert_eq!(bytes, word);
    server.accept(peer, b"come in");
    assert_eq!(next_of(client), ClientEvent::Accepted(b"come in".to_vec()));
    peer
}

/// The thread behind the socket ended, and nobody was told: nobody could come any more, and a relay went on for ever.
#[test]
fn whoever_loses_its_socket_is_told() {
    let alone = server(&SealedConfig::new());
    let address = [alone.local_address()];
    alone.check().unwrap();
    alone.lose_socket();
    until("the server says so", || {
        alone.wait(Duration::from_millis(10));
        alone.check().is_err()
    });
    let mut relay = SealedRelay::new(server(&SealedConfig::new()), &address, Limits::default()).unwrap();
    relay.round(|| Instant::ZERO).unwrap();
    relay.server().lose_socket();
    until("the relay says so", || {
        relay.server().wait(Duration::from_millis(10));
        relay.round(|| Instant::ZERO).is_err()
    });
}
