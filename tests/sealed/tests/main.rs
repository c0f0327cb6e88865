//! The sealed transport over real sockets on loopback. Free ports, no sleeps: tests wait for what is to happen, with a generous limit.

mod attackers;
mod loopback;
mod network;
mod people;
mod places;
mod strangers;
mod wire;

use testudo_lockstep::Duration;
use testudo_lockstep::service::guest::Guest;
use testudo_lockstep::transport::sealed::{
    ClientEvent, SealedClient, SealedDialer, SealedEvent, SealedHost, SealedRelay, SealedServer,
};

/// Rounds of 10 ms that a test waits for something: two minutes.
const ROUNDS_MAX: u32 = 12_000;

/// Waits for the next event of a server.
#[track_caller]
fn next_event(server: &mut SealedServer) -> SealedEvent {
    (0..ROUNDS_MAX)
        .find_map(|_| {
            server.wait(Duration::from_millis(10));
            server.poll()
        })
        .expect("an event of the server")
}

/// Waits for the next event of a client.
#[track_caller]
fn next_of(client: &mut SealedClient) -> ClientEvent {
    (0..ROUNDS_MAX)
        .find_map(|_| {
            client.wait(Duration::from_millis(10));
            client.poll()
        })
        .expect("an event of the client")
}

/// Waits until something is the case.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    assert!((0..ROUNDS_MAX).any(|_| holds()), "never: {what}");
}

/// As `tests/lockstep/threads.rs` promises of the other types.
#[test]
fn what_a_game_keeps_is_send_and_sync() {
    fn is_promised<T: Send + Sync>() {}
    is_promised::<(SealedServer, SealedClient, SealedDialer, SealedHost, SealedRelay)>();
    is_promised::<Guest<SealedDialer>>();
}
