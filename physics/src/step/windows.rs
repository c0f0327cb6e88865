//! Contacts between moving bodies, window by window: on one thread, or on several with the same result.
//!
//! One thread finds the hits of a window and fills its batches, in the cache. Several threads find the hits of all windows at the same time,
//! and the places of their contacts; then the number of all batches is known, and they fill them.

use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::body::record::{Shell, flag};
use crate::collide::narrow_phase::Hits;
use crate::math::boxes::BoxBlock;
use crate::simd::Path;
use crate::solve::coloring::{Notes, WindowBatches};
use crate::solve::colors::{Colors, Places};
use crate::step::broad_phase::WINDOW;
use crate::step::contact_phase::ContactPhase;
use crate::step::crew::Crew;
use crate::step::stepper::Stepper;
use crate::tree::block_join::{BODIES_OF_ONE, IndexPair};

/// Greatest number of parts into which the windows are divided: small ones, so that a slow thread leaves later ones to others.
const PARTS: usize = 32;

/// Something for each part, without an allocation.
type Parts<T> = SmallVec<[T; PARTS]>;

/// The data that all windows share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry<'a> {
    pub(crate) blocks: &'a [BoxBlock],
    pub(crate) shells: &'a [Shell],
    /// Raw units.
    pub(crate) margin: i32,
    /// Whether there is a moving body that the solver cannot move.
    pub(crate) some_fixed: bool,
    pub(crate) path: Path,
}

/// Pairs and hits of one window; kept between steps so that a steady step does not allocate for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowHits {
    pub(crate) pairs: Vec<IndexPair>,
    pub(crate) hits: Hits,
    pub(crate) places: Places,
    pub(crate) notes: Notes,
}

impl WindowHits {
    /// Broad phase and narrow phase of one window of block pairs, for the pairs of bodies that are `wanted`.
    #[inline(always)]
    pub(crate) fn find(
        &mut self,
        window: &[IndexPair],
        geometry: Geometry<'_>,
        wanted: Option<&dyn Fn(IndexPair) -> bool>,
    ) {
        let Geometry { blocks, shells, margin, path, .. } = geometry;
        self.pairs.clear();
        path.join(window, blocks, blocks, BODIES_OF_ONE, &mut self.pairs);
        if let Some(wanted) = wanted {
            self.pairs.retain(|&pair| wanted(pair));
        }
        path.narrow(&self.pairs, shells, margin, &mut self.hits);
    }
}

/// Some windows, and what is found for them.
struct Finding<'a> {
    pairs: &'a [IndexPair],
    found: &'a mut [WindowHits],
    colors: &'a mut Colors,
}

/// Some windows, and the batches to fill.
struct Filling<'a> {
    found: &'a mut [WindowHits],
    to: WindowBatches<'a>,
}

impl Stepper {
    /// Contacts between moving bodies; `blocks` are the pairs of blocks whose bounds overlap.
    pub(crate) fn find_in_windows(
        &mut self,
        blocks: &[IndexPair],
        found: &mut Vec<WindowHits>,
        phase: &mut ContactPhase<'_>,
        crew: &mut Crew<'_>,
    ) {
        let windows = blocks.len().div_ceil(WINDOW);
        if !crew.is_alone() && windows > 1 {
            found.resize_with(windows.max(found.len()), WindowHits::default);
            return self.find_on_threads(blocks, &mut found[..windows], phase, crew);
        }
        // One thread goes window by window, in the cache.
        for window in blocks.chunks(WINDOW) {
            let found = &mut found[0];
            found.find(window, self.geometry(phase.settings.margin), None);
            self.add_hits(&found.pairs, &mut found.hits, phase);
        }
    }

    /// Several threads find the hits of all windows before the first contact, and then fill their batches.
    fn find_on_threads(
        &mut self,
        blocks: &[IndexPair],
        found: &mut [WindowHits],
        phase: &mut ContactPhase<'_>,
        crew: &mut Crew<'_>,
    ) {
        let part = found.len().div_ceil(PARTS);
        let ordinary = self.is_ordinary(phase);
        let mut colors = core::mem::take(&mut self.colors_of_jobs);
        colors.resize_with(found.len().div_ceil(part).max(colors.len()), Colors::default);
        let geometry = self.geometry(phase.settings.margin);
        let dummy = self.tree.slot_of_lane().len() as u32;
        let parts = blocks.chunks(WINDOW * part).zip(found.chunks_mut(part)).zip(&mut colors);
        let mut jobs: Parts<_> = parts
            .map(|((pairs, found), colors)| {
                colors.begin(geometry.shells.len());
                Finding { pairs, found, colors }
            })
            .collect();
        crew.run(&mut jobs, |Finding { pairs, found, colors }| {
            let shells = geometry.some_fixed.then_some(geometry.shells);
            for (window, found) in pairs.chunks(WINDOW).zip(found.iter_mut()) {
                found.find(window, geometry, None);
                if ordinary {
                    geometry.path.take_places(colors, &found.hits, shells, &mut found.places);
                    found.hits.end(dummy);
                }
            }
        });
        drop(jobs);
        self.colors_of_jobs = colors;
        if ordinary {
            return self.fill_on_threads(found, part, phase, crew);
        }
        for found in found {
            self.add_hits(&found.pairs, &mut found.hits, phase);
        }
    }

    /// The contacts of all windows, whose places are known.
    fn fill_on_threads(
        &mut self,
        found: &mut [WindowHits],
        part: usize,
        phase: &mut ContactPhase<'_>,
        crew: &mut Crew<'_>,
    ) {
        let count = |found: &[WindowHits]| found.iter().map(|found| found.places.batches).sum();
        let mut batches = core::mem::take(&mut self.batches);
        let (setup, path) = (self.setup(phase), self.path);
        let mut rest = batches.add(count(found));
        let mut jobs = Parts::new();
        for found in found.chunks_mut(part) {
            let (to, later) = rest.split_at(count(found));
            rest = later;
            jobs.push(Filling { found, to });
        }
        crew.run(&mut jobs, |Filling { found, to }| {
            let mut first = 0;
            for WindowHits { hits, places, notes, .. } in found.iter_mut() {
                notes.clear();
                path.fill_window(&setup, hits, places, &mut to.part(first, places.batches), notes);
                first += places.batches;
            }
        });
        drop(jobs);
        self.batches = batches;
        found.iter_mut().for_each(|found| self.notes.append(&mut found.notes));
    }

    /// Whether geometry, masses, ranks and restitution are all that decides about contacts.
    fn is_ordinary(&self, phase: &ContactPhase<'_>) -> bool {
        self.any_flags & flag::SPECIAL == 0 && !phase.asks && self.fast.is_empty()
    }

    pub(crate) fn geometry(&self, margin: i32) -> Geometry<'_> {
        let blocks = self.tree.levels().first().map_or(&[][..], |blocks| blocks);
        Geometry { blocks, shells: &self.shells, margin, some_fixed: self.some_fixed, path: self.path }
    }
}
