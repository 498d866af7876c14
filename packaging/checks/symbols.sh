#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lists what libnef.a and libnef.so show: nef_* and nothing else, all of it under a version.
#
# usage: ./dev check symbols
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }

ensure_cxx
fetch_sources
configure release
compile release nef_archive nef_shared
archive="$NEF_RELEASE/lib/libnef.a" shared="$NEF_RELEASE/lib/libnef.so"
bash "$NEF_ROOT/packaging/tests/symbols.sh" "$archive" "$shared"
members=$(ar t "$archive" | wc -l)
[ "$members" -eq 1 ] || die "libnef.a has $members members, expected the one linked object"
unversioned=$(objdump -T "$shared" | awk '/ g / && !/\*UND\*/ && $(NF - 1) !~ /^NEF_[0-9]+$/')
[ -z "$unversioned" ] || die "symbols without a version:" "$unversioned"
echo "libnef.a: $(nm -gA --defined-only "$archive" | grep -vc ' nef_') symbols of others;" \
  "libnef.so: $(objdump -T "$shared" | grep -c 'NEF_[0-9]* *nef_') nef_*@@NEF_0"
