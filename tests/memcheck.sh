#!/usr/bin/env bash
# Runs scripts of tests/lang and tests/rhai/run in the debug build under valgrind memcheck, two at a time.
#
#   tests/memcheck.sh [FILTER…]
#
# Runs the scripts whose path contains one of the filters, for example `lang/closures`; without a filter, all. A script fails if
# memcheck reports an error, or if standard output differs from its `.out`. Scripts with a time limit are left out, because
# valgrind is about forty times slower.
set -euo pipefail
cd "$(dirname "$0")/.."
harn="${CARGO_TARGET_DIR:-target}/debug/harn"

one() {
  local script="$1" first words=() options=()
  local work="$MEMCHECK_WORK/${script//\//-}"
  first="$(head -n 1 "$script")"
  # As the tests read it: a first line that names the command and its options, and not a sentence.
  if [[ "$first" =~ ^//\ run(\ -.*)?$ ]]; then
    read -r -a words <<<"$first"
    options=("${words[@]:2}")
  fi
  mkdir "$work"
  env -i PATH="$PATH" HARN_LLM_PROVIDER=mock HARN_MEMORY_ROOT="$work/memory" HARN_CONFIG_HOME="$work/config" \
    valgrind --quiet --leak-check=no --log-file="$work/log" \
    "$harn" run --seed 1 "${options[@]}" "$script" </dev/null >"$work/out" 2>"$work/err" || true
  local expected="${script%.*}.out"
  [[ -f "$expected" ]] || expected=/dev/null
  # Errors are `==`; what valgrind says about itself, system calls that it does not know above all, is `--`.
  if grep -q '^==' "$work/log"; then
    { echo "FAILED $script"; cat "$work/log"; } | tee -a "$MEMCHECK_WORK/failed"
  elif ! cmp -s "$expected" "$work/out"; then
    { echo "WRONG OUTPUT $script"; diff "$expected" "$work/out" | head -n 20 || true; head -n 20 "$work/err"; } \
      | tee -a "$MEMCHECK_WORK/failed"
  else
    echo "ok $script"
  fi
  rm -rf "$work"
}

if [[ "${1:-}" == --one ]]; then
  one "$2"
  exit
fi

command -v valgrind >/dev/null || { echo "valgrind is not installed" >&2; exit 2; }
cargo build --workspace --locked --quiet
MEMCHECK_WORK="$(mktemp -d)"
export MEMCHECK_WORK
trap 'rm -rf "$MEMCHECK_WORK"' EXIT

scripts=()
while IFS= read -r script; do
  first="$(head -n 1 "$script")"
  [[ "$first" == *--timeout* || "$first" =~ ^//\ check(\ -.*)?$ ]] && continue
  if [[ $# -gt 0 ]]; then
    wanted=false
    for filter in "$@"; do [[ "$script" == *"$filter"* ]] && wanted=true; done
    $wanted || continue
  fi
  scripts+=("$script")
done < <(find tests/lang tests/rhai/run \( -name '*.harn' -o -name '*.rhai' \) -not -path '*/modules/*' | LC_ALL=C sort)
[[ ${#scripts[@]} -gt 0 ]] || { echo "no script path contains any of: $*" >&2; exit 2; }

printf '%s\0' "${scripts[@]}" | xargs -0 -n 1 -P 2 "$0" --one
if [[ -s "$MEMCHECK_WORK/failed" ]]; then
  echo
  echo "$(grep -c '^FAILED\|^WRONG OUTPUT' "$MEMCHECK_WORK/failed") of ${#scripts[@]} scripts failed"
  exit 1
fi
echo "${#scripts[@]} scripts passed"
