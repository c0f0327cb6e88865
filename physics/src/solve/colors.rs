//! Colours: which contacts of a window may share a batch.
//!
//! A contact takes the lowest colour that neither of its movable bodies has used yet, so contacts of one colour touch
//! different bodies and fill the lanes of one batch after another. Colours start again with every *window* of the broad
//! phase: one window's bodies stay in the cache, and the batches never depend on how many threads made them.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use crate::body::working_index::{WorkingIndex, WorkingPair};
use crate::collide::narrow_phase::HitIndex;
use crate::math::boxes::LANES;
use crate::solve::contact_place::WindowPlace;

/// Colours per window: one bit each.
const COLORS: usize = 64;

/// What the batches of one window hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct BatchLayout {
    /// The hits of which the contacts of each batch are made; the one behind the last hit for an empty lane. There may be more of these blocks than
    /// batches.
    hits: Vec<[HitIndex; LANES]>,
    /// Where the empty lanes of a batch begin.
    pub(crate) ends: Vec<WindowPlace>,
    /// Batches of the window.
    pub(crate) batches: u32,
}

impl BatchLayout {
    /// The hits of each batch.
    pub(crate) fn hits(&self) -> &[[HitIndex; LANES]] {
        &self.hits[..self.batches as usize]
    }
}

/// The colours that the bodies of a window have used.
#[derive(Clone, Debug)]
pub(crate) struct Colors {
    /// By working index, one bit each; none outside of a window.
    used: Vec<u64>,
    /// The next place of each colour; the first one of a batch when it needs a batch.
    open: [WindowPlace; COLORS],
    /// Where the empty lanes begin in the batches of those that have used up all colours.
    ends: Vec<WindowPlace>,
    // not state: of the window, so far
    pub(crate) batches: u32,
}

impl Default for Colors {
    fn default() -> Self {
        Self { used: Vec::new(), open: [WindowPlace::default(); COLORS], ends: Vec::new(), batches: 0 }
    }
}

impl Colors {
    /// Makes room for `bodies` working bodies.
    pub(crate) fn begin(&mut self, bodies: usize) {
        self.used.resize(bodies, 0);
    }

    /// The place of a contact of `a` and `b` in a batch of its colour; `movable` tells which of them the solver can move.
    pub(crate) fn take_place(&mut self, pair: WorkingPair, movable: [bool; 2]) -> WindowPlace {
        let Self { used, open, ends, batches } = self;
        take_place(used, open, ends, batches, pair, movable)
    }

    /// Places of the contacts of a whole window; `movable` tells which bodies the solver can move.
    #[inline(always)]
    pub(crate) fn take_places(
        &mut self,
        pairs: &[WorkingPair],
        movable: impl Fn(WorkingIndex) -> bool,
        layout: &mut BatchLayout,
    ) {
        let Self { used, open, ends, batches } = self;
        // In registers.
        let (used, mut count) = (used.as_mut_slice(), *batches);
        for (eight, first) in pairs.chunks(LANES).zip((0..).step_by(LANES)) {
            // Eight contacts begin eight batches at most.
            if layout.hits.len() < count as usize + LANES {
                layout.hits.resize((count as usize + LANES) * 2, [HitIndex::default(); LANES]);
            }
            let hits = layout.hits.as_flattened_mut();
            for (&[a, b], hit) in eight.iter().zip((first..).map(HitIndex)) {
                let place = take_place(used, open, ends, &mut count, [a, b], [movable(a), movable(b)]);
                if let Some(at_place) = hits.get_mut(place.at()) {
                    *at_place = hit;
                }
            }
        }
        *batches = count;
        self.end_window(pairs, layout);
        for &end in &layout.ends {
            let end = end.at();
            let empty = &mut layout.hits.as_flattened_mut()[end..end.next_multiple_of(LANES)];
            empty.fill(HitIndex::new(pairs.len()));
        }
    }

    /// Starts all colours again. `pairs` are those of the contacts since the last window.
    #[inline(always)]
    pub(crate) fn end_window(&mut self, pairs: &[WorkingPair], layout: &mut BatchLayout) {
        let used = self.used.as_mut_slice();
        pairs.as_flattened().iter().for_each(|&body| used[body.at()] = 0);
        let open = core::mem::replace(&mut self.open, [WindowPlace::default(); COLORS]);
        layout.ends.clear();
        layout.ends.append(&mut self.ends);
        layout.ends.extend(open.into_iter().filter(|place| !place.is_first()));
        layout.batches = core::mem::take(&mut self.batches);
    }
}

/// See [`Colors::take_place`]; the arguments are the fields of [`Colors`]. A body that has used up all colours of the window gets batches
/// of a single contact.
#[inline(always)]
fn take_place(
    used: &mut [u64],
    open: &mut [WindowPlace; COLORS],
    ends: &mut Vec<WindowPlace>,
    batches: &mut u32,
    [a, b]: WorkingPair,
    movable: [bool; 2],
) -> WindowPlace {
    if movable == [false; 2] {
        return WindowPlace::NOWHERE;
    }
    // Nothing is used by a body that cannot be moved: any number of its contacts may share a batch.
    let (used_a, used_b) = (used[a.at()], used[b.at()]);
    let used_by_both = used_a | used_b;
    // The bit of the lowest free colour. The next contact of either body waits for it, so there is no shift.
    let bit = !used_by_both & used_by_both.wrapping_add(1);
    if bit == 0 {
        let place = WindowPlace::first_of(*batches);
        *batches += 1;
        ends.push(place.next());
        return place;
    }
    used[a.at()] = used_a | if movable[0] { bit } else { 0 };
    used[b.at()] = used_b | if movable[1] { bit } else { 0 };
    let color = bit.trailing_zeros() as usize;
    let next = open[color];
    // Which contact begins a batch is hard to predict for a branch.
    let full = next.is_first();
    let place = select_unpredictable(full, WindowPlace::first_of(*batches), next);
    *batches += u32::from(full);
    open[color] = place.next();
    place
}
