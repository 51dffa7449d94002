#!/usr/bin/env bash
# Feeds mutated scripts to the language: fuzz/fuzz.sh [SECONDS [TARGET…]]; all four targets, a minute each, when not told.
# Stable Rust and a C++ compiler are enough. Ends with what each target did; exit code 1 when one found something.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${1:-60}"
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(lex parse check run)

target_dir="${CARGO_TARGET_DIR:-$PWD/target}/fuzz"
host="$(rustc -vV | sed -n 's/^host: //p')"

# What `cargo fuzz` passes with `--sanitizer none`: libFuzzer counts the edges that an input reaches.
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares"
CARGO_TARGET_DIR="$target_dir" cargo build --release --locked --manifest-path fuzz/Cargo.toml --target "$host"

# The corpus begins with every script of the project, the code blocks of its pages included.
seeds="$target_dir/seeds"
rm -rf "$seeds"
mkdir -p "$seeds"
find tests examples benches -type f -name '*.harn' -size -16k | while read -r script; do
  cp "$script" "$seeds/$(tr '/ ' '--' <<<"$script")"
done
find . -type f -name '*.md' -not -path './target/*' | while read -r page; do
  awk -v out="$seeds/$(tr '/ ' '--' <<<"${page#./}")" '
    /^```harn/ { file = out "-" ++count; next }
    /^```/ { file = ""; next }
    file { print > file }' "$page"
done

report=""
failed=0
for name in "${targets[@]}"; do
  corpus="$target_dir/corpus/$name"
  crashes="$target_dir/crashes/$name"
  log="$target_dir/$name.log"
  mkdir -p "$corpus" "$crashes"
  before="$(find "$crashes" -type f | wc -l)"
  echo "== $name, $seconds s"
  "$target_dir/$host/release/$name" "$corpus" "$seeds" -max_total_time="$seconds" -max_len=4096 -dict=fuzz/tokens.dict \
    -timeout=20 -report_slow_units=20 -rss_limit_mb=4096 -artifact_prefix="$crashes/" -print_final_stats=1 >"$log" 2>&1 || failed=1
  found=$(($(find "$crashes" -type f | wc -l) - before))
  executions="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  inputs="$(sed -n 's|.* corp: \([0-9]*\)/.*|\1|p' "$log" | tail -1)"
  edges="$(sed -n 's|.* cov: \([0-9]*\) .*|\1|p' "$log" | tail -1)"
  report+="$(printf '%-6s %10s executions %6s inputs that differ %7s edges reached %3s crashes' \
    "$name" "${executions:-0}" "${inputs:-0}" "${edges:-0}" "$found")"$'\n'
  if [ "$found" -gt 0 ]; then
    report+="$(grep -m1 -E 'panicked at|ERROR: libFuzzer|stack-overflow' -A1 "$log" || tail -3 "$log")"$'\n'
    report+="  repeat it: $target_dir/$host/release/$name $crashes/…"$'\n'
  fi
done

echo
printf '%s' "$report"
exit "$failed"
