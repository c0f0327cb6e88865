//! The one walk over the game's state, which hashes, saves, restores, compares and corrupts it number by number.
//!
//! Each structure is destructured without `..`, so that a new field does not compile until it is shown here or explicitly left out.
//! The walk over the units runs in every frame; inlined, it is a list of stores.

use testudo_lockstep::CrowdPart;
use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_physics::{BodyId, Rate};

use crate::army::Army;
use crate::building::Building;
use crate::point::Point;
use crate::teams::{TEAMS_MAX, Teams};
use crate::unit::{Deed, Destination, ERRANDS_MAX, Errand, Foe, Stance, Task, Unit};
use crate::{Game, terrain};

impl Game {
    /// Hash of everything that decides how the match goes on, including the checksum of the frame before. So it covers every frame, and a
    /// difference never heals. The setup is left out, because peers compare it before they play.
    pub(super) fn hash_state(&mut self) -> u64 {
        state::digest(self)
    }
}

impl State for Game {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        // The setup and the field are the same for all peers; the scratch memory lasts for one frame.
        let Self {
            setup,
            field,
            world,
            frame,
            dice,
            clock,
            now_ms,
            armies,
            teams,
            buildings,
            crowd,
            units,
            running_ms,
            before,
            checksum: _,
            is_checksum_old: _,
            is_predicted: _,
            stand_in: _,
            scratch,
        } = self;
        let limits = Limits { units: units.len() as i64 - 1, buildings: buildings.len() as i64 - 1 };
        v.part(world)?;
        let crowd_def = || terrain::crowd_def(field);
        v.part(&mut CrowdPart::new(crowd, world, crowd_def).buffer(&mut scratch.hashed))?;
        v.object("game", 0);
        v.number("frame", frame)?;
        let (mut state, mut stream) = dice.state();
        v.number("dice.state", &mut state)?;
        v.number("dice.stream", &mut stream)?;
        dice.set_state(state, stream);
        visit_rate(clock, v, ["clock.rest", "clock.frames_per_second"])?;
        v.number("now_ms", now_ms)?;
        for (index, army) in (0..).zip(armies) {
            v.object("army", index);
            army.visit(v, index * setup.units, setup.units, teams)?;
        }
        for (index, building) in (0..).zip(&mut *buildings) {
            v.object("building", index);
            building.visit(v)?;
        }
        v.kept("unit", units, |v, unit| unit.visit(v, limits))?;
        for (index, running_ms) in (0..).zip(running_ms) {
            v.object("unit", index);
            v.number("running_ms", running_ms)?;
        }
        // Last, because it follows from everything else.
        v.object("game", 0);
        v.number("checksum of the frame before", before)?;
        if V::WRITES {
            self.is_checksum_old = false;
            self.checksum = self.hash_state();
        }
        Ok(())
    }
}

/// Greatest numbers of units and buildings.
#[derive(Clone, Copy)]
struct Limits {
    units: i64,
    buildings: i64,
}

impl Army {
    /// `first` is the number of its first unit, `units` how many it has.
    fn visit<V: Visit>(
        &mut self,
        v: &mut V,
        first: u32,
        units: u32,
        teams: &mut Teams,
    ) -> Result<(), StateError> {
        let Self { kills, losses, reserve, is_gone, is_defeated, rally, fallen } = self;
        v.number("kills", kills)?;
        v.number("losses", losses)?;
        v.number("reserve", reserve)?;
        // One number: a match without teams has the checksums that it had before there were any.
        let army = (first / units) as u8;
        let mut tie = u8::from(*is_gone) | teams.of(army) << 1;
        v.number_in("is_gone and team", &mut tie, 0..=i64::from(TEAMS_MAX << 1 | 1))?;
        *is_gone = tie & 1 == 1;
        teams.set(army, tie >> 1);
        v.number("is_defeated", is_defeated)?;
        visit_point(rally, v, ["rally.x", "rally.y"])?;
        let mut length = fallen.len() as u32;
        v.number_in("fallen", &mut length, 0..=i64::from(units))?;
        fallen.resize(length as usize, first);
        for (place, unit) in fallen.iter_mut().enumerate() {
            v.object("place among the fallen", first + place as u32);
            v.number_in("unit", unit, i64::from(first)..=i64::from(first + units - 1))?;
        }
        Ok(())
    }
}

/// Shows a rate's remainder and the frames per second that it counts in. Its amount per second follows from its owner.
fn visit_rate<V: Visit>(rate: &mut Rate, v: &mut V, names: [&'static str; 2]) -> Result<(), StateError> {
    let (remainder, frames_per_second) = rate.remainder();
    let (mut remainder, mut frames_per_second) = (remainder as u16, frames_per_second as u16);
    v.number_in(names[0], &mut remainder, 0..=999)?;
    v.number_in(names[1], &mut frames_per_second, 0..=1_000)?;
    let parts = (remainder.into(), frames_per_second.into());
    let max = i64::from(frames_per_second) - 1;
    *rate = Rate::from_parts(rate.per_second(), parts).ok_or(StateError::OutOfRange {
        name: names[0],
        min: 0,
        max: max.max(0),
    })?;
    Ok(())
}

impl Building {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        // Army, kind and ground follow from the setup.
        let Self { army: _, kind: _, ground: _, body, hit_points, ready, training } = self;
        v.number("hit_points", hit_points)?;
        v.number("ready", ready)?;
        visit_rate(training, v, ["training.rest", "training.frames_per_second"])?;
        visit_body(body, v, "stands")
    }
}

impl Unit {
    fn visit<V: Visit>(&mut self, v: &mut V, limits: Limits) -> Result<(), StateError> {
        // Army and kind follow from the number.
        let Self {
            army: _,
            kind: _,
            groups,
            body,
            hit_points,
            ready_ms,
            task,
            errands,
            stance,
            post,
            away_ms,
            target,
        } = self;
        v.number("hit_points", hit_points)?;
        v.number("groups", groups)?;
        v.number("ready_ms", ready_ms)?;
        v.number("away_ms", away_ms)?;
        visit_point(post, v, ["post.x", "post.y"])?;
        visit_body(body, v, "lives")?;
        visit_task(task, v, limits)?;
        visit_stance(stance, v)?;
        let mut length = errands.len() as u8;
        v.number_in("errands", &mut length, 0..=ERRANDS_MAX as i64)?;
        if errands.len() != usize::from(length) {
            let none = Errand { deed: Deed::March, destination: Destination::NOWHERE };
            errands.resize(length.into(), none);
        }
        for errand in errands {
            visit_errand(errand, v, limits)?;
        }
        visit_foe(target, v, limits, ["target.kind", "target"])
    }
}

/// `name` is the name of the number that says whether there is a body.
#[inline(always)]
fn visit_body<V: Visit>(body: &mut Option<BodyId>, v: &mut V, name: &'static str) -> Result<(), StateError> {
    let mut is_there = body.is_some();
    v.number(name, &mut is_there)?;
    if !is_there {
        *body = None;
        return Ok(());
    }
    v.number("body", body.get_or_insert(BodyId::from_bits(0)))
}

#[inline(always)]
fn visit_stance<V: Visit>(stance: &mut Stance, v: &mut V) -> Result<(), StateError> {
    let mut number = *stance as u8;
    v.number_in("stance", &mut number, 0..=Stance::ALL.len() as i64 - 1)?;
    *stance = Stance::ALL[usize::from(number)];
    Ok(())
}

/// The task's number, then its parts.
#[inline(always)]
fn visit_task<V: Visit>(task: &mut Task, v: &mut V, limits: Limits) -> Result<(), StateError> {
    let mut number = task.number();
    v.number_in("task", &mut number, 0..=Task::ALL.len() as i64 - 1)?;
    if number != task.number() {
        *task = Task::ALL[usize::from(number)];
    }
    let (of_place, of_goal) = (["place.x", "place.y"], ["goal.x", "goal.y"]);
    match task {
        Task::Hold => Ok(()),
        Task::March(destination)
        | Task::Attack(destination)
        | Task::Aid(destination)
        | Task::Return(destination) => visit_destination(destination, v, of_place, of_goal),
        Task::Patrol { to, back } => {
            visit_destination(to, v, of_place, of_goal)?;
            visit_destination(back, v, ["back.x", "back.y"], ["back.goal.x", "back.goal.y"])
        }
        Task::Strike { foe, destination } => {
            visit_destination(destination, v, of_place, of_goal)?;
            let mut somebody = Some(*foe);
            visit_foe(&mut somebody, v, limits, ["foe.kind", "foe"])?;
            *foe = somebody.ok_or(StateError::Part { what: "a unit strikes nobody" })?;
            Ok(())
        }
    }
}

fn visit_errand<V: Visit>(errand: &mut Errand, v: &mut V, limits: Limits) -> Result<(), StateError> {
    let Errand { deed, destination } = errand;
    let mut number = match deed {
        Deed::March => 0_u8,
        Deed::Attack => 1,
        Deed::Strike(_) => 2,
        Deed::Patrol { .. } => 3,
    };
    v.number_in("errand", &mut number, 0..=3)?;
    visit_destination(destination, v, ["errand.x", "errand.y"], ["errand.goal.x", "errand.goal.y"])?;
    *deed = match number {
        0 => Deed::March,
        1 => Deed::Attack,
        2 => {
            let mut foe = if let Deed::Strike(foe) = *deed { Some(foe) } else { None };
            visit_foe(&mut foe, v, limits, ["errand.foe.kind", "errand.foe"])?;
            Deed::Strike(foe.ok_or(StateError::Part { what: "an errand is to strike nobody" })?)
        }
        _ => {
            let mut back = if let Deed::Patrol { back } = *deed { back } else { Destination::NOWHERE };
            visit_destination(
                &mut back,
                v,
                ["errand.back.x", "errand.back.y"],
                ["errand.back.goal.x", "errand.back.goal.y"],
            )?;
            Deed::Patrol { back }
        }
    };
    Ok(())
}

#[inline(always)]
fn visit_destination<V: Visit>(
    Destination { place, goal }: &mut Destination,
    v: &mut V,
    of_place: [&'static str; 2],
    of_goal: [&'static str; 2],
) -> Result<(), StateError> {
    visit_point(place, v, of_place)?;
    visit_point(goal, v, of_goal)
}

#[inline(always)]
fn visit_point<V: Visit>(point: &mut Point, v: &mut V, names: [&'static str; 2]) -> Result<(), StateError> {
    v.number_in(names[0], &mut point.x, Point::RANGE)?;
    v.number_in(names[1], &mut point.y, Point::RANGE)
}

/// Names of the kind (0 nobody, 1 unit, 2 building) and of the number.
#[inline(always)]
fn visit_foe<V: Visit>(
    foe: &mut Option<Foe>,
    v: &mut V,
    limits: Limits,
    names: [&'static str; 2],
) -> Result<(), StateError> {
    let (mut kind, mut number) = match *foe {
        None => (0_u8, 0),
        Some(Foe::Unit(number)) => (1, number),
        Some(Foe::Building(number)) => (2, number),
    };
    v.number_in(names[0], &mut kind, 0..=2)?;
    if kind != 0 {
        let max = if kind == 1 { limits.units } else { limits.buildings };
        v.number_in(names[1], &mut number, 0..=max)?;
    }
    *foe = match kind {
        0 => None,
        1 => Some(Foe::Unit(number)),
        _ => Some(Foe::Building(number)),
    };
    Ok(())
}
