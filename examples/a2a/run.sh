#!/bin/sh
# Serves the worker and lets a coordinator, a monitor and a workflow agent talk to it; ends all of it.
#
#   examples/a2a/run.sh
#
# HARN names the command where it is not on the path.
set -eu
cd "$(dirname "$0")/../.."
harn=${HARN:-harn}
desk=$(mktemp -d)
# It is read before the server may have opened it.
: > "$desk/log"
"$harn" serve a2a examples/a2a/worker.harn --listen 127.0.0.1:0 2> "$desk/log" &
worker=$!
trap 'kill $worker 2> /dev/null || true; wait $worker 2> /dev/null || true; rm -rf "$desk"' EXIT INT TERM

# It says where it listens.
url=
while [ -z "$url" ]; do
  kill -0 $worker 2> /dev/null || { cat "$desk/log" >&2; exit 1; }
  url=$(sed -n 's/^harn: listening on \(http[^;]*\);.*/\1/p' "$desk/log")
  [ -n "$url" ] || sleep 0.05
done

# The monitor follows the task that the coordinator begins; what it says comes behind.
"$harn" run examples/a2a/monitor.harn -- "$url" "$desk" > "$desk/monitor" &
monitor=$!
"$harn" run examples/a2a/coordinator.harn -- "$url" "$desk"
wait $monitor
cat "$desk/monitor"

mkdir "$desk/workflow"
"$harn" run examples/a2a/workflow.harn -- "$url" "$desk/workflow"
