#!/usr/bin/env bash
# Plays the cubes with a synthetic keyboard on a virtual screen: pushes the cube, gathers and blows away, makes the network worse, and
# reads in the program's notes that the cube went there on both sides and that every frame compared was equal. Then it breaks one bit
# and reads that this is seen.
#
#   demo/tests/window/cubes.sh             plays and checks
#   demo/tests/window/cubes.sh --pictures  also renews docs/pictures/cubes.png, which the README shows (needs ImageMagick)
#
# What it needs, and what PROGRAM and KEEP are for, stands in stage.sh.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. demo/tests/window/stage.sh
stage cubes
enter cubes --seed 1

# keys SIDE HELD: the pattern of a note that this side holds these keys since then.
keys() { echo "\"event\":\"keys\".*\"keys\":\"$2\".*\"side\":$1"; }
# x_when SIDE HELD: where the cube of this side was when it first held these keys, in 1/65,536 of a unit.
x_when() { grep -E "$(keys "$1" "$2")" log | head -1 | grep -oE '"place":\[-?[0-9]+' | grep -oE '[-0-9]+$'; }
# held SECONDS KEY...: holds keys.
held() {
  xdotool keydown "${@:2}"
  sleep "$1"
  xdotool keyup "${@:2}"
}

say "help, and a pause with P, because Space belongs to the game"
until_said '"event":"help","value":true' key F1
picture cubes-help
until_said '"event":"help","value":false' key F1
until_said '"event":"paused","value":true' key p
until_said '"event":"paused","value":false' key p

say "pushing the cube to the right"
until_said "$(keys 0 right)" held 1.2 Right
for side in 0 1; do
  # The right side hears of it two seconds later.
  patiently said "$(keys $side right)"
  patiently said "$(keys $side '')"
  from=$(x_when $side right) to=$(x_when $side '')
  ((to > from + 2 * 65536)) || fail "the cube of side $side went from $from to $to"
done

say "gathering, and blowing away"
until_said "$(keys 0 z)" held 2 z
xdotool keydown space keydown Up
picture cubes 0.6
xdotool keyup space keyup Up
patiently said "$(keys 1 z)"
patiently said "$(keys 1 '(up )?space')"

say "a network that loses half of the packets"
until_said '"event":"network".*"loss_ppm":5[0-9]0000' slide loss 10 90
until_said "$(keys 0 left)" held 0.5 Left
patiently said "$(keys 1 left)"

say "the same scene in floats"
until_said '"event":"floats","value":true' key f
picture cubes-floats
until_said '"event":"floats","value":false' key f
quit 0
end=$(grep '"event":"end"' log | tail -1)
[[ $end =~ \"agree\":true,\"checksums\":\[\"([0-9a-f]{16})\",\"([0-9a-f]{16})\"\] ]] || fail "no equal end: $end"
[[ ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]] || fail "the checksums differ: $end"
frames=$(grep -oE '"turns":[0-9]+' <<<"$end" | grep -oE '[0-9]+')
((frames > 300)) || fail "only $frames frames were compared"
say "... $frames frames were equal"
whole cubes-help cubes cubes-floats

say "one bit"
enter cubes --seed 1 --seconds 3 --corrupt-frame 100
patiently said '"agree":false.*"event":"end","turns":180'
quit 1

if [[ ${1:-} == --pictures ]]; then renew cubes; fi
done_here
