#!/usr/bin/env bash
# How much faster is a crowd's step in WebAssembly with simd128 than without? Both programs run in one process, in turns; prints the median
# processor time of each and their ratio.
#
#   tests/cross/speed.sh [ROUNDS]      5 by default
#
# Needs node and Rust's target wasm32-unknown-unknown.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=wasm32-unknown-unknown
OUT=${CARGO_TARGET_DIR:-$PWD/target}/cross
mkdir -p "$OUT"
# A crate that the tests need, but not this program, refuses to build where there is no randomness.
without='--cfg=getrandom_backend="unsupported"'
for flags in "" "-C target-feature=+simd128"; do
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="$without $flags" \
    cargo build --quiet --locked --release --target "$target" -p testudo-tests --features measure --example crowd
  cp "${CARGO_TARGET_DIR:-target}/$target/release/examples/crowd.wasm" "$OUT/crowd${flags:+-simd128}.wasm"
done
# Compiled at once by the optimising compiler, so that no later round is faster than the first.
exec node --no-warnings --no-liftoff --no-wasm-tier-up tests/cross/speed.mjs "$OUT/crowd.wasm" "$OUT/crowd-simd128.wasm" "${1:-5}"
