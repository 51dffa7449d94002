#!/usr/bin/env bash
# Checks that the interpreter loop of a release build still has a jump to the next instruction at the end of each arm:
# benches/peers/dispatch.sh [BINARY], `target/release/harn` when not told. Needs objdump and readelf (binutils) on x86-64; the
# binary may be stripped.
#
# The loop is by far the function with the most indirect jumps: about 135. If the compiler merges them (`with_points` in
# lang/src/vm/fast.rs says when), the most are the 80 of another function, and programs are slower. No test notices.
set -euo pipefail
export LC_ALL=C

binary="${1:-$(dirname "$0")/../../target/release/harn}"
fewest=100

# Where functions begin and end: a stripped binary has no names, but keeps this for unwinding.
functions() {
  readelf --debug-dump=frames "$binary" 2>/dev/null | sed -n 's/.* pc=\([0-9a-f]*\)\.\.\([0-9a-f]*\)$/\1 \2/p' | sort -u
}

jumps() {
  objdump -d --no-show-raw-insn "$binary" | sed -n 's/^ *\([0-9a-f]*\):[[:space:]]*jmp *\*%r.*/\1/p' |
    awk '{ printf "%s%s\n", substr("0000000000000000", 1, 16 - length($1)), $1 }' | sort
}

most="$(awk 'NR == FNR { from[NR] = $1 ""; to[NR] = $2 ""; n = NR; i = 1; next }
  { at = $1 ""; while (i < n && to[i] <= at) i++; if (from[i] <= at && ++count[i] > most) most = count[i] }
  END { print most + 0 }' <(functions) <(jumps))"

echo "indirect jumps in the function that has the most: $most (at least $fewest)"
if [ "$most" -lt "$fewest" ]; then
  echo "The arms of the interpreter loop share a jump again: see \`with_points\` in lang/src/vm/fast.rs." >&2
  exit 1
fi
