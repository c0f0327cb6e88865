//! Stiff contacts: a heavy body that leans on a light one.
//!
//! Each pass over a contact takes away about light / heavy of the heavy body's speed, so with a mass ratio of 1:1000 the usual
//! passes would let it sink through. The contacts of such light bodies, and of what holds these, are listed and solved more often,
//! with more over-relaxation (successive over-relaxation; D. Young, 1950). Scenes without them pay nothing.

use alloc::vec::Vec;

use crate::body::record::Shell;
use crate::math::boxes::LANES;
use crate::solve::coloring::Batches;
use crate::solve::solver::{Batch, Velocity};

/// A mass ratio from which the usual passes are too few.
const STIFF_RATIO: u32 = 32;

/// Most passes over the stiff contacts after each pass over all of them; a long list gets fewer, so that giants in a crowd of
/// thousands stay affordable.
const PASSES_MAX: usize = 16;

/// Contacts solved after each pass, unless the list is so long that two passes are more.
const SOLVED_PER_PASS: usize = 2_048;

/// How many light bodies in a chain are followed.
const CHAIN_MAX: u32 = 4;

/// The stiff contacts of a step. Nothing here is state.
#[derive(Clone, Debug, Default)]
pub(crate) struct StiffContacts {
    /// Batch and lane, in the order of solving.
    places: Vec<(u32, u32)>,
    /// By working index: mass of the heaviest body that leans on it, directly or through others.
    load: Vec<u32>,
    /// Whether a pair of very different masses was seen in this step.
    pub(crate) expected: bool,
}

impl StiffContacts {
    pub(crate) fn begin(&mut self) {
        self.expected = false;
        self.places.clear();
    }

    /// Notes the masses of a pair.
    #[inline(always)]
    pub(crate) fn note(&mut self, mass_a: u32, mass_b: u32) {
        self.expected |= leans(mass_a, mass_b) || leans(mass_b, mass_a);
    }

    /// Lists the stiff contacts, if there are any.
    pub(crate) fn find(&mut self, batches: &Batches, shells: &[Shell]) {
        if !self.expected {
            return;
        }
        self.load.clear();
        self.load.resize(shells.len(), 0);
        for _ in 0..CHAIN_MAX {
            if !self.spread_load(batches, shells) {
                break;
            }
        }
        for (index, batch) in batches.as_slice().iter().enumerate() {
            for lane in 0..LANES {
                if self.load[batch.a[lane] as usize] | self.load[batch.b[lane] as usize] != 0 {
                    self.places.push((index as u32, lane as u32));
                }
            }
        }
    }

    /// Hands each body's load on to the lighter bodies that it touches. Returns whether anything changed.
    fn spread_load(&mut self, batches: &Batches, shells: &[Shell]) -> bool {
        let mut changed = false;
        let load = &mut self.load;
        batches.for_each(|batch, lane, _| {
            let (a, b) = (batch.a[lane] as usize, batch.b[lane] as usize);
            for (from, to) in [(a, b), (b, a)] {
                let weight = load[from].max(shells[from].mass);
                if leans(weight, shells[to].mass) && load[to] < weight {
                    load[to] = weight;
                    changed = true;
                }
            }
        });
        changed
    }

    /// Passes over the stiff contacts.
    pub(crate) fn solve(&self, batches: &mut [Batch], velocities: &mut [Velocity], biased: bool) {
        if self.places.is_empty() {
            return;
        }
        for _ in 0..(SOLVED_PER_PASS / self.places.len()).clamp(2, PASSES_MAX) {
            for &(batch, lane) in &self.places {
                batches[batch as usize].solve_stiff(lane as usize, biased, velocities);
            }
        }
    }
}

/// Whether a body of mass `heavy` is much heavier than `light`, which contacts can move.
#[inline(always)]
fn leans(heavy: u32, light: u32) -> bool {
    light != 0 && heavy / STIFF_RATIO >= light
}
