//! The counters of a session.

/// Counters since the start of the session. Nothing here influences the simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Packets returned for sending.
    pub packets_sent: u64,
    /// Their bytes: UDP payload.
    pub bytes_sent: u64,
    /// Valid packets received.
    pub packets_received: u64,
    /// Their bytes.
    pub bytes_received: u64,
    /// Packets that were damaged, of another session or not canonical.
    pub packets_malformed: u64,
    /// Well-formed packets from peers that have not joined, or of a kind that is not expected now.
    pub packets_unexpected: u64,
    /// Hellos with another identity than the one that their link is bound to.
    pub hellos_forged: u64,
    /// New entries received from other peers.
    pub entries_received: u64,
    /// Received entries that were here already: the cost of redundancy.
    pub entries_repeated: u64,
    /// Entries that arrived after the turn in which they ran had begun without them; only after the end of a stream.
    pub entries_late: u64,
    /// Entries after a gap or beyond the window: their number was not expected.
    pub entries_unexpected: u64,
    /// Entries of players for whom the sending peer may not speak, or with actions that do not decode.
    pub entries_invalid: u64,
    /// Statements with a wrong signature, or that the sending peer may not forward.
    pub statements_invalid: u64,
    /// Ends of players with a wrong signature.
    pub ends_invalid: u64,
    /// Messages in another's name, profiles that their sender may not set, and messages for a program that never takes any.
    pub messages_refused: u64,
    /// Frames in which the simulation waited because a turn was not ready.
    pub stalled_frames: u64,
    /// Turns that have begun.
    pub turns_begun: u64,
    /// Relay: turns of which every player's entry has arrived.
    pub turns_forwarded: u64,
    /// Players whom this peer has dropped.
    pub drops: u64,
    /// Events that were lost because the application did not take them.
    pub events_lost: u64,
}
