#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats C, C++ and Go sources in place.
#
# usage: ./dev fmt
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || die "fmt takes no argument, got '$1'"

install_packages clang-format
ensure_go
cd "$NEF_ROOT"
say "clang-format"
git ls-files -z --cached --others --exclude-standard '*.h' '*.cc' '*.c' |
  xargs -0 -r -n 50 -P "$JOBS" clang-format -i
say "gofmt"
git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 -r gofmt -w
