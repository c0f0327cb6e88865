//! The step: its phases in order, each a few lines over what the world keeps.

use alloc::vec::Vec;

use crate::body::id::BodyId;
use crate::body::record::flag;
use crate::body::slot::{Slot, SlotPair};
use crate::contact::cached::RestingContact;
use crate::math::axes::both;
use crate::math::num::FPS_MAX;
use crate::motion::movers::{Movement, Walls};
use crate::motion::rates::{self, PerFrame};
use crate::solve::soft;
use crate::solve::sub_steps::Rates;
use crate::step::crew::Crew;
use crate::step::input::ContactPhase;
use crate::step::scene::Scene;
use crate::step::workers::{SameThread, Workers};
use crate::world::hits::ContactHit;
use crate::world::{ContactEvent, StepError, World};

/// Least number of moving bodies with which a step asks for help: fewer take no longer than others need to come.
const SHARED_MIN: usize = 3_000;

impl World {
    /// Advances the world by one frame of `1 / frames_per_second` seconds. The rate may change from step to step.
    ///
    /// # Errors
    /// [`StepError::FramesPerSecond`] if the value is outside of 1..=1,000; the world stays unchanged.
    pub fn step(&mut self, frames_per_second: u32) -> Result<(), StepError> {
        self.step_on(frames_per_second, &SameThread)
    }

    /// [`Self::step`] with the help of other threads. Any number of threads gives the same bits.
    ///
    /// # Errors
    /// Like [`Self::step`].
    pub fn step_on(&mut self, frames_per_second: u32, workers: &dyn Workers) -> Result<(), StepError> {
        if !(1..=FPS_MAX).contains(&frames_per_second) {
            return Err(StepError::FramesPerSecond { given: frames_per_second });
        }
        if workers.threads() > 1 && self.activity.active.len() + self.activity.waking.len() >= SHARED_MIN {
            Crew::gather(workers, |crew| self.advance(frames_per_second, crew));
        } else {
            self.advance(frames_per_second, &mut Crew::alone());
        }
        Ok(())
    }

    fn advance(&mut self, frames_per_second: u32, crew: &mut Crew<'_>) {
        let per_frame = PerFrame::new(frames_per_second);
        self.change_rate(frames_per_second);
        self.gather_movers();
        self.accelerate(per_frame);
        self.wake_sleepers(per_frame, crew);
        self.find_contacts(frames_per_second, crew);
        let ranks = self.ever.ranks.then_some(self.extras.as_slice());
        let rates = Rates { settings: &self.settings, fps: frames_per_second, ranks };
        let scene = Scene { bodies: &self.bodies, ignored: &self.ignored, terrain: &self.terrain };
        self.stepper.solve(rates, scene, &self.extras);
        let rests = self.keep_contacts_and_move(per_frame, crew);
        self.wake_guests();
        self.activity.dozed.clear();
        if rests {
            self.put_to_sleep();
        }
        self.clock.frame = self.clock.frame.wrapping_add(1);
    }

    /// Remainders count in 1/fps. A new rate rescales them, those of sleeping bodies included.
    #[inline(never)]
    fn change_rate(&mut self, fps: u32) {
        let Some(old) = self.clock.change_rate(fps) else { return };
        for body in &mut self.bodies {
            for remainder in body.position_remainder.iter_mut().chain(&mut body.acceleration_remainder) {
                *remainder = rates::rescale_remainder(*remainder, old, fps);
            }
            body.friction_remainder = rates::rescale_remainder(body.friction_remainder, old, fps);
        }
        if self.settings.is_soft() {
            // A load gives its contacts an impulse in each sub-step, the less the shorter it is.
            let [from, to] = both([old, fps], |fps| fps * soft::parts(fps));
            self.contacts.scale_impulses(from, to);
        }
    }

    /// Woken and new bodies leave the resting trees and join the moving ones.
    #[inline(never)]
    fn gather_movers(&mut self) {
        if core::mem::take(&mut self.activity.lulled) {
            self.contacts.retire(&self.bodies);
        }
        self.activity.part();
        self.join_movers();
        let sort = self.stepper.path.sorter(self.settings.split, &self.bodies);
        self.resting.flush(&self.bodies, self.settings.box_margin(), sort);
    }

    /// Woken bodies leave the resting trees and join the moving ones.
    pub(crate) fn join_movers(&mut self) {
        self.activity.join(&self.bodies, &mut self.resting);
    }

    /// Applies gravity, forces and damping.
    #[inline(never)]
    fn accelerate(&mut self, per_frame: PerFrame) {
        let pull = self.settings.pull();
        let max_speed = self.settings.max_speed;
        self.stepper.gains.clear();
        let pulled = if pull == [0, 0] { 0 } else { flag::DYNAMIC };
        if pulled == 0 && !self.ever.forces {
            return;
        }
        for &slot in &self.activity.active {
            let body = &mut self.bodies[slot];
            if body.has(pulled | flag::FORCED | flag::DAMPED) {
                let gain = rates::apply_forces(body, &mut self.extras[slot], pull, max_speed, per_frame);
                self.stepper.gains.note(slot, gain);
            }
        }
    }

    /// Broad phase, narrow phase, and the contacts of the last frame for the warm start.
    #[inline(never)]
    fn find_contacts(&mut self, fps: u32, crew: &mut Crew<'_>) {
        self.sensors.begin_step();
        if self.ever.sensors {
            self.find_resting_overlaps();
        }
        let bodies = &self.bodies;
        let removed = &self.removed;
        let gone = |slot: Slot| removed.binary_search_by_key(&slot, |r| r.slot).is_ok();
        let stays = |slot: Slot| {
            let body = &bodies[slot];
            !body.has(flag::AWAKE | flag::DISABLED | flag::FRESH) && !gone(slot)
        };
        let scene = Scene { bodies, ignored: &self.ignored, terrain: &self.terrain };
        // An owner that is not dynamic any more has changed its kind.
        let rests = |c: &RestingContact| {
            let stay = stays(c.owner) && stays(c.other) && bodies[c.owner].has(flag::DYNAMIC);
            stay && scene.keeps_resting_contact(c.owner, c.other, &self.settings)
        };
        self.contacts.begin_step(bodies.len(), |c: &RestingContact| !rests(c));
        let phase = ContactPhase {
            scene,
            extras: &self.extras,
            ranks: self.ever.ranks.then_some(&self.extras),
            settings: &self.settings,
            fps,
            contacts: &self.contacts,
        };
        self.stepper.find_contacts(phase, &mut self.sensors, crew);
    }

    /// Counts the contacts that are kept, caches them while the bodies move with their solved velocities, and creates the events. Returns
    /// whether any body will fall asleep.
    #[inline(never)]
    fn keep_contacts_and_move(&mut self, per_frame: PerFrame, crew: &mut Crew<'_>) -> bool {
        let bodies = &self.bodies;
        let scene = Scene { bodies, ignored: &self.ignored, terrain: &self.terrain };
        self.stepper.count_contacts(&mut self.contacts, scene);
        self.events.hits.clear();
        if self.events.lists_hits {
            // Places and speeds of impacts are those before the bodies move.
            self.stepper.keep_contacts(&mut self.contacts);
            let id = |slot| BodyId::new(slot, self.order.generation(slot).unwrap_or(0));
            let hit = |&SlotPair(a, b): &SlotPair| ContactHit::between([id(a), id(b)], scene, self.clock.fps);
            self.events.hits.extend(self.contacts.began.iter().map(hit));
        }
        let rests = self.move_bodies(per_frame, crew);
        let scene = Scene { bodies: &self.bodies, ignored: &self.ignored, terrain: &self.terrain };
        self.stepper.cross_sensors(scene, &mut self.sensors);
        let (bodies, removed) = (&self.bodies, &self.removed);
        let new_body = |slot: Slot| bodies[slot].has(flag::FRESH);
        let gone = |slot: Slot| removed.binary_search_by_key(&slot, |r| r.slot).is_ok();
        let stays = |slot: Slot| !bodies[slot].has(flag::AWAKE | flag::DISABLED) && !gone(slot);
        self.sensors.end_step(stays, |SlotPair(a, b)| new_body(a) || new_body(b));
        self.name_events();
        for slot in self.activity.fresh.drain(..) {
            self.bodies[slot].set(flag::FRESH, false);
        }
        self.removed.clear();
        rests
    }

    /// Turns pairs of slots into events with handles and user values.
    #[inline(never)]
    fn name_events(&mut self) {
        let (order, extras, removed) = (&self.order, &self.extras, &self.removed);
        let now = |slot: Slot| {
            let generation = order.generation(slot).unwrap_or(0);
            (BodyId::new(slot, generation), extras[slot].user())
        };
        let before = |slot: Slot| {
            // Since a removal, nobody is in the slot, or somebody new.
            let [alive, fresh] = both([flag::ALIVE, flag::FRESH], |bit| self.bodies[slot].has(bit));
            if alive && !fresh {
                return now(slot);
            }
            match removed.binary_search_by_key(&slot, |r| r.slot) {
                Ok(at) => (BodyId::new(slot, removed[at].generation), removed[at].user),
                Err(_) => now(slot),
            }
        };
        let event = |((a, user_a), (b, user_b))| ContactEvent { a, b, user_a, user_b };
        let refill = |events: &mut Vec<ContactEvent>, pairs: &[SlotPair], past: bool| {
            events.clear();
            events.extend(pairs.iter().map(|&SlotPair(a, b)| {
                if past { event((before(a), before(b))) } else { event((now(a), now(b))) }
            }));
        };
        refill(&mut self.events.contacts_began, &self.contacts.began, false);
        refill(&mut self.events.contacts_stayed, &self.contacts.stayed, false);
        refill(&mut self.events.contacts_ended, &self.contacts.ended, true);
        refill(&mut self.events.sensors_began, &self.sensors.began, false);
        refill(&mut self.events.sensors_ended, &self.sensors.ended, true);
    }

    /// Writes the solved velocities back and moves the bodies. Returns whether any of them will fall asleep.
    #[inline(never)]
    fn move_bodies(&mut self, per_frame: PerFrame, crew: &mut Crew<'_>) -> bool {
        let frame_ms = self.clock.pass(per_frame);
        let gains = core::mem::take(&mut self.stepper.gains);
        let mut movement = Movement {
            bodies: &mut self.bodies,
            previous: &mut self.previous,
            extras: &self.extras,
            walls: Walls { resting: &self.resting, ignored: &self.ignored, terrain: &self.terrain },
            gains: gains.by_slot(),
            settings: self.settings,
            per_frame,
            frame_ms,
            tired: false,
            stopped: false,
        };
        let unkept = (!self.events.lists_hits).then_some(&mut self.contacts);
        self.stepper.move_bodies(&mut movement, unkept, crew);
        let rests = movement.tired || movement.stopped;
        self.stepper.gains = gains;
        self.note_lingering(frame_ms) || rests
    }
}
