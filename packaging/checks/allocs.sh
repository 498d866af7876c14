#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts what warm execution still does: cache misses, and heap allocations per step.
#
# usage: ./dev check allocs
#
# Executes one lazy graph 100 times with new data: after the first, every program and kernel comes
# from the cache. Runs programs of 9 and of 999 steps: they allocate alike, so a step allocates
# nothing. Prints both rates and the allocations per step last; fails when one is off.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }

ensure_cxx
fetch_sources
configure release
compile release nef_archive
program="$NEF_BUILD/checks/allocs"
mkdir -p "$NEF_BUILD/checks"
cc -std=gnu11 -O2 -Wall -Wextra -I "$NEF_ROOT/capi/include" -o "$program" \
  "$NEF_ROOT/packaging/checks/allocs.c" "$NEF_RELEASE/lib/libnef.a" -lstdc++ -lm -lpthread -ldl
"$program" || die "the bar is missed"
