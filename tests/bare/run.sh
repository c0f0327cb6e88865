#!/usr/bin/env bash
# Physics in a program that has no standard library: on this machine, and on every bare target that rustup has installed.
#
#   tests/bare/run.sh                          this machine and the installed bare targets
#   tests/bare/run.sh thumbv7em-none-eabi ...  these targets, which must be installed
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../../target}/bare"

targets=("$@")
if ((${#targets[@]} == 0)) && command -v rustup >/dev/null; then
  mapfile -t targets < <(rustup target list --installed | grep -- '-none' || true)
fi

cargo build --quiet --locked
echo "bare: physics builds without the standard library on this machine"
for target in "${targets[@]}"; do
  cargo build --quiet --locked --target "$target"
  echo "bare: physics builds for $target"
done
if ((${#targets[@]} == 0)); then echo "bare: no bare target is installed; built for this machine only"; fi

# The control: with a dependency that brings the standard library the same program must be refused. A package of its own does, because the physics
# with its feature `std` would be built once more.
if refused=$(cargo build --locked --features std 2>&1); then
  echo "bare: FAILED: the control builds, so this check sees nothing" >&2
  exit 1
fi
grep -q 'panic_impl' <<<"$refused" || { echo "$refused" >&2; exit 1; }
echo "bare: the control with the standard library is refused, as it must be"
