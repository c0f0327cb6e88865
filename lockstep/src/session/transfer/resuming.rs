//! A save that comes over the network before the start.

/// A save that a guest got.
#[derive(Clone, Debug, Default)]
pub(in crate::session) enum Resuming {
    /// None, or it is the one with which this session began.
    #[default]
    None,
    /// The simulation must load this state.
    Here(Vec<u8>),
    /// The simulation loads it.
    Loading,
    /// It is loaded; the middle is told until the match starts.
    Done,
}
