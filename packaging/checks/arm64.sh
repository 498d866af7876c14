#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cross-builds for arm64 and runs unit and conformance tests under qemu: NEON, SVE of three lengths.
#
# usage: ./dev check arm64 [--filter GTEST_FILTER] [--all]
#
#   --filter   which conformance tests run on every processor (default: one op of each family, and
#              all numeric policies); emulation is a hundred times slower than a processor
#   --all      all of them
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
ops=(Add Exp Cast MatMul Gemm Conv ReduceSum Softmax LayerNormalization Attention Gather Transpose Concat TopK MaxPool
  Resize)
filter="Policy.*:Served.*$(printf ':*/%s' "${ops[@]}")"
while [ $# -gt 0 ]; do
  case "$1" in
    --filter) filter="${2:?--filter needs a pattern}" && shift 2 ;;
    --all) filter='*' && shift ;;
    *) die "arm64 does not know '$1'" ;;
  esac
done

ensure_cxx
install_packages g++-aarch64-linux-gnu qemu-user-static googletest
fetch_sources
configure arm64
compile arm64 nef_archive nef_shared conformance unit_cpu example_devices example_matmul capi_api
build="$NEF_BUILD/arm64"
file "$build/lib/libnef.so.0" 2>/dev/null || true
bash "$NEF_ROOT/packaging/tests/symbols.sh" "$build/lib/libnef.a" "$build/lib/libnef.so"
find_program() { find "$build" -maxdepth 2 -type f -name "$1" -perm -u+x | head -n 1; }
emulate() { QEMU_CPU="$cpu" NEF_CPU_TARGET="$target" qemu-aarch64-static -L /usr/aarch64-linux-gnu "$@"; }

# processor that is emulated; forced target, empty = the best; what the device has to say
rows=(
  "cortex-a72||NEON_WITHOUT_AES"
  "max,sve128=on,sve256=off,sve512=off||SVE2"
  "max,sve256=on,sve512=off||SVE2"
  "max,sve512=on||SVE2"
  "max,sve128=on,sve256=off,sve512=off|SVE|SVE"
  "max,sve512=on|SVE|SVE"
)
total=0
for row in "${rows[@]}"; do
  IFS='|' read -r cpu target want <<<"$row"
  devices=$(emulate "$(find_program example_devices)")
  case "$devices" in
    *"$want"*) ;;
    *) die "$cpu: expected the instruction set $want, got:" "$devices" ;;
  esac
  emulate "$(find_program example_matmul)" >/dev/null
  emulate "$(find_program capi_api)" >/dev/null
  say "$cpu ${target:+forced to $target}: $want"
  for program in conformance unit_cpu; do
    flags=(--gtest_brief=1)
    [ "$program" != conformance ] || flags+=("--gtest_filter=$filter")
    (cd "$NEF_ROOT" && emulate "$(find_program "$program")" "${flags[@]}") >"$(log_file "arm64-$program")" 2>&1 ||
      die "$cpu: $program failed" "$(grep -a 'FAILED\|Failure' -A6 "$(log_file "arm64-$program")" | head -n 40)"
    ran=$(grep -ao 'Running [0-9]* tests\|[0-9]* tests from' "$(log_file "arm64-$program")" | grep -o '[0-9]*' | head -n 1)
    [ "${ran:-0}" -gt 0 ] || die "$cpu: $program ran no test"
    total=$((total + ran))
  done
done
echo "$total tests passed on ${#rows[@]} arm64 processors (NEON; SVE and SVE2 of 128, 256 and 512 bits);" \
  "libnef.a $(stat -c %s "$build/lib/libnef.a") bytes"
