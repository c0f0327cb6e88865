//! The horizon: how far the peers behind the middle of a star may go before they hear from it again.
//!
//! A player returns in a turn that no peer has begun. So while somebody is away the middle tells each peer in every packet which turn it may
//! not begin yet, and never places a return before a turn that it has given away. A peer that does not know of a return gets no turn
//! beyond it. Without the horizon a peer that waits for nobody's entries, for example the only one who still plays, could pass the
//! turn of a return before the news arrives.

use crate::packet::TurnsPacket;
use crate::session::AnySession;
use crate::session::stream::Stream;
use crate::value::ids::PlayerId;
use crate::value::time::Duration;

/// The horizon is this far ahead of the newest entry, so that a packet or two may be lost before anybody waits for it; and everybody knows
/// of a return this long before.
const NOTICE: Duration = Duration::from_secs(1);

/// What the middle of a star has given away.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Horizon {
    /// No return comes before this turn.
    given: u32,
}

impl AnySession {
    // ---- the middle

    /// The first turn that the remote may not begin yet. None: nobody is away.
    pub(super) fn horizon_of(&mut self, index: usize) -> Option<u32> {
        let is_away = |stream: &Stream| stream.end().is_some();
        let is_open = self.setup.forwards() && self.setup.config.state_bytes_max > 0;
        if !is_open || !self.streams.iter().any(is_away) {
            return None;
        }
        if !self.anybody_may_return() {
            self.transfers.horizon.given = u32::MAX;
        }
        let given = self.extend_horizon();
        let unknown = |(ack, stream): (&u32, &Stream)| stream.return_after(*ack);
        let unknown = self.links[index].acked.iter().zip(&self.streams).filter_map(unknown).min();
        Some(unknown.map_or(given, |unknown| unknown.min(given)))
    }

    /// The first turn in which a player may return, if this is decided now.
    pub(super) fn extend_horizon(&mut self) -> u32 {
        let horizon = self.front().saturating_add(self.notice());
        let given = &mut self.transfers.horizon.given;
        *given = horizon.max(*given);
        *given
    }

    /// A relay knows the position of the match only from the entries of those who play.
    pub(super) fn anybody_may_return(&self) -> bool {
        !self.setup.is_relay() || self.live() != 0
    }

    /// No player has got further. (The first entries of returning players do not count: this peer made them.)
    pub(super) fn front(&self) -> u32 {
        let leads = |stream: &&Stream| stream.end().is_none() && !stream.is_pending();
        let only_pending = !self.streams.iter().any(|stream| leads(&stream));
        let made = self.streams.iter().filter(|stream| only_pending || !stream.is_pending());
        made.map(Stream::next).max().unwrap_or(0).max(self.gate.turn)
    }

    /// Number of turns in [`NOTICE`], within limits.
    pub(super) fn notice(&self) -> u32 {
        let config = &self.setup.config;
        let turn = self.pace.planner.turn().as_micros().max(1);
        let turns = u32::try_from(NOTICE.as_micros().div_ceil(turn)).unwrap_or(u32::MAX);
        let least = config.turns_ahead + 2;
        turns.clamp(least, (config.window / 4).max(least))
    }

    // ---- the others

    /// Notes what the middle of the star gives.
    pub(super) fn take_horizon(&mut self, index: usize, turns: &TurnsPacket) {
        if self.setup.is_mesh() || self.links[index].identity != Some(self.setup.coordinator()) {
            return;
        }
        // The greatest one, also if an older packet arrives later.
        self.gate.horizon = self.gate.horizon.max(turns.horizon);
    }

    /// The horizon, if it counts: while all others play, a peer waits for their entries, and nobody can return whose end it does not know.
    /// When the middle has finished, nobody comes back any more.
    pub(super) fn horizon(&self) -> Option<u32> {
        let horizon = self.gate.horizon?;
        let own = self.author();
        let mut others = (0_u8..).zip(&self.streams).filter(|(player, _)| own != Some(PlayerId(*player)));
        let coordinator = Some(self.setup.coordinator());
        let has_finished = || self.links.values().any(|link| link.finished && link.identity == coordinator);
        (others.any(|(_, stream)| stream.end().is_some()) && !has_finished()).then_some(horizon)
    }

    /// Whether the next turn may begin as far as the middle of the star is concerned.
    pub(super) fn is_within_horizon(&self) -> bool {
        self.horizon().is_none_or(|horizon| self.gate.turn < horizon)
    }
}
