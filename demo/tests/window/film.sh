#!/usr/bin/env bash
# Makes docs/pictures/spread.gif, the moving picture of the README: two armies meet, one bit is flipped, and what differs is red.
#
# Needs ImageMagick. What else it needs, and what PROGRAM and KEEP are for, stands in stage.sh.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. demo/tests/window/stage.sh
stage film
command -v import >/dev/null || { say "skipped: ImageMagick is not installed"; exit 0; }
enter skirmish --seed 1 --units 200
window=$(xdotool search --name Testudo | head -1)
film() { import -window "$window" "film-$1.png"; }

say "the armies meet"
until_said '"event":"selection","player":0,"units":200' press "choose all"
attack() { press "choose all" && sleep 0.3 && press attack && sleep 0.3 && place "view 1" 60 40 && sleep 0.2 && hold 1; }
until_said '"command":"attack","event":"order".*"player":0' attack
key equal && sleep 0.3 && key equal
long=$((SECONDS + 150))
until noted '"event":"heard","value":"horn"'; do alive; ((SECONDS < long)) || fail "the armies do not meet"; sleep 0.3; done
key minus && sleep 0.3 && key minus
until_said '"event":"selection","player":0,"units":0' press_at "view 1" 95 60
sleep 3

say "one bit"
switch unfolded true press unfold
until_said '"event":"corrupt"' press corrupt
patiently said '"event":"desync"'
sleep 0.6
film 00
switch unfolded false press unfold
until_said '"event":"speed_percent","value":25[,}]' press "go on"
place "view 1" 20 30
# Frame by frame as long as it grows fast, then as it goes.
for n in $(seq -w 1 16); do key n && sleep 0.15 && film "$n"; done
switch paused false key space
for n in $(seq 17 26); do film "$n" && sleep 0.2; done
quit 1
noted '"event":"spread","value":[0-9]{2,}' || fail "it has not spread"

convert -delay 150 film-00.png -delay 20 film-0[1-9].png film-1*.png film-2*.png -delay 150 film-26.png -loop 0 \
  -resize 560x -colors 64 -layers optimize "$ROOT/docs/pictures/spread.gif"
bytes=$(stat -c %s "$ROOT/docs/pictures/spread.gif")
((bytes < 3000000)) || fail "the moving picture has $bytes bytes, 3 MB are allowed"
done_here
