#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Public ONNX models, imported and run, against ONNX Runtime.
#
# usage: ./dev check onnx-models [--only REGEX] [--torch]
#
# Voice activity, wake words, OCR (a rendered line is read end to end), file types, detectors, a
# segmenter, text and time series: files that packages carry, of pinned versions and sha256. Prints
# nodes, seconds of import, milliseconds of a run beside ONNX Runtime's, and the greatest difference;
# fails when one is over 1e-3 of the largest element, or a decision differs. With --torch also MiniLM
# as PyTorch exports it (PyTorch is 2 GB to fetch).
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
. "$(dirname "$0")/../dev/onnx-lib.sh"
prepare_onnx_models "$@"
"$ONNX_VENV/bin/python" "$NEF_ROOT/packaging/checks/onnx_models.py" "$ONNX_MODELS" "$ONNX_WORK" "$ONNX_RUNNER" "$@"
