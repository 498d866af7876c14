#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# C and C++ tests under AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer.
#
# usage: ./dev check asan [REGEX]
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
export ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"
sanitizer_check asan "$@"
