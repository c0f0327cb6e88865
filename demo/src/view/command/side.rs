//! One player's side in a window: the selection, the meaning of the next click, and how a command becomes orders.

use macroquad::math::Vec2;
use testudo_lockstep::SubmitError;

use crate::view::command::order_log::OrderLog;
use testudo_battle::{Command, Order};
use testudo_render::battle::effects::Effects;
use testudo_render::battle::selection::{Chosen, KEYS, Own};
use testudo_render::sound::Cue;

/// The meaning of the next left click.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Aim {
    Attack,
    Patrol,
}

impl Aim {
    /// What to do next, for the line above the view.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Attack => "click where to attack",
            Self::Patrol => "click where to patrol",
        }
    }
}

/// A command for the selected units, and its destination on the field, if it has one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Told {
    pub(crate) command: Command,
    pub(crate) at: Option<Vec2>,
    /// After what they have to do already.
    pub(crate) is_queued: bool,
}

impl Told {
    /// A command that leads nowhere and runs at once.
    pub(crate) fn here(command: Command) -> Self {
        Self { command, at: None, is_queued: false }
    }
}

/// A line that is being drawn for units to stand on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct DrawnLine {
    /// Where the right button went down.
    pub(crate) from: Vec2,
    /// Shift was held then.
    pub(crate) is_queued: bool,
    /// A was pressed before: they attack on the way.
    pub(crate) attacks: bool,
}

/// One player's side.
#[derive(Default)]
pub(crate) struct Side {
    pub(crate) chosen: Chosen,
    pub(crate) effects: Effects,
    pub(crate) aim: Option<Aim>,
    /// The left button, or a finger, went down as an answer to that: it does not move the camera, and held it gives no other order.
    pub(crate) is_aimed: bool,
    /// The position on the field where a box began.
    pub(crate) drag: Option<Vec2>,
    /// A line is drawn, since the right button went down.
    pub(crate) line: Option<DrawnLine>,
    /// The unit that was clicked last, the digit that was pressed last, and when, seconds: twice means more.
    pub(crate) last_click: Option<(u32, f64)>,
    pub(crate) last_digit: Option<(usize, f64)>,
    /// How many belong to each number key, and when that was counted, seconds.
    sizes: Option<([usize; KEYS], f32)>,
    /// The next digit makes a group.
    pub(crate) names_group: bool,
    /// Units were ordered to attack, so that hint is done.
    pub(crate) has_attacked: bool,
    /// What is heard of the last order, until somebody listens.
    pub(crate) answer: Option<Cue>,
    /// Why the last order was refused, until somebody says so.
    pub(crate) refused: Option<String>,
}

impl Side {
    /// How many living units belong to each number key; counted now and then.
    pub(crate) fn group_sizes(&mut self, own: &[Own], now: f32) -> [usize; KEYS] {
        const EVERY: f32 = 0.3;
        match self.sizes {
            Some((sizes, at)) if (at..at + EVERY).contains(&now) => sizes,
            _ => {
                let sizes = core::array::from_fn(|key| self.chosen.members(key, own).count());
                self.sizes = Some((sizes, now));
                sizes
            }
        }
    }

    /// Cancels what was begun.
    pub(crate) fn let_go(&mut self) {
        (self.aim, self.drag, self.line, self.names_group) = (None, None, None, false);
    }

    /// Gives the selected units of a player a command and shows its destination at once. `submit` submits orders, all or none, and returns the turn in
    /// which they were accepted.
    pub(crate) fn tell(
        &mut self,
        player: u8,
        own: &[Own],
        told: Told,
        log: &mut OrderLog,
        submit: impl FnOnce(&[Order]) -> Result<u32, SubmitError>,
    ) {
        self.chosen.keep(own);
        // Scattered units are gathered first. An order that would reach some of them is not given, and those before it do not fill the queue.
        let orders = self.chosen.orders(own, told.command, told.is_queued);
        let Some(order) = orders.last() else {
            self.refused = None;
            return;
        };
        let given = submit(&orders);
        if let Ok(turn) = given {
            log.order(player, turn, order, self.chosen.len());
            self.chosen.note_given(&orders, own);
        }
        let is_given = given.is_ok();
        self.refused =
            given.err().map(|error| format!("This order does not run: {}", why(error, orders.len())));
        let attacks = told.command.attacks();
        if is_given && !matches!(told.command, Command::Assign(_)) {
            self.answer = Some(if attacks { Cue::Attack } else { Cue::Order });
        }
        if let (Some(at), true) = (told.at, is_given) {
            self.effects.mark(at, player, attacks);
            self.has_attacked |= attacks;
        }
    }
}

/// Why so many orders were refused, and what to do.
fn why(error: SubmitError, orders: usize) -> String {
    match error {
        SubmitError::QueueFull { .. } if orders > 1 => {
            format!(
                "units so scattered need {orders} orders; let those before run, or select fewer or all in a rectangle"
            )
        }
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::{Driver, Duration, Instant, PlayerId, Session, SessionConfig, Simulation, Turn};
    use testudo_physics::BodyId;

    use super::*;
    use crate::view::command::order_log::Sink;
    use testudo_battle::{Point, Selection, Stance};

    /// A mark stood where nobody went, and nothing said why.
    #[test]
    fn an_order_that_is_refused_says_so() {
        let at = |index: u32| Point { x: (index % 10) as i32 * 65_536, y: (index / 10) as i32 * 65_536 };
        let body = |index: u32| BodyId::from_bits(u64::from(index));
        let own =
            |index| Own { index, body: body(index), place: at(index), groups: 0, stance: Stance::Defend };
        let own: Vec<Own> = (0..100).map(own).collect();
        let told = Told { at: Some(Vec2::ZERO), ..Told::here(Command::Stop) };
        // The number of orders that have room; every third unit needs three.
        let said = |accepted: u32| {
            let (mut side, mut given) = (Side::default(), 0..accepted);
            side.chosen.choose(own.iter().step_by(3).map(Own::member), false);
            side.tell(0, &own, told, &mut OrderLog::new(Sink::Nowhere), |orders| {
                let turns: Option<Vec<u32>> = orders.iter().map(|_| given.next()).collect();
                turns.map(|_| 0).ok_or(SubmitError::TooLate { last_turn: Turn(9) })
            });
            (side.answer, side.refused.unwrap_or_default())
        };
        assert_eq!(said(3), (Some(Cue::Order), String::new()));
        // Who was gathered for it was told nothing.
        let (answer, _) = said(2);
        assert_eq!(answer, None);
        let (answer, refused) = said(0);
        assert!(answer.is_none() && refused.starts_with("This order does not run"), "{refused}");
        assert!(refused.contains("the match ends with turn 9"), "{refused}");
    }

    /// What the orders have done: who is in which control group, and how many orders have run.
    #[derive(Clone, Debug)]
    struct Ran {
        own: Vec<Own>,
        orders: usize,
        last: Vec<u32>,
    }

    impl Simulation for Ran {
        type Action = Order;

        fn apply(&mut self, _: PlayerId, order: &Order) {
            let is_meant = |own: &Own| match &order.units {
                Selection::All => true,
                Selection::Group(group) => own.groups & 1 << group != 0,
                Selection::Area(area) => area.contains(own.place),
                Selection::Units(ranges) => {
                    ranges.iter().any(|range| (range.first..range.first + range.count).contains(&own.index))
                }
            };
            self.orders += 1;
            self.last = self.own.iter().filter(|own| is_meant(own)).map(|own| own.index).collect();
            for own in &mut self.own {
                let is_meant = self.last.binary_search(&own.index).is_ok();
                match order.command {
                    Command::Assign(group) => {
                        own.groups = own.groups & !(1 << group) | u16::from(is_meant) << group
                    }
                    Command::Join(group) => own.groups |= u16::from(is_meant) << group,
                    _ => {}
                }
            }
        }

        fn step(&mut self, _: u32) {}

        fn checksum(&mut self) -> u64 {
            self.orders as u64
        }
    }

    /// One person in a match of its own, with an army whose units are mixed with others.
    struct Match {
        driver: Driver<Ran>,
        side: Side,
        now: Instant,
    }

    impl Match {
        fn new(units: u32) -> Self {
            // Odd numbers without common divisors with the army's size mix the places.
            let width = units.isqrt() * 2;
            let own = (0..units).map(|index| {
                let spot = (u64::from(index) * 7_919 % u64::from(units)) as i32;
                let (x, y) = (spot * 2 % width as i32, spot * 2 / width as i32 * 2);
                let place =
                    Point { x: x * 65_536 + spot * 977 % 65_536, y: y * 65_536 + spot * 733 % 65_536 };
                Own {
                    index,
                    body: BodyId::from_bits(u64::from(index)),
                    place,
                    groups: 0,
                    stance: Stance::Defend,
                }
            });
            let ran = Ran { own: own.collect(), orders: 0, last: Vec::new() };
            let session = Session::single(SessionConfig::new(1), Instant::ZERO).unwrap();
            let mut driver = Driver::new(ran, session);
            driver.advance(Instant::ZERO);
            Self { driver, side: Side::default(), now: Instant::ZERO }
        }

        fn choose(&mut self, is_chosen: impl Fn(&Own) -> bool) {
            let own = &self.driver.simulation().own;
            self.side.chosen.choose(own.iter().filter(|own| is_chosen(own)).map(Own::member), false);
        }

        /// Gives a command: the number of orders that wait then, or why it was refused.
        fn tell(&mut self, command: Command) -> Result<u32, String> {
            let own = self.driver.simulation().own.clone();
            let session = self.driver.session_mut();
            self.side.tell(0, &own, Told::here(command), &mut OrderLog::new(Sink::Nowhere), |orders| {
                session.submit_all(orders).map(|()| 0)
            });
            let waiting = session.queued_actions();
            self.side.refused.take().map_or(Ok(waiting), Err)
        }

        /// A unit falls, and a recruit comes with its number.
        fn recruit(&mut self, unit: usize) {
            let own = &mut self.driver.simulation_mut().own[unit];
            *own = Own { body: BodyId::from_bits(own.body.to_bits() + (1 << 40)), groups: 0, ..*own };
        }

        /// Plays until everything has run; the number of chosen units that the last order missed or that it met though they were not chosen.
        fn play(&mut self) -> usize {
            let waiting = self.driver.session().queued_actions() as usize;
            let all = self.driver.simulation().orders + waiting;
            while self.driver.simulation().orders < all {
                self.now += Duration::from_millis(50);
                assert!(self.now < Instant::ZERO + Duration::from_secs(60));
                self.driver.advance(self.now);
                self.side.chosen.keep(&self.driver.simulation().own);
            }
            let ran = self.driver.simulation();
            let is_met = |own: &Own| ran.last.binary_search(&own.index).is_ok();
            ran.own.iter().filter(|own| is_met(own) != self.side.chosen.contains(own.member())).count()
        }
    }

    /// A part of a mixed army needed more orders than the queue has room for: none to it ever ran, and each try filled the queue for seconds.
    #[test]
    fn a_part_of_a_large_mixed_army_can_be_commanded() {
        for units in [5_000, 10_000] {
            let mut battle = Match::new(units);
            let width = units.isqrt() as i32 * 2;
            battle.choose(|own| own.place.x < width / 2 * 65_536);
            let (chosen, stop) = (battle.side.chosen.len(), Command::Stop);
            // Clicks in quick succession.
            let clicks: Vec<_> = (0..20).map(|_| battle.tell(stop)).collect();
            assert_eq!(clicks, (1..=20).map(|n| Ok(2 * n)).collect::<Vec<_>>());
            assert!(battle.play() * 32 <= chosen, "{chosen} of {units}");
            // A number key: from then on its name is enough.
            assert!(battle.tell(Command::Assign(3)).unwrap() <= 2);
            battle.side.chosen.assign(3);
            battle.play();
            let own = battle.driver.simulation().own.clone();
            battle.side.chosen.choose(own.iter().filter(|own| own.groups & 8 != 0).map(Own::member), false);
            battle.side.chosen.assign(3);
            assert_eq!((battle.tell(stop), battle.play()), (Ok(1), 0));
        }
    }

    /// It filled the queue, and nobody was told anything.
    #[test]
    fn who_is_too_scattered_for_the_queue_fills_none_of_it() {
        let is_chosen = |own: &Own| own.index.wrapping_mul(0x9E37_79B9) >> 31 == 1;
        let mut battle = Match::new(10_000);
        battle.choose(is_chosen);
        let refused = battle.tell(Command::Stop).unwrap_err();
        assert!(refused.contains("select fewer or all in a rectangle"), "{refused}");
        assert_eq!(battle.driver.session().queued_actions(), 0);
        battle.choose(|_| true);
        assert_eq!(battle.tell(Command::Stop), Ok(1));
        // Those of a smaller army fit, but not twice.
        let mut battle = Match::new(3_000);
        battle.choose(is_chosen);
        let orders = battle.tell(Command::Stop).unwrap();
        assert!((33..=64).contains(&orders), "{orders}");
        battle.choose(|own| !is_chosen(own));
        battle.tell(Command::Stop).unwrap_err();
        assert_eq!(battle.driver.session().queued_actions(), orders);
        battle.choose(is_chosen);
        assert_eq!(battle.play(), 0);
        // They are together in a group now, as long as nobody else is gathered.
        assert_eq!((battle.tell(Command::Stop), battle.play()), (Ok(1), 0));
        battle.choose(|own| !is_chosen(own) && own.index > 9);
        assert!(battle.tell(Command::Stop).unwrap() > 32);
        battle.choose(is_chosen);
        battle.tell(Command::Stop).unwrap_err();
    }

    /// Three clicks took two seconds of turns, and the fourth was refused.
    #[test]
    fn who_is_ordered_again_is_not_gathered_again() {
        let is_chosen = |own: &Own| own.index.wrapping_mul(0x9E37_79B9) >> 31 == 1;
        let mut battle = Match::new(1_000);
        battle.choose(is_chosen);
        let first = battle.tell(Command::Stop).unwrap();
        assert!((9..=17).contains(&first), "{first}");
        let clicks: Vec<_> = (1..=20).map(|_| battle.tell(Command::Stop)).collect();
        assert_eq!(clicks, (1..=20).map(|n| Ok(first + n)).collect::<Vec<_>>());
        assert_eq!(battle.play(), 0);
        assert_eq!((battle.tell(Command::Stop), battle.play()), (Ok(1), 0), "and when they are together");
        // Others are gathered: the ones before, who are still together in the match, are not any more when their order runs.
        battle.choose(|own| !is_chosen(own));
        let others = battle.tell(Command::Stop).unwrap();
        battle.choose(is_chosen);
        assert_eq!(battle.tell(Command::Stop), Ok(others + first));
        assert_eq!(battle.play(), 0);
        // The orders that gather others are cancelled with the connection: nobody is told in which group they are not.
        battle.choose(|own| !is_chosen(own));
        let own = battle.driver.simulation().own.clone();
        let lost = battle.side.chosen.orders(&own, Command::Stop, false);
        battle.side.chosen.note_given(&lost, &own);
        battle.side.chosen.forget_gathered();
        assert_eq!((battle.tell(Command::Stop), battle.play()), (Ok(others), 0));
    }

    /// The match said who had been gathered before others were: the recruit was in the group when the order ran.
    #[test]
    fn who_has_been_recruited_before_the_same_ones_are_gathered_again_is_not_ordered_about() {
        let is_chosen = |own: &Own| own.index.is_multiple_of(2);
        let mut battle = Match::new(200);
        battle.choose(is_chosen);
        battle.tell(Command::Stop).unwrap();
        assert_eq!(battle.play(), 0);
        battle.choose(|own| !is_chosen(own));
        battle.tell(Command::Stop).unwrap();
        battle.choose(is_chosen);
        let waiting = battle.tell(Command::Stop).unwrap();
        battle.recruit(8);
        let again = battle.tell(Command::Stop).unwrap();
        assert!(again > waiting + 2, "they are gathered again: {again} after {waiting}");
        assert_eq!(battle.play(), 0);
        // One that comes when all has run is in no group.
        battle.recruit(8);
        assert_eq!((battle.tell(Command::Stop), battle.play()), (Ok(1), 0));
    }

    /// A recruit with the number of a fallen unit is gathered with those who were to be, if it comes before the orders run.
    #[test]
    fn who_has_been_recruited_since_is_not_ordered_about() {
        let is_chosen = |own: &Own| own.index.is_multiple_of(2);
        let mut battle = Match::new(200);
        battle.choose(is_chosen);
        let first = battle.tell(Command::Stop).unwrap();
        assert!(first > 2, "{first}");
        // Unit 8 falls, and the recruit comes, before any of it runs.
        battle.recruit(8);
        let again = battle.tell(Command::Stop).unwrap();
        assert!(again > first + 2, "they are gathered again: {again}");
        assert_eq!(battle.play(), 0);
        // It comes later, and is in no group.
        battle.recruit(8);
        assert_eq!((battle.tell(Command::Stop), battle.play()), (Ok(1), 0));
        // The page is loaded again, and knows of no group.
        let chosen = battle.side.chosen.clone();
        battle.side = Side::default();
        battle.side.chosen.choose(
            battle.driver.simulation().own.iter().map(Own::member).filter(|own| chosen.contains(*own)),
            false,
        );
        let again = battle.tell(Command::Stop).unwrap();
        assert!(again > 2, "{again}");
        assert_eq!(battle.play(), 0);
    }
}
