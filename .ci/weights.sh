#!/usr/bin/env bash
# How long builds from nothing take: processor seconds (user), as rows of the table in CONTRIBUTING.md.
#
#   .ci/weights.sh                  all rows, half an hour
#   .ci/weights.sh physics sealed   these
#
# A row of `user` is a program outside of this repository that depends on the engines by path: it has no lock file of ours, and no profiles.
# Neighbours that use the same core raise the numbers by up to a half.
# It ends with an error if a row is above its limit: the goal, for all rows that have reached it.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
unset CARGO_PROFILE_DEV_DEBUG
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ROWS=(physics both sealed profile s390x first test)

# show NAME NUMBER UNIT LIMIT: a row of the table. A row that never was below its goal has the limit "-".
above=()
show() {
  printf '| %s | %.0f%s | %s |\n' "$@"
  [[ $4 == - ]] || (($(printf %.0f "$2") <= $4)) || above+=("$1")
}

# row NAME LIMIT COMMAND...: runs the command with an empty target folder. The limit is in seconds.
row() {
  local name=$1 limit=$2 TIMEFORMAT=%U
  shift 2
  rm -rf "$work/target"
  export CARGO_TARGET_DIR=$work/target
  local seconds
  seconds=$({ time "$@" >"$work/log" 2>&1; } 2>&1) || { cat "$work/log" >&2; echo "weights: FAILED: $*" >&2; exit 1; }
  show "$name" "$seconds" " s" "$limit"
}

# user DEPENDENCIES: makes $work/user depend on an engine.
user() {
  mkdir -p "$work/user/src"
  rm -f "$work/user/Cargo.lock"
  echo 'fn main() {}' >"$work/user/src/main.rs"
  printf '[package]\nname = "user"\nedition = "2024"\n[workspace]\n[dependencies]\n%s\n' "$1" >"$work/user/Cargo.toml"
  (cd "$work/user" && cargo generate-lockfile --quiet)
}
in_user() { (cd "$work/user" && cargo "$@"); }

physics() {
  user "testudo-physics = { path = \"$here/physics\" }"
  row "a user of physics, debug" 15 in_user build
  row "a user of physics, release" - in_user build --release
}
both() {
  user "testudo-physics = { path = \"$here/physics\" }
testudo-lockstep = { path = \"$here/lockstep\", features = [\"physics\"] }"
  row "a user of both engines, debug" 30 in_user build
  row "a user of both engines, release" 45 in_user build --release
}
sealed() {
  user "testudo-lockstep = { path = \"$here/lockstep\", features = [\"sealed\"] }"
  local packages
  packages=$(in_user tree --edges normal,build --prefix none | sed 's/ (.*//' | sort -u | grep -vcE '^(user|testudo-lockstep) |^$')
  show "packages that \`sealed\` brings to a user without our lock file" "$packages" "" 90
  row "a user of lockstep with \`sealed\`, debug" - in_user build
}
profile() { row "\`cargo build -p testudo-physics\` in this workspace" 50 cargo build --locked -p testudo-physics; }
s390x() {
  row "physics for s390x, release (library)" 120 cargo build --locked --release -p testudo-physics --lib --target s390x-unknown-linux-gnu
}
first() { row "the first command: \`cargo build --release\`" - cargo build --locked --release --bin testudo; }
test() { row "\`cargo test --workspace\`" - cargo test --workspace; }

if (($# == 0)); then set -- "${ROWS[@]}"; fi
printf '| what | processor time | limit |\n|---|---|---|\n'
for name in "$@"; do
  [[ " ${ROWS[*]} " == *" $name "* ]] || { echo "weights: no row '$name'; there are: ${ROWS[*]}" >&2; exit 2; }
  "$name"
done
if ((${#above[@]} > 0)); then
  printf 'weights: above the limit: %s\n' "${above[@]}" >&2
  exit 1
fi
