#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ONNX Runtime's own ops (com.microsoft) through the importer, against ONNX Runtime.
#
# usage: ./dev check onnx-contrib [-only REGEX] [-v]
#
# Fails unless all cases pass.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
. "$(dirname "$0")/../dev/onnx-lib.sh"
bash "$NEF_ROOT/packaging/dev/build.sh"
ensure_go
onnx_venv onnx-contrib onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
cases="$NEF_BUILD/checks/onnx-contrib"
"$ONNX_VENV/bin/python" "$NEF_ROOT/packaging/checks/onnx_contrib.py" "$cases"
cd "$NEF_ROOT/go/hydra"
go run ./internal/onnxcheck "$@" "$cases"
