//! Deep overlaps: bodies that were created inside each other, or pressed together.
//!
//! They are separated by moving positions only. Speed that separates a pair would stay with it, or pass on to others in a heap, which would
//! burst. So a deep contact only prevents its pair from coming closer; after the velocities are settled it gets its own passes over the
//! velocities that advance positions.

use alloc::vec::Vec;

use crate::body::record::Shell;
use crate::solve::batches::Batches;
use crate::solve::contact_place::ContactPlace;
use crate::solve::solver::Velocity;

/// Overlaps up to this are never deep, raw units: 1/16 unit.
pub(crate) const OVERLAP_SHALLOW: i32 = 1 << 12;

/// An overlap beyond half of the smaller movable body's least half extent is deep, at most this, raw units: 1/4 unit.
pub(crate) const OVERLAP_DEEP: i32 = 1 << 14;

/// Whether two bodies with this gap overlap deeply.
#[inline(always)]
pub(crate) fn is_deep(a: &Shell, b: &Shell, gap: i32) -> bool {
    if gap >= -OVERLAP_SHALLOW {
        return false;
    }
    let most = OVERLAP_DEEP / 2;
    gap < -OVERLAP_SHALLOW.max(2 * a.growth(most).min(b.growth(most)))
}

/// Greatest speed at which overlapping bodies are separated, raw units per second: 3 units per second, as in Box2D.
pub(crate) const PUSH_MAX: i64 = 3 << 16;

/// Greatest speed that all deep overlaps of a body together give it, per axis, raw units per second: 8 units per second.
const PUSH_BODY_MAX: i32 = 8 << 16;

/// Passes over the deep contacts.
const PASSES: u32 = 4;

/// Pushes yield to opposite ones by this shift in each pass. So a body that two walls squeeze stays between them instead of jumping from one
/// into the other.
const YIELD_SHIFT: u32 = 1;

/// The deep contacts of a step. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeepContacts {
    /// Accumulated pushes, in the order of the contacts.
    pushes: Vec<i32>,
}

impl DeepContacts {
    /// Adds pushes of the contacts at `places` to `moving`, the velocities that move positions; `kept` are those that bodies keep. `speed` is
    /// how fast a pair with this gap is to separate.
    pub(crate) fn solve(
        &mut self,
        places: &[ContactPlace],
        batches: &Batches,
        moving: &mut [Velocity],
        kept: &[Velocity],
        speed: impl Fn(i32) -> i32,
    ) {
        let slice = batches.as_slice();
        if places.is_empty() {
            return;
        }
        self.pushes.clear();
        self.pushes.resize(places.len(), 0);
        for _ in 0..PASSES {
            for (&place, push) in places.iter().zip(&mut self.pushes) {
                let wanted = speed(batches.origin(place).gap);
                let (batch, lane) = place.of(slice);
                let yielding = push.saturating_add(batch.approach(lane, moving)) >> YIELD_SHIFT;
                let pushed = yielding.saturating_add(wanted).max(0);
                batch.apply(lane, pushed - *push, moving);
                *push = pushed;
            }
        }
        for &place in places {
            let (batch, lane) = place.of(slice);
            for body in [batch.a[lane], batch.b[lane]] {
                let (moved, own) = (moving[body].get(), kept[body].get());
                let within = |x: usize| {
                    let (low, high) =
                        (own[x].saturating_sub(PUSH_BODY_MAX), own[x].saturating_add(PUSH_BODY_MAX));
                    moved[x].clamp(low, high)
                };
                moving[body] = Velocity::new([within(0), within(1)]);
            }
        }
    }
}
