#!/usr/bin/env bash
# One match between programs in C, C++, C#, JavaScript and Rust, over UDP on loopback (lockstep/c/examples/TUG.md has the rules). In the middle a watcher in
# each language comes and gets the state from a player. All must come to the same state. In a second match one bit of one copy is wrong: all must see it, and
# name it.
#
# Before, a program in C++, C# and JavaScript tries what the classes of that language do when a game or a caller is wrong.
#
#   tests/languages/run.sh            every language that this machine has the tools for, two at least
#   tests/languages/run.sh all        every language; a missing tool is an error
#   tests/languages/run.sh compiled   C, C++ and Rust only: what builds in a minute
set -euo pipefail
cd "$(dirname "$0")/../.."

# Watchers come at turn 20. A match takes twenty seconds, so that they find it on a machine that is busy.
TURNS=200
# This is for machines that have other things to do.
PATIENCE=300
package=lockstep/c
target=$(realpath -m "${CARGO_TARGET_DIR:-target}/guests")
out=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$out"' EXIT
fail() {
  echo "languages: FAILED: $*" >&2
  exit 1
}
# without LANGUAGE WHY: leaves it out.
asked=${1:-}
without() {
  [[ $asked != all ]] || fail "without $1: $2"
  echo "languages: without $1: $2"
}

# ---- The library and the programs. Each language is one word, and an array with the command.

# Where the languages take the fields of structures to be. Pointers are smaller in WebAssembly.
layout() { # NAME FILE
  local wrong
  wrong=$(grep -vxFf "$out/layout" "$2" || true)
  [[ -s $2 && -z $wrong ]] || fail "$1 has fields elsewhere than testudo.h: $wrong"
}

languages=()
build=(cargo build --quiet --locked --manifest-path "$package/Cargo.toml" --target-dir "$target")
"${build[@]}" --lib --example tug
library=$target/debug
strict=(-O1 -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror -pedantic -I "$package/include")

if command -v cc >/dev/null; then
  # Against the shared library.
  cc -std=c11 "${strict[@]}" "$package/examples/tug.c" -L "$library" -ltestudo -Wl,-rpath,"$library" -o "$out/tug-c"
  command_c=("$out/tug-c") languages+=(c)
  awk -f tests/languages/layout.awk "$package/include/testudo.h" >"$out/layout.c"
  cc "$out/layout.c" -I "$package/include" -o "$out/print-layout"
  "$out/print-layout" >"$out/layout"
else
  without C "no cc"
fi
if command -v c++ >/dev/null; then
  # Against the static one.
  c++ -std=c++17 "${strict[@]}" "$package/examples/tug.cpp" "$library/libtestudo.a" -lpthread -ldl -lm -o "$out/tug-cpp"
  c++ -std=c++17 "${strict[@]}" tests/languages/mistakes.cpp "$library/libtestudo.a" -lpthread -ldl -lm -o "$out/mistakes"
  "$out/mistakes" || fail "mistakes in C++"
  command_cpp=("$out/tug-cpp") languages+=(cpp)
else
  without C++ "no c++"
fi
wasm=wasm32-unknown-unknown
if [[ $asked == compiled ]]; then
  without "JavaScript and C#" "as asked"
elif ! command -v node >/dev/null; then
  without JavaScript "no node"
elif [[ ! -d $(rustc --print sysroot)/lib/rustlib/$wasm/lib ]]; then
  without JavaScript "this toolchain has no target $wasm"
else
  # It runs slowly enough without: a step takes 8 ms.
  CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=false "${build[@]}" --lib --target "$wasm" --no-default-features
  if [[ -f $out/layout ]]; then
    node tests/languages/layout.mjs >"$out/layout.js"
    layout JavaScript "$out/layout.js"
  fi
  TESTUDO_WASM=$target/$wasm/debug/testudo.wasm node --liftoff-only tests/languages/mistakes.mjs || fail "mistakes in JavaScript"
  node tests/languages/link.mjs || fail "the page's connection"
  # Otherwise node optimises the library beside the match, and on a busy machine waits for minutes at its end until that is done.
  command_js=(env "TESTUDO_WASM=$target/$wasm/debug/testudo.wasm" node --liftoff-only "$package/examples/tug.mjs") languages+=(js)
fi
if [[ $asked == compiled ]]; then
  :
elif command -v mcs >/dev/null && command -v mono >/dev/null; then
  mcs -langversion:7.2 -warnaserror -out:"$out/tug.exe" "$package"/csharp/*.cs "$package/examples/Tug.cs"
  if [[ -f $out/layout ]]; then
    mcs -langversion:7.2 -out:"$out/layout.exe" "$package"/csharp/*.cs tests/languages/Layout.cs
    mono "$out/layout.exe" >"$out/layout.cs"
    layout C# "$out/layout.cs"
  fi
  mcs -langversion:7.2 -warnaserror -out:"$out/mistakes.exe" "$package"/csharp/*.cs tests/languages/Mistakes.cs
  LD_LIBRARY_PATH=$library mono "$out/mistakes.exe" || fail "mistakes in C#"
  missing=$(comm -23 <(grep -o 'testudo_[a-z_0-9]*(' "$package/include/testudo.h" | sort -u) <(grep -o 'testudo_[a-z_0-9]*(' "$package/csharp/Functions.cs" | sort -u))
  [[ -z $missing ]] || fail "Functions.cs lacks functions of testudo.h: $missing"
  command_cs=(env "LD_LIBRARY_PATH=$library" mono "$out/tug.exe") languages+=(cs)
else
  without C# "no mcs and mono"
fi
command_rust=("$target/debug/examples/tug") languages+=(rust)
if ((${#languages[@]} < 2)); then
  echo "languages: skipped: there is no other language than Rust"
  exit 0
fi
players=${#languages[@]}

# ---- A match: the first language is the host.

# start MATCH NAME LANGUAGE ARGUMENTS...: in the background.
start() {
  local log=$out/$1.$2 command="command_$3[@]"
  timeout "$PATIENCE" "${!command}" "${@:4}" >"$log" 2>"$log.errors" </dev/null &
  process[$1.$2]=$!
}

# wait_for MATCH NAME PATTERN: until the program has said it.
wait_for() {
  local tries
  for ((tries = 0; tries < PATIENCE * 10; tries++)); do
    grep -q "$3" "$out/$1.$2" && return
    kill -0 "${process[$1.$2]}" 2>/dev/null || break
    sleep 0.1
  done
  fail "$1: $2 has not said '$3': $(tail -n 3 "$out/$1.$2" "$out/$1.$2.errors")"
}

# begin MATCH [FLIPPED]: starts everybody. Player number FLIPPED has a wrong bit.
begin() {
  local player flip=()
  start "$1" "${languages[0]}" "${languages[0]}" host "$players" "$TURNS"
  wait_for "$1" "${languages[0]}" '^port '
  port=$(sed -n 's/^port //p' "$out/$1.${languages[0]}")
  for ((player = 1; player < players; player++)); do
    flip=()
    ((player == ${2:-0})) && flip=(flip)
    start "$1" "${languages[player]}" "${languages[player]}" join "$port" "$player" "$players" "$TURNS" "${flip[@]}"
  done
}

# ended MATCH NAME EXIT: waits for its end.
ended() {
  local code=0
  wait "${process[$1.$2]}" || code=$?
  ((code == $3)) || fail "$1: $2 ended with $code instead of $3: $(tail -n 5 "$out/$1.$2" "$out/$1.$2.errors")"
}

declare -A process
begin match
match_port=$port
begin flipped $((players - 1))

# Watchers of the first match, in its middle: one after the other, so that each language has one.
wait_for match "${languages[0]}" '^turn 20'
for language in "${languages[@]}"; do start match "$language-watches" "$language" watch "$match_port" "$players" "$TURNS"; done

result=
for name in "${languages[@]}" "${languages[@]/%/-watches}"; do
  ended match "$name" 0
  line=$(grep '^turns ' "$out/match.$name") || fail "$name has no result"
  [[ -z $result || $line == "$result" ]] || fail "$name came to another state: $line instead of $result"
  result=$line
done
[[ $result == "turns $TURNS "* ]] || fail "not all turns were played: $result"
[[ $result =~ orders\ [1-9][0-9]+\ points.*[1-9] ]] || fail "nothing happened in the match: $result"
echo "languages: ${languages[*]}: $result"
for name in "${languages[@]}"; do
  ended flipped "$name" 3
  grep -q '^desync: ' "$out/flipped.$name" || fail "$name does not report the wrong bit"
  grep -q '^difference: .* points of player 0 is [0-9]* here and [0-9]* there$' "$out/flipped.$name" || fail "$name does not name the number that is wrong"
done
echo "languages: a wrong bit in one of them is reported by all: $(grep -m1 '^difference: ' "$out/flipped.${languages[0]}")"
