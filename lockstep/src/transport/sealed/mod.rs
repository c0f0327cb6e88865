//! The sealed transport: packets that nobody on the way can read, alter, invent or repeat.
//!
//! A [`SealedServer`] takes connections on one UDP port; a [`SealedClient`] makes one. Both speak WebTransport, that is QUIC with TLS 1.3, so a
//! browser can be a client as well. The server makes a certificate for itself; clients know it by its hash, which stands in a [`JoinCode`].
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
//! ```
//! use testudo_lockstep::transport::sealed::{ClientEvent, JoinCode, SealedClient, SealedConfig, SealedEvent, SealedServer};
//! use testudo_lockstep::Duration;
//!
//! let config = SealedConfig::new();
//! let mut server = SealedServer::bind("127.0.0.1:0".parse()?, &config)?;
//!
//! // One string holds all that a friend needs. The secret is random in earnest.
//! let code = JoinCode::new(&[server.local_address()], server.certificate_hash(), [7; 16])?.to_string();
//!
//! let code: JoinCode = code.parse()?;
//! let mut client = SealedClient::connect(code.addresses(), code.certificate_hash(), code.secret(), &config)?;
//!
//! let mut met = false;
//! while !met {
//!     server.wait(Duration::from_millis(10));
//!     while let Some(event) = server.poll() {
//!         match event {
//!             SealedEvent::Greeting { peer, bytes, .. } if bytes == code.secret() => server.accept(peer, b"place 1"),
//!             SealedEvent::Greeting { peer, .. } => server.refuse(peer, b"wrong secret"),
//!             SealedEvent::Packet { peer, bytes } => server.send(peer, &bytes),
//!             _ => {}
//!         }
//!     }
//!     while let Some(event) = client.poll() {
//!         match event {
//!             ClientEvent::Accepted(answer) => {
//!                 assert_eq!(answer, b"place 1");
//!                 client.send(b"ping");
//!             }
//!             ClientEvent::Packet(bytes) => met = bytes == b"ping",
//!             ClientEvent::Refused(_) | ClientEvent::Lost(_) => return Err("no connection".into()),
//!             _ => {}
//!         }
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod background;
mod client;
mod config;
mod crowd;
mod datagram;
mod inbox;
mod outbox;
mod quic;
mod server;
mod stream;

pub use background::SealedThread;
pub use client::{ClientEvent, LostReason, SealedClient};
pub use config::{ANSWER_BYTES_MAX, GREETING_BYTES_MAX, SealedConfig};
pub use server::{SealedBatch, SealedEvent, SealedServer, SealedStats};

pub use super::code::{JoinCode, JoinCodeError};
