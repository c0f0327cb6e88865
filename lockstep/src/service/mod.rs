//! Matches over the internet without IO: who may come to which place, what guests are told, how a guest comes back, and the rooms of a
//! relay. Packets and time go in; packets, answers and a ready [`Session`](crate::Session) come out.
//!
//! - [`agreement`]: the settings that everybody must have, as plain numbers, and what the game adds.
//! - [`greeting`]: the first message of a connection and its answer.
//! - [`places`]: which secret opens which place.
//! - `code`, `codes`: join codes, one for each place.
//! - [`host`]: the middle of a star that plays itself.
//! - `household`: which addresses count as one for a limit per address.
//! - [`invitation`]: how a guest gets a place over plain UDP.
//! - `relay`: the rooms of a relay, and its limits. `removal`: the guest that has opened a room removes a player.
//! - `machine`: the keys and marks that follow from a machine's one secret. `save_file`: a match that can be resumed, as bytes.
//! - `guest`: a peer that joins by a code, loses its connection and comes back, or opens a room at a relay.
//!
//! `transport::sealed` puts them on a socket: `SealedHost`, `SealedDialer`, `SealedRelay`.

pub mod agreement;
#[cfg(feature = "codes")]
pub mod code;
#[cfg(feature = "codes")]
pub mod codes;
pub(crate) mod flow;
pub mod greeting;
#[cfg(feature = "codes")]
pub mod guest;
pub mod host;
#[cfg(any(feature = "codes", feature = "tcp"))]
pub mod household;
pub mod invitation;
#[cfg(all(feature = "codes", feature = "signed"))]
pub mod machine;
pub(crate) mod pass;
pub mod places;
#[cfg(feature = "codes")]
pub mod relay;
#[cfg(feature = "codes")]
pub mod removal;
#[cfg(feature = "codes")]
pub mod save_file;
