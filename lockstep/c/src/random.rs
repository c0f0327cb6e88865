//! Random numbers: the same on every machine.

use testudo_physics::{Fx, Pcg32};

use crate::failure::{Outcome, TestudoStatus, status, value};
use crate::handle::with;
use crate::pointer::{plain, read, write};
use crate::value::{TestudoFx, fx};
use crate::world::TestudoWorld;

/// A seeded random generator (PCG32). Both numbers are its state: a game that uses one saves and hashes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TestudoRandom {
    /// Any number.
    pub state: u64,
    /// Any number.
    pub stream: u64,
}
plain!(TestudoRandom);

/// A generator that starts at `seed` in one of 2^63 streams (the topmost bit of `stream` is ignored). Use one for the map, one for
/// combat, and so on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_random_new(
    seed: u64,
    stream: u64,
    out: *mut TestudoRandom,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { write(out, Pcg32::new(seed, stream).into(), "out") })
}

/// The next 32 random bits. 0 for NULL, as all functions here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_random_next_u32(random: *mut TestudoRandom) -> u32 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { draw(random, Pcg32::next_u32) })
}

/// The next 64 random bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_random_next_u64(random: *mut TestudoRandom) -> u64 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { draw(random, Pcg32::next_u64) })
}

/// A number below `bound`, each as likely; 0 if `bound` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_random_below(random: *mut TestudoRandom, bound: u32) -> u32 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { draw(random, |random| random.below(bound)) })
}

/// A number from `low` to `high`, both included; `low` if that is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_random_range(
    random: *mut TestudoRandom,
    low: TestudoFx,
    high: TestudoFx,
) -> TestudoFx {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { draw(random, |random| Fx::to_bits(random.range(fx(low), fx(high)))) })
}

/// The next 32 bits of the world's own generator, which is a part of its state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_random_next_u32(world: *mut TestudoWorld) -> u32 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(world, |world| Ok(world.rng().next_u32())) })
}

/// A number below `bound` of the world's own generator, each as likely; 0 if `bound` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_world_random_below(world: *mut TestudoWorld, bound: u32) -> u32 {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(world, |world| Ok(world.rng().below(bound))) })
}

impl From<Pcg32> for TestudoRandom {
    fn from(random: Pcg32) -> Self {
        let (state, stream) = random.state();
        Self { state, stream }
    }
}

/// # Safety
/// The contract of pointers.
unsafe fn draw<T>(random: *mut TestudoRandom, from: impl FnOnce(&mut Pcg32) -> T) -> Outcome<T> {
    // SAFETY: the caller's promise.
    let TestudoRandom { state, stream } = unsafe { read(random, "random") }?;
    let mut generator = Pcg32::from_state(state, stream);
    let drawn = from(&mut generator);
    // SAFETY: as above.
    unsafe { write(random, generator.into(), "random") }?;
    Ok(drawn)
}
