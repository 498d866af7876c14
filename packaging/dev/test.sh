#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything once and runs all tests.
#
# usage: ./dev test [--only REGEX]
#
#   --only REGEX   tests whose name matches: C and C++ names as ctest lists them
#                  (unit_ir.Suite.Name, capi_x, packaging_x), Go names as go test -run takes them
#
# The last line is "N passed, N failed, N skipped", summed over C, C++ and Go. The exit status is
# not zero when a test failed, a runner broke down, or nothing matched REGEX.
# Sanitizers and long suites are ./dev check NAME.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

only=""
while [ $# -gt 0 ]; do
  case "$1" in
    --only) only="${2:?--only needs a regular expression}" && shift 2 ;;
    --only=*) only="${1#--only=}" && shift ;;
    *) die "test does not know '$1'" "./dev test --help" ;;
  esac
done

ensure_cxx
ensure_go
install_packages libonnx-testdata # ONNX's published node cases, an oracle we did not write
fetch_sources
configure release
compile release
stage_go_archive
build_hydra

results="$NEF_BUILD/results"
rm -rf "$results" && mkdir -p "$results"

say "running C and C++ tests"
ctest_args=(--test-dir "$NEF_RELEASE" -j "$JOBS" --output-on-failure
  --output-junit "$results/ctest.xml")
[ -z "$only" ] || ctest_args+=(-R "$only")
status=0
ctest "${ctest_args[@]}" >"$(log_file ctest)" 2>&1 || status=$?
"$NEF_ROOT/packaging/dev/tally.py" ctest "$results/ctest.xml" "$status" "$(log_file ctest)" \
  >>"$results/counts"

for module in $(go_modules); do
  say "running Go tests in $module"
  go_args=(-json -timeout 15m)
  [ -z "$only" ] || go_args+=(-run "$only")
  status=0
  # A nested module is its own build list: what one needs is never seen by the others.
  (cd "$NEF_ROOT/$module" && go test "${go_args[@]}" ./...) >"$results/go.json" \
    2>"$(log_file go-test)" || status=$?
  "$NEF_ROOT/packaging/dev/tally.py" go "$results/go.json" "$status" "$(log_file go-test)" \
    >>"$results/counts"
done

"$NEF_ROOT/packaging/dev/tally.py" total "$results/counts"
