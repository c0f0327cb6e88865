#!/usr/bin/env bash
# A hundred kills and returns, through a relay or directly at a host: real processes, one long match. Not a part of CI: it takes ten
# minutes and more. The guests are killed one after the other: a place that is left twice in a minute is closed for a while after a few times
# (lockstep/src/session/backoff.rs), so three guests alone would have to wait.
#
#   demo/tests/returns.sh [PROGRAM] [RETURNS] [relay|host]
set -euo pipefail
program=${1:-target/release/testudo}
returns=${2:-100}
middle=${3:-relay}
players=16
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
    return 1
}
play() { # NAME ARGUMENTS...
    local name=$1
    shift
    "$program" "$@" --bot --headless --json --no-replay >"$dir/$name.json" 2>"$dir/$name.log" &
    pids+=($!)
    last=$!
}

through=()
if [ "$middle" = relay ]; then
    "$program" relay --json >"$dir/relay.json" 2>"$dir/relay.log" &
    relay=$!
    pids+=("$relay")
    wait_for "$dir/relay.log" '^relay at ' 1
    through=(--relay "$(sed -n 's/^relay at //p' "$dir/relay.log")")
fi
# Long enough for all returns: eight seconds for each.
turns=$((returns * 40 + 50))
play host host "${through[@]}" --players "$players" --units 5 --turns "$turns" --seed 1
host=$last
wait_for "$dir/host.log" '^watch: ' 1
declare -A guest code
for player in $(seq $((players - 1))); do
    code[$player]=$(sed -n "s/^join $((player + 1)): //p" "$dir/host.log")
    play "guest$player" join "${code[$player]}"
    guest[$player]=$last
done
wait_for "$dir/host.log" 'everybody is here' 1
for ((back = 1; back <= returns; back++)); do
    player=$((back % (players - 1) + 1))
    kill -9 "${guest[$player]}"
    wait "${guest[$player]}" 2>/dev/null || true
    play "guest$player" join "${code[$player]}"
    guest[$player]=$last
    wait_for "$dir/host.log" 'is back' "$back" || { tail -3 "$dir/guest$player.log" >&2; exit 1; }
done
# All play on to the last turn, and come to the same state.
value() { # NAME KEY
    sed -n "s/^ *\"$2\": \(.*[^,]\),*$/\1/p" "$dir/$1.json"
}
end() { # PROCESS NAME
    wait "$1" || { echo "$2: $(cat "$dir/$2.json" "$dir/$2.log" | tail -3)" >&2; exit 1; }
    [ "$(value "$2" turns)" = "$turns" ] && [ "$(value "$2" checksums_agree)" = true ]
}
end "$host" host
for player in "${!guest[@]}"; do
    end "${guest[$player]}" "guest$player"
    [ "$(value "guest$player" final_checksum)" = "$(value host final_checksum)" ]
done
echo "$(value host players_back) returns of $(value host players_lost) losses at a $middle in $turns turns; final checksum of all $players: $(value host final_checksum)"
if [ "$middle" = relay ]; then
    kill -TERM "$relay"
    wait "$relay"
    echo "the relay: $(tr -d '\n ' <"$dir/relay.json")"
fi
