//! The tasks that receive connections: each of them greets, waits for the application's decision, and then brings packets.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use quinn::{Endpoint, Incoming, SendStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::background::FLUSH;
use super::config::GREETING_BYTES_MAX;
use super::connection_limits::{Admission, ConnectionLimits, Ticket};
use super::datagram::Datagrams;
use super::inbox::Inbox;
use super::outbox::Outbox;
use super::stream::{ACCEPTED, CLOSED, CLOSED_DISPLACED, CLOSED_FULL, REFUSED, write_all};
use super::webtransport::WebSession;
use crate::packet::PACKET_BYTES_MAX;
use crate::value::ids::PeerId;

#[derive(Debug)]
pub(super) enum Decision {
    Accept(Vec<u8>),
    Refuse(Vec<u8>),
    /// There is no room.
    TurnAway,
    /// After it was accepted: another connection has its place.
    Displace,
}

/// What the tasks have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) inbox: Inbox<Other>,
    pub(super) outbox: Outbox,
    pub(super) limits: Arc<ConnectionLimits>,
    pub(super) greeting_timeout: core::time::Duration,
    pub(super) next_peer: Mutex<u32>,
    pub(super) retried: AtomicU64,
    pub(super) ignored: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) greetings: AtomicU64,
    pub(super) packets_received: AtomicU64,
    pub(super) too_long: AtomicU64,
}

/// What arrives besides packets.
#[derive(Debug)]
pub(super) enum Other {
    Greeting {
        peer: PeerId,
        ticket: u64,
        address: SocketAddr,
        bytes: Vec<u8>,
        datagrams: Datagrams,
        decision: mpsc::Sender<Decision>,
    },
    Closed(PeerId),
}

/// Looks at every handshake. An address that has not shown that it receives what is sent to it gets a small packet and no memory.
pub(super) async fn admit_all(endpoint: &Endpoint, shared: &Arc<Shared>) {
    while let Some(incoming) = endpoint.accept().await {
        if !incoming.remote_address_validated() {
            count(&shared.retried);
            // Whose address is not validated may be asked.
            let _ = incoming.retry();
            continue;
        }
        match shared.limits.admit(incoming.remote_address().ip(), Instant::now()) {
            Admission::Granted(ticket) => {
                tokio::spawn(serve(incoming, Arc::clone(shared), ticket));
            }
            Admission::Later => {
                count(&shared.ignored);
                incoming.ignore();
            }
            Admission::Full => {
                count(&shared.refused);
                incoming.refuse();
            }
        }
    }
}

/// The life of one connection; before it is accepted, it may have to give way.
async fn serve(incoming: Incoming, shared: Arc<Shared>, ticket: Ticket) {
    let evicted = ticket.evicted();
    tokio::select! {
        () = evicted.notified() => count(&shared.failed),
        () = attend(incoming, &shared, ticket) => {}
    }
}

async fn attend(incoming: Incoming, shared: &Shared, ticket: Ticket) {
    let Ok(Some((mut session, bytes, mut stream))) =
        timeout(shared.greeting_timeout, greeting(incoming)).await
    else {
        count(&shared.failed);
        return;
    };
    let peer = shared.number();
    let (decision, mut decisions) = mpsc::channel(1);
    let address = session.connection.remote_address();
    let address = SocketAddr::new(address.ip().to_canonical(), address.port());
    let datagrams = Datagrams::of(&session);
    let greeting = Other::Greeting {
        peer,
        ticket: ticket.number(),
        address,
        bytes,
        datagrams: datagrams.clone(),
        decision,
    };
    if !shared.inbox.offer(greeting) {
        count(&shared.failed);
        return;
    }
    count(&shared.greetings);
    let _farewell = Farewell { peer, shared };
    let decision = tokio::select! {
        decision = timeout(shared.greeting_timeout, decisions.recv()) => decision.ok().flatten(),
        () = session.over() => None,
    };
    let mut code = CLOSED;
    match decision {
        // What a client is told that asks again.
        Some(Decision::TurnAway) => {
            count(&shared.refused);
            code = CLOSED_FULL;
        }
        Some(Decision::Accept(answer)) => tokio::select! {
            () = converse(&datagrams, &mut stream, &answer, peer, shared) => {}
            () = session.over() => {}
            last = decisions.recv() => {
                code = if last.is_some() { CLOSED_DISPLACED } else { CLOSED };
                sleep(FLUSH).await;
            }
        },
        Some(Decision::Refuse(answer)) => {
            let _ = timeout(shared.greeting_timeout, say(&mut stream, REFUSED, &answer)).await;
            // The client closes when it has read the answer.
            let _ = timeout(shared.greeting_timeout, session.over()).await;
        }
        Some(Decision::Displace) | None => count(&shared.failed),
    }
    session.connection.close(code.into(), b"");
}

/// Reports the end of a connection, also if a task ends by a panic in the library.
struct Farewell<'a> {
    peer: PeerId,
    shared: &'a Shared,
}

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        self.shared.inbox.push(Other::Closed(self.peer));
    }
}

/// Makes the connection and reads its greeting.
async fn greeting(incoming: Incoming) -> Option<(WebSession, Vec<u8>, SendStream)> {
    let session = WebSession::accept(incoming.await.ok()?).await?;
    let (stream, bytes) = session.accept_stream(GREETING_BYTES_MAX).await?;
    Some((session, bytes, stream))
}

/// Answers the greeting and receives packets until the connection ends.
async fn converse(
    datagrams: &Datagrams,
    stream: &mut SendStream,
    answer: &[u8],
    peer: PeerId,
    shared: &Shared,
) {
    if say(stream, ACCEPTED, answer).await.is_none() {
        return;
    }
    let take = |packet: &[u8]| {
        count(&shared.packets_received);
        if packet.len() > PACKET_BYTES_MAX {
            count(&shared.too_long);
        } else {
            shared.inbox.push_packet(peer, packet);
        }
    };
    while datagrams.receive(take).await {}
}

async fn say(stream: &mut SendStream, decision: u8, answer: &[u8]) -> Option<()> {
    write_all(stream, &[&[decision], answer]).await
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Shared {
    /// A number that no connection has had, for 2^31 connections. The upper half of the numbers belongs to other transports.
    fn number(&self) -> PeerId {
        let mut next = self.next_peer.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *next;
        *next = (number + 1) & (u32::MAX >> 1);
        PeerId(number)
    }
}
