#!/usr/bin/env bash
# The browser plays a match and comes to the checksum of the native program.
#
#   demo/tests/web/proof.sh
#
# Skipped with a message where there is no Chromium, no python3 to serve the page, or no way to build for WebAssembly.
# KEEP names a folder for a picture of the page.
set -euo pipefail
cd "$(dirname "$0")/../../.."

say() { echo "web: $*"; }
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then browser=$name && break; fi
done
[[ -n ${browser:-} ]] || { say "skipped: no Chromium is installed"; exit 0; }
command -v python3 >/dev/null || { say "skipped: there is no python3 to serve the page"; exit 0; }

WORK=$(mktemp -d)
children=()
cleanup() {
  kill "${children[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$WORK"
}
trap cleanup EXIT
export OUT_WEB=$WORK/page
code=0
demo/web/build.sh || code=$?
if ((code == 3)); then say "skipped: no target wasm32-unknown-unknown"; exit 0; fi
((code == 0)) || { say "FAILED: the page does not build" >&2; exit 1; }

# The server takes a free port and says which; it also notes what the page asks for.
python3 -u -m http.server --bind 127.0.0.1 --directory "$OUT_WEB" 0 >"$WORK/server" 2>"$WORK/requests" &
children+=("$!")
# patiently SECONDS COMMAND...: until it succeeds.
patiently() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    if ((SECONDS >= end)); then
      say "FAILED: waited in vain: $*" >&2
      tail -n 5 "$WORK/requests" "$WORK/browser" >&2 || true
      exit 1
    fi
    sleep 0.2
  done
}
patiently 30 grep -q 'port [0-9]' "$WORK/server"
port=$(grep -oE 'port [0-9]+' "$WORK/server" | grep -oE '[0-9]+')

# WebGL by software; no traffic of the browser's own.
options=(--headless=new --no-sandbox --user-data-dir="$WORK/profile" --window-size=1280,860 --use-gl=angle
  --use-angle=swiftshader --enable-unsafe-swiftshader --disable-background-networking --no-first-run
  --disable-component-update)
"$browser" "${options[@]}" --remote-debugging-port=0 "http://127.0.0.1:$port/?match=proof" >"$WORK/browser" 2>&1 &
children+=("$!")
patiently 150 grep -q 'GET /end?' "$WORK/requests"
answer=$(grep -oE 'GET /end\?[^ ]*' "$WORK/requests" | head -1)
say "${answer#GET /end?}"
[[ $answer == *equal=true* ]] || { say "FAILED: the page's checksum is not the program's" >&2; exit 1; }
kill "${children[1]}" && wait "${children[1]}" 2>/dev/null || true

if [[ -n ${KEEP:-} ]]; then
  mkdir -p "$KEEP"
  "$browser" "${options[@]}" --timeout=9000 --screenshot="$KEEP/page.png" "http://127.0.0.1:$port/" >"$WORK/browser" 2>&1
fi
say "all passed"
