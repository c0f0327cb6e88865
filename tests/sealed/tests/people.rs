//! A server with a client that it has accepted.

use std::net::SocketAddr;

use testudo_lockstep::PeerId;
use testudo_lockstep::transport::sealed::{
    ClientEvent, SealedClient, SealedConfig, SealedEvent, SealedServer,
};

use crate::{next_event, next_of};

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
