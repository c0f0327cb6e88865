#!/usr/bin/env bash
# Plays the window as a person does, with a synthetic mouse and keyboard on a virtual screen: chooses units, attacks, drags a
# slider, breaks a copy. Checks what the program accepted, and saves pictures of it.
#
#   demo/tests/window/session.sh             plays and checks
#   demo/tests/window/session.sh --pictures  also renews docs/pictures, which the README shows (needs ImageMagick)
#
# Skipped with a message where Xvfb or xdotool are missing. PROGRAM names the program; otherwise a release build is made.
set -euo pipefail
cd "$(dirname "$0")/../../.."

say() { echo "window: $*"; }
fail() {
  say "FAILED: $*" >&2
  tail -n 5 "$WORK/log" "$WORK/err" >&2 || true
  exit 1
}

for tool in Xvfb xdotool; do
  command -v "$tool" >/dev/null || { say "skipped: $tool is not installed"; exit 0; }
done
if [[ -z ${PROGRAM:-} ]]; then
  cargo build --quiet --locked --release -p testudo-demo
  PROGRAM=$PWD/${CARGO_TARGET_DIR:-target}/release/testudo
  [[ -e $PROGRAM ]] || PROGRAM=$CARGO_TARGET_DIR/release/testudo
fi
ROOT=$PWD WORK=$(mktemp -d)
children=()
trap 'kill "${children[@]}" 2>/dev/null || true; rm -rf "$WORK"' EXIT

# The server chooses a free number and says which. It stays when its last client goes: a key may be let go after the program has ended.
Xvfb -displayfd 3 -noreset -screen 0 1360x860x24 +extension GLX 3>"$WORK/display" 2>"$WORK/xvfb" &
children+=("$!")
# patiently COMMAND...: until it succeeds, for at most a minute.
patiently() {
  local end=$((SECONDS + 60))
  until "$@"; do
    ((SECONDS < end)) || fail "waited in vain: $*"
    sleep 0.1
  done
}
patiently test -s "$WORK/display"
DISPLAY=:$(<"$WORK/display")
export DISPLAY LIBGL_ALWAYS_SOFTWARE=1

cd "$WORK"
"$PROGRAM" skirmish --seed 1 --log-orders log >out 2>err &
program=$!
children+=("$program")
alive() { kill -0 "$program" 2>/dev/null || fail "the program ended: $(cat err)"; }
said() { alive && grep -qE "$1" log 2>/dev/null; }
patiently said '"event":"places"'

# place NAME X Y: moves the mouse to a point of a widget, in percent of its width and height.
place() {
  local x y w h
  IFS=, read -r x y w h < <(grep '"event":"places"' log | grep -o "\"$1\":\[[^]]*\]" | tail -1 | sed 's/.*\[//; s/\]//')
  [[ -n ${h:-} ]] || fail "there is no '$1' in the window"
  xdotool mousemove $((x + w * $2 / 100)) $((y + h * $3 / 100))
}
lines() { grep -cE "$1" log || true; }
# until_said PATTERN COMMAND...: does it again until the log says so once more: a slow picture may miss a key.
until_said() {
  local pattern=$1 before end=$((SECONDS + 60))
  shift
  before=$(lines "$pattern")
  while (($(lines "$pattern") == before)); do
    alive
    ((SECONDS < end)) || fail "'$*' did not lead to $pattern"
    "$@"
    sleep 0.7
  done
}
hold() { xdotool mousedown "$1" && sleep 0.15 && xdotool mouseup "$1"; }
key() { xdotool keydown "$1" && sleep 0.1 && xdotool keyup "$1"; }
press() { place "$1" 50 50 && sleep 0.1 && hold 1; }
pictures=0
picture() {
  sleep "${2:-0.5}"
  until_said '"event":"picture"' key F12
  pictures=$(lines '"event":"picture"')
  mv "testudo-$pictures.png" "$1.png"
}

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
lose() {
  place loss 5 50 && xdotool mousedown 1 && sleep 0.2
  place loss 30 50 && sleep 0.2
  place loss 55 50 && sleep 0.2 && xdotool mouseup 1
}
until_said '"event":"network".*"loss_ppm":3[0-9]0000' lose
picture loss 7
until_said '"event":"network".*"loss_ppm":20000[,}]' press ordinary

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
xdotool keydown ctrl keydown q sleep 0.1 keyup q keyup ctrl
code=0
wait "$program" || code=$?
((code == 0)) || fail "the program ended with $code: $(cat err)"
said_last() { grep -qE "$1" log; }
said_last '"agree":true.*"event":"end"' || fail "the copies of the new match differ"
[[ ! -s err ]] || fail "the program complained: $(cat err)"
for name in help attack loss battle physics desync; do
  (($(stat -c %s "$name.png") > 20000)) || fail "$name.png is empty"
done

if [[ ${1:-} == --pictures ]]; then
  command -v convert >/dev/null || fail "ImageMagick's convert is not installed"
  mkdir -p "$ROOT/docs/pictures"
  for name in battle loss physics desync; do
    convert "$name.png" -resize 50% -colors 160 -strip "PNG8:$ROOT/docs/pictures/$name.png"
  done
  say "renewed docs/pictures"
fi
if [[ -n ${KEEP:-} ]]; then mkdir -p "$KEEP" && cp ./*.png log "$KEEP"; fi
say "all passed"
