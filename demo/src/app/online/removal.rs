//! That a player is to go: who has opened a room at a relay asks the relay for it in a datagram. At a host the host does it itself.

use testudo_lockstep::PlayerId;

use crate::app::online::greeting::{SECRET_BYTES, Secret};
use crate::app::online::repeated::AboutPlayer;

/// First bytes of the datagram.
const MARK: [u8; 8] = *b"TESTKICK";

/// Mark, number of the match, player, secret.
const BYTES: usize = 17 + SECRET_BYTES;

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

impl AboutPlayer for Removal {
    fn player(&self) -> PlayerId {
        self.player
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

#[cfg(test)]
mod tests {
    use testudo_lockstep::{Duration, Instant};

    use super::*;
    use crate::app::online::repeated::{Repeated, TIMES};

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
        let mut removals = Repeated::default();
        removals.add(Removal { secret: [1; 16], ..REMOVAL });
        removals.add(REMOVAL);
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let sent: Vec<Removal> = (0..100).flat_map(|n| removals.take_due(at(100 * n), |_| false)).collect();
        assert_eq!(sent, [REMOVAL; TIMES as usize]);
    }
}
