//! Bodies that move, that sleep, and that change from one to the other.

use alloc::vec::Vec;

use crate::body::record::{Body, flag};
use crate::body::slot::Slot;
use crate::contact::cache::ContactCache;
use crate::math::copy::clone_in_place;
use crate::step::islands::SleepingIslands;
use crate::tree::resting::RestingTrees;

/// The lists of moving, new and sleeping bodies, as slots. All of it is derived from the state, or scratch.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// Bodies that move in a step, ascending. Between steps, those that left are still here.
    pub(crate) active: Vec<Slot>,
    /// Moving bodies that left since the last step; may hold repeated slots, and slots that are in use again.
    pub(crate) left: Vec<Slot>,
    /// Bodies that woke up or were created since the last step; may hold stale and repeated slots.
    pub(crate) waking: Vec<Slot>,
    /// Bodies created since the last step.
    pub(crate) fresh: Vec<Slot>,
    /// Bodies that fell asleep in the last step, ascending.
    pub(crate) dozed: Vec<Slot>,
    /// The sleeping islands.
    pub(crate) sleeping: SleepingIslands,
    /// Whether `sleep_body` was called since the last step: the contacts of those bodies are still among those of the moving bodies.
    pub(crate) lulled: bool,
    /// Members of an island that wakes up or falls asleep.
    pub(crate) members: Vec<Slot>,
    /// Sleeping bodies that a moving one would touch in a step; a slot may be listed twice.
    pub(crate) in_the_way: Vec<Slot>,
    /// Sleeping bodies that were pushed in a step, with their velocities.
    pub(crate) pushed: Vec<(Slot, [i32; 2])>,
    newcomers: Vec<Slot>,
}

clone_in_place!(
    Activity: active, left, waking, fresh, dozed, sleeping, lulled; not members, in_the_way, pushed, newcomers
);

impl Activity {
    /// Wakes a body and the island that it sleeps with; they move from the next step on. `previous` are the positions before the last step, by
    /// slot.
    pub(crate) fn wake_island(
        &mut self,
        slot: Slot,
        bodies: &mut [Body],
        previous: &mut [[i32; 2]],
        contacts: &mut ContactCache,
    ) {
        let Self { sleeping, members, waking, .. } = self;
        members.clear();
        sleeping.take(slot, members);
        for &member in &*members {
            let body = &mut bodies[member];
            body.still_ms = 0;
            body.set(flag::AWAKE, true);
            previous[member.at()] = body.position;
            waking.push(member);
            contacts.stir(member);
        }
    }

    /// Bodies that left are no longer among the moving ones.
    pub(crate) fn part(&mut self) {
        sort_out(&mut self.active, &mut self.left);
    }

    /// Woken bodies leave the resting trees and join the moving ones.
    pub(crate) fn join(&mut self, bodies: &[Body], resting: &mut RestingTrees) {
        let Self { active, waking, newcomers, .. } = self;
        if waking.is_empty() {
            return;
        }
        let known = active.len();
        for slot in waking.drain(..) {
            // A woken body does not move any more if it was removed or disabled since; a new body in its slot counts once.
            if bodies[slot].has(flag::AWAKE) && resting.contains(slot) {
                resting.remove(slot);
                active.push(slot);
            }
        }
        sort_in(active, known, newcomers);
    }
}

/// Takes the elements of `gone` out of a sorted list; `gone` is empty afterwards.
fn sort_out(list: &mut Vec<Slot>, gone: &mut Vec<Slot>) {
    gone.sort_unstable();
    let (mut kept, mut seen) = (0, 0);
    for element in gone.drain(..) {
        let at = seen + list[seen..].partition_point(|&other| other < element);
        list.copy_within(seen..at, kept);
        kept += at - seen;
        seen = at + usize::from(list.get(at) == Some(&element));
    }
    list.copy_within(seen.., kept);
    list.truncate(kept + list.len() - seen);
}

/// Sorts a list whose first `sorted` elements are already sorted.
fn sort_in(list: &mut [Slot], sorted: usize, scratch: &mut Vec<Slot>) {
    list[sorted..].sort_unstable();
    scratch.clear();
    scratch.extend_from_slice(&list[sorted..]);
    // From the end: the greatest element takes the last free position.
    let mut left = sorted;
    for place in (0..list.len()).rev() {
        let Some(&newcomer) = scratch.last() else { return };
        if left > 0 && list[left - 1] > newcomer {
            left -= 1;
            list[place] = list[left];
        } else {
            list[place] = newcomer;
            scratch.pop();
        }
    }
}
