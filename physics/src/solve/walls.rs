//! Contacts with walls, where something that yields to nobody else presses on them. A wall is a static body.

use alloc::vec::Vec;

use crate::body::record::Extra;
use crate::body::working_index::WorkingIndex;
use crate::math::axes::both;
use crate::math::boxes::LANES;
use crate::math::lanes::UNIT;
use crate::math::sets::DisjointSets;
use crate::solve::batches::Batches;
use crate::solve::bodies::Bodies;
use crate::solve::contact_place::ContactPlace;
use crate::solve::deep;
use crate::solve::room::Room;
use crate::solve::run::Run;
use crate::solve::solver::{IMPULSE_MAX, NO_LIMIT, Velocity};
use crate::solve::wedged::{Wedged, facing};

/// What may press bodies against walls in a step.
#[derive(Clone, Copy)]
pub(crate) struct Pressing<'a> {
    /// The ranks of the bodies by slot, if any may have one.
    pub(crate) ranks: Option<&'a [Extra]>,
    /// Whether a heavy body leans on a light one, without gravity.
    pub(crate) heavy: bool,
    /// Whether there is a kinematic body.
    pub(crate) driven: bool,
    /// Whether contacts are springs.
    pub(crate) soft: bool,
}

/// The contacts with walls that have the last word. A body that is squeezed between a wall and a body with a rank, a heavy body or a kinematic
/// body enters that one.
#[derive(Clone, Debug, Default)]
pub(crate) struct WallContacts {
    pub(crate) places: Vec<ContactPlace>,
    /// How fast the pairs of these contacts are to separate, at least.
    limits: Vec<i32>,
    pub(crate) room: Room,
    pub(crate) wedged: Wedged,
    /// Where bodies are deep in walls while contacts are springs, which may be squeezed: these do not get any deeper.
    pub(crate) deep: Vec<ContactPlace>,
    /// Bodies that touch, directly or through others that contacts can move, by working index.
    groups: DisjointSets,
    /// What a kinematic body pushes, by the working index that names the group.
    driven: Vec<Group>,
}

/// Bodies that touch, directly or through others.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// The greatest speed of a kinematic body that touches one of them, raw; negative if none does.
    speed: i32,
    bodies: i32,
    /// Least and greatest mass.
    masses: [u32; 2],
}

impl Group {
    const NONE: Self = Self { speed: -1, bodies: 0, masses: [u32::MAX, 0] };

    fn count(&mut self, mass: u32) {
        self.bodies += 1;
        self.masses = [self.masses[0].min(mass), self.masses[1].max(mass)];
    }

    /// The greatest impulse that its contacts keep from the last frame: that of a row of all of them, which press with twice the speed of what
    /// drives them, at least 1 unit per second each, the lightest one before the heaviest.
    fn most(&self) -> i32 {
        if self.speed < 0 {
            return IMPULSE_MAX;
        }
        let ratio = (self.masses[1] / self.masses[0].max(1)).clamp(1, 1 << 14) as i32;
        let press = self.speed.saturating_mul(2).max(1 << 16);
        press.saturating_mul(self.bodies + 1).saturating_mul(ratio).min(IMPULSE_MAX)
    }
}

impl WallContacts {
    /// Notes the contacts with walls that something presses on.
    pub(crate) fn find(&mut self, run: &mut Run<'_>, pressing: Pressing<'_>, speed: impl Fn(i32) -> i32) {
        self.places.clear();
        self.limits.clear();
        self.deep.clear();
        self.wedged.begin();
        if pressing.soft {
            self.wedged.find(run);
            self.list_deep(run);
        }
        if pressing.ranks.is_some() || pressing.heavy {
            self.list_all(run, pressing);
        }
        if pressing.driven && self.places.is_empty() {
            self.list_driven(run);
        }
        self.room.find(run, pressing.soft);
        if !pressing.soft {
            self.list_pressed(run, speed);
        }
    }

    /// Adds the contacts with walls of bodies that other ones press into them, and of bodies that walls leave no room. The solver does not separate
    /// these: opposite ones would drive a body to and fro, and what presses would win. [`Self::hold_off`] does.
    fn list_pressed(&mut self, run: &mut Run<'_>, speed: impl Fn(i32) -> i32) {
        let Self { places, limits, room, .. } = self;
        let batches = &mut run.contacts.batches;
        limits.extend(places.iter().map(|&place| wall_limit(batches, place, &speed)));
        let known = places.len();
        for same in room.at_walls.chunk_by(|a, b| a.0 == b.0) {
            for &(body, place) in same {
                let mut others = same.iter().map(|&(_, other)| other);
                let opposite = others.find(|&other| is_opposite(batches, body, place, other));
                let gap = batches.origin(place).gap;
                // To the middle between both.
                let off = opposite.map(|other| gap.saturating_sub(batches.origin(other).gap));
                let to_the_middle = off.map(|off| speed(-(off / 2).abs()) * -off.signum());
                let limit = to_the_middle.unwrap_or_else(|| wall_limit(batches, place, &speed));
                if let Ok(at) = places[..known].binary_search(&place) {
                    limits[at] = limit;
                } else {
                    places.push(place);
                    limits.push(limit);
                }
                if gap < 0 || opposite.is_some() {
                    let (batch, lane) = place.of_mut(batches.as_mut_slice());
                    batch.biased[lane] = 0;
                    batch.impulse[lane] = if room.is_missing(body) { 0 } else { batch.impulse[lane] };
                }
            }
        }
    }

    /// All contacts with walls, and before them those with moving kinematic bodies, if bodies of different rank touch or a heavy body leans on a light one.
    #[cold]
    fn list_all(&mut self, run: &Run<'_>, Pressing { ranks, heavy, .. }: Pressing<'_>) {
        let (mut needed, shells) = (heavy, run.bodies.shells);
        run.contacts.list(&mut self.places, |batch, lane| {
            let [a, b] = [batch.a[lane], batch.b[lane]].map(|body| &shells[body]);
            let wall = a.mass == 0 || b.mass == 0;
            if let (Some(extras), false) = (ranks, wall) {
                let [rank_a, rank_b] = both([a, b], |shell| extras[shell.slot].dominance);
                needed |= rank_a != rank_b;
            }
            wall
        });
        if !needed {
            self.places.clear();
        }
    }

    /// The contacts in which bodies are deep in a wall.
    fn list_deep(&mut self, run: &Run<'_>) {
        let (batches, shells) = (&run.contacts.batches, run.bodies.shells);
        for (at, batch, origins) in batches.from(batches.at_rest()) {
            for lane in 0..LANES {
                if origins.gap[lane] < -deep::OVERLAP_SHALLOW && batch.biased[lane] != NO_LIMIT {
                    let pair = [batch.a[lane], batch.b[lane]];
                    let is_wall = |body: WorkingIndex| {
                        shells[body].mass == 0 && run.bodies.parked.binary_search(&body).is_err()
                    };
                    let place = ContactPlace::new(at, lane);
                    let deep = self.wedged.gap(place, origins.gap[lane]) < -deep::OVERLAP_SHALLOW;
                    if deep && pair.into_iter().any(is_wall) {
                        self.deep.push(place);
                    }
                }
            }
        }
    }

    /// The contacts with walls of the bodies that a kinematic body pushes, directly or through others.
    #[cold]
    fn list_driven(&mut self, run: &mut Run<'_>) {
        if !self.find_driven(run) {
            return;
        }
        let Self { places, groups, driven, .. } = self;
        let (shells, parked) = (run.bodies.shells, run.bodies.parked);
        let dummy = run.contacts.batches.dummy();
        run.contacts.list(places, |batch, lane| {
            let (a, b) = (batch.a[lane], batch.b[lane]);
            let (wall, body) = if shells[a].mass == 0 { (a, b) } else { (b, a) };
            let is_wall = shells[wall].mass == 0 && wall > dummy && parked.binary_search(&wall).is_err();
            is_wall && driven[groups.find(body.0) as usize].speed >= 0
        });
        if places.is_empty() {
            return;
        }
        // What squeezes bodies from two sides would push the impulses up from frame to frame.
        for batch in run.contacts.batches.as_mut_slice() {
            for lane in 0..LANES {
                let (a, b) = (batch.a[lane], batch.b[lane]);
                let body = if shells[a].mass == 0 { b } else { a };
                batch.impulse[lane] = batch.impulse[lane].min(driven[groups.find(body.0) as usize].most());
            }
        }
    }

    /// Finds the groups that a kinematic body pushes. Returns whether there are any.
    fn find_driven(&mut self, run: &Run<'_>) -> bool {
        let Self { groups, driven, .. } = self;
        let Bodies { shells, velocities, parked, .. } = &run.bodies;
        let batches = &run.contacts.batches;
        let is_fixed = |body: WorkingIndex| shells[body].mass == 0;
        // Movers come before the dummy, bodies at rest behind it.
        let drives = |body: WorkingIndex| {
            is_fixed(body) && (body < batches.dummy() || parked.binary_search(&body).is_ok())
        };
        groups.reset(shells.len());
        let mut any = false;
        batches.for_each(|batch, lane, _| {
            let (a, b) = (batch.a[lane], batch.b[lane]);
            any |= drives(a) || drives(b);
            if !is_fixed(a) && !is_fixed(b) {
                groups.merge(a.0, b.0);
            }
        });
        if !any {
            return false;
        }
        driven.clear();
        driven.resize(shells.len(), Group::NONE);
        for (body, shell) in (0..).zip(*shells).filter(|(_, shell)| shell.mass != 0) {
            driven[groups.find(body) as usize].count(shell.mass);
        }
        batches.for_each(|batch, lane, _| {
            let (a, b) = (batch.a[lane], batch.b[lane]);
            if drives(a) || drives(b) {
                let (driver, body) = if is_fixed(a) { (a, b) } else { (b, a) };
                let [x, y] = velocities[driver].get().map(i32::saturating_abs);
                let speed = &mut driven[groups.find(body.0) as usize].speed;
                *speed = (*speed).max(x.max(y));
            }
        });
        true
    }

    /// Solves them once more for the velocities that advance positions (`moving`). Twice, for corners.
    pub(crate) fn hold_off(&self, run: &Run<'_>, moving: &mut [Velocity]) {
        let batches = run.contacts.batches.as_slice();
        for _ in 0..2 {
            for (place, &limit) in self.places.iter().zip(&self.limits) {
                let (batch, lane) = place.of(batches);
                let missing = batch.approach(lane, moving).saturating_add(limit);
                if missing > 0 {
                    batch.apply(lane, missing, moving);
                }
            }
        }
    }
}

/// How fast a body and a wall are to separate, at least. `speed` is that of a deep overlap.
fn wall_limit(batches: &Batches, place: ContactPlace, speed: impl Fn(i32) -> i32) -> i32 {
    let (gap, (batch, lane)) = (batches.origin(place).gap, place.of(batches.as_slice()));
    if gap < -deep::OVERLAP_SHALLOW { speed(gap) } else { batch.biased[lane] }
}

/// Whether two walls push a body in opposite directions, and are closer together than it is wide.
fn is_opposite(batches: &Batches, body: WorkingIndex, place: ContactPlace, other: ContactPlace) -> bool {
    let gap = |place| batches.origin(place).gap;
    // Within 18 degrees.
    gap(place).saturating_add(gap(other)) < 0
        && facing(batches, body, place, other) > i64::from(UNIT) / 20 * 19
}
