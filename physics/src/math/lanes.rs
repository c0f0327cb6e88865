//! SIMD arithmetic that several kernels share, over `fearless_simd`.
//!
//! Kernels are generic over the instruction set (`S: Simd`, a token that proves that the machine has it) and are called through
//! [`crate::simd`]. Everything that a kernel calls must be `#[inline(always)]`, closures too; a function that is not inlined is compiled
//! without the wide instructions.

use fearless_simd::prelude::*;
use fearless_simd::{i32x4, i32x8, i64x4, u64x4};

pub(crate) use base::{BASE_NAME, Base, base};

/// The instructions that every machine of this target has: [`Base`] stands for them, [`base`] gives the proof. Kernels are compiled for
/// these and for what is found at run time. There is no narrower path: each copy costs time in every build of the engine.
#[cfg(all(
    any(target_arch = "x86", target_arch = "x86_64"),
    target_feature = "sse2",
    target_feature = "fxsr"
))]
mod base {
    use fearless_simd::{Level, Sse2};

    /// 128 bits.
    pub(crate) type Base = Sse2;
    pub(crate) const BASE_NAME: &str = "sse2";

    #[inline(always)]
    pub(crate) fn base() -> Base {
        match Level::baseline().as_sse2() {
            Some(simd) => simd,
            None => unreachable!("the target has SSE2"),
        }
    }
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod base {
    use fearless_simd::{Level, Neon};

    /// 128 bits of ARM.
    pub(crate) type Base = Neon;
    pub(crate) const BASE_NAME: &str = "neon";

    #[inline(always)]
    pub(crate) fn base() -> Base {
        match Level::baseline().as_neon() {
            Some(simd) => simd,
            None => unreachable!("the target has NEON"),
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod base {
    use fearless_simd::WasmSimd128;

    /// 128 bits of WebAssembly. They cannot be detected at run time: the program is built with them or without.
    pub(crate) type Base = WasmSimd128;
    pub(crate) const BASE_NAME: &str = "simd128";

    #[inline(always)]
    pub(crate) fn base() -> Base {
        WasmSimd128::assume_supported()
    }
}

#[cfg(not(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2", target_feature = "fxsr"),
    all(target_arch = "aarch64", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128"),
)))]
mod base {
    use fearless_simd::Fallback;

    /// One number at a time.
    pub(crate) type Base = Fallback;
    pub(crate) const BASE_NAME: &str = "plain";

    #[inline(always)]
    pub(crate) fn base() -> Base {
        Fallback::new()
    }
}

/// What a function makes of each element. In some builds `array::map` stays a call, and what is called has no wide instructions.
#[inline(always)]
pub(crate) fn each<T: Copy, U: Copy, const N: usize>(of: [T; N], with: impl Fn(T) -> U) -> [U; N] {
    let mut all = [with(of[0]); N];
    for at in 1..N {
        all[at] = with(of[at]);
    }
    all
}

/// Calls `with` for each lane whose bit is set.
#[inline(always)]
pub(crate) fn each_lane(mut lanes: u32, mut with: impl FnMut(usize)) {
    while lanes != 0 {
        with(lanes.trailing_zeros() as usize);
        lanes &= lanes - 1;
    }
}

/// Fraction bits of unit normals and mass shares inside the solver.
pub(crate) const UNIT_BITS: u32 = 30;
/// One, in solver units.
pub(crate) const UNIT: i32 = 1 << UNIT_BITS;

/// `limit - rounded(-a . n)`, as [`twice`] has it. The sum is taken before rounding, while the products are not known yet.
#[inline(always)]
pub(crate) fn limit_plus<S: Simd>(limit: i32x4<S>, a: i32x8<S>, n: i32x8<S>) -> i32x8<S> {
    let (low, high) = limit.widen();
    let limit = (low.combine(high) << UNIT_BITS) + (HALF - 1);
    let (even, odd) = even_and_odd_products(a, n);
    let sum: u64x4<S> = (limit + even + odd).bitcast();
    low_twice((sum >> UNIT_BITS).bitcast())
}

/// Half of the last bit that [`rounded`] keeps.
const HALF: i64 = 1 << (UNIT_BITS - 1);

/// Converts products with a factor of 30 fraction bits back to the units of the other factor, rounded to nearest. Only the low 32 bits of
/// each are valid: shifting in zeros instead of signs is cheaper.
#[inline(always)]
pub(crate) fn rounded<S: Simd>(products: i64x4<S>) -> i64x4<S> {
    let products: u64x4<S> = (products + HALF).bitcast();
    (products >> UNIT_BITS).bitcast()
}

/// `value * fraction`, where `fraction` has 30 fraction bits; rounded to nearest.
#[inline(always)]
pub(crate) fn scaled<S: Simd>(value: i32x8<S>, fraction: i32x8<S>) -> i32x8<S> {
    shifted_product(value, fraction, HALF, UNIT_BITS)
}

/// Each of four values, which [`twice`] or [`low_twice`] gave, times a pair of fractions; otherwise like [`scaled`].
#[inline(always)]
pub(crate) fn scaled_twice<S: Simd>(values: i32x8<S>, fractions: i32x8<S>) -> i32x8<S> {
    shifted_product_of_four(values, fractions, HALF, UNIT_BITS)
}

/// Half of [`scaled_twice`], rounded up: `(scaled + 1) >> 1` in two operations less.
#[inline(always)]
pub(crate) fn half_scaled_twice<S: Simd>(values: i32x8<S>, fractions: i32x8<S>) -> i32x8<S> {
    shifted_product_of_four(values, fractions, HALF + (1 << UNIT_BITS), UNIT_BITS + 1)
}

/// `(products + add) >> bits`: the low half of each.
#[inline(always)]
fn shifted_product<S: Simd>(a: i32x8<S>, b: i32x8<S>, add: i64, bits: u32) -> i32x8<S> {
    if MULTIPLIES_EVEN_LANES {
        let (even, odd) = even_and_odd_products(a, b);
        shifted(even, odd, add, bits)
    } else {
        let (low, high) = a.widening_mul(b);
        let (low, high): (u64x4<S>, u64x4<S>) = ((low + add).bitcast(), (high + add).bitcast());
        (low >> bits).narrow(high >> bits).bitcast()
    }
}

/// Likewise, of each of four values with the first and with the second of a pair.
#[inline(always)]
fn shifted_product_of_four<S: Simd>(values: i32x8<S>, pairs: i32x8<S>, add: i64, bits: u32) -> i32x8<S> {
    if MULTIPLIES_EVEN_LANES {
        let second = in_memory_order(even_first(pairs) >> 32).bitcast();
        let first = even_and_odd_products(values, pairs).0;
        shifted(first, even_and_odd_products(values, second).0, add, bits)
    } else {
        shifted_product(values, pairs, add, bits)
    }
}

/// `(even + add) >> bits` in the even lanes, `(odd + add) >> bits` in the odd ones.
#[inline(always)]
fn shifted<S: Simd>(even: i64x4<S>, odd: i64x4<S>, add: i64, bits: u32) -> i32x8<S> {
    let (even, odd): (u64x4<S>, u64x4<S>) = ((even + add).bitcast(), (odd + add).bitcast());
    low_and_high(even >> bits, odd << (32 - bits))
}

/// x86 multiplies the even lanes of two registers.
const MULTIPLIES_EVEN_LANES: bool = cfg!(any(target_arch = "x86", target_arch = "x86_64"));

/// Nothing is known of wide instructions here.
const PLAIN_ONLY: bool =
    !(MULTIPLIES_EVEN_LANES || cfg!(target_arch = "aarch64") || cfg!(target_feature = "simd128"));

/// Products of the even lanes, and of the odd ones.
#[inline(always)]
fn even_and_odd_products<S: Simd>(a: i32x8<S>, b: i32x8<S>) -> (i64x4<S>, i64x4<S>) {
    let (low, high) = a.widening_mul(b);
    // x86 multiplies even and odd lanes separately; these shuffles cancel those of `widening_mul`.
    low.deinterleave(high)
}

/// The upper halves of the products of eight numbers and one; all without sign.
#[inline(always)]
pub(crate) fn upper_product<S: Simd>(values: i32x8<S>, by: u32) -> i32x8<S> {
    let pairs = even_first(values);
    let by = u64x4::splat(values.simd, by.into());
    low_and_high(product(pairs, by) >> 32, product(pairs >> 32, by))
}

/// Products of the low halves.
#[inline(always)]
pub(crate) fn product<S: Simd>(a: u64x4<S>, b: u64x4<S>) -> u64x4<S> {
    if MULTIPLIES_EVEN_LANES || PLAIN_ONLY {
        (a & LOW) * (b & LOW)
    } else {
        let ((a_low, a_high), (b_low, b_high)) = (a.split(), b.split());
        let (low, high) = a_low.narrow(a_high).widening_mul(b_low.narrow(b_high));
        low.combine(high)
    }
}

/// The low half of 64 bits.
const LOW: u64 = 0xffff_ffff;

/// The low halves of `low` in the even lanes, the high halves of `high` in the odd ones.
#[inline(always)]
pub(crate) fn low_and_high<S: Simd>(low: u64x4<S>, high: u64x4<S>) -> i32x8<S> {
    in_memory_order(low & LOW | high & !LOW).bitcast()
}

/// Two lanes as one, the even one in the low half.
#[inline(always)]
pub(crate) fn even_first<S: Simd>(values: i32x8<S>) -> u64x4<S> {
    in_memory_order(values.bitcast())
}

/// Puts lanes of 32 bits into memory order, whichever half of 64 bits comes first there.
#[inline(always)]
fn in_memory_order<S: Simd>(both: u64x4<S>) -> u64x4<S> {
    if cfg!(target_endian = "big") { both << 32 | both >> 32 } else { both }
}

/// The low half of each value twice, as [`twice`] has it; where only even lanes are multiplied, the others may hold anything.
#[inline(always)]
pub(crate) fn low_twice<S: Simd>(values: i64x4<S>) -> i32x8<S> {
    if MULTIPLIES_EVEN_LANES {
        values.bitcast()
    } else {
        let (low, high) = values.split();
        twice(low.narrow(high))
    }
}

/// Each value twice, as [`low_twice`] has it.
#[inline(always)]
pub(crate) fn twice_low<S: Simd>(values: i32x4<S>) -> i32x8<S> {
    if MULTIPLIES_EVEN_LANES {
        let (low, high) = values.widen();
        low.combine(high).bitcast()
    } else {
        twice(values)
    }
}

/// Each value twice: `[a, a, b, b, c, c, d, d]`.
#[inline(always)]
pub(crate) fn twice<S: Simd>(values: i32x4<S>) -> i32x8<S> {
    let (low, high) = values.interleave(values);
    low.combine(high)
}

/// The inverse of [`twice`].
#[inline(always)]
pub(crate) fn once<S: Simd>(values: i32x8<S>) -> i32x4<S> {
    let (low, high) = values.split();
    low.deinterleave(high).0
}
