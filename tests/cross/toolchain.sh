#!/usr/bin/env bash
# To be sourced: a Rust toolchain that builds for a foreign target. OUT is the folder for what is built once; a function that
# fails ends the script that sourced this.

say() { echo "cross: $*"; }

# install PROGRAM_OR_FILE PACKAGE...: installs the packages unless the program or file is there.
install() {
  local wanted=$1
  shift
  if [[ -e $wanted ]] || command -v "$wanted" >/dev/null; then return; fi
  say "installing $*"
  local apt=(flock "${APT_LOCK:-${TMPDIR:-/tmp}/testudo-apt.lock}")
  if ((EUID != 0)); then apt+=(sudo); fi
  apt+=(env DEBIAN_FRONTEND=noninteractive apt-get -qq)
  if [[ ! -e $OUT/apt-updated ]]; then
    "${apt[@]}" update
    touch "$OUT/apt-updated"
  fi
  "${apt[@]}" install -y --no-install-recommends "$@" >"$OUT/apt.log" 2>&1 ||
    { cat "$OUT/apt.log" >&2; return 1; }
}

# toolchain TARGET: sets CARGO and RUSTC to a toolchain that has the target's standard library.
toolchain() {
  local target=$1 lib
  lib=$(rustc --print sysroot)/lib/rustlib/$target/lib
  if [[ ! -d $lib ]] && command -v rustup >/dev/null; then
    timeout 300 rustup target add "$target" >"$OUT/rustup.log" 2>&1 || say "rustup has no $target"
  fi
  if [[ -d $lib ]]; then
    CARGO=(cargo) RUSTC_FOREIGN=rustc
    if [[ -n ${EXTRA_FLAGS[*]:-} ]]; then
      export "CARGO_TARGET_$(tr a-z- A-Z_ <<<"$target")_RUSTFLAGS=${EXTRA_FLAGS[*]}"
    fi
    return
  fi
  install /usr/lib/rustlib/src/rust/library/std rustc-web cargo-web rust-web-src
  CARGO=(env RUSTC=/usr/bin/rustc CARGO_TARGET_DIR="$OUT" /usr/bin/cargo) RUSTC_FOREIGN=/usr/bin/rustc
  case $target in
    wasm32-wasip1) debian_wasi ;;
    wasm32-unknown-unknown)
      install wasm-ld-22 lld-22
      FOREIGN_FLAGS=(-C linker=wasm-ld-22)
      ;;
  esac
  [[ -e $OUT/sysroot/lib/rustlib/$target/lib/.built ]] || build_std "$target"
  export "CARGO_TARGET_$(tr a-z- A-Z_ <<<"$target")_RUSTFLAGS=--sysroot $OUT/sysroot ${FOREIGN_FLAGS[*]:-} ${EXTRA_FLAGS[*]:-}"
}

# debian_wasi: Debian's C library and linker for WebAssembly; sets FOREIGN_FLAGS.
debian_wasi() {
  install /usr/lib/wasm32-wasi/crt1-command.o wasi-libc
  install wasm-ld-22 lld-22
  local lib=$OUT/sysroot/lib/rustlib/wasm32-wasip1/lib
  mkdir -p "$lib"
  ln -sfn /usr/lib/wasm32-wasi "$lib/self-contained"
  # That C library lacks three functions which std names and the tests never need: wasi.mjs stands in for them.
  FOREIGN_FLAGS=(-C linker=wasm-ld-22 -C link-arg=--allow-undefined -C link-arg=--export-if-defined=malloc)
}

# build_std TARGET: the standard library for a target, into a sysroot of our own.
build_std() {
  local target=$1 stub=$OUT/std-$1 lib=$OUT/sysroot/lib/rustlib/$1/lib
  say "building the standard library for $target"
  mkdir -p "$stub/src" "$lib"
  printf '[package]\nname = "stub"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n' >"$stub/Cargo.toml"
  : >"$stub/src/lib.rs"
  # RUSTC_BOOTSTRAP: building std is an unstable feature of cargo. Nothing else here uses one. A release of the page is optimised across crates,
  # which needs the bitcode of all of them.
  (cd "$stub" && env RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$stub/target" RUSTFLAGS="-C embed-bitcode=yes" \
    /usr/bin/cargo build --quiet --release --target "$target" \
    -Zbuild-std=std,test,panic_unwind,panic_abort,proc_macro)
  cp "$stub/target/$target"/release/deps/*.rlib "$lib/"
  rm "$lib"/libstub-*.rlib
  rm -r "$stub"
  touch "$lib/.built"
}
