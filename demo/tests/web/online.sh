#!/usr/bin/env bash
# A person at a window of the program and a person at a page in Chromium play one match through a relay, which serves the page. The page is
# hidden for a while, frozen, closed and opened again; the checksums of both have to be equal.
#
#   demo/tests/web/online.sh             plays and checks
#   demo/tests/web/online.sh --pictures  instead renews docs/pictures/four.png: two windows and two pages in one match (needs ImageMagick)
#
# What it needs, and what PAGE is for, stands in stage.sh. PROGRAM names the program; otherwise a release build is made.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. demo/tests/web/stage.sh
for tool in Xvfb xdotool; do
  command -v "$tool" >/dev/null || { say "skipped: $tool is not installed"; exit 0; }
done
stage
if [[ -z ${PROGRAM:-} ]]; then
  cargo build --quiet --locked --release -p testudo-demo
  PROGRAM=${CARGO_TARGET_DIR:-$PWD/target}/release/testudo
fi
mkdir "$WORK/pictures"
more=()
if [[ ${1:-} == --pictures ]]; then more=("$WORK/pictures"); fi
python3 demo/tests/web/online.py "$browser" "$(realpath "$PROGRAM")" "$(realpath "$PAGE")" "$WORK" "${more[@]}"
if [[ ${1:-} == --pictures ]]; then
  # Two steps: one for both would leave teal panels and brown grass.
  montage "$WORK"/pictures/four-?.png -tile 2x2 -geometry 640x400+4+4 -background '#12161b' miff:- |
    convert - -colors 200 -strip PNG8:docs/pictures/four.png
  say "renewed docs/pictures"
fi
say "all passed"
