#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Go tests under the race detector, and again with the garbage collector at its most eager.
#
# usage: ./dev check race [REGEX]
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
only="${1:-.}"

bash "$NEF_ROOT/packaging/dev/build.sh"
ensure_go
results="$NEF_BUILD/results-race"
rm -rf "$results" && mkdir -p "$results"
run() {  # run MODULE ENV... -- GO_TEST_FLAGS...
  local module="$1" settings=() status=0
  shift
  while [ "$1" != -- ]; do settings+=("$1") && shift; done
  shift
  say "$module: ${settings[*]} go test $*"
  (cd "$NEF_ROOT/$module" && env "${settings[@]}" go test -json -count=1 -timeout 20m -run "$only" \
    "$@" ./...) >"$results/go.json" 2>"$(log_file go-race)" || status=$?
  "$NEF_ROOT/packaging/dev/tally.py" go "$results/go.json" "$status" "$(log_file go-race)" \
    >>"$results/counts"
}
for module in $(go_modules); do
  run "$module" GORACE=halt_on_error=1 -- -race
  # A pointer kept one collection too long or too short shows here.
  run "$module" GOGC=1 --
done
"$NEF_ROOT/packaging/dev/tally.py" total "$results/counts"
