//! What the search for contacts reads.

use crate::body::record::{Extra, flag};
use crate::body::slot::Slot;
use crate::body::working_index::{WorkingIndex, WorkingPair};
use crate::collide::narrow_phase::Manifold;
use crate::contact::cache::ContactCache;
use crate::contact::setup::ContactSetup;
use crate::math::axes::both;
use crate::math::lanes::base;
use crate::simd::Path;
use crate::solve::batches::Cached;
use crate::solve::stiff::StiffContacts;
use crate::step::near::Near;
use crate::step::scene::Scene;
use crate::step::working::Working;
use crate::tree::quadtree::Quadtree;
use crate::world_def::Settings;

/// What the world gives to the search for contacts.
#[derive(Clone, Copy)]
pub(crate) struct ContactPhase<'a> {
    pub(crate) scene: Scene<'a>,
    /// By slot.
    pub(crate) extras: &'a [Extra],
    /// The same if a body may have a rank.
    pub(crate) ranks: Option<&'a [Extra]>,
    pub(crate) settings: &'a Settings,
    pub(crate) fps: u32,
    pub(crate) contacts: &'a ContactCache,
}

/// All that the search for contacts reads.
#[derive(Clone, Copy)]
pub(crate) struct ContactInput<'a> {
    pub(crate) phase: ContactPhase<'a>,
    pub(crate) path: Path,
    /// That of the moving bodies.
    pub(crate) tree: &'a Quadtree,
    pub(crate) working: &'a Working,
    pub(crate) near: &'a Near,
}

impl ContactInput<'_> {
    /// The dummy body: moving bodies come before it, bodies at rest behind it.
    pub(crate) fn dummy(&self) -> WorkingIndex {
        WorkingIndex::new(self.tree.slot_of_lane().len())
    }

    /// What contact set-up reads.
    pub(crate) fn setup<'b>(&'b self, stiff: &'b StiffContacts) -> ContactSetup<'b> {
        let Self { phase, working, .. } = self;
        ContactSetup {
            shells: &working.shells,
            velocities: &working.velocities,
            cached: &working.cached,
            fresh: &working.fresh,
            contacts: phase.contacts,
            settings: phase.settings,
            fps: phase.fps,
            stiff,
            ranks: phase.ranks,
        }
    }

    /// The velocity of a body before anything is solved.
    pub(crate) fn velocity(&self, index: WorkingIndex) -> [i32; 2] {
        self.working.velocities[index].get()
    }

    /// The sum of the growths of two boxes.
    pub(crate) fn pair_margin(&self, pair: WorkingPair) -> i32 {
        let most = self.phase.settings.box_margin();
        both(pair, |index| self.working.shells[index].growth(most)).iter().sum()
    }

    /// Whether a moving body may have a contact with a piece of terrain; this depends on the side of one-sided segments.
    pub(crate) fn enters(&self, lane: WorkingIndex, slot: Slot, found: &Manifold) -> bool {
        let Self { phase, working, .. } = self;
        let own = working.shells[lane].slot;
        // A contact of the last body in a slot is none of the new one's.
        let is_known = |slot: Slot| phase.scene.bodies.get(slot.at()).is_some_and(|b| !b.has(flag::FRESH));
        let touched = |other: Slot| {
            let range = working.cached[lane];
            let may_touch = !working.is_fresh(lane) && is_known(other);
            may_touch && phase.contacts.find(base(), own, other, range).0 != Cached::NONE
        };
        phase.scene.terrain.is_entered(slot, found, self.velocity(lane), touched)
    }
}
