#!/usr/bin/env bash
# Builds the window as a browser page: everything that the page needs lies in one folder, and it asks for nothing elsewhere.
#
#   demo/web/build.sh            builds target/web (or the folder that OUT_WEB names)
#   PROFILE=release demo/web/build.sh    larger and slower pages that are built faster
#   WITHOUT=testudo demo/web/build.sh    without the program for browsers that lack simd128: for tests in one that has it
#   demo/web/build.sh --serve    and serves it on this machine until Ctrl C; PORT names the port, 8000 otherwise
#
# Needs Rust's target wasm32-unknown-unknown: from rustup, or built once with Debian's compiler. Exit code 3: neither is to be had.
set -euo pipefail
cd "$(dirname "$0")/../.."

TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
OUT=$TARGET_DIR/cross PAGE=${OUT_WEB:-$TARGET_DIR/web} FOREIGN_FLAGS=()
mkdir -p "$OUT" "$PAGE/play" "$PAGE/proof" "$PAGE/cubes"
. tests/cross/toolchain.sh

target=wasm32-unknown-unknown
if [[ ! -d $(rustc --print sysroot)/lib/rustlib/$target/lib ]]; then
  rustup target add "$target" >"$OUT/rustup.log" 2>&1 || command -v apt-get >/dev/null ||
    { echo "web: there is no target $target here, and no way to get one" >&2; exit 3; }
fi
toolchain "$target"

PROFILE=${PROFILE:-dist}
built=$TARGET_DIR/$target/$PROFILE/testudo.wasm
if [[ ${CARGO[0]} == env ]]; then built=$OUT/$target/$PROFILE/testudo.wasm; fi

# program NAME FLAGS...: the program as the page's file NAME, built with more flags. Names of functions and lines would make it ten times
# as large. The page's own functions are undefined until it loads the program; compilers from 1.96 on no longer expect that. What is not optimised
# needs more than the one MiB of stack that a page has by default.
program() {
  local name=$1
  shift
  env CARGO_PROFILE_RELEASE_DEBUG=false CARGO_PROFILE_RELEASE_STRIP=true CARGO_PROFILE_DIST_STRIP=true \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="${CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS:-} -C link-arg=--allow-undefined -C link-arg=-zstack-size=4194304 $*" \
    "${CARGO[@]}" build --quiet --locked --profile "$PROFILE" -p testudo-demo --target "$target"
  cp "$built" "$PAGE/$name"
}
# WebAssembly cannot ask for instructions at run time, so there are two programs, and the page chooses.
programs=(testudo-simd128)
program testudo-simd128.wasm -C target-feature=+simd128
rm -f "$PAGE/testudo.wasm" "$PAGE/testudo.wasm.gz"
if [[ ${WITHOUT:-} != testudo ]]; then
  programs+=(testudo)
  program testudo.wasm
fi
cp demo/web/index.html demo/web/link.js demo/web/pulse.js "$PAGE/"
# The loading bar counts unpacked bytes, which no header tells.
for name in "${programs[@]/%/.wasm}"; do
  bytes=$(stat -c %s "$PAGE/$name")
  sed -i "s/\"$name\": 1\([ ,]\)/\"$name\": $bytes\1/" "$PAGE/index.html"
  grep -q "\"$name\": $bytes[ ,]" "$PAGE/index.html" || { echo "web: FAILED: the page does not know the size of $name" >&2; exit 1; }
done
cp docs/pictures/battle.png "$PAGE/preview.png"
cp demo/web/play/match.json "$PAGE/play/"
cp demo/web/proof/match.json "$PAGE/proof/"
cp demo/web/cubes/match.json "$PAGE/cubes/"

# The loader comes from the very version of the window library that is built in, and its licence with it.
library=$(cargo metadata --locked --format-version 1 | grep -oE '"manifest_path":"[^"]*/macroquad-[0-9][^"]*Cargo.toml"' |
  head -1 | cut -d'"' -f4 | xargs dirname)
cp "$library/js/mq_js_bundle.js" "$PAGE/loader.js"
cp "$library/LICENSE-MIT" "$PAGE/loader.LICENSE-MIT"
cp "$library/LICENSE-APACHE" "$PAGE/loader.LICENSE-APACHE"

# What the same match comes to without a browser.
number() { grep -oE "\"$1\": *[0-9]+" demo/web/proof/match.json | grep -oE '[0-9]+$'; }
cargo run --quiet --locked --profile "$PROFILE" -p testudo-demo -- headless --players 2 --units "$(number units)" \
  --turns "$(number turns)" --seed "$(number seed)" --map ford --pace fixed --json >"$PAGE/proof/native.json"
# A relay sends them in this form.
gzip -9 -kf "$PAGE"/*.wasm "$PAGE"/*.js "$PAGE/index.html"
# All that a visit loads: the page, one of the programs, the settings.
size() { stat -c %s "$PAGE"/{index.html,link.js,pulse.js,loader.js,"$1".wasm}"$2" "$PAGE/play/match.json" | awk '{ sum += $1 } END { print sum }'; }
compressed=$(size testudo-simd128 .gz)
echo "web: built $PAGE (bytes of a visit: $(size testudo-simd128 "") with simd128, $compressed compressed)"
((compressed < 2500000)) || { echo "web: FAILED: a visit is to load less than 2.5 MB" >&2; exit 1; }

if [[ ${1:-} == --serve ]]; then
  echo "web: http://127.0.0.1:${PORT:-8000}/ to play, ?match=cubes for the cubes, ?match=proof for the proof"
  exec python3 -m http.server --bind 127.0.0.1 --directory "$PAGE" "${PORT:-8000}"
fi
