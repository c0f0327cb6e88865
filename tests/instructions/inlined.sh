#!/usr/bin/env bash
# Is every kernel of the engines one piece of code? A closure or function that a kernel calls instead of taking it in is compiled without the wide
# instructions, and nothing but speed shows it. So: which functions do the kernels of a release build call?
#
#   tests/instructions/inlined.sh              builds three examples, and looks at them
#   tests/instructions/inlined.sh PROGRAM...   looks at these, which have all kernels together
#
# Needs objdump (Debian: binutils) and an x86-64 processor. Exit code 3: not to be had here.
set -euo pipefail
cd "$(dirname "$0")/../.."

[[ $(uname -m) == x86_64 ]] || { echo "inlined: looks at x86-64 only" >&2; exit 3; }
command -v objdump >/dev/null || { echo "inlined: there is no objdump here" >&2; exit 3; }

# Rare ways out of a kernel, memory that grows, and the exact shape of one body at the end of a search.
ALLOWED='alloc::raw_vec::|core::panicking::|core::slice::index::|core::option::|core::result::|memcpy|memset|memmove'
ALLOWED+='|::inner_separation$|::look_further$|::find_elsewhere$|::one_by_one$|::RoundedBox::cast$'

# Reads a disassembly. Prints each call from a kernel that is not allowed, and at the end how many kernels of each instruction set there are.
findings() {
  awk -v allowed="$ALLOWED" '
    /^[0-9a-f]+ <.*>:$/ {
      name = $0; sub(/^[0-9a-f]+ </, "", name); sub(/>:$/, "", name)
      kernel = ""
      if (match(name, /vectorize_[a-z0-9_]+$/)) kernel = substr(name, RSTART + 10)
      if (name ~ /__fearless_simd_kernel$/) kernel = "avx512 by hand"
      if (kernel != "") count[kernel]++
    }
    kernel != "" && /[ \t](call|jmp) +[0-9a-f]+ </ {
      target = $0; sub(/.*(call|jmp) +[0-9a-f]+ </, "", target); sub(/>$/, "", target)
      # Inside of the function itself.
      sub(/\+0x[0-9a-f]+$/, "", target)
      if (target != name && target !~ allowed) print "out of line: " target ", called by " name
    }
    END { for (kernel in count) print "kernels: " kernel " " count[kernel] }'
}

# The control: a closure that stayed outside is found.
planted='0000000000001000 <<fearless_simd::Avx2 as Simd>::vectorize::vectorize_avx2>:
    1000:	call   2000 <testudo_physics::solve::solver::run_pass::{{closure}}>
    1005:	call   3000 <alloc::raw_vec::RawVecInner<A>::reserve::do_reserve_and_handle>
    100a:	jmp    1000 <<fearless_simd::Avx2 as Simd>::vectorize::vectorize_avx2+0x4>
0000000000002000 <testudo_physics::solve::solver::run_pass::{{closure}}>:
    2000:	call   4000 <whatever>'
[[ $(findings <<<"$planted" | grep -c '^out of line') == 1 ]] || { echo "inlined: the control was not found" >&2; exit 1; }

programs=("$@")
if (($# == 0)); then
  # One example steps, one asks, one finds ways: together they have all kernels.
  examples=(save_and_rewind selection order)
  cargo build --quiet --locked --release -p testudo-physics -p testudo-movement "${examples[@]/#/--example=}"
  programs=("${examples[@]/#/${CARGO_TARGET_DIR:-target}/release/examples/}")
fi
found=$(for program in "${programs[@]}"; do objdump -d -C --no-show-raw-insn "$program"; done | findings)
echo "$found" | sort | uniq -c
if grep -q '^out of line' <<<"$found"; then
  echo "inlined: mark these #[inline(always)], closures too" >&2
  exit 1
fi
# Each kernel is there for AVX2 and for SSE4.2, and two are by hand. For SSE2, which every machine has, a kernel is an ordinary function.
for kernels in "avx2 15" "sse4_2 15" "avx512 by hand 2"; do
  least=${kernels##* } name=${kernels% *}
  there=$(sed -n "s/^kernels: $name //p" <<<"$found")
  (( ${there:-0} >= least )) || { echo "inlined: ${there:-0} kernels for $name, not $least: was the build stripped?" >&2; exit 1; }
done
echo "inlined: nothing is left out of line"
