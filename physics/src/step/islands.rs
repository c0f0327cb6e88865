//! Islands: bodies that touch, directly or through others that contacts can move. They fall asleep and wake up as a whole.
//!
//! Islands are computed only when some body was still for long enough, so a moving crowd pays nothing. A sleeping island is a ring of
//! slots; it follows from the contacts between sleeping bodies, so it is not state.

use alloc::vec::Vec;

use crate::body::record::{Body, Shell, flag};
use crate::body::slot::Slot;
use crate::body::working_index::WorkingIndex;
use crate::contact::cached::RestingContact;
use crate::math::axes::both;
use crate::math::copy::clone_in_place;
use crate::math::sets::DisjointSets;
use crate::solve::batches::Batches;
use crate::solve::deep::OVERLAP_SHALLOW;
use crate::solve::friction::FrictionContact;

/// What holds a moving body, found with its island; bits.
pub(crate) mod held {
    /// It touches something.
    pub(crate) const TOUCHES: u8 = 1 << 0;
    /// A contact pushes it against the pull of gravity, or holds it by friction; or it is deep in what does not yield, which keeps no impulse.
    pub(crate) const CARRIED: u8 = 1 << 1;
    /// It touches a body that has only just woken up, or a kinematic one that moves.
    pub(crate) const STIRRED: u8 = 1 << 2;
}

/// The islands of one step's moving bodies, by working index. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    sets: DisjointSets,
    /// How long each body was still, milliseconds; 0 if it never sleeps, or is no moving body.
    pub(crate) still: Vec<u16>,
    /// What holds it. Not found for a body that was not still.
    pub(crate) held: Vec<u8>,
    /// By island: how long all of it was still, milliseconds.
    stillness: Vec<u16>,
    /// Island and slot of the bodies that fall asleep.
    sleepy: Vec<u64>,
}

impl Islands {
    /// Starts with `lanes` moving bodies of `all` that are in the step.
    pub(crate) fn begin(&mut self, lanes: usize, all: usize) {
        self.sets.reset(lanes);
        self.still.clear();
        self.still.resize(all, 0);
        self.held.clear();
        self.held.resize(all, 0);
        self.stillness.clear();
        self.stillness.resize(lanes, u16::MAX);
    }

    /// Joins the moving bodies that touch, once the cache has decided that, and notes what holds them. Two bodies of which neither was still are not joined:
    /// their islands stay awake anyway. In `shells` guests follow the moving bodies.
    pub(crate) fn find(
        &mut self,
        batches: &Batches,
        frictions: &[FrictionContact],
        shells: &[Shell],
        gravity: [i32; 2],
    ) {
        let Self { sets, held, still, .. } = self;
        batches.for_each(|batch, lane, origin| {
            let (a, b) = (batch.a[lane], batch.b[lane]);
            let is_still = (still[a.at()] | still[b.at()]) != 0;
            if !is_still || batch.impulse[lane] == 0 && !origin.is_touching() {
                return;
            }
            let [mover_a, mover_b] = both([a, b], |body| body < batches.dummy());
            let movable = |body: WorkingIndex| shells[body].mass != 0;
            let along = along(gravity, batch.normal[lane]);
            // The normal points from a to b, so b is pushed along it and a against it.
            let is_deep = origin.gap < -OVERLAP_SHALLOW && !(movable(a) && movable(b));
            let pushes = batch.impulse[lane] != 0 || is_deep;
            let carries = |against: bool| if against && pushes { held::CARRIED } else { 0 };
            // A guest has just woken up, and a moving body without mass is kinematic.
            let stirs =
                |other: WorkingIndex, mover: bool| if mover != movable(other) { held::STIRRED } else { 0 };
            held[a.at()] |= held::TOUCHES | carries(along > 0) | stirs(b, mover_b);
            held[b.at()] |= held::TOUCHES | carries(along < 0) | stirs(a, mover_a);
            // Only contacts in the cache count, because a restored world builds its rings from them.
            if origin.is_touching() && mover_a && mover_b && movable(a) && movable(b) {
                sets.merge(a.0, b.0);
            }
        });
        for friction in frictions {
            let (contact, tangent, impulse) = friction.pushed(batches.as_slice());
            let along = along(gravity, tangent).signum() * i64::from(impulse);
            held[contact.a.at()] |= if along > 0 { held::CARRIED } else { 0 };
            held[contact.b.at()] |= if along < 0 { held::CARRIED } else { 0 };
        }
    }

    /// An island was still for no longer than any of its bodies.
    pub(crate) fn note_stillness(&mut self, lane: WorkingIndex, milliseconds: u16) {
        let name = self.sets.find(lane.0) as usize;
        self.stillness[name] = self.stillness[name].min(milliseconds);
    }

    /// How long the whole island of a body was still, milliseconds.
    pub(crate) fn stillness(&mut self, lane: WorkingIndex) -> u16 {
        self.stillness[self.sets.find(lane.0) as usize]
    }

    /// A body falls asleep with its island.
    pub(crate) fn put_to_sleep(&mut self, lane: WorkingIndex, slot: Slot) {
        self.add_sleepy(lane.0, slot);
    }

    /// `member` is its number in the sets.
    fn add_sleepy(&mut self, member: u32, slot: Slot) {
        let name = self.sets.find(member);
        self.sleepy.push(u64::from(name) << 32 | u64::from(slot.0));
    }

    /// All bodies that a body touches now, directly or through others that contacts can move: an awake one, and perhaps some that sleep.
    pub(crate) fn members_of(
        &mut self,
        slot: Slot,
        bodies: &[Body],
        contacts: impl Iterator<Item = RestingContact>,
        members: &mut Vec<Slot>,
    ) {
        let joins = |slot: Slot| {
            let body = &bodies[slot];
            body.has(flag::DYNAMIC) && !body.has(flag::DISABLED | flag::FRESH)
        };
        self.sets.reset(bodies.len());
        for contact in contacts.filter(|c| joins(c.owner) && joins(c.other)) {
            self.sets.merge(contact.owner.0, contact.other.0);
        }
        let name = self.sets.find(slot.0);
        members.extend(Slot::all(bodies.len()).filter(|other| self.sets.find(other.0) == name));
    }

    /// Builds the rings of the bodies that fell asleep.
    pub(crate) fn close(&mut self, sleeping: &mut SleepingIslands) {
        self.sleepy.sort_unstable();
        for island in self.sleepy.chunk_by(|a, b| a >> 32 == b >> 32) {
            sleeping.add(island.iter().map(|&member| Slot(member as u32)));
        }
        self.sleepy.clear();
    }
}

/// The component of gravity along a unit normal; only the sign counts.
fn along(gravity: [i32; 2], normal: [i32; 2]) -> i64 {
    i64::from(gravity[0]) * i64::from(normal[0]) + i64::from(gravity[1]) * i64::from(normal[1])
}

/// Sleeping bodies as rings of slots, one ring per island.
#[derive(Debug, Default)]
pub(crate) struct SleepingIslands {
    /// By slot: the next member of its island; [`Slot::NONE`] if it is alone or awake.
    next: Vec<Slot>,
}

clone_in_place!(SleepingIslands: next);

impl SleepingIslands {
    /// Links the members, in the order given.
    pub(crate) fn add(&mut self, members: impl Iterator<Item = Slot>) {
        let mut ends: Option<(Slot, Slot)> = None;
        for slot in members {
            self.next.resize(self.next.len().max(slot.at() + 1), Slot::NONE);
            if let Some((_, last)) = ends {
                self.next[last.at()] = slot;
            }
            ends = Some((ends.map_or(slot, |(first, _)| first), slot));
        }
        if let Some((first, last)) = ends
            && first != last
        {
            self.next[last.at()] = first;
        }
    }

    /// Breaks up an island and appends its members, the given one first.
    pub(crate) fn take(&mut self, slot: Slot, members: &mut Vec<Slot>) {
        let mut at = slot;
        while at != Slot::NONE {
            members.push(at);
            let next = self.next.get_mut(at.at()).map_or(Slot::NONE, |n| core::mem::replace(n, Slot::NONE));
            at = if next == slot { Slot::NONE } else { next };
        }
    }

    /// Rebuilds the rings from the contacts of the sleeping bodies.
    pub(crate) fn rebuild(&mut self, bodies: &[Body], contacts: impl Iterator<Item = RestingContact>) {
        let sleeps = |slot: Slot| {
            let body = &bodies[slot];
            body.has(flag::DYNAMIC) && !body.has(flag::AWAKE | flag::DISABLED | flag::FRESH)
        };
        self.next.clear();
        if !Slot::all(bodies.len()).any(sleeps) {
            return;
        }
        let mut islands = Islands::default();
        islands.sets.reset(bodies.len());
        for contact in contacts.filter(|c| sleeps(c.owner) && sleeps(c.other)) {
            islands.sets.merge(contact.owner.0, contact.other.0);
        }
        for slot in Slot::all(bodies.len()).filter(|&slot| sleeps(slot)) {
            islands.add_sleepy(slot.0, slot);
        }
        islands.close(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn rings_give_every_member_once_wherever_one_begins() {
        let mut sleeping = SleepingIslands::default();
        for first in [5, 2, 9].map(Slot) {
            sleeping.add([2, 5, 9].map(Slot).into_iter());
            sleeping.add([Slot(3)].into_iter());
            let mut members = vec![];
            sleeping.take(first, &mut members);
            assert_eq!(members[0], first);
            members.sort_unstable();
            assert_eq!(members, [2, 5, 9].map(Slot));
            for alone in [2, 3, 5, 9, 1_000].map(Slot) {
                members.clear();
                sleeping.take(alone, &mut members);
                assert_eq!(members, [alone]);
            }
        }
    }
}
