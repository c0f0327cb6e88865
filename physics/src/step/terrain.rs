//! Contacts with terrain: pairs of a moving body and a piece, one by one.

use alloc::vec::Vec;

use crate::body::record::flag;
use crate::body::working_index::WorkingPair;
use crate::collide::narrow_phase::Hit;
use crate::math::axes::both;
use crate::step::found::Found;
use crate::step::input::ContactInput;

/// Moving bodies and the terrain near them. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct TerrainPairs {
    pairs: Vec<WorkingPair>,
}

impl TerrainPairs {
    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Takes the pairs with terrain out of those with bodies at rest.
    pub(crate) fn take_from(&mut self, pairs: &mut Vec<WorkingPair>, input: &ContactInput<'_>) {
        if !input.phase.scene.terrain.is_empty() {
            let is_terrain = |pair: &mut WorkingPair| input.working.shells[pair[1]].is_terrain();
            self.pairs.extend(pairs.extract_if(.., is_terrain));
        }
    }

    /// Adds the contacts. Pairs that need a closer look are set aside.
    pub(crate) fn add(&self, input: &ContactInput<'_>, found: &mut Found<'_>) {
        if self.pairs.is_empty() {
            return;
        }
        for &[a, b] in &self.pairs {
            if found.fast.is_swept([a, b], input) {
                found.fast.pairs.push([a, b]);
                continue;
            }
            let [mover, piece] = both([a, b], |index| &input.working.shells[index]);
            let scene = input.phase.scene;
            // A sensor notices terrain from every side.
            let met = if scene.bodies[mover.slot].has(flag::SENSOR) {
                scene.terrain.plain_separation(piece.slot, mover)
            } else {
                let met =
                    scene.terrain.separation(piece.slot, mover, &|other| scene.joins(mover.slot, other));
                met.filter(|met| input.enters(a, piece.slot, met))
            };
            if let Some(met) = met.filter(|met| {
                met.gap <= input.phase.settings.margin
                    && found.fast.may_meet([a, b], met.normal, met.gap, input)
            }) {
                found.add_special(&Hit { a, b, normal: met.normal, gap: met.gap }, input);
            }
        }
        found.coloring.end_window(&self.pairs, &mut found.contacts.batches);
    }
}
