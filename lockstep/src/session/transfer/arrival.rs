//! A peer that joins a running match, as the middle of the star sees it.

use crate::session::streams::Streams;
use crate::value::ids::PlayerId;
use crate::value::time::Instant;

/// A peer that joins a running match, as the middle of the star sees it.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(in crate::session) since: Instant,
    pub(in crate::session) stage: ArrivalStage,
    /// Sources whose state it has refused, bit n for player n.
    pub(super) refused: u16,
    pub(super) refusals: u8,
    /// Only a state before this turn or a later one is of use: with an older one, acknowledgements that it sent before it refused a state
    /// would look like acknowledgements of the new one.
    pub(super) not_before: u32,
    /// The state that it gets or got: the turn before which it was taken, and its source.
    pub(super) given: Option<(u32, PlayerId)>,
    /// When it had the state.
    pub(super) fed: Option<Instant>,
}

/// The stage of a joining peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArrivalStage {
    /// Waits for a state.
    Waiting,
    /// Gets a state.
    Fed,
    /// Has the state, and gets the turns after it.
    CatchingUp,
    /// Has come to the lobby of a resumed match without the save.
    InLobby,
}

impl Arrival {
    pub(in crate::session) fn new(now: Instant) -> Self {
        Self {
            since: now,
            stage: ArrivalStage::Waiting,
            refused: 0,
            refusals: 0,
            not_before: 0,
            given: None,
            fed: None,
        }
    }

    /// Whether a state before this turn, of this source, is of use now.
    pub(in crate::session) fn can_use(&self, turn: u32, source: PlayerId) -> bool {
        self.stage == ArrivalStage::Waiting && self.refused & (1 << source.0) == 0 && turn >= self.not_before
    }

    /// The state before this turn is not valid, says the joining peer. The newest entry of the match is below `front`. Returns whether it was the
    /// state that it got.
    pub(in crate::session) fn refuse(&mut self, turn: u32, front: u32) -> bool {
        let Some((_, source)) = self.given.take_if(|(given, _)| *given == turn) else { return false };
        self.refused |= 1 << source.0;
        self.refusals += 1;
        self.not_before = front.saturating_add(1);
        true
    }

    /// The state that it gets is given up. The next one is newer, so that nothing said of this one is taken for a word about that one.
    pub(in crate::session) fn take_back(&mut self, front: u32) {
        // A source may have announced any turn.
        let given = self.given.map_or(0, |(turn, _)| turn.min(front));
        (self.stage, self.not_before) = (ArrivalStage::Waiting, self.not_before.max(given.saturating_add(1)));
    }

    /// Whether a joining peer that acknowledges these entries has its state.
    fn has_state(&self, acks: &[u32], streams: &Streams) -> bool {
        let turn = self.given.map_or(u32::MAX, |(turn, _)| turn);
        acks.iter().zip(streams).all(|(ack, stream)| {
            *ack >= stream.ended_before(turn).map_or(turn, |(last, _)| last.saturating_add(1))
        })
    }

    /// A joining peer that gets a state acknowledges these entries. Returns whether it has the state since now.
    pub(in crate::session) fn take_acks(&mut self, acks: &[u32], streams: &Streams, now: Instant) -> bool {
        let is_new = self.stage == ArrivalStage::Fed && self.has_state(acks, streams);
        if is_new {
            (self.stage, self.fed) = (ArrivalStage::CatchingUp, Some(now));
        }
        is_new
    }
}
