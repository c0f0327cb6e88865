//! The units that a person has selected, and how an order names them in few bits.

use std::collections::BTreeMap;

use testudo_physics::BodyId;

use testudo_battle::{Area, Command, Order, Point, RANGES_MAX, Ranges, Selection, Stance};

/// Control groups on the number keys.
pub const KEYS: usize = 10;

/// A unit's number in its army, and its body: recruits get the numbers of the fallen, but never their bodies.
pub type Member = (u32, BodyId);

/// By number of the unit.
type Members = BTreeMap<u32, BodyId>;

/// The selected units, and the control groups.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chosen {
    units: Members,
    /// By their number keys; the match knows of them two turns later.
    groups: [Members; KEYS],
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

    /// Removes fallen units.
    pub fn keep(&mut self, living: &[Own]) {
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

    /// The orders that give the selected units a command: a single one if possible, a few if the selection is scattered.
    pub fn orders(&self, own: &[Own], command: Command, is_queued: bool) -> Vec<Order> {
        let chosen: Vec<&Own> = own.iter().filter(|own| self.contains(own.member())).collect();
        let order = |units: Selection| Order { units, command, is_queued };
        if matches!(command, Command::Rally(_)) {
            // It is about future recruits.
            return vec![order(Selection::All)];
        }
        if chosen.is_empty() {
            return Vec::new();
        }
        if chosen.len() == own.len() {
            return vec![order(Selection::All)];
        }
        for group in 0..KEYS as u8 {
            let is_group =
                own.iter().all(|own| (own.groups >> group & 1 == 1) == self.contains(own.member()));
            if is_group && !matches!(command, Command::Assign(_)) {
                return vec![order(Selection::Group(group))];
            }
        }
        let ranges = self.ranges(own);
        if ranges.len() > RANGES_MAX
            && let Some(area) = area_of(&chosen, own)
        {
            return vec![order(Selection::Area(area))];
        }
        let lots = ranges.chunks(RANGES_MAX).filter_map(|lot| Ranges::new(lot.iter().copied()));
        lots.map(|lot| order(Selection::Units(lot))).collect()
    }

    /// First number and count of each run of selected units. Numbers without a living unit do not interrupt a run.
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

/// The rectangle around the selected units, if no other unit is in it.
fn area_of(chosen: &[&Own], own: &[Own]) -> Option<Area> {
    let xs = chosen.iter().map(|own| own.place.x);
    let ys = chosen.iter().map(|own| own.place.y);
    let low = Point { x: xs.clone().min()?, y: ys.clone().min()? };
    let high = Point { x: xs.max()?, y: ys.max()? };
    let area = Area::between(low, high);
    (own.iter().filter(|own| area.contains(own.place)).count() == chosen.len()).then_some(area)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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

    /// The units that the orders reach if none moves.
    fn reached(orders: &[Order], own: &[Own]) -> BTreeSet<u32> {
        let is_meant = |order: &Order, own: &Own| match &order.units {
            Selection::All => true,
            Selection::Group(group) => own.groups & (1 << group) != 0,
            Selection::Area(area) => area.contains(own.place),
            Selection::Units(ranges) => {
                ranges.iter().any(|range| (range.first..range.first + range.count).contains(&own.index))
            }
        };
        own.iter()
            .filter(|own| orders.iter().any(|order| is_meant(order, own)))
            .map(|own| own.index)
            .collect()
    }

    #[test]
    fn orders_reach_exactly_the_chosen() {
        let own = army(100);
        let choices: [Vec<u32>; 6] = [
            (0..100).collect(),
            (0..30).collect(),
            vec![7],
            (0..100).step_by(3).collect(),
            (0..100).filter(|n| n % 10 < 5).collect(),
            vec![3, 4, 5, 50, 51, 99],
        ];
        let counts = choices.map(|units| {
            let choice = chosen(units.clone());
            let orders = choice.orders(&own, Command::Stop, false);
            assert_eq!(reached(&orders, &own), units.into_iter().collect(), "{orders:?}");
            orders.len()
        });
        assert_eq!(counts, [1, 1, 1, 5, 1, 1], "a block in ten stretches is an area");
        assert_eq!(chosen([]).orders(&own, Command::Stop, false), []);
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
