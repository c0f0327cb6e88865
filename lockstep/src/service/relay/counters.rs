//! What a relay has done so far.

use crate::service::relay::forwarding::Forwarding;

/// Counters since the start.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Rooms opened.
    pub rooms: u64,
    /// Places of players that were taken, each counted once.
    pub players_seen: u64,
    /// Watchers who came.
    pub watchers_seen: u64,
    /// Players who came back to a place that they had taken before.
    pub players_back: u64,
    /// Players dropped.
    pub players_lost: u64,
    /// Greetings that were answered with a refusal.
    pub greetings_refused: u64,
    /// Packets that were not used: forged, damaged, unexpected, too many, or without a room.
    pub packets_refused: u64,
    /// Packets that came.
    pub packets_in: u64,
    /// Packets that were sent.
    pub packets_out: u64,
    /// Bytes of packets, without what seals them.
    pub bytes_in: u64,
    /// The same of what was sent.
    pub bytes_out: u64,
    /// How long whole turns waited.
    pub forwarding: Forwarding,
}
