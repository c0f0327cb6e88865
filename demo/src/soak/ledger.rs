//! The harness's own account of every order that a session accepted, with the turn in which it must run.

use std::collections::VecDeque;

use crate::game::Order;
use crate::soak::fighter::Ran;

/// One player's account.
#[derive(Clone, Debug, Default)]
struct Account {
    /// Accepted orders that are in no entry yet.
    waiting: VecDeque<Order>,
    /// Orders in entries, with the turns in which they must run.
    due: Vec<(u32, Order)>,
    /// Number of turns at whose start an entry was closed.
    closed: u32,
}

/// The accepted orders of each player.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    accounts: Vec<Account>,
    turns_ahead: u32,
    per_turn_max: u32,
    turns: u32,
}

impl Ledger {
    pub(crate) fn new(players: u8, turns: u32, turns_ahead: u32, per_turn_max: u32) -> Self {
        Self { accounts: vec![Account::default(); usize::from(players)], turns_ahead, per_turn_max, turns }
    }

    /// Whether the entry that closes at the start of `turn` has been accounted for.
    pub(crate) fn has_closed(&self, player: u8, turn: u32) -> bool {
        self.accounts[usize::from(player)].closed > turn
    }

    /// A session accepted an order.
    pub(crate) fn accept(&mut self, player: u8, order: Order) {
        self.accounts[usize::from(player)].waiting.push_back(order);
    }

    /// A player's `turn` begins: the entry for the turn `turns_ahead` later closes with the oldest orders.
    pub(crate) fn close(&mut self, player: u8, turn: u32) {
        let account = &mut self.accounts[usize::from(player)];
        account.closed = turn + 1;
        let count = account.waiting.len().min(self.per_turn_max as usize);
        let due = turn + self.turns_ahead;
        account.due.extend(account.waiting.drain(..count).map(|order| (due, order)));
    }

    /// The player resigns, and waiting orders are cancelled. Returns their number.
    pub(crate) fn cancel(&mut self, player: u8) -> u32 {
        let waiting = &mut self.accounts[usize::from(player)].waiting;
        let count = waiting.len() as u32;
        waiting.clear();
        count
    }

    /// The player's program restarts: waiting orders are lost with the old one.
    pub(crate) fn restart(&mut self, player: u8) {
        let account = &mut self.accounts[usize::from(player)];
        account.waiting.clear();
        account.closed = 0;
    }

    /// Every order that must run, in order, if these players are gone from these turns on and back from those turns on.
    pub(crate) fn expected(&self, gone: &[(u8, u32)], back: &[(u8, u32)]) -> Vec<Ran> {
        let mut expected = Vec::new();
        for (player, account) in (0_u8..).zip(&self.accounts) {
            let away = |turn: u32| {
                let left = gone.iter().filter(|(who, at)| *who == player && *at <= turn).count();
                left > back.iter().filter(|(who, at)| *who == player && *at <= turn).count()
            };
            let due = account.due.iter().filter(|(turn, _)| *turn < self.turns && !away(*turn));
            expected.extend(due.map(|(turn, order)| Ran { turn: *turn, player, order: order.clone() }));
        }
        // Stable: a player's orders of one turn stay in the order in which they were submitted.
        expected.sort_by_key(|ran| (ran.turn, ran.player));
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Command, Selection};

    fn order(group: u8) -> Order {
        Order::new(Selection::Group(group), Command::Stop)
    }

    #[test]
    fn orders_are_due_two_turns_later_and_spill_over() {
        let mut ledger = Ledger::new(2, 10, 2, 2);
        (0..5).for_each(|group| ledger.accept(1, order(group)));
        ledger.accept(0, order(9));
        for turn in 0..3 {
            ledger.close(0, turn);
            ledger.close(1, turn);
        }
        let found: Vec<(u32, u8, Order)> =
            ledger.expected(&[], &[]).into_iter().map(|ran| (ran.turn, ran.player, ran.order)).collect();
        let expected = [(2, 0, 9), (2, 1, 0), (2, 1, 1), (3, 1, 2), (3, 1, 3), (4, 1, 4)];
        assert_eq!(found, expected.map(|(turn, player, group)| (turn, player, order(group))));
        assert!(ledger.has_closed(0, 2) && !ledger.has_closed(0, 3));
    }

    #[test]
    fn nothing_is_expected_of_those_who_are_gone_nor_after_the_end() {
        let mut ledger = Ledger::new(2, 4, 2, 1);
        for turn in 0..4 {
            for player in 0..2 {
                ledger.accept(player, order(turn as u8));
                ledger.close(player, turn);
            }
        }
        ledger.accept(0, order(7));
        let turns = |gone: &[(u8, u32)]| -> Vec<(u8, u32)> {
            ledger.expected(gone, &[]).iter().map(|ran| (ran.player, ran.turn)).collect()
        };
        assert_eq!(turns(&[]), [(0, 2), (1, 2), (0, 3), (1, 3)]);
        assert_eq!(turns(&[(1, 3)]), [(0, 2), (1, 2), (0, 3)]);
        let back = ledger.expected(&[(1, 2)], &[(1, 3)]);
        let back: Vec<(u8, u32)> = back.iter().map(|ran| (ran.player, ran.turn)).collect();
        assert_eq!(back, [(0, 2), (0, 3), (1, 3)]);
        assert_eq!((ledger.cancel(0), ledger.cancel(0), ledger.cancel(1)), (1, 0, 0));
    }
}
