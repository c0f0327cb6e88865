//! The horizon: how far the peers behind the middle of a star may go before they hear from it again.
//!
//! A player returns in a turn that no peer has begun. So while somebody is away the middle tells each peer in every packet which turn it may
//! not begin yet, and never places a return before a turn that it has given away. A peer that does not know of a return gets no turn
//! beyond it. Without the horizon a peer that waits for nobody's entries, for example the only one that still plays, could pass the
//! turn of a return before the news arrives.

use crate::session::common::Common;
use crate::session::stream::Stream;
use crate::value::time::Duration;

/// What the middle of a star has given away.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Horizon {
    /// No return comes before this turn.
    given: u32,
}

impl Horizon {
    /// The first turn in which a player may return, if this is decided now.
    ///
    /// `turn` is the length of a turn.
    pub(in crate::session) fn extend(&mut self, common: &Common, turn: Duration) -> u32 {
        let horizon = common.front().saturating_add(common.notice(turn));
        let given = &mut self.given;
        *given = horizon.max(*given);
        *given
    }

    /// The first turn that the remote may not begin yet. None: nobody is away.
    ///
    /// `turn` is the length of a turn.
    pub(in crate::session) fn of(&mut self, common: &Common, turn: Duration, index: usize) -> Option<u32> {
        let is_away = |stream: &Stream| stream.end().is_some();
        let is_open = common.setup.forwards() && common.setup.config.arrivals.state_bytes_max > 0;
        if !is_open || !common.streams.iter().any(is_away) {
            return None;
        }
        if !common.anybody_may_return() {
            self.given = u32::MAX;
        }
        let given = self.extend(common, turn);
        let unknown = |(ack, stream): (&u32, &Stream)| stream.return_after(*ack);
        let unknown =
            common.links[index].progress.acked.iter().zip(&common.streams).filter_map(unknown).min();
        Some(unknown.map_or(given, |unknown| unknown.min(given)))
    }
}
