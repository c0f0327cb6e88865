//! The speeds that players have asked for.

use crate::session::config::Controls;
use crate::testing::soak::plan::Plan;

/// A change of speed: the turn, the player, percent.
pub(super) type Changed = (u32, u8, u8);

/// The speeds that sessions accepted, each with the turn that began next.
#[derive(Clone, Debug, Default)]
pub(super) struct Asks(Vec<Changed>);

impl Asks {
    pub(super) fn accept(&mut self, turn: u32, player: u8, percent: u8) {
        self.0.push((turn, player, percent));
    }

    /// What was accepted of players who stayed, and came to nothing. `told` are the changes that took effect. A player who asks twice within a turn has asked
    /// once.
    pub(super) fn lost(&self, plan: &Plan, told: &[Changed], stayed: impl Fn(u8) -> bool) -> Vec<String> {
        // More than half of the players may not want the same.
        if plan.modes.controls == Controls::Majority {
            return Vec::new();
        }
        let mut lost = Vec::new();
        for (turn, player, percent) in self.0.iter().filter(|(_, player, _)| stayed(*player)) {
            let due = *turn..turn + plan.turns_ahead + 2;
            let is_told =
                told.iter().any(|(at, who, to)| due.contains(at) && who == player && self.wants(*who, *to));
            if due.end <= plan.turns && !is_told {
                lost.push(format!("player {player} asked in turn {turn} for a speed of {percent} percent"));
            }
        }
        lost
    }

    fn wants(&self, player: u8, percent: u8) -> bool {
        self.0.iter().any(|(_, who, wanted)| (*who, *wanted) == (player, percent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_that_comes_to_nothing_is_found() {
        let mut plan = Plan::of(7);
        plan.modes.controls = Controls::Everybody;
        let mut asks = Asks::default();
        asks.accept(10, 1, 50);
        asks.accept(plan.turns - 1, 2, 70);
        let lost = |told: &[Changed], stayed: bool| asks.lost(&plan, told, |_| stayed).len();
        let due = 10 + plan.turns_ahead;
        assert_eq!((lost(&[(due, 1, 50)], true), lost(&[], false)), (0, 0));
        assert_eq!((lost(&[], true), lost(&[(due, 1, 60)], true)), (1, 1));
        assert_eq!((lost(&[(due, 0, 50)], true), lost(&[(due + 2, 1, 50)], true)), (1, 1));
    }
}
