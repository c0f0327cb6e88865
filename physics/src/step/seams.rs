//! Seams inside walls that consist of several rectangles: hits with them are no contacts.

use alloc::vec::Vec;

use crate::body::record::{Shell, flag};
use crate::body::working_index::WorkingIndex;
use crate::collide::narrow_phase::{Hit, Hits, Manifold};
use crate::collide::seams::{FLUSH, is_covered};
use crate::step::input::ContactInput;

/// Which hits with walls are on a seam. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seams {
    marks: Vec<bool>,
}

impl Seams {
    /// Drops the hits inside walls. The hits of a moving body are adjacent.
    pub(crate) fn drop_from(&mut self, hits: &mut Hits, input: &ContactInput<'_>) {
        let marks = &mut self.marks;
        marks.clear();
        marks.resize(hits.len, false);
        let mut first = 0;
        while first < hits.len {
            let mover = hits.pairs[first][0];
            let end = first + hits.pairs[first..hits.len].iter().take_while(|pair| pair[0] == mover).count();
            if end - first > 1 {
                for (at, mark) in (first..end).zip(&mut marks[first..end]) {
                    let others = hits.pairs[first..end].iter().map(|pair| pair[1]);
                    *mark = is_seam(&hits.get(at), &input.working.shells[mover], others, input);
                }
                // Deep inside walls that cover each other any direction out is better than none. Sensors hold nobody.
                let is_solid = |at: usize| {
                    let slots = hits.pairs[at].map(|index| input.working.shells[index].slot);
                    let scene = input.phase.scene;
                    !scene.bodies[slots[1]].has(flag::SENSOR) && scene.interact(slots[0], slots[1])
                };
                let is_deep = |at: usize| hits.gaps[at] < -FLUSH && is_solid(at);
                if (first..end).all(|at| marks[at] || !is_deep(at)) {
                    let none_left = (first..end).all(|at| marks[at] || !is_solid(at));
                    (first..end).for_each(|at| marks[at] &= !none_left && !is_deep(at));
                }
            }
            first = end;
        }
        hits.retain(|at, _| !marks[at]);
    }
}

/// Whether a hit is with a side or a corner inside a wall that consists of several rectangles: another one of `others` covers it.
pub(crate) fn is_seam(
    hit: &Hit,
    mover: &Shell,
    others: impl Iterator<Item = WorkingIndex>,
    input: &ContactInput<'_>,
) -> bool {
    let (shells, scene) = (&input.working.shells, input.phase.scene);
    let wall = &shells[hit.b];
    let is_wall = |shell: &Shell| shell.mass == 0 && shell.radius == 0;
    let (bodies, slot) = (scene.bodies, wall.slot);
    // A sensor notices every wall.
    if !is_wall(wall) || mover.mass == 0 || bodies[mover.slot].has(flag::SENSOR) {
        return false;
    }
    let found = Manifold { normal: hit.normal, gap: hit.gap };
    others.map(|other| (other, &shells[other])).any(|(index, other)| {
        let body = &bodies[other.slot];
        index != hit.b
            && is_wall(other)
            && (body.flags | bodies[slot].flags) & flag::SENSOR == 0
            && scene.interact(mover.slot, other.slot)
            && is_covered(mover, wall, &found, other, other.slot < slot)
    })
}
