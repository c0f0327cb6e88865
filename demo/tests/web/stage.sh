# A page on a server of this machine, and a Chromium to look at it. Sourced by the scripts beside it, which call `stage NAME`.
#
# A script is skipped with a message where there is no Chromium, no python3 to serve the page, or no way to build for WebAssembly.
# PAGE names the folder of a page that is built already; otherwise one is built. KEEP names a folder for pictures.

say() { echo "web: $*"; }

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

cleanup() {
  kill "${children[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  # A browser that was killed may still write into its profile.
  rm -rf "$WORK" 2>/dev/null || { sleep 2 && rm -rf "$WORK"; } || true
}

# stage: `browser` is a Chromium, `address` is where the page is, WORK a folder. The server takes a free port and says which; in
# WORK/requests it notes what the page asks for.
stage() {
  local name code=0
  for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then browser=$name && break; fi
  done
  [[ -n ${browser:-} ]] || { say "skipped: no Chromium is installed"; exit 0; }
  command -v python3 >/dev/null || { say "skipped: there is no python3 to serve the page"; exit 0; }
  WORK=$(mktemp -d)
  children=()
  trap cleanup EXIT
  if [[ -z ${PAGE:-} ]]; then
    PAGE=$WORK/page
    OUT_WEB=$PAGE demo/web/build.sh || code=$?
    if ((code == 3)); then say "skipped: no target wasm32-unknown-unknown"; exit 0; fi
    ((code == 0)) || { say "FAILED: the page does not build" >&2; exit 1; }
  fi
  python3 -u -m http.server --bind 127.0.0.1 --directory "$PAGE" 0 >"$WORK/server" 2>>"$WORK/requests" &
  children+=("$!")
  patiently 30 test -s "$WORK/server"
  patiently 30 grep -q 'port [0-9]' "$WORK/server"
  address=http://127.0.0.1:$(grep -oE 'port [0-9]+' "$WORK/server" | grep -oE '[0-9]+')
  if [[ -n ${KEEP:-} ]]; then mkdir -p "$KEEP"; fi
}
