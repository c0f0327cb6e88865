//! Deterministic lockstep without IO.
//!
//! Peers run the same simulation and exchange only what players do. Start with [`Session`] and [`Driver`]; the `README.md` of this
//! package shows how a game plugs in, `WIRE.md` specifies every byte.

mod drive;
mod pace;
pub mod packet;
pub mod replay;
mod session;
pub mod simnet;
pub mod state;
pub mod testing;
pub mod transport;
mod value;

pub use drive::driver::{Advance, Driver};
pub use drive::frame_objects::{FrameObject, FrameObjects};
pub use drive::simulation::Simulation;
pub use pace::pacing::{Pace, RollingAverage, TurnPlan, adaptive_plan, article_plan};
pub use pace::playout::{Playout, PlayoutMode};
pub use packet::{PACKET_BYTES_MAX, PROTOCOL_VERSION, Refusal};
pub use session::checksum::{Mismatch, fold_checksum};
pub use session::config::{ConfigError, SessionConfig, Topology};
pub use session::event::{Event, Failure, MatchResult, Stats};
pub use session::outbox::SubmitError;
pub use session::saved::{SavedMatch, SavedMatchError};
pub use session::{Blame, PlayerReport, Session, SessionPhase, TurnStatus};
pub use simnet::virtual_match::{PeerClock, VirtualMatch};
pub use state::inquiry;
pub use value::action::{self, Action, NoAction};
pub use value::bits::{self, BitReader, BitWriter, DecodeError};
pub use value::entry::{EndReason, Entry, Extra, Extras, Payload, SPEED_MAX, SPEED_MIN};
pub use value::ids::{Frame, Identity, PLAYERS_MAX, PeerId, PlayerId, Turn};
pub use value::time::{Duration, Instant};

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The example of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../docs/debugging-a-desync.md")]
struct Guide;
