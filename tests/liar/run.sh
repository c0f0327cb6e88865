#!/usr/bin/env bash
# A changed client lies to live programs on loopback, in every way that it knows; each match has to come to a good end for the honest.
#
#   tests/liar/run.sh [MATCH...]      all matches, or these
#
# PROGRAM and LIAR name what is started; without them both are built. Several matches run side by side. All of it may take two minutes.
set -uo pipefail
cd "$(dirname "$0")/../.."

TWO_MINUTES=120
SIDE_BY_SIDE=${SIDE_BY_SIDE:-6}

if [[ -z ${PROGRAM:-} || -z ${LIAR:-} ]]; then
    cargo build --locked --workspace --features testudo-liar/live --bin testudo --example liar || exit
    target=${CARGO_TARGET_DIR:-target}/debug
    PROGRAM=$target/testudo LIAR=$target/examples/liar
fi
command -v timeout >/dev/null || { echo "liar: timeout is missing" >&2; exit 1; }

# ---- what a match needs. Each one runs in a shell of its own, with a folder of its own.

fail() {
    echo "$*" >&2
    exit 1
}

# wait_for NAME PATTERN [COUNT]: until the process has said it so often.
wait_for() {
    local file=$dir/$1.log count
    for ((tries = 0; tries < 600; tries++)); do
        count=$(grep -Ec -- "$2" "$file" 2>/dev/null)
        ((${count:-0} >= ${3:-1})) && return
        sleep 0.1
    done
    fail "$1 has not said '$2' ${3:-1} times: $(tail -3 "$file")"
}

# start NAME ARGUMENTS...: the real program. All have keys of their own.
start() {
    local name=$1
    shift
    XDG_STATE_HOME=$dir/$name.state "$PROGRAM" "$@" --bot --headless --json --no-replay \
        >"$dir/$name.json" 2>"$dir/$name.log" </dev/null &
    process[$name]=$!
}

# lie NAME ARGUMENTS...: the changed one.
lie() {
    local name=$1
    shift
    XDG_STATE_HOME=$dir/$name.state "$LIAR" "$@" >"$dir/$name.json" 2>"$dir/$name.log" </dev/null &
    process[$name]=$!
}

# host TURNS PLAYERS: a host; relayed TURNS PLAYERS: the same through a relay.
host() {
    start host host "${through[@]}" --players "$2" --units 10 --turns "$1" --seed 1
    wait_for host '^watch: '
}

relayed() {
    relay
    host "$@"
}

relay() {
    "$PROGRAM" relay --json >"$dir/relay.json" 2>"$dir/relay.log" </dev/null &
    process[relay]=$!
    wait_for relay '^relay at '
    through=(--relay "$(sed -n 's/^relay at //p' "$dir/relay.log")")
}

# code PLAYER [OF]: what the host has printed. Players are counted from 0 here, and from 1 in what it prints.
code() {
    sed -n "s/^join $(($1 + 1)): //p" "$dir/${2:-host}.log"
}

watch_code() {
    sed -n 's/^watch: //p' "$dir/host.log"
}

value() { # NAME KEY
    tr -d '\n' <"$dir/$1.json" | grep -Eo "\"$2\": *(\[[^]]*\]|[^,}]*)" | head -1 | sed 's/^[^:]*: *//; s/[ "]//g'
}

# ended NAME EXIT: waits for its end. `named`: exit 1, because the liar's copy could not be compared, or 0.
ended() {
    local exit=0 wanted=$2
    wait "${process[$1]}" || exit=$?
    if [[ $wanted == named ]]; then
        wanted=$exit
        ((exit == 0)) || [[ $exit == 1 && $(value "$1" checksums_missing) == '[3]' ]] || wanted=0
    fi
    ((exit == wanted)) || fail "$1: exit $exit instead of $wanted: $(tail -2 "$dir/$1.log") $(value "$1" error)"
}

# agree EXIT NAME...: all end with this code, have played all turns, and come to one state.
agree() {
    local exit=$1 name
    shift
    for name in "$@"; do
        ended "$name" "$exit"
        [[ $(value "$name" turns) == "$turns" ]] || fail "$name: $(value "$name" turns) turns instead of $turns"
        [[ $(value "$name" final_checksum) == "$(value "$1" final_checksum)" ]] || fail "$name: another state"
    done
}

# below NAME KEY LIMIT
below() {
    local value
    value=$(value "$1" "$2")
    awk -v value="$value" -v limit="$3" 'BEGIN { exit !(value != "" && value + 0 <= limit) }' ||
        fail "$1: $2 is $value, more than $3"
}

# What the protocol grants, in seconds: a player is dropped after this (demo/src/app/online/agreement.rs). Its place may owe four of these times before it has
# to wait (lockstep/src/session/backoff.rs). In the long run nobody makes the others stand for more than a tenth of the time, which is the limit of all
# lies that should cost nothing.
DROP=8

# stood NAME SECONDS: the match stood for so long at most. Its turns take 200 ms.
stood() {
    below "$1" stalled_fraction "$(awk -v stood="$2" -v turns="$turns" 'BEGIN { print stood / (stood + turns / 5) }')"
}

has_said() { # NAME PATTERN
    grep -Eq -- "$2" "$dir/$1.log" || fail "$1 has not said '$2': $(tail -5 "$dir/$1.log")"
}

# four LIE HOST-FUNCTION TURNS: three honest players and the liar, who is player 4.
four() {
    turns=$3
    "$2" "$turns" 4
    start one join "$(code 1)"
    start two join "$(code 2)"
    lie liar "$1" "$(code 3)"
    wait_for host 'everybody is here'
}

# ---- the matches

# What fails here is not the fault of a lie.
match_honest() {
    four honest host 40
    agree 0 host one two
    below host stalled_fraction 0.05
}

match_ahead_at_a_relay() {
    four ahead:600 relayed 50
    agree named host one two
}

match_ahead_at_a_host() {
    four ahead:600 host 50
    agree named host one two
    has_said host 'player 4.* changed program'
}

# The liar has opened the room, so it is asked first for the state.
match_wrong_state() {
    turns=100
    relay
    lie liar flip open "${through[1]}" 4 "$turns"
    wait_for liar '^watch: '
    local player
    for player in 1 2 3; do start "p$player" join "$(code $player liar)"; done
    wait_for p1 'everybody is here'
    kill -9 "${process[p3]}"
    wait "${process[p3]}" 2>/dev/null
    wait_for p1 'player 4 is lost'
    start p3 join "$(code 3 liar)"
    wait_for p1 'player 4 is back'
    agree 0 p1 p2 p3
}

match_wrong_checksums() {
    four checksum host 45
    agree 1 host one two
    [[ $(value host outliers) == '[3]' && $(value one outliers) == '[3]' ]] || fail "$(value host outliers)"
    has_said one 'player 4.* wrong copy'
}

match_wrong_only_where_signed() {
    four signed host 45
    agree 1 host one two
    [[ $(value two outliers) == '[3]' ]] || fail "outliers: $(value two outliers)"
    has_said two 'player 4.* wrong copy'
}

match_no_checksums() {
    four silent relayed 45
    agree 1 host one two
    [[ $(value one checksums_missing) == '[3]' ]] || fail "missing: $(value one checksums_missing)"
    has_said one 'player 4.* no checksum'
    has_said one 'nothing signed comes from player 4'
}

# A player may pause a few times; most turns have frames.
match_pauses() {
    four pause host 60
    agree 0 host one two
    has_said one 'player 4.* pauses the match'
    (($(value one frames) >= 160)) || fail "only $(value one frames) frames of 240"
}

# At a tenth of the speed all of it would take two minutes. The liar's own library refuses the change, too; a member that sends it all the same is
# in tests/lockstep/attacks/controls.rs.
match_slow_motion() {
    four speed:10 relayed 60
    agree 0 host one two
    below one turn_ms_mean 300
}

match_fast_motion() {
    four speed:250 host 60
    agree 0 host one two
    (($(value one turn_ms_mean | cut -d. -f1) >= 120)) || fail "turns of $(value one turn_ms_mean) ms instead of 200"
}

# A player that is this late is dropped after one to three minutes, which is longer than these matches: tests/lockstep/attacks/slow.rs. Everybody is told
# before.
match_late_by_1500_ms() {
    four late:1500 host 100
    agree 0 host one two
    has_said host 'is often late; after'
}

match_late_by_2400_ms() {
    four late:2400 relayed 100
    agree 0 host one two
    has_said one 'is often late; after'
}

# It is dropped, comes back, is dropped again. What four drops cost is free, and one more goes beyond that; then its place is closed for longer than this
# match. In ten minutes it costs a tenth: tests/lockstep/attacks/returns.rs.
match_late_by_6000_ms() {
    four late:6000 host 150
    agree 0 host one two
    has_said host 'is lost'
    stood host $((5 * DROP))
}

match_one_code_in_two_programs() {
    turns=75
    relayed "$turns" 3
    start one join "$(code 1)"
    start two join "$(code 2)"
    wait_for host 'everybody is here'
    # The same person: the key is the same.
    ln -s two.state "$dir/again.state"
    start again join "$(code 2)"
    agree 0 host one
    below host stalled_fraction 0.1
    # One of the two has played to the end, the other one was told.
    local two=0 again=0
    wait "${process[two]}" || two=$?
    wait "${process[again]}" || again=$?
    ((two + again == 1)) || fail "exits $two and $again"
    grep -Eqi 'somebody else|another program' "$dir/two.log" "$dir/again.log" "$dir/two.json" "$dir/again.json" ||
        fail "nobody was told: $(tail -2 "$dir/two.log")"
}

# Somebody else has the code, too. Each program here has a key of its own, so that one could not play; it took the place, and then both were out.
match_one_code_with_another_key() {
    turns=50
    relayed "$turns" 3
    start one join "$(code 1)"
    start two join "$(code 2)"
    wait_for host 'everybody is here'
    start again join "$(code 2)"
    ended again 1
    [[ $(value again error) == *anotherprogram* ]] || fail "again: $(value again error)"
    agree 0 host one two
    below host players_lost 0
}

# As when a virtual machine is moved.
match_a_relay_that_stands_for_a_minute() {
    turns=50
    relayed "$turns" 3
    start one join "$(code 1)"
    start two join "$(code 2)"
    wait_for host 'everybody is here'
    kill -STOP "${process[relay]}"
    sleep 60
    kill -CONT "${process[relay]}"
    agree 0 host one two
}

match_watch_code_again_and_again() {
    turns=100
    relayed "$turns" 3
    start one join "$(code 1)"
    start two join "$(code 2)"
    wait_for host 'everybody is here'
    lie knock knock "$(watch_code)" 60 5
    kill -9 "${process[two]}"
    wait "${process[two]}" 2>/dev/null
    wait "${process[knock]}"
    start two join "$(code 2)"
    wait_for host 'player 3 is back'
    agree 0 host one two
}

match_code_again_and_again() {
    turns=75
    host "$turns" 3
    start one join "$(code 1)"
    start two join "$(code 2)"
    wait_for host 'everybody is here'
    lie knock knock "$(code 2)" 1500 1
    agree 0 host one
    # The program that knocks has a key of its own, so it displaces nobody.
    below host players_lost 0
    below host stalled_fraction 0.1
    kill "${process[knock]}" "${process[two]}" 2>/dev/null
}

match_another_identity() {
    turns=30
    host "$turns" 3
    lie liar identity:1 "$(code 2)"
    ended liar 0
    start one join "$(code 1)"
    start two join "$(code 2)"
    agree 0 host one two
}

match_flood_of_orders() {
    four orders relayed 50
    agree 0 host one two
    below host stalled_fraction 0.1
}

match_packets_a_hundred_times() {
    four copies:100 host 50
    agree 0 host one two
    below host stalled_fraction 0.1
}

match_no_acknowledgements() {
    four no-acks host 75
    agree 0 host one two
    below host stalled_fraction 0.1
}

# Not a lie, but what everybody suffers. `demo/tests/returns.sh` does it a hundred times.
match_kills_and_returns() {
    turns=150
    relayed "$turns" 3
    start one join "$(code 1)"
    start two join "$(code 2)"
    wait_for host 'everybody is here'
    local back names=(one two)
    for back in 1 2 3 4 5 6; do
        local name=${names[$((back % 2))]} player=$((back % 2 + 1))
        kill -9 "${process[$name]}"
        wait "${process[$name]}" 2>/dev/null
        start "$name" join "$(code $player)"
        wait_for host 'is back' "$back"
    done
    agree 0 host one two
}

match_damaged_files() {
    local replay=$dir/match.replay seed exit
    "$PROGRAM" host --players 1 --units 10 --turns 400 --bot --headless --json --replay "$replay" \
        >"$dir/whole.json" 2>"$dir/whole.log" </dev/null &
    process[whole]=$!
    for ((tries = 0; tries < 600; tries++)); do
        [[ -s $dir/match.replay.save ]] && break
        sleep 0.1
    done
    kill -TERM "${process[whole]}"
    ended whole 0
    [[ -s $dir/match.replay.save ]] || fail "there is no save"
    "$PROGRAM" verify "$replay" >/dev/null || fail "the replay does not verify"
    for seed in $(seq 24); do
        "$LIAR" damage "$dir/match.replay.save" "$seed" >/dev/null || fail "no damage"
        exit=0
        timeout 10 "$PROGRAM" host --resume "$dir/match.replay.save.$seed" --bot --headless --no-replay \
            >/dev/null 2>"$dir/resumed.log" </dev/null || exit=$?
        ((exit == 1 || exit == 2)) || fail "damage $seed of a save: exit $exit: $(tail -1 "$dir/resumed.log")"
        "$LIAR" damage "$replay" "$seed" >/dev/null || fail "no damage"
        "$PROGRAM" verify "$replay.$seed" >/dev/null 2>&1 && fail "damage $seed of a replay is not found"
    done
    return 0
}

# ---- all of them, side by side

all=$(declare -F | sed -n 's/^declare -f match_//p')
if (($# == 0)); then
    # The longest ones first.
    long='late_by_6000_ms a_relay_that_stands_for_a_minute'
    set -- $long $(grep -vxE "${long// /|}" <<<"$all")
fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# one MATCH: in a shell of its own, whose processes end with it.
one() {
    dir=$root/$1
    mkdir "$dir"
    declare -gA process=()
    through=()
    trap 'kill "${process[@]}" 2>/dev/null' EXIT
    "match_$1"
}

deadline=$((SECONDS + TWO_MINUTES))
declare -A shell=()
failed=()
reap() {
    local name
    for name in "${!shell[@]}"; do
        if ! kill -0 "${shell[$name]}" 2>/dev/null; then
            if wait "${shell[$name]}"; then
                echo "liar: $name: held"
            else
                echo "liar: $name: FAILED: $(tail -2 "$root/$name.out")"
                failed+=("$name")
            fi
            unset "shell[$name]"
        elif ((SECONDS > deadline)); then
            echo "liar: $name: FAILED: not over after $TWO_MINUTES s"
            kill "${shell[$name]}" 2>/dev/null
            failed+=("$name")
            unset "shell[$name]"
        fi
    done
}
for name in "$@"; do
    declare -F "match_$name" >/dev/null || { echo "liar: no match '$name'; there are:" $all >&2; exit 2; }
    while ((${#shell[@]} >= SIDE_BY_SIDE)); do
        reap
        sleep 0.1
    done
    (one "$name") >"$root/$name.out" 2>&1 &
    shell[$name]=$!
done
while ((${#shell[@]} > 0)); do
    reap
    sleep 0.1
done
if ((${#failed[@]} > 0)); then
    echo "liar: ${#failed[@]} of $# matches failed in $SECONDS s: ${failed[*]}"
    exit 1
fi
echo "liar: all $# matches held in $SECONDS s"
