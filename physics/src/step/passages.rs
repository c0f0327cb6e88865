//! Closer tests: contacts of pairs of which a body is fast.

use alloc::vec::Vec;

use crate::body::record::flag;
use crate::body::working_index::{WorkingIndex, WorkingPair};
use crate::collide::narrow_phase::{Hit, Manifold, separation};
use crate::collide::passage::{Passage, passage};
use crate::collide::seams::FLUSH;
use crate::math::axes::both;
use crate::step::fast::{FastMovers, TOUCH_SLOP, is_seam_at};
use crate::step::found::Found;
use crate::step::input::ContactInput;
use crate::step::near::NearPair;
use crate::step::scene::Scene;

/// Adds contacts of the pairs that were set aside until now, in the order in which they meet: what is met first is struck first.
/// `met` is scratch.
pub(crate) fn add_passages(input: &ContactInput<'_>, found: &mut Found<'_>, met: &mut Vec<(u64, Hit)>) {
    if found.fast.pairs.is_empty() {
        return;
    }
    let scene = input.phase.scene;
    let all_meet = input.working.any_flags & flag::SPECIAL == 0 && !scene.has_ignored_pairs();
    for &pair in &found.fast.pairs {
        if all_meet || meet_at_all(pair, scene, input, &mut found.fast.sensors) {
            met.extend(passage_of(pair, input, found.fast));
        }
    }
    met.sort_unstable_by_key(|&(time, hit)| (time, hit.a, hit.b));
    met.drain(..).for_each(|(_, hit)| found.add_solid(&hit, input));
    found.coloring.end_window(&found.fast.pairs, &mut found.contacts.batches);
    found.fast.pairs.clear();
}

/// Whether a pair can have a contact at all; notes those with a sensor.
fn meet_at_all(
    pair: WorkingPair,
    scene: Scene<'_>,
    input: &ContactInput<'_>,
    sensors: &mut Vec<WorkingPair>,
) -> bool {
    let [a, b] = both(pair, |index| input.working.shells[index].slot);
    if !scene.interact(a, b) {
        return false;
    }
    let sensor = [a, b].into_iter().any(|slot| scene.bodies[slot].has(flag::SENSOR));
    if sensor {
        sensors.push(pair);
    }
    !sensor
}

/// When two bodies meet, and how.
fn passage_of([a, b]: WorkingPair, input: &ContactInput<'_>, fast: &FastMovers) -> Option<(u64, Hit)> {
    let near = if b < input.dummy() { &[][..] } else { input.near.pairs_of(a) };
    let mut best: Option<(u64, Passage)> = None;
    for (legs, since) in fast.paths([a, b], input) {
        // The usual path counts if they meet on it.
        if let Some(met) = pass([a, b], legs, near, input)
            && best.is_none_or(|(_, best)| best.nearest > TOUCH_SLOP && met.nearest < best.nearest)
        {
            best = Some((since + met.place, met));
        }
    }
    let (time, Passage { manifold, .. }) = best?;
    Some((time, Hit { a, b, normal: manifold.normal, gap: manifold.gap }))
}

/// How two bodies pass each other on a path of the second one relative to the first one.
fn pass(
    [a, b]: WorkingPair,
    legs: [[i32; 2]; 2],
    near: &[NearPair],
    input: &ContactInput<'_>,
) -> Option<Passage> {
    let margin = input.pair_margin([a, b]);
    let [mover, other] = both([a, b], |index| input.working.shells[index]);
    let met = if other.is_terrain() {
        let scene = input.phase.scene;
        let joins = |other| scene.joins(mover.slot, other);
        let met = scene.terrain.passage(other.slot, &mover, legs, margin, &joins);
        met.filter(|met| input.enters(a, other.slot, &met.manifold))
    } else {
        passage(&mover, &other, legs, margin)
    };
    met.filter(|met| {
        let is_seam = !near.is_empty() && is_seam_at([a, b], met.moved, &met.manifold, near, input);
        !is_seam || is_buried([a, b], near, input)
    })
}

/// Whether a body begins the frame deep inside of a wall, and of other walls only where they cover each other: any direction out is better than none.
fn is_buried([a, b]: WorkingPair, near: &[NearPair], input: &ContactInput<'_>) -> bool {
    let (scene, shells) = (input.phase.scene, &input.working.shells);
    let mover = &shells[a];
    let deep = |wall: WorkingIndex| {
        let shell = &shells[wall];
        let (normal, gap) = separation(mover, shell);
        let holds = !shell.is_terrain()
            && shell.mass == 0
            && !scene.bodies[shell.slot].has(flag::SENSOR)
            && scene.interact(mover.slot, shell.slot);
        (holds && gap < -FLUSH).then_some(Manifold { normal, gap })
    };
    let mut walls = near.iter().map(|pair| input.near.index(pair.slot));
    let is_inner = |wall| deep(wall).is_none_or(|found| is_seam_at([a, wall], [0; 2], &found, near, input));
    deep(b).is_some() && walls.all(is_inner)
}
