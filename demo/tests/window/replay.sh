#!/usr/bin/env bash
# Looks at a replay as a person does, with a synthetic mouse and keyboard on a virtual screen: clicks and drags on the timeline both ways,
# goes frame by frame, and reads in the program's notes that the checksum at each place is the one that `replay --json` finds there. Then
# it looks at replays with a planted difference, without an end, and of no use.
#
#   demo/tests/window/replay.sh             plays and checks
#   demo/tests/window/replay.sh --pictures  also renews docs/pictures/viewer.png, which the README shows (needs ImageMagick)
#
# What it needs, and what PROGRAM and KEEP are for, stands in stage.sh.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. demo/tests/window/stage.sh
stage replay

# With this pace every turn has four frames.
match=(headless --players 2 --units 80 --turns 300 --seed 3 --pace fixed)
stands='"event":"stands"'

# last KEY: a number or checksum of the last place where the window stood.
last() { grep "$stands" log | tail -1 | grep -oE "\"$1\":\"?[0-9a-f]+" | sed 's/.*[:"]//'; }
# number FILE KEY: of a JSON object.
number() { grep -oE "\"$2\": \"?[0-9a-f]+" "$1" | head -1 | sed 's/.*[ "]//'; }
# agrees: at the start of the turn where the window stands, the state is the one that the text finds.
agrees() {
  while (($(last frame) % 4 != 0)); do until_said "$stands" key b; done
  local turn=$(($(last frame) / 4))
  (($(last turn) == turn)) || fail "frame $(last frame) should be of turn $turn, not $(last turn)"
  "$PROGRAM" replay match.replay --turn "$turn" --json >there 2>/dev/null || fail "there is no turn $turn"
  [[ $(number there checksum) == "$(last checksum)" ]] || fail "turn $turn: $(last checksum) in the window, not $(number there checksum)"
}
click() { place timeline "$1" 50 && sleep 0.1 && hold 1; }
# between LEAST MOST: the window stands there.
between() { (($(last frame) >= $1 && $(last frame) <= $2)) || fail "frame $(last frame) is not within $1..$2"; }

"$PROGRAM" "${match[@]}" --replay match.replay --json >played 2>/dev/null
enter replay match.replay

say "help"
until_said '"event":"help","value":true' key F1
picture replay-help
until_said '"event":"help","value":false' key F1

say "to and fro on the timeline"
until_said "$stands" click 70
between 820 860
until_said "$stands" click 20
between 230 260
until_said '"event":"playing","value":false' key space
agrees
until_said "$stands" click 60
agrees
until_said "$stands" click 30
agrees
drag() {
  place timeline 30 50 && xdotool mousedown 1 && sleep 0.2
  for part in 45 70 90 75 40; do place timeline "$part" 50 && sleep 0.2; done
  xdotool mouseup 1
}
until_said '"event":"seek","value":10[0-9][0-9]' drag
patiently said "$stands"
sleep 0.5
between 460 500
agrees

say "five seconds, one frame, both ends"
before=$(last frame)
until_said "$stands" key Right
between $((before + 100)) $((before + 100))
until_said "$stands" key Left
between "$before" "$before"
until_said "$stands" key n
until_said "$stands" key n
between $((before + 2)) $((before + 2))
until_said "$stands" key b
between $((before + 1)) $((before + 1))
until_said "$stands" key End
between 1200 1200
[[ $(last checksum) == "$(number played final_checksum)" ]] || fail "another end: $(last checksum)"
until_said "$stands" key Home
between 0 0
agrees

say "watching a player"
until_said '"event":"follow","value":1' press "follow 2"
until_said "$stands" click 32
until_said '"event":"speed_percent","value":200' press faster
until_said '"event":"playing","value":true' press play
picture replay-follow 3
until_said '"event":"follow","value":null' key Escape
until_said '"event":"playing","value":false' press play
agrees
patiently said '"divergent_turn":null,"event":"checked","turns":300'
quit 0

say "a planted difference"
fault=(--corrupt-turn 120 --corrupt-player 1 --corrupt-body 100 --corrupt-field position.x --corrupt-bit 3)
"$PROGRAM" "${match[@]}" "${fault[@]}" --replay broken.replay --json >broken 2>/dev/null && fail "the difference was not seen"
enter replay broken.replay.p1
patiently said '"event":"diverged","value":120'
patiently said '"divergent_turn":120,"event":"checked","turns":300'
# The marker stands where that turn is over.
patiently said '"diverged here"'
until_said "$stands" press "diverged here"
between $((484 - 6)) $((484 + 6))
until_said "$stands" press divergence
between 484 484
patiently said '"event":"difference","value":".*position.x of body 100'
"$PROGRAM" replay broken.replay --turn 121 --json >there 2>/dev/null && fail "the computers of this match disagreed"
[[ $(number there checksum) == "$(last checksum)" ]] || fail "not what the orders lead to: $(last checksum)"
picture viewer 1
quit 1

say "a file without an end, and files of no use"
# Between the keyframe in the middle and the one at the end: how much of the file they take depends on how the battle goes.
for part in {40..60}; do
  head -c $(($(stat -c %s match.replay) * part / 100)) match.replay >cut.replay
  "$PROGRAM" replay cut.replay --json >there 2>/dev/null || true
  if (($(number there turns) > 150)); then break; fi
done
enter replay cut.replay --turn 50
patiently said "$stands"
between 200 200
agrees
until_said "$stands" key End
(($(last frame) > 200 && $(last frame) < 1200)) || fail "the end of a cut file is at frame $(last frame)"
until_said '"event":"playing","value":true' press play
patiently said '"divergent_turn":null,"event":"checked"'
picture replay-cut
quit 1
head -c 4000 match.replay | tail -c 3000 >none.replay
# Another version of the simulation, from byte 15 on.
{ head -c 15 match.replay && printf '\001' && tail -c +17 match.replay; } >damaged.replay
for file in none.replay damaged.replay missing.replay; do
  code=0
  "$PROGRAM" replay "$file" 2>err >out || code=$?
  ((code == 2)) && [[ $(wc -l <err) == 1 ]] || fail "$file: code $code, $(cat err)"
done

say "a look back at a running battle, and on from there"
# Two bots; the battle stands still while its beginning is looked at, and is paused afterwards.
enter skirmish --bots --units 50 --seed 3
sleep 8
look_back() { switch menu true key F10 && press "look back" && sleep 1 && placed timeline; }
patiently look_back
patiently said "$stands"
until_said "$stands" key Home
between 0 0
picture look-back
patiently eval 'key Escape; sleep 0.5; placed "view 1"'
until_said '"event":"paused","value":false' key space
patiently look_back
until_said "$stands" click 50
until_said '"event":"goes on"' press "play on"
patiently placed "view 1"
patiently said '"event":"goes on"'
quit 0
whole replay-help replay-follow viewer replay-cut look-back

if [[ ${1:-} == --pictures ]]; then renew viewer; fi
done_here
