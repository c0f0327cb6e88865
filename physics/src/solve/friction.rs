//! Contact friction: an impulse across the normal, at most the friction coefficient times the contact's own (Coulomb).
//!
//! Top-down games rarely use it, so it is a list beside the batches, solved one by one after each pass over them.

use crate::collide::narrow_phase::UNIT_BITS;
use crate::solve::solver::{Batch, Contact, Velocity, apply_impulse};

/// Friction of one contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrictionContact {
    batch: u32,
    lane: u32,
    /// Raw coefficient.
    friction: i32,
    /// Accumulated impulse across the normal.
    impulse: i32,
}

impl FrictionContact {
    /// Friction for the contact in `place` (batch, lane).
    pub(crate) fn new(place: (u32, u32), friction: i32) -> Self {
        Self { batch: place.0, lane: place.1, friction, impulse: 0 }
    }

    /// Its contact, the direction of the tangent, and how hard it pushed the second body along that; the first one was pushed against it.
    pub(crate) fn pushed(&self, batches: &[Batch]) -> (Contact, [i32; 2], i32) {
        let contact = batches[self.batch as usize].get(self.lane as usize);
        (contact, tangent(contact.normal), self.impulse)
    }

    /// Stops the sliding as far as the contact's impulse allows.
    pub(crate) fn solve(&mut self, batches: &[Batch], velocities: &mut [Velocity]) {
        let contact = batches[self.batch as usize].get(self.lane as usize);
        let tangent = tangent(contact.normal);
        let (va, vb) = (velocities[contact.a as usize].get(), velocities[contact.b as usize].get());
        let sliding: i64 = (0..2).map(|x| i64::from(vb[x].wrapping_sub(va[x])) * i64::from(tangent[x])).sum();
        let sliding = (sliding + (1 << (UNIT_BITS - 1))) >> UNIT_BITS;
        let most = (i64::from(contact.impulse) * i64::from(self.friction)) >> 16;
        let impulse = (i64::from(self.impulse) - sliding).clamp(-most, most) as i32;
        let change = impulse.wrapping_sub(self.impulse);
        self.impulse = impulse;
        apply_impulse(&contact, tangent, change, velocities);
    }
}

fn tangent(normal: [i32; 2]) -> [i32; 2] {
    [-normal[1], normal[0]]
}
