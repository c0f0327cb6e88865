//! What belongs to an army as a whole: its losses, the units that it can replace, and the rally point of its recruits.

use std::collections::VecDeque;

use crate::point::Point;
use crate::teams::Teams;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Army {
    /// Enemies defeated.
    pub(crate) kills: u32,
    /// Its own units that fell.
    pub(crate) losses: u32,
    /// Recruits that it can still train.
    pub(crate) reserve: u32,
    /// Its player gives no more orders.
    pub(crate) is_gone: bool,
    /// Its last keep has fallen, or it has neither units nor recruits.
    pub(crate) is_defeated: bool,
    /// Middle of the formation in which recruits gather.
    pub(crate) rally: Point,
    /// Fallen units whose places wait for recruits, in the order in which they fell. Numbers of the match; never more than the army's
    /// units.
    pub(crate) fallen: VecDeque<u32>,
}

impl Army {
    pub(crate) fn new(rally: Point, reserve: u32) -> Self {
        let (kills, losses, fallen) = (0, 0, VecDeque::new());
        Self { kills, losses, reserve, is_gone: false, is_defeated: false, rally, fallen }
    }

    /// Whether there is a place for a recruit.
    pub(crate) fn wants_recruits(&self) -> bool {
        !self.is_defeated && self.reserve > 0 && !self.fallen.is_empty()
    }

    /// The unit whose place a recruit takes.
    pub(crate) fn recruit(&mut self) -> Option<u32> {
        if !self.wants_recruits() {
            return None;
        }
        self.reserve -= 1;
        self.fallen.pop_front()
    }
}

/// The result code of a draw.
const DRAW: u32 = u32::MAX;

/// How a match ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchResult {
    /// Only this army, or armies of its team, are not defeated. A team is named by its army with the lowest number.
    Winner(u8),
    /// The last armies were defeated in the same frame.
    Draw,
}

impl MatchResult {
    /// The code that peers compare: the number of the winning army, or [`DRAW`].
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Winner(army) => army.into(),
            Self::Draw => DRAW,
        }
    }

    /// None while the match goes on; a single army has no opponent.
    pub(crate) fn of(armies: &[Army], teams: &Teams) -> Option<Self> {
        if armies.len() < 2 {
            return None;
        }
        let mut standing = (0..).zip(armies).filter(|(_, army)| !army.is_defeated).map(|(number, _)| number);
        let Some(first) = standing.next() else { return Some(Self::Draw) };
        standing.all(|army| teams.are_friends(first, army)).then(|| Self::Winner(teams.leader(first)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recruits_take_places_in_the_order_of_falling_until_the_reserve_is_spent() {
        let mut army = Army { fallen: (3..9).collect(), ..Army::new(Point::ZERO, 4) };
        let taken: Vec<u32> = core::iter::from_fn(|| army.recruit()).collect();
        assert_eq!(taken, [3, 4, 5, 6]);
        assert_eq!((army.reserve, army.fallen.len()), (0, 2));
    }

    #[test]
    fn the_last_keep_standing_wins() {
        let armies = |defeated: &[bool]| -> Vec<Army> {
            let army = |&is_defeated| Army { is_defeated, ..Army::new(Point::ZERO, 0) };
            defeated.iter().map(army).collect()
        };
        let result = |defeated: &[bool]| MatchResult::of(&armies(defeated), &Teams::default());
        assert_eq!(result(&[false, false, true]), None);
        assert_eq!(result(&[true, false, true]), Some(MatchResult::Winner(1)));
        assert_eq!(result(&[true, true]), Some(MatchResult::Draw));
        assert_eq!(result(&[false]), None);
        assert_eq!(result(&[true]), None);
        let teams = Teams::new(&[2, 1, 2]).unwrap();
        let result = |defeated: &[bool]| MatchResult::of(&armies(defeated), &teams);
        assert_eq!(result(&[false, false, true]), None);
        assert_eq!(result(&[false, true, false]), Some(MatchResult::Winner(0)));
        assert_eq!(result(&[true, true, false]), Some(MatchResult::Winner(0)), "with its fallen friend");
        assert_eq!(result(&[true, false, true]), Some(MatchResult::Winner(1)));
    }
}
