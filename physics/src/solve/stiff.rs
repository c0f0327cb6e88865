//! Stiff contacts: a heavy body that leans on a light one.
//!
//! Each pass over a contact removes only about light / heavy of the heavy body's speed, so with a mass ratio of 1:1000 the usual passes
//! would let it sink through. The contacts of such light bodies, and those of their supports, are listed and solved more often, with more
//! over-relaxation (successive over-relaxation; D. Young, 1950). Scenes without them pay nothing.
//!
//! Under gravity a load is followed down through chains of ever lighter bodies, so 1:4:16:64 counts as 1:64. There, only towers and small
//! groups have stiff contacts; larger heaps rest by passes that are repeated until they change little ([`crate::solve::settling`]).

use alloc::vec::Vec;

use crate::body::record::Shell;
use crate::math::boxes::LANES;
use crate::solve::coloring::{Batches, Origin};
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
const UPRIGHT: Rule = Rule { leans: 2, chain: 2, ratio: 32, passes_max: 128, solved: 32_768, rests: true };

/// Greatest number of contacts of a group that has stiff ones, under gravity. In a larger heap the usual passes do better.
const GROUP_MAX: u32 = 6;

/// The same for a group with no more contacts than bodies, such as a tower: what each contact bears is determined there.
const TOWER_MAX: u32 = 64;

/// A tower that has been stiff may have so many contacts more than bodies, if no more than its bodies bear something.
const CONTACTS_MORE: u32 = 6;

/// Greatest number of stiff contacts in a world with gravity: so many get all passes.
const RESTING_MAX: usize = UPRIGHT.solved / UPRIGHT.passes_max;

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
    /// Those of them that bore something in the last frame.
    bearing: u32,
    bodies: u32,
    /// What its stiff contacts would push as springs, twice, less what springs under their impulses push, raw units per second. Negative if these contacts
    /// are less than half as deep as springs would be: then they have been stiff.
    sprung: i64,
}

impl Group {
    /// Whether its contacts may be stiff. A tower that has been stiff may have [`CONTACTS_MORE`]: its load was lifted, and may be close to a heap for that
    /// reason. With these contacts its group would be too large, sink through springs, lose them, and be lifted again, for ever.
    fn is_small(self) -> bool {
        let was_stiff = self.sprung < 0 && self.bearing <= self.bodies;
        let tower = self.bodies + if was_stiff { CONTACTS_MORE } else { 0 };
        self.contacts <= if self.contacts <= tower { TOWER_MAX } else { GROUP_MAX }
    }
}

/// The stiff contacts of a step. Nothing here is state.
#[derive(Clone, Debug)]
pub(crate) struct StiffContacts {
    /// Batch and lane, in the order of solving.
    pub(crate) places: Vec<(u32, u32)>,
    /// By working index: mass of the heaviest body that leans on it, directly or through others.
    load: Vec<u32>,
    /// By working index: another body of the same group, or itself.
    group: Vec<u32>,
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
        let (load, group, groups) = (Vec::new(), Vec::new(), Vec::new());
        Self { places: Vec::new(), load, group, groups, mixed: false, uneven: false, rule: LEVEL }
    }
}

impl StiffContacts {
    pub(crate) fn begin(&mut self, gravity: bool) {
        self.rule = if gravity { UPRIGHT } else { LEVEL };
        self.places.clear();
        self.mixed = false;
        self.uneven = false;
    }

    /// Whether a pair of such masses may be stiff.
    #[inline(always)]
    pub(crate) fn leans(&self, mass_a: u32, mass_b: u32) -> bool {
        leans(mass_a.max(mass_b), mass_a.min(mass_b), self.rule.leans)
    }

    /// Lists the stiff contacts. Call when a pair [leans](Self::leans). `velocities` are those before solving; `rates` are frames per second and
    /// sub-steps per frame.
    pub(crate) fn find(
        &mut self,
        batches: &Batches,
        shells: &[Shell],
        velocities: &[Velocity],
        [fps, parts]: [u32; 2],
    ) {
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
            self.leave_out_large_groups(batches, shells, fps * parts);
        }
    }

    /// Lists the contacts of those who bear too much.
    fn list(&mut self, batches: &Batches, shells: &[Shell]) {
        let bears = |body: u32| leans(self.load[body as usize], shells[body as usize].mass, self.rule.ratio);
        for (index, batch) in batches.as_slice().iter().enumerate() {
            for lane in 0..LANES {
                if bears(batch.a[lane]) || bears(batch.b[lane]) {
                    self.places.push((index as u32, lane as u32));
                }
            }
        }
    }

    /// Keeps the stiff contacts of small groups only, such as towers. A large heap rests without them, and would not rest if they came and
    /// went. Groups are connected by narrow gaps, too: who sinks away from a neighbour stays in its group.
    fn leave_out_large_groups(&mut self, batches: &Batches, shells: &[Shell], rate: u32) {
        if self.places.is_empty() {
            return;
        }
        let Self { places, group, groups, .. } = self;
        group.clear();
        group.extend(0..shells.len() as u32);
        groups.clear();
        groups.resize(shells.len(), Group::default());
        batches.for_each(|batch, lane, _| {
            let (a, b) = movable(batch, lane, shells);
            let (a, b) = (first(group, a), first(group, b));
            group[a.max(b) as usize] = a.min(b);
        });
        batches.for_each(|batch, lane, _| {
            let group = &mut groups[first(group, movable(batch, lane, shells).0) as usize];
            group.contacts += 1;
            group.bearing += u32::from(batch.impulse[lane] != 0);
        });
        for body in 0..shells.len() as u32 {
            groups[first(group, body) as usize].bodies += 1;
        }
        let mut group_of = |(at, lane): (u32, u32)| {
            first(group, movable(&batches.as_slice()[at as usize], lane as usize, shells).0) as usize
        };
        for &place in &*places {
            let (batch, lane) = (&batches.as_slice()[place.0 as usize], place.1 as usize);
            let spring = Spring::of(batch.share_a[lane]);
            let push = i64::from(spring.limit(batches.origin(place).gap, rate).max(0));
            groups[group_of(place)].sprung += 2 * push - i64::from(spring.push_under(batch.impulse[lane]));
        }
        places.retain(|&place| groups[group_of(place)].is_small());
        if places.len() > RESTING_MAX {
            places.clear();
        }
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
                let (a, b) = (batch.a[lane] as usize, batch.b[lane] as usize);
                for (from, to) in [(a, b), (b, a)] {
                    let weight = load[from].max(shells[from].mass);
                    let bears = leans(weight, shells[to].mass, ratio) && load[to] < weight;
                    if bears && presses(batch, lane, origin) {
                        load[to] = weight;
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
        if self.places.is_empty() {
            return;
        }
        let most = if repeated { SETTLING_PASSES } else { self.rule.passes_max };
        let passes = (self.rule.solved / self.places.len()).clamp(2, most);
        let plain = if self.rule.rests { passes / 4 } else { 0 };
        for pass in 0..passes {
            for &(batch, lane) in &self.places {
                batches[batch as usize].solve_stiff(lane as usize, biased, pass + plain < passes, velocities);
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
fn first(group: &mut [u32], mut body: u32) -> u32 {
    while group[body as usize] != body {
        let next = group[group[body as usize] as usize];
        group[body as usize] = next;
        body = next;
    }
    body
}

/// The bodies of a contact; in place of an immovable one, which connects nobody, the other one.
fn movable(batch: &Batch, lane: usize, shells: &[Shell]) -> (u32, u32) {
    let (a, b) = (batch.a[lane], batch.b[lane]);
    if shells[a as usize].mass == 0 {
        (b, b)
    } else if shells[b as usize].mass == 0 {
        (a, a)
    } else {
        (a, b)
    }
}
