#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Loads every malformed .nef file of the test data, and broken weights, links and names; saves and
# loads graphs at each limit of the format, and past it; loads, compiles and runs hostile files.
#
# usage: ./dev check malformed
#
# A malformed one has to be refused with its own code and words, a hostile one gives numbers or an
# error. Prints how many tests and files were looked at last, and fails when one did otherwise.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
ensure_cxx
fetch_sources
configure release
compile release unit_io
program="$NEF_RELEASE/unit_io"
log="$NEF_BUILD/malformed.log"
rc=0
"$program" --gtest_brief=1 \
  --gtest_filter='Malformed.*:Files.*:SafePath.*:SafeTensors.*:JsonScan.*:Utf8.*:Names.*:Base64.*:Nef.Hostile*:Nef.Names*:Limits.*:Save.*' \
  >"$log" 2>&1 || rc=$?
[ "$rc" -eq 0 ] || cat "$log" >&2
files=$(grep -cv '^#' "$NEF_ROOT/tests/data/nef/malformed.tsv")
passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log")
hostile=$(find "$NEF_ROOT/tests/data/nef/hostile" -name '*.nef' | wc -l)
echo "$files malformed and $hostile hostile files, ${passed:-0} tests passed, exit status $rc"
exit "$rc"
