//! Who is with whom, as long as it can be changed: players ask the middle of the star in a datagram, and it tells everybody in its roll.
//!
//! What counts is what the first player's program gives as an order at the start.

use testudo_lockstep::PlayerId;

use crate::app::online::repeated::AboutPlayer;
use crate::game::TEAMS_MAX;

/// First bytes of the datagram.
const MARK: [u8; 8] = *b"TESTTEAM";

/// Mark, number of the match, player, team.
const BYTES: usize = 18;

/// That a player is in a team.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TeamWish {
    pub(crate) player: PlayerId,
    /// 0: none; at most [`TEAMS_MAX`].
    pub(crate) team: u8,
}

impl AboutPlayer for TeamWish {
    fn player(&self) -> PlayerId {
        self.player
    }
}

impl TeamWish {
    /// Everybody chooses their own team, and the first player everybody's.
    pub(crate) fn is_granted_to(self, asker: PlayerId) -> bool {
        asker == self.player || asker == PlayerId(0)
    }

    pub(crate) fn to_bytes(self, session_id: u64) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MARK);
        bytes[8..16].copy_from_slice(&session_id.to_le_bytes());
        bytes[16..].copy_from_slice(&[self.player.0, self.team]);
        bytes
    }

    /// Reads a datagram; none if it is something else, of another match, or out of range.
    pub(crate) fn read(session_id: u64, bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        let is_one = bytes[..8] == MARK && bytes[8..16] == session_id.to_le_bytes();
        let (player, team) = (PlayerId(bytes[16]), bytes[17]);
        (is_one && team <= TEAMS_MAX).then_some(Self { player, team })
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::{Duration, Instant};

    use super::*;
    use crate::app::online::repeated::{Repeated, TIMES};

    const WISH: TeamWish = TeamWish { player: PlayerId(3), team: 2 };

    #[test]
    fn only_a_whole_wish_of_this_match_is_read() {
        let bytes = WISH.to_bytes(5);
        assert_eq!(TeamWish::read(5, &bytes), Some(WISH));
        assert_eq!(TeamWish::read(6, &bytes), None, "another match");
        assert_eq!(TeamWish::read(5, &bytes[..17]), None);
        assert_eq!(TeamWish::read(5, &[&bytes[..], &[0]].concat()), None);
        let mut high = bytes;
        high[17] = TEAMS_MAX + 1;
        assert_eq!(TeamWish::read(5, &high), None);
        high = bytes;
        high[0] ^= 1;
        assert_eq!(TeamWish::read(5, &high), None);
    }

    #[test]
    fn players_choose_their_own_team_and_the_first_one_everybodys() {
        assert_eq!([0, 1, 3].map(|asker| WISH.is_granted_to(PlayerId(asker))), [true, false, true]);
    }

    #[test]
    fn a_wish_is_repeated_until_it_is_told_or_in_vain() {
        let mut wishes = Repeated::default();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let told = |team: u8| move |wish: &TeamWish| wish.team == team;
        wishes.add(TeamWish { team: 1, ..WISH });
        wishes.add(WISH);
        assert_eq!(wishes.take_due(at(0), told(0)), [WISH]);
        assert_eq!(wishes.take_due(at(100), told(0)), []);
        assert_eq!(wishes.of(PlayerId(3)), Some(WISH));
        assert_eq!(wishes.take_due(at(250), told(2)), [], "told");
        assert_eq!(wishes.of(PlayerId(3)), None);
        wishes.add(WISH);
        let sent = (1..100).filter(|n| !wishes.take_due(at(250 * n), told(0)).is_empty()).count();
        assert_eq!((sent, wishes.of(PlayerId(3))), (TIMES as usize, None));
    }
}
