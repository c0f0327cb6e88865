#!/usr/bin/env bash
# Bots against bots on three maps, and each level of bots against somebody who does nothing: how the matches end.
#
#   demo/tests/tournament.sh            24 matches on the maps, 72 against an idle player: some minutes
#   demo/tests/tournament.sh 3          so many seeds of each
#   demo/tests/tournament.sh 24 9000    seeds from this one on; "clock" takes one from the time of day
#
# PROGRAM names the program; otherwise a release build is made. Exit code 1: a match had no winner within 15 minutes, or an idle player won.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ -z ${PROGRAM:-} ]]; then
  cargo build --quiet --locked --release -p testudo-demo
  PROGRAM=${CARGO_TARGET_DIR:-target}/release/testudo
fi
seeds=${1:-24}
first=${2:-1}
[[ $first != clock ]] || first=$(date +%s)
last=$((first + seeds - 1))
echo "tournament: seeds $first to $last"
failed=0

# winner ARGUMENTS...: who has won within 15 minutes (4500 turns of 200 ms); "null" if nobody has.
winner() {
  "$PROGRAM" headless --players 2 --units 200 --turns 4500 --pace fixed --json "$@" 2>/dev/null |
    tr -d ' ,"' | awk -F: '$1 == "winner" { print $2 }'
}

maps=(ford pass lakes)
for ((seed = first; seed <= last; seed++)); do
  map=${maps[seed % 3]}
  who=$(winner --map "$map" --seed "$seed" --bot normal)
  echo "tournament: bots on $map, seed $seed: $who wins"
  [[ $who != null ]] || failed=1
done
for level in easy normal hard; do
  won=0
  for ((seed = first; seed <= last; seed++)); do
    who=$(winner --map "${maps[seed % 3]}" --seed "$seed" --bot "$level,idle")
    if [[ $who == 0 ]]; then won=$((won + 1)); else echo "tournament: $level, seed $seed: $who wins"; fi
  done
  echo "tournament: $level beats an idle player $won of $seeds times"
  ((won == seeds)) || failed=1
done
((failed == 0)) || { echo "tournament: FAILED" >&2; exit 1; }
