//! The sealed transport: packets that nobody on the way can read, alter, invent or repeat.
//!
//! A [`SealedServer`] takes connections on one UDP port; a [`SealedClient`] makes one. Both speak WebTransport, that is QUIC with TLS 1.3, so a
//! browser can be a client as well. The server makes a certificate for itself; clients know it by its hash, which stands in a [`JoinCode`](crate::transport::code::JoinCode).
//! No names, no accounts, no authorities. The cryptography is that of `rustls` and `ring`.
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
//! one place opens every place. [`SealedHost`] does both, with the table of secrets in [`Places`](crate::transport::places::Places); whoever
//! calls [`SealedServer`] directly does it alone.
//!
//! # A match
//!
//! ```
//! use testudo_lockstep::transport::places::Places;
//! use testudo_lockstep::transport::code::JoinCode;
//! use testudo_lockstep::transport::sealed::{ClientEvent, SealedClient, SealedConfig, SealedHost, SealedServer};
//! use testudo_lockstep::{Duration, Identity, Instant, NoAction, PeerId, PlayerId, Session, SessionConfig, SessionPhase};
//!
//! let config = SealedConfig::new();
//! let server = SealedServer::bind("127.0.0.1:0".parse()?, &config)?;
//!
//! // One string holds all that a friend needs. Secrets, the session id and the entropy of each peer are random in earnest.
//! let (secret, watchers) = ([7; 16], [9; 16]);
//! let code = JoinCode::new(&[server.local_address()], server.certificate_hash(), secret)?.to_string();
//!
//! // The host is player 0. The secret opens the place of player 1 and no other.
//! let settings = SessionConfig::new(2).session_id(77).entropy([5; 16]);
//! let clock = std::time::Instant::now();
//! let now = || Instant::from(clock.elapsed());
//! let mut hosting: Session<NoAction> = Session::host(settings.clone().bound_peers_only(), now())?;
//! let places = Places::new().player(PlayerId(1), secret).watchers(watchers, 4);
//! let mut host = SealedHost::new(server, places, &mut hosting);
//!
//! // The friend's program.
//! let code: JoinCode = code.parse()?;
//! let mut client = SealedClient::connect(code.addresses(), code.certificate_hash(), code.secret(), &config)?;
//! let mut playing: Option<Session<NoAction>> = None;
//!
//! while hosting.phase() == SessionPhase::Lobby {
//!     host.server().wait(Duration::from_millis(2));
//!     host.pump(&mut hosting, now(), b"what newcomers need to know");
//!     while let Some(event) = client.poll() {
//!         match event {
//!             ClientEvent::Accepted(answer) => {
//!                 let Some((Identity::Player(player), _)) = SealedHost::read_answer(&answer) else { return Err("no place".into()) };
//!                 playing = Some(Session::join(settings.clone(), player, PeerId(0), now())?);
//!             }
//!             ClientEvent::Packet(bytes) => {
//!                 playing.as_mut().into_iter().for_each(|session| session.handle_packet(now(), PeerId(0), &bytes));
//!             }
//!             ClientEvent::Refused(_) | ClientEvent::Lost(_) => return Err("no connection".into()),
//!             _ => {}
//!         }
//!     }
//!     if let Some(session) = &mut playing {
//!         session.handle_timeout(now());
//!         let mut packet = Vec::new();
//!         while session.poll_transmit(now(), &mut packet).is_some() {
//!             client.send(&packet);
//!         }
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
mod client;
mod config;
mod crowd;
mod datagram;
mod host;
mod inbox;
mod outbox;
mod quic;
mod server;
mod stream;

pub use background::SealedThread;
pub use client::{ClientEvent, LostReason, SealedClient};
pub use config::{ANSWER_BYTES_MAX, GREETING_BYTES_MAX, SealedConfig};
pub use host::SealedHost;
pub use server::{SealedBatch, SealedEvent, SealedServer, SealedStats};
