//! Carrying out orders: who is meant, and where everybody goes.

use crate::game::Game;
use crate::game::field::files_for;
use crate::game::order::{Command, Order, Selection};
use crate::game::point::Point;
use crate::game::unit::Task;

impl Game {
    /// Carries out an order of the player who commands `army`. Whoever of the selection is not alive is left out; an army
    /// that does not exist has nobody.
    pub(super) fn obey(&mut self, army: u8, order: &Order) {
        let mut chosen = core::mem::take(&mut self.scratch.chosen);
        chosen.clear();
        self.select(army, &order.units, &mut chosen);
        match order.command {
            Command::Stop => self.give_task(&chosen, |_| Task::Hold),
            Command::Move(place) => self.send(army, &chosen, place.point(), Task::March),
            Command::Attack(place) => self.send(army, &chosen, place.point(), Task::Attack),
            Command::Assign(group) => self.assign(army, &chosen, group),
        }
        self.scratch.chosen = chosen;
    }

    /// Collects the living units that a selection means, in ascending order.
    fn select(&self, army: u8, selection: &Selection, chosen: &mut Vec<u32>) {
        if army >= self.setup.players {
            return;
        }
        let first = u32::from(army) * self.setup.units;
        let end = first + self.setup.units;
        let living = |unit: &u32| self.units[*unit as usize].is_alive();
        match selection {
            Selection::All => chosen.extend((first..end).filter(living)),
            Selection::Group(group) => {
                let in_group = |unit: &u32| self.units[*unit as usize].groups & group_bit(*group) != 0;
                chosen.extend((first..end).filter(living).filter(in_group));
            }
            Selection::Area(area) => {
                let inside = |unit: &u32| self.place_of(*unit).is_some_and(|place| area.contains(place));
                chosen.extend((first..end).filter(inside));
            }
            Selection::Units(ranges) => {
                for range in ranges.iter() {
                    let from = range.first.min(self.setup.units);
                    let to = from + range.count.min(self.setup.units - from);
                    chosen.extend((first + from..first + to).filter(living));
                }
            }
        }
    }

    /// Sends units to their places in a formation about a middle.
    fn send(&mut self, army: u8, chosen: &[u32], middle: Point, task: impl Fn(Point) -> Task) {
        let files = files_for(chosen.len() as u32);
        let middle = middle.clamped(self.field.half);
        for (number, &unit) in (0..).zip(chosen) {
            let place = self.field.place(army, middle, number, files);
            let unit = &mut self.units[unit as usize];
            unit.task = task(place);
            unit.target = None;
        }
    }

    fn give_task(&mut self, chosen: &[u32], task: impl Fn(u32) -> Task) {
        for &number in chosen {
            let unit = &mut self.units[number as usize];
            unit.task = task(number);
            unit.target = None;
        }
    }

    fn assign(&mut self, army: u8, chosen: &[u32], group: u8) {
        if army >= self.setup.players {
            return;
        }
        let first = (u32::from(army) * self.setup.units) as usize;
        for unit in &mut self.units[first..first + self.setup.units as usize] {
            unit.groups &= !group_bit(group);
        }
        for &unit in chosen {
            self.units[unit as usize].groups |= group_bit(group);
        }
    }
}

/// The bit of a control group; of a group that does not exist, none.
fn group_bit(group: u8) -> u16 {
    if group < crate::game::order::GROUPS { 1 << group } else { 0 }
}
