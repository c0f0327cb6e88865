#!/usr/bin/env bash
# A hundred kills and returns through a relay: real processes, one long match. Not a part of CI: it takes about ten minutes.
#
#   demo/tests/relay_returns.sh [PROGRAM] [RETURNS]
set -euo pipefail
program=${1:-target/release/testudo}
returns=${2:-100}
players=4
dir=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$dir"' EXIT

wait_for() { # FILE PATTERN COUNT
    for _ in $(seq 1200); do
        local count
        count=$(grep -c "$2" "$1" 2>/dev/null || true)
        [ "${count:-0}" -ge "$3" ] && return
        sleep 0.1
    done
    echo "no '$2' in $1 (wanted $3):" >&2
    tail -5 "$1" >&2
    exit 1
}
play() { # NAME ARGUMENTS...
    local name=$1
    shift
    "$program" "$@" --bot --headless --json --no-replay >"$dir/$name.json" 2>"$dir/$name.log" &
    pids+=($!)
    last=$!
}

"$program" relay --json >"$dir/relay.json" 2>"$dir/relay.log" &
relay=$!
pids+=("$relay")
wait_for "$dir/relay.log" '^relay at ' 1
# Long enough for all returns; SIGTERM ends it.
play host host --relay "$(sed -n 's/^relay at //p' "$dir/relay.log")" --players "$players" --units 20 --turns 1000000 --seed 1
host=$last
wait_for "$dir/host.log" '^watch: ' 1
declare -A guest code
for player in $(seq $((players - 1))); do
    code[$player]=$(sed -n "s/^join $player: //p" "$dir/host.log")
    play "guest$player" join "${code[$player]}"
    guest[$player]=$last
done
wait_for "$dir/host.log" 'everybody is here' 1
for ((back = 1; back <= returns; back++)); do
    player=$((RANDOM % (players - 1) + 1))
    kill -9 "${guest[$player]}"
    wait "${guest[$player]}" 2>/dev/null || true
    play "guest$player" join "${code[$player]}"
    guest[$player]=$last
    wait_for "$dir/host.log" 'is back' "$back"
done
kill -TERM "$host"
wait "$host" || { echo "the host: $(cat "$dir/host.json" "$dir/host.log" | tail -3)" >&2; exit 1; }
for player in "${!guest[@]}"; do
    kill -TERM "${guest[$player]}"
    wait "${guest[$player]}" || { echo "player $player: $(tail -3 "$dir/guest$player.log")" >&2; exit 1; }
    grep -q '"checksums_agree": true' "$dir/guest$player.json"
done
grep -q '"checksums_agree": true' "$dir/host.json"
kill -TERM "$relay"
wait "$relay"
echo "$returns returns; the host: $(tr -d '\n ' <"$dir/host.json" | cut -c1-400)"
echo "the relay: $(tr -d '\n ' <"$dir/relay.json")"
