#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the .nef and safetensors readers, and whole graphs from loading to running, with address
# and undefined-behaviour checks.
#
# usage: ./dev check fuzz [MINUTES [GRAPH_MINUTES]]
#
# MINUTES are for each of the two readers, default 1; GRAPH_MINUTES for the graphs, default as many,
# in NEF_JOBS processes side by side: 60 minutes of processor time on 2 cores are 30.
#
# Prints executions, executions past parsing, accepted inputs and crashes of each target, and of the
# graphs what was compiled and run, the slowest input, the most heap that one held, and the ops that
# never got into a graph. Fails on a crash, hang, leak or broken promise, when nothing gets past
# parsing, when less than a third of the graphs does, and when ten processor minutes leave an op
# out. New inputs are kept in build/fuzz-corpus; what crashed in build/fuzz-crashes.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
minutes="${1:-1}"
graph_minutes="${2:-$minutes}"
for m in "$minutes" "$graph_minutes"; do
  case "$m" in '' | *[!0-9]*) die "minutes is a whole number, got '$m'" ;; esac
done

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
nice ninja -C "$build" -j "$JOBS" fuzz_nef_fuzz fuzz_safetensors_fuzz fuzz_graph_fuzz

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

# total NAME LINE LOG...: the sum, over the logs, of the number after NAME= in lines of that kind.
total() {
  local name="$1" line="$2"
  shift 2
  sed -n "s/^$line .*\b$name=\([0-9]*\).*/\1/p" "$@" | awk '{n += $1} END {print n + 0}'
}
most() {
  local name="$1" line="$2"
  shift 2
  sed -n "s/^$line .*\b$name=\([0-9]*\).*/\1/p" "$@" | sort -n | tail -n 1
}

# Limits of time and heap are the target's own, for each input; those given here only end a process
# that no longer answers. Every second process makes large shapes and long chains, which are slow.
run_graphs() {
  local n logs=() pids=() pid found=0 corpus="$NEF_BUILD/fuzz-corpus/graph_fuzz" runs accepted missing
  mkdir -p "$corpus"
  say "graph_fuzz: $graph_minutes min in $JOBS processes"
  for n in $(seq "$JOBS"); do
    logs+=("$NEF_BUILD/fuzz-graph_fuzz-$n.log")
    NEF_FUZZ_LARGE=$((n % 2)) UBSAN_OPTIONS=print_stacktrace=1 \
      ASAN_OPTIONS=quarantine_size_mb=16:allocator_may_return_null=1 \
      nice "$build/fuzz/graph_fuzz" -max_total_time=$((graph_minutes * 60)) -timeout=20 \
      -rss_limit_mb=3072 -max_len=4096 -artifact_prefix="$crashes/graph_fuzz-" \
      -print_final_stats=1 "$corpus" "$NEF_ROOT/tests/fuzz/corpus/graph" >"${logs[-1]}" 2>&1 &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do
    wait "$pid" || found=$((found + 1))
  done
  if [ "$found" -gt 0 ]; then
    failed=1
    for n in "${logs[@]}"; do grep -v '^OP ' "$n" | tail -n 40 >&2; done
  fi
  runs=$(total runs COUNTS "${logs[@]}") accepted=$(total accepted COUNTS "${logs[@]}")
  [ "$((accepted * 3))" -ge "$runs" ] && [ "$accepted" -gt 0 ] || failed=1
  missing=$(sed -n 's/^OP \([a-z_0-9]*\) taken=\([0-9]*\).*/\1 \2/p' "${logs[@]}" |
    awk '{n[$1] += $2} END {for (op in n) if (n[op] == 0) print op}' | sort | tr '\n' ' ')
  if [ -n "$missing" ] && [ $((graph_minutes * JOBS)) -ge 10 ]; then failed=1; fi
  results+=("graph_fuzz: $runs executions, $accepted accepted, \
$(total compiled GRAPHS "${logs[@]}") compiled, $(total runs GRAPHS "${logs[@]}") run, \
$(total compared GRAPHS "${logs[@]}") compared, slowest $(most slowest_ms GRAPHS "${logs[@]}") ms, \
most heap $(most peak_kib GRAPHS "${logs[@]}") KiB, $found crashes, ops left out: ${missing:-none}")
}

results=()
run_target nef_fuzz "$NEF_ROOT/tests/fuzz/corpus/nef"
run_target safetensors_fuzz "$NEF_ROOT/tests/fuzz/corpus/safetensors"
run_graphs
printf '%s\n' "${results[@]}"
exit "$failed"
