//! Contact friction: an impulse along the tangent, at most the friction coefficient times the contact's own impulse (Coulomb).
//!
//! Top-down games rarely use it, so it is a separate list, solved one by one after each pass over the batches.

use crate::collide::narrow_phase::UNIT_BITS;
use crate::solve::contact_place::ContactPlace;
use crate::solve::solver::{Batch, Contact, IMPULSE_MAX, Velocity, apply_impulse};

/// Friction of one contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrictionContact {
    pub(crate) place: ContactPlace,
    /// Raw coefficient.
    friction: i32,
    /// Accumulated impulse along the tangent. Like the one along the normal, it starts with the last frame's.
    pub(crate) impulse: i32,
}

impl FrictionContact {
    /// Friction for the contact in `place`.
    pub(crate) fn new(place: ContactPlace, friction: i32, impulse: i32) -> Self {
        Self { place, friction, impulse }
    }

    /// Applies the impulse of the last frame, as far as the contact's own impulse allows.
    pub(crate) fn warm_start(&mut self, batches: &[Batch], velocities: &mut [Velocity]) {
        let contact = self.contact(batches);
        let most = self.most(&contact);
        self.impulse = self.impulse.clamp(-most, most);
        apply_impulse(&contact, tangent(&contact), self.impulse, velocities);
    }

    /// Its contact, the direction of the tangent, and the impulse on the second body along it; the first body got the opposite one.
    pub(crate) fn pushed(&self, batches: &[Batch]) -> (Contact, [i32; 2], i32) {
        let contact = self.contact(batches);
        (contact, tangent(&contact), self.impulse)
    }

    /// Reduces the sliding as far as the contact's impulse allows.
    pub(crate) fn solve(&mut self, batches: &[Batch], velocities: &mut [Velocity]) {
        let contact = self.contact(batches);
        let tangent = tangent(&contact);
        let (va, vb) = (velocities[contact.a].get(), velocities[contact.b].get());
        let sliding: i64 = (0..2).map(|x| i64::from(vb[x].wrapping_sub(va[x])) * i64::from(tangent[x])).sum();
        let sliding = (sliding + (1 << (UNIT_BITS - 1))) >> UNIT_BITS;
        let most = i64::from(self.most(&contact));
        let impulse = (i64::from(self.impulse) - sliding).clamp(-most, most) as i32;
        let change = impulse.wrapping_sub(self.impulse);
        self.impulse = impulse;
        apply_impulse(&contact, tangent, change, velocities);
    }

    fn contact(&self, batches: &[Batch]) -> Contact {
        let (batch, lane) = self.place.of(batches);
        batch.get(lane)
    }

    /// Greatest impulse along the tangent (Coulomb). Coefficients are small, and impulses are below 2^28.
    fn most(&self, contact: &Contact) -> i32 {
        ((i64::from(contact.impulse) * i64::from(self.friction)) >> 16).min(i64::from(IMPULSE_MAX)) as i32
    }
}

fn tangent(contact: &Contact) -> [i32; 2] {
    [-contact.normal[1], contact.normal[0]]
}
