//! The role of a peer whose own state is wanted, for a peer that joins.

use crate::session::SessionPhase;
use crate::session::common::Common;
use crate::session::transfer::blob::Blob;
use crate::session::transfer::header::Header;
use crate::value::time::{Duration, Instant};

/// Time between two states that one peer takes of itself.
const STATE_EVERY: Duration = Duration::from_secs(1);

/// A peer that gives its state last: within the first time the same question has come twice; within the second one it is asked again.
const SAME_QUESTION: Duration = Duration::from_secs(1);
const ASKED_AGAIN: Duration = Duration::from_secs(30);

/// What this peer was asked for, and what it answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Giver {
    /// The local simulation gives its state last: when it declined.
    declined_at: Option<Instant>,
    /// This peer's state is wanted: before this turn or a later one.
    wanted: Option<u32>,
    /// The session before the turn that has begun; it belongs to the simulation's state.
    header: Option<Header>,
    taken_at: Option<Instant>,
    /// No state is given to a question for one before this turn or a later one; the middle must be told.
    pub(super) declines: Option<u32>,
    #[cfg(test)]
    lie: Option<Lie>,
    /// A test's lie about the session.
    #[cfg(test)]
    pub(in crate::session) header_lie: Option<fn(&mut Header)>,
}

/// A state that was taken, if the simulation can be saved, and before which turn the asking peer wanted one at the earliest.
pub(super) struct Given {
    pub(super) blob: Option<Blob>,
    pub(super) wanted: u32,
}

impl Giver {
    /// This peer's state is wanted, before this turn or a later one.
    pub(super) fn want(&mut self, not_before: u32) {
        self.wanted = self.wanted.max(Some(not_before));
    }

    /// Nobody wants it any more.
    pub(super) fn forget(&mut self) {
        self.wanted = None;
    }

    /// Whether the state is to be taken before anything of this turn takes effect. `is_compared`: the others' checksums of the turn before
    /// exist, for the comparison.
    pub(in crate::session) fn is_due(&self, common: &Common, turn: u32, is_compared: bool) -> bool {
        let Some(not_before) = self.wanted else { return false };
        let is_soon = self.taken_at.is_some_and(|at| common.now.since(at) < STATE_EVERY);
        turn >= not_before && turn > common.config().first_turn() && !is_soon && is_compared
    }

    /// The simulation's state before the turn that has begun. None if no state was to be taken.
    pub(super) fn give(&mut self, common: &Common, state: Option<&[u8]>) -> Option<Given> {
        let header = self.header.take()?;
        #[cfg(test)]
        let header = self.tell_header(header);
        let wanted = self.wanted.take().unwrap_or_default();
        self.taken_at = Some(common.now);
        let bytes = state.map(|state| header.with_state(state));
        #[cfg(test)]
        let bytes = bytes.map(|bytes| self.lie.as_mut().map_or(bytes.clone(), |lie| lie.tell(bytes)));
        let fits =
            |bytes: &Vec<u8>| bytes.len() as u64 <= u64::from(common.config().arrivals.state_bytes_max);
        let own = common.setup.player().unwrap_or_default();
        let blob = bytes.filter(fits).and_then(|bytes| Blob::whole(header.turn, own, &bytes));
        Some(Given { blob, wanted })
    }

    /// The middle of the star asks for this peer's state.
    pub(super) fn asked(&mut self, common: &Common, not_before: u32) {
        if common.phase != SessionPhase::Running {
            return;
        }
        if common.config().arrivals.state_bytes_max == 0 || self.leaves_it_to_others(common) {
            self.declines = Some(not_before);
        } else {
            self.wanted = Some(not_before);
        }
    }

    /// Whether others are to be asked for a state first.
    fn leaves_it_to_others(&mut self, common: &Common) -> bool {
        if !common.config().arrivals.gives_state_last {
            return false;
        }
        let since = self.declined_at.map(|at| common.now.since(at));
        match since {
            Some(since) if since < SAME_QUESTION => true,
            Some(since) if since < ASKED_AGAIN => false,
            _ => {
                self.declined_at = Some(common.now);
                true
            }
        }
    }

    /// Whether the simulation's state before the turn that has begun is wanted.
    pub(in crate::session) fn has_header(&self) -> bool {
        self.header.is_some()
    }

    /// The turn begins; the state before it is wanted if there is a header.
    pub(in crate::session) fn set_header(&mut self, header: Option<Header>) {
        self.header = header;
    }

    #[cfg(test)]
    pub(in crate::session) fn lie_about_state(&mut self, from_end: bool, bit: usize) {
        self.lie = Some(Lie { from_end, bit, header: 0, all: 0 });
    }

    #[cfg(test)]
    fn tell_header(&mut self, mut header: Header) -> Header {
        self.header_lie.take().into_iter().for_each(|lie| lie(&mut header));
        header
    }

    #[cfg(test)]
    pub(in crate::session) fn lied(&self) -> Option<(usize, usize, usize)> {
        self.lie.map(|lie| (lie.bit, lie.header, lie.all)).filter(|lie| lie.2 > 0)
    }
}

/// A test's lie about a state.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
struct Lie {
    from_end: bool,
    bit: usize,
    /// Bits of the header, and of all, once it was told.
    header: usize,
    all: usize,
}

#[cfg(test)]
impl Lie {
    fn tell(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.all == 0 {
            self.all = bytes.len() * 8;
            self.header = 16 + 8 * usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
            self.bit = if self.from_end { self.all - 1 - self.bit } else { self.bit % self.all };
            bytes[self.bit / 8] ^= 1 << (self.bit % 8);
        }
        bytes
    }
}
