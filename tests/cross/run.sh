#!/usr/bin/env bash
# The golden suite on foreign machines: same start, same actions, same bits.
#
#   tests/cross/run.sh                               a big-endian machine: golden scenes, kernels, bytes on the wire
#   tests/cross/run.sh long                          other machines, too, and every test of the suite that can differ between machines: half an hour and more
#   tests/cross/run.sh s390x-unknown-linux-gnu ...   these
#   CROSS_TESTS="physics" tests/cross/run.sh         only these test programs of the tests package
#
# A target that rustup has is used as it is, and added where it is missing. Where rustup cannot, Debian's compiler builds the standard library
# for it once. What is missing is installed with apt-get (as root or through sudo).
set -euo pipefail
cd "$(dirname "$0")/../.."

# A target with "+simd128" is built with these instructions; one with ":levels" runs the golden scenes and the kernels only, which force
# every instruction set that the target has; one with ":golden" likewise, and the golden bytes on the wire.
# WebAssembly with simd128 has its own section by default: a page plays a whole match.
DEFAULT_TARGETS=(s390x-unknown-linux-gnu:golden)
LONG_TARGETS=(s390x-unknown-linux-gnu wasm32-wasip1 wasm32-wasip1+simd128:golden aarch64-unknown-linux-gnu:levels)
export INSTA_UPDATE=no
# insta would ask cargo where the workspace is; a foreign program cannot start cargo.
export INSTA_WORKSPACE_ROOT=$PWD
OUT="${CARGO_TARGET_DIR:-$PWD/target}/cross"
mkdir -p "$OUT"

. tests/cross/toolchain.sh

# machine TARGET: linker, runner and flags of a target, as cargo's environment variables.
machine() {
  local target=$1 key gnu qemu
  key=$(tr a-z- A-Z_ <<<"$target")
  case $target in
    s390x-unknown-linux-gnu) gnu=s390x-linux-gnu qemu=qemu-s390x ;;
    aarch64-unknown-linux-gnu) gnu=aarch64-linux-gnu qemu=qemu-aarch64 ;;
    powerpc-unknown-linux-gnu) gnu=powerpc-linux-gnu qemu=qemu-ppc ;;
    armv7-unknown-linux-gnueabihf) gnu=arm-linux-gnueabihf qemu=qemu-arm ;;
    i686-unknown-linux-gnu) gnu=i686-linux-gnu qemu="" ;;
    wasm32-wasip1) gnu="" ;;
    *) echo "cross: no recipe for target '$target'" >&2; exit 2 ;;
  esac
  if [[ $target == wasm32-wasip1 ]]; then
    install node nodejs
    export "CARGO_TARGET_${key}_RUNNER=$PWD/tests/cross/wasi.sh"
    return
  fi
  local -A libc=([aarch64]=arm64 [arm]=armhf [i686]=i386)
  local arch=${gnu%%-*}
  install "$gnu-gcc" "gcc-$gnu" "libc6-dev-${libc[$arch]:-$arch}-cross"
  export "CARGO_TARGET_${key}_LINKER=$gnu-gcc"
  if [[ -n $qemu ]]; then
    install "$qemu" qemu-user
    export "CARGO_TARGET_${key}_RUNNER=$qemu -L /usr/$gnu"
  else
    # An i686 program runs on an x86-64 processor; only its loader and libraries are elsewhere.
    export "CARGO_TARGET_${key}_RUNNER=/usr/$gnu/lib/ld-linux.so.2 --library-path /usr/$gnu/lib"
  fi
}

# control TARGET: does the method see a difference where there must be one, and does the runner report failures?
control() {
  local target=$1 key here there name
  key=$(tr a-z- A-Z_ <<<"$target")
  local -n runner=CARGO_TARGET_${key}_RUNNER
  local linker=CARGO_TARGET_${key}_LINKER flags=CARGO_TARGET_${key}_RUSTFLAGS
  local program=$OUT/control-$target
  rustc --edition 2024 -O -o "$OUT/control-host" tests/cross/control.rs
  # shellcheck disable=SC2086 # the flags are words
  "$RUSTC_FOREIGN" --edition 2024 -O --target "$target" ${!flags:-} ${!linker:+-C linker=${!linker}} \
    -o "$program" tests/cross/control.rs
  # shellcheck disable=SC2086
  if $runner "$program" fail 2>/dev/null; then
    echo "cross: $target: a failing program was reported as a success" >&2
    return 1
  fi
  "$OUT/control-host" >"$OUT/control-host.txt"
  # shellcheck disable=SC2086
  $runner "$program" >"$OUT/control-$target.txt"
  while read -r name here && read -r name there <&3; do
    case "$name $([[ $here == "$there" ]] && echo equal || echo different)" in
      same-*\ equal | differs-*\ different) say "$target: control $name as it must be: $here $there" ;;
      # A 64-bit little-endian processor has the memory of the host.
      differs-memory\ equal) [[ $target == aarch64-* ]] || { echo "cross: $target: control $name is equal" >&2; return 1; } ;;
      differs-libm\ equal) say "$target: control $name happens to be equal: $here" ;;
      *) echo "cross: $target: control $name is wrong: $here here, $there there" >&2; return 1 ;;
    esac
  done <"$OUT/control-host.txt" 3<"$OUT/control-$target.txt"
}

# test_programs: the test programs of the tests package that compare golden values.
test_programs() {
  if [[ -n ${CROSS_TESTS:-} ]]; then
    echo "$CROSS_TESTS"
    return
  fi
  # Golden values and checksums tell whether two machines agree. House rules are about this repository's text, truths about what is
  # right, and the number of allocations is the same everywhere.
  sed -n '/^\[\[test\]\]/,/^$/s/^name = "\(.*\)"/\1/p' tests/Cargo.toml | grep -vE '^(tidy|truth|allocation)$'
}

if (($# == 0)); then set -- "${DEFAULT_TARGETS[@]}"; fi
if [[ $1 == long ]]; then set -- "${LONG_TARGETS[@]}"; fi
mapfile -t programs < <(test_programs | tr ' ' '\n')
((${#programs[@]} > 0)) || { echo "cross: no test programs to run" >&2; exit 1; }
for wanted in "$@"; do
  start=$SECONDS FOREIGN_FLAGS=() EXTRA_FLAGS=()
  target=${wanted%%[+:]*}
  if [[ $wanted == *+simd128* ]]; then EXTRA_FLAGS=(-C target-feature=+simd128); fi
  machine "$target"
  toolchain "$target"
  control "$target"
  say "$wanted: ready after $((SECONDS - start)) s"
  # A panic ends a WebAssembly program at once, and with it output that the test harness holds back. WASI has no sockets.
  options=() cases=8
  if [[ $target == wasm* ]]; then
    options=(--nocapture --skip udp:: --skip tcp::)
  else
    # An emulator is thirty times slower. Laws, rates, attackers and changes of members do not compare machines either, and threads are compared
    # with one thread.
    cases=2
    for slow in threads:: workers:: bullets_stop laws:: elastic:: late_fraction attacks:: changing_places:: membership:: two_hour; do
      options+=(--skip "$slow")
    done
  fi
  # Few cases are enough to find a difference between machines, which golden values do.
  export PROPTEST_CASES=$cases
  if [[ $wanted == *:levels || $wanted == *:golden ]]; then
    # One command for both packages: two would build the engine twice, with different features.
    some=(--test=physics --test=movement --lib) names=(golden:: conformance:: levels:: simd:: broad_phase::)
    if [[ $wanted == *:golden ]]; then some+=(--test=wire) names+=(golden_bytes); fi
    run=("${CARGO[@]}" test --locked --config tests/cross/golden.toml -p testudo-tests -p testudo-physics --target "$target" "${some[@]}" --)
    # A name that no program has would find nothing, and pass.
    listed=$("${run[@]}" --list "${names[@]}")
    for name in "${names[@]}"; do
      grep -q "$name.*: test" <<<"$listed" || { echo "cross: no test has '$name' in its name" >&2; exit 1; }
    done
    "${run[@]}" "${options[@]}" "${names[@]}"
    say "$wanted: passed in $((SECONDS - start)) s"
    continue
  fi
  "${CARGO[@]}" test --locked -p testudo-tests --target "$target" "${programs[@]/#/--test=}" -- "${options[@]}"
  if [[ -z ${CROSS_TESTS:-} ]]; then
    # Without golden values, the engine's own tests find little more on a slow emulator; another word size does ask for them.
    packages=(-p testudo-lockstep)
    if [[ $target == wasm* ]]; then packages+=(-p testudo-physics); fi
    "${CARGO[@]}" test --locked "${packages[@]}" --lib --target "$target" -- "${options[@]}"
  fi
  say "$wanted: passed in $((SECONDS - start)) s"
done
