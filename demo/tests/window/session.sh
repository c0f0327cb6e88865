#!/usr/bin/env bash
# Plays the window as a person does, with a synthetic mouse and keyboard on a virtual screen: chooses units, attacks, drags a
# slider, breaks a copy. Checks what the program accepted, and saves pictures of it.
#
#   demo/tests/window/session.sh             plays and checks
#   demo/tests/window/session.sh --pictures  also renews docs/pictures, which the README shows (needs ImageMagick)
#
# What it needs, and what PROGRAM and KEEP are for, stands in stage.sh.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. demo/tests/window/stage.sh
stage window
enter skirmish --seed 1

say "help"
until_said '"event":"help","value":true' key F1
picture help
until_said '"event":"help","value":false' key F1

say "choosing the army with a box"
box() {
  place "view 1" 1 1 && xdotool mousedown 1 && sleep 0.2
  place "view 1" 25 40 && sleep 0.1
  place "view 1" 49 99 && sleep 0.2 && xdotool mouseup 1
}
until_said '"event":"selection","player":0,"units":(1[5-9]|20)' box

say "attack"
attack() { place "view 1" 60 50 && key a && sleep 0.1 && hold 1; }
until_said '"command":"attack","event":"order".*"player":0' attack
said '"selection":"all"' || fail "an order to the whole army should say so in one word"
picture attack 0.2

say "a control group, stop, and a walk"
group() { xdotool keydown ctrl && key 5 && xdotool keyup ctrl; }
until_said '"command":"assign".*"player":0' group
until_said '"command":"stop".*"player":0' key s
walk() { place "view 1" 45 80 && hold 3; }
until_said '"command":"move".*"player":0' walk
until_said '"command":"attack","event":"order".*"player":0' attack

say "losing a third of the packets"
until_said '"event":"network".*"loss_ppm":3[0-9]0000' slide loss 5 55
picture loss 7

say "the same by TCP, which waits for every lost packet"
until_said '"event":"network".*"loss_ppm":3[0-9]0000.*"transport":"tcp"' press tcp
picture tcp 7
until_said '"event":"network".*"transport":"udp"' press udp
until_said '"event":"network".*"loss_ppm":20000[,}].*"transport":"udp"' press ordinary

say "the battle from near"
place "view 1" 50 50
for _ in 1 2 3 4 5; do xdotool click 4 && sleep 0.2; done
picture battle
key F2 && key F4 && key F5
picture physics
key F2 && key F4 && key F5

say "one bit"
until_said '"event":"corrupt"' press corrupt
patiently said '"event":"desync","field":"position.x".*"outlier":1'
picture desync 1

say "a new match, which ends well"
until_said '"event":"restart"' press restart
sleep 2
quit 0
noted '"agree":true.*"event":"end"' || fail "the copies of the new match differ"
whole help attack loss tcp battle physics desync

if [[ ${1:-} == --pictures ]]; then renew battle loss tcp physics desync; fi
done_here
