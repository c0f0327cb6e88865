//! The units that a person has selected, and how an order names them in few bits.

use core::iter;
use std::collections::BTreeMap;

use testudo_physics::BodyId;

use testudo_battle::{Area, Command, GROUPS, Order, Point, RANGES_MAX, Ranges, SCATTERED, Selection, Stance};

/// Control groups on the number keys.
pub const KEYS: usize = 10;

/// Greatest number of orders that gather a selection by numbers if something shorter names it, too. Five short ones fill a turn of 256 bytes, so the command
/// comes three turns later. A rectangle, which is read when it runs, misses some of those who march meanwhile.
const GATHERS: usize = 16;

/// One in so many selected units may be missed, or met, at the edges of a rectangle.
const STRAYS: usize = 32;

/// A unit's number in its army, and its body: recruits get the numbers of the fallen, but never their bodies.
pub type Member = (u32, BodyId);

/// By number of the unit.
type Members = BTreeMap<u32, BodyId>;

/// The selected units, and the control groups.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chosen {
    units: Members,
    /// By their number keys, and who was gathered last; the match knows of them two turns later.
    groups: [Members; GROUPS as usize],
    /// The army when units were gathered last by their numbers. Empty: nobody was, or the orders may not have run.
    gathered_of: Members,
    /// Since orders to gather were given last, the match has said that others are together. If it says later that these are, the orders have run.
    have_others_been_there: bool,
}

/// One of the player's own living units, as the selection sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Own {
    pub index: u32,
    pub body: BodyId,
    pub place: Point,
    /// Bit `n`: member of control group `n`.
    pub groups: u16,
    pub stance: Stance,
}

impl Own {
    pub fn member(&self) -> Member {
        (self.index, self.body)
    }
}

impl Chosen {
    pub fn contains(&self, (index, body): Member) -> bool {
        self.units.get(&index) == Some(&body)
    }

    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Selects these units; with `add`, in addition to the present selection. If all of them are selected already, `add` deselects them.
    pub fn choose(&mut self, units: impl IntoIterator<Item = Member>, add: bool) {
        let new: Members = units.into_iter().collect();
        if !add {
            self.units = new;
        } else if new.iter().all(|(index, body)| self.contains((*index, *body))) {
            self.units.retain(|index, _| !new.contains_key(index));
        } else {
            self.units.extend(new);
        }
    }

    /// Removes fallen units, and looks who is in the group of those who were gathered; once in each picture.
    pub fn keep(&mut self, living: &[Own]) {
        self.have_others_been_there |= self.are_others_there(living);
        let living: Members = living.iter().map(Own::member).collect();
        self.units.retain(|index, body| living.get(index) == Some(body));
    }

    /// Assigns the selection to a number key.
    pub fn assign(&mut self, key: usize) {
        self.groups[key] = self.units.clone();
    }

    /// Selects the units of a number key.
    pub fn recall(&mut self, key: usize, own: &[Own], add: bool) {
        self.choose(self.members(key, own).map(Own::member).collect::<Vec<_>>(), add);
    }

    /// The living units of a number key.
    pub fn members<'a>(&'a self, key: usize, own: &'a [Own]) -> impl Iterator<Item = &'a Own> {
        let group = &self.groups[key];
        own.iter().filter(move |own| {
            if group.is_empty() {
                own.groups & (1 << key) != 0
            } else {
                group.get(&own.index) == Some(&own.body)
            }
        })
    }

    /// The middle of the selected units; none without a selection.
    pub fn middle(&self, own: &[Own]) -> Option<Point> {
        let places = own.iter().filter(|own| self.contains(own.member())).map(|own| own.place);
        let (mut count, mut x, mut y) = (0_i64, 0_i64, 0_i64);
        for place in places {
            (count, x, y) = (count + 1, x + i64::from(place.x), y + i64::from(place.y));
        }
        (count > 0).then(|| Point { x: (x / count) as i32, y: (y / count) as i32 })
    }

    /// The next stance of the selected units; hold if theirs differ.
    pub fn next_stance(&self, own: &[Own]) -> Stance {
        let mut stances = own.iter().filter(|own| self.contains(own.member())).map(|own| own.stance);
        let first = stances.next().unwrap_or_default();
        if stances.all(|other| other == first) { first.next() } else { Stance::Hold }
    }

    /// The orders that give the selected units a command. The last one gives it, to all of them at once: units that are named in several orders would stand
    /// in several formations at the same place. If they are scattered, those before gather them in a group of their own. They name the units by their
    /// numbers, which do not change until the orders run, as places and groups may. Who has been gathered is named by that group from then on. Only a
    /// selection of more stretches than `GATHERS` orders name is the control group that it is, or those in the rectangle where it stands; else it has as
    /// many orders as it needs, perhaps more than fit in a queue.
    pub fn orders(&self, own: &[Own], command: Command, is_queued: bool) -> Vec<Order> {
        let order = |units: Selection| Order { units, command, is_queued };
        let chosen = own.iter().filter(|own| self.contains(own.member())).count();
        // Where recruits gather is about no unit that lives.
        if matches!(command, Command::Rally(_)) || chosen > 0 && chosen == own.len() {
            return vec![order(Selection::All)];
        }
        let ranges = self.ranges(own);
        let lots = ranges.chunks(RANGES_MAX).filter_map(|lot| Ranges::new(lot.iter().copied()));
        let mut lots: Vec<Selection> = lots.map(Selection::Units).collect();
        if lots.len() <= 1 {
            return lots.pop().map(order).into_iter().collect();
        }
        if self.are_gathered(own) {
            return vec![order(Selection::Group(SCATTERED))];
        }
        if lots.len() > GATHERS {
            if let Some(group) = self.named(own, command) {
                return vec![order(Selection::Group(group))];
            }
            lots = self.area(own).map_or(lots, |area| vec![Selection::Area(area)]);
        }
        let commands = iter::once(Command::Assign(SCATTERED)).chain(iter::repeat(Command::Join(SCATTERED)));
        let gather = lots.into_iter().zip(commands).map(|(lot, command)| Order::new(lot, command));
        gather.chain([order(Selection::Group(SCATTERED))]).collect()
    }

    /// Notes orders that were given to some of these: whom they gather will be in that group.
    pub fn note_given(&mut self, orders: &[Order], own: &[Own]) {
        let mut gathers = orders.iter().filter(|order| order.gathers()).peekable();
        if gathers.peek().is_none() {
            return;
        }
        self.groups[usize::from(SCATTERED)] = self.units.clone();
        self.have_others_been_there = self.are_others_there(own);
        // A rectangle is read when it runs.
        let are_exact = gathers.all(|order| matches!(order.units, Selection::Units(_)));
        self.gathered_of = if are_exact { own.iter().map(Own::member).collect() } else { Members::new() };
    }

    /// The connection was lost: orders that were on their way may never run.
    pub fn forget_gathered(&mut self) {
        self.groups[usize::from(SCATTERED)].clear();
        self.gathered_of.clear();
    }

    /// Whether the selected units are those who were gathered last, and nobody else is with them when an order runs after those that gather them. Only this
    /// side's orders change that group, one after the other. But whoever is recruited with the number of a fallen unit may be gathered as well: so either
    /// nobody has come since, or the match says who is in the group, and does not mean an earlier time at which the same ones were gathered. It does if they
    /// wait to be gathered twice, with others in between.
    fn are_gathered(&self, own: &[Own]) -> bool {
        let group = &self.groups[usize::from(SCATTERED)];
        let was_there = |of: &Members, own: &Own| of.get(&own.index) == Some(&own.body);
        !group.is_empty()
            && own.iter().all(|own| was_there(group, own) == self.contains(own.member()))
            && (own.iter().all(|own| was_there(&self.gathered_of, own))
                || self.have_others_been_there && !self.are_others_there(own))
    }

    /// Whether the match says that others are together than those who were gathered last.
    fn are_others_there(&self, own: &[Own]) -> bool {
        let group = &self.groups[usize::from(SCATTERED)];
        own.iter().any(|own| (own.groups & 1 << SCATTERED != 0) != (group.get(&own.index) == Some(&own.body)))
    }

    /// The control group that is exactly the selection: in the match, and after the orders that are on their way, which only this side knows. Of a group that
    /// the command itself forms, this side knows what it will be, and not what others on their way make of it.
    fn named(&self, own: &[Own], command: Command) -> Option<u8> {
        (0..GROUPS).filter(|&key| command != Command::Assign(key)).find(|&key| {
            let group = &self.groups[usize::from(key)];
            own.iter().all(|own| {
                let is_chosen = self.contains(own.member());
                let is_member = own.groups & 1 << key != 0;
                let stays = group.is_empty() || (group.get(&own.index) == Some(&own.body)) == is_chosen;
                is_member == is_chosen && stays
            })
        })
    }

    /// The rectangle around the selected units, if it holds them and hardly anybody else: its corners are rounded to quarters of a unit, and the units move
    /// until the order runs.
    fn area(&self, own: &[Own]) -> Option<Area> {
        let places = || own.iter().filter(|own| self.contains(own.member())).map(|own| own.place);
        let (xs, ys) = (|| places().map(|at| at.x), || places().map(|at| at.y));
        let low = Point { x: xs().min()?, y: ys().min()? };
        let high = Point { x: xs().max()?, y: ys().max()? };
        let area = Area::between(low, high);
        let is_wrong = |own: &&Own| area.contains(own.place) != self.contains(own.member());
        (own.iter().filter(is_wrong).count() * STRAYS <= self.len()).then_some(area)
    }

    /// First number and count of each run of selected units. Numbers without a living unit do not interrupt a run: whoever is recruited with one before the
    /// order runs gets it, too.
    fn ranges(&self, own: &[Own]) -> Vec<(u32, u32)> {
        let mut sorted: Vec<Member> = own.iter().map(Own::member).collect();
        sorted.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut goes_on = false;
        for (index, body) in sorted {
            let is_chosen = self.contains((index, body));
            match ranges.last_mut() {
                Some((first, count)) if goes_on && is_chosen => *count = index - *first + 1,
                _ if is_chosen => ranges.push((index, 1)),
                _ => {}
            }
            goes_on = is_chosen;
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use testudo_battle::{Game, Map, OrderPoint, Setup, UNIT};
    use testudo_lockstep::{PlayerId, Simulation as _};

    use super::*;

    /// The body of a unit that exists from the start.
    fn body(index: u32) -> BodyId {
        BodyId::from_bits(u64::from(index))
    }

    fn members(units: impl IntoIterator<Item = u32>) -> Vec<Member> {
        units.into_iter().map(|index| (index, body(index))).collect()
    }

    fn army(count: u32) -> Vec<Own> {
        let at = |index: u32| Point { x: (index % 10) as i32 * 65_536, y: (index / 10) as i32 * 65_536 };
        (0..count)
            .map(|index| {
                let groups = if index < 30 { 2 } else { 4 };
                Own { index, body: body(index), place: at(index), groups, stance: Stance::Defend }
            })
            .collect()
    }

    fn chosen(units: impl IntoIterator<Item = u32>) -> Chosen {
        let mut chosen = Chosen::default();
        chosen.choose(members(units), false);
        chosen
    }

    fn chosen_by(choice: &Chosen) -> Vec<Member> {
        choice.units.clone().into_iter().collect()
    }

    /// The battle that a person begins with.
    fn skirmish() -> Game {
        Game::new(Setup { players: 2, units: 200, seed: 7, map: Map::named("ford") }).unwrap()
    }

    fn own_in(game: &Game) -> Vec<Own> {
        let looks = game.unit_looks().filter(|look| look.army == 0);
        let own = looks.map(|look| {
            let place = Point::from_vec2(game.world().body(look.body).unwrap().position());
            Own { index: look.index, body: look.body, place, groups: look.groups, stance: look.stance }
        });
        own.collect()
    }

    /// A selection of the units of a battle whose numbers are like this.
    fn chosen_in(own: &[Own], is_chosen: impl Fn(u32) -> bool) -> Chosen {
        let mut choice = Chosen::default();
        choice.choose(own.iter().filter(|own| is_chosen(own.index)).map(Own::member), false);
        choice
    }

    fn give(game: &mut Game, orders: &[Order]) {
        orders.iter().for_each(|order| game.apply(PlayerId(0), order));
    }

    fn to(x: i32, y: i32) -> OrderPoint {
        OrderPoint::near(Point { x: x * UNIT, y: y * UNIT })
    }

    /// The units of the first army that go somewhere, and their places there.
    fn sent(game: &Game) -> Vec<(u32, Point)> {
        (0..200).filter_map(|unit| Some((unit, game.plan(unit).next()?.place))).collect()
    }

    #[test]
    fn orders_reach_exactly_the_chosen() {
        let choices: [Vec<u32>; 7] = [
            (0..200).collect(),
            (0..30).collect(),
            vec![7],
            (0..200).step_by(3).collect(),
            (0..200).step_by(2).collect(),
            (0..200).filter(|n| n % 10 < 5).collect(),
            vec![3, 4, 5, 50, 51, 99],
        ];
        let counts = choices.map(|units| {
            let mut game = skirmish();
            let own = own_in(&game);
            let orders =
                chosen_in(&own, |unit| units.contains(&unit)).orders(&own, Command::Move(to(0, 0)), false);
            give(&mut game, &orders);
            let reached: Vec<u32> = sent(&game).into_iter().map(|(unit, _)| unit).collect();
            assert_eq!(reached, units, "{orders:?}");
            orders.len()
        });
        assert_eq!(counts, [1, 1, 1, 4, 5, 1, 1], "those of more than 32 stretches are gathered");
        assert_eq!(chosen([]).orders(&own_in(&skirmish()), Command::Stop, false), []);
    }

    /// The order named the rectangle in which they stood when it was given: whoever had left it two turns later went on.
    #[test]
    fn an_order_reaches_the_chosen_though_they_have_moved() {
        for side in [|place: Point| place.x, |place: Point| place.y] {
            let mut game = skirmish();
            let own = own_in(&game);
            let middle = own.iter().map(|own| i64::from(side(own.place))).sum::<i64>() / 200;
            let is_chosen = |unit: u32| i64::from(side(own[unit as usize].place)) < middle;
            let choice = chosen_in(&own, is_chosen);
            give(&mut game, &choice.orders(&own, Command::Move(to(0, 0)), false));
            let stop = choice.orders(&own, Command::Stop, false);
            assert!(sent(&game).len() > 80);
            (0..20).for_each(|_| game.step(20));
            give(&mut game, &stop);
            assert_eq!(sent(&game), []);
        }
    }

    /// Half of a large mixed army needs more orders than a queue has room for if they name numbers.
    #[test]
    fn a_rectangle_of_a_large_army_is_named_as_such() {
        let mut game = Game::new(Setup { players: 2, units: 20_000, seed: 7, map: None }).unwrap();
        let own = own_in(&game);
        let middle = own.iter().map(|own| i64::from(own.place.y)).sum::<i64>() / 20_000;
        let middle_x = own.iter().map(|own| i64::from(own.place.x)).sum::<i64>() / 20_000;
        let (across, along) = (
            chosen_in(&own, |unit| i64::from(own[unit as usize].place.y) < middle),
            chosen_in(&own, |unit| i64::from(own[unit as usize].place.x) < middle_x),
        );
        let choice = if across.ranges(&own).len() > along.ranges(&own).len() { across } else { along };
        let area = Selection::Area(choice.area(&own).expect("a rectangle"));
        let orders = [
            Order::new(area, Command::Assign(SCATTERED)),
            Order::new(Selection::Group(SCATTERED), Command::Move(to(0, 0))),
        ];
        give(&mut game, &orders);
        let is_sent = |unit: u32| game.plan(unit).next().is_some();
        let wrong = own.iter().filter(|own| is_sent(own.index) != choice.contains(own.member())).count();
        assert!(wrong * STRAYS <= choice.len(), "{wrong} of {}", choice.len());
    }

    /// A number key is formed anew with an order that has not run yet, and the former members get one.
    #[test]
    fn a_group_that_is_about_to_change_is_not_named() {
        let mut own = army(2_000);
        own.iter_mut().for_each(|own| own.groups = u16::from(own.index % 2 == 0) << 3);
        let mut choice = chosen((0..2_000).filter(|unit| unit % 2 == 0));
        let first = |choice: &Chosen, own: &[Own]| choice.orders(own, Command::Stop, false)[0].units.clone();
        assert_eq!(first(&choice, &own), Selection::Group(3));
        choice.choose(members([1, 2]), false);
        choice.assign(3);
        choice.choose(members((0..2_000).filter(|unit| unit % 2 == 0)), false);
        assert!(matches!(first(&choice, &own), Selection::Units(_)));
        // The key is pressed again: the order must not name the group that the one before it is about to form.
        choice.assign(3);
        let again = choice.orders(&own, Command::Assign(3), false);
        assert!(matches!(again[0].units, Selection::Units(_)), "{:?}", again[0]);
        // In the other direction: the match does not know of the new members yet.
        choice.assign(3);
        own.iter_mut().for_each(|own| own.groups = 0);
        assert!(matches!(first(&choice, &own), Selection::Units(_)));
    }

    /// The order named the group, which was another one when it ran.
    #[test]
    fn an_order_reaches_the_chosen_though_their_group_has_changed() {
        let mut game = skirmish();
        let own = own_in(&game);
        let group = |unit: u32| own[unit as usize].groups & 2 != 0;
        let form = chosen_in(&own, |unit| unit == 199).orders(&own, Command::Assign(1), false);
        let go = chosen_in(&own, group).orders(&own, Command::Move(to(0, 0)), false);
        give(&mut game, &[form, go].concat());
        let members: Vec<u32> = (0..200).filter(|unit| group(*unit)).collect();
        assert!(sent(&game).into_iter().map(|(unit, _)| unit).eq(members));
    }

    /// They were sent by several orders, each with a formation of its own: two units for each place, and archers in the first rank.
    #[test]
    fn scattered_units_line_up_in_one_formation() {
        for command in
            [Command::Move(to(0, 0)), Command::Line { from: to(-12, 0), to: to(12, 0), attacks: true }]
        {
            let mut game = Game::new(Setup { players: 2, units: 200, seed: 7, map: None }).unwrap();
            let own = own_in(&game);
            give(&mut game, &chosen_in(&own, |unit| unit % 3 == 0).orders(&own, command, false));
            let places: BTreeSet<(i32, i32)> = sent(&game).iter().map(|(_, at)| (at.x, at.y)).collect();
            assert_eq!((sent(&game).len(), places.len()), (67, 67), "{command:?}");
        }
    }

    /// Each of several orders formed the group anew.
    #[test]
    fn a_group_of_scattered_units_has_all_of_them() {
        let mut game = skirmish();
        let own = own_in(&game);
        give(&mut game, &chosen_in(&own, |unit| unit % 3 == 0).orders(&own, Command::Assign(5), false));
        let is_member = |own: &Own| own.groups & 1 << 5 != 0;
        assert!(own_in(&game).iter().all(|own| is_member(own) == (own.index % 3 == 0)));
    }

    /// Everybody is ordered about again and again: whom the last selection had gathered does not get the next one's order.
    #[test]
    fn who_was_gathered_before_is_gathered_no_more() {
        let mut game = skirmish();
        let own = own_in(&game);
        for rest in [0, 1] {
            let choice = chosen_in(&own, |unit| unit % 3 == rest);
            give(&mut game, &choice.orders(&own, Command::Move(to(rest as i32, 0)), false));
        }
        let choice = chosen_in(&own, |unit| unit % 3 == 1);
        give(&mut game, &choice.orders(&own, Command::Stop, false));
        assert!(sent(&game).iter().map(|(unit, _)| *unit).eq((0..200).step_by(3)));
    }

    #[test]
    fn the_fallen_do_not_interrupt_a_stretch() {
        let mut own = army(100);
        own.retain(|own| own.index % 2 == 0);
        let choice = chosen((40..60).filter(|n| n % 2 == 0));
        assert_eq!(choice.ranges(&own), [(40, 19)]);
    }

    #[test]
    fn shift_adds_and_takes_back() {
        let own = army(20);
        let mut choice = chosen([1, 2]);
        choice.choose(members([3]), true);
        choice.choose(members([1]), true);
        assert_eq!(chosen_by(&choice), members([2, 3]));
        choice.choose(members([3, 4]), true);
        assert_eq!(chosen_by(&choice), members([2, 3, 4]));
        choice.choose(members([2, 4]), true);
        assert_eq!(chosen_by(&choice), members([3]), "a box over who is chosen lets them go");
        choice.choose(members([2]), true);
        choice.assign(5);
        choice.choose(members([9]), false);
        choice.recall(5, &own[3..], false);
        assert_eq!(chosen_by(&choice), members([3]), "unit 2 has fallen");
        choice.recall(1, &own, false);
        assert_eq!(choice.len(), 20, "the army's own groups have keys, too");
    }

    /// Otherwise a group would select recruits that have the numbers of its fallen units, and they would appear already selected.
    #[test]
    fn a_recruit_is_not_the_one_whose_number_it_has() {
        let mut own = army(5);
        let mut choice = chosen([1, 2]);
        choice.assign(5);
        own[2].body = BodyId::from_bits(1 << 40 | 2);
        choice.keep(&own);
        assert_eq!(chosen_by(&choice), members([1]));
        assert!(!choice.contains(own[2].member()));
        choice.choose([], false);
        choice.recall(5, &own, false);
        assert_eq!(chosen_by(&choice), members([1]));
        choice.choose([own[2].member()], true);
        let both = Selection::Units(Ranges::new([(1, 2)]).unwrap());
        assert_eq!(choice.orders(&own, Command::Stop, true)[0].units, both);
    }
}
