//! The numbers of a state by name: for the words that say where two copies of a match differ.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::c_char;

use testudo_lockstep::state::{Leaf, Part};

use crate::crowd::TestudoCrowd;
use crate::failure::{Failure, Outcome, TESTUDO_FULL, TESTUDO_OUT_OF_RANGE, TestudoStatus, status};
use crate::handle::{Handle, free, hold, opaque, with};
use crate::pointer::text;
use crate::world::TestudoWorld;

/// What a game shows its numbers to, in its function `visit`; it belongs to that call.
#[derive(Debug)]
pub struct TestudoVisit(Handle<Visited>);
opaque!(TestudoVisit, Visited, "visit");

/// Numbers that were shown.
#[derive(Debug)]
pub(crate) struct Visited {
    kind: &'static str,
    index: u32,
    leaves: Vec<Leaf>,
}

/// The numbers that a function shows.
pub(crate) fn visited(show: impl FnOnce(*mut TestudoVisit)) -> Vec<Leaf> {
    let visit: *mut TestudoVisit = hold(Visited { kind: "game", index: 0, leaves: Vec::new() });
    show(visit);
    // SAFETY: it is of this function, and no call uses it any more.
    unsafe {
        let leaves = with(visit, |visited| Ok(std::mem::take(&mut visited.leaves)));
        free(visit);
        leaves.unwrap_or_default()
    }
}

/// Greatest length of a name, bytes.
const NAME_MAX: usize = 64;
/// Greatest number of different names in a thread.
const NAMES_MAX: usize = 4_096;

std::thread_local! {
    /// Names are kept for ever, since reports outlive the calls that they come from. A game has few.
    static NAMES: RefCell<BTreeSet<&'static str>> = RefCell::default();
}

/// # Safety
/// The contract of pointers.
unsafe fn name(pointer: *const c_char, what: &str) -> Outcome<&'static str> {
    // SAFETY: the caller's promise.
    let given = unsafe { text(pointer, what) }?;
    if given.is_empty() || given.len() > NAME_MAX {
        let words = format!("{what} must have 1..={NAME_MAX} bytes, not {}", given.len());
        return Err(Failure::new(TESTUDO_OUT_OF_RANGE, words));
    }
    let intern = |names: &RefCell<BTreeSet<&'static str>>| {
        let mut names = names.borrow_mut();
        if let Some(known) = names.get(given) {
            return Ok(*known);
        }
        if names.len() == NAMES_MAX {
            let words =
                format!("there are {NAMES_MAX} names already: put numbers into `index`, not into names");
            return Err(Failure::new(TESTUDO_FULL, words));
        }
        let kept: &'static str = Box::leak(given.into());
        names.insert(kept);
        Ok(kept)
    };
    NAMES.try_with(intern).unwrap_or(Ok("?"))
}

/// The following numbers belong to this object, as unit 17: a kind of 1..=64 bytes, and which one of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_visit_object(
    visit: *mut TestudoVisit,
    kind: *const c_char,
    index: u32,
) -> TestudoStatus {
    let object = |visited: &mut Visited| {
        // SAFETY: the contract of pointers.
        (visited.kind, visited.index) = (unsafe { name(kind, "kind") }?, index);
        Ok(())
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(visit, object) })
}

/// A number of the state, and its name of 1..=64 bytes. A game has few names, 4,096 at most: what there are many of has an index (`testudo_visit_object`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_visit_number(
    visit: *mut TestudoVisit,
    name: *const c_char,
    value: i64,
) -> TestudoStatus {
    let number = |visited: &mut Visited| {
        // SAFETY: the contract of pointers.
        let name = unsafe { self::name(name, "name") }?;
        let Visited { kind, index, leaves } = visited;
        leaves.push(Leaf { kind, index: *index, name, bits: 64, value: value.into() });
        Ok(())
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(visit, number) })
}

/// All numbers of a world.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_visit_world(
    visit: *mut TestudoVisit,
    world: *const TestudoWorld,
) -> TestudoStatus {
    let show = |visited: &mut Visited| {
        let leaves = |world: &mut testudo_physics::World| {
            Part::leaves(world, &mut |leaf| visited.leaves.push(leaf));
            Ok(())
        };
        // SAFETY: the contract of pointers.
        unsafe { with(world, leaves) }
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(visit, show) })
}

/// All numbers of a crowd.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_visit_crowd(
    visit: *mut TestudoVisit,
    crowd: *const TestudoCrowd,
) -> TestudoStatus {
    let show = |visited: &mut Visited| {
        // SAFETY: the contract of pointers.
        unsafe {
            with(crowd, |walkers| {
                walkers.crowd.visit_numbers(&mut |number| {
                    visited.leaves.push(Leaf {
                        kind: number.kind,
                        index: number.index,
                        name: number.name,
                        bits: 8 * number.bytes,
                        value: number.value.into(),
                    });
                });
                Ok(())
            })
        }
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(visit, show) })
}
