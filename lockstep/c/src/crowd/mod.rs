//! Crowds: units that find their way.

mod def;
mod draw;
mod ground;
mod orders;
mod units;

use testudo_movement::{Crowd, CrowdDef, PathSearch};
use testudo_physics::World;

use crate::buffer::{TestudoBuffer, difference};
use crate::failure::{Failure, Outcome, TESTUDO_FULL, TestudoStatus, status, value};
use crate::handle::{Handle, change, free, give, opaque, with};
use crate::pointer::{bytes, read};
use crate::world::TestudoWorld;

pub use def::*;
pub use draw::*;
pub use ground::*;
pub use orders::*;
pub use units::*;

/// Units that find their way: the ground, the paths to their goals, and what each unit is about.
///
/// A unit is a dynamic body of one world, which every call gets beside the crowd. In each frame `testudo_crowd_step` tells the bodies their velocities, and
/// then `testudo_world_step` moves them. The same calls in the same order give the same bits on every machine.
#[derive(Debug)]
pub struct TestudoCrowd(Handle<Walkers>);
opaque!(TestudoCrowd, Walkers, "crowd");

/// What is behind a [`TestudoCrowd`].
#[derive(Clone, Debug)]
pub(crate) struct Walkers {
    pub(crate) crowd: Crowd,
    /// A saved crowd is restored with it.
    def: CrowdDef,
    /// Memory of searches for paths.
    paths: PathSearch,
    /// Memory of checksums.
    scratch: Vec<u8>,
}

impl Walkers {
    fn new(def: CrowdDef) -> Outcome<Self> {
        let crowd = Crowd::new(&def)?;
        Ok(Self { crowd, def, paths: PathSearch::default(), scratch: Vec::new() })
    }

    fn checksum(&mut self) -> u64 {
        self.crowd.hash_units();
        self.crowd.checksum_in(&mut self.scratch)
    }

    /// In words: the first number in which two crowds differ.
    fn first_difference(&self, there: &Self) -> Option<String> {
        let numbers = |walkers: &Self| {
            let mut numbers = Vec::new();
            walkers.crowd.visit_numbers(&mut |number| {
                numbers.push(((number.kind, number.index, number.name), number.value));
            });
            numbers
        };
        let (here, there) = (numbers(self), numbers(there));
        let at = here.iter().zip(&there).position(|(here, there)| here != there);
        let at = at.or((here.len() != there.len()).then_some(here.len().min(there.len())))?;
        let words = match (here.get(at), there.get(at)) {
            (Some(((kind, index, name), here)), Some((other, there))) if (*kind, *index, *name) == *other => {
                format!("crowd: {kind} {index}, {name}: {here} here, {there} there")
            }
            (here, there) => {
                let name = |number: Option<&((&str, u32, &str), i64)>| {
                    number.map_or("nothing".into(), |((kind, index, name), _)| {
                        format!("{kind} {index}, {name}")
                    })
                };
                format!("crowd: {} here, {} there", name(here), name(there))
            }
        };
        Some(words)
    }
}

/// Calls something with a crowd and its world.
///
/// # Safety
/// As [`with`].
pub(crate) unsafe fn with_both<T>(
    crowd: *const TestudoCrowd,
    world: *const TestudoWorld,
    call: impl FnOnce(&mut Walkers, &mut World) -> Outcome<T>,
) -> Outcome<T> {
    // SAFETY: the caller's promise.
    unsafe { with(crowd, |walkers| with(world, |world| call(walkers, world))) }
}

/// A new crowd without units. When the world has its walls, also if it has none, `testudo_crowd_survey` follows; before that the crowd takes no orders. Free
/// it with `testudo_crowd_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_new(
    def: *const TestudoCrowdDef,
    out: *mut *mut TestudoCrowd,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, || Walkers::new(read(def, "def")?.def()?)) })
}

/// A copy of a crowd, which goes on by itself: beside a copy of its world.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_clone(
    crowd: *const TestudoCrowd,
    out: *mut *mut TestudoCrowd,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, || with(crowd, |walkers| Ok(walkers.clone()))) })
}

/// Frees a crowd. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_free(crowd: *mut TestudoCrowd) {
    // SAFETY: the contract of pointers.
    unsafe { free(crowd) }
}

/// Tells all units their velocities for the next step of the world: call it once before each `testudo_world_step`, with the same `frames_per_second`,
/// 1..=1,000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_step(
    crowd: *mut TestudoCrowd,
    world: *mut TestudoWorld,
    frames_per_second: u32,
) -> TestudoStatus {
    let step = |walkers: &mut Walkers, world: &mut World| Ok(walkers.crowd.step(world, frames_per_second)?);
    // SAFETY: the contract of pointers.
    status(|| unsafe { with_both(crowd, world, step) })
}

/// 64-bit hash of the whole state and of the definition: beside `testudo_world_checksum` for the checksum of a game.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_checksum(crowd: *const TestudoCrowd) -> u64 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(crowd, |walkers| Ok(walkers.checksum())) })
}

/// Adds the whole state to a buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_save(
    crowd: *const TestudoCrowd,
    buffer: *mut TestudoBuffer,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(crowd, |walkers| change(buffer, |bytes| walkers.crowd.save(bytes))) })
}

/// Goes to a saved state, from bytes of any origin. `world` is in the state of the same moment, so it is loaded before. A crowd that refuses the bytes
/// (`TESTUDO_DAMAGED`, `TESTUDO_VERSION`), as those of a crowd with another definition, stays as it is. Takes as long as the survey of the ground and the
/// searches for paths took. Lists of events are empty afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_load(
    crowd: *mut TestudoCrowd,
    world: *const TestudoWorld,
    data: *const u8,
    length: usize,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let saved = unsafe { bytes(data, length) }?;
        let load = |walkers: &mut Walkers, world: &mut World| {
            walkers.crowd = Crowd::load(&walkers.def, world, saved)?;
            Ok(())
        };
        // SAFETY: as above.
        unsafe { with_both(crowd, world, load) }
    })
}

/// Whether two crowds differ: 0 or 1. If they do, `words` (may be NULL) gets the first number in which they do, as UTF-8 text with a 0 at its end. It replaces
/// what the buffer held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_crowd_first_difference(
    here: *const TestudoCrowd,
    there: *const TestudoCrowd,
    words: *mut TestudoBuffer,
) -> i32 {
    // SAFETY: the contract of pointers.
    unsafe { difference((here, there), words, Walkers::first_difference) }
}

/// A search that ended without an answer.
fn too_far(cells: u32) -> Failure {
    Failure::new(TESTUDO_FULL, format!("no path was found in {cells} cells, and there is more ground"))
}
