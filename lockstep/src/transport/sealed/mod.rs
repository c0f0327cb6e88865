//! The sealed transport: packets that nobody on the way can read, alter, invent or repeat.
//!
//! A [`SealedServer`] takes connections on one UDP port; a [`SealedClient`] makes one. Both speak WebTransport, that is QUIC with TLS 1.3, so a
//! browser can be a client as well. The server makes a certificate for itself; clients know it by its hash, which stands in a
//! [`JoinCode`](crate::service::code::JoinCode). No names, no accounts, no authorities. The cryptography is that of `rustls` and `ring`.
//!
//! A connection begins with a **greeting**: bytes of the application that the client sends first, with a secret in them. The application
//! on the server's side looks at it and calls [`SealedServer::accept`] or [`SealedServer::refuse`], with an answer. From then on
//! packets flow in both directions, each in a QUIC datagram of its own: unordered, possibly lost, never altered, never twice. That is what a
//! [`Session`](crate::Session) expects. Packets of a connection are passed on under its own [`PeerId`](crate::PeerId) only.
//!
//! Datagrams are sent at once. Congestion control is told to stay out of the way, because a turn that waits is a turn late for
//! everybody; the session itself paces what is large (the state of a running match).
//!
//! # Who speaks for whom
//!
//! The transport promises that a packet comes from the connection under whose number it is reported. Whose connection that is, only the
//! secret in the greeting says, and the session believes what a hello claims, unless it is told better: **bind each link to the identity
//! that the secret opened** ([`Session::bind`](crate::AnySession::bind)), and close a connection that claims another one. Otherwise the code of
//! one place opens every place. [`SealedHost`] does both, with the table of secrets in [`Places`](crate::service::places::Places); whoever
//! calls [`SealedServer`] directly does it alone.
//!
//! # A match
//!
//! ```
//! use testudo_lockstep::service::agreement::Agreement;
//! use testudo_lockstep::service::code::JoinCode;
//! use testudo_lockstep::service::greeting::Secrets;
//! use testudo_lockstep::service::guest::Guest;
//! use testudo_lockstep::service::host::Host;
//! use testudo_lockstep::transport::sealed::{SealedConfig, SealedDialer, SealedHost, SealedServer, random};
//! use testudo_lockstep::{Duration, Instant, NoAction, PlayerId, Session, SessionConfig, SessionPhase};
//!
//! // Secrets and the session id are random bytes of the system.
//! let clock = std::time::Instant::now();
//! let now = || Instant::from(clock.elapsed());
//! let agreement = Agreement::new::<NoAction>(&SessionConfig::new(2), b"what guests need to know")?;
//! let config = Host::config(&agreement, u64::from_le_bytes(random()?)).entropy(random()?);
//! let mut hosting: Session<NoAction> = Session::host(config, now())?;
//! let server = SealedServer::bind("127.0.0.1:0".parse()?, &SealedConfig::new())?;
//! let addresses = [server.local_address()];
//! let secrets = Secrets::draw(2, || random().expect("the system has randomness"));
//! let mut host = SealedHost::new(server, &addresses, &mut hosting, agreement, secrets)?;
//!
//! // One string holds all that a friend needs.
//! let code: String = host.codes().player(PlayerId(1)).ok_or("no such player")?.to_string();
//!
//! // The friend's program. The token tells this machine from others that have the same code; a program keeps it in a file for the way back.
//! let code: JoinCode = code.parse()?;
//! let mut guest = Guest::join(SealedDialer::default(), code, random()?, now())?;
//! let mut playing: Option<Session<NoAction>> = None;
//!
//! while hosting.phase() == SessionPhase::Lobby {
//!     host.server().wait(Duration::from_millis(2));
//!     host.round(&mut hosting, now());
//!     if let Some(arrival) = guest.round(playing.as_deref_mut(), now())? {
//!         assert_eq!(arrival.welcome.agreement.game(), b"what guests need to know");
//!         playing = Some(arrival.session(arrival.config().entropy(random()?), now())?);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Known limits
//!
//! A path has to carry UDP payloads of 1,200 bytes, as QUIC demands (RFC 9000, section 14). Where it does not (some tunnels), nobody can
//! connect: the client reports [`LostReason::NoAnswer`].

mod background;
mod certificate;
mod client;
mod config;
mod connection_limits;
mod datagram;
mod host;
mod inbox;
mod number;
mod outbox;
mod quic;
mod reachable;
mod reception;
mod relay;
mod server;
mod stream;
mod webtransport;

pub use background::SealedThread;
pub use client::{ClientEvent, LostReason, SealedClient};
pub use config::{ANSWER_BYTES_MAX, GREETING_BYTES_MAX, SealedConfig};
pub use host::{SealedDialer, SealedHost, random};
pub use reachable::reachable;
pub use relay::SealedRelay;
pub use server::{SealedBatch, SealedEvent, SealedServer, SealedStats};
