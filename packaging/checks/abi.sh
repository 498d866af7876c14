#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the C ABI against the last release's: names, types, layouts, and its test programs.
#
# usage: ./dev check abi [--cut]
#
#   --cut   take the present ABI as the baseline of this version instead: before a release
#
# docs/abi.md says what may change. The baselines are packaging/abi/v*.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
what=check
[ "${1:-}" != --cut ] || what="cut"

ensure_cxx
install_packages abigail-tools
fetch_sources
configure release
compile release nef_shared
/usr/bin/python3 -B "$NEF_ROOT/packaging/abi/abi.py" "$what"
