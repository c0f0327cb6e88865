//! Where units want to go. The crowd finds their ways and lets them give way to each other, and the physics decides how far they get.

use testudo_movement::{MoveEvent, MoverDef};
use testudo_physics::Fx;

use crate::Game;
use crate::combat::LOOK_EVERY;
use crate::kind::{Kind, UNIT_RADIUS};
use crate::point::{Point, UNIT, squared};
use crate::unit::{Destination, Foe, Stance, Task};

/// Units/s^2: full speed within two frames of 1/20 s, and weak enough to be pushed.
const ACCELERATION: i32 = 40;

/// A unit that is so much nearer (raw) than the range of its weapon goes no nearer.
const SLACK: i32 = UNIT / 16;

/// Distance from its place (raw) at which a unit is there, and not only as near as others let it.
const ARRIVAL: i32 = UNIT / 2;

/// How far from its post a unit may stand, raw.
const POST_WITHIN: i32 = UNIT;

/// A unit that was pushed away waits this long before it goes back, ms.
const AWAY_MS: u16 = 1_500;

impl Game {
    /// How a kind moves.
    pub(super) fn mover(kind: Kind) -> MoverDef {
        MoverDef { speed: raw(kind.stats().speed), acceleration: Fx::const_from_int(ACCELERATION.into()) }
    }

    /// Moves the crowd, and gives those who have come to their places, or as near as they get, what they are to do next.
    pub(super) fn march(&mut self, frames_per_second: u32) {
        let decided = self.crowd.step(&mut self.world, frames_per_second);
        debug_assert!(decided.is_ok(), "{decided:?}");
        let mut arrived = core::mem::take(&mut self.scratch.arrived);
        let bodies = self.crowd.events().iter().filter_map(|event| match *event {
            MoveEvent::Arrived(body) | MoveEvent::Unreachable(body) | MoveEvent::GaveUp(body) => Some(body),
            _ => None,
        });
        let numbers = bodies.filter_map(|body| {
            let number = u32::try_from(self.world.body(body)?.user()).ok()?;
            let unit = self.units.get(number as usize)?;
            (unit.body == Some(body)).then_some(number)
        });
        arrived.extend(numbers);
        arrived.drain(..).for_each(|number| self.arrive(number));
        self.scratch.arrived = arrived;
        if !self.is_predicted {
            // Now those who have thought are still close in memory; the step of the world changes nothing of it.
            self.crowd.hash_units();
        }
    }

    /// A unit stands at its place, or as near as it can.
    fn arrive(&mut self, number: u32) {
        let place = self.scratch.places[number as usize];
        let unit = &mut self.units[number as usize];
        let Some(&destination) = unit.task.destination() else { return };
        let post = if place.distance_squared(destination.place) <= squared(ARRIVAL) {
            destination.place
        } else if let Task::Return(_) = unit.task {
            // Somebody is in the way back to its post. It will try again, but not for ever: each time it gives up a quarter of the distance.
            let quarter = |from: i32, to: i32| from + to / 4 - from / 4;
            Point { x: quarter(destination.place.x, place.x), y: quarter(destination.place.y, place.y) }
        } else {
            place
        };
        match unit.task {
            Task::Hold => {}
            Task::March(_) | Task::Attack(_) | Task::Return(_) => self.done(number, post),
            Task::Aid(_) => {
                let post = unit.post;
                self.done(number, post);
            }
            Task::Patrol { .. } if !unit.errands.is_empty() => self.done(number, post),
            Task::Patrol { to, back } => {
                unit.task = Task::Patrol { to: back, back: to };
                self.go(number, back);
            }
            // The rest of the path leads to wherever the enemy has gone, see `follow`.
            Task::Strike { .. } => {}
        }
    }

    /// Sends a unit on its way. If there is no open ground near the goal, as in the middle of a wide lake, it is done with its errand where it is.
    pub(super) fn go(&mut self, number: u32, Destination { place, goal }: Destination) {
        let Some(body) = self.units[number as usize].body else { return };
        if self.crowd.send(body, goal.to_vec2(), place.to_vec2()).is_err() {
            let post = self.place_of(number).unwrap_or(place);
            self.done(number, post);
        }
    }

    /// A unit stays where it is.
    pub(super) fn halt(&mut self, number: u32) {
        if let Some(body) = self.units[number as usize].body {
            // Only a damaged state names a body that is gone.
            let _ = self.crowd.stop(&self.world, &[body]);
        }
    }

    /// Tells the crowd what follows from a unit's task and target: to pursue, to go on, or to stand.
    pub(super) fn heed(&mut self, number: u32) {
        let unit = &self.units[number as usize];
        let Some(body) = unit.body else { return };
        let prey = self.crowd.prey(body);
        let quarry = unit.target.and_then(|target| match unit.task {
            // A marching unit attacks enemies within reach.
            Task::March(_) => None,
            Task::Hold | Task::Return(_) => Some(target).filter(|_| unit.stance != Stance::Hold),
            // On its way to its enemy it strikes others in its path, and goes on.
            Task::Strike { foe, .. } => Some(foe).filter(|_| foe == target || self.chases(number, foe)),
            Task::Attack(_) | Task::Patrol { .. } | Task::Aid(_) => Some(target),
        });
        if let Some((foe, foe_body)) = quarry.and_then(|foe| Some((foe, self.foe_body(foe)?))) {
            let reach = unit.kind.stats().range - SLACK;
            let reach = if let Foe::Unit(_) = foe { reach - UNIT_RADIUS } else { reach };
            let _ = self.crowd.pursue(&self.world, body, foe_body, raw(reach));
        } else if let Some(&destination) = unit.task.destination() {
            if self.crowd.is_going(body) == Some(false) {
                self.go(number, destination);
            }
        } else if prey.is_some() {
            self.halt(number);
        }
    }

    /// Whether a unit goes straight at an enemy, and still sees it. A building need not be seen: it does not go away.
    pub(super) fn chases(&self, number: u32, foe: Foe) -> bool {
        let unit = &self.units[number as usize];
        let prey = unit.body.and_then(|body| self.crowd.prey(body));
        let is_seen = match (foe, self.place_of(number), self.foe_place(foe)) {
            (Foe::Building(_), ..) => true,
            (Foe::Unit(_), Some(here), Some((_, there))) => {
                here.distance_squared(there) <= squared(unit.kind.stats().sight)
            }
            _ => false,
        };
        is_seen && prey.is_some() && prey == self.foe_body(foe)
    }

    /// An idle unit that was pushed or lured away from its post waits for a moment and then goes back. Called when it looks around.
    pub(super) fn back_to_the_post(&mut self, number: u32, elapsed_ms: u16) {
        let place = self.scratch.places[number as usize];
        let unit = &self.units[number as usize];
        let is_idle = unit.task == Task::Hold && unit.target.is_none();
        if !is_idle || place.distance_squared(unit.post) <= squared(POST_WITHIN) {
            if unit.away_ms != 0 {
                self.units[number as usize].away_ms = 0;
            }
            return;
        }
        let unit = &mut self.units[number as usize];
        unit.away_ms = unit.away_ms.saturating_add(elapsed_ms.saturating_mul(LOOK_EVERY as u16));
        if unit.away_ms >= AWAY_MS {
            let destination = Destination { place: unit.post, goal: unit.post };
            (unit.task, unit.away_ms) = (Task::Return(destination), 0);
            self.go(number, destination);
        }
    }
}

/// A fixed-point number from its raw value.
pub(super) fn raw(value: i32) -> Fx {
    Fx::from_bits(value.into())
}
