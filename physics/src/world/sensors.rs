//! Overlaps of sensors between bodies at rest: what no moving body would make a step look at.

use crate::body::record::{Body, flag};
use crate::body::slot::Slot;
use crate::math::axes::both;
use crate::step::scene::Scene;
use crate::world::World;

impl World {
    /// Notes that the overlaps of a body with bodies at rest may have changed: see
    /// [`SensorOverlaps`](crate::contact::sensors::SensorOverlaps).
    pub(crate) fn touch(&mut self, slot: Slot) {
        if self.ever.sensors {
            self.sensors.touch(slot);
        }
    }

    /// Finds the overlaps of pairs of bodies at rest of which something changed since the last step.
    #[inline(never)]
    pub(crate) fn find_resting_overlaps(&mut self) {
        let Self { sensors, bodies, resting, ignored, terrain, scratch, .. } = self;
        let scene = Scene { bodies, ignored, terrain };
        scratch.clear();
        match sensors.touched() {
            Some(touched) => scratch.extend(touched),
            // Each pair has a sensor.
            None => scratch.extend(Slot::all(bodies.len()).filter(|&slot| bodies[slot].has(flag::SENSOR))),
        }
        for &slot in &*scratch {
            let body = &bodies[slot];
            if !rests(body) {
                continue;
            }
            resting.visit(&body.bounds(), &mut |other| {
                if other != slot && rests(&bodies[other]) && overlaps(scene, slot, other) {
                    sensors.push(slot, other);
                }
            });
        }
    }
}

/// Whether a body takes part and does not move in this step.
fn rests(body: &Body) -> bool {
    body.has(flag::ALIVE) && !body.has(flag::AWAKE | flag::DISABLED)
}

/// Whether one of two bodies is a sensor, notices the other one and overlaps it. Two static bodies never notice each other.
fn overlaps(scene: Scene<'_>, a: Slot, b: Slot) -> bool {
    let [body_a, body_b] = both([a, b], |slot| &scene.bodies[slot]);
    let either = body_a.flags | body_b.flags;
    if either & flag::SENSOR == 0 || either & (flag::DYNAMIC | flag::KINEMATIC) == 0 || !scene.interact(a, b)
    {
        return false;
    }
    scene.are_within(a, b, 0)
}
