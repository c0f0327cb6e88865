#!/usr/bin/env bash
# Plays on the page as a person does: with a mouse and keys, then with fingers on a small screen with twice the pixels. Drops replays onto
# it, listens whether it makes sounds, and looks at what it says where there is no WebGL.
#
#   demo/tests/web/session.sh             plays and checks
#   demo/tests/web/session.sh --pictures  also renews docs/pictures/touch.png, which docs/demo.md shows (needs ImageMagick)
#
# What it needs, and what PAGE and KEEP are for, stands in stage.sh.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. demo/tests/web/stage.sh
stage
mkdir "$WORK/pictures"
python3 demo/tests/web/session.py "$browser" "$address" "$WORK" "$PWD/demo/tests/replays/small.replay" "$WORK/pictures"
if [[ -n ${KEEP:-} ]]; then cp "$WORK"/pictures/*.png "$KEEP"; fi
if [[ ${1:-} == --pictures ]]; then
  convert "$WORK/pictures/touch.png" -resize 600x -colors 112 +dither -strip PNG8:docs/pictures/touch.png
  say "renewed docs/pictures"
fi
say "all passed"
