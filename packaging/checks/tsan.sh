#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# C and C++ tests under ThreadSanitizer.
#
# usage: ./dev check tsan [REGEX]
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:${TSAN_OPTIONS:-}"
sanitizer_check tsan "$@"
