//! One frame of a crowd: some units think, and all of them take the velocities that they decided on.

use alloc::vec::Vec;

use testudo_physics::{FPS_MAX, StepError, World};

use crate::crowd::clock::{MS, SECOND};
use crate::crowd::state::{CHANGED, GONE};
use crate::crowd::{Crowd, MoveEvent, Task};

/// A unit thinks again after this time, ms: one that nobody comes near after twice this time, one that waits in a queue after a growing time between the two,
/// and one that is held up near its place, or has waited for long, after half of it.
pub(super) const THINK_MS: u32 = 250;

/// Squares in which units are sorted are at least so many radii of the largest one wide. Half of it takes longer where units are scattered, twice of it where
/// they are dense.
const SQUARE_RADII: i32 = 8;

/// Units that are gone keep their places among the others until they are a quarter, and at least so many.
const GONE_MIN: u32 = 64;

/// Units by what they do in a frame.
#[derive(Debug, Default)]
pub(super) struct Active {
    /// They think.
    // not state: filled in every step before it is read
    thinkers: Vec<u32>,
    /// Those of them that look for a path without a field.
    // not state: as above
    pub(super) seekers: Vec<u32>,
    /// They do not think, and did not know their way when they thought last.
    // not state: as above
    waiters: Vec<u32>,
}

impl Active {
    /// A new frame of so many units. There is room for all of them in each list: it may be in any frame that most of them wait.
    fn begin(&mut self, units: usize) {
        for list in [&mut self.thinkers, &mut self.seekers, &mut self.waiters] {
            list.clear();
            list.reserve(units);
        }
    }
}

/// Who is around a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Company {
    /// Nobody comes near before it thinks again.
    Alone,
    /// Somebody may come near.
    Near,
    /// Somebody is in the way.
    HeldUp,
    /// It waits behind others, all of which go where it goes; so long ago, in ms, it thought last.
    Queue(u32),
}

impl Crowd {
    /// Tells all units their velocities for the next step of the world, `1 / frames_per_second` seconds long. Call it before [`World::step`], in each frame,
    /// with the same number; the next frame may have another one. One call of each: a second call before the world's step clears the events of the first one,
    /// and counts as another frame for all that takes time.
    ///
    /// A unit chooses its way and gives way to others some four times a second, and more often when somebody comes in its way or it is about to turn. In the
    /// frames between it keeps the velocity that it chose, and takes it again when something pushed it.
    ///
    /// # Errors
    /// [`StepError::FramesPerSecond`] if the value is outside of 1..=1,000; the crowd and the world stay unchanged.
    pub fn step(&mut self, world: &mut World, frames_per_second: u32) -> Result<(), StepError> {
        if !(1..=FPS_MAX).contains(&frames_per_second) {
            return Err(StepError::FramesPerSecond { given: frames_per_second });
        }
        self.step_at(world, frames_per_second);
        Ok(())
    }

    /// As [`Crowd::step`], at a rate that is in its range.
    fn step_at(&mut self, world: &mut World, rate: u32) {
        self.events.clear();
        self.events.extend(self.replaced.drain(..).map(MoveEvent::Gone));
        let before = self.clock.begin(rate);
        self.flows.change_rate(before, rate);
        let largest = self.look(world, rate);
        // Looked at one after the other at once, these come from memory in a third of the time.
        let going =
            self.active.thinkers.iter().filter(|&&number| self.movers[number as usize].is_moving()).count();
        for at in 0..self.active.thinkers.len() {
            let number = self.active.thinkers[at];
            if !self.find_course(world, number as usize, rate, false) {
                self.active.seekers.push(number);
            }
            self.walkers[number as usize].stalled_ms = self.movers[number as usize].stalled_ms();
        }
        self.seek(world, rate);
        self.wait();
        if going > 0 {
            let units = self.walkers.iter().filter(|walker| !walker.is_gone && !walker.is_away);
            let there = units.map(|walker| (&walker.sight, walker.stalled_ms));
            self.squares.sort(there, largest.saturating_mul(SQUARE_RADII));
        }
        for at in 0..self.active.thinkers.len() {
            self.decide(world, self.active.thinkers[at] as usize, largest, rate);
        }
        for &number in &self.active.thinkers {
            self.hashes[number as usize] = CHANGED;
            let (mover, walker) = (&self.movers[number as usize], &mut self.walkers[number as usize]);
            // From the next frame on the others see what it has decided.
            walker.sight.is_going &= mover.is_moving();
            (walker.sight.right_ms, walker.stalled_ms) = (mover.right_ms, mover.stalled_ms());
            walker.drive(world, rate);
        }
        // Paths of units without a field leave half of it at least.
        let cells = self.paths_left.max(self.settings.cells_per_frame.div_ceil(2));
        self.flows.search(&self.ground, cells);
        self.clock.end();
    }

    /// Reads where everybody is, notes who thinks, tells the others their velocities, and removes units whose bodies are gone. Those whose bodies are disabled
    /// are left out. Returns the greatest radius, raw units.
    fn look(&mut self, world: &mut World, rate: u32) -> i32 {
        let next = self.clock.next();
        self.close_gaps();
        self.active.begin(self.walkers.len());
        self.squares.clear();
        let mut largest = 1;
        for (number, walker) in (0_u32..).zip(&mut self.walkers) {
            if walker.is_gone {
                continue;
            }
            let Some(body) = world.body(walker.body) else {
                self.events.push(MoveEvent::Gone(walker.body));
                walker.is_gone = true;
                self.hashes[number as usize] = GONE;
                self.gone += 1;
                continue;
            };
            let (position, velocity) = (body.position(), body.velocity());
            let sight = &mut walker.sight;
            sight.position = [position.x, position.y].map(|part| part.to_bits() as i32);
            sight.velocity = [velocity.x, velocity.y].map(|part| part.to_bits() as i32);
            sight.unit = number;
            walker.is_away = !body.is_enabled();
            if walker.is_away {
                // No time passes for it.
                (walker.thinks, walker.thought) = (next, next);
                self.hashes[number as usize] = CHANGED;
                continue;
            }
            largest = largest.max(sight.radius);
            self.squares.note(sight.position);
            if walker.thinks_before(next) {
                self.active.thinkers.push(number);
            } else {
                walker.drive(world, rate);
                if walker.sight.left == i64::MAX && walker.sight.is_going {
                    self.active.waiters.push(number);
                }
            }
        }
        largest
    }

    /// Those that wait for their fields let them go on, and ask for their paths after those that think, not always the same ones first.
    fn wait(&mut self) {
        let waiters = &mut self.active.waiters;
        let first = (self.flows.scatter() * waiters.len() as u64) >> 32;
        waiters.rotate_left(first as usize);
        for &number in &*waiters {
            if let Task::Go(errand) = self.movers[number as usize].task {
                self.flows.wait(&self.ground, errand.flow, self.walkers[number as usize].place());
            }
        }
    }

    /// Closes the gaps of units that are gone, if these are many. The numbers of the others change.
    fn close_gaps(&mut self) {
        if self.gone < GONE_MIN || (self.gone as usize) < self.walkers.len() / 4 {
            return;
        }
        let mut gone = self.walkers.iter().map(|walker| walker.is_gone);
        self.movers.retain(|_| gone.next() == Some(false));
        let mut gone = self.walkers.iter().map(|walker| walker.is_gone);
        self.hashes.retain(|_| gone.next() == Some(false));
        self.walkers.retain(|walker| !walker.is_gone);
        self.finder.fill(&self.walkers);
        self.gone = 0;
    }

    /// Microseconds until a unit thinks again that goes straight for `far` (raw units) with `speed` (raw units per second). It thinks in the last frame that
    /// begins before they are over, and not in this one again.
    pub(super) fn pause(far: i64, speed: i64, company: Company) -> u32 {
        let longest = match company {
            Company::Alone => 2 * THINK_MS,
            Company::Queue(ms) => (2 * ms).clamp(THINK_MS, 2 * THINK_MS),
            Company::Near => THINK_MS,
            Company::HeldUp => THINK_MS / 2,
        };
        let longest = longest * MS;
        if far >= speed * i64::from(longest) / SECOND {
            return longest;
        }
        (far * SECOND / speed) as u32
    }
}
