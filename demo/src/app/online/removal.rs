//! That a player is to go: who has opened a room at a relay asks the relay for it in a datagram. At a host the host does it itself.

use testudo_lockstep::{Duration, Instant, PlayerId};

use crate::app::online::greeting::{SECRET_BYTES, Secret};

/// First bytes of the datagram.
const MARK: [u8; 8] = *b"TESTKICK";

/// Mark, number of the match, player, secret.
const BYTES: usize = 17 + SECRET_BYTES;

/// Time between two datagrams, and their number: they may be lost.
const AGAIN: Duration = Duration::from_millis(250);
const TIMES: u32 = 8;

/// A player is removed for good. Before the start, somebody else may come with the new secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Removal {
    pub(crate) player: PlayerId,
    pub(crate) secret: Secret,
}

/// Logs do not show the secret.
impl core::fmt::Debug for Removal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Removal").field("player", &self.player).finish_non_exhaustive()
    }
}

impl Removal {
    pub(crate) fn to_bytes(self, session_id: u64) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MARK);
        bytes[8..16].copy_from_slice(&session_id.to_le_bytes());
        bytes[16] = self.player.0;
        bytes[17..].copy_from_slice(&self.secret);
        bytes
    }

    /// Reads a datagram; none if it is something else, or of another match.
    pub(crate) fn read(session_id: u64, bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        let is_one = bytes[..8] == MARK && bytes[8..16] == session_id.to_le_bytes();
        let secret = *bytes.last_chunk()?;
        is_one.then_some(Self { player: PlayerId(bytes[16]), secret })
    }
}

/// Removals that are still being told to the relay, which carries out each of them once.
#[derive(Default)]
pub(crate) struct Removals {
    open: Vec<(Removal, u32)>,
    due: Instant,
}

impl Removals {
    pub(crate) fn add(&mut self, removal: Removal) {
        self.open.retain(|(open, _)| open.player != removal.player);
        self.open.push((removal, TIMES));
        self.due = Instant::ZERO;
    }

    /// Removals to send now.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<Removal> {
        if self.open.is_empty() || now < self.due {
            return Vec::new();
        }
        self.due = now + AGAIN;
        let due = self.open.iter().map(|(removal, _)| *removal).collect();
        self.open.retain_mut(|(_, times)| {
            *times -= 1;
            *times > 0
        });
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REMOVAL: Removal = Removal { player: PlayerId(3), secret: [7; 16] };

    #[test]
    fn only_a_whole_removal_of_this_match_is_read() {
        let bytes = REMOVAL.to_bytes(5);
        assert_eq!(Removal::read(5, &bytes), Some(REMOVAL));
        for wrong in [&bytes[..32], &[&bytes[..], &[0]].concat(), &[&[0], &bytes[1..]].concat()] {
            assert_eq!(Removal::read(5, wrong), None);
        }
        assert_eq!(Removal::read(6, &bytes), None, "another match");
    }

    #[test]
    fn a_removal_is_told_a_few_times() {
        let mut removals = Removals::default();
        removals.add(Removal { secret: [1; 16], ..REMOVAL });
        removals.add(REMOVAL);
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let sent: Vec<Removal> = (0..100).flat_map(|n| removals.take_due(at(100 * n))).collect();
        assert_eq!(sent, [REMOVAL; TIMES as usize]);
    }
}
