//! Bodies that walls leave no room: between two walls, between a wall and a kinematic body, or in a row from one to the other.
//!
//! Their contacts contradict each other. Passes that separate them would give the bodies speed that leads nowhere, and the last contact that is solved
//! would win. So, without gravity, these contacts are deep ones, whatever their depth: they only prevent bodies from coming closer, keep no impulse, and
//! are separated by moving positions ([`crate::solve::deep`]). With gravity all contacts are springs, which agree on a place; for bodies between two walls see
//! [`crate::solve::wedged`].

use alloc::vec::Vec;

use crate::body::working_index::WorkingIndex;
use crate::math::boxes::LANES;
use crate::math::sets::DisjointSets;
use crate::solve::batches::{Batches, Origin, PARTING_GAP};
use crate::solve::bodies::Bodies;
use crate::solve::contact_place::{BatchIndex, ContactPlace};
use crate::solve::run::Run;
use crate::solve::solver::{Batch, NO_LIMIT, Velocity};
use crate::solve::step_contacts::StepContacts;

/// Greatest number of bodies of a group that has no room: 128. A larger one yields to its sides.
const GROUP_MAX: usize = 128;

/// A faster body is not looked at unless something presses it, raw units per second and axis: 2 units per second, twice the speed with which overlaps
/// are separated. Bodies without room are slower, but for those that a kinematic body pushes. So a crowd that marches past walls pays little.
const SLOW: i32 = 2 << 16;

/// The bodies at walls that something presses, and those without room. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    /// Bodies at walls that something presses, or that have no room, each once for each wall, with the contact. Ascending.
    pub(crate) at_walls: Vec<(WorkingIndex, ContactPlace)>,
    /// By working index: whether the body overlaps another one or a wall deeply. Empty if none does.
    pressed: Vec<bool>,
    /// By working index: whether the body has no room. Empty if all have.
    missing: Vec<bool>,
    /// Bodies that touch, directly or through others.
    groups: DisjointSets,
    /// By working index: the next body of the same group, in a ring.
    next: Vec<WorkingIndex>,
    /// By the working index that names a group; only those of `found` have any sides.
    list: Vec<Group>,
    /// The groups that touch what cannot yield, some more than once.
    found: Vec<WorkingIndex>,
    /// With their greatest speeds, the bodies that a moving kinematic body squeezes.
    squeezed: Vec<(WorkingIndex, i32)>,
}

/// Bodies that touch, directly or through others.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// The sides from which what cannot yield touches them, see [`side`].
    sides: u8,
    /// The greatest speed of a kinematic body that touches one of them, per axis.
    driven: i32,
}

impl Room {
    /// Whether something presses a body.
    pub(crate) fn is_pressed(&self, body: WorkingIndex) -> bool {
        self.is_missing(body) || is_noted(&self.pressed, body)
    }

    /// Whether a body has no room.
    pub(crate) fn is_missing(&self, body: WorkingIndex) -> bool {
        is_noted(&self.missing, body)
    }

    /// Finds them. `soft`: contacts are springs.
    pub(crate) fn find(&mut self, run: &mut Run<'_>, soft: bool) {
        self.pressed.clear();
        self.missing.clear();
        self.squeezed.clear();
        self.at_walls.clear();
        let driven = run.bodies.some_kinematic;
        if soft && !driven {
            return;
        }
        if !soft {
            self.note_pressed(run.contacts, run.bodies.shells.len());
        }
        let sides = self.list_walls(run);
        if self.at_walls.is_empty() {
            return;
        }
        if (driven || are_opposite(sides)) && self.find_groups(run) && !soft {
            self.loosen(run);
        }
        let Self { at_walls, pressed, missing, .. } = self;
        at_walls.retain(|&(body, _)| is_noted(missing, body) || is_noted(pressed, body));
        at_walls.sort_unstable();
    }

    /// Lists the contacts of slow and of pressed bodies with walls. Returns from which sides walls touch the slow ones.
    fn list_walls(&mut self, run: &Run<'_>) -> u8 {
        let (batches, driven) = (&run.contacts.batches, run.bodies.some_kinematic);
        let mut sides = 0;
        for (at, batch, origins) in batches.from(batches.at_rest()) {
            for lane in (0..LANES).filter(|&lane| origins.gap[lane] <= PARTING_GAP) {
                let is_first = !run.is_wall(batch.a[lane]);
                let (body, wall) = in_order(batch, lane, is_first);
                let slow = driven || fastest(run.bodies.velocities[body]) <= SLOW;
                if (slow || self.is_pressed(body)) && batch.biased[lane] != NO_LIMIT && run.is_wall(wall) {
                    self.at_walls.push((body, ContactPlace::new(at, lane)));
                    sides |= if slow { side(batch.normal[lane], is_first) } else { 0 };
                }
            }
        }
        sides
    }

    /// Notes the bodies that overlap something deeply.
    fn note_pressed(&mut self, contacts: &StepContacts, bodies: usize) {
        if contacts.notes.deep.is_empty() {
            return;
        }
        self.pressed.resize(bodies, false);
        for place in &contacts.notes.deep {
            let (batch, lane) = place.of(contacts.batches.as_slice());
            self.pressed[batch.a[lane].at()] = true;
            self.pressed[batch.b[lane].at()] = true;
        }
    }

    /// Finds the groups without room. Returns whether there are any.
    #[cold]
    fn find_groups(&mut self, run: &Run<'_>) -> bool {
        self.merge(run);
        self.note_sides(run);
        let Self { missing, next, list, found, squeezed, .. } = self;
        let velocities = &run.bodies.velocities;
        for name in found.drain(..) {
            // Whoever has been looked at has no sides any more.
            let Group { sides, driven } = core::mem::take(&mut list[name.at()]);
            let members =
                || core::iter::successors(Some(name), |&at| Some(next[at.at()]).filter(|&at| at != name));
            if !are_opposite(sides) || members().take(GROUP_MAX + 1).count() > GROUP_MAX {
                continue;
            }
            missing.resize(next.len(), false);
            members().for_each(|body| missing[body.at()] = true);
            if driven > 0 {
                // A moving kinematic body gives those that it squeezes at most twice its speed, and 1 unit per second.
                let own = members().map(|body| fastest(velocities[body])).max().unwrap_or(0);
                let most = own.max(driven.saturating_mul(2).saturating_add(1 << 16));
                squeezed.extend(members().map(|body| (body, most)));
            }
        }
        !missing.is_empty()
    }

    /// Finds the bodies that touch, directly or through others.
    fn merge(&mut self, run: &Run<'_>) {
        let Self { groups, next, .. } = self;
        let shells = run.bodies.shells;
        groups.reset(shells.len());
        next.clear();
        next.extend((0..shells.len()).map(WorkingIndex::new));
        for_each_touching(&run.contacts.batches, |batch, lane| {
            let (a, b) = (batch.a[lane], batch.b[lane]);
            if shells[a].mass != 0 && shells[b].mass != 0 {
                let (a, b) = (groups.find(a.0), groups.find(b.0));
                if a != b {
                    groups.merge(a, b);
                    next.swap(a as usize, b as usize);
                }
            }
        });
    }

    /// Notes from which sides walls and kinematic bodies touch the groups.
    fn note_sides(&mut self, run: &Run<'_>) {
        let Self { at_walls, groups, list, found, .. } = self;
        let Bodies { shells, velocities, some_kinematic, .. } = &run.bodies;
        let batches = &run.contacts.batches;
        list.resize(shells.len().max(list.len()), Group::default());
        let mut note = |body: WorkingIndex, side: u8, speed: i32| {
            let name = WorkingIndex(groups.find(body.0));
            let group = &mut list[name.at()];
            group.sides |= side;
            group.driven = group.driven.max(speed);
            found.push(name);
        };
        for &(body, place) in &*at_walls {
            let (batch, lane) = place.of(batches.as_slice());
            note(body, side(batch.normal[lane], batch.a[lane] == body), 0);
        }
        if *some_kinematic {
            for_each_touching(batches, |batch, lane| {
                let is_first = shells[batch.a[lane]].mass != 0;
                let (body, other) = in_order(batch, lane, is_first);
                if shells[other].mass == 0 && !run.is_wall(other) {
                    note(body, side(batch.normal[lane], is_first), fastest(velocities[other]));
                }
            });
        }
    }

    /// Makes the contacts of bodies without room deep ones, but for those with walls.
    fn loosen(&self, run: &mut Run<'_>) {
        let end = run.contacts.batches.end();
        for at in BatchIndex::default().onward().take_while(|&at| at < end) {
            for lane in 0..LANES {
                let gap = run.contacts.batches.origins()[at].gap[lane];
                let batch = &run.contacts.batches.as_slice()[at];
                let (a, b) = (batch.a[lane], batch.b[lane]);
                let solved = gap < 0 && batch.biased[lane] != NO_LIMIT;
                if !solved || !(self.is_missing(a) || self.is_missing(b)) || run.is_wall(a) || run.is_wall(b)
                {
                    continue;
                }
                let StepContacts { batches, notes, .. } = &mut *run.contacts;
                let batch = &mut batches.as_mut_slice()[at];
                (batch.biased[lane], batch.impulse[lane]) = (0, 0);
                notes.deep.push(ContactPlace::new(at, lane));
            }
        }
        let deep = &mut run.contacts.notes.deep;
        deep.sort_unstable();
        deep.dedup();
    }

    /// Takes the speed that what squeezes bodies gave them beyond what it may.
    pub(crate) fn calm(&self, velocities: &mut [Velocity]) {
        for &(body, most) in &self.squeezed {
            let velocity = &mut velocities[body];
            *velocity = Velocity::new(velocity.get().map(|v| v.clamp(-most, most)));
        }
    }
}

/// Whether something is noted of a body; `notes` are by working index, or empty.
fn is_noted(notes: &[bool], body: WorkingIndex) -> bool {
    notes.get(body.at()).is_some_and(|&noted| noted)
}

/// Calls `with` for each contact that is solved and whose surfaces touch, or nearly.
fn for_each_touching(batches: &Batches, mut with: impl FnMut(&Batch, usize)) {
    batches.for_each(|batch, lane, &Origin { gap, .. }| {
        if gap <= PARTING_GAP && batch.biased[lane] != NO_LIMIT {
            with(batch, lane);
        }
    });
}

/// The bodies of a contact; the second one first unless `is_first`.
fn in_order(batch: &Batch, lane: usize, is_first: bool) -> (WorkingIndex, WorkingIndex) {
    let (a, b) = (batch.a[lane], batch.b[lane]);
    if is_first { (a, b) } else { (b, a) }
}

/// The greatest speed per axis.
fn fastest(velocity: Velocity) -> i32 {
    let [x, y] = velocity.get().map(i32::saturating_abs);
    x.max(y)
}

/// The side to which something pushes a body, as a bit. `is_first`: the normal points from the body to what pushes.
fn side(normal: [i32; 2], is_first: bool) -> u8 {
    let axis = usize::from(normal[1].unsigned_abs() > normal[0].unsigned_abs());
    1 << (2 * axis + usize::from((normal[axis] < 0) != is_first))
}

/// Whether there are opposite sides.
fn are_opposite(sides: u8) -> bool {
    sides & 3 == 3 || sides >> 2 == 3
}
