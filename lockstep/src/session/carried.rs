//! Transport of statements: in the packets of the match, repeated until they are confirmed, forwarded by the middle of a star.

use smallvec::SmallVec;

use crate::packet::Received;
use crate::value::ids::{PLAYERS_MAX, PlayerId};
use crate::value::time::{Duration, Instant};

/// Number of signatures of one kind that are checked for one link at once, and per second: twice what a star's middle sends with sixteen players.
const CHECKS_MAX: u32 = 32;

/// Number of signatures that may still be checked, and the time of that value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checks(Option<(u32, Instant)>);

impl Checks {
    /// Whether one more may be checked.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let (left, since) = self.0.get_or_insert((CHECKS_MAX, now));
        if now.since(*since) >= Duration::from_secs(1) {
            (*left, *since) = (CHECKS_MAX, now);
        }
        let may = *left > 0;
        *left = left.saturating_sub(1);
        may
    }
}

/// The statements of one link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    /// For each author, the turn of the statement that was sent last, and the time.
    pub(super) sent: [Option<(u32, Instant)>; PLAYERS_MAX as usize],
    /// For each author, the turn of the statement that was confirmed last.
    pub(super) acked: [Option<u32>; PLAYERS_MAX as usize],
    /// Receipts that must be sent.
    pub(super) received: SmallVec<[Received; 4]>,
    /// Signatures of statements, and of ends.
    pub(super) checks: Checks,
    pub(super) end_checks: Checks,
    /// The remote has asked for the roster.
    pub(super) owes_roster: bool,
    /// When it was sent last during the match.
    pub(super) roster_sent: Option<Instant>,
}

impl Carried {
    pub(super) fn owe_receipt(&mut self, turn: u32, author: PlayerId) {
        let bit = 1 << author.0;
        if let Some(received) = self.received.iter_mut().find(|received| received.turn == turn) {
            received.authors |= bit;
        } else if self.received.len() < 4 {
            self.received.push(Received { turn, authors: bit });
        }
    }
}
