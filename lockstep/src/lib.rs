//! Deterministic lockstep without IO.
//!
//! Peers run the same simulation and exchange only what players do. Start with [`Session`] and [`Driver`]; the `README.md` of this
//! package shows how a game plugs in, `WIRE.md` specifies every byte.

pub mod action;
mod alignment;
pub mod bits;
mod checksum;
mod codec;
mod config;
mod driver;
mod entry;
mod event;
mod frame_objects;
mod ids;
pub mod inquiry;
mod link;
mod outbox;
mod pacing;
pub mod packet;
mod playout;
pub mod replay;
mod saved;
mod session;
pub mod simnet;
mod simulation;
pub mod state;
mod stream;
pub mod testing;
mod time;
pub mod transport;
mod virtual_match;

pub use action::{Action, NoAction};
pub use bits::{BitReader, BitWriter, DecodeError};
pub use checksum::{Mismatch, fold_checksum};
pub use config::{ConfigError, SessionConfig, Topology};
pub use driver::{Advance, Driver};
pub use entry::{EndReason, Entry, Extra, Extras, Payload, SPEED_MAX, SPEED_MIN};
pub use event::{Event, Failure, Identity, MatchResult, Refusal, Stats};
pub use frame_objects::{FrameObject, FrameObjects};
pub use ids::{Frame, PLAYERS_MAX, PeerId, PlayerId, Turn};
pub use outbox::SubmitError;
pub use pacing::{Pace, RollingAverage, TurnPlan, adaptive_plan, article_plan};
pub use packet::{PACKET_BYTES_MAX, PROTOCOL_VERSION};
pub use playout::{Playout, PlayoutMode};
pub use saved::{SavedMatch, SavedMatchError};
pub use session::{Blame, PlayerReport, Session, SessionPhase, TurnStatus};
pub use simulation::Simulation;
pub use time::{Duration, Instant};
pub use virtual_match::{PeerClock, VirtualMatch};

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The example of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../docs/debugging-a-desync.md")]
struct Guide;
