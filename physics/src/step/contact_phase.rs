//! From pairs of overlapping boxes to contacts in batches, window by window: narrow phase and contact set-up.

use crate::body::record::{Body, Extra, Shell, flag};
use crate::body::terrain::Terrain;
use crate::collide::narrow_phase::{Hit, Hits, Manifold, UNIT, UNIT_BITS};
use crate::collide::seams::is_covered;
use crate::contact::cache::ContactCache;
use crate::contact::ignored::IgnoredPairs;
use crate::contact::sensors::SensorOverlaps;
use crate::contact::setup::{ContactSetup, Solving};
use crate::math::boxes::{LANES, NO_SLOT};
use crate::math::num::isqrt_u64;
use crate::solve::colors::NOWHERE;
use crate::solve::friction::FrictionContact;
use crate::step::broad_phase::WINDOW;
use crate::step::crew::Crew;
use crate::step::stepper::Stepper;
use crate::step::windows::WindowHits;
use crate::tree::block_join::IndexPair;
use crate::world_def::Settings;

/// The bodies, and what else decides which of them meet.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) bodies: &'a [Body],
    pub(crate) ignored: &'a IgnoredPairs,
    pub(crate) terrain: &'a Terrain,
}

impl Scene<'_> {
    /// Whether the bodies in two slots may touch at all.
    #[inline]
    pub(crate) fn interact(&self, a: u32, b: u32) -> bool {
        let [body_a, body_b] = [a, b].map(|slot| &self.bodies[slot as usize]);
        body_a.interacts_with(body_b) && !self.ignored.contains(a, b)
    }
}

/// Input and output of the contact phase besides the working arrays.
pub(crate) struct ContactPhase<'a> {
    pub(crate) scene: Scene<'a>,
    pub(crate) extras: &'a [Extra],
    pub(crate) settings: &'a Settings,
    /// Whether there are pairs that ignore each other.
    pub(crate) asks: bool,
    /// Whether a body has ever had a rank of its own.
    pub(crate) ranked: bool,
    pub(crate) fps: u32,
    pub(crate) contacts: &'a ContactCache,
    pub(crate) sensors: &'a mut SensorOverlaps,
}

impl Stepper {
    /// Finds the contacts of the step, window by window.
    #[inline(never)]
    pub(crate) fn find_contacts(&mut self, phase: &mut ContactPhase<'_>, crew: &mut Crew<'_>) {
        let dummy = self.tree.slot_of_lane().len() as u32;
        assert!((dummy as usize) < self.shells.len());
        self.batches.begin(dummy);
        self.colors.begin(self.shells.len());
        self.notes.clear();
        self.frictions.clear();
        self.stiff.begin(phase.settings.gravity != [0; 2]);
        if !self.fast.is_empty() {
            let resting_pairs = core::mem::take(&mut self.resting_pairs);
            self.find_stops(&resting_pairs, phase.scene);
            self.resting_pairs = resting_pairs;
        }
        let mut join = core::mem::take(&mut self.join);
        let mut found = core::mem::take(&mut self.found);
        found.resize_with(found.len().max(1), WindowHits::default);
        let blocks = join.within(&self.tree, self.path);
        if self.pile_up.begin(blocks.len(), &self.shells[..dummy as usize]) {
            self.find_in_pile_up(blocks, &mut found[0], phase);
        } else {
            self.find_in_windows(blocks, &mut found, phase, crew);
        }
        self.batches.end_movers();
        let mut pairs = core::mem::take(&mut self.pairs);
        let resting_pairs = core::mem::take(&mut self.resting_pairs);
        self.terrain_pairs.clear();
        let mut rest = &resting_pairs[..];
        while !rest.is_empty() {
            // The bodies near one moving body stay together, for the seams.
            let (last, _) = rest[rest.len().min(LANES * WINDOW) - 1];
            let (window, later) = rest.split_at(rest.partition_point(|&(lane, _)| lane <= last));
            rest = later;
            pairs.clear();
            pairs.extend(window.iter().map(|&(lane, slot)| [lane, self.working[slot as usize]]));
            if !phase.scene.terrain.is_empty() {
                let is_terrain = |pair: &mut IndexPair| self.shells[pair[1] as usize].is_terrain();
                self.terrain_pairs.extend(pairs.extract_if(.., is_terrain));
            }
            let hits = &mut found[0].hits;
            self.path.narrow(&pairs, &self.shells, phase.settings.margin, hits);
            self.drop_seams(hits, phase.scene);
            self.add_hits(&pairs, hits, phase);
        }
        self.add_terrain(phase);
        self.add_fast(&resting_pairs, phase);
        for &(_, slot) in &resting_pairs {
            self.working[slot as usize] = NO_SLOT;
        }
        (self.join, self.found, self.pairs, self.resting_pairs) = (join, found, pairs, resting_pairs);
    }

    /// Contacts of one window's hits.
    pub(crate) fn add_hits(&mut self, pairs: &[IndexPair], hits: &mut Hits, phase: &mut ContactPhase<'_>) {
        self.set_aside_fast(pairs, hits, phase.settings.box_margin());
        if self.any_flags & flag::SPECIAL != 0 || phase.asks {
            hits.iter().for_each(|hit| self.add_special(&hit, phase));
            return self.end_window(&hits.pairs[..hits.len]);
        }
        let (mut batches, mut places) =
            (core::mem::take(&mut self.batches), core::mem::take(&mut self.places));
        let mut notes = core::mem::take(&mut self.notes);
        let movers = self.tree.slot_of_lane().len() as u32;
        let shells = (self.some_fixed || pairs.last().is_some_and(|pair| pair[1] >= movers))
            .then_some(&self.shells[..]);
        self.path.take_places(&mut self.colors, hits, shells, &mut places);
        hits.end(movers);
        let mut to = batches.add(places.batches);
        self.path.fill_window(&self.setup(phase), hits, &places, &mut to, &mut notes);
        (self.batches, self.places, self.notes) = (batches, places, notes);
    }

    /// Ends a window whose contacts were added one by one.
    pub(crate) fn end_window(&mut self, pairs: &[IndexPair]) {
        let Self { batches, colors, places, .. } = self;
        let first = batches.as_slice().len() - colors.batches as usize;
        colors.end_window(pairs, places);
        batches.window(first).empty(&places.ends);
    }

    /// Drops the hits inside walls that consist of several rectangles. The hits of a moving body are adjacent.
    fn drop_seams(&mut self, hits: &mut Hits, scene: Scene<'_>) {
        let mut seams = core::mem::take(&mut self.seams);
        seams.clear();
        seams.resize(hits.len, false);
        let mut first = 0;
        while first < hits.len {
            let mover = hits.pairs[first][0];
            let end = first + hits.pairs[first..hits.len].iter().take_while(|pair| pair[0] == mover).count();
            if end - first > 1 {
                for (at, seam) in (first..end).zip(&mut seams[first..end]) {
                    let others = hits.pairs[first..end].iter().map(|pair| pair[1]);
                    *seam = self.is_seam(&hits.get(at), &self.shells[mover as usize], others, scene);
                }
                // Deep inside overlapping walls any direction out is better than none.
                if seams[first..end].iter().all(|&seam| seam) {
                    seams[first..end].fill(false);
                }
            }
            first = end;
        }
        hits.retain(|at, _| !seams[at]);
        self.seams = seams;
    }

    /// Whether a hit is with a side or a corner inside a wall that consists of several rectangles: another one of `others` covers it.
    pub(crate) fn is_seam(
        &self,
        hit: &Hit,
        mover: &Shell,
        others: impl Iterator<Item = u32>,
        scene: Scene<'_>,
    ) -> bool {
        let wall = &self.shells[hit.b as usize];
        let is_wall = |shell: &Shell| shell.mass == 0 && shell.radius == 0;
        if !is_wall(wall) || mover.mass == 0 {
            return false;
        }
        let found = Manifold { normal: hit.normal, gap: hit.gap };
        let (bodies, slot) = (scene.bodies, wall.slot);
        others.map(|other| (other, &self.shells[other as usize])).any(|(index, other)| {
            let body = &bodies[other.slot as usize];
            index != hit.b
                && is_wall(other)
                && (body.flags | bodies[slot as usize].flags) & flag::SENSOR == 0
                && scene.interact(mover.slot, other.slot)
                && is_covered(mover, wall, &found, other, other.slot < slot)
        })
    }

    pub(crate) fn setup<'a>(&'a self, phase: &'a ContactPhase<'_>) -> ContactSetup<'a> {
        ContactSetup {
            shells: &self.shells,
            velocities: &self.velocities,
            cached: &self.cached,
            fresh: &self.fresh,
            contacts: phase.contacts,
            settings: phase.settings,
            fps: phase.fps,
            stiff: &self.stiff,
            ranks: phase.ranked.then_some(phase.extras),
        }
    }

    /// Makes the contact of a pair, unless neither body can be moved. Returns its batch and lane.
    fn add_contact(&mut self, hit: &Hit, solving: Solving, phase: &ContactPhase<'_>) -> Option<(u32, u32)> {
        let pair = [hit.a, hit.b];
        let first = self.batches.as_slice().len() - self.colors.batches as usize;
        let place = self.colors.take_place(pair, pair.map(|body| self.shells[body as usize].mass != 0));
        if place == NOWHERE {
            return None;
        }
        let (mut batches, mut notes) = (core::mem::take(&mut self.batches), core::mem::take(&mut self.notes));
        batches.extend_to(first + self.colors.batches as usize);
        let place = self.setup(phase).fill_one(hit, solving, place, &mut batches.window(first), &mut notes);
        (self.batches, self.notes) = (batches, notes);
        Some(place)
    }

    /// Filters, sensors, locked axes and contact friction.
    pub(crate) fn add_special(&mut self, hit: &Hit, phase: &mut ContactPhase<'_>) {
        let (a, b) = (self.shells[hit.a as usize], self.shells[hit.b as usize]);
        if !phase.scene.interact(a.slot, b.slot) {
            return;
        }
        let [body_a, body_b] = [a, b].map(|shell| &phase.scene.bodies[shell.slot as usize]);
        if (body_a.flags | body_b.flags) & flag::SENSOR != 0 {
            if hit.gap <= 0 {
                phase.sensors.push(a.slot, b.slot);
            }
            return;
        }
        self.add_solid(hit, phase);
    }

    /// The contact of two bodies that are not sensors and do not ignore each other.
    pub(crate) fn add_solid(&mut self, hit: &Hit, phase: &mut ContactPhase<'_>) {
        let (a, b) = (self.shells[hit.a as usize], self.shells[hit.b as usize]);
        let ranks = [a, b].map(|shell| phase.extras[shell.slot as usize].dominance);
        let Some(share_a) = share_with_locks(phase.scene.bodies, &a, &b, hit.normal, ranks) else {
            // The bodies touch, but neither can yield along the normal.
            self.add_contact(hit, Solving::No, phase);
            return;
        };
        let friction =
            combined_friction(phase.extras[a.slot as usize].friction, phase.extras[b.slot as usize].friction);
        let place = self.add_contact(hit, Solving::Shared(share_a), phase);
        if let Some(place) = place
            && friction > 0
        {
            let slide = phase.contacts.slide(self.batches.origin(place).cached);
            self.frictions.push(FrictionContact::new(place, friction, slide));
        }
    }
}

/// The share where a locked axis takes no part: a body locked along the normal cannot be moved by this contact. Of two that can be moved,
/// the one of the lower rank takes all. `None` when neither body can.
#[cold]
fn share_with_locks(bodies: &[Body], a: &Shell, b: &Shell, normal: [i32; 2], ranks: [i16; 2]) -> Option<i32> {
    let freedom = |shell: &Shell| {
        let body = &bodies[shell.slot as usize];
        let along = |axis: usize, bit: u32| {
            let n = u64::from(normal[axis].unsigned_abs()) >> 15;
            if body.has(bit) { 0 } else { n * n }
        };
        // 30 fraction bits; mass 0 (immovable) has none.
        if shell.mass == 0 { 0 } else { along(0, flag::LOCK_X) + along(1, flag::LOCK_Y) }
    };
    let free = [freedom(a), freedom(b)];
    if ranks[0] != ranks[1] && free[0] != 0 && free[1] != 0 {
        return Some(if ranks[0] < ranks[1] { UNIT } else { 0 });
    }
    let weight = |free: u64, mass: u32| u128::from(free) * u128::from(mass.max(1));
    let (to_a, to_b) = (weight(free[0], b.mass), weight(free[1], a.mass));
    ((to_a << UNIT_BITS).checked_div(to_a + to_b)).map(|share| share as i32)
}

/// Geometric mean of two coefficients of contact friction, as in Box2D.
fn combined_friction(a: i32, b: i32) -> i32 {
    isqrt_u64(a as u64 * b as u64) as i32
}
