#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gemm_f32, gemv, minilm and models against ONNX Runtime: sets up what bench/peers.py needs.
set -euo pipefail
. "$(dirname "$0")/../packaging/dev/lib.sh"
. "$NEF_ROOT/packaging/dev/onnx-lib.sh"
ensure_go
onnx_venv bench numpy==2.4.6 onnxruntime==1.32.0 onnx==1.23.2 pillow==12.0.0
build_hydra
mkdir -p "$NEF_BUILD/bench"
export PYTHONPATH="$NEF_ROOT/packaging/checks"
exec "$ONNX_VENV/bin/python" -B "$NEF_ROOT/bench/peers.py" --build "$NEF_BUILD" "$@"
