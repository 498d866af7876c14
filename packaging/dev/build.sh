#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the libraries and the hydra command.
#
# usage: ./dev build
#
# Makes build/release/lib/libnef.a and libnef.so.0, hands the archive to the Go package
# (go/native/lib/<os>_<arch>/) and builds build/bin/hydra.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || die "build takes no argument, got '$1'"

ensure_cxx
ensure_go
fetch_sources
configure release
compile release nef_archive nef_shared
stage_go_archive
build_hydra
say "done: build/release/lib/libnef.a ($(du -h "$NEF_RELEASE/lib/libnef.a" | cut -f1)), libnef.so.0"
