//! The phases of one step over the movers, in curve order.
//!
//! The world keeps bodies by slot. A step gathers the movers into working arrays along the curve, so that
//! neighbours in space are neighbours in memory, and writes them back at the end. Nothing here is state.

use alloc::vec::Vec;

use crate::body::{Body, Extra, Shell, flag};
use crate::broad_phase::{IndexPair, Join, WINDOW};
use crate::coloring::{Batches, Origin};
use crate::contacts::{ContactCache, owner_and_other};
use crate::friction::FrictionContact;
use crate::narrow_phase::{Manifold, UNIT, UNIT_BITS, manifold};
use crate::num::isqrt_u64;
use crate::quadtree::{LANES, NO_SLOT, Quadtree, RawBox};
use crate::resting::RestingTrees;
use crate::sensors::SensorOverlaps;
use crate::simd::Path;
use crate::solver::{Contact, NO_LIMIT, Pass, Velocity};
use crate::world_def::Settings;

/// Greatest speed at which overlapping bodies are pushed apart, raw units per second.
const PUSH_MAX: i64 = 256 << 16;

/// `still_frames` of a working body that sleeps or is static.
pub(crate) const AT_REST: u16 = u16::MAX;

/// A body whose velocity along locked axes is restored after every pass.
#[derive(Clone, Copy, Debug)]
struct Locked {
    body: u32,
    axis: u8,
    velocity: i32,
}

/// Scratch of a step; kept between steps so that a steady one does not allocate. The tree also serves queries.
#[derive(Clone, Debug)]
pub(crate) struct Stepper {
    /// Movers in curve order. After the step its boxes are those of the new positions.
    pub(crate) tree: Quadtree,
    pub(crate) path: Path,
    shells: Vec<Shell>,
    velocities: Vec<Velocity>,
    /// Velocities with which positions move: after the biased passes.
    moving: Vec<Velocity>,
    /// Frames of stillness by working index; `AT_REST` for bodies that are no movers.
    still: Vec<u16>,
    /// Least stillness among a body's touching neighbours.
    calm: Vec<u16>,
    batches: Batches,
    frictions: Vec<FrictionContact>,
    locked: Vec<Locked>,
    join: Join,
    pairs: Vec<IndexPair>,
    /// (lane of the mover, slot of the body at rest).
    resting_pairs: Vec<(u32, u32)>,
    /// Working index of a body at rest by slot; `NO_SLOT` outside of a step.
    working: Vec<u32>,
    /// Lane by slot; valid where the lane holds the slot.
    lanes: Vec<u32>,
    /// Flags of all working bodies, or-ed.
    any_flags: u32,
}

/// What the contact phase reads and writes besides the working arrays.
pub(crate) struct ContactPhase<'a> {
    pub(crate) bodies: &'a [Body],
    pub(crate) extras: &'a [Extra],
    pub(crate) settings: &'a Settings,
    pub(crate) fps: u32,
    pub(crate) contacts: &'a ContactCache,
    pub(crate) sensors: &'a mut SensorOverlaps,
}

impl Stepper {
    pub(crate) fn new(path: Path) -> Self {
        Self {
            tree: Quadtree::default(),
            path,
            shells: Vec::new(),
            velocities: Vec::new(),
            moving: Vec::new(),
            still: Vec::new(),
            calm: Vec::new(),
            batches: Batches::default(),
            frictions: Vec::new(),
            locked: Vec::new(),
            join: Join::default(),
            pairs: Vec::new(),
            resting_pairs: Vec::new(),
            working: Vec::new(),
            lanes: Vec::new(),
            any_flags: 0,
        }
    }

    /// Sorts the movers (`active`: ascending slots) along the curve and gathers them into the working arrays.
    pub(crate) fn gather(&mut self, active: &[u32], bodies: &[Body], settings: &Settings) {
        let margin = settings.box_margin();
        self.tree.sort(active, settings.split, |slot| bodies[slot as usize].centre_and_extent());
        let count = self.tree.slot_of_lane().len();
        self.shells.clear();
        self.shells.resize(count + 1, Shell::HOLE);
        self.velocities.clear();
        self.velocities.resize(count + 1, [0; 2]);
        self.still.clear();
        self.still.resize(count + 1, AT_REST);
        self.locked.clear();
        self.any_flags = 0;
        self.lanes.resize(bodies.len(), 0);
        let Self { tree, shells, velocities, still, locked, any_flags, lanes, .. } = self;
        tree.set_boxes(|lane, slot| {
            let body = &bodies[slot as usize];
            lanes[slot as usize] = lane as u32;
            shells[lane] = body.shell(slot);
            velocities[lane] = body.velocity;
            still[lane] = body.still_frames;
            *any_flags |= body.flags;
            for (axis, bit) in [(0, flag::LOCK_X), (1, flag::LOCK_Y)] {
                if body.has(bit) {
                    locked.push(Locked {
                        body: lane as u32,
                        axis,
                        velocity: body.velocity[usize::from(axis)],
                    });
                }
            }
            body.bounds().grown(margin)
        });
    }

    /// Finds the bodies at rest near the movers and appends each once to the working arrays.
    pub(crate) fn gather_resting(&mut self, resting: &mut RestingTrees, bodies: &[Body]) {
        self.resting_pairs.clear();
        if self.tree.is_empty() {
            return;
        }
        let height = resting
            .each_tree()
            .iter()
            .map(|t| t.levels().len())
            .max()
            .unwrap_or(0)
            .max(self.tree.levels().len());
        self.tree.raise_to(height);
        for tree in resting.trees(height) {
            if tree.is_empty() {
                continue;
            }
            let blocks = self.join.between(&self.tree, tree, self.path);
            self.pairs.clear();
            self.path.join(blocks, &self.tree.levels()[0], &tree.levels()[0], false, &mut self.pairs);
            self.resting_pairs
                .extend(self.pairs.iter().map(|&(lane, r)| (lane, tree.slot_of_lane()[r as usize])));
        }
        self.resting_pairs.sort_unstable();
        self.working.resize(bodies.len(), NO_SLOT);
        for &(_, slot) in &self.resting_pairs {
            if self.working[slot as usize] == NO_SLOT {
                self.working[slot as usize] = self.shells.len() as u32;
                // Whatever is at rest stands still for this step: the solver must not move it.
                let body = &bodies[slot as usize];
                self.shells.push(Shell { mass: 0, ..body.shell(slot) });
                self.velocities.push([0; 2]);
                self.still.push(AT_REST);
                self.any_flags |= body.flags;
            }
        }
    }
}

impl Stepper {
    /// From overlapping boxes to contacts in batches, window by window.
    pub(crate) fn find_contacts(&mut self, phase: &mut ContactPhase<'_>) {
        let dummy = self.tree.slot_of_lane().len() as u32;
        self.batches.begin(self.shells.len(), dummy);
        self.frictions.clear();
        let mut join = core::mem::take(&mut self.join);
        let mut pairs = core::mem::take(&mut self.pairs);
        for window in join.within(&self.tree, self.path).chunks(WINDOW) {
            let blocks = &self.tree.levels()[0];
            pairs.clear();
            self.path.join(window, blocks, blocks, true, &mut pairs);
            self.batches.begin_window();
            for &(a, b) in pairs.iter().filter(|(a, b)| a != b) {
                self.add_pair(a, b, phase);
            }
        }
        (self.join, self.pairs) = (join, pairs);
        let resting_pairs = core::mem::take(&mut self.resting_pairs);
        for window in resting_pairs.chunks(LANES * WINDOW) {
            self.batches.begin_window();
            for &(lane, slot) in window {
                self.add_pair(lane, self.working[slot as usize], phase);
            }
        }
        for &(_, slot) in &resting_pairs {
            self.working[slot as usize] = NO_SLOT;
        }
        self.resting_pairs = resting_pairs;
    }

    /// Narrow phase and limits of one pair of working bodies.
    #[inline]
    fn add_pair(&mut self, a: u32, b: u32, phase: &mut ContactPhase<'_>) {
        let (shell_a, shell_b) = (self.shells[a as usize], self.shells[b as usize]);
        let Some(manifold) = manifold(&shell_a, &shell_b, phase.settings.margin) else { return };
        let special = self.any_flags & flag::SPECIAL != 0;
        if special && !self.may_touch(&shell_a, &shell_b, manifold.gap, phase) {
            return;
        }
        if (shell_a.mass | shell_b.mass) == 0 {
            return;
        }
        let mut contact = self.limits(a, b, &manifold, phase);
        if special {
            contact.share_a = share_with_locks(phase.bodies, &shell_a, &shell_b, manifold.normal);
        }
        let (owner, other) = owner_and_other(&self.shells, a, b);
        let (owner, other) = (self.shells[owner as usize].slot, self.shells[other as usize].slot);
        let mut origin = Origin { cached: Origin::NEW, touching: manifold.gap <= 0 };
        let reborn = self.any_flags & flag::FRESH != 0
            && (phase.bodies[owner as usize].has(flag::FRESH)
                || phase.bodies[other as usize].has(flag::FRESH));
        if !reborn && let Some((cached, impulse)) = phase.contacts.find(owner, other) {
            origin.cached = cached;
            contact.impulse &= impulse;
        } else {
            contact.impulse = 0;
        }
        let movable = [shell_a.mass != 0, shell_b.mass != 0];
        let place = self.batches.push(&contact, origin, movable);
        if special {
            let friction = combined_friction(
                phase.extras[shell_a.slot as usize].friction,
                phase.extras[shell_b.slot as usize].friction,
            );
            if friction > 0 {
                self.frictions.push(FrictionContact::new(place, friction));
            }
        }
    }

    /// Filters, sensors and locked bodies. False when the pair makes no contact.
    #[cold]
    fn may_touch(&self, a: &Shell, b: &Shell, gap: i32, phase: &mut ContactPhase<'_>) -> bool {
        let (body_a, body_b) = (&phase.bodies[a.slot as usize], &phase.bodies[b.slot as usize]);
        if !body_a.interacts_with(body_b) {
            return false;
        }
        if (body_a.flags | body_b.flags) & flag::SENSOR == 0 {
            return true;
        }
        if gap <= 0 {
            phase.sensors.push(a.slot, b.slot);
        }
        false
    }

    /// The contact with its limits; `impulse` is a mask: all ones where the impulse of the last frame may be used.
    #[inline]
    fn limits(&self, a: u32, b: u32, manifold: &Manifold, phase: &ContactPhase<'_>) -> Contact {
        let (shell_a, shell_b) = (&self.shells[a as usize], &self.shells[b as usize]);
        let fps = i64::from(phase.fps);
        let gap = i64::from(manifold.gap);
        // Apart: the gap may close within this frame, no faster. Overlapping: part of the overlap goes per frame.
        let closing = gap.max(0) * fps;
        let push = (((-gap).max(0) * fps * i64::from(phase.settings.push_factor)) >> 16).min(PUSH_MAX);
        let biased = push - closing;
        let mut contact = Contact {
            a,
            b,
            normal: manifold.normal,
            biased: biased as i32,
            relaxed: biased.min(0) as i32,
            impulse: -1,
            share_a: share(shell_a.mass, shell_b.mass),
        };
        let restitution = shell_a.restitution.max(shell_b.restitution);
        if restitution > 0 {
            self.bounce(&mut contact, restitution, closing, phase.settings.restitution_threshold);
        }
        contact
    }

    /// Restitution: a contact that closes within this frame must leave with `restitution` times its approach speed. One
    /// that approaches without closing yet does nothing in this frame, so that no energy is lost before the impact.
    fn bounce(&self, contact: &mut Contact, restitution: i32, closing: i64, threshold: i32) {
        let (va, vb) = (self.velocities[contact.a as usize], self.velocities[contact.b as usize]);
        let along: i64 = (0..2).map(|x| i64::from(vb[x] - va[x]) * i64::from(contact.normal[x])).sum();
        let approach = -((along + (1 << (UNIT_BITS - 1))) >> UNIT_BITS);
        if approach <= 0 {
            contact.impulse = 0;
        } else if approach > i64::from(threshold) {
            contact.impulse = 0;
            if approach > closing {
                let leave = ((approach * i64::from(restitution)) >> 16) as i32;
                contact.biased = contact.biased.max(leave);
                contact.relaxed = leave;
            } else {
                (contact.biased, contact.relaxed) = (NO_LIMIT, NO_LIMIT);
            }
        }
    }

    /// Warm start, biased passes, and the relaxing pass after the positions' velocities were taken.
    pub(crate) fn solve(&mut self, settings: &Settings) {
        self.run(Pass::WarmStart);
        for _ in 0..settings.iterations {
            self.run(Pass::Biased);
        }
        self.moving.clear();
        self.moving.extend_from_slice(&self.velocities);
        for _ in 0..settings.relax_iterations {
            self.run(Pass::Relax);
        }
    }

    fn run(&mut self, pass: Pass) {
        self.path.solve(self.batches.as_mut_slice(), &mut self.velocities, pass);
        for friction in &mut self.frictions {
            friction.solve(self.batches.as_slice(), &mut self.velocities);
        }
        for locked in &self.locked {
            self.velocities[locked.body as usize][usize::from(locked.axis)] = locked.velocity;
        }
    }

    /// Hands each mover (lane, slot) its solved velocities: the one that moves its position, and the one it keeps.
    pub(crate) fn for_each_mover(&mut self, mut with: impl FnMut(u32, Velocity, Velocity, u16) -> RawBox) {
        let Self { tree, moving, velocities, calm, .. } = self;
        tree.update_boxes(|lane, slot| with(slot, moving[lane], velocities[lane], calm[lane]));
    }

    /// The least stillness of each body and its touching neighbours, and the sleepers (`wake`) that a moving body pushes.
    ///
    /// A body sleeps only together with what it touches, so a heap falls asleep as one.
    pub(crate) fn spread_stillness(&mut self, bodies: &[Body], wake: &mut Vec<u32>) {
        self.calm.clear();
        self.calm.extend_from_slice(&self.still);
        if self.still.iter().all(|&s| s == 0) {
            return;
        }
        for (batch, lane, _) in self.batches.iter() {
            if batch.impulse[lane] == 0 {
                continue;
            }
            for (me, other) in [(batch.a[lane], batch.b[lane]), (batch.b[lane], batch.a[lane])] {
                let (mine, theirs) = (self.still[me as usize], self.still[other as usize]);
                if mine != AT_REST {
                    let calm = &mut self.calm[me as usize];
                    *calm = (*calm).min(theirs);
                } else if theirs == 0 {
                    let slot = self.shells[me as usize].slot;
                    if bodies[slot as usize].has(flag::DYNAMIC) {
                        wake.push(slot);
                    }
                }
            }
        }
    }

    /// Forgets all movers.
    pub(crate) fn forget(&mut self) {
        self.tree.clear();
    }

    /// Empties the lane of a body that is no mover any more.
    pub(crate) fn vacate(&mut self, slot: u32) {
        if let Some(lane) = self.lane(slot) {
            self.tree.vacate(lane);
        }
    }

    /// Follows a mover that was moved by hand.
    pub(crate) fn moved(&mut self, slot: u32, bounds: &RawBox) {
        if let Some(lane) = self.lane(slot) {
            self.tree.replace_box(lane, bounds);
        }
    }

    /// The lane of a mover of the last step.
    fn lane(&self, slot: u32) -> Option<usize> {
        let lane = *self.lanes.get(slot as usize)? as usize;
        (self.tree.slot_of_lane().get(lane) == Some(&slot)).then_some(lane)
    }

    /// Working bodies and solved batches, for the contact cache.
    pub(crate) fn solved(&self) -> (&Batches, &[Shell]) {
        (&self.batches, &self.shells)
    }
}

/// Part of a speed change that the first body takes: the heavier the other, the more. 0 = immovable.
#[inline]
fn share(mass_a: u32, mass_b: u32) -> i32 {
    if mass_a == mass_b {
        UNIT / 2
    } else if mass_a == 0 {
        0
    } else if mass_b == 0 {
        UNIT
    } else {
        ((u64::from(mass_b) << UNIT_BITS) / (u64::from(mass_a) + u64::from(mass_b))) as i32
    }
}

/// [`share`] where a locked axis takes no part: a body locked along the normal cannot be moved by this contact.
#[cold]
fn share_with_locks(bodies: &[Body], a: &Shell, b: &Shell, normal: [i32; 2]) -> i32 {
    let freedom = |shell: &Shell| {
        let body = &bodies[shell.slot as usize];
        let along = |axis: usize, bit: u32| {
            let n = u64::from(normal[axis].unsigned_abs()) >> 15;
            if body.has(bit) { 0 } else { n * n }
        };
        // 30 fraction bits; mass 0 (immovable) has none.
        if shell.mass == 0 { 0 } else { along(0, flag::LOCK_X) + along(1, flag::LOCK_Y) }
    };
    let weight = |free: u64, mass: u32| u128::from(free) * u128::from(mass.max(1));
    let (to_a, to_b) = (weight(freedom(a), b.mass), weight(freedom(b), a.mass));
    if to_a + to_b == 0 { UNIT / 2 } else { ((to_a << UNIT_BITS) / (to_a + to_b)) as i32 }
}

/// Geometric mean of two coefficients of contact friction, as in Box2D.
fn combined_friction(a: i32, b: i32) -> i32 {
    isqrt_u64(a as u64 * b as u64) as i32
}
