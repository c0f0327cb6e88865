//! Falling asleep and waking up, island by island.

use crate::body::def::BodyError;
use crate::body::id::BodyId;
use crate::body::record::{Body, Extra, choice, flag};
use crate::body::slot::Slot;
use crate::math::axes::both;
use crate::motion::rates;
use crate::motion::rates::PerFrame;
use crate::solve::batches::PARTING_GAP;
use crate::step::crew::Crew;
use crate::step::islands::{Islands, held};
use crate::step::scene::{Scene, resting_reach};
use crate::step::working::Source;
use crate::world::World;
use crate::world::activity::Activity;
use crate::world_def::Settings;

/// A gliding body that touches nothing falls asleep only below this part of the sleep speed: 1/64.
const GLIDING_SHIFT: u32 = 6;

impl World {
    /// Wakes a movable body and the island that it sleeps with; they move from the next step on. Kinematic bodies move only if they have a
    /// velocity.
    #[inline]
    pub(crate) fn wake(&mut self, slot: Slot) {
        let body = &mut self.bodies[slot];
        if body.has(flag::AWAKE) {
            // Kinematic bodies are never still.
            body.still_ms = 0;
        } else {
            self.wake_island(slot);
        }
    }

    fn wake_island(&mut self, slot: Slot) {
        let body = &self.bodies[slot];
        let drives = body.has(flag::KINEMATIC) && body.velocity != [0, 0];
        if !(drives || body.has(flag::DYNAMIC)) || body.has(flag::DISABLED) {
            return;
        }
        let carries = drives && !body.has(flag::SENSOR);
        self.activity.wake_island(slot, &mut self.bodies, &mut self.previous, &mut self.contacts);
        if carries {
            self.wake_neighbours(slot);
        }
    }

    /// Stops a body and puts it to sleep at once, together with every body that it touches, directly or through others that contacts can
    /// move. This also works in mid-air, and in a body that a call has only just put there: the two get no contact until one of them wakes. Waiting
    /// forces are dropped. The usual events wake the bodies again. Static bodies always sleep.
    ///
    /// This reads all contacts, so do not call it for thousands of bodies per frame.
    ///
    /// # Errors
    /// Stale handle.
    pub fn sleep_body(&mut self, id: BodyId) -> Result<(), BodyError> {
        let slot = self.slot(id)?;
        if !self.bodies[slot].has(flag::AWAKE) {
            return Ok(());
        }
        self.activity.members.clear();
        let scene = Scene { bodies: &self.bodies, ignored: &self.ignored, terrain: &self.terrain };
        // A contact that has ended since the last step joins nobody: a restored world would not know it.
        let contacts =
            self.contacts.iter().filter(|c| scene.keeps_resting_contact(c.owner, c.other, &self.settings));
        self.stepper.islands.members_of(slot, &self.bodies, contacts, &mut self.activity.members);
        for at in 0..self.activity.members.len() {
            let member = self.activity.members[at];
            let body = &mut self.bodies[member];
            if !body.has(flag::AWAKE) {
                // Until now it slept with others, who are members, too, or alone.
                self.scratch.clear();
                self.activity.sleeping.take(member, &mut self.scratch);
                continue;
            }
            body.velocity = [0, 0];
            body.set(flag::AWAKE, false);
            self.drop_forces(member);
            self.extras[member].raise_anchor();
            self.note_extra(member);
            self.stepper.lanes.vacate(member);
            let sort = self.stepper.path.sorter(self.settings.split, &self.bodies);
            self.resting.insert(member, &self.bodies, self.settings.box_margin(), sort);
            // Its contacts come to rest in the next step, except those that ended in the meantime.
            self.contacts.stir(member);
            self.touch(member);
        }
        let Activity { sleeping, members, active, lulled, .. } = &mut self.activity;
        sleeping.add(members.drain(..));
        active.retain(|&slot| self.bodies[slot].has(flag::AWAKE));
        *lulled = true;
        Ok(())
    }

    /// Whether a body may fall asleep by itself. A dynamic body that may not also keeps awake what it touches. [`World::sleep_body`] works in
    /// either case, and a kinematic body falls asleep in the first step that finds it without a velocity.
    ///
    /// # Errors
    /// Stale handle.
    pub fn set_can_sleep(&mut self, id: BodyId, can_sleep: bool) -> Result<(), BodyError> {
        let slot = self.slot(id)?;
        let choices = &mut self.extras[slot].choices;
        if can_sleep == (*choices & choice::NEVER_SLEEPS != 0) {
            *choices ^= choice::NEVER_SLEEPS;
            self.note_extra(slot);
            if !can_sleep {
                self.wake(slot);
            }
        }
        Ok(())
    }

    /// Wakes the sleeping bodies whose boxes touch a body's. A contact of another one that is a little further away may end in the next step.
    pub(crate) fn wake_neighbours(&mut self, slot: Slot) {
        let bounds = self.bodies[slot].bounds();
        let near_area = bounds.grown(self.settings.margin.max(PARTING_GAP));
        let area = bounds.grown(resting_reach(&self.settings));
        // Taken out: a kinematic body among them looks for neighbours of its own.
        let mut near = core::mem::take(&mut self.scratch);
        near.clear();
        self.resting.visit(&area, &mut |other| near.push(other));
        for &other in &near {
            let body = &self.bodies[other];
            // New bodies and woken ones are among those at rest until the next step.
            if !body.has(flag::AWAKE) && body.bounds().overlaps(&near_area) {
                self.wake(other);
            } else if body.bounds().overlaps(&area) {
                self.contacts.stir(other);
            }
        }
        self.scratch = near;
    }

    /// Gathers the moving bodies. First, sleeping bodies that one of them touches within this frame wake up, in whole islands, so that they
    /// yield at once.
    pub(crate) fn wake_sleepers(&mut self, per_frame: PerFrame, crew: &mut Crew<'_>) {
        self.gather(crew);
        let scene = Scene { bodies: &self.bodies, ignored: &self.ignored, terrain: &self.terrain };
        self.stepper.sleepers_in_the_way(scene, self.clock.fps, &mut self.activity.in_the_way);
        for at in 0..self.activity.in_the_way.len() {
            self.wake(self.activity.in_the_way[at]);
        }
        if self.activity.waking.is_empty() {
            return;
        }
        for &slot in &self.activity.waking {
            let (body, extra) = (&mut self.bodies[slot], &mut self.extras[slot]);
            let gain =
                rates::apply_forces(body, extra, self.settings.pull(), self.settings.max_speed, per_frame);
            self.stepper.gains.note(slot, gain);
        }
        self.join_movers();
        self.gather(crew);
    }

    /// Sorts the moving bodies along the curve and finds the bodies at rest near them.
    fn gather(&mut self, crew: &mut Crew<'_>) {
        let source = Source { bodies: &self.bodies, contacts: &self.contacts, settings: &self.settings };
        self.stepper.gather(&self.activity.active, source, self.clock.fps, crew);
        let scene = Scene { bodies: &self.bodies, ignored: &self.ignored, terrain: &self.terrain };
        self.stepper.find_strikes(scene, &self.extras, &self.settings);
        self.stepper.look_around(
            &self.activity.fresh,
            &self.bodies,
            &mut self.resting,
            self.activity.active.len(),
        );
    }

    /// Wakes the sleeping bodies that were pushed although no moving body seemed to reach them in this frame, because another contact threw
    /// one at them. They kept their position in this frame; their speed takes effect in the next one, together with their island.
    pub(crate) fn wake_guests(&mut self) {
        let pushed = &mut self.activity.pushed;
        pushed.clear();
        self.stepper.touched_guests(&self.bodies, |slot, velocity| pushed.push((slot, velocity)));
        let max = self.settings.max_speed;
        for at in 0..self.activity.pushed.len() {
            let (slot, velocity) = self.activity.pushed[at];
            self.wake(slot);
            let body = &mut self.bodies[slot];
            body.velocity = both(velocity, |v| v.clamp(-max, max));
            if body.has(flag::LIMITED) {
                rates::limit_speed(&mut body.velocity, self.extras[slot].max_speed);
            }
        }
    }

    /// Bodies that met in this frame and are apart at its end are not still: at rest they would keep a contact with a body far away, which a restored
    /// world does not know. Fast bodies do so, in a frame that is long enough to stop and to fall asleep in, and at few frames per second those that
    /// linger.
    fn keep_parted_awake(&mut self) {
        let Self { activity, bodies, settings, contacts, scratch: parted, .. } = self;
        if settings.sleep_ms == 0 {
            return;
        }
        if !activity.active.iter().any(|&slot| bodies[slot].still_ms >= settings.sleep_ms) {
            return;
        }
        let reach = resting_reach(settings);
        let scene = Scene { bodies, ignored: &self.ignored, terrain: &self.terrain };
        parted.clear();
        for contact in contacts.moving_contacts() {
            let slots = [contact.owner, contact.other];
            let is_tired = slots.iter().any(|&slot| scene.bodies[slot].still_ms != 0);
            if is_tired && !scene.are_within(contact.owner, contact.other, reach) {
                parted.extend(slots);
            }
        }
        for &slot in &*parted {
            bodies[slot].still_ms = 0;
        }
    }

    /// Puts islands that were still for long enough to sleep, and kinematic bodies that stood still. Each other body gets at most the time
    /// of stillness of its island.
    #[inline(never)]
    pub(crate) fn put_to_sleep(&mut self) {
        let settings = self.settings;
        self.keep_parted_awake();
        let Self { activity, bodies, previous, extras, stepper, resting, sensors, ever, .. } = self;
        let Activity { active, dozed, sleeping, .. } = activity;
        let may_sleep = |slot: Slot, body: &Body| {
            !body.has(flag::EXTRA) || extras[slot].choices & choice::NEVER_SLEEPS == 0
        };
        stepper.begin_islands();
        for &slot in active.iter() {
            if let Some(lane) = stepper.lanes.of(slot) {
                let body = &bodies[slot];
                stepper.islands.still[lane.at()] = if may_sleep(slot, body) { body.still_ms } else { 0 };
            }
        }
        stepper.find_islands(settings.pull());
        for &slot in active.iter() {
            if let Some(lane) = stepper.lanes.of(slot) {
                let Islands { still, held, .. } = &stepper.islands;
                let (still, held) = (still[lane.at()], held[lane.at()]);
                let rests = still != 0 && may_rest(&bodies[slot], held, &settings);
                stepper.islands.note_stillness(lane, if rests { still } else { 0 });
            }
        }
        active.retain(|&slot| {
            let body = &mut bodies[slot];
            let Some(lane) = stepper.lanes.of(slot) else { return true };
            if body.has(flag::DYNAMIC) {
                if body.still_ms == 0 {
                    return true;
                }
                let stillness = stepper.islands.stillness(lane);
                if settings.sleep_ms == 0 || stillness < settings.sleep_ms {
                    body.still_ms = body.still_ms.min(stillness);
                    return true;
                }
                stepper.islands.put_to_sleep(lane, slot);
            } else if body.velocity != [0, 0] || body.position != previous[slot.at()] {
                return true;
            }
            body.set(flag::AWAKE, false);
            body.velocity = [0, 0];
            if body.has(flag::EXTRA) {
                extras[slot].raise_anchor();
                body.set(flag::EXTRA, extras[slot] != Extra::USUAL);
            }
            dozed.push(slot);
            if ever.sensors {
                sensors.touch(slot);
            }
            stepper.lanes.vacate(slot);
            let sort = stepper.path.sorter(settings.split, bodies);
            resting.insert(slot, bodies, settings.box_margin(), sort);
            false
        });
        stepper.islands.close(sleeping);
        self.contacts.retire(&self.bodies);
    }
}

/// Whether a dynamic body would stay where it is: if gravity pulls it, something must carry it; otherwise it must touch something or be too
/// slow to glide.
fn may_rest(body: &Body, held: u8, settings: &Settings) -> bool {
    if held & held::STIRRED != 0 {
        return false;
    }
    if settings.pull() != [0, 0] {
        return held & held::CARRIED != 0 || lies_at_the_edge(body, settings);
    }
    let gliding = settings.sleep_speed >> GLIDING_SHIFT;
    held & held::TOUCHES != 0 || body.velocity.iter().all(|v| v.abs() <= gliding)
}

/// Whether gravity pulls a body against the world's edge, which holds it.
fn lies_at_the_edge(body: &Body, settings: &Settings) -> bool {
    (0..2).any(|axis| {
        let (g, at) = (settings.pull()[axis], body.position[axis]);
        (g > 0 && at >= settings.bounds.max[axis]) || (g < 0 && at <= settings.bounds.min[axis])
    })
}
