#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Loads, compiles, runs and closes a model from Go 1,000 times: memory, threads and files stay flat.
#
# usage: ./dev check cycles [COUNT]
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
count="${1:-1000}"
case "$count" in '' | *[!0-9]*) die "cycles takes a number, got '$count'" ;; esac

ensure_cxx
ensure_go
fetch_sources
configure release
compile release nef_archive
stage_go_archive

cd "$NEF_ROOT"
log=$(log_file cycles)
say "$count cycles of load, compile, run, close"
NEF_CYCLES="$count" go test -count=1 -timeout 30m -v -run '^TestCycles$' . >"$log" 2>&1 || {
  cat "$log" >&2
  die "the bar is missed" "full log: $log"
}
sed -n 's/^ *cycles_test.go:[0-9]*: //p' "$log"
