//! What all peers of a match agree on before it starts.

use testudo_lockstep::{Pace, SessionConfig, Topology};

use testudo_battle::Setup;

/// The setup and the length of a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Terms {
    pub(crate) setup: Setup,
    /// Turns of the match, 1..=[`TURNS_MAX`].
    pub(crate) turns: u32,
}

/// Longest match: more than two days.
pub(crate) const TURNS_MAX: u32 = 1_000_000;

/// Frames of the longest turn.
pub(crate) const FRAMES_PER_TURN_MAX: u32 = 250;

/// Settings of a match's sessions.
pub(crate) fn session_config(terms: &Terms, session_id: u64) -> SessionConfig {
    base_config(terms.setup.players, terms.turns, terms.setup.content_hash()).session_id(session_id)
}

/// Settings of the sessions of a match that has this content. A bot plays on for a player who leaves. Nobody is ever dropped: if some player
/// cannot complete the match, it ends for all.
pub(crate) fn base_config(players: u8, turns: u32, content_hash: u64) -> SessionConfig {
    SessionConfig::new(players)
        .turns(turns)
        .content_hash(content_hash)
        .topology(Topology::Host)
        .pace(Pace::Fixed)
        .bots_take_over(true)
        .without_drops()
}
