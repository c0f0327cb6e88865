//! Writes a crowd, as bytes or as numbers with names.

use alloc::vec::Vec;

use testudo_physics::{Fx, Vec2};

use crate::crowd::state::MOVEMENT_VERSION;
use crate::crowd::{Crowd, Errand, Mover, Progress, Pursuit, Task, Walker};
use crate::flow::{Tiles, Turn, Used};
use crate::steer::Sight;

/// One number of a crowd's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrowdNumber {
    /// The kind of object that it belongs to: `crowd`, `field`, `mover`.
    pub kind: &'static str,
    /// The index of the object: of a unit, the slot of its body.
    pub index: u32,
    /// Its name.
    pub name: &'static str,
    /// The value.
    pub value: i64,
    /// Where it is among the bytes that [`Crowd::save`] appends, and how many they are.
    pub at: u64,
    /// See `at`.
    pub bytes: u32,
}

/// What becomes of the numbers.
pub(super) trait Sink {
    /// The following numbers belong to this object.
    fn object(&mut self, kind: &'static str, index: u32);

    /// A number of 1 to 8 bytes.
    fn put(&mut self, name: &'static str, value: i64, bytes: usize);
}

/// Bytes that are collected before they are appended, because one call for each number would cost more than the bytes.
const PENDING: usize = 1_024;

/// Numbers as little-endian bytes.
pub(super) struct Bytes<'a> {
    out: &'a mut Vec<u8>,
    pending: [u8; PENDING],
    // not state: empty when everything is written
    filled: usize,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, pending: [0; PENDING], filled: 0 }
    }

    pub(super) fn end(self) {
        self.out.extend_from_slice(&self.pending[..self.filled]);
    }
}

impl Sink for Bytes<'_> {
    #[inline(always)]
    fn object(&mut self, _: &'static str, _: u32) {}

    #[inline(always)]
    fn put(&mut self, _: &'static str, value: i64, bytes: usize) {
        if self.filled + 8 > PENDING {
            self.out.extend_from_slice(&self.pending[..self.filled]);
            self.filled = 0;
        }
        self.pending[self.filled..self.filled + 8].copy_from_slice(&value.to_le_bytes());
        self.filled += bytes;
    }
}

/// Numbers with their names.
pub(super) struct Names<'a> {
    kind: &'static str,
    index: u32,
    at: u64,
    each: &'a mut dyn FnMut(CrowdNumber),
}

impl<'a> Names<'a> {
    pub(super) fn new(each: &'a mut dyn FnMut(CrowdNumber)) -> Self {
        Self { kind: "crowd", index: 0, at: 0, each }
    }
}

impl Sink for Names<'_> {
    fn object(&mut self, kind: &'static str, index: u32) {
        (self.kind, self.index) = (kind, index);
    }

    fn put(&mut self, name: &'static str, value: i64, bytes: usize) {
        let (kind, index, at, bytes) = (self.kind, self.index, self.at, bytes as u32);
        (self.each)(CrowdNumber { kind, index, name, value, at, bytes });
        self.at += u64::from(bytes);
    }
}

impl Crowd {
    pub(super) fn write(&self, out: &mut impl Sink) {
        self.write_head(out);
        let units = self.walkers.iter().zip(&self.movers);
        for (walker, mover) in units.filter(|(walker, _)| !walker.is_gone) {
            unit(out, walker, mover);
        }
    }

    /// Everything but the units.
    pub(super) fn write_head(&self, out: &mut impl Sink) {
        out.object("crowd", 0);
        out.put("version", MOVEMENT_VERSION.into(), 4);
        out.put("definition", self.settings.definition as i64, 8);
        out.put("is_surveyed", self.is_surveyed.into(), 1);
        out.put("orders", self.orders.into(), 4);
        out.put("frame", self.flows.frame as i64, 8);
        out.put("paths_debt", self.paths_debt.into(), 4);
        let (rest, rate) = self.clock.frames.remainder();
        out.put("now", self.clock.now as i64, 8);
        out.put("clock.rest", rest.into(), 2);
        out.put("clock.frames_per_second", rate.into(), 2);
        self.write_costs(out);
        out.put("fields", self.flows.fields.len() as i64, 4);
        for (index, used) in (0..).zip(&self.flows.fields) {
            out.object("field", index);
            field(out, used);
        }
        out.object("crowd", 0);
        out.put("turn", self.flows.turn.into(), 2);
        let Turn { place, was_first, has_changed } = self.flows.searched;
        out.put("searched", place.into(), 2);
        out.put("searched.was_first", was_first.into(), 1);
        out.put("searched.has_changed", has_changed.into(), 1);
        out.put("plans", self.flows.plan.is_some().into(), 1);
        if let Some(plan) = &self.flows.plan {
            out.put("plan.index", plan.index.into(), 2);
            out.put("plan.start", plan.start.into(), 4);
            out.put("plan.steps", plan.steps.into(), 4);
            out.put("plan.restarts", plan.restarts.into(), 1);
        }
        out.put("replaced", self.replaced.len() as i64, 4);
        self.replaced.iter().for_each(|body| out.put("replaced.body", body.to_bits() as i64, 8));
        out.put("units", self.movers.len() as i64 - i64::from(self.gone), 4);
    }

    /// Runs of equal costs: how many cells less one, and the cost.
    fn write_costs(&self, out: &mut impl Sink) {
        let grid = &self.ground.grid;
        let mut put = |(cost, count): (u8, u32)| {
            out.put("cells of a cost", i64::from(count) - 1, 1);
            out.put("cost", cost.into(), 1);
        };
        let mut run: Option<(u8, u32)> = None;
        for row in 0..grid.rows {
            let first = grid.cell([0, row]) as usize;
            let mut costs = &self.ground.all_costs()[first..first + grid.columns as usize];
            while let Some(&cost) = costs.first() {
                let (same, count) =
                    run.filter(|(same, count)| *same == cost && *count < 256).unwrap_or_else(|| {
                        run.into_iter().for_each(&mut put);
                        (cost, 0)
                    });
                let room = costs.len().min(256 - count as usize);
                let more = costs[..room].iter().position(|cost| *cost != same).unwrap_or(room);
                run = Some((same, count + more as u32));
                costs = &costs[more..];
            }
        }
        run.into_iter().for_each(put);
    }
}

fn field(out: &mut impl Sink, Used { field, until, .. }: &Used) {
    out.put("goal", field.goal.into(), 4);
    out.put("size", field.size.0.into(), 1);
    out.put("level", field.level().into(), 4);
    out.put("is_complete", field.is_complete().into(), 1);
    out.put("is_whole", field.is_whole().into(), 1);
    if !field.is_whole() {
        let (allowed, planned) = field.bounds();
        tiles(out, allowed);
        tiles(out, planned);
    }
    out.put("until", *until as i64, 8);
}

/// One bit for each tile.
fn tiles(out: &mut impl Sink, tiles: &Tiles) {
    for first in (0..tiles.total()).step_by(8) {
        let bits = (first..tiles.total().min(first + 8))
            .map(|tile| i64::from(tiles.contains(tile)) << (tile - first));
        out.put("tiles", bits.sum(), 1);
    }
}

/// One unit.
#[inline(always)]
pub(super) fn unit(out: &mut impl Sink, of_walker: &Walker, of_mover: &Mover) {
    out.object("mover", of_walker.body.index());
    walker(out, of_walker);
    mover(out, of_mover);
}

#[inline(always)]
fn length(out: &mut impl Sink, name: &'static str, value: Fx) {
    out.put(name, value.to_bits(), 8);
}

#[inline(always)]
fn point(out: &mut impl Sink, [x, y]: [&'static str; 2], point: Vec2) {
    length(out, x, point.x);
    length(out, y, point.y);
}

#[inline(always)]
fn errand(out: &mut impl Sink, errand: &Errand) {
    out.put("flow", errand.flow.index.into(), 2);
    out.put("flow.goal", errand.flow.goal.into(), 4);
    out.put("flow.size", errand.flow.size.0.into(), 1);
    out.put("order", errand.group.into(), 4);
    length(out, "pace", errand.pace);
    out.put("in_rows", errand.in_rows.into(), 1);
}

#[inline(always)]
fn walker(out: &mut impl Sink, walker: &Walker) {
    let Walker { sight, body, takes, acceleration, is_gone: _, is_away: _, stalled_ms: _, thinks, thought } =
        walker;
    let Sight { position: _, velocity: _, unit: _, wish, left, group, radius, right_ms, is_going } = sight;
    out.put("body", body.to_bits() as i64, 8);
    out.put("wish.x", wish[0].into(), 4);
    out.put("wish.y", wish[1].into(), 4);
    out.put("takes.x", takes[0].into(), 4);
    out.put("takes.y", takes[1].into(), 4);
    out.put("left", *left, 8);
    out.put("group", (*group).into(), 4);
    out.put("is_going", (*is_going).into(), 1);
    out.put("right_ms", (*right_ms).into(), 2);
    out.put("radius", radius.unsigned_abs().into(), 4);
    out.put("acceleration", acceleration.unsigned_abs().into(), 4);
    out.put("thinks", (*thinks).into(), 4);
    out.put("thought", (*thought).into(), 4);
}

#[inline(always)]
fn mover(out: &mut impl Sink, mover: &Mover) {
    let Mover { def, size, rank, pushes, task, is_told, post, aim, beyond, progress, .. } = mover;
    let Progress { best, stalled_ms, setbacks, is_back, is_old } = progress;
    length(out, "speed", def.speed);
    out.put("size", size.0.into(), 1);
    out.put("rank", (*rank).into(), 1);
    let flags = [*pushes, *is_told, *is_back, aim.is_some(), mover.is_straight, mover.is_new, *is_old];
    let bits = flags.iter().enumerate().map(|(bit, &flag)| i64::from(flag) << bit).sum();
    out.put("flags", bits, 1);
    match task {
        Task::Stand(None) => out.put("task", 0, 1),
        Task::Stand(Some(done)) => {
            out.put("task", 1, 1);
            errand(out, done);
        }
        Task::Go(present) => {
            out.put("task", 2, 1);
            errand(out, present);
        }
        Task::Pursue(Pursuit { prey, reach, has_failed, waits_ms }) => {
            out.put("task", 3, 1);
            out.put("prey", prey.to_bits() as i64, 8);
            length(out, "reach", *reach);
            out.put("has_failed", (*has_failed).into(), 1);
            out.put("waits_ms", (*waits_ms).into(), 2);
        }
    }
    point(out, ["post.x", "post.y"], *post);
    aim.iter().for_each(|&aim| point(out, ["aim.x", "aim.y"], aim));
    length(out, "beyond", *beyond);
    length(out, "best", *best);
    out.put("setbacks", (*setbacks).into(), 1);
    out.put("trades", mover.trades.into(), 1);
    out.put("stalled_ms", (*stalled_ms).into(), 4);
    out.put("off_ms", mover.off_ms.into(), 4);
}
