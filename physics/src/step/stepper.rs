//! What a step keeps from phase to phase. Each part owns its fields; a phase is a function of the parts that it needs.

use crate::body::record::{Body, Extra};
use crate::body::slot::Slot;
use crate::body::working_index::WorkingIndex;
use crate::contact::cache::ContactCache;
use crate::contact::sensors::SensorOverlaps;
use crate::motion::movers::{Movement, MoverVelocities};
use crate::simd::Path;
use crate::solve::step_contacts::StepContacts;
use crate::solve::sub_steps::{Rates, Solver};
use crate::step::crew::Crew;
use crate::step::crossings::Crossing;
use crate::step::fast::{FastMovers, Solved};
use crate::step::finder::Finder;
use crate::step::found::{Coloring, Found};
use crate::step::gains::Gains;
use crate::step::input::{ContactInput, ContactPhase};
use crate::step::islands::Islands;
use crate::step::lanes::Lanes;
use crate::step::near::Near;
use crate::step::scene::Scene;
use crate::step::strikes::StrikeInput;
use crate::step::working::{Source, Working};
use crate::tree::resting::RestingTrees;
use crate::world_def::Settings;

/// The parts of a step. Beside the tree, which queries use, and the instruction set, all of it is scratch memory that is kept between steps.
#[derive(Debug)]
pub(crate) struct Stepper {
    pub(crate) path: Path,
    pub(crate) lanes: Lanes,
    pub(crate) gains: Gains,
    pub(crate) working: Working,
    near: Near,
    fast: FastMovers,
    finder: Finder,
    coloring: Coloring,
    pub(crate) contacts: StepContacts,
    solver: Solver,
    pub(crate) islands: Islands,
}

impl Stepper {
    pub(crate) fn new(path: Path) -> Self {
        Self {
            path,
            lanes: Lanes::default(),
            gains: Gains::default(),
            working: Working::default(),
            near: Near::default(),
            fast: FastMovers::default(),
            finder: Finder::default(),
            coloring: Coloring::default(),
            contacts: StepContacts::default(),
            solver: Solver::default(),
            islands: Islands::default(),
        }
    }

    /// Takes what outlives a step from another one.
    pub(crate) fn copy_lasting(&mut self, source: &Self) {
        self.path = source.path;
        self.lanes.clone_from(&source.lanes);
    }

    /// Sorts the moving bodies (`active`: ascending slots) along the curve and gathers them into the working arrays.
    #[inline(never)]
    pub(crate) fn gather(&mut self, active: &[Slot], source: Source<'_>, fps: u32, crew: &mut Crew<'_>) {
        let Self { path, lanes, gains, working, fast, .. } = self;
        lanes.sort(*path, active, source.settings.split, source.bodies);
        fast.begin(fps);
        working.gather(lanes, source, &mut fast.marks, *path, crew);
        working.note_gains(gains.by_slot(), lanes);
        path.rebuild_bounds(&mut lanes.tree);
    }

    /// Marks the bodies in `fresh` that are new, and finds the bodies at rest near the `movers` moving ones.
    pub(crate) fn look_around(
        &mut self,
        fresh: &[Slot],
        bodies: &[Body],
        resting: &mut RestingTrees,
        movers: usize,
    ) {
        let Self { path, lanes, working, near, .. } = self;
        working.note_fresh(fresh, lanes, bodies);
        near.find(&mut lanes.tree, resting, movers, *path);
    }

    /// Finds the bodies that fast ones strike.
    pub(crate) fn find_strikes(&mut self, scene: Scene<'_>, extras: &[Extra], settings: &Settings) {
        let Self { path, lanes, working, fast, .. } = self;
        if !fast.marks.is_empty() {
            let input = StrikeInput { path: *path, scene, extras, settings, working };
            fast.strikes.find(input, lanes, &mut fast.marks);
            path.rebuild_bounds(&mut lanes.tree);
        }
    }

    /// See [`Near::sleepers_in_the_way`].
    pub(crate) fn sleepers_in_the_way(&self, scene: Scene<'_>, fps: u32, out: &mut alloc::vec::Vec<Slot>) {
        self.near.sleepers_in_the_way(&self.working, scene, fps, out);
    }

    /// Finds the contacts of the step.
    pub(crate) fn find_contacts(
        &mut self,
        phase: ContactPhase<'_>,
        sensors: &mut SensorOverlaps,
        crew: &mut Crew<'_>,
    ) {
        let Self { path, lanes, working, near, fast, finder, coloring, contacts, .. } = self;
        near.append_to(working, phase.scene.bodies, phase.contacts);
        let input = ContactInput { phase, path: *path, tree: &lanes.tree, working, near };
        finder.find(&input, &mut Found { contacts, coloring, fast, sensors }, crew);
        near.forget_indices();
    }

    /// Solves the contacts. `extras` are by slot.
    #[inline(never)]
    pub(crate) fn solve(&mut self, rates: Rates<'_>, scene: Scene<'_>, extras: &[Extra]) {
        let Self { path, working, fast, contacts, solver, .. } = self;
        solver.solve(contacts, working.bodies(), rates, path);
        if !fast.crossings.pairs.is_empty() {
            let batches = &contacts.batches;
            let (fps, box_margin) = (rates.fps, rates.settings.box_margin());
            let field = Crossing { scene, extras, working, batches, fps, box_margin };
            fast.crossings.stop(&field, &mut solver.moving);
        }
    }

    /// Counts the contacts that `cache` will keep, see [`ContactCache::count_contacts`].
    pub(crate) fn count_contacts(&mut self, cache: &mut ContactCache, scene: Scene<'_>) {
        let Self { path, lanes, working, fast, contacts, solver, .. } = self;
        let (shells, moving) = (&working.shells[..], &solver.moving[..]);
        let solved = Solved { scene, shells, moving, dummy: WorkingIndex::new(lanes.count()) };
        path.count_contacts(cache, &mut contacts.batches, shells, &|a, b| fast.touch(a, b, &solved));
    }

    /// Keeps the counted contacts.
    pub(crate) fn keep_contacts(&self, cache: &mut ContactCache) {
        cache.end_step(&self.contacts.batches, &self.working.shells, &self.contacts.frictions);
    }

    /// Moves the bodies with their solved velocities and updates their boxes; meanwhile keeps the contacts in `cache`, unless that is done.
    pub(crate) fn move_bodies(
        &mut self,
        movement: &mut Movement<'_>,
        cache: Option<&mut ContactCache>,
        crew: &mut Crew<'_>,
    ) {
        let Self { lanes, path, working, contacts: StepContacts { batches, frictions, .. }, solver, .. } =
            self;
        working.spread_stillness(batches);
        let Working { shells, velocities: kept, calm, .. } = working;
        let (tree, moving) = (&mut lanes.tree, &solver.moving);
        let mut advance = || {
            let (slots, boxes) = tree.blocks_mut();
            path.move_blocks(movement, slots, MoverVelocities { moving, kept, calm }, boxes);
            path.rebuild_bounds(tree);
        };
        match cache {
            // One thread keeps the contacts first: they are still in the caches, and the bodies are there afterwards, when a game hashes them.
            Some(cache) if crew.is_alone() => {
                cache.end_step(batches, shells, frictions);
                advance();
            }
            // The calling thread moves the bodies: it gathers most of them in the next step.
            Some(cache) => crew.both(advance, || cache.end_step(batches, shells, frictions)),
            None => advance(),
        }
    }

    /// See [`FastMovers::cross_sensors`].
    pub(crate) fn cross_sensors(&self, scene: Scene<'_>, sensors: &mut SensorOverlaps) {
        let (shells, moving) = (&self.working.shells[..], &self.solver.moving[..]);
        let solved = Solved { scene, shells, moving, dummy: WorkingIndex::new(self.lanes.count()) };
        self.fast.cross_sensors(&solved, sensors);
    }

    /// See [`Working::touched_guests`].
    pub(crate) fn touched_guests(&self, bodies: &[Body], pushed: impl FnMut(Slot, [i32; 2])) {
        self.working.touched_guests(&self.contacts.batches, bodies, pushed);
    }

    /// Forgets the islands of the last step. How long each moving body was still is noted next.
    pub(crate) fn begin_islands(&mut self) {
        self.islands.begin(self.lanes.count(), self.working.shells.len());
    }

    /// Finds the islands of moving bodies that touch after this step.
    pub(crate) fn find_islands(&mut self, gravity: [i32; 2]) {
        let StepContacts { batches, frictions, .. } = &self.contacts;
        self.islands.find(batches, frictions, &self.working.shells, gravity);
    }
}
