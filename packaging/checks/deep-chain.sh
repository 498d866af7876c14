#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Takes a chain of 1,000,000 nodes through the whole pipeline on a 256 KiB stack.
#
# usage: ./dev check deep-chain [NODES]
#
# Builds it with the C API, saves, loads, plans, runs and frees it. Prints the seconds of each
# stage, the size of the file and the figure last; fails when a stage fails or a value is wrong.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
nodes="${1:-1000000}"
case "$nodes" in '' | *[!0-9]*) die "deep-chain takes a number, got '$nodes'" ;; esac

ensure_cxx
fetch_sources
configure release
compile release nef_archive
program="$NEF_BUILD/checks/deep_chain"
mkdir -p "$NEF_BUILD/checks"
cc -std=gnu11 -O2 -Wall -Wextra -I "$NEF_ROOT/capi/include" -o "$program" \
  "$NEF_ROOT/packaging/checks/deep_chain.c" "$NEF_RELEASE/lib/libnef.a" -lstdc++ -lm -lpthread -ldl
folder="$(mktemp -d "${TMPDIR:-/tmp}/nef-deep-chain.XXXXXX")"
trap 'rm -r "$folder"' EXIT
"$program" "$nodes" 256 "$folder/chain.nef" || die "the chain broke (exit status $?)"
