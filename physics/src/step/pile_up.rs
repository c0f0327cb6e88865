//! Pile-ups: more bodies in one place than contacts can serve.
//!
//! If all bodies in a place overlap, the number of pairs grows with the square of the number of bodies: 50 million for 10,000 in one point.
//! A body that overlaps dozens of others deeply gains nothing from more of them. So in a world with far more pairs of blocks than a crowd
//! can have, a pair of bodies is left out if both have enough deep contacts already. Bodies near each other along the curve come first;
//! then all get about as many. Sensors, immovable bodies and pairs that ignore each other never count, so nothing is left out because of
//! them.

use alloc::vec::Vec;

use crate::body::record::Shell;
use crate::collide::narrow_phase::separation;
use crate::math::boxes::LANES;
use crate::step::contact_phase::ContactPhase;
use crate::step::stepper::Stepper;
use crate::step::windows::WindowHits;
use crate::tree::block_join::IndexPair;

/// Pairs of blocks per block from which on there may be a pile-up. A crowd has four or five. This bounds the contacts outside of pile-ups:
/// 64 per body on average.
const BLOCK_PAIRS: usize = 8;

/// This many deep contacts are enough.
const ENOUGH: u8 = 32;

/// Pairs of blocks that are processed before the bodies are counted again.
const WINDOW: usize = 64;

/// The deep contacts of a pile-up. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct PileUp {
    /// Number of deep contacts of each moving body, at most [`ENOUGH`]; lanes without a body count as full. Empty without a pile-up.
    deep: Vec<u8>,
    pairs: Vec<IndexPair>,
    window: Vec<IndexPair>,
}

impl PileUp {
    /// Whether there may be a pile-up among the `movers`, judged by the number of overlapping pairs of blocks.
    pub(crate) fn begin(&mut self, block_pairs: usize, movers: &[Shell]) -> bool {
        self.deep.clear();
        if block_pairs <= BLOCK_PAIRS * movers.len() / LANES {
            return false;
        }
        self.deep.extend(movers.iter().map(|shell| if shell.slot == Shell::HOLE.slot { ENOUGH } else { 0 }));
        true
    }

    pub(crate) fn is_here(&self) -> bool {
        !self.deep.is_empty()
    }

    fn has_enough(&self, body: u32) -> bool {
        self.deep[body as usize] >= ENOUGH
    }

    fn block_has_enough(&self, block: u32) -> bool {
        let first = block as usize * LANES;
        self.deep[first..first + LANES].iter().all(|&deep| deep >= ENOUGH)
    }
}

impl Stepper {
    /// Contacts between the moving bodies of a pile-up; `blocks` are the pairs of blocks whose bounds overlap. On one thread, because each
    /// window depends on those before it.
    pub(crate) fn find_in_pile_up(
        &mut self,
        blocks: &[IndexPair],
        found: &mut WindowHits,
        phase: &mut ContactPhase<'_>,
    ) {
        let mut pairs = core::mem::take(&mut self.pile_up.pairs);
        let mut window = core::mem::take(&mut self.pile_up.window);
        pairs.clear();
        pairs.extend_from_slice(blocks);
        pairs.sort_unstable_by_key(|&[a, b]| (b.abs_diff(a), a));
        for some in pairs.chunks(WINDOW) {
            let enough =
                |&[a, b]: &IndexPair| self.pile_up.block_has_enough(a) && self.pile_up.block_has_enough(b);
            window.clear();
            window.extend(some.iter().filter(|pair| !enough(pair)));
            if window.is_empty() {
                continue;
            }
            let known = self.batches.as_slice().len();
            let wanted = |[a, b]: IndexPair| !(self.pile_up.has_enough(a) && self.pile_up.has_enough(b));
            found.find(&window, self.geometry(phase.settings.margin), Some(&wanted));
            self.add_hits(&found.pairs, &mut found.hits, phase);
            self.count_deep(known);
        }
        (self.pile_up.pairs, self.pile_up.window) = (pairs, window);
    }

    /// Counts the deep contacts between movable bodies in the batches from `first` on.
    fn count_deep(&mut self, first: usize) {
        let Self { pile_up, batches, shells, .. } = self;
        batches.for_each_from(first, |batch, lane, origin| {
            let (a, b) = (batch.a[lane] as usize, batch.b[lane] as usize);
            if is_deep(&shells[a], &shells[b], origin.gap) {
                for body in [a, b] {
                    pile_up.deep[body] = (pile_up.deep[body] + 1).min(ENOUGH);
                }
            }
        });
    }

    /// Whether two moving bodies overlap deeply, see [`is_deep`].
    pub(crate) fn overlaps_deeply(&self, [a, b]: IndexPair) -> bool {
        let (a, b) = (&self.shells[a as usize], &self.shells[b as usize]);
        is_deep(a, b, separation(a, b).1)
    }
}

/// Whether two bodies that contacts can move overlap by more than half of the smaller one's least half extent.
fn is_deep(a: &Shell, b: &Shell, gap: i32) -> bool {
    let extent = |shell: &Shell| shell.half[0].min(shell.half[1]) + shell.radius;
    a.mass != 0 && b.mass != 0 && gap < -(extent(a).min(extent(b)) / 2)
}
