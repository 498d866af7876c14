#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rows of bench/peers/cases.py against ONNX Runtime, oneDNN and OpenBLAS: sets up what they need.
set -euo pipefail
. "$(dirname "$0")/../packaging/dev/lib.sh"
. "$NEF_ROOT/packaging/dev/onnx-lib.sh"
only=
for ((i = 1; i < $#; ++i)); do [ "${!i}" != --only ] || { j=$((i + 1)) && only="${!j}"; }; done
python3 -B "$NEF_ROOT/bench/peers/cases.py" "$only" || exit 0
ensure_go
onnx_venv bench numpy==2.4.6 onnxruntime==1.32.0 onnx==1.23.2 pillow==12.0.0 onednn-cpu-gomp==2023.2.0 \
  scipy-openblas32==0.3.34.481.3
build_hydra
mkdir -p "$NEF_BUILD/bench"
cc -O3 -march=native -shared -fPIC -o "$NEF_BUILD/bench/native.so" "$NEF_ROOT/bench/peers/native.c"
export PYTHONPATH="$NEF_ROOT/packaging/checks"
exec "$ONNX_VENV/bin/python" -B "$NEF_ROOT/bench/peers/peers.py" --build "$NEF_BUILD" "$@"
