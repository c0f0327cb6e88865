//! The source of a state: the middle of a star asks a player for it, and replaces one that leaves, sends nothing or is too slow.

use crate::session::common::Common;
use crate::session::link::Link;
use crate::session::transfer::blob::Blob;
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// A source that is silent for this long is replaced.
const SOURCE_SILENCE: Duration = Duration::from_secs(3);

/// A source that sends nothing new for this long is replaced.
const SOURCE_PATIENCE: Duration = Duration::from_secs(10);

/// The source that the middle has asked for a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateSource {
    pub(super) player: PlayerId,
    /// None if it is the middle itself.
    pub(super) peer: Option<PeerId>,
    /// When it last sent something new.
    pub(super) progress: Instant,
    /// When it announced its state.
    promised: Option<Instant>,
    pub(super) not_before: u32,
    /// The newest entry of all players when it was asked.
    front: u32,
}

/// What is to be done about a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    GoOn,
    /// It leaves, or sends nothing.
    Fail,
    /// Another one would be quicker.
    TooSlow,
}

impl StateSource {
    pub(super) fn new(player: PlayerId, peer: Option<PeerId>, not_before: u32, common: &Common) -> Self {
        Self { player, peer, progress: common.now, promised: None, not_before, front: common.front() }
    }

    /// It has announced its state.
    pub(super) fn note_promise(&mut self, now: Instant) {
        (self.progress, self.promised) = (now, Some(now));
    }

    /// What becomes of a source at another peer, whose state has come so far. `turn` is the length of a turn, `failed` are players that have
    /// given none, bit n for player n.
    pub(super) fn fate(
        &self,
        common: &Common,
        peer: PeerId,
        blob: Option<&Blob>,
        turn: Duration,
        failed: u16,
    ) -> Fate {
        let link = common.links.get(&peer);
        let is_gone = link
            .is_none_or(|link| !link.may_be_source() || common.now.since(link.last_heard) >= SOURCE_SILENCE);
        // It takes its state before a turn whose predecessor has a checksum. As long as the match waits for somebody, no turn begins.
        let turns = (2 * common.config().limits.checksum_interval).saturating_add(common.notice(turn));
        let had_turns = blob.is_some() || common.front().saturating_sub(self.front) >= turns;
        if blob.is_some_and(|blob| self.is_too_slow(common, blob, failed)) {
            Fate::TooSlow
        } else if is_gone || (had_turns && common.now.since(self.progress) >= SOURCE_PATIENCE) {
            Fate::Fail
        } else {
            Fate::GoOn
        }
    }

    /// Whether a source would take more than three quarters of the time in which a joining peer must have joined, and there is another one. It may
    /// begin slowly, for a quarter of that time.
    fn is_too_slow(&self, common: &Common, blob: &Blob, failed: u16) -> bool {
        let Some(promised) = self.promised else { return false };
        let passed = u128::from(common.now.since(promised).as_micros());
        let limit = u128::from(common.config().join_time().as_micros());
        let (received, chunks) = (u128::from(blob.received()), u128::from(blob.chunks()));
        let is_other = |link: &Link| match link.identity {
            Some(Identity::Player(player)) => player != self.player && failed & (1 << player.0) == 0,
            _ => false,
        };
        passed * 4 >= limit
            && received * limit * 3 < chunks * passed * 4
            && common.links.values().any(|link| link.may_be_source() && is_other(link))
    }
}
