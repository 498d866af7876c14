#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the .nef and safetensors readers with address and undefined-behaviour checks.
#
# usage: ./dev check fuzz [MINUTES]     minutes for each of the two targets, default 1
#
# Prints executions, executions past parsing, accepted inputs and crashes of each target; fails
# on a crash, hang, leak or broken promise, and when nothing gets past parsing. New inputs are
# kept in build/fuzz-corpus; what crashed in build/fuzz-crashes.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
minutes="${1:-1}"
case "$minutes" in '' | *[!0-9]*) die "minutes is a whole number, got '$minutes'" ;; esac

ensure_cxx
install_packages clang-19 libclang-rt-19-dev lld-19
fetch_sources
build="$NEF_BUILD/fuzz"
say "building the fuzz targets with clang-19"
cmake -S "$NEF_ROOT" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DNEF_VERIFY=ON \
  -DNEF_FUZZ=ON -DNEF_SANITIZE=address -DNEF_BUILD_TESTS=OFF \
  -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 \
  -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"$NEF_BUILD/fuzz.log" ||
  { cat "$NEF_BUILD/fuzz.log" >&2; die "cmake failed"; }
nice ninja -C "$build" -j "$JOBS" fuzz_nef_fuzz fuzz_safetensors_fuzz

crashes="$NEF_BUILD/fuzz-crashes"
mkdir -p "$crashes"
failed=0

# count NAME LOG: the number after NAME= in the target's own last line.
count() { sed -n "s/^COUNTS .*\b$1=\([0-9]*\).*/\1/p" "$2" | tail -n 1; }

run_target() {
  local name="$1" seeds="$2" log="$NEF_BUILD/fuzz-$1.log" rc=0 found
  mkdir -p "$NEF_BUILD/fuzz-corpus/$name"
  say "$name: $minutes min"
  UBSAN_OPTIONS=print_stacktrace=1 nice "$build/fuzz/$name" \
    -max_total_time=$((minutes * 60)) -timeout=20 -rss_limit_mb=3072 -max_len=16384 \
    -dict="$NEF_ROOT/tests/fuzz/nef.dict" -artifact_prefix="$crashes/$name-" \
    -print_final_stats=1 "$NEF_BUILD/fuzz-corpus/$name" "$seeds" >"$log" 2>&1 || rc=$?
  found=0
  if [ "$rc" -ne 0 ]; then
    found=1
    failed=1
    tail -n 40 "$log" >&2
  fi
  [ "$(count past_parsing "$log")" -gt 0 ] 2>/dev/null || failed=1
  results+=("$name: $(count runs "$log") executions, $(count past_parsing "$log") past parsing, \
$(count accepted "$log") accepted, $found crashes")
}

results=()
run_target nef_fuzz "$NEF_ROOT/tests/fuzz/corpus/nef"
run_target safetensors_fuzz "$NEF_ROOT/tests/fuzz/corpus/safetensors"
printf '%s\n' "${results[@]}"
exit "$failed"
