#!/usr/bin/env bash
# The browser plays a match and comes to the checksum of the native program.
#
#   demo/tests/web/proof.sh
#
# What it needs, and what PAGE and KEEP are for, stands in stage.sh.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. demo/tests/web/stage.sh
stage

# WebGL by software; no traffic of the browser's own.
options=(--headless=new --no-sandbox --user-data-dir="$WORK/profile" --window-size=1280,860 --use-gl=angle
  --use-angle=swiftshader --enable-unsafe-swiftshader --disable-background-networking --no-first-run
  --disable-component-update)
"$browser" "${options[@]}" --remote-debugging-port=0 "$address/?match=proof" >"$WORK/browser" 2>&1 &
children+=("$!")
patiently 150 grep -q 'GET /end?' "$WORK/requests"
answer=$(grep -oE 'GET /end\?[^ ]*' "$WORK/requests" | head -1)
say "${answer#GET /end?}"
[[ $answer == *equal=true* ]] || { say "FAILED: the page's checksum is not the program's" >&2; exit 1; }
say "all passed"
