//! What a relay has done so far.

use crate::app::relay::forwarding::Forwarding;

/// Counters since the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    /// Rooms opened.
    pub(crate) rooms: u64,
    /// Places of players that were taken, each counted once.
    pub(crate) players_seen: u64,
    /// Watchers who came.
    pub(crate) watchers_seen: u64,
    /// Players who came back to a place that they had taken before.
    pub(crate) players_back: u64,
    /// Players whom the others went on without.
    pub(crate) players_lost: u64,
    /// Greetings that were answered with a refusal.
    pub(crate) greetings_refused: u64,
    /// Packets that were not used: forged, damaged, unexpected, too many, or without a room.
    pub(crate) packets_refused: u64,
    pub(crate) packets_in: u64,
    pub(crate) packets_out: u64,
    /// Bytes of packets, without what seals them.
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) forwarding: Forwarding,
}
