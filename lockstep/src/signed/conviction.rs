//! Whose copy of a match was wrong, by what the players themselves have signed.

use crate::signed::roster::Roster;
use crate::signed::statement::Statement;
use crate::value::ids::{PlayerId, PlayerSet};

/// What statements show of players whose copies were wrong, to anybody who has simulated the match again from the orders.
///
/// A player is named if it has signed another checksum than the orders lead to, with the same orders as a player who has signed the right one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Conviction {
    /// Their copies began right and became wrong. More than half of the active players have signed the right checksum, so this is true unless most
    /// players lie, whoever has recorded the orders.
    pub convicted: PlayerSet,
    /// The same, but no more than half of the active players have signed the right checksum, as always between two. Whoever has recorded the orders and
    /// the players who have signed what follows from them could have made up both.
    pub accused: PlayerSet,
    /// They came back with a state that was wrong already, so whoever gave it, or they themselves, lied.
    pub misled: PlayerSet,
}

impl Conviction {
    /// Judges statements. `sums[n]` is the folded checksum ([`crate::fold_checksum`]) before turn n, 0 before the first turn and of turns before a
    /// match was resumed. `interval` is that of the match ([`crate::SessionConfig::checksum_interval`]): a statement about turn n has the checksum
    /// before the newest turn up to n that is a multiple of it. Statements about turns that `sums` does not have name nobody.
    ///
    /// # Errors
    /// The player has not signed its statement in the match of this roster.
    pub fn of(
        roster: &Roster,
        statements: &[Statement],
        sums: &[u32],
        interval: u32,
    ) -> Result<Self, PlayerId> {
        if let Some(forged) = statements.iter().find(|statement| !statement.is_signed(roster)) {
            return Err(forged.author);
        }
        let mut found = Self::default();
        for statement in statements {
            let turn = statement.turn.0;
            let told = turn - turn.checked_rem(interval).unwrap_or(0);
            let Some(right) = sums.get(told as usize).filter(|_| (turn as usize) < sums.len()) else {
                continue;
            };
            // A player who is out of the match is no witness.
            let agrees = |other: &&Statement| {
                other.compares_with(statement)
                    && other.agrees_on_entries(statement)
                    && other.checksum == *right
            };
            let witnesses: PlayerSet = statements.iter().filter(agrees).map(|other| other.author).collect();
            if statement.checksum == *right || witnesses.is_empty() {
                continue;
            }
            let is_misled = statement.since.is_some_and(|since| {
                // The checksum says nothing about pace, votes and pauses, which came with the state, too.
                let agreed = statements.iter().filter(agrees).any(|other| other.agreed == statement.agreed);
                !agreed || sums.get(since.turn.0 as usize) != Some(&since.checksum)
            });
            let most = witnesses.bits().count_ones() * 2 > statement.live.count_ones();
            let list = match (is_misled, most) {
                (true, _) => &mut found.misled,
                (false, true) => &mut found.convicted,
                (false, false) => &mut found.accused,
            };
            *list = list.iter().chain([statement.author]).collect();
        }
        Ok(found)
    }

    /// Whether nobody is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.convicted.is_empty() && self.accused.is_empty() && self.misled.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signed::key::PlayerKey;
    use crate::signed::roster::Seat;
    use crate::signed::statement::Since;
    use crate::value::ids::Turn;

    const RIGHT: u32 = 77;

    /// The match comes to the right checksum before turn 9, and to 44 before turn 4.
    const SUMS: [u32; 10] = [0, 1, 2, 3, 44, 5, 6, 7, 8, RIGHT];

    fn key(player: u8) -> PlayerKey {
        PlayerKey::from_secret([player + 1; 32])
    }

    fn roster(players: u8) -> Roster {
        let seat = |player: u8| Some(Seat { key: key(player).public().to_bytes(), salt: 5 });
        Roster::new(0x1234, &(0..players).map(seat).collect::<Vec<_>>()).unwrap()
    }

    /// Statements about turn 9 with these checksums, changed and then signed.
    fn said(checksums: &[u32], change: impl Fn(&mut Statement)) -> Vec<Statement> {
        let players = checksums.len() as u8;
        let say = |(player, checksum): (u8, &u32)| {
            let mut statement = Statement {
                author: PlayerId(player),
                turn: Turn(9),
                live: (1 << players) - 1,
                own: [player; 8],
                all: [8; 12],
                checksum: *checksum,
                agreed: [9; 8],
                since: None,
                signature: [0; 64],
            };
            change(&mut statement);
            statement.sign(&roster(players), &key(player));
            statement
        };
        (0..players).zip(checksums).map(say).collect()
    }

    fn judge(checksums: &[u32], change: impl Fn(&mut Statement)) -> [Vec<u8>; 3] {
        let found =
            Conviction::of(&roster(checksums.len() as u8), &said(checksums, change), &SUMS, 1).unwrap();
        [found.convicted, found.accused, found.misled].map(|set| set.iter().map(|player| player.0).collect())
    }

    const NOBODY: [Vec<u8>; 3] = [const { Vec::new() }; 3];

    const LAST_IS_WRONG: [u32; 3] = [RIGHT, RIGHT, RIGHT + 1];

    #[test]
    fn a_player_who_signs_another_checksum_than_most_is_convicted() {
        assert_eq!(judge(&LAST_IS_WRONG, |_| {}), [vec![2], vec![], vec![]]);
        assert_eq!(judge(&[RIGHT; 3], |_| {}), NOBODY);
        // Nobody has signed what the orders lead to, so perhaps all had other orders.
        assert_eq!(judge(&[1, 1, 2], |_| {}), NOBODY);
        // A player who had other orders is no case of a wrong copy.
        let other = |statement: &mut Statement| {
            if statement.author == PlayerId(2) {
                statement.all = [9; 12];
            }
        };
        assert_eq!(judge(&LAST_IS_WRONG, other), NOBODY);
    }

    /// Whoever records the orders can make up others, and a player can sign what follows from those. Both together convicted an innocent.
    #[test]
    fn fewer_than_most_players_convict_nobody() {
        assert_eq!(judge(&[RIGHT, 5], |_| {}), [vec![], vec![1], vec![]]);
        assert_eq!(judge(&[5, RIGHT, 5, 5], |_| {}), [vec![], vec![0, 2, 3], vec![]]);
        assert_eq!(judge(&[RIGHT, RIGHT, 5, 5], |_| {}), [vec![], vec![2, 3], vec![]]);
        // Player 0 alone is in the match, and player 1, who is out of it, contradicts it.
        let alone = |statement: &mut Statement| statement.live = 1;
        assert_eq!(judge(&[5, RIGHT], alone), NOBODY);
        // The same statement three times is the word of one player.
        let mut statements = said(&[RIGHT, 5], |_| {});
        statements.extend(vec![statements[0].clone(); 2]);
        let found = Conviction::of(&roster(2), &statements, &SUMS, 1).unwrap();
        assert!(found.convicted.is_empty() && found.accused.contains(PlayerId(1)), "{found:?}");
    }

    /// Player 2 came back, was given a wrong state, and was convicted: the victim instead of whoever gave it.
    #[test]
    fn a_player_who_came_back_with_a_wrong_state_is_not_convicted() {
        for (turn, checksum, agreed, expected) in [
            (4, 44, [9; 8], [vec![2], vec![], vec![]]),
            (4, 45, [9; 8], [vec![], vec![], vec![2]]),
            (99, 44, [9; 8], [vec![], vec![], vec![2]]),
            // The battle was right, its pace was not.
            (4, 44, [8; 8], [vec![], vec![], vec![2]]),
        ] {
            let back = |statement: &mut Statement| {
                if statement.author == PlayerId(2) {
                    statement.since = Some(Since { turn: Turn(turn), checksum });
                    statement.agreed = agreed;
                }
            };
            assert_eq!(judge(&LAST_IS_WRONG, back), expected, "{turn} {checksum} {agreed:?}");
        }
        // A player who was there from the start has worked out the pace itself.
        let own = |statement: &mut Statement| statement.agreed = [statement.author.0; 8];
        assert_eq!(judge(&LAST_IS_WRONG, own), [vec![2], vec![], vec![]]);
    }

    /// Honest statements had other checksums than those that were looked for, and whoever signed that of the turn itself was a witness against them.
    #[test]
    fn a_statement_has_the_newest_checksum_that_was_exchanged() {
        let at = |turn: u32, interval: u32, checksums: &[u32], state: u32| {
            let back = |statement: &mut Statement| {
                statement.turn = Turn(turn);
                if statement.author == PlayerId(2) {
                    statement.since = Some(Since { turn: Turn(5), checksum: state });
                }
            };
            let statements = said(checksums, back);
            let found = Conviction::of(&roster(3), &statements, &SUMS, interval).unwrap();
            [found.convicted, found.accused, found.misled].map(|set| set.bits())
        };
        for (turn, interval, checksum) in
            [(9, 4, 8), (8, 4, 8), (7, 4, 44), (3, 4, 0), (9, 600, 0), (9, 1, RIGHT)]
        {
            assert_eq!(at(turn, interval, &[checksum; 3], 5), [0; 3], "{turn} {interval}");
            assert_eq!(at(turn, interval, &[checksum, checksum, 6], 5), [4, 0, 0], "{turn} {interval}");
            // The state with which player 2 came back was wrong.
            assert_eq!(at(turn, interval, &[checksum, checksum, 6], 44), [0, 0, 4], "{turn} {interval}");
        }
        assert_eq!(at(7, 4, &[44, 44, 7], 5), [4, 0, 0], "the checksum of the turn itself");
        assert_eq!(at(10, 4, &[8, 8, 7], 5), [0; 3], "a turn that is not there");
    }

    #[test]
    fn what_was_changed_after_signing_convicts_nobody() {
        let changes: [fn(&mut Statement); 6] = [
            |changed| changed.checksum ^= 1,
            |changed| changed.author = PlayerId(0),
            |changed| changed.turn = Turn(8),
            |changed| changed.since = Some(Since { turn: Turn(4), checksum: 1 }),
            |changed| changed.live ^= 2,
            |changed| changed.agreed[0] ^= 1,
        ];
        for change in changes {
            let mut statements = said(&LAST_IS_WRONG, |_| {});
            change(&mut statements[1]);
            let author = statements[1].author;
            assert_eq!(Conviction::of(&roster(3), &statements, &SUMS, 1), Err(author));
        }
    }
}
