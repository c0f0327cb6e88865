//! Deterministic lockstep without IO.
//!
//! Peers run the same simulation and exchange only the players' actions. Start with [`Session`] and [`Driver`]. The `README.md` of this package shows how a
//! game uses them; `WIRE.md` specifies every byte.
//!
//! # Features
//!
//! - `udp` (default): [`transport::udp`], plain UDP, for networks that are trusted.
//! - `tcp`: [`transport::tcp`], plain TCP, for trusted networks that carry no UDP.
//! - `sealed`: `transport::sealed`, packets that nobody on the way can read or alter. Brings `tokio`, `quinn` and `rustls`, and a thread.
//! - `codes`: the parts of `service` that `sealed` needs, without its transport, for a browser page: join codes, guests, the rooms of a relay, removals, files
//!   with a match that can be resumed. With `signed` also `service::machine`. Brings `sha2`.
//! - `simnet`: a simulated network and whole matches in virtual time, for tests.
//! - `testing`: `assert_deterministic`, for tests.
//! - `physics`: a `testudo_physics::World` can be a part of a game's state (`v.part(&mut self.world)`).
//! - `movement`: as `physics`, and a `testudo_movement::Crowd` can be a part of the state, too (`CrowdPart`).
//! - `serde`: settings can be serialised.
//! - `signed`: signed matches: keys, and statements that prove who lied. Brings `ed25519-dalek` and `sha2`.
//! - `judgement`: a referee's signed judgement of a match, which anybody can check by simulating again. Brings `serde_json`.
//! - `wire`: the structures of packets, for tests that make their own. Not a part of the stable interface.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code, clippy::float_arithmetic, clippy::print_stdout, clippy::print_stderr)]
#![warn(clippy::must_use_candidate, clippy::return_self_not_must_use)]

#[cfg(feature = "movement")]
mod crowd;
mod drive;
#[cfg(feature = "judgement")]
pub mod judgement;
mod pace;
#[cfg(not(feature = "wire"))]
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "tests that make their own packets use all of it"
)]
mod packet;
#[cfg(feature = "wire")]
#[doc(hidden)]
pub mod packet;
pub mod predict;
pub mod replay;
pub mod service;
mod session;
mod signed;
#[cfg(feature = "simnet")]
pub mod simnet;
pub mod state;
#[cfg(feature = "testing")]
pub mod testing;
pub mod transport;
mod value;
#[cfg(feature = "physics")]
mod world;

#[cfg(feature = "movement")]
pub use crowd::CrowdPart;
pub use drive::driver::{Advance, Driver};
pub use drive::frame_objects::{FrameObject, FrameObjectId, FrameObjects};
pub use drive::search::Search;
pub use drive::simulation::Simulation;
pub use pace::pacing::{Pace, TurnPlan};
pub use pace::playout::{Playout, PlayoutMode};
pub use packet::{MESSAGE_BYTES_MAX, PACKET_BYTES_MAX, PROFILE_BYTES_MAX, PROTOCOL_VERSION, Refusal};
pub use session::checksum::{Desync, fold_checksum};
pub use session::commands::Successor;
pub use session::config::{ConfigError, Controls, SessionConfig, Topology};
pub use session::controls::ControlError;
pub use session::event::Event;
pub use session::evidence::{Contradiction, Outlier};
pub use session::failure::Failure;
pub use session::joining::JoinedState;
pub use session::match_result::MatchResult;
pub use session::outbox::SubmitError;
pub use session::saved_match::{SavedMatch, SavedMatchError};
pub use session::stats::Stats;
pub use session::talk::{Message, MessageError, To};
pub use session::votes::VoteError;
pub use session::{AnySession, Blame, PlayerReport, Session, SessionPhase, TurnStatus};
pub use signed::chain::Opening;
pub use signed::conviction::Conviction;
pub use signed::key::{PlayerKey, PublicKey};
pub use signed::proof::{Proof, ProofError, Verdict};
pub use signed::roster::{Fingerprint, Roster, Seat};
pub use signed::signed_before::SignedBefore;
pub use signed::statement::{Since, Statement};
#[cfg(feature = "simnet")]
pub use simnet::virtual_match::{ClockError, PeerClock, VirtualMatch};
pub use value::action::{ACTION_BITS_MAX, Action, AnyAction, NoAction};
pub use value::action_format::ActionFormat;
pub use value::bits::{BitReader, BitWriter, DecodeError, Misfit, golomb_bits};
pub use value::entry::{EndReason, SPEED_PERCENT_MAX, SPEED_PERCENT_MIN};
#[cfg(feature = "wire")]
#[doc(hidden)]
pub use value::entry::{Entry, Extra, Extras, Payload};
pub use value::ids::{Frame, Identity, PLAYERS_MAX, PeerId, PlayerId, PlayerSet, Turn};
pub use value::time::{Duration, FrameRate, FrameRateError, Instant};

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
