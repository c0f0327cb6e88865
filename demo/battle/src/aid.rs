//! Idle units come to the aid of buildings near them.

use crate::Game;
use crate::point::{UNIT, squared};
use crate::unit::{Destination, Task};

/// An idle unit defends buildings whose centre is no farther (raw) from its post than this and half of the width of a full army's formation.
const AID: i32 = 24 * UNIT;

impl Game {
    /// How far from their posts (raw) idle units defend buildings.
    pub(super) fn aid_reach(&self) -> i32 {
        self.formation_half().saturating_add(AID).min(1 << 30)
    }

    /// A unit with nothing to do goes to an enemy who strikes a building of its side near its post. Once nobody does so any more, it goes
    /// back.
    pub(super) fn come_to_aid(&mut self, number: u32) {
        let unit = &self.units[number as usize];
        let (post, is_there) = (unit.post, matches!(unit.task, Task::Aid(_)));
        match self.struck_near(number) {
            Some(_) if is_there => {}
            Some(assailant) => {
                // The enemy stands while it strikes. A way to the building would end on its near side.
                let place = self.terrain().nearest_free(self.scratch.places[assailant as usize]);
                let destination = Destination { place, goal: place };
                self.units[number as usize].task = Task::Aid(destination);
                self.go(number, destination);
            }
            None if is_there => self.done(number, post),
            None => {}
        }
    }

    /// An enemy who strikes a building of a unit's side: the nearest one to the unit's post, within reach.
    fn struck_near(&self, number: u32) -> Option<u32> {
        let unit = &self.units[number as usize];
        let assailed = (0..).zip(self.buildings.iter().zip(&self.scratch.assailants));
        let of_friends = assailed.filter_map(|(number, (building, assailant))| {
            let assailant = (*assailant).filter(|_| self.teams.are_friends(unit.army, building.army))?;
            Some((unit.post.distance_squared(building.ground.centre), number, assailant))
        });
        let (distance, _, assailant) = of_friends.min()?;
        (distance <= squared(self.aid_reach())).then_some(assailant)
    }
}
