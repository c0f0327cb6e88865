#!/usr/bin/env bash
# Plays with a round trip of 200 ms, and lets the first view predict: the same orders, seen at once in one view and two turns later in the other. Checks that
# the copies stay equal and the replay verifies, and saves pictures.
#
# What it needs, and what PROGRAM and KEEP are for, stands in stage.sh.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. demo/tests/window/stage.sh
stage prediction
enter skirmish --seed 1 --units "${UNITS:-100}" --bot idle --json

say "two views, the panel, a slower network"
switch split true press split
switch unfolded true press unfold
until_said '"event":"network".*"latency_ms":(8[0-9]|9[0-9]|1[01][0-9])' slide latency 10 20
picture before

say "the switch, by button and by key"
until_said '"event":"prediction","value":\[0,1\]' press "prediction 1"
until_said '"event":"prediction","value":\[0,0\]' press "prediction 1"
until_said '"event":"prediction","value":\[0,1\]' press "prediction 1"

say "everybody marches, back and forth; the strip above a view counts as the view"
place "view 2" 50 50 && sleep 1
place "prediction 1" 50 50 && sleep 1
until_said '"event":"selection","player":0,"units":[1-9]' chord ctrl a
for spot in "70 30" "40 70" "60 20" "30 50"; do
  place "view 1" $spot
  until_said '"command":"move","event":"order"' hold 3
  picture "march ${spot// /-}" 0.2
done

say "the copies are equal, and predictions were made"
quit 0
grep -q '"checksums_agree": *true' out || fail "no object was printed: $(cat out)"
noted '"event":"foreseen".*"player":0' || fail "nothing was foreseen"
noted '"agree":true.*"event":"end"' || fail "the copies differ"

say "the replay verifies like any other"
"$PROGRAM" verify replays/*.replay >verified || fail "$(cat verified)"
whole before "march 70-30"
done_here
