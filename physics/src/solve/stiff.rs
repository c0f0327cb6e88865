//! Stiff contacts: a heavy body that leans on a light one.
//!
//! Each pass over a contact removes only about light / heavy of the heavy body's speed, so with a mass ratio of 1:1000 the usual passes
//! would let it sink through. The contacts of such light bodies, and those of their supports, are listed and solved more often, with more
//! over-relaxation (successive over-relaxation; D. Young, 1950). Scenes without them pay nothing.
//!
//! Under gravity a load is followed down through chains of ever lighter bodies, so 1:4:16:64 counts as 1:64. There, towers and small groups have rigid
//! contacts; larger heaps have springs as hard as their loads ask for, and passes that are repeated until they change little
//! ([`crate::solve::settling`]).

use alloc::vec::Vec;

use crate::body::record::Shell;
use crate::body::working_index::WorkingIndex;
use crate::math::boxes::LANES;
use crate::math::lanes::UNIT;
use crate::solve::batches::{Batches, Origin};
use crate::solve::contact_place::{BatchIndex, ContactPlace};
use crate::solve::solver::{Batch, Velocity};
use crate::solve::spring::Spring;

/// Which contacts are stiff, and how often they are solved.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// Mass ratio of a pair from which loads are looked for.
    leans: u32,
    /// Mass ratio from which a body passes its load on.
    chain: u32,
    /// Least ratio of a load to the mass that bears it.
    ratio: u32,
    /// Greatest number of passes after each pass over all contacts.
    // not state: a constant
    passes_max: usize,
    /// Number of contacts to solve after each pass.
    // not state: a constant
    solved: usize,
    /// Whether loads last, so that heaps come to rest under them: then only what presses is one.
    rests: bool,
}

/// Without gravity only steering presses, so giants in a crowd of thousands stay affordable.
const LEVEL: Rule = Rule { leans: 16, chain: 32, ratio: 32, passes_max: 16, solved: 2_048, rests: false };

/// Gravity presses without end.
const UPRIGHT: Rule = Rule { leans: 2, chain: 2, ratio: 32, passes_max: 128, solved: 2_048, rests: true };

/// Greatest number of contacts of a group that has rigid ones, under gravity. In a larger heap springs do better.
const GROUP_MAX: u32 = 6;

/// The same for a group with no more contacts than bodies, such as a tower: what each contact bears is determined there.
const TOWER_MAX: u32 = 64;

/// Greatest number of rigid contacts in a world with gravity: so many get all passes.
const RIGID_MAX: usize = 256;

/// A load of this many times the mass that bears it asks for twice as many passes over all contacts, under gravity.
const MIXED: u32 = 8;

/// Greatest number of passes after each pass that is repeated until little changes.
const SETTLING_PASSES: usize = 8;

/// A load of this many times the mass that bears it asks for passes until the velocities settle, under gravity.
const UNEVEN: u32 = 21;

/// Greatest length of a chain of light bodies.
const CHAIN_MAX: u32 = 8;

/// Bodies that touch, directly or through others.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    contacts: u32,
    bodies: u32,
}

impl Group {
    /// Whether its contacts may be rigid.
    fn is_small(self) -> bool {
        self.contacts <= if self.contacts <= self.bodies { TOWER_MAX } else { GROUP_MAX }
    }
}

/// The stiff contacts of a step. Nothing here is state.
#[derive(Clone, Debug)]
pub(crate) struct StiffContacts {
    /// In the order of solving: those of small groups first.
    pub(crate) places: Vec<ContactPlace>,
    /// For each of these, under gravity: the part of an impulse that the contact keeps, see [`Spring::kept`]; [`UNIT`] if it is rigid.
    pub(crate) kept: Vec<i32>,
    /// Number of contacts of small groups under gravity.
    // not state: of this step
    rigid: usize,
    /// By working index: mass of the heaviest body that leans on it, directly or through others.
    load: Vec<u32>,
    /// By working index: another body of the same group, or itself.
    group: Vec<WorkingIndex>,
    /// By working index: the group that this body stands for.
    groups: Vec<Group>,
    /// Whether some body bears [`MIXED`] times its mass.
    // not state: of this step
    pub(crate) mixed: bool,
    /// Whether some body bears [`UNEVEN`] times its mass.
    // not state: of this step
    pub(crate) uneven: bool,
    rule: Rule,
}

impl Default for StiffContacts {
    fn default() -> Self {
        let (places, kept, load) = (Vec::new(), Vec::new(), Vec::new());
        let (group, groups) = (Vec::new(), Vec::new());
        Self { places, kept, rigid: 0, load, group, groups, mixed: false, uneven: false, rule: LEVEL }
    }
}

impl StiffContacts {
    pub(crate) fn begin(&mut self, soft: bool) {
        self.rule = if soft { UPRIGHT } else { LEVEL };
        self.places.clear();
        self.kept.clear();
        self.rigid = 0;
        self.mixed = false;
        self.uneven = false;
    }

    /// Whether a pair of such masses may be stiff.
    #[inline(always)]
    pub(crate) fn leans(&self, mass_a: u32, mass_b: u32) -> bool {
        leans(mass_a.max(mass_b), mass_a.min(mass_b), self.rule.leans)
    }

    /// Lists the stiff contacts. Call when a pair [leans](Self::leans). `velocities` are those before solving.
    pub(crate) fn find(&mut self, batches: &Batches, shells: &[Shell], velocities: &[Velocity], fps: u32) {
        self.spread_loads(batches, shells, |_, _, _| true);
        (self.mixed, self.uneven) = (self.is_borne(MIXED, shells), self.is_borne(UNEVEN, shells));
        if !self.rule.rests {
            self.list(batches, shells);
        } else if self.uneven {
            // A neighbour that hangs or sleeps beside a heap must not decide how stiff it is: whenever the neighbour wakes or falls asleep, the
            // heap would sink or rise.
            let presses = |batch: &Batch, lane: usize, origin: &Origin| {
                let reach = i64::from(batch.approach(lane, velocities));
                batch.impulse[lane] != 0
                    || origin.is_touching()
                    || reach >= i64::from(origin.gap) * i64::from(fps)
            };
            self.spread_loads(batches, shells, presses);
            self.uneven = self.is_borne(UNEVEN, shells);
            self.list(batches, shells);
            if !self.places.is_empty() {
                self.find_groups(batches, shells);
                self.harden(batches, shells);
            }
        }
    }

    /// Lists the contacts of those who bear too much.
    fn list(&mut self, batches: &Batches, shells: &[Shell]) {
        let bears = |body: WorkingIndex| leans(self.load[body.at()], shells[body].mass, self.rule.ratio);
        for (at, batch, _) in batches.from(BatchIndex::default()) {
            for lane in 0..LANES {
                if bears(batch.a[lane]) || bears(batch.b[lane]) {
                    self.places.push(ContactPlace::new(at, lane));
                }
            }
        }
    }

    /// Joins the bodies that touch. Groups are connected by narrow gaps, too: a body that sinks away from a neighbour stays in its group.
    fn find_groups(&mut self, batches: &Batches, shells: &[Shell]) {
        let Self { group, groups, .. } = self;
        group.clear();
        group.extend((0..shells.len()).map(WorkingIndex::new));
        groups.clear();
        groups.resize(shells.len(), Group::default());
        batches.for_each(|batch, lane, _| {
            let (a, b) = movable(batch, lane, shells);
            let (a, b) = (first(group, a), first(group, b));
            group[a.max(b).at()] = a.min(b);
        });
        batches.for_each(|batch, lane, _| {
            groups[first(group, movable(batch, lane, shells).0).at()].contacts += 1;
        });
        for body in (0..shells.len()).map(WorkingIndex::new) {
            groups[first(group, body).at()].bodies += 1;
        }
    }

    /// Sorts the listed contacts: those of small groups, such as towers, come first and are rigid. The others are springs, because rigid contacts would shake
    /// a heap. A spring is harder than [`Spring::of`] by as much as its load is heavier than [`MIXED`] times what bears it, and yields as under that ratio:
    /// so a group that becomes large hardly sinks.
    fn harden(&mut self, batches: &Batches, shells: &[Shell]) {
        let Self { places, kept, rigid, load, group, groups, .. } = self;
        let mut is_small = |place: &ContactPlace| {
            let (batch, lane) = place.of(batches.as_slice());
            let (body, _) = movable(batch, lane, shells);
            groups[first(group, body).at()].is_small()
        };
        places.sort_unstable_by_key(|place| (!is_small(place), *place));
        *rigid = places.iter().filter(|place| is_small(place)).count();
        if *rigid > RIGID_MAX {
            *rigid = 0;
        }
        kept.extend(places.iter().enumerate().map(|(index, place)| {
            let (batch, lane) = place.of(batches.as_slice());
            let yields = i64::from(UNIT - Spring::of(batch.share_a[lane]).kept);
            let of = |body: WorkingIndex| {
                let [mass, load] = [shells[body].mass, load[body.at()]].map(i64::from);
                if mass == 0 { yields } else { yields * i64::from(MIXED) * mass / load.max(1) }
            };
            let least = yields.min(of(batch.a[lane])).min(of(batch.b[lane]));
            UNIT - if index < *rigid { 0 } else { least as i32 }
        }));
    }

    /// Finds the load of each body. A contact that `presses` passes it on to a lighter body.
    fn spread_loads(
        &mut self,
        batches: &Batches,
        shells: &[Shell],
        presses: impl Fn(&Batch, usize, &Origin) -> bool,
    ) {
        let (load, ratio) = (&mut self.load, self.rule.chain);
        load.clear();
        load.resize(shells.len(), 0);
        for _ in 0..CHAIN_MAX {
            let mut changed = false;
            batches.for_each(|batch, lane, origin| {
                let (a, b) = (batch.a[lane], batch.b[lane]);
                for (from, to) in [(a, b), (b, a)] {
                    let weight = load[from.at()].max(shells[from].mass);
                    let bears = leans(weight, shells[to].mass, ratio) && load[to.at()] < weight;
                    if bears && presses(batch, lane, origin) {
                        load[to.at()] = weight;
                        changed = true;
                    }
                }
            });
            if !changed {
                break;
            }
        }
    }

    /// Whether some body bears `ratio` times its mass.
    fn is_borne(&self, ratio: u32, shells: &[Shell]) -> bool {
        self.load.iter().zip(shells).any(|(&load, shell)| leans(load, shell.mass, ratio))
    }

    /// Passes over the stiff contacts. The last ones are not over-relaxed, so that no oscillation stays in the velocities. `repeated`: the
    /// pass over all contacts before is one of many.
    pub(crate) fn solve(
        &self,
        batches: &mut [Batch],
        velocities: &mut [Velocity],
        biased: bool,
        repeated: bool,
    ) {
        let most = if repeated { SETTLING_PASSES } else { self.rule.passes_max };
        // Groups share no bodies, so each of the two has as many passes as it needs.
        for (part, solved) in
            [(0..self.rigid, RIGID_MAX * most), (self.rigid..self.places.len(), self.rule.solved)]
        {
            if part.is_empty() {
                continue;
            }
            let passes = (solved / part.len()).clamp(2, most);
            let plain = if self.rule.rests { passes / 4 } else { 0 };
            for pass in 0..passes {
                let over = pass + plain < passes;
                for at in part.clone() {
                    let (batch, lane) = self.places[at].of_mut(batches);
                    match self.kept.get(at) {
                        Some(&kept) if biased => batch.solve_spring(lane, kept, over, velocities),
                        _ => batch.solve_stiff(lane, biased, over, velocities),
                    }
                }
            }
        }
    }
}

/// Whether a body of mass `heavy` is `ratio` times as heavy as `light`, which contacts can move.
#[inline(always)]
fn leans(heavy: u32, light: u32, ratio: u32) -> bool {
    light != 0 && u64::from(heavy) >= u64::from(light) * u64::from(ratio)
}

/// The body that stands for a group: its first one.
fn first(group: &mut [WorkingIndex], mut body: WorkingIndex) -> WorkingIndex {
    while group[body.at()] != body {
        let next = group[group[body.at()].at()];
        group[body.at()] = next;
        body = next;
    }
    body
}

/// The bodies of a contact; in place of an immovable one, which connects nobody, the other one.
fn movable(batch: &Batch, lane: usize, shells: &[Shell]) -> (WorkingIndex, WorkingIndex) {
    let (a, b) = (batch.a[lane], batch.b[lane]);
    if shells[a].mass == 0 {
        (b, b)
    } else if shells[b].mass == 0 {
        (a, a)
    } else {
        (a, b)
    }
}
