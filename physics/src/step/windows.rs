//! Contacts between moving bodies, window by window: on one thread, or on several with the same result.
//!
//! One thread finds the hits of a window and fills its batches, in the cache. Several threads find the hits of all windows at the same time,
//! and the places of their contacts; then the number of all batches is known, and they fill them.

use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::body::record::{Shell, flag};
use crate::body::working_index::{WorkingIndex, WorkingPair};
use crate::collide::narrow_phase::Hits;
use crate::math::boxes::BoxBlock;
use crate::simd::Path;
use crate::solve::batches::WindowBatches;
use crate::solve::colors::{BatchLayout, Colors};
use crate::solve::notes::Notes;
use crate::solve::step_contacts::StepContacts;
use crate::step::broad_phase::WINDOW;
use crate::step::crew::Crew;
use crate::step::found::Found;
use crate::step::input::ContactInput;
use crate::step::working::Working;
use crate::tree::block_join::BODIES_OF_ONE;
use crate::tree::curve_box::CurvePair;
use crate::tree::quadtree::Quadtree;

/// Greatest number of parts into which the windows are divided: small ones, so that a slow thread leaves later ones to others.
const PARTS: usize = 32;

/// Something for each part, without an allocation.
type Parts<T> = SmallVec<[T; PARTS]>;

/// The data that all windows share.
#[derive(Clone, Copy, Debug)]
struct Geometry<'a> {
    blocks: &'a [BoxBlock],
    shells: &'a [Shell],
    /// Raw units.
    margin: i32,
    /// Whether there is a moving body that the solver cannot move.
    some_fixed: bool,
    path: Path,
}

impl<'a> Geometry<'a> {
    fn of(input: &ContactInput<'a>) -> Self {
        let (tree, working): (&'a Quadtree, &'a Working) = (input.tree, input.working);
        Self {
            blocks: tree.levels().first().map_or(&[][..], |blocks| blocks),
            shells: &working.shells,
            margin: input.phase.settings.margin,
            some_fixed: working.some_fixed,
            path: input.path,
        }
    }
}

/// Pairs and hits of one window; kept between steps so that a steady step does not allocate for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowHits {
    /// What the join gives: pairs of moving bodies.
    pairs: Vec<CurvePair>,
    pub(crate) hits: Hits,
    pub(crate) layout: BatchLayout,
    pub(crate) notes: Notes,
}

impl WindowHits {
    /// Broad phase and narrow phase of one window of block pairs, for the pairs of bodies that are `wanted`.
    pub(crate) fn find_wanted(
        &mut self,
        window: &[CurvePair],
        input: &ContactInput<'_>,
        wanted: &dyn Fn(WorkingPair) -> bool,
    ) {
        self.find(window, Geometry::of(input), Some(wanted));
    }

    /// The same; without `wanted`, for all pairs.
    #[inline(always)]
    fn find(
        &mut self,
        window: &[CurvePair],
        geometry: Geometry<'_>,
        wanted: Option<&dyn Fn(WorkingPair) -> bool>,
    ) {
        let Geometry { blocks, shells, margin, path, .. } = geometry;
        self.pairs.clear();
        path.join(window, blocks, blocks, BODIES_OF_ONE, &mut self.pairs);
        if let Some(wanted) = wanted {
            self.pairs.retain(|pair| wanted([pair.a, pair.b].map(|body| WorkingIndex::new(body.at()))));
        }
        path.narrow(CurvePair::movers(&self.pairs), shells, margin, &mut self.hits);
    }

    /// Makes contacts of the hits.
    pub(crate) fn add_to(&mut self, found: &mut Found<'_>, input: &ContactInput<'_>) {
        found.add_hits(CurvePair::movers(&self.pairs), &mut self.hits, input);
    }
}

/// Some windows, and what is found for them.
struct Finding<'a> {
    pairs: &'a [CurvePair],
    found: &'a mut [WindowHits],
    colors: &'a mut Colors,
}

/// Some windows, and the batches to fill.
struct Filling<'a> {
    found: &'a mut [WindowHits],
    to: WindowBatches<'a>,
}

/// What is found in the windows of a step; one thread needs only one of them. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Windows {
    found: Vec<WindowHits>,
    /// Colours of the parts of the windows that jobs look at.
    colors: Vec<Colors>,
}

impl Windows {
    /// The first window.
    pub(crate) fn first(&mut self) -> &mut WindowHits {
        if self.found.is_empty() {
            self.found.push(WindowHits::default());
        }
        &mut self.found[0]
    }

    /// Contacts between moving bodies; `blocks` are the pairs of blocks whose bounds overlap.
    pub(crate) fn find(
        &mut self,
        blocks: &[CurvePair],
        input: &ContactInput<'_>,
        found: &mut Found<'_>,
        crew: &mut Crew<'_>,
    ) {
        let windows = blocks.len().div_ceil(WINDOW);
        if !crew.is_alone() && windows > 1 {
            self.found.resize_with(windows.max(self.found.len()), WindowHits::default);
            return self.find_on_threads(blocks, input, found, crew);
        }
        // One thread goes window by window, in the cache.
        let own = self.first();
        for window in blocks.chunks(WINDOW) {
            own.find(window, Geometry::of(input), None);
            own.add_to(found, input);
        }
    }

    /// Several threads find the hits of all windows before the first contact, and then fill their batches.
    fn find_on_threads(
        &mut self,
        blocks: &[CurvePair],
        input: &ContactInput<'_>,
        found: &mut Found<'_>,
        crew: &mut Crew<'_>,
    ) {
        let windows = &mut self.found[..blocks.len().div_ceil(WINDOW)];
        let part = windows.len().div_ceil(PARTS);
        let ordinary = is_ordinary(input, found);
        self.colors.resize_with(windows.len().div_ceil(part).max(self.colors.len()), Colors::default);
        let (geometry, dummy) = (Geometry::of(input), input.dummy());
        let fast = &*found.fast;
        let parts = blocks.chunks(WINDOW * part).zip(windows.chunks_mut(part)).zip(&mut self.colors);
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
                    if input.working.some_boxes {
                        fast.drop_passing(&mut found.hits, input);
                    }
                    geometry.path.take_places(colors, &found.hits, shells, &mut found.layout);
                    found.hits.end(dummy);
                }
            }
        });
        drop(jobs);
        if ordinary {
            return fill_on_threads(windows, part, input, found.contacts, crew);
        }
        for window in windows {
            window.add_to(found, input);
        }
    }
}

/// The contacts of all windows, whose places are known; `part` windows make a job.
fn fill_on_threads(
    windows: &mut [WindowHits],
    part: usize,
    input: &ContactInput<'_>,
    contacts: &mut StepContacts,
    crew: &mut Crew<'_>,
) {
    let count = |windows: &[WindowHits]| windows.iter().map(|window| window.layout.batches).sum();
    let StepContacts { batches, notes: all_notes, stiff, .. } = contacts;
    let (setup, path) = (input.setup(stiff), input.path);
    let mut rest = batches.add(count(windows));
    let mut jobs = Parts::new();
    for found in windows.chunks_mut(part) {
        let (to, later) = rest.split_at(count(found));
        rest = later;
        jobs.push(Filling { found, to });
    }
    crew.run(&mut jobs, |Filling { found, to }| {
        let mut first = 0;
        for WindowHits { hits, layout, notes, .. } in found.iter_mut() {
            notes.clear();
            path.fill_window(&setup, hits, layout, &mut to.part(first, layout.batches), notes);
            first += layout.batches;
        }
    });
    drop(jobs);
    windows.iter_mut().for_each(|window| all_notes.append(&mut window.notes));
}

/// Whether geometry, masses, ranks and restitution are all that decides about contacts.
fn is_ordinary(input: &ContactInput<'_>, found: &Found<'_>) -> bool {
    input.working.any_flags & flag::SPECIAL == 0
        && !input.phase.scene.has_ignored_pairs()
        && found.fast.marks.is_empty()
}
