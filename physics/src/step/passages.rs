//! Closer tests: contacts of pairs of which a body is fast.

use crate::body::record::flag;
use crate::collide::narrow_phase::Hit;
use crate::collide::passage::{Passage, passage};
use crate::step::fast::is_seam_at;
use crate::step::found::Found;
use crate::step::input::ContactInput;
use crate::step::near::NearPair;
use crate::step::scene::Scene;
use crate::tree::block_join::IndexPair;

/// Adds contacts of the pairs that were set aside. Those of one moving body with bodies at rest are adjacent.
pub(crate) fn add_passages(input: &ContactInput<'_>, found: &mut Found<'_>) {
    let scene = input.phase.scene;
    for at in 0..found.fast.pairs.len() {
        let pair = found.fast.pairs[at];
        if !meet_at_all(pair, scene, input, found) {
            continue;
        }
        let [lane, other] = pair;
        if other < input.movers() {
            add_passage(pair, found.fast.legs(pair, input), &[], input, found);
        } else {
            let legs = found.fast.legs_at_rest(lane, input);
            add_passage(pair, legs, input.near.pairs_of(lane), input, found);
        }
    }
    found.coloring.end_window(&found.fast.pairs, &mut found.contacts.batches);
}

/// Whether a pair can have a contact at all; notes those with a sensor.
fn meet_at_all(pair: IndexPair, scene: Scene<'_>, input: &ContactInput<'_>, found: &mut Found<'_>) -> bool {
    let [a, b] = pair.map(|index| input.working.shells[index as usize].slot);
    if !scene.interact(a, b) {
        return false;
    }
    let sensor = [a, b].into_iter().any(|slot| scene.bodies[slot as usize].has(flag::SENSOR));
    if sensor {
        found.fast.sensors.push(pair);
    }
    !sensor
}

/// The contact of one pair. `legs` is the path of the second body relative to the first one.
fn add_passage(
    [a, b]: IndexPair,
    legs: [[i32; 2]; 2],
    near: &[NearPair],
    input: &ContactInput<'_>,
    found: &mut Found<'_>,
) {
    let margin = input.pair_margin([a, b]);
    let [mover, other] = [a, b].map(|index| input.working.shells[index as usize]);
    let met = if other.is_terrain() {
        let met = input.phase.scene.terrain.passage(other.slot, &mover, legs, margin);
        met.filter(|met| input.enters(a, other.slot, &met.manifold))
    } else {
        passage(&mover, &other, legs, margin)
    };
    let Some(Passage { manifold, moved }) = met else { return };
    if near.is_empty() || !is_seam_at([a, b], moved, &manifold, near, input) {
        found.add_solid(&Hit { a, b, normal: manifold.normal, gap: manifold.gap }, input);
    }
}
