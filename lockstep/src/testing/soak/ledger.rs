//! The harness's own account of every order that a session accepted, with the turn in which it must run.

use std::collections::VecDeque;

use crate::testing::soak::trace::Ran;

/// What happened to a program's orders, in the order in which it happened.
#[derive(Clone, Debug)]
enum Item<A> {
    /// The session accepted an order.
    Accepted(A),
    /// This turn began, and with it an entry closed, if the program made entries then.
    Began(u32),
    /// The player ended its stream, and the session said that it had cancelled this many orders.
    Cancelled(u32),
}

/// An order, and the turn in which it must run.
type Due<'a, A> = (u32, &'a A);

/// One program at a player's place.
#[derive(Clone, Debug)]
struct Program<A> {
    /// The first turn at whose start it closed an entry: 0, or the turn of its return. None as long as it has not returned.
    from: Option<u32>,
    items: Vec<Item<A>>,
    /// Number of turns that it has begun.
    begun: u32,
}

impl<A> Program<A> {
    fn new(from: Option<u32>) -> Self {
        Self { from, items: Vec::new(), begun: 0 }
    }

    /// The accepted orders, each with the turn in which it must run; and the first false word on the number of cancelled ones: how many
    /// waited, and what was said.
    fn settle(&self, turns_ahead: u32, per_turn_max: u32) -> (Vec<Due<'_, A>>, Option<(u32, u32)>) {
        let (mut waiting, mut due, mut wrong) = (VecDeque::new(), Vec::new(), None);
        for item in &self.items {
            match item {
                Item::Accepted(order) => waiting.push_back(order),
                Item::Began(turn) if self.from.is_some_and(|from| *turn >= from) => {
                    let count = waiting.len().min(per_turn_max as usize);
                    due.extend(waiting.drain(..count).map(|order| (turn + turns_ahead, order)));
                }
                // The middle of the star has made the entries until its return.
                Item::Began(_) => {}
                Item::Cancelled(told) => {
                    let waited = waiting.len() as u32;
                    wrong = wrong.or((waited != *told).then_some((waited, *told)));
                    waiting.clear();
                }
            }
        }
        (due, wrong)
    }
}

/// The accepted orders of each player.
#[derive(Clone, Debug)]
pub(super) struct Ledger<A> {
    /// By player: the programs at its place, the latest last.
    places: Vec<Vec<Program<A>>>,
    turns_ahead: u32,
    per_turn_max: u32,
    turns: u32,
    /// The first turn.
    pub(super) first: u32,
    /// Orders that were on their way when the match was saved that this one goes on from.
    carried: Vec<Ran<A>>,
}

impl<A: Clone> Ledger<A> {
    pub(super) fn new(players: u8, turns: u32, turns_ahead: u32, per_turn_max: u32) -> Self {
        let places = vec![vec![Program::new(Some(0))]; usize::from(players)];
        Self { places, turns_ahead, per_turn_max, turns, first: 0, carried: Vec::new() }
    }

    /// The match goes on from a save before this turn, with the orders that were on their way.
    pub(super) fn resume(&mut self, first: u32, carried: &[Ran<A>]) {
        self.first = first;
        self.carried = carried.to_vec();
    }

    fn program(&mut self, player: u8) -> Option<&mut Program<A>> {
        self.places[usize::from(player)].last_mut()
    }

    /// A session accepted an order.
    pub(super) fn accept(&mut self, player: u8, order: A) {
        if let Some(program) = self.program(player) {
            program.items.push(Item::Accepted(order));
        }
    }

    /// A player's program begins a turn: its entry for the turn `turns_ahead` later closes with the oldest orders.
    pub(super) fn begin(&mut self, player: u8, turn: u32) {
        if let Some(program) = self.program(player)
            && program.begun <= turn
        {
            program.begun = turn + 1;
            program.items.push(Item::Began(turn));
        }
    }

    /// The player ends its stream, and is told how many waiting orders are cancelled.
    pub(super) fn cancel(&mut self, player: u8, told: u32) {
        if let Some(program) = self.program(player) {
            program.items.push(Item::Cancelled(told));
        }
    }

    /// Another program starts at the player's place; what waits in the old one is lost.
    pub(super) fn restart(&mut self, player: u8) {
        self.places[usize::from(player)].push(Program::new(None));
    }

    /// The player's program has run the turn of a return of its player. The last one is its own; those before were of former connections.
    pub(super) fn returned(&mut self, player: u8, turn: u32) {
        if let Some(program) = self.program(player) {
            program.from = Some(turn);
        }
    }

    /// False words about cancelled orders: the player, how many waited, and what was said.
    pub(super) fn false_words(&self) -> Vec<(u8, u32, u32)> {
        let programs =
            (0_u8..).zip(&self.places).flat_map(|(player, place)| place.iter().map(move |p| (player, p)));
        let wrong = programs.filter_map(|(player, program)| {
            let (waited, told) = program.settle(self.turns_ahead, self.per_turn_max).1?;
            Some((player, waited, told))
        });
        wrong.collect()
    }

    /// Every order that must run, in order, if these players are gone from these turns on and back from those turns on. If another program comes back, what the
    /// former one gave after its end runs nowhere, not even after the return.
    pub(super) fn expected(&self, gone: &[(u8, u32)], back: &[(u8, u32)]) -> Vec<Ran<A>> {
        let mut expected = self.carried.clone();
        for (player, place) in (0_u8..).zip(&self.places) {
            let away = |turn: u32| {
                let left = gone.iter().filter(|(who, at)| *who == player && *at <= turn).count();
                left > back.iter().filter(|(who, at)| *who == player && *at <= turn).count()
            };
            for (number, program) in place.iter().enumerate() {
                let (due, _) = program.settle(self.turns_ahead, self.per_turn_max);
                let is_former = number + 1 < place.len();
                let from = program.from.unwrap_or(u32::MAX);
                let mut ends = gone.iter().filter(|(who, at)| is_former && *who == player && *at >= from);
                let end = ends.next().map_or(self.turns, |(_, at)| *at).min(self.turns);
                let due = due.into_iter().filter(|(turn, _)| *turn < end && !away(*turn));
                expected.extend(due.map(|(turn, order)| Ran { turn, player, order: order.clone() }));
            }
        }
        // Stable: a player's orders of one turn stay in the order in which they were submitted.
        expected.sort_by_key(|ran| (ran.turn, ran.player));
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An order is a number here.
    fn order(number: u8) -> u8 {
        number
    }

    #[test]
    fn orders_are_due_two_turns_later_and_spill_over() {
        let mut ledger = Ledger::new(2, 10, 2, 2);
        (0..5).for_each(|group| ledger.accept(1, order(group)));
        ledger.accept(0, order(9));
        for turn in 0..3 {
            ledger.begin(0, turn);
            ledger.begin(1, turn);
        }
        let found: Vec<(u32, u8, u8)> =
            ledger.expected(&[], &[]).into_iter().map(|ran| (ran.turn, ran.player, ran.order)).collect();
        let expected = [(2, 0, 9), (2, 1, 0), (2, 1, 1), (3, 1, 2), (3, 1, 3), (4, 1, 4)];
        assert_eq!(found, expected.map(|(turn, player, group)| (turn, player, order(group))));
    }

    #[test]
    fn nothing_is_expected_of_those_who_are_gone_nor_after_the_end() {
        let mut ledger = Ledger::new(2, 4, 2, 1);
        for turn in 0..4 {
            for player in 0..2 {
                ledger.accept(player, order(turn as u8));
                ledger.begin(player, turn);
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
    }

    #[test]
    fn what_was_on_its_way_in_a_save_is_due() {
        let mut ledger = Ledger::new(2, 20, 2, 1);
        let carried =
            [Ran { turn: 9, player: 1, order: order(3) }, Ran { turn: 10, player: 0, order: order(4) }];
        ledger.resume(9, &carried);
        ledger.accept(0, order(5));
        ledger.begin(0, 9);
        let found: Vec<(u32, u8, u8)> =
            ledger.expected(&[], &[]).into_iter().map(|ran| (ran.turn, ran.player, ran.order)).collect();
        assert_eq!((ledger.first, found), (9, vec![(9, 1, 3), (10, 0, 4), (11, 0, 5)]));
    }

    #[test]
    fn a_false_word_on_cancelled_orders_is_found() {
        let said = |told: u32| {
            let mut ledger = Ledger::new(2, 10, 2, 2);
            (0..5).for_each(|group| ledger.accept(1, order(group)));
            ledger.begin(1, 0);
            ledger.cancel(1, told);
            ledger.begin(1, 1);
            assert_eq!(ledger.expected(&[], &[]).len(), 2);
            ledger.false_words()
        };
        assert_eq!((said(3), said(2)), (vec![], vec![(1, 3, 2)]));
    }

    /// Seeds 1795349189 and 1795349273: a program knew of its own return when it ran the turn of a former connection's. Its orders wait for the
    /// first entry of its own.
    #[test]
    fn orders_before_the_own_return_are_due_after_it() {
        let mut ledger = Ledger::new(3, 40, 2, 2);
        ledger.accept(2, order(0));
        ledger.begin(2, 12);
        ledger.restart(2);
        for turn in 18..32 {
            match turn {
                22 => (1..4).for_each(|group| ledger.accept(2, order(group))),
                29 => ledger.accept(2, order(4)),
                _ => {}
            }
            ledger.begin(2, turn);
            if turn == 21 || turn == 28 {
                ledger.returned(2, turn);
            }
        }
        let expected = ledger.expected(&[(2, 15), (2, 23)], &[(2, 21), (2, 28)]);
        let found: Vec<(u32, u8)> = expected.into_iter().map(|ran| (ran.turn, ran.order)).collect();
        let expected = [(14, 0), (30, 1), (30, 2), (31, 3), (31, 4)];
        assert_eq!(found, expected.map(|(turn, group)| (turn, order(group))));
    }

    /// Seed 2004070: the only one who still played was cut off and dropped, and went on as far as nobody could come back. Its orders were due in turns after
    /// the return of its next program.
    #[test]
    fn what_a_program_does_after_it_was_dropped_is_never_due() {
        let mut ledger = Ledger::new(2, 40, 2, 1);
        let play = |ledger: &mut Ledger<u8>, turns: core::ops::Range<u32>| {
            for turn in turns {
                ledger.accept(1, order(turn as u8));
                ledger.begin(1, turn);
            }
        };
        play(&mut ledger, 0..14);
        ledger.restart(1);
        play(&mut ledger, 10..14);
        ledger.returned(1, 14);
        play(&mut ledger, 14..16);
        let found: Vec<(u32, u8)> =
            ledger.expected(&[(1, 5)], &[(1, 14)]).into_iter().map(|ran| (ran.turn, ran.order)).collect();
        // What the second program gave before its return waited.
        assert_eq!(
            found,
            [(2, 0), (3, 1), (4, 2), (16, 10), (17, 11)].map(|(turn, given)| (turn, order(given)))
        );
    }
}
