#!/usr/bin/env bash
# Bots against bots on three maps: how often which level wins.
#
#   demo/tests/tournament.sh            60 matches of each pair: a quarter of an hour
#   demo/tests/tournament.sh 6          so many matches of each pair
#   demo/tests/tournament.sh 60 9000    seeds from this one on; "clock" takes one from the time of day
#   UNITS=200 demo/tests/tournament.sh  units of each army (60)
#
# Maps take turns, and every three matches the two change sides. PROGRAM names the program; otherwise a release build is made. Exit code 1:
# a match had no winner within 15 minutes, or a level won fewer matches than it has to.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ -z ${PROGRAM:-} ]]; then
  cargo build --quiet --locked --release -p testudo-demo
  PROGRAM=${CARGO_TARGET_DIR:-target}/release/testudo
fi
matches=${1:-60}
first=${2:-1}
[[ $first != clock ]] || first=$(date +%s)
export PROGRAM UNITS=${UNITS:-60}
echo "tournament: $UNITS units, seeds $first to $((first + matches - 1))"
failed=0

# play NUMBER SEED FIRST SECOND: who has won within 15 minutes (4500 turns of 200 ms): FIRST, SECOND, or nobody.
play() {
  local maps=(ford pass lakes) levels="$3,$4" seats=("$3" "$4") who
  if (($1 / 3 % 2 == 1)); then levels="$4,$3" seats=("$4" "$3"); fi
  who=$("$PROGRAM" headless --players 2 --units "$UNITS" --turns 4500 --pace fixed --json \
    --map "${maps[$1 % 3]}" --seed "$2" --bot "$levels" 2>/dev/null |
    tr -d ' ,"' | awk -F: '$1 == "winner" { print $2 }')
  case $who in 0 | 1) echo "${seats[$who]}" ;; *) echo nobody ;; esac
}
export -f play

# pair FIRST SECOND PERCENT: FIRST has to win at least so many of a hundred.
pair() {
  local won lost nobody winners
  winners=$(for ((n = 0; n < matches; n++)); do echo "$n $((first + n)) $1 $2"; done |
    xargs -P "$(nproc)" -I{} bash -c 'play {}')
  won=$(grep -cx "$1" <<<"$winners" || true)
  lost=$(grep -cx "$2" <<<"$winners" || true)
  nobody=$(grep -cx nobody <<<"$winners" || true)
  printf 'tournament: %-6s beats %-6s %3d : %-3d nobody %d\n' "$1" "$2" "$won" "$lost" "$nobody"
  ((nobody == 0 && won * 100 >= matches * $3)) || failed=1
}

pair hard normal 75
pair normal easy 75
pair hard easy 95
pair clumsy easy 80
for level in easy normal hard; do pair "$level" idle 75; done
((failed == 0)) || { echo "tournament: FAILED" >&2; exit 1; }
