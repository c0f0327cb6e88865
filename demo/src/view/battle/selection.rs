//! Whom a person has chosen, and how an order names them in few bits.

use std::collections::BTreeSet;

use crate::game::{Area, Command, Order, Point, RANGES_MAX, Ranges, Selection};

/// Control groups on the number keys.
pub(crate) const KEYS: usize = 10;

/// Numbers of units in their army.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Chosen {
    units: BTreeSet<u32>,
    /// As they were given their keys; the match knows of it two turns later.
    groups: [BTreeSet<u32>; KEYS],
}

/// One of the player's own living units, as the choice sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Own {
    pub(crate) index: u32,
    pub(crate) place: Point,
    /// Bit `n`: member of control group `n`.
    pub(crate) groups: u16,
}

impl Chosen {
    pub(crate) fn contains(&self, index: u32) -> bool {
        self.units.contains(&index)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.units.len()
    }

    /// Chooses these, beside those chosen before if `add`. A single unit that is chosen already is let go by `add`.
    pub(crate) fn choose(&mut self, units: impl IntoIterator<Item = u32>, add: bool) {
        let new: BTreeSet<u32> = units.into_iter().collect();
        if !add {
            self.units = new;
        } else if new.len() == 1 && new.is_subset(&self.units) {
            self.units.retain(|unit| !new.contains(unit));
        } else {
            self.units.extend(new);
        }
    }

    /// Forgets who has fallen.
    pub(crate) fn keep(&mut self, living: &[Own]) {
        let living: BTreeSet<u32> = living.iter().map(|own| own.index).collect();
        self.units.retain(|unit| living.contains(unit));
    }

    /// Gives the chosen a number key.
    pub(crate) fn assign(&mut self, key: usize) {
        self.groups[key] = self.units.clone();
    }

    /// Chooses whom a number key stands for.
    pub(crate) fn recall(&mut self, key: usize, own: &[Own], add: bool) {
        let members: Vec<u32> = if self.groups[key].is_empty() {
            own.iter().filter(|own| own.groups & (1 << key) != 0).map(|own| own.index).collect()
        } else {
            let group = &self.groups[key];
            own.iter().filter(|own| group.contains(&own.index)).map(|own| own.index).collect()
        };
        self.choose(members, add);
    }

    /// The orders that tell the chosen a command: one where it can be said in one, a few where the choice is scattered.
    pub(crate) fn orders(&self, own: &[Own], command: Command) -> Vec<Order> {
        let chosen: Vec<&Own> = own.iter().filter(|own| self.contains(own.index)).collect();
        let order = |units: Selection| Order { units, command };
        if matches!(command, Command::Rally(_)) {
            // It is about those who are still to come.
            return vec![order(Selection::All)];
        }
        if chosen.is_empty() {
            return Vec::new();
        }
        if chosen.len() == own.len() {
            return vec![order(Selection::All)];
        }
        for group in 0..KEYS as u8 {
            let is_group = own.iter().all(|own| (own.groups >> group & 1 == 1) == self.contains(own.index));
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

    /// First number and count of each stretch of chosen units. Numbers without a living unit do not interrupt a stretch.
    fn ranges(&self, own: &[Own]) -> Vec<(u32, u32)> {
        let mut sorted: Vec<u32> = own.iter().map(|own| own.index).collect();
        sorted.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut goes_on = false;
        for index in sorted {
            match ranges.last_mut() {
                Some((first, count)) if goes_on && self.contains(index) => *count = index - *first + 1,
                _ if self.contains(index) => ranges.push((index, 1)),
                _ => {}
            }
            goes_on = self.contains(index);
        }
        ranges
    }
}

/// The rectangle around the chosen, if nobody else stands in it.
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
    use super::*;

    fn army(count: u32) -> Vec<Own> {
        let at = |index: u32| Point { x: (index % 10) as i32 * 65_536, y: (index / 10) as i32 * 65_536 };
        (0..count)
            .map(|index| Own { index, place: at(index), groups: if index < 30 { 2 } else { 4 } })
            .collect()
    }

    fn chosen(units: impl IntoIterator<Item = u32>) -> Chosen {
        let mut chosen = Chosen::default();
        chosen.choose(units, false);
        chosen
    }

    /// Whom the orders reach, if nobody moves.
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
            let orders = choice.orders(&own, Command::Stop);
            assert_eq!(reached(&orders, &own), units.into_iter().collect(), "{orders:?}");
            orders.len()
        });
        assert_eq!(counts, [1, 1, 1, 5, 1, 1], "a block in ten stretches is an area");
        assert_eq!(chosen([]).orders(&own, Command::Stop), []);
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
        choice.choose([3], true);
        choice.choose([1], true);
        assert_eq!(Vec::from_iter(choice.units.clone()), [2, 3]);
        choice.assign(5);
        choice.choose([9], false);
        choice.recall(5, &own[3..], false);
        assert_eq!(Vec::from_iter(choice.units.clone()), [3], "unit 2 has fallen");
        choice.recall(1, &own, false);
        assert_eq!(choice.len(), 20, "the army's own groups have keys, too");
    }
}
