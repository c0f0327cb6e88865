#!/usr/bin/env bash
# Runs a WebAssembly program under Node. Node 20 itself crashes now and then (signal 11; a panic of the program ends with 134), so that gets
# three tries, and says so.
for try in 1 2 3; do
  code=0
  node --no-warnings --single-threaded "$(dirname "$0")/wasi.mjs" "$@" || code=$?
  ((code == 139)) || exit "$code"
  echo "cross: Node crashed, try $try of 3" >&2
done
exit 139
