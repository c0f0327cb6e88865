#!/usr/bin/env bash
# Two persons at two screens play a match over a real network, with a synthetic mouse and keyboard: one hosts, the other joins with the
# code that the host prints. Both programs' notes have to say that every order ran at the same turn in both, and that the checksums
# were equal. Then one breaks a bit, one leaves, and one asks where nobody is; each has to be told so.
#
#   demo/tests/window/network.sh             plays and checks
#   demo/tests/window/network.sh --pictures  also renews docs/pictures/network.png, which the README shows (needs ImageMagick)
#
# What it needs, and what PROGRAM and KEEP are for, stands in stage.sh.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. demo/tests/window/stage.sh
stage network
declare -A screens=([host]=$DISPLAY) programs=()
screen
screens[guest]=$DISPLAY
mkdir host guest

# at PERSON: from now on mouse and keys are at this one's screen.
at() {
  cd "$WORK/$1"
  person=$1 DISPLAY=${screens[$1]} program=${programs[$1]:-}
}
# start PERSON ARGUMENTS...: this one's program.
start() {
  at "$1"
  enter "${@:2}"
  programs[$person]=$program
}
# both PATTERN: the notes of both say so.
both() {
  local here=$person
  for name in host guest; do
    at "$name"
    patiently said "$1"
  done
  at "$here"
}
# part CODE: leaves with Ctrl Q; the program ends with this code.
part() {
  local code=0
  # Asked twice within three seconds, the program leaves without telling the others.
  press_quit 6
  wait "$program" || code=$?
  ((code == $1)) || fail "the program of the $person ended with $code, not $1: $(cat err)"
}
# began: both programs run, and the match has begun. ARGUMENTS are the guest's.
began() {
  start host host --units 20 --seed 1
  patiently noted '"event":"listening"'
  code=$(sed -n 's/^join 2: //p' err)
  [[ -n $code ]] || fail "the host does not say how others join: $(cat err)"
  said "\"codes\",\"value\":\[\"$code\"\]" || fail "the window has another code than $code"
}

say "a lobby"
began
picture lobby
start guest join "$code"
both '"event":"started"'

say "the guest attacks"
box() {
  place "view 1" 98 2 && xdotool mousedown 1 && sleep 0.2
  place "view 1" 75 40 && sleep 0.1
  place "view 1" 55 98 && sleep 0.2 && xdotool mouseup 1
}
until_said '"event":"selection","player":1,"units":(1[5-9]|20)' box
attack() { place "view 1" 30 50 && key a && sleep 0.1 && hold 1; }
until_said '"command":"attack","event":"order".*"player":1' attack

say "the host walks, patrols, stops"
at host
# On a slow machine some have fallen by now; that the order is for all of them is checked below.
until_said '"event":"selection","player":0,"units":[1-9]' chord ctrl a
walk() { place "view 1" 45 60 && hold 3; }
until_said '"command":"move","event":"order".*"player":0' walk
patrol() { place "view 1" 40 30 && key p && sleep 0.1 && hold 1; }
until_said '"command":"patrol","event":"order".*"player":0' patrol
until_said '"command":"stop","event":"order".*"player":0' key s
until_said '"command":"attack","event":"order".*"player":0' attack
for command in attack move patrol stop; do both "\"command\":\"$command\",\"event\":\"ran\".*\"player\":0"; done
both '"command":"attack","event":"ran".*"player":1'

say "the buttons of the command bar and the badges are those of the other window"
switch unfolded false press unfold
switch unfolded true press unfold
until_said '"event":"selection","player":0,"units":[1-9]' press "choose all"
until_said '"command":"hold","event":"order".*"player":0' press hold
until_said '"command":"stop","event":"order".*"player":0' press stop
until_said '"event":"selection","player":0,"units":[1-9]' press "group 1"
switch muted true press sound

say "no text over another at five sizes, with the panel and without"
for size in "412 800" "600 1000" "800 600" "1920 1080" "1360 860"; do
  xdotool windowsize "$(xdotool search --name Testudo | head -1)" $size
  for value in false true; do
    switch unfolded "$value" press unfold
    sleep 1
    ! grep '"event":"clash"' log | tail -1 | grep -q '"value":"' || fail "$size, unfolded $value: $(grep '"event":"clash"' log | tail -1)"
  done
done

say "a pause that the host asks for and the guest ends"
until_said '"event":"paused","value":true' key space
both '"event":"paused","value":true'
at guest
until_said '"event":"paused","value":false' key space
both '"event":"paused","value":false'

say "a bot, and back"
until_said '"event":"pilot","value":"bot"' press pilot
until_said '"event":"pilot","value":"person"' press pilot
at host
place "view 1" 30 50
for _ in 1 2 3; do xdotool click 4 && sleep 0.2; done
picture network 4
at guest
picture guest

say "the guest leaves, and a bot plays on"
at guest
part 0
at host
patiently said '"event":"gone","value":1'
picture gone
part 0

# Orders of both, as far as the guest was there; checksums of the turns that are in both notes.
turn=$(grep -oE '"event":"end","turns":[0-9]+' ../guest/log | grep -oE '[0-9]+$')
orders() { grep '"event":"ran"' "$1" | while read -r line; do [[ $line =~ \"turn\":([0-9]+) ]] && ((BASH_REMATCH[1] < turn)) && echo "$line"; done; }
diff <(orders log) <(orders ../guest/log) >../diff || fail "orders differ: $(head -5 ../diff)"
checksums() { grep '"event":"checksum"' "$1" | sed -E 's/.*"turns":([0-9]+),"value":"([0-9a-f]+)".*/\1 \2/' | sort; }
common=$(join <(checksums log) <(checksums ../guest/log))
(($(wc -l <<<"$common") >= 5)) || fail "too few checksums in both notes: $common"
if awk '$2 != $3 { exit 1 }' <<<"$common"; then :; else fail "checksums differ: $common"; fi
noted '"agree":true.*"event":"end"' || fail "the host's copy differed: $(grep '"event":"end"' log)"
say "... every order at the same turn in both, and $(wc -l <<<"$common") checksums equal"

say "one bit of the guest's copy"
began
start guest join "$code" --bot --corrupt 10,5
patiently said '"event":"desync","field":"position.x"'
both '"event":"differs","value":10'
picture difference
at host
picture difference
until_said '"event":"go on"' press "go on"

say "the host leaves, and the match is over"
part 1
at guest
patiently noted '"event":"failure","value":"the match ended early'
until_said '"event":"picture"' key F12
part 1

say "a small battle to its end: both are told who has won, and watch the replay or stay"
start host host --units 2 --seed 1 --bot
patiently noted '"event":"listening"'
code=$(sed -n 's/^join 2: //p' err)
start guest join "$code" --bot
both '"event":"started"'
# Some two minutes, in which nothing is looked at: drawing costs more than the match.
resize_both() {
  local name here=$person
  for name in host guest; do
    at "$name"
    xdotool windowsize "$(xdotool search --name Testudo | head -1)" "$1" "$2"
  done
  at "$here"
}
resize_both 640 430
long=$((SECONDS + 400))
until noted '"event":"result"'; do alive; ((SECONDS < long)) || fail "two bots found no end"; sleep 0.5; done
both '"event":"result"'
resize_both 1360 860
sleep 1
at guest
patiently placed stay
! grep '"event":"clash"' log | tail -1 | grep -q '"value":"' || fail "the end: $(grep '"event":"clash"' log | tail -1)"
picture ended 1
press stay
patiently absent stay
at host
patiently placed watch
press watch
patiently placed play
picture replayed 1
part 0
say "a player that stayed has lost nothing when the host leaves"
at guest
patiently noted '"event":"failure","value":"the match ended early'
absent leave || fail "a card about a failure, after a decided battle"
part 0

say "nobody there"
start guest join "$code"
picture asking
patiently noted '"event":"error","value":"nobody answered'
picture nobody
part 1

say "from the menu: one hosts, the other types the code, and both come back to the battle that waited"
start host skirmish --seed 1 --units 20
with_friends
picture friends
until_said '"event":"codes"' press "host match"
code=$(sed -n 's/^join 2: //p' err | tail -1)
said "\"codes\",\"value\":\[\"$code\"\]" || fail "the window that the menu has opened has another code than $code"
patiently placed copy
press copy
start guest skirmish --seed 7 --units 30
# Keys of the battle are no part of the code, and do not stand in its field.
xdotool type --delay 60 aph
with_friends
until_said '"event":"refused","value":"paste or type a code first"' press "join match"
xdotool type --delay 60 "${code:0:40}"
until_said '"event":"refused","value":"the join code is damaged' key Return
picture refused
xdotool type --delay 60 "${code:40}"
until_said '"event":"seated","value":1' key Return
both '"event":"started"'
both '"event":"checksum"'
until_said '"event":"online_over","value":true' press leave
patiently placed menu
switch paused false key space
part 0
at host
patiently said '"event":"gone","value":1'
until_said '"event":"online_over","value":true' press leave
patiently placed menu
say "a code is pasted, and nobody is there: the menu says so"
with_friends
press paste
until_said '"event":"leaving"|"event":"error"' press "join match"
patiently noted '"event":"error","value":"nobody answered'
until_said '"event":"online_over"' press leave
patiently placed "join match"
picture unanswered
part 0

say "copies that differ in a match from the menu are in the exit code, also if the window is closed there"
start host skirmish --seed 1 --units 20
with_friends
until_said '"event":"codes"' press "host match"
code=$(sed -n 's/^join 2: //p' err | tail -1)
"$PROGRAM" join "$code" --bot --headless --no-replay --corrupt 10,5 >../joined 2>&1 &
children+=("$!")
patiently said '"event":"differs","value":10'
say "the host removes the guest in the panel"
until_said '"event":"removed","value":1' press "remove 2"
patiently said '"event":"gone","value":1'
part 1

at guest
cp ../host/*.png .. && for name in guest difference ended asking nobody refused; do cp "$name.png" "../guest-$name.png"; done
cp log .. && cd ..
whole lobby network gone difference friends unanswered guest-refused guest-ended guest-guest guest-difference guest-nobody
if [[ ${1:-} == --pictures ]]; then renew network; fi
done_here
