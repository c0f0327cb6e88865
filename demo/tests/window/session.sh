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
has_ear=1
ear || has_ear=0
enter skirmish --seed 1 --units 100

calm() { ! grep '"event":"clash"' log | tail -1 | grep -q '"value":"' || fail "$1: $(grep '"event":"clash"' log | tail -1)"; }

say "the opening: one view, the first hint"
# By then the ground is painted.
picture opening 4
calm opening

say "sound: the server is asked for, M and the button switch it off and on"
if ((has_ear)); then patiently test -e asked; fi
switch muted true key m
switch muted false press sound
until_said '"event":"volume","value":[0-9]' slide volume 60 90

say "help"
switch help true key F1
picture help
switch help false press_at "view 1" 50 50

say "the menu: another map, another bot, a smaller battle, and back"
# On a slow machine a click may be missed: each attempt opens the menu again.
next_battle() {
  switch menu true key F10
  patiently placed start
  for choice in "$@" start; do press "$choice" && sleep 0.4; done
}
switch menu true key F10
patiently placed start
picture menu
calm menu
until_said '"event":"speed_percent","value":200' key equal
until_said '"event":"match".*"map":"The pass".*"units":50[,}]' next_battle "map pass" "bot hard" "units 50"
noted '"event":"bot","value":"Hard"' || fail "the menu did not set the bot"
grep '"event":"speed_percent"' log | tail -1 | grep -q '"value":100[,}]' || fail "the next battle begins at the speed of the last one"
until_said '"event":"match".*"map":"The ford".*"units":100[,}]' next_battle "map ford" "bot normal" "units 100"

say "choosing the army with a box; the second hint"
box() {
  place "view 1" 1 1 && xdotool mousedown 1 && sleep 0.2
  place "view 1" 25 40 && sleep 0.1
  place "view 1" 49 99 && sleep 0.2 && xdotool mouseup 1
}
until_said '"event":"selection","player":0,"units":100' chord ctrl a
patiently placed "unit card"
patiently said '"event":"hint","value":2'
until_said '"event":"selection","player":0,"units":[1-9]' box

say "everybody of a kind by a double click, a group by its badge"
double() { place "view 1" "$1" 50 && sleep 0.2 && xdotool click --repeat 2 --delay 130 1; }
any_double() { double 22 && sleep 0.5 && double 23 && sleep 0.5 && double 24; }
until_said '"event":"selection","player":0,"units":(75|25)}' any_double
until_said '"event":"selection","player":0,"units":25}' press "group 3"

say "a chord that is over within one picture"
until_said '"event":"selection","player":0,"units":0' press_at "view 1" 60 97
before=$(lines '"event":"selection","player":0,"units":100')
xdotool keydown ctrl keydown a keyup a keyup ctrl
all_again() { (($(lines '"event":"selection","player":0,"units":100') > before)); }
patiently all_again

# Before anybody gives an order: the bot waits, and the battle with it.
say "every size of window: no text over another, none cut off"
resize() {
  SIZE="$1 $2"
  xdotool windowsize "$(xdotool search --name Testudo | head -1)" "$1" "$2"
  sleep 0.6
}
for size in "412 800" "844 390" "800 500" "800 600" "1024 600" "600 1000" "1920 1080" "3840 2160" "1360 860"; do
  resize $size
  for value in true false; do
    switch unfolded "$value" press unfold
    calm "$size, unfolded: $value"
    for button in "choose all" attack hold; do
      ! placed "$button" || { place "$button" 50 50 && sleep 0.4 && nothing_overlaps "$size, $button, unfolded: $value"; }
    done
    place "view 1" 50 50
    switch split "$value" press split
    calm "$size, split: $value"
    [[ $value == true ]] || patiently placed goal
    # In a low window with two views and the panel there is little room for a hint and for the player's keep beside the command bar.
    if [[ $size == 800* ]]; then
      patiently placed hint
      patiently placed "own keep"
      patiently placed "their keep"
    fi
  done
  switch help true key F1
  calm "$size help"
  switch help false key F1
  switch menu true key F10
  calm "$size menu"
  nothing_overlaps "$size, menu"
  with_friends
  until_said '"event":"refused"' press "join match"
  sleep 0.3
  calm "$size friends"
  switch menu false key Escape
  # In the highest picture everything is twice as large.
  if [[ $size == 3840* ]]; then (($(rect unfold | cut -d, -f4) > 40)) || fail "letters are small in 4K: $(rect unfold)"; fi
done
key Home

say "no black beside the field, wherever the camera goes"
# black NAME: the large view has ground everywhere.
black() {
  local x y w h part
  picture "$1"
  IFS=, read -r x y w h < <(rect "view 1")
  part=$(python3 "$ROOT/demo/tests/window/black.py" "$1.png" "$x" "$y" "$w" "$h")
  awk -v part="$part" 'BEGIN { exit !(part < 3) }' || fail "$1: $part % of the view is black"
}
if command -v python3 >/dev/null; then
  for size in "412 800" "844 390" "1280 720" "1360 860"; do
    resize $size
    for value in true false; do
      switch unfolded "$value" press unfold
      key Home && sleep 0.5
      black "home $size $value"
    done
    # As far away as it goes, in a corner of the field: by the wheel, and by the small map.
    place "view 1" 50 50
    for _ in 1 2 3 4 5 6; do xdotool click 5 && sleep 0.2; done
    press_at "map 1" 1 1 && place "view 1" 50 50
    black "corner $size"
  done
  key Home
else
  say "pixels are not read: there is no python3"
fi

say "a key for the size of letters"
until_said '"event":"letters","value":1.25' key F9
taller() { (($(rect unfold | cut -d, -f4) > 30)); }
patiently taller
calm "larger letters"
until_said '"event":"letters","value":1.0' key F9

say "attack; the third hint; the bot has waited for this"
! noted '"event":"result"' || fail "decided before anybody has given an order"
until_said '"event":"selection","player":0,"units":100' press "choose all"
# On a slow machine a click may fall between two pictures: each attempt begins with the choice.
attack() { press "choose all" && sleep 0.3 && press attack && sleep 0.3 && place "view 1" 60 40 && sleep 0.2 && hold 1; }
until_said '"command":"attack","event":"order".*"player":0' attack
patiently said '"event":"heard","value":"attack"'
say "a right click on the keep is for the keep alone; Attack is for everybody on the way"
# The keep stands above its name.
strike() { press "choose all" && sleep 0.3 && place "their keep" 50 -130 && sleep 0.2 && hold 3; }
until_said '"command":"strike","event":"order".*"player":0' strike
attack_keep() { press "choose all" && sleep 0.3 && press attack && sleep 0.3 && place "their keep" 50 -130 && sleep 0.2 && hold 1; }
until_said '"command":"attack","event":"order".*"player":0' attack_keep
until_said '"command":"attack","event":"order".*"player":0' attack
said '"selection":"all"' || fail "an order to the whole army should say so in one word"
patiently said '"event":"hint","value":3'
picture attack 0.2

say "behind the help and the menu the battle waits"
# frames EVENT: the frame of the last note of this event.
frames() { grep "\"event\":\"$1\"" log | tail -1 | grep -oE '"value":[0-9]+' | grep -oE '[0-9]+'; }
for what in "help F1" "menu F10"; do
  read -r event button <<<"$what"
  switch "$event" true key "$button"
  patiently said '"event":"covered"'
  sleep 2
  covered=$(lines '"event":"uncovered"')
  switch "$event" false key "$button"
  more() { (($(lines '"event":"uncovered"') > covered)); }
  patiently more
  (($(frames covered) == $(frames uncovered))) || fail "behind the $event the battle went on from $(frames covered) to $(frames uncovered)"
  sleep 1
done
until_said '"event":"covered"' key F1
(($(frames covered) > $(frames uncovered))) || fail "the battle does not go on after the menu"
switch help false key F1

say "the armies meet; the horn is heard"
key equal && sleep 0.3 && key equal
long=$((SECONDS + 150))
until noted '"event":"heard","value":"horn"'; do alive; ((SECONDS < long)) || fail "the armies do not meet"; sleep 0.3; done
place "view 1" 40 45
for _ in 1 2 3 4; do xdotool click 4 && sleep 0.2; done
sleep 2
key minus && sleep 0.3 && key minus
# A click on free ground: units are better seen without their rings.
until_said '"event":"selection","player":0,"units":0' press_at "view 1" 95 60
picture battle 3
press "choose all"
key F2 && key F4 && key F5
picture physics
key F2 && key F4 && key F5
key Home

say "control groups, stop, and a walk"
group() { chord ctrl 5; }
until_said '"command":"assign".*"player":0' group
other_group() { key g && sleep 0.1 && key 6; }
until_said '"command":"assign".*"player":0' other_group
until_said '"command":"stop".*"player":0' key s
walk() { place "view 1" 45 80 && hold 3; }
until_said '"command":"move".*"player":0' walk
until_said '"command":"attack","event":"order".*"player":0' attack

say "orders in a row, a line, holding ground"
queue() {
  press "choose all" && sleep 0.3 && place "view 1" 45 70 && sleep 0.1
  xdotool keydown shift && hold 3 && xdotool keyup shift
}
until_said '"command":"move".*"player":0.*"queued":true' queue
line() {
  press "choose all" && sleep 0.3 && place "view 1" 40 30 && xdotool mousedown 3 && sleep 0.2
  place "view 1" 40 45 && sleep 0.1 && place "view 1" 40 60 && sleep 0.2 && xdotool mouseup 3
}
until_said '"command":"line".*"player":0' line
until_said '"command":"hold".*"player":0' key h
until_said '"command":"pursue".*"player":0' key h
until_said '"command":"defend".*"player":0' key h
until_said '"command":"attack","event":"order".*"player":0' attack

say "two views show what one showed, and back"
scale() { grep '"event":"camera"' log | tail -1 | grep -oE '[0-9.]+\]' | tr -d ']'; }
switch split false key Tab
sleep 1
one=$(scale)
switch split true key Tab
sleep 1
awk -v a="$one" -v b="$(scale)" 'BEGIN { exit !(b < 0.6 * a) }' || fail "two views cut the picture: $one and $(scale)"
switch split false key Tab
sleep 1
awk -v a="$one" -v b="$(scale)" 'BEGIN { exit !(b > 0.95 * a && b < 1.05 * a) }' || fail "the scale is not that of before: $one and $(scale)"

say "a larger window shows a larger picture, not more of the field"
resize 900 600
sleep 1
one=$(scale)
resize 1360 860
sleep 1
awk -v a="$one" -v b="$(scale)" 'BEGIN { exit !(b > 1.3 * a && b < 1.8 * a) }' || fail "the scale went from $one to $(scale)"

say "losing a third of the packets; the fourth hint"
switch unfolded true press unfold
until_said '"event":"network".*"loss_ppm":3[0-9]0000' slide loss 5 55
patiently said '"event":"hint","value":4'
picture loss 7

say "the same by TCP, which waits for every lost packet"
until_said '"event":"network".*"loss_ppm":3[0-9]0000.*"transport":"tcp"' press tcp
picture tcp 7
until_said '"event":"network".*"transport":"udp"' press udp
until_said '"event":"network".*"loss_ppm":20000[,}].*"transport":"udp"' press ordinary

say "one bit, in a small window: the card leaves the body in sight"
resize 1024 600
until_said '"event":"corrupt"' press corrupt
patiently said '"event":"desync","field":"position.x".*"outlier":1'
patiently said '"event":"hint","value":null'
patiently placed card
patiently placed accused
sleep 0.5
calm "desync at 1024 600"
apart accused card || fail "the card hides the body: $(rect accused) under $(rect card)"
resize 1360 860
picture desync 1
calm desync

say "the difference spreads: it is counted, and the camera holds it in view"
until_said '"event":"speed_percent","value":25[,}]' press "go on"
long=$((SECONDS + 90))
until noted '"event":"spread","value":([3-9]|[0-9]{2,})[,}]'; do alive; ((SECONDS < long)) || fail "it does not spread"; sleep 0.3; done
picture spread
calm spread

say "a new match, which ends well"
until_said '"event":"restart"' next_battle "map ford" "bot normal" "units 100"
# Some turns of it: on a slow machine the first one takes its time.
played() {
  sleep 1
  switch help true key F1
  switch help false key F1
  (($(frames covered) > 12))
}
patiently played
quit 0
noted '"agree":true.*"event":"end"' || fail "the copies of the new match differ"
replay=$(sed -n 's/^replay: //p' err | tail -1)
[[ -s $replay ]] || fail "whoever quits is not told where the replay is: $(cat err)"

say "hints can be put away"
enter skirmish --seed 1 --units 20
patiently placed hint
until_said '"event":"hint","value":null' press "hints away"
patiently absent hint
quit 0
enter skirmish --seed 1 --units 20
patiently placed "own keep"
absent hint || fail "hints that were put away are back when the program starts again"

say "a replay that cannot be read is refused, and the battle goes on"
echo nothing >replays/broken.replay
touch -d tomorrow replays/broken.replay
newest_replay() { switch menu true key F10 && patiently placed "last replay" && press "last replay"; }
until_said '"event":"refused"' newest_replay
rm replays/broken.replay
quit 0

# bots_to_the_end UNITS: minutes of game time, as fast as pictures come. Small ones: drawing costs more than the battle.
bots_to_the_end() {
    enter skirmish --seed 1 --units "$1" --bots
    for _ in 1 2 3; do key equal && sleep 0.3; done
    resize 640 430
    local long=$((SECONDS + 400))
    until noted '"event":"result"'; do alive; ((SECONDS < long)) || fail "two bots found no end"; sleep 0.5; done
    resize 1360 860
}

say "two bots bring a small battle to its end; a card says who has won, and offers another"
bots_to_the_end 10
patiently placed rematch
picture end 1
calm end
# The menu does not hide the card's frame, so the card is not drawn.
switch menu true key F10
patiently absent rematch
switch menu false key F10
patiently placed rematch
until_said '"event":"restart","value":2' press "new seed"
quit 0

say "from the replay of a battle a button leads to another one"
bots_to_the_end 2
patiently placed watch
# share: the link that the card and the replay copy plays the match, and ends in its checksum.
share() {
  until_said '"event":"link"' press share
  local link
  link=$(grep '"event":"link"' log | tail -1 | grep -o 'battle=[A-Za-z0-9_-]*')
  "$PROGRAM" verify "$link" | grep -q '^last checksum   equal' || fail "the link $link does not play"
}
share
press watch
patiently placed "back to battle"
share
for size in "412 800" "820 560" "1360 860"; do
  resize $size
  sleep 1
  calm "the replay at $size"
done
until_said '"event":"match"' press "back to battle"
patiently placed menu
quit 0
whole opening help attack loss tcp battle physics desync end

if [[ ${1:-} == --pictures ]]; then renew opening battle loss tcp physics desync end; fi
done_here
