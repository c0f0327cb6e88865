//! Contacts with terrain: pairs of a moving body and a piece, one by one.

use crate::collide::narrow_phase::{Hit, Manifold};
use crate::math::lanes::base;
use crate::solve::coloring::Origin;
use crate::step::contact_phase::ContactPhase;
use crate::step::stepper::Stepper;

impl Stepper {
    /// Adds contacts of the pairs with terrain. Pairs that need a closer look are noted for [`Stepper::add_fast`].
    pub(crate) fn add_terrain(&mut self, phase: &mut ContactPhase<'_>) {
        if self.terrain_pairs.is_empty() {
            return;
        }
        let pairs = core::mem::take(&mut self.terrain_pairs);
        for &pair in &pairs {
            if self.is_swept(pair, phase.settings.box_margin()) {
                self.fast.note_pair(pair);
                continue;
            }
            let [a, b] = pair;
            let (mover, slot) = (self.shells[a as usize], self.shells[b as usize].slot);
            if let Some(found) = phase.scene.terrain.separation(slot, &mover)
                && found.gap <= phase.settings.margin
                && self.enters(a, slot, &found, phase)
            {
                self.add_special(&Hit { a, b, normal: found.normal, gap: found.gap }, phase);
            }
        }
        self.end_window(&pairs);
        self.terrain_pairs = pairs;
    }

    /// Whether a moving body may have a contact with a piece; this depends on the side of one-sided segments.
    pub(crate) fn enters(&self, lane: u32, slot: u32, found: &Manifold, phase: &ContactPhase<'_>) -> bool {
        let own = self.shells[lane as usize].slot;
        let new = self.fresh.get(lane as usize).is_some_and(|&fresh| fresh);
        let touched = |other: u32| {
            let range = self.cached[lane as usize];
            !new && phase.contacts.find(base(), own, other, range).0 != Origin::NEW
        };
        let velocity = self.velocities[lane as usize].get();
        phase.scene.terrain.is_entered(slot, found, velocity, touched)
    }
}
