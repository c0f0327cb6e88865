//! Checksums of turns: compares every player's value for each turn.

use core::fmt;
use std::collections::VecDeque;

use crate::value::ids::{PLAYERS_MAX, PlayerId, Turn};

/// Folds a 64-bit checksum to 32 bits: high half xor low half. They cross the network so where the match is signed or a mesh, and else marked with the
/// session's part of the state.
///
/// One turn shows a divergence with probability 1 - 2^-32, and every later turn shows it again.
#[must_use]
pub fn fold_checksum(checksum: u64) -> u32 {
    ((checksum >> 32) ^ checksum) as u32
}

/// Checksums of one turn that are not all equal.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Desync {
    /// The turn.
    pub turn: Turn,
    /// Value of each player who sent one, folded to 32 bits ([`fold_checksum`]). Where the checksums are equal but not what the session knows of the match
    /// (pace, pauses, who is gone), the values differ, too. A relay, which has no copy of the game, names other values, which differ in the same way.
    pub values: Vec<(PlayerId, u64)>,
    /// This peer's own value in the same form, also on a watcher.
    pub own: Option<u64>,
    /// The match is signed ([`crate::SessionConfig::signed()`]). Then nobody is blamed for values that others may have changed on the way;
    /// statements show the outlier ([`crate::Event::Outlier`]).
    pub signed: bool,
}

impl Desync {
    /// What is left of it without these players' values (bit n for player n); none if the others agree.
    pub(crate) fn without(mut self, players: u16) -> Option<Self> {
        self.values.retain(|(player, _)| players & (1 << player.0) == 0);
        let mut all = self.values.iter().map(|(_, value)| *value).chain(self.own);
        let first = all.next()?;
        all.any(|value| value != first).then_some(self)
    }

    /// The single player whose value differs from that of all others. None with two players, if several differ, or in a signed match. A
    /// peer that forwards the values can change them, so this proves nothing.
    #[must_use]
    pub fn outlier(&self) -> Option<PlayerId> {
        if self.signed {
            return None;
        }
        let differs = |&(player, value): &(PlayerId, u64)| {
            let mut others = self.values.iter().filter(|other| other.0 != player).map(|other| other.1);
            let first = others.next()?;
            (first != value && self.values.len() > 2 && others.all(|other| other == first)).then_some(player)
        };
        self.values.iter().find_map(differs)
    }
}

/// Values in hexadecimal digits, as they cross the network.
impl fmt::Display for Desync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the checksums of turn {} differ", self.turn)?;
        for (at, (player, value)) in self.values.iter().enumerate() {
            write!(f, "{} player {player} has {value:08x}", if at == 0 { ":" } else { "," })?;
        }
        if let Some(own) = self.own {
            write!(f, "; here it is {own:08x}")?;
        }
        self.outlier().map_or(Ok(()), |player| write!(f, "; player {player} differs from all others"))
    }
}

#[derive(Clone, Debug)]
struct Row {
    own: Option<u32>,
    /// What all values are marked with, if this peer's own is here.
    mark: u32,
    values: [Option<u32>; PLAYERS_MAX as usize],
}

/// Turns whose checksums have not all arrived yet.
#[derive(Clone, Debug)]
pub(crate) struct Checksums {
    players: u8,
    interval: u32,
    /// Greatest number of rows; further rows are not stored.
    rows_max: u32,
    /// Number of the oldest row; row n covers turn (n + 1) * interval - 1.
    oldest: u32,
    rows: VecDeque<Row>,
    /// The last turn of the match, which always has a checksum, whatever the interval.
    last_turn: Option<u32>,
    last_row: Row,
    last_done: bool,
    /// Each player's newest turn off the interval, and its value: perhaps the last turn, which is not known here yet.
    newest: [Option<(u32, u32)>; PLAYERS_MAX as usize],
}

impl Row {
    const EMPTY: Self = Self { own: None, mark: 0, values: [None; PLAYERS_MAX as usize] };
}

impl Checksums {
    pub(crate) fn new(players: u8, interval: u32, rows_max: u32) -> Self {
        Self {
            players,
            interval,
            rows_max,
            oldest: 0,
            rows: VecDeque::with_capacity(16),
            last_turn: None,
            last_row: Row::EMPTY,
            last_done: false,
            newest: [None; PLAYERS_MAX as usize],
        }
    }

    /// The match is resumed at this turn; earlier turns count as settled.
    pub(crate) fn resume_at(&mut self, turn: u32) {
        self.oldest = turn / self.interval;
    }

    /// Sets the last turn of the match.
    pub(crate) fn set_last_turn(&mut self, turn: u32) {
        self.last_turn = Some(turn);
        for (player, newest) in (0_u8..).zip(self.newest) {
            if let Some((_, value)) = newest.filter(|(at, _)| *at == turn) {
                self.note(turn, PlayerId(player), value);
            }
        }
    }

    /// Whether the turn's checksum is exchanged.
    pub(crate) fn covers(&self, turn: u32) -> bool {
        (turn + 1).is_multiple_of(self.interval) || self.last_turn == Some(turn)
    }

    /// Notes this peer's own value with the mark that it has, as a player or as a watcher.
    pub(crate) fn note_own(&mut self, turn: u32, value: u32, mark: u32, player: Option<PlayerId>) {
        if let Some(row) = self.row(turn) {
            (row.own, row.mark) = (Some(value), mark);
        }
        if let Some(player) = player {
            self.note(turn, player, value);
        }
    }

    /// Notes a player's value. Values of settled turns, and of turns too far ahead, are ignored.
    pub(crate) fn note(&mut self, turn: u32, player: PlayerId, value: u32) {
        if !self.covers(turn) {
            self.newest.get_mut(player.index()).into_iter().for_each(|newest| *newest = Some((turn, value)));
        } else if let Some(slot) = self.row(turn).and_then(|row| row.values.get_mut(player.index())) {
            *slot = Some(value);
        }
    }

    /// Settles the oldest turn if it is complete. `expects(player, turn)` says whether a value will still come. Returns the turn, the
    /// values if they are not all equal, and the players without a value (bit n: player n).
    pub(crate) fn settle(
        &mut self,
        expects_own: bool,
        expects: impl Fn(PlayerId, u32) -> bool,
    ) -> Option<(Turn, Option<Desync>, u16)> {
        let players = self.players;
        let complete = |row: &Row, turn: u32| {
            (row.own.is_some() || !expects_own)
                && (0..players).map(PlayerId).all(|p| row.values[p.index()].is_some() || !expects(p, turn))
        };
        let turn = (self.oldest + 1).saturating_mul(self.interval) - 1;
        if self.last_turn.is_none_or(|last| turn <= last) {
            let row = self.rows.front()?;
            if !complete(row, turn) {
                return None;
            }
            let row = self.rows.pop_front()?;
            self.oldest += 1;
            return Some((Turn(turn), row.desync(turn), row.silent(self.players)));
        }
        let turn = self.last_turn?;
        if self.last_done || (turn + 1).is_multiple_of(self.interval) || !complete(&self.last_row, turn) {
            return None;
        }
        self.last_done = true;
        Some((Turn(turn), self.last_row.desync(turn), self.last_row.silent(self.players)))
    }

    /// Number of settled turns, counted from the start.
    pub(crate) fn settled(&self) -> u32 {
        let turns = self.oldest.saturating_mul(self.interval);
        self.last_turn.filter(|_| self.last_done).map_or(turns, |last| turns.max(last.saturating_add(1)))
    }

    fn row(&mut self, turn: u32) -> Option<&mut Row> {
        if !(turn + 1).is_multiple_of(self.interval) {
            return (self.last_turn == Some(turn)).then_some(&mut self.last_row);
        }
        let index = ((turn + 1) / self.interval - 1).checked_sub(self.oldest)?;
        if index >= self.rows_max {
            return None;
        }
        while self.rows.len() as u32 <= index {
            self.rows.push_back(Row::EMPTY);
        }
        self.rows.get_mut(index as usize)
    }
}

impl Row {
    /// Players without a value.
    fn silent(&self, players: u8) -> u16 {
        let silent = (0..players).filter(|player| self.values[usize::from(*player)].is_none());
        silent.fold(0, |mask, player| mask | (1 << player))
    }

    fn desync(&self, turn: u32) -> Option<Desync> {
        let mut all = self.values.iter().copied().chain([self.own]).flatten();
        let first = all.next()?;
        if all.all(|value| value == first) {
            return None;
        }
        let unmarked = |value: u32| u64::from(value ^ self.mark);
        let values = (0_u8..).zip(self.values).filter_map(|(i, v)| Some((PlayerId(i), unmarked(v?))));
        Some(Desync {
            turn: Turn(turn),
            values: values.collect(),
            own: self.own.map(unmarked),
            signed: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_settles_when_all_values_are_here() {
        let mut sums = Checksums::new(3, 1, 8);
        sums.note_own(0, 7, 0, Some(PlayerId(0)));
        sums.note(0, PlayerId(1), 7);
        assert_eq!(sums.settle(true, |_, _| true), None, "player 2 is missing");
        assert_eq!(sums.settled(), 0);
        sums.note(0, PlayerId(2), 8);
        let (turn, desync, silent) = sums.settle(true, |_, _| true).unwrap();
        assert_eq!(silent, 0);
        let desync = desync.unwrap();
        assert_eq!((turn, desync.outlier(), sums.settled()), (Turn(0), Some(PlayerId(2)), 1));
        assert_eq!(desync.values, [(PlayerId(0), 7), (PlayerId(1), 7), (PlayerId(2), 8)]);
    }

    #[test]
    fn a_dropped_player_is_not_waited_for() {
        let mut sums = Checksums::new(2, 1, 8);
        sums.note_own(0, 7, 0, Some(PlayerId(0)));
        assert_eq!(sums.settle(true, |player, _| player.0 == 0), Some((Turn(0), None, 2)));
    }

    /// A peer that ended the match later than others took them for players without a checksum, and did not compare the last turn with them.
    #[test]
    fn a_value_of_the_last_turn_may_come_before_that_is_known() {
        let mut sums = Checksums::new(2, 30, 8);
        sums.note(7, PlayerId(1), 4);
        sums.note(9, PlayerId(1), 6);
        sums.set_last_turn(9);
        sums.note_own(9, 5, 0, Some(PlayerId(0)));
        let (turn, desync, silent) = sums.settle(true, |_, _| true).unwrap();
        assert_eq!((turn, silent), (Turn(9), 0));
        assert_eq!(desync.unwrap().values, [(PlayerId(0), 5), (PlayerId(1), 6)]);
    }

    #[test]
    fn the_last_turn_has_a_checksum_whatever_the_interval() {
        let mut sums = Checksums::new(1, 30, 8);
        sums.set_last_turn(40);
        assert!(sums.covers(29) && sums.covers(40) && !sums.covers(39));
        for turn in [29, 40] {
            sums.note_own(turn, 5, 0, Some(PlayerId(0)));
            assert_eq!(sums.settle(true, |_, _| true), Some((Turn(turn), None, 0)));
            assert_eq!(sums.settled(), turn + 1);
        }
        assert_eq!(sums.settle(true, |_, _| true), None);
    }

    #[test]
    fn far_turns_take_no_memory() {
        let mut sums = Checksums::new(2, 1, 8);
        sums.note(4_000_000_000, PlayerId(1), 1);
        assert!(sums.rows.is_empty());
    }

    #[test]
    fn two_players_have_no_outlier() {
        let values = vec![(PlayerId(0), 1), (PlayerId(1), 2)];
        assert_eq!(Desync { turn: Turn(3), values, own: None, signed: false }.outlier(), None);
    }
}
