//! The bodies, and what else decides which of them meet.

use crate::body::record::{Body, flag};
use crate::body::slot::Slot;
use crate::body::terrain::Terrain;
use crate::collide::narrow_phase::separation;
use crate::contact::ignored::IgnoredPairs;
use crate::math::axes::both;
use crate::solve::batches::PARTING_GAP;
use crate::world_def::Settings;

/// The greatest distance of two bodies that fell asleep in contact: that of a contact, and what both may move in their last frame, each by two sleep
/// speeds at most. Raw units.
pub(crate) fn resting_reach(settings: &Settings) -> i32 {
    settings.margin.max(PARTING_GAP).saturating_add(settings.sleep_speed.saturating_mul(4))
}

/// The bodies, and what else decides which of them meet.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    /// By slot.
    pub(crate) bodies: &'a [Body],
    pub(crate) ignored: &'a IgnoredPairs,
    pub(crate) terrain: &'a Terrain,
}

impl Scene<'_> {
    /// Whether the bodies in two slots may touch at all.
    #[inline]
    pub(crate) fn interact(&self, a: Slot, b: Slot) -> bool {
        let [body_a, body_b] = both([a, b], |slot| &self.bodies[slot]);
        body_a.interacts_with(body_b) && !self.ignored.contains(a, b)
    }

    /// Whether a chain goes on, for a body, with the segment in a slot.
    pub(crate) fn joins(&self, mover: Slot, slot: Slot) -> bool {
        !self.bodies[slot].has(flag::DISABLED) && self.interact(mover, slot)
    }

    /// Whether the surfaces of two bodies are at most `distance` raw units apart. At most one of them is terrain.
    pub(crate) fn are_within(&self, a: Slot, b: Slot, distance: i32) -> bool {
        let [shell_a, shell_b] = both([a, b], |slot| self.bodies[slot].shell(slot));
        if !shell_a.bounds().grown(distance).overlaps(&shell_b.bounds()) {
            return false;
        }
        let gap = if shell_a.is_terrain() {
            self.terrain.plain_separation(a, &shell_b).map(|found| found.gap)
        } else if shell_b.is_terrain() {
            self.terrain.plain_separation(b, &shell_a).map(|found| found.gap)
        } else {
            Some(separation(&shell_a, &shell_b).1)
        };
        gap.is_some_and(|gap| gap <= distance)
    }

    /// Whether two bodies at rest may keep their contact. A call can move or change bodies and put them to sleep before the next step; otherwise
    /// none of them is further apart, see [`resting_reach`].
    pub(crate) fn keeps_resting_contact(&self, a: Slot, b: Slot, settings: &Settings) -> bool {
        let either = self.bodies[a].flags | self.bodies[b].flags;
        either & flag::SENSOR == 0 && self.interact(a, b) && self.are_within(a, b, resting_reach(settings))
    }

    /// Whether there are pairs that ignore each other.
    pub(crate) fn has_ignored_pairs(&self) -> bool {
        !self.ignored.as_slice().is_empty()
    }
}
