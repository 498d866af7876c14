#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# C and C++ tests under AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer.
#
# usage: ./dev check asan [REGEX]
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
# The leak checker guesses where thread-local memory of plugins lies, and reads what is not there once
# the coroutines of the GPU kernels on the host have run.
ASAN_OPTIONS="intercept_tls_get_addr=0:${ASAN_OPTIONS:-}"
export ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1:$ASAN_OPTIONS"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"
sanitizer_check asan "$@"
