#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same models with each pass of the optimiser left out: the outputs must not move.
#
# usage: ./dev check onnx-passes [--only REGEX] [--torch]
#
# Each pass is left out in turn, then all together; streamed models run 20 steps. Fails when an
# output moves by more than 1e-4 of its largest element.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
. "$(dirname "$0")/../dev/onnx-lib.sh"
prepare_onnx_models "$@"
passes=$(sed -n 's/^ *{"\([a-z_]*\)", ".*/\1/p' "$NEF_ROOT/engine/optimize/optimize.cc" | paste -sd,)
[ -n "$passes" ] || die "no passes found in engine/optimize/optimize.cc"
say "passes: $passes"
"$ONNX_VENV/bin/python" "$NEF_ROOT/packaging/checks/onnx_models.py" "$ONNX_MODELS" "$ONNX_WORK" "$ONNX_RUNNER" \
  --passes "$passes,${passes//,/+}" "$@"
