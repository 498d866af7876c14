#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The node cases of the newest onnx package, made by its own code, through the importer.
#
# usage: ./dev check onnx-newest [--device reference] [-only REGEX] [-v]
#
# At least 97 % of the cases that apply must pass, and all of the package's folders simple,
# pytorch-operator and pytorch-converted. Lists what fails and what does not apply, with reasons.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
. "$(dirname "$0")/../dev/onnx-lib.sh"
bash "$NEF_ROOT/packaging/dev/build.sh"
ensure_go
onnx_venv onnx-newest onnx==1.23.2 numpy==2.4.6 ml_dtypes==0.5.4 pillow==12.0.0
cases="$NEF_BUILD/checks/onnx-newest"
rm -rf "$cases"
"$ONNX_VENV/bin/python" "$NEF_ROOT/packaging/checks/onnx_cases.py" "$cases"
(cd "$NEF_ROOT/go/hydra" && go build -o "$NEF_BUILD/bin/onnxcheck" ./internal/onnxcheck)
data=$("$ONNX_VENV/bin/python" -c 'import onnx, os; print(os.path.join(os.path.dirname(onnx.__file__), "backend/test/data"))')
status=0
"$NEF_BUILD/bin/onnxcheck" "$@" "$data/simple" "$data/pytorch-operator" "$data/pytorch-converted" || status=1
"$NEF_BUILD/bin/onnxcheck" -least 0.97 "$@" "$cases" || status=1
exit "$status"
