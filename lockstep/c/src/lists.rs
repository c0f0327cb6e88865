//! Lists of what is in a world. Each returns how many there are, and writes at most `capacity` of them.

use testudo_physics::{BodyId, BodyRef, ContactEvent, ContactHit, TouchingContact, World};

use crate::failure::{Failure, TestudoStatus, count, status};
use crate::handle::{change, with};
use crate::pointer::{TestudoBool, fill};
use crate::value::{TestudoBody, TestudoFx, TestudoVec2, id};
use crate::world::TestudoWorld;

/// Contacts that began in the last step.
pub const TESTUDO_CONTACTS_BEGAN: u32 = 0;
/// Contacts that ended in the last step.
pub const TESTUDO_CONTACTS_ENDED: u32 = 1;
/// Contacts of moving bodies that went on; empty unless `testudo_world_list_stayed_contacts` is on.
pub const TESTUDO_CONTACTS_STAYED: u32 = 2;
/// Overlaps with sensors that began in the last step.
pub const TESTUDO_SENSORS_BEGAN: u32 = 3;
/// Overlaps with sensors that ended in the last step.
pub const TESTUDO_SENSORS_ENDED: u32 = 4;

/// A body and its centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoPosition {
    /// The body.
    pub body: TestudoBody,
    /// Its centre, units.
    pub position: TestudoVec2,
}

/// Two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoPair {
    /// One of them.
    pub a: TestudoBody,
    /// The other one.
    pub b: TestudoBody,
}

/// Two bodies that began or ceased to touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoContactEvent {
    /// The body with the lower slot (the lower 32 bits of its handle).
    pub a: TestudoBody,
    /// The other body.
    pub b: TestudoBody,
    /// The game's own value of `a`; of a removed body the value that it had.
    pub user_a: u64,
    /// The game's own value of `b`, likewise.
    pub user_b: u64,
}

/// How a contact began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoContactHit {
    /// The body with the lower slot.
    pub a: TestudoBody,
    /// The other body.
    pub b: TestudoBody,
    /// Where they touch, units.
    pub point: TestudoVec2,
    /// From `a` to `b`, length 1.
    pub normal: TestudoVec2,
    /// Closing speed along the normal before the step, units per second; not negative.
    pub approach_speed: TestudoFx,
}

/// Two bodies that touch now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoContact {
    /// The body with the lower slot.
    pub a: TestudoBody,
    /// The other body.
    pub b: TestudoBody,
    /// The change of the closing speed by the contact, units per second; not negative.
    pub impulse: TestudoFx,
}

impl From<&ContactEvent> for TestudoContactEvent {
    fn from(event: &ContactEvent) -> Self {
        Self { a: event.a.to_bits(), b: event.b.to_bits(), user_a: event.user_a, user_b: event.user_b }
    }
}

impl From<&ContactHit> for TestudoContactHit {
    fn from(hit: &ContactHit) -> Self {
        Self {
            a: hit.a.to_bits(),
            b: hit.b.to_bits(),
            point: hit.point.into(),
            normal: hit.normal.into(),
            approach_speed: hit.approach_speed.to_bits(),
        }
    }
}

impl From<TouchingContact> for TestudoContact {
    fn from(contact: TouchingContact) -> Self {
        Self { a: contact.a.to_bits(), b: contact.b.to_bits(), impulse: contact.impulse.to_bits() }
    }
}

/// All bodies, oldest first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_bodies(
    world: *const TestudoWorld,
    out: *mut TestudoBody,
    capacity: u32,
) -> i32 {
    // SAFETY: the contract of pointers.
    count(|| unsafe {
        with(world, |world| fill(out, capacity, world.bodies().map(|body| body.id().to_bits())))
    })
}

/// The centre of every body, oldest first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_positions(
    world: *const TestudoWorld,
    out: *mut TestudoPosition,
    capacity: u32,
) -> i32 {
    let shown =
        |body: BodyRef<'_>| TestudoPosition { body: body.id().to_bits(), position: body.position().into() };
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(world, |world| fill(out, capacity, world.bodies().map(shown))) })
}

/// The bodies whose position the last step changed. Read it before other calls that change the world. What is drawn between two steps
/// depends on the last two: copy the bodies of both lists, and those of every step since the last picture. A body that a setter has placed
/// is in none, and after a load all may have moved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_moved_bodies(
    world: *const TestudoWorld,
    out: *mut TestudoBody,
    capacity: u32,
) -> i32 {
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(world, |world| fill(out, capacity, world.moved_bodies().map(BodyId::to_bits))) })
}

/// The pairs of bodies that pass through each other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_ignored_pairs(
    world: *const TestudoWorld,
    out: *mut TestudoPair,
    capacity: u32,
) -> i32 {
    let shown = |(a, b): (BodyId, BodyId)| TestudoPair { a: a.to_bits(), b: b.to_bits() };
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(world, |world| fill(out, capacity, world.ignored_pairs().map(shown))) })
}

/// What began and ended in the last step, in ascending order of the two slots. `list`: `TESTUDO_CONTACTS_BEGAN`, ...
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_events(
    world: *const TestudoWorld,
    list: u32,
    out: *mut TestudoContactEvent,
    capacity: u32,
) -> i32 {
    let events = |world: &mut World| {
        let events = match list {
            TESTUDO_CONTACTS_BEGAN => world.contacts_began(),
            TESTUDO_CONTACTS_ENDED => world.contacts_ended(),
            TESTUDO_CONTACTS_STAYED => world.contacts_stayed(),
            TESTUDO_SENSORS_BEGAN => world.sensors_began(),
            TESTUDO_SENSORS_ENDED => world.sensors_ended(),
            other => return Err(Failure::enumerator("list", other, TESTUDO_SENSORS_ENDED)),
        };
        // SAFETY: the contract of pointers.
        unsafe { fill(out, capacity, events.iter().map(Into::into)) }
    };
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(world, events) })
}

/// Point, normal and approach speed of each of `TESTUDO_CONTACTS_BEGAN`, in the same order; empty unless
/// `testudo_world_list_contact_hits` is on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_contact_hits(
    world: *const TestudoWorld,
    out: *mut TestudoContactHit,
    capacity: u32,
) -> i32 {
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(world, |world| fill(out, capacity, world.contact_hits().iter().map(Into::into))) })
}

/// Whether `testudo_world_contact_hits` is filled from the next step on. Off by default. It is no part of the state: loading keeps
/// it, and a world of `testudo_world_from_bytes` has it off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_list_contact_hits(
    world: *mut TestudoWorld,
    list: TestudoBool,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(world, |world| world.list_contact_hits(list != 0)) })
}

/// Whether `TESTUDO_CONTACTS_STAYED` is filled from the next step on. Off by default, because a crowd has many. It is no part of the
/// state, as `testudo_world_list_contact_hits`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_list_stayed_contacts(
    world: *mut TestudoWorld,
    list: TestudoBool,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(world, |world| world.list_stayed_contacts(list != 0)) })
}

/// What touches now, also at rest; each pair once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_contacts(
    world: *const TestudoWorld,
    out: *mut TestudoContact,
    capacity: u32,
) -> i32 {
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(world, |world| fill(out, capacity, world.contacts().map(Into::into))) })
}

/// What touches a body now; none if it does not exist. It looks at each contact of the world: for many bodies, read
/// `testudo_world_contacts` once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_contacts_of(
    world: *const TestudoWorld,
    body: TestudoBody,
    out: *mut TestudoContact,
    capacity: u32,
) -> i32 {
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(world, |world| fill(out, capacity, world.contacts_of(id(body)).map(Into::into))) })
}
