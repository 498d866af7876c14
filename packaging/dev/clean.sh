#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Removes what ./dev made; installed packages stay.
#
# usage: ./dev clean [--all]
#
#   --all   also downloads, third-party sources and models (they are fetched again when needed)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
all=""
case "${1:-}" in
  "") ;;
  --all) all=1 ;;
  *) die "clean does not know '$1'" "./dev clean --help" ;;
esac

say "removing build products"
rm -rf "$NEF_ROOT"/go/native/lib/*/{libnef.a,nef_stamp.h,include/nef/*.h}
[ -d "$NEF_BUILD" ] || exit 0
if [ -n "$all" ]; then
  rm -rf "$NEF_BUILD"
else
  find "$NEF_BUILD" -mindepth 1 -maxdepth 1 \
    ! -name downloads ! -name deps ! -name models -exec rm -rf {} +
fi
