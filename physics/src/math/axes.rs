//! Vectors as arrays: part 0 is x, part 1 is y.

/// What a function says of each axis.
///
/// `[0, 1].map(...)` means the same, but for each closure the compiler would work through several hundred lines of the standard library.
#[inline(always)]
pub(crate) fn each_axis<T>(mut of: impl FnMut(usize) -> T) -> [T; 2] {
    [of(0), of(1)]
}

/// What a function makes of each part of a vector, or of the two ends of a pair.
#[inline(always)]
pub(crate) fn both<A, B>([first, second]: [A; 2], mut with: impl FnMut(A) -> B) -> [B; 2] {
    [with(first), with(second)]
}
