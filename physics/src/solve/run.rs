//! Passes over all contacts.

use crate::body::working_index::WorkingIndex;
use crate::solve::bodies::{Bodies, hold};
use crate::solve::contact_place::ContactPlace;
use crate::solve::solver::{Batch, Pass, Softness, Velocity};
use crate::solve::step_contacts::StepContacts;

/// Passes over batches, with the instructions that somebody has chosen.
pub(crate) trait Kernels {
    /// See [`run_pass`](crate::solve::solver::run_pass).
    fn pass(&self, batches: &mut [Batch], velocities: &mut [Velocity], pass: Pass);

    /// See [`run_soft_pass`](crate::solve::solver::run_soft_pass).
    fn soft_pass(&self, batches: &mut [Batch], softness: &[Softness], velocities: &mut [Velocity]);
}

/// What the solver works on.
pub(crate) struct Run<'a> {
    pub(crate) contacts: &'a mut StepContacts,
    pub(crate) bodies: Bodies<'a>,
    pub(crate) kernels: &'a dyn Kernels,
}

impl Run<'_> {
    /// Whether a body is static.
    pub(crate) fn is_wall(&self, body: WorkingIndex) -> bool {
        // Moving bodies that contacts cannot move come before the dummy.
        let rests = body > self.contacts.batches.dummy();
        let Bodies { shells, parked, .. } = &self.bodies;
        rests && shells[body].mass == 0 && parked.binary_search(&body).is_err()
    }

    /// A pass over all contacts; `repeated` if it is one of those that are repeated until little changes.
    pub(crate) fn pass(&mut self, pass: Pass, repeated: bool) {
        let (batches, velocities) = (&mut self.contacts.batches, &mut *self.bodies.velocities);
        let movers = batches.at_rest().at();
        let (between, at_rest) = batches.as_mut_slice().split_at_mut(movers);
        self.kernels.pass(between, velocities, pass);
        self.kernels.pass(at_rest, velocities, pass);
        self.after_pass(pass, repeated);
    }

    /// The same as springs, whose softness is that of each batch.
    pub(crate) fn soft_pass(&mut self, softness: &[Softness], repeated: bool) {
        let (batches, velocities) = (&mut self.contacts.batches, &mut *self.bodies.velocities);
        let movers = batches.at_rest().at();
        let (between, at_rest) = batches.as_mut_slice().split_at_mut(movers);
        let (soft_between, soft_at_rest) = softness.split_at(movers);
        self.kernels.soft_pass(between, soft_between, velocities);
        self.kernels.soft_pass(at_rest, soft_at_rest, velocities);
        self.after_pass(Pass::Biased, repeated);
    }

    /// After each pass over all contacts: stiff contacts, friction, locked axes.
    fn after_pass(&mut self, pass: Pass, repeated: bool) {
        let StepContacts { batches, frictions, stiff, .. } = &mut *self.contacts;
        let velocities = &mut *self.bodies.velocities;
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
        hold(self.bodies.locked, velocities);
    }

    /// Restitution, before everything else. `rates` are frames per second and sub-steps per frame.
    pub(crate) fn bounce(&mut self, rates: [u32; 2]) {
        let StepContacts { batches, notes, .. } = &mut *self.contacts;
        let Bodies { velocities, gained, locked, .. } = &mut self.bodies;
        notes.bounces.solve(batches, velocities, gained, rates, |velocities| {
            hold(locked, velocities);
            !locked.is_empty()
        });
    }

    /// Solves some contacts once more, as rigid ones.
    pub(crate) fn solve_rigid(&mut self, places: &[ContactPlace]) {
        let batches = self.contacts.batches.as_mut_slice();
        for place in places {
            let (batch, lane) = place.of_mut(batches);
            batch.solve_stiff(lane, true, false, self.bodies.velocities);
        }
    }

    /// Stops the pairs of some contacts that come closer. The contacts do not keep these impulses: where walls squeeze from two sides, they would add up
    /// from frame to frame.
    pub(crate) fn stop_closing(&mut self, places: &[ContactPlace]) {
        for place in places {
            let (batch, lane) = place.of(self.contacts.batches.as_slice());
            let closing = batch.approach(lane, self.bodies.velocities);
            if closing > 0 {
                batch.apply(lane, closing, self.bodies.velocities);
            }
        }
    }
}
