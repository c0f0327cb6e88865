//! What a referee says of a match that it has simulated: signed, kept as a file, and checked by anybody who has the replay.
//!
//! A referee is a watcher that simulates. Its judgement names those whose copies were wrong. With the players' own signatures
//! ([`Testimony`]) nobody has to believe the referee: [`Judgement::simulate`] plays the replay again and compares.
//!
//! ```
//! use testudo_lockstep::PlayerKey;
//! use testudo_lockstep::judgement::{Judgement, Signed};
//! let judgement = Judgement::new(0x1234, 2, 600);
//! let signed = Signed::new(judgement, &PlayerKey::from_secret([7; 32]));
//! let read = Signed::from_json(&signed.to_json())?;
//! assert_eq!(read.verify(Some(&signed.key)), Ok(()));
//! # Ok::<(), testudo_lockstep::judgement::Doubt>(())
//! ```

mod doubt;
mod judge;
mod testimony;

pub use doubt::Doubt;
pub use judge::{Archived, DesyncReport, Found, JSON_BYTES_MAX, Judgement, Signed};
pub use testimony::{Said, Testimony};
