#!/usr/bin/env bash
# The browser plays a match and comes to the checksum of the native program: with the program that uses simd128, and with the other one if the page has it.
#
#   demo/tests/web/proof.sh
#
# What it needs, and what PAGE and KEEP are for, stands in stage.sh.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. demo/tests/web/stage.sh
stage

# WebGL by software; no traffic of the browser's own. A small window: the proof compares checksums, and drawing costs more than the match.
options=(--headless=new --no-sandbox --user-data-dir="$WORK/profile" --window-size=640,430 --use-gl=angle
  --use-angle=swiftshader --enable-unsafe-swiftshader --disable-background-networking --no-first-run
  --disable-component-update --webgl-antialiasing-mode=none)
# proof ADDRESS PROGRAM: the match that the address names, with this program and no other.
proof() {
  : >"$WORK/requests"
  "$browser" "${options[@]}" --remote-debugging-port=0 "$address/$1" >"$WORK/browser" 2>&1 &
  local playing=$! answer
  children+=("$playing")
  patiently 150 grep -q 'GET /end?' "$WORK/requests"
  answer=$(grep -oE 'GET /end\?[^ ]*' "$WORK/requests" | head -1)
  say "$2: ${answer#GET /end?}"
  [[ $answer == *equal=true* ]] || { say "FAILED: the page's checksum is not the program's" >&2; exit 1; }
  [[ $(grep -oE 'GET /[^ ]*\.wasm' "$WORK/requests") == "GET /$2" ]] || { say "FAILED: the page did not load $2" >&2; exit 1; }
  kill "$playing" && wait "$playing" 2>/dev/null || true
}
proof "?match=proof" testudo-simd128.wasm
if [[ -e $PAGE/testudo.wasm ]]; then proof "?match=proof&simd=0" testudo.wasm; else say "this page has no testudo.wasm"; fi
say "all passed"
