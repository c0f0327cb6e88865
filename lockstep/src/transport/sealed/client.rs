//! The side that connects.

use core::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use quinn::{ConnectionError, Endpoint, TransportErrorCode};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::background::{FAREWELL, FLUSH, Owner, SealedThread, Stop};
use super::config::{ANSWER_BYTES_MAX, GREETING_BYTES_MAX, SealedConfig, std_time};
use super::datagram::Datagrams;
use super::inbox::{Inbox, Item};
use super::quic;
use super::stream::{ACCEPTED, CLOSED, CLOSED_DISPLACED, CLOSED_FULL, write_all};
use super::webtransport::WebSession;
use crate::packet::PACKET_BYTES_MAX;
use crate::value::ids::PeerId;
use crate::value::time::Duration;

/// Time that an address has to answer before the next one is tried as well.
const NEXT_ADDRESS_AFTER: core::time::Duration = core::time::Duration::from_millis(250);

/// When an address is tried again, after the attempt before began; the last time holds for all that follow, until the connect timeout. QUIC repeats a lost
/// handshake packet after a time that doubles, so that a few losses in a row take half a minute; another attempt has its own luck.
const AGAIN_AFTER: [core::time::Duration; 3] = [
    core::time::Duration::from_secs(3),
    core::time::Duration::from_secs(6),
    core::time::Duration::from_secs(10),
];

/// Greatest number of addresses that are tried.
const ADDRESSES_MAX: usize = 8;

/// What happened on a client's connection. The first event is [`ClientEvent::Accepted`], [`ClientEvent::Refused`] or [`ClientEvent::Lost`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server has accepted, with this answer. Packets can be sent from now on.
    Accepted(Vec<u8>),
    /// The server has refused, with this answer. Nothing comes after it.
    Refused(Vec<u8>),
    /// A packet, at most [`PACKET_BYTES_MAX`] bytes.
    Packet(Vec<u8>),
    /// There is no connection, or not any more. Nothing comes after it.
    Lost(LostReason),
}

/// Why there is no connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LostReason {
    /// No answer came.
    NoAnswer,
    /// Another server answered: its certificate is not the expected one.
    OtherServer,
    /// The certificate is not valid at this time, by this machine's clock.
    Expired,
    /// The server takes no more connections.
    Full,
    /// None of the addresses can be reached from here, for instance because there is no IPv6.
    Unreachable,
    /// The server has closed the connection.
    Closed,
    /// Somebody else has come with the same greeting and has the place now.
    Displaced,
    /// Nothing came from the server for the idle timeout.
    TimedOut,
    /// The server has given the connection up: nothing had come over it for the idle timeout. (After a restart it knows nothing of older connections, not even
    /// how to say so: these time out.)
    Forgotten,
    /// The server does not speak this protocol.
    Broken,
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAnswer => "nobody answered: the server is not running, or the way to it lets nothing through (a firewall, a router, a path for less than 1,200 bytes)",
            Self::OtherServer => "another server answered: the code belongs to a match that is over, or somebody is in between",
            Self::Expired => "the server's certificate is not valid now: check the clocks of both machines, or ask for a new code",
            Self::Full => "the server takes no more connections",
            Self::Unreachable => "no address of the server can be reached from here",
            Self::Closed => "the server has closed the connection",
            Self::Displaced => "your code is used by somebody else, who has your place now",
            Self::TimedOut => "nothing comes from the server any more",
            Self::Forgotten => "the server has given the connection up",
            Self::Broken => "the server does not speak this protocol",
        })
    }
}

impl std::error::Error for LostReason {}

/// A sealed connection to a server. See [the module](super).
///
/// Dropping it sends what has just been queued, closes the connection and waits for its thread, at most a quarter of a second.
#[derive(Debug)]
pub struct SealedClient {
    shared: Arc<Shared>,
    send_dropped: u64,
    _owner: Owner,
}

#[derive(Debug)]
struct Shared {
    inbox: Inbox<ClientEvent>,
    /// Set when the server has accepted.
    datagrams: OnceLock<Datagrams>,
}

/// Alerts of TLS (RFC 8446, section 6) that a certificate causes.
const CERTIFICATE_EXPIRED: u8 = 45;
const UNKNOWN_CA: u8 = 48;

/// The one peer of a client.
const SERVER: PeerId = PeerId(0);

impl SealedClient {
    /// Begins to connect to the first of these addresses that answers, at most eight, with a greeting. The server has to show the certificate with
    /// this hash.
    ///
    /// # Errors
    /// A setting out of range ([`ConfigError`](crate::ConfigError)), no address, a greeting longer than [`GREETING_BYTES_MAX`], or an error of the operating
    /// system. What happens on the network is reported by [`SealedClient::poll`].
    pub fn connect(
        addresses: &[SocketAddr],
        certificate_hash: [u8; 32],
        greeting: &[u8],
        config: &SealedConfig,
    ) -> io::Result<Self> {
        Self::begin(None, addresses, certificate_hash, greeting, config)
    }

    /// As [`SealedClient::connect`], on a thread that other clients use as well. Dropping the client does not wait then.
    ///
    /// # Errors
    /// As those of [`SealedClient::connect`].
    pub fn connect_on(
        thread: &SealedThread,
        addresses: &[SocketAddr],
        certificate_hash: [u8; 32],
        greeting: &[u8],
        config: &SealedConfig,
    ) -> io::Result<Self> {
        Self::begin(Some(thread), addresses, certificate_hash, greeting, config)
    }

    fn begin(
        thread: Option<&SealedThread>,
        addresses: &[SocketAddr],
        certificate_hash: [u8; 32],
        greeting: &[u8],
        config: &SealedConfig,
    ) -> io::Result<Self> {
        config.check()?;
        if addresses.is_empty() || greeting.len() > GREETING_BYTES_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "no address, or a greeting that is too long",
            ));
        }
        let shared = Arc::new(Shared { inbox: Inbox::new(), datagrams: OnceLock::new() });
        let (task, greeting, config) = (Arc::clone(&shared), greeting.to_vec(), config.clone());
        let addresses = addresses[..addresses.len().min(ADDRESSES_MAX)].to_vec();
        let work = move |stop| run(addresses, certificate_hash, greeting, config, task, stop);
        let owner = match thread {
            Some(thread) => thread.spawn(work),
            None => Owner::alone(work)?,
        };
        Ok(Self { shared, send_dropped: 0, _owner: owner })
    }

    /// The next event, if there is one.
    pub fn poll(&mut self) -> Option<ClientEvent> {
        Some(match self.shared.inbox.pop()? {
            Item::Packet(_, bytes) => ClientEvent::Packet(bytes),
            Item::Other(event) => event,
        })
    }

    /// Waits until there is an event, or the time is up.
    pub fn wait(&self, time: Duration) {
        self.shared.inbox.wait(time);
    }

    /// Sends a packet, in one datagram and at once. It may be lost on the way, as with UDP. What cannot be sent is counted.
    /// An empty packet, and one of a single zero byte, is not delivered.
    pub fn send(&mut self, packet: &[u8]) {
        let sends = |datagrams: &Datagrams| {
            packet.len() <= PACKET_BYTES_MAX && datagrams.send(datagrams.wrap(packet))
        };
        if !self.shared.datagrams.get().is_some_and(sends) {
            self.send_dropped += 1;
        }
    }

    /// Packets that could not be sent: there is no connection (yet), or the packet is too long.
    #[must_use]
    pub fn send_dropped(&self) -> u64 {
        self.send_dropped
    }

    /// Packets received and dropped because too many waited for [`SealedClient::poll`].
    #[must_use]
    pub fn receive_dropped(&self) -> u64 {
        self.shared.inbox.dropped()
    }
}

async fn run(
    addresses: Vec<SocketAddr>,
    hash: [u8; 32],
    greeting: Vec<u8>,
    config: SealedConfig,
    shared: Arc<Shared>,
    mut stop: Stop,
) {
    let mut last = LastWord { shared: &shared, event: Some(ClientEvent::Lost(LostReason::Broken)) };
    let connected = tokio::select! {
        connected = connect_first(&addresses, hash, &config) => connected,
        _ = &mut stop => return last.event = None,
    };
    let (endpoint, mut session) = match connected {
        Ok(connected) => connected,
        Err(reason) => return last.event = Some(ClientEvent::Lost(reason)),
    };
    tokio::select! {
        event = converse(&mut session, &greeting, &config, &shared) => last.event = Some(event),
        _ = stop => {
            last.event = None;
            sleep(FLUSH).await;
        }
    }
    drop(last);
    endpoint.close(CLOSED.into(), b"");
    let _ = timeout(FAREWELL, endpoint.wait_idle()).await;
}

/// Reports the end of a connection, also if it ends by a panic in the library.
struct LastWord<'a> {
    shared: &'a Shared,
    event: Option<ClientEvent>,
}

impl Drop for LastWord<'_> {
    fn drop(&mut self) {
        self.event.take().into_iter().for_each(|event| self.shared.inbox.push(event));
    }
}

/// Tries the addresses one after the other, without waiting for those that do not answer. The error is that of the last one to fail.
async fn connect_first(
    addresses: &[SocketAddr],
    hash: [u8; 32],
    config: &SealedConfig,
) -> Result<(Endpoint, WebSession), LostReason> {
    let mut attempts = JoinSet::new();
    for (place, address) in (0_u32..).zip(addresses) {
        let (address, config) = (*address, config.clone());
        attempts.spawn(async move {
            sleep(NEXT_ADDRESS_AFTER * place).await;
            reach(address, hash, &config).await
        });
    }
    let limit = sleep(std_time(config.connect_timeout));
    tokio::pin!(limit);
    let mut reason = LostReason::Unreachable;
    loop {
        let attempt = tokio::select! {
            attempt = attempts.join_next() => attempt,
            () = &mut limit => {
                return Err(if reason == LostReason::Unreachable { LostReason::NoAnswer } else { reason });
            }
        };
        match attempt {
            Some(Ok(Ok(connected))) => return Ok(connected),
            Some(Ok(Err(LostReason::Unreachable)) | Err(_)) => {}
            Some(Ok(Err(why))) => reason = why,
            None => return Err(reason),
        }
    }
}

/// Tries one address again and again, until there is an answer, good or bad. The caller sets the limit.
async fn reach(
    address: SocketAddr,
    hash: [u8; 32],
    config: &SealedConfig,
) -> Result<(Endpoint, WebSession), LostReason> {
    let mut attempts = JoinSet::new();
    let [.., last] = AGAIN_AFTER;
    let mut pauses = AGAIN_AFTER.into_iter().chain(std::iter::repeat(last));
    let next = sleep(core::time::Duration::ZERO);
    tokio::pin!(next);
    loop {
        tokio::select! {
            () = &mut next => {
                let config = config.clone();
                attempts.spawn(async move { connect(address, hash, &config).await });
                next.set(sleep(pauses.next().unwrap_or(last)));
            }
            Some(attempt) = attempts.join_next() => match attempt {
                Ok(Err(LostReason::NoAnswer)) | Err(_) => {}
                Ok(answer) => return answer,
            },
        }
    }
}

async fn connect(
    address: SocketAddr,
    hash: [u8; 32],
    config: &SealedConfig,
) -> Result<(Endpoint, WebSession), LostReason> {
    let unreachable = LostReason::Unreachable;
    let endpoint = quic::dial(address, hash, config).map_err(|_| unreachable)?;
    let connecting = endpoint.connect(address, &address.ip().to_string()).map_err(|_| unreachable)?;
    let connection = connecting.await.map_err(|error| why_not(&error))?;
    match WebSession::open(connection.clone(), address).await {
        Some(session) => Ok((endpoint, session)),
        None => Err(connection.close_reason().map_or(LostReason::Broken, |error| why_not(&error))),
    }
}

/// Greets and receives packets until the connection ends. Returns the last event.
async fn converse(
    session: &mut WebSession,
    greeting: &[u8],
    config: &SealedConfig,
    shared: &Shared,
) -> ClientEvent {
    let decision = match timeout(std_time(config.connect_timeout), greet(session, greeting)).await {
        Ok(Some(decision)) => decision,
        Ok(None) => return ClientEvent::Lost(why_lost(session)),
        Err(_) => return ClientEvent::Lost(LostReason::NoAnswer),
    };
    let datagrams = Datagrams::of(session);
    match decision.split_first() {
        Some((&ACCEPTED, answer)) => {
            // Without a connection there are no packets either.
            let _ = datagrams.send(datagrams.plug());
            let _ = shared.datagrams.set(datagrams.clone());
            shared.inbox.push(ClientEvent::Accepted(answer.to_vec()));
        }
        Some((_, answer)) => return ClientEvent::Refused(answer.to_vec()),
        None => return ClientEvent::Lost(LostReason::Broken),
    }
    let take = |packet: &[u8]| {
        if packet.len() <= PACKET_BYTES_MAX {
            shared.inbox.push_packet(SERVER, packet);
        }
    };
    let receive = async { while datagrams.receive(take).await {} };
    tokio::select! {
        () = receive => {}
        () = session.over() => {}
    }
    ClientEvent::Lost(why_lost(session))
}

async fn greet(session: &WebSession, greeting: &[u8]) -> Option<Vec<u8>> {
    let (mut send, mut receive) = session.open_stream().await?;
    write_all(&mut send, &[greeting]).await?;
    receive.read_to_end(ANSWER_BYTES_MAX + 1).await.ok()
}

/// Why a connection ended. One that is still there was of no use.
fn why_lost(session: &WebSession) -> LostReason {
    session.connection.close_reason().map_or(LostReason::Broken, |error| why(&error))
}

/// Why none came about.
fn why_not(error: &ConnectionError) -> LostReason {
    match error {
        ConnectionError::ConnectionClosed(close)
            if close.error_code == TransportErrorCode::CONNECTION_REFUSED =>
        {
            LostReason::Full
        }
        // Or the server has given up waiting for a part of the handshake.
        ConnectionError::TimedOut
        | ConnectionError::ConnectionClosed(_)
        | ConnectionError::ApplicationClosed(_) => LostReason::NoAnswer,
        error => why(error),
    }
}

fn why(error: &ConnectionError) -> LostReason {
    match error {
        ConnectionError::TimedOut => LostReason::TimedOut,
        ConnectionError::Reset => LostReason::Forgotten,
        ConnectionError::ApplicationClosed(close) if close.error_code == CLOSED_DISPLACED.into() => {
            LostReason::Displaced
        }
        ConnectionError::ApplicationClosed(close) if close.error_code == CLOSED_FULL.into() => {
            LostReason::Full
        }
        ConnectionError::ConnectionClosed(_)
        | ConnectionError::ApplicationClosed(_)
        | ConnectionError::LocallyClosed => LostReason::Closed,
        ConnectionError::TransportError(error)
            if error.code == TransportErrorCode::crypto(CERTIFICATE_EXPIRED) =>
        {
            LostReason::Expired
        }
        ConnectionError::TransportError(error) if error.code == TransportErrorCode::crypto(UNKNOWN_CA) => {
            LostReason::OtherServer
        }
        ConnectionError::TransportError(_)
        | ConnectionError::VersionMismatch
        | ConnectionError::CidsExhausted => LostReason::Broken,
    }
}
