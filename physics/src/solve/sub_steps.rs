//! Solving: the passes of a step over its contacts, and the velocities that advance positions.
//!
//! Without gravity one round of rigid passes is enough: no load lasts for long, and a crowd should separate quickly. With gravity the frame
//! is divided into sub-steps of soft contacts, see [`crate::solve::soft`].

use alloc::vec::Vec;

use crate::body::record::Extra;
use crate::math::axes::each_axis;
use crate::solve::bodies::{Bodies, hold};
use crate::solve::deep::DeepContacts;
use crate::solve::push::push_speed;
use crate::solve::run::{Kernels, Run};
use crate::solve::settling::Settling;
use crate::solve::soft::SoftContacts;
use crate::solve::solver::{Pass, Velocity};
use crate::solve::step_contacts::StepContacts;
use crate::solve::walls::{Pressing, WallContacts};
use crate::solve::{deep, soft};
use crate::world_def::Settings;

/// What the world tells the solver.
#[derive(Clone, Copy)]
pub(crate) struct Rates<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) fps: u32,
    /// The ranks of the bodies by slot, if any may have one.
    pub(crate) ranks: Option<&'a [Extra]>,
}

/// The solver with its lists, which are kept between steps so that a steady step does not allocate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solver {
    /// The velocities that advance positions, by working index: those after the biased passes, or the mean of the sub-steps.
    pub(crate) moving: Vec<Velocity>,
    soft: SoftContacts,
    deep: DeepContacts,
    walls: WallContacts,
    settling: Settling,
}

impl Solver {
    /// Solves the contacts.
    pub(crate) fn solve(
        &mut self,
        contacts: &mut StepContacts,
        bodies: Bodies<'_>,
        rates: Rates<'_>,
        kernels: &dyn Kernels,
    ) {
        let Rates { settings, fps, ranks } = rates;
        let soft = settings.is_soft();
        contacts.notes.sort();
        let leans = contacts.notes.leans;
        let mut run = Run { contacts, bodies, kernels };
        self.settling.begin();
        let driven = run.bodies.some_kinematic;
        self.walls.find(&mut run, Pressing { ranks, heavy: leans && !soft, driven, soft }, |gap| {
            separation(gap, fps, settings)
        });
        if leans {
            let StepContacts { batches, stiff, .. } = &mut *run.contacts;
            stiff.find(batches, run.bodies.shells, run.bodies.velocities, fps);
        }
        if soft {
            self.solve_soft(&mut run, settings, fps);
        } else {
            self.solve_rigid(&mut run, settings, fps);
        }
        self.walls.room.calm(&mut self.moving);
        self.walls.room.calm(run.bodies.velocities);
        hold(run.bodies.locked, &mut self.moving);
        hold(run.bodies.locked, run.bodies.velocities);
    }

    /// Warm start, biased passes, and the relaxing passes after the positions' velocities were stored.
    fn solve_rigid(&mut self, run: &mut Run<'_>, settings: &Settings, fps: u32) {
        run.bounce([fps, 1]);
        run.pass(Pass::WarmStart, false);
        for _ in 0..settings.iterations {
            run.pass(Pass::Biased, false);
        }
        self.moving.clear();
        self.moving.extend_from_slice(run.bodies.velocities);
        for _ in 0..settings.relax_iterations {
            run.pass(Pass::Relax, false);
        }
        let speed = |gap| separation(gap, fps, settings);
        let StepContacts { batches, notes, .. } = &*run.contacts;
        self.deep.solve(&notes.deep, batches, &mut self.moving, run.bodies.velocities, speed);
        self.walls.hold_off(run, &mut self.moving);
    }

    /// Twice as many passes as without gravity, divided among the sub-steps, half of them soft and half relaxing: with fewer, friction drove
    /// some heaps in circles without end. Positions advance with the mean velocity.
    fn solve_soft(&mut self, run: &mut Run<'_>, settings: &Settings, fps: u32) {
        let parts = soft::parts(fps);
        let passes = ((settings.iterations + settings.relax_iterations) / parts).max(2);
        let passes = if run.contacts.stiff.mixed { 2 * passes } else { passes };
        // Gravity's gain is added in parts.
        take_gains(&mut run.bodies, parts);
        run.bounce([fps, parts]);
        let StepContacts { batches, stiff, .. } = &mut *run.contacts;
        self.soft.begin(batches, stiff, &self.walls.wedged, fps * parts);
        self.moving.clear();
        self.moving.resize(run.bodies.velocities.len(), Velocity::default());
        if run.contacts.stiff.mixed {
            self.settling.find_supports(run.contacts);
        }
        for part in 0..parts {
            if part > 0 {
                give_gains(&mut run.bodies, part, parts);
                self.soft.set_limits(run.contacts.batches.as_mut_slice());
            }
            self.sub_step(run, passes);
        }
        let parts = parts as i32;
        for moving in &mut self.moving {
            *moving = Velocity::new(moving.get().map(|sum| (sum + parts / 2).div_euclid(parts)));
        }
    }

    /// One sub-step; its velocities are added to those that advance positions.
    fn sub_step(&mut self, run: &mut Run<'_>, passes: u32) {
        let Self { moving, soft, walls, settling, .. } = self;
        run.pass(Pass::WarmStart, false);
        for _ in 0..passes {
            soft_pass(run, soft, settling, false);
        }
        settling.settle(run, |settling, run| soft_pass(run, soft, settling, true));
        if !run.contacts.stiff.uneven {
            settling.hold_at_walls(run);
        }
        run.solve_rigid(&walls.places);
        run.stop_closing(&walls.deep);
        for (moving, velocity) in moving.iter_mut().zip(&*run.bodies.velocities) {
            let (sum, v) = (moving.get(), velocity.get());
            *moving = Velocity::new(each_axis(|x| sum[x].wrapping_add(v[x])));
        }
        soft.advance(run.contacts.batches.as_slice(), run.bodies.velocities);
        for _ in 0..passes {
            run.pass(Pass::Relax, false);
        }
        settling.settle(run, |_, run| run.pass(Pass::Relax, true));
    }
}

/// The speed that separates a deep overlap: twice that of a shallow one, at most all of the overlap in a frame.
fn separation(gap: i32, fps: u32, settings: &Settings) -> i32 {
    let factor = (2 * settings.push_factor).min(1 << 16);
    push_speed(gap, fps, factor, deep::PUSH_MAX) as i32
}

/// A soft pass. In a heap of very different masses walls have the last word in each: springs that squeeze a body from two sides would
/// otherwise agree on a speed that the walls take back after the last pass, too late for what lies on the body.
fn soft_pass(run: &mut Run<'_>, soft: &SoftContacts, settling: &Settling, repeated: bool) {
    run.soft_pass(&soft.softness, repeated);
    if run.contacts.stiff.uneven {
        settling.hold_at_walls(run);
    }
}

/// Takes back the gain of gravity and forces in this frame, except for the part of the first sub-step.
fn take_gains(bodies: &mut Bodies<'_>, parts: u32) {
    for (velocity, gained) in bodies.velocities.iter_mut().zip(bodies.gained) {
        let v = velocity.get();
        *velocity = Velocity::new(each_axis(|x| v[x] - gained[x] + share(gained[x], 0, parts)));
    }
}

/// Adds the part of a later sub-step.
fn give_gains(bodies: &mut Bodies<'_>, part: u32, parts: u32) {
    for (velocity, gained) in bodies.velocities.iter_mut().zip(bodies.gained) {
        let v = velocity.get();
        *velocity = Velocity::new(each_axis(|x| v[x].wrapping_add(share(gained[x], part, parts))));
    }
}

/// Part `part` of `parts` of a gain; all parts together are the whole gain.
fn share(gain: i32, part: u32, parts: u32) -> i32 {
    let until = |part: u32| i64::from(gain) * i64::from(part) / i64::from(parts);
    (until(part + 1) - until(part)) as i32
}
