//! A steady step does not allocate: a counting allocator says so.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use testudo_physics::{BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};

/// The system's allocator, with a counter.
struct Counting;

thread_local! {
    /// Allocations of this thread. The test harness allocates in a thread of its own, when it reports that a test runs for long.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: every call goes on to the system's allocator unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn frame(world: &mut World, units: &[BodyId], step: u32) {
    for (i, &id) in units.iter().enumerate() {
        // Two blocks that march to and fro through each other, so that the number of contacts has a ceiling.
        let turn = if (step / 60).is_multiple_of(2) { 1 } else { -1 };
        let side = if i < units.len() / 2 { 3 } else { -3 };
        world.set_velocity(id, Vec2::from_ints(turn * side, 0)).expect("in range");
    }
    world.step(20).expect("in range");
}

#[test]
fn a_steady_step_does_not_allocate() {
    let mut world = World::new(WorldDef::new()).expect("defaults");
    for i in 0..20 {
        let wall = Shape::Rect { half_extents: Vec2::from_ints(1, 1) };
        world
            .create_body(&BodyDef::static_body(wall).position(Vec2::from_ints(i * 7 - 70, 9)))
            .expect("in range");
    }
    let units: Vec<BodyId> = (0..1_000)
        .map(|i| {
            let (block, i) = (i / 500, i % 500);
            let place = Vec2::from_ints(block * 40 - 35 + i % 25, i / 25 * 2 - 20);
            let unit = Shape::Circle { radius: Fx::from_bits(32_000) };
            world.create_body(&BodyDef::dynamic(unit).position(place)).expect("in range")
        })
        .collect();
    for step in 0..480 {
        frame(&mut world, &units, step);
    }
    let before = ALLOCATIONS.get();
    let mut contacts = 0;
    for step in 0..120 {
        frame(&mut world, &units, step);
        contacts += world.contact_count();
    }
    let allocations = ALLOCATIONS.get() - before;
    assert!(contacts > 10_000, "the crowd touches: {contacts}");
    assert_eq!(allocations, 0, "allocations in 120 steady steps");
}
