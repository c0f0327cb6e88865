//! A program without the standard library that steps a world. If a dependency brings the standard library in, there is a second panic
//! handler, and this does not compile.
#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

#[cfg(feature = "std")]
use testudo_std as _;

use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};

/// Has no memory: nobody runs this program.
struct NoMemory;

// SAFETY: null is what an allocator returns that has no memory.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static MEMORY: NoMemory = NoMemory;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

/// Steps a world and returns its checksum, 0 if anything was refused.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_bare() -> u64 {
    checksum().unwrap_or(0)
}

fn checksum() -> Option<u64> {
    let mut world = World::new(WorldDef::new()).ok()?;
    let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).velocity(Vec2::from_ints(3, 0));
    world.create_body(&ball).ok()?;
    world.step(20).ok()?;
    let mut bytes = Vec::new();
    world.snapshot(&mut bytes);
    Some(World::from_bytes(&bytes).ok()?.checksum())
}
