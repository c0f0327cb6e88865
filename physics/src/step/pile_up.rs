//! Pile-ups: more bodies in one place than contacts can serve.
//!
//! If all bodies in a place overlap, the number of pairs grows with the square of the number of bodies: 50 million for 10,000 in one point.
//! A body that overlaps dozens of others deeply gains nothing from more of them. So in a world with far more pairs of blocks than a crowd
//! can have, a pair of bodies is left out if both have enough deep contacts already. Bodies near each other along the curve come first;
//! then all get about as many. Sensors, immovable bodies and pairs that ignore each other never count, so nothing is left out because of
//! them.

use alloc::vec::Vec;

use crate::body::record::Shell;
use crate::body::working_index::WorkingPair;
use crate::math::boxes::LANES;
use crate::solve::batches::Batches;
use crate::solve::contact_place::BatchIndex;
use crate::step::found::Found;
use crate::step::input::ContactInput;
use crate::step::overlap::is_deep;
use crate::step::windows::WindowHits;
use crate::tree::curve_box::{CurveBox, CurvePair};

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
    pairs: Vec<CurvePair>,
    window: Vec<CurvePair>,
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

    /// Contacts between the moving bodies of a pile-up; `blocks` are the pairs of blocks whose bounds overlap. On one thread, because each
    /// window depends on those before it.
    pub(crate) fn find(
        &mut self,
        blocks: &[CurvePair],
        own: &mut WindowHits,
        input: &ContactInput<'_>,
        found: &mut Found<'_>,
    ) {
        let Self { deep, pairs, window } = self;
        pairs.clear();
        pairs.extend_from_slice(blocks);
        pairs.sort_unstable_by_key(|pair| (pair.distance(), pair.a));
        for some in pairs.chunks(WINDOW) {
            let enough = |pair: &CurvePair| block_has_enough(deep, pair.a) && block_has_enough(deep, pair.b);
            window.clear();
            window.extend(some.iter().filter(|pair| !enough(pair)));
            if window.is_empty() {
                continue;
            }
            let first = found.contacts.batches.end();
            let wanted = |pair: WorkingPair| pair.iter().any(|body| deep[body.at()] < ENOUGH);
            own.find_wanted(window, input, &wanted);
            own.add_to(found, input);
            count_deep(deep, &found.contacts.batches, first, &input.working.shells);
        }
    }
}

/// Whether all bodies of a block have enough deep contacts.
fn block_has_enough(deep: &[u8], block: CurveBox) -> bool {
    let first = block.child(0).at();
    deep[first..first + LANES].iter().all(|&deep| deep >= ENOUGH)
}

/// Counts the deep contacts between movable bodies in the batches from `first` on.
fn count_deep(deep: &mut [u8], batches: &Batches, first: BatchIndex, shells: &[Shell]) {
    batches.for_each_from(first, |batch, lane, origin| {
        let (a, b) = (batch.a[lane], batch.b[lane]);
        if is_deep(&shells[a], &shells[b], origin.gap) {
            for body in [a, b] {
                let deep = &mut deep[body.at()];
                *deep = (*deep + 1).min(ENOUGH);
            }
        }
    });
}
