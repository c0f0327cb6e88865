# A virtual screen with a window on it, and a person made of xdotool in front. Sourced by the scripts beside it, which call
# `stage NAME`, then `enter ARGUMENTS`, and in the end `quit CODE` and `keep NAME...`.
#
# A script is skipped with a message where Xvfb or xdotool are missing. PROGRAM names the program; otherwise a release build is made.
# KEEP names a folder for the pictures and the log.

say() { echo "$NAME: $*"; }
fail() {
  say "FAILED: $*" >&2
  tail -n 5 log err >&2 || true
  exit 1
}

# patiently COMMAND...: until it succeeds, for at most a minute.
patiently() {
  local end=$((SECONDS + 60))
  until "$@"; do
    ((SECONDS < end)) || fail "waited in vain: $*"
    sleep 0.1
  done
}

# stage NAME: a screen, in a folder of its own.
stage() {
  NAME=$1 ROOT=$PWD children=()
  for tool in Xvfb xdotool; do
    command -v "$tool" >/dev/null || { say "skipped: $tool is not installed"; exit 0; }
  done
  if [[ -z ${PROGRAM:-} ]]; then
    cargo build --quiet --locked --release -p testudo-demo
    PROGRAM=$PWD/${CARGO_TARGET_DIR:-target}/release/testudo
    [[ -e $PROGRAM ]] || PROGRAM=$CARGO_TARGET_DIR/release/testudo
  fi
  WORK=$(mktemp -d)
  # Nobody is to hear this.
  export PULSE_SERVER=unix:$WORK/nobody
  # What this machine remembers of a person, for instance that hints are over, is of this script alone.
  export XDG_STATE_HOME=$WORK/state
  trap 'kill "${children[@]}" 2>/dev/null || true; rm -rf "$WORK"' EXIT
  cd "$WORK"
  screen
}

# screen: a virtual screen, as large as the largest window, the current one from now on. Its server chooses a free number and says which. It stays when its last client
# goes: a key may be let go after the program has ended.
screen() {
  rm -f "$WORK/display"
  Xvfb -displayfd 3 -noreset -screen 0 3840x2160x24 +extension GLX 3>"$WORK/display" 2>"$WORK/xvfb" &
  children+=("$!")
  patiently test -s "$WORK/display"
  DISPLAY=:$(<"$WORK/display")
  # Pictures are drawn by the program's own thread: threads of the drawing library wait for each other, which costs an eighth more.
  export DISPLAY LIBGL_ALWAYS_SOFTWARE=1 LP_NUM_THREADS=0
}

# ear: a sound server that answers nobody; the file `asked` appears when somebody connects.
ear() {
  command -v python3 >/dev/null || { say "sound is not checked: there is no python3"; return 1; }
  python3 - "$WORK/ear" "$WORK/asked" <<'PY' &
import socket, sys
ear = socket.socket(socket.AF_UNIX)
ear.bind(sys.argv[1])
ear.listen()
kept = []
while True:
    kept.append(ear.accept())
    open(sys.argv[2], "w").close()
PY
  children+=("$!")
  patiently test -S "$WORK/ear"
  export PULSE_SERVER=unix:$WORK/ear
}

# enter ARGUMENTS...: starts the program and waits for its first picture. Drawing is most of what a script costs. No check sees more pictures in a second
# than ten; with fewer a battle falls behind the clock (PICTURE_MAX).
enter() {
  rm -f log
  pictures=0
  "$PROGRAM" "$@" --log-orders log --fps-max 10 >out 2>err &
  program=$!
  children+=("$program")
  patiently said '"event":"places"'
  # Keys are for the window below the mouse.
  xdotool mousemove 680 430
}
alive() { kill -0 "$program" 2>/dev/null || fail "the program ended: $(cat err)"; }
noted() { grep -qE "$1" log 2>/dev/null; }
said() { alive && noted "$1"; }
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

# switch EVENT VALUE COMMAND...: does it until the last note of this event has this value, and waits for a few pictures that show it. A toggle that a slow
# picture sees within a second and a half is not pressed twice.
switch() {
  local event=$1 value=$2 end=$((SECONDS + 60))
  shift 2
  until has_value "$event" "$value"; do
    alive
    ((SECONDS < end)) || fail "'$*' did not lead to $event $value"
    "$@"
    for _ in {1..15}; do
      sleep 0.1
      if has_value "$event" "$value"; then sleep 0.7 && break; fi
    done
  done
}
has_value() { grep "\"event\":\"$1\"" log | tail -1 | grep -q "\"value\":$2"; }

# place NAME X Y: moves the mouse to a point of a widget, in percent of its width and height.
place() {
  local x y w h
  IFS=, read -r x y w h < <(grep '"event":"places"' log | grep -o "\"$1\":\[[^]]*\]" | tail -1 | sed 's/.*\[//; s/\]//')
  [[ -n ${h:-} ]] || fail "there is no '$1' in the window"
  xdotool mousemove $((x + w * $2 / 100)) $((y + h * $3 / 100))
}
# placed NAME: the window has it now.
placed() { grep '"event":"places"' log | tail -1 | grep -q "\"$1\":"; }
# absent NAME: the window does not have it any more.
absent() { ! placed "$1"; }
# rect NAME: x, y, width and height of a widget as it was seen last.
rect() { grep '"event":"places"' log | grep -o "\"$1\":\[[^]]*\]" | tail -1 | sed 's/.*\[//; s/\]//'; }
# apart A B: neither lies over the other.
apart() {
  local ax ay aw ah bx by bw bh
  IFS=, read -r ax ay aw ah < <(rect "$1")
  IFS=, read -r bx by bw bh < <(rect "$2")
  ((ax + aw <= bx || bx + bw <= ax || ay + ah <= by || by + bh <= ay))
}
# nothing_overlaps WHERE: no button, badge, card, tooltip or name lies over another one, or leaves the window, whose SIZE is known. Asked again, because a picture may be under way.
nothing_overlaps() {
  command -v python3 >/dev/null || { say "nobody looks for overlaps: no python3"; return 0; }
  local found
  for _ in 1 2 3; do
    found=$(python3 "$ROOT/demo/tests/window/overlaps.py" log $SIZE)
    [[ -n $found ]] || return 0
    sleep 0.7
  done
  fail "$1: $found"
}
hold() { xdotool mousedown "$1" && sleep 0.15 && xdotool mouseup "$1"; }
key() { xdotool keydown "$1" && sleep 0.1 && xdotool keyup "$1"; }
# chord HELD KEY: long enough for a slow picture to see both at once.
chord() { xdotool keydown "$1" keydown "$2" sleep 0.4 keyup "$2" keyup "$1"; }
press() { press_at "$1" 50 50; }
press_at() { place "$1" "$2" "$3" && sleep 0.1 && hold 1; }
# slide NAME FROM TO: drags the knob of a slider, in percent of its length.
slide() {
  place "$1" "$2" 50 && xdotool mousedown 1 && sleep 0.2
  place "$1" $((($2 + $3) / 2)) 50 && sleep 0.2
  place "$1" "$3" 50 && sleep 0.2 && xdotool mouseup 1
}

# with_friends: opens the menu's page about matches with others. A slow picture sees a key late: pressed again, it would close the menu.
with_friends() {
  local end=$((SECONDS + 60))
  until placed "join match"; do
    ((SECONDS < end)) || fail "the menu's page does not open"
    switch menu true key F10
    if placed friends; then press friends; fi
    sleep 0.7
  done
}

# picture NAME [SECONDS]: saves what is to be seen after so many seconds.
picture() {
  sleep "${2:-0.5}"
  until_said '"event":"picture"' key F12
  pictures=$(lines '"event":"picture"')
  mv "testudo-$pictures.png" "$1.png"
}

# press_quit [SECONDS]: Ctrl Q every so many seconds until the program ends. A slow picture may see Ctrl let go before it sees Q.
press_quit() {
  local end=$((SECONDS + 60))
  while kill -0 "$program" 2>/dev/null; do
    ((SECONDS < end)) || fail "Ctrl Q does not end the program"
    chord ctrl q || true
    sleep "${1:-0.7}"
  done
}

# quit CODE: leaves with Ctrl Q; the program ends with this code and has not complained.
quit() {
  local code=0
  press_quit
  wait "$program" || code=$?
  ((code == $1)) || fail "the program ended with $code, not $1: $(cat err)"
  # Where the replay is, is no complaint.
  ! grep -v "^replay: " err || fail "the program complained: $(cat err)"
}

# whole NAME...: the pictures show something.
whole() {
  local name
  for name in "$@"; do
    (($(stat -c %s "$name.png") > 20000)) || fail "$name.png is empty"
  done
}

# renew NAME...: these pictures become those of the README.
renew() {
  local name
  command -v convert >/dev/null || fail "ImageMagick's convert is not installed"
  mkdir -p "$ROOT/docs/pictures"
  for name in "$@"; do
    convert "$name.png" -resize 50% -colors 160 -strip "PNG8:$ROOT/docs/pictures/$name.png"
  done
  say "renewed docs/pictures"
}

# done_here: the last words.
done_here() {
  if [[ -n ${KEEP:-} ]]; then
    mkdir -p "$KEEP"
    cp ./*.png "$KEEP"
    cp log "$KEEP/$NAME.log"
  fi
  say "all passed"
}
