#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on the GPUs of this machine and prints a table.
#
# usage: ./dev gpu-test [--build | --carry FOLDER] [--rocm | --hip-on-cuda] [--memcheck | --racecheck | --gqa] [--only REGEX]
#
#   --build          build the test program first (the default where a toolchain is)
#   --carry FOLDER   make FOLDER, which a GPU machine runs without anything of ours installed:
#                    FOLDER/gpu-test. Nothing is run here.
#   --rocm           the rocm backend, on AMD's GPUs
#   --hip-on-cuda    the rocm backend on an NVIDIA GPU, through a library of the tests that forwards HIP
#   --memcheck       under compute-sanitizer's memcheck, one op of each family
#   --racecheck      under its racecheck: of one op of each family the smallest case of each dtype from
#                    256 elements on, and one case of each kernel that stands for a whole region
#   --gqa            nothing but tests of the ONNX importer (Go) on a GPU: GroupQueryAttention in 200 random
#                    settings against float64, and the checks of rules that hold under a condition
#   --only REGEX     ops whose name matches (extended regular expression)
#
# Every case of tests/conformance in three modes against the reference backend, where the backend
# serves it; then random graphs that the CPU and the GPU share, programs that need more memory than a
# GPU may give (spread over the GPUs there are), a compiler that fails, and a GPU that is lost in a run.
# The exit status is not zero when a case failed, a run broke down, or no GPU was found.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
program="$here/conformance" unit="$here/unit_cuda"
hip="$here/hip_on_cuda.so" faults="$here" gqa="$here/gqa"
carry="" sanitizer="" only="." backend=cuda forward="" only_gqa=""
if [ ! -x "$program" ]; then
  . "$here/lib.sh"
  program="$NEF_RELEASE/conformance" unit="$NEF_RELEASE/unit_cuda"
  gqa="$NEF_RELEASE/gqa" faults="$NEF_RELEASE/tests/plugins" hip="$NEF_RELEASE/tests/plugins/hip_on_cuda.so"
fi
fail() { printf 'gpu-test: %s\n' "$1" >&2 && exit 1; }
while [ $# -gt 0 ]; do
  case "$1" in
    --build) shift ;;
    --carry) carry="${2:?--carry needs a folder}" && shift 2 ;;
    --rocm) backend=rocm && shift ;;
    --hip-on-cuda) backend=rocm forward=1 && shift ;;
    --memcheck | --racecheck) sanitizer="${1#--}" && shift ;;
    --gqa) only_gqa=1 && shift ;;
    --only) only="${2:?--only needs a regular expression}" && shift 2 ;;
    *) fail "does not know '$1'; see ./dev gpu-test --help" ;;
  esac
done

# In a checkout: the programs are built here.
if [ -n "${NEF_ROOT:-}" ]; then
  ensure_cxx
  fetch_sources
  configure release
  if [ -n "$only_gqa$carry" ]; then
    ensure_go
    compile release nef_archive
    stage_go_archive
    (cd "$NEF_ROOT/go/hydra" && go test -c -o "$gqa" ./onnx)
  fi
  [ -n "$only_gqa" ] || compile release conformance unit_cuda hip_on_cuda fault_cuda fault_nvrtc
fi
if [ -n "$carry" ]; then
  [ -z "$only_gqa" ] || fail "--carry takes everything along, --gqa is for the machine it is carried to"
  mkdir -p "$carry"
  strip -o "$carry/conformance" "$program"
  strip -o "$carry/unit_cuda" "$unit"
  strip -o "$carry/hip_on_cuda.so" "$hip"
  for library in fault_cuda fault_nvrtc; do strip -o "$carry/$library.so" "$faults/$library.so"; done
  strip -o "$carry/gqa" "$gqa"
  cp "$0" "$carry/gpu-test"
  chmod +x "$carry/gpu-test"
  echo "made $carry: $(du -sh "$carry" | cut -f1)"
  exit 0
fi

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export NEF_CONFORMANCE_BACKEND=$backend
if [ -n "$forward" ]; then
  export NEF_ROCM_PATH="$logs/hip"
  mkdir "$logs/hip"
  for name in libamdhip64.so.7 libhiprtc.so.7 libhipblaslt.so.1; do cp "$hip" "$logs/hip/$name"; done
fi
if [ -n "$only_gqa" ]; then
  begin=$(date +%s)
  NEF_GQA_DEVICE=$backend "$gqa" -test.v -test.run '^(TestGroupQueryAttention|TestRulesUnderConditions)$' >"$logs/gqa" 2>&1 || {
    cat "$logs/gqa" && exit 1
  }
  ! grep -qE -- '--- SKIP' "$logs/gqa" || fail "no GPU that the $backend backend can use: $(grep -m 1 -oE 'gqa_test.go:.*' "$logs/gqa")"
  grep -oE 'GroupQueryAttention on .*' "$logs/gqa"
  echo "checks of rules: $(grep -cE '^    --- PASS: TestRules' "$logs/gqa") passed"
  echo "$(($(date +%s) - begin)) s"
  exit
fi
# Kernels are compiled on the way, so processes side by side are that much faster.
shards=$(($(nproc) < 14 ? $(nproc) : 14))
if [ -n "$sanitizer" ]; then
  # One op of each family of kernels.
  families='Add Where Softmax LayerNormalization ReduceSum Transpose Pad Concat Gather MatMul Attention'
  families+=' RotaryEmbedding Conv ConvTranspose DeformConv AveragePool MaxUnpool Col2Im Hardmax CumSum'
  families+=' TopK GatherND ScatterElements ScatterND TensorScatter BatchNormalization'
  families+=' MeanVarianceNormalization DynamicQuantizeLinear MatMulInteger QLinearConv MatMulNBits'
  families+=' Einsum LSTM AffineGrid RoiAlign LinearAttention RandomUniform'
  # Cases that reach kernels which stand for a whole region: one row, few and many of 16-bit weights, the
  # same of packed ones, scales of a slot and of a row, attention by one and by many queries, many rows.
  whole=('^projected_(1x1x64|8x1x136)$' '^gated_3x1x1096$' '^gated_9x1x14400$' '^packed[0-9]+_4_32_1x1x1024$'
    '^packed[0-9]+_4_32_3x1024$' '^packed[0-9]+_4_32_16x1024$' '^packed[0-9]+_8_32_1x1x1024$'
    '^packed[0-9]+_8_32_(3|16)x1024$' '^packed[0-9]+_8_64_1x1x1024$' '^sliced_rows_1x70x4x1x128$'
    '^sliced_rows_40x40x2x1x64$' '^sliced_rows_33x150x4x2x128$' '^many_rows_520x8_alone$'
    '^(many_rows_257x40_mixed|.*_of_4x67)$')
  filter='Nothing'
  for op in $families; do filter+=":All/*Op/$op"; done
  [ "$sanitizer" = racecheck ] || filter+=':Regions*'
  command -v compute-sanitizer >/dev/null || fail "compute-sanitizer is not on the PATH"
  pids=()
  begin=$(date +%s)
  under_sanitizer() {  # under_sanitizer LOG FILTER
    compute-sanitizer --tool "$sanitizer" --error-exitcode 9 "$program" --gtest_filter="$2" >"$logs/$1" 2>&1 &
    pids+=($!)
  }
  if [ "$sanitizer" = racecheck ]; then
    for i in "${!whole[@]}"; do NEF_CONFORMANCE_CASES=${whole[i]} under_sanitizer "whole$i" 'Regions.*'; done
    export NEF_CONFORMANCE_FEWEST=1
  fi
  for ((i = 0; i < shards; ++i)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i under_sanitizer "$i" "$filter"
  done
  status=0
  for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
  grep -hE "^$backend .*: [0-9]+/[1-9]" "$logs"/* || true
  grep -hE '(ERROR|RACECHECK) SUMMARY' "$logs"/* | sort | uniq -c
  summaries=$(cat "$logs"/* | grep -cE '(ERROR|RACECHECK) SUMMARY')
  echo "$(($(date +%s) - begin)) s"
  [ "$summaries" -eq "${#pids[@]}" ] || fail "$sanitizer broke down in some of ${#pids[@]} processes"
  [ "$sanitizer" = racecheck ] || exit "$status"
  for log in "$logs"/whole*; do
    grep -qE "^$backend .*: [1-9]" "$log" || fail "none of the cases ran in $(basename "$log")"
  done
  # Warps of these hand sums on by a barrier at which one lane arrives for all, which racecheck does not
  # follow; it says the same of cuBLASLt's kernels (nvjet).
  hazards=$(grep -hoE 'access at [A-Za-z_0-9]+' "$logs"/* | sed 's/access at //' | sort | uniq -c || true)
  [ -z "$hazards" ] || printf 'hazards by kernel:\n%s\n' "$hazards"
  ! grep -hE '^\[  FAILED  \]' "$logs"/* || exit 1
  ! grep -qvE ' (gemv8|gemv16|nvjet_[a-z0-9_A-Z]*)$' <<<"${hazards:- gemv8}"
  exit
fi

begin=$(date +%s)
pids=()
for ((i = 0; i < shards; ++i)); do
  GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i \
    "$program" --gtest_filter='All/Conformance.*:Regions.*' >"$logs/$i" 2>&1 &
  pids+=($!)
done
broken=0
for pid in "${pids[@]}"; do
  status=0
  wait "$pid" || status=$?
  [ "$status" -le 1 ] || broken=$((broken + 1))
done
grep -h '^NEF_CONFORMANCE_BACKEND' "$logs"/[0-9]* | head -n 1 && fail "no GPU that the $backend backend can use"
failures=0
# A library of the tests in the place of one of CUDA's; kernels kept on disk would need no compiler.
with_fault() {  # with_fault FAULT LIBRARY NAME TEST
  mkdir "$logs/$1"
  cp "$faults/$2.so" "$logs/$1/$3"
  NEF_CUDA_PATH="$logs/$1${NEF_CUDA_PATH:+:$NEF_CUDA_PATH}" NEF_TEST_FAULT=$1 NEF_TEST_LAUNCHES=40 NEF_CACHE_DIR='' \
    "$unit" --gtest_filter="Fault.$4" >"$logs/fault-$1" 2>&1 || failures=$?
}
pids=()
for ((i = 0; i < shards; ++i)); do
  GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i "$unit" --gtest_filter='Card/Random.*' \
    >"$logs/fault-random-$i" 2>&1 &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || failures=$?; done
"$unit" --gtest_filter='Card.*:Branches.*:Weights.*' >"$logs/fault-card" 2>&1 || failures=$?
if [ "$backend" = cuda ]; then
  NEF_CUDA_MEMORY_LIMIT=$((64 << 20)) "$unit" --gtest_filter='Limited.*:Branches.*' >"$logs/fault-memory" 2>&1 || failures=$?
  with_fault nvrtc fault_nvrtc libnvrtc.so.13 WhereNothingCompilesTheCpuComputes
  with_fault lost fault_cuda libcuda.so.1 AGpuThatIsLostInARunIsLeft
fi
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | sort | uniq -c || true
awk -v only="$only" -v seconds=$(($(date +%s) - begin)) -v broken="$broken" '
  # cuda Softmax: 204/204 float16 1.00 ulp float32 3.51 ulp, 12 refused, such as ...
  /^(cuda|rocm) .*: [0-9]+\/[0-9]+/ {
    name = $0; sub(/^(cuda|rocm) /, "", name); sub(/: .*/, "", name)
    rest = $0; sub(/^(cuda|rocm) [^:]*: /, "", rest)
    split(rest, word, /[ ,]/); split(word[1], count, "/")
    if (name !~ only) next
    passed += count[1]; run += count[2]; ++ops
    if (match(rest, /, [0-9]+ refused/)) refused += substr(rest, RSTART + 2) + 0
    if (count[2] == 0) { --ops; ++unserved; next }
    if (count[1] != count[2]) printf "FAILED %-28s %s of %s\n", name, count[1], count[2]
    n = split(rest, field, " ")
    for (i = 2; i + 2 <= n; ++i) {
      if (field[i] ~ /^(b?float)[0-9]+$/ && field[i + 2] ~ /^ulp/ && field[i + 1] + 0 > worst[field[i]]) {
        worst[field[i]] = field[i + 1] + 0; where[field[i]] = name
      }
    }
  }
  /^(cuda|rocm) .*: output|: code / { if (++shown <= 20) print "  " substr($0, 1, 200) }
  END {
    printf "ops and kinds of regions served %d, not served %d\n", ops, unserved
    printf "cases passed %d of %d run, %d refused (placed on the CPU)\n", passed, run, refused
    for (t in worst) printf "worst error %-9s %.2f ulp (%s)\n", t, worst[t], where[t]
    printf "%d s\n", seconds
    if (broken > 0) printf "%d of the processes broke down\n", broken
    exit passed == run && run > 0 && broken == 0 ? 0 : 1
  }' "$logs"/[0-9]* || broken=1
for log in "$logs"/fault-*; do
  ! grep -q SKIPPED "$log" || failures=1
done
for fault in card memory nvrtc lost; do
  [ -e "$logs/fault-$fault" ] || continue
  { grep -E '^\[  (PASSED|FAILED) ' "$logs/fault-$fault" || true; } | sed "s/^\[ *\([A-Z]*\) *\]/$fault: \1/"
done
awk '/^\[  PASSED  \]/ { n += $4 } END { print "random graphs: PASSED " n " tests."; exit n == 0 }' \
  "$logs"/fault-random-* || failures=1
[ "$failures" = 0 ] || { cat "$logs"/fault-* && exit 1; }
[ "$broken" = 0 ]
