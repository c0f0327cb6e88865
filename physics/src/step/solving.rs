//! Solving: the passes of a step over its contacts, and the velocities that advance positions.
//!
//! Without gravity one round of rigid passes is enough: no load lasts for long, and a crowd should separate quickly. With gravity the frame
//! is divided into sub-steps of soft contacts, see [`crate::solve::soft`].

use alloc::vec::Vec;

use crate::body::record::Extra;
use crate::contact::setup::push_speed;
use crate::math::boxes::LANES;
use crate::solve::coloring::Batches;
use crate::solve::solver::{Batch, NO_LIMIT, Pass, Velocity};
use crate::solve::{deep, soft};
use crate::step::stepper::{Locked, Stepper};
use crate::world_def::Settings;

impl Stepper {
    /// Notes what gravity and forces added to the velocity of a body.
    pub(crate) fn note_gain(&mut self, slot: u32, gain: [i32; 2]) {
        let slot = slot as usize;
        if gain != [0; 2] {
            self.gains.resize(self.gains.len().max(slot + 1), [0; 2]);
        }
        if let Some(entry) = self.gains.get_mut(slot) {
            *entry = gain;
        }
    }

    /// Solves the contacts. `ranks` are the ranks of the bodies by slot, if any may have one.
    #[inline(never)]
    pub(crate) fn solve(&mut self, settings: &Settings, fps: u32, ranks: Option<&[Extra]>) {
        self.notes.sort();
        self.walls.clear();
        self.supports.clear();
        let pressed = self.notes.leans && settings.gravity == [0; 2];
        if ranks.is_some() || pressed {
            self.find_walls(ranks, pressed);
        }
        if self.notes.leans {
            self.stiff.find(&self.batches, &self.shells, &self.velocities, fps);
        }
        if settings.gravity == [0; 2] {
            self.bounce(fps, 1);
            self.solve_rigid(settings);
            // Twice as fast as shallow ones, at most all of the overlap in a frame.
            let factor = (2 * settings.push_factor).min(1 << 16);
            let speed = |gap| push_speed(gap, fps, factor, deep::PUSH_MAX) as i32;
            self.deep.solve(&self.notes.deep, &self.batches, &mut self.moving, &self.velocities, speed);
            self.hold_off_walls(speed);
        } else {
            self.solve_soft(settings, fps);
        }
        hold(&self.locked, &mut self.moving);
    }

    /// Warm start, biased passes, and the relaxing passes after the positions' velocities were stored.
    fn solve_rigid(&mut self, settings: &Settings) {
        self.run(Pass::WarmStart, false);
        for _ in 0..settings.iterations {
            self.run(Pass::Biased, false);
        }
        self.moving.clear();
        self.moving.extend_from_slice(&self.velocities);
        for _ in 0..settings.relax_iterations {
            self.run(Pass::Relax, false);
        }
    }

    /// Twice as many passes as without gravity, divided among the sub-steps, half of them soft and half relaxing: with fewer, friction drove
    /// some heaps in circles without end. Positions advance with the mean velocity.
    fn solve_soft(&mut self, settings: &Settings, fps: u32) {
        let parts = soft::parts(fps);
        let passes = ((settings.iterations + settings.relax_iterations) / parts).max(2);
        let passes = if self.stiff.mixed { 2 * passes } else { passes };
        // Gravity's gain is added in parts.
        self.take_gains(parts);
        self.bounce(fps, parts);
        self.soft.begin(&mut self.batches, &self.stiff.places, fps * parts);
        self.moving.clear();
        self.moving.resize(self.velocities.len(), Velocity::default());
        if self.stiff.mixed {
            self.find_supports();
        }
        for part in 0..parts {
            if part > 0 {
                self.give_gains(part, parts);
                self.soft.set_limits(self.batches.as_mut_slice());
            }
            self.run(Pass::WarmStart, false);
            for _ in 0..passes {
                self.soft_pass(false);
            }
            self.settle(|stepper| stepper.soft_pass(true));
            if !self.stiff.uneven {
                self.hold_at_walls();
            }
            for &(batch, lane) in &self.walls {
                let batch = &mut self.batches.as_mut_slice()[batch as usize];
                batch.solve_stiff(lane as usize, true, false, &mut self.velocities);
            }
            for (moving, velocity) in self.moving.iter_mut().zip(&self.velocities) {
                let (sum, v) = (moving.get(), velocity.get());
                *moving = Velocity::new([0, 1].map(|x| sum[x].wrapping_add(v[x])));
            }
            self.soft.advance(self.batches.as_slice(), &self.velocities);
            for _ in 0..passes {
                self.run(Pass::Relax, false);
            }
            self.settle(|stepper| stepper.run(Pass::Relax, true));
        }
        let parts = parts as i32;
        for moving in &mut self.moving {
            *moving = Velocity::new(moving.get().map(|sum| (sum + parts / 2).div_euclid(parts)));
        }
        if self.stiff.uneven {
            self.still_the_carried();
        }
    }

    /// Notes the contacts with immovable bodies if bodies of different rank touch, or if a heavy body leans on a light one (`pressed`): who is
    /// squeezed between a rank and a wall, both of which do not yield, enters the rank, and likewise the heavy body.
    #[cold]
    fn find_walls(&mut self, ranks: Option<&[Extra]>, pressed: bool) {
        let (mut needed, shells) = (pressed, &self.shells);
        list_contacts(&self.batches, &mut self.walls, |batch, lane| {
            let [a, b] = [batch.a[lane], batch.b[lane]].map(|body| &shells[body as usize]);
            let wall = a.mass == 0 || b.mass == 0;
            if let (Some(extras), false) = (ranks, wall) {
                let [rank_a, rank_b] = [a, b].map(|shell| extras[shell.slot as usize].dominance);
                needed |= rank_a != rank_b;
            }
            wall
        });
        if !needed {
            self.walls.clear();
        }
    }

    /// Solves the contacts of [`Self::find_walls`] once more for the velocities that advance positions; `speed` is how fast a deep overlap is
    /// to separate. Twice, for corners.
    fn hold_off_walls(&mut self, speed: impl Fn(i32) -> i32) {
        for _ in 0..2 {
            for &(batch, lane) in &self.walls {
                let gap = self.batches.origin((batch, lane)).gap;
                let (batch, lane) = (&self.batches.as_slice()[batch as usize], lane as usize);
                let limit = if gap < -deep::OVERLAP_SHALLOW { speed(gap) } else { batch.biased[lane] };
                let missing = batch.approach(lane, &self.moving).saturating_add(limit);
                if missing > 0 {
                    batch.apply(lane, missing, &mut self.moving);
                }
            }
        }
    }

    /// Takes back the gain of gravity and forces in this frame, except for the part of the first sub-step.
    fn take_gains(&mut self, parts: u32) {
        for (velocity, gained) in self.velocities.iter_mut().zip(&mut self.gained) {
            let v = velocity.get();
            *velocity = Velocity::new([0, 1].map(|x| v[x] - gained[x] + share(gained[x], 0, parts)));
        }
    }

    /// Adds the part of a later sub-step.
    fn give_gains(&mut self, part: u32, parts: u32) {
        for (velocity, gained) in self.velocities.iter_mut().zip(&self.gained) {
            let v = velocity.get();
            *velocity = Velocity::new([0, 1].map(|x| v[x].wrapping_add(share(gained[x], part, parts))));
        }
    }

    /// Restitution, before everything else.
    fn bounce(&mut self, fps: u32, parts: u32) {
        let Self { notes, batches, velocities, gained, locked, .. } = self;
        notes.bounces.solve(batches, velocities, gained, [fps, parts], |velocities| {
            hold(locked, velocities);
            !locked.is_empty()
        });
    }

    /// A pass over all contacts; `repeated` if it is one of [`Self::settle`].
    fn run(&mut self, pass: Pass, repeated: bool) {
        let movers = self.batches.between_movers();
        let (between, at_rest) = self.batches.as_mut_slice().split_at_mut(movers);
        self.path.solve(between, &mut self.velocities, pass);
        self.path.solve(at_rest, &mut self.velocities, pass);
        self.after_pass(pass, repeated);
    }

    /// Runs after each pass over all contacts: stiff contacts, friction, locked axes.
    pub(crate) fn after_pass(&mut self, pass: Pass, repeated: bool) {
        let Self { stiff, batches, velocities, frictions, locked, .. } = self;
        if pass == Pass::WarmStart {
            for friction in frictions {
                friction.warm_start(batches.as_slice(), velocities);
            }
        } else {
            stiff.solve(batches.as_mut_slice(), velocities, pass == Pass::Biased, repeated);
            for friction in frictions {
                friction.solve(batches.as_slice(), velocities);
            }
        }
        hold(locked, velocities);
    }
}

/// Part `part` of `parts` of a gain; all parts together are the whole gain.
fn share(gain: i32, part: u32, parts: u32) -> i32 {
    let until = |part: u32| i64::from(gain) * i64::from(part) / i64::from(parts);
    (until(part + 1) - until(part)) as i32
}

/// Appends batch and lane of the contacts that are solved and for which `counts` holds.
pub(crate) fn list_contacts(
    batches: &Batches,
    to: &mut Vec<(u32, u32)>,
    mut counts: impl FnMut(&Batch, usize) -> bool,
) {
    for (at, batch) in (0..).zip(batches.as_slice()) {
        for lane in (0..LANES).filter(|&lane| batch.biased[lane] != NO_LIMIT) {
            if counts(batch, lane) {
                to.push((at, lane as u32));
            }
        }
    }
}

/// Restores the velocities along locked axes.
pub(crate) fn hold(locked: &[Locked], velocities: &mut [Velocity]) {
    for locked in locked {
        let velocity = &mut velocities[locked.body as usize];
        let mut v = velocity.get();
        v[usize::from(locked.axis)] = locked.velocity;
        *velocity = Velocity::new(v);
    }
}
