#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GPU kernels of every family compile for AMD's architectures, with clang and no AMD GPU.
#
# usage: ./dev check rocm [OP...]
#
# The text of the kernels comes from a run of the conformance suite on the host (a few seconds an op);
# of each op some, spread over its dtypes and forms, are compiled for gfx90a, gfx942, gfx1100 and
# gfx1201, and linked to a code object.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
archs=(gfx90a gfx942 gfx1100 gfx1201)
ops=(Add Gelu Cast Where Softmax LayerNormalization RMSNormalization ReduceSum ReduceLogSumExp Transpose Pad Concat Gather
  MatMul Gemm Attention RotaryEmbedding Conv ConvTranspose DeformConv MaxPool AveragePool MaxUnpool Col2Im ArgMax Hardmax
  CumSum TopK GatherND ScatterElements ScatterND TensorScatter OneHot Range BatchNormalization LRN
  MeanVarianceNormalization QuantizeLinear DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearConv MatMulNBits
  Einsum Resize GridSample RoiAlign LSTM GRU LinearAttention RandomUniform)
[ $# -eq 0 ] || ops=("$@")
per_op=3 seconds=12

ensure_cxx
install_packages clang-19 lld-19 rocm-device-libs
fetch_sources
configure release >&2
compile release conformance gpu_on_host >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
libraries=$(dirname "$(find /usr -name ocml.bc -path '*amdgcn*' 2>/dev/null | head -n 1)")
[ -f "$libraries/ocml.bc" ] || die "there are no device libraries of ROCm (rocm-device-libs)"

: >"$work/list"
for op in "${ops[@]}"; do
  mkdir "$work/$op"
  NEF_TEST_GPU_SOURCES="$work/$op" NEF_CONFORMANCE_PLUGIN="$NEF_RELEASE/tests/plugins/gpu_on_host.so" \
    NEF_CONFORMANCE_BACKEND=gpuhost timeout "$seconds" "$NEF_RELEASE/conformance" \
    --gtest_filter="All/Conformance.Op/$op" >/dev/null 2>&1 || true
  # Names are hashes, so the first ones are spread over all.
  find "$work/$op" -name '*.cu' | sort | head -n "$per_op" >>"$work/list"
done
sources=$(wc -l <"$work/list")
[ "$sources" -gt 0 ] || die "no kernel was made"

# One kernel for one architecture. The bitcode is older than some of them: the nearest one stands in.
cat >"$work/one" <<ONE
set -euo pipefail
arch=\$1 source=\$2 wave=on isa=90a
case "\$arch" in gfx1*) wave=off isa=1030 ;; esac
options=()
for part in ocml ockl oclc_daz_opt_off oclc_unsafe_math_off oclc_finite_only_off \\
  oclc_correctly_rounded_sqrt_on "oclc_wavefrontsize64_\$wave" "oclc_isa_version_\$isa"; do
  options+=(-Xclang -mlink-builtin-bitcode -Xclang "$libraries/\$part.bc")
done
clang-19 -x hip -std=c++17 -O2 -w -fno-builtin -nogpuinc -nogpulib --cuda-device-only --no-gpu-bundle-output \\
  --offload-arch="\$arch" "\${options[@]}" -include "$NEF_ROOT/packaging/checks/rocm_device.h" \\
  -o "\$source.\$arch.co" "\$source" 2>"\$source.\$arch.log" && rm "\$source.\$arch.log" && exit 0
echo "\$arch \$(basename "\$(dirname "\$source")"): \$(grep -m 1 -E 'error|fatal' "\$source.\$arch.log" || true)" >&2
exit 0
ONE
failed=0
for arch in "${archs[@]}"; do
  xargs -a "$work/list" -P "$(nproc)" -n 1 bash "$work/one" "$arch"
  good=$(find "$work" -name "*.$arch.co" -size +0 | wc -l)
  echo "$arch: $good of $sources kernels of ${#ops[@]} ops compiled"
  [ "$good" -eq "$sources" ] || failed=1
done
exit "$failed"
