#!/usr/bin/env bash
# Plays matches with the demo as a person would, and compares what it prints. Builds release and debug.
set -euo pipefail
cd "$(dirname "$0")/.."

TARGET=${CARGO_TARGET_DIR:-target}
RELEASE=$TARGET/release/testudo DEBUG=$TARGET/debug/testudo
WORK=$(mktemp -d)
children=()
trap 'kill "${children[@]}" 2>/dev/null || true; rm -rf "$WORK"' EXIT
# No display, whatever machine this runs on.
unset DISPLAY WAYLAND_DISPLAY

check() { echo "acceptance: $*"; }
fail() {
  echo "acceptance: FAILED: $*" >&2
  exit 1
}
equal() { [[ $2 == "$3" ]] || fail "$1: '$2' is not '$3'"; }

# value KEY FILE and list KEY FILE: from a JSON object, without any tool that a fresh machine may lack.
value() { tr -d ' \n' <"$2" | grep -o "\"$1\":[^],}]*" | head -1 | cut -d: -f2- | tr -d '"'; }
list() { tr -d ' \n' <"$2" | grep -o "\"$1\":\[[^]]*\]" | head -1 | sed 's/^[^[]*\[//; s/\]$//; s/"//g; s/,/ /g'; }

# run NAME EXPECTED_CODE COMMAND...: output in NAME.out and NAME.err.
run() {
  local name=$1 expected=$2 code=0
  shift 2
  timeout 300 "$@" >"$WORK/$name.out" 2>"$WORK/$name.err" || code=$?
  if ((code != expected)); then
    cat "$WORK/$name.out" "$WORK/$name.err" >&2
    fail "'$*' ended with $code, not $expected"
  fi
  if grep -q "panicked at" "$WORK/$name.err"; then fail "'$*' panicked: $(cat "$WORK/$name.err")"; fi
}

check "building release and debug"
cargo build --quiet --locked --release -p testudo-demo
# That of the test suite, which needs it anyway.
cargo test --quiet --locked --workspace --no-run

check "the default run ends by itself within a minute, without a display, with a summary"
start=$SECONDS
run default 0 timeout 60 "$RELEASE"
cat "$WORK/default.out"
grep -qi checksum "$WORK/default.out" || fail "the summary does not speak of checksums"
check "... $((SECONDS - start)) s"

MATCH=(headless --players 4 --units 200 --turns 300 --seed 7 --pace fixed --json)
PERFECT=(--latency-ms 0 --loss 0)
TERRIBLE=(--latency-ms 150 --jitter-ms 60 --loss 0.2 --duplicate 0.05 --reorder 0.1)

check "the same match over a perfect and a terrible network has the same checksum"
run perfect 0 "$RELEASE" "${MATCH[@]}" "${PERFECT[@]}"
run terrible 0 "$RELEASE" "${MATCH[@]}" "${TERRIBLE[@]}"
checksum=$(value final_checksum "$WORK/perfect.out")
[[ $checksum =~ ^[0-9a-f]{16}$ ]] || fail "final_checksum is '$checksum'"
equal "terrible network" "$(value final_checksum "$WORK/terrible.out")" "$checksum"
for name in perfect terrible; do
  equal "$name checksums_agree" "$(value checksums_agree "$WORK/$name.out")" true
  frames=$(value frames "$WORK/$name.out")
  equal "$name client_steps" "$(list client_steps "$WORK/$name.out")" "$frames $frames $frames $frames"
  equal "$name client_checksums" "$(list client_checksums "$WORK/$name.out")" "$checksum $checksum $checksum $checksum"
done
check "... $checksum, $frames frames on each of four clients"

check "another seed has another checksum"
run other 0 "$RELEASE" headless --players 4 --units 200 --turns 300 --seed 8 --pace fixed --json "${PERFECT[@]}"
[[ $(value final_checksum "$WORK/other.out") != "$checksum" ]] || fail "seeds 7 and 8 have the same checksum"

check "debug and release builds have the same checksum"
run debug 0 "$DEBUG" "${MATCH[@]}" "${TERRIBLE[@]}"
equal "debug build" "$(value final_checksum "$WORK/debug.out")" "$checksum"

check "both builds compute the published bits"
run conformance 0 "$RELEASE" conformance --json
run conformance-debug 0 "$DEBUG" conformance --json
equal "conformance of the debug build" "$(cat "$WORK/conformance-debug.out")" "$(cat "$WORK/conformance.out")"

check "a corrupted client is told from the others"
run corrupt 1 "$RELEASE" "${MATCH[@]}" "${PERFECT[@]}" \
  --corrupt-turn 100 --corrupt-player 2 --corrupt-body 5 --corrupt-field position.x --corrupt-bit 3
equal "corrupted checksums_agree" "$(value checksums_agree "$WORK/corrupt.out")" false
read -r -a clients <<<"$(list client_checksums "$WORK/corrupt.out")"
equal "client 0, 1, 3" "${clients[0]} ${clients[1]} ${clients[3]}" "$checksum $checksum $checksum"
[[ ${clients[2]} != "$checksum" ]] || fail "client 2 was corrupted and has the checksum of the others"

expected="turn 100 body 5 field position.x outlier 2"
found="turn $(value turn "$WORK/corrupt.out") body $(value body "$WORK/corrupt.out")"
found+=" field $(value field "$WORK/corrupt.out") outlier $(value outlier "$WORK/corrupt.out")"
equal "the desync report" "$found" "$expected"
check "... $found"

# printed BEGINNING FILE PROGRAM: waits for what a running program prints at the beginning of a line, for a minute at most.
printed() {
  local end=$((SECONDS + 60))
  until grep -q "^$1" "$2"; do
    kill -0 "$3" 2>/dev/null || fail "the program ended: $(cat "$2")"
    ((SECONDS < end)) || fail "no line begins with '$1' after a minute: $(cat "$2")"
    sleep 0.1
  done
}

check "three processes play over sealed connections and have the same checksum"
timeout 300 "$RELEASE" host --bot --headless --players 3 --units 50 --turns 100 --seed 7 --json \
  >"$WORK/host.out" 2>"$WORK/host.err" &
host=$!
children+=("$host")
# The host prints a code for each place.
for player in 2 3; do
  printed "join $player: " "$WORK/host.err" "$host"
  code=$(sed -n "s/^join $player: //p" "$WORK/host.err")
  timeout 300 "$RELEASE" join "$code" --bot --headless --json >"$WORK/join$player.out" 2>"$WORK/join$player.err" &
  children+=("$!")
done
for child in "${children[@]}"; do
  wait "$child" || fail "a process ended with $?: $(cat "$WORK"/host.err "$WORK"/join?.err)"
done
children=()
udp=$(value final_checksum "$WORK/host.out")
[[ $udp =~ ^[0-9a-f]{16}$ ]] || fail "the host's final_checksum is '$udp'"
equal "join 2" "$(value final_checksum "$WORK/join2.out")" "$udp"
equal "join 3" "$(value final_checksum "$WORK/join3.out")" "$udp"
check "... $udp"

check "random matches over random networks: nobody differs, everybody recovers"
start=$SECONDS
run soak 0 "$RELEASE" soak --games 60 --seed 1 --json
for key in mismatches stalls_unrecovered; do equal "soak $key" "$(value $key "$WORK/soak.out")" 0; done
equal "soak failing_seeds" "$(list failing_seeds "$WORK/soak.out")" ""
for key in loss duplicate reorder partition corruption drop pause rejoins watchers; do
  (($(value $key "$WORK/soak.out") > 0)) || fail "60 games without any $key"
done
(($(value turns_total "$WORK/soak.out") >= 6000)) || fail "games are shorter than 100 turns"
check "... $(value turns_total "$WORK/soak.out") turns in $((SECONDS - start)) s"

check "two simulations two seconds apart stay equal, floats do not, a flipped bit is seen, debug and release agree"
run cubes 0 "$RELEASE" cubes --seed 3 --divergence "$WORK/divergence.svg" --json
equal "cubes checksums_agree" "$(value checksums_agree "$WORK/cubes.out")" true
frames=$(value frames "$WORK/cubes.out")
equal "cubes frames_compared" "$(value frames_compared "$WORK/cubes.out")" "$frames"
cubes=$(value final_checksum "$WORK/cubes.out")
equal "cubes client_checksums" "$(list client_checksums "$WORK/cubes.out")" "$cubes $cubes"
[[ $(tr -d ' \n' <"$WORK/cubes.out") == *'"float":{"first_divergent_frame":'[0-9]* ]] || fail "the floats did not diverge"
grep -q "<polyline" "$WORK/divergence.svg" || fail "the plot has no line"
run cubes_debug 0 "$DEBUG" cubes --seed 3 --latency-ms 50 --loss 0 --json
equal "cubes in a debug build, over another network" "$(value final_checksum "$WORK/cubes_debug.out")" "$cubes"
run cubes_broken 1 "$RELEASE" cubes --seed 3 --corrupt-frame 1234 --json
equal "cubes first_divergent_frame" "$(value first_divergent_frame "$WORK/cubes_broken.out")" 1234
check "... $cubes, $frames frames"

# refused CODE COMMAND...: one clear line, no panic.
refused() {
  local code=$1
  shift
  run refused "$code" "$@"
  equal "lines on standard error of '$*'" "$(grep -c . "$WORK/refused.err")" 1
  check "... $code: $(cat "$WORK/refused.err")"
}
check "bad input is refused in one line"
refused 2 "$RELEASE" headless --players 0
refused 2 "$RELEASE" headless --loss 1.5
refused 2 "$RELEASE" headless --no-such-option
refused 2 "$RELEASE" no-such-command
refused 2 "$RELEASE" cubes --divergence "$WORK/no/such/folder.svg"
"$RELEASE" host --plain --bot --headless --players 2 >"$WORK/taken.out" 2>"$WORK/taken.err" &
children+=("$!")
printed "join 2: " "$WORK/taken.err" "${children[0]}"
taken=$(grep -oE '[0-9.]+:[0-9]+' "$WORK/taken.err" | head -1)
refused 1 "$RELEASE" host --bot --headless --players 2 --bind "$taken"
kill "${children[0]}"
wait "${children[0]}" 2>/dev/null || true
children=()
refused 1 "$RELEASE" join --plain "$taken" --bot --headless
refused 2 "$RELEASE" join "$taken" --bot --headless

check "all passed"
