#!/bin/sh
# Checks, formatting and tests, for any CI system. `harn` must be in PATH.
set -eu
cd "$(dirname "$0")"
harn check --deny-warnings .
harn fmt --check .
harn test .
