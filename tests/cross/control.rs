//! The control of the cross check: does it see a difference where there must be one, and none where there must be none?
//!
//! Prints `name value` lines. Lines named `same-` must be equal on every machine. Of the lines named `differs-`, those about memory must
//! not be equal. With the argument `fail` it panics, and the runner must report that.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

fn main() {
    assert!(std::env::args().nth(1).as_deref() != Some("fail"), "asked to fail");

    // What the simulation does: integers of stated widths, hashed as little-endian bytes.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut fnv = 0xCBF2_9CE4_8422_2325_u64;
    for _ in 0..1_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let fixed = (i128::from(state as i64) * 0x1_8000) >> 16;
        for byte in (fixed as u64).to_le_bytes() {
            fnv = (fnv ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
    println!("same-integers {fnv:016x}");

    // What the simulation must never do: the machine's word size and byte order enter the hash.
    let mut hasher = DefaultHasher::new();
    (0..1_000_usize).for_each(|number| number.hash(&mut hasher));
    println!("differs-memory {:016x}", hasher.finish());

    // Transcendental functions come from the platform's libm. A platform may happen to agree.
    let (mut sines, mut powers) = (0_u64, 0_u64);
    for step in 0..100_000_u32 {
        let x = step as f32 * 0.37;
        sines = sines.rotate_left(5) ^ u64::from(x.sin().to_bits());
        powers = powers.rotate_left(5) ^ u64::from((x + 0.5).powf(1.37).to_bits());
    }
    println!("differs-libm {sines:016x}-{powers:016x}");
}
